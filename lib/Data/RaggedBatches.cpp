// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of ragged and sparse tensors, and batches of them; see RaggedBatches.h.
#include "meshloom/Data/RaggedBatches.h"

#include "BatchStep.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace meshloom::data::detail {

namespace {

/// The bytes of i64 numbers as a tensor.
HostArray numbersOf(const std::vector<int64_t> &numbers, Shape shape) {
  std::vector<char> bytes(numbers.size() * sizeof(int64_t));
  if (!bytes.empty())
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return HostArray(DType::I64, std::move(shape), std::move(bytes));
}

std::vector<int64_t> readNumbers(const Tensor &tensor) {
  return tensor.to_vector<int64_t>();
}

/// Elements that a function of their index makes of what is in memory.
class RowSource : public Source {
public:
  RowSource(int64_t rows, std::function<Element(int64_t)> row)
      : rows(rows), row(std::move(row)) {}
  int64_t cardinality() const override { return rows; }
  std::string_view name() const override { return "from_tensor_slices"; }
  std::unique_ptr<Cursor> open(const Opening &) const override {
    return cursorOver(rows, row);
  }

private:
  int64_t rows;
  std::function<Element(int64_t)> row;
};

/// For how many values a batch of `needed` has room. Throws where they do not
/// fit.
int64_t roomFor(std::string_view step, int64_t needed, int64_t capacity,
                int64_t first, size_t count) {
  if (capacity > 0 && needed > capacity)
    Error(fmt::format("[{}] elements {} to {} have {} values, more than the "
                      "capacity of {}: "
                      "give a larger one, or smaller batches",
                      step, first, first + int64_t(count) - 1, needed,
                      capacity))
        .raise();
  return capacity > 0 ? capacity : needed;
}

/// Returns the tensors `v`, one after the other along their first dim, and
/// zeros.
HostArray glued(std::string_view step, std::span<const Element> elements,
                size_t v, int64_t room, int64_t first) {
  const HostArray &model = elements.front().values[v];
  Shape shape = model.shape();
  std::vector<char> bytes;
  for (size_t i = 0; i < elements.size(); ++i) {
    const HostArray value = elements[i].values[v].inMemory();
    const bool fits = value.dtype() == model.dtype() &&
                      !value.shape().empty() &&
                      value.shape().size() == model.shape().size() &&
                      std::equal(value.shape().begin() + 1, value.shape().end(),
                                 model.shape().begin() + 1);
    if (!fits)
      Error(fmt::format("[{}] expected tensors that differ in their first dim "
                        "only, got {} "
                        "in element {} and {} in element {} (tensor {})",
                        step, model.typeText(), first, value.typeText(),
                        first + int64_t(i), v))
          .raise();
    bytes.insert(bytes.end(), value.data(), value.data() + value.byteCount());
  }
  shape.front() = 1;
  bytes.resize(size_t(elementCount(shape) * byteWidth(model.dtype()) * room));
  shape.front() = room;
  return HostArray(model.dtype(), std::move(shape), std::move(bytes));
}

void expectBatch(std::string_view step, int64_t size,
                 const RaggedBatchOptions &options) {
  expect(size >= 1, step, "a batch of at least one element", size);
  expect(options.capacity >= 0, step, "a capacity of at least 0",
         options.capacity);
}

int64_t lengthOf(std::string_view step, const Element &element, int64_t index) {
  const Shape &shape = element.values.front().shape();
  if (shape.empty())
    Error(fmt::format("[{}] expected tensors [length, ...], got {} in "
                      "element {}",
                      step, element.typeText(), index))
        .raise();
  return shape.front();
}

} // namespace

void expectAsManyRows(std::initializer_list<int64_t> counts) {
  for (int64_t count : counts)
    if (count != *counts.begin())
      Error(fmt::format("[from_tensor_slices] expected tensors with equally "
                        "many rows, got {} and {}",
                        *counts.begin(), count))
          .raise();
}

SourcePtr raggedSlices(const RaggedTensor &rows) {
  // Checks them, too.
  const RaggedTensor whole =
      RaggedTensor::from_row_splits(rows.values, rows.row_splits);
  auto ends = std::make_shared<const std::vector<int64_t>>(
      readNumbers(whole.row_splits));
  const int64_t count = whole.nrows();
  return std::make_shared<RowSource>(
      count, [ends, values = HostArray(whole.values).inMemory()](int64_t i) {
        const int64_t begin = (*ends)[size_t(i)], end = (*ends)[size_t(i) + 1];
        return Element{{values.rows(begin, end)}, nullptr};
      });
}

SourcePtr sparseSlices(const SparseTensor &rows) {
  if (rows.dense_shape.empty())
    Error("[from_tensor_slices] expected a sparse tensor with a first "
          "dim, got a scalar")
        .raise();
  const SparseTensor whole = sparse::reorder(rows);
  const int64_t rank = whole.rank(), entries = whole.values.shape()[0];
  const std::vector<int64_t> indices = readNumbers(whole.indices);
  const int64_t count = whole.dense_shape.front();
  // Where each row begins; padding is behind all of them.
  std::vector<int64_t> begins(size_t(count) + 1, 0);
  for (int64_t e = 0; e < entries; ++e) {
    bool isIn = true;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t index = indices[size_t(e * rank + d)];
      isIn &= index >= 0 && index < whole.dense_shape[size_t(d)];
    }
    if (isIn)
      ++begins[size_t(indices[size_t(e * rank)]) + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  SparseTensor model;
  model.dense_shape.assign(whole.dense_shape.begin() + 1,
                           whole.dense_shape.end());
  auto skeleton =
      std::make_shared<const TypedSkeleton<SparseTensor>>(std::move(model));
  return std::make_shared<RowSource>(
      count, [=, values = HostArray(whole.values).inMemory()](int64_t i) {
        const int64_t begin = begins[size_t(i)], end = begins[size_t(i) + 1];
        std::vector<int64_t> inRow;
        for (int64_t e = begin; e < end; ++e)
          for (int64_t d = 1; d < rank; ++d)
            inRow.push_back(indices[size_t(e * rank + d)]);
        return Element{{numbersOf(inRow, {end - begin, rank - 1}),
                        values.rows(begin, end)},
                       skeleton};
      });
}

SourcePtr raggedBatch(SourcePtr input, int64_t size,
                      const RaggedBatchOptions &options, Join skeleton) {
  static constexpr std::string_view step = "ragged_batch";
  expectBatch(step, size, options);
  return std::make_shared<BatchStep>(
      std::move(input), step, size, options.drop_remainder,
      [capacity = options.capacity, skeleton = std::move(skeleton)](
          std::span<const Element> elements, int64_t first) {
        checkAlike(step, elements, first);
        std::vector<int64_t> splits{0};
        for (size_t i = 0; i < elements.size(); ++i)
          splits.push_back(splits.back() +
                           lengthOf(step, elements[i], first + int64_t(i)));
        const int64_t room =
            roomFor(step, splits.back(), capacity, first, elements.size());
        Element batch;
        batch.skeleton = skeleton(elements);
        batch.values.push_back(glued(step, elements, 0, room, first));
        batch.values.push_back(numbersOf(splits, {int64_t(splits.size())}));
        for (size_t v = 1; v < elements.front().values.size(); ++v)
          batch.values.push_back(stackedValue(step, elements, v, first));
        return batch;
      });
}

SourcePtr sparseBatch(SourcePtr input, int64_t size,
                      const RaggedBatchOptions &options, Join skeleton) {
  static constexpr std::string_view step = "sparse_batch";
  expectBatch(step, size, options);
  return std::make_shared<BatchStep>(
      std::move(input), step, size, options.drop_remainder,
      [capacity = options.capacity, skeleton = std::move(skeleton)](
          std::span<const Element> elements, int64_t first) {
        meshloom::detail::HostScope host;
        checkAlike(step, elements, first);
        int64_t needed = 0, rank = 0;
        std::vector<int64_t> indices;
        for (size_t i = 0; i < elements.size(); ++i) {
          const HostArray value = elements[i].values[0].inMemory();
          const int64_t entries =
              lengthOf(step, elements[i], first + int64_t(i));
          needed += entries;
          rank = value.shape()[1];
          std::vector<int64_t> numbers =
              readNumbers(cast(value.tensor(), DType::I64));
          for (int64_t e = 0; e < entries; ++e) {
            indices.push_back(int64_t(i));
            indices.insert(indices.end(), numbers.begin() + e * rank,
                           numbers.begin() + (e + 1) * rank);
          }
        }
        const int64_t room =
            roomFor(step, needed, capacity, first, elements.size());
        // Padding is out of range in the first dim.
        for (int64_t e = needed; e < room; ++e) {
          indices.push_back(int64_t(elements.size()));
          indices.insert(indices.end(), size_t(rank), 0);
        }
        Element batch;
        batch.skeleton = skeleton(elements);
        batch.values.push_back(numbersOf(indices, {room, rank + 1}));
        batch.values.push_back(glued(step, elements, 1, room, first));
        for (size_t v = 2; v < elements.front().values.size(); ++v)
          batch.values.push_back(stackedValue(step, elements, v, first));
        return batch;
      });
}

} // namespace meshloom::data::detail
