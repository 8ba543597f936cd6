// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling, loading and running programs.
#include "meshloom/Engine/Execution.h"
#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/Platforms.h"
#include "meshloom/Engine/Processes.h"
#include "meshloom/Engine/SharedValues.h"
#include "meshloom/Engine/Texts.h"
#include "meshloom/Engine/Transfers.h"

#include "meshloom/ControlFlow/SourceLocation.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Core/ProcessEnd.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"
#include "meshloom/Runtime/Profiler.h"

#include "llvm/Support/Format.h"

#include <fmt/format.h>

#include <chrono>

namespace meshloom::detail {

/// Puts the arguments back that a failed run has left.
static void leaveOldValues(const Signature &signature,
                           const std::vector<Array> &results,
                           std::vector<Array> &arguments) {
  arguments.resize(signature.arguments.size());
  for (size_t r = 0; r < results.size(); ++r)
    if (const int64_t replaced = signature.results[r].aliasedArgument;
        replaced >= 0)
      arguments[size_t(replaced)] = results[r].oldValue();
}

/// Runs it, and waits for its results where that is asked for; an Error where
/// memory does not suffice.
static Result<std::vector<Array>>
executeIn(Executable &executable, std::vector<Array> &&arguments, bool waits,
          const std::function<void()> &accepted) {
  try {
    Result<std::vector<Array>> results =
        executable.execute(std::move(arguments), accepted);
    if (!waits || !results)
      return results;
    (void)executable.statistics(); // once it has run
    for (const Array &result : *results)
      if (Status ok = result.wait(); !ok) {
        leaveOldValues(executable.signature(), *results, arguments);
        return ok.error();
      }
    return results;
  } catch (const std::bad_alloc &) {
    return Error("out of memory: there is no room for the program's values",
                 ErrorCode::RESOURCE_EXHAUSTED);
  } catch (const std::length_error &) {
    return Error("out of memory: the program makes an array larger than there "
                 "can be",
                 ErrorCode::RESOURCE_EXHAUSTED);
  }
}

Layout onMeshOf(std::span<const Mesh> meshes, const Layout &layout) {
  if (llvm::is_contained(meshes, layout.mesh()))
    return layout;
  for (const Mesh &mesh : meshes)
    if (std::ranges::equal(mesh.axes(), layout.mesh().axes()))
      return layout.placed_on(mesh.assignment());
  return layout;
}

/// `array` as the program takes it, whose meshes all have one name.
static Result<Array> asArgument(Array array,
                                const Signature::Argument &wanted) {
  const ArrayType &type = wanted.type;
  if (!array || array.type() == type)
    return array;
  const Layout &layout = array.layout();
  // Parts in other processes come when the user says so.
  if (!layout.mesh().is_remote() && !isWhollyHere(array.type()) &&
      !(onSameDevices(layout.mesh(), type.layout.mesh()) &&
        haveSameShards(layout, type.layout, array.shape())))
    return Error(fmt::format(
        "expected '{}', {}, in a layout that the other meshes have too, got {} "
        "on {}: they cut its axes, and a dim that the axes do not divide has "
        "other blocks then; make it a multiple of the axes' sizes, or relayout "
        "the tensor before the call",
        wanted.name, typeText(array.dtype(), array.shape()),
        layout.spec_string(), meshText(layout.mesh())));
  return movedTo(std::move(array), type.layout);
}

Status mayExecute(const std::shared_ptr<Executable> &program,
                  std::span<const Mesh> meshes,
                  std::span<const Array> arguments) {
  const Signature &signature = program->signature();
  if (spansThisProcess(signature.mesh))
    if (Status ok = mayAgreeOn(program); !ok)
      return ok;
  size_t fitting = 0;
  while (fitting < arguments.size() &&
         (!arguments[fitting] ||
          arguments[fitting].type() == signature.arguments[fitting].type))
    ++fitting;
  if (meshes.empty() || fitting == arguments.size())
    return program->mayExecute(arguments);
  std::vector<Array> taken;
  taken.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto array = asArgument(arguments[i], signature.arguments[i]);
    if (!array)
      return array.error();
    taken.push_back(std::move(*array));
  }
  return program->mayExecute(taken);
}

Result<std::vector<Array>> execute(const std::shared_ptr<Executable> &program,
                                   std::span<const Mesh> meshes,
                                   std::vector<Array> &&arguments,
                                   const std::function<void()> &accepted) {
  const Signature &signature = program->signature();
  Agreement agreement;
  if (spansThisProcess(signature.mesh)) {
    // A run that this process refuses is not begun with the others.
    if (accepted)
      if (Status ok = mayExecute(program, meshes, arguments); !ok)
        return ok.error();
    Result<Agreement> agreed = agreeOn(program, arguments);
    if (!agreed)
      return agreed.error();
    agreement = std::move(*agreed);
  }
  if (!meshes.empty())
    for (size_t i = 0; i < arguments.size(); ++i) {
      auto array = asArgument(arguments[i], signature.arguments[i]);
      if (!array)
        return array.error();
      arguments[i] = std::move(*array);
    }
  Result<std::vector<Array>> results =
      executeIn(*program, std::move(arguments), agreement.waits, accepted);
  if (!results)
    return results;
  if (meshes.size() > 1)
    for (Array &result : *results)
      if (Layout layout = onMeshOf(meshes, result.layout());
          layout != result.layout()) {
        ArrayType type{result.dtype(), result.shape(), std::move(layout)};
        result = std::move(result).as(std::move(type));
      }
  passOrigins(agreement.origins, *results);
  return results;
}

CompileOptions optionsFor(const Mesh &mesh, const Settings &settings) {
  CompileOptions options;
  options.machine = machineFor(mesh, *settings.machine);
  options.refine = settings.refine;
  options.deterministic = settings.deterministic;
  options.target = platformFor(mesh)->target();
  return options;
}

std::vector<std::string> detailsOf(ModuleOp module) {
  std::vector<std::string> lines;
  module.walk([&](Operation *op) {
    auto constant = dyn_cast<dtensor::ConstantOp>(op);
    if (!llvm::isa_and_nonnull<dtensor::DTensorDialect>(op->getDialect()) ||
        (!constant && op->getAttrs().empty()))
      return;
    std::string line;
    llvm::raw_string_ostream out(line);
    if (constant) {
      Operation *user = op;
      do { // past what only spreads it
        if (user->use_empty())
          break;
        user = *user->user_begin();
      } while (isa<dtensor::BroadcastInDimOp, dtensor::ConvertOp,
                   dtensor::ReshapeOp, dtensor::RelayoutOp>(user));
      out << "op " << user->getName().stripDialect() << " of the constant ";
      if (auto splat = dyn_cast<mlir::SplatElementsAttr>(constant.getValue()))
        splat.getSplatValue<mlir::Attribute>().print(out, /*elideType=*/true);
      else if (auto dense =
                   dyn_cast<mlir::DenseElementsAttr>(constant.getValue())) {
        StableHash hash;
        hash.add({dense.getRawData().data(), dense.getRawData().size()});
        out << "with hash " << llvm::format_hex_no_prefix(hash.value(), 16);
      }
      op = user;
    } else {
      out << "op " << op->getName().stripDialect() << " "
          << op->getAttrDictionary();
    }
    if (std::optional<std::string> place = sourcePosition(op->getLoc()))
      out << " (at " << *place << ")";
    lines.push_back(std::move(line));
  });
  return lines;
}

Loaded compileAndLoad(ModuleOp module, const Mesh &mesh,
                      const Settings &settings, std::string_view op,
                      raw_ostream *explain) {
  HostRange range([&] { return "compile " + std::string(op); });
  auto begin = std::chrono::steady_clock::now();
  CompileOptions options = optionsFor(mesh, settings);
  if (explain)
    options.explain = explanationPrinter(*explain);
  std::shared_ptr<Client> client = clientFor(mesh);
  std::vector<std::string> details;
  if (spansThisProcess(mesh))
    details = detailsOf(module);
  Compiled compiled = check(compile(module, options), op);
  LoadOptions load;
  load.checkNonFinite = settings.checkNumerics;
  load.name = op;
  Loaded loaded;
  TimedScope timed("load");
  loaded.executable =
      check(client->load(std::move(compiled), mesh.assignment(), load), op);
  if (spansThisProcess(mesh))
    describeProgram(loaded.executable, std::string(op), std::move(details));
  loaded.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  // Static objects that were constructed on the way are destroyed after the
  // end.
  ProcessEnd::comeFirst();
  return loaded;
}

} // namespace meshloom::detail
