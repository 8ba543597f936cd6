// Operands are packed into panels, narrow types widened on the way, and what is
// missing of a tile filled with zeros, whose products nobody reads: so there is
// one inner loop for whole tiles and no other. Its lanes are independent of
// each other, and compilers round none of them in another way than the others.
#include "FixedProduct.h"

#include "Clones.h"
#include "FloatBits.h"
#include "PairwiseSums.h"
#include "ThreadScratch.h"
#include "meshloom/Core/ThreadLocal.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Terms of a block.
constexpr int64_t TERMS = 512;
/// A tile of the inner loop, and how many rows and columns are computed between
/// two visits of the sums of blocks.
constexpr int64_t TILE_ROWS = 6, TILE_COLUMNS = 32;
constexpr int64_t STRIP_ROWS = 16 * TILE_ROWS, STRIP_COLUMNS = 256;

/// Rows for which columns that lie side by side are read where they are: to
/// pack them would take longer than to multiply them.
constexpr int64_t FEW_ROWS = 4 * TILE_ROWS;

using Lanes = float __attribute__((vector_size(64)));

/// tile = the sum over k of left[k, r] * right[k, c]; `step`: from one k to the
/// next in `right`.
MESHLOOM_CLONES void multiplyTile(int64_t terms, const float *left,
                                  const float *right, int64_t step,
                                  float *tile) {
  Lanes sums[TILE_ROWS][2] = {};
  for (int64_t k = 0; k < terms; ++k) {
    Lanes row[2]; // wherever they are: not aligned
    std::memcpy(row, right, sizeof row);
    for (int64_t r = 0; r < TILE_ROWS; ++r) {
      sums[r][0] += left[r] * row[0];
      sums[r][1] += left[r] * row[1];
    }
    left += TILE_ROWS;
    right += step;
  }
  auto *to = reinterpret_cast<Lanes *>(tile);
  for (int64_t r = 0; r < TILE_ROWS; ++r) {
    to[2 * r] = sums[r][0];
    to[2 * r + 1] = sums[r][1];
  }
}

struct Single {
  using Type = float;
  static float widen(float value) { return value; }
  static float narrow(float value) { return value; }
};
struct Brain : BFloat16 {
  using Type = uint16_t;
};
struct Half : Float16 {
  using Type = uint16_t;
};

/// Panels of `width` lines side by side, each [terms, width]. `lines` and
/// `terms` are where the operand's elements are.
template <typename Element>
void pack(const typename Element::Type *from, const int64_t *lines,
          int64_t lineCount, const int64_t *terms, int64_t termCount,
          int64_t width, float *to) {
  for (int64_t first = 0; first < lineCount; first += width) {
    const int64_t count = std::min(width, lineCount - first);
    const int64_t *line = lines + first;
    bool adjacent = true;
    for (int64_t l = 1; l < count; ++l)
      adjacent &= line[l] == line[0] + l;
    for (int64_t k = 0; k < termCount; ++k, to += width) {
      const typename Element::Type *row = from + terms[k];
      if (adjacent)
        for (int64_t l = 0; l < count; ++l)
          to[l] = Element::widen(row[line[0] + l]);
      else
        for (int64_t l = 0; l < count; ++l)
          to[l] = Element::widen(row[line[l]]);
      std::fill(to + count, to + width, 0.f);
    }
  }
}

int64_t panels(int64_t lines, int64_t width) {
  return (lines + width - 1) / width;
}

/// The step between all neighbours of a list, if it is one.
std::optional<int64_t> stepOf(const std::vector<int64_t> &list) {
  const int64_t step = list.size() > 1 ? list[1] - list[0] : 1;
  for (size_t i = 1; i < list.size(); ++i)
    if (list[i] - list[i - 1] != step)
      return std::nullopt;
  return step;
}

template <typename Element>
void product(const void *lhs, const void *rhs, void *result,
             const Offsets &rows, const Offsets &columns,
             const Offsets &terms) {
  using T = typename Element::Type;
  const T *left = static_cast<const T *>(lhs),
          *right = static_cast<const T *>(rhs);
  T *out = static_cast<T *>(result);
  const auto rowCount = int64_t(rows.first.size()),
             columnCount = int64_t(columns.first.size()),
             termCount = int64_t(terms.first.size());
  const int64_t most = std::min(TERMS, termCount);
  auto scratch = [](unsigned slot, int64_t count) {
    return static_cast<float *>(
        threadScratch(slot, size_t(count) * sizeof(float)));
  };
  const int64_t stripRows = panels(std::min(rowCount, STRIP_ROWS), TILE_ROWS),
                stripColumns =
                    panels(std::min(columnCount, STRIP_COLUMNS), TILE_COLUMNS);
  constexpr int64_t tile = TILE_ROWS * TILE_COLUMNS;
  float *packedLeft = scratch(0, stripRows * TILE_ROWS * most),
        *packedRight = scratch(1, stripColumns * TILE_COLUMNS * most),
        *sums = scratch(2, stripRows * stripColumns * tile);
  std::optional<int64_t> step;
  if (std::is_same_v<T, float> && rowCount <= FEW_ROWS &&
      stepOf(columns.first) == 1)
    step = stepOf(terms.second);
  auto &blocks = threadLocal<PairwiseSums<float>>();
  for (int64_t c = 0; c < columnCount; c += STRIP_COLUMNS) {
    const int64_t width = std::min(STRIP_COLUMNS, columnCount - c);
    const int64_t across = panels(width, TILE_COLUMNS);
    // Panels [0, whole) of the columns are read where they are.
    const int64_t whole = step ? width / TILE_COLUMNS : 0;
    // With few terms the columns are packed once for all rows.
    bool isPacked = false;
    for (int64_t r = 0; r < rowCount; r += STRIP_ROWS) {
      const int64_t height = std::min(STRIP_ROWS, rowCount - r);
      const int64_t down = panels(height, TILE_ROWS);
      blocks.start(across * down * tile);
      for (int64_t k = 0; k < termCount; k += TERMS) {
        const int64_t depth = std::min(TERMS, termCount - k);
        pack<Element>(left, &rows.first[size_t(r)], height,
                      &terms.first[size_t(k)], depth, TILE_ROWS, packedLeft);
        if (!isPacked && whole < across)
          pack<Element>(right, &columns.first[size_t(c)] + whole * TILE_COLUMNS,
                        width - whole * TILE_COLUMNS, &terms.second[size_t(k)],
                        depth, TILE_COLUMNS,
                        packedRight + whole * TILE_COLUMNS * depth);
        isPacked = termCount <= TERMS;
        for (int64_t j = 0; j < across; ++j) {
          const float *panel = packedRight + j * TILE_COLUMNS * depth;
          int64_t apart = TILE_COLUMNS;
          if constexpr (std::is_same_v<T, float>)
            if (j < whole) {
              panel = right + columns.first[size_t(c + j * TILE_COLUMNS)] +
                      terms.second[size_t(k)];
              apart = *step;
            }
          for (int64_t i = 0; i < down; ++i)
            multiplyTile(depth, packedLeft + i * TILE_ROWS * depth, panel,
                         apart, sums + (j * down + i) * tile);
        }
        if (termCount > TERMS)
          blocks.push(sums);
      }
      if (termCount > TERMS || termCount == 0) {
        std::fill_n(sums, across * down * tile, 0.f);
        blocks.addTo(sums);
      }
      for (int64_t j = 0; j < width; j += TILE_COLUMNS)
        for (int64_t i = 0; i < height; ++i) {
          const float *from = sums +
                              (j / TILE_COLUMNS * down + i / TILE_ROWS) * tile +
                              i % TILE_ROWS * TILE_COLUMNS;
          T *to = out + rows.second[size_t(r + i)];
          const int64_t *places = &columns.second[size_t(c + j)];
          const int64_t count = std::min(TILE_COLUMNS, width - j);
          for (int64_t l = 0; l < count; ++l)
            to[places[l]] = Element::narrow(from[l]);
        }
    }
  }
}
} // namespace

void library::fixedProduct(DType type, const void *lhs, const void *rhs,
                           void *out, const Offsets &rows,
                           const Offsets &columns, const Offsets &terms) {
  // Few columns are few rows of the transposed product: an element's terms are
  // the same either way.
  if (columns.first.size() < TILE_COLUMNS &&
      rows.first.size() > columns.first.size())
    return fixedProduct(type, rhs, lhs, out, columns, rows,
                        {terms.second, terms.first});
  switch (type) {
  case DType::BF16:
    return product<Brain>(lhs, rhs, out, rows, columns, terms);
  case DType::F16:
    return product<Half>(lhs, rhs, out, rows, columns, terms);
  default:
    return product<Single>(lhs, rhs, out, rows, columns, terms);
  }
}
