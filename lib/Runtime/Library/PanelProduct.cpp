// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands are cut into blocks of PANEL_TERMS terms. In a block, rows of the
// left operand become slivers [terms, rows of a tile], and columns of the right
// one panels [terms, columns of a tile]: a sliver stays in the first-level
// cache while it meets the panels of PANEL_COLUMNS columns, which stay in the
// second. The sums of a tile stay in registers for all terms of a block. Rows
// are cut into slivers of nearly equal size, so that none is nearly empty.
//
// Written for vectors of any width and compiled for AVX-512, for AVX2 and for
// any processor: these differ in how many sums fit into registers.
//
// Where all numbers of i32 operands fit into 16 bits, as those that were bytes
// do, slivers and panels hold pairs of terms: one instruction multiplies both
// and adds the products, where 32 bits take three for one term.
#include "PanelProduct.h"

#include "Clones.h"
#include "PanelTiles.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Rows for which panels that lie row by row are read where they are: to copy
/// them would take longer than to read them as often.
constexpr int64_t PANEL_FEW_ROWS = 168;
/// Columns up to which packed slivers would be read about as often as they are
/// written.
constexpr int64_t PANEL_FEW_COLUMNS = 64;
/// Bytes of a term's rows up to which they share cache lines with the next
/// terms' rows, so that slivers need not be packed.
constexpr int64_t PANEL_NEAR_TERMS = 256;

template <typename T>
using PackFunction = void (*)(const T *from, int64_t lines, int64_t lineStride,
                              int64_t terms, int64_t termStride, int64_t width,
                              T *to);

/// The code for a kind of processor.
template <typename T> struct PanelCode {
  int64_t lanes;
  int64_t mostRows;
  TileFunctions<T, T> tiles;
  PackFunction<T> pack;
  /// The tiles of pairs of terms, where there are any.
  TileFunctions<T, T> pairTiles;
};

/// out [Rows, columns] is the product of a sliver and a panel, whose rows are
/// `sliverStep` and `step` elements apart.
template <int Lanes, int Rows, int Vectors, typename T>
MESHLOOM_LANES_INLINE void
multiplyPanelTile(int64_t terms, const T *sliver, int64_t sliverStep,
                  const T *panel, int64_t step, bool accumulate, T *out,
                  int64_t outStride, int64_t columns) {
  using Vector = LaneVector<T, Lanes>;
  Vector sums[Rows * Vectors] = {};
  prefetchTile<Rows>(out, outStride, columns);
  for (int64_t k = 0; k < terms; ++k, sliver += sliverStep, panel += step) {
    Vector row[Vectors];
    std::memcpy(row, panel, sizeof row);
    prefetchPanel<Vectors * Lanes>(panel, step);
    MESHLOOM_LANES_UNROLL
    for (int r = 0; r < Rows; ++r)
      MESHLOOM_LANES_UNROLL
    for (int v = 0; v < Vectors; ++v)
      sums[r * Vectors + v] += sliver[r] * row[v];
  }
  storePanelTile<Lanes, Rows, Vectors>(sums, accumulate, out, outStride,
                                       columns);
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
        if (side < width)
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
  for (int64_t l = 0; l < lines; l += width) {
    const T *block = from + l * lineStride;
    T *target = to + l * terms;
    if (terms >= Lanes) {
      packAcross<Lanes>(block, side, lineStride, terms, width, target);
      continue;
    }
    if constexpr (Lanes >= 8)
      if (terms >= Lanes / 2) {
        packAcross<Lanes / 2>(block, side, lineStride, terms, width, target);
        continue;
      }
    for (int64_t k = 0; k < terms; ++k, target += width) {
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
  TARGET void NAME##Tile(int64_t terms, const T *sliver, int64_t sliverStep,   \
                         const T *panel, int64_t step, bool accumulate,        \
                         T *out, int64_t outStride, int64_t columns) {         \
    multiplyPanelTile<LANES, Rows, Vectors>(terms, sliver, sliverStep, panel,  \
                                            step, accumulate, out, outStride,  \
                                            columns);                          \
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
        NAME##Pack,                                                            \
        {}};                                                                   \
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

#if defined(__x86_64__)
// Products of pairs: an instruction of its own adds them where the processor
// has it.
// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
#define MESHLOOM_PAIR_CODE(NAME, BASE, LANES, PANEL_ROWS, TARGET, ADD)         \
  MESHLOOM_PAIR_TILE(NAME##Tile, uint32_t, LANES, TARGET, ADD)                 \
  template <int... Less>                                                       \
  constexpr PanelCode<uint32_t> NAME##Code(                                    \
      std::integer_sequence<int, Less...>) {                                   \
    PanelCode<uint32_t> code = BASE;                                           \
    code.pairTiles = {                                                         \
        {{{NAME##Tile<Less + 1, 1>...}}, {{NAME##Tile<Less + 1, 2>...}}}};     \
    return code;                                                               \
  }                                                                            \
  constexpr PanelCode<uint32_t> NAME =                                         \
      NAME##Code(std::make_integer_sequence<int, PANEL_ROWS>());
// NOLINTEND(bugprone-macro-parentheses)
#define MESHLOOM_VNNI __attribute__((target("avx512f,avx512vnni,avx2,fma")))
#define MESHLOOM_ADD_PAIRS_512(SUM, PAIR, ROW)                                 \
  (LaneVector<uint32_t, 16>)_mm512_dpwssd_epi32(                               \
      (__m512i)(SUM), _mm512_set1_epi32(PAIR), (__m512i)(ROW))
#define MESHLOOM_ADD_PAIRS_256(SUM, PAIR, ROW)                                 \
  ((SUM) + (LaneVector<uint32_t, 8>)_mm256_madd_epi16(_mm256_set1_epi32(PAIR), \
                                                      (__m256i)(ROW)))
MESHLOOM_PAIR_CODE(pairs512, panels512I32, 16, 14, MESHLOOM_VNNI,
                   MESHLOOM_ADD_PAIRS_512)
MESHLOOM_PAIR_CODE(pairs256, panels256I32, 8, 6, MESHLOOM_AVX2,
                   MESHLOOM_ADD_PAIRS_256)

#endif

MESHLOOM_PANEL_CODE(panels128F32, float, 4, 4, )
MESHLOOM_PANEL_CODE(panels128F64, double, 2, 4, )
MESHLOOM_PANEL_CODE(panels128I32, uint32_t, 4, 4, )

template <typename T> struct PanelCodes;
#if defined(__x86_64__)
#define MESHLOOM_PANEL_CODES(T, SUFFIX)                                        \
  template <> struct PanelCodes<T> {                                           \
    static constexpr const PanelCode<T> *codes[] = {                           \
        &panels512##SUFFIX, &panels256##SUFFIX, &panels128##SUFFIX};           \
  };
#else
#define MESHLOOM_PANEL_CODES(T, SUFFIX)                                        \
  template <> struct PanelCodes<T> {                                           \
    static constexpr const PanelCode<T> *codes[] = {&panels128##SUFFIX};       \
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

/// The code of a kind for T, with pairs where this processor has them.
template <typename T> const PanelCode<T> &panelCode(size_t kind) {
  const PanelCode<T> &code = *PanelCodes<T>::codes[firstKind() + kind];
#if defined(__x86_64__)
  if constexpr (std::is_same_v<T, uint32_t>) {
    static const bool hasVnni = __builtin_cpu_supports("avx512vnni");
    if (&code == &panels512I32 && hasVnni)
      return pairs512;
    if (&code == &panels256I32)
      return pairs256;
  }
#endif
  return code;
}

/// Whether all numbers of a row fit into 16 bits, with their signs.
MESHLOOM_CLONES bool areShort(const uint32_t *row, int64_t step,
                              int64_t count) {
  uint32_t above = 0;
  if (step == 1)
    for (int64_t i = 0; i < count; ++i)
      above |= row[i] + 0x8000U;
  else
    for (int64_t i = 0; i < count; ++i)
      above |= row[i * step] + 0x8000U;
  return above < 0x10000U;
}
bool areShort(const uint32_t *from, int64_t rows, int64_t columns,
              MatrixStrides strides) {
  if (strides.rowStride == 1) {
    std::swap(rows, columns);
    std::swap(strides.rowStride, strides.columnStride);
  }
  for (int64_t r = 0; r < rows; ++r)
    if (!areShort(from + r * strides.rowStride, strides.columnStride, columns))
      return false;
  return true;
}

/// Joins Count neighbours of two terms: the halves of a number are two terms.
template <int Count>
MESHLOOM_LANES_INLINE void joinTerms(const uint32_t *even, const uint32_t *odd,
                                     uint32_t *to) {
  LaneVector<uint32_t, Count> low, high;
  std::memcpy(&low, even, sizeof low);
  std::memcpy(&high, odd, sizeof high);
  const LaneVector<uint32_t, Count> pairs = (low & 0xffffU) | high << 16;
  std::memcpy(to, &pairs, sizeof pairs);
}

/// Panels [terms, width] one after the other become panels of pairs, each where
/// it began. A last term may be alone. All of a vector is read before it is
/// written over.
MESHLOOM_CLONES void joinPairs(uint32_t *panels, int64_t lines, int64_t terms,
                               int64_t width) {
  constexpr int many = 16, few = 4;
  for (int64_t l = 0; l < lines; l += width) {
    uint32_t *panel = panels + l * terms;
    for (int64_t k = 0; k < terms; k += 2) {
      const uint32_t *even = panel + k * width, *odd = even + width;
      uint32_t *to = panel + k / 2 * width;
      int64_t i = 0;
      if (k + 1 < terms) {
        for (; i + many <= width; i += many)
          joinTerms<many>(even + i, odd + i, to + i);
        for (; i + few <= width; i += few)
          joinTerms<few>(even + i, odd + i, to + i);
        for (; i < width; ++i)
          joinTerms<1>(even + i, odd + i, to + i);
      } else {
        for (; i < width; ++i)
          to[i] = even[i] & 0xffffU;
      }
    }
  }
}

} // namespace

size_t library::panelKinds() {
  return std::size(PanelCodes<float>::codes) - firstKind();
}

template <typename T>
void library::panelProduct(int64_t m, int64_t n, int64_t k, const T *lhs,
                           MatrixStrides lhsStrides, const T *rhs,
                           MatrixStrides rhsStrides, bool accumulate, T *out,
                           int64_t outStride, size_t kind) {
  const PanelCode<T> &code = panelCode<T>(kind);
  // To look costs as much as a few rows and columns.
  bool paired = false;
  if constexpr (std::is_same_v<T, uint32_t>)
    paired = code.pairTiles[0][0] && m >= 8 && n >= 8 && k > 1 &&
             areShort(lhs, m, k, lhsStrides) && areShort(rhs, k, n, rhsStrides);
  const bool panelsInPlace =
      !paired && rhsStrides.columnStride == 1 && m <= PANEL_FEW_ROWS;
  // Small left operands that lie as slivers do are read where they are, too.
  const bool sliversInPlace =
      !paired && lhsStrides.rowStride == 1 && n <= PANEL_FEW_COLUMNS &&
      (k <= PANEL_TERMS ||
       lhsStrides.columnStride * int64_t(sizeof(T)) <= PANEL_NEAR_TERMS);
  auto pack = [&](const T *from, int64_t lines, MatrixStrides strides,
                  int64_t terms, int64_t width, T *to) {
    code.pack(from, lines, strides.rowStride, terms, strides.columnStride,
              width, to);
    if constexpr (std::is_same_v<T, uint32_t>)
      if (paired)
        joinPairs(to, piecesOf(lines, width) * width, terms, width);
  };
  multiplyPanels(PanelOperands<T>{m, n, k, lhs, lhsStrides, rhs, rhsStrides},
                 PanelPlan<T, T>{code.lanes, code.mostRows,
                                 paired ? code.pairTiles : code.tiles, paired,
                                 sliversInPlace, panelsInPlace},
                 accumulate, out, outStride, pack);
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
