// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of windows and running reductions.
#include "GradientRules.h"
#include "WindowElements.h"

#include <limits>

namespace meshloom {

using dtensor::ComparisonDirection;
using dtensor::dilated;
using dtensor::WindowSpec;

/// More elements than this are not written out one by one, but left to a loop.
constexpr int64_t mostElements = 256;

/// The gradient of `from` for the gradient of `padded(from)`.
static Value unpadded(OpGradient &g, Value gradient, RankedTensorType from,
                      const WindowSpec &window) {
  if (g.typeOf(gradient) == from && isPlain(window.padding, 0) &&
      isPlain(window.baseDilations, 1))
    return gradient;
  SmallVector<int64_t> low, high, none(window.dimensions.size());
  for (size_t d = 0; d < window.dimensions.size(); ++d) {
    low.push_back(-window.padding[2 * d]);
    high.push_back(-window.padding[2 * d + 1]);
  }
  Value inner = g.pad(gradient, low, high, none);
  if (isPlain(window.baseDilations, 1))
    return inner;
  return g.create<dtensor::SliceOp>(g.getLoc(), inner, none,
                                    g.typeOf(inner).getShape(),
                                    window.baseDilations);
}

static SmallVector<int64_t> allDims(OpGradient &g, Value value) {
  return llvm::to_vector(llvm::seq<int64_t>(0, g.typeOf(value).getRank()));
}

/// `scalar` as often as `like` has elements.
static Value spreadScalar(OpGradient &g, Value scalar, Value like) {
  return g.broadcast(scalar, g.typeOf(like).getShape(), {});
}

//===----------------------------------------------------------------------===//
// ReduceWindowOp
//===----------------------------------------------------------------------===//

/// Every operand element is in windows that lie a stride apart: a sum over a
/// window of the spread gradient.
static Value sumGradient(dtensor::ReduceWindowOp op, OpGradient &g) {
  WindowSpec window = op.getWindow(), back = window;
  RankedTensorType from = g.typeOf(op.getInputs()[0]);
  ArrayRef<int64_t> places = g.typeOf(g.of()).getShape();
  back.strides = window.baseDilations;
  back.baseDilations = window.strides;
  for (size_t d = 0; d < window.dimensions.size(); ++d) {
    int64_t reach = dilated(window.dimensions[d], window.windowDilations[d]);
    int64_t low = reach - 1 - window.padding[2 * d];
    back.padding[2 * d] = low;
    back.padding[2 * d + 1] =
        dilated(from.getDimSize(d), window.baseDilations[d]) + reach - 1 -
        dilated(places[d], window.strides[d]) - low;
  }
  Value zero = g.zeros(RankedTensorType::get({}, from.getElementType()));
  return g
      .create<dtensor::ReduceWindowOp>(g.getLoc(), ReduceKind::Sum, g.of(),
                                       zero, back)
      .getResult(0);
}

/// How often the init value is in each window.
static Value initCount(dtensor::ReduceWindowOp op, OpGradient &g) {
  Value x = op.getInputs()[0];
  RankedTensorType scalar =
      RankedTensorType::get({}, g.typeOf(x).getElementType());
  Value one = g.like(g.zeros(scalar), 1);
  Value paddings = g.create<dtensor::ReduceWindowOp>(
                        g.getLoc(), ReduceKind::Sum, g.zeros(g.typeOf(x)), one,
                        op.getWindow())
                       .getResult(0);
  return paddings;
}

/// The first element that is the largest (smallest) gets the gradient; what the
/// init value beats, nothing.
static void extremeGradient(dtensor::ReduceWindowOp op, ReduceKind kind,
                            OpGradient &g) {
  WindowSpec window = op.getWindow();
  Value x = op.getInputs()[0], init = op.getInitValues()[0],
        result = op.getResult(0);
  RankedTensorType from = g.typeOf(x);
  Value gradient = g.of();
  if (!init.getDefiningOp<dtensor::ConstantOp>()) {
    Value isInit = g.compare(ComparisonDirection::EQ, result,
                             spreadScalar(g, init, result));
    if (g.wants(1))
      g.give(1, g.sum(g.keepIf(isInit, gradient), allDims(g, gradient)));
    gradient = g.select(isInit, g.like(gradient, 0), gradient);
  }
  if (!g.wants(0))
    return;
  // select_and_scatter knows no holes, and only real padding.
  double worst = std::numeric_limits<double>::infinity() *
                 (kind == ReduceKind::Max ? -1 : 1);
  Value filler =
      g.like(g.zeros(RankedTensorType::get({}, from.getElementType())), worst);
  WindowSpec inner = WindowSpec::of(window.dimensions);
  inner.strides = window.strides;
  bool direct = isPlain(window.baseDilations, 1) &&
                llvm::all_of(window.padding, [](int64_t p) { return p >= 0; });
  if (direct)
    inner.padding = window.padding;
  Value whole = direct ? x : padded(g, x, filler, window);
  if (isPlain(window.windowDilations, 1)) {
    Value zero = g.zeros(RankedTensorType::get({}, from.getElementType()));
    Value scattered = g.create<dtensor::SelectAndScatterOp>(
        g.getLoc(), kind, ReduceKind::Sum, whole, gradient, zero, inner);
    return g.give(0, direct ? scattered : unpadded(g, scattered, from, window));
  }
  if (direct)
    whole = padded(g, x, filler, window);
  WindowElements elements(g, window, g.typeOf(whole), g.typeOf(gradient));
  if (elements.size() > mostElements)
    return gradientInTurn(op, g);
  Value remaining = gradient, sum;
  for (int64_t k = 0; k < elements.size(); ++k) {
    Value isBest =
        g.compare(ComparisonDirection::EQ, elements.get(whole, k), result);
    Value part = elements.spread(g.keepIf(isBest, remaining), k);
    remaining = g.select(isBest, g.like(remaining, 0), remaining);
    sum = sum ? g.add(sum, part) : part;
  }
  g.give(0, unpadded(g, sum, from, window));
}

/// Every element gets the product of all others of its windows, among which the
/// init value is, in front and as padding.
static void productGradient(dtensor::ReduceWindowOp op, OpGradient &g) {
  WindowSpec window = op.getWindow();
  Value x = op.getInputs()[0], init = op.getInitValues()[0];
  RankedTensorType from = g.typeOf(x);
  Value whole = padded(g, x, init, window);
  WindowElements elements(g, window, g.typeOf(whole), g.typeOf(g.of()));
  if (elements.size() > mostElements)
    return gradientInTurn(op, g);
  SmallVector<Value> values,
      before{g.multiply(g.of(), spreadScalar(g, init, g.of()))};
  for (int64_t k = 0; k < elements.size(); ++k) {
    values.push_back(elements.get(whole, k));
    before.push_back(g.multiply(before.back(), values.back()));
  }
  Value after, sum;
  for (int64_t k = elements.size(); k-- > 0;) {
    Value part = after ? g.multiply(before[k], after) : before[k];
    part = elements.spread(part, k);
    sum = sum ? g.add(sum, part) : part;
    after = after ? g.multiply(after, values[k]) : values[k];
  }
  Value gradient = unpadded(g, sum, from, window);
  if (g.wants(0))
    g.give(0, gradient);
  if (!g.wants(1))
    return;
  auto sumOf = [&](Value value) { return g.sum(value, allDims(g, value)); };
  Value inFront = sumOf(g.multiply(g.of(), after));
  g.give(1, g.add(inFront, g.subtract(sumOf(sum), sumOf(gradient))));
}

static void gradientOf(dtensor::ReduceWindowOp op, OpGradient &g) {
  std::optional<ReduceKind> kind = op.getPlainKind();
  if (op.getInputs().size() != 1 || !kind)
    return gradientInTurn(op, g);
  Value x = op.getInputs()[0];
  if (g.typeOf(g.of()).getNumElements() == 0) {
    if (g.wants(0))
      g.give(0, g.zeros(g.typeOf(x)));
    return;
  }
  switch (*kind) {
  case ReduceKind::Sum:
    if (g.wants(0))
      g.give(0, sumGradient(op, g));
    if (g.wants(1))
      g.give(1,
             g.sum(g.multiply(g.of(), initCount(op, g)), allDims(g, g.of())));
    return;
  case ReduceKind::Prod:
    return productGradient(op, g);
  case ReduceKind::Min:
  case ReduceKind::Max:
    return extremeGradient(op, *kind, g);
  case ReduceKind::And:
  case ReduceKind::Or:
    return; // of integers only
  }
}

//===----------------------------------------------------------------------===//
// SelectAndScatterOp
//===----------------------------------------------------------------------===//

/// The source gets the gradient at the element that its window chose.
static void gradientOf(dtensor::SelectAndScatterOp op, OpGradient &g) {
  std::optional<ReduceKind> select = op.getPlainSelect();
  if (!select || op.getPlainScatter() != ReduceKind::Sum)
    return gradientInTurn(op, g);
  // Which element is chosen does not change with small changes.
  if (g.wants(0))
    g.give(0, g.zeros(g.typeOf(op.getOperand())));
  if (g.wants(2))
    g.give(2, g.sum(g.of(), allDims(g, g.of())));
  if (!g.wants(1))
    return;
  RankedTensorType places = g.typeOf(op.getSource());
  if (places.getNumElements() == 0)
    return g.give(1, g.zeros(places));
  WindowSpec window = op.getWindow();
  RankedTensorType scalar = RankedTensorType::get({}, places.getElementType());
  Value zero = g.zeros(scalar);
  Value worst = g.like(zero, std::numeric_limits<double>::infinity() *
                                 (*select == ReduceKind::Max ? -1 : 1));
  Value x = padded(g, op.getOperand(), worst, window);
  Value gradient = padded(g, g.of(), zero, window);
  WindowElements elements(g, window, g.typeOf(x), places);
  if (elements.size() > mostElements)
    return gradientInTurn(op, g);
  Value best = elements.get(x, 0), value = elements.get(gradient, 0);
  ComparisonDirection keeps = *select == ReduceKind::Max
                                  ? ComparisonDirection::GE
                                  : ComparisonDirection::LE;
  for (int64_t k = 1; k < elements.size(); ++k) {
    Value candidate = elements.get(x, k);
    Value keep = g.compare(keeps, best, candidate);
    best = g.select(keep, best, candidate);
    value = g.select(keep, value, elements.get(gradient, k));
  }
  g.give(1, value);
}

//===----------------------------------------------------------------------===//
// CumulativeOp
//===----------------------------------------------------------------------===//

/// `value` moved by `distance` towards the front of `dim` (negative: the end);
/// zeros take the free places.
static Value moved(OpGradient &g, Value value, int64_t dim, int64_t distance) {
  SmallVector<int64_t> low(g.typeOf(value).getRank()), high(low), none(low);
  low[dim] = -distance;
  high[dim] = distance;
  return g.pad(value, low, high, none);
}

/// s[i] = value[i] + factor[i] * s[i + 1], in log2(n) rounds: after the one of
/// distance d, value[i] holds the part of s[i] that comes from value[i] to
/// value[i + 2d - 1], and factor[i] the product of as many factors.
static Value recur(OpGradient &g, Value value, Value factor, int64_t dim) {
  int64_t extent = g.typeOf(value).getDimSize(dim);
  for (int64_t distance = 1; distance < extent; distance *= 2) {
    value = g.add(value, g.multiply(factor, moved(g, value, dim, distance)));
    factor = g.multiply(factor, moved(g, factor, dim, distance));
  }
  return value;
}

static void gradientOf(dtensor::CumulativeOp op, OpGradient &g) {
  int64_t dim = op.getDimension();
  if (op.getKind() == ReduceKind::Sum)
    return g.give(0, g.create<dtensor::CumulativeOp>(g.getLoc(),
                                                     ReduceKind::Sum, g.of(),
                                                     dim, !op.getReverse()));
  if (op.getKind() == ReduceKind::And || op.getKind() == ReduceKind::Or)
    return; // of integers only
  auto forward = [&](Value value) -> Value {
    if (!op.getReverse())
      return value;
    return g.create<dtensor::ReverseOp>(g.getLoc(), value,
                                        ArrayRef<int64_t>{dim});
  };
  Value x = forward(op.getOperand()), y = forward(op.getResult()),
        gradient = forward(g.of());
  int64_t extent = g.typeOf(x).getDimSize(dim);
  if (extent <= 1)
    return g.give(0, g.of());
  // The results before: 1 (product) or nothing in front of the first.
  SmallVector<int64_t> start(g.typeOf(x).getRank()),
      limit(g.typeOf(x).getShape());
  Value first = g.slice(x, start, [&] {
    SmallVector<int64_t> one(limit);
    one[dim] = 1;
    return one;
  }());
  limit[dim] = extent - 1;
  Value earlier = g.slice(y, start, limit);
  if (op.getKind() == ReduceKind::Prod) {
    // dx[i] = y[i - 1] * s[i], s[i] = g[i] + x[i + 1] * s[i + 1].
    Value s = recur(g, gradient, moved(g, x, dim, 1), dim);
    Value before = g.concatenate({g.like(first, 1), earlier}, dim);
    return g.give(0, forward(g.multiply(before, s)));
  }
  // An element that is a new extreme gets the gradients up to the next one.
  ComparisonDirection beats = op.getKind() == ReduceKind::Max
                                  ? ComparisonDirection::GT
                                  : ComparisonDirection::LT;
  limit[dim] = extent;
  start[dim] = 1;
  Value later = g.slice(x, start, limit);
  Value one = g.like(later, 1), zero = g.like(later, 0);
  Value isNew = g.select(g.compare(beats, later, earlier), one, zero);
  Value records = g.concatenate({g.like(first, 1), isNew}, dim);
  Value goesOn = g.subtract(g.like(x, 1), records);
  Value s = recur(g, gradient, moved(g, goesOn, dim, 1), dim);
  g.give(0, forward(g.multiply(records, s)));
}

void attachWindowGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<SelectAndScatterOp>(context);
  attachDerivatives<ReduceWindowOp, CumulativeOp>(context);
}

} // namespace meshloom
