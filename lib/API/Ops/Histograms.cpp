// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binary search for many values at the same time, and counts by scatters; see
// Histograms.h.
#include "meshloom/API/Histograms.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace meshloom {
using namespace detail;
using dtensor::ComparisonDirection;

/// Elements before `count` are known to count, and the next step, a power of
/// two, asks whether all of the next `step` do. After the step of 1 nothing is
/// open: log2(n) + 1 gathers, each of one element a value.
Tensor detail::countBelow(std::string_view op, const Tensor &sorted,
                          const Tensor &values, bool orEqual,
                          const std::source_location &where) {
  const Shape shape = values.shape();
  const int64_t n = sorted.shape().back(), batch = sorted.rank() - 1;
  if (n == 0)
    return zeros(shape, DType::I64, where);
  OpCall call = callOf(op, {sorted, values}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &n, const auto &shape,
         const auto &batch, const auto &orEqual) {
        const Type integer =
            n < INT32_MAX / 2 ? e.getI32Type() : e.getI64Type();
        auto number = [&](int64_t value) {
          return e.number(integer, value, shape);
        };
        std::vector<int64_t> batches;
        for (int64_t d = 0; d < batch; ++d)
          batches.push_back(d);
        // nan is larger than all numbers, and as large as itself.
        auto isLess = [&](Value x, Value y) {
          Value less = e.compare(ComparisonDirection::LT, x, y);
          if (!isa<FloatType>(e.elementType(x)))
            return less;
          Value isNumber = e.compare(ComparisonDirection::EQ, x, x);
          Value isNan = e.compare(ComparisonDirection::NE, y, y);
          return e.apply<dtensor::OrOp>(
              less, e.apply<dtensor::AndOp>(isNumber, isNan));
        };
        Value count = number(0);
        for (auto step = int64_t(std::bit_floor(uint64_t(n))); step > 0;
             step /= 2) {
          Value next = e.add(count, number(step));
          Value element = e.create<dtensor::GatherOp>(
              e.getLoc(), operands[0], e.subtract(next, number(1)),
              ArrayRef<int64_t>(), ArrayRef<int64_t>{batch}, batches, batches,
              ArrayRef<int64_t>{batch}, int64_t(shape.size()),
              std::vector<int64_t>(size_t(batch) + 1, 1));
          Value counts = orEqual ? e.logicalNot(isLess(operands[1], element))
                                 : isLess(element, operands[1]);
          Value isInside = e.compare(ComparisonDirection::LE, next, number(n));
          count =
              e.select(e.apply<dtensor::AndOp>(isInside, counts), next, count);
        }
        return one(e.convert(count, e.getI64Type()));
      },
      n, shape, batch, orEqual);
  return runOp(std::move(call));
}

namespace {

void expectSorted(std::string_view op, const Tensor &sorted,
                  const Tensor &values, Where loc) {
  nodeOf(sorted, op, &loc);
  nodeOf(values, op, &loc);
  if (sorted.rank() != 1 || sorted.dtype() != values.dtype() ||
      isComplex(values.dtype()) || values.dtype() == DType::I1)
    fail(op,
         fmt::format("expected a vector in rising order and values of the same "
                     "type, which has an order, got {} and {}",
                     typeText(sorted), typeText(values)),
         &loc);
}

/// How often each of `length` places comes in `places` i64, or sums of weights.
Tensor sumsAt(std::string_view op, const Tensor &places, int64_t length,
              const Tensor &weights, Where loc) {
  const int64_t n = places.size();
  Tensor counts = weights.defined() ? reshape(weights, {n}, loc)
                                    : ones({n}, DType::I64, loc);
  return scatterBy(op, zeros({length}, counts.dtype(), loc),
                   reshape(places, {n}, loc), counts, ReduceKind::Sum, loc);
}

void expectWeights(std::string_view op, const Tensor &x, const Tensor &weights,
                   Where loc) {
  if (!weights.defined())
    return;
  nodeOf(weights, op, &loc);
  if (weights.shape() != x.shape() || weights.dtype() == DType::I1)
    fail(op,
         fmt::format("expected weights that are numbers, one for each element "
                     "of {}, got {}",
                     typeText(x), typeText(weights)),
         &loc);
}

/// Returns the type of edges.
DType edgeType(DType type) {
  return type == DType::F64 || !isFloat(type) ? DType::F64 : DType::F32;
}

} // namespace

Tensor searchsorted(const Tensor &sorted, const Tensor &values, Side side,
                    Where loc) {
  constexpr std::string_view op = "searchsorted";
  expectSorted(op, sorted, values, loc);
  return countBelow(op, sorted, values, side == Side::Right, loc);
}

Tensor digitize(const Tensor &x, const Tensor &edges, bool right, Where loc) {
  constexpr std::string_view op = "digitize";
  expectSorted(op, edges, x, loc);
  return countBelow(op, edges, x, !right, loc);
}

Tensor bincount(const Tensor &x, std::optional<int64_t> length,
                const Tensor &weights, Where loc) {
  constexpr std::string_view op = "bincount";
  const CallName name(op);
  if (!isInteger(nodeOf(x, op, &loc).dtype))
    fail(op, fmt::format("expected integers, got {}", typeText(x)), &loc);
  expectWeights(op, x, weights, loc);
  Tensor places = cast(x, DType::I64, loc);
  const int64_t count = sizeOr(length, "a length", op, loc, [&] {
    if (x.size() == 0)
      return int64_t(0);
    Tensor largest = reduce_max(places, Axis(), false, loc);
    return std::max<int64_t>(largest.item<int64_t>() + 1, 0);
  });
  return sumsAt(op, places, count, weights, loc);
}

Histogram histogram(const Tensor &x, const Tensor &edges, const Tensor &weights,
                    Where loc) {
  constexpr std::string_view op = "histogram";
  const CallName name(op);
  expectSorted(op, edges, x, loc);
  expectWeights(op, x, weights, loc);
  const int64_t bins = edges.shape()[0] - 1;
  if (bins < 1)
    fail(op, fmt::format("expected two edges or more, got {}", typeText(edges)),
         &loc);
  // Elements below the first edge are in place -1, those above the last one in
  // place `bins`: scatters leave both out.
  Tensor place = subtract({countBelow(op, edges, x, true, loc), loc}, {1, loc});
  Tensor last = reshape(slice(edges, {bins}, {1}, loc), {}, loc);
  place =
      where({equal({x, loc}, {last, loc}), loc}, {bins - 1, loc}, {place, loc});
  return {sumsAt(op, place, bins, weights, loc), edges};
}

Histogram histogram(const Tensor &x, int64_t bins,
                    std::optional<std::pair<double, double>> range,
                    const Tensor &weights, Where loc) {
  constexpr std::string_view op = "histogram";
  const CallName name(op);
  const DType type = nodeOf(x, op, &loc).dtype;
  if (isComplex(type) || type == DType::I1)
    fail(op, fmt::format("expected numbers with an order, got {}", typeText(x)),
         &loc);
  if (bins < 1)
    fail(op, fmt::format("expected one bin or more, got {}", bins), &loc);
  if (range && !(range->first <= range->second &&
                 std::isfinite(range->second - range->first)))
    fail(op,
         fmt::format("expected a finite range that does not fall, got {} to {}",
                     range->first, range->second),
         &loc);
  const DType wide = edgeType(type);
  Tensor numbers = cast(x, wide, loc), low, high;
  auto number = [&](double value) { return full({}, value, wide, loc); };
  if (range || x.size() == 0) {
    low = number(range ? range->first : 0);
    high = number(range ? range->second : 1);
  } else {
    low = reduce_min(numbers, Axis(), false, loc);
    high = reduce_max(numbers, Axis(), false, loc);
  }
  // Where both ends are equal, NumPy's histogram is 1 wide.
  Tensor half = where({equal({low, loc}, {high, loc}), loc}, {number(0.5), loc},
                      {number(0), loc});
  low = subtract({low, loc}, {half, loc});
  high = add({high, loc}, {half, loc});
  // Each end counts by its share, so that both are exact.
  Tensor up = divide({iota({bins + 1}, 0, wide, loc), loc}, {bins, loc});
  Tensor edges =
      add({multiply({subtract({1, loc}, {up, loc}), loc}, {low, loc}), loc},
          {multiply({up, loc}, {high, loc}), loc});
  return histogram(numbers, edges, weights, loc);
}

} // namespace meshloom
