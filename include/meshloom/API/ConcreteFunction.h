// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConcreteFunction: what a `function` became for one signature, and what the
// compiler decided: layouts, collectives with bytes and reasons, the IR.
#pragma once

#include "meshloom/API/Tensor.h"
#include "meshloom/Core/Collective.h"

#include <filesystem>

namespace meshloom {

class Compiled; // Core/Compiled.h
class ConcreteFunction;
struct AutoLayoutOptions; // API/Predict.h
struct MachineModel;      // Core/MachineModel.h
struct LayoutAdvice;      // Core/LayoutAdvice.h
struct LayoutPlan;        // API/Predict.h
struct Prediction;        // Core/Prediction.h
namespace detail {
class TracedFunction;

/// A value that a compiled function uses beside its explicit arguments.
struct CapturedValue {
  Tensor value;         ///< the present one
  int64_t variable = 0; ///< a number of its variable's own; 0: it is a tensor
};
/// In the order of `arguments`, after the explicit ones.
std::vector<CapturedValue> capturedValues(const ConcreteFunction &function);
} // namespace detail

/// An argument or result of a compiled function.
struct ValueInfo {
  std::string name; ///< "arg0", that of a variable, "result0"
  DType dtype;      ///< type of the elements
  Shape shape;      ///< global
  Layout layout;    ///< as the compiler decided
  /// The roles of a value.
  enum class Role {
    Argument, ///< of the call
    Captured, ///< a tensor that the body uses from outside
    Variable, ///< a variable that it reads or assigns
    Result    ///< of the call
  };
  Role role; ///< which of them it is
};

/// A collective of a compiled function.
struct CollectiveInfo {
  CollectiveKind kind;           ///< all_reduce, all_gather, ...
  std::vector<std::string> axes; ///< of the mesh, along which it sends
  /// Bytes of its result on one device, all combined tensors.
  int64_t bytes = 0;
  /// Bytes that one device sends, by the ring algorithm.
  int64_t bytes_sent = 0;
  /// Number of tensors that were combined.
  int64_t tensors = 0;
  std::string reason;   ///< why it is there
  std::string location; ///< the line that it follows from
};

/// The runs of a compiled function so far, and the memory that it takes.
struct FunctionStatistics {
  int64_t executions = 0;  ///< so far
  double last_seconds = 0; ///< of the last execution
  /// Arguments, results, constants and scratch, over all devices.
  int64_t peak_bytes = 0;
  /// Bytes of one device; devices that share memory count an equal part each.
  int64_t peak_bytes_per_device = 0;
  /// Collectives of the last execution, one in a loop each time.
  int64_t collectives = 0;
  /// Bytes that one device sends in those, by the ring algorithm.
  int64_t bytes_sent = 0;
};

/// One stage of the compiler and the IR after it.
struct StageIR {
  std::string name; ///< "traced", "propagate-layouts", ...
  std::string ir;   ///< as text
};

/// A handle; copying is cheap. May be used from any thread. One that was moved
/// from is empty: every use throws meshloom::Error.
class ConcreteFunction {
public:
  /// For `function`, which makes them.
  explicit ConcreteFunction(std::shared_ptr<detail::TracedFunction> traced)
      : traced(std::move(traced)) {}

  /// The name of the `function`.
  const std::string &name() const;
  /// Explicit arguments, then captured tensors and variables.
  std::vector<ValueInfo> arguments() const;
  /// Explicit results, then the variables that are assigned.
  std::vector<ValueInfo> results() const;
  /// The data that devices send each other, in the order of the program.
  std::vector<CollectiveInfo> collectives() const;
  /// The collectives that it would have on another machine: "ring" is as many
  /// devices with memories of their own. With refine = false layouts are as
  /// propagation gives them: of data parallel training, gradients are summed by
  /// all_reduce, where refinement may find what sends less. Compiles again for
  /// it. Throws meshloom::Error if there is no such preset.
  std::vector<CollectiveInfo> collectives(
      std::string_view machine, bool refine = true,
      std::source_location where = std::source_location::current()) const;
  /// Collectives, predicted costs and rejected alternatives, as text. Compiles
  /// again for it.
  std::string explain() const;
  /// The module as traced, then after each pass of the pipeline. Compiles again
  /// for it; milliseconds to seconds.
  std::vector<StageIR> stages() const;
  /// The program that the runtime runs, with its content hash. Throws
  /// meshloom::Error if the function is on several sets of devices: it is then
  /// a program for each part.
  const Compiled &compiled() const;
  /// Over how many programs the function is spread: 1, or, where its values are
  /// on several sets of devices, one for each part that runs without a break on
  /// one of them.
  int64_t num_programs() const;
  /// The statistics of its executions so far.
  FunctionStatistics statistics() const;
  /// Writes the program with its code, as `load_function` and mesh-run read it
  /// (.mlprog); values of variables are not part of it. Compiles again for it.
  /// Throws meshloom::Error if the file cannot be written, or if the function
  /// is on several sets of devices.
  void save(const std::filesystem::path &path,
            std::source_location where = std::source_location::current()) const;
  /// The bytes that `save` writes.
  std::string serialize() const;
  /// Seconds that tracing the body took.
  double trace_time() const;
  /// Seconds that compiling it took.
  double compile_time() const;

private:
  friend std::vector<detail::CapturedValue>
  detail::capturedValues(const ConcreteFunction &function);
  friend Prediction predict(const ConcreteFunction &function,
                            const MachineModel &machine,
                            std::source_location where);
  friend void write_explanation(const ConcreteFunction &function,
                                const std::filesystem::path &path,
                                std::source_location where);
  friend void write_explanation(const ConcreteFunction &function,
                                const std::filesystem::path &path,
                                const std::string &machine,
                                std::source_location where);
  friend LayoutPlan auto_layout(const ConcreteFunction &function,
                                const Mesh &mesh,
                                const AutoLayoutOptions &options,
                                std::source_location where);
  friend LayoutAdvice suggest(const ConcreteFunction &function,
                              const std::string &machine, int64_t memory,
                              std::source_location where);
  const detail::TracedFunction &get() const;
  std::shared_ptr<detail::TracedFunction> traced;
};

/// Prints a table: kind, axes, bytes, tensors, reason.
std::ostream &operator<<(std::ostream &, const std::vector<CollectiveInfo> &);

/// The machine that functions traced from now on are compiled for, in all
/// threads. Default: the "shared-memory" preset. With refine = false layouts
/// are as propagation gives them. Throws meshloom::Error if a rate or time of
/// the model is not valid.
void set_machine_model(
    MachineModel machine, bool refine = true,
    std::source_location where = std::source_location::current());
/// The preset of that name: "shared-memory", "ring", "ring-latency",
/// "tpu:v5e:2x4". Throws meshloom::Error if there is none.
void set_machine_model(
    std::string_view preset, bool refine = true,
    std::source_location where = std::source_location::current());
/// The machine model of functions that are traced now; see set_machine_model.
MachineModel get_machine_model();

/// Functions and ops compiled from now on fail where a result of a step is nan
/// or infinite, naming the op and its line. Costs time.
void enable_check_numerics(bool enable = true);

/// Functions traced and ops run from now on, in all threads, give the same bits
/// for every mesh, layout, number of workers and kind of memory, which takes
/// longer: see docs/Threads.md.
void enable_op_determinism(bool enable = true);

} // namespace meshloom
