// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products by oneDNN's primitives, which are made once for each shape.
#pragma once

#include "DotTiles.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

namespace meshloom::library {

/// A product's shape: rows, columns, terms, the strides and the types of the
/// three matrices, and whether it is added to the result.
struct ProductShape {
  using Type = dnnl::memory::data_type;

  int64_t m, n, k;
  MatrixStrides lhs, rhs, result;
  Type lhsType, rhsType, resultType;
  bool adds = false;

  /// The product of a contraction without outer loops.
  static ProductShape of(const Contraction &c, Type lhsType, Type rhsType,
                         Type resultType) {
    return {c.row.count,
            c.column.count,
            c.sum.count,
            {c.row.strides[0], c.sum.strides[0]},
            {c.sum.strides[1], c.column.strides[1]},
            {c.row.strides[2], c.column.strides[2]},
            lhsType,
            rhsType,
            resultType};
  }
  std::array<int64_t, 13> key() const {
    return {m,
            n,
            k,
            lhs.rowStride,
            lhs.columnStride,
            rhs.rowStride,
            rhs.columnStride,
            result.rowStride,
            result.columnStride,
            int64_t(lhsType),
            int64_t(rhsType),
            int64_t(resultType),
            adds};
  }
};

/// A primitive and what it reads and writes.
struct DnnlProduct {
  dnnl::matmul primitive;
  dnnl::memory::desc lhs, rhs, result, scratchpad;
  bool good = false; ///< see takeGood

  /// Only where it is good. Fails by an exception of type dnnl::error.
  void multiply(const void *lhsData, const void *rhsData, void *out) const;
};

/// Returns the product of a shape, the same for every call.
const DnnlProduct &productOf(const ProductShape &shape);

/// Returns the error of a product of operands of `type` that oneDNN fails to
/// compute.
Error productError(std::string_view type, const Contraction &c,
                   const dnnl::error &error);

/// Returns whether oneDNN reads such a matrix as it lies: with the strides of a
/// row-major matrix or of a transposed one. The strides of dims of one element
/// are changed to fit.
bool isPlain(MatrixStrides &matrix, int64_t rows, int64_t columns);

} // namespace meshloom::library
