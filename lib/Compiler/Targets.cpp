// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Targets.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Targets/CPU/CPUTarget.h"
#include "meshloom/Targets/CUDA/CUDATarget.h"
#include "meshloom/Targets/StableHLO/StableHLOTarget.h"

#include "llvm/ADT/StringExtras.h"

namespace meshloom {

ArrayRef<const Target *> allTargets() {
  static const Target *const targets[] = {
      &cpuTarget(),
      &cudaTarget(),
      &stableHLOTarget(),
  };
  return targets;
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const Target *target : allTargets())
    names.emplace_back(target->name());
  return names;
}

Result<const Target *> findTarget(std::string_view name) {
  for (const Target *target : allTargets())
    if (target->name() == name)
      return target;
  return Error("there is no target '" + std::string(name) +
               "'; the targets are " + llvm::join(targetNames(), ", "));
}

} // namespace meshloom
