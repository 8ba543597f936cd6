// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lu, cholesky and triangular_solve of small matrices in a loop that is
// compiled whole (and, in LoopReflections.cpp, QR factorizations). They do what
// the library does for as few rows, step by step
// (lib/Runtime/Library/LuFactorization.cpp, Factorizations.cpp): the steps are
// written out, what they do to rows and columns are loops.
#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace math = mlir::math;
namespace scf = mlir::scf;

Value LoopEmitter::entryOf(const MatrixPlace &matrix, Value row, Value column) {
  return element(
      matrix.address, matrix.element,
      offsetOf({row, column}, {matrix.rowStride, matrix.columnStride}));
}

Value LoopEmitter::loadEntry(const MatrixPlace &matrix, Value row,
                             Value column) {
  return loadScalar(entryOf(matrix, row, column), matrix.element);
}

/// entry(row, column) -= factor * other.
void LoopEmitter::subtractProduct(const MatrixPlace &matrix, Value row,
                                  Value column, Value factor, Value other) {
  Value product = b.create<arith::MulFOp>(loc, factor, other);
  Value entry = loadEntry(matrix, row, column);
  storeScalar(entryOf(matrix, row, column),
              b.create<arith::SubFOp>(loc, entry, product));
}

/// Calls `fill` for all indices from `first` to `end`.
void LoopEmitter::forRange(int64_t first, int64_t end,
                           function_ref<void(Value)> fill) {
  forEach({end - first}, [&](ArrayRef<Value> index) {
    fill(b.createOrFold<arith::AddIOp>(loc, index[0], constant(first)));
  });
}

/// Calls `emit` where `condition` holds.
void LoopEmitter::emitIf(Value condition, function_ref<void()> emit) {
  auto branch = b.create<scf::IfOp>(loc, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emit();
}

void LoopEmitter::emitFactorization(LibraryCallOp op) {
  const bool solves = op.getCallee() == "triangular_solve";
  Value input = op.getInputs()[solves ? 1 : 0];
  Type type = elementTypeOf(input.getType());
  SmallVector<ArrayPlace> results;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    results.push_back(resultPlace(op, i));
    places[op.getOutputs()[i]] = results[i];
  }
  copyArray(input.getType(), results[0], placeOf(input));
  const SmallVector<int64_t> shape = globalShape(input.getType());
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  forEach(ArrayRef(shape).drop_back(2), [&](ArrayRef<Value> batch) {
    auto part = [&](const ArrayPlace &place, Type of) {
      return moved(
          place, of,
          offsetOf(batch, ArrayRef(place.strides).take_front(batch.size())));
    };
    auto matrixOf = [&](const ArrayPlace &place) {
      const size_t rank = place.strides.size();
      return MatrixPlace{part(place, type).address, type,
                         place.strides[rank - 2], place.strides[rank - 1]};
    };
    const MatrixPlace matrix = matrixOf(results[0]);
    if (op.getCallee() == "lu")
      return eliminate(matrix, rows, columns, part(results[1], b.getI32Type()),
                       part(results[2], b.getI32Type()));
    auto columnOf = [&](const ArrayPlace &place) {
      return MatrixPlace{part(place, type).address, type, place.strides.back(),
                         0};
    };
    if (op.getCallee() == "geqrf")
      return factorQr(matrix, rows, columns, columnOf(results[1]));
    if (op.getCallee() == "householder_product") {
      Value taus = op.getInputs()[1];
      return multiplyReflections(matrix, rows, columns, columnOf(placeOf(taus)),
                                 globalShape(taus.getType()).back());
    }
    if (solves)
      return solveTriangular(op, matrixOf(placeOf(op.getInputs()[0])), matrix,
                             rows, columns);
    factorCholesky(op.getOptions()->getAs<mlir::BoolAttr>("lower").getValue()
                       ? matrix
                       : matrix.transposed(),
                   rows);
  });
}

Value LoopEmitter::findPivot(const MatrixPlace &matrix, int64_t step,
                             int64_t rows) {
  auto weight = [&](int64_t row) -> Value {
    return b.create<math::AbsFOp>(
        loc, loadEntry(matrix, constant(row), constant(step)));
  };
  Value pivot = constant(step), best = weight(step);
  for (int64_t row = step + 1; row < rows; ++row) {
    Value next = weight(row);
    Value isBetter =
        b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, next, best);
    pivot = b.create<arith::SelectOp>(loc, isBetter, constant(row), pivot);
    best = b.create<arith::SelectOp>(loc, isBetter, next, best);
  }
  return pivot;
}

void LoopEmitter::eliminate(const MatrixPlace &matrix, int64_t rows,
                            int64_t columns, const ArrayPlace &pivots,
                            const ArrayPlace &permutation) {
  Type i32 = b.getI32Type();
  auto numberAt = [&](const ArrayPlace &place, Value index) {
    return element(place.address, i32, offsetOf(index, {place.strides.back()}));
  };
  auto swap = [&](Type type, Value first, Value second) {
    Value saved = loadScalar(first, type);
    storeScalar(first, loadScalar(second, type));
    storeScalar(second, saved);
  };
  auto toI32 = [&](Value index) -> Value {
    return b.createOrFold<arith::TruncIOp>(loc, i32, index);
  };
  forRange(0, rows, [&](Value row) {
    storeScalar(numberAt(permutation, row), toI32(row));
  });
  for (int64_t i = 0; i < std::min(rows, columns); ++i) {
    Value step = constant(i), pivot = findPivot(matrix, i, rows);
    storeScalar(numberAt(pivots, step), toI32(pivot));
    swap(i32, numberAt(permutation, step), numberAt(permutation, pivot));
    forRange(0, columns, [&](Value column) {
      swap(matrix.element, entryOf(matrix, step, column),
           entryOf(matrix, pivot, column));
    });
    Value diagonal = loadEntry(matrix, step, step);
    Value zero =
        b.create<arith::ConstantOp>(loc, b.getZeroAttr(matrix.element));
    Value isRegular =
        b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNE, diagonal, zero);
    emitIf(isRegular, [&] {
      forRange(i + 1, rows, [&](Value row) {
        Value factor = b.create<arith::DivFOp>(
            loc, loadEntry(matrix, row, step), diagonal);
        storeScalar(entryOf(matrix, row, step), factor);
        forRange(i + 1, columns, [&](Value column) {
          subtractProduct(matrix, row, column, factor,
                          loadEntry(matrix, step, column));
        });
      });
    });
  }
}

void LoopEmitter::solveTriangular(LibraryCallOp op, MatrixPlace system,
                                  MatrixPlace solution, int64_t rows,
                                  int64_t columns) {
  auto is = [&](StringRef name) {
    return op.getOptions()->getAs<mlir::BoolAttr>(name).getValue();
  };
  bool isLower = is("lower");
  auto transpose = [&] {
    system = system.transposed();
    isLower = !isLower;
  };
  if (op.getOptions()->getAs<mlir::StringAttr>("transpose_a") != "NO_TRANSPOSE")
    transpose();
  // X A = B is the transposed system.
  if (!is("left_side")) {
    transpose();
    solution = solution.transposed();
    std::swap(rows, columns);
  }
  auto rowOf = [&](int64_t step) {
    return constant(isLower ? step : rows - 1 - step);
  };
  for (int64_t i = 0; i < rows; ++i) {
    Value row = rowOf(i);
    for (int64_t k = 0; k < i; ++k) {
      Value factor = loadEntry(system, row, rowOf(k));
      forRange(0, columns, [&](Value column) {
        subtractProduct(solution, row, column, factor,
                        loadEntry(solution, rowOf(k), column));
      });
    }
    if (is("unit_diagonal"))
      continue;
    Value diagonal = loadEntry(system, row, row);
    forRange(0, columns, [&](Value column) {
      Value quotient = b.create<arith::DivFOp>(
          loc, loadEntry(solution, row, column), diagonal);
      storeScalar(entryOf(solution, row, column), quotient);
    });
  }
}

void LoopEmitter::factorCholesky(const MatrixPlace &matrix, int64_t rows) {
  auto number = [&](double value) -> Value {
    return b.create<arith::ConstantOp>(loc,
                                       b.getFloatAttr(matrix.element, value));
  };
  auto less = [&](Value x, Value y) -> Value {
    return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, y);
  };
  Value isDefinite = b.create<arith::ConstantIntOp>(loc, 1, 1);
  for (int64_t i = 0; i < rows; ++i) {
    Value step = constant(i), square = loadEntry(matrix, step, step);
    // Numbers that are not finite make a square that is not.
    for (Value holds :
         {less(number(0), square),
          less(square, number(std::numeric_limits<double>::infinity()))})
      isDefinite = b.create<arith::AndIOp>(loc, isDefinite, holds);
    Value root = b.create<math::SqrtOp>(loc, square);
    storeScalar(entryOf(matrix, step, step), root);
    Value inverse = b.create<arith::DivFOp>(loc, number(1), root);
    forRange(i + 1, rows, [&](Value row) {
      Value scaled =
          b.create<arith::MulFOp>(loc, loadEntry(matrix, row, step), inverse);
      storeScalar(entryOf(matrix, row, step), scaled);
    });
    // The triangle above, which nothing reads, gets numbers as well.
    forRange(i + 1, rows, [&](Value row) {
      Value factor = loadEntry(matrix, row, step);
      forRange(i + 1, rows, [&](Value column) {
        subtractProduct(matrix, row, column, factor,
                        loadEntry(matrix, column, step));
      });
    });
  }
  for (int64_t i = 0; i < rows; ++i) {
    forRange(0, i, [&](Value row) {
      storeScalar(entryOf(matrix, row, constant(i)), number(0));
    });
    forRange(i, rows, [&](Value row) {
      Value address = entryOf(matrix, row, constant(i));
      Value result = b.create<arith::SelectOp>(
          loc, isDefinite, loadScalar(address, matrix.element),
          number(std::numeric_limits<double>::quiet_NaN()));
      storeScalar(address, result);
    });
  }
}
