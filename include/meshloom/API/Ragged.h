// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RaggedTensor: rows of different lengths, as two tensors.
//
//   auto words = RaggedTensor::from_row_lengths(tensor({3, 1, 4, 1, 5}),
//                                               tensor({2, 0, 3}));
//   words.to_tensor(0, 3)    // [[3, 1, 0], [0, 0, 0], [4, 1, 5]]
//   reduce_sum(words, 1)     // [4, 0, 10]
//
// How many values the rows have together depends on values, but shapes do not:
// `values` may be longer than the rows say, and what is behind the last row is
// padding, which no op looks at. So a function that takes batches of one
// capacity is traced once.
#pragma once

#include "meshloom/API/Create.h"
#include "meshloom/API/Ops.h"

#include <functional>

namespace meshloom {

/// Row i is values[row_splits[i] : row_splits[i + 1]]. A structure of tensors:
/// functions, datasets and loops take and give it. Each of the two tensors may
/// have any layout; what is made of them follows from those.
struct RaggedTensor {
  /// The line of a call, for messages and reports.
  using Where = std::source_location;

  Tensor values;     ///< [capacity, r...]: the rows, one after the other
  Tensor row_splits; ///< i64 [rows + 1], from 0 on, never falling

  // How it is made. Integers of any type are taken. Outside of a `function`,
  // where their values are there, they are checked: meshloom::Error is thrown
  // if splits fall, do not start at 0 or go beyond the values, if lengths are
  // negative, or if row ids fall or are out of range.
  /// Made from the ends of rows: row_splits [rows + 1].
  static RaggedTensor from_row_splits(const Tensor &values,
                                      const Tensor &row_splits,
                                      Where loc = Where::current());
  /// Made from the length of each row: row_lengths [rows].
  static RaggedTensor from_row_lengths(const Tensor &values,
                                       const Tensor &row_lengths,
                                       Where loc = Where::current());
  /// Made from the row of each value, in rising order: value_rowids [capacity].
  /// Ids of padding are `nrows`. Without `nrows`, outside of a `function` only,
  /// the last one's row is the last.
  static RaggedTensor from_value_rowids(const Tensor &values,
                                        const Tensor &value_rowids,
                                        std::optional<int64_t> nrows = {},
                                        Where loc = Where::current());
  /// Made from x [rows, length, r...]: the first lengths[i] values of row i;
  /// without lengths all. `capacity`: how many values it has room for, default
  /// as many as x; those beyond it are left out.
  static RaggedTensor from_tensor(const Tensor &x,
                                  const Tensor &lengths = Tensor(),
                                  std::optional<int64_t> capacity = {},
                                  Where loc = Where::current());

  /// Number of rows.
  int64_t nrows() const;
  /// i64 [rows].
  Tensor row_lengths(Where loc = Where::current()) const;
  /// i64 [rows].
  Tensor row_starts(Where loc = Where::current()) const;
  /// i64 [rows].
  Tensor row_limits(Where loc = Where::current()) const;
  /// i64 [capacity]: the row of each value, `nrows` in padding.
  Tensor value_rowids(Where loc = Where::current()) const;
  /// i1 [capacity]: false in padding.
  Tensor is_value(Where loc = Where::current()) const;
  /// Type of the values.
  DType dtype() const { return values.dtype(); }

  /// [rows, length, r...]: rows that are shorter end in `default_value`, those
  /// that are longer are cut. Without a length, outside of a `function` only,
  /// the longest one's.
  Tensor to_tensor(double default_value = 0, std::optional<int64_t> length = {},
                   Where loc = Where::current()) const;
  /// i1 [rows, length]: where to_tensor has values.
  Tensor mask(std::optional<int64_t> length = {},
              Where loc = Where::current()) const;
  /// The same rows of `flat_values` [capacity, ...], such as
  /// `r.with_values(tanh(r.values))`. Throws meshloom::Error if there are not
  /// as many.
  RaggedTensor with_values(const Tensor &flat_values,
                           Where loc = Where::current()) const;
  /// Row i as a tensor [length, r...]. Outside of a `function` only. Throws
  /// meshloom::Error if there is no such row.
  Tensor row(int64_t i, Where loc = Where::current()) const;
  /// Rows `rows` [i] of this one, in that order; `capacity` as in from_tensor,
  /// default, outside of a `function` only, as it takes.
  RaggedTensor gather(const Tensor &rows, std::optional<int64_t> capacity = {},
                      Where loc = Where::current()) const;
  /// The values of rows that hold numbers, as a list of lists.
  template <typename T> std::vector<std::vector<T>> to_vector() const {
    const std::vector<int64_t> splits = row_splits.to_vector<int64_t>();
    const std::vector<T> elements = values.to_vector<T>();
    const int64_t width = elementCount(values.shape()) /
                          std::max<int64_t>(values.shape().front(), 1);
    std::vector<std::vector<T>> rows;
    for (size_t i = 0; i + 1 < splits.size(); ++i)
      rows.emplace_back(elements.begin() + splits[i] * width,
                        elements.begin() + splits[i + 1] * width);
    return rows;
  }
};

/// Ragged tensors of lists: ragged::constant({{3, 1}, {}, {4}}).
namespace ragged {
/// Made from rows of numbers.
template <typename T>
RaggedTensor
constant(const std::vector<std::vector<T>> &rows,
         std::source_location where = std::source_location::current()) {
  std::vector<T> values;
  std::vector<int64_t> splits{0};
  for (const std::vector<T> &row : rows) {
    values.insert(values.end(), row.begin(), row.end());
    splits.push_back(int64_t(values.size()));
  }
  return {tensor(values, {int64_t(values.size())}, where),
          tensor(splits, {int64_t(splits.size())}, where)};
}
/// Made from rows of numbers.
template <typename T>
RaggedTensor
constant(std::initializer_list<std::initializer_list<T>> rows,
         std::source_location where = std::source_location::current()) {
  return constant(std::vector<std::vector<T>>(rows.begin(), rows.end()), where);
}
/// `f` of the values: map_flat_values(r, tanh). It has to keep their number.
[[nodiscard]] RaggedTensor
map_flat_values(const RaggedTensor &x,
                const std::function<Tensor(const Tensor &)> &f,
                Where loc = Where::current());
/// Returns the rows of all parts, one after the other. Values are copied, and
/// padding goes to the end. Throws meshloom::Error if there is no part, or if
/// types or shapes of values differ.
[[nodiscard]] RaggedTensor concat(const std::vector<RaggedTensor> &parts,
                                  Where loc = Where::current());
/// exp(x) by the sum of exp of its row.
[[nodiscard]] RaggedTensor softmax(const RaggedTensor &x,
                                   Where loc = Where::current());
} // namespace ragged

// Along rows: `axis` is 1. Gradients flow to the values.
/// [rows, r...]: the sums of rows; 0 of empty ones.
[[nodiscard]] Tensor reduce_sum(const RaggedTensor &x, int64_t axis,
                                Where loc = Where::current());
/// The means of rows; nan of empty ones.
[[nodiscard]] Tensor reduce_mean(const RaggedTensor &x, int64_t axis,
                                 Where loc = Where::current());
/// The largest of each row; of empty ones the least number there is.
[[nodiscard]] Tensor reduce_max(const RaggedTensor &x, int64_t axis,
                                Where loc = Where::current());
/// The smallest of each row; of empty ones the largest number there is.
[[nodiscard]] Tensor reduce_min(const RaggedTensor &x, int64_t axis,
                                Where loc = Where::current());
/// The products of rows; 1 of empty ones.
[[nodiscard]] Tensor reduce_prod(const RaggedTensor &x, int64_t axis,
                                 Where loc = Where::current());
/// The rows, as nested lists.
std::ostream &operator<<(std::ostream &, const RaggedTensor &);

} // namespace meshloom
