// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The binary counter of PairwiseSums.h as loops over raw pointers.
#include "PairwiseSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

PairwiseSums::PairwiseSums(OpBuilder &b, Location loc, ArrayRef<Value> running,
                           ArrayRef<Type> types, int64_t width, unsigned bits)
    : b(b), loc(loc), running(running), width(width),
      hasFewBlocks(bits <= bitsOfFewBlocks) {
  assert(width == 1 || width % lanes == 0);
  Value size = constant(hasFewBlocks ? width : (int64_t(bits) + 1) * width);
  for (Type type : types) {
    levels.push_back(b.create<LLVM::AllocaOp>(
        loc, LLVM::LLVMPointerType::get(b.getContext()), type, size,
        /*alignment=*/64));
    elements.push_back(type);
    groups.push_back(width == 1 ? type : mlir::VectorType::get(lanes, type));
    if (hasFewBlocks)
      forGroups(constant(width), [&](Value j) {
        store(zero(groups.back()), addressOf(levels.back(), type, j));
      });
  }
}

Value PairwiseSums::constant(int64_t value) {
  return b.create<arith::ConstantIntOp>(loc, value, 64);
}

Value PairwiseSums::addressOf(Value array, Type type, Value index) {
  return b.create<LLVM::GEPOp>(loc, array.getType(), type, array,
                               ArrayRef<LLVM::GEPArg>{index},
                               /*inbounds=*/true);
}

void PairwiseSums::loop(Value extent, int64_t step,
                        function_ref<void(Value)> fill) {
  b.create<scf::ForOp>(loc, constant(0), extent, constant(step), ValueRange(),
                       [&](OpBuilder &, Location, Value index, ValueRange) {
                         OpBuilder::InsertionGuard guard(b);
                         b.setInsertionPointToEnd(index.getParentBlock());
                         fill(index);
                         b.create<scf::YieldOp>(loc);
                       });
}

void PairwiseSums::forGroups(Value count, function_ref<void(Value)> fill) {
  if (width == 1)
    fill(constant(0));
  else
    loop(count, lanes, fill);
}

Value PairwiseSums::load(Type group, Value address) {
  return b.create<LLVM::LoadOp>(loc, group, address, alignment());
}

void PairwiseSums::store(Value group, Value address) {
  b.create<LLVM::StoreOp>(loc, group, address, alignment());
}

void PairwiseSums::addLevel(Value level, Value count) {
  Value first = b.create<arith::MulIOp>(loc, level, constant(width));
  for (auto [array, levelArray, element, group] :
       llvm::zip(running, levels, elements, groups)) {
    Value from = addressOf(levelArray, element, first);
    forGroups(count, [&](Value j) {
      Value address = addressOf(array, element, j);
      Value sum = load(group, address);
      Value other = load(group, addressOf(from, element, j));
      store(b.create<arith::AddFOp>(loc, other, sum), address);
    });
  }
}

Value PairwiseSums::zero(Type group) {
  return b.create<arith::ConstantOp>(loc, b.getZeroAttr(group));
}

void PairwiseSums::moveSums(ArrayRef<Value> to, ArrayRef<Value> from,
                            Value count) {
  for (auto [toArray, fromArray, element, group] :
       llvm::zip(to, from, elements, groups))
    forGroups(count, [&](Value j) {
      Value target = addressOf(toArray, element, j),
            source = addressOf(fromArray, element, j);
      Value sum = load(group, target), other = load(group, source);
      store(b.create<arith::AddFOp>(loc, sum, other), target);
      store(zero(group), source);
    });
}

Value PairwiseSums::push(Value blocks, Value count) {
  if (hasFewBlocks) {
    moveSums(levels, running, count);
    return blocks;
  }
  Value now = b.create<arith::AddIOp>(loc, blocks, constant(1));
  Value level = b.create<LLVM::CountTrailingZerosOp>(loc, now.getType(), now,
                                                     /*is_zero_poison=*/true);
  loop(level, 1, [&](Value lower) { addLevel(lower, count); });
  Value first = b.create<arith::MulIOp>(loc, level, constant(width));
  for (auto [array, levelArray, element, group] :
       llvm::zip(running, levels, elements, groups)) {
    Value to = addressOf(levelArray, element, first);
    forGroups(count, [&](Value j) {
      Value address = addressOf(array, element, j);
      store(load(group, address), addressOf(to, element, j));
      store(zero(group), address);
    });
  }
  return now;
}

void PairwiseSums::finish(Value blocks, Value count) {
  if (hasFewBlocks)
    return moveSums(running, levels, count);
  Value zeros =
      b.create<LLVM::CountLeadingZerosOp>(loc, blocks.getType(), blocks,
                                          /*is_zero_poison=*/false);
  Value bits = b.create<arith::SubIOp>(loc, constant(64), zeros);
  loop(bits, 1, [&](Value level) {
    Value bit = b.create<arith::ShRUIOp>(loc, blocks, level);
    Value waits = b.create<arith::TruncIOp>(loc, b.getI1Type(), bit);
    auto branch = b.create<scf::IfOp>(loc, waits, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    addLevel(level, count);
  });
}
