// ConcreteFunction: what a `function` became for one signature, and what the
// compiler decided: layouts, collectives with bytes and reasons, the IR.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/MachineModel.h"

namespace meshloom {

namespace detail {
class TracedFunction;
}

/// An argument or result of a compiled function.
struct ValueInfo {
  std::string name;
  DType dtype;
  Shape shape;
  Layout layout;
  /// What it is.
  enum class Role { Argument, Captured, Variable, Result } role;
};

/// A collective of a compiled function.
struct CollectiveInfo {
  CollectiveKind kind;
  std::vector<std::string> axes;
  /// Bytes of its result on one device, all combined tensors.
  int64_t bytes = 0;
  /// Bytes that one device sends, by the ring algorithm.
  int64_t bytes_sent = 0;
  /// Number of tensors that were combined.
  int64_t tensors = 0;
  /// Why it is there, and the line that it follows from.
  std::string reason, location;
};

/// One stage of the compiler and the IR after it.
struct StageIR {
  std::string name; ///< "traced", "propagate-layouts", ...
  std::string ir;
};

/// A handle; copying is cheap. May be used from any thread. One that was moved
/// from is empty: every use throws meshloom::Error.
class ConcreteFunction {
public:
  explicit ConcreteFunction(std::shared_ptr<detail::TracedFunction> traced)
      : traced(std::move(traced)) {}

  const std::string &name() const;
  /// Explicit arguments, then captured tensors and variables.
  std::vector<ValueInfo> arguments() const;
  /// Explicit results, then the variables that are assigned.
  std::vector<ValueInfo> results() const;
  std::vector<CollectiveInfo> collectives() const;
  /// Collectives, predicted costs and rejected alternatives, as text. Compiles
  /// again for it.
  std::string explain() const;
  /// The module as traced, then after each pass of the pipeline. Compiles again
  /// for it; milliseconds to seconds.
  std::vector<StageIR> stages() const;
  /// What the runtime was given, with its content hash.
  const Compiled &compiled() const;
  /// Seconds.
  double trace_time() const;
  double compile_time() const;

private:
  const detail::TracedFunction &get() const;
  std::shared_ptr<detail::TracedFunction> traced;
};

/// Prints a table: kind, axes, bytes, tensors, reason.
std::ostream &operator<<(std::ostream &, const std::vector<CollectiveInfo> &);

/// The machine that functions traced from now on are compiled for, in all
/// threads. Default: the "shared-memory" preset. With refine = false layouts
/// are as propagation gives them. Throws meshloom::Error if a rate or time of
/// the model is none.
void set_machine_model(MachineModel machine, bool refine = true);
/// The preset of that name: "shared-memory", "ring", "ring-latency",
/// "tpu:v5e:2x4". Throws meshloom::Error if there is none.
void set_machine_model(std::string_view preset, bool refine = true);
MachineModel get_machine_model();

/// Functions and ops compiled from now on fail where a result of a step is nan
/// or infinite, naming the op and its line. Costs time.
void enable_check_numerics(bool enable = true);

} // namespace meshloom
