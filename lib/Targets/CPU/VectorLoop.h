// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that VectorLoops.cpp makes vectors of: what it consists of
// (VectorLoopAnalysis.cpp), the loops that replace it, and how they load short
// rows (VectorRows.cpp).
#pragma once

#include "meshloom/Support/LLVM.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/IVDescriptors.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IRBuilder.h"

#include <optional>

namespace meshloom {

/// A value that iterations combine in any order.
struct Reduction {
  llvm::PHINode *state;
  llvm::Instruction *update;
  llvm::RecurKind kind;
};

/// Says whether a loop can be made of vectors.
enum class Verdict {
  Vectors,  ///< it can be a loop of vectors
  Unknown,  ///< LLVM's vectoriser may know more
  LeaveAsIs ///< it has vectors already, or its iterations depend on each other
};

/// A number of a short row: each iteration reads a row of `stride` numbers.
struct RowElement {
  llvm::Value *rows; ///< where the first row is
  llvm::Type *type;
  unsigned stride, column;

  bool isOfRowsOf(const RowElement &other) const {
    return rows == other.rows && type == other.type && stride == other.stride;
  }
};

/// An innermost loop, and what replaces it (VectorLoops.cpp shows its form).
class VectorLoop {
public:
  VectorLoop(llvm::Loop &loop, const llvm::TargetTransformInfo &target)
      : loop(loop), target(target), header(loop.getHeader()) {}

  /// Finds out what the loop consists of.
  Verdict analyse();
  /// Replaces the loop.
  void rewrite();

private:
  using Block = llvm::BasicBlock;
  /// The vectors of one copy of the body, by the values of the loop.
  using Vectors = llvm::DenseMap<llvm::Value *, llvm::Value *>;

  /// Finds the index, which counts from 0 by 1, and the number of iterations.
  bool findCount();
  /// Returns whether a float is combined in the order of iterations.
  bool mustStayInOrder(llvm::PHINode &state) const;
  /// Returns the only instruction of the loop that uses `value`, if it is one.
  llvm::Instruction *onlyUser(llvm::Value *value) const;
  /// Returns whether vectors can do what the argument does.
  bool addState(llvm::PHINode &state);
  bool addInstruction(llvm::Instruction &instruction);
  bool addAccess(llvm::Instruction &access);
  /// Returns the number that a pointer into a row leads to. Nothing: it leads
  /// to no row.
  std::optional<RowElement> rowElementAt(llvm::Value *pointer,
                                         llvm::Type *type) const;
  bool addRowElement(llvm::LoadInst &load, const RowElement &element);
  /// Returns whether the loop computes nothing of the instruction but addresses
  /// of elements of rows.
  bool isRowOffset(llvm::Instruction &instruction) const;
  /// Returns whether the loop reads all numbers of its rows, and LLVM's loops
  /// over such rows take no less time.
  bool takesRows() const;
  /// Returns whether a store of one iteration may change what another one
  /// loads or stores.
  bool mayConflict() const;
  bool isUniform(llvm::Value *value) const {
    return loop.isLoopInvariant(value) || uniform.contains(value);
  }
  /// Returns whether the loop computes nothing.
  bool onlyAccesses() const;
  /// Returns whether LLVM knows a function for what the loop does: it copies or
  /// fills memory.
  bool onlyMoves() const;
  /// Returns whether the loop begins or stores the states of reductions, which
  /// takes little time beside the loop between.
  bool onlyMovesStates() const;
  /// Returns whether the body is written out once or twice.
  bool isLong() const;
  /// Returns whether a second copy of the body gains nothing.
  bool isHuge() const;
  bool hasF16() const;
  /// Returns whether a long body notes the largest of its arguments
  /// (KernelToLLVM.cpp).
  bool isNoting() const;
  /// Returns how many vectors such a body has in an iteration; 0: one, with a
  /// mask.
  unsigned copiesOfNoting() const;
  /// Returns whether a long body takes no more time here than in LLVM's loops:
  /// it reduces floats that are not narrower than what it computes with, or it
  /// reads f16, of which LLVM converts the last ones of a row one by one.
  bool gainsFromFewCopies() const;
  /// Chooses how many elements a vector has, and how many vectors an iteration.
  void chooseLanes();

  llvm::Type *vectorOf(llvm::Type *type) const {
    return llvm::FixedVectorType::get(type, lanes);
  }
  /// Returns the copy, in front of the loops, of a value that all iterations
  /// have in common.
  llvm::Value *scalar(llvm::Value *value);
  llvm::Value *vector(llvm::Value *value, const Vectors &vectors) const;
  llvm::Value *widen(llvm::Instruction &instruction, Vectors &vectors,
                     llvm::IRBuilder<> &b);
  void access(llvm::Instruction &instruction, llvm::Value *index,
              llvm::Value *mask, Vectors &vectors, llvm::IRBuilder<> &b);
  /// Loads an element of all rows from number `first` on that a vector has
  /// lanes for, and the elements that lie around it.
  void loadRows(const RowElement &element, llvm::Value *first, Vectors &vectors,
                llvm::IRBuilder<> &b);
  /// Begins a copy of the body: the vector of indices, if it has a user.
  void begin(llvm::Value *index, Vectors &vectors, llvm::IRBuilder<> &b);
  /// Returns the lanes from `index` on that have an iteration.
  llvm::Value *maskFor(llvm::Value *index, llvm::IRBuilder<> &b);

  /// Computes what all iterations have in common.
  void hoistUniform(llvm::IRBuilder<> &b);
  /// Returns the vector that a reduction begins with. The first one has the
  /// state before the loop.
  llvm::Value *neutral(const Reduction &reduction, bool isFirst,
                       llvm::IRBuilder<> &b);
  /// Returns the states of `x` and `y` as one.
  llvm::Value *merge(const Reduction &reduction, llvm::Value *x, llvm::Value *y,
                     llvm::IRBuilder<> &b);

  /// Emits the loop over whole groups of `copies` vectors at the end of
  /// `before`, and leaves the states of lanes in `states`; returns the block
  /// behind it.
  Block *emitWhole(Block *before, llvm::Value *whole,
                   llvm::SmallVectorImpl<llvm::Value *> &states);
  /// Emits the loop with a mask for the iterations from `first` on.
  Block *emitMasked(Block *before, llvm::Value *first,
                    llvm::SmallVectorImpl<llvm::Value *> &states);
  /// Emits both loops.
  Block *emitWholeAndMasked(Block *before, llvm::Value *whole,
                            llvm::SmallVectorImpl<llvm::Value *> &states);
  /// Emits the loops that this loop and processor take.
  Block *emitLoops(Block *before, llvm::Value *whole,
                   llvm::SmallVectorImpl<llvm::Value *> &states);
  /// Lets `done`, where the reductions have `states`, go on behind the loop,
  /// and deletes the loop.
  void leaveLoop(Block *done, ArrayRef<llvm::Value *> states);
  /// Emits the loads or the stores of an iteration of the loop with a mask,
  /// which branches around the mask where it has a condition `full`.
  void emitAccesses(bool isLoad, llvm::Value *index, llvm::Value *full,
                    llvm::Value *&mask, Vectors &vectors, llvm::IRBuilder<> &b);
  /// Emits the part of the body that is neither a load nor a store.
  void emitOther(Vectors &vectors, llvm::IRBuilder<> &b);

  Block *newBlock(const char *name) {
    return Block::Create(header->getContext(), name, header->getParent(),
                         header);
  }

  llvm::Loop &loop;
  const llvm::TargetTransformInfo &target;
  Block *header, *body = nullptr, *exit = nullptr, *guard = nullptr;
  llvm::PHINode *index = nullptr;
  llvm::Instruction *next = nullptr; ///< of the index
  llvm::Value *count = nullptr;
  llvm::SmallVector<Reduction, 2> reductions;
  /// The instructions of an iteration, without those that all iterations have
  /// in common.
  llvm::SmallVector<llvm::Instruction *> instructions;
  llvm::SmallVector<llvm::Instruction *> accesses;
  llvm::SmallVector<llvm::Instruction *> uniformInstructions;
  llvm::SmallPtrSet<llvm::Value *, 8> uniform;
  Vectors uniformScalars, uniformVectors;
  llvm::DenseMap<llvm::Instruction *, RowElement> rowElements;
  unsigned registerBits = 0, lanes = 0;
  /// Vectors of an iteration of the loop without a mask; 0: there is none.
  unsigned copies = 0;
  bool hasMasks = true, usesIndex = false;
};

} // namespace meshloom
