// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays and executables of every process, behind one interface.
#include "meshloom/Runtime/Plan/ThreadedProcesses.h"

#include "meshloom/Runtime/CallOrder.h"
#include "meshloom/Runtime/Plan/Components.h"

#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// An array in each process that has a part of it.
class Parts : public Buffer {
public:
  Parts(std::shared_ptr<Client> owner, std::vector<Array> arrays)
      : owner(std::move(owner)), arrays(std::move(arrays)) {}
  const std::shared_ptr<Client> &client() const override { return owner; }
  int64_t bytes() const override {
    int64_t sum = 0;
    for (const Array &array : arrays)
      sum += array.buffer()->bytes();
    return sum;
  }
  static const std::vector<Array> &of(const Buffer &buffer) {
    return static_cast<const Parts &>(buffer).arrays;
  }
  /// Takes the arrays of a buffer that nobody else has.
  static std::vector<Array> take(Buffer &buffer) {
    return std::exchange(static_cast<Parts &>(buffer).arrays, {});
  }

private:
  const std::shared_ptr<Client> owner;
  std::vector<Array> arrays;
};

class Processes : public Client {
public:
  /// `alone`: of all devices in one process.
  Processes(std::vector<std::shared_ptr<Client>> clients,
            std::shared_ptr<Client> alone,
            std::function<std::shared_ptr<void>(int)> working)
      : working(std::move(working)), clients(std::move(clients)),
        alone(std::move(alone)) {}
  std::string_view platform() const override { return alone->platform(); }
  std::span<const Device> devices() const override { return alone->devices(); }
  int64_t bytesInUse() const override {
    int64_t sum = alone->bytesInUse();
    for (const auto &client : clients)
      sum += client->bytesInUse();
    return sum;
  }

  /// Returns whether the processes have parts of a mesh.
  bool isSplit(const Mesh &mesh) const {
    return mesh.size() % int64_t(clients.size()) == 0;
  }
  /// The clients that have devices of a mesh.
  std::vector<std::shared_ptr<Client>> clientsOf(const Mesh &mesh) const {
    return isSplit(mesh) ? clients : std::vector{alone};
  }
  /// A type as one of the processes sees it, whose devices count from 0.
  ArrayType typeOn(const ArrayType &type, size_t process) const {
    if (!isSplit(type.layout.mesh()))
      return type;
    const int64_t size = type.layout.mesh().size();
    const int64_t perProcess = size / int64_t(clients.size());
    DeviceAssignment assignment = DeviceAssignment::standard(size);
    const std::string &first = alone->devices().front().name;
    assignment.deviceType = first.substr(0, first.find(':'));
    assignment.localIds.resize(size_t(perProcess));
    std::iota(assignment.localIds.begin(), assignment.localIds.end(),
              int64_t(process) * perProcess);
    for (int64_t d = 0; d < perProcess; ++d)
      assignment.localDevices.push_back(
          DeviceAssignment::standardName(assignment.deviceType, d));
    return {type.dtype, type.shape, type.layout.placed_on(assignment)};
  }

  Result<std::shared_ptr<Buffer>>
  fromHost(const ArrayType &type, std::span<const char> data) override {
    return make(type, [&](const std::shared_ptr<Client> &client, size_t,
                          const ArrayType &processType) {
      return Array::fromHost(client, processType, data);
    });
  }
  Result<std::shared_ptr<Buffer>>
  fromComponents(const ArrayType &type,
                 std::span<const Component> components) override {
    return make(type, [&](const std::shared_ptr<Client> &client, size_t process,
                          const ArrayType &processType) {
      const size_t count =
          size_t(processType.layout.mesh().num_local_devices());
      return Array::fromComponents(client, processType,
                                   components.subspan(process * count, count));
    });
  }
  Result<OwnedComponent> component(const ArrayType &type, const Buffer &buffer,
                                   int64_t device) override {
    const std::vector<Array> &arrays = Parts::of(buffer);
    const int64_t perProcess =
        type.layout.mesh().size() / int64_t(arrays.size());
    return arrays[size_t(device / perProcess)].component(device);
  }
  Result<HostBytes> toHost(const ArrayType &type,
                           const Buffer &buffer) override {
    std::vector<HostBytes> memories;
    memories.reserve(size_t(type.layout.mesh().size()));
    for (int64_t device = 0; device < type.layout.mesh().size(); ++device) {
      Result<OwnedComponent> part = component(type, buffer, device);
      if (!part)
        return part.error();
      memories.emplace_back(size_t(paddedBytes(type)));
      placeInPadded(type, {part->shape, part->bytes}, device,
                    memories.back().data());
    }
    return readPadded(type, [&](int64_t device) -> const char * {
      return memories[size_t(device)].data();
    });
  }

protected:
  Result<std::shared_ptr<Executable>>
  loadOn(Compiled compiled, const DeviceAssignment &assignment,
         const LoadOptions &options) override;

private:
  template <typename F>
  Result<std::shared_ptr<Buffer>> make(const ArrayType &type, F part) {
    const auto owners = clientsOf(type.layout.mesh());
    std::vector<Array> arrays;
    arrays.reserve(owners.size());
    for (size_t p = 0; p < owners.size(); ++p) {
      Result<Array> array = part(owners[p], p, typeOn(type, p));
      if (!array)
        return array.error();
      arrays.push_back(std::move(*array));
    }
    return std::shared_ptr<Buffer>(
        std::make_shared<Parts>(shared_from_this(), std::move(arrays)));
  }

public:
  /// Processes run programs in one order.
  std::mutex order;
  const std::function<std::shared_ptr<void>(int)> working;

private:
  const std::vector<std::shared_ptr<Client>> clients;
  const std::shared_ptr<Client> alone;
};

class ProcessesExecutable : public Executable {
public:
  ProcessesExecutable(std::shared_ptr<Processes> client, Compiled compiled,
                      const DeviceAssignment &assignment,
                      std::vector<std::shared_ptr<Executable>> parts)
      : Executable(client, std::move(compiled), assignment),
        processes(std::move(client)), parts(std::move(parts)) {}

  Statistics statistics() const override {
    for (size_t p = 1; p < parts.size(); ++p)
      (void)parts[p]->statistics(); // waits for its runs
    return parts[0]->statistics();
  }

  Result<std::vector<Array>> start(std::vector<Array> &&arguments) override {
    std::vector<std::vector<Array>> operands(parts.size());
    for (size_t a = 0; a < arguments.size(); ++a) {
      std::vector<Array> operandParts =
          arguments[a].isUnique() ? Parts::take(*arguments[a].buffer())
                                  : Parts::of(*arguments[a].buffer());
      // It may be waited for something else.
      const Event &event = arguments[a].event();
      if (!event.isReady() || !event.wait())
        for (Array &array : operandParts)
          array = Array(array.type(), array.buffer(), event);
      for (size_t p = 0; p < parts.size(); ++p)
        operands[p].push_back(
            std::move(operandParts[p])
                .as(processes->typeOn(signature().arguments[a].type, p)));
    }
    arguments.assign(arguments.size(), Array());
    std::vector<Result<std::vector<Array>>> outcomes(parts.size(),
                                                     Error("it did not run"));
    {
      std::lock_guard lock(processes->order);
      std::vector<std::thread> threads;
      threads.reserve(parts.size());
      std::vector<std::shared_ptr<void>> work(parts.size());
      for (size_t p = 0; processes->working && p < parts.size(); ++p)
        work[p] = processes->working(int(p));
      auto run = [&](size_t p) {
        // Also where this is the main thread: those of the others are not.
        const CallOrder::Inside inside;
        const size_t count = operands[p].size();
        outcomes[p] = parts[p]->execute(std::move(operands[p]));
        operands[p].resize(count);
        std::vector<Event> events;
        if (outcomes[p])
          for (const Array &result : *outcomes[p])
            events.push_back(result.event());
        Event::whenAll(events).then(
            [held = std::move(work[p])](const Status &) mutable {
              held.reset();
            });
      };
      for (size_t p = 1; p < parts.size(); ++p)
        threads.emplace_back(run, p);
      run(0);
      for (std::thread &thread : threads)
        thread.join();
    }
    for (const auto &results : outcomes)
      if (!results) {
        giveBack(operands, arguments);
        return results.error();
      }
    std::vector<Array> results;
    results.reserve(signature().results.size());
    for (size_t r = 0; r < signature().results.size(); ++r) {
      std::vector<Array> arrays;
      std::vector<Event> events;
      arrays.reserve(outcomes.size());
      events.reserve(outcomes.size());
      for (auto &part : outcomes) {
        events.push_back((*part)[r].event());
        arrays.push_back(std::move((*part)[r]));
      }
      results.emplace_back(
          signature().results[r].type,
          std::make_shared<Parts>(processes, std::move(arrays)),
          Event::whenAll(events));
    }
    return results;
  }

private:
  /// Makes arguments again of those that no process has used.
  void giveBack(std::vector<std::vector<Array>> &operands,
                std::vector<Array> &arguments) const {
    for (size_t a = 0; a < arguments.size(); ++a) {
      std::vector<Array> arrays;
      for (std::vector<Array> &ofProcess : operands)
        if (ofProcess[a])
          arrays.push_back(std::move(ofProcess[a]));
      if (arrays.size() == operands.size())
        arguments[a] =
            Array(signature().arguments[a].type,
                  std::make_shared<Parts>(processes, std::move(arrays)));
    }
  }

  const std::shared_ptr<Processes> processes;
  const std::vector<std::shared_ptr<Executable>> parts;
};

Result<std::shared_ptr<Executable>>
Processes::loadOn(Compiled compiled, const DeviceAssignment &assignment,
                  const LoadOptions &options) {
  const Mesh mesh = compiled.signature().mesh;
  std::vector<std::shared_ptr<Executable>> parts;
  for (const auto &client : clientsOf(mesh)) {
    auto part = isSplit(mesh) ? client->load(compiled, options)
                              : client->load(compiled, assignment, options);
    if (!part)
      return part.error();
    parts.push_back(std::move(*part));
  }
  return std::shared_ptr<Executable>(std::make_shared<ProcessesExecutable>(
      std::static_pointer_cast<Processes>(shared_from_this()),
      std::move(compiled), assignment, std::move(parts)));
}
} // namespace

std::shared_ptr<Client>
plan::joinProcesses(std::vector<std::shared_ptr<Client>> clients,
                    std::shared_ptr<Client> alone,
                    std::function<std::shared_ptr<void>(int process)> working) {
  return std::make_shared<Processes>(std::move(clients), std::move(alone),
                                     std::move(working));
}
