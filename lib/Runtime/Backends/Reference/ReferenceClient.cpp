// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All of the reference backend: memory, running one step on one device, and a
// name.
#include "meshloom/Runtime/Backends/Reference/ReferenceClient.h"

#include "meshloom/Runtime/Library/HostCall.h"
#include "meshloom/Runtime/Library/HostCode.h"
#include "meshloom/Runtime/Plan/Load.h"
#include "meshloom/Runtime/Plan/SeparateExecutable.h"
#include "meshloom/Runtime/PlatformRegistry.h"

#include <fmt/format.h>

namespace meshloom {
namespace {

class ReferenceClient : public plan::PlanClient {
public:
  ReferenceClient(const std::vector<int64_t> &numbers, double launchFrom)
      : PlanClient(/*cores=*/1, launchFrom) {
    for (int64_t number : numbers)
      deviceList.push_back({number, fmt::format("CPU:{}", number)});
  }
  std::string_view platform() const override { return "reference"; }
  std::span<const Device> devices() const override { return deviceList; }
  int64_t bytesInUse() const override { return *used; }

  using PlanClient::allocate;
  /// A vector that is counted for as long as it is there.
  Result<plan::Block> allocate(size_t, int64_t bytes) override {
    try {
      std::shared_ptr<std::vector<char>> memory(
          new std::vector<char>(size_t(std::max<int64_t>(bytes, 1))),
          [used = used](std::vector<char> *memory) {
            *used -= int64_t(memory->size());
            delete memory;
          });
      *used += int64_t(memory->size());
      return plan::Block(memory, memory->data());
    } catch (const std::exception &) { // bad_alloc or length_error
      return Error(fmt::format("out of memory: the system has no {} left",
                               plan::formatBytes(bytes)),
                   ErrorCode::RESOURCE_EXHAUSTED);
    }
  }

protected:
  Result<std::shared_ptr<Executable>>
  loadOn(Compiled compiled, const DeviceAssignment &assignment,
         const LoadOptions &options) override;

private:
  const std::shared_ptr<std::atomic<int64_t>> used =
      std::make_shared<std::atomic<int64_t>>(0);
  std::vector<Device> deviceList;
};

class ReferenceExecutable : public plan::SeparateExecutable {
public:
  ReferenceExecutable(std::shared_ptr<plan::PlanClient> client,
                      plan::BoundProgram program, const LoadOptions &options,
                      std::shared_ptr<const CodeSymbols> code)
      : SeparateExecutable(std::move(client), std::move(program), options),
        code(std::move(code)), calls(loaded.steps.size()) {}

private:
  Status prepareStep(unsigned step) override {
    auto call = library::HostCall::make(loaded, loaded.steps[step], code.get());
    if (!call)
      return call.error();
    calls[step] = std::move(*call);
    return Success();
  }
  Status runStep(unsigned step, const plan::DeviceCall &call) const override {
    library::SingleThreaded guard;
    return calls[step].run(call.operands.data(), call.strides.data(),
                           call.iterations.offset.data(),
                           call.iterations.extent.data());
  }

  const std::shared_ptr<const CodeSymbols> code;
  std::vector<library::HostCall> calls; ///< per step
};

Result<std::shared_ptr<Executable>>
ReferenceClient::loadOn(Compiled compiled, const DeviceAssignment &assignment,
                        const LoadOptions &options) {
  auto code = library::loadCode(compiled, platform());
  if (!code)
    return code.error();
  auto self = std::static_pointer_cast<PlanClient>(shared_from_this());
  return plan::loadProgram(
      self, {std::move(compiled), assignment}, options,
      [&](plan::BoundProgram straight) {
        return plan::planned(std::make_shared<ReferenceExecutable>(
            self, std::move(straight), options, *code));
      });
}

} // namespace

Result<std::shared_ptr<Client>>
createReferenceClient(const std::vector<int64_t> &numbers, double launchFrom) {
  if (numbers.empty())
    return Error("a reference client needs at least one device");
  return std::shared_ptr<Client>(
      std::make_shared<ReferenceClient>(numbers, launchFrom));
}

Result<std::shared_ptr<Platform>>
referencePlatform(const std::string &name, const std::string &argument) {
  auto makeClient = [](const std::vector<int64_t> &numbers, const auto &) {
    return createReferenceClient(numbers);
  };
  return virtualPlatform(
      name, argument,
      {.type = "REFERENCE", .spansProcesses = false, .makeClient = makeClient});
}

} // namespace meshloom
