// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of one thread of a kernel (the shape is Core/DeviceCode.h's):
//
//   for groups of `results` results, from the block's own in steps of the grid:
//     no reduction   one iteration a thread
//     reduction      a thread combines every `terms`-th term of its result;
//                    then the states of a result's threads are merged in
//                    pairs: a tree whose shape depends on nothing. Threads of
//                    a warp exchange states by themselves; warps do so through
//                    shared memory, and the result's first thread merges what
//                    is there
//
// Neighbouring threads are neighbours in memory: in the terms of one result
// where the kernel's innermost loop (LoopOrder::vector) is reduced, else in
// results. A thread adds terms of floats one by one only within runs of
// `serialRun`; sums of so many runs are a run again. n terms are thus off by
// at most 2^-24 * (serialRun * levels + log2(terms)) of the sum of their
// sizes, where levels is about log2(n / terms) / log2(serialRun).
//
// In a call of `rows` a result is a row: see RowEmitter.h.
#include "ThreadEmitter.h"

#include "RowEmitter.h"
#include "ThreadCode.h"
#include "TileEmitter.h"
#include "meshloom/Targets/Kernels/KernelBody.h"
#include "meshloom/Targets/Kernels/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MathExtras.h"

using namespace meshloom;
using spmd::KernelOp;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
namespace scf = mlir::scf;

/// log2 of the terms that a thread adds one by one.
static constexpr unsigned serialBits = 6;
/// Returns how many threads share the terms of a result.
static unsigned threadsOfResult(KernelOp kernel, const LoopOrder &order) {
  // Kernels that differ in extents alone have the same code (KernelSymbol.h),
  // so only reductionBits decides. Few terms are one thread's, or those of
  // eight in a large kernel; up to 256 along memory a warp's, up to 4,096 two
  // warps', and more a block's.
  constexpr unsigned fewLanes = 8, someBits = 8, manyBits = 12;
  // Where neighbouring results are neighbours in memory, a warp reads so many
  // of them at once, and so many warps share the terms.
  constexpr unsigned rowGroups = 8;
  const unsigned bits = reductionBits(kernel);
  const bool isAlongMemory = order.vectorIsReduction && !order.deterministic;
  if (bits == 0)
    return isAlongMemory && isLarge(kernel) ? fewLanes : 1;
  if (order.deterministic)
    return warp;
  if (!order.vectorIsReduction)
    return rowGroups;
  return bits <= someBits ? warp : bits <= manyBits ? 2 * warp : blockThreads;
}

void ThreadEmitter::splitThread() {
  Value number = b.create<NVVM::ThreadIdXOp>(loc, b.getI32Type());
  thread = b.create<arith::ExtUIOp>(loc, i64, number);
  const unsigned inner = termsInner ? terms : results;
  Value low = b.create<arith::AndIOp>(loc, thread, constant(inner - 1));
  Value high =
      b.create<arith::ShRUIOp>(loc, thread, constant(llvm::Log2_32(inner)));
  term = termsInner ? low : high;
  resultInBlock = termsInner ? high : low;
}

KernelShape ThreadEmitter::emit(StringRef symbol) {
  if (kernel.hasReductionLoops()) {
    terms = threadsOfResult(kernel, order);
    results = blockThreads / terms;
    termsInner = order.vectorIsReduction;
  }
  auto function =
      makeFunction(module, symbol, argumentTypes(), LLVM::Linkage::External);
  makeEntry(function);
  begin(function.getArguments(), symbol);
  lanes = findLanes();
  if (lanes > 1) {
    auto branch = b.create<scf::IfOp>(loc, arePacked(), /*withElse=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitGroups(b, loc, results * lanes, count,
               [&](Block *, Value group) { emitPack(group); });
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
    emitAllGroups();
  } else {
    emitAllGroups();
  }
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  return {symbol.str(), results, terms,
          std::vector<unsigned>(resultLoops.begin(), resultLoops.end()),
          parameters()};
}

void ThreadEmitter::emitAllGroups() {
  emitGroups(b, loc, results, count,
             [&](Block *, Value group) { emitResults(group); });
}

bool ThreadEmitter::isUnit(unsigned operand) {
  return strideKinds[operand][order.vector].is(1);
}

unsigned ThreadEmitter::findLanes() {
  // Longer code takes registers from other threads.
  constexpr int64_t mostFlops = 256, accessBytes = 16, mostLanes = 8;
  if (!isLarge(kernel) || kernel.hasReductionLoops() || kernel.getHeld())
    return 1;
  int64_t width = accessBytes / mostLanes;
  for (unsigned k = 0; k < strideKinds.size(); ++k) {
    const StaticStride stride = strideKinds[k][order.vector];
    if (guarded[k] || isa<mlir::ComplexType>(elements[k]) || !stride.isStatic ||
        (stride.value != 1 && stride.value != 0) ||
        (k >= numInputs && stride.value == 0))
      return 1;
    if (stride.value == 1)
      width =
          std::max<int64_t>(width, byteWidth(*dtensor::dtypeOf(elements[k])));
    for (unsigned loop : order.parallel) // two loops of one dim
      if (loop != unsigned(order.vector) && stride.value == 1 &&
          strideKinds[k][loop].isStatic && strideKinds[k][loop].value != 0)
        return 1;
  }
  int64_t found = accessBytes / width;
  while (found > 1 && found * flopsOf(kernel) > mostFlops)
    found /= 2;
  return unsigned(found);
}

Value ThreadEmitter::arePacked() {
  Value odd = extents[order.vector];
  Value oddAddress = zero;
  auto either = [&](Value x, Value y) -> Value {
    return b.create<arith::OrIOp>(loc, x, y);
  };
  for (unsigned k = 0; k < strideKinds.size(); ++k) {
    if (!isUnit(k))
      continue;
    for (unsigned loop : order.parallel)
      if (Value stride = strides[k][loop];
          stride && loop != unsigned(order.vector))
        odd = either(odd, stride);
    const int64_t bytes = byteWidth(*dtensor::dtypeOf(elements[k])) * lanes;
    Value address = b.create<LLVM::PtrToIntOp>(loc, i64, start.pointers[k]);
    oddAddress = either(
        oddAddress, b.create<arith::AndIOp>(loc, address, constant(bytes - 1)));
  }
  Value remainder = either(
      oddAddress, b.create<arith::AndIOp>(loc, odd, constant(lanes - 1)));
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, remainder,
                                 zero);
}

void ThreadEmitter::emitPack(Value group) {
  Value first = b.create<arith::AddIOp>(
      loc, group, b.create<arith::MulIOp>(loc, thread, constant(lanes)));
  Value inside =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, first, count);
  auto branch = b.create<scf::IfOp>(loc, inside, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  const Position position = positionOf(resultLoops, start, first, 32);
  auto packOf = [&](unsigned k) {
    return mlir::VectorType::get(lanes, storageType(elements[k]));
  };
  auto bytesOf = [&](unsigned k) {
    return unsigned(byteWidth(*dtensor::dtypeOf(elements[k]))) * lanes;
  };
  SmallVector<Value> packs(numInputs), stored(strideKinds.size() - numInputs);
  for (BlockArgument argument : kernel.getBlock()->getArguments()) {
    const unsigned k = argument.getArgNumber();
    if (argument.use_empty())
      continue;
    packs[k] = isUnit(k)
                   ? Value(b.create<LLVM::LoadOp>(
                         loc, packOf(k), position.pointers[k], bytesOf(k)))
                   : loadScalar(position.pointers[k], argument.getType());
  }
  for (unsigned i = 0; i < stored.size(); ++i)
    stored[i] = b.create<LLVM::UndefOp>(loc, packOf(numInputs + i));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value number = b.create<arith::ConstantIntOp>(loc, lane, 32);
    SmallVector<Value> loaded = packs;
    for (unsigned k = 0; k < numInputs; ++k)
      if (loaded[k] && isUnit(k))
        loaded[k] = fromStorage(
            b.create<LLVM::ExtractElementOp>(loc, loaded[k], number),
            kernel.getBlock()->getArgument(k).getType());
    const SmallVector<Value> yielded =
        emitBody(advance(position, order.vector, constant(lane)), loaded);
    for (unsigned i = 0; i < stored.size(); ++i)
      stored[i] = b.create<LLVM::InsertElementOp>(
          loc, stored[i], toStorage(yielded[i]), number);
  }
  for (unsigned i = 0; i < stored.size(); ++i)
    b.create<LLVM::StoreOp>(loc, stored[i], position.pointers[numInputs + i],
                            bytesOf(numInputs + i));
}

void ThreadEmitter::emitGroup(Block *block, ValueRange arguments, Value group,
                              StringRef name) {
  b.setInsertionPoint(block->getTerminator());
  begin(arguments, name);
  emitResults(group);
  if (shared.empty())
    barrier();
}

void ThreadEmitter::begin(ValueRange arguments, StringRef name) {
  start = bindArguments(arguments);
  makeReducers();
  splitThread();
  count = countOf(resultLoops);
  if (parts() > 1 && kernel.hasReductionLoops())
    makeShared(name);
}

void ThreadEmitter::emitResults(Value group) {
  Value result = b.create<arith::AddIOp>(loc, group, resultInBlock);
  Value inside =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, result, count);
  if (kernel.hasReductionLoops())
    return emitReduction(result, inside);
  if (holdsElements()) {
    reduceHeld(result, inside);
    return;
  }
  auto branch = b.create<scf::IfOp>(loc, inside, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  const Position position = positionOf(resultLoops, start, result, 32);
  if (terms > 1)
    reduceTerms(position, term, countOf(termLoops), /*level=*/0, {});
  else
    storeElements(position, emitBody(position));
}

SmallVector<Value> ThreadEmitter::reduceTerms(const Position &position,
                                              Value first, Value end,
                                              unsigned level,
                                              ValueRange states) {
  Value step = constant(int64_t(terms) << (serialBits * level));
  auto loop = b.create<scf::ForOp>(
      loc, first, end, step, states,
      [&](OpBuilder &, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(index.getParentBlock());
        SmallVector<Value> next;
        if (level == 0) {
          const Position here =
              positionOf(termLoops, position, index, isLong() ? 64 : 32);
          SmallVector<Value> yielded = emitBody(here);
          storeElements(here, yielded);
          next = combine(here, carried, yielded);
        } else {
          Value behind = b.create<arith::MinSIOp>(
              loc, b.create<arith::AddIOp>(loc, index, step), end);
          next = merge(carried, reduceTerms(position, index, behind, level - 1,
                                            identities()));
        }
        b.create<scf::YieldOp>(loc, next);
      });
  return loop.getResults();
}

SmallVector<Type> ThreadEmitter::typesOfStates() {
  SmallVector<Type> types;
  for (auto &reducer : reducers)
    if (reducer)
      types.append(reducer->stateTypes());
  return types;
}

SmallVector<Value> ThreadEmitter::reduceResult(Value result, Value inside) {
  unsigned levels = 0;
  if (llvm::any_of(reducers, [](auto &reducer) {
        return reducer && reducer->isFloatSum();
      }))
    while (reductionBits(kernel) >
           llvm::Log2_32(terms) + serialBits * (levels + 1))
      ++levels;
  auto branch =
      b.create<scf::IfOp>(loc, typesOfStates(), inside, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  const Position position = positionOf(resultLoops, start, result, 32);
  SmallVector<Value> states =
      reduceTerms(position, term, countOf(termLoops), levels, identities());
  b.create<scf::YieldOp>(loc, states);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(loc, identities());
  return SmallVector<Value>(branch.getResults());
}

void ThreadEmitter::emitReduction(Value result, Value inside) {
  const SmallVector<Value> states =
      mergeThreads(holdsElements() ? reduceHeld(result, inside)
                                   : reduceResult(result, inside));
  if (held && shared.empty()) // a result may lie where terms have been
    barrier();
  Value last = inside;
  if (terms > 1)
    last = b.create<arith::AndIOp>(loc, inside, isFirst());
  auto store = b.create<scf::IfOp>(loc, last, /*withElse=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(store.thenBlock()->getTerminator());
    finish(positionOf(resultLoops, start, result, 32), states);
  }
  if (!shared.empty()) // what is read is overwritten by the next group's states
    barrier();
}

SmallVector<Value> ThreadEmitter::mergeThreads(SmallVector<Value> states) {
  for (unsigned distance = neighbours() / 2; distance > 0; distance /= 2) {
    SmallVector<Value> others;
    for (Value state : states)
      others.push_back(ofThreadBehind(state, distance));
    states = merge(states, others);
  }
  if (shared.empty())
    return states;
  storeShared(states);
  barrier();
  auto branch = b.create<scf::IfOp>(loc, TypeRange(ValueRange(states)),
                                    isFirst(), /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  b.create<scf::YieldOp>(loc, mergeShared(0, 1));
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(loc, states);
  return SmallVector<Value>(branch.getResults());
}

SmallVector<Value> ThreadEmitter::mergeShared(unsigned first, unsigned stride) {
  if (stride == parts())
    return loadShared(constant(first * (termsInner ? 1 : results)));
  const SmallVector<Value> states = mergeShared(first, 2 * stride);
  return merge(states, mergeShared(first + stride, 2 * stride));
}

void ThreadEmitter::makeShared(StringRef symbol) {
  stateTypes = typesOfStates();
  Value place = b.create<arith::ShRUIOp>(loc, thread,
                                         constant(llvm::Log2_32(neighbours())));
  for (auto [i, type] : llvm::enumerate(stateTypes)) {
    Value base = makeSharedArray(b, loc, module, storageType(type),
                                 blockThreads / neighbours(),
                                 symbol + "_shared" + Twine(i));
    shared.push_back(element(base, storageType(type), place));
  }
}

SmallVector<Value> ThreadEmitter::loadShared(Value offset) {
  SmallVector<Value> states;
  for (auto [address, type] : llvm::zip_equal(shared, stateTypes))
    states.push_back(
        loadScalar(element(address, storageType(type), offset), type));
  return states;
}

/// One thread of each group of neighbours stores what they have.
void ThreadEmitter::storeShared(ValueRange states) {
  OpBuilder::InsertionGuard guard(b);
  if (neighbours() > 1) {
    Value lane =
        b.create<arith::AndIOp>(loc, thread, constant(neighbours() - 1));
    auto first = b.create<scf::IfOp>(
        loc, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, lane, zero),
        /*withElse=*/false);
    b.setInsertionPoint(first.thenBlock()->getTerminator());
  }
  for (auto [address, state] : llvm::zip_equal(shared, states))
    storeScalar(address, state);
}

KernelShape meshloom::emitThreads(Operation *op, StringRef symbol,
                                  ModuleOp module) {
  if (auto call = dyn_cast<LibraryCallOp>(op))
    return emitRows(call, symbol, module);
  auto kernel = cast<KernelOp>(op);
  if (isTiled(kernel))
    return emitTiles(kernel, symbol, module);
  return ThreadEmitter(kernel, module).emit(symbol);
}

int64_t meshloom::reductionParts(KernelOp kernel) {
  // Threads that run at one time on a card, and terms that are worth one.
  constexpr uint64_t cardThreads = 1 << 18, fewestTerms = 32;
  const LoopOrder order = loopOrder(kernel);
  auto iterations = [&](ArrayRef<unsigned> loops) {
    uint64_t count = 1;
    for (unsigned loop : loops)
      count =
          llvm::SaturatingMultiply(count, uint64_t(kernel.getExtents()[loop]));
    return count;
  };
  uint64_t threads = threadsOfResult(kernel, order);
  const auto axes = kernel.getAxisIndices();
  for (unsigned loop : order.reduction) // each shard has its own results
    for (unsigned axis : axes[loop])
      threads *= uint64_t(kernel.getMesh().axis_size(axis));
  const uint64_t results = iterations(order.parallel),
                 terms = iterations(order.reduction);
  return int64_t(std::min(cardThreads / std::max<uint64_t>(results, 1),
                          terms / fewestTerms) /
                 threads);
}

void meshloom::registerThreadDialects(mlir::DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect>();
}
