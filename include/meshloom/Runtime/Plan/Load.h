// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading a Program: straight as it is, or cut into straight pieces.
#pragma once

#include "meshloom/Runtime/Plan/StraightExecutable.h"

namespace meshloom::plan {

/// Makes a straight program ready to run. It may be a piece of a larger one,
/// which its code then is that of.
using LoadStraight =
    std::function<Result<std::shared_ptr<StraightExecutable>>(BoundProgram)>;

/// Fails on a program that is wrong in itself (Program::verify), that does not
/// fit in the client's memory, or that `straight` fails on. Loops of at most
/// `mostUnrolled` steps are written out: see unrollLoops.
Result<std::shared_ptr<Executable>>
loadProgram(const std::shared_ptr<PlanClient> &client, BoundProgram program,
            const LoadOptions &options, const LoadStraight &straight,
            int64_t mostUnrolled = 0);

/// For programs with loops and branches.
Result<std::shared_ptr<Executable>>
loadControl(const std::shared_ptr<PlanClient> &client, BoundProgram program,
            const LoadOptions &options, const LoadStraight &straight);

/// An executable of class `E` with its plan made, which `planning` goes to.
template <typename E, typename... Planning>
Result<std::shared_ptr<StraightExecutable>>
planned(std::shared_ptr<E> executable, const Planning &...planning) {
  if (Status ok = executable->plan(planning...); !ok)
    return ok.error();
  return std::shared_ptr<StraightExecutable>(std::move(executable));
}

} // namespace meshloom::plan
