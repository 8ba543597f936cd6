// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel without reductions, of whose inputs some lie along one loop, while
// the results lie along another one. A block computes a tile of 32 x 32 results
// at a time:
//
//   its threads bring a tile of those inputs to shared memory, in the order in
//   which the inputs lie;
//   they compute the results in the order in which these lie.
//
// So a warp reads and writes 32 neighbours. A row of a tile in shared memory
// has one more element, so that those of a column are in 32 different banks.
#include "TileEmitter.h"

#include "BlockEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
using spmd::KernelOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
namespace scf = mlir::scf;

/// The results along each side of a tile, and the elements from one row of a
/// tile in shared memory to the next.
static constexpr int64_t tileSide = 32, tilePitch = tileSide + 1;

/// Returns whether an input lies along the tiled loop, and not along the one of
/// the results.
static bool isAcross(KernelOp kernel, unsigned input, const LoopOrder &order) {
  const SmallVector<StaticStride> strides = staticStrides(kernel, input);
  return strides[order.vector].isAcross(strides[order.tiled]);
}

/// The inputs that lie along the tiled loop and are read everywhere.
static SmallVector<unsigned> stagedInputs(KernelOp kernel,
                                          const LoopOrder &order) {
  // Half of the shared memory that a block can have without asking.
  constexpr int64_t mostBytes = 24 << 10;
  SmallVector<unsigned> staged;
  int64_t bytes = 0;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i) {
    const Type element =
        dtensor::elementTypeOf(kernel.getInputs()[i].getType());
    const int64_t tileBytes =
        tileSide * tilePitch * byteWidth(*dtensor::dtypeOf(element));
    if (!isAcross(kernel, i, order) ||
        kernel.getBlock()->getArgument(i).use_empty() ||
        bytes + tileBytes > mostBytes)
      continue;
    bytes += tileBytes;
    staged.push_back(i);
  }
  return staged;
}

bool meshloom::isTiled(KernelOp kernel) {
  if (kernel.hasReductionLoops())
    return false;
  const LoopOrder order = loopOrder(kernel);
  return order.fillsWideTiles && !stagedInputs(kernel, order).empty();
}

namespace {
class TileEmitter : BlockEmitter {
public:
  TileEmitter(KernelOp kernel, ModuleOp module)
      : BlockEmitter(kernel, module), staged(stagedInputs(kernel, order)),
        inner(order.vector), across(order.tiled) {
    for (unsigned loop : order.parallel)
      if (loop != inner && loop != across)
        outer.push_back(loop);
  }
  KernelShape emit(StringRef symbol);

private:
  void emitTile(Value tile);
  /// Emits code for a thread's elements of a tile. The first one is at (thread
  /// / 32, thread % 32) of loops `slow` and `fast`, the others each 8 rows
  /// further. `emitElement` gets an element's position, row and column.
  void
  forElements(const Position &corner, unsigned slow, unsigned fast,
              function_ref<void(const Position &, Value, Value)> emitElement);
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(loc, x, y); }
  Value times(Value x, int64_t y) {
    return b.create<arith::MulIOp>(loc, x, constant(y));
  }
  /// The tiles along a loop.
  Value tilesOf(unsigned loop) {
    return b.create<arith::DivUIOp>(
        loc, add(extents[loop], constant(tileSide - 1)), constant(tileSide));
  }
  /// The element of a tile in shared memory.
  Value inTile(unsigned input, Value row, Value column) {
    return element(shared[input], storageType(elements[staged[input]]),
                   add(times(row, tilePitch), column));
  }

  SmallVector<unsigned> staged;
  SmallVector<Value> shared; ///< the tile of each staged input
  SmallVector<unsigned> outer;
  unsigned inner, across;
  Position start;
  Value thread; // i64
};
} // namespace

void TileEmitter::forElements(
    const Position &corner, unsigned slow, unsigned fast,
    function_ref<void(const Position &, Value, Value)> emitElement) {
  Value column = b.create<arith::AndIOp>(loc, thread, constant(tileSide - 1));
  Value firstRow = b.create<arith::DivUIOp>(loc, thread, constant(tileSide));
  for (int64_t row = 0; row < tileSide; row += blockThreads / tileSide) {
    Value here = add(firstRow, constant(row));
    auto isInside = [&](unsigned loop, Value place) -> Value {
      return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                     add(corner.indices[loop], place),
                                     extents[loop]);
    };
    auto branch =
        b.create<scf::IfOp>(loc,
                            b.create<arith::AndIOp>(loc, isInside(slow, here),
                                                    isInside(fast, column)),
                            /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitElement(advance(advance(corner, slow, here), fast, column), here,
                column);
  }
}

void TileEmitter::emitTile(Value tile) {
  Type narrow = b.getI32Type();
  Value remaining = b.create<arith::TruncIOp>(loc, narrow, tile);
  // The number along a loop of tiles; what is left counts the outer loops.
  auto placeAlong = [&](unsigned loop) {
    Value count = b.create<arith::TruncIOp>(loc, narrow, tilesOf(loop));
    Value place = b.create<arith::RemUIOp>(loc, remaining, count);
    remaining = b.create<arith::DivUIOp>(loc, remaining, count);
    return times(b.create<arith::ExtUIOp>(loc, i64, place), tileSide);
  };
  Value innerPlace = placeAlong(inner), acrossPlace = placeAlong(across);
  Position corner = start;
  if (!outer.empty())
    corner = positionOf(outer, corner,
                        b.create<arith::ExtUIOp>(loc, i64, remaining), 32);
  corner = advance(advance(corner, inner, innerPlace), across, acrossPlace);
  forElements(corner, inner, across,
              [&](const Position &position, Value row, Value column) {
                for (auto [i, input] : llvm::enumerate(staged))
                  storeScalar(
                      inTile(i, row, column),
                      loadScalar(position.pointers[input],
                                 KernelOp::scalarType(elements[input])));
              });
  barrier();
  forElements(corner, across, inner,
              [&](const Position &position, Value row, Value column) {
                Position fromTile = position;
                for (auto [i, input] : llvm::enumerate(staged))
                  fromTile.pointers[input] = inTile(i, column, row);
                storeElements(position, emitBody(fromTile));
              });
  barrier(); // what is read is overwritten by the next tile
}

KernelShape TileEmitter::emit(StringRef symbol) {
  auto function =
      makeFunction(module, symbol, argumentTypes(), LLVM::Linkage::External);
  makeEntry(function);
  start = bindArguments(function.getArguments());
  makeReducers();
  for (auto [i, input] : llvm::enumerate(staged))
    shared.push_back(
        makeSharedArray(b, loc, module, storageType(elements[input]),
                        tileSide * tilePitch, symbol + "_tile" + Twine(i)));
  thread = b.create<arith::ExtUIOp>(
      loc, i64, b.create<NVVM::ThreadIdXOp>(loc, b.getI32Type()));
  Value tiles = b.create<arith::MulIOp>(
      loc, countOf(outer),
      b.create<arith::MulIOp>(loc, tilesOf(inner), tilesOf(across)));
  emitGroups(b, loc, 1, tiles, [&](Block *, Value tile) { emitTile(tile); });
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  return {symbol.str(), blockThreads, 1,
          std::vector<unsigned>(order.parallel.begin(), order.parallel.end()),
          parameters()};
}

KernelShape meshloom::emitTiles(KernelOp kernel, StringRef symbol,
                                ModuleOp module) {
  return TileEmitter(kernel, module).emit(symbol);
}
