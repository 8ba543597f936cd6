// Program text before it is parsed: what a newer MLIR than ours writes, and
// what no stack is deep enough for.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace meshloom {
/// A copy of `text` without what MLIR 19 cannot read and no program depends on:
/// the ends of ranges in locations (`loc("f.py":3:5 to :9)`) become spaces, so
/// that every line and column stays where it is.
std::unique_ptr<llvm::MemoryBuffer> readableSource(llvm::StringRef text,
                                                   llvm::StringRef name);

/// The first element type in `text` that newer releases of MLIR have and ours
/// cannot read (f8E8M0FNU and the like), or an empty string.
llvm::StringRef unreadableElementType(llvm::StringRef text);

/// How deep brackets may nest in a program: parsers, verifiers and passes call
/// themselves for each level, so the stack is what limits it.
inline constexpr unsigned deepestNesting = 256;

/// The line, from 1 on, where brackets nest deeper than that, or 0.
unsigned tooDeepLine(llvm::StringRef text);
} // namespace meshloom
