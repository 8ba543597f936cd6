// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads indices, block by block.
#include "IndexedWindows.h"

#include "Clones.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace meshloom;
using namespace meshloom::library;

namespace {
using Offset = IndexedWindows::Offset;

/// How an index becomes an offset.
struct IndexBounds {
  int64_t clamp; ///< the largest start of a window; negative: none is moved
  int64_t low;   ///< starts from here on lie in the box
  uint64_t size; ///< how many of them
  int64_t begin, stride;
  int64_t wrap; ///< what a negative index has added
};

/// Adds the distances of indices from where the box begins; an offset that is
/// negative once stays so.
template <typename Index>
[[gnu::always_inline]] inline void addOffsets(const Index *index, int64_t step,
                                              int64_t count, IndexBounds bounds,
                                              Offset *offsets) {
  using Limits = std::numeric_limits<Index>;
  // Limits as indices: what does not fit is never reached.
  const bool clamps = bounds.clamp >= 0;
  const auto limit = [](int64_t value) {
    return std::cmp_greater(value, Limits::max()) ? Limits::max()
                                                  : Index(value);
  };
  const Index least = clamps ? Index(0) : Limits::min();
  const Index most = clamps ? limit(bounds.clamp) : Limits::max();
  const bool inReach =
      bounds.size > 0 && std::cmp_less_equal(bounds.low, Limits::max());
  const Index low = limit(bounds.low);
  const Index high = limit(bounds.low + int64_t(bounds.size) - 1);
  const Offset begin = Offset(int64_t(low) - bounds.begin);
  const auto stride = uint32_t(bounds.stride);
  const auto wrap = Index(bounds.wrap);
  if (!inReach)
    return (void)std::fill_n(offsets, count, Offset(-1));
  for (int64_t i = 0; i < count; ++i) {
    Index start = index[i * step];
    start = std::min(std::max(Index(start < 0 ? start + wrap : start), least),
                     most);
    const bool inBox = start >= low && start <= high && offsets[i] >= 0;
    const uint32_t distance = uint32_t(start) - uint32_t(low) + uint32_t(begin);
    offsets[i] =
        inBox ? Offset(uint32_t(offsets[i]) + distance * stride) : Offset(-1);
  }
}
/// The step between indices is a constant where it is one of the usual ones.
template <typename Index>
[[gnu::always_inline]] inline void
addOffsetsByStep(const Index *index, int64_t step, int64_t count,
                 IndexBounds bounds, Offset *offsets) {
  if (step == 1)
    addOffsets(index, 1, count, bounds, offsets);
  else if (step == 2)
    addOffsets(index, 2, count, bounds, offsets);
  else
    addOffsets(index, step, count, bounds, offsets);
}
MESHLOOM_CLONES void addOffsetsOf32(const int32_t *index, int64_t step,
                                    int64_t count, IndexBounds bounds,
                                    Offset *offsets) {
  addOffsetsByStep(index, step, count, bounds, offsets);
}
MESHLOOM_CLONES void addOffsetsOf64(const int64_t *index, int64_t step,
                                    int64_t count, IndexBounds bounds,
                                    Offset *offsets) {
  addOffsetsByStep(index, step, count, bounds, offsets);
}

void addOffsets(DType type, const char *data, int64_t index, int64_t step,
                int64_t count, const IndexBounds &bounds, Offset *offsets) {
  auto add = [&]<typename Index>() {
    addOffsets(reinterpret_cast<const Index *>(data) + index, step, count,
               bounds, offsets);
  };
  switch (type) {
  case DType::I8:
    return add.template operator()<int8_t>();
  case DType::I16:
    return add.template operator()<int16_t>();
  case DType::I32:
    return addOffsetsOf32(reinterpret_cast<const int32_t *>(data) + index, step,
                          count, bounds, offsets);
  case DType::I1:
  case DType::UI8:
    return add.template operator()<uint8_t>();
  case DType::UI16:
    return add.template operator()<uint16_t>();
  case DType::UI32:
    return add.template operator()<uint32_t>();
  case DType::UI64:
    return add.template operator()<uint64_t>();
  default:
    return addOffsetsOf64(reinterpret_cast<const int64_t *>(data) + index, step,
                          count, bounds, offsets);
  }
}

/// Lists windows one by one, from window `first` on, behind `count` others.
template <typename Offset>
size_t listOneByOne(std::span<const Offset> offsets, size_t first,
                    WindowList &present, size_t count = 0) {
  for (size_t i = first; i < offsets.size(); ++i) {
    present[count] = uint16_t(i);
    count += offsets[i] >= 0;
  }
  return count;
}

#if defined(__x86_64__)
/// For each set of eight windows, those that it has, in order; the others are
/// behind them.
constexpr std::array<std::array<uint16_t, 8>, 256> windowsOfSets = [] {
  std::array<std::array<uint16_t, 8>, 256> table{};
  for (unsigned set = 0; set < table.size(); ++set)
    for (unsigned window = 0, count = 0; window < 8; ++window)
      if (set >> window & 1)
        table[set][count++] = uint16_t(window);
  return table;
}();

/// Lists eight windows at once.
MESHLOOM_CLONES size_t listByEight(WindowOffsets offsets, WindowList &present) {
  size_t count = 0, i = 0;
  for (; i + 8 <= offsets.size(); i += 8) {
    __m128 low, high;
    std::memcpy(&low, &offsets[i], sizeof(low));
    std::memcpy(&high, &offsets[i + 4], sizeof(high));
    const unsigned missing =
        unsigned(_mm_movemask_ps(low)) | unsigned(_mm_movemask_ps(high)) << 4;
    std::array<uint16_t, 8> windows = windowsOfSets[missing ^ 0xff];
    for (uint16_t &window : windows)
      window = uint16_t(window + i);
    std::memcpy(&present[count], windows.data(), sizeof(windows));
    count += 8 - unsigned(std::popcount(missing));
  }
  return listOneByOne(offsets, i, present, count);
}
#endif
} // namespace

size_t library::listPresent(WindowOffsets offsets, WindowList &present) {
#if defined(__x86_64__)
  return listByEight(offsets, present);
#else
  return listOneByOne(offsets, 0, present);
#endif
}
size_t library::listPresent(std::span<const int64_t> offsets,
                            WindowList &present) {
  return listOneByOne(offsets, 0, present);
}

void IndexDims::read(OptionReader &options, std::string_view map) {
  vectorDim = options.number("index_vector_dim");
  indexMap = options.list(map);
  wraps.assign(indexMap.size(), 0);
  if (options.has("wrapped_extents"))
    wraps = options.list("wrapped_extents");
}

void WindowPart::cut(const Shape &start, const LibraryOperand &box,
                     const Shape &strides, const LibraryOperand &values,
                     const std::vector<int> &arrayDims) {
  extent.clear();
  tensorStrides.clear();
  arrayStrides.clear();
  tensor = array = 0;
  empty = missing = false;
  for (size_t d = 0; d < start.size(); ++d) {
    const int a = arrayDims[d];
    const int64_t begin = a < 0 ? 0 : values.begin(size_t(a));
    const int64_t end = a < 0 ? 1 : values.end(size_t(a));
    const int64_t low = std::max(begin, box.begin(d) - start[d]);
    const int64_t high = std::min(end, box.end(d) - start[d]);
    missing |= low != begin || high != end;
    empty |= high <= low;
    tensor += strides[d] * (start[d] + low - box.begin(d));
    if (a < 0)
      continue;
    array += values.strides[size_t(a)] * (low - begin);
    extent.push_back(high - low);
    tensorStrides.push_back(strides[d]);
    arrayStrides.push_back(values.strides[size_t(a)]);
  }
}

int64_t WindowPart::run() const {
  int64_t run = 1;
  for (size_t d = extent.size(); d-- > 0;) {
    if (extent[d] == 1)
      continue;
    if (tensorStrides[d] != run || arrayStrides[d] != run)
      break;
    run *= extent[d];
  }
  return run;
}

IndexedWindows::IndexedWindows(const IndexDims &dims,
                               const LibraryOperand &indices,
                               const LibraryOperand &tensor,
                               std::span<const LibraryOperand> arrays,
                               Outside outside,
                               std::span<const LibraryOperand> others)
    : dims(dims), indices(indices), tensor(tensor), outside(outside),
      others(others), numArrays(arrays.size()) {
  if (size_t(dims.vectorDim) < indices.strides.size())
    entry = indices.strides[size_t(dims.vectorDim)];
  std::vector<size_t> places;
  for (size_t i = 0; i < dims.batchDims.size(); ++i) {
    BatchDim dim{arrays[0].extent[dims.batchDims[i]],
                 indices.strides[dims.indexDims[i]],
                 {},
                 std::ranges::any_of(dims.batching, [&](auto &pair) {
                   return pair.second == i;
                 })};
    if (dim.extent == 1 && !dim.isBatching) {
      places.push_back(0); // no dim of the tensor follows it
      continue;
    }
    for (const LibraryOperand &array : arrays)
      dim.arrayStrides.push_back(array.strides[dims.batchDims[i]]);
    // Two dims are one where the inner one goes on in the next outer index.
    auto follows = [&](const BatchDim &outer) {
      bool fits = !outer.isBatching && !dim.isBatching &&
                  outer.indexStride == dim.extent * dim.indexStride;
      for (size_t a = 0; a < numArrays; ++a)
        fits &= outer.arrayStrides[a] == dim.extent * dim.arrayStrides[a];
      return fits;
    };
    if (!batch.empty() && follows(batch.back())) {
      dim.extent *= batch.back().extent;
      batch.back() = std::move(dim);
    } else {
      batch.push_back(std::move(dim));
    }
    places.push_back(batch.size() - 1);
  }
  for (auto [dim, place] : dims.batching)
    batching.push_back(
        {dim, places[place], indices.begin(dims.indexDims[place])});
}

int64_t IndexedWindows::count() const {
  int64_t product = 1;
  for (const BatchDim &dim : batch)
    product *= std::max<int64_t>(dim.extent, 0);
  return product;
}

bool IndexedWindows::areAlike() const {
  int64_t last = 0, elements = 1;
  for (size_t d = 0; d < dims.windowSizes.size(); ++d) {
    if (dims.windowSizes[d] != 1 && dims.moves(d) &&
        (tensor.begin(d) != 0 || tensor.end(d) != (*tensor.global)[d]))
      return false;
    last += std::max<int64_t>(tensor.extent[d] - 1, 0) * tensor.strides[d];
    elements *= tensor.extent[d];
  }
  return std::max(last, elements) <= std::numeric_limits<Offset>::max();
}

bool IndexedWindows::areInBox() const {
  for (int64_t d : dims.indexMap)
    if (tensor.begin(size_t(d)) != 0 ||
        tensor.end(size_t(d)) != (*tensor.global)[size_t(d)])
      return false;
  for (const Batching &dim : batching)
    if (dim.begin < tensor.begin(dim.dim) ||
        dim.begin + batch[dim.place].extent > tensor.end(dim.dim))
      return false;
  return outside == Outside::Clamped;
}

bool IndexedWindows::mayOverlap() const {
  for (size_t d = 0; d < dims.windowSizes.size(); ++d)
    if (dims.windowSizes[d] > 1 && dims.moves(d))
      return true;
  return false;
}

Shape IndexedWindows::typicalStart() const {
  Shape start(dims.windowSizes.size(), 0);
  for (size_t d = 0; d < start.size(); ++d)
    if (dims.moves(d))
      start[d] = tensor.begin(d);
  return start;
}

const char *IndexedWindows::entryData(size_t k) const {
  return k > 0 && !others.empty()
             ? others[k - 1].data
             : indices.data + int64_t(k) * entry * byteWidth(indices.type);
}

void IndexedWindows::readOffsets(const Block &block, const Shape &strides,
                                 Offset *offsets) const {
  std::fill_n(offsets, block.count, 0);
  auto boundsOf = [&](size_t d, int64_t wrap) {
    const int64_t last = (*tensor.global)[d] - dims.windowSizes[d];
    const int64_t low = std::max<int64_t>(0, tensor.begin(d));
    const int64_t high = std::min(last, tensor.end(d) - 1);
    return IndexBounds{outside == Outside::Clamped ? last : -1,
                       low,
                       uint64_t(std::max<int64_t>(high - low + 1, 0)),
                       tensor.begin(d),
                       strides[d],
                       wrap};
  };
  for (const Batching &dim : batching) {
    const bool isInner = dim.place + 1 == batch.size();
    int64_t starts[BLOCK];
    for (int64_t i = 0; i < block.count; ++i)
      starts[i] = dim.begin + block.batch[dim.place] + (isInner ? i : 0);
    addOffsetsOf64(starts, 1, block.count, boundsOf(dim.dim, 0), offsets);
  }
  const int64_t step = batch.empty() ? 0 : batch.back().indexStride;
  for (size_t k = 0; k < dims.indexMap.size(); ++k)
    addOffsets(indices.type, entryData(k), block.index, step, block.count,
               boundsOf(size_t(dims.indexMap[k]), dims.wraps[k]), offsets);
}

bool IndexedWindows::readStart(const Block &block, int64_t i,
                               Shape &start) const {
  start.assign(dims.windowSizes.size(), 0);
  const unsigned width = byteWidth(indices.type);
  const int64_t first =
      block.index + (batch.empty() ? 0 : i * batch.back().indexStride);
  for (size_t k = 0; k < dims.indexMap.size(); ++k) {
    int64_t &index = start[size_t(dims.indexMap[k])];
    index = readIndex(indices.type, entryData(k) + first * width);
    if (index < 0)
      index += dims.wraps[k];
  }
  for (const Batching &dim : batching)
    start[dim.dim] = dim.begin + block.batch[dim.place] +
                     (dim.place + 1 == batch.size() ? i : 0);
  bool inside = true;
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t last = (*tensor.global)[d] - dims.windowSizes[d];
    if (outside == Outside::Clamped)
      start[d] = std::clamp<int64_t>(start[d], 0, std::max<int64_t>(last, 0));
    inside &= start[d] >= 0 && start[d] <= last;
  }
  return inside;
}
