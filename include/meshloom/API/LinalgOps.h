// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factorizations, triangular equations and Fourier transforms, with the names
// of NumPy and TensorFlow. Matrices are the last two dims, and transforms are
// along the last ones; all dims in front are batches and may be sharded. As in
// Ops.h, all throw meshloom::Error where shapes or types do not fit.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom {

/// The lower triangular L with a = L L^H, of positive definite matrices
/// [..., n, n] of floats or complex numbers, whose lower triangle is read. NaN
/// where a matrix is not positive definite.
[[nodiscard]] Tensor cholesky(const Tensor &a, Where loc = Where::current());

/// Which equations triangular_solve solves.
struct TriangularSolveOptions {
  bool lower = true;          ///< the triangle of `a` that is read
  bool left_side = true;      ///< a x = b; else x a = b
  bool adjoint = false;       ///< a^H in place of a
  bool transpose = false;     ///< a^T in place of a
  bool unit_diagonal = false; ///< ones in place of the diagonal
};
/// x of a x = b, with a [..., n, n] and b [..., n, m] (x a = b: [..., m, n]).
[[nodiscard]] Tensor triangular_solve(const Tensor &a, const Tensor &b,
                                      TriangularSolveOptions options = {},
                                      Where loc = Where::current());

/// The result of qr.
struct QR {
  Tensor q; ///< columns are orthonormal
  Tensor r; ///< upper triangular
};
/// a [..., m, n] = q r: q [..., m, k], r [..., k, n] with k = min(m, n), or
/// with full_matrices k = m. Gradients need the first k columns to have full
/// rank.
QR qr(const Tensor &a, bool full_matrices = false,
      Where loc = Where::current());

/// Along the last dim of complex numbers; f32 and f64 are made complex.
[[nodiscard]] Tensor fft(const Tensor &x, Where loc = Where::current());
/// The inverse of fft.
[[nodiscard]] Tensor ifft(const Tensor &x, Where loc = Where::current());
/// f32 or f64 [..., n] -> complex [..., n / 2 + 1]: the first half of fft, of
/// which the rest is the mirror image.
[[nodiscard]] Tensor rfft(const Tensor &x, Where loc = Where::current());
/// Complex [..., n / 2 + 1] -> f32 or f64 [..., n]: the inverse of rfft.
/// `length`: n; default: the even one. Throws meshloom::Error if they do not
/// fit.
[[nodiscard]] Tensor irfft(const Tensor &x, std::optional<int64_t> length = {},
                           Where loc = Where::current());
/// Along the last two dims. See fft.
[[nodiscard]] Tensor fft2(const Tensor &x, Where loc = Where::current());
/// See ifft.
[[nodiscard]] Tensor ifft2(const Tensor &x, Where loc = Where::current());
/// See rfft; the last dim is halved.
[[nodiscard]] Tensor rfft2(const Tensor &x, Where loc = Where::current());
/// See irfft; `length` is that of the last dim.
[[nodiscard]] Tensor irfft2(const Tensor &x, std::optional<int64_t> length = {},
                            Where loc = Where::current());

} // namespace meshloom
