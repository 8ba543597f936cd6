// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of one spmd.kernel: what KernelToLLVM.cpp (functions, loops, one
// iteration), KernelReductions.cpp (loops that reduce) and KernelTransposes.cpp
// (loops in tiles) write together.
#pragma once

#include "meshloom/Targets/Kernels/KernelBody.h"

namespace meshloom {

class PairwiseSums;

/// Emits the functions of one kernel.
class KernelEmitter : KernelBody {
public:
  KernelEmitter(spmd::KernelOp kernel, ModuleOp module)
      : KernelBody(kernel, module) {}
  void emit(StringRef symbol);
  /// Emits the kernel's loops, for arrays that each lie at one place (inputs,
  /// then outputs), at the end of `block`. An output is in place where it has
  /// its input's address.
  void emitAtEnd(Block *block, ArrayRef<ArrayPlace> places);

private:
  /// The inner functions; the last two may be missing.
  struct Functions {
    mlir::LLVM::LLVMFuncOp fast, exact, probe;
  };

  mlir::LLVM::LLVMFuncOp emitInner(const std::string &name);

  /// Returns whether inner functions have loops for small parts, or for arrays
  /// that are not dense, which is rare.
  bool needsFallback();
  /// Emits an inner function that is rarely called: no vectors are made of its
  /// loops, so that they take little time to compile.
  mlir::LLVM::LLVMFuncOp emitRare(const std::string &name);
  /// Calls the fallback of the function under construction. `emit` emits the
  /// loops where it has none.
  void callFallback(function_ref<void()> emit);

  void emitWrapper(StringRef symbol, const Functions &functions);

  void emitLoops(const Position &start);

  /// Returns whether an output overwrites an input.
  bool isInPlace();
  /// Makes the memory that tells how large arguments are.
  void beginNoting();
  /// Notes the size of an argument, or the largest of several.
  void note(Value size);
  /// Whether arguments of that size are too large for formulas.
  Value isHuge(Value size);

  /// Where a step of an outer loop is, for every operand, just behind the last
  /// iteration of the innermost one, both are one longer loop: so an
  /// elementwise kernel on whole rows is one loop however short a row is.
  void mergeLoops(SmallVectorImpl<Value> &lengths,
                  ArrayRef<SmallVector<Value>> allStrides);
  /// The same for arrays whose strides are all known.
  void mergeStaticLoops();

  /// Opens a loop over `extent` by `step` with loop-carried `states`; `fill`
  /// gets the induction variable and the states and returns the new ones.
  SmallVector<Value>
  loop(Value extent, Value step, ValueRange states,
       function_ref<SmallVector<Value>(Value, ValueRange)> fill);

  /// Nests `loops` and calls `fill` innermost.
  void nest(ArrayRef<unsigned> loops, const Position &position,
            function_ref<void(const Position &)> fill);

  /// Where the innermost loop is to be written out, `written` emits the loops
  /// around it; `looped` emits all of them, for other extents.
  void writeOutInside(function_ref<void()> written,
                      function_ref<void()> looped);
  /// Calls `emit` for pointers of neighbours that are found from one pointer,
  /// so that LLVM loads whole rows and picks the elements out of them, where
  /// arrays are dense; else for the pointers in `start`.
  void readNeighbours(const Position &start,
                      function_ref<void(const Position &)> emit);
  /// Emits the loop `inner` along a row, piece by piece between the borders of
  /// what is compared with its index.
  void emitPieces(const Position &row, unsigned inner,
                  function_ref<void(const Position &)> fill);
  void emitParallel(const Position &start);

  int64_t bytesCopied();
  /// Returns the elements of all `vectors` as one vector.
  Value concatenate(ArrayRef<Value> vectors);
  /// Copies `lines` and `columns` of a transpose from `first` on: columns
  /// follow each other in the output, lines in the input.
  void turnBox(const Position &first, int64_t lines, int64_t columns,
               Type element);
  /// Memory on the stack for the elements of an input in a tile of a transpose,
  /// line by line.
  struct StagedInput {
    unsigned operand;
    Type type; ///< as it is stored
    Value memory;
  };
  /// Makes memory for the inputs that `inner` goes across, where the body
  /// computes enough.
  SmallVector<StagedInput> stageInputs(unsigned inner);
  /// Emits loops that put the elements of `inputs` in a tile of `lines` lines
  /// and `count` columns into their memory. They go along columns, in which an
  /// input's elements mostly share cache lines.
  void stageTile(ArrayRef<StagedInput> inputs, const Position &tile,
                 Value lines, Value count);
  /// Emits the iterations of such a tile, which read `inputs` from their
  /// memory.
  void computeStaged(ArrayRef<StagedInput> inputs, const Position &tile,
                     Value lines, Value count);
  /// Emits the loops of a transpose.
  void emitTransposed(const Position &start);
  void emitTiles(const Position &start);
  /// Returns whether a transpose has so few lines that it goes along all of
  /// them at once.
  bool hasFewLines();
  /// Returns the bytes of an element where a transpose turns boxes of them
  /// around in registers, else 0.
  int64_t bytesMoved();
  /// Emits the loops of a transpose that only moves elements.
  void emitBoxes(const Position &start);
  /// Emits loops of which `loop` begins at its last iteration.
  void backwards(unsigned loop, const Position &start,
                 function_ref<void(const Position &)> emitFromLast);
  /// The loops of a transpose of few `lines`, which are written out, along
  /// whole lines `inner`; `otherwise` emits those for operands in which the
  /// elements of the lines do not lie side by side.
  void zipLines(const Position &start, unsigned lines, unsigned inner,
                function_ref<void()> otherwise);
  void emitCrossedRows(const Position &start);

  /// Adds the arrays and types of the states of all float sums to `running`
  /// and `types`, and their places among all states to `places`.
  void selectSums(ArrayRef<Value> arrays, SmallVectorImpl<Value> &running,
                  SmallVectorImpl<Type> &types,
                  SmallVectorImpl<unsigned> &places);

  /// An array for each state, `size` elements long.
  SmallVector<Value> makeStateArrays(Value size, SmallVectorImpl<Type> &types);

  void emitReduction(const Position &start);

  /// Lets `change` work on the running sums among `states`.
  void inMemory(MutableArrayRef<Value> states, ArrayRef<unsigned> places,
                PairwiseSums &sums, function_ref<void()> change);

  SmallVector<Value> reduceOver(ArrayRef<unsigned> loops,
                                const Position &position, ValueRange states);
  SmallVector<Value> reduceOne(const Position &position, ValueRange states);

  /// The states after the first `count` iterations of loop `run`. After
  /// `stageTerms`, where there are at most `serialBlock`, all terms are
  /// computed first, which vectors do, and then combined in order, which none
  /// does.
  SmallVector<Value> reduceRun(const Position &position, unsigned run,
                               Value count, ValueRange states);
  void stageTerms();

  /// Reduces `count` iterations of loop `run` in chains side by side, as many
  /// as there are elements in `chains`, and then the states of the chains.
  SmallVector<Value> reduceInChains(const Position &position, unsigned run,
                                    Value count, ValueRange states);
  /// Returns whether the results of all reducers are the same in any order of
  /// terms, and LLVM makes no vectors of them.
  bool wantsChains();

  /// `carried`: the states, how many terms are in the running sums, and how
  /// many blocks were complete. A block is complete where it has `size` terms;
  /// it may go over several runs of the innermost loop.
  SmallVector<Value> reduceInBlocks(ArrayRef<unsigned> loops,
                                    const Position &position,
                                    ValueRange carried, Value size,
                                    ArrayRef<unsigned> places,
                                    PairwiseSums &sums);

  /// Reduces the terms of the only reduction loop: blocks of `size`, one by
  /// one.
  SmallVector<Value> reduceFewBlocks(const Position &position, Value size);

  /// Where there are `size` terms in the running sums, they are a block.
  SmallVector<Value> completeBlock(ArrayRef<Value> carried,
                                   ArrayRef<unsigned> places, Value size,
                                   PairwiseSums &sums);

  void emitBlockedReduction(const Position &start);

  /// How many rows of terms are a block.
  Value rowsOfBlock();

  /// `carried`: how many rows are in the running sums, and how many blocks of
  /// `size` rows were complete.
  SmallVector<Value> addRows(ArrayRef<unsigned> loops, const Position &position,
                             ArrayRef<Value> carried, Value size, Value count,
                             PairwiseSums &sums,
                             function_ref<void(const Position &)> addRow);

  /// Makes a function that loses huge arguments exact, or notes how large its
  /// arguments are. LLVM turns the place of this note into a register.
  void emitted(Operation *op) override;

  /// Per reducer: an array for the terms of a run; none where they are combined
  /// as they are computed.
  SmallVector<Value> staged;
  /// The arrays of the chains' states; none where there are no chains.
  SmallVector<Value> chains;
  SmallVector<Type> chainTypes;
  /// Says what the inner function under construction does: `notes` huge
  /// arguments (where `noted` points), or computes `exact` results for them.
  bool notes = false, exact = false;
  Value noted;
  /// The inner function under construction, and its fallback.
  mlir::LLVM::LLVMFuncOp function, fallback;
  /// Loops of so many iterations at most, where that is known, are written out.
  int64_t mostWrittenOut = 0;
};

} // namespace meshloom
