// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of a GradientTape outside of a trace: the ops that ran, with
// their operands and results. A tape in a trace has none: the trace has it all.
#pragma once

#include "meshloom/Engine/TapeSlice.h"
#include "meshloom/Engine/Trace.h"

#include "meshloom/API/Variable.h"

namespace meshloom::detail {

class TapeState : public std::enable_shared_from_this<TapeState> {
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

  /// Gradients of the sum of targets[i] times seeds[i] (none: 1) to each
  /// source; a source that is several tensors is their sum. Null where there is
  /// no path.
  std::vector<Tensor> gradients(const std::vector<Tensor> &targets,
                                const std::vector<Tensor> &seeds,
                                const std::vector<std::vector<Tensor>> &sources,
                                const std::source_location &where) const;
  /// The same of a tape of no trace, as ops at the end of `trace`.
  SmallVector<Value>
  gradientsInto(Trace &trace, const std::vector<Tensor> &targets,
                ArrayRef<Value> seeds,
                const std::vector<std::vector<Tensor>> &sources,
                const std::source_location &where) const;
};

/// A source of a gradient: a variable, or a tensor.
struct TapeSource {
  std::string name;
  DVariable variable;
  Tensor tensor;
};
/// Gradients in a trace, of targets times seeds (none: 1). The tape may have
/// begun in this body, in one around it, or outside of the trace.
std::vector<Tensor> gradientsInTrace(Trace &trace, const TapeState &tape,
                                     const std::vector<Tensor> &targets,
                                     const std::vector<Tensor> &seeds,
                                     const std::vector<TapeSource> &sources,
                                     const std::source_location &where);

/// Tells the tapes of this thread what ran.
void recordOp(const OpCall &call, const std::vector<Tensor> &results);
void recordRead(const std::shared_ptr<VariableState> &variable,
                const Tensor &value);
/// Returns whether some tape records what runs outside of traces.
bool isRecording();

} // namespace meshloom::detail
