// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Embeddings of rows of ids of different lengths, combined to one vector a row,
// with TensorFlow's names.
//
//   auto ids = ragged::constant({{3, 1}, {}, {4}});
//   Tensor y = nn::embedding_lookup_sparse(table, ids, Combiner::Mean);
//
// A row without ids gives zeros. The table may be sharded along both dims: a
// device gives the rows that it has, and a sum over devices ends it. Gradients
// flow to the table and to weights, and cost as much as there are ids.
#pragma once

#include "meshloom/API/Ragged.h"
#include "meshloom/API/Sparse.h"

namespace meshloom {

/// How the vectors of a row are combined; each counts by its weight.
enum class Combiner : uint8_t {
  Sum,  ///< the weighted sum
  Mean, ///< that divided by the sum of weights
  SqrtN ///< that divided by the root of the sum of squared weights
};

namespace nn {

/// table [n, r...], ids of integers -> [rows, r...]. Weights are 1 or those of
/// `weights` [capacity]. Throws meshloom::Error if the ids are not integers, if
/// there is not one weight for each, or, outside of a `function`, if an id is
/// out of range.
[[nodiscard]] Tensor embedding_lookup_sparse(const Tensor &table,
                                             const RaggedTensor &ids,
                                             Combiner combiner = Combiner::Mean,
                                             const Tensor &weights = Tensor(),
                                             Where loc = Where::current());
/// The same of a sparse matrix [rows, m] of ids, whose columns do not matter.
[[nodiscard]] Tensor embedding_lookup_sparse(const Tensor &table,
                                             const SparseTensor &ids,
                                             Combiner combiner = Combiner::Mean,
                                             const Tensor &weights = Tensor(),
                                             Where loc = Where::current());
/// The same, where ids below 0 and weights of 0 and below are left out, and
/// rows without ids take that of `default_id`; without it zeros.
[[nodiscard]] Tensor safe_embedding_lookup_sparse(
    const Tensor &table, const RaggedTensor &ids,
    Combiner combiner = Combiner::Mean, const Tensor &weights = Tensor(),
    std::optional<int64_t> default_id = {}, Where loc = Where::current());
/// The same of a sparse matrix of ids.
[[nodiscard]] Tensor safe_embedding_lookup_sparse(
    const Tensor &table, const SparseTensor &ids,
    Combiner combiner = Combiner::Mean, const Tensor &weights = Tensor(),
    std::optional<int64_t> default_id = {}, Where loc = Where::current());

} // namespace nn
} // namespace meshloom
