// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets of ragged and sparse tensors: rows as elements, and elements of
// different lengths as batches.
//
//   auto batches = data::ragged_batch(
//       data::from_tensor_slices(words, labels).shuffle(1000), 32,
//       {.capacity = 4096});
//   for (auto [words, labels] : batches) // RaggedTensor, Tensor
//     step(words, labels);
//
// Rows are plain tensors, so `padded_batch` makes dense batches of them.
#pragma once

#include "meshloom/API/Ragged.h"
#include "meshloom/API/Sparse.h"
#include "meshloom/Data/Dataset.h"

namespace meshloom::data {

/// See ragged_batch and sparse_batch.
struct RaggedBatchOptions {
  /// For how many values (entries) a batch has room: what is not needed is
  /// padding, so that all batches have one shape. 0: as many as there are. A
  /// batch that has more is an error.
  int64_t capacity = 0;
  /// Says whether a last batch that is short is left out.
  bool drop_remainder = false;
};

namespace detail {
template <typename T>
concept RaggedOrSparse =
    std::is_same_v<T, RaggedTensor> || std::is_same_v<T, SparseTensor>;

SourcePtr raggedSlices(const RaggedTensor &rows);
SourcePtr sparseSlices(const SparseTensor &rows);
template <typename T> auto slicesOf(const T &rows) {
  if constexpr (std::is_same_v<T, RaggedTensor>)
    return Dataset<Tensor>(raggedSlices(rows));
  else if constexpr (std::is_same_v<T, SparseTensor>)
    return Dataset<SparseTensor>(sparseSlices(rows));
  else
    return Dataset<T>(fromSlices(elementOf(rows)));
}
/// Throws where datasets that are given together differ in their lengths.
void expectAsManyRows(std::initializer_list<int64_t> counts);

SourcePtr raggedBatch(SourcePtr input, int64_t size,
                      const RaggedBatchOptions &options, Join skeleton);
SourcePtr sparseBatch(SourcePtr input, int64_t size,
                      const RaggedBatchOptions &options, Join skeleton);

/// Tensor to `Whole`; of a pair or tuple the first part.
template <typename Row, typename Whole, typename T>
auto withFirst(const T &value) {
  if constexpr (std::is_same_v<T, Row>)
    return Whole{};
  else
    return std::apply(
        [](const Row &, const auto &...others) {
          return structured(Whole{}, others...);
        },
        value);
}
template <typename Row, typename T> inline constexpr bool beginsWith = false;
template <typename Row> inline constexpr bool beginsWith<Row, Row> = true;
template <typename Row, typename B>
inline constexpr bool beginsWith<Row, std::pair<Row, B>> = true;
template <typename Row, typename... B>
inline constexpr bool beginsWith<Row, std::tuple<Row, B...>> = true;

/// The structure of a batch without its tensors.
template <typename Row, typename Whole, typename T> Join batchSkeleton() {
  return [](std::span<const Element> elements) {
    const Element &model = elements.front();
    const std::vector<Tensor> none(model.values.size());
    auto whole = withFirst<Row, Whole>(
        structureOf<T>(model.skeleton.get(), std::span<const Tensor>(none)));
    if constexpr (std::is_same_v<Whole, SparseTensor>) {
      const T row =
          structureOf<T>(model.skeleton.get(), std::span<const Tensor>(none));
      auto extend = [&](SparseTensor &batch, const SparseTensor &one) {
        batch.dense_shape = one.dense_shape;
        batch.dense_shape.insert(batch.dense_shape.begin(),
                                 int64_t(elements.size()));
      };
      if constexpr (std::is_same_v<T, SparseTensor>)
        extend(whole, row);
      else
        extend(std::get<0>(whole), std::get<0>(row));
    }
    return std::make_shared<TypedSkeleton<decltype(whole)>>(std::move(whole));
  };
}
/// The rows of several tensors at once, whose errors name `where`.
template <typename... T>
auto raggedSlices(const std::source_location &where, const T &...parts) {
  return meshloom::detail::atLine(where, [&] {
    if constexpr (sizeof...(T) == 1) {
      return (slicesOf(parts), ...);
    } else {
      expectAsManyRows({slicesOf(parts).cardinality()...});
      return zip(slicesOf(parts)...);
    }
  });
}
} // namespace detail

/// One element for each row of a ragged tensor, a tensor [length, ...]; of a
/// sparse one a sparse tensor of one dim less; of tensors as without this
/// header. Two or three arguments become pairs or tuples. Throws
/// meshloom::Error if their numbers of rows differ.
template <detail::RaggedOrSparse X>
auto from_tensor_slices(
    const X &x, std::source_location where = std::source_location::current()) {
  return detail::raggedSlices(where, x);
}
/// See above.
template <typename X, typename Y>
  requires(detail::RaggedOrSparse<X> || detail::RaggedOrSparse<Y>)
auto from_tensor_slices(
    const X &x, const Y &y,
    std::source_location where = std::source_location::current()) {
  return detail::raggedSlices(where, x, y);
}
/// See above.
template <typename X, typename Y, typename Z>
  requires(detail::RaggedOrSparse<X> || detail::RaggedOrSparse<Y> ||
           detail::RaggedOrSparse<Z>)
auto from_tensor_slices(
    const X &x, const Y &y, const Z &z,
    std::source_location where = std::source_location::current()) {
  return detail::raggedSlices(where, x, y, z);
}

/// `size` elements as one batch: a tensor [length, ...], of a pair or tuple the
/// first part, becomes a RaggedTensor of `size` rows; other tensors are stacked
/// as in `batch`. Throws meshloom::Error, when it is made, if a tensor has no
/// dim of its own, if the other extents differ, or if the capacity does not
/// suffice.
template <typename T>
auto ragged_batch(const Dataset<T> &dataset, int64_t size,
                  const RaggedBatchOptions &options = {}) {
  static_assert(detail::beginsWith<Tensor, T>,
                "ragged_batch takes datasets of tensors, or of pairs or tuples "
                "that begin with one");
  using Whole = decltype(detail::withFirst<Tensor, RaggedTensor>(
      std::declval<const T &>()));
  return Dataset<Whole>(
      detail::raggedBatch(dataset.source(), size, options,
                          detail::batchSkeleton<Tensor, RaggedTensor, T>()));
}

/// Batches sparse tensors, which become one sparse tensor with one dim more.
template <typename T>
auto sparse_batch(const Dataset<T> &dataset, int64_t size,
                  const RaggedBatchOptions &options = {}) {
  static_assert(detail::beginsWith<SparseTensor, T>,
                "sparse_batch takes datasets of sparse tensors, or of pairs or "
                "tuples that begin with one");
  using Whole = decltype(detail::withFirst<SparseTensor, SparseTensor>(
      std::declval<const T &>()));
  return Dataset<Whole>(detail::sparseBatch(
      dataset.source(), size, options,
      detail::batchSkeleton<SparseTensor, SparseTensor, T>()));
}

} // namespace meshloom::data
