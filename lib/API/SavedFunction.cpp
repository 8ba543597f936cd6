// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading and running .mlprog files; see SavedFunction.h.
#include "meshloom/API/SavedFunction.h"

#include "meshloom/Engine/ExecutableInfo.h"
#include "meshloom/Engine/Execution.h"
#include "meshloom/Engine/Nodes.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom {
using namespace detail;

struct SavedFunction::State {
  explicit State(std::shared_ptr<Executable> executable, Mesh mesh)
      : executable(std::move(executable)), mesh(std::move(mesh)) {}
  std::shared_ptr<Executable> executable;
  const Mesh mesh;
};

/// The mesh that the program was written on, if that has axes of one device,
/// which the program runs without; else the mesh that it runs on.
static Mesh writtenMesh(const Signature &signature) {
  auto isWritten = [&](const ArrayType &type) {
    return withoutAxesOfOne(type.layout.mesh()) == signature.mesh;
  };
  for (const Signature::Argument &argument : signature.arguments)
    if (isWritten(argument.type))
      return argument.type.layout.mesh();
  for (const Signature::Result &result : signature.results)
    if (isWritten(result.type))
      return result.type.layout.mesh();
  return signature.mesh;
}

const std::string &SavedFunction::name() const {
  return state->executable->signature().name;
}
const Mesh &SavedFunction::mesh() const {
  return state->mesh;
}

std::vector<ValueInfo> SavedFunction::arguments() const {
  std::vector<ValueInfo> infos;
  for (const Signature::Argument &argument :
       state->executable->signature().arguments)
    infos.push_back(
        infoOf(argument.type, argument.name, ValueInfo::Role::Argument));
  return infos;
}

std::vector<ValueInfo> SavedFunction::results() const {
  const Signature &own = state->executable->signature();
  std::vector<ValueInfo> infos;
  for (size_t r = 0; r < own.results.size(); ++r) {
    const Signature::Result &result = own.results[r];
    const bool isVariable = result.aliasedArgument >= 0;
    infos.push_back(infoOf(
        result.type,
        isVariable ? own.arguments[size_t(result.aliasedArgument)].name
                   : fmt::format("result{}", r),
        isVariable ? ValueInfo::Role::Variable : ValueInfo::Role::Result));
  }
  return infos;
}

std::vector<int64_t> SavedFunction::assigned_arguments() const {
  std::vector<int64_t> arguments;
  for (const Signature::Result &result : state->executable->signature().results)
    if (result.aliasedArgument >= 0)
      arguments.push_back(result.aliasedArgument);
  return arguments;
}

std::vector<CollectiveInfo> SavedFunction::collectives() const {
  return collectivesOf(state->executable->compiled());
}

FunctionStatistics SavedFunction::statistics() const {
  return statisticsOf(*state->executable);
}

std::vector<Tensor>
SavedFunction::operator()(const std::vector<Tensor> &given) const {
  const Signature &own = state->executable->signature();
  const std::string &op = own.name;
  if (given.size() != own.arguments.size())
    fail(op, fmt::format("expected {} arguments, got {}", own.arguments.size(),
                         given.size()));
  std::vector<Array> arrays;
  arrays.reserve(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const Signature::Argument &argument = own.arguments[i];
    const TensorNode &node = nodeOf(given[i], op);
    if (node.dtype != argument.type.dtype || node.shape != argument.type.shape)
      fail(op, fmt::format("expected {} as argument {} ('{}'), got {}",
                           typeText(argument.type.dtype, argument.type.shape),
                           i, argument.name, typeText(given[i])));
    Tensor placed =
        node.host ? distribute(given[i], argument.type.layout) : given[i];
    if (placed.layout() != argument.type.layout)
      placed = relayout(placed, argument.type.layout);
    arrays.push_back(arrayOf(placed, op));
  }
  std::vector<Array> made =
      check(execute(state->executable, {}, std::move(arrays)), op);
  std::vector<Tensor> results;
  results.reserve(made.size());
  for (Array &array : made)
    results.push_back(wrap(std::move(array), state->mesh == hostMesh()));
  return results;
}

SavedFunction load_function(const std::filesystem::path &path,
                            const std::optional<Mesh> &mesh,
                            std::source_location where) {
  return atLine(where, [&]() -> SavedFunction {
    return parse_function(check(readFile(path.string()), "load_function"),
                          path.string(), mesh);
  });
}

SavedFunction parse_function(std::string_view bytes, std::string_view name,
                             const std::optional<Mesh> &mesh) {
  constexpr std::string_view op = "load_function";
  Result<Compiled> read = Compiled::deserialize(bytes);
  if (!read)
    fail(op, read.error().withMessage(fmt::format("cannot use '{}': {}", name,
                                                  read.error().message())));
  Compiled compiled = std::move(*read);
  const Mesh wanted = writtenMesh(compiled.signature());
  std::vector<MeshAxis> axes(wanted.axes().begin(), wanted.axes().end());
  if (mesh && !std::ranges::equal(mesh->axes(), wanted.axes()))
    fail(op, fmt::format("expected a mesh with the axes of '{}', {}, got {}",
                         name, meshText(wanted), meshText(*mesh)));
  Mesh on = mesh ? *mesh : create_mesh(axes, virtual_cpus(wanted.size()));
  LoadOptions options;
  options.checkNonFinite = settings().checkNumerics;
  auto executable = check(
      clientFor(on)->load(std::move(compiled), on.assignment(), options), op);
  return SavedFunction(std::make_shared<SavedFunction::State>(
      std::move(executable), std::move(on)));
}

} // namespace meshloom
