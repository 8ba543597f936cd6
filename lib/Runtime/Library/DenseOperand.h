// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of a product's operands in the type in which they are multiplied.
#pragma once

#include "DotTiles.h"
#include "ThreadScratch.h"

namespace meshloom::library {

/// A dense copy of an operand: rows, columns or both may be of several loops.
/// Lies in memory as the operand does, so that reading it is in order.
template <typename T> struct DenseOperand {
  const T *data;
  MatrixStrides matrix;
};

/// Copies rows, whose elements are `step` apart, into dense ones by
/// copyRow(from, step, to, count).
template <typename From, typename To, typename CopyRow>
void copyRows(const From *from, int64_t rows, int64_t rowStep, int64_t count,
              int64_t step, To *to, const CopyRow &copyRow) {
  if (step == 1 && rowStep == count)
    return copyRow(from, 1, to, rows * count);
  for (int64_t r = 0; r < rows; ++r)
    copyRow(from + r * rowStep, step, to + r * count, count);
}

/// `operand`: 0 or 1, whose lines are `line`; the contraction goes along `sum`
/// and `outer`. The copy is this thread's until the next one of that operand.
template <typename To, typename From, typename CopyRow>
DenseOperand<To> densify(const From *from, unsigned operand, const Extent &line,
                         const Contraction &c, const CopyRow &copyRow) {
  auto *to = static_cast<To *>(threadScratch(
      operand == 0 ? 5 : 6, size_t(line.count * c.terms) * sizeof(To)));
  const int64_t lineStep = line.strides[operand],
                sumStep = c.sum.strides[operand];
  const bool along = sumStep == 1 || lineStep != 1; // lines of terms
  int64_t begin = 0;
  (void)forEach(c.outer, {}, true, [&](std::array<int64_t, 3> offsets, bool) {
    const From *block = from + offsets[operand];
    if (along && c.sum.count == c.terms)
      copyRows(block, line.count, lineStep, c.terms, sumStep, to, copyRow);
    else if (along)
      for (int64_t l = 0; l < line.count; ++l)
        copyRow(block + l * lineStep, sumStep, to + l * c.terms + begin,
                c.sum.count);
    else
      copyRows(block, c.sum.count, sumStep, line.count, lineStep,
               to + begin * line.count, copyRow);
    begin += c.sum.count;
    return Status(Success());
  });
  return {to, along ? MatrixStrides{c.terms, 1} : MatrixStrides{1, line.count}};
}

} // namespace meshloom::library
