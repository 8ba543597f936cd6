// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Program with loops and branches: runs of steps without them are executables
// of their own, which the backend makes, and this one says which runs next.
//
// Values that go from one to another are arrays, with reference counts. That is
// what keeps every value alive for exactly as long as something needs it: a
// carried value is handed to the body with its only reference, so that the
// body may update it in place; one that something else still refers to (an init
// that is used after the loop, two carried values that swap places) is copied
// by the update, as any argument is that the caller keeps.
//
// Where the client makes graphs for that, devices run a loop or branch by
// themselves if they can run all its pieces (RecordedControl.cpp).
#pragma once

#include "meshloom/Runtime/Plan/ControlGraph.h"
#include "meshloom/Runtime/Plan/ControlPlan.h"
#include "meshloom/Runtime/Plan/Load.h"

#include <map>

namespace meshloom::plan {

class ControlExecutable : public PlanExecutable {
public:
  using PlanExecutable::PlanExecutable;
  Status plan(const LoadStraight &straight);
  int64_t cores() const override { return mostCores; }
  bool exchanges() const override { return exchanges(planned.list); }

private:
  using Values = std::vector<Array>; ///< per buffer
  Result<std::vector<Array>> run(std::vector<Array> &&arguments) override;
  Status loadPiece(SubProgram &sub, const LoadStraight &straight);
  Status makeConstants();
  Status countMemory();
  void findAgreements(ControlList &list);
  int64_t bytesOf(const std::vector<unsigned> &buffers) const;

  bool exchanges(const ControlList &list) const;
  Result<bool> goesOn(ControlLoop &loop, Values &values);
  void giveBack(Values &values, std::vector<Array> &arguments) const;
  void forgetResults(const ControlList &list, Values &values) const;
  Status run(ControlList &list, Values &values);
  Status run(ControlItem &item, Values &values);
  Status run(const ControlPiece &work, const ControlItem &item, Values &values);
  Status run(ControlLoop &loop, const ControlItem &item, Values &values);
  Status run(ControlBranch &branch, const ControlItem &item, Values &values);
  Result<int32_t> scalar(const Array &array) const;
  Result<bool> onAnyDevice(const Array &predicate) const;

  void findRecordable(const ControlList &list);
  bool isRecordable(const ControlList &list) const;
  std::unique_ptr<ControlGraph> *graphOf(const ControlItem &item);
  std::vector<unsigned> resultsOf(const ControlItem &item) const;
  int64_t bytesInside(const ControlItem &item) const;
  Array arrayAt(unsigned buffer, const Block &place) const;
  Status runRecorded(ControlItem &item, std::unique_ptr<ControlGraph> &graph,
                     Values &values);
  /// The values that a loop carries.
  struct Carried {
    std::vector<Block> places;
    std::vector<Array> copied; ///< the inits; empty: the place is the init's
  };
  Status recordOutermost(ControlItem &item, Carried &carried, Values &values);
  Status record(ControlItem &item, Values &values);
  Status recordBranch(ControlBranch &branch, Values &values);
  Status recordTurns(ControlLoop &loop, std::span<const Block> places,
                     Values &values);
  Status recordCondition(ControlLoop &loop, bool isEnd, Values &values);
  Status copyToPlaces(const LoopStep &loop, std::span<const Array> next,
                      std::span<const Block> places);
  Status placeCarried(const LoopStep &loop,
                      std::span<const unsigned> dropAtStart, Carried &carried,
                      Values &values);

  ControlPlan planned; ///< the programs of its pieces become `parts`
  std::vector<std::pair<unsigned, Array>> constants;
  /// The pieces of all lists; one runs at a time, so that they share scratch
  /// memory.
  std::vector<std::shared_ptr<StraightExecutable>> parts;
  int64_t scratchBytes = 0;  ///< that they share, on all devices
  int64_t retainedBytes = 0; ///< that each keeps for itself, all together
  int64_t mostCores = 1;     ///< of all pieces
  std::vector<CollectiveRecord> sent; ///< in the run that is going on
  /// The graphs of the outermost loops and branches that devices run by
  /// themselves, by step; null: there has been no run yet.
  std::map<unsigned, std::unique_ptr<ControlGraph>> graphs;
  ControlGraph *recording = nullptr; ///< null: nothing is recorded
};

} // namespace meshloom::plan
