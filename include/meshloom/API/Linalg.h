// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear algebra with NumPy's names, in a namespace of their own: equations,
// decompositions and functions of matrices. Matrices are the last two dims; all
// dims in front are batches, which may be sharded without communication.
// Element types are f16, bf16 (both computed in f32), f32, f64 and complex. As
// in Ops.h, all throw meshloom::Error where shapes or types do not fit.
// cholesky, qr and triangular_solve are those of LinalgOps.h.
#pragma once

#include "meshloom/API/LinalgOps.h"

#include <limits>

/// Linear algebra, with the names of NumPy.
namespace meshloom::linalg {

using meshloom::cholesky;
using meshloom::qr;
using meshloom::triangular_solve;

/// The x with a x = b: a [..., n, n], b [..., n, m] -> [..., n, m], or one
/// vector b [n] -> [n]. Inf or nan where `a` is singular. Has gradients.
/// Throws meshloom::Error if `a` has no square matrices, if the batch dims or n
/// differ, or the element types do.
[[nodiscard]] Tensor solve(const Tensor &a, const Tensor &b,
                           Where loc = Where::current());

/// The inverse of square matrices [..., n, n]. See solve.
[[nodiscard]] Tensor inv(const Tensor &a, Where loc = Where::current());

/// [..., n, n] -> [...]. Has gradients where no determinant is zero. Throws
/// meshloom::Error if `a` has no square matrices.
[[nodiscard]] Tensor det(const Tensor &a, Where loc = Where::current());

/// The result of slogdet.
struct SlogDet {
  Tensor sign; ///< -1, 0 or 1; of complex matrices of absolute value 1, or 0
  Tensor logabsdet; ///< real; -inf where the sign is 0
};
/// [..., n, n] -> two [...] with det(a) = sign exp(logabsdet), which neither
/// overflows nor underflows. See det.
SlogDet slogdet(const Tensor &a, Where loc = Where::current());

/// The result of eigh.
struct Eigh {
  Tensor values;  ///< real, in rising order
  Tensor vectors; ///< orthonormal columns
};
/// Eigenvalues of Hermitian matrices [..., n, n], of which the lower (else the
/// upper) triangle is read: values [..., n], vectors [..., n, n]. In each
/// vector the element of greatest absolute value is real and positive. Has
/// gradients; those of vectors are for what does not depend on complex phases,
/// and need the eigenvalues to be distinct.
Eigh eigh(const Tensor &a, bool lower = true, Where loc = Where::current());
/// The values of eigh.
[[nodiscard]] Tensor eigvalsh(const Tensor &a, bool lower = true,
                              Where loc = Where::current());

/// The result of eig.
struct Eig {
  Tensor values;  ///< complex, by rising real part
  Tensor vectors; ///< columns of length 1
};
/// Eigenvalues of square matrices [..., n, n] of f32, f64 or complex numbers:
/// complex values [..., n] and vectors [..., n, n]. Has gradients where the
/// eigenvalues are distinct. Throws meshloom::Error also for f16 and bf16.
Eig eig(const Tensor &a, Where loc = Where::current());
/// The values of eig.
[[nodiscard]] Tensor eigvals(const Tensor &a, Where loc = Where::current());

/// The result of svd.
struct SVD {
  Tensor u;  ///< orthonormal columns
  Tensor s;  ///< real, in falling order
  Tensor vh; ///< orthonormal rows
};
/// a [..., m, n] = u diag(s) vh: u [..., m, k], s [..., k], vh [..., k, n] with
/// k = min(m, n); with full_matrices u is [..., m, m] and vh [..., n, n]. Has
/// gradients (with full_matrices only of s, where m and n differ), those of u
/// and vh where the singular values are distinct and not zero.
SVD svd(const Tensor &a, bool full_matrices = false,
        Where loc = Where::current());
/// The singular values.
[[nodiscard]] Tensor svdvals(const Tensor &a, Where loc = Where::current());

/// The Moore-Penrose inverse: [..., m, n] -> [..., n, m]. Singular values up to
/// `rcond` times the greatest one count as zero; default: 10 max(m, n) times
/// the spacing of numbers at 1. Has gradients where those that count are
/// distinct.
[[nodiscard]] Tensor pinv(const Tensor &a, std::optional<double> rcond = {},
                          Where loc = Where::current());

/// The shortest x of those with the least |a x - b|: a [..., m, n], b [..., m,
/// k]
/// -> [..., n, k], or one vector b [m] -> [n]. `rcond` and gradients as pinv's;
/// default: max(m, n) times the spacing of numbers at 1. Throws meshloom::Error
/// if the batch dims, m or the element types differ.
[[nodiscard]] Tensor lstsq(const Tensor &a, const Tensor &b,
                           std::optional<double> rcond = {},
                           Where loc = Where::current());

/// e^a of square matrices [..., n, n], by a Pade approximant of a / 2^s that is
/// squared s times (Higham, "The scaling and squaring method for the matrix
/// exponential revisited", 2005), s up to 16. Has gradients.
[[nodiscard]] Tensor expm(const Tensor &a, Where loc = Where::current());

/// a to the power n, that of the inverse for n < 0, the identity for 0.
[[nodiscard]] Tensor matrix_power(const Tensor &a, int64_t n,
                                  Where loc = Where::current());

/// The square root of the sum of squares of all elements, a scalar.
[[nodiscard]] Tensor norm(const Tensor &x, Where loc = Where::current());

/// (sum |x|^order)^(1 / order) along a dim (default: of all elements), real;
/// the greatest |x| for infinity, the least for -infinity, how many are not 0
/// for 0. Has gradients, that of order 2 at zero is zero.
[[nodiscard]] Tensor vector_norm(const Tensor &x, double order = 2,
                                 std::optional<int64_t> axis = {},
                                 bool keepdims = false,
                                 Where loc = Where::current());

/// Which norm matrix_norm computes.
enum class MatrixNorm : uint8_t {
  Frobenius,      ///< the square root of the sum of squares
  Nuclear,        ///< the sum of singular values
  Spectral,       ///< the greatest singular value (NumPy's 2)
  LeastSingular,  ///< the least singular value (NumPy's -2)
  GreatestColumn, ///< the greatest sum of a column's |a| (NumPy's 1)
  LeastColumn,    ///< the least of them (NumPy's -1)
  GreatestRow,    ///< the greatest sum of a row's |a| (NumPy's inf)
  LeastRow        ///< the least of them (NumPy's -inf)
};
/// [..., m, n] -> [...], real. Has gradients.
[[nodiscard]] Tensor matrix_norm(const Tensor &a,
                                 MatrixNorm order = MatrixNorm::Frobenius,
                                 bool keepdims = false,
                                 Where loc = Where::current());

/// How many singular values are above `rtol` times the greatest one, as i32
/// [...]; default: max(m, n) times the spacing of numbers at 1.
[[nodiscard]] Tensor matrix_rank(const Tensor &a,
                                 std::optional<double> rtol = {},
                                 Where loc = Where::current());

/// The greatest singular value over the least one: [..., m, n] -> [...];
/// infinite where the least one is 0.
[[nodiscard]] Tensor cond(const Tensor &a, Where loc = Where::current());

/// The x with A x = b for tridiagonal A [..., n, n], given by its diagonals
/// [..., n]: A[i, i - 1] = lower[i], A[i, i + 1] = upper[i]; lower[0] and the
/// last of upper are not read. b [..., n, m] -> [..., n, m]. Has gradients.
[[nodiscard]] Tensor tridiagonal_solve(const Tensor &lower,
                                       const Tensor &diagonal,
                                       const Tensor &upper, const Tensor &b,
                                       Where loc = Where::current());

} // namespace meshloom::linalg
