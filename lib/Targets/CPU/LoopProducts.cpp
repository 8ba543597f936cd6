// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices in loops that are compiled whole: one function for each
// product. Its tiles have as many rows and columns as there are registers for.
// The matrices are so small that they lie in a core's cache, so nothing is
// copied into panels first.
#include "LoopProducts.h"

#include "KernelCodegen.h"
#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace meshloom;
using dtensor::elementTypeOf, dtensor::globalShape;
using spmd::KernelOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Product of the extents of `dims`, and the elements between neighbours, where
/// the dims can be indexed as one.
static std::optional<std::pair<int64_t, int64_t>>
asOneDim(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape,
         ArrayRef<int64_t> strides) {
  int64_t extent = 1, stride = 1;
  for (int64_t dim : llvm::reverse(dims)) {
    if (shape[dim] == 1)
      continue;
    if (extent == 1)
      stride = strides[dim];
    else if (strides[dim] != stride * extent)
      return std::nullopt;
    extent *= shape[dim];
  }
  return std::pair(extent, stride);
}

/// Copies `operand` to a row-major array. An operand that does not change in
/// the loop is copied before the loop.
void LoopEmitter::packOperand(ProductOperand &operand) {
  SmallVector<int64_t> dims, shape, strides;
  for (const auto *list : {&operand.batch, &operand.rows, &operand.columns})
    llvm::append_range(dims, *list);
  for (int64_t dim : dims) {
    shape.push_back(operand.shape[dim]);
    strides.push_back(operand.place.strides[dim]);
  }
  OpBuilder::InsertionGuard guard(b);
  if (unchanged.contains(operand.place.address))
    b.setInsertionPointToStart(&inner.getBody().front());
  Value address = b.create<LLVM::AllocaOp>(
      loc, pointer, storageType(operand.element),
      constant(mlir::ShapedType::getNumElements(shape)), /*alignment=*/64);
  ArrayPlace packed{address, rowMajorStrides(shape)};
  copy(operand.element, shape, packed, {operand.place.address, strides});
  operand.place.address = address;
  for (auto [dim, stride] : llvm::zip_equal(dims, packed.strides))
    operand.place.strides[dim] = stride;
}

/// Brings the operands into a form that tiles can read, and says where their
/// elements are.
MatrixProduct LoopEmitter::arrange(ProductOperand &lhs, ProductOperand &rhs) {
  MatrixProduct product;
  auto describe = [&] {
    auto dim = [](const ProductOperand &operand, ArrayRef<int64_t> dims) {
      return *asOneDim(dims, operand.shape, operand.place.strides);
    };
    std::tie(product.rows, product.lhsRow) = dim(lhs, lhs.rows);
    std::tie(product.terms, product.lhsTerm) = dim(lhs, lhs.columns);
    std::tie(product.terms, product.rhsTerm) = dim(rhs, rhs.rows);
    std::tie(product.columns, product.rhsColumn) = dim(rhs, rhs.columns);
  };
  for (ProductOperand *operand : {&lhs, &rhs})
    if (!asOneDim(operand->rows, operand->shape, operand->place.strides) ||
        !asOneDim(operand->columns, operand->shape, operand->place.strides))
      packOperand(*operand);
  describe();
  if (product.columns == 1 && product.lhsTerm != 1 && product.lhsRow == 1) {
    // A matrix that is contiguous along its rows, by a vector: its transpose
    // comes second.
    std::swap(lhs, rhs);
    std::swap(lhs.rows, lhs.columns);
    std::swap(rhs.rows, rhs.columns);
    describe();
  }
  // The lanes of a vector are added up in some ten instructions.
  constexpr int64_t manyTerms = 32;
  product.alongTerms = product.columns == 1 ||
                       (product.rhsColumn != 1 && product.rhsTerm == 1 &&
                        (product.rows == 1 ||
                         (product.lhsTerm == 1 && product.terms >= manyTerms)));
  if (product.alongTerms && product.lhsTerm != 1)
    packOperand(lhs);
  if (product.alongTerms ? product.rhsTerm != 1 : product.rhsColumn != 1)
    packOperand(rhs);
  describe();
  return product;
}

void LoopEmitter::emitProduct(dtensor::DotGeneralOp op) {
  auto operand = [&](Value value, ArrayRef<int64_t> batch,
                     ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
    return ProductOperand{placeOf(value),
                          elementTypeOf(value.getType()),
                          globalShape(value.getType()),
                          llvm::to_vector(batch),
                          llvm::to_vector(rows),
                          llvm::to_vector(columns)};
  };
  ProductOperand lhs =
      operand(op.getLhs(), op.getLhsBatchingDimensions(),
              op.getLhsFreeDimensions(), op.getLhsContractingDimensions());
  ProductOperand rhs =
      operand(op.getRhs(), op.getRhsBatchingDimensions(),
              op.getRhsContractingDimensions(), op.getRhsFreeDimensions());
  MatrixProduct product = arrange(lhs, rhs);
  ArrayPlace result = resultPlace(op, 0);
  product.element = KernelOp::scalarType(lhs.element);
  for (auto [l, r, stride] : llvm::zip(lhs.batch, rhs.batch, result.strides)) {
    product.batch.push_back(lhs.shape[l]);
    product.lhsBatch.push_back(lhs.place.strides[l]);
    product.rhsBatch.push_back(rhs.place.strides[r]);
    product.resultBatch.push_back(stride);
  }
  LLVM::LLVMFuncOp function;
  {
    OpBuilder::InsertionGuard guard(b);
    function =
        ProductEmitter(product, module, loc)
            .emit((inner.getName() + "_product" + Twine(products++)).str());
  }
  b.create<LLVM::CallOp>(
      loc, function,
      ValueRange{lhs.place.address, rhs.place.address, result.address});
  places[op.getResult()] = result;
}

//===----------------------------------------------------------------------===//
// Functions and loops
//===----------------------------------------------------------------------===//

static int64_t bitsOf(Type type) {
  return type.getIntOrFloatBitWidth();
}

ProductEmitter::ProductEmitter(const MatrixProduct &product, ModuleOp module,
                               Location loc)
    : ElementEmitter(module.getContext(), loc), product(product),
      module(module) {
  Type element = product.element;
  sumType = element.isF16() || element.isBF16() ? b.getF32Type() : element;
  if (auto integer = dyn_cast<IntegerType>(element))
    sumType = b.getIntegerType(integer.getWidth());
  const std::string features = targetCpuFeatures();
  SmallVector<StringRef> names;
  StringRef(features).split(names, ',');
  const bool wide = llvm::is_contained(names, "avx512f");
  registers = wide ? 32 : 16;
  lanes = (wide                                ? 512
           : llvm::is_contained(names, "avx2") ? 256
                                               : 128) /
          bitsOf(sumType);
}

//===----------------------------------------------------------------------===//
// Functions and loops
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp ProductEmitter::emit(StringRef name) {
  auto function = makeFunction(module, name, SmallVector<Type>(3, pointer),
                               LLVM::Linkage::Internal);
  function.setPassthroughAttr(b.getArrayAttr(
      {b.getStringAttr("nounwind"), b.getStringAttr("noinline")}));
  for (unsigned i = 0; i < 3; ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  Block &entry = function.getBody().front();
  denormalsAreZeros([&] {
    emitBatch(
        {entry.getArgument(0), entry.getArgument(1), entry.getArgument(2)}, 0);
  });
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  return function;
}

/// Lets float instructions take denormal numbers for zeros: all products do
/// (Runtime/Library/Denormals.h says why).
void ProductEmitter::denormalsAreZeros(function_ref<void()> emit) {
  if (!isa<FloatType>(product.element) ||
      !llvm::Triple(llvm::sys::getProcessTriple()).isX86())
    return emit();
  Type i32 = b.getI32Type();
  auto makePlace = [&] {
    return b.create<LLVM::AllocaOp>(loc, pointer, i32, constant(1));
  };
  auto call = [&](StringRef intrinsic, Value address) {
    b.create<LLVM::CallIntrinsicOp>(loc, TypeRange(),
                                    b.getStringAttr(intrinsic), address,
                                    LLVM::FastmathFlagsAttr());
  };
  constexpr int64_t flushToZeroAndDenormalsAreZeros = 0x8040;
  Value before = makePlace(), during = makePlace();
  call("llvm.x86.sse.stmxcsr", before);
  Value mode = b.create<arith::OrIOp>(
      loc, b.create<LLVM::LoadOp>(loc, i32, before),
      b.create<arith::ConstantIntOp>(loc, flushToZeroAndDenormalsAreZeros, 32));
  b.create<LLVM::StoreOp>(loc, mode, during);
  call("llvm.x86.sse.ldmxcsr", during);
  emit();
  call("llvm.x86.sse.ldmxcsr", before);
}

SmallVector<Value>
ProductEmitter::loop(int64_t from, int64_t to, int64_t step, ValueRange states,
                     function_ref<SmallVector<Value>(Value, ValueRange)> fill) {
  if (to <= from)
    return SmallVector<Value>(states);
  if (to - from <= step)
    return fill(constant(from), states);
  auto op = b.create<scf::ForOp>(
      loc, constant(from), constant(to), constant(step), states,
      [&](OpBuilder &, Location, Value index, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(index.getParentBlock());
        SmallVector<Value> next = fill(index, carried);
        b.create<scf::YieldOp>(loc, next);
      });
  return op.getResults();
}

void ProductEmitter::forSteps(int64_t extent, int64_t step,
                              function_ref<void(Value, int64_t)> emit) {
  const int64_t whole = extent - extent % step;
  loop(0, whole, step, {}, [&](Value index, ValueRange) {
    emit(index, step);
    return SmallVector<Value>();
  });
  if (whole < extent)
    emit(constant(whole), extent - whole);
}

void ProductEmitter::emitBatch(const Addresses &from, unsigned dim) {
  if (dim == product.batch.size())
    return emitTiles(from);
  loop(0, product.batch[dim], 1, {}, [&](Value index, ValueRange) {
    emitBatch({moved(from.lhs, index, product.lhsBatch[dim]),
               moved(from.rhs, index, product.rhsBatch[dim]),
               moved(from.result, index, product.resultBatch[dim])},
              dim + 1);
    return SmallVector<Value>();
  });
}

/// The tile that takes the fewest half cycles for all of the product, where a
/// core starts two multiplications and two loads a cycle, and a sum waits four
/// cycles for its last term.
ProductEmitter::Tile ProductEmitter::chooseTile() const {
  constexpr int64_t mostRows = 8, waiting = 8;
  const int64_t across = !product.alongTerms
                             ? llvm::divideCeil(product.columns, lanes)
                             : product.columns;
  Tile best{1, 1};
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t rows = 1; rows <= std::min(mostRows, product.rows); ++rows)
    for (int64_t columns = 1; columns <= across; ++columns) {
      // An element of lhs is read with the multiplication; a vector of the
      // form `terms` takes a register.
      const int64_t needed =
          rows * columns + columns + (!product.alongTerms ? 1 : rows) + 1;
      if (needed > registers)
        break;
      const int64_t tiles = llvm::divideCeil(product.rows, rows) *
                            llvm::divideCeil(across, columns);
      const int64_t time =
          tiles * std::max({rows * columns, rows + columns, waiting});
      if (time < least) {
        least = time;
        best = {rows, columns};
      }
    }
  return best;
}

void ProductEmitter::emitTiles(const Addresses &from) {
  const Tile tile = chooseTile();
  // Columns of rhs stay in the first cache for all rows.
  forSteps(product.columns,
           !product.alongTerms ? tile.columns * lanes : tile.columns,
           [&](Value column, int64_t columns) {
             Value rhs = moved(from.rhs, column, product.rhsColumn);
             Value result = moved(from.result, column, 1);
             forSteps(product.rows, tile.rows, [&](Value row, int64_t rows) {
               const Addresses inside{moved(from.lhs, row, product.lhsRow), rhs,
                                      moved(result, row, product.columns)};
               if (!product.alongTerms)
                 emitRowsTile(inside, rows, columns);
               else
                 emitTermsTile(inside, rows, columns);
             });
           });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void ProductEmitter::emitRowsTile(const Addresses &from, int64_t rows,
                                  int64_t columns) {
  const int64_t vectors = llvm::divideCeil(columns, lanes);
  auto countOf = [&](int64_t vector) {
    return std::min(lanes, columns - vector * lanes);
  };
  SmallVector<Value> sums(rows * vectors, zeros());
  sums = loop(0, product.terms, 1, sums, [&](Value term, ValueRange before) {
    Value lhs = moved(from.lhs, term, product.lhsTerm);
    Value rhs = moved(from.rhs, term, product.rhsTerm);
    SmallVector<Value> right, after;
    for (int64_t v = 0; v < vectors; ++v)
      right.push_back(loadVector(moved(rhs, v * lanes), countOf(v)));
    for (int64_t r = 0; r < rows; ++r) {
      Value factor = loadSplat(moved(lhs, r * product.lhsRow));
      for (int64_t v = 0; v < vectors; ++v)
        after.push_back(multiplyAdd(factor, right[v], before[r * vectors + v]));
    }
    return after;
  });
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      storeVector(moved(from.result, r * product.columns + v * lanes),
                  sums[r * vectors + v], countOf(v));
}

void ProductEmitter::emitTermsTile(const Addresses &from, int64_t rows,
                                   int64_t columns) {
  auto add = [&](Value term, int64_t count, ValueRange before) {
    Value lhs = moved(from.lhs, term, product.lhsTerm);
    Value rhs = moved(from.rhs, term, product.rhsTerm);
    SmallVector<Value> right, after;
    for (int64_t c = 0; c < columns; ++c)
      right.push_back(loadVector(moved(rhs, c * product.rhsColumn), count));
    for (int64_t r = 0; r < rows; ++r) {
      Value factor = loadVector(moved(lhs, r * product.lhsRow), count);
      for (int64_t c = 0; c < columns; ++c)
        after.push_back(multiplyAdd(factor, right[c], before[r * columns + c]));
    }
    return after;
  };
  const int64_t whole = product.terms - product.terms % lanes;
  SmallVector<Value> sums(rows * columns, zeros());
  sums = loop(0, whole, lanes, sums, [&](Value term, ValueRange before) {
    return add(term, lanes, before);
  });
  if (whole < product.terms)
    sums = add(constant(whole), product.terms - whole, sums);
  Type stored = storageType(product.element);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      b.create<LLVM::StoreOp>(
          loc, narrowed(sumOfLanes(sums[r * columns + c]), stored),
          moved(from.result, r * product.columns + c));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value ProductEmitter::moved(Value address, Value index, int64_t stride) {
  if (stride == 0)
    return address;
  Value offset =
      stride == 1 ? index
                  : b.createOrFold<arith::MulIOp>(loc, index, constant(stride));
  return element(address, storageType(product.element), offset);
}

Value ProductEmitter::moved(Value address, int64_t offset) {
  return offset == 0
             ? address
             : element(address, storageType(product.element), constant(offset));
}

Value ProductEmitter::zeros() {
  auto type = mlir::VectorType::get({lanes}, sumType);
  return b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
}

Value ProductEmitter::maskOf(int64_t count) {
  SmallVector<bool> mask(lanes, false);
  std::fill_n(mask.begin(), count, true);
  auto type = mlir::VectorType::get({lanes}, b.getI1Type());
  return b.create<arith::ConstantOp>(loc,
                                     mlir::DenseElementsAttr::get(type, mask));
}

Value ProductEmitter::widened(Value stored, Type wide) {
  if (stored.getType() == wide)
    return stored;
  auto like = [&](Type element) -> Type {
    auto vector = dyn_cast<mlir::VectorType>(wide);
    return vector ? Type(mlir::VectorType::get(vector.getShape(), element))
                  : element;
  };
  if (product.element.isF16()) {
    Value half = b.create<arith::BitcastOp>(loc, like(b.getF16Type()), stored);
    return b.create<arith::ExtFOp>(loc, wide, half);
  }
  Type bits = like(b.getI32Type());
  Value shift =
      isa<mlir::VectorType>(bits)
          ? b.create<arith::ConstantOp>(
                 loc, mlir::DenseElementsAttr::get(cast<mlir::ShapedType>(bits),
                                                   b.getI32IntegerAttr(16)))
                .getResult()
          : b.create<arith::ConstantIntOp>(loc, 16, 32).getResult();
  Value low = b.create<arith::ExtUIOp>(loc, bits, stored);
  Value high = b.create<arith::ShLIOp>(loc, low, shift);
  return b.create<arith::BitcastOp>(loc, wide, high);
}

Value ProductEmitter::narrowed(Value sum, Type stored) {
  if (sum.getType() == stored)
    return sum;
  Type narrow = product.element;
  if (auto vector = dyn_cast<mlir::VectorType>(stored))
    narrow = mlir::VectorType::get(vector.getShape(), narrow);
  Value rounded = b.create<arith::TruncFOp>(loc, narrow, sum);
  return b.create<arith::BitcastOp>(loc, stored, rounded);
}

Value ProductEmitter::loadVector(Value address, int64_t count) {
  Type stored = storageType(product.element);
  auto type = mlir::VectorType::get({lanes}, stored);
  const unsigned bytes = bitsOf(stored) / 8;
  Value loaded;
  if (count == lanes) {
    loaded = b.create<LLVM::LoadOp>(loc, type, address, bytes);
  } else {
    Value none = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
    loaded = b.create<LLVM::MaskedLoadOp>(loc, type, address, maskOf(count),
                                          none, b.getI32IntegerAttr(bytes));
  }
  return widened(loaded, mlir::VectorType::get({lanes}, sumType));
}

void ProductEmitter::storeVector(Value address, Value vector, int64_t count) {
  Type stored = storageType(product.element);
  const unsigned bytes = bitsOf(stored) / 8;
  Value value = narrowed(vector, mlir::VectorType::get({lanes}, stored));
  if (count == lanes)
    b.create<LLVM::StoreOp>(loc, value, address, bytes);
  else
    b.create<LLVM::MaskedStoreOp>(loc, value, address, maskOf(count),
                                  b.getI32IntegerAttr(bytes));
}

Value ProductEmitter::loadSplat(Value address) {
  Type stored = storageType(product.element);
  Value scalar = widened(b.create<LLVM::LoadOp>(loc, stored, address), sumType);
  auto type = mlir::VectorType::get({lanes}, sumType);
  Value first = b.create<LLVM::InsertElementOp>(
      loc, b.create<LLVM::PoisonOp>(loc, type), scalar,
      b.create<arith::ConstantIntOp>(loc, 0, 32));
  return b.create<LLVM::ShuffleVectorOp>(loc, first, first,
                                         SmallVector<int32_t>(lanes, 0));
}

Value ProductEmitter::multiplyAdd(Value x, Value y, Value sum) {
  if (isa<FloatType>(sumType))
    return b.create<LLVM::FMulAddOp>(loc, x, y, sum);
  return b.create<arith::AddIOp>(loc, b.create<arith::MulIOp>(loc, x, y), sum);
}

Value ProductEmitter::sumOfLanes(Value vector) {
  if (!isa<FloatType>(sumType))
    return b.create<LLVM::vector_reduce_add>(loc, sumType, vector);
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(sumType));
  return b.create<LLVM::vector_reduce_fadd>(
      loc, sumType, zero, vector,
      LLVM::FastmathFlagsAttr::get(b.getContext(),
                                   LLVM::FastmathFlags::reassoc));
}
