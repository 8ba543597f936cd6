// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interfaces a backend implements: Client (its devices and memory), Buffer
// (one array's memory) and Executable (a loaded program). test/Runtime has the
// conformance suite that every backend passes.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Runtime/Array.h"

#include <functional>
#include <optional>

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
  /// Returns whether the run that was to compute it has failed before it
  /// changed the argument that the array replaces: the memory is that
  /// argument's.
  virtual bool isOldValue() const { return false; }
};

/// One collective of an execution, as run_cases.py counts it.
struct CollectiveRecord {
  unsigned step; ///< id of the Program's step: see countSteps
  CollectiveKind kind;
  int64_t groupSize;
  int64_t resultBytes; ///< of one device's result, padded, over all its moves
  bool operator==(const CollectiveRecord &) const = default;
};

/// Counts of an executable's work so far.
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
  /// The name of the program in profiles; empty: the program's own name.
  std::string name = {};
};

/// A compiled program made ready to run on a client's devices. Safe to use from
/// any thread; calls on one executable run one after the other, in call order.
class Executable {
public:
  virtual ~Executable() = default;
  const Compiled &compiled() const { return program; }
  /// The types that it takes and gives, on the devices that it was loaded for.
  const Signature &signature() const { return bound; }
  const DeviceAssignment &assignment() const { return bound.mesh.assignment(); }
  const std::shared_ptr<Client> &client() const { return owner; }
  /// One array per argument of the program, of exactly the signature's type, on
  /// its mesh and of its client. Arrays that have no other reference give their
  /// memory to the results that alias them; others keep their value.
  ///
  /// The call takes the arrays out of `arguments` when it begins to use them.
  /// Where it fails, the arrays that are still there have their value: all of
  /// them where no memory suffices or the backend does not start the program.
  ///
  /// May return before the work is done, and before it has begun: it waits for
  /// arguments that are still computed, not the caller. The results' events
  /// then carry the error that it ends with, and so do results computed from
  /// them.
  ///
  /// `accepted` is called once, after the arguments are checked and before any
  /// of them is used: a caller that holds other references to arrays that it
  /// moved in drops them there. It is not called where the call is refused,
  /// which changes nothing.
  Result<std::vector<Array>>
  execute(std::vector<Array> &&arguments,
          const std::function<void()> &accepted = {});
  /// Fails where `execute` would refuse these arguments: on one that is not
  /// what the signature says, naming it, on one that is known to have failed,
  /// and where no run is possible any more. Waits for nothing, and changes
  /// nothing.
  virtual Status mayExecute(std::span<const Array> arguments) const;
  virtual Statistics statistics() const = 0;

protected:
  /// `assignment` has as many devices as the program's mesh.
  Executable(std::shared_ptr<Client> client, Compiled compiled,
             const DeviceAssignment &assignment);
  /// Executes with arguments that mayExecute has accepted. It takes arrays out
  /// of `arguments` as execute does.
  virtual Result<std::vector<Array>> start(std::vector<Array> &&arguments) = 0;

private:
  const std::shared_ptr<Client> owner;
  const Compiled program;
  const Signature bound;
};

/// A set of devices and their memory.
class Client : public std::enable_shared_from_this<Client> {
public:
  virtual ~Client() = default;
  /// "cpu".
  virtual std::string_view platform() const = 0;
  virtual std::span<const Device> devices() const = 0;
  /// Bytes of live arrays, on all devices together.
  virtual int64_t bytesInUse() const = 0;
  /// How many processes there are, each with as many devices, and which of them
  /// this is.
  virtual int64_t processes() const { return 1; }
  virtual int64_t process() const { return 0; }

  /// Index i of the program's mesh runs on the device that `assignment` names.
  /// Fails on a program that these devices cannot run (its form, their number,
  /// CPU features, memory).
  Result<std::shared_ptr<Executable>> load(Compiled compiled,
                                           const DeviceAssignment &assignment,
                                           const LoadOptions &options = {});
  /// On the client's first devices, in the order that the signature says; where
  /// there are several processes, on as many devices of each.
  Result<std::shared_ptr<Executable>> load(Compiled compiled,
                                           const LoadOptions &options = {});

  // The parts of Array's functions of the same names that depend on the
  // backend: the arguments have been checked, and the array's event is waited
  // for. Components are those of the mesh's devices in this process.
  virtual Result<std::shared_ptr<Buffer>>
  fromHost(const ArrayType &type, std::span<const char> data) = 0;
  virtual Result<std::shared_ptr<Buffer>>
  fromComponents(const ArrayType &type,
                 std::span<const Component> components) = 0;
  virtual Result<HostBytes> toHost(const ArrayType &type,
                                   const Buffer &buffer) = 0;
  virtual Result<OwnedComponent>
  component(const ArrayType &type, const Buffer &buffer, int64_t device) = 0;

  /// The same value in `type`'s layout as an array of this client, without a
  /// copy and without waiting for it, where these devices can read the memory
  /// that it is in; else nothing, and `array` stays as it was. Another client
  /// of the process may have made it.
  virtual std::optional<Array> adopt(const ArrayType &, Array &) {
    return std::nullopt;
  }
  /// An array of the value that `data` holds once `ready` is complete, without
  /// waiting for that where the client can. Its event carries the error that
  /// `ready` ends with.
  virtual Result<Array> fromHostLater(const ArrayType &type,
                                      std::shared_ptr<const HostBytes> data,
                                      const Event &ready);

protected:
  /// Loads on devices of this client, as many as the program's mesh has; the
  /// number in `devices` is Device::id.
  virtual Result<std::shared_ptr<Executable>>
  loadOn(Compiled compiled, const DeviceAssignment &assignment,
         const LoadOptions &options) = 0;
};

} // namespace meshloom
