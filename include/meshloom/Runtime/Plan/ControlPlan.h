// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ControlPlan: a Program with loops and branches, cut into pieces without them,
// and which values live while each of them runs.
#pragma once

#include "meshloom/Runtime/Plan/SubProgram.h"

#include <algorithm>
#include <functional>
#include <span>

namespace meshloom::plan {

struct ControlList;

/// Steps that run one after the other: an index of ControlPlan::pieces.
struct ControlPiece {
  unsigned index;
};

struct ControlLoop {
  const LoopStep *step;
  unsigned id;                    ///< of the step
  std::vector<ControlList> lists; ///< condition, body
  /// Where processes must go on together though each of them knows its own
  /// predicate only.
  bool agrees = false;
};

struct ControlBranch {
  const BranchStep *step;
  unsigned id; ///< of the step
  std::vector<ControlList> branches;
};

struct ControlItem {
  std::variant<ControlPiece, ControlLoop, ControlBranch> work;
  /// Buffers of the list that nothing needs once the item has begun (a loop's
  /// inits), and once it is over.
  std::vector<unsigned> dropAtStart = {}, dropAtEnd = {};
};

struct ControlList {
  std::vector<ControlItem> items;
};

/// The lists inside of a loop or branch; a piece has none.
std::span<const ControlList> listsOf(const ControlItem &item);

struct ControlPlan {
  ControlList list;
  std::vector<SubProgram> pieces;
  /// Indices of the program's constants that are values between pieces; pieces
  /// have the other ones, which are splats.
  std::vector<unsigned> constants;

  /// Calls `function` with each buffer that an item defines for what comes
  /// after it.
  template <typename Function>
  void forEachResult(const ControlItem &item, const Function &function) const {
    if (auto *piece = std::get_if<ControlPiece>(&item.work))
      std::ranges::for_each(pieces[piece->index].results, function);
    else if (auto *loop = std::get_if<ControlLoop>(&item.work))
      std::ranges::for_each(loop->step->carried, function,
                            &LoopStep::Carry::result);
    else
      std::ranges::for_each(std::get<ControlBranch>(item.work).step->outputs,
                            function, &BranchStep::Output::result);
  }

  /// Calls `moment` at each moment of a run at which most values live between
  /// items, each list once: with the buffers that do, the program's arguments
  /// and constants among them, and the item that runs.
  void forEachMoment(
      const Program &program,
      const std::function<void(const std::vector<unsigned> &live,
                               const ControlItem &item)> &moment) const;
};

/// `program` outlives the plan.
ControlPlan planControl(const Program &program);

} // namespace meshloom::plan
