// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TracedFunction: one signature of a `function`: its IR, its compiled program,
// and where the program's arguments and results come from and go to.
#pragma once

#include "meshloom/Engine/DeviceProgram.h"
#include "meshloom/Engine/OpCall.h"
#include "meshloom/Engine/RemoteTrace.h"

#include "meshloom/API/Function.h"

namespace meshloom::detail {

class TracedFunction {
public:
  /// Deletes one. Other threads do not do that any more while the process ends:
  /// IR and library calls use what is then destroyed.
  struct Deleter {
    void operator()(const TracedFunction *function) const;
  };

  /// Takes over a finished trace and compiles it; a `reusable` one only where
  /// no equal one has been compiled (see OpCache.h). The trace returns
  /// `resultCount` results, then the operands of the updates.
  TracedFunction(std::shared_ptr<Trace> trace, size_t resultCount,
                 std::shared_ptr<const void> skeleton, double traceSeconds,
                 std::vector<TracedUpdate> updates = {});

  /// Runs it: explicit arguments in, explicit results out; variables are read
  /// and updated. `captured` are this trace's own by default.
  std::vector<Tensor> run(std::span<const Tensor> inputs) const;

  const std::string name;
  const int64_t id;
  std::vector<TraceArgument> arguments;
  size_t resultCount;
  std::shared_ptr<const void> skeleton;
  double traceSeconds;
  Settings compiledFor;
  /// The meshes of arguments and layouts; a value on the host comes to the
  /// first.
  std::vector<Mesh> meshes;
  std::shared_ptr<const DeviceProgram> program;

  /// The module as traced.
  std::shared_ptr<const TracedModule> source;

  /// Updates of variables that other processes hold, when the program has run.
  std::vector<TracedUpdate> updates;

  /// Returns whether the trace holds for a call with these arguments, which
  /// have the types that it was made for.
  bool fits(std::span<const Tensor> inputs) const;

private:
  std::vector<TapeLink> tapeLinks;
  /// Says whether the trace is on several sets of devices.
  bool isSpread = false;
  void record(std::span<const Tensor> inputs,
              const std::vector<Tensor> &variableValues,
              const std::vector<Tensor> &results) const;
  /// Gives variables their new values, which are the last ones of `values`.
  void assignVariables(std::vector<Array> &values) const;
  /// Returns the results of the function, and sends the updates of remote
  /// variables; takes both out of `values`.
  std::vector<Tensor> takeResults(std::vector<Array> &values) const;
  /// Gives a variable the value that a failed run left; an empty one: it has
  /// lost its value.
  void giveBack(VariableState &variable, Array value,
                const Error &failure) const;

  /// Variables at hand in the order in which they are locked, with their
  /// arguments.
  std::vector<std::pair<VariableState *, size_t>> variables;
  /// The variables that other processes hold, and the arguments that they are.
  std::map<const VariableStore *,
           std::pair<std::vector<DVariable>, std::vector<size_t>>>
      remote;
  /// Per result of the program beyond the explicit ones: its variable's
  /// argument.
  std::vector<size_t> assigned;
  /// It checks values while it runs, or calls the user's functions: variables
  /// keep their old values until it has ended well, and no update is in place.
  bool keepsOldValues = false;
  /// See OpCall.
  bool hasUserGradients = false;
};

/// How a body is traced.
struct TraceOptions {
  /// Names of the arguments; those without one are called arg0, arg1, ...
  std::vector<std::string> names = {};
  /// The layout of all results; nothing: the compiler decides.
  std::optional<Layout> layout = std::nullopt;
  /// See traceUpdate.
  bool isUpdate = false;
  /// Results have the same bits everywhere.
  bool isDeterministic = false;
  /// See Trace::reusable.
  bool isReusable = false;
  /// See FunctionOptions.
  std::optional<Contract> contract = std::nullopt;
  int64_t microbatches = 1; ///< FunctionOptions::accumulate_gradients
  int64_t memory = 0;
};
/// Throws an error of `op` where a budget of bytes per device is negative.
void checkMemory(std::string_view op, int64_t bytes,
                 const std::source_location *where = nullptr);
/// Traces and compiles a body.
std::shared_ptr<TracedFunction> traceFunction(const std::string &name,
                                              std::span<const Tensor> inputs,
                                              const TraceBody &body,
                                              const TraceOptions &options);
/// Empty results of a call that this thread's CallCapture keeps; none: it is to
/// be run.
std::optional<std::vector<Tensor>>
captureCall(const std::shared_ptr<TracedFunction> &function,
            std::span<const Tensor> inputs);

/// Clones the function that was traced to where `emitter` is, in the same
/// context; variables are values. Returns its explicit results.
SmallVector<Value> inlineFunction(Emitter &emitter, const TracedModule &source,
                                  ArrayRef<Value> operands);

} // namespace meshloom::detail
