// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixProduct.h"

#include <algorithm>
#include <limits>
#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
/// The loops of a kind as one: iterations, and strides of lhs, rhs and out.
struct MergedLoop {
  int64_t extent = 1;
  std::array<int64_t, 3> strides{};
};
} // namespace

/// Merges the loops with this letter, or returns nothing where some operand
/// does not step through them evenly. An outer loop has the larger stride in
/// the result, or in the left operand where it is summed.
static std::optional<MergedLoop>
mergeLoops(char letter, const ProductKind &kind,
           std::span<const int64_t> extents,
           std::array<std::span<const int64_t>, 3> strides) {
  std::vector<MergedLoop> loops;
  for (size_t loop = 0; loop < extents.size(); ++loop)
    if (kind.loops[loop] == letter && extents[loop] != 1)
      loops.push_back({extents[loop],
                       {strides[0][loop], strides[1][loop], strides[2][loop]}});
  const size_t sortedBy = letter == 'k' ? 0 : 2;
  std::ranges::stable_sort(loops, std::greater(), [&](const MergedLoop &loop) {
    return loop.strides[sortedBy];
  });
  MergedLoop merged;
  for (const MergedLoop &loop : loops) {
    for (size_t operand = 0; operand < 3; ++operand)
      if (merged.extent != 1 &&
          merged.strides[operand] != loop.strides[operand] * loop.extent)
        return std::nullopt;
    merged = {merged.extent * loop.extent, loop.strides};
  }
  return merged;
}

/// A matrix of `rows` x `columns` with these strides, or nothing where neither
/// dim is contiguous.
static std::optional<MatrixProduct::Operand> placeMatrix(int64_t rows,
                                                         int64_t columns,
                                                         int64_t rowStride,
                                                         int64_t columnStride) {
  auto place = [](int64_t length, int64_t stride, int64_t count,
                  int64_t pitch) -> std::optional<int64_t> {
    if (length != 1 && stride != 1)
      return std::nullopt;
    if (count == 1)
      return length;
    return pitch >= length ? std::optional(pitch) : std::nullopt;
  };
  const auto byColumns = place(rows, rowStride, columns, columnStride),
             byRows = place(columns, columnStride, rows, rowStride);
  if (!byColumns && !byRows)
    return std::nullopt;
  // One row is contiguous both ways, and longer as a row.
  const bool isTransposed = !byColumns || (byRows && rows == 1);
  return MatrixProduct::Operand{.isTransposed = isTransposed,
                                .pitch = isTransposed ? *byRows : *byColumns};
}

std::optional<MatrixProduct>
MatrixProduct::of(const ProductKind &kind, std::span<const int64_t> extents,
                  std::array<std::span<const int64_t>, 3> strides,
                  std::array<int64_t, 3> alignments) {
  if (std::ranges::any_of(extents, [](int64_t extent) { return extent <= 0; }))
    return std::nullopt;
  auto batch = mergeLoops('b', kind, extents, strides),
       row = mergeLoops('m', kind, extents, strides),
       column = mergeLoops('n', kind, extents, strides),
       term = mergeLoops('k', kind, extents, strides);
  if (!batch || !row || !column || !term)
    return std::nullopt;
  constexpr int64_t longest = std::numeric_limits<int32_t>::max();
  for (const auto &loop : {batch, row, column, term})
    if (loop->extent > longest)
      return std::nullopt;
  size_t indexOfA = 0, indexOfB = 1;
  auto out = placeMatrix(row->extent, column->extent, row->strides[2],
                         column->strides[2]);
  const bool swaps = out && out->isTransposed;
  if (swaps) {
    std::swap(indexOfA, indexOfB);
    std::swap(row, column);
    out->isTransposed = false;
  }
  auto a = placeMatrix(row->extent, term->extent, row->strides[indexOfA],
                       term->strides[indexOfA]);
  auto b = placeMatrix(term->extent, column->extent, term->strides[indexOfB],
                       column->strides[indexOfB]);
  if (!a || !b || !out)
    return std::nullopt;
  for (auto [operand, index] :
       {std::pair(&*a, indexOfA), std::pair(&*b, indexOfB),
        std::pair(&*out, 2UL)}) {
    operand->batchStride = batch->strides[index];
    operand->alignment = alignments[index];
  }
  return MatrixProduct{.type = kind.type,
                       .resultType = kind.resultType(),
                       .rows = row->extent,
                       .columns = column->extent,
                       .terms = term->extent,
                       .batches = batch->extent,
                       .a = *a,
                       .b = *b,
                       .out = *out,
                       .swapsOperands = swaps};
}

bool MatrixProduct::setEpilogue(const Epilogue &wanted, const ProductKind &kind,
                                std::span<const int64_t> extents,
                                const EpilogueStrides &strides) {
  const char rowLetter = swapsOperands ? 'n' : 'm';
  const char columnLetter = swapsOperands ? 'm' : 'n';
  // The distance of a vector's elements, if it has one for each row or column.
  auto distance = [&](size_t loop, char letter) {
    if (kind.loops[loop] != letter)
      return int64_t(0);
    return strides.result[loop] / (letter == rowLetter ? 1 : out.pitch);
  };
  auto lies = [&](std::span<const int64_t> vector, size_t loop, char letter) {
    return vector.empty() || vector[loop] == distance(loop, letter);
  };
  const char sumLetter =
      wanted.summed == Epilogue::Summed::ColumnsOfB ? columnLetter : rowLetter;
  for (size_t loop = 0; loop < extents.size(); ++loop)
    if (extents[loop] != 1 &&
        (!lies(strides.bias, loop, rowLetter) ||
         !lies(strides.sum, loop, sumLetter) ||
         (!strides.auxiliary.empty() &&
          strides.auxiliary[loop] != strides.result[loop])))
      return false;
  constexpr int64_t pitchUnit = 8, alignment = 16; // the library's rules
  if (batches != 1 || (!strides.auxiliary.empty() &&
                       (out.pitch % pitchUnit != 0 ||
                        wanted.auxiliaryAlignment % alignment != 0)))
    return false;
  epilogue = wanted;
  return true;
}
