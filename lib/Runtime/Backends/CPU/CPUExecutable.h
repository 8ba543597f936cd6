// What shared-memory and private-memory executables of the CPU backend have in
// common: checks, kernels, statistics, and one call at a time.
#pragma once

#include "LibraryCall.h"
#include "Memory.h"
#include "Workers.h"

#include "meshloom/Runtime/Backends/CPU/CPUClient.h"

#include <atomic>
#include <optional>

namespace meshloom::cpu {

class CPUClient : public Client {
public:
  explicit CPUClient(const CPUOptions &options);
  std::string_view platform() const override { return "cpu"; }
  std::span<const Device> devices() const override { return deviceList; }
  int64_t bytesInUse() const override { return pool->inUse(); }
  Result<std::shared_ptr<Buffer>> fromHost(const ArrayType &type,
                                           std::span<const char> data) override;
  Result<std::shared_ptr<Buffer>>
  fromComponents(const ArrayType &type,
                 std::span<const Component> components) override;
  Result<HostBytes> toHost(const ArrayType &type,
                           const Buffer &buffer) override;
  Result<OwnedComponent> component(const ArrayType &type, const Buffer &buffer,
                                   int64_t device) override;

  /// Uninitialised memory for an array of this type.
  Result<std::shared_ptr<CPUBuffer>> allocate(const ArrayType &type);
  /// Bytes of each of its memories: one if shared, else one per device.
  int64_t memoryBytes(const ArrayType &type) const;

  const CPUOptions options;
  const std::shared_ptr<MemoryPool> pool;
  Workers workers;

protected:
  Result<std::shared_ptr<Executable>>
  loadOn(Compiled compiled, const DeviceAssignment &assignment,
         const LoadOptions &options) override;

private:
  std::vector<Device> deviceList;
};

/// A compiled program, where it runs, and its code.
struct BoundProgram {
  Compiled compiled;
  DeviceAssignment assignment;
  std::shared_ptr<const CodeSymbols> kernels;
};

/// The first failure of a step, in program order, found by any worker.
class Failure {
public:
  void report(unsigned step, std::string message);
  bool any() const { return failed.load(std::memory_order_relaxed); }
  /// Names the step's source location and op.
  Error error(const Program &program) const;

private:
  std::atomic<bool> failed{false};
  std::mutex mutex;
  unsigned first = 0;
  std::string text;
};

/// Looks for a nan or an infinity in a part of an array of floats: `extents[l]`
/// iterations of each loop, `strides[l]` elements apart.
bool hasNonFinite(DType type, const char *data, const int64_t *extents,
                  const int64_t *strides, unsigned loops);

/// The message of a failed non-finite check.
std::string nonFiniteMessage(const std::string &buffer);

class CPUExecutable : public Executable {
public:
  CPUExecutable(std::shared_ptr<CPUClient> client, BoundProgram bound,
                LoadOptions options);
  Result<std::vector<Array>> execute(std::vector<Array> arguments) override;
  Statistics statistics() const override;

  // For programs that are a part of another one.
  /// `execute` without checks, by the one that runs the whole.
  Result<std::vector<Array>> runPart(std::vector<Array> arguments) {
    return run(std::move(arguments));
  }
  /// Of one execution; without loops and branches that is always the same.
  const std::vector<CollectiveRecord> &collectives() const {
    return stats.collectives;
  }

protected:
  virtual Result<std::vector<Array>> run(std::vector<Array> arguments) = 0;
  /// The function of a kernel step.
  Result<KernelFunction> kernel(unsigned step) const;
  /// What a kernel step with `library` calls.
  Result<std::shared_ptr<const LibraryCall>>
  libraryCall(const KernelStep &step) const;
  /// On the devices of the program.
  ArrayType typeOf(unsigned buffer) const;
  const ArrayType &resultType(size_t result) const {
    return signature().results[result].type;
  }
  /// What the execution that is going on sent.
  void recordCollectives(std::vector<CollectiveRecord> sent);

  const std::shared_ptr<CPUClient> device;
  const std::shared_ptr<const CodeSymbols> kernels;
  const Program &loaded;
  const LoadOptions options;
  Statistics stats;

private:
  void addCollectives(const std::vector<Step> &steps, unsigned &id);
  std::mutex running;
  mutable std::mutex reading;
};

/// An executable of class `E` with its plan made, which `planning` goes to.
template <typename E, typename... Planning>
Result<std::shared_ptr<Executable>>
loadAs(std::shared_ptr<CPUClient> client, BoundProgram bound,
       const LoadOptions &options, const Planning &...planning) {
  auto executable =
      std::make_shared<E>(std::move(client), std::move(bound), options);
  if (Status ok = executable->plan(planning...); !ok)
    return ok.error();
  return std::shared_ptr<Executable>(std::move(executable));
}

Result<std::shared_ptr<Executable>>
loadShared(std::shared_ptr<CPUClient> client, BoundProgram bound,
           const LoadOptions &options);
/// For tests: `order` is the order in which the step graph's work runs.
Result<std::shared_ptr<Executable>>
loadSharedInOrder(std::shared_ptr<CPUClient> client, BoundProgram bound,
                  std::span<const unsigned> order);
/// For programs with loops and branches, on either memory.
Result<std::shared_ptr<Executable>>
loadControl(std::shared_ptr<CPUClient> client, BoundProgram bound,
            const LoadOptions &options);
Result<std::shared_ptr<Executable>>
loadPrivate(std::shared_ptr<CPUClient> client, BoundProgram bound,
            const LoadOptions &options);

} // namespace meshloom::cpu
