// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LibraryWork: work of a program that one of NVIDIA's libraries does.
#pragma once

#include "Commands.h"

#include <memory>
#include <string_view>

namespace meshloom::cuda {

class LibraryWork {
public:
  virtual ~LibraryWork() = default;
  /// Returns the library's function, for profiles.
  virtual std::string_view function() const = 0;
  /// Returns how much memory of the card a run needs.
  virtual int64_t workspaceBytes() const = 0;
  /// Returns whether only a stream can have the work, and no graph.
  virtual bool isAlone() const { return false; }
  /// Returns whether a card does such works one after the other, because they
  /// share memory of the library's.
  virtual bool isInOrder() const { return false; }
  /// Asks for the work. `operands`: of the call. One run has the workspace at a
  /// time.
  virtual Status enqueue(Commands &commands, std::span<char *const> operands,
                         char *workspace) const = 0;
};

/// Rounds the bytes of a part of a workspace up to where the next part begins.
inline int64_t paddedBytes(int64_t bytes) {
  constexpr int64_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Null: no library does this work.
using LibraryWorkOrError = Result<std::shared_ptr<const LibraryWork>>;
inline LibraryWorkOrError noLibraryWork() {
  return std::shared_ptr<const LibraryWork>();
}

} // namespace meshloom::cuda
