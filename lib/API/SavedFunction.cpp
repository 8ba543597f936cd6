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
  const std::string name;
  const std::shared_ptr<const DeviceProgram> program;
  const std::vector<std::string> argumentNames;
  const Mesh mesh; ///< of several, that of the first part
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
  return state->name;
}
const Mesh &SavedFunction::mesh() const {
  return state->mesh;
}

std::vector<ValueInfo> SavedFunction::arguments() const {
  const std::vector<ArrayType> &types = state->program->argumentTypes();
  std::vector<ValueInfo> infos;
  for (size_t i = 0; i < types.size(); ++i)
    infos.push_back(
        infoOf(types[i], state->argumentNames[i], ValueInfo::Role::Argument));
  return infos;
}

std::vector<ValueInfo> SavedFunction::results() const {
  const DeviceProgram &program = *state->program;
  std::vector<ValueInfo> infos;
  for (size_t r = 0; r < program.resultTypes().size(); ++r) {
    const bool isVariable = program.aliases()[r] >= 0;
    infos.push_back(infoOf(
        program.resultTypes()[r],
        isVariable ? state->argumentNames[size_t(program.aliases()[r])]
                   : fmt::format("result{}", r),
        isVariable ? ValueInfo::Role::Variable : ValueInfo::Role::Result));
  }
  return infos;
}

std::vector<int64_t> SavedFunction::assigned_arguments() const {
  std::vector<int64_t> arguments;
  for (int64_t argument : state->program->aliases())
    if (argument >= 0)
      arguments.push_back(argument);
  return arguments;
}

std::vector<CollectiveInfo> SavedFunction::collectives() const {
  std::vector<CollectiveInfo> infos;
  for (const DeviceProgram::Part *part : state->program->programs())
    llvm::append_range(infos, collectivesOf(part->executable->compiled()));
  return infos;
}

FunctionStatistics SavedFunction::statistics() const {
  return statisticsOf(*state->program);
}

std::vector<Tensor>
SavedFunction::operator()(const std::vector<Tensor> &arguments,
                          std::source_location where) const {
  const UserLine line(where);
  const std::vector<ArrayType> &types = state->program->argumentTypes();
  const std::string &op = state->name;
  if (arguments.size() != types.size())
    fail(op, fmt::format("expected {} arguments, got {}", types.size(),
                         arguments.size()));
  std::vector<Array> arrays;
  arrays.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArrayType &type = types[i];
    const TensorNode &node = nodeOf(arguments[i], op);
    if (node.dtype != type.dtype || node.shape != type.shape)
      fail(op, fmt::format("expected {} as argument {} ('{}'), got {}",
                           typeText(type.dtype, type.shape), i,
                           state->argumentNames[i], typeText(arguments[i])));
    Tensor placed =
        node.host ? distribute(arguments[i], type.layout) : arguments[i];
    if (placed.layout() != type.layout)
      placed = relayout(placed, type.layout);
    arrays.push_back(arrayOf(placed, op));
  }
  std::vector<Array> outputs =
      check(state->program->execute(std::move(arrays)), op);
  std::vector<Tensor> results;
  results.reserve(outputs.size());
  for (Array &array : outputs)
    results.push_back(wrapResult(std::move(array)));
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
  LoadOptions options;
  options.checkNonFinite = settings().checkNumerics;
  if (DeviceProgram::isSerialized(bytes)) {
    if (mesh)
      fail(op, fmt::format("expected no mesh for '{}', a function on several "
                           "sets of devices, which it names; got {}",
                           name, meshText(*mesh)));
    try {
      SavedProgram saved = DeviceProgram::parse(bytes, options);
      const DeviceProgram &program = *saved.program;
      const Mesh first = program.programs().front()->meshes.front();
      return SavedFunction(std::make_shared<SavedFunction::State>(
          SavedFunction::State{program.title(), saved.program,
                               std::move(saved.argumentNames), first}));
    } catch (const Error &error) {
      fail(op, error.withMessage(
                   fmt::format("cannot use '{}': {}", name, error.message())));
    }
  }
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
  auto executable = check(
      clientFor(on)->load(std::move(compiled), on.assignment(), options), op);
  const Signature &signature = executable->signature();
  std::vector<std::string> names;
  names.reserve(signature.arguments.size());
  for (const Signature::Argument &argument : signature.arguments)
    names.push_back(argument.name);
  return SavedFunction(std::make_shared<SavedFunction::State>(
      SavedFunction::State{signature.name,
                           std::make_shared<const DeviceProgram>(
                               executable, std::vector<Mesh>(), 0),
                           std::move(names), std::move(on)}));
}

} // namespace meshloom
