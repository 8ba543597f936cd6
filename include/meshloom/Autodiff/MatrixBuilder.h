// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic with matrices, the last two dims of tensors.
#pragma once

#include "meshloom/Autodiff/OpGradient.h"

namespace meshloom {

class MatrixBuilder {
public:
  explicit MatrixBuilder(dtensor::TensorBuilder &math) : math(math) {}

  static int64_t rowsOf(Value matrix);
  static int64_t columnsOf(Value matrix);
  static bool isComplex(Value value);

  /// a b; either of them transposed before.
  Value product(Value a, Value b, bool transposeA = false,
                bool transposeB = false);
  Value transposed(Value matrix);
  /// Conjugated and transposed.
  Value adjoint(Value matrix);
  /// a^H b, and a b^H.
  Value adjointTimes(Value a, Value b);
  Value timesAdjoint(Value a, Value b);

  /// Where (row) `direction` (column) holds.
  Value where(Value matrix, dtensor::ComparisonDirection direction);
  /// `matrix` where (row) `direction` (column) holds, else 0.
  Value keepWhere(Value matrix, dtensor::ComparisonDirection direction) {
    return math.keepIf(where(matrix, direction), matrix);
  }
  /// Ones on the diagonal, of `matrix`'s type.
  Value identityLike(Value matrix);

  Value rows(Value matrix, int64_t from, int64_t to);
  Value columns(Value matrix, int64_t from, int64_t to);
  /// Entry i of `vector` all along row i, or column i, of a matrix of `like`'s
  /// type.
  Value alongRows(Value vector, Value like);
  Value alongColumns(Value vector, Value like);

  /// x with op(a) x = b, and with x op(a) = b; `op` as triangular_solve has it.
  Value solveLeft(Value a, Value b, bool lower, bool unitDiagonal,
                  llvm::StringRef op);
  Value solveRight(Value a, Value b, bool lower, bool unitDiagonal,
                   llvm::StringRef op);
  /// How triangular_solve calls the adjoint of `like`'s element type.
  static llvm::StringRef adjointOp(Value like) {
    return isComplex(like) ? "ADJOINT" : "TRANSPOSE";
  }

  /// Returns the gradient with respect to the triangle of a Hermitian matrix
  /// that is read (the lower one, or else the upper one), from the gradient `s`
  /// with respect to the whole matrix. An element that is not read counts for
  /// the element that mirrors it, and the diagonal has the real part.
  Value ofTriangle(Value s, bool lower);

  /// The matrix P, of the element type of `like`, that has row permutation[i]
  /// of a matrix a as row i of P a.
  Value permutationMatrix(Value permutation, Value like);
  /// The x with a x = b, of any square a.
  Value solve(Value a, Value b);

private:
  dtensor::TensorBuilder &math;
};

} // namespace meshloom
