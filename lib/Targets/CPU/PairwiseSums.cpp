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
    : b(b), loc(loc), running(running), types(types), width(width) {
  Value size = constant((int64_t(bits) + 1) * width);
  for (Type type : types)
    levels.push_back(b.create<LLVM::AllocaOp>(
        loc, LLVM::LLVMPointerType::get(b.getContext()), type, size,
        /*alignment=*/64));
}

Value PairwiseSums::constant(int64_t value) {
  return b.create<arith::ConstantIntOp>(loc, value, 64);
}

Value PairwiseSums::addressOf(Value array, Type type, Value index) {
  return b.create<LLVM::GEPOp>(loc, array.getType(), type, array,
                               ArrayRef<LLVM::GEPArg>{index},
                               /*inbounds=*/true);
}

void PairwiseSums::loop(Value extent, function_ref<void(Value)> fill) {
  b.create<scf::ForOp>(loc, constant(0), extent, constant(1), ValueRange(),
                       [&](OpBuilder &, Location, Value index, ValueRange) {
                         OpBuilder::InsertionGuard guard(b);
                         b.setInsertionPointToEnd(index.getParentBlock());
                         fill(index);
                         b.create<scf::YieldOp>(loc);
                       });
}

void PairwiseSums::addLevel(Value level, Value count) {
  Value first = b.create<arith::MulIOp>(loc, level, constant(width));
  for (auto [array, levelArray, type] : llvm::zip(running, levels, types)) {
    Value from = addressOf(levelArray, type, first);
    loop(count, [&](Value j) {
      Value address = addressOf(array, type, j);
      Value sum = b.create<LLVM::LoadOp>(loc, type, address);
      Value other = b.create<LLVM::LoadOp>(loc, type, addressOf(from, type, j));
      b.create<LLVM::StoreOp>(loc, b.create<arith::AddFOp>(loc, other, sum),
                              address);
    });
  }
}

Value PairwiseSums::push(Value blocks, Value count) {
  Value now = b.create<arith::AddIOp>(loc, blocks, constant(1));
  Value level = b.create<LLVM::CountTrailingZerosOp>(loc, now.getType(), now,
                                                     /*is_zero_poison=*/true);
  loop(level, [&](Value lower) { addLevel(lower, count); });
  Value first = b.create<arith::MulIOp>(loc, level, constant(width));
  for (auto [array, levelArray, type] : llvm::zip(running, levels, types)) {
    Value to = addressOf(levelArray, type, first);
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
    loop(count, [&](Value j) {
      Value address = addressOf(array, type, j);
      b.create<LLVM::StoreOp>(loc, b.create<LLVM::LoadOp>(loc, type, address),
                              addressOf(to, type, j));
      b.create<LLVM::StoreOp>(loc, zero, address);
    });
  }
  return now;
}

void PairwiseSums::finish(Value blocks, Value count) {
  Value zeros =
      b.create<LLVM::CountLeadingZerosOp>(loc, blocks.getType(), blocks,
                                          /*is_zero_poison=*/false);
  Value bits = b.create<arith::SubIOp>(loc, constant(64), zeros);
  loop(bits, [&](Value level) {
    Value bit = b.create<arith::ShRUIOp>(loc, blocks, level);
    Value waits = b.create<arith::TruncIOp>(loc, b.getI1Type(), bit);
    auto branch = b.create<scf::IfOp>(loc, waits, /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    addLevel(level, count);
  });
}
