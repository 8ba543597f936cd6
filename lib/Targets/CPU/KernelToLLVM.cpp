// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From spmd.kernel to loops over raw pointers: one exported function with the
// signature of Program.h, which reads its argument arrays, merges loops that
// are contiguous at run time, and calls an inner function whose pointers are
// noalias. (linalg on memrefs would need maps that can be inverted to shapes,
// and descriptors; here extents and strides are arguments. docs/Rationale.md.)
//
// The inner function is one of three loop nests:
//   no reduction       for p: store body (two of p in tiles for a transpose:
//                      KernelTransposes.cpp)
//   innermost reduces  for p: state = identity; for r: state = combine(state,
//                      body); store state
//   innermost parallel for p: for blocks of 256 of the innermost parallel loop:
//                      states in an array, so that for r: for j: combine runs
//                      along memory; then store the block
// Sums of floats are made of the sums of blocks (PairwiseSums.h).
//
// A kernel with functions that lose huge arguments (MathFunctions.h) has a
// second inner function, which is also right for those, and slower. The first
// one notes whether it saw any; then the second one does the call again. Where
// outputs overwrite inputs a third one, which stores nothing, looks first.
#include "KernelToLLVM.h"

#include "IndexRanges.h"
#include "KernelCodegen.h"
#include "KernelEmitter.h"
#include "meshloom/Targets/Kernels/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace meshloom;
using namespace meshloom::spmd;
using mlir::AffineMap;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

/// Returns whether all results are sums of floats, whose terms lie side by side
/// along the innermost loop.
static bool addsNeighbours(KernelOp kernel, const LoopOrder &order) {
  auto isFloatSum = [&](unsigned output) {
    const auto reducer = makeReducer(kernel, output, /*anyOrder=*/true);
    return reducer && reducer->isFloatSum();
  };
  auto isNeighbour = [&](unsigned input) {
    const StaticStride stride = staticStrides(kernel, input)[order.vector];
    return stride.is(0) || stride.is(1);
  };
  return order.vectorIsReduction &&
         llvm::all_of(llvm::seq<unsigned>(kernel.getNumResults()),
                      isFloatSum) &&
         llvm::all_of(llvm::seq<unsigned>(kernel.getInputs().size()),
                      isNeighbour);
}

LoopOrder meshloom::functionLoopOrder(KernelOp kernel) {
  constexpr int64_t fewTerms = 12;
  LoopOrder order = loopOrder(kernel);
  if (order.writtenOut > fewTerms && !order.deterministic &&
      addsNeighbours(kernel, order) &&
      StringRef(targetCpuFeatures()).contains("avx512vl"))
    order.writtenOut = 0;
  return order;
}

std::string meshloom::exactSymbol(StringRef symbol) {
  return (symbol + "_exact").str();
}

void KernelEmitter::emit(StringRef symbol) {
  order = functionLoopOrder(kernel);
  const bool periodic = isPeriodic();
  const bool overwrites = isInPlace();
  Functions functions;
  notes = periodic && !overwrites;
  functions.fast = emitInner((symbol + "_loops").str());
  if (periodic) {
    notes = false;
    exact = true;
    functions.exact = emitRare(exactSymbol(symbol));
    functions.exact.setLinkage(LLVM::Linkage::External);
    functions.exact.setVisibility_(LLVM::Visibility::Hidden);
    exact = false;
  }
  if (periodic && overwrites) {
    notes = true;
    stores = false;
    functions.probe = emitInner((symbol + "_probe").str());
  }
  emitWrapper(symbol, functions);
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

bool KernelEmitter::needsFallback() {
  const bool isTransposed =
      order.tiled >= 0 && (hasFewLines() || bytesMoved() > 0);
  return isTransposed || order.writtenOut > 0 || !order.neighbours.empty();
}

LLVM::LLVMFuncOp KernelEmitter::emitRare(const std::string &name) {
  const LoopOrder denseOrder = order;
  order.tiled = -1;
  order.writtenOut = 0;
  order.neighbours.clear();
  LLVM::LLVMFuncOp func = emitInner(name);
  func.setPassthroughAttr(
      b.getStrArrayAttr({"nounwind", "noinline", "optsize"}));
  order = denseOrder;
  return func;
}

void KernelEmitter::callFallback(function_ref<void()> emit) {
  if (!fallback)
    return emit();
  auto call = b.create<LLVM::CallOp>(loc, fallback, function.getArguments());
  if (notes)
    note(call.getResult());
}

LLVM::LLVMFuncOp KernelEmitter::emitInner(const std::string &name) {
  fallback =
      needsFallback() ? emitRare(name + "_fallback") : LLVM::LLVMFuncOp();
  Type i32 = b.getI32Type();
  function = makeFunction(module, name, argumentTypes(),
                          LLVM::Linkage::Internal, notes ? i32 : Type());
  // Inlined, the pointers would lose what noalias says about them.
  function.setPassthroughAttr(b.getArrayAttr(
      {b.getStringAttr("nounwind"), b.getStringAttr("noinline")}));
  for (unsigned i = 0; i < numPointers(); ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());

  const Position start = bindArguments(function.getArguments());
  if (notes)
    beginNoting();
  emitLoops(start);
  if (notes)
    b.create<LLVM::ReturnOp>(
        loc, b.create<LLVM::LoadOp>(loc, i32, noted).getResult());
  else
    b.create<LLVM::ReturnOp>(loc, ValueRange());
  return function;
}

void KernelEmitter::emitLoops(const Position &start) {
  makeReducers();
  if (!kernel.hasReductionLoops())
    emitParallel(start);
  else if (order.vectorIsReduction && !order.reducesByRows)
    emitReduction(start);
  else
    emitBlockedReduction(start);
}

bool KernelEmitter::isInPlace() {
  return llvm::any_of(inPlace, [](int32_t input) { return input >= 0; });
}

void KernelEmitter::beginNoting() {
  Type i32 = b.getI32Type();
  noted = b.create<LLVM::AllocaOp>(loc, pointer, i32, one);
  b.create<LLVM::StoreOp>(loc, b.create<arith::ConstantIntOp>(loc, 0, 32),
                          noted);
}

Value KernelEmitter::isHuge(Value size) {
  Value ordinary =
      b.create<arith::ConstantIntOp>(loc, int32_t(largestArgumentSize), 32);
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, size,
                                 ordinary);
}

void KernelEmitter::emitAtEnd(Block *block, ArrayRef<ArrayPlace> places) {
  b.setInsertionPointToEnd(block);
  // Loops of few iterations are written out, so that what they work on can be
  // in registers.
  constexpr int64_t few = 16;
  mostWrittenOut = kernel.getNumIterations() <= few ? few : 1;
  order.neighbours.clear(); // all places are known
  for (auto [output, over] : llvm::enumerate(inPlace))
    if (over >= 0 && places[over].address != places[numInputs + output].address)
      over = -1;
  zero = constant(0);
  one = constant(1);
  for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop) {
    extents.push_back(constant(kernel.getExtents()[loop]));
    origins.push_back(usesIndex[loop] ? zero : Value());
  }
  Position start;
  start.indices.resize(kernel.getNumLoops());
  strides.resize(places.size());
  for (auto [k, place] : llvm::enumerate(places)) {
    AffineMap map = kernel.getInputAccess(k);
    int64_t first = 0;
    SmallVector<int64_t> moves(kernel.getNumLoops(), 0);
    const SmallVector<int64_t> origin(kernel.getNumLoops(), 0);
    for (auto [expr, stride, begin] : llvm::zip_equal(
             map.getResults(), place.strides, map.compose(origin))) {
      first += stride * begin;
      for (unsigned loop = 0; loop < moves.size(); ++loop)
        moves[loop] += stride * coefficientOf(expr, loop);
    }
    for (auto [loop, move] : llvm::enumerate(moves)) {
      strideKinds[k][loop] = {true, move};
      strides[k].push_back(move == 0 ? Value() : constant(move));
    }
    start.pointers.push_back(
        first == 0 ? place.address
                   : element(place.address, storageType(elements[k]),
                             constant(first), !guarded[k]));
  }
  mergeStaticLoops();
  exact = isPeriodic() && isInPlace();
  notes = isPeriodic() && !exact;
  if (notes)
    beginNoting();
  emitLoops(start);
  if (!notes)
    return;
  notes = false;
  exact = true;
  Value size = b.create<LLVM::LoadOp>(loc, b.getI32Type(), noted);
  auto branch = b.create<scf::IfOp>(loc, isHuge(size), /*withElse=*/false);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitLoops(start);
}

void KernelEmitter::emitWrapper(StringRef symbol, const Functions &functions) {
  makeFunction(module, symbol, SmallVector<Type>(4, pointer),
               LLVM::Linkage::External);
  unsigned loops = kernel.getNumLoops();
  SmallVector<Value> callArguments;
  for (unsigned i = 0; i < numPointers(); ++i)
    callArguments.push_back(loadArgument(0, pointer, i));

  SmallVector<SmallVector<Value>> allStrides(strideKinds.size());
  for (unsigned k = 0; k < strideKinds.size(); ++k)
    for (unsigned loop = 0; loop < loops; ++loop)
      allStrides[k].push_back(
          strideKinds[k][loop].isStatic
              ? constant(strideKinds[k][loop].value)
              : loadArgument(1, i64, pointerOf(k) * loops + loop));
  SmallVector<Value> lengths;
  for (unsigned loop = 0; loop < loops; ++loop)
    lengths.push_back(loadArgument(3, i64, loop));
  if (order.vector >= 0)
    mergeLoops(lengths, allStrides);

  callArguments.append(lengths);
  for (unsigned loop = 0; loop < loops; ++loop)
    if (usesIndex[loop])
      callArguments.push_back(loadArgument(2, i64, loop));
  forDynamicStrides([&](unsigned k, unsigned loop) {
    callArguments.push_back(allStrides[k][loop]);
  });
  LLVM::LLVMFuncOp first = functions.probe ? functions.probe : functions.fast;
  auto noting = b.create<LLVM::CallOp>(loc, first, callArguments);
  if (functions.exact) {
    auto branch = b.create<scf::IfOp>(loc, isHuge(noting.getResult()),
                                      /*withElse=*/bool(functions.probe));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    b.create<LLVM::CallOp>(loc, functions.exact, callArguments);
    if (functions.probe) {
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
      b.create<LLVM::CallOp>(loc, functions.fast, callArguments);
    }
  }
  b.create<LLVM::ReturnOp>(loc, ValueRange());
}

void KernelEmitter::mergeLoops(SmallVectorImpl<Value> &lengths,
                               ArrayRef<SmallVector<Value>> allStrides) {
  unsigned inner = order.vector;
  ArrayRef<unsigned> nest =
      order.vectorIsReduction ? order.reduction : order.parallel;
  if (usesIndex[inner])
    return;
  Value length1 = constant(1);
  Value mergeable;
  for (unsigned outer : llvm::reverse(nest.drop_back())) {
    if (usesIndex[outer])
      return;
    Value here = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
    for (ArrayRef<Value> operand : allStrides) {
      Value behind =
          b.create<arith::MulIOp>(loc, operand[inner], lengths[inner]);
      Value equal = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                            behind, operand[outer]);
      here = b.create<arith::AndIOp>(loc, here, equal);
    }
    mergeable = mergeable
                    ? b.create<arith::AndIOp>(loc, mergeable, here).getResult()
                    : here;
    Value merged = b.create<arith::MulIOp>(loc, lengths[inner], lengths[outer]);
    lengths[inner] =
        b.create<arith::SelectOp>(loc, mergeable, merged, lengths[inner]);
    lengths[outer] =
        b.create<arith::SelectOp>(loc, mergeable, length1, lengths[outer]);
  }
}

void KernelEmitter::mergeStaticLoops() {
  if (order.vector < 0 || order.vectorIsReduction || usesIndex[order.vector])
    return;
  const unsigned inner = order.vector;
  int64_t length = kernel.getExtents()[inner];
  for (unsigned outer : llvm::reverse(ArrayRef(order.parallel).drop_back())) {
    const bool isOneLoop =
        !usesIndex[outer] && llvm::all_of(strideKinds, [&](auto &strides) {
          return strides[inner].value * length == strides[outer].value;
        });
    if (!isOneLoop)
      return;
    length *= kernel.getExtents()[outer];
    extents[inner] = constant(length);
    extents[outer] = one;
  }
}

//===----------------------------------------------------------------------===//
// Loop nests
//===----------------------------------------------------------------------===//

SmallVector<Value>
KernelEmitter::loop(Value extent, Value step, ValueRange states,
                    function_ref<SmallVector<Value>(Value, ValueRange)> fill) {
  llvm::APInt count, by;
  if (mostWrittenOut > 0 && matchPattern(extent, mlir::m_ConstantInt(&count)) &&
      matchPattern(step, mlir::m_ConstantInt(&by)) &&
      llvm::divideCeil(count.getZExtValue(), by.getZExtValue()) <=
          uint64_t(mostWrittenOut)) {
    SmallVector<Value> carried(states);
    for (int64_t index = 0; index < count.getSExtValue();
         index += by.getSExtValue())
      carried = fill(constant(index), carried);
    return carried;
  }
  auto op = b.create<scf::ForOp>(
      loc, zero, extent, step, states,
      [&](OpBuilder &, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(index.getParentBlock());
        SmallVector<Value> next = fill(index, carried);
        b.create<scf::YieldOp>(loc, next);
      });
  return op.getResults();
}

void KernelEmitter::nest(ArrayRef<unsigned> loops, const Position &position,
                         function_ref<void(const Position &)> fill) {
  if (loops.empty())
    return fill(position);
  loop(extents[loops.front()], one, {}, [&](Value index, ValueRange) {
    nest(loops.drop_front(), advance(position, loops.front(), index), fill);
    return SmallVector<Value>();
  });
}

void KernelEmitter::writeOutInside(function_ref<void()> written,
                                   function_ref<void()> looped) {
  if (order.writtenOut == 0 || mostWrittenOut > 1)
    return looped();
  auto isEqual = [&](Value value, int64_t expected) -> Value {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, value,
                                   constant(expected));
  };
  const unsigned around = loopAround(order);
  // Rows that lie side by side are loaded as whole vectors.
  Value isExpected = isEqual(extents[order.vector], order.writtenOut);
  const auto dynamicStrides = strides;
  const auto dynamicKinds = strideKinds;
  for (auto [k, stride] : llvm::enumerate(order.shortStrides))
    if (stride != 0) {
      isExpected = b.create<arith::AndIOp>(loc, isExpected,
                                           isEqual(strides[k][around], stride));
      strides[k][around] = constant(stride);
      strideKinds[k][around] = {true, stride};
    }
  auto branch = b.create<scf::IfOp>(loc, isExpected, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  written();
  strides = dynamicStrides;
  strideKinds = dynamicKinds;
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  callFallback(looped);
}

void KernelEmitter::readNeighbours(const Position &start,
                                   function_ref<void(const Position &)> emit) {
  if (order.neighbours.empty())
    return emit(start);
  const unsigned inner = order.vector;
  const auto dynamicStrides = strides;
  const auto dynamicKinds = strideKinds;
  Position dense = start;
  Value isDense = b.create<arith::ConstantOp>(loc, b.getBoolAttr(true));
  auto require = [&](Value condition) {
    isDense = b.create<arith::AndIOp>(loc, isDense, condition);
  };
  auto requireEqual = [&](Value value, Value expected) {
    require(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, value,
                                    expected));
  };
  for (const auto &[input, base, distance, stride] : order.neighbours) {
    Value address = element(start.pointers[base], storageType(elements[base]),
                            constant(distance), /*inBounds=*/true);
    dense.pointers[input] = address;
    require(b.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::eq,
                                   start.pointers[input], address));
    requireEqual(dynamicStrides[base][inner], constant(stride));
    strides[base][inner] = constant(stride);
    strideKinds[base][inner] = {true, stride};
    for (unsigned loop = 0; loop < strideKinds[input].size(); ++loop)
      if (!strideKinds[input][loop].isStatic)
        requireEqual(dynamicStrides[input][loop], dynamicStrides[base][loop]);
    strides[input] = strides[base];
    strideKinds[input] = strideKinds[base];
  }
  auto branch = b.create<scf::IfOp>(loc, isDense, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emit(dense);
  strides = dynamicStrides;
  strideKinds = dynamicKinds;
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  callFallback([&] { emit(start); });
}

void KernelEmitter::emitPieces(const Position &row, unsigned inner,
                               function_ref<void(const Position &)> fill) {
  const SmallVector<IndexRange> ranges = rangesAlong(kernel, inner);
  const SmallVector<int64_t> borders = bordersOf(kernel, inner, ranges);
  if (borders.empty())
    return nest(inner, row, fill);
  Value begin = zero;
  for (size_t piece = 0; piece <= borders.size(); ++piece) {
    Value end = extents[inner];
    if (piece < borders.size()) {
      Value border = b.createOrFold<arith::SubIOp>(
          loc, constant(borders[piece]), origins[inner]);
      end = b.createOrFold<arith::MinSIOp>(
          loc, b.createOrFold<arith::MaxSIOp>(loc, border, begin), end);
    }
    for (const IndexRange &range : ranges)
      outcomes[range.compare] =
          range.contains(piece == 0 ? 0 : borders[piece - 1]);
    const Position first = advance(row, inner, begin);
    loop(b.createOrFold<arith::SubIOp>(loc, end, begin), one, {},
         [&](Value index, ValueRange) {
           fill(advance(first, inner, index));
           return SmallVector<Value>();
         });
    begin = end;
  }
  outcomes.clear();
}

void KernelEmitter::emitParallel(const Position &start) {
  auto fill = [&](const Position &position) {
    storeElements(position, emitBody(position));
  };
  if (order.tiled >= 0)
    return emitTransposed(start);
  if (order.crossed >= 0)
    return emitCrossedRows(start);
  const unsigned inner = order.parallel.empty() ? 0 : order.parallel.back();
  writeOutInside(
      [&] {
        // All is read before anything is written, so that LLVM finds what lies
        // side by side.
        auto writeOut = [&](const Position &row) {
          SmallVector<Position> elements;
          SmallVector<SmallVector<Value>> results;
          for (int64_t j = 0; j < order.writtenOut; ++j) {
            elements.push_back(advance(row, inner, constant(j)));
            results.push_back(emitBody(elements.back()));
          }
          for (auto [element, values] : llvm::zip_equal(elements, results))
            storeElements(element, values);
        };
        nest(ArrayRef(order.parallel).drop_back(), start, writeOut);
      },
      [&] {
        readNeighbours(start, [&](const Position &first) {
          if (order.parallel.empty())
            return fill(first);
          nest(ArrayRef(order.parallel).drop_back(), first,
               [&](const Position &row) { emitPieces(row, inner, fill); });
        });
      });
}

//===----------------------------------------------------------------------===//
// One iteration
//===----------------------------------------------------------------------===//

void KernelEmitter::emitted(Operation *op) {
  if (!losesHugeArguments(op))
    return;
  if (exact)
    op->setAttr(exactAttr, b.getUnitAttr());
  if (!notes)
    return;
  note(argumentSize(b, op));
}

void KernelEmitter::note(Value size) {
  Value before = b.create<LLVM::LoadOp>(loc, b.getI32Type(), noted);
  b.create<LLVM::StoreOp>(loc, b.create<arith::MaxUIOp>(loc, before, size),
                          noted);
}

void meshloom::emitKernel(KernelOp kernel, StringRef symbol, ModuleOp module) {
  KernelEmitter(kernel, module).emit(symbol);
}
