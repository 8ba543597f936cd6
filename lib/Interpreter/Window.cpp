// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's windows: convolution, reduce_window, select_and_scatter and
// cumulative, element by element as their descriptions say.
#include "ComplexOps.h"
#include "Ops.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <algorithm>

namespace meshloom::interpreter {
namespace {

/// The element that lies at `place` of a dim of `extent` elements `dilation`
/// apart, or -1.
int64_t elementAt(int64_t place, int64_t extent, int64_t dilation) {
  if (place < 0 || place % dilation != 0 || place / dilation >= extent)
    return -1;
  return place / dilation;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

Values convolution(const Call &call) {
  dtensor::ConvolutionSpec spec =
      cast<dtensor::ConvolutionOp>(call.op).getSpec();
  const HostValue &lhs = call[0], &rhs = call[1];
  HostValue out = call.result();
  const size_t spatial = spec.strides.size();
  const int64_t features = rhs.shape[spec.kernelInput];
  const int64_t outputsPerGroup =
      rhs.shape[spec.kernelOutput] / (spec.featureGroups * spec.batchGroups);
  const int64_t lhsStep = stridesOf(lhs.shape)[spec.inputFeature],
                rhsStep = stridesOf(rhs.shape)[spec.kernelInput];
  Shape kernel;
  for (int64_t dim : spec.kernelSpatial)
    kernel.push_back(rhs.shape[dim]);

  Index lhsIndex(lhs.shape.size()), rhsIndex(rhs.shape.size());
  forEach(out.shape, [&](const Index &outIndex) {
    const int64_t feature = outIndex[spec.outputFeature];
    const int64_t group = outputsPerGroup ? feature / outputsPerGroup : 0;
    lhsIndex[spec.inputBatch] = outIndex[spec.outputBatch];
    if (spec.batchGroups > 1)
      lhsIndex[spec.inputBatch] += group * out.shape[spec.outputBatch];
    lhsIndex[spec.inputFeature] = spec.featureGroups > 1 ? group * features : 0;
    rhsIndex[spec.kernelOutput] = feature;
    rhsIndex[spec.kernelInput] = 0;
    HostValue sum(out.type, {});
    int64_t terms = 0; // since the sum was rounded
    forEach(kernel, [&](const Index &k) {
      for (size_t i = 0; i < spatial; ++i) {
        int64_t place = outIndex[spec.outputSpatial[i]] * spec.strides[i] -
                        spec.padding[2 * i] + k[i] * spec.rhsDilation[i];
        int64_t element = elementAt(place, lhs.shape[spec.inputSpatial[i]],
                                    spec.lhsDilation[i]);
        if (element < 0)
          return;
        lhsIndex[spec.inputSpatial[i]] = element;
        rhsIndex[spec.kernelSpatial[i]] =
            spec.reversal[i] ? kernel[i] - 1 - k[i] : k[i];
      }
      int64_t l = positionOf(lhsIndex, lhs.shape),
              r = positionOf(rhsIndex, rhs.shape);
      for (int64_t c = 0; c < features; ++c, l += lhsStep, r += rhsStep)
        if (out.isComplex())
          setComplex(sum, 0,
                     complexAt(sum, 0) +
                         product(complexAt(lhs, l), complexAt(rhs, r)));
        else if (out.isFloating())
          sum.floats[0] += lhs.floats[l] * rhs.floats[r];
        else
          sum.ints[0] = int64_t(uint64_t(sum.ints[0]) +
                                uint64_t(lhs.ints[l]) * uint64_t(rhs.ints[r]));
      if ((terms += features) < SUM_BLOCK)
        return;
      terms = 0;
      for (std::vector<double> *part : {&sum.floats, &sum.imaginaries})
        for (double &x : *part)
          x = call.partialSum(x);
    });
    int64_t target = positionOf(outIndex, out.shape);
    if (out.isFloating())
      Element(sum, out).copy(0, target);
    else
      out.ints[target] = wrapInteger(out.type, sum.ints[0]);
  });
  return {std::move(out)};
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Calls `visit(source)` for the places of the window at `windowPlace` that
/// hold an operand element, row-major; `padding()` for the others.
template <typename F, typename P>
void forEachInWindow(const dtensor::WindowSpec &window,
                     const Index &windowPlace, const Shape &shape, F visit,
                     P padding) {
  Index source(shape.size());
  forEach(Shape(window.dimensions.begin(), window.dimensions.end()),
          [&](const Index &k) {
            for (size_t d = 0; d < shape.size(); ++d) {
              int64_t place = windowPlace[d] * window.strides[d] -
                              window.padding[2 * d] +
                              k[d] * window.windowDilations[d];
              source[d] = elementAt(place, shape[d], window.baseDilations[d]);
              if (source[d] < 0)
                return padding();
            }
            visit(source);
          });
}

HostValue scalarOf(const HostValue &from, int64_t source) {
  HostValue scalar(from.type, {});
  Element(from, scalar).copy(source, 0);
  return scalar;
}

Values reduceWindow(const Call &call) {
  auto op = cast<dtensor::ReduceWindowOp>(call.op);
  dtensor::WindowSpec window = op.getWindow();
  const unsigned count = call.size() / 2;
  Values results;
  for (unsigned i = 0; i < count; ++i)
    results.push_back(call.result(i));
  const Shape shape = call[0].shape;
  if (auto kind = op.getKind()) {
    HostValue &out = results[0];
    forEach(out.shape, [&](const Index &place) {
      int64_t target = positionOf(place, out.shape);
      Element(call[1], out).copy(0, target);
      const bool isLookedAt = AnyOrder::isLookedAt(call, *kind, out.type);
      AnyOrder order(*kind, out.type);
      auto combine = [&](const HostValue &value, int64_t source) {
        combineInto(*kind, out, target, value, source);
        if (isLookedAt)
          order.add(value, source);
      };
      if (isLookedAt)
        order.add(call[1], 0);
      forEachInWindow(
          window, place, shape,
          [&](const Index &source) {
            combine(call[0], positionOf(source, shape));
          },
          [&] { combine(call[1], 0); });
      if (isLookedAt && order.overflows())
        setNan(out, target);
    });
    return results;
  }
  forEach(results[0].shape, [&](const Index &place) {
    Values current;
    for (unsigned i = 0; i < count; ++i)
      current.push_back(scalarOf(call[count + i], 0));
    auto combine = [&](auto value) {
      for (unsigned i = 0; i < count; ++i)
        current.push_back(value(i));
      current = runRegion(op.getBody(), std::move(current));
    };
    forEachInWindow(
        window, place, shape,
        [&](const Index &source) {
          combine([&](unsigned i) {
            return scalarOf(call[i], positionOf(source, shape));
          });
        },
        [&] {
          combine([&](unsigned i) { return scalarOf(call[count + i], 0); });
        });
    for (unsigned i = 0; i < count; ++i)
      Element(current[i], results[i])
          .copy(0, positionOf(place, results[i].shape));
  });
  return results;
}

/// Returns whether `select` keeps the first of two operand elements.
bool keepsFirst(dtensor::SelectAndScatterOp op, const HostValue &operand,
                int64_t first, int64_t second) {
  if (!op.getSelectKind())
    return runRegion(op.getSelect(),
                     {scalarOf(operand, first), scalarOf(operand, second)})[0]
               .ints[0] != 0;
  auto compare = [&](auto a, auto b) {
    return *op.getSelectKind() == ReduceKind::Max ? a >= b : a <= b;
  };
  if (operand.isFloating())
    return compare(operand.floats[first], operand.floats[second]);
  if (operand.type == DType::UI64)
    return compare(uint64_t(operand.ints[first]),
                   uint64_t(operand.ints[second]));
  return compare(operand.ints[first], operand.ints[second]);
}

Values selectAndScatter(const Call &call) {
  auto op = cast<dtensor::SelectAndScatterOp>(call.op);
  const HostValue &operand = call[0], &source = call[1];
  const dtensor::WindowSpec window = op.getWindow();
  HostValue out = call.result();
  for (int64_t i = 0; i < out.count(); ++i)
    Element(call[2], out).copy(0, i);
  forEach(source.shape, [&](const Index &place) {
    int64_t chosen = -1;
    forEachInWindow(
        window, place, operand.shape,
        [&](const Index &index) {
          int64_t candidate = positionOf(index, operand.shape);
          if (chosen < 0 || !keepsFirst(op, operand, chosen, candidate))
            chosen = candidate;
        },
        [] {});
    if (chosen < 0)
      return;
    int64_t from = positionOf(place, source.shape);
    if (auto kind = op.getScatterKind()) {
      combineInto(*kind, out, chosen, source, from);
      return;
    }
    HostValue result = runRegion(
        op.getScatter(), {scalarOf(out, chosen), scalarOf(source, from)})[0];
    Element(result, out).copy(0, chosen);
  });
  return {std::move(out)};
}

//===----------------------------------------------------------------------===//
// Cumulative
//===----------------------------------------------------------------------===//

Values cumulative(const Call &call) {
  auto op = cast<dtensor::CumulativeOp>(call.op);
  HostValue out = call[0];
  const int64_t dim = int64_t(op.getDimension());
  const int64_t extent = out.shape[dim], step = stridesOf(out.shape)[dim];
  forEach(out.shape, [&](const Index &place) {
    if (place[dim] != 0)
      return;
    int64_t first = positionOf(place, out.shape);
    const bool isLookedAt = AnyOrder::isLookedAt(call, op.getKind(), out.type);
    AnyOrder order(op.getKind(), out.type);
    for (int64_t i = 1; i < extent; ++i) {
      int64_t here = op.getReverse() ? extent - 1 - i : i;
      int64_t before = here + (op.getReverse() ? 1 : -1);
      // Kinds are commutative, so the running value may come second.
      combineInto(op.getKind(), out, first + here * step, out,
                  first + before * step);
    }
    // All terms: those of later blocks are combined before what precedes them.
    for (int64_t i = 0; i < extent && isLookedAt; ++i)
      order.add(call[0], first + i * step);
    for (int64_t i = 0; i < extent && order.overflows(); ++i)
      setNan(out, first + i * step);
  });
  return {std::move(out)};
}

} // namespace

void addWindowOps(OpTable &table) {
  table["dtensor.convolution"] = convolution;
  table["dtensor.reduce_window"] = reduceWindow;
  table["dtensor.select_and_scatter"] = selectAndScatter;
  table["dtensor.cumulative"] = cumulative;
}

} // namespace meshloom::interpreter
