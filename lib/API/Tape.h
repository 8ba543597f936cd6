// What a GradientTape remembers. In a trace: nothing, the trace has it all.
// Outside: the ops that ran, with their operands and results.
#pragma once

#include "TapeSlice.h"

namespace meshloom::detail {

class TapeState {
public:
  TapeState()
      : trace(threadState().trace()), start(trace ? trace->lastOp() : nullptr),
        block(trace ? trace->builder().getInsertionBlock() : nullptr) {}

  /// The trace that it was made in, or null.
  std::shared_ptr<Trace> trace;
  /// In a trace: the last op before the tape; what came before is not recorded.
  Operation *start;
  /// In a trace: the body, or that of a loop or branch, that it was made in.
  Block *block;

  std::vector<TapeRecord> records;
  /// Values that variables had when they were read.
  std::vector<std::pair<std::shared_ptr<VariableState>, Tensor>> reads;

  /// Gradients of sum(target) to each source; a source that is several tensors
  /// is their sum. Null where there is no path.
  std::vector<Tensor> gradients(const Tensor &target,
                                const std::vector<std::vector<Tensor>> &sources,
                                const std::source_location &where) const;
};

/// Tells the tapes of this thread what ran.
void recordOp(const OpCall &call, const std::vector<Tensor> &results);
void recordRead(const std::shared_ptr<VariableState> &variable,
                const Tensor &value);
/// Whether some tape records what runs outside of traces.
bool isRecording();

} // namespace meshloom::detail
