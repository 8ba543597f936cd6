// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that follow a pattern, and copies in a pattern, with the names of
// NumPy and TensorFlow. As in Ops.h, an op outside of a `function` runs at
// once, negative axes count from the end, and all throw meshloom::Error where
// shapes or types do not fit.
//
// Results have no layout of their own: they take the one that their use
// asks for, and no device makes more than its shard.
#pragma once

#include "meshloom/API/Ops.h"

#include <string_view>
#include <vector>

namespace meshloom {

/// [rows, columns]: ones on the k-th diagonal (above the main one where k is
/// positive), else zeros. Without `columns`: square.
[[nodiscard]] Tensor eye(int64_t rows, std::optional<int64_t> columns = {},
                         int64_t k = 0, DType type = DType::F32,
                         Where loc = Where::current());
/// [rows, columns]: ones on and below the k-th diagonal. See eye.
[[nodiscard]] Tensor tri(int64_t rows, std::optional<int64_t> columns = {},
                         int64_t k = 0, DType type = DType::F32,
                         Where loc = Where::current());
/// x [..., m, n] with zeros above the k-th diagonal.
[[nodiscard]] Tensor tril(const Tensor &x, int64_t k = 0,
                          Where loc = Where::current());
/// x [..., m, n] with zeros below the k-th diagonal.
[[nodiscard]] Tensor triu(const Tensor &x, int64_t k = 0,
                          Where loc = Where::current());
/// For a vector [n], the matrix that has it on the k-th diagonal, zeros
/// elsewhere; of a matrix its k-th diagonal. Throws meshloom::Error for other
/// ranks.
[[nodiscard]] Tensor diag(const Tensor &x, int64_t k = 0,
                          Where loc = Where::current());
/// The k-th diagonal of the matrices that dims `axis1` and `axis2` are, in a
/// last dim; k as in eye. Throws meshloom::Error if the dims are the same.
[[nodiscard]] Tensor diagonal(const Tensor &x, int64_t k = 0, int64_t axis1 = 0,
                              int64_t axis2 = 1, Where loc = Where::current());
/// Kronecker's product: x [m, n], y [p, q] -> [m p, n q], blocks x[i, j] y; of
/// any rank, with dims of extent 1 in front of the one that has fewer.
[[nodiscard]] Tensor kron(const Tensor &x, const Tensor &y,
                          Where loc = Where::current());
/// [n]: start, start + step, ... before `stop`. Throws meshloom::Error if
/// `step` is 0.
[[nodiscard]] Tensor arange(double start, double stop, double step = 1,
                            DType type = DType::F32,
                            Where loc = Where::current());
/// 0, 1, ... before `stop`.
[[nodiscard]] Tensor arange(double stop, DType type = DType::F32,
                            Where loc = Where::current());
/// [count]: from `start` to `stop` in equal steps; both are in it. Throws
/// meshloom::Error if the count is negative or the type is not a float.
[[nodiscard]] Tensor linspace(double start, double stop, int64_t count = 50,
                              DType type = DType::F32,
                              Where loc = Where::current());
/// For vectors of n0, n1, ... elements, for each one the tensor of all their
/// combinations that has its elements: [n0, n1, ...] with "ij", and with "xy"
/// [n1, n0, ...], as images have it. Throws meshloom::Error if one is no
/// vector.
[[nodiscard]] std::vector<Tensor> meshgrid(const std::vector<Tensor> &vectors,
                                           std::string_view indexing = "xy",
                                           Where loc = Where::current());

/// x `counts[d]` times side by side along each dim d; the lists of x's extents
/// and of counts are aligned at the end, as in NumPy.
[[nodiscard]] Tensor tile(const Tensor &x, const std::vector<int64_t> &counts,
                          Where loc = Where::current());
/// Each element `count` times in a row along `axis`.
[[nodiscard]] Tensor repeat(const Tensor &x, int64_t count, int64_t axis,
                            Where loc = Where::current());
/// Element i along `axis` counts[i] times in a row.
[[nodiscard]] Tensor repeat(const Tensor &x, const std::vector<int64_t> &counts,
                            int64_t axis, Where loc = Where::current());

} // namespace meshloom
