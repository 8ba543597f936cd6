// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Embeddings of rows of ids: a gather, weights and sums by segments; see
// EmbeddingLookup.h.
#include "meshloom/API/EmbeddingLookup.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Segments.h"

#include <fmt/format.h>

namespace meshloom::nn {
using namespace detail;

namespace {

/// Ids as a list, each with its row; `rows` for those that do not count.
struct IdList {
  Tensor ids, rows;
  int64_t count; ///< of rows
};

IdList listOf(const RaggedTensor &ids, Where loc) {
  return {ids.values, ids.value_rowids(loc), ids.nrows()};
}

IdList listOf(const SparseTensor &ids, std::string_view op, Where loc) {
  nodeOf(ids.indices, op, &loc);
  nodeOf(ids.values, op, &loc);
  if (ids.rank() != 2 || ids.values.rank() != 1 ||
      !isInteger(ids.indices.dtype()) ||
      ids.indices.shape() != Shape{ids.values.shape()[0], 2})
    fail(op,
         fmt::format("expected a sparse matrix [rows, m] of ids, got indices "
                     "{}, values {} and the shape {}",
                     typeText(ids.indices), typeText(ids.values),
                     shapeText(ids.dense_shape)),
         &loc);
  auto index = [&](int64_t d) {
    Tensor column = slice(ids.indices, {0, d}, {ids.values.shape()[0], 1}, loc);
    return cast(reshape(column, {-1}, loc), DType::I64, loc);
  };
  Tensor row = index(0), column = index(1);
  Tensor isIn =
      logical_and({logical_and({greater_equal({row, loc}, {0, loc}), loc},
                               {greater_equal({column, loc}, {0, loc}), loc}),
                   loc},
                  {less({column, loc}, {ids.dense_shape[1], loc}), loc});
  const int64_t rows = ids.dense_shape[0];
  return {ids.values, where({isIn, loc}, {row, loc}, {rows, loc}), rows};
}

/// [rows, 1...] of `rank` dims.
Tensor besideRows(const Tensor &vector, int64_t rank, Where loc) {
  Shape shape(size_t(rank), 1);
  shape[0] = vector.shape()[0];
  return reshape(vector, shape, loc);
}

Tensor lookUp(std::string_view op, const Tensor &table, IdList list,
              Combiner combiner, const Tensor &weights, bool isSafe,
              std::optional<int64_t> default_id, Where loc) {
  if (nodeOf(table, op, &loc).shape.empty() || table.shape()[0] == 0)
    fail(op,
         fmt::format("expected a table [n, ...] with rows, got {}",
                     typeText(table)),
         &loc);
  expectFloat(table, op, loc);
  if (list.ids.rank() != 1 || !isInteger(list.ids.dtype()))
    fail(op,
         fmt::format("expected ids that are integers [n], got {}",
                     typeText(list.ids)),
         &loc);
  if (weights.defined() &&
      (nodeOf(weights, op, &loc).shape != list.ids.shape() ||
       weights.dtype() != table.dtype()))
    fail(op,
         fmt::format("expected a weight for each id, {}, got {}",
                     typeText(table.dtype(), list.ids.shape()),
                     typeText(weights)),
         &loc);
  const int64_t n = list.ids.shape()[0], rank = table.rank();
  Shape result = table.shape();
  result[0] = list.count;
  Tensor counts = less({list.rows, loc}, {list.count, loc});
  Tensor ids = cast(list.ids, DType::I64, loc);
  if (isSafe) {
    counts =
        logical_and({counts, loc}, {greater_equal({ids, loc}, {0, loc}), loc});
    if (weights.defined())
      counts =
          logical_and({counts, loc}, {greater({weights, loc}, {0, loc}), loc});
  }
  Tensor rows = where({counts, loc}, {list.rows, loc}, {list.count, loc});
  Tensor sum = zeros(result, table.dtype(), loc);
  Tensor weight = weights.defined() ? weights : ones({n}, table.dtype(), loc);
  if (n > 0) {
    // Ids of padding are any: only those that count are looked at.
    Tensor vectors =
        gather(table, where({counts, loc}, {ids, loc}, {0, loc}), 0, 0, loc);
    Tensor terms =
        weights.defined()
            ? multiply({vectors, loc}, {besideRows(weight, rank, loc), loc})
            : vectors;
    sum = segment_sum(terms, rows, list.count, loc);
  }
  if (combiner != Combiner::Sum) {
    Tensor parts = combiner == Combiner::Mean ? weight : square(weight, loc);
    Tensor whole = segment_sum(parts, rows, list.count, loc);
    // The sum of no ids is 0, whatever it is divided by.
    Tensor isZero = equal({whole, loc}, {0, loc});
    whole = where({isZero, loc}, {1, loc}, {whole, loc});
    if (combiner == Combiner::SqrtN)
      whole = sqrt(whole, loc);
    sum = divide({sum, loc}, {besideRows(whole, rank, loc), loc});
  }
  if (!default_id)
    return sum;
  Tensor usual = gather(table, tensor(*default_id, loc), 0, 0, loc);
  Tensor found = segment_sum(ones({n}, DType::I64, loc), rows, list.count, loc);
  Tensor isEmpty = besideRows(equal({found, loc}, {0, loc}), rank, loc);
  return where({isEmpty, loc}, {usual, loc}, {sum, loc});
}

} // namespace

Tensor embedding_lookup_sparse(const Tensor &table, const RaggedTensor &ids,
                               Combiner combiner, const Tensor &weights,
                               Where loc) {
  constexpr std::string_view op = "embedding_lookup_sparse";
  const CallName name(op);
  return lookUp(op, table, listOf(ids, loc), combiner, weights, false, {}, loc);
}

Tensor embedding_lookup_sparse(const Tensor &table, const SparseTensor &ids,
                               Combiner combiner, const Tensor &weights,
                               Where loc) {
  constexpr std::string_view op = "embedding_lookup_sparse";
  const CallName name(op);
  return lookUp(op, table, listOf(ids, op, loc), combiner, weights, false, {},
                loc);
}

Tensor safe_embedding_lookup_sparse(const Tensor &table,
                                    const RaggedTensor &ids, Combiner combiner,
                                    const Tensor &weights,
                                    std::optional<int64_t> default_id,
                                    Where loc) {
  constexpr std::string_view op = "safe_embedding_lookup_sparse";
  const CallName name(op);
  return lookUp(op, table, listOf(ids, loc), combiner, weights, true,
                default_id, loc);
}

Tensor safe_embedding_lookup_sparse(const Tensor &table,
                                    const SparseTensor &ids, Combiner combiner,
                                    const Tensor &weights,
                                    std::optional<int64_t> default_id,
                                    Where loc) {
  constexpr std::string_view op = "safe_embedding_lookup_sparse";
  const CallName name(op);
  return lookUp(op, table, listOf(ids, op, loc), combiner, weights, true,
                default_id, loc);
}

} // namespace meshloom::nn
