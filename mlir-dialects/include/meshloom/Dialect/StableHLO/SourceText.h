// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Program text before it is parsed: what a newer MLIR than ours writes, and
// what no stack is deep enough for and no memory large enough.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace meshloom {
/// A copy of `text` without what MLIR 19 cannot read and no program depends on:
/// the ends of ranges in locations (`loc("f.py":3:5 to :9)`) become spaces, so
/// that every line and column stays where it is. Lists of dims as JAX wrote
/// them until early 2024 (`slice_sizes = dense<1> : tensor<2xi64>`) become
/// arrays. A byte order mark at the beginning becomes spaces.
std::unique_ptr<llvm::MemoryBuffer> readableSource(llvm::StringRef text,
                                                   llvm::StringRef name);

/// The first element type in `text` that newer releases of MLIR have and ours
/// cannot read (f8E8M0FNU and the like), or an empty string.
llvm::StringRef unreadableElementType(llvm::StringRef text);

/// A fault that no parser should be given, and the line, from 1 on, that it is
/// on.
struct SourceFault {
  unsigned line;
  std::string message;
};
/// The first one in `text`: letters of two bytes (UTF-16), a byte of 0 outside
/// of MLIR's bytecode, brackets that nest deeper than 256 (parsers, verifiers
/// and passes call themselves for each level, so the stack is what limits it),
/// or deeper than 4096 with what aliases stand for; an alias that stands for
/// more than 2^24 brackets; or a result number (`%0#7`) beyond 2^20, for which
/// MLIR 19's parser would make room before it looks whether the op has so many.
std::optional<SourceFault> sourceFault(llvm::StringRef text);
} // namespace meshloom
