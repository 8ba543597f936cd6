// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// vmap and shard_map: how values enter and leave a map.
#include "meshloom/API/ShardMap.h"

#include "../Ops/Operands.h"
#include "../Ops/Regions.h"
#include "Places.h"

#include "meshloom/Lanes/Blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::detail {

namespace {

/// For each tensor of all arguments, which argument it is of.
std::vector<size_t> ownersOf(const PlaceArguments &arguments) {
  std::vector<size_t> owners;
  for (size_t i = 0; i < arguments.counts.size(); ++i)
    owners.insert(owners.end(), arguments.counts[i], i);
  return owners;
}

/// Dim `dim` first.
Value broughtFirst(lanes::LaneBuilder &b, Value value, int64_t dim) {
  return b.moveDim(value, dim, 0);
}

//===----------------------------------------------------------------------===//
// vmap
//===----------------------------------------------------------------------===//

/// The mapped dim of each tensor of the arguments, counted from 0.
std::vector<std::optional<int64_t>>
mappedDims(const VmapPlan &plan, const PlaceArguments &arguments,
           const std::source_location &where) {
  const MappedDims &in = plan.inAxes;
  if (in.isList && in.dims.size() != arguments.counts.size())
    fail(
        "vmap",
        fmt::format("expected in_axes for each of the {} arguments, or one for "
                    "all, got {}",
                    arguments.counts.size(), in.dims.size()),
        &where);
  std::vector<std::optional<int64_t>> result;
  for (auto [tensor, owner] :
       llvm::zip_equal(arguments.tensors, ownersOf(arguments))) {
    std::optional<int64_t> dim = in.isList ? in.dims[owner] : in.dims[0];
    const int64_t rank = int64_t(nodeOf(tensor, "vmap", &where).shape.size());
    if (dim && (*dim < -rank || *dim >= rank))
      fail("vmap",
           fmt::format("expected in_axes of argument {} to be a dim of {}, got "
                       "{}{}",
                       owner, typeText(tensor), *dim,
                       rank == 0 ? ": a scalar is not mapped (std::nullopt)"
                                 : ""),
           &where);
    if (dim && *dim < 0)
      dim = *dim + rank;
    result.push_back(dim);
  }
  return result;
}

int64_t vmapExtent(const VmapPlan &plan, const PlaceArguments &arguments,
                   const std::vector<std::optional<int64_t>> &dims,
                   const std::source_location &where) {
  std::optional<int64_t> extent = plan.options.axis_size;
  std::string first = "axis_size";
  std::vector<size_t> owners = ownersOf(arguments);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i])
      continue;
    const Tensor &tensor = arguments.tensors[i];
    int64_t argumentExtent = tensor.shape()[size_t(*dims[i])];
    std::string text = fmt::format("dim {} of argument {}, {}", *dims[i],
                                   owners[i], typeText(tensor));
    if (extent && argumentExtent != *extent)
      fail("vmap",
           fmt::format("expected mapped dims of one extent, got {} ({}) and {} "
                       "({})",
                       *extent, first, argumentExtent, text),
           &where);
    if (!extent)
      first = text;
    extent = argumentExtent;
  }
  if (!extent)
    fail(
        "vmap",
        "expected a mapped argument, got none: say how many elements there are "
        "with axis_size",
        &where);
  return *extent;
}

} // namespace

std::vector<Tensor> traceVmap(const VmapPlan &plan,
                              const PlaceArguments &arguments,
                              const PlaceBody &body,
                              const std::source_location &where) {
  constexpr std::string_view op = "vmap";
  Trace &trace = traceOf(op, where);
  auto dims = mappedDims(plan, arguments, where);
  PlaceMap map{.op = std::string(op), .axes = {MappedAxis{}}};
  map.axes[0].name = plan.options.axis_name;
  map.axes[0].isOfDevices = false;
  map.axes[0].size = vmapExtent(plan, arguments, dims, where);
  if (!plan.options.axis_name.empty() &&
      llvm::any_of(trace.mapped, [&](const MappedAxis &axis) {
        return axis.name == plan.options.axis_name;
      }))
    fail(op,
         fmt::format(
             "expected a new axis_name, got '{}', which a map around has",
             plan.options.axis_name),
         &where);
  lanes::LaneBuilder b = builderAt(trace, where);
  for (auto [tensor, dim] : llvm::zip_equal(arguments.tensors, dims)) {
    Value value = trace.valueOf(tensor, op, &where);
    map.inputs.push_back(dim ? broughtFirst(b, value, *dim) : value);
    map.lanes.emplace_back(dim ? 1 : 0, 0);
  }
  PlaceResults results = traceMap(trace, map, body, {}, where);
  lanes::LaneBuilder &after = results.builder;

  const MappedDims &out = plan.outAxes;
  if (out.isList && out.dims.size() != results.values.size())
    fail(op,
         fmt::format("expected out_axes for each of the {} tensors of the "
                     "result, or one for all, got {}",
                     results.values.size(), out.dims.size()),
         &where);
  std::vector<Tensor> tensors;
  for (auto [i, value] : llvm::enumerate(results.values)) {
    std::optional<int64_t> dim = out.isList ? out.dims[i] : out.dims[0];
    if (!dim) {
      if (!after.lanesOf(value).empty())
        fail(
            op,
            fmt::format("expected tensor {} of the result to be the same for "
                        "all elements, since its entry in out_axes is nullopt: "
                        "combine them with psum, pmean, ..., or give it a dim",
                        i),
            &where);
      tensors.push_back(trace.wrapValue(value));
      continue;
    }
    const int64_t rank = after.rankOf(value) + 1;
    if (*dim < -rank || *dim >= rank)
      fail(op,
           fmt::format("expected out_axes in [{}, {}) for tensor {} of the "
                       "result, which has {} dims with the mapped one, got {}",
                       -rank, rank, i, rank, *dim),
           &where);
    tensors.push_back(trace.wrapValue(after.moveDim(
        after.expose(value, 0u), 0, *dim < 0 ? *dim + rank : *dim)));
  }
  return tensors;
}

//===----------------------------------------------------------------------===//
// shard_map
//===----------------------------------------------------------------------===//

namespace {

constexpr std::string_view shardMapOp = "shard_map";

/// A layout's axes among those that are mapped, dim by dim.
std::vector<SmallVector<unsigned>>
mappedPerDim(const ShardMapPlan &plan, const Layout &layout,
             ArrayRef<unsigned> mapped, ArrayRef<int64_t> shape,
             const std::string &role, bool isLocal,
             const std::source_location &where) {
  if (layout.mesh() != plan.mesh)
    fail(shardMapOp,
         fmt::format("expected a layout of {} on {}, got one on {}", role,
                     meshText(plan.mesh), meshText(layout.mesh())),
         &where);
  if (layout.is_partial())
    fail(shardMapOp,
         fmt::format("expected a layout of {} without partial axes, got {}",
                     role, layout.spec_string()),
         &where);
  if (layout.rank() != shape.size())
    fail(shardMapOp,
         fmt::format("expected a layout of rank {} for {}, got {}",
                     shape.size(), role, layout.spec_string()),
         &where);
  std::vector<SmallVector<unsigned>> result;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    SmallVector<unsigned> &localAxes = result.emplace_back();
    int64_t parts = 1;
    bool free = false;
    for (unsigned axis : layout.axes(dim)) {
      if (!llvm::is_contained(mapped, axis)) {
        free = true;
        continue;
      }
      if (free)
        fail(shardMapOp,
             fmt::format("expected the axes that the function runs over before "
                         "others on dim {} of {}, got {}",
                         dim, role, layout.spec_string()),
             &where);
      localAxes.push_back(axis);
      parts *= plan.mesh.axis_size(axis);
    }
    if (!isLocal && shape[dim] % parts != 0)
      fail(shardMapOp,
           fmt::format("expected dim {} of {}, of size {}, to be a multiple of "
                       "the {} parts that {} cuts it into",
                       dim, role, shape[dim], parts, layout.spec_string()),
           &where);
  }
  return result;
}

/// Returns the part of a layout that is left inside.
Layout freePart(const Layout &layout, ArrayRef<unsigned> mapped) {
  Layout::DimAxes dims = layout.dim_axes();
  for (std::vector<unsigned> &axes : dims)
    std::erase_if(
        axes, [&](unsigned axis) { return llvm::is_contained(mapped, axis); });
  return *Layout::get(layout.mesh(), std::move(dims));
}

Value constrained(lanes::LaneBuilder &b, Value value, const Layout &layout) {
  return b.create<dtensor::ConstraintOp>(
      b.getLoc(), value, dtensor::LayoutAttr::get(b.getContext(), layout));
}

/// The mapped axes of the mesh, rising.
SmallVector<unsigned> mappedAxesOf(const ShardMapPlan &plan,
                                   const std::source_location &where) {
  SmallVector<unsigned> mapped;
  for (const std::string &name : plan.axes) {
    std::optional<unsigned> axis = plan.mesh.axis_index(name);
    if (!axis)
      fail(shardMapOp,
           fmt::format("expected axes of {}, got '{}'", meshText(plan.mesh),
                       name),
           &where);
    if (llvm::is_contained(mapped, *axis))
      fail(shardMapOp,
           fmt::format("expected different axes, got '{}' twice", name),
           &where);
    mapped.push_back(*axis);
  }
  if (plan.axes.empty())
    for (unsigned axis = 0; axis < plan.mesh.rank(); ++axis)
      mapped.push_back(axis);
  llvm::sort(mapped);
  return mapped;
}

const Layout &layoutFor(const std::vector<Layout> &layouts, size_t tensor,
                        size_t owner, size_t tensors, size_t owners,
                        std::string_view role,
                        const std::source_location &where) {
  size_t which = layouts.size() == owners ? owner : tensor;
  if (layouts.size() != owners && layouts.size() != tensors)
    fail(shardMapOp,
         fmt::format(
             "expected a layout for each of the {} {}{}, got {}", owners, role,
             tensors == owners
                 ? ""
                 : fmt::format(", or each of their {} tensors", tensors),
             layouts.size()),
         &where);
  if (!layouts[which].defined())
    fail(shardMapOp,
         fmt::format("expected a layout for each of the {}, got an empty one "
                     "as number {}",
                     role, which),
         &where);
  return layouts[which];
}

} // namespace

std::vector<Tensor> traceShardMap(const ShardMapPlan &plan,
                                  const PlaceArguments &arguments,
                                  const PlaceBody &body,
                                  const std::source_location &where) {
  Trace &trace = traceOf(shardMapOp, where);
  trace.useMesh(plan.mesh);
  trace.expectOneDeviceSet(shardMapOp, &where);
  SmallVector<unsigned> mapped = mappedAxesOf(plan, where);
  PlaceMap map{.op = std::string(shardMapOp), .axes = {}, .mesh = plan.mesh};
  for (unsigned axis : mapped) {
    const MeshAxis &meshAxis = plan.mesh.axes()[axis];
    if (llvm::any_of(trace.mapped, [&](const MappedAxis &around) {
          return around.name == meshAxis.name;
        }))
      fail(shardMapOp,
           fmt::format("expected axes that no map around runs over, got '{}': "
                       "name those that are left",
                       meshAxis.name),
           &where);
    map.axes.push_back({meshAxis.name, meshAxis.size});
  }
  // Lanes are axes of the mesh; the map counts its own.
  SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : plan.mesh.axes())
    sizes.push_back(axis.size);
  lanes::LaneBuilder b(trace.builder().getContext(), sizes);
  b.restoreInsertionPoint(trace.builder().saveInsertionPoint());
  b.setLoc(trace.location(where));
  std::vector<size_t> owners = ownersOf(arguments);
  for (auto [i, tensor] : llvm::enumerate(arguments.tensors)) {
    const Layout &layout =
        layoutFor(plan.inLayouts, i, owners[i], arguments.tensors.size(),
                  arguments.counts.size(), "arguments", where);
    Value value = trace.valueOf(tensor, shardMapOp, &where);
    auto cut = mappedPerDim(
        plan, layout, mapped, tensor.shape(),
        fmt::format("argument {}, {}", owners[i], typeText(tensor)), false,
        where);
    Value blocks = lanes::toBlocks(b, constrained(b, value, layout), cut);
    SmallVector<unsigned> its(b.lanesOf(blocks));
    Layout::DimAxes dims;
    for (unsigned lane : its)
      dims.push_back({lane});
    Layout inner = freePart(layout, mapped);
    for (unsigned dim = 0; dim < inner.rank(); ++dim)
      dims.push_back(inner.dim_axes()[dim]);
    map.inputs.push_back(
        constrained(b, blocks, *Layout::get(plan.mesh, std::move(dims))));
    std::vector<int64_t> &numbers = map.lanes.emplace_back();
    for (unsigned lane : its)
      numbers.push_back(llvm::find(mapped, lane) - mapped.begin());
  }
  PlaceResults results = traceMap(trace, map, body, {}, where);
  lanes::LaneBuilder &after = results.builder;
  std::vector<Tensor> tensors;
  for (auto [i, value] : llvm::enumerate(results.values)) {
    const Layout &layout =
        plan.outLayouts.size() == 1
            ? plan.outLayouts[0]
            : layoutFor(plan.outLayouts, i, i, results.values.size(),
                        results.values.size(), "tensors of the result", where);
    SmallVector<int64_t> shape = after.shapeOf(value);
    auto cut =
        mappedPerDim(plan, layout, mapped, shape,
                     fmt::format("tensor {} of the result, {} on a device", i,
                                 shapeText(Shape(shape.begin(), shape.end()))),
                     true, where);
    for (auto [extent, axes] : llvm::zip_equal(shape, cut))
      for (unsigned axis : axes)
        extent *= plan.mesh.axis_size(axis);
    tensors.push_back(trace.wrapValue(constrained(
        after, lanes::fromBlocks(after, value, cut, mapped, shape), layout)));
  }
  return tensors;
}

} // namespace meshloom::detail
