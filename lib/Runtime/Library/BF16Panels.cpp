// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slivers and panels hold pairs of terms: one instruction multiplies both and
// adds the products.
#include "PanelProduct.h"

#include "PanelTiles.h"
#include "VectorWidth.h"

#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace meshloom;
using namespace meshloom::library;

namespace {
#if defined(__x86_64__)
/// Lines [lines, terms] of 16 bits become panels of pairs of terms, [pairs,
/// width], each where a panel of its terms would begin. A last term may be
/// alone. See packLines.
template <int Lanes>
MESHLOOM_LANES_INLINE void packPairsOfLines(const uint16_t *from, int64_t lines,
                                            int64_t lineStride, int64_t terms,
                                            int64_t termStride, int64_t width,
                                            uint32_t *to) {
  const int64_t side = std::min(lines, width), pairs = terms / 2;
  for (int64_t l = 0; l < lines; l += width) {
    const uint16_t *block = from + l * lineStride;
    uint32_t *target = to + l * terms;
    const bool isAcross = termStride == 1 && lineStride != 1 && pairs >= Lanes;
    if (isAcross)
      packAcross<Lanes>(block, side, lineStride, pairs, width, target);
    else
      for (int64_t p = 0; p < pairs; ++p) {
        const uint16_t *even = block + 2 * p * termStride,
                       *odd = even + termStride;
        uint32_t *row = target + p * width;
        if (lineStride == 1)
          for (int64_t i = 0; i < side; ++i)
            row[i] = even[i] | uint32_t(odd[i]) << 16;
        else
          for (int64_t i = 0; i < side; ++i)
            row[i] = even[i * lineStride] | uint32_t(odd[i * lineStride]) << 16;
        std::fill(row + side, row + width, 0U);
      }
    if (terms % 2 == 0)
      continue;
    const uint16_t *last = block + (terms - 1) * termStride;
    uint32_t *row = target + pairs * width;
    for (int64_t i = 0; i < side; ++i)
      row[i] = last[i * lineStride];
    std::fill(row + side, row + width, 0U);
  }
}

#define MESHLOOM_BF16                                                          \
  __attribute__((target("avx512f,avx512bf16,avx512bw,avx512vl,avx2,fma")))
#define MESHLOOM_ADD_BF16_PAIRS(SUM, PAIR, ROW)                                \
  (LaneVector<float, 16>)_mm512_dpbf16_ps(                                     \
      (__m512)(SUM), (__m512bh)_mm512_set1_epi32(PAIR), (__m512bh)(ROW))
MESHLOOM_PAIR_TILE(bf16Tile, float, 16, MESHLOOM_BF16, MESHLOOM_ADD_BF16_PAIRS)
MESHLOOM_BF16 void packBF16(const uint16_t *from, int64_t lines,
                            int64_t lineStride, int64_t terms,
                            int64_t termStride, int64_t width, uint32_t *to) {
  packPairsOfLines<16>(from, lines, lineStride, terms, termStride, width, to);
}
template <int... Less>
constexpr TileFunctions<uint32_t, float>
bf16Tiles(std::integer_sequence<int, Less...>) {
  return {{{{bf16Tile<Less + 1, 1>...}}, {{bf16Tile<Less + 1, 2>...}}}};
}
#endif
} // namespace

bool library::hasBF16Panels() {
#if defined(__x86_64__)
  static const bool has = vectorBits() == 512 &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512bf16");
  return has;
#else
  return false;
#endif
}

void library::bf16PanelProduct(int64_t m, int64_t n, int64_t k,
                               const uint16_t *lhs, MatrixStrides lhsStrides,
                               const uint16_t *rhs, MatrixStrides rhsStrides,
                               bool accumulate, float *out, int64_t outStride) {
#if defined(__x86_64__)
  constexpr int mostRows = 14;
  static constexpr TileFunctions<uint32_t, float> tiles =
      bf16Tiles(std::make_integer_sequence<int, mostRows>());
  auto pack = [](const uint16_t *from, int64_t lines, MatrixStrides strides,
                 int64_t terms, int64_t width, uint32_t *to) {
    packBF16(from, lines, strides.rowStride, terms, strides.columnStride, width,
             to);
  };
  multiplyPanels(
      PanelOperands<uint16_t>{m, n, k, lhs, lhsStrides, rhs, rhsStrides},
      PanelPlan<uint32_t, float>{.lanes = 16,
                                 .mostRows = mostRows,
                                 .tiles = tiles,
                                 .paired = true,
                                 .sliversInPlace = false,
                                 .panelsInPlace = false},
      accumulate, out, outStride, pack);
#endif
}
