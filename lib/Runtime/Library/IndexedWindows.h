// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IndexedWindows: where the indices of a gather or scatter put windows of a
// tensor. Indices are read in blocks, and become offsets in memory by loops
// over whole blocks, so a window of one number costs about a nanosecond.
#pragma once

#include "LibraryArrays.h"

#include <algorithm>
#include <array>
#include <span>

namespace meshloom::library {

/// The dimension numbers that a gather and a scatter have in common. "Tensor"
/// is the operand of a gather and the result of a scatter; "array" is what has
/// the windows side by side: the result of a gather, the updates of a scatter.
struct IndexDims {
  int64_t vectorDim = 0;           ///< the dim of the indices that is a vector
  std::vector<int64_t> indexMap;   ///< the tensor's dim of each vector entry
  std::vector<int64_t> wraps;      ///< what negative entries have added
  std::vector<unsigned> indexDims; ///< the other dims of the indices
  std::vector<unsigned> batchDims; ///< the same dims of the array
  /// Dims of the tensor whose index is the one of a batch dim.
  std::vector<std::pair<unsigned, size_t>> batching;
  std::vector<int> arrayDims; ///< of the tensor's dims, or -1
  Shape windowSizes;          ///< per dim of the tensor, of the whole window

  /// Reads the options that a gather and a scatter have in common. `map` is the
  /// name of the index map.
  void read(OptionReader &options, std::string_view map);
  /// Whether windows begin at different places along the tensor's dim.
  bool moves(size_t dim) const {
    return std::ranges::count(indexMap, int64_t(dim)) > 0 ||
           std::ranges::any_of(batching,
                               [&](auto &pair) { return pair.first == dim; });
  }
};

/// The part of a window that lies in a box of the tensor.
struct WindowPart {
  Shape extent, tensorStrides, arrayStrides;
  int64_t tensor = 0, array = 0; ///< elements to the first one
  bool empty = false;            ///< nothing of the window lies in the box
  bool missing = false;          ///< something of it does not

  /// Cuts the window that begins at `start`. `strides` are the strides of the
  /// box in memory.
  void cut(const Shape &start, const LibraryOperand &tensor,
           const Shape &strides, const LibraryOperand &array,
           const std::vector<int> &arrayDims);
  /// Returns how many of its elements lie one behind another in the tensor and
  /// the array.
  int64_t run() const;
  /// Returns whether all of them do.
  bool isOneRun() const { return run() == elementCount(extent); }
};

class IndexedWindows {
public:
  /// Says what happens to windows that do not lie in the tensor's bounds.
  enum class Outside : uint8_t { Clamped, Skipped };
  static constexpr int64_t BLOCK = 512;
  /// Elements of a box: of larger ones windows are never alike.
  using Offset = int32_t;

  /// Windows whose index vectors follow each other along one dim.
  struct Block {
    int64_t count;
    int64_t index; ///< the element of the indices that the first one begins at
    Shape batch;   ///< where the first one is in the batch dims
    Shape arrays;  ///< the first one's element of each array
  };

  /// `others`: the entries of index vectors behind the first one, where each
  /// entry is an array of its own.
  IndexedWindows(const IndexDims &dims, const LibraryOperand &indices,
                 const LibraryOperand &tensor,
                 std::span<const LibraryOperand> arrays, Outside outside,
                 std::span<const LibraryOperand> others = {});

  int64_t count() const;
  /// Whether each window lies in the box in the same way, or not at all.
  bool areAlike() const;
  /// Whether no window begins outside of the box along a dim that it moves in.
  bool areInBox() const;
  /// Whether two windows may have a part in common without being the same.
  bool mayOverlap() const;
  /// Where windows begin that lie in the box as all do.
  Shape typicalStart() const;
  /// Elements of array `a` from a window of a block to the next one.
  int64_t step(size_t a) const {
    return batch.empty() ? 0 : batch.back().arrayStrides[a];
  }

  /// Calls visit(block) for all blocks, in row-major order of the batch dims.
  template <typename Visit> void forEachBlock(const Visit &visit) const {
    if (count() == 0)
      return;
    Block block{1, 0, Shape(batch.size(), 0), Shape(numArrays, 0)};
    auto move = [&](const BatchDim &dim, int64_t by) {
      block.index += by * dim.indexStride;
      for (size_t a = 0; a < numArrays; ++a)
        block.arrays[a] += by * dim.arrayStrides[a];
    };
    while (true) {
      size_t d = batch.size();
      if (d > 0) {
        const BatchDim &inner = batch[--d];
        int64_t &position = block.batch[d];
        for (position = 0; position < inner.extent; position += BLOCK) {
          block.count = std::min(BLOCK, inner.extent - position);
          visit(std::as_const(block));
          move(inner, block.count);
        }
        move(inner, -inner.extent);
        position = 0;
      } else {
        visit(std::as_const(block));
      }
      while (d-- > 0) {
        move(batch[d], 1);
        if (++block.batch[d] < batch[d].extent)
          break;
        move(batch[d], -batch[d].extent);
        block.batch[d] = 0;
      }
      if (d == size_t(-1))
        return;
    }
  }

  /// For windows that are alike: how many elements behind typicalStart() each
  /// one of the block begins, by `strides` of the tensor's dims; negative where
  /// it does not lie in the box.
  void readOffsets(const Block &block, const Shape &strides,
                   Offset *offsets) const;
  /// Where window `i` of the block begins; false where it is skipped.
  bool readStart(const Block &block, int64_t i, Shape &start) const;

private:
  /// The data of entry `k` of the first index vector.
  const char *entryData(size_t k) const;

  struct BatchDim {
    int64_t extent, indexStride;
    Shape arrayStrides;
    bool isBatching = false;
  };

  const IndexDims &dims;
  const LibraryOperand &indices, &tensor;
  const Outside outside;
  const std::span<const LibraryOperand> others;
  int64_t entry = 0; ///< elements from an entry of an index vector to the next
  size_t numArrays = 0;
  std::vector<BatchDim> batch; ///< neighbours are one dim where they can be
  /// A batching dim of the tensor, its batch dim here, and its first index.
  struct Batching {
    unsigned dim;
    size_t place;
    int64_t begin;
  };
  std::vector<Batching> batching;
};

using WindowOffsets = std::span<const IndexedWindows::Offset>;

/// Windows of a block, in order.
using WindowList = std::array<uint16_t, IndexedWindows::BLOCK>;

/// Lists the windows of a block whose offset is not negative. Returns how many
/// they are.
size_t listPresent(WindowOffsets offsets, WindowList &present);
size_t listPresent(std::span<const int64_t> offsets, WindowList &present);

/// Calls visit(i) for each window `i` of a block that has an offset. Which ones
/// have is as random as indices are: it is no branch.
template <typename Offset, typename Visit>
[[gnu::always_inline]] inline void
forEachPresent(std::span<const Offset> offsets, const Visit &visit) {
  Offset signs = 0;
  for (Offset offset : offsets)
    signs |= offset;
  if (signs >= 0) {
    for (size_t i = 0; i < offsets.size(); ++i)
      visit(i);
    return;
  }
  WindowList present;
  const size_t count = listPresent(offsets, present);
  for (size_t p = 0; p < count; ++p)
    visit(present[p]);
}

/// Calls numbers(tensor's element, array's element, step, offsets) for numbers
/// of a window that lie along its dim `line`, as for windows of one number
/// each.
template <typename Offset, typename Numbers>
void forEachLine(const WindowPart &part, size_t line, int64_t tensor,
                 int64_t array, const Numbers &numbers) {
  constexpr int64_t block = IndexedWindows::BLOCK;
  const int64_t length = part.extent[line], stride = part.tensorStrides[line],
                step = part.arrayStrides[line];
  std::array<Offset, block> offsets;
  for (int64_t e = 0; e < std::min(length, block); ++e)
    offsets[size_t(e)] = Offset(e * stride);
  Shape others = part.extent;
  others[line] = 1;
  forEachRun(others, part.tensorStrides, part.arrayStrides,
             [&](int64_t t, int64_t a, int64_t run) {
               for (int64_t r = 0; r < run; ++r)
                 for (int64_t e = 0; e < length; e += block)
                   numbers(tensor + t + r + e * stride,
                           array + a + r + e * step, step,
                           std::span<const Offset>(offsets).first(
                               size_t(std::min(length - e, block))));
             });
}

/// Calls rows(tensor's element, array's element, run, offsets) for runs of
/// elements that are contiguous in both, of all windows with an offset. Runs of
/// one number go to numbers(tensor's element, array's element, step, offsets):
/// those of all windows at once. Where the windows are few or `inOrder`, it
/// gets all short runs, window by window: the numbers along its longest dim at
/// once. `inOrder`: a window is finished before the next one begins.
template <typename Offset, typename Numbers, typename Rows>
void forEachPiece(const WindowPart &part, std::span<const Offset> offsets,
                  int64_t step, bool inOrder, const Numbers &numbers,
                  const Rows &rows) {
  const auto longest = std::ranges::max_element(part.extent);
  constexpr int64_t shortRun = 4, longLine = 8;
  const int64_t windows = inOrder ? 1 : int64_t(offsets.size());
  if (part.run() <= shortRun && longest != part.extent.end() &&
      *longest >= std::max(windows, longLine)) {
    forEachPresent(offsets, [&](size_t i) {
      forEachLine<Offset>(part, size_t(longest - part.extent.begin()),
                          int64_t(offsets[i]), int64_t(i) * step, numbers);
    });
    return;
  }
  if (inOrder) {
    forEachPresent(offsets, [&](size_t i) {
      forEachRun(part.extent, part.tensorStrides, part.arrayStrides,
                 [&](int64_t t, int64_t a, int64_t run) {
                   rows(t, a + int64_t(i) * step, run, offsets.subspan(i, 1));
                 });
    });
    return;
  }
  forEachRun(part.extent, part.tensorStrides, part.arrayStrides,
             [&](int64_t t, int64_t a, int64_t run) {
               if (run == 1)
                 return numbers(t, a, step, offsets);
               rows(t, a, run, offsets);
             });
}

} // namespace meshloom::library
