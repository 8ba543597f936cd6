// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MatrixProduct: a product of any loops as cuBLASLt takes it, which knows one
// loop of each kind, and matrices whose columns are contiguous.
#pragma once

#include "meshloom/Core/DeviceCode.h"

#include <array>
#include <optional>

namespace meshloom::cuda {

/// out[row, column] = sum over `terms` of a[row, term] * b[term, column], for
/// each of `batches`. Lengths and distances are in elements.
struct MatrixProduct {
  /// How an operand lies in memory: column by column, or row by row where it is
  /// transposed.
  struct Operand {
    bool isTransposed = false;
    int64_t pitch = 0;       ///< from one column (or row) to the next
    int64_t batchStride = 0; ///< from one matrix to the next
    int64_t alignment = 0;   ///< bytes that divide the address
    auto operator<=>(const Operand &) const = default;
  };
  DType type = DType::F32;       ///< of the operands
  DType resultType = DType::F32; ///< also of an epilogue's operands
  int64_t rows = 0, columns = 0, terms = 0, batches = 1;
  Operand a, b, out;
  /// `a` is the product's right operand, and `b` its left one: a result whose
  /// rows are contiguous is a transposed one, of the operands in turn.
  bool swapsOperands = false;
  /// How the library finishes the sums before it stores them.
  struct Epilogue {
    ProductEpilogue::Form form = ProductEpilogue::Form::Bias;
    /// Bytes that divide the address of the bias, one number a row; 0: none.
    int64_t biasAlignment = 0;
    /// Likewise of gelu's operands, which lie as the result does; 0: nobody
    /// needs them.
    int64_t auxiliaryAlignment = 0;
    /// Likewise of a bias's gradient, one number for each that `summed` says.
    int64_t sumAlignment = 0;
    enum class Summed : uint8_t {
      RowsOfA,     ///< a, over its terms
      ColumnsOfB,  ///< b, over its terms
      RowsOfResult ///< the result, over its columns
    };
    Summed summed = Summed::RowsOfResult;
    auto operator<=>(const Epilogue &) const = default;
  };
  std::optional<Epilogue> epilogue = std::nullopt;
  auto operator<=>(const MatrixProduct &) const = default;

  /// Nothing where there is no work, or where the library cannot take the
  /// operands as they lie: loops of a kind that are not one loop, or no
  /// contiguous dim. `strides`: of lhs, rhs and out, per loop. `alignments`:
  /// in bytes, of lhs, rhs and out.
  static std::optional<MatrixProduct>
  of(const ProductKind &kind, std::span<const int64_t> extents,
     std::array<std::span<const int64_t>, 3> strides,
     std::array<int64_t, 3> alignments);
  /// The strides of an epilogue's operands per loop, empty where there is no
  /// such operand.
  struct EpilogueStrides {
    std::span<const int64_t> result, bias = {}, auxiliary = {}, sum = {};
  };
  /// Gives the product of these loops an epilogue. Returns false where the
  /// library cannot take the operands as they lie.
  bool setEpilogue(const Epilogue &wanted, const ProductKind &kind,
                   std::span<const int64_t> extents,
                   const EpilogueStrides &strides);
};

} // namespace meshloom::cuda
