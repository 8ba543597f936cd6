// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradient rules of the ops that move, repeat or combine elements.
#include "GradientRules.h"

#include "meshloom/Dialect/DTensor/DeviceSets.h"

namespace meshloom {

using dtensor::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Sums over what was repeated.
static void gradientOf(dtensor::BroadcastInDimOp op, OpGradient &g) {
  ArrayRef<int64_t> dims = op.getBroadcastDimensions();
  RankedTensorType from = g.typeOf(op.getOperand()), to = g.typeOf(g.of());
  // The operand dims that are kept, in the order of the result's dims.
  SmallVector<int64_t> summed, kept;
  for (int64_t d = 0; d < to.getRank(); ++d) {
    const int64_t *source = llvm::find(dims, d);
    bool repeated = source == dims.end() ||
                    from.getDimSize(source - dims.begin()) != to.getDimSize(d);
    if (repeated)
      summed.push_back(d);
    else
      kept.push_back(source - dims.begin());
  }
  Value gradient = g.sum(g.of(), summed);
  // Back into the order of the operand, then the dims of size one.
  SmallVector<int64_t> permutation = range(0, kept.size());
  llvm::sort(permutation,
             [&](int64_t a, int64_t b) { return kept[a] < kept[b]; });
  g.give(0, g.reshape(g.transpose(gradient, permutation), from.getShape()));
}

static void gradientOf(dtensor::ReshapeOp op, OpGradient &g) {
  g.give(0, g.reshape(g.of(), g.typeOf(op.getOperand()).getShape()));
}

static void gradientOf(dtensor::TransposeOp op, OpGradient &g) {
  SmallVector<int64_t> inverse(op.getPermutation().size());
  for (auto [to, from] : llvm::enumerate(op.getPermutation()))
    inverse[from] = to;
  g.give(0, g.transpose(g.of(), inverse));
}

/// Elements go back to where they were taken, zeros to all other places.
static void gradientOf(dtensor::SliceOp op, OpGradient &g) {
  RankedTensorType from = g.typeOf(op.getOperand());
  ArrayRef<int64_t> starts = op.getStartIndices(), strides = op.getStrides();
  SmallVector<int64_t> high, interior;
  for (auto [dim, size] : llvm::enumerate(g.typeOf(g.of()).getShape())) {
    if (size == 0)
      return g.give(0, g.zeros(from));
    high.push_back(from.getDimSize(dim) - starts[dim] -
                   (size - 1) * strides[dim] - 1);
    interior.push_back(strides[dim] - 1);
  }
  g.give(0, g.pad(g.of(), starts, high, interior));
}

/// Padding is undone by the opposite padding, then a slice; the padding value's
/// gradient is the sum of what is left out.
static void gradientOf(dtensor::PadOp op, OpGradient &g) {
  auto negated = [](ArrayRef<int64_t> padding) {
    return llvm::map_to_vector(padding, [](int64_t count) { return -count; });
  };
  ArrayRef<int64_t> interior = op.getInteriorPadding();
  RankedTensorType from = g.typeOf(op.getOperand());
  Value gradient;
  if (from.getNumElements() == 0) {
    gradient = g.zeros(from);
  } else {
    SmallVector<int64_t> none(interior.size()), strides;
    for (int64_t count : interior)
      strides.push_back(count + 1);
    gradient = g.pad(g.of(), negated(op.getEdgePaddingLow()),
                     negated(op.getEdgePaddingHigh()), none);
    if (llvm::any_of(interior, [](int64_t count) { return count != 0; }))
      gradient = g.create<dtensor::SliceOp>(
          g.getLoc(), gradient, none, g.typeOf(gradient).getShape(), strides);
  }
  if (g.wants(0))
    g.give(0, gradient);
  if (!g.wants(1))
    return;
  auto sumOf = [&](Value value) {
    return g.sum(value, range(0, interior.size()));
  };
  g.give(1, g.subtract(sumOf(g.of()), sumOf(gradient)));
}

/// For each slice of the operand the results made from it, filled up with
/// zeros to the most that any slice made, are summed.
static void gradientOf(dtensor::TakeOp op, OpGradient &g) {
  int64_t dim = op.getDimension();
  SmallVector<int64_t> shape(g.typeOf(op.getOperand()).getShape());
  std::vector<SmallVector<int64_t>> places(shape[dim]);
  size_t most = 0;
  for (auto [place, index] : llvm::enumerate(op.getIndices()))
    if (index >= 0) {
      places[index].push_back(place);
      most = std::max(most, places[index].size());
    }
  if (most == 0)
    return g.give(0, g.zeros(g.typeOf(op.getOperand())));
  SmallVector<int64_t> indices;
  for (SmallVector<int64_t> &list : places) {
    list.resize(most, -1);
    llvm::append_range(indices, list);
  }
  Value taken = g.create<dtensor::TakeOp>(g.getLoc(), g.of(), dim,
                                          ArrayRef<int64_t>(indices));
  if (most > 1) {
    shape.insert(shape.begin() + dim + 1, int64_t(most));
    taken = g.sum(g.reshape(taken, shape), {dim + 1});
  }
  g.give(0, taken);
}

static void gradientOf(dtensor::ConcatenateOp op, OpGradient &g) {
  int64_t dim = op.getDimension(), start = 0;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    SmallVector<int64_t> limits(g.typeOf(input).getShape());
    SmallVector<int64_t> starts(limits.size());
    starts[dim] = start;
    start = limits[dim] += start;
    if (g.wants(i))
      g.give(i, g.slice(g.of(), starts, limits));
  }
}

static void gradientOf(dtensor::ReverseOp op, OpGradient &g) {
  g.give(0,
         g.create<dtensor::ReverseOp>(g.getLoc(), g.of(), op.getDimensions()));
}

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

/// The transposition that puts dims, listed by what they are in an operand,
/// into the operand's order.
static SmallVector<int64_t> orderOf(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> permutation(dims.size());
  for (auto [position, dim] : llvm::enumerate(dims))
    permutation[dim] = position;
  return permutation;
}

/// The dims of one operand that are contracted, in the order of the dims of the
/// other that they are contracted with.
static SmallVector<int64_t> partners(ArrayRef<int64_t> dims,
                                     ArrayRef<int64_t> others) {
  SmallVector<int64_t> order = range(0, dims.size()), result;
  llvm::sort(order,
             [&](int64_t a, int64_t b) { return others[a] < others[b]; });
  for (int64_t i : order)
    result.push_back(dims[i]);
  return result;
}

/// result[b, m, n] = sum_k lhs[b, m, k] rhs[b, k, n], so the left gradient is
/// sum_n g[b, m, n] rhs[b, k, n], and the right sum_m lhs[b, m, k] g[b, m, n]:
/// in this order of operands neither needs a transposition of a matrix. Where
/// an operand is transposed, its last dim a free one of lhs or a contracted one
/// of rhs, that is so in the other order.
static void gradientOf(dtensor::DotGeneralOp op, OpGradient &g) {
  SmallVector<int64_t> lhsFree = op.getLhsFreeDimensions();
  SmallVector<int64_t> rhsFree = op.getRhsFreeDimensions();
  ArrayRef<int64_t> lhsBatch = op.getLhsBatchingDimensions();
  ArrayRef<int64_t> rhsBatch = op.getRhsBatchingDimensions();
  ArrayRef<int64_t> lhsContracted = op.getLhsContractingDimensions();
  ArrayRef<int64_t> rhsContracted = op.getRhsContractingDimensions();
  // Where batching, m and n are in the result.
  int64_t firstM = lhsBatch.size(), firstN = firstM + lhsFree.size();
  SmallVector<int64_t> batch = range(0, firstM), m = range(firstM, firstN),
                       n = range(firstN, firstN + rhsFree.size());
  // The gradient of a result of f32 is multiplied in f32.
  const Type element = op.getType().getElementType();
  auto isLast = [&](Value operand, ArrayRef<int64_t> dims) {
    return llvm::is_contained(dims, g.typeOf(operand).getRank() - 1);
  };
  if (g.wants(0)) {
    const Value rhs = g.convert(op.getRhs(), element);
    SmallVector<int64_t> dims(lhsBatch),
        kept = partners(lhsContracted, rhsContracted);
    Value product;
    if (isLast(op.getLhs(), lhsFree)) {
      product = g.create<dtensor::DotGeneralOp>(g.getLoc(), rhs, g.of(),
                                                rhsBatch, batch, rhsFree, n);
      llvm::append_range(dims, kept);
      llvm::append_range(dims, lhsFree);
    } else {
      product = g.create<dtensor::DotGeneralOp>(g.getLoc(), g.of(), rhs, batch,
                                                rhsBatch, n, rhsFree);
      llvm::append_range(dims, lhsFree);
      llvm::append_range(dims, kept);
    }
    g.give(0, g.convert(g.transpose(product, orderOf(dims)),
                        g.typeOf(op.getLhs()).getElementType()));
  }
  if (g.wants(1)) {
    const Value lhs = g.convert(op.getLhs(), element);
    SmallVector<int64_t> dims(rhsBatch),
        kept = partners(rhsContracted, lhsContracted);
    Value product;
    if (isLast(op.getRhs(), rhsContracted)) {
      product = g.create<dtensor::DotGeneralOp>(g.getLoc(), g.of(), lhs, batch,
                                                lhsBatch, m, lhsFree);
      llvm::append_range(dims, rhsFree);
      llvm::append_range(dims, kept);
    } else {
      product = g.create<dtensor::DotGeneralOp>(g.getLoc(), lhs, g.of(),
                                                lhsBatch, batch, lhsFree, m);
      llvm::append_range(dims, kept);
      llvm::append_range(dims, rhsFree);
    }
    g.give(1, g.convert(g.transpose(product, orderOf(dims)),
                        g.typeOf(op.getRhs()).getElementType()));
  }
}

static void gradientOf(dtensor::MatMulOp op, OpGradient &g) {
  int64_t rank = g.typeOf(g.of()).getRank(), m = rank - 2, n = rank - 1;
  SmallVector<int64_t> batch = range(0, m);
  if (g.wants(0))
    g.give(0, g.create<dtensor::DotGeneralOp>(
                  g.getLoc(), g.of(), op.getRhs(), batch, batch,
                  ArrayRef<int64_t>{n}, ArrayRef<int64_t>{n}));
  if (g.wants(1))
    g.give(1, g.create<dtensor::DotGeneralOp>(
                  g.getLoc(), op.getLhs(), g.of(), batch, batch,
                  ArrayRef<int64_t>{m}, ArrayRef<int64_t>{m}));
}

/// The product of all other elements: that of all nonzero ones, divided by the
/// element where it is not zero itself, and 0 where another element is zero.
static Value productOfOthers(OpGradient &g, Value x, ArrayRef<int64_t> dims) {
  Value zero = g.like(x, 0), one = g.like(x, 1);
  Value isZero = g.compare(ComparisonDirection::EQ, x, zero);
  Value nonzero = g.select(isZero, one, x);
  Value zeros = g.repeat(g.sum(g.select(isZero, one, zero), dims), x, dims);
  Value product = g.repeat(g.reduce(ReduceKind::Prod, nonzero, dims), x, dims);
  Value single = g.compare(ComparisonDirection::EQ, zeros, one);
  Value none = g.compare(ComparisonDirection::EQ, zeros, zero);
  return g.select(isZero, g.keepIf(single, product),
                  g.keepIf(none, g.divide(product, nonzero)));
}

/// Elements equal to the extreme share its gradient.
static Value shareAmongTies(OpGradient &g, Value x, Value extreme,
                            Value gradient, ArrayRef<int64_t> dims) {
  Value zero = g.like(x, 0), one = g.like(x, 1);
  Value hit = g.compare(ComparisonDirection::EQ, x, g.repeat(extreme, x, dims));
  Value ties = g.sum(g.select(hit, one, zero), dims);
  return g.keepIf(hit, g.repeat(g.divide(gradient, ties), x, dims));
}

static void gradientOf(dtensor::ReduceOp op, OpGradient &g) {
  ArrayRef<int64_t> dims = op.getDimensions();
  for (auto [i, x] : llvm::enumerate(op.getInputs())) {
    if (!g.wants(i) || !g.of(i))
      continue;
    switch (op.getKind()) {
    case ReduceKind::Sum:
      g.give(i, g.repeat(g.of(i), x, dims));
      break;
    case ReduceKind::Prod:
      g.give(i, g.multiply(g.repeat(g.of(i), x, dims),
                           productOfOthers(g, x, dims)));
      break;
    case ReduceKind::Min:
    case ReduceKind::Max:
      g.give(i, shareAmongTies(g, x, op->getResult(i), g.of(i), dims));
      break;
    case ReduceKind::And:
    case ReduceKind::Or:
      break; // of integers only
    }
  }
}

//===----------------------------------------------------------------------===//
// Layouts and variables
//===----------------------------------------------------------------------===//

static void gradientOf(dtensor::RelayoutOp op, OpGradient &g) {
  g.give(0, op->hasAttr(dtensor::sourceAttr)
                ? dtensor::transferBack(g, op, g.of())
                : g.of());
}

/// The gradient of a value gets the constraint of the value, as in JAX; a
/// pending reduction does not.
static void gradientOf(dtensor::ConstraintOp op, OpGradient &g) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  auto layout = dyn_cast_or_null<dtensor::LayoutAttr>(type.getEncoding());
  if (!layout || layout.getLayout().is_partial())
    return g.give(0, g.of());
  g.give(0, g.create<dtensor::ConstraintOp>(g.getLoc(), g.of(), layout));
}

static void gradientOf(dtensor::ReadVariableOp op, OpGradient &g) {
  g.give(0, g.of());
}

void attachStructuralGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<BroadcastInDimOp, ReshapeOp, TransposeOp, SliceOp, PadOp,
                  TakeOp, ConcatenateOp, ReverseOp, RelayoutOp, ConstraintOp,
                  ReadVariableOp>(context);
  attachDerivatives<DotGeneralOp, MatMulOp, ReduceOp>(context);
}

} // namespace meshloom
