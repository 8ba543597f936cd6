// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays and executables of devices of other processes, see RemoteClient.h.
#include "meshloom/Runtime/RemoteClient.h"

#include <fmt/format.h>

using namespace meshloom;

namespace {

class RemoteBuffer : public Buffer {
public:
  const std::shared_ptr<Client> &client() const override {
    return remoteClient();
  }
  int64_t bytes() const override { return 0; }
};

class RemoteExecutable : public Executable {
public:
  RemoteExecutable(std::shared_ptr<Client> client, Compiled compiled,
                   const DeviceAssignment &assignment)
      : Executable(std::move(client), std::move(compiled), assignment) {}
  Statistics statistics() const override { return {}; }

protected:
  Result<std::vector<Array>> start(std::vector<Array> &&) override {
    std::vector<Array> results;
    results.reserve(signature().results.size());
    for (const Signature::Result &result : signature().results)
      results.push_back(remoteArray(result.type));
    return results;
  }
};

class RemoteClient : public Client {
public:
  std::string_view platform() const override { return "remote"; }
  std::span<const Device> devices() const override { return {}; }
  int64_t bytesInUse() const override { return 0; }

  Result<std::shared_ptr<Buffer>> fromHost(const ArrayType &,
                                           std::span<const char>) override {
    return std::shared_ptr<Buffer>(std::make_shared<RemoteBuffer>());
  }
  Result<std::shared_ptr<Buffer>>
  fromComponents(const ArrayType &, std::span<const Component>) override {
    return std::shared_ptr<Buffer>(std::make_shared<RemoteBuffer>());
  }
  Result<HostBytes> toHost(const ArrayType &type, const Buffer &) override {
    return notHere(type);
  }
  Result<OwnedComponent> component(const ArrayType &type, const Buffer &,
                                   int64_t) override {
    return notHere(type);
  }

protected:
  Result<std::shared_ptr<Executable>> loadOn(Compiled compiled,
                                             const DeviceAssignment &assignment,
                                             const LoadOptions &) override {
    return std::shared_ptr<Executable>(std::make_shared<RemoteExecutable>(
        shared_from_this(), std::move(compiled), assignment));
  }

private:
  static Error notHere(const ArrayType &type) {
    const auto devices = type.layout.mesh().global_devices();
    return Error(fmt::format(
        "{} is on devices of another process, {}: all processes together can "
        "relayout it to a mesh that all have devices of, or that process reads "
        "it",
        type.to_string(),
        devices.empty()
            ? type.layout.mesh().spec_string()
            : fmt::format("{} ... {}", devices.front(), devices.back())));
  }
};

} // namespace

const std::shared_ptr<Client> &meshloom::remoteClient() {
  // Never destroyed, like all that a thread may use while the process ends.
  static const auto &client =
      *new std::shared_ptr<Client>(std::make_shared<RemoteClient>());
  return client;
}

Array meshloom::remoteArray(ArrayType type) {
  return Array(std::move(type), std::make_shared<RemoteBuffer>());
}
