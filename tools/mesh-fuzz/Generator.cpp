// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values and layouts of random programs; the ops are in Make*.cpp.
#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <set>

namespace meshloom::fuzz {

int mantissaBits(DType type) {
  switch (type) {
  case DType::BF16:
    return 8;
  case DType::F16:
    return 11;
  case DType::F64:
  case DType::C128:
    return 53;
  default:
    return 24;
  }
}

Range rangeIn(DType type, double low, double high, int fraction,
              double epsilon) {
  Range range{low, high, fraction, epsilon};
  int bits = mantissaBits(type);
  if (fraction > 40 || fraction < 0 ||
      range.magnitude() * std::ldexp(1.0, fraction) > std::ldexp(1.0, bits))
    range.fraction = -1;
  if (!range.exact())
    range.epsilon = std::max(epsilon, std::ldexp(1.0, 1 - bits));
  return range;
}

Range joined(const Range &a, const Range &b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high),
          a.exact() && b.exact() ? std::max(a.fraction, b.fraction) : -1,
          std::max(a.epsilon, b.epsilon)};
}

//===----------------------------------------------------------------------===//
// Chance
//===----------------------------------------------------------------------===//

/// SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators" (OOPSLA 2014).
uint64_t Generator::next() {
  uint64_t z = (state += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

int64_t Generator::below(int64_t bound) {
  return int64_t(next() % uint64_t(std::max<int64_t>(bound, 1)));
}

bool Generator::chance(double probability) {
  return double(next() >> 11) * 0x1p-53 < probability;
}

Shape Generator::shape(int64_t leastRank, int64_t mostRank) {
  Shape shape;
  int64_t rank =
      between(leastRank, std::max(leastRank, std::min<int64_t>(mostRank, 3)));
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t size = extent();
    if (count * size > 2000)
      size = 1;
    shape.push_back(size);
    count *= size;
  }
  return shape;
}

std::vector<int64_t> Generator::permutation(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = count; i > 1; --i)
    std::swap(order[size_t(i - 1)], order[size_t(below(i))]);
  return order;
}

std::vector<int64_t> Generator::subset(int64_t of, int64_t count) {
  std::vector<int64_t> chosen = permutation(of);
  chosen.resize(size_t(std::min(of, count)));
  std::ranges::sort(chosen);
  return chosen;
}

MeshChoice Generator::randomMesh() {
  static const std::vector<std::vector<int64_t>> choices = {
      {2}, {3}, {4}, {8}, {2, 2}, {2, 3}, {3, 2}, {2, 4}, {4, 2}, {2, 2, 2}};
  static const char *const names[] = {"x", "y", "z"};
  MeshChoice mesh;
  mesh.sizes = choose(choices);
  for (size_t i = 0; i < mesh.sizes.size(); ++i) {
    mesh.axes.push_back(names[i]);
    mesh.text +=
        fmt::format("{}{} = {}", i ? ", " : "", names[i], mesh.sizes[i]);
  }
  return mesh;
}

/// Few extents a program, so that values fit each other.
Generator::Generator(uint64_t seed) : state(seed * 2 + 1), sink(&recipe.nodes) {
  recipe.seed = seed;
  recipe.mesh = randomMesh();
  for (int i = 0; i < 3; ++i)
    extents.push_back(
        choose(std::vector<int64_t>{1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 12, 16}));
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

std::string Generator::layout(size_t rank, DType type, bool mayBePartial) {
  std::vector<std::string> axes;
  for (int64_t i : permutation(int64_t(recipe.mesh.axes.size())))
    axes.push_back(recipe.mesh.axes[size_t(i)]);
  std::vector<std::string> dims;
  size_t sharded = 0, most = 0;
  for (size_t d = 0; d < rank; ++d) {
    size_t count = size_t(choose(std::vector<int64_t>{0, 1, 1, 2, 3}));
    count = std::min(count, axes.size());
    std::vector<std::string> taken(axes.end() - ptrdiff_t(count), axes.end());
    axes.resize(axes.size() - count);
    sharded += count > 0;
    most = std::max(most, count);
    dims.push_back(count == 0 ? "*"
                   : count == 1
                       ? taken[0]
                       : fmt::format("{{{}}}", fmt::join(taken, ", ")));
  }
  std::string text = fmt::format("[{}]", fmt::join(dims, ", "));
  recipe.layoutKinds.push_back(most > 1      ? "several axes on a dim"
                               : sharded > 1 ? "several dims"
                               : sharded     ? "one dim"
                                             : "replicated");
  if (mayBePartial && !axes.empty() && chance(0.4)) {
    std::vector<std::string> kinds = {"sum", "sum", "max", "min"};
    if (type == DType::I1)
      kinds = {"or", "and"};
    else if (isComplex(type))
      kinds = {"sum"};
    std::string kind = choose(kinds);
    text += fmt::format(" partial<{}: {}>", axes.back(), kind);
    recipe.layoutKinds.push_back("partial " + kind);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<unsigned> Generator::find(const Filter &filter) {
  std::vector<unsigned> good;
  for (unsigned value : visible)
    if (filter(recipe.values[value]))
      good.push_back(value);
  if (good.empty())
    return std::nullopt;
  // Newer values more often: programs are deep rather than wide.
  if (good.size() > 4 && chance(0.6))
    good.erase(good.begin(), good.end() - 4);
  return choose(good);
}

unsigned Generator::argument(DType type, Shape shape, Range range) {
  unsigned id = unsigned(recipe.values.size());
  Value value{type, std::move(shape), range, "", isFloat(type)};
  if (chance(0.8))
    value.layout = layout(value.shape.size(), type, range.exact());
  recipe.values.push_back(std::move(value));
  recipe.arguments.push_back(id);
  visible.push_back(id);
  return id;
}

static Range freshRange(Generator &generator, DType type) {
  if (isFloat(type) || isComplex(type))
    return generator.chance(0.75) || type == DType::BF16 || type == DType::F16
               ? Range{-2, 2, 2, 0}
               : rangeIn(type, -1, 1, -1, 0);
  if (type == DType::I1)
    return {0, 1, 0, 0};
  return {isSigned(type) ? -9.0 : 0.0, 20, 0, 0};
}

static DType floatType(Generator &generator) {
  return generator.choose(std::vector<DType>{DType::F32, DType::F32, DType::F32,
                                             DType::F32, DType::F32, DType::F64,
                                             DType::BF16, DType::F16});
}

static DType integerType(Generator &generator) {
  return generator.choose(std::vector<DType>{
      DType::I32, DType::I32, DType::I32, DType::I64, DType::UI32, DType::I8,
      DType::UI8, DType::I16, DType::UI16, DType::UI64});
}

unsigned Generator::anyFloat(int64_t leastRank, int64_t mostRank) {
  if (chance(0.85))
    if (auto found = find([&](const Value &v) {
          return isFloat(v.type) && int64_t(v.shape.size()) >= leastRank &&
                 int64_t(v.shape.size()) <= mostRank;
        }))
      return *found;
  DType type = floatType(*this);
  return argument(type, shape(leastRank, mostRank), freshRange(*this, type));
}

unsigned Generator::exactFloat(int64_t leastRank, int64_t mostRank) {
  if (auto found = find([&](const Value &v) {
        return isFloat(v.type) && v.range.exact() &&
               int64_t(v.shape.size()) >= leastRank &&
               int64_t(v.shape.size()) <= mostRank;
      }))
    return *found;
  DType type = floatType(*this);
  return argument(type, shape(leastRank, mostRank), {-2, 2, 2, 0});
}

unsigned Generator::anyInteger(int64_t leastRank, int64_t mostRank) {
  if (chance(0.8))
    if (auto found = find([&](const Value &v) {
          return isInteger(v.type) && int64_t(v.shape.size()) >= leastRank &&
                 int64_t(v.shape.size()) <= mostRank;
        }))
      return *found;
  DType type = integerType(*this);
  return argument(type, shape(leastRank, mostRank), freshRange(*this, type));
}

unsigned Generator::anyValue(int64_t leastRank, int64_t mostRank) {
  if (auto found = find([&](const Value &v) {
        return int64_t(v.shape.size()) >= leastRank &&
               int64_t(v.shape.size()) <= mostRank;
      });
      found && chance(0.9))
    return *found;
  return chance(0.8) ? anyFloat(leastRank, mostRank)
                     : anyInteger(leastRank, mostRank);
}

unsigned Generator::like(DType type, const Shape &shape) {
  if (chance(0.8))
    if (auto found = find(
            [&](const Value &v) { return v.type == type && v.shape == shape; }))
      return *found;
  return argument(type, shape, freshRange(*this, type));
}

unsigned Generator::exactIn(DType type, const Shape &shape, double low,
                            double high) {
  if (auto found = find([&](const Value &v) {
        return v.type == type && v.shape == shape && v.range.exact() &&
               v.range.low >= low && v.range.high <= high;
      }))
    return *found;
  return argument(type, shape, {low, high, isFloat(type) ? 2 : 0, 0});
}

/// A number as an attribute has it.
static std::string numberText(DType type, double value) {
  if (isFloat(type))
    return fmt::format("{:.9e}", value);
  if (type == DType::I1)
    return value != 0 ? "true" : "false";
  if (isComplex(type))
    return fmt::format("({:.9e}, 0.0)", value);
  return std::to_string(int64_t(value));
}

unsigned Generator::splat(DType type, const Shape &shape, double value) {
  int fraction = 0;
  while (fraction < 8 &&
         std::ldexp(value, fraction) != std::floor(std::ldexp(value, fraction)))
    ++fraction;
  return emitOne("dtensor.constant", {},
                 {type, shape, rangeIn(type, value, value, fraction, 0)},
                 fmt::format("value = dense<{}> : {}", numberText(type, value),
                             tensorText(type, shape)));
}

unsigned Generator::into(unsigned value, double low, double high) {
  const Value v = recipe.values[value];
  if (v.range.low >= low && v.range.high <= high)
    return value;
  double epsilon = rangeIn(v.type, -1, 1, -1, v.range.epsilon).epsilon;
  unsigned squashed =
      emitOne("dtensor.tanh", {value}, {v.type, v.shape, {-1, 1, -1, epsilon}},
              "", true);
  double half = (high - low) / 2, middle = (high + low) / 2;
  // A little inside, so that rounding stays there too.
  unsigned scaled = emitOne(
      "dtensor.multiply", {squashed, splat(v.type, v.shape, half * 0.9375)},
      {v.type, v.shape, {-half, half, -1, epsilon}}, "", true);
  return emitOne("dtensor.add", {scaled, splat(v.type, v.shape, middle)},
                 {v.type, v.shape, {low, high, -1, epsilon}}, "", true);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::vector<unsigned>
Generator::emit(std::string op, std::vector<unsigned> operands,
                std::vector<Result> results, std::string attributes,
                std::string regions, bool smooth, std::vector<Block> blocks) {
  bool differentiable =
      smooth && std::ranges::any_of(operands, [&](unsigned value) {
        return recipe.values[value].differentiable;
      });
  bool opaque = std::ranges::any_of(
      operands, [&](unsigned value) { return recipe.values[value].opaque; });
  for (const Block &block : blocks)
    for (unsigned value : block.yields)
      opaque |= recipe.values[value].opaque;
  Node node{std::move(op),         std::move(operands), {},
            std::move(attributes), std::move(regions),  std::move(blocks)};
  for (Result &result : results) {
    unsigned id = unsigned(recipe.values.size());
    bool isFloating = isFloat(result.type) || isComplex(result.type);
    recipe.values.push_back({result.type, std::move(result.shape), result.range,
                             "", differentiable && isFloat(result.type),
                             opaque && isFloating});
    node.results.push_back(id);
    visible.push_back(id);
  }
  sink->push_back(std::move(node));
  return sink->back().results;
}

unsigned Generator::emitOne(std::string op, std::vector<unsigned> operands,
                            Result result, std::string attributes, bool smooth,
                            std::string regions, std::vector<Block> blocks) {
  return emit(std::move(op), std::move(operands), {std::move(result)},
              std::move(attributes), std::move(regions), smooth,
              std::move(blocks))[0];
}

void Generator::refuseGradient() {
  const Node &node = sink->back();
  if (std::ranges::none_of(node.operands, [&](unsigned value) {
        return recipe.values[value].differentiable;
      }))
    return;
  for (unsigned result : node.results) {
    Value &value = recipe.values[result];
    value.opaque |= isFloat(value.type) || isComplex(value.type);
  }
}

Block Generator::inBlock(
    const std::function<std::vector<unsigned>(std::vector<unsigned>)> &body,
    const std::vector<Result> &arguments) {
  Block block;
  std::vector<Node> *outer = sink;
  std::vector<unsigned> outerVisible = visible;
  size_t firstArgument = recipe.arguments.size();
  sink = &block.nodes;
  ++blockDepth;
  for (const Result &argument : arguments) {
    block.arguments.push_back(unsigned(recipe.values.size()));
    visible.push_back(block.arguments.back());
    recipe.values.push_back({argument.type, argument.shape, argument.range, "",
                             argument.differentiable});
  }
  block.yields = body(block.arguments);
  --blockDepth;
  sink = outer;
  visible = outerVisible;
  for (size_t i = firstArgument; i < recipe.arguments.size(); ++i)
    visible.push_back(recipe.arguments[i]);
  return block;
}

unsigned Generator::relayout(const std::string &op, unsigned value) {
  const Value v = recipe.values[value];
  unsigned result =
      emitOne("dtensor." + op, {value}, {v.type, v.shape, v.range}, "", true);
  recipe.values[result].layout =
      layout(v.shape.size(), v.type, isFloat(v.type));
  return result;
}

void Generator::makeOps(int64_t count, const std::vector<OpMaker> &makers) {
  for (int64_t added = 0, tries = 0; added < count && tries < 4 * count;
       ++tries)
    added += choose(makers).make(*this);
}

Recipe Generator::take() {
  // A third of the programs end in a loss.
  if (chance(0.35)) {
    auto last =
        find([](const Value &v) { return v.differentiable && !v.opaque; });
    if (last && !std::ranges::count(recipe.arguments, *last)) {
      const Value v = recipe.values[*last];
      std::vector<int64_t> dims(v.shape.size());
      std::iota(dims.begin(), dims.end(), 0);
      // Made anew, so that nothing else reads it.
      unsigned loss = *last;
      if (dims.empty()) {
        Range range = v.range;
        range.low = -v.range.high;
        range.high = -v.range.low;
        loss = emitOne("dtensor.negate", {loss}, {v.type, {}, range}, "", true);
      } else {
        unsigned weights =
            emitOne("dtensor.iota", {}, {v.type, v.shape, {0, 16, 0, 0}},
                    fmt::format("iota_dimension = {} : i64", dims.size() - 1));
        double terms = 1;
        for (int64_t extent : v.shape)
          terms *= double(extent);
        double most = 16 * v.range.magnitude();
        unsigned product = emitOne(
            "dtensor.multiply", {loss, weights},
            {v.type, v.shape, rangeIn(v.type, -most, most, -1, 0)}, "", true);
        most *= terms;
        loss = emitOne("dtensor.reduce", {product},
                       {v.type, {}, rangeIn(v.type, -most, most, -1, 0)},
                       fmt::format("dimensions = {}, kind = #dtensor.kind<sum>",
                                   listText(dims)),
                       true);
      }
      recipe.results.push_back(loss);
      recipe.gradient = true;
    }
  }
  // Results: those that nothing reads, up to three, some in a layout.
  std::vector<bool> read(recipe.values.size());
  std::vector<unsigned> outputs;
  for (const Node &node : recipe.nodes) {
    for (unsigned operand : node.operands)
      read[operand] = true;
    outputs.insert(outputs.end(), node.results.begin(), node.results.end());
  }
  std::erase_if(outputs, [&](unsigned value) { return read[value]; });
  while (outputs.size() > 3)
    outputs.erase(outputs.begin() + below(int64_t(outputs.size())));
  for (unsigned value : outputs) {
    if (std::ranges::count(recipe.results, value))
      continue;
    if (chance(0.5))
      value = relayout("constraint", value);
    recipe.results.push_back(value);
  }
  return std::move(recipe);
}

const std::vector<OpMaker> &opMakers() {
  static const std::vector<OpMaker> makers = [] {
    OpMakers list;
    addElementwiseMakers(list);
    addComplexMakers(list);
    addMovementMakers(list);
    addContractionMakers(list);
    addIndexMakers(list);
    addWindowMakers(list);
    addLinalgMakers(list);
    addControlMakers(list);
    return list;
  }();
  return makers;
}

Recipe generate(uint64_t seed) {
  Generator generator(seed);
  const std::vector<OpMaker> &makers = opMakers();
  generator.makeOps(generator.below(3), makers);
  const OpMaker &sure = makers[seed % makers.size()];
  for (int tries = 0; tries < 8 && !sure.make(generator); ++tries)
    generator.makeOps(1, makers);
  generator.makeOps(generator.between(1, 6), makers);
  return generator.take();
}

/// Elementwise ops, and as many that lead from one shape to another.
static const std::vector<OpMaker> &kernelMakers() {
  static const std::vector<OpMaker> makers = [] {
    OpMakers list;
    addElementwiseMakers(list);
    const size_t elementwise = list.size();
    const std::set<std::string> between = {"broadcast_in_dim", "transpose",
                                           "reduce sum",       "reduce max",
                                           "reduce and",       "reduce or"};
    while (list.size() < 2 * elementwise)
      for (const OpMaker &maker : opMakers())
        if (between.contains(maker.name))
          list.push_back(maker);
    return list;
  }();
  return makers;
}

Recipe generateLong(uint64_t seed) {
  Generator generator(seed);
  generator.makeOps(generator.between(15, 50), kernelMakers());
  return generator.take();
}

} // namespace meshloom::fuzz
