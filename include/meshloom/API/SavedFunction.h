// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saving compiled functions, and running saved ones without their source.
#pragma once

#include "meshloom/API/ConcreteFunction.h"
#include "meshloom/API/Tensor.h"

#include <filesystem>

namespace meshloom {

/// A program of a .mlprog file, loaded on devices. A handle; copying is cheap.
/// May be used from any thread.
///
///   step.get_concrete_function(x, y).save("step.mlprog");
///   SavedFunction step = load_function("step.mlprog");
///   std::vector<Tensor> results = step({x, y, w});
class SavedFunction {
public:
  /// The name of the function that was saved.
  const std::string &name() const;
  /// All are explicit: what the function captured and its variables come after
  /// its own arguments.
  std::vector<ValueInfo> arguments() const;
  /// The function's results, then the new values of variables it assigned, with
  /// the variables' names.
  std::vector<ValueInfo> results() const;
  /// For each new value of a variable, the argument that it replaces.
  std::vector<int64_t> assigned_arguments() const;
  /// The data that devices send each other, in the order of the program.
  std::vector<CollectiveInfo> collectives() const;
  /// The statistics of its executions so far, since this loading.
  FunctionStatistics statistics() const;
  /// The mesh that it runs on.
  const Mesh &mesh() const;

  /// Runs it. Arguments are laid out as the program wants them. Throws
  /// meshloom::Error, naming the argument, if their number, a type or a shape
  /// is another, or if a tensor is on another mesh.
  std::vector<Tensor> operator()(
      const std::vector<Tensor> &arguments,
      std::source_location where = std::source_location::current()) const;

  struct State;
  /// For load_function, which makes them.
  explicit SavedFunction(std::shared_ptr<const State> state)
      : state(std::move(state)) {}

private:
  std::shared_ptr<const State> state;
};

/// Loads what ConcreteFunction::save or `mesh-run --emit-program` wrote. Runs
/// on `mesh`, whose axes are the program's; default: on virtual CPUs. Fails
/// where a value is nan or infinite as enable_check_numerics says now.
///
/// A saved program is native code that runs when it is called: load only what
/// you trust as you would a library. Throws meshloom::Error if the file is
/// missing or no such program, if it was compiled for what this machine lacks,
/// or if the mesh has other axes.
SavedFunction
load_function(const std::filesystem::path &path,
              const std::optional<Mesh> &mesh = std::nullopt,
              std::source_location where = std::source_location::current());

/// Reads a saved function from the bytes of a file, as load_function does;
/// `name` is for messages.
SavedFunction parse_function(std::string_view bytes, std::string_view name,
                             const std::optional<Mesh> &mesh = std::nullopt);

} // namespace meshloom
