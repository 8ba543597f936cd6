// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of ops with indices known only at run time, and of sorting. Indices
// are in and out of bounds.
#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace meshloom::fuzz {
namespace {

DType indexType(Generator &g) {
  return g.choose(
      std::vector<DType>{DType::I32, DType::I32, DType::I64, DType::UI32});
}

/// Integers in or around [0, bound).
unsigned indices(Generator &g, DType type, Shape shape, int64_t bound) {
  double slack = g.chance(0.4) ? 3 : 0;
  double low = isSigned(type) ? -slack : 0;
  return g.argument(type, std::move(shape),
                    {low, double(bound - 1) + slack, 0, 0});
}

/// `table[ids]`, rows or columns.
bool gatherRows(Generator &g) {
  unsigned x = g.anyValue(1, 3);
  const Value v = g[x];
  int64_t rank = int64_t(v.shape.size()), dim = g.below(rank);
  if (v.shape[size_t(dim)] == 0)
    return false;
  Shape ids = g.shape(1, 2), to = ids;
  std::vector<int64_t> sizes(v.shape), offsets;
  sizes[size_t(dim)] = 1;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim) {
      offsets.push_back(int64_t(to.size()));
      to.push_back(v.shape[size_t(d)]);
    }
  if (elementCount(to) > 3000)
    return false;
  Shape vectors = ids;
  vectors.push_back(1);
  unsigned index = indices(g, indexType(g), vectors, v.shape[size_t(dim)]);
  g.emitOne("dtensor.gather", {x, index}, {v.type, to, v.range},
            fmt::format("collapsed_slice_dims = {}, index_vector_dim = {} : "
                        "i64, offset_dims = {}, slice_sizes = {}, "
                        "start_index_map = {}",
                        listText({dim}), ids.size(), listText(offsets),
                        listText(sizes), listText({dim})),
            true);
  return true;
}

/// Windows of random sizes, at indices of all dims.
bool gatherWindows(Generator &g) {
  unsigned x = g.anyValue(2, 3);
  const Value v = g[x];
  int64_t rank = int64_t(v.shape.size()), count = g.extent();
  std::vector<int64_t> sizes, offsets, map = g.permutation(rank);
  Shape to{count};
  for (int64_t d = 0; d < rank; ++d) {
    if (v.shape[size_t(d)] == 0)
      return false;
    sizes.push_back(g.chance(0.3) ? v.shape[size_t(d)]
                                  : g.between(1, v.shape[size_t(d)]));
    offsets.push_back(d + 1);
    to.push_back(sizes.back());
  }
  if (elementCount(to) > 3000)
    return false;
  unsigned index = indices(g, indexType(g), {rank, count},
                           *std::ranges::max_element(v.shape));
  g.emitOne("dtensor.gather", {x, index}, {v.type, to, v.range},
            fmt::format("index_vector_dim = 0 : i64, offset_dims = {}, "
                        "slice_sizes = {}, start_index_map = {}",
                        listText(offsets), listText(sizes), listText(map)),
            true);
  return true;
}

/// `take_along_axis`: one batching dim.
bool gatherBatched(Generator &g) {
  unsigned x = g.anyValue(2, 2);
  const Value v = g[x];
  if (v.shape[1] == 0)
    return false;
  int64_t count = g.extent();
  unsigned index = indices(g, indexType(g), {v.shape[0], count, 1}, v.shape[1]);
  g.emitOne("dtensor.gather", {x, index},
            {v.type, {v.shape[0], count}, v.range},
            fmt::format("collapsed_slice_dims = array<i64: 1>, "
                        "index_vector_dim = 2 : i64, operand_batching_dims = "
                        "array<i64: 0>, slice_sizes = array<i64: {}, 1>, "
                        "start_index_map = array<i64: 1>, "
                        "start_indices_batching_dims = array<i64: 0>",
                        std::min<int64_t>(1, v.shape[0])),
            true);
  return true;
}

/// A function of scalars that forgets half of what it has: `a / 2 + b`.
std::string halving(DType type) {
  return fmt::format(
      "{{\n^bb0(%a: {0}, %b: {0}):\n  %h = \"dtensor.constant\"() <{{value = "
      "dense<0.5> : {0}}}> : () -> {0}\n  %s = \"dtensor.multiply\"(%a, %h) : "
      "({0}, {0}) -> {0}\n  %m = \"dtensor.add\"(%s, %b) : ({0}, {0}) -> "
      "{0}\n  \"dtensor.yield\"(%m) : ({0}) -> ()\n}}",
      tensorText(type, {}));
}

OpMaker scatter(const std::string &kind) {
  return {"scatter " + kind, [kind](Generator &g) {
            unsigned x = g.chance(0.8) || kind == "prod" || kind == "function"
                             ? g.anyFloat(1, 3)
                             : g.anyInteger(1, 3);
            if (kind == "prod")
              x = g.into(x, 0.75, 1.25);
            const Value v = g[x];
            int64_t dim = g.below(int64_t(v.shape.size()));
            if (v.shape[size_t(dim)] == 0)
              return false;
            int64_t count = g.extent();
            Shape updates{count};
            std::vector<int64_t> windows;
            for (size_t d = 0; d < v.shape.size(); ++d)
              if (int64_t(d) != dim) {
                windows.push_back(int64_t(updates.size()));
                updates.push_back(v.shape[d]);
              }
            unsigned u = g.like(v.type, updates);
            if (kind == "prod")
              u = g.into(u, 0.75, 1.25);
            unsigned index =
                indices(g, indexType(g), {count, 1}, v.shape[size_t(dim)]);
            Range range = joined(v.range, g[u].range);
            // Elements that are not exact may have a different largest one.
            bool smooth = (kind != "max" && kind != "min") || range.exact();
            if (kind == "function") {
              double most = 2 * range.magnitude();
              range = rangeIn(v.type, -most, most, -1, range.epsilon);
            }
            if (kind == "prod") {
              if (count > 20)
                return false;
              range = rangeIn(v.type, std::pow(0.75, count + 1),
                              std::pow(1.25, count + 1), -1, range.epsilon);
            }
            if (kind == "sum") {
              double low = range.low * double(count + 1),
                     high = range.high * double(count + 1);
              range = rangeIn(v.type, std::min(low, range.low),
                              std::max(high, range.high), range.fraction,
                              range.epsilon);
              if (isFloat(v.type) && range.magnitude() > 600)
                return false;
            }
            std::string attributes = fmt::format(
                "index_vector_dim = 1 : i64, inserted_window_dims = {}, {}"
                "scatter_dims_to_operand_dims = {}, update_window_dims = {}",
                listText({dim}),
                kind == "replace" || kind == "function"
                    ? ""
                    : fmt::format("kind = #dtensor.kind<{}>, ", kind),
                listText({dim}), listText(windows));
            g.emitOne("dtensor.scatter", {x, index, u},
                      {v.type, v.shape, range}, attributes, smooth,
                      kind == "function" ? halving(v.type) : "{}");
            if (!smooth)
              g.refuseGradient();
            return true;
          }};
}

std::vector<unsigned> starts(Generator &g, const Shape &shape) {
  std::vector<unsigned> list;
  DType type = g.chance(0.8) ? DType::I32 : DType::I64;
  for (int64_t n : shape)
    list.push_back(g.chance(0.4) ? g.splat(type, {}, 0)
                                 : indices(g, type, {}, n));
  return list;
}

bool dynamicSlice(Generator &g) {
  unsigned x = g.anyValue(1, 3);
  const Value v = g[x];
  Shape sizes;
  for (int64_t n : v.shape)
    sizes.push_back(g.chance(0.4) ? n : g.between(std::min<int64_t>(n, 1), n));
  std::vector<unsigned> operands = starts(g, v.shape);
  operands.insert(operands.begin(), x);
  g.emitOne("dtensor.dynamic_slice", operands, {v.type, sizes, v.range},
            "slice_sizes = " + listText(sizes), true);
  return true;
}

bool dynamicUpdateSlice(Generator &g) {
  unsigned x = g.anyValue(1, 3);
  const Value v = g[x];
  Shape sizes;
  for (int64_t n : v.shape)
    sizes.push_back(g.chance(0.4) ? n : g.between(std::min<int64_t>(n, 1), n));
  unsigned update = g.like(v.type, sizes);
  std::vector<unsigned> operands = starts(g, v.shape);
  operands.insert(operands.begin(), {x, update});
  g.emitOne("dtensor.dynamic_update_slice", operands,
            {v.type, v.shape, joined(v.range, g[update].range)}, "", true);
  return true;
}

/// A comparator's region for one key, or a key and a passenger.
std::string comparator(const Value &key, const Value *other,
                       const char *direction) {
  std::string scalar = tensorText(key.type, {});
  std::string text = fmt::format("{{\n^bb0(%a: {0}, %b: {0}", scalar);
  if (other)
    text += fmt::format(", %c: {0}, %d: {0}", tensorText(other->type, {}));
  return text +
         fmt::format("):\n  %p = \"dtensor.compare\"(%a, %b) <{{direction = "
                     "#dtensor<comparison {1}>}}> : ({0}, {0}) -> tensor<i1>\n"
                     "  \"dtensor.yield\"(%p) : (tensor<i1>) -> ()\n}}",
                     scalar, direction);
}

bool sort(Generator &g) {
  unsigned x = g.chance(0.7) ? g.exactFloat(1) : g.anyInteger(1);
  const Value v = g[x];
  std::string attributes = fmt::format("dimension = {} : i64, is_stable",
                                       g.below(int64_t(v.shape.size())));
  const char *direction = g.choose(std::vector<const char *>{"LT", "GT"});
  if (g.chance(0.5)) {
    g.emit("dtensor.sort", {x}, {{v.type, v.shape, v.range}}, attributes,
           comparator(v, nullptr, direction));
    return true;
  }
  unsigned y = g.like(g.chance(0.5) ? DType::I32 : DType::F32, v.shape);
  const Value w = g[y];
  g.emit("dtensor.sort", {x, y},
         {{v.type, v.shape, v.range}, {w.type, w.shape, w.range}}, attributes,
         comparator(v, &w, direction));
  return true;
}

bool topK(Generator &g) {
  unsigned x = g.chance(0.7) ? g.exactFloat(1) : g.anyInteger(1);
  const Value v = g[x];
  if (v.shape.back() == 0)
    return false;
  Shape to = v.shape;
  to.back() = g.between(1, v.shape.back());
  g.emit("dtensor.top_k", {x},
         {{v.type, to, v.range},
          {DType::I32, to, {0, double(v.shape.back() - 1), 0, 0}}},
         fmt::format("k = {} : i64", to.back()));
  return true;
}

/// The largest magnitude, or a sum that forgets, by a region.
bool genericReduce(Generator &g) {
  bool halves = g.chance(0.5);
  unsigned x = g.anyFloat(1);
  const Value v = g[x];
  int64_t rank = int64_t(v.shape.size());
  std::vector<int64_t> dims = g.subset(rank, g.between(1, rank));
  Shape to;
  for (int64_t d = 0; d < rank; ++d)
    if (!std::ranges::count(dims, d))
      to.push_back(v.shape[size_t(d)]);
  unsigned zero = g.splat(v.type, {}, 0);
  Range range = v.range;
  range.high = range.magnitude();
  range.low = 0;
  if (halves)
    range = rangeIn(v.type, -2 * range.high, 2 * range.high, -1, range.epsilon);
  std::string scalar = tensorText(v.type, {});
  std::string region = fmt::format(
      "{{\n^bb0(%a: {0}, %b: {0}):\n  %p = \"dtensor.abs\"(%b) : ({0}) -> "
      "{0}\n  %m = \"dtensor.maximum\"(%a, %p) : ({0}, {0}) -> {0}\n  "
      "\"dtensor.yield\"(%m) : ({0}) -> ()\n}}",
      scalar);
  g.emitOne("dtensor.generic_reduce", {x, zero}, {v.type, to, range},
            "dimensions = " + listText(dims), halves,
            halves ? halving(v.type) : region);
  if (!halves)
    g.refuseGradient();
  return true;
}

} // namespace

void addIndexMakers(OpMakers &makers) {
  makers.push_back({"gather rows", gatherRows});
  makers.push_back({"gather windows", gatherWindows});
  makers.push_back({"gather batched", gatherBatched});
  for (const char *kind : {"sum", "max", "min", "prod", "replace", "function"})
    makers.push_back(scatter(kind));
  makers.push_back({"dynamic_slice", dynamicSlice});
  makers.push_back({"dynamic_update_slice", dynamicUpdateSlice});
  makers.push_back({"sort", sort});
  makers.push_back({"top_k", topK});
  makers.push_back({"generic_reduce", genericReduce});
}

} // namespace meshloom::fuzz
