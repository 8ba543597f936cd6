// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks that all backends make.
#include "meshloom/Runtime/Plan/Load.h"

#include "UnrolledLoops.h"

#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <new>

using namespace meshloom;
using namespace meshloom::plan;

Result<std::shared_ptr<Executable>>
plan::loadProgram(const std::shared_ptr<PlanClient> &client,
                  BoundProgram program, const LoadOptions &options,
                  const LoadStraight &straight, int64_t mostUnrolled) {
  auto hasControl = [&] {
    return std::ranges::any_of(program.compiled.program().steps, isControl);
  };
  if (Status ok = program.compiled.program().verify(); !ok)
    return ok.error();
  try {
    if (mostUnrolled > 0 && hasControl())
      program.compiled =
          Compiled({unrollLoops(program.compiled.program(), mostUnrolled),
                    program.compiled.code()},
                   program.compiled.machine());
    if (hasControl())
      return loadControl(client, std::move(program), options, straight);
    auto loaded = straight(std::move(program));
    if (!loaded)
      return loaded.error();
    return std::shared_ptr<Executable>(std::move(*loaded));
  } catch (const std::bad_alloc &) {
    return Error("out of memory while loading a program",
                 ErrorCode::RESOURCE_EXHAUSTED);
  }
}
