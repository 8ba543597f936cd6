// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WeightedSum.h"

#include "meshloom/Targets/Kernels/ToProgram.h"

using namespace meshloom;
using dtensor::DotGeneralOp;
using mlir::AffineExpr;
using Expression = ElementExpressions::Expression;

/// Returns the elements of a buffer; nothing where the value has none.
static std::optional<Operand>
bufferOperand(Value value, ArrayRef<AffineExpr> indices,
              const DenseMap<Value, unsigned> &buffers) {
  const auto buffer = buffers.find(value);
  if (buffer == buffers.end())
    return std::nullopt;
  Operand operand{buffer->second, {}};
  for (AffineExpr index : indices) {
    operand.dims.push_back(linearAccess(index));
    // Equal elements are equal operands.
    llvm::sort(operand.dims.back().terms);
  }
  return operand;
}

std::optional<Operand>
meshloom::operandOf(Expression element,
                    const DenseMap<Value, unsigned> &buffers) {
  return element && element->kind == ElementExpression::Kind::Element
             ? bufferOperand(element->tensor, element->indices, buffers)
             : std::nullopt;
}

std::optional<Operand>
meshloom::sourceOf(Value tensor, ArrayRef<AffineExpr> indices,
                   const DenseMap<Value, unsigned> &buffers) {
  auto bitsOf = [](Value value) {
    return partTypeOf(value.getType()).getIntOrFloatBitWidth();
  };
  std::optional<Operand> operand = bufferOperand(tensor, indices, buffers);
  unsigned bits = bitsOf(tensor);
  for (auto source = ElementExpressions::sourceOf(tensor, indices);
       source && bitsOf(source->first) <= bits;
       source = ElementExpressions::sourceOf(source->first, source->second)) {
    bits = bitsOf(source->first);
    if (auto earlier = bufferOperand(source->first, source->second, buffers))
      operand = std::move(earlier);
  }
  return operand;
}

ProductSide ProductSide::of(DotGeneralOp product, bool isRight) {
  if (isRight)
    return {product.getRhs(), product.getRhsBatchingDimensions(),
            product.getRhsContractingDimensions()};
  return {product.getLhs(), product.getLhsBatchingDimensions(),
          product.getLhsContractingDimensions()};
}

SmallVector<int64_t> ProductSide::freeDims() const {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(value.getType()).getRank();
       ++dim)
    if (!llvm::is_contained(batching, dim) &&
        !llvm::is_contained(contracting, dim))
      dims.push_back(dim);
  return dims;
}

std::optional<int64_t> ProductSide::wideDim(ArrayRef<int64_t> dims) const {
  const SmallVector<int64_t> extents = shape();
  int64_t wide = -1;
  for (int64_t dim : dims)
    if (extents[dim] != 1) {
      if (wide >= 0)
        return std::nullopt;
      wide = dim;
    }
  return wide;
}

/// Returns the index of a dim: the loop `number`, or 0 where it has one
/// element.
static AffineExpr indexOf(const ProductSide &side, int64_t dim,
                          unsigned number) {
  mlir::MLIRContext *context = side.value.getContext();
  return side.shape()[dim] == 1 ? mlir::getAffineConstantExpr(0, context)
                                : mlir::getAffineDimExpr(number, context);
}

std::optional<WeightedSum> WeightedSum::of(DotGeneralOp product,
                                           bool areWeightsRight) {
  WeightedSum sum(product, areWeightsRight);
  const ProductSide &weights = sum.weightSide, &values = sum.valueSide;
  const SmallVector<int64_t> shape = weights.shape();
  auto wideOf = [&](ArrayRef<int64_t> dims) {
    SmallVector<int64_t> wide;
    for (int64_t dim : dims)
      if (shape[dim] != 1)
        wide.push_back(dim);
    return wide;
  };
  SmallVector<int64_t> rows = wideOf(weights.freeDims()),
                       terms = wideOf(weights.contracting);
  // Groups are few.
  for (SmallVector<int64_t> *dims : {&rows, &terms})
    llvm::stable_sort(*dims, [&](int64_t lhs, int64_t rhs) {
      return shape[lhs] < shape[rhs];
    });
  if (terms.empty() || !values.wideDim(values.freeDims()))
    return std::nullopt;
  sum.indices.assign(shape.size(),
                     mlir::getAffineConstantExpr(0, product.getContext()));
  auto addBatch = [&](ArrayRef<int64_t> dims) {
    for (int64_t dim : dims)
      sum.indices[dim] = indexOf(weights, dim, sum.numBatchLoops++);
  };
  addBatch(wideOf(weights.batching));
  addBatch(ArrayRef(terms).drop_back());
  sum.numGroupLoops = terms.size() - 1;
  if (!rows.empty()) {
    addBatch(ArrayRef(rows).drop_back());
    sum.indices[rows.back()] = indexOf(weights, rows.back(), sum.numBatchLoops);
    sum.numRows = shape[rows.back()];
  }
  sum.indices[terms.back()] =
      indexOf(weights, terms.back(), sum.numBatchLoops + 1);
  sum.numTerms = shape[terms.back()];
  return sum;
}

std::pair<int64_t, int64_t> WeightedSum::weightExtents() const {
  return {numRows, terms()};
}

int64_t WeightedSum::columns() const {
  const int64_t dim = *valueSide.wideDim(valueSide.freeDims());
  return dim < 0 ? 1 : valueSide.shape()[dim];
}

SmallVector<AffineExpr> WeightedSum::valueIndices(unsigned column) const {
  SmallVector<AffineExpr> result(valueSide.shape().size());
  for (auto [here, there] :
       llvm::zip_equal(weightSide.batching, valueSide.batching))
    result[there] = indices[here];
  for (auto [here, there] :
       llvm::zip_equal(weightSide.contracting, valueSide.contracting))
    result[there] = indices[here];
  for (int64_t dim : valueSide.freeDims())
    result[dim] = indexOf(valueSide, dim, column);
  return result;
}

SmallVector<AffineExpr> WeightedSum::resultIndices(unsigned column) const {
  SmallVector<AffineExpr> result;
  for (int64_t dim : weightSide.batching)
    result.push_back(indices[dim]);
  auto addRows = [&] {
    for (int64_t dim : weightSide.freeDims())
      result.push_back(indices[dim]);
  };
  if (!areWeightsRight)
    addRows();
  for (int64_t dim : valueSide.freeDims())
    result.push_back(indexOf(valueSide, dim, column));
  if (areWeightsRight)
    addRows();
  return result;
}

/// Returns whether a kernel only moves and rounds elements: all of its input to
/// all of its result.
static bool onlyMoves(spmd::KernelOp kernel) {
  if (kernel.getInputs().size() != 1 || kernel.getOutputs().size() != 1 ||
      kernel.hasReductionLoops() || kernel.getHeld() || kernel.getRanges())
    return false;
  for (Value value : {kernel.getInputs()[0], Value(kernel.getResult(0))})
    if (mlir::ShapedType::getNumElements(spmd::globalShape(value.getType())) !=
        kernel.getNumIterations())
      return false;
  return movedInputOf(kernel, 0).has_value();
}

/// Returns where a product's result lies, which kernels behind it may move and
/// round for their only user.
static std::optional<Operand>
movedResult(Value result, ArrayRef<AffineExpr> indices,
            const DenseMap<Value, unsigned> &buffers) {
  SmallVector<AffineExpr> place = llvm::to_vector(indices);
  while (result.hasOneUse()) {
    auto kernel = dyn_cast<spmd::KernelOp>(*result.user_begin());
    if (!kernel || !onlyMoves(kernel))
      break;
    // The iteration that reads the element.
    SmallVector<AffineExpr> loops(
        kernel.getNumLoops(),
        mlir::getAffineConstantExpr(0, kernel.getContext()));
    bool isPlain = true;
    for (auto [dim, index] :
         llvm::zip_equal(kernel.getInputAccess(0).getResults(), place))
      if (auto loop = dyn_cast<mlir::AffineDimExpr>(dim))
        loops[loop.getPosition()] = index;
      else
        isPlain &= dim == index;
    if (!isPlain)
      break;
    place.clear();
    for (AffineExpr dim : kernel.getOutputAccess(0).getResults())
      place.push_back(dim.replaceDims(loops));
    result = kernel.getResult(0);
  }
  return bufferOperand(result, place, buffers);
}

std::optional<Operand>
WeightedSum::valueOperand(unsigned column,
                          const DenseMap<Value, unsigned> &buffers) const {
  return sourceOf(valueSide.value, valueIndices(column), buffers);
}

std::optional<Operand>
WeightedSum::resultOperand(unsigned column,
                           const DenseMap<Value, unsigned> &buffers) {
  return movedResult(product.getResult(), resultIndices(column), buffers);
}

std::optional<ProductFactors>
meshloom::factorsOf(Expression element, unsigned column, unsigned term,
                    const DenseMap<Value, unsigned> &buffers) {
  auto product = element->tensor.getDefiningOp<DotGeneralOp>();
  if (!product)
    return std::nullopt;
  const std::array sides{ProductSide::of(product, false),
                         ProductSide::of(product, true)};
  const auto wide = sides[0].wideDim(sides[0].contracting);
  if (!wide)
    return std::nullopt;
  std::array<SmallVector<AffineExpr>, 2> indices;
  ArrayRef<AffineExpr> next = element->indices;
  for (size_t side : {0, 1})
    indices[side].resize(sides[side].shape().size());
  for (auto [lhsDim, rhsDim] :
       llvm::zip_equal(sides[0].batching, sides[1].batching)) {
    indices[0][lhsDim] = indices[1][rhsDim] = next.front();
    next = next.drop_front();
  }
  std::optional<size_t> columns;
  for (size_t side : {0, 1})
    for (int64_t dim : sides[side].freeDims()) {
      indices[side][dim] = next.front();
      if (next.front() == mlir::getAffineDimExpr(column, product.getContext()))
        columns = side;
      next = next.drop_front();
    }
  if (!columns)
    return std::nullopt;
  for (auto [lhsDim, rhsDim] :
       llvm::zip_equal(sides[0].contracting, sides[1].contracting))
    for (auto [side, dim] : {std::pair(0, lhsDim), std::pair(1, rhsDim)})
      indices[side][dim] = indexOf(sides[side], dim, term);
  auto operand = [&](size_t side) {
    return sourceOf(sides[side].value, indices[side], buffers);
  };
  const auto rowFactor = operand(1 - *columns),
             columnFactor = operand(*columns);
  if (!rowFactor || !columnFactor)
    return std::nullopt;
  return ProductFactors{*rowFactor, *columnFactor,
                        *wide < 0 ? 1 : sides[0].shape()[*wide]};
}
