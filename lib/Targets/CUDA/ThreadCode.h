// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitter of one thread of a kernel: see ThreadEmitter.cpp.
#pragma once

#include "BlockEmitter.h"

namespace meshloom {

class HeldElements;

/// The threads that run an instruction together.
inline constexpr unsigned warp = 32;

class ThreadEmitter : BlockEmitter {
public:
  ThreadEmitter(spmd::KernelOp kernel, ModuleOp module)
      : BlockEmitter(kernel, module), resultLoops(order.parallel),
        termLoops(order.reduction) {}
  /// A kernel of a call of `rows`, whose first loops are those of the rows;
  /// `terms` threads share the terms of each.
  ThreadEmitter(spmd::KernelOp kernel, ModuleOp module, unsigned numRows,
                unsigned terms, HeldElements &held)
      : BlockEmitter(kernel, module), results(blockThreads / terms),
        terms(terms), termsInner(true), held(&held) {
    for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
      (loop < numRows ? resultLoops : termLoops).push_back(loop);
  }

  /// The kernel as an entry point.
  KernelShape emit(StringRef symbol);
  using BlockEmitter::parameters;
  /// Appends the code for the results from `group` to `block`. `name` is that
  /// of the memory that threads share.
  void emitGroup(Block *block, ValueRange arguments, Value group,
                 StringRef name);

private:
  /// Returns whether a reduction may have more terms than an i32 counts.
  bool isLong() { return reductionBits(kernel) >= 31; }

  /// A thread's number among those of its result, and its result's among those
  /// of the block.
  void splitThread();
  /// Says whether this is the first thread of its result.
  Value isFirst() {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, term, zero);
  }

  /// The states after the terms from `first` to `end` that are this thread's;
  /// `level`: how often runs are combined to longer ones.
  SmallVector<Value> reduceTerms(const Position &position, Value first,
                                 Value end, unsigned level, ValueRange states);
  /// The same for all terms of a row, with the elements that are held.
  SmallVector<Value> reduceHeld(Value result, Value inside);
  /// The states after a term, then the elements to hold.
  SmallVector<Value> reduceHeldTerm(const Position &row, unsigned number,
                                    ArrayRef<Value> ofRow, ValueRange states);
  Value hasTerm(unsigned number);
  /// The values of `emitValues` where a condition holds; else `others`, then
  /// undefined ones.
  SmallVector<Value> emitWhere(Value condition, ValueRange others,
                               ArrayRef<Type> undefined,
                               function_ref<SmallVector<Value>()> emitValues);
  void findFreshOperands();
  bool holdsElements() const;
  /// Takes the values of the parameters.
  void begin(ValueRange arguments, StringRef name);
  void emitResults(Value group);
  void emitAllGroups();

  /// Returns whether neighbours along the innermost loop are neighbours in the
  /// operand's array.
  bool isUnit(unsigned operand);
  /// Returns how many neighbouring results a thread computes at once, with one
  /// access of up to 16 bytes to each operand.
  unsigned findLanes();
  /// Returns whether all accesses of so many elements are aligned.
  Value arePacked();
  void emitPack(Value group);

  void emitReduction(Value result, Value inside);
  SmallVector<Value> reduceResult(Value result, Value inside);
  SmallVector<Type> typesOfStates();
  /// The states of a result's threads together, which its first thread has.
  SmallVector<Value> mergeThreads(SmallVector<Value> states);
  /// Returns how many neighbours of a warp share a result.
  unsigned neighbours() const { return termsInner ? std::min(terms, warp) : 1; }
  /// Returns how many states of a result go through shared memory, one of each
  /// such group of threads.
  unsigned parts() const { return terms / neighbours(); }
  /// Every `stride`-th state in shared memory together, from `first` on.
  SmallVector<Value> mergeShared(unsigned first, unsigned stride);
  /// Memory of the block for the states that go through it; the addresses are
  /// this thread's.
  void makeShared(StringRef symbol);
  SmallVector<Value> loadShared(Value offset);
  void storeShared(ValueRange states);

  SmallVector<unsigned> resultLoops, termLoops;
  unsigned results = blockThreads, terms = 1;
  bool termsInner = false;
  HeldElements *held = nullptr; ///< null: this is no kernel of a call of `rows`
  SmallVector<unsigned> freshOperands; ///< whose elements it begins to hold
  unsigned lanes = 1;
  Position start;
  Value thread, term, resultInBlock, count; // i64
  SmallVector<Type> stateTypes;
  SmallVector<Value> shared;
};

} // namespace meshloom
