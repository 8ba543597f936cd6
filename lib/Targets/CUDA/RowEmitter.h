// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of `rows`: several kernels over the same rows. A row's threads run all
// of them on it, with a barrier behind each: what one writes the next one
// reads.
//
// A thread has the same terms of a row in all kernels. Where these are few, it
// keeps their elements in registers from the first kernel that reads or writes
// them on, so that later ones read no memory.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/AffineMap.h"

#include "llvm/ADT/MapVector.h"

namespace meshloom {

/// Appends the code of a call of `rows`: see emitThreads.
KernelShape emitRows(spmd::LibraryCallOp call, StringRef symbol,
                     ModuleOp module);

/// The elements of a row that a thread keeps.
class HeldElements {
public:
  /// `threads` threads share the terms of a row.
  HeldElements(spmd::LibraryCallOp call, unsigned numRows, unsigned threads);

  /// Returns how many terms a thread has at most; 0: too many to keep any.
  unsigned termsOfThread() const { return perThread; }
  /// Returns whether some threads have no `number`-th term.
  bool isPartial(unsigned number) const;
  unsigned numTerms() const { return terms; }
  unsigned numThreads() const { return threads; }

  /// Returns whether an operand of a kernel is the same for all terms.
  bool isOfRow(spmd::KernelOp kernel, unsigned operand) const;
  /// The values of an operand as they are stored, one for each term of a
  /// thread; empty: they have not been read or written yet. Null: they are not
  /// kept.
  SmallVector<Value> *find(spmd::KernelOp kernel, unsigned operand);
  /// Returns whether nobody reads a result's memory, which a later kernel
  /// overwrites.
  bool isOverwritten(spmd::KernelOp kernel, unsigned result);

private:
  using Element = std::pair<Value, mlir::AffineMap>;
  static Element elementOf(spmd::KernelOp kernel, unsigned operand);

  unsigned numRows, threads, terms = 1, perThread = 0;
  llvm::MapVector<Element, SmallVector<Value>> held;
};

} // namespace meshloom
