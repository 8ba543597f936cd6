// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands are copied into dense matrices, narrow types widened on the way, of
// which PanelProduct.h sums up the elements one by one: so an element's terms
// meet in the order of the list, in blocks that their number alone decides.
#include "FixedProduct.h"

#include "PairwiseSums.h"
#include "PanelProduct.h"
#include "ThreadScratch.h"
#include "meshloom/Core/ThreadLocal.h"
#include "meshloom/Runtime/HalfFloats.h"

#include <algorithm>
#include <vector>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Terms of a block, and how many rows and columns are copied at once.
constexpr int64_t TERMS = 1024;
constexpr int64_t STRIP_ROWS = 252, STRIP_COLUMNS = 256;

template <typename T> struct Whole {
  using Type = T;
  using Result = T;
  using Sum = T;
  static T widen(T value) { return value; }
  static T narrow(T value) { return value; }
};
struct Brain : BF16 {
  using Type = uint16_t;
  using Result = uint16_t;
  using Sum = float;
};
struct Half : F16 {
  using Type = uint16_t;
  using Result = uint16_t;
  using Sum = float;
};
/// `Element` in products whose result is of the sums' type.
template <typename Element> struct Widening : Element {
  using Result = typename Element::Sum;
  static Result narrow(Result value) { return value; }
};

/// to[i, j] = from[rows[i] + columns[j]].
template <typename Element>
void copyDense(const typename Element::Type *from, const int64_t *rows,
               int64_t rowCount, const int64_t *columns, int64_t columnCount,
               typename Element::Sum *to) {
  // Columns may lie in long runs, as the channels of an image's elements do.
  constexpr size_t longRun = 8;
  auto &ends = threadLocal<std::vector<int64_t>>();
  ends.clear();
  for (int64_t j = 1; j <= columnCount; ++j)
    if (j == columnCount || columns[j] != columns[j - 1] + 1)
      ends.push_back(j);
  const bool areLong = longRun * ends.size() <= size_t(columnCount);
  for (int64_t i = 0; i < rowCount; ++i, to += columnCount) {
    const typename Element::Type *row = from + rows[i];
    int64_t j = 0;
    if (areLong)
      for (int64_t end : ends) {
        const typename Element::Type *run = row + columns[j] - j;
        for (; j < end; ++j)
          to[j] = Element::widen(run[j]);
      }
    else
      for (; j < columnCount; ++j)
        to[j] = Element::widen(row[columns[j]]);
  }
}

template <typename Element>
void product(const void *lhs, const void *rhs, void *result,
             const Offsets &rows, const Offsets &columns,
             const Offsets &terms) {
  using T = typename Element::Type;
  using Sum = typename Element::Sum;
  const auto *lhsData = static_cast<const T *>(lhs);
  const auto *rhsData = static_cast<const T *>(rhs);
  using Result = typename Element::Result;
  auto *out = static_cast<Result *>(result);
  const auto rowCount = int64_t(rows.first.size()),
             columnCount = int64_t(columns.first.size()),
             termCount = int64_t(terms.first.size()),
             most = std::min(termCount, TERMS);
  auto scratch = [](unsigned slot, int64_t count) {
    return static_cast<Sum *>(
        threadScratch(slot, size_t(std::max<int64_t>(count, 1)) * sizeof(Sum)));
  };
  Sum *leftRows = scratch(0, std::min(rowCount, STRIP_ROWS) * most),
      *rightRows = scratch(1, std::min(columnCount, STRIP_COLUMNS) * most),
      *sums = scratch(2, STRIP_ROWS * STRIP_COLUMNS);
  auto &blocks = threadLocal<PairwiseSums<Sum>>();
  for (int64_t c = 0; c < columnCount; c += STRIP_COLUMNS) {
    const int64_t width = std::min(STRIP_COLUMNS, columnCount - c);
    // With few terms the columns are copied once for all rows.
    bool isCopied = false;
    for (int64_t r = 0; r < rowCount; r += STRIP_ROWS) {
      const int64_t height = std::min(STRIP_ROWS, rowCount - r);
      blocks.start(height * width);
      std::fill_n(sums, height * width, Sum(0));
      for (int64_t k = 0; k < termCount; k += TERMS) {
        const int64_t depth = std::min(TERMS, termCount - k);
        copyDense<Element>(lhsData, &rows.first[size_t(r)], height,
                           &terms.first[size_t(k)], depth, leftRows);
        if (!isCopied)
          copyDense<Element>(rhsData, &terms.second[size_t(k)], depth,
                             &columns.first[size_t(c)], width, rightRows);
        isCopied = termCount <= TERMS;
        panelProduct<Sum>(height, width, depth, leftRows, {depth, 1}, rightRows,
                          {width, 1}, /*accumulate=*/false, sums, width);
        if (termCount > TERMS)
          blocks.push(sums);
      }
      if (termCount > TERMS) {
        std::fill_n(sums, height * width, Sum(0));
        blocks.addTo(sums);
      }
      for (int64_t i = 0; i < height; ++i) {
        Result *to = out + rows.second[size_t(r + i)];
        for (int64_t j = 0; j < width; ++j)
          to[columns.second[size_t(c + j)]] =
              Element::narrow(sums[i * width + j]);
      }
    }
  }
}
} // namespace

void library::fixedProduct(DType type, const void *lhs, const void *rhs,
                           void *out, const Offsets &rows,
                           const Offsets &columns, const Offsets &terms,
                           bool widens) {
  // Few columns are few rows of the transposed product: an element's terms are
  // the same either way.
  constexpr size_t few = 16;
  if (columns.first.size() < few && rows.first.size() > columns.first.size())
    return fixedProduct(type, rhs, lhs, out, columns, rows,
                        {terms.second, terms.first}, widens);
  switch (type) {
  case DType::BF16:
    return widens
               ? product<Widening<Brain>>(lhs, rhs, out, rows, columns, terms)
               : product<Brain>(lhs, rhs, out, rows, columns, terms);
  case DType::F16:
    return widens ? product<Widening<Half>>(lhs, rhs, out, rows, columns, terms)
                  : product<Half>(lhs, rhs, out, rows, columns, terms);
  case DType::F64:
    return product<Whole<double>>(lhs, rhs, out, rows, columns, terms);
  case DType::I32:
  case DType::UI32:
    return product<Whole<uint32_t>>(lhs, rhs, out, rows, columns, terms);
  default:
    return product<Whole<float>>(lhs, rhs, out, rows, columns, terms);
  }
}
