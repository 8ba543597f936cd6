// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's sort, top_k and generic_reduce.
#include "Ops.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace meshloom::interpreter {
namespace {

HostValue scalarAt(const HostValue &from, int64_t position) {
  HostValue scalar(from.type, {});
  Element(from, scalar).copy(position, 0);
  return scalar;
}

/// Puts the later half of `items` into the earlier one, both sorted; a later
/// item goes in front of those earlier ones that it comes before.
template <typename Before>
std::vector<int64_t> sorted(std::vector<int64_t> items, const Before &before) {
  if (items.size() < 2)
    return items;
  auto middle = items.begin() + int64_t(items.size() / 2);
  auto lower = sorted(std::vector<int64_t>(items.begin(), middle), before);
  auto upper = sorted(std::vector<int64_t>(middle, items.end()), before);
  size_t l = 0, r = 0;
  for (int64_t &item : items)
    if (r < upper.size() && (l == lower.size() || before(upper[r], lower[l])))
      item = upper[r++];
    else
      item = lower[l++];
  return items;
}

Values sort(const Call &call) {
  auto op = cast<dtensor::SortOp>(call.op);
  size_t dim = size_t(call.integer("dimension"));
  const Shape &shape = call[0].shape;
  int64_t stride = stridesOf(shape)[dim], length = shape[dim];
  Values outs;
  for (unsigned i = 0; i < call.size(); ++i)
    outs.push_back(call.result(i));
  for (int64_t first = 0; first < call[0].count(); ++first) {
    if (first / stride % length != 0)
      continue;
    std::vector<int64_t> line;
    for (int64_t j = 0; j < length; ++j)
      line.push_back(first + j * stride);
    std::vector<int64_t> order = sorted(line, [&](int64_t a, int64_t b) {
      Values arguments;
      for (unsigned i = 0; i < call.size(); ++i) {
        arguments.push_back(scalarAt(call[i], a));
        arguments.push_back(scalarAt(call[i], b));
      }
      return runRegion(op.getComparator(), std::move(arguments))[0].ints[0] !=
             0;
    });
    for (unsigned i = 0; i < call.size(); ++i)
      for (int64_t j = 0; j < length; ++j)
        Element(call[i], outs[i]).copy(order[j], line[j]);
  }
  return outs;
}

/// Returns whether x comes behind y in the total order: -nan, -inf, ..., -0, 0,
/// ..., inf, nan.
bool isAbove(const HostValue &value, int64_t x, int64_t y) {
  if (!value.isFloating())
    return isLess(value.type, value.ints[y], value.ints[x]);
  auto key = [&](int64_t position) {
    int64_t bits = std::bit_cast<int64_t>(value.floats[position]);
    // More bits of a negative number mean less.
    return bits < 0 ? std::numeric_limits<int64_t>::min() - bits - 1 : bits;
  };
  return key(x) > key(y);
}

Values topK(const Call &call) {
  HostValue values = call.result(0), indices = call.result(1);
  const HostValue &operand = call[0];
  int64_t length = operand.shape.back(), k = call.integer("k");
  int64_t lines = k == 0 ? 0 : values.count() / k;
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<int64_t> order(length);
    std::iota(order.begin(), order.end(), line * length);
    order = sorted(
        order, [&](int64_t a, int64_t b) { return isAbove(operand, a, b); });
    for (int64_t j = 0; j < k; ++j) {
      Element(operand, values).copy(order[j], line * k + j);
      indices.ints[line * k + j] = order[j] - line * length;
    }
  }
  return {std::move(values), std::move(indices)};
}

Values genericReduce(const Call &call) {
  auto op = cast<dtensor::GenericReduceOp>(call.op);
  size_t count = op.getInputs().size();
  std::vector<int64_t> dims = call.integers("dimensions");
  const Shape &shape = call[0].shape;
  Values outs;
  for (size_t i = 0; i < count; ++i) {
    outs.push_back(call.result(i));
    for (int64_t position = 0; position < outs[i].count(); ++position)
      Element(call[count + i], outs[i]).copy(0, position);
  }
  std::vector<int64_t> strides = stridesOf(shape);
  for (int64_t from = 0; from < call[0].count(); ++from) {
    int64_t to = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      if (std::find(dims.begin(), dims.end(), int64_t(d)) == dims.end())
        to = to * shape[d] + from / strides[d] % shape[d];
    Values arguments;
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(scalarAt(outs[i], to));
    for (size_t i = 0; i < count; ++i)
      arguments.push_back(scalarAt(call[i], from));
    Values combined = runRegion(op.getComputation(), std::move(arguments));
    for (size_t i = 0; i < count; ++i)
      Element(combined[i], outs[i]).copy(0, to);
  }
  return outs;
}
} // namespace

void addOrderOps(OpTable &table) {
  table["dtensor.sort"] = sort;
  table["dtensor.top_k"] = topK;
  table["dtensor.generic_reduce"] = genericReduce;
}

} // namespace meshloom::interpreter
