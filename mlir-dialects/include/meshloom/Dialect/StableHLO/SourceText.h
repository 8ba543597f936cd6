// Program text written by a newer MLIR than ours.
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
} // namespace meshloom
