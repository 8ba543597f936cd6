// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SparseTensor and CSRMatrix: the elements that are not 0 and where they are,
// as structures of tensors.
//
//   SparseTensor a = sparse::from_dense(x);             // of any rank
//   Tensor y = sparse::sparse_dense_matmul(a, b);       // [m, k], [k, n]
//   CSRMatrix c = sparse::to_csr(a);                    // by rows
//
// How many elements are not 0 depends on values, but shapes do not: there may
// be more entries than elements. Entries whose index is out of range are
// padding, which no op looks at. Products and sums cost as much as there are
// entries. Entries may be sharded: each device works on its own, and a sum over
// devices ends it.
#pragma once

#include "meshloom/API/Ops.h"

#include <functional>

namespace meshloom {

/// Entry i is values[i] at indices[i]; equal indices add up. A structure of
/// tensors: functions, datasets and loops take and give it. Entries need no
/// order (see sparse::reorder).
struct SparseTensor {
  Tensor indices;    ///< i64 [entries, rank]; out of range: padding
  Tensor values;     ///< [entries]
  Shape dense_shape; ///< global extents
  /// Number of dims.
  int64_t rank() const { return int64_t(dense_shape.size()); }
  /// Type of the values.
  DType dtype() const { return values.dtype(); }
};

/// A matrix by rows (compressed sparse rows): the entries of row i are
/// row_splits[i] to row_splits[i + 1] - 1. Entries behind the last row are
/// padding.
struct CSRMatrix {
  Tensor values;         ///< [entries]
  Tensor column_indices; ///< i64 [entries]
  Tensor row_splits;     ///< i64 [rows + 1]
  Shape dense_shape;     ///< {rows, columns}
  /// Type of the values.
  DType dtype() const { return values.dtype(); }
};

/// Ops on sparse tensors, with TensorFlow's names. All throw meshloom::Error if
/// the tensors of a structure do not fit each other, or types do not.
namespace sparse {

/// The elements of x that are not 0. `size`: the number of entries, those that
/// are left are padding, and elements that do not fit are left out; default,
/// outside of a `function` only, as many as it takes. The gradient of x is that
/// of the values, 0 elsewhere.
[[nodiscard]] SparseTensor from_dense(const Tensor &x,
                                      std::optional<int64_t> size = {},
                                      Where loc = Where::current());
/// The dense tensor: 0 where there is no entry.
[[nodiscard]] Tensor to_dense(const SparseTensor &x,
                              Where loc = Where::current());
/// The dense matrix.
[[nodiscard]] Tensor to_dense(const CSRMatrix &x, Where loc = Where::current());
/// By rows; entries of a row keep their order. Throws meshloom::Error unless x
/// is a matrix.
[[nodiscard]] CSRMatrix to_csr(const SparseTensor &x,
                               Where loc = Where::current());
/// With an index for each entry.
[[nodiscard]] SparseTensor to_coo(const CSRMatrix &x,
                                  Where loc = Where::current());

/// Entries in row-major order of their indices, padding last; equal indices
/// stay apart.
[[nodiscard]] SparseTensor reorder(const SparseTensor &x,
                                   Where loc = Where::current());
/// Dim i of the result is dim perm[i] of x; default: reversed.
[[nodiscard]] SparseTensor transpose(const SparseTensor &x,
                                     std::vector<int64_t> perm = {},
                                     Where loc = Where::current());
/// Returns the same entries, in the row-major order of a different shape. One
/// extent may be -1.
[[nodiscard]] SparseTensor reshape(const SparseTensor &x, Shape shape,
                                   Where loc = Where::current());
/// `f` of the values, such as a product by a number. It has to keep their
/// number.
[[nodiscard]] SparseTensor
map_values(const SparseTensor &x,
           const std::function<Tensor(const Tensor &)> &f,
           Where loc = Where::current());
/// The entries for which `keep` i1 [entries] holds; others become padding.
[[nodiscard]] SparseTensor retain(const SparseTensor &x, const Tensor &keep,
                                  Where loc = Where::current());
/// The entries of both: their sum. Throws meshloom::Error if shapes differ.
[[nodiscard]] SparseTensor add(const SparseTensor &x, const SparseTensor &y,
                               Where loc = Where::current());
/// A dense tensor with the entries added.
[[nodiscard]] Tensor add(const SparseTensor &x, const Tensor &y,
                         Where loc = Where::current());
/// Entries times the elements of `y`, of x's shape, at their places.
[[nodiscard]] SparseTensor multiply(const SparseTensor &x, const Tensor &y,
                                    Where loc = Where::current());
/// Joins the parts along `axis`. Throws meshloom::Error if there is no part, or
/// if extents along the remaining axes differ.
[[nodiscard]] SparseTensor concat(const std::vector<SparseTensor> &parts,
                                  int64_t axis, Where loc = Where::current());

/// The options of sparse_dense_matmul.
struct MatMulOptions {
  bool adjoint_a = false; ///< a^H in place of a
  bool adjoint_b = false; ///< b^H in place of b
};
/// a [m, k], b [k, n] or [k] -> [m, n] or [m]: costs n times the entries.
/// Gradients flow to a's values and to b.
[[nodiscard]] Tensor sparse_dense_matmul(const SparseTensor &a, const Tensor &b,
                                         MatMulOptions options = {},
                                         Where loc = Where::current());
/// The same of a matrix by rows.
[[nodiscard]] Tensor sparse_dense_matmul(const CSRMatrix &a, const Tensor &b,
                                         MatMulOptions options = {},
                                         Where loc = Where::current());

/// Sums of the elements along dims, dense.
[[nodiscard]] Tensor reduce_sum(const SparseTensor &x,
                                const Axis &axis = Axis(),
                                bool keepdims = false,
                                Where loc = Where::current());
/// The largest entry along dims, dense; 0 where there is none, as in
/// TensorFlow. Equal indices have to be apart.
[[nodiscard]] Tensor reduce_max(const SparseTensor &x,
                                const Axis &axis = Axis(),
                                bool keepdims = false,
                                Where loc = Where::current());
/// exp(x) by the sum of exp of the entries along the last dim.
[[nodiscard]] SparseTensor softmax(const SparseTensor &x,
                                   Where loc = Where::current());

} // namespace sparse

/// Indices, values and shape.
std::ostream &operator<<(std::ostream &, const SparseTensor &);

} // namespace meshloom
