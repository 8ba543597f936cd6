// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block computes a square tile of the result, then further ones in steps of
// the grid. It goes over the summed loops in slices: its threads bring a slice
// of both operands to shared memory, as f32, and each thread adds the products
// of 4 x 4 results. A result's products are added in their order, one by one,
// so that its bits depend on the operands alone.
#include "ProductEmitter.h"

#include "meshloom/Targets/Kernels/ElementEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace NVVM = mlir::NVVM;
namespace scf = mlir::scf;

/// Rows and columns of a tile, results of a thread along each, and the depth of
/// a slice. A block has (tileSize / threadSize)^2 threads.
static constexpr int64_t tileSize = 64, threadSize = 4, sliceDepth = 16;
static constexpr int64_t side = tileSize / threadSize;
static constexpr int64_t productThreads = side * side;
/// From one term to the next in shared memory, where a warp writes several
/// terms: an odd number takes them to different banks.
static constexpr int64_t termPitch = tileSize + 1;

namespace {
class ProductEmitter : ElementEmitter {
public:
  ProductEmitter(const ProductKind &kind, ModuleOp module)
      : ElementEmitter(module.getContext(),
                       mlir::UnknownLoc::get(module.getContext())),
        kind(kind), module(module), f32(b.getF32Type()),
        type(kind.type == DType::F32    ? f32
             : kind.type == DType::BF16 ? Type(b.getBF16Type())
                                        : Type(b.getF16Type())) {}
  KernelShape emit();

private:
  enum OperandIndex : uint8_t { Lhs, Rhs, Out };
  /// An element of the result, by the indices of its loops together.
  struct Place {
    Value batch, row, column;
  };
  KernelShape shapeOf() const;
  static bool has(OperandIndex operand, char letter) {
    constexpr StringRef letters[] = {"bmk", "bnk", "bmn"};
    return letters[operand].contains(letter);
  }
  Value add(Value x, Value y) { return b.create<arith::AddIOp>(loc, x, y); }
  Value times(Value x, Value y) { return b.create<arith::MulIOp>(loc, x, y); }
  Value less(Value x, Value y) {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
  }
  Value both(Value x, Value y) { return b.create<arith::AndIOp>(loc, x, y); }
  Value quotient(Value x, Value y) {
    return b.create<arith::DivUIOp>(loc, x, y);
  }
  Value remainder(Value x, Value y) {
    return b.create<arith::RemUIOp>(loc, x, y);
  }
  void barrier() { b.create<NVVM::Barrier0Op>(loc); }

  void bind(LLVM::LLVMFuncOp function);
  /// The product of the extents of all loops with this letter.
  Value countOf(char letter);
  /// From an operand's first element to that of `index`, which counts the
  /// iterations of all loops with this letter.
  Value offsetOf(OperandIndex operand, char letter, Value index);
  Value makeShared(StringRef name);
  /// Brings a slice from term `first` on of an operand to `shared`.
  /// `termsFirst`: neighbouring threads take neighbouring terms.
  void bringSlice(OperandIndex operand, Value base, Value shared, Value lines,
                  Value line, Value first, bool termsFirst);
  void emitTile(Value tile);
  SmallVector<Value> emitSlice(ValueRange sums);
  void storeTile(const Place &place, ValueRange sums);

  const ProductKind &kind;
  ModuleOp module;
  const Type f32, type;
  SmallVector<Value> pointers, extents;
  SmallVector<SmallVector<Value>> strides; ///< [operand][loop]
  Value thread, sharedLhs, sharedRhs;
  Value batches, rows, columns, terms;
};
} // namespace

KernelShape ProductEmitter::shapeOf() const {
  using Kind = KernelParameter::Kind;
  KernelShape shape;
  shape.symbol = kind.symbol();
  shape.results = productThreads;
  for (unsigned operand : {Lhs, Rhs, Out})
    shape.parameters.push_back({Kind::Pointer, operand, 0});
  for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
    shape.parameters.push_back({Kind::Extent, 0, loop});
  for (OperandIndex operand : {Lhs, Rhs, Out})
    for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
      if (has(operand, kind.loops[loop]))
        shape.parameters.push_back({Kind::Stride, operand, loop});
  for (unsigned loop = 0; loop < kind.loops.size(); ++loop)
    if (kind.loops[loop] != 'k')
      shape.parallel.push_back(loop);
  return shape;
}

/// Takes the parameters in the order of shapeOf().
void ProductEmitter::bind(LLVM::LLVMFuncOp function) {
  auto next = function.getArguments().begin();
  for (unsigned operand = 0; operand < 3; ++operand)
    pointers.push_back(*next++);
  for (size_t loop = 0; loop < kind.loops.size(); ++loop)
    extents.push_back(*next++);
  for (OperandIndex operand : {Lhs, Rhs, Out}) {
    strides.emplace_back(kind.loops.size());
    for (size_t loop = 0; loop < kind.loops.size(); ++loop)
      if (has(operand, kind.loops[loop]))
        strides.back()[loop] = *next++;
  }
  batches = countOf('b');
  rows = countOf('m');
  columns = countOf('n');
  terms = countOf('k');
}

Value ProductEmitter::countOf(char letter) {
  Value count = constant(1);
  for (size_t loop = 0; loop < kind.loops.size(); ++loop)
    if (kind.loops[loop] == letter)
      count = times(count, extents[loop]);
  return count;
}

Value ProductEmitter::offsetOf(OperandIndex operand, char letter, Value index) {
  Value offset = constant(0);
  const size_t first = kind.loops.find(letter);
  for (size_t loop = kind.loops.size(); loop-- > 0;) {
    if (kind.loops[loop] != letter)
      continue;
    Value here = index;
    if (loop != first) {
      here = remainder(index, extents[loop]);
      index = quotient(index, extents[loop]);
    }
    offset = add(offset, times(here, strides[operand][loop]));
  }
  return offset;
}

Value ProductEmitter::makeShared(StringRef name) {
  constexpr unsigned sharedSpace = 3;
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto global = top.create<LLVM::GlobalOp>(
      loc, LLVM::LLVMArrayType::get(f32, sliceDepth * termPitch),
      /*isConstant=*/false, LLVM::Linkage::Internal, kind.symbol() + name.str(),
      Attribute(), /*alignment=*/16, sharedSpace);
  return b.create<LLVM::AddrSpaceCastOp>(
      loc, pointer, b.create<LLVM::AddressOfOp>(loc, global));
}

void ProductEmitter::bringSlice(OperandIndex operand, Value base, Value shared,
                                Value lines, Value line, Value first,
                                bool termsFirst) {
  const char letter = operand == Lhs ? 'm' : 'n';
  for (int64_t i = 0; i < tileSize * sliceDepth / productThreads; ++i) {
    Value number = add(thread, constant(i * productThreads));
    Value width = constant(termsFirst ? sliceDepth : tileSize);
    Value low = remainder(number, width), high = quotient(number, width);
    Value inTerms = termsFirst ? low : high, inLines = termsFirst ? high : low;
    Value term = add(first, inTerms), place = add(line, inLines);
    auto exists = b.create<scf::IfOp>(
        loc, TypeRange{f32}, both(less(term, terms), less(place, lines)),
        /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(exists.thenBlock());
      Value offset =
          add(offsetOf(operand, 'k', term), offsetOf(operand, letter, place));
      Value value = loadScalar(element(base, storageType(type), offset), type);
      if (type != f32)
        value = b.create<arith::ExtFOp>(loc, f32, value);
      b.create<scf::YieldOp>(loc, value);
      b.setInsertionPointToStart(exists.elseBlock());
      Value none = b.create<arith::ConstantOp>(loc, b.getFloatAttr(f32, 0.0));
      b.create<scf::YieldOp>(loc, none);
    }
    Value target = add(times(inTerms, constant(termPitch)), inLines);
    storeScalar(element(shared, f32, target), exists.getResult(0));
  }
}

/// The sums of a thread after a slice.
SmallVector<Value> ProductEmitter::emitSlice(ValueRange sums) {
  Value column = remainder(thread, constant(side)),
        row = quotient(thread, constant(side));
  auto loop = b.create<scf::ForOp>(
      loc, constant(0), constant(sliceDepth), constant(1), sums,
      [&](OpBuilder &, Location, Value term, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(term.getParentBlock());
        Value begin = times(term, constant(termPitch));
        auto load = [&](Value shared, Value first, int64_t number) {
          Value place = add(add(begin, first), constant(number * side));
          return loadScalar(element(shared, f32, place), f32);
        };
        SmallVector<Value> lhs, rhs, next;
        for (int64_t i = 0; i < threadSize; ++i) {
          lhs.push_back(load(sharedLhs, row, i));
          rhs.push_back(load(sharedRhs, column, i));
        }
        for (int64_t i = 0; i < threadSize * threadSize; ++i)
          next.push_back(b.create<mlir::math::FmaOp>(
              loc, lhs[size_t(i / threadSize)], rhs[size_t(i % threadSize)],
              carried[size_t(i)]));
        b.create<scf::YieldOp>(loc, next);
      });
  return loop.getResults();
}

void ProductEmitter::storeTile(const Place &place, ValueRange sums) {
  Value base = offsetOf(Out, 'b', place.batch);
  for (int64_t i = 0; i < threadSize; ++i)
    for (int64_t j = 0; j < threadSize; ++j) {
      Value row = add(place.row, constant(i * side)),
            column = add(place.column, constant(j * side));
      auto exists =
          b.create<scf::IfOp>(loc, both(less(row, rows), less(column, columns)),
                              /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(exists.thenBlock()->getTerminator());
      Value value = sums[size_t(i * threadSize + j)];
      if (type != f32)
        value = b.create<arith::TruncFOp>(loc, type, value);
      Value offset =
          add(base, add(offsetOf(Out, 'm', row), offsetOf(Out, 'n', column)));
      storeScalar(element(pointers[Out], storageType(type), offset), value);
    }
}

void ProductEmitter::emitTile(Value tile) {
  Value size = constant(tileSize);
  auto tilesOf = [&](Value count) {
    return quotient(add(count, constant(tileSize - 1)), size);
  };
  Value across = tilesOf(columns), down = tilesOf(rows);
  Value column = times(remainder(tile, across), size);
  tile = quotient(tile, across);
  Value row = times(remainder(tile, down), size);
  Value batch = quotient(tile, down);
  Value lhs = element(pointers[Lhs], storageType(type),
                      offsetOf(Lhs, 'b', batch)),
        rhs = element(pointers[Rhs], storageType(type),
                      offsetOf(Rhs, 'b', batch));
  Value zero = b.create<arith::ConstantOp>(loc, b.getFloatAttr(f32, 0.0));
  const SmallVector<Value> zeros(threadSize * threadSize, zero);
  auto slices = b.create<scf::ForOp>(
      loc, constant(0), terms, constant(sliceDepth), zeros,
      [&](OpBuilder &, Location, Value first, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(first.getParentBlock());
        // Row-major operands have neighbouring terms on the left, and
        // neighbouring columns on the right.
        bringSlice(Lhs, lhs, sharedLhs, rows, row, first, /*termsFirst=*/true);
        bringSlice(Rhs, rhs, sharedRhs, columns, column, first,
                   /*termsFirst=*/false);
        barrier();
        SmallVector<Value> sums = emitSlice(carried);
        barrier();
        b.create<scf::YieldOp>(loc, sums);
      });
  storeTile({batch, add(row, quotient(thread, constant(side))),
             add(column, remainder(thread, constant(side)))},
            slices.getResults());
}

KernelShape ProductEmitter::emit() {
  KernelShape shape = shapeOf();
  SmallVector<Type> arguments;
  for (const KernelParameter &parameter : shape.parameters)
    arguments.push_back(
        parameter.kind == KernelParameter::Kind::Pointer ? pointer : i64);
  auto function =
      makeFunction(module, shape.symbol, arguments, LLVM::Linkage::External);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(productThreads)}));
  bind(function);
  auto wide = [&](Value value) -> Value {
    return b.create<arith::ExtUIOp>(loc, i64, value);
  };
  thread = wide(b.create<NVVM::ThreadIdXOp>(loc, b.getI32Type()));
  Value block = wide(b.create<NVVM::BlockIdXOp>(loc, b.getI32Type()));
  Value blocks = wide(b.create<NVVM::GridDimXOp>(loc, b.getI32Type()));
  sharedLhs = makeShared("_lhs");
  sharedRhs = makeShared("_rhs");
  auto tilesOf = [&](Value count) {
    return quotient(add(count, constant(tileSize - 1)), constant(tileSize));
  };
  Value tiles = times(batches, times(tilesOf(rows), tilesOf(columns)));
  b.create<scf::ForOp>(loc, block, tiles, blocks, ValueRange(),
                       [&](OpBuilder &, Location, Value tile, ValueRange) {
                         OpBuilder::InsertionGuard guard(b);
                         b.setInsertionPointToEnd(tile.getParentBlock());
                         emitTile(tile);
                         b.create<scf::YieldOp>(loc);
                       });
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  return shape;
}

KernelShape meshloom::emitProduct(const ProductKind &kind, ModuleOp module) {
  return ProductEmitter(kind, module).emit();
}
