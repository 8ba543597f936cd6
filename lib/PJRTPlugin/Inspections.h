// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inspections: functions of Python that are told the layouts of values as a
// program is compiled (jax.debug.inspect_array_sharding).
#pragma once

#include "ProgramCompiler.h"

namespace meshloom::plugin {

/// The arguments of jaxlib's function that tells a Python function a layout.
struct InspectionArguments {
  const char *sharding; ///< the bytes of an xla.OpSharding
  size_t shardingSize;
  const char *failure = nullptr; ///< the text of an exception, set by the call
  void *failureOwner = nullptr;
  void (*releaseFailure)(InspectionArguments *) = nullptr;
};
using InspectionCaller = void (*)(void *function, InspectionArguments *);
/// jaxlib's function, for all clients of the process.
void setInspectionCaller(InspectionCaller caller);

/// Calls the Python functions that `program` names. Layouts for which it names
/// none are lines on stderr.
Status tellInspections(const LoadedProgram &program);

} // namespace meshloom::plugin
