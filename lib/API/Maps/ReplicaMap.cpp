// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The map of strategies: replicas whose values may have different numbers of
// rows.
#include "../Ops/Operands.h"
#include "../Ops/Regions.h"
#include "Places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace meshloom::detail {

namespace {

constexpr std::string_view op = "strategy.run";

void checkArgument(const ReplicaValue &argument, size_t number,
                   int64_t replicas, const std::source_location &where) {
  const Shape &shape = nodeOf(argument.value, op, &where).shape;
  if (!argument.differs)
    return;
  if (shape.empty() || shape[0] != replicas)
    fail(op,
         fmt::format("expected a value for each of the {} replicas as argument "
                     "{}, got {}",
                     replicas, number, typeText(argument.value)),
         &where);
  if (argument.rows.empty())
    return;
  bool fits = int64_t(argument.rows.size()) == replicas && shape.size() > 1;
  for (int64_t rows : argument.rows)
    fits &= fits && rows >= 0 && rows <= shape[1];
  if (!fits)
    fail(op,
         fmt::format("expected numbers of rows for each of the {} replicas, at "
                     "most those of argument {}, {}, got {}",
                     replicas, number, typeText(argument.value),
                     fmt::join(argument.rows, ", ")),
         &where);
}

/// Entries `which` of the first dim.
Value entriesOf(lanes::LaneBuilder &b, Value value,
                const std::vector<int64_t> &which) {
  int64_t count = int64_t(which.size());
  bool isRun = true;
  for (int64_t i = 1; i < count; ++i)
    isRun &= which[size_t(i)] == which[0] + i;
  if (isRun && count == b.shapeOf(value)[0])
    return value;
  return isRun ? b.sliceDim(value, 0, which[0], which[0] + count)
               : b.take(value, 0, which);
}

Value laidOut(lanes::LaneBuilder &b, Value value, const ReplicaAxis &axis) {
  if (!axis.mesh)
    return value;
  Layout layout = Layout::batch_sharded(*axis.mesh, axis.mesh_axis,
                                        unsigned(b.rankOf(value)));
  return b.create<dtensor::ConstraintOp>(
      b.getLoc(), value, dtensor::LayoutAttr::get(b.getContext(), layout));
}

Value paddedTo(lanes::LaneBuilder &b, Value value, int64_t dim, int64_t rows) {
  SmallVector<int64_t> shape = b.shapeOf(value);
  if (shape[dim] == rows)
    return value;
  shape[dim] = rows - shape[dim];
  Value zero = b.splat(RankedTensorType::get({}, b.elementOf(value)), 0.0);
  return b.concatenate({value, b.broadcast(zero, shape)}, dim);
}

/// Joins the regions' values of one result.
ReplicaValue together(Trace &trace, lanes::LaneBuilder &b,
                      ArrayRef<Value> values, const ReplicaAxis &axis,
                      const std::vector<std::vector<int64_t>> &members,
                      size_t number, const std::source_location &where) {
  if (b.lanesOf(values).empty() && llvm::all_equal(values))
    return {trace.wrapValue(values[0]), false, {}};
  SmallVector<int64_t> shape = b.shapeOf(values[0]);
  bool sameRows = true;
  int64_t most = 0;
  for (Value value : values) {
    SmallVector<int64_t> partShape = b.shapeOf(value);
    bool fits = partShape.size() == shape.size() &&
                b.elementOf(value) == b.elementOf(values[0]);
    for (size_t dim = 0; fits && dim < partShape.size(); ++dim) {
      if (dim == 0)
        sameRows &= partShape[0] == shape[0];
      else
        fits &= partShape[dim] == shape[dim];
    }
    if (!fits)
      fail(op,
           fmt::format("expected values of replicas that differ in their first "
                       "dim only as tensor {} of the result, got shapes {} and "
                       "{}",
                       number, shapeText(Shape(shape.begin(), shape.end())),
                       shapeText(Shape(partShape.begin(), partShape.end()))),
           &where);
    if (!partShape.empty())
      most = std::max(most, partShape[0]);
  }
  ReplicaValue result;
  result.differs = true;
  if (!sameRows)
    result.rows.resize(size_t(axis.replicas));
  SmallVector<Value> parts;
  std::vector<int64_t> order(static_cast<size_t>(axis.replicas));
  int64_t place = 0;
  for (auto [part, value] : llvm::enumerate(values)) {
    for (int64_t replica : members[part]) {
      order[size_t(replica)] = place++;
      if (!sameRows)
        result.rows[size_t(replica)] = b.shapeOf(value)[0];
    }
    Value exposed = b.expose(value, unsigned(part));
    parts.push_back(sameRows ? exposed : paddedTo(b, exposed, 1, most));
  }
  Value joined = parts.size() == 1 ? parts[0] : b.concatenate(parts, 0);
  result.value = trace.wrapValue(laidOut(b, entriesOf(b, joined, order), axis));
  return result;
}

} // namespace

std::vector<ReplicaValue> replicaMap(const ReplicaAxis &axis,
                                     const std::vector<ReplicaValue> &arguments,
                                     const PlaceBody &body,
                                     const std::source_location &where) {
  Trace &trace = traceOf(op, where);
  if (axis.mesh)
    trace.useMesh(*axis.mesh);
  trace.expectOneDeviceSet(op, &where);
  PlaceMap map{.op = std::string(op), .axes = {{axis.name, axis.replicas}}};
  for (size_t i = 0; i < arguments.size(); ++i) {
    checkArgument(arguments[i], i, axis.replicas, where);
    if (!arguments[i].rows.empty())
      map.axes[0].rows.push_back(arguments[i].rows);
  }
  // Replicas whose values have the same shapes.
  std::map<std::vector<int64_t>, size_t> regionOf;
  for (int64_t replica = 0; replica < axis.replicas; ++replica) {
    std::vector<int64_t> rows;
    for (const auto &list : map.axes[0].rows)
      rows.push_back(list[size_t(replica)]);
    auto [region, isNew] = regionOf.try_emplace(rows, map.members.size());
    if (isNew)
      map.members.emplace_back();
    map.members[region->second].push_back(replica);
  }
  lanes::LaneBuilder b = builderAt(trace, where);
  std::vector<Value> values;
  for (const ReplicaValue &argument : arguments) {
    Value value = trace.valueOf(argument.value, op, &where);
    values.push_back(argument.differs ? laidOut(b, value, axis) : value);
  }
  for (const std::vector<int64_t> &members : map.members)
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ReplicaValue &argument = arguments[i];
      Value value = values[i];
      if (argument.differs)
        value = entriesOf(b, value, members);
      if (!argument.rows.empty()) {
        int64_t rows = argument.rows[size_t(members[0])];
        if (rows < b.shapeOf(value)[1])
          value = b.sliceDim(value, 1, 0, rows);
      }
      map.inputs.push_back(value);
      map.lanes.emplace_back(argument.differs ? 1 : 0, 0);
    }
  PlaceResults results = traceMap(
      trace, map, body,
      [&](size_t region) {
        trace.mapped.back().place = map.members[region][0];
      },
      where);
  size_t count = results.values.size() / map.members.size();
  std::vector<ReplicaValue> joined;
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value> parts;
    for (size_t part = 0; part < map.members.size(); ++part)
      parts.push_back(results.values[part * count + i]);
    joined.push_back(
        together(trace, results.builder, parts, axis, map.members, i, where));
  }
  return joined;
}

} // namespace meshloom::detail
