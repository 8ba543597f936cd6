// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StraightExecutable: a program without loops and branches. It does what is the
// same on all backends: constants, scratch memory, the choice of arguments that
// are overwritten or copied first, results.
#pragma once

#include "meshloom/Runtime/Plan/ControlGraph.h"
#include "meshloom/Runtime/Plan/MemoryPlan.h"
#include "meshloom/Runtime/Plan/Offsets.h"
#include "meshloom/Runtime/Plan/PlanExecutable.h"

namespace meshloom::plan {

class StraightExecutable : public PlanExecutable {
public:
  using PlanExecutable::PlanExecutable;

  /// Executables of which one runs at a time need the scratch memory of the
  /// largest only: this one and all `others`, which share theirs already, share
  /// that. Gives the bytes that all of them together have then.
  int64_t shareScratch(std::span<StraightExecutable *const> others);
  /// Bytes on all devices, its own or shared.
  int64_t scratchBytes() const;

  /// Returns whether a run can be a part of a graph of the client's.
  virtual bool isRecordable() const { return false; }
  /// Records a run. The results are there when the graph has run.
  Result<std::vector<Array>> record(std::vector<Array> &&arguments,
                                    ControlGraph &graph);

protected:
  /// Where the memories of the plan lie in one run.
  struct Frame {
    size_t slots;
    std::vector<char *> addresses; ///< [memory][slot]
    char *address(unsigned memory, size_t slot) const {
      return addresses[memory * slots + slot];
    }
    /// To be copied before anything else: values that live on while an update
    /// takes place in other memory.
    struct OldValue {
      size_t slot;
      char *to;
      Block from;
      int64_t bytes;
    };
    std::vector<OldValue> oldValues;
  };

  /// To be called once, before the first run. `offsets`: of the plan's memories
  /// that are scratch, in `arenaBytes` of every slot; other entries mean
  /// nothing. `workBytes`: what the backend takes in all besides. Fails where
  /// that is too much, naming the step with the largest result.
  Status setPlan(MemoryPlan memory, std::vector<int64_t> offsets,
                 int64_t arenaBytes, int64_t workBytes = 0);
  const MemoryPlan &memoryPlan() const { return planned; }
  /// Memory of the backend's that a run uses up: `bytes` in all.
  void setWork(Block block, int64_t bytes) {
    work.blocks = {std::move(block)};
    work.bytes = bytes;
  }
  char *workMemory() const { return work.blocks.front().get(); }
  /// Where the plan's scratch memories are in a slot.
  char *arena(size_t slot) const { return arenas.blocks[slot].get(); }

  /// An event of a profiled run: `worker` has copied an old value since
  /// `begin`.
  void recordOldValue(int64_t worker, int64_t bytes, int64_t begin) const;

  /// Copies the old values, then does all actions of the plan, or asks the
  /// device to. The results are there when the event is complete.
  virtual Result<Event> runActions(const Frame &frame) = 0;
  /// Returns whether the client does work on the results after this one's by
  /// itself, so that nobody has to wait for the event before asking for it.
  virtual bool isInOrder() const { return false; }
  /// Copies the old values, then records all actions of the plan.
  virtual Status recordActions(const Frame &frame, ControlGraph &graph);

private:
  Result<std::vector<Array>> run(std::vector<Array> &&arguments) final;
  Result<Block> allocate(size_t slot, int64_t bytes);
  Result<Event> doActions(const Frame &frame);
  Status count(int64_t arenaBytes, int64_t workBytes);

  MemoryPlan planned;
  std::vector<int64_t> offsets; ///< per memory
  std::vector<Array> constants;
  /// Memory that lasts a run: of each slot, and of the backend.
  struct Scratch {
    std::vector<Block> blocks;
    int64_t bytes = 0; ///< of each block
  };
  Scratch arenas, work;
  ControlGraph *recording = nullptr; ///< null: the run is not recorded
};

} // namespace meshloom::plan
