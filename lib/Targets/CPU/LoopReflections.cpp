// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// geqrf and householder_product of small matrices in a loop that is compiled
// whole: Householder's reflections as LAPACK stores them. The steps are written
// out; what a step does to rows and columns are loops. Matrices of f32 are f64
// until the end, as in the library, whose results are the same. A matrix with
// numbers that are not finite becomes NaNs, as in the library. Source: G. H.
// Golub and C. F. Van Loan, Matrix Computations, 5.1 and 5.2.
#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace meshloom;
namespace arith = mlir::arith;
namespace math = mlir::math;

Value LoopEmitter::wideNumber(double number) {
  return b.create<arith::ConstantOp>(loc, b.getF64FloatAttr(number));
}

Value LoopEmitter::loadWide(Value address, Type type) {
  Value number = loadScalar(address, type);
  return type.isF64()
             ? number
             : Value(b.create<arith::ExtFOp>(loc, b.getF64Type(), number));
}

void LoopEmitter::storeNarrow(Value address, Type type, Value number) {
  storeScalar(address, type.isF64() ? number
                                    : Value(b.create<arith::TruncFOp>(loc, type,
                                                                      number)));
}

/// Adds the terms from `first` to `end` to `sum`.
Value LoopEmitter::sumOfRange(Value sum, int64_t first, int64_t end,
                              function_ref<Value(Value)> term) {
  if (first >= end)
    return sum;
  // LLVM makes a register of it.
  Value address = newPlace(sum.getType(), {1}).address;
  storeScalar(address, sum);
  forRange(first, end, [&](Value index) {
    Value before = loadScalar(address, sum.getType());
    storeScalar(address, b.create<arith::AddFOp>(loc, before, term(index)));
  });
  return loadScalar(address, sum.getType());
}

Value LoopEmitter::greatestBelow(const MatrixPlace &matrix, int64_t step,
                                 int64_t rows) {
  Value greatest = wideNumber(0);
  for (int64_t row = step + 1; row < rows; ++row) {
    Value size = b.create<math::AbsFOp>(
        loc, wideEntry(matrix, constant(row), constant(step)));
    greatest = b.create<arith::MaximumFOp>(loc, greatest, size);
  }
  return greatest;
}

Value LoopEmitter::makeReflection(const MatrixPlace &matrix, int64_t step,
                                  int64_t rows) {
  Value column = constant(step), alpha = wideEntry(matrix, column, column);
  Value below = greatestBelow(matrix, step, rows);
  Value isTrivial = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ,
                                            below, wideNumber(0));
  // No square of a quotient overflows.
  Value scale = b.create<arith::MaximumFOp>(loc, below,
                                            b.create<math::AbsFOp>(loc, alpha));
  Value squares = sumOfRange(wideNumber(0), step, rows, [&](Value row) {
    Value quotient =
        b.create<arith::DivFOp>(loc, wideEntry(matrix, row, column), scale);
    return b.create<arith::MulFOp>(loc, quotient, quotient);
  });
  Value norm =
      b.create<arith::MulFOp>(loc, scale, b.create<math::SqrtOp>(loc, squares));
  Value beta = b.create<arith::NegFOp>(
      loc, b.create<math::CopySignOp>(loc, norm, alpha));
  Value difference = b.create<arith::SubFOp>(loc, alpha, beta);
  forRange(step + 1, rows, [&](Value row) {
    Value address = entryOf(matrix, row, column);
    Value entry = loadWide(address, matrix.element);
    Value quotient = b.create<arith::DivFOp>(loc, entry, difference);
    storeScalar(address,
                b.create<arith::SelectOp>(loc, isTrivial, entry, quotient));
  });
  storeScalar(entryOf(matrix, column, column),
              b.create<arith::SelectOp>(loc, isTrivial, alpha, beta));
  Value tau = b.create<arith::DivFOp>(
      loc, b.create<arith::SubFOp>(loc, beta, alpha), beta);
  return b.create<arith::SelectOp>(loc, isTrivial, wideNumber(0), tau);
}

void LoopEmitter::reflectColumns(const MatrixPlace &matrix, Value tau,
                                 int64_t step, int64_t rows, int64_t columns) {
  Value first = constant(step);
  forRange(step + 1, columns, [&](Value column) {
    Value head = wideEntry(matrix, first, column);
    Value sum = sumOfRange(head, step + 1, rows, [&](Value row) {
      return b.create<arith::MulFOp>(loc, wideEntry(matrix, row, first),
                                     wideEntry(matrix, row, column));
    });
    Value factor = b.create<arith::MulFOp>(loc, tau, sum);
    storeScalar(entryOf(matrix, first, column),
                b.create<arith::SubFOp>(loc, head, factor));
    forRange(step + 1, rows, [&](Value row) {
      Value product =
          b.create<arith::MulFOp>(loc, factor, wideEntry(matrix, row, first));
      Value entry = wideEntry(matrix, row, column);
      storeScalar(entryOf(matrix, row, column),
                  b.create<arith::SubFOp>(loc, entry, product));
    });
  });
}

LoopEmitter::MatrixPlace LoopEmitter::widened(const MatrixPlace &matrix,
                                              int64_t rows, int64_t columns) {
  if (matrix.element.isF64())
    return matrix;
  const MatrixPlace wide{newPlace(b.getF64Type(), {rows, columns}).address,
                         b.getF64Type(), columns, 1};
  forEach({rows, columns}, [&](ArrayRef<Value> index) {
    storeScalar(entryOf(wide, index[0], index[1]),
                wideEntry(matrix, index[0], index[1]));
  });
  return wide;
}

void LoopEmitter::storeMatrix(const MatrixPlace &matrix,
                              const MatrixPlace &wide, int64_t rows,
                              int64_t columns) {
  if (matrix.address == wide.address)
    return;
  forEach({rows, columns}, [&](ArrayRef<Value> index) {
    storeNarrow(entryOf(matrix, index[0], index[1]), matrix.element,
                wideEntry(wide, index[0], index[1]));
  });
}

/// Returns whether the elements of the columns are finite, from
/// `firstOffDiagonal` rows below the diagonal on.
Value LoopEmitter::isFiniteBelow(const MatrixPlace &matrix,
                                 int64_t firstOffDiagonal, int64_t rows,
                                 int64_t columns) {
  Value sum = wideNumber(0);
  for (int64_t column = 0; column < columns; ++column)
    sum = sumOfRange(sum, std::max<int64_t>(0, column + firstOffDiagonal), rows,
                     [&](Value row) {
                       Value entry = wideEntry(matrix, row, constant(column));
                       // This is zero, or NaN.
                       return b.create<arith::SubFOp>(loc, entry, entry);
                     });
  return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, sum,
                                 wideNumber(0));
}

void LoopEmitter::spoilUnless(Value isFinite, const MatrixPlace &matrix,
                              int64_t rows, int64_t columns) {
  Value nan = b.create<arith::ConstantOp>(
      loc,
      b.getFloatAttr(matrix.element, std::numeric_limits<double>::quiet_NaN()));
  forEach({rows, columns}, [&](ArrayRef<Value> index) {
    Value address = entryOf(matrix, index[0], index[1]);
    Value entry = loadScalar(address, matrix.element);
    storeScalar(address, b.create<arith::SelectOp>(loc, isFinite, entry, nan));
  });
}

void LoopEmitter::factorQr(const MatrixPlace &matrix, int64_t rows,
                           int64_t columns, const MatrixPlace &taus) {
  const int64_t count = std::min(rows, columns);
  Value isFinite = isFiniteBelow(matrix, -columns, rows, columns);
  const MatrixPlace wide = widened(matrix, rows, columns);
  for (int64_t step = 0; step < count; ++step) {
    Value tau = makeReflection(wide, step, rows);
    storeNarrow(entryOf(taus, constant(step), constant(0)), taus.element, tau);
    reflectColumns(wide, tau, step, rows, columns);
  }
  storeMatrix(matrix, wide, rows, columns);
  spoilUnless(isFinite, matrix, rows, columns);
  spoilUnless(isFinite, taus, count, 1);
}

void LoopEmitter::multiplyReflections(const MatrixPlace &matrix, int64_t rows,
                                      int64_t columns, const MatrixPlace &taus,
                                      int64_t count) {
  Value isFinite =
      b.create<arith::AndIOp>(loc, isFiniteBelow(matrix, 1, rows, count),
                              isFiniteBelow(taus, -1, count, 1));
  const MatrixPlace wide = widened(matrix, rows, columns);
  auto fillColumn = [&](int64_t column, int64_t end) {
    forRange(0, end, [&](Value row) {
      storeScalar(entryOf(wide, row, constant(column)), wideNumber(0));
    });
  };
  auto storeDiagonal = [&](int64_t step, Value number) {
    storeScalar(entryOf(wide, constant(step), constant(step)), number);
  };
  for (int64_t column = count; column < columns; ++column) {
    fillColumn(column, rows);
    storeDiagonal(column, wideNumber(1));
  }
  // The last reflection is the first one that columns meet; the columns of
  // earlier ones are not there yet.
  for (int64_t step = count - 1; step >= 0; --step) {
    fillColumn(step, step);
    Value tau = wideEntry(taus, constant(step), constant(0));
    reflectColumns(wide, tau, step, rows, columns);
    forRange(step + 1, rows, [&](Value row) {
      Value product = b.create<arith::MulFOp>(
          loc, tau, wideEntry(wide, row, constant(step)));
      storeScalar(entryOf(wide, row, constant(step)),
                  b.create<arith::NegFOp>(loc, product));
    });
    storeDiagonal(step, b.create<arith::SubFOp>(loc, wideNumber(1), tau));
  }
  storeMatrix(matrix, wide, rows, columns);
  spoilUnless(isFinite, matrix, rows, columns);
}
