// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands are cut into blocks of PANEL_TERMS terms. Of a block, rows of the
// left operand become slivers [terms, rows of a tile], and columns of the right
// one panels [terms, columns of a tile]: a sliver stays in the first-level
// cache while it meets the panels of PANEL_COLUMNS columns, which stay in the
// second. The sums of a tile stay in registers for all terms of a block. Rows
// are cut into slivers of nearly equal size, so that none is nearly empty.
//
// Written for vectors of any width and compiled for AVX-512, for AVX2 and for
// any processor: these differ in how many sums fit into registers.
#include "PanelProduct.h"

#include "LaneTranspose.h"
#include "ThreadScratch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// What is copied at once: terms, and columns and rows.
constexpr int64_t PANEL_TERMS = 256, PANEL_COLUMNS = 256, PANEL_ROWS = 1008;
/// Rows for which panels that lie row by row are read where they are: to copy
/// them would take longer than to read them as often.
constexpr int64_t PANEL_FEW_ROWS = 168;
/// Terms by which reading a panel from the second-level cache is ahead.
constexpr int64_t PANEL_AHEAD = 16;

template <typename T>
using TileFunction = void (*)(int64_t terms, const T *sliver, const T *panel,
                              int64_t step, bool accumulate, T *out,
                              int64_t outStride, int64_t columns);
template <typename T>
using PackFunction = void (*)(const T *from, int64_t lines, int64_t lineStride,
                              int64_t terms, int64_t termStride, int64_t width,
                              T *to);

/// The code for a kind of processor.
template <typename T> struct PanelCode {
  int64_t lanes;
  int64_t mostRows;
  /// By vectors of columns, one or two, and rows, each less one.
  std::array<std::array<TileFunction<T>, 14>, 2> tiles;
  PackFunction<T> pack;
};

/// Stores Size sums, or those of `count` columns, of which there are at least
/// Size and at most twice as many.
template <int Size, typename T>
MESHLOOM_LANES_INLINE void storePanelSums(const void *sums, int64_t count,
                                          bool accumulate, T *out) {
  const auto *from = static_cast<const T *>(sums);
  LaneVector<T, Size> first, last, before;
  std::memcpy(&first, from, sizeof first);
  std::memcpy(&last, from + count - Size, sizeof last);
  if (accumulate) {
    std::memcpy(&before, out, sizeof before);
    first += before;
    std::memcpy(&before, out + count - Size, sizeof before);
    last += before;
  }
  std::memcpy(out, &first, sizeof first);
  if (count != Size)
    std::memcpy(out + count - Size, &last, sizeof last);
}

/// out [Rows, columns] is the product of a sliver and a panel, whose rows are
/// `step` elements apart.
template <int Lanes, int Rows, int Vectors, typename T>
MESHLOOM_LANES_INLINE void
multiplyPanelTile(int64_t terms, const T *sliver, const T *panel, int64_t step,
                  bool accumulate, T *out, int64_t outStride, int64_t columns) {
  constexpr int cacheLine = 64 / sizeof(T);
  using Vector = LaneVector<T, Lanes>;
  Vector sums[Rows * Vectors] = {};
  MESHLOOM_LANES_UNROLL
  for (int r = 0; r < Rows; ++r) {
    __builtin_prefetch(out + r * outStride, 1);
    __builtin_prefetch(out + r * outStride + columns - 1, 1);
  }
  const int64_t ahead = PANEL_AHEAD * step;
  for (int64_t k = 0; k < terms; ++k, sliver += Rows, panel += step) {
    Vector row[Vectors];
    std::memcpy(row, panel, sizeof row);
    __builtin_prefetch(panel + ahead);
    if (Vectors * Lanes > cacheLine)
      __builtin_prefetch(panel + ahead + cacheLine);
    MESHLOOM_LANES_UNROLL
    for (int r = 0; r < Rows; ++r)
      MESHLOOM_LANES_UNROLL
    for (int v = 0; v < Vectors; ++v)
      sums[r * Vectors + v] += sliver[r] * row[v];
  }
  if (columns == Vectors * Lanes) {
    MESHLOOM_LANES_UNROLL
    for (int r = 0; r < Rows; ++r, out += outStride)
      storePanelSums<Vectors * Lanes>(&sums[r * Vectors], columns, accumulate,
                                      out);
    return;
  }
  // A vector ends with the last column, and may meet the one before it.
  T tile[Rows * Vectors * Lanes];
  std::memcpy(tile, sums, sizeof tile);
  for (int r = 0; r < Rows; ++r, out += outStride) {
    const T *row = tile + r * Vectors * Lanes;
    if (columns >= Lanes)
      storePanelSums<Lanes>(row, columns, accumulate, out);
    else if (columns >= Lanes / 2)
      storePanelSums<Lanes / 2>(row, columns, accumulate, out);
    else
      for (int64_t c = 0; c < columns; ++c)
        out[c] = accumulate ? out[c] + row[c] : row[c];
  }
}

/// Copies Count elements side by side, of which there are at least Size, in
/// pieces of Size that may overlap: none reads beyond the end.
template <int Size, typename T>
MESHLOOM_LANES_INLINE void copyPanelElements(const T *from, int64_t count,
                                             T *to) {
  LaneVector<T, Size> piece;
  for (int64_t i = 0; i < count - Size; i += Size) {
    std::memcpy(&piece, from + i, sizeof piece);
    std::memcpy(to + i, &piece, sizeof piece);
  }
  std::memcpy(&piece, from + count - Size, sizeof piece);
  std::memcpy(to + count - Size, &piece, sizeof piece);
}

/// Lines [lines, terms] become panels [terms, width] one after the other. Their
/// number is a multiple of the width, or less than it: zeros stand for those
/// that are missing. Writes up to Lanes elements behind the end.
template <int Lanes, typename T>
MESHLOOM_LANES_INLINE void packLines(const T *from, int64_t lines,
                                     int64_t lineStride, int64_t terms,
                                     int64_t termStride, int64_t width, T *to) {
  const int64_t side = std::min(lines, width);
  // Reads along the lines, or across them, as they lie in memory.
  auto across = [&](auto copy) __attribute__((always_inline)) {
    for (int64_t k = 0; k < terms; ++k)
      for (int64_t l = 0; l < lines; l += width) {
        T *target = to + l * terms + k * width;
        copy(from + k * termStride + l * lineStride, target);
        std::fill(target + side, target + width, T(0));
      }
  };
  if (lineStride == 1 && side >= Lanes)
    return across([&](const T *line, T *target) __attribute__((always_inline)) {
      copyPanelElements<Lanes>(line, side, target);
    });
  if (lineStride == 1 && side >= Lanes / 2)
    return across([&](const T *line, T *target) __attribute__((always_inline)) {
      copyPanelElements<Lanes / 2>(line, side, target);
    });
  if (lineStride == 1 || termStride != 1)
    return across([&](const T *line, T *target) __attribute__((always_inline)) {
      for (int64_t l = 0; l < side; ++l)
        target[l] = line[l * lineStride];
    });
  // The last lanes first: what they write too much, those before them or the
  // next terms write again.
  const int64_t last = (width - 1) / Lanes * Lanes;
  for (int64_t l = 0; l < lines; l += width) {
    const T *block = from + l * lineStride;
    T *target = to + l * terms;
    int64_t k = 0;
    for (; k + Lanes <= terms; k += Lanes, target += Lanes * width)
      for (int64_t first = last; first >= 0; first -= Lanes) {
        const int64_t count = std::clamp<int64_t>(side - first, 0, Lanes);
        LaneVector<T, Lanes> rows[Lanes] = {};
        MESHLOOM_LANES_UNROLL
        for (int i = 0; i < Lanes; ++i)
          if (i < count)
            std::memcpy(&rows[i], block + (first + i) * lineStride + k,
                        sizeof rows[i]);
        transposeLanes<T, Lanes>(rows);
        MESHLOOM_LANES_UNROLL
        for (int i = 0; i < Lanes; ++i)
          std::memcpy(target + i * width + first, &rows[i], sizeof rows[i]);
      }
    for (; k < terms; ++k, target += width) {
      for (int64_t i = 0; i < side; ++i)
        target[i] = block[i * lineStride + k];
      std::fill(target + side, target + width, T(0));
    }
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
// A function's code is for one kind of processor, with all it inlines.
#define MESHLOOM_PANEL_CODE(NAME, T, LANES, PANEL_ROWS, TARGET)                \
  template <int Rows, int Vectors>                                             \
  TARGET void NAME##Tile(int64_t terms, const T *sliver, const T *panel,       \
                         int64_t step, bool accumulate, T *out,                \
                         int64_t outStride, int64_t columns) {                 \
    multiplyPanelTile<LANES, Rows, Vectors>(                                   \
        terms, sliver, panel, step, accumulate, out, outStride, columns);      \
  }                                                                            \
  TARGET void NAME##Pack(const T *from, int64_t lines, int64_t lineStride,     \
                         int64_t terms, int64_t termStride, int64_t width,     \
                         T *to) {                                              \
    packLines<LANES>(from, lines, lineStride, terms, termStride, width, to);   \
  }                                                                            \
  template <int... Less>                                                       \
  constexpr PanelCode<T> NAME##Code(std::integer_sequence<int, Less...>) {     \
    return {                                                                   \
        LANES,                                                                 \
        PANEL_ROWS,                                                            \
        {{{{NAME##Tile<Less + 1, 1>...}}, {{NAME##Tile<Less + 1, 2>...}}}},    \
        NAME##Pack};                                                           \
  }                                                                            \
  constexpr PanelCode<T> NAME =                                                \
      NAME##Code(std::make_integer_sequence<int, PANEL_ROWS>());
// NOLINTEND(bugprone-macro-parentheses)

#if defined(__x86_64__)
#define MESHLOOM_AVX512 __attribute__((target("avx512f,avx2,fma")))
#define MESHLOOM_AVX2 __attribute__((target("avx2,fma")))
MESHLOOM_PANEL_CODE(panels512F32, float, 16, 14, MESHLOOM_AVX512)
MESHLOOM_PANEL_CODE(panels512F64, double, 8, 14, MESHLOOM_AVX512)
MESHLOOM_PANEL_CODE(panels512I32, uint32_t, 16, 14, MESHLOOM_AVX512)
MESHLOOM_PANEL_CODE(panels256F32, float, 8, 6, MESHLOOM_AVX2)
MESHLOOM_PANEL_CODE(panels256F64, double, 4, 6, MESHLOOM_AVX2)
MESHLOOM_PANEL_CODE(panels256I32, uint32_t, 8, 6, MESHLOOM_AVX2)
#endif
MESHLOOM_PANEL_CODE(panels128F32, float, 4, 4, )
MESHLOOM_PANEL_CODE(panels128F64, double, 2, 4, )
MESHLOOM_PANEL_CODE(panels128I32, uint32_t, 4, 4, )

template <typename T> struct PanelCodes;
#if defined(__x86_64__)
#define MESHLOOM_PANEL_CODES(T, SUFFIX)                                        \
  template <> struct PanelCodes<T> {                                           \
    static constexpr const PanelCode<T> *all[] = {                             \
        &panels512##SUFFIX, &panels256##SUFFIX, &panels128##SUFFIX};           \
  };
#else
#define MESHLOOM_PANEL_CODES(T, SUFFIX)                                        \
  template <> struct PanelCodes<T> {                                           \
    static constexpr const PanelCode<T> *all[] = {&panels128##SUFFIX};         \
  };
#endif
MESHLOOM_PANEL_CODES(float, F32)
MESHLOOM_PANEL_CODES(double, F64)
MESHLOOM_PANEL_CODES(uint32_t, I32)

/// The first in PanelCodes that this processor runs; the fastest are first.
size_t firstKind() {
  static const size_t first = []() -> size_t {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool hasAvx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return !hasAvx2 ? 2 : __builtin_cpu_supports("avx512f") ? 0 : 1;
#else
    return 0;
#endif
  }();
  return first;
}

int64_t piecesOf(int64_t count, int64_t most) {
  return (count + most - 1) / most;
}

} // namespace

size_t library::panelKinds() {
  return std::size(PanelCodes<float>::all) - firstKind();
}

template <typename T>
void library::panelProduct(int64_t m, int64_t n, int64_t k, const T *lhs,
                           MatrixStrides left, const T *rhs,
                           MatrixStrides right, bool accumulate, T *out,
                           int64_t outStride, size_t kind) {
  const PanelCode<T> &code = *PanelCodes<T>::all[firstKind() + kind];
  const int64_t width = 2 * code.lanes;
  const int64_t blocks = std::max<int64_t>(1, piecesOf(k, PANEL_TERMS));
  const int64_t depth = piecesOf(k, blocks);
  const bool inPlace = right.columnStride == 1 && m <= PANEL_FEW_ROWS;
  auto scratch = [&](unsigned slot, int64_t lines) {
    return static_cast<T *>(
        threadScratch(slot, size_t(lines * depth + code.lanes) * sizeof(T)));
  };
  T *slivers = scratch(10, std::min(m, PANEL_ROWS)),
    *panels = scratch(11, piecesOf(std::min(n, PANEL_COLUMNS), width) * width);
  // Whole pieces of the width that `pack` gets, then what is left.
  auto pack = [&](const T *from, int64_t lines, MatrixStrides strides,
                  int64_t terms, int64_t most, int64_t last, T *to) {
    const int64_t whole = lines / most * most;
    code.pack(from, whole, strides.rowStride, terms, strides.columnStride, most,
              to);
    if (whole < lines)
      code.pack(from + whole * strides.rowStride, lines - whole,
                strides.rowStride, terms, strides.columnStride, last,
                to + whole * terms);
  };
  for (int64_t r = 0; r < m; r += PANEL_ROWS) {
    const int64_t height = std::min(PANEL_ROWS, m - r),
                  most = piecesOf(height, piecesOf(height, code.mostRows));
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = k * block / blocks,
                    terms = k * (block + 1) / blocks - first;
      const bool adds = accumulate || block > 0;
      pack(lhs + r * left.rowStride + first * left.columnStride, height, left,
           terms, most, height % most, slivers);
      for (int64_t c = 0; c < n; c += PANEL_COLUMNS) {
        const int64_t columns = std::min(PANEL_COLUMNS, n - c);
        const T *from = rhs + first * right.rowStride + c * right.columnStride;
        // Those before it are read where they are.
        const int64_t packed = inPlace ? columns / width * width : 0;
        pack(from + packed * right.columnStride, columns - packed,
             {right.columnStride, right.rowStride}, terms, width, width,
             panels);
        for (int64_t i = 0; i < height; i += most) {
          const int64_t rows = std::min(most, height - i);
          for (int64_t j = 0; j < columns; j += width) {
            const int64_t count = std::min(width, columns - j);
            const bool isPacked = j >= packed;
            code.tiles[count > code.lanes][size_t(rows - 1)](
                terms, slivers + i * terms,
                isPacked ? panels + (j - packed) * terms : from + j,
                isPacked ? width : right.rowStride, adds,
                out + (r + i) * outStride + c + j, outStride, count);
          }
        }
      }
    }
  }
}

template void library::panelProduct(int64_t, int64_t, int64_t, const float *,
                                    MatrixStrides, const float *, MatrixStrides,
                                    bool, float *, int64_t, size_t);
template void library::panelProduct(int64_t, int64_t, int64_t, const double *,
                                    MatrixStrides, const double *,
                                    MatrixStrides, bool, double *, int64_t,
                                    size_t);
template void library::panelProduct(int64_t, int64_t, int64_t, const uint32_t *,
                                    MatrixStrides, const uint32_t *,
                                    MatrixStrides, bool, uint32_t *, int64_t,
                                    size_t);
