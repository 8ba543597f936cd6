// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels' loops that move through an operand across the lines of another one:
// transposes. They run in tiles, so that cache lines of both are used as a
// whole. Where elements are only copied, boxes of them are turned around in
// registers, 128 bits of each row at a time, in which x86 shuffles take one
// instruction: 2^n rows of 2^n elements take n steps, each of which zips row i
// with row i + 2^(n - 1), as a perfect shuffle does. Where bodies compute much,
// the elements of a tile are first put side by side, line by line, since LLVM
// makes no vectors of a loop that gathers. A few lines whose elements lie side
// by side (pixels of three colours) are made of vectors that hold all of them,
// which LLVM takes apart or puts together. (Large copies alone are the
// library's calls.)
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
/// Bytes of a part of a register in which shuffles take one instruction.
static constexpr int64_t partBytes = 16;
/// Rows in a tile of elements whose bytes are not counted.
static constexpr int64_t tileSize = 16;
/// Elements of a line that are put side by side at once, in tileSize lines.
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

Value KernelEmitter::concatenate(ArrayRef<Value> vectors) {
  if (vectors.size() == 1)
    return vectors.front();
  const size_t half = vectors.size() / 2;
  Value low = concatenate(vectors.take_front(half)),
        high = concatenate(vectors.drop_front(half));
  const auto type = cast<mlir::VectorType>(low.getType());
  return b.create<LLVM::ShuffleVectorOp>(
      loc, low, high,
      llvm::to_vector(llvm::seq<int32_t>(int32_t(2 * type.getNumElements()))));
}

void KernelEmitter::turnBox(const Position &first, int64_t lines,
                            int64_t columns, Type element) {
  const unsigned inner = order.vector, across = order.tiled;
  const unsigned alignment = element.getIntOrFloatBitWidth() / 8;
  const int64_t part = partBytes / alignment;
  auto type = mlir::VectorType::get({part}, element);
  SmallVector<int32_t> low, high;
  for (int64_t begin = 0; begin < columns; begin += part)
    for (int64_t i = begin; i < begin + part / 2; ++i) {
      low.append({int32_t(i), int32_t(i + columns)});
      high.append({int32_t(i + part / 2), int32_t(i + part / 2 + columns)});
    }
  for (int64_t line = 0; line < lines; line += part) {
    const Position begin = advance(first, across, constant(line));
    SmallVector<Value> rows;
    for (int64_t row = 0; row < part; ++row) {
      SmallVector<Value> parts;
      for (int64_t i = row; i < columns; i += part)
        parts.push_back(b.create<LLVM::LoadOp>(
            loc, type, advance(begin, inner, constant(i)).pointers[0],
            alignment));
      rows.push_back(concatenate(parts));
    }
    for (int64_t step = 1; step < part; step *= 2) {
      SmallVector<Value> zipped;
      for (int64_t i = 0; i < part / 2; ++i)
        for (ArrayRef<int32_t> lanes : {ArrayRef(low), ArrayRef(high)})
          zipped.push_back(b.create<LLVM::ShuffleVectorOp>(
              loc, rows[i], rows[i + part / 2], lanes));
      rows = std::move(zipped);
    }
    for (int64_t i = 0; i < part; ++i)
      b.create<LLVM::StoreOp>(loc, rows[i],
                              advance(begin, across, constant(i)).pointers[1],
                              alignment);
  }
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

void KernelEmitter::backwards(
    unsigned loop, const Position &start,
    function_ref<void(const Position &)> emitFromLast) {
  const auto forwards = strides;
  const auto forwardKinds = strideKinds;
  const Position last =
      advance(start, loop, b.create<arith::SubIOp>(loc, extents[loop], one));
  for (auto [ofLoops, kinds] : llvm::zip_equal(strides, strideKinds)) {
    if (Value &stride = ofLoops[loop])
      stride = b.create<arith::SubIOp>(loc, zero, stride);
    kinds[loop].value = -kinds[loop].value;
  }
  emitFromLast(last);
  strides = forwards;
  strideKinds = forwardKinds;
}

bool KernelEmitter::hasFewLines() {
  const int64_t count = std::min(kernel.getExtents()[order.vector],
                                 kernel.getExtents()[order.tiled]);
  return count >= 2 && count <= fewLines && mostWrittenOut <= 1;
}

void KernelEmitter::emitTransposed(const Position &start) {
  const unsigned inner = order.vector, across = order.tiled;
  if (bytesMoved() > 0)
    return strideKinds[0][across].is(-1)
               ? backwards(across, start,
                           [&](const Position &last) { emitBoxes(last); })
               : emitBoxes(start);
  if (!hasFewLines())
    return emitTiles(start);
  const bool isInnerShort =
      kernel.getExtents()[inner] < kernel.getExtents()[across];
  zipLines(start, isInnerShort ? inner : across, isInnerShort ? across : inner,
           [&] { callFallback([&] { emitTiles(start); }); });
}

SmallVector<KernelEmitter::StagedInput>
KernelEmitter::stageInputs(unsigned inner) {
  SmallVector<StagedInput> inputs;
  if (flopsOf(kernel) < leastStagedWork)
    return inputs;
  for (unsigned k = 0; k < numInputs; ++k) {
    const StaticStride stride = strideKinds[k][inner];
    Type type = storageType(elements[k]);
    const bool isLine = stride.is(0) || stride.is(1);
    // An input that ops of the body read has no element at this position.
    if (isLine || kernel.getBlock()->getArgument(k).use_empty() ||
        !isa<FloatType, IntegerType>(type))
      continue;
    inputs.push_back({k, type,
                      b.create<LLVM::AllocaOp>(loc, pointer, type,
                                               constant(stagedSize * tileSize),
                                               /*alignment=*/64)});
  }
  return inputs;
}

void KernelEmitter::stageTile(ArrayRef<StagedInput> inputs,
                              const Position &tile, Value lines, Value count) {
  loop(count, one, {}, [&](Value j, ValueRange) {
    const Position column = advance(tile, order.vector, j);
    loop(lines, one, {}, [&](Value i, ValueRange) {
      const Position from = advance(column, order.tiled, i);
      Value place = b.create<arith::AddIOp>(
          loc, b.create<arith::MulIOp>(loc, i, constant(stagedSize)), j);
      for (const StagedInput &input : inputs) {
        Value moved = b.create<LLVM::LoadOp>(loc, input.type,
                                             from.pointers[input.operand]);
        b.create<LLVM::StoreOp>(loc, moved,
                                element(input.memory, input.type, place));
      }
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

void KernelEmitter::computeStaged(ArrayRef<StagedInput> inputs,
                                  const Position &tile, Value lines,
                                  Value count) {
  const unsigned inner = order.vector;
  const auto lineStrides = strides;
  const auto lineKinds = strideKinds;
  for (const StagedInput &input : inputs) {
    strides[input.operand][inner] = one;
    strideKinds[input.operand][inner] = {true, 1};
  }
  loop(lines, one, {}, [&](Value i, ValueRange) {
    Position line = advance(tile, order.tiled, i);
    for (const StagedInput &input : inputs)
      line.pointers[input.operand] =
          element(input.memory, input.type,
                  b.create<arith::MulIOp>(loc, i, constant(stagedSize)));
    loop(count, one, {}, [&](Value j, ValueRange) {
      Position position = advance(line, inner, j);
      storeElements(position, emitBody(position));
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
  strides = lineStrides;
  strideKinds = lineKinds;
}

int64_t KernelEmitter::bytesMoved() {
  if (hasFewLines() || !strideKinds[numInputs][order.vector].is(1) ||
      !strideKinds[0][order.tiled].isLine())
    return 0;
  const int64_t bytes = bytesCopied();
  const bool isSmall = bytes * std::min(kernel.getExtents()[order.vector],
                                        kernel.getExtents()[order.tiled]) <
                       partBytes;
  return isSmall ? 0 : bytes;
}

/// Returns `size`, or as much of it as a box has along `extent`. Few boxes
/// divide the extent, where they can, and copy no element twice.
static int64_t boxSize(int64_t extent, int64_t size, int64_t part) {
  constexpr int64_t few = 4;
  while (size > extent ||
         (size > part && extent < few * size && extent % size != 0))
    size /= 2;
  return size;
}

void KernelEmitter::emitBoxes(const Position &start) {
  const unsigned inner = order.vector, across = order.tiled;
  const int64_t bytes = bytesMoved(), line = lineBytes / bytes,
                part = partBytes / bytes;
  // A wider box of bytes takes too many instructions.
  const ArrayRef<int64_t> whole = kernel.getExtents();
  const int64_t width = boxSize(whole[inner], bytes == 1 ? part : line, part),
                height = boxSize(whole[across], bytes < 4 ? 16 : 8, part);
  Type element = b.getIntegerType(unsigned(bytes) * 8);
  SmallVector<unsigned> outer;
  for (unsigned loop : order.parallel)
    if (loop != inner && loop != across)
      outer.push_back(loop);
  auto none = SmallVector<Value>();
  Value lastColumn =
      b.create<arith::SubIOp>(loc, extents[inner], constant(width));
  Value lastLine =
      b.create<arith::SubIOp>(loc, extents[across], constant(height));
  Value less = b.create<arith::MinSIOp>(loc, lastColumn, lastLine);
  Value areLarge =
      b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, less, zero);
  /// A box at the end begins earlier, and copies some elements once more.
  auto turnLines = [&](const Position &plane, Value first, Value columns) {
    loop(extents[across], constant(height), {}, [&](Value i, ValueRange) {
      Position row =
          advance(plane, across, b.create<arith::MinSIOp>(loc, i, lastLine));
      loop(columns, constant(width), {}, [&](Value j, ValueRange) {
        Value column = b.create<arith::AddIOp>(loc, first, j);
        column = b.create<arith::MinSIOp>(loc, column, lastColumn);
        turnBox(advance(row, inner, column), height, width, element);
        return none;
      });
      return none;
    });
  };
  auto branch = b.create<scf::IfOp>(loc, areLarge, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  callFallback([&] { emitTiles(start); });
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  nest(outer, start, [&](const Position &plane) {
    // A tile is as wide as a cache line.
    loop(extents[inner], constant(line), {}, [&](Value first, ValueRange) {
      Value remaining = b.create<arith::SubIOp>(loc, extents[inner], first);
      turnLines(plane, first,
                b.create<arith::MinSIOp>(loc, remaining, constant(line)));
      return none;
    });
  });
}

void KernelEmitter::emitTiles(const Position &start) {
  const unsigned inner = order.vector, across = order.tiled;
  SmallVector<unsigned> outer;
  for (unsigned loop : order.parallel)
    if (loop != inner && loop != across)
      outer.push_back(loop);
  const SmallVector<StagedInput> inputs = stageInputs(inner);
  Value size = constant(inputs.empty() ? tileSize : stagedSize);
  // Where elements are staged, lines of a tile are as many as a cache line of
  // such an input has elements of.
  Value height = inputs.empty() ? extents[across] : constant(tileSize);
  auto none = SmallVector<Value>();
  nest(outer, start, [&](const Position &row) {
    loop(extents[inner], size, {}, [&](Value first, ValueRange) {
      Value remaining = b.create<arith::SubIOp>(loc, extents[inner], first);
      Position tile = advance(row, inner, first);
      auto computeTile = [&](Value count) {
        loop(extents[across], height, {}, [&](Value i, ValueRange) {
          const Position box = advance(tile, across, i);
          Value lines = b.create<arith::MinSIOp>(
              loc, b.create<arith::SubIOp>(loc, extents[across], i), height);
          if (!inputs.empty())
            stageTile(inputs, box, lines, count);
          computeStaged(inputs, box, lines, count);
          return none;
        });
      };
      Value whole = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge,
                                            remaining, size);
      auto branch = b.create<scf::IfOp>(loc, whole, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      // Whole tiles have a constant extent, so that the innermost loop is
      // unrolled and vectorised.
      computeTile(size);
      b.setInsertionPoint(branch.elseBlock()->getTerminator());
      computeTile(remaining);
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
