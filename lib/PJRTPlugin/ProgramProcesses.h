// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ProgramProcesses: the processes that run a program, and what they send each
// other beside its collectives.
#pragma once

#include "meshloom/Runtime/Array.h"
#include "meshloom/Runtime/Communicator.h"

namespace meshloom::plugin {

struct ProgramProcesses {
  std::shared_ptr<Communicator> communicator;
  std::vector<int64_t> rankOf; ///< of each partition
  uint64_t program = 0;        ///< a number that all of them have for it

  /// Results of a Python function, or the parts of an argument or result.
  enum class Message : uint8_t { Results, Parts };
  /// The tag of messages about the function or value `index`: they come in one
  /// order in all processes.
  uint64_t tag(Message message, size_t index) const;

  /// The same value where `assignment` says which device of the mesh has which
  /// part. Blocks; all processes call this function alike.
  Result<Array> move(const Array &array, const DeviceAssignment &assignment,
                     size_t index) const;
};

} // namespace meshloom::plugin
