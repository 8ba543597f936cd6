// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WeightedSum: a product of matrices as attention and its gradient have it.
#pragma once

#include "ElementExpressions.h"

#include "meshloom/Core/Program.h"
#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Returns the elements of a buffer that an element of a tensor is, through
/// kernels that only move, widen or round them. Nothing: it is computed.
/// `buffers`: the program's, by values.
std::optional<Operand> operandOf(ElementExpressions::Expression element,
                                 const DenseMap<Value, unsigned> &buffers);

/// An operand of a product.
struct ProductSide {
  Value value;
  ArrayRef<int64_t> batching, contracting;

  static ProductSide of(dtensor::DotGeneralOp product, bool isRight);
  SmallVector<int64_t> freeDims() const;
  SmallVector<int64_t> shape() const {
    return spmd::globalShape(value.getType());
  }
  /// Returns the only dim of several elements, -1 where there is none, and
  /// nothing where there are several.
  std::optional<int64_t> wideDim(ArrayRef<int64_t> dims) const;
};

/// Sums of values with weights: result[b, i, c] = sum over j of weights[b, i,
/// j] * values[b, j, c]. The weights are either side of the product.
class WeightedSum {
public:
  /// Returns nothing where the weights have more than one i or j.
  static std::optional<WeightedSum> of(dtensor::DotGeneralOp product,
                                       bool areWeightsRight);

  /// Returns the indices of the weights by loops: those of b of several
  /// iterations, then i and j.
  ArrayRef<mlir::AffineExpr> weightIndices() const { return indices; }
  /// Gives the loops of the weights other numbers.
  void setWeightIndices(ArrayRef<mlir::AffineExpr> changed) {
    indices.assign(changed.begin(), changed.end());
  }
  unsigned batchLoops() const { return numBatchLoops; }
  Value weights() const { return weightSide.value; }
  Value values() const { return valueSide.value; }
  Value result() { return product.getResult(); }
  /// Returns the extent of j.
  int64_t terms() const;
  /// Returns the extent of c; 1 also where it has several dims.
  int64_t columns() const;
  SmallVector<mlir::AffineExpr> valueIndices(unsigned columnLoop) const;
  SmallVector<mlir::AffineExpr> resultIndices(unsigned columnLoop) const;

private:
  WeightedSum(dtensor::DotGeneralOp product, bool areWeightsRight)
      : product(product), weightSide(ProductSide::of(product, areWeightsRight)),
        valueSide(ProductSide::of(product, !areWeightsRight)),
        areWeightsRight(areWeightsRight) {}

  dtensor::DotGeneralOp product;
  ProductSide weightSide, valueSide;
  bool areWeightsRight;
  unsigned numBatchLoops = 0;
  SmallVector<mlir::AffineExpr> indices;
};

/// The rows and columns whose products an element of a product of matrices
/// sums up: element[.., q, .., k] = sum over `term` of row[.., q, term] *
/// column[.., k, term].
struct ProductFactors {
  Operand row, column;
  int64_t terms = 0;
};
/// Returns nothing where the element is not of a product, or its factors are
/// computed. `column` and `term`: loops.
std::optional<ProductFactors>
factorsOf(ElementExpressions &expressions,
          ElementExpressions::Expression element, unsigned column,
          unsigned term, const DenseMap<Value, unsigned> &buffers);

/// Returns where a product's result lies, which kernels behind it may move and
/// round for their only user.
std::optional<Operand> movedResult(Value result,
                                   ArrayRef<mlir::AffineExpr> indices,
                                   const DenseMap<Value, unsigned> &buffers);

} // namespace meshloom
