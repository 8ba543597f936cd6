// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers in memory are real numbers, twice as many along the dim that
// is contiguous. Where that suits the product, no operand is copied, or only
// the smaller one.
#include "ComplexProduct.h"

#include "ThinProduct.h"
#include "ThreadScratch.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::library;

namespace {
template <typename Real> const Real *realsOf(const std::complex<Real> *data) {
  return reinterpret_cast<const Real *>(data);
}

/// Rows of lhs hold re, im, re, im, ... along the terms. A column of rhs
/// becomes two: one with re, -im, ... for the real parts of the result and one
/// with im, re, ... for the imaginary parts.
template <typename Real>
Status multiplyExpanded(const std::complex<Real> *lhs,
                        const std::complex<Real> *rhs, std::complex<Real> *out,
                        const Contraction &c) {
  const int64_t columns = c.column.count, terms = c.sum.count,
                block = std::clamp<int64_t>(LARGEST_TILE / (2 * columns), 1,
                                            c.row.count);
  auto *expanded = static_cast<Real *>(
      threadScratch(5, size_t(4 * terms * columns) * sizeof(Real)));
  for (int64_t j = 0; j < columns; ++j) {
    Real *ofReal = expanded + 4 * j * terms, *ofImaginary = ofReal + 2 * terms;
    for (int64_t k = 0; k < terms; ++k) {
      const std::complex<Real> value =
          rhs[k * c.sum.strides[1] + j * c.column.strides[1]];
      ofReal[2 * k] = ofImaginary[2 * k + 1] = value.real();
      ofReal[2 * k + 1] = -value.imag();
      ofImaginary[2 * k] = value.imag();
    }
  }
  auto *products = static_cast<Real *>(
      threadScratch(4, size_t(2 * block * columns) * sizeof(Real)));
  for (int64_t r = 0; r < c.row.count; r += block) {
    // The result lies as thinProduct() writes it.
    const int64_t count = std::min(block, c.row.count - r);
    Status ok =
        runTiles<Real>(realsOf(lhs + r * c.row.strides[0]), expanded, products,
                       {{count, {2 * c.row.strides[0], 0, 1}},
                        {2 * columns, {0, 2 * terms, count}},
                        {2 * terms, {1, 1, 0}},
                        {},
                        2 * terms});
    if (!ok)
      return ok;
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < columns; ++j)
        out[(r + i) * c.row.strides[2] + j * c.column.strides[2]] = {
            products[2 * j * count + i], products[(2 * j + 1) * count + i]};
  }
  return Success();
}

/// Rows of lhs and columns of rhs are contiguous: re and im are rows and
/// columns of their own, whose product has all four products of parts.
template <typename Real>
Status multiplyInterleaved(const std::complex<Real> *lhs,
                           const std::complex<Real> *rhs,
                           std::complex<Real> *out, const Contraction &c) {
  const int64_t rows = c.row.count, columns = c.column.count;
  auto *products = static_cast<Real *>(
      threadScratch(4, size_t(4 * rows * columns) * sizeof(Real)));
  Status ok = runTiles<Real>(
      realsOf(lhs), realsOf(rhs), products,
      {{2 * rows, {1, 0, 2 * columns}},
       {2 * columns, {0, 1, 1}},
       {c.sum.count, {2 * c.sum.strides[0], 2 * c.sum.strides[1], 0}},
       {},
       c.terms});
  if (!ok)
    return ok;
  for (int64_t i = 0; i < rows; ++i) {
    const Real *ofReal = products + 4 * i * columns,
               *ofImaginary = ofReal + 2 * columns;
    for (int64_t j = 0; j < columns; ++j)
      out[i * c.row.strides[2] + j * c.column.strides[2]] = {
          ofReal[2 * j] - ofImaginary[2 * j + 1],
          ofReal[2 * j + 1] + ofImaginary[2 * j]};
  }
  return Success();
}

/// The real parts of a complex operand and the imaginary ones, `apart` further
/// on, each in a dense matrix of lines and terms that lies as the operand does.
template <typename Real> struct SeparatedParts {
  const Real *data;
  int64_t apart;
  MatrixStrides matrix;
};

template <typename Real>
SeparatedParts<Real> separateParts(const std::complex<Real> *from,
                                   unsigned operand, const Extent &line,
                                   const Contraction &c) {
  const int64_t apart = line.count * c.terms;
  auto *to = static_cast<Real *>(
      threadScratch(5 + operand, size_t(2 * apart) * sizeof(Real)));
  const int64_t lineStep = line.strides[operand],
                sumStep = c.sum.strides[operand];
  const bool along = sumStep == 1 || lineStep != 1; // rows of terms
  auto separateRow = [&](const std::complex<Real> *row, int64_t step,
                         Real *target, int64_t count) {
    if (step == 1)
      for (int64_t i = 0; i < count; ++i) {
        target[i] = row[i].real();
        target[i + apart] = row[i].imag();
      }
    else
      for (int64_t i = 0; i < count; ++i) {
        target[i] = row[i * step].real();
        target[i + apart] = row[i * step].imag();
      }
  };
  int64_t begin = 0;
  (void)forEach(c.outer, {}, true, [&](std::array<int64_t, 3> offsets, bool) {
    const std::complex<Real> *block = from + offsets[operand];
    if (along)
      for (int64_t l = 0; l < line.count; ++l)
        separateRow(block + l * lineStep, sumStep, to + l * c.terms + begin,
                    c.sum.count);
    else
      for (int64_t k = 0; k < c.sum.count; ++k)
        separateRow(block + k * sumStep, lineStep,
                    to + (begin + k) * line.count, line.count);
    begin += c.sum.count;
    return Status(Success());
  });
  return {to, apart,
          along ? MatrixStrides{c.terms, 1} : MatrixStrides{1, line.count}};
}

/// By the four products of parts that are separated first.
template <typename Real>
Status multiplySeparated(const std::complex<Real> *lhs,
                         const std::complex<Real> *rhs, std::complex<Real> *out,
                         const Contraction &c) {
  const int64_t columns = c.column.count,
                most =
                    std::clamp<int64_t>(LARGEST_TILE / columns, 1, c.row.count);
  auto *products = static_cast<Real *>(
      threadScratch(4, size_t(4 * most * columns) * sizeof(Real)));
  const SeparatedParts<Real> rhsParts =
      separateParts<Real>(rhs, 1, c.column, c);
  for (int64_t r = 0; r < c.row.count; r += most) {
    Extent row = c.row;
    row.count = std::min(most, c.row.count - r);
    const SeparatedParts<Real> lhsParts =
        separateParts<Real>(lhs + r * row.strides[0], 0, row, c);
    const int64_t elements = row.count * columns;
    const Contraction part{
        {row.count, {lhsParts.matrix.rowStride, 0, columns}},
        {columns, {0, rhsParts.matrix.rowStride, 1}},
        {c.terms,
         {lhsParts.matrix.columnStride, rhsParts.matrix.columnStride, 0}},
        {},
        c.terms};
    for (int of : {0, 1, 2, 3})
      if (Status ok = runTiles<Real>(lhsParts.data + of / 2 * lhsParts.apart,
                                     rhsParts.data + of % 2 * rhsParts.apart,
                                     products + of * elements, part);
          !ok)
        return ok;
    for (int64_t i = 0; i < row.count; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const Real *product = products + i * columns + j;
        out[(r + i) * row.strides[2] + j * c.column.strides[2]] = {
            product[0] - product[3 * elements],
            product[elements] + product[2 * elements]};
      }
  }
  return Success();
}

} // namespace

template <typename Real>
Status library::complexProduct(const std::complex<Real> *lhs,
                               const std::complex<Real> *rhs,
                               std::complex<Real> *out, const Contraction &c) {
  const int64_t rows = c.row.count, columns = c.column.count;
  const bool isOneSum = c.outer.empty();
  if (isOneSum && c.sum.strides[0] == 1 && 2 * columns <= THIN_ROWS &&
      columns <= rows)
    return multiplyExpanded(lhs, rhs, out, c);
  if (isOneSum && c.row.strides[0] == 1 && c.column.strides[1] == 1 &&
      4 * rows * columns <= LARGEST_TILE)
    return multiplyInterleaved(lhs, rhs, out, c);
  return multiplySeparated(lhs, rhs, out, c);
}

template Status library::complexProduct(const std::complex<float> *,
                                        const std::complex<float> *,
                                        std::complex<float> *,
                                        const Contraction &);
template Status library::complexProduct(const std::complex<double> *,
                                        const std::complex<double> *,
                                        std::complex<double> *,
                                        const Contraction &);
