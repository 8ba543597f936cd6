// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random shard_map bodies.
#include "ShardMap.h"

#include "Generator.h"
#include "ManualDevices.h"

#include <algorithm>

namespace meshloom::fuzz {
namespace {

using Kind = ManualOp::Kind;

class Maker {
public:
  explicit Maker(uint64_t seed) : chance(seed), devices({1}) {
    static const std::vector<std::vector<int64_t>> meshes = {
        {2}, {3}, {4}, {8}, {2, 2}, {2, 3}, {3, 2}, {2, 4}, {4, 2}, {2, 2, 2}};
    program.seed = seed;
    program.mesh = chance.choose(meshes);
    program.isFloat = chance.chance(0.5);
    program.manual.assign(program.mesh.size(), true);
    if (program.mesh.size() > 1 && chance.chance(0.25))
      program.manual[size_t(chance.below(int64_t(program.mesh.size())))] =
          false;
    devices = Devices(program.mesh);
    for (unsigned axis = 0; axis < program.mesh.size(); ++axis)
      if (program.manual[axis])
        axes.push_back(axis);
  }

  ShardMapProgram run() {
    for (int64_t i = 0, count = chance.between(1, 2); i < count; ++i)
      addArgument();
    int64_t wanted = int64_t(program.ops.size()) + chance.between(3, 14);
    for (int tries = 0; tries < 400 && int64_t(program.ops.size()) < wanted;
         ++tries)
      tryOp();
    // The last values, and what was made of them.
    for (int64_t i = 0, count = chance.between(1, 2); i < count; ++i)
      addResult(unsigned(program.ops.size() - 1) - unsigned(chance.below(2)));
    return program;
  }

private:
  const Shape &shapeOf(unsigned value) const { return values[value][0].shape; }
  /// A value of `shape`; any one where there is none.
  unsigned anyOf(const Shape &shape) {
    std::vector<unsigned> fitting;
    for (unsigned value = 0; value < values.size(); ++value)
      if (shapeOf(value) == shape)
        fitting.push_back(value);
    if (fitting.empty())
      return unsigned(chance.below(int64_t(values.size())));
    return chance.choose(fitting);
  }
  /// One of the later values.
  unsigned recent() {
    int64_t last = int64_t(values.size()) - 1;
    return unsigned(chance.chance(0.6)
                        ? last - chance.below(std::min<int64_t>(3, last + 1))
                        : chance.below(last + 1));
  }
  std::vector<unsigned> someAxes() {
    std::vector<unsigned> some;
    for (int64_t i : chance.permutation(int64_t(axes.size())))
      if (some.empty() || chance.chance(0.4))
        some.push_back(axes[size_t(i)]);
    return some;
  }
  DimAxes cutting(size_t rank, const std::vector<unsigned> &some) {
    DimAxes cut(rank);
    for (unsigned axis : some)
      cut[size_t(chance.below(int64_t(rank)))].push_back(axis);
    return cut;
  }

  void addArgument() {
    Shape local;
    for (int64_t d = 0, rank = chance.between(1, 3); d < rank; ++d)
      local.push_back(chance.choose(std::vector<int64_t>{1, 2, 2, 3, 4, 8}));
    program.in.push_back(cutting(local.size(), someAxes()));
    ManualOp op{.kind = Kind::Argument,
                .numbers = {int64_t(program.in.size()) - 1}};
    op.numbers.insert(op.numbers.end(), local.begin(), local.end());
    program.ops.push_back(op);
    values.push_back(cutUp(
        devices, argumentOf(program, devices, program.in.size() - 1, local),
        program.in.back()));
  }

  /// Groups of the devices that `some` axes span, as JAX lists them.
  std::vector<std::vector<int64_t>> spanned(const std::vector<unsigned> &some) {
    std::vector<std::vector<int64_t>> groups;
    for (int64_t device = 0; device < devices.count; ++device) {
      if (devices.partOf(device, some) != 0)
        continue;
      auto &group = groups.emplace_back();
      group.resize(size_t(devices.partsOf(some)));
      for (int64_t other = 0; other < devices.count; ++other) {
        bool same = true;
        for (unsigned axis = 0; axis < program.mesh.size(); ++axis)
          same &= std::ranges::count(some, axis) ||
                  devices.coordinate(device, axis) ==
                      devices.coordinate(other, axis);
        if (same)
          group[size_t(devices.partOf(other, some))] = other;
      }
    }
    return groups;
  }
  std::vector<std::vector<int64_t>> groups() {
    bool allManual = axes.size() == program.mesh.size();
    if (!allManual || chance.chance(0.85))
      return spanned(someAxes());
    std::vector<int64_t> sizes;
    for (int64_t size = 2; size <= devices.count; ++size)
      if (devices.count % size == 0)
        sizes.push_back(size);
    int64_t size = chance.choose(sizes);
    std::vector<std::vector<int64_t>> result;
    for (int64_t device : chance.permutation(devices.count)) {
      if (result.empty() || int64_t(result.back().size()) == size)
        result.emplace_back();
      result.back().push_back(device);
    }
    return result;
  }
  /// Some of the moves along an axis, or between any devices.
  std::vector<std::vector<int64_t>> moves() {
    std::vector<std::vector<int64_t>> pairs;
    double keep = chance.chance(0.5) ? 1 : 0.7;
    for (const std::vector<int64_t> &group : spanned(someAxes())) {
      // The same in all groups, as ppermute has it.
      if (order.size() != group.size())
        order = chance.permutation(int64_t(group.size()));
      for (size_t i = 0; i < group.size(); ++i)
        if (keep == 1 || i != 0)
          pairs.push_back({group[i], group[size_t(order[i])]});
    }
    order.clear();
    return pairs;
  }

  /// Returns the shape with two dims as one, or a dim as two; nothing where the
  /// choice does not fit.
  std::optional<Shape> reshaped(Shape shape);
  void tryOp();
  void addResult(unsigned value);
  bool append(ManualOp op) {
    auto result = simulate(program, devices, op, values);
    if (!result)
      return false;
    program.ops.push_back(std::move(op));
    values.push_back(std::move(*result));
    return true;
  }

  Generator chance;
  Devices devices;
  ShardMapProgram program;
  std::vector<OnDevices> values;
  std::vector<unsigned> axes;
  std::vector<int64_t> order;
};

const std::vector<std::string> functions = {"add", "subtract", "multiply",
                                            "maximum", "minimum"},
                               reducers = {"add", "add", "maximum", "minimum"};

/// The kinds of ops to choose from; some kinds are likelier than others.
const std::vector<Kind> kinds = {
    Kind::Constant,      Kind::AxisIndex, Kind::Arithmetic,
    Kind::Arithmetic,    Kind::AddDim,    Kind::AddDim,
    Kind::Expand,        Kind::Reshape,   Kind::Reshape,
    Kind::Transpose,     Kind::Slice,     Kind::Concatenate,
    Kind::Reverse,       Kind::Reduce,    Kind::DynamicSlice,
    Kind::AllGather,     Kind::AllGather, Kind::AllGather,
    Kind::AllToAll,      Kind::AllToAll,  Kind::AllToAll,
    Kind::AllReduce,     Kind::AllReduce, Kind::ReduceScatter,
    Kind::ReduceScatter, Kind::Permute,   Kind::Permute,
    Kind::Broadcast};

std::optional<Shape> Maker::reshaped(Shape shape) {
  if (shape.empty())
    return std::nullopt;
  const auto d = size_t(chance.below(int64_t(shape.size())));
  if (d + 1 < shape.size() && chance.chance(0.6)) {
    shape[d] *= shape[d + 1];
    shape.erase(shape.begin() + int64_t(d) + 1);
  } else if (chance.chance(0.2)) {
    shape = {elementCount(shape)};
  } else {
    const int64_t parts = chance.choose(std::vector<int64_t>{1, 2, 3, 4, 8});
    if (shape[d] % parts != 0)
      return std::nullopt;
    shape[d] /= parts;
    shape.insert(shape.begin() + int64_t(d) + chance.below(2), parts);
  }
  return shape;
}

void Maker::tryOp() {
  ManualOp op{.kind = chance.choose(kinds), .operands = {recent()}};
  const Shape &shape = shapeOf(op.operands[0]);
  int64_t rank = int64_t(shape.size());
  auto dim = [&] { return chance.below(rank); };
  switch (op.kind) {
  case Kind::Argument:
    return;
  case Kind::Constant:
    op.operands.clear();
    op.numbers = {chance.between(-3, 3)};
    op.numbers.insert(op.numbers.end(), shape.begin(), shape.end());
    break;
  case Kind::AxisIndex:
    op.operands.clear();
    op.numbers = {int64_t(chance.choose(axes))};
    if (axes.size() != program.mesh.size())
      return; // partition_id is for bodies in which all axes are manual
    break;
  case Kind::Arithmetic:
    op.function = chance.choose(functions);
    op.operands.push_back(anyOf(shape));
    break;
  case Kind::AddDim:
    op.numbers = {chance.below(rank + 1), chance.between(1, 4)};
    if (rank > 4)
      return;
    break;
  case Kind::Expand:
    op.numbers = {dim(), chance.between(2, 8)};
    break;
  case Kind::Reshape: {
    std::optional<Shape> reshape = reshaped(shape);
    if (!reshape)
      return;
    op.numbers = std::move(*reshape);
    break;
  }
  case Kind::Transpose:
    op.numbers = chance.permutation(rank);
    break;
  case Kind::Slice: {
    if (rank == 0)
      return;
    int64_t d = dim();
    int64_t size = chance.chance(0.5) ? 1 : chance.between(1, shape[size_t(d)]);
    op.numbers = {d, chance.below(shape[size_t(d)] - size + 1), size};
    break;
  }
  case Kind::DynamicSlice: {
    if (rank == 0)
      return;
    int64_t d = dim();
    op.operands.push_back(anyOf({}));
    op.numbers = {d, chance.between(1, shape[size_t(d)])};
    break;
  }
  case Kind::Concatenate:
    op.operands.push_back(anyOf(shape));
    op.numbers = {dim()};
    break;
  case Kind::Reverse:
    op.numbers = {dim()};
    break;
  case Kind::Reduce:
    op.numbers = {dim()};
    op.function = chance.choose(reducers);
    break;
  case Kind::AllGather:
    op.numbers = {dim()};
    op.groups = groups();
    break;
  case Kind::AllToAll:
    op.numbers = {dim(), dim()};
    op.groups = groups();
    break;
  case Kind::AllReduce:
    op.function = chance.choose(reducers);
    op.groups = groups();
    break;
  case Kind::ReduceScatter:
    op.function = chance.choose(reducers);
    op.numbers = {dim()};
    op.groups = groups();
    break;
  case Kind::Permute:
    op.groups = moves();
    break;
  case Kind::Broadcast:
    op.groups = groups();
    break;
  }
  append(std::move(op));
}

void Maker::addResult(unsigned value) {
  while (shapeOf(value).empty()) {
    if (!append({.kind = Kind::AddDim, .operands = {value}, .numbers = {0, 1}}))
      return;
    value = unsigned(values.size() - 1);
  }
  std::vector<unsigned> needed;
  for (int64_t i : chance.permutation(int64_t(axes.size())))
    if (!sameAlong(devices, values[value], axes[size_t(i)]) ||
        chance.chance(0.5))
      needed.push_back(axes[size_t(i)]);
  program.results.push_back({value, cutting(shapeOf(value).size(), needed)});
}

} // namespace

ShardMapProgram generateShardMap(uint64_t seed) {
  return Maker(seed).run();
}

} // namespace meshloom::fuzz
