// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of a thread: its traces, tapes, default meshes and scopes.
#pragma once

#include "meshloom/API/VariableCreation.h"

#include <source_location>

namespace meshloom::detail {

class Trace;
class TapeState;

/// The scopes that the current thread is inside of, innermost last.
struct ThreadState {
  /// A null trace: inside init_scope.
  std::vector<std::shared_ptr<Trace>> traces;
  // Weak: another thread may end a tape, or the scope of a mesh.
  std::vector<std::weak_ptr<TapeState>> tapes;
  std::vector<std::weak_ptr<const Mesh>> meshes;
  /// The creators of variables; while one of them creates a variable, only
  /// those around it.
  std::vector<std::weak_ptr<const VariableCreator>> creators;
  /// See CallSite.
  std::optional<std::source_location> callSite;
  /// See CallName.
  std::optional<std::string_view> callName;
  /// See UserLine.
  std::optional<std::source_location> userLine;
  /// The file that was last looked at for whether it is one of this library.
  struct CheckedFile {
    const char *name = nullptr;
    bool isInLibrary = false;
  } checkedFile;
  /// The parts of the model, with the names of the parts around them:
  /// "encoder/block_3".
  std::vector<std::string> scopes;
  /// The choice of the innermost CheckNumericsScope of this thread; none: the
  /// thread is in no such scope.
  std::optional<bool> checksNumerics;

  const std::shared_ptr<Trace> &trace() const;
};
ThreadState &threadState();

/// The innermost default mesh of this thread; none where it is the host's.
std::optional<Mesh> defaultMesh();

} // namespace meshloom::detail
