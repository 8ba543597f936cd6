// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The agreement with which processes that run steps together end them.
#pragma once

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/Failure.h"
#include "meshloom/Runtime/Plan/RunExchanges.h"

namespace meshloom::plan {

/// The first failure of any process, by step and rank, the same in all: each
/// calls it after the same steps, with what it has found itself.
Status agreeOnOutcome(Communicator &communicator, RunExchanges &exchanges,
                      const Failure &failure, const Program &program);

} // namespace meshloom::plan
