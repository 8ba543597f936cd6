// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a trace finds out about variables of other processes, beside the trace
// itself: updates of them, and what the function sees of them afterwards.
#pragma once

#include "meshloom/Engine/Trace.h"

#include "meshloom/API/RemoteVariables.h"

#include <map>

namespace meshloom::detail {

/// An update that a function makes of variables that another process holds.
struct TracedUpdate {
  std::shared_ptr<const TracedFunction> program;
  /// Values of the function's trace while it goes on; then none.
  std::vector<Tensor> operands;
  size_t operandCount = 0;
  /// Reaches its variables.
  std::shared_ptr<const VariableStore> store;
};

/// Of one trace, this thread's innermost one while it lives.
class RemoteTrace {
public:
  /// `isUpdate`: what is traced runs where its variables are.
  RemoteTrace(const Trace &trace, bool isUpdate);
  ~RemoteTrace();
  RemoteTrace(const RemoteTrace &) = delete;
  RemoteTrace &operator=(const RemoteTrace &) = delete;
  /// That of the trace in progress; null where there is none.
  static RemoteTrace *current();

  /// What the function did to a variable so far.
  struct Seen {
    /// Applied to what the variable had when the function began.
    std::vector<std::pair<VariableUpdate, TensorLike>> changes;
    /// Only whoever holds the variable knows it now.
    bool isUnknown = false;
  };
  std::map<const VariableState *, Seen> seen;
  std::vector<TracedUpdate> updates;
  const bool isUpdate;

private:
  const Trace &trace;
  RemoteTrace *around;
};

/// Traces and compiles a program of operands like these, and of the variables
/// that `body` uses, which are at hand where it runs.
std::shared_ptr<const TracedFunction>
traceUpdate(const std::string &name, const std::vector<Tensor> &operands,
            const std::function<void(std::span<const Tensor>)> &body);

} // namespace meshloom::detail
