// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Inspections.h"

#include "OpShardings.h"

#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <cstring>

using namespace meshloom;
using namespace meshloom::plugin;

namespace {
std::atomic<InspectionCaller> jaxlibCaller{nullptr};

/// The contents of the backend_config of an inspection that JAX lowers.
struct InspectionTarget {
  InspectionCaller caller;
  void *function;
};

/// Returns the Python function that `config` names, or null. Only a program of
/// this process has the address of this process's caller.
void *functionOf(const std::string &config) {
  InspectionTarget target = {};
  if (config.size() != sizeof(target))
    return nullptr;
  std::memcpy(&target, config.data(), sizeof(target));
  const bool isOurs = target.caller && target.caller == jaxlibCaller;
  return isOurs ? target.function : nullptr;
}
} // namespace

void plugin::setInspectionCaller(InspectionCaller caller) {
  jaxlibCaller = caller;
}

Status plugin::tellInspections(const LoadedProgram &program) {
  for (const InspectedLayout &inspected : program.inspections) {
    void *function = functionOf(inspected.config);
    if (!function) {
      llvm::errs() << inspected.text << "\n";
      continue;
    }
    const std::string sharding =
        inspected.layout ? opShardingOf(*inspected.layout,
                                        program.places.front().partitionOf)
                         : manualSharding();
    InspectionArguments arguments{sharding.data(), sharding.size()};
    jaxlibCaller.load()(function, &arguments);
    if (!arguments.failure)
      continue;
    Error error(arguments.failure, ErrorCode::INTERNAL);
    if (arguments.releaseFailure)
      arguments.releaseFailure(&arguments);
    return error;
  }
  return Success();
}
