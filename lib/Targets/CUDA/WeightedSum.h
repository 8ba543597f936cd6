// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WeightedSum: a product of matrices as attention and its gradient have it.
#pragma once

#include "ElementExpressions.h"

#include "meshloom/Core/Program.h"
#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Returns where an element of a tensor lies in the program's buffers. Nothing:
/// it is computed.
std::optional<Operand> operandOf(ElementExpressions::Expression element,
                                 const DenseMap<Value, unsigned> &buffers);
/// The same of the element from which kernels have moved or widened it, as far
/// back as buffers have it.
std::optional<Operand> sourceOf(Value tensor,
                                ArrayRef<mlir::AffineExpr> indices,
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
/// j] * values[b, j, c]. The weights are either side of the product. Where they
/// have several dims that the values have not, the last one is i, and the
/// values do not depend on the others, which are of b. Where several dims are
/// summed up, the last one is j, and the others, whose loops are of b too, are
/// groups: the result does not depend on them.
class WeightedSum {
public:
  /// Returns nothing where the weights have no j.
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
  bool sumsGroups() const { return numGroupLoops != 0; }
  Value weights() const { return weightSide.value; }
  /// Returns the extent of j.
  int64_t terms() const { return numTerms; }
  /// Returns the extents of i and j.
  std::pair<int64_t, int64_t> weightExtents() const;
  /// Returns the extent of c; 1 also where it has several dims.
  int64_t columns() const;
  /// Returns where the values and the result lie. `column`: the loop of c.
  std::optional<Operand>
  valueOperand(unsigned column, const DenseMap<Value, unsigned> &buffers) const;
  std::optional<Operand>
  resultOperand(unsigned column, const DenseMap<Value, unsigned> &buffers);

private:
  SmallVector<mlir::AffineExpr> valueIndices(unsigned column) const;
  SmallVector<mlir::AffineExpr> resultIndices(unsigned column) const;

  WeightedSum(dtensor::DotGeneralOp product, bool areWeightsRight)
      : product(product), weightSide(ProductSide::of(product, areWeightsRight)),
        valueSide(ProductSide::of(product, !areWeightsRight)),
        areWeightsRight(areWeightsRight) {}

  dtensor::DotGeneralOp product;
  ProductSide weightSide, valueSide;
  bool areWeightsRight;
  unsigned numBatchLoops = 0, numGroupLoops = 0;
  int64_t numRows = 1;  ///< the extent of i
  int64_t numTerms = 1; ///< the extent of j
  SmallVector<mlir::AffineExpr> indices;
};

/// The rows and columns whose products an element of a product of matrices
/// sums up: element[.., q, .., k] = sum over `term` of row[.., q, term] *
/// column[.., k, term].
struct ProductFactors {
  Operand row, column;
  int64_t terms = 0;
};
/// Returns nothing where the element is not of a product. `column` and `term`:
/// loops.
std::optional<ProductFactors>
factorsOf(ElementExpressions::Expression element, unsigned column,
          unsigned term, const DenseMap<Value, unsigned> &buffers);

} // namespace meshloom
