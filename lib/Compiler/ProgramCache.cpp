// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs are kept in the format of .mlprog files. Code that is only in memory
// stays behind: kernels have entries of their own, which programs share, and
// their target finds them by name.
#include "ProgramCache.h"

#include "Fingerprint.h"
#include "Targets.h"

#include "meshloom/Core/Timing.h"
#include "meshloom/Dialect/DTensor/Wish.h"
#include "meshloom/Support/BuildId.h"
#include "meshloom/Support/ContentCache.h"
#include "meshloom/Support/MachineModelFile.h"

#include "llvm-c/Core.h"

namespace meshloom {

static std::string
automaticLayoutsKey(const std::optional<AutomaticLayouts> &layouts) {
  if (!layouts)
    return "";
  return " memory=" + std::to_string(layouts->memory) +
         " reconsider=" + std::to_string(layouts->reconsider) +
         " mesh=" + layouts->mesh;
}

/// Returns whether the function asks for layouts that passes decide.
static bool inspectsLayouts(mlir::func::FuncOp function) {
  return function
      .walk([](dtensor::ConstraintOp op) {
        return op->hasAttr(dtensor::inspectedAttr)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<std::string> programKey(mlir::func::FuncOp function,
                                      const CompileOptions &options) {
  if (options.explain || options.afterPass || options.tightestContract ||
      !options.makeCode || (options.inspect && inspectsLayouts(function)))
    return std::nullopt;
  TimedScope timed("fingerprint");
  auto target = findTarget(options.target);
  if (!target)
    return std::nullopt;
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch); // of the library that is loaded
  std::string key;
  llvm::raw_string_ostream(key)
      << StringRef(buildId()) << " LLVM " << major << "." << minor << "."
      << patch << " " << options.target << " " << (*target)->machineCode()
      << " refine=" << options.refine << " single-moves=" << options.singleMoves
      << automaticLayoutsKey(options.autoLayout)
      << " deterministic=" << options.deterministic
      << " optimize=" << options.optimizeKernels
      << " bytes=" << options.codeAsBytes << "\n"
      << machineModelText(options.machine);
  std::optional<std::string> digest = fingerprint(function, key);
  if (!digest)
    return std::nullopt;
  return "program" + *digest;
}

std::optional<Compiled> cachedProgram(const std::string &key,
                                      const Target &target,
                                      const EmitOptions &options) {
  TimedScope timed("find in cache");
  std::shared_ptr<const std::string> bytes = ContentCache::process().find(key);
  if (!bytes)
    return std::nullopt;
  Result<Compiled> compiled = Compiled::deserialize(*bytes);
  if (!compiled)
    return std::nullopt;
  return target.restore(std::move(*compiled), options);
}

void storeProgram(const std::string &key, const Compiled &compiled) {
  TimedScope timed("store in cache");
  ContentCache::process().store(
      key, std::make_shared<const std::string>(compiled.serialize()));
}

} // namespace meshloom
