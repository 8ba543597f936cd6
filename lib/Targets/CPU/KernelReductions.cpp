// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels' loops that reduce. Sums of floats are made of the sums of blocks
// (PairwiseSums.h); other reductions run through.
#include "KernelEmitter.h"
#include "PairwiseSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MathExtras.h"

using namespace meshloom;
using namespace meshloom::spmd;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

/// Elements of the innermost loop whose reduction states fit in the L1 cache.
static constexpr int64_t blockSize = 256;
/// Terms of a sum that one lane may add one by one before their sum is added to
/// others: long enough that adding blocks takes little time.
static constexpr int64_t serialBlock = 64;
/// The same where an inner loop is long enough for some 32 vector lanes to
/// share its terms.
static constexpr int64_t vectorBlock = 512, vectorLoop = 256;
/// Terms of whole runs of an inner loop that are a block, where the loop is
/// long enough for lanes to share the terms of a run; the fewest in a block of
/// short runs.
static constexpr int64_t runBlock = 1024, leastBlock = serialBlock / 2;
/// Chains of a reduction whose steps take long: two vectors of f32.
static constexpr int64_t numChains = 32;

void KernelEmitter::selectSums(ArrayRef<Value> arrays,
                               SmallVectorImpl<Value> &running,
                               SmallVectorImpl<Type> &types,
                               SmallVectorImpl<unsigned> &places) {
  unsigned state = 0;
  for (auto &reducer : reducers)
    if (reducer)
      for (Type type : reducer->stateTypes()) {
        if (reducer->isFloatSum()) {
          running.push_back(arrays[state]);
          types.push_back(type);
          places.push_back(state);
        }
        ++state;
      }
}

SmallVector<Value>
KernelEmitter::makeStateArrays(Value size, SmallVectorImpl<Type> &types) {
  SmallVector<Value> arrays;
  for (auto &reducer : reducers)
    if (reducer)
      for (Type type : reducer->stateTypes()) {
        types.push_back(type);
        arrays.push_back(b.create<LLVM::AllocaOp>(
            loc, pointer, storageType(type), size, /*alignment=*/64));
      }
  return arrays;
}

void KernelEmitter::emitReduction(const Position &start) {
  SmallVector<Type> types, sumTypes;
  SmallVector<Value> running;
  SmallVector<unsigned> places;
  SmallVector<Value> arrays = makeStateArrays(one, types);
  selectSums(arrays, running, sumTypes, places);
  staged.clear();
  if (order.deterministic && !running.empty() &&
      !kernel.getBlock()->without_terminator().empty())
    stageTerms();
  chains.clear();
  chainTypes.clear();
  if (wantsChains())
    chains = makeStateArrays(constant(numChains), chainTypes);
  auto reduceThrough = [&] {
    nest(order.parallel, start, [&](const Position &position) {
      finish(position, reduceOver(order.reduction, position, identities()));
    });
  };
  if (staged.empty() && order.writtenOut > 0)
    return writeOutInside(
        [&] {
          nest(order.parallel, start, [&](const Position &row) {
            SmallVector<Value> states = identities();
            for (int64_t j = 0; j < order.writtenOut; ++j)
              states =
                  reduceOne(advance(row, order.vector, constant(j)), states);
            finish(row, states);
          });
        },
        reduceThrough);
  const bool isOneLoop = order.reduction.size() == 1 && !order.deterministic;
  if (running.empty() || reductionBits(kernel) <= llvm::Log2_64(serialBlock) ||
      (isOneLoop && reductionBits(kernel) <= llvm::Log2_64(vectorLoop)))
    return reduceThrough();
  PairwiseSums sums(b, loc, running, sumTypes, /*width=*/1,
                    reductionBits(kernel) - llvm::Log2_64(serialBlock));
  Value isLong = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge,
                                         extents[order.reduction.back()],
                                         constant(vectorLoop));
  Value size =
      order.deterministic
          ? constant(serialBlock)
          : b.create<arith::SelectOp>(loc, isLong, constant(vectorBlock),
                                      constant(serialBlock))
                .getResult();
  if (isOneLoop && sums.addsOneByOne())
    return nest(order.parallel, start, [&](const Position &position) {
      finish(position, reduceFewBlocks(position, size));
    });
  nest(order.parallel, start, [&](const Position &position) {
    SmallVector<Value> carried = identities();
    carried.append({zero, zero}); // terms in this block, blocks before it
    carried =
        reduceInBlocks(order.reduction, position, carried, size, places, sums);
    Value blocks = carried.pop_back_val();
    carried.pop_back();
    inMemory(carried, places, sums, [&] { sums.finish(blocks, one); });
    finish(position, carried);
  });
}

void KernelEmitter::inMemory(MutableArrayRef<Value> states,
                             ArrayRef<unsigned> places, PairwiseSums &sums,
                             function_ref<void()> change) {
  for (auto [place, array] : llvm::zip(places, sums.runningSums()))
    b.create<LLVM::StoreOp>(loc, states[place], array);
  change();
  for (auto [place, array] : llvm::zip(places, sums.runningSums()))
    states[place] = b.create<LLVM::LoadOp>(loc, states[place].getType(), array);
}

SmallVector<Value> KernelEmitter::reduceOver(ArrayRef<unsigned> loops,
                                             const Position &position,
                                             ValueRange states) {
  if (loops.size() == 1)
    return reduceRun(position, loops.front(), extents[loops.front()], states);
  return loop(extents[loops.front()], one, states,
              [&](Value index, ValueRange carried) {
                return reduceOver(loops.drop_front(),
                                  advance(position, loops.front(), index),
                                  carried);
              });
}

void KernelEmitter::stageTerms() {
  Operation *end = kernel.getBlock()->getTerminator();
  for (auto [i, reducer] : llvm::enumerate(reducers))
    if (reducer)
      staged.push_back(b.create<LLVM::AllocaOp>(
          loc, pointer, storageType(end->getOperand(i).getType()),
          constant(serialBlock), /*alignment=*/64));
}

SmallVector<Value> KernelEmitter::reduceRun(const Position &position,
                                            unsigned run, Value count,
                                            ValueRange states) {
  if (!chains.empty())
    return reduceInChains(position, run, count, states);
  if (staged.empty())
    return loop(count, one, states, [&](Value index, ValueRange in) {
      return reduceOne(advance(position, run, index), in);
    });
  Operation *end = kernel.getBlock()->getTerminator();
  /// Calls use(output, address of its term) for what is reduced.
  auto forTerms = [&](Value index,
                      function_ref<void(unsigned, Value, Type)> use) {
    unsigned next = 0;
    for (unsigned i = 0; i < reducers.size(); ++i)
      if (reducers[i]) {
        Type type = end->getOperand(i).getType();
        use(i, element(staged[next++], storageType(type), index), type);
      }
  };
  loop(count, one, {}, [&](Value index, ValueRange) {
    Position here = advance(position, run, index);
    SmallVector<Value> yielded = emitBody(here);
    storeElements(here, yielded);
    forTerms(index, [&](unsigned i, Value address, Type) {
      storeScalar(address, yielded[i]);
    });
    return SmallVector<Value>();
  });
  return loop(count, one, states, [&](Value index, ValueRange in) {
    SmallVector<Value> yielded(reducers.size());
    forTerms(index, [&](unsigned i, Value address, Type type) {
      yielded[i] = loadScalar(address, type);
    });
    return combine(advance(position, run, index), in, yielded);
  });
}

bool KernelEmitter::wantsChains() {
  return reductionBits(kernel) > llvm::Log2_64(numChains) &&
         llvm::all_of(reducers, [](auto &reducer) {
           return reducer && reducer->usesIndex();
         });
}

SmallVector<Value> KernelEmitter::reduceInChains(const Position &position,
                                                 unsigned run, Value count,
                                                 ValueRange states) {
  auto none = SmallVector<Value>();
  auto load = [&](Value chain) {
    SmallVector<Value> loaded;
    for (auto [array, type] : llvm::zip_equal(chains, chainTypes))
      loaded.push_back(
          loadScalar(element(array, storageType(type), chain), type));
    return loaded;
  };
  auto store = [&](Value chain, ValueRange values) {
    for (auto [array, type, value] :
         llvm::zip_equal(chains, chainTypes, values))
      storeScalar(element(array, storageType(type), chain), value);
  };
  Value whole = b.create<arith::AndIOp>(loc, count, constant(-numChains));
  loop(constant(numChains), one, {}, [&](Value chain, ValueRange) {
    store(chain, identities());
    return none;
  });
  loop(whole, constant(numChains), {}, [&](Value first, ValueRange) {
    Position block = advance(position, run, first);
    loop(constant(numChains), one, {}, [&](Value chain, ValueRange) {
      store(chain, reduceOne(advance(block, run, chain), load(chain)));
      return none;
    });
    return none;
  });
  for (int64_t half = numChains / 2; half > 0; half /= 2)
    loop(constant(half), one, {}, [&](Value chain, ValueRange) {
      Value partner = b.create<arith::AddIOp>(loc, chain, constant(half));
      store(chain, merge(load(chain), load(partner)));
      return none;
    });
  SmallVector<Value> reduced = merge(states, load(zero));
  Value remaining = b.create<arith::SubIOp>(loc, count, whole);
  return loop(remaining, one, reduced, [&](Value index, ValueRange in) {
    return reduceOne(
        advance(position, run, b.create<arith::AddIOp>(loc, whole, index)), in);
  });
}

SmallVector<Value> KernelEmitter::reduceOne(const Position &position,
                                            ValueRange states) {
  SmallVector<Value> yielded = emitBody(position);
  storeElements(position, yielded);
  return combine(position, states, yielded);
}

SmallVector<Value> KernelEmitter::reduceInBlocks(ArrayRef<unsigned> loops,
                                                 const Position &position,
                                                 ValueRange carried, Value size,
                                                 ArrayRef<unsigned> places,
                                                 PairwiseSums &sums) {
  unsigned reduced = loops.front();
  if (loops.size() > 1)
    return loop(extents[reduced], one, carried,
                [&](Value index, ValueRange inner) {
                  return reduceInBlocks(loops.drop_front(),
                                        advance(position, reduced, index),
                                        inner, size, places, sums);
                });
  // A deterministic block is complete wherever it has its terms: counted from
  // where the one begins that is there already.
  Value begun = order.deterministic ? carried[carried.size() - 2] : zero;
  Value end = b.create<arith::AddIOp>(loc, extents[reduced], begun);
  return loop(end, size, carried, [&](Value blockBegin, ValueRange inner) {
    Value after = b.create<arith::MinSIOp>(
        loc, b.create<arith::AddIOp>(loc, blockBegin, size), end);
    Value from = b.create<arith::MaxSIOp>(loc, blockBegin, begun);
    Value first = b.create<arith::SubIOp>(loc, from, begun);
    Value count = b.create<arith::SubIOp>(loc, after, from);
    Position block = advance(position, reduced, first);
    SmallVector<Value> next =
        reduceRun(block, reduced, count, inner.drop_back(2));
    Value terms = b.create<arith::AddIOp>(loc, inner[inner.size() - 2], count);
    next.append({terms, inner.back()});
    return completeBlock(next, places, size, sums);
  });
}

SmallVector<Value> KernelEmitter::reduceFewBlocks(const Position &position,
                                                  Value size) {
  const unsigned reduced = order.reduction.front();
  return loop(
      extents[reduced], size, identities(),
      [&](Value first, ValueRange states) {
        Value count = b.create<arith::MinSIOp>(
            loc, size, b.create<arith::SubIOp>(loc, extents[reduced], first));
        return merge(states, reduceRun(advance(position, reduced, first),
                                       reduced, count, identities()));
      });
}

SmallVector<Value> KernelEmitter::completeBlock(ArrayRef<Value> carried,
                                                ArrayRef<unsigned> places,
                                                Value size,
                                                PairwiseSums &sums) {
  Value terms = carried[carried.size() - 2];
  Value complete =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, terms, size);
  auto branch = b.create<scf::IfOp>(loc, ValueRange(carried).getTypes(),
                                    complete, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> next(carried);
  inMemory(next, places, sums,
           [&] { next.back() = sums.push(carried.back(), one); });
  next[next.size() - 2] = zero;
  b.create<scf::YieldOp>(loc, next);
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(loc, carried);
  return branch.getResults();
}

void KernelEmitter::emitBlockedReduction(const Position &start) {
  SmallVector<Type> types, sumTypes;
  SmallVector<unsigned> places;
  SmallVector<Value> running;
  Value size = constant(blockSize);
  SmallVector<Value> arrays = makeStateArrays(size, types);
  selectSums(arrays, running, sumTypes, places);
  const int64_t leastTerms = order.reducesByRows ? leastBlock : serialBlock;
  std::optional<PairwiseSums> sums;
  if (!running.empty() && reductionBits(kernel) > llvm::Log2_64(serialBlock))
    sums.emplace(b, loc, running, sumTypes, blockSize,
                 reductionBits(kernel) - llvm::Log2_64(leastTerms));
  auto loadStates = [&](Value j) {
    SmallVector<Value> states;
    for (auto [array, type] : llvm::zip(arrays, types))
      states.push_back(loadScalar(element(array, storageType(type), j), type));
    return states;
  };
  auto storeStates = [&](Value j, ValueRange states) {
    for (auto [array, type, state] : llvm::zip(arrays, types, states))
      storeScalar(element(array, storageType(type), j), state);
  };
  const unsigned inner = order.parallel.back();
  ArrayRef<unsigned> outer = ArrayRef(order.parallel).drop_back();
  // The reduction loops that go over rows of elements.
  ArrayRef<unsigned> rows = order.reduction;
  if (order.reducesByRows)
    rows = rows.drop_back();
  auto none = SmallVector<Value>();
  nest(outer, start, [&](const Position &row) {
    loop(extents[inner], size, {}, [&](Value first, ValueRange) {
      Value remaining =
          b.createOrFold<arith::SubIOp>(loc, extents[inner], first);
      Value count = b.createOrFold<arith::MinSIOp>(loc, remaining, size);
      Position block = advance(row, inner, first);
      loop(count, one, {}, [&](Value j, ValueRange) {
        storeStates(j, identities());
        return none;
      });
      auto addRow = [&](const Position &slice) {
        loop(count, one, {}, [&](Value j, ValueRange) {
          Position run = advance(slice, inner, j);
          storeStates(j, order.reducesByRows
                             ? reduceRun(run, order.vector,
                                         extents[order.vector], loadStates(j))
                             : reduceOne(run, loadStates(j)));
          return none;
        });
      };
      if (sums) {
        SmallVector<Value> carried = addRows(
            rows, block, {zero, zero}, rowsOfBlock(), count, *sums, addRow);
        sums->finish(carried.back(), count);
      } else {
        nest(rows, block, addRow);
      }
      loop(count, one, {}, [&](Value j, ValueRange) {
        finish(advance(block, inner, j), loadStates(j));
        return none;
      });
      return none;
    });
  });
}

Value KernelEmitter::rowsOfBlock() {
  if (!order.reducesByRows)
    return constant(serialBlock);
  Value run = b.create<arith::MaxSIOp>(loc, extents[order.vector], one);
  Value isShort = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, run,
                                          constant(serialBlock));
  Value terms = b.create<arith::SelectOp>(loc, isShort, constant(serialBlock),
                                          constant(runBlock));
  return b.create<arith::MaxSIOp>(
      loc, b.create<arith::DivUIOp>(loc, terms, run), one);
}

SmallVector<Value>
KernelEmitter::addRows(ArrayRef<unsigned> loops, const Position &position,
                       ArrayRef<Value> carried, Value size, Value count,
                       PairwiseSums &sums,
                       function_ref<void(const Position &)> addRow) {
  if (!loops.empty())
    return loop(extents[loops.front()], one, carried,
                [&](Value index, ValueRange inner) {
                  return addRows(loops.drop_front(),
                                 advance(position, loops.front(), index),
                                 SmallVector<Value>(inner), size, count, sums,
                                 addRow);
                });
  addRow(position);
  Value rows = b.create<arith::AddIOp>(loc, carried[0], one);
  Value complete =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rows, size);
  auto branch = b.create<scf::IfOp>(loc, TypeRange{i64, i64}, complete,
                                    /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value blocks = sums.push(carried[1], count);
  b.create<scf::YieldOp>(loc, ValueRange{zero, blocks});
  b.setInsertionPointToStart(branch.elseBlock());
  b.create<scf::YieldOp>(loc, ValueRange{rows, carried[1]});
  return branch.getResults();
}
