// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variables of other processes in a trace, beside the trace itself: the
// updates of them, and their values in the function afterwards.
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

/// The remote variables of one trace, this thread's innermost one while it
/// lives.
class RemoteTrace {
public:
  /// `isUpdate`: what is traced runs where its variables are.
  RemoteTrace(const Trace &trace, bool isUpdate);
  ~RemoteTrace();
  RemoteTrace(const RemoteTrace &) = delete;
  RemoteTrace &operator=(const RemoteTrace &) = delete;
  /// Returns the one of the trace in progress; null where there is none.
  static RemoteTrace *current();

  /// The changes of a variable by the function so far.
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
