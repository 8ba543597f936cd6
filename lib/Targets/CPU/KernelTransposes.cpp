// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels' loops that move through an operand across the lines of another one:
// transposes. They run in tiles, so that cache lines of both are used as a
// whole. Where elements are only copied, squares of them are turned around in
// registers: 2^n rows of 2^n elements take n steps, each of which zips row i
// with row i + 2^(n - 1), as a perfect shuffle does. Where bodies compute much,
// the elements of a line are first put side by side, since LLVM makes no
// vectors of a loop that gathers. A few lines whose elements lie side by side
// (pixels of three colours) are made of vectors that hold all of them, which
// LLVM takes apart or puts together.
#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
using namespace meshloom::spmd;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

/// Bytes of a cache line.
static constexpr int64_t lineBytes = 64;
/// Rows in a tile of elements whose bytes are not counted.
static constexpr int64_t tileSize = 16;
/// Elements of a line that are put side by side at once.
static constexpr int64_t stagedSize = 64;
/// Instructions of a body for which that is worth it.
static constexpr int64_t leastStagedWork = 16;
/// Lines up to which one loop goes along all of them.
static constexpr int64_t fewLines = 7;

/// Bytes of an element that is moved as it is; 0 where bodies compute.
int64_t KernelEmitter::bytesCopied() {
  Block &body = *kernel.getBlock();
  if (numInputs != 1 || kernel.getNumResults() != 1 || inPlace[0] >= 0 ||
      !body.without_terminator().empty() || guarded[0] ||
      body.getTerminator()->getOperand(0) != body.getArgument(0))
    return 0;
  Type type = storageType(elements[0]);
  if (elements[0] == mlir::ComplexType::get(b.getF32Type()))
    return 8;
  return isa<FloatType, IntegerType>(type)
             ? int64_t(type.getIntOrFloatBitWidth()) / 8
             : 0;
}

void KernelEmitter::turnSquare(const Position &first, unsigned inner,
                               unsigned across, int64_t side, Type element) {
  auto type = mlir::VectorType::get({side}, element);
  const unsigned alignment = element.getIntOrFloatBitWidth() / 8;
  SmallVector<Value> rows;
  for (int64_t i = 0; i < side; ++i)
    rows.push_back(b.create<LLVM::LoadOp>(
        loc, type, advance(first, inner, constant(i)).pointers[0], alignment));
  SmallVector<int32_t> low, high;
  for (int32_t i = 0; i < int32_t(side) / 2; ++i) {
    low.append({i, i + int32_t(side)});
    high.append({i + int32_t(side) / 2, i + int32_t(side) * 3 / 2});
  }
  for (int64_t step = 1; step < side; step *= 2) {
    SmallVector<Value> zipped;
    for (int64_t i = 0; i < side / 2; ++i)
      for (ArrayRef<int32_t> lanes : {ArrayRef(low), ArrayRef(high)})
        zipped.push_back(b.create<LLVM::ShuffleVectorOp>(
            loc, rows[i], rows[i + side / 2], lanes));
    rows = std::move(zipped);
  }
  for (int64_t i = 0; i < side; ++i)
    b.create<LLVM::StoreOp>(loc, rows[i],
                            advance(first, across, constant(i)).pointers[1],
                            alignment);
}

void KernelEmitter::zipLines(const Position &start, unsigned lines,
                             unsigned inner, function_ref<void()> otherwise) {
  const int64_t count = kernel.getExtents()[lines];
  auto isCount = [&](Value value) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, value,
                                   constant(count));
  };
  SmallVector<unsigned> zipped;
  Value areZipped = isCount(extents[lines]);
  for (unsigned k = 0; k < strides.size(); ++k) {
    const StaticStride stride = strideKinds[k][lines];
    if (!stride.isStatic || stride.value != 1 || strideKinds[k][inner].isStatic)
      continue;
    zipped.push_back(k);
    areZipped =
        b.create<arith::AndIOp>(loc, areZipped, isCount(strides[k][inner]));
  }
  SmallVector<unsigned> outer;
  for (unsigned loop : order.parallel)
    if (loop != lines && loop != inner)
      outer.push_back(loop);
  auto branch = b.create<scf::IfOp>(loc, areZipped, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  otherwise();
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  const auto dynamicStrides = strides;
  const auto dynamicKinds = strideKinds;
  for (unsigned k : zipped) {
    strides[k][inner] = constant(count);
    strideKinds[k][inner] = {true, count};
  }
  outer.push_back(inner);
  nest(outer, start, [&](const Position &element) {
    for (int64_t line = 0; line < count; ++line) {
      Position position = advance(element, lines, constant(line));
      storeElements(position, emitBody(position));
    }
  });
  strides = dynamicStrides;
  strideKinds = dynamicKinds;
}

void KernelEmitter::emitTransposed(const Position &start) {
  const unsigned inner = order.vector, across = order.tiled;
  const int64_t length = kernel.getExtents()[inner],
                lines = kernel.getExtents()[across];
  const int64_t count = std::min(length, lines);
  if (count < 2 || count > fewLines || mostWrittenOut > 1)
    return emitTiles(start);
  zipLines(start, length < lines ? inner : across,
           length < lines ? across : inner, [&] { emitTiles(start); });
}

SmallVector<KernelEmitter::StagedInput>
KernelEmitter::stageInputs(unsigned inner) {
  SmallVector<StagedInput> inputs;
  if (flopsOf(kernel) < leastStagedWork)
    return inputs;
  for (unsigned k = 0; k < numInputs; ++k) {
    const StaticStride stride = strideKinds[k][inner];
    Type type = storageType(elements[k]);
    const bool isLine =
        stride.isStatic && (stride.value == 0 || stride.value == 1);
    // An input that ops of the body read has no element at this position.
    if (isLine || kernel.getBlock()->getArgument(k).use_empty() ||
        !isa<FloatType, IntegerType>(type))
      continue;
    inputs.push_back(
        {k, type,
         b.create<LLVM::AllocaOp>(loc, pointer, type, constant(stagedSize),
                                  /*alignment=*/64)});
  }
  return inputs;
}

void KernelEmitter::computeStaged(ArrayRef<StagedInput> inputs,
                                  const Position &line, unsigned inner,
                                  Value count) {
  if (!inputs.empty())
    loop(count, one, {}, [&](Value j, ValueRange) {
      Position from = advance(line, inner, j);
      for (const StagedInput &input : inputs) {
        Value moved = b.create<LLVM::LoadOp>(loc, input.type,
                                             from.pointers[input.operand]);
        b.create<LLVM::StoreOp>(loc, moved,
                                element(input.memory, input.type, j));
      }
      return SmallVector<Value>();
    });
  const auto lineStrides = strides;
  const auto lineKinds = strideKinds;
  Position first = line;
  for (const StagedInput &input : inputs) {
    first.pointers[input.operand] = input.memory;
    strides[input.operand][inner] = one;
    strideKinds[input.operand][inner] = {true, 1};
  }
  loop(count, one, {}, [&](Value j, ValueRange) {
    Position position = advance(first, inner, j);
    storeElements(position, emitBody(position));
    return SmallVector<Value>();
  });
  strides = lineStrides;
  strideKinds = lineKinds;
}

void KernelEmitter::emitTiles(const Position &start) {
  const unsigned inner = order.vector, across = order.tiled;
  SmallVector<unsigned> outer;
  for (unsigned loop : order.parallel)
    if (loop != inner && loop != across)
      outer.push_back(loop);
  auto isLine = [&](unsigned operand, unsigned loop) {
    const StaticStride stride = strideKinds[operand][loop];
    return stride.isStatic && stride.value == 1;
  };
  const int64_t bytes =
      isLine(numInputs, inner) && isLine(0, across) ? bytesCopied() : 0;
  const SmallVector<StagedInput> inputs = stageInputs(inner);
  Value size = constant(bytes             ? lineBytes / bytes
                        : !inputs.empty() ? stagedSize
                                          : tileSize);
  auto none = SmallVector<Value>();
  auto copyElements = [&](const Position &tile, Value lines, Value count) {
    loop(lines, one, {}, [&](Value i, ValueRange) {
      computeStaged(inputs, advance(tile, across, i), inner, count);
      return none;
    });
  };
  /// Whole squares of a tile that is as wide as a cache line, then what lines
  /// have behind them.
  auto turnSquares = [&](const Position &tile) {
    const int64_t side = bytes < 4 ? 16 : 8;
    Type element = b.getIntegerType(unsigned(bytes) * 8);
    Value squares =
        b.create<arith::AndIOp>(loc, extents[across], constant(-side));
    loop(squares, constant(side), {}, [&](Value i, ValueRange) {
      Position square = advance(tile, across, i);
      for (int64_t j = 0; j < lineBytes / bytes; j += side)
        turnSquare(advance(square, inner, constant(j)), inner, across, side,
                   element);
      return none;
    });
    copyElements(advance(tile, across, squares),
                 b.create<arith::SubIOp>(loc, extents[across], squares), size);
  };
  nest(outer, start, [&](const Position &row) {
    loop(extents[inner], size, {}, [&](Value first, ValueRange) {
      Value remaining = b.create<arith::SubIOp>(loc, extents[inner], first);
      Position tile = advance(row, inner, first);
      Value whole = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge,
                                            remaining, size);
      auto branch = b.create<scf::IfOp>(loc, whole, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      // Whole tiles have a constant extent, so that the innermost loop is
      // unrolled and vectorised.
      if (bytes)
        turnSquares(tile);
      else
        copyElements(tile, extents[across], size);
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
      copyElements(tile, extents[across], remaining);
      return none;
    });
  });
}

void KernelEmitter::emitCrossedRows(const Position &start) {
  const unsigned vector = order.vector, across = order.crossed;
  const unsigned inner = order.parallel[order.parallel.size() - 2];
  SmallVector<unsigned> outer;
  for (unsigned loop : order.parallel)
    if (loop != vector && loop != inner && loop != across)
      outer.push_back(loop);
  Value size = constant(tileSize);
  auto none = SmallVector<Value>();
  nest(outer, start, [&](const Position &plane) {
    loop(extents[inner], size, {}, [&](Value first, ValueRange) {
      Value remaining = b.create<arith::SubIOp>(loc, extents[inner], first);
      Value count = b.create<arith::MinSIOp>(loc, remaining, size);
      nest(across, advance(plane, inner, first), [&](const Position &tile) {
        loop(count, one, {}, [&](Value j, ValueRange) {
          nest(vector, advance(tile, inner, j), [&](const Position &position) {
            storeElements(position, emitBody(position));
          });
          return none;
        });
      });
      return none;
    });
  });
}
