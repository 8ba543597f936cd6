// TracedFunction: one signature of a `function`: its IR, its compiled program,
// and where the program's arguments and results come from and go to.
#pragma once

#include "Engine.h"

#include "meshloom/API/Function.h"

namespace meshloom::detail {

class TracedFunction {
public:
  /// Takes over a finished trace and compiles it; a `reusable` one only where
  /// no equal one has been compiled (see OpCache.h).
  TracedFunction(std::shared_ptr<Trace> trace, size_t resultCount,
                 std::shared_ptr<const void> skeleton, double traceSeconds);

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
  /// Of arguments and layouts; what is on the host comes to the first.
  std::vector<Mesh> meshes;
  Loaded loaded;

  /// The module as traced.
  std::shared_ptr<const TracedModule> source;

private:
  void record(std::span<const Tensor> inputs,
              const std::vector<Tensor> &variableValues,
              const std::vector<Tensor> &results) const;

  /// Variables in the order in which they are locked, with their arguments.
  std::vector<std::pair<VariableState *, size_t>> variables;
  /// Per result of the program beyond the explicit ones: its variable's
  /// argument.
  std::vector<size_t> assigned;
};

/// Clones the function that was traced to where `emitter` is, in the same
/// context; variables are values. Returns its explicit results.
SmallVector<Value> inlineFunction(Emitter &emitter, const TracedModule &source,
                                  ArrayRef<Value> operands);

} // namespace meshloom::detail
