// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves: how each move of a collective is done where devices of one process
// share memory and others are in other processes.
//
// Whether a move is an exchange all processes decide alike, from what each of
// them holds. A partial value whose addends are merged is one addend a process;
// its exchange combines those.
#pragma once

#include "meshloom/Runtime/Plan/Shared/Addends.h"

#include "meshloom/Runtime/Plan/Exchange.h"
#include "meshloom/Runtime/Plan/MemoryPlan.h"

namespace meshloom::plan {

struct PlannedMove {
  MoveWay way = MoveWay::Local;
  /// The exchange; empty where `group` is not: these processes then compute one
  /// sum of all that the target's array holds.
  ExchangePlan exchange;
  std::vector<int> group;
};

/// Whether two processes are on one host.
using OnOneHost = std::function<bool(int, int)>;

/// Plans all moves of a straight program; the result is indexed by the buffer
/// that is their target.
std::vector<PlannedMove> planMoves(const Program &program,
                                   const AddendPlan &addends,
                                   const MeshProcesses &processes,
                                   const OnOneHost &onOneHost);

/// Returns whether it adds, or otherwise combines, what devices have.
bool isReduction(const CollectiveStep &step);

} // namespace meshloom::plan
