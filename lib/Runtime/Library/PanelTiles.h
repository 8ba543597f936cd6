// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops and the stores that products of panels share, whatever their
// elements are. PanelProduct.cpp says how operands are cut.
#pragma once

#include "DotTiles.h"
#include "LaneTranspose.h"
#include "ThreadScratch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace meshloom::library {

/// The terms, columns and rows that are copied at once.
inline constexpr int64_t PANEL_TERMS = 256, PANEL_COLUMNS = 256,
                         PANEL_ROWS = 1008;
/// Terms by which reading a panel from the second-level cache is ahead.
inline constexpr int64_t PANEL_AHEAD = 16;

/// T: what slivers and panels are of.
template <typename T, typename Sum>
using TileFunction = void (*)(int64_t terms, const T *sliver,
                              int64_t sliverStep, const T *panel, int64_t step,
                              bool accumulate, Sum *out, int64_t outStride,
                              int64_t columns);
/// By vectors of columns, one or two, and rows, each less one.
template <typename T, typename Sum>
using TileFunctions = std::array<std::array<TileFunction<T, Sum>, 14>, 2>;

/// Fetches the rows of a tile that will be stored.
template <int Rows, typename T>
MESHLOOM_LANES_INLINE void prefetchTile(const T *out, int64_t outStride,
                                        int64_t columns) {
  MESHLOOM_LANES_UNROLL
  for (int r = 0; r < Rows; ++r) {
    __builtin_prefetch(out + r * outStride, 1);
    __builtin_prefetch(out + r * outStride + columns - 1, 1);
  }
}

/// Fetches the row of Columns elements that a tile reads after PANEL_AHEAD
/// others.
template <int Columns, typename T>
MESHLOOM_LANES_INLINE void prefetchPanel(const T *row, int64_t step) {
  constexpr int cacheLine = 64 / sizeof(T);
  __builtin_prefetch(row + PANEL_AHEAD * step);
  if (Columns > cacheLine)
    __builtin_prefetch(row + PANEL_AHEAD * step + cacheLine);
}

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

/// Stores the sums of a tile, or adds them to what is there.
template <int Lanes, int Rows, int Vectors, typename T>
MESHLOOM_LANES_INLINE void storePanelTile(const LaneVector<T, Lanes> *sums,
                                          bool accumulate, T *out,
                                          int64_t outStride, int64_t columns) {
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

// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
/// Defines the tiles of slivers and panels of pairs of terms. ADD(sum, pair,
/// row): the vector `sum` of LANES numbers of type SUM, plus both products of
/// the terms in the 32 bits of `pair` and of each element of `row`.
#define MESHLOOM_PAIR_TILE(NAME, SUM, LANES, TARGET, ADD)                      \
  template <int Rows, int Vectors>                                             \
  TARGET void NAME(int64_t pairs, const uint32_t *sliver, int64_t sliverStep,  \
                   const uint32_t *panel, int64_t step, bool accumulate,       \
                   SUM *out, int64_t outStride, int64_t columns) {             \
    LaneVector<SUM, LANES> sums[Rows * Vectors] = {};                          \
    prefetchTile<Rows>(out, outStride, columns);                               \
    for (int64_t k = 0; k < pairs; ++k, sliver += sliverStep, panel += step) { \
      LaneVector<uint32_t, LANES> row[Vectors];                                \
      std::memcpy(row, panel, sizeof row);                                     \
      prefetchPanel<Vectors * LANES>(panel, step);                             \
      MESHLOOM_LANES_UNROLL                                                    \
      for (int r = 0; r < Rows; ++r)                                           \
        MESHLOOM_LANES_UNROLL                                                  \
      for (int v = 0; v < Vectors; ++v) {                                      \
        auto &sum = sums[r * Vectors + v];                                     \
        sum = ADD(sum, int(sliver[r]), row[v]);                                \
      }                                                                        \
    }                                                                          \
    storePanelTile<LANES, Rows, Vectors>(sums, accumulate, out, outStride,     \
                                         columns);                             \
  }
// NOLINTEND(bugprone-macro-parentheses)

/// Lines whose terms are side by side become a panel [terms, width], by blocks
/// of Block terms and lines; there are at least Block terms. `side`: lines;
/// zeros stand for the others. Writes up to Block elements behind the end. A
/// term may be several elements of Source.
template <int Block, typename T, typename Source>
MESHLOOM_LANES_INLINE void packAcross(const Source *from, int64_t side,
                                      int64_t lineStride, int64_t terms,
                                      int64_t width, T *to) {
  constexpr int64_t ofTerm = sizeof(T) / sizeof(Source);
  // The last lines first: what they write too much, those before them or the
  // next terms write again. The last block may meet the one before it.
  const int64_t last = (width - 1) / Block * Block;
  for (int64_t next = 0; next < terms; next += Block) {
    const int64_t k = std::min(next, terms - Block);
    for (int64_t first = last; first >= 0; first -= Block) {
      const int64_t count = std::clamp<int64_t>(side - first, 0, Block);
      LaneVector<T, Block> rows[Block] = {};
      MESHLOOM_LANES_UNROLL
      for (int i = 0; i < Block; ++i)
        if (i < count)
          std::memcpy(&rows[i], from + (first + i) * lineStride + k * ofTerm,
                      sizeof rows[i]);
      transposeLanes<T, Block>(rows);
      MESHLOOM_LANES_UNROLL
      for (int i = 0; i < Block; ++i)
        std::memcpy(to + (k + i) * width + first, &rows[i], sizeof rows[i]);
    }
  }
}

/// A product, of operands of T.
template <typename T> struct PanelOperands {
  int64_t m, n, k;
  const T *lhs;
  MatrixStrides lhsStrides;
  const T *rhs;
  MatrixStrides rhsStrides;
};

/// How a product is computed with slivers and panels of Element.
template <typename Element, typename Sum> struct PanelPlan {
  int64_t lanes, mostRows;
  const TileFunctions<Element, Sum> &tiles;
  bool paired; ///< elements of slivers and panels are pairs of terms
  /// These say whether operands that lie as slivers and panels do are read in
  /// place.
  bool sliversInPlace, panelsInPlace;
};

/// `pack`: as packLines, for lines of a plan's slivers and panels.
template <typename T, typename Element, typename Sum, typename Pack>
void multiplyPanels(const PanelOperands<T> &product,
                    const PanelPlan<Element, Sum> &plan, bool accumulate,
                    Sum *out, int64_t outStride, const Pack &packPieces) {
  const auto &[m, n, k, lhs, lhsStrides, rhs, rhsStrides] = product;
  const int64_t width = 2 * plan.lanes;
  const int64_t blocks = std::max<int64_t>(1, piecesOf(k, PANEL_TERMS));
  const int64_t depth = piecesOf(k, blocks);
  auto scratch = [&](unsigned slot, int64_t lines) {
    return static_cast<Element *>(threadScratch(
        slot, size_t(lines * depth + plan.lanes) * sizeof(Element)));
  };
  Element *slivers = scratch(10, std::min(m, PANEL_ROWS)),
          *panels =
              scratch(11, piecesOf(std::min(n, PANEL_COLUMNS), width) * width);
  // Whole pieces of the width that `pack` gets, then what is left.
  auto pack = [&](const T *from, int64_t lines, MatrixStrides strides,
                  int64_t terms, int64_t most, int64_t last, Element *to) {
    const int64_t whole = lines / most * most;
    packPieces(from, whole, strides, terms, most, to);
    if (whole < lines)
      packPieces(from + whole * strides.rowStride, lines - whole, strides,
                 terms, last, to + whole * terms);
  };
  for (int64_t r = 0; r < m; r += PANEL_ROWS) {
    const int64_t height = std::min(PANEL_ROWS, m - r),
                  most = piecesOf(height, piecesOf(height, plan.mostRows));
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = k * block / blocks,
                    terms = k * (block + 1) / blocks - first;
      const bool adds = accumulate || block > 0;
      const T *lines =
          lhs + r * lhsStrides.rowStride + first * lhsStrides.columnStride;
      if (!plan.sliversInPlace)
        pack(lines, height, lhsStrides, terms, most, height % most, slivers);
      for (int64_t c = 0; c < n; c += PANEL_COLUMNS) {
        const int64_t columns = std::min(PANEL_COLUMNS, n - c);
        const T *from =
            rhs + first * rhsStrides.rowStride + c * rhsStrides.columnStride;
        // Panels before it are read where they are: no vector of them is
        // longer than its row, or the rows of the next block are behind it.
        const bool fits = columns % plan.lanes == 0 ||
                          (k - first - terms) * rhsStrides.rowStride >= width;
        const int64_t packed = !plan.panelsInPlace ? 0
                               : fits              ? columns
                                                   : columns / width * width;
        const int64_t last = (columns - packed) % width;
        pack(from + packed * rhsStrides.columnStride, columns - packed,
             {rhsStrides.columnStride, rhsStrides.rowStride}, terms, width,
             last > plan.lanes ? width : plan.lanes, panels);
        for (int64_t i = 0; i < height; i += most) {
          const int64_t rows = std::min(most, height - i);
          for (int64_t j = 0; j < columns; j += width) {
            const int64_t count = std::min(width, columns - j);
            const Element *sliver = slivers + i * terms,
                          *panel = panels + (j - packed) * terms;
            int64_t sliverStep = rows,
                    step = count > plan.lanes ? width : plan.lanes;
            if constexpr (std::is_same_v<T, Element>) {
              if (plan.sliversInPlace) {
                sliver = lines + i;
                sliverStep = lhsStrides.columnStride;
              }
              if (j < packed) {
                panel = from + j;
                step = rhsStrides.rowStride;
              }
            }
            plan.tiles[count > plan.lanes][size_t(rows - 1)](
                plan.paired ? (terms + 1) / 2 : terms, sliver, sliverStep,
                panel, step, adds, out + (r + i) * outStride + c + j, outStride,
                count);
          }
        }
      }
    }
  }
}

} // namespace meshloom::library
