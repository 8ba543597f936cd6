// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From spmd.kernel to loops over raw pointers: one exported function with the
// signature of Program.h, which reads its argument arrays, merges loops that
// are contiguous at run time, and calls an inner function whose pointers are
// noalias. (linalg on memrefs would need maps that can be inverted to shapes,
// and descriptors; here extents and strides are arguments. docs/Rationale.md.)
//
// The inner function is one of three loop nests:
//   no reduction       for p: store body (two of p in tiles for a transpose)
//   innermost reduces  for p: state = identity; for r: state = combine(state,
//                      body); store state
//   innermost parallel for p: for blocks of 256 of the innermost parallel loop:
//                      states in an array, so that for r: for j: combine runs
//                      along memory; then store the block
// Sums of floats are made of the sums of blocks (PairwiseSums.h).
//
// A kernel with sine, cosine or tangent has a second inner function, which is
// also right for huge arguments, and slower. The first one notes whether it saw
// any; then the second one does the call again. Where outputs overwrite inputs
// a third one, which stores nothing, looks first.
#include "KernelToLLVM.h"

#include "KernelEmitter.h"
#include "MathFunctions.h"

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

/// Elements of the innermost loop in a tile: a cache line of f32.
static constexpr int64_t tileSize = 16;

KernelEmitter::KernelEmitter(KernelOp kernel, ModuleOp module)
    : ElementEmitter(module.getContext(), kernel.getLoc()), kernel(kernel),
      module(module), order(loopOrder(kernel)), inPlace(kernel.getInPlace()) {
  numInputs = kernel.getInputs().size();
  for (unsigned k = 0; k < kernel.getAccesses().size(); ++k) {
    strideKinds.push_back(staticStrides(kernel, k));
    Value tensor = k < numInputs ? kernel.getInputs()[k]
                                 : kernel.getOutputs()[k - numInputs];
    elements.push_back(
        cast<RankedTensorType>(tensor.getType()).getElementType());
  }
  for (unsigned i = 0; i < kernel.getAccesses().size(); ++i)
    guarded.push_back(kernel.isGuarded(i));
  usesIndex.resize(kernel.getNumLoops());
  kernel.getBlock()->walk([&](IndexOp op) { usesIndex[op.getLoop()] = true; });
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (kernel.getReducer(i) == Reducer::ArgMax ||
        kernel.getReducer(i) == Reducer::ArgMin)
      usesIndex[order.reduction.front()] = true;
}

void KernelEmitter::emit(StringRef symbol) {
  const bool periodic = isPeriodic();
  const bool overwrites = isInPlace();
  Functions functions;
  notes = periodic && !overwrites;
  functions.fast = emitInner((symbol + "_loops").str());
  if (periodic) {
    notes = false;
    exact = true;
    functions.exact = emitInner((symbol + "_exact").str());
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

unsigned KernelEmitter::pointerOf(unsigned operand) {
  if (operand < numInputs)
    return operand;
  unsigned next = numInputs;
  for (unsigned k = 0; k < operand - numInputs; ++k)
    next += inPlace[k] < 0;
  int32_t over = inPlace[operand - numInputs];
  return over >= 0 ? unsigned(over) : next;
}

unsigned KernelEmitter::numPointers() {
  return numInputs + llvm::count_if(inPlace, [](int32_t j) { return j < 0; });
}

void KernelEmitter::forDynamicStrides(
    function_ref<void(unsigned, unsigned)> use) {
  for (unsigned k = 0; k < strideKinds.size(); ++k)
    for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
      if (!strideKinds[k][loop].isStatic)
        use(k, loop);
}

LLVM::LLVMFuncOp KernelEmitter::emitInner(const std::string &name) {
  SmallVector<Type> types(numPointers(), pointer);
  unsigned loops = kernel.getNumLoops();
  types.append(loops, i64); // extents
  types.append(llvm::count(usesIndex, true), i64);
  forDynamicStrides([&](unsigned, unsigned) { types.push_back(i64); });
  Type i32 = b.getI32Type();
  auto func = makeFunction(module, name, types, LLVM::Linkage::Internal,
                           notes ? i32 : Type());
  // Inlined, the pointers would lose what noalias says about them.
  func.setPassthroughAttr(b.getArrayAttr(
      {b.getStringAttr("nounwind"), b.getStringAttr("noinline")}));
  for (unsigned i = 0; i < numPointers(); ++i)
    func.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                    b.getUnitAttr());

  Block &entry = func.getBody().front();
  unsigned next = numPointers();
  extents.clear();
  origins.clear();
  reducers.clear();
  strides.clear();
  for (unsigned loop = 0; loop < loops; ++loop)
    extents.push_back(entry.getArgument(next++));
  for (unsigned loop = 0; loop < loops; ++loop)
    origins.push_back(usesIndex[loop] ? Value(entry.getArgument(next++))
                                      : Value());
  zero = constant(0);
  one = constant(1);
  strides.resize(strideKinds.size());
  for (unsigned k = 0; k < strideKinds.size(); ++k)
    for (StaticStride stride : strideKinds[k])
      strides[k].push_back(!stride.isStatic ? Value(entry.getArgument(next++))
                           : stride.value == 0 ? Value()
                                               : constant(stride.value));
  if (notes)
    beginNoting();
  Position start;
  for (unsigned k = 0; k < strideKinds.size(); ++k)
    start.pointers.push_back(entry.getArgument(pointerOf(k)));
  start.indices.resize(loops);

  emitLoops(start);
  if (notes)
    b.create<LLVM::ReturnOp>(
        loc, b.create<LLVM::LoadOp>(loc, i32, noted).getResult());
  else
    b.create<LLVM::ReturnOp>(loc, ValueRange());
  return func;
}

void KernelEmitter::emitLoops(const Position &start) {
  reducers.clear();
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    reducers.push_back(makeReducer(kernel, i, !order.deterministic));
  if (!kernel.hasReductionLoops())
    emitParallel(start);
  else if (order.vectorIsReduction)
    emitReduction(start);
  else
    emitBlockedReduction(start);
}

bool KernelEmitter::isPeriodic() {
  return llvm::any_of(*kernel.getBlock(),
                      [](Operation &op) { return losesHugeArguments(&op); });
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

Position KernelEmitter::advance(const Position &from, unsigned loop,
                                Value index) {
  Position to = from;
  for (unsigned k = 0; k < strides.size(); ++k) {
    // In place: the very address of the input, or vectorised code would have
    // to find out that they do not overlap elsewhere.
    int32_t over = k < numInputs ? -1 : inPlace[k - numInputs];
    if (over >= 0) {
      to.pointers[k] = to.pointers[over];
      continue;
    }
    if (Value stride = strides[k][loop]) {
      bool unit =
          strideKinds[k][loop].isStatic && strideKinds[k][loop].value == 1;
      Value offset = unit ? index : b.create<arith::MulIOp>(loc, index, stride);
      to.pointers[k] = element(to.pointers[k], storageType(elements[k]), offset,
                               !guarded[k]);
    }
  }
  Value before = from.indices[loop];
  to.indices[loop] =
      before ? b.create<arith::AddIOp>(loc, before, index).getResult() : index;
  return to;
}

void KernelEmitter::nest(ArrayRef<unsigned> loops, const Position &at,
                         function_ref<void(const Position &)> fill) {
  if (loops.empty())
    return fill(at);
  loop(extents[loops.front()], one, {}, [&](Value index, ValueRange) {
    nest(loops.drop_front(), advance(at, loops.front(), index), fill);
    return SmallVector<Value>();
  });
}

bool KernelEmitter::isShortInside() {
  // Elements of the loop, and ops of what is written out for all of them.
  constexpr int64_t most = 16;
  constexpr size_t mostOps = 128;
  if (order.parallel.size() < 2 || mostWrittenOut > 0)
    return false;
  const int64_t length = kernel.getExtents()[order.vector];
  const size_t ops = kernel.getBlock()->getOperations().size();
  return length > 1 && length <= most && size_t(length) * ops <= mostOps;
}

void KernelEmitter::emitParallel(const Position &start) {
  auto fill = [&](const Position &at) { storeElements(at, emitBody(at)); };
  if (order.tiled < 0) {
    if (!isShortInside())
      return nest(order.parallel, start, fill);
    // Written out, a short innermost loop leaves the next one to be vectorised.
    const unsigned inner = order.vector;
    const int64_t length = kernel.getExtents()[inner];
    Value isWhole = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                            extents[inner], constant(length));
    auto branch = b.create<scf::IfOp>(loc, isWhole, /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    nest(ArrayRef(order.parallel).drop_back(), start, [&](const Position &row) {
      for (int64_t j = 0; j < length; ++j)
        fill(advance(row, inner, constant(j)));
    });
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    return nest(order.parallel, start, fill);
  }
  // A cache line of the operand that is read across is used for all of a
  // tile's rows before the next tile begins. Whole tiles have a constant
  // extent, so that the innermost loop is unrolled and vectorised.
  unsigned inner = order.vector, across = order.tiled;
  SmallVector<unsigned> outer;
  for (unsigned loop : order.parallel)
    if (loop != inner && loop != across)
      outer.push_back(loop);
  Value size = constant(tileSize);
  auto none = SmallVector<Value>();
  nest(outer, start, [&](const Position &row) {
    loop(extents[inner], size, {}, [&](Value first, ValueRange) {
      Value left = b.create<arith::SubIOp>(loc, extents[inner], first);
      Position tile = advance(row, inner, first);
      auto emitTile = [&](Value count) {
        nest(across, tile, [&](const Position &line) {
          loop(count, one, {}, [&](Value j, ValueRange) {
            fill(advance(line, inner, j));
            return none;
          });
        });
      };
      Value whole =
          b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, left, size);
      auto branch = b.create<scf::IfOp>(loc, whole, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      emitTile(size);
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
      emitTile(left);
      return none;
    });
  });
}

//===----------------------------------------------------------------------===//
// One iteration
//===----------------------------------------------------------------------===//

Value KernelEmitter::readIf(Value condition, Value address, Type type) {
  // Values leave the branch as they are in memory, complex ones in parts: no
  // block has arguments of types that the target lacks.
  auto complex = dyn_cast<mlir::ComplexType>(type);
  SmallVector<Type> carried(complex ? 2 : 1, complex ? complex.getElementType()
                                                     : storageType(type));
  auto branch = b.create<scf::IfOp>(loc, TypeRange(carried), condition,
                                    /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> loaded{b.create<LLVM::LoadOp>(loc, carried[0], address)};
    if (complex)
      loaded.push_back(b.create<LLVM::LoadOp>(
          loc, carried[1], imaginaryPart(address, carried[1])));
    b.create<scf::YieldOp>(loc, loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(carried[0]));
    b.create<scf::YieldOp>(loc, SmallVector<Value>(carried.size(), zero));
  }
  if (complex)
    return b.create<mlir::complex::CreateOp>(loc, type, branch.getResult(0),
                                             branch.getResult(1));
  return fromStorage(branch.getResult(0), type);
}

Value KernelEmitter::loadAt(LoadOp load, const Position &place,
                            const mlir::IRMapping &mapping) {
  const unsigned input = load.getInput();
  Value offset = zero;
  for (auto [loop, index] :
       llvm::zip_equal(load.getLoops(), load.getIndices())) {
    const StaticStride kind = strideKinds[input][loop];
    Value term = mapping.lookupOrDefault(index);
    if (kind.isStatic && kind.value == 0)
      continue;
    if (!kind.isStatic || kind.value != 1)
      term = b.createOrFold<arith::MulIOp>(loc, term, strides[input][loop]);
    offset = b.createOrFold<arith::AddIOp>(loc, offset, term);
  }
  Value address =
      element(place.pointers[input], storageType(elements[input]), offset);
  return loadScalar(address, load.getType());
}

Value KernelEmitter::globalIndex(const Position &at, unsigned loop) {
  return b.create<arith::AddIOp>(loc, origins[loop], at.indices[loop]);
}

void KernelEmitter::noteArgument(Operation *op) {
  if (!losesHugeArguments(op))
    return;
  if (exact)
    op->setAttr(exactAttr, b.getUnitAttr());
  if (!notes)
    return;
  Value size = argumentSize(b, loc, op->getOperand(0));
  Value before = b.create<LLVM::LoadOp>(loc, b.getI32Type(), noted);
  b.create<LLVM::StoreOp>(loc, b.create<arith::MaxUIOp>(loc, before, size),
                          noted);
}

SmallVector<Value> KernelEmitter::emitBody(const Position &at) {
  mlir::IRMapping mapping;
  for (BlockArgument argument : kernel.getBlock()->getArguments())
    if (!argument.use_empty())
      mapping.map(argument, loadScalar(at.pointers[argument.getArgNumber()],
                                       KernelOp::scalarType(
                                           elements[argument.getArgNumber()])));
  for (Operation &op : kernel.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<IndexOp>(op))
      mapping.map(index.getResult(), globalIndex(at, index.getLoop()));
    else if (auto read = dyn_cast<ReadOp>(op))
      mapping.map(read.getResult(),
                  readIf(mapping.lookupOrDefault(read.getCondition()),
                         at.pointers[read.getInput()], read.getType()));
    else if (auto load = dyn_cast<LoadOp>(op))
      mapping.map(load.getResult(), loadAt(load, at, mapping));
    else
      noteArgument(b.clone(op, mapping));
  }
  SmallVector<Value> yielded;
  for (Value value : kernel.getBlock()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

void KernelEmitter::storeElements(const Position &at, ValueRange yielded) {
  if (!stores)
    return;
  for (unsigned i = 0; i < reducers.size(); ++i)
    if (!reducers[i])
      storeScalar(at.pointers[numInputs + i], yielded[i]);
}

void meshloom::emitKernel(KernelOp kernel, StringRef symbol, ModuleOp module) {
  KernelEmitter(kernel, module).emit(symbol);
}
