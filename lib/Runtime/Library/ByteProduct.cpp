// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By oneDNN, where it has code for the shape: four products of bytes in an
// instruction (VNNI), or tiles of them (AMX). It takes a left operand of either
// sign and a signed right one. Others become integers of 32 bits first.
#include "ByteProduct.h"

#include "Clones.h"
#include "DenseOperand.h"
#include "DnnlProduct.h"

#include <algorithm>
#include <vector>

using namespace meshloom;
using namespace meshloom::library;

namespace {

/// Returns whether oneDNN has good code for the product, and ran it. The right
/// operand is signed.
bool runByLibrary(bool isLhsSigned, const uint8_t *lhs, const uint8_t *rhs,
                  uint32_t *out, const Contraction &c) {
  using Type = ProductShape::Type;
  if (c.terms != c.sum.count)
    return false;
  ProductShape shape = ProductShape::of(c, isLhsSigned ? Type::s8 : Type::u8,
                                        Type::s8, Type::s32);
  if (!isPlain(shape.lhs, shape.m, shape.k) ||
      !isPlain(shape.rhs, shape.k, shape.n) ||
      !isPlain(shape.result, shape.m, shape.n) ||
      shape.result.columnStride != 1)
    return false;
  const DnnlProduct &product = productOf(shape);
  if (product.good)
    product.multiply(lhs, rhs, out);
  return product.good;
}

template <typename Byte>
MESHLOOM_LANES_INLINE void widenBytes(const Byte *from, int64_t step,
                                      uint32_t *to, int64_t count) {
  if (step == 1)
    for (int64_t i = 0; i < count; ++i)
      to[i] = uint32_t(int32_t(from[i]));
  else
    for (int64_t i = 0; i < count; ++i)
      to[i] = uint32_t(int32_t(from[i * step]));
}
MESHLOOM_CLONES void widenRow(const int8_t *from, int64_t step, uint32_t *to,
                              int64_t count) {
  widenBytes(from, step, to, count);
}
MESHLOOM_CLONES void widenRow(const uint8_t *from, int64_t step, uint32_t *to,
                              int64_t count) {
  widenBytes(from, step, to, count);
}

DenseOperand<uint32_t> widen(DType type, const uint8_t *from, unsigned operand,
                             const Extent &line, const Contraction &c) {
  auto widenAs = [&](const auto *bytes) {
    return densify<uint32_t>(
        bytes, operand, line, c,
        [](const auto *row, int64_t step, uint32_t *to, int64_t count) {
          widenRow(row, step, to, count);
        });
  };
  return type == DType::I8 ? widenAs(reinterpret_cast<const int8_t *>(from))
                           : widenAs(from);
}

/// In 32 bits: some rows at once, so that their copy stays in cache.
Status runWidened(DType lhsType, const uint8_t *lhs, DType rhsType,
                  const uint8_t *rhs, uint32_t *out, const Contraction &c) {
  const DenseOperand columnsCopy = widen(rhsType, rhs, 1, c.column, c);
  const int64_t most =
      std::clamp<int64_t>(LARGEST_TILE / c.terms, 1, c.row.count);
  for (int64_t r = 0; r < c.row.count; r += most) {
    Extent rows = c.row;
    rows.count = std::min(most, c.row.count - r);
    const DenseOperand rowsCopy =
        widen(lhsType, lhs + r * rows.strides[0], 0, rows, c);
    const Contraction dense{
        {rows.count, {rowsCopy.matrix.rowStride, 0, rows.strides[2]}},
        {c.column.count,
         {0, columnsCopy.matrix.rowStride, c.column.strides[2]}},
        {c.terms,
         {rowsCopy.matrix.columnStride, columnsCopy.matrix.columnStride, 0}},
        {},
        c.terms};
    if (Status ok = runTiles<uint32_t>(rowsCopy.data, columnsCopy.data,
                                       out + r * rows.strides[2], dense);
        !ok)
      return ok;
  }
  return Success();
}

} // namespace

Status library::byteProduct(DType lhsType, const uint8_t *lhs, DType rhsType,
                            const uint8_t *rhs, uint32_t *out,
                            const Contraction &c) {
  if (hasColumnMajorResult(c)) {
    std::vector<Extent> outer;
    return byteProduct(rhsType, rhs, lhsType, lhs, out, transposed(c, outer));
  }
  try {
    if (rhsType == DType::I8 &&
        runByLibrary(lhsType == DType::I8, lhs, rhs, out, c))
      return Success();
  } catch (const dnnl::error &error) {
    return productError("bytes", c, error);
  }
  return runWidened(lhsType, lhs, rhsType, rhs, out, c);
}
