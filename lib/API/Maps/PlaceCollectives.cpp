// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives between the places of a map: ops of its region.
#include "../Ops/Operands.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/ShardMap.h"
#include "meshloom/Dialect/DTensor/Map.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace meshloom {
using namespace detail;

namespace {

using Where = std::source_location;

/// The axis of a map around; throws, listing those there are, if there is none.
const MappedAxis &axisNamed(const std::string &name, std::string_view op,
                            const Where &where) {
  const std::shared_ptr<Trace> &trace = threadState().trace();
  std::vector<std::string> names;
  if (trace)
    for (const MappedAxis &axis : llvm::reverse(trace->mapped)) {
      if (axis.name == name && !name.empty())
        return axis;
      if (!axis.name.empty())
        names.push_back(fmt::format("'{}'", axis.name));
    }
  if (!trace || trace->mapped.empty())
    fail(op,
         fmt::format("expected to be called in the function of a vmap with "
                     "axis_name or of a shard_map, which has an axis '{}'",
                     name),
         &where);
  fail(op,
       fmt::format("expected an axis that the function is mapped over, got "
                   "'{}'; there {}",
                   name,
                   names.empty()
                       ? "is none with a name"
                       : fmt::format("are {}", fmt::join(names, ", "))),
       &where);
}

/// Extents by place of what is `extent` here; empty: the same everywhere.
std::vector<int64_t> sizesOf(const MappedAxis &axis, int64_t extent) {
  for (const std::vector<int64_t> &rows : axis.rows)
    if (rows[size_t(axis.place)] == extent)
      return rows;
  return {};
}

template <typename Op>
OpCall axisCall(std::string_view name, const Tensor &x, const MappedAxis &axis,
                int64_t dim, const std::vector<int64_t> &sizes, Shape shape,
                const Where &where) {
  OpCall call = callOf(name, {x}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape,
         const auto &axisName, const auto &dim, const auto &sizes) {
        OpBuilder &b = e;
        return SmallVector<Value>{b.create<Op>(
            e.getLoc(),
            RankedTensorType::get(shape, e.elementType(operands[0])),
            operands[0], b.getStringAttr(axisName), b.getI64IntegerAttr(dim),
            sizes.empty() ? mlir::DenseI64ArrayAttr()
                          : b.getDenseI64ArrayAttr(sizes))};
      },
      shape, axis.name, dim, sizes);
  return call;
}

/// The same of what is joined, of which other bodies may have told.
std::vector<int64_t> joinedSizesOf(const MappedAxis &axis, int64_t extent) {
  if (!axis.joints)
    return sizesOf(axis, extent);
  JoinedExtents &joints = *axis.joints;
  const size_t turn = joints.local.size();
  joints.local.push_back(extent);
  return joints.used.emplace_back(turn < joints.byPlace.size()
                                      ? joints.byPlace[turn]
                                      : sizesOf(axis, extent));
}

/// The values of all places joined along `dim`.
Tensor joined(std::string_view op, const Tensor &x, const MappedAxis &axis,
              int64_t dim, bool byRows, const Where &where) {
  Shape shape = x.shape();
  std::vector<int64_t> sizes;
  if (byRows)
    sizes = joinedSizesOf(axis, shape[size_t(dim)]);
  shape[size_t(dim)] =
      sizes.empty() ? shape[size_t(dim)] * axis.size
                    : std::accumulate(sizes.begin(), sizes.end(), int64_t(0));
  return runOp(axisCall<dtensor::AxisGatherOp>(op, x, axis, dim, sizes,
                                               std::move(shape), where));
}

/// This place's part of dim `dim`, cut into equal ones.
Tensor partOf(std::string_view op, const Tensor &x, const MappedAxis &axis,
              int64_t dim, const Where &where) {
  Shape shape = x.shape();
  shape[size_t(dim)] /= axis.size;
  return runOp(axisCall<dtensor::AxisPartOp>(op, x, axis, dim, {},
                                             std::move(shape), where));
}

Tensor reduced(std::string_view op, const Tensor &x, ReduceKind kind,
               const AxisNames &axes, const Where &where) {
  const TensorNode &node = nodeOf(x, op, &where);
  if (axes.names.empty())
    fail(op, "expected at least one axis, got none", &where);
  for (size_t i = 0; i < axes.names.size(); ++i) {
    axisNamed(axes.names[i], op, where);
    if (llvm::is_contained(ArrayRef(axes.names).drop_front(i + 1),
                           axes.names[i]))
      fail(
          op,
          fmt::format("expected different axes, got '{}' twice", axes.names[i]),
          &where);
  }
  if (node.dtype == DType::I1)
    fail(op,
         "expected numbers, got truth values: cast them to a number type first",
         &where);
  if (isComplex(node.dtype) && kind != ReduceKind::Sum)
    fail(op,
         fmt::format("expected real numbers, which have an order, got {}",
                     typeText(x)),
         &where);
  OpCall call = callOf(op, {x}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &kind,
         const auto &names) {
        SmallVector<StringRef> list(names.begin(), names.end());
        return SmallVector<Value>{e.create<dtensor::AxisReduceOp>(
            e.getLoc(), operands[0].getType(), operands[0],
            e.getStrArrayAttr(list),
            dtensor::ReduceKindAttr::get(e.getContext(), kind))};
      },
      kind, axes.names);
  return runOp(std::move(call));
}

/// `dim` of `x` counted from 0; it has to be as long as the axis, or `tiled`, a
/// multiple.
int64_t cutDim(std::string_view op, std::string_view role, const Tensor &x,
               int64_t dim, const MappedAxis &axis, bool tiled,
               const Where &where) {
  const Shape &shape = nodeOf(x, op, &where).shape;
  dim = axisOf(dim, int64_t(shape.size()), op, where);
  int64_t extent = shape[size_t(dim)];
  if (tiled ? extent % std::max<int64_t>(axis.size, 1) != 0
            : extent != axis.size)
    fail(op,
         fmt::format("expected {} {} of {} to be {} the {} places along '{}', "
                     "got {}",
                     role, dim, typeText(x),
                     tiled ? "a multiple of" : "as long as", axis.size,
                     axis.name, extent),
         &where);
  return dim;
}

} // namespace

Tensor psum(const Tensor &x, const AxisNames &axes, Where where) {
  return reduced("psum", x, ReduceKind::Sum, axes, where);
}

Tensor pmean(const Tensor &x, const AxisNames &axes, Where where) {
  expectFloat(x, "pmean", where);
  Tensor sum = reduced("pmean", x, ReduceKind::Sum, axes, where);
  int64_t places = 1;
  for (const std::string &name : axes.names)
    places *= axisNamed(name, "pmean", where).size;
  return divide({sum, where}, {double(places), where});
}

Tensor pmax(const Tensor &x, const AxisNames &axes, Where where) {
  return reduced("pmax", x, ReduceKind::Max, axes, where);
}

Tensor pmin(const Tensor &x, const AxisNames &axes, Where where) {
  return reduced("pmin", x, ReduceKind::Min, axes, where);
}

Tensor all_gather(const Tensor &x, const std::string &axis_name, int64_t axis,
                  bool tiled, Where where) {
  constexpr std::string_view op = "all_gather";
  const MappedAxis &along = axisNamed(axis_name, op, where);
  int64_t rank = int64_t(nodeOf(x, op, &where).shape.size());
  if (tiled)
    return joined(op, x, along, axisOf(axis, rank, op, where), true, where);
  int64_t dim = axisOf(axis, rank + 1, op, where);
  return joined(op, expand_dims(x, dim, where), along, dim, false, where);
}

Tensor psum_scatter(const Tensor &x, const std::string &axis_name,
                    int64_t scatter_dimension, bool tiled, Where where) {
  constexpr std::string_view op = "psum_scatter";
  const MappedAxis &along = axisNamed(axis_name, op, where);
  int64_t dim = cutDim(op, "scatter_dimension", x, scatter_dimension, along,
                       tiled, where);
  Tensor sum = reduced(op, x, ReduceKind::Sum, axis_name, where);
  Tensor part = partOf(op, sum, along, dim, where);
  return tiled ? part : squeeze(part, dim, where);
}

Tensor all_to_all(const Tensor &x, const std::string &axis_name,
                  int64_t split_axis, int64_t concat_axis, bool tiled,
                  Where where) {
  constexpr std::string_view op = "all_to_all";
  const MappedAxis &along = axisNamed(axis_name, op, where);
  int64_t from = cutDim(op, "split_axis", x, split_axis, along, tiled, where);
  int64_t to = axisOf(concat_axis, x.rank(), op, where);
  Shape cut = x.shape();
  if (tiled) { // [.., places, part, ..]
    cut[size_t(from)] /= along.size;
    cut.insert(cut.begin() + from, along.size);
  }
  // [sources, .., targets, ..], of which each place takes its own.
  Tensor gathered = joined(op, expand_dims(reshape(x, cut, where), 0, where),
                           along, 0, false, where);
  Tensor local = squeeze(partOf(op, gathered, along, from + 1, where), from + 1,
                         where); // [places, ...]
  std::vector<int64_t> order;
  for (int64_t dim = 1; dim < local.rank(); ++dim)
    order.push_back(dim);
  order.insert(order.begin() + to, 0);
  Tensor result = transpose(local, order, where);
  if (!tiled)
    return result;
  Shape merged = result.shape();
  merged[size_t(to) + 1] *= along.size;
  merged.erase(merged.begin() + to);
  return reshape(result, merged, where);
}

Tensor ppermute(const Tensor &x, const std::string &axis_name,
                const std::vector<std::pair<int64_t, int64_t>> &pairs,
                Where where) {
  constexpr std::string_view op = "ppermute";
  const MappedAxis &along = axisNamed(axis_name, op, where);
  std::vector<int64_t> source(size_t(along.size), -1);
  for (auto [from, to] : pairs) {
    if (from < 0 || to < 0 || from >= along.size || to >= along.size)
      fail(op,
           fmt::format("expected places from 0 to {} along '{}', got {} -> {}",
                       along.size - 1, axis_name, from, to),
           &where);
    if (source[size_t(to)] != -1)
      fail(op,
           fmt::format("expected different targets, got place {} twice", to),
           &where);
    source[size_t(to)] = from;
  }
  Tensor gathered =
      joined(op, expand_dims(x, 0, where), along, 0, false, where);
  OpCall call = callOf(op, {gathered}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &source) {
        return SmallVector<Value>{
            e.create<dtensor::TakeOp>(e.getLoc(), operands[0], 0, source)};
      },
      source);
  return squeeze(partOf(op, runOp(std::move(call)), along, 0, where), 0, where);
}

Tensor axis_index(const std::string &axis_name, Where where) {
  constexpr std::string_view op = "axis_index";
  const MappedAxis &along = axisNamed(axis_name, op, where);
  OpCall call = callOf(op, {}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value>, const auto &size) {
        return SmallVector<Value>{e.iota({size}, 0, e.getIntegerType(32))};
      },
      along.size);
  Tensor gathered = runOp(std::move(call));
  return reshape(partOf(op, gathered, along, 0, where), {}, where);
}

int64_t axis_size(const std::string &axis_name, Where where) {
  return axisNamed(axis_name, "axis_size", where).size;
}

namespace detail {

bool isMappedAxis(const std::string &name) {
  const std::shared_ptr<Trace> &trace = threadState().trace();
  return trace && llvm::any_of(trace->mapped, [&](const MappedAxis &axis) {
           return axis.name == name;
         });
}

Tensor stackPlaces(const Tensor &x, const std::string &axis,
                   std::vector<int64_t> *rows, const Where &where) {
  constexpr std::string_view op = "all_gather";
  const MappedAxis &along = axisNamed(axis, op, where);
  Tensor local = x;
  std::vector<int64_t> sizes;
  if (nodeOf(x, op, &where).shape.size() > 0 && rows)
    sizes = sizesOf(along, x.shape()[0]);
  if (!sizes.empty())
    if (int64_t lacking = *llvm::max_element(sizes) - x.shape()[0]) {
      std::vector<PadDim> padding(size_t(x.rank()));
      padding[0] = {0, lacking};
      local = pad(x, padding, 0, where);
    }
  if (rows)
    *rows = sizes;
  return joined(op, expand_dims(local, 0, where), along, 0, false, where);
}

Tensor localPlace(const Tensor &stack, const std::string &axis,
                  const std::vector<int64_t> &rows, const Where &where) {
  constexpr std::string_view op = "replica";
  const MappedAxis &along = axisNamed(axis, op, where);
  Tensor local =
      squeeze(partOf(op, stack, along,
                     cutDim(op, "dim", stack, 0, along, false, where), where),
              0, where);
  if (rows.empty())
    return local;
  Shape begin(size_t(local.rank()), 0), size = local.shape();
  size[0] = rows[size_t(along.place)];
  return slice(local, begin, size, where);
}

} // namespace detail
} // namespace meshloom
