// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of ops that make or move elements, and of layouts in between.
#include "Generator.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace meshloom::fuzz {
namespace {

unsigned move(Generator &g, const std::string &op, unsigned x, Shape shape,
              const std::string &attributes) {
  return g.emitOne("dtensor." + op, {x},
                   {g[x].type, std::move(shape), g[x].range}, attributes, true);
}

bool broadcast(Generator &g) {
  unsigned x = g.anyValue(0, 2);
  const Shape from = g[x].shape;
  int64_t rank = int64_t(from.size()) + g.between(0, 2);
  std::vector<int64_t> dims = g.subset(rank, int64_t(from.size()));
  Shape to;
  for (int64_t d = 0; d < rank; ++d)
    to.push_back(g.extent());
  for (size_t i = 0; i < dims.size(); ++i)
    if (from[i] != 1 || g.chance(0.5))
      to[size_t(dims[i])] = from[i];
  if (elementCount(to) > 3000)
    return false;
  move(g, "broadcast_in_dim", x, to,
       "broadcast_dimensions = " + listText(dims));
  return true;
}

bool reshape(Generator &g) {
  unsigned x = g.anyValue();
  int64_t remaining = elementCount(g[x].shape);
  if (remaining == 0)
    return false;
  Shape to;
  for (int64_t parts = g.between(0, 3); parts > 0; --parts) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= remaining; ++d)
      if (remaining % d == 0)
        divisors.push_back(d);
    to.push_back(g.choose(divisors));
    remaining /= to.back();
  }
  if (remaining != 1 || to.empty())
    to.push_back(remaining);
  if (to == g[x].shape)
    return false;
  move(g, "reshape", x, to, "");
  return true;
}

bool transpose(Generator &g) {
  unsigned x = g.anyValue(1);
  const Shape from = g[x].shape;
  std::vector<int64_t> order = g.permutation(int64_t(from.size()));
  Shape to;
  for (int64_t d : order)
    to.push_back(from[size_t(d)]);
  move(g, "transpose", x, to, "permutation = " + listText(order));
  return true;
}

bool slice(Generator &g) {
  unsigned x = g.anyValue(1);
  std::vector<int64_t> start, limit, strides;
  Shape to;
  for (int64_t n : g[x].shape) {
    if (g.chance(0.4)) {
      start.push_back(0), limit.push_back(n), strides.push_back(1);
    } else {
      start.push_back(g.below(n));
      limit.push_back(g.between(start.back(), n));
      strides.push_back(g.choose(std::vector<int64_t>{1, 1, 2, 3}));
    }
    to.push_back((limit.back() - start.back() + strides.back() - 1) /
                 strides.back());
  }
  if (elementCount(to) == 0 && g.chance(0.9))
    return false;
  move(g, "slice", x, to,
       fmt::format("start_indices = {}, limit_indices = {}, strides = {}",
                   listText(start), listText(limit), listText(strides)));
  return true;
}

bool pad(Generator &g) {
  unsigned x = g.anyValue(1);
  const Value v = g[x];
  std::vector<int64_t> low, high, interior;
  Shape to;
  for (int64_t n : v.shape) {
    interior.push_back(g.chance(0.2) ? g.between(1, 2) : 0);
    int64_t inner = n + std::max<int64_t>(n - 1, 0) * interior.back();
    low.push_back(g.chance(0.5) ? g.between(-2, 3) : 0);
    high.push_back(g.chance(0.5) ? g.between(-2, 3) : 0);
    to.push_back(inner + low.back() + high.back());
    if (to.back() < 1)
      return false;
  }
  unsigned filler = g.exactIn(v.type, {}, 0, 1);
  g.emitOne("dtensor.pad", {x, filler},
            {v.type, to, joined(v.range, g[filler].range)},
            fmt::format("edge_padding_low = {}, edge_padding_high = {}, "
                        "interior_padding = {}",
                        listText(low), listText(high), listText(interior)),
            true);
  return true;
}

bool concatenate(Generator &g) {
  unsigned x = g.anyValue(1);
  const Value v = g[x];
  size_t dim = size_t(g.below(int64_t(v.shape.size())));
  std::vector<unsigned> operands{x};
  Range range = v.range;
  Shape to = v.shape;
  for (int64_t more = g.between(1, 2); more > 0; --more) {
    Shape shape = v.shape;
    if (g.chance(0.6))
      shape[dim] = g.extent();
    operands.push_back(g.like(v.type, shape));
    to[dim] += g[operands.back()].shape[dim];
    range = joined(range, g[operands.back()].range);
  }
  g.emitOne("dtensor.concatenate", operands, {v.type, to, range},
            fmt::format("dimension = {} : i64", dim), true);
  return true;
}

bool reverse(Generator &g) {
  unsigned x = g.anyValue(1);
  int64_t rank = int64_t(g[x].shape.size());
  move(g, "reverse", x, g[x].shape,
       "dimensions = " + listText(g.subset(rank, g.between(1, rank))));
  return true;
}

bool take(Generator &g) {
  unsigned x = g.anyValue(1);
  Shape to = g[x].shape;
  size_t dim = size_t(g.below(int64_t(to.size())));
  if (to[dim] == 0)
    return false;
  std::vector<int64_t> indices;
  for (int64_t i = g.extent(); i > 0; --i)
    indices.push_back(g.between(-1, to[dim] - 1));
  to[dim] = int64_t(indices.size());
  Range range = g[x].range;
  range.low = std::min(range.low, 0.0);
  range.high = std::max(range.high, 0.0);
  g.emitOne(
      "dtensor.take", {x}, {g[x].type, to, range},
      fmt::format("dimension = {} : i64, indices = {}", dim, listText(indices)),
      true);
  return true;
}

bool iota(Generator &g) {
  Shape shape = g.shape(1, 3);
  DType type = g.choose(std::vector<DType>{DType::F32, DType::I32, DType::I64,
                                           DType::UI32, DType::F32});
  g.emitOne(
      "dtensor.iota", {}, {type, shape, {0, 16, 0, 0}},
      fmt::format("iota_dimension = {} : i64", g.below(int64_t(shape.size()))));
  return true;
}

bool constant(Generator &g) {
  Shape shape = g.shape(1, 2);
  int64_t count = elementCount(shape);
  if (count > 64)
    return false;
  std::function<std::string(size_t)> list = [&](size_t dim) -> std::string {
    if (dim == shape.size())
      return fmt::format("{:.2f}", double(g.between(-8, 8)) / 4);
    std::vector<std::string> items;
    for (int64_t i = 0; i < shape[dim]; ++i)
      items.push_back(list(dim + 1));
    return fmt::format("[{}]", fmt::join(items, ", "));
  };
  g.emitOne("dtensor.constant", {}, {DType::F32, shape, {-2, 2, 2, 0}},
            fmt::format("value = dense<{}> : {}", list(0),
                        tensorText(DType::F32, shape)));
  return true;
}

bool rng(Generator &g) {
  unsigned seed = g.exactIn(DType::UI32, {2}, 0, 20);
  g.emitOne("dtensor.rng", {seed},
            {DType::UI32, g.shape(0, 3), {0, 1e30, 0, 0}},
            "distribution = #dtensor<distribution uniform_bits>");
  return true;
}

/// Constraints and relayouts, the one place where layouts are asked for in the
/// middle of a program.
OpMaker relayout(const char *op) {
  return {op, [op](Generator &g) {
            g.relayout(op, g.anyValue());
            return true;
          }};
}

} // namespace

void addMovementMakers(OpMakers &makers) {
  makers.push_back({"broadcast_in_dim", broadcast});
  makers.push_back({"reshape", reshape});
  makers.push_back({"transpose", transpose});
  makers.push_back({"slice", slice});
  makers.push_back({"pad", pad});
  makers.push_back({"concatenate", concatenate});
  makers.push_back({"reverse", reverse});
  makers.push_back({"take", take});
  makers.push_back({"iota", iota});
  makers.push_back({"constant", constant});
  makers.push_back({"rng", rng});
  makers.push_back(relayout("constraint"));
  makers.push_back(relayout("relayout"));
}

} // namespace meshloom::fuzz
