// The interfaces a backend implements: Client (its devices and memory), Buffer
// (one array's memory) and Executable (a loaded Program). test/Runtime has the
// conformance suite that every backend passes.
#pragma once

#include "meshloom/Core/Program.h"
#include "meshloom/Runtime/Array.h"

namespace meshloom {

/// One device of a client.
struct Device {
  int64_t id;
  std::string name; ///< "CPU:3"
  bool operator==(const Device &) const = default;
};

/// The memory of one array on all its devices. Keeps its client alive.
class Buffer {
public:
  virtual ~Buffer() = default;
  virtual const std::shared_ptr<Client> &client() const = 0;
  /// Bytes it takes on all devices together.
  virtual int64_t bytes() const = 0;
};

/// One collective of an execution, as run_cases.py counts it.
struct CollectiveRecord {
  unsigned step; ///< id of the Program's step: see countSteps
  CollectiveKind kind;
  int64_t groupSize;
  int64_t resultBytes; ///< of one device's result, padded, over all its moves
  bool operator==(const CollectiveRecord &) const = default;
};

/// What an executable did so far.
struct Statistics {
  /// Collectives of the last execution in the order they ran, one in a loop
  /// each time (before the first one: each once); local slices are not sent
  /// and not counted.
  std::vector<CollectiveRecord> collectives;
  /// Arguments, results, constants and scratch. Devices that share memory
  /// count an equal part of it each.
  int64_t peakBytesPerDevice = 0;
  /// The same, over all devices.
  int64_t peakBytes = 0;
  int64_t executions = 0;
  double lastSeconds = 0; ///< of the last execution
};

struct LoadOptions {
  /// After each step, fail if an output holds a nan or an infinity, naming the
  /// step's source location.
  bool checkNonFinite = false;
};

/// A Program made ready to run on a client's devices. Safe to use from any
/// thread; calls on one executable run one after the other, in call order.
class Executable {
public:
  virtual ~Executable() = default;
  virtual const Program &program() const = 0;
  virtual const std::shared_ptr<Client> &client() const = 0;
  /// One array per argument of the program, of exactly its type and on its
  /// mesh. Arrays that are moved in and have no other reference give their
  /// memory to the results that alias them; others keep their value.
  virtual Result<std::vector<Array>> execute(std::vector<Array> arguments) = 0;
  virtual Statistics statistics() const = 0;
};

/// A set of devices. Device i of a mesh runs on device i of the client.
class Client : public std::enable_shared_from_this<Client> {
public:
  virtual ~Client() = default;
  /// "cpu".
  virtual std::string_view platform() const = 0;
  virtual std::span<const Device> devices() const = 0;
  /// Bytes of live arrays, on all devices together.
  virtual int64_t bytesInUse() const = 0;

  /// `kernels` may be null where the program holds its kernels itself. Fails on
  /// a program this machine cannot run (devices, CPU features, memory).
  virtual Result<std::shared_ptr<Executable>>
  load(Program program, std::shared_ptr<KernelLibrary> kernels,
       const LoadOptions &options = {}) = 0;

  // What Array's functions of the same names are made of: the arguments are
  // checked, and the array's event waited for.
  virtual Result<std::shared_ptr<Buffer>>
  fromHost(const ArrayType &type, std::span<const char> data) = 0;
  virtual Result<std::shared_ptr<Buffer>>
  fromComponents(const ArrayType &type,
                 std::span<const Component> components) = 0;
  virtual Result<HostBytes> toHost(const ArrayType &type,
                                   const Buffer &buffer) = 0;
  virtual Result<OwnedComponent>
  component(const ArrayType &type, const Buffer &buffer, int64_t device) = 0;
};

} // namespace meshloom
