// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points, the loop over a block's results, and where an iteration is.
#include "BlockEmitter.h"

#include "meshloom/Targets/Kernels/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
namespace scf = mlir::scf;

void meshloom::makeEntry(LLVM::LLVMFuncOp function) {
  Builder b(function.getContext());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(blockThreads)}));
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isa<LLVM::LLVMPointerType>(type))
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          b.getUnitAttr());
}

void meshloom::emitGroups(OpBuilder &b, Location loc, unsigned size,
                          Value count,
                          function_ref<void(Block *, Value)> emitGroup) {
  Type i64 = b.getI64Type();
  auto inResults = [&](Value blocks) -> Value {
    return b.create<arith::MulIOp>(
        loc, b.create<arith::ExtUIOp>(loc, i64, blocks),
        b.create<arith::ConstantIntOp>(loc, size, 64));
  };
  Value first = inResults(b.create<NVVM::BlockIdXOp>(loc, b.getI32Type()));
  Value step = inResults(b.create<NVVM::GridDimXOp>(loc, b.getI32Type()));
  auto loop = b.create<scf::ForOp>(loc, first, count, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  emitGroup(loop.getBody(), loop.getInductionVar());
}

Value meshloom::makeSharedArray(OpBuilder &b, Location loc, ModuleOp module,
                                Type element, unsigned size,
                                const Twine &name) {
  constexpr unsigned sharedSpace = 3;
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto global = top.create<LLVM::GlobalOp>(
      loc, LLVM::LLVMArrayType::get(element, size), /*isConstant=*/false,
      LLVM::Linkage::Internal, name.str(), Attribute(), /*alignment=*/16,
      sharedSpace);
  return b.create<LLVM::AddrSpaceCastOp>(
      loc, LLVM::LLVMPointerType::get(b.getContext()),
      b.create<LLVM::AddressOfOp>(loc, global));
}

void BlockEmitter::barrier() {
  b.create<NVVM::Barrier0Op>(loc);
}

/// Threads exchange 32 bits at a time.
Value BlockEmitter::ofThreadBehind(Value value, unsigned distance) {
  if (auto complex = dyn_cast<mlir::ComplexType>(value.getType())) {
    Value real = b.create<mlir::complex::ReOp>(loc, value),
          imaginary = b.create<mlir::complex::ImOp>(loc, value);
    return b.create<mlir::complex::CreateOp>(
        loc, complex, ofThreadBehind(real, distance),
        ofThreadBehind(imaginary, distance));
  }
  const Type i32 = b.getI32Type();
  auto exchanged = [&](Value word) -> Value {
    constexpr int64_t wholeWarp = -1, lastLane = 31;
    auto number = [&](int64_t value) {
      return b.create<arith::ConstantIntOp>(loc, value, 32);
    };
    return b.create<NVVM::ShflOp>(loc, i32, number(wholeWarp), word,
                                  number(distance), number(lastLane),
                                  NVVM::ShflKind::down, mlir::UnitAttr());
  };
  Value bits = toStorage(value);
  const Type stored = bits.getType();
  const unsigned width = stored.getIntOrFloatBitWidth();
  const Type integer = b.getIntegerType(width);
  if (stored != integer)
    bits = b.create<arith::BitcastOp>(loc, integer, bits);
  if (width == 64) {
    Value half = b.create<arith::ConstantIntOp>(loc, 32, 64);
    auto exchangedHalf = [&](Value word) -> Value {
      return b.create<arith::ExtUIOp>(
          loc, integer, exchanged(b.create<arith::TruncIOp>(loc, i32, word)));
    };
    Value high = exchangedHalf(b.create<arith::ShRUIOp>(loc, bits, half));
    bits = b.create<arith::OrIOp>(loc, exchangedHalf(bits),
                                  b.create<arith::ShLIOp>(loc, high, half));
  } else if (width == 32) {
    bits = exchanged(bits);
  } else {
    bits = b.create<arith::TruncIOp>(
        loc, integer, exchanged(b.create<arith::ExtUIOp>(loc, i32, bits)));
  }
  if (stored != integer)
    bits = b.create<arith::BitcastOp>(loc, stored, bits);
  return fromStorage(bits, value.getType());
}

void BlockEmitter::emitted(Operation *op) {
  if (losesHugeArguments(op))
    op->setAttr(exactAttr, b.getUnitAttr());
}

std::vector<KernelParameter> BlockEmitter::parameters() {
  using Kind = KernelParameter::Kind;
  std::vector<KernelParameter> parameters;
  for (unsigned i = 0; i < numPointers(); ++i)
    parameters.push_back({Kind::Pointer, i, 0});
  for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
    parameters.push_back({Kind::Extent, 0, loop});
  for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
    if (usesIndex[loop])
      parameters.push_back({Kind::Origin, 0, loop});
  forDynamicStrides([&](unsigned k, unsigned loop) {
    parameters.push_back({Kind::Stride, pointerOf(k), loop});
  });
  return parameters;
}

Value BlockEmitter::countOf(ArrayRef<unsigned> loops) {
  Value count = one;
  for (unsigned loop : loops)
    count = b.createOrFold<arith::MulIOp>(loc, count, extents[loop]);
  return count;
}

Position BlockEmitter::positionOf(ArrayRef<unsigned> loops,
                                  const Position &from, Value index,
                                  unsigned width) {
  Position position = from;
  Type type = b.getIntegerType(width);
  auto narrow = [&](Value value) -> Value {
    return width == 64 ? value
                       : b.createOrFold<arith::TruncIOp>(loc, type, value);
  };
  auto wide = [&](Value value) -> Value {
    return width == 64 ? value
                       : b.createOrFold<arith::ExtUIOp>(loc, i64, value);
  };
  Value remaining = loops.size() > 1 ? narrow(index) : index;
  for (unsigned loop : llvm::reverse(loops)) {
    if (loop == loops.front()) {
      position = advance(position, loop,
                         loops.size() > 1 ? wide(remaining) : remaining);
      break;
    }
    Value extent = narrow(extents[loop]);
    Value next = b.create<arith::DivUIOp>(loc, remaining, extent);
    Value here = b.create<arith::SubIOp>(
        loc, remaining, b.create<arith::MulIOp>(loc, next, extent));
    position = advance(position, loop, wide(here));
    remaining = next;
  }
  return position;
}
