// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling and running what a trace became, see DeviceProgram.h.
#include "meshloom/Engine/DeviceProgram.h"

#include "DeviceCut.h"
#include "HostControl.h"
#include "meshloom/Engine/Execution.h"
#include "meshloom/Engine/Processes.h"
#include "meshloom/Engine/Transfers.h"

#include "meshloom/ControlFlow/Passes.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Runtime/Library/HostCall.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

namespace meshloom::detail {

DeviceProgram::DeviceProgram(std::shared_ptr<Executable> executable,
                             std::vector<Mesh> meshes, double compileSeconds)
    : seconds(compileSeconds) {
  const Signature &signature = executable->signature();
  for (const Signature::Argument &argument : signature.arguments) {
    takes.push_back(argument.type);
    takes.back().layout = onMeshOf(meshes, argument.type.layout);
  }
  for (const Signature::Result &result : signature.results) {
    gives.push_back(result.type);
    gives.back().layout = onMeshOf(meshes, result.type.layout);
    aliased.push_back(result.aliasedArgument);
  }
  pieces.push_back({std::move(executable), std::move(meshes), {}, {}, {}});
}

std::shared_ptr<const DeviceProgram>
DeviceProgram::compile(Trace &trace, const Settings &settings,
                       std::string_view name) {
  if (!trace.isSpread()) {
    Loaded loaded = compileAndLoad(trace.moduleOp(), trace.meshes().front(),
                                   settings, name);
    return std::make_shared<DeviceProgram>(
        std::move(loaded.executable), trace.meshes(), loaded.compileSeconds);
  }
  OwningOpRef<ModuleOp> module = trace.moduleOp().clone();
  mlir::PassManager passes(module->getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createLiftVariables());
  if (failed(passes.run(*module)))
    fail(name, "the variables of the function could not be made values");
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  const std::vector<int64_t> sets = trace.argumentSets();
  std::vector<int64_t> resultSets(function.getNumResults(), ANYWHERE);
  for (size_t i = 0; i < sets.size(); ++i)
    if (auto result = function.getArgAttrOfType<IntegerAttr>(
            unsigned(i), dtensor::aliasAttr))
      resultSets[size_t(result.getInt())] = sets[i];
  return compileFunction(std::move(module), trace.sharedContext(), sets,
                         resultSets, trace.meshes(), settings, name);
}

std::shared_ptr<const DeviceProgram> DeviceProgram::compileFunction(
    OwningOpRef<ModuleOp> module, std::shared_ptr<MLIRContext> context,
    ArrayRef<int64_t> sets, ArrayRef<int64_t> resultSets, ArrayRef<Mesh> meshes,
    const Settings &settings, std::string_view name) {
  auto program = std::make_shared<DeviceProgram>();
  program->name = name;
  program->context = std::move(context);
  program->aliased.assign(resultSets.size(), -1);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  for (size_t i = 0; i < sets.size(); ++i)
    if (auto result = function.getArgAttrOfType<IntegerAttr>(
            unsigned(i), dtensor::aliasAttr))
      program->aliased[size_t(result.getInt())] = int64_t(i);
  DeviceCut cut(*module, sets, resultSets, meshes);
  program->compileParts(cut, meshes, settings);
  return program;
}

/// Returns those of `meshes` that are on a set.
static std::vector<Mesh> meshesOn(int64_t set, ArrayRef<Mesh> meshes) {
  std::vector<Mesh> found;
  llvm::copy_if(meshes, std::back_inserter(found),
                [&](const Mesh &mesh) { return deviceSetOf(mesh) == set; });
  if (found.empty())
    found.push_back(meshOfDeviceSet(set));
  return found;
}

/// Returns the layout of a value that has devices, on them.
static Layout placedLayout(const DeviceCut &cut, size_t number,
                           ArrayRef<Mesh> meshes) {
  const std::vector<Mesh> those = meshesOn(cut.deviceSetOf(number), meshes);
  const Layout layout = onMeshOf(those, cut.layoutOf(number));
  return llvm::is_contained(those, layout.mesh())
             ? layout
             : layout.placed_on(those.front().assignment());
}

DeviceProgram::Part
DeviceProgram::compileControl(DeviceCut &cut, size_t number,
                              ArrayRef<Mesh> meshes,
                              const Settings &settings) const {
  cut.useOperands(number);
  const DevicePart &source = cut.part(number);
  Part part;
  part.operands.assign(source.operands.begin(), source.operands.end());
  part.results.assign(source.results.begin(), source.results.end());
  Operation *op = cut.controlOf(number);
  const bool isLoop = isa<dtensor::WhileOp>(op);
  std::vector<int64_t> sets, resultSets;
  for (size_t operand : part.operands)
    sets.push_back(cut.deviceSetOf(operand));
  if (!isLoop) // its index
    sets.erase(sets.begin());
  for (size_t result : part.results)
    resultSets.push_back(cut.deviceSetOf(result));
  std::vector<std::shared_ptr<const DeviceProgram>> bodies;
  for (Region &region : op->getRegions()) {
    const bool isCondition = isLoop && bodies.empty();
    bodies.push_back(compileFunction(
        cut.bodyOf(number, region), context, sets,
        isCondition ? std::vector<int64_t>{ANYWHERE} : resultSets, meshes,
        settings, name));
    if (bodies.back()->sends())
      failAt(op, "expected devices of one process in the body of a loop or "
                 "branch that moves values between devices: do so before");
  }
  std::vector<Layout> layouts;
  for (size_t r = 0; r < part.results.size(); ++r) {
    layouts.push_back(isLoop ? placedLayout(cut, part.operands[r], meshes)
                             : bodies[0]->resultTypes()[r].layout);
    cut.setLayout(part.results[r], layouts.back());
  }
  part.control = std::make_shared<const HostControl>(isLoop, std::move(bodies),
                                                     std::move(layouts));
  return part;
}

void DeviceProgram::compileParts(DeviceCut &cut, ArrayRef<Mesh> meshes,
                                 const Settings &settings) {
  // Equal parts, as those of microbatches are, have one executable.
  std::map<std::pair<int64_t, std::string>, std::shared_ptr<Executable>>
      executables;
  for (size_t p = 0; p < cut.partCount(); ++p) {
    if (cut.controlOf(p)) {
      pieces.push_back(compileControl(cut, p, meshes, settings));
      continue;
    }
    const int64_t set = cut.part(p).deviceSet;
    Part part;
    part.meshes = meshesOn(set, meshes);
    const Mesh &mesh = part.meshes.front();
    ModuleOp partModule = cut.build(p, mesh);
    std::string text;
    llvm::raw_string_ostream(text) << partModule;
    std::shared_ptr<Executable> &executable =
        executables[{set, std::move(text)}];
    if (!executable) {
      Loaded loaded = compileAndLoad(partModule, mesh, settings, name);
      seconds += loaded.compileSeconds;
      executable = std::move(loaded.executable);
    }
    part.executable = executable;
    const DevicePart &source = cut.part(p);
    part.operands.assign(source.operands.begin(), source.operands.end());
    part.results.assign(source.results.begin(), source.results.end());
    for (size_t r = 0; r < part.results.size(); ++r)
      cut.setLayout(
          part.results[r],
          onMeshOf(part.meshes,
                   part.executable->signature().results[r].type.layout));
    part.module = cut.takeModule(p);
    pieces.push_back(std::move(part));
  }

  uses.resize(cut.valueCount());
  results.assign(cut.results().begin(), cut.results().end());
  for (const Part &part : pieces)
    for (size_t number : part.operands)
      ++uses[number];
  for (size_t number : results)
    ++uses[number];
  for (size_t number = cut.valueCount(); number-- > 0;)
    if (const DeviceMove *move = cut.moveOf(number); move && uses[number]) {
      moves.emplace(number, Move{move->source,
                                 placedLayout(cut, number, meshes), nullptr});
      ++uses[move->source];
    }

  auto typeOf = [&](size_t number, Layout layout) {
    RankedTensorType type = cut.typeOf(number);
    return ArrayType{*dtensor::dtypeOf(type.getElementType()),
                     Shape(type.getShape().begin(), type.getShape().end()),
                     std::move(layout)};
  };
  for (auto &[number, move] : moves)
    if (cut.deviceSetOf(move.source) != ANYWHERE)
      if (const Layout from = placedLayout(cut, move.source, meshes);
          needsMessages(from.mesh(), move.layout.mesh()))
        move.call = transferCall(fmt::format("'{}'", name),
                                 typeOf(move.source, from), move.layout);
  if (sends())
    for (const Part *part : programs())
      describeProgram(part->executable, name, detailsOf(*part->module));

  for (size_t i = 0; i < cut.argumentCount(); ++i)
    takes.push_back(
        typeOf(i, cut.deviceSetOf(i) == ANYWHERE
                      ? Layout::replicated(hostMesh(),
                                           unsigned(cut.typeOf(i).getRank()))
                      : placedLayout(cut, i, meshes)));
  for (size_t r = 0; r < results.size(); ++r) {
    const size_t number = results[r];
    gives.push_back(aliased[r] >= 0 ? takes[size_t(aliased[r])]
                    : number < takes.size()
                        ? takes[number]
                        : typeOf(number, placedLayout(cut, number, meshes)));
  }
}

/// The values of one run. A variable that the function assigns keeps its old
/// value until the part that makes the new one takes it: what fails before
/// leaves it.
class DeviceProgram::Run {
public:
  Run(const DeviceProgram &program, std::vector<Array> &&arguments)
      : program(program), arguments(arguments), values(std::move(arguments)),
        uses(program.uses), makers(uses.size(), NOBODY),
        newValues(values.size(), NOBODY) {
    values.resize(uses.size());
    for (size_t p = 0; p < program.pieces.size(); ++p)
      for (size_t number : program.pieces[p].results)
        makers[number] = p;
    for (size_t r = 0; r < program.results.size(); ++r)
      if (program.aliased[r] >= 0)
        newValues[size_t(program.aliased[r])] = program.results[r];
    for (size_t i = 0; i < newValues.size(); ++i)
      if (!uses[i] && newValues[i] == NOBODY)
        values[i] = Array();
  }

  /// The value for a part, which gives it up at its last use.
  Result<Array> take(size_t number, size_t part = NOBODY) {
    if (auto move = program.moves.find(number);
        move != program.moves.end() && !values[number]) {
      Result<Array> source = take(move->second.source);
      if (!source)
        return source;
      Result<Array> moved =
          movedTo(std::move(*source), move->second.layout, move->second.call);
      if (!moved)
        return moved;
      values[number] = std::move(*moved);
    }
    if (--uses[number] || isOldValue(number, part))
      return values[number];
    return std::move(values[number]);
  }
  void set(size_t number, Array value) {
    if (uses[number])
      values[number] = std::move(value);
  }
  /// `operands` of a part that failed: it did not use those that are there.
  void putBack(const Part &part, std::vector<Array> operands) {
    for (size_t i = 0; i < operands.size(); ++i)
      if (Array &value = values[part.operands[i]]; !value)
        value = std::move(operands[i]);
  }
  /// Gives the variables what they have after a failure. `arrays`: the results
  /// so far.
  void giveBack(const std::vector<Array> &arrays) {
    arguments.assign(newValues.size(), Array());
    for (size_t r = 0; r < program.results.size(); ++r) {
      if (program.aliased[r] < 0)
        continue;
      const auto argument = size_t(program.aliased[r]);
      Array value = values[argument]    ? values[argument]
                    : r < arrays.size() ? arrays[r]
                                        : values[program.results[r]];
      if (!value)
        continue;
      if (Result<Array> placed =
              movedTo(std::move(value), program.gives[r].layout))
        arguments[argument] = std::move(*placed);
    }
  }

private:
  static constexpr size_t NOBODY = ~size_t(0);
  /// Returns whether this is what a variable keeps if a part after `part`
  /// fails.
  bool isOldValue(size_t number, size_t part) const {
    return number < newValues.size() && newValues[number] != NOBODY &&
           (part == NOBODY || makers[newValues[number]] != part);
  }

  const DeviceProgram &program;
  std::vector<Array> &arguments; ///< the caller's
  std::vector<Array> values;
  std::vector<size_t> uses;      ///< uses that are to come
  std::vector<size_t> makers;    ///< the part that makes a value
  std::vector<size_t> newValues; ///< of a variable, by its argument
};

Status
DeviceProgram::mayExecuteParts(const std::vector<Array> &arguments) const {
  for (const Part &part : pieces) {
    if (part.control || !llvm::all_of(part.operands, [&](size_t number) {
          return number < arguments.size() && !moves.contains(number);
        }))
      continue;
    std::vector<Array> operands;
    operands.reserve(part.operands.size());
    for (size_t number : part.operands)
      operands.push_back(arguments[number]);
    if (Status ok = detail::mayExecute(part.executable, part.meshes, operands);
        !ok)
      return ok;
  }
  return Success();
}

bool DeviceProgram::isWhole() const {
  return pieces.size() == 1 && !pieces[0].module && !pieces[0].control;
}

std::vector<const DeviceProgram::Part *> DeviceProgram::programs() const {
  std::vector<const Part *> found;
  for (const Part &part : pieces)
    if (part.control)
      llvm::append_range(found, part.control->programs());
    else
      found.push_back(&part);
  return found;
}

bool DeviceProgram::callsUser() const {
  return llvm::any_of(programs(), [](const Part *part) {
    const Compiled &compiled = part->executable->compiled();
    return compiled.coded() && library::callsUserFunctions(compiled.program());
  });
}

bool DeviceProgram::sends() const {
  return llvm::any_of(
      moves, [](const auto &move) { return move.second.call != nullptr; });
}

Result<std::vector<Array>>
DeviceProgram::execute(std::vector<Array> &&arguments,
                       const std::function<void()> &accepted) const {
  if (isWhole())
    return detail::execute(pieces[0].executable, pieces[0].meshes,
                           std::move(arguments), accepted);
  if (!sends())
    return executeParts(std::move(arguments), accepted);
  if (runs == 0) {
    std::vector<std::shared_ptr<Executable>> executables;
    for (const Part *part : programs())
      executables.push_back(part->executable);
    if (Status ok = agreeOnParts(executables, name); !ok)
      return ok.error();
  }
  Result<std::vector<Array>> results =
      executeParts(std::move(arguments), accepted);
  // The others would wait for what this process does not send any more.
  if (!results)
    giveUpTransfers(results.error());
  return results;
}

Result<std::vector<Array>>
DeviceProgram::executeParts(std::vector<Array> &&arguments,
                            const std::function<void()> &accepted) const {
  if (accepted) {
    if (Status ok = mayExecuteParts(arguments); !ok)
      return ok.error();
    accepted();
  }
  ++runs;
  Run run(*this, std::move(arguments));
  std::vector<Array> arrays;
  Status done = runParts(run, arrays);
  if (done)
    return arrays;
  run.giveBack(arrays);
  return done.error();
}

Status DeviceProgram::runParts(Run &run, std::vector<Array> &arrays) const {
  for (size_t p = 0; p < pieces.size(); ++p) {
    const Part &part = pieces[p];
    std::vector<Array> operands;
    operands.reserve(part.operands.size());
    for (size_t number : part.operands) {
      Result<Array> operand = run.take(number, p);
      if (!operand) {
        run.putBack(part, std::move(operands));
        return operand.error();
      }
      operands.push_back(std::move(*operand));
    }
    Result<std::vector<Array>> outputs =
        part.control ? part.control->run(operands)
                     : detail::execute(part.executable, part.meshes,
                                       std::move(operands));
    if (!outputs) {
      run.putBack(part, std::move(operands));
      return outputs.error();
    }
    for (size_t r = 0; r < part.results.size(); ++r)
      run.set(part.results[r], std::move((*outputs)[r]));
  }
  arrays.reserve(results.size());
  for (size_t r = 0; r < results.size(); ++r) {
    Result<Array> result = run.take(results[r]);
    if (!result)
      return result.error();
    Result<Array> placed = movedTo(std::move(*result), gives[r].layout);
    if (!placed)
      return placed.error();
    arrays.push_back(std::move(*placed));
  }
  return Success();
}

} // namespace meshloom::detail
