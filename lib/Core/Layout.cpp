// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layout: checks, and the nested splitting that all shapes and shards follow
// from. Strings are in LayoutString.cpp.
#include "meshloom/Core/Layout.h"

#include "meshloom/Core/Hash.h"
#include "meshloom/Core/SubAxis.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ostream>

namespace meshloom {

namespace {
Error layoutError(std::string text) {
  return Error("[Layout] " + std::move(text));
}

/// The largest block of `extent` elements over `size` devices.
int64_t blockOf(int64_t extent, int64_t size) {
  return extent == 0 ? 0 : (extent - 1) / size + 1;
}

/// One level of splitting: the block of [offset, offset + extent) that
/// coordinate `coord` of an axis of size `size` gets.
void takeBlock(int64_t &offset, int64_t &extent, int64_t size, int64_t coord) {
  int64_t block = blockOf(extent, size);
  // Unsigned: the end of the last block may be past the largest int64_t.
  auto begin =
      int64_t(std::min(uint64_t(coord) * uint64_t(block), uint64_t(extent)));
  extent = std::min(block, extent - begin);
  offset += begin;
}
} // namespace

struct Layout::Impl {
  Mesh mesh;
  DimAxes dims;
  std::vector<Partial> partial;
  bool replicated;
  size_t hash;

  size_t computeHash() const {
    StableHash h;
    h.add(mesh.hash());
    h.add(uint64_t(dims.size()));
    for (const auto &axes : dims) {
      h.add(uint64_t(axes.size()));
      for (unsigned axis : axes)
        h.add(uint64_t(axis));
    }
    for (const Partial &p : partial) {
      h.add(uint64_t(p.axis));
      h.add(uint64_t(p.kind));
    }
    return h.value();
  }
};

/// Indices of what an axis's name stands for (several where the mesh has it in
/// parts), or the error of a user who misspelt it. `where` says what uses it:
/// "dim 1", "partial".
static Result<std::vector<unsigned>>
findAxes(const Mesh &mesh, std::string_view axis, std::string_view where) {
  if (auto found = axesNamed(mesh, axis))
    return *found;
  return layoutError(fmt::format(
      "'{}' ({}) must be an axis of mesh {} or UNSHARDED; its axes are {}",
      axis, where, mesh.spec_string(), fmt::join(mesh.axis_names(), ", ")));
}

Result<Layout>
Layout::get(std::vector<DimSpec> specs, Mesh mesh,
            std::vector<std::pair<std::string, ReduceKind>> partial) {
  if (!mesh.defined())
    return layoutError("expected a mesh, got an empty one: make it with "
                       "create_mesh");
  DimAxes dims(specs.size());
  for (size_t d = 0; d < specs.size(); ++d) {
    const auto &names = specs[d].axes;
    // TensorFlow spells UNSHARDED as this string; accept both.
    if (names.size() == 1 && names[0] == "unsharded")
      continue;
    for (const std::string &name : names) {
      auto axes = findAxes(mesh, name, fmt::format("dim {}", d));
      if (!axes)
        return axes.error();
      dims[d].insert(dims[d].end(), axes->begin(), axes->end());
    }
  }
  std::vector<Partial> pending;
  for (const auto &[name, kind] : partial) {
    auto axes = findAxes(mesh, name, "partial");
    if (!axes)
      return axes.error();
    for (unsigned axis : *axes)
      pending.push_back({axis, kind});
  }
  return get(std::move(mesh), std::move(dims), std::move(pending));
}

Result<Layout> Layout::get(Mesh mesh, DimAxes dims,
                           std::vector<Partial> partial) {
  constexpr int unused = -2, inPartial = -1;
  constexpr size_t fewAxes = 16;
  std::array<int, fewAxes> few;
  std::vector<int> many(mesh.rank() > fewAxes ? mesh.rank() : 0);
  std::span<int> usedBy = many.empty() ? std::span(few) : std::span(many);
  std::ranges::fill(usedBy, unused);
  auto describe = [](int dim) {
    return dim == inPartial ? std::string("partial")
                            : fmt::format("dim {}", dim);
  };
  std::optional<Error> error;
  auto use = [&](unsigned axis, int dim) {
    if (axis >= mesh.rank()) {
      error = layoutError(
          fmt::format("{} uses axis number {}, but mesh {} has {} axes",
                      describe(dim), axis, mesh.spec_string(), mesh.rank()));
      return false;
    }
    if (usedBy[axis] != unused) {
      error = layoutError(fmt::format(
          "mesh axis '{}' is used twice ({} and {}); mesh axes must be unique "
          "in a layout",
          mesh.axes()[axis].name, describe(usedBy[axis]), describe(dim)));
      return false;
    }
    usedBy[axis] = dim;
    return true;
  };
  bool replicated = partial.empty();
  for (size_t d = 0; d < dims.size(); ++d)
    for (unsigned axis : dims[d]) {
      if (!use(axis, int(d)))
        return *error;
      replicated = false;
    }
  std::sort(partial.begin(), partial.end());
  for (const Partial &p : partial) {
    (void)meshloom::name(p.kind); // throws where it is none
    if (!use(p.axis, inPartial))
      return *error;
    if (p.kind != partial[0].kind)
      return layoutError(fmt::format(
          "partial over '{}' with {} and over '{}' with {}: their order would "
          "change the value; all partial axes have one kind",
          mesh.axes()[partial[0].axis].name, meshloom::name(partial[0].kind),
          mesh.axes()[p.axis].name, meshloom::name(p.kind)));
  }
  auto impl = std::make_shared<Impl>(Impl{std::move(mesh), std::move(dims),
                                          std::move(partial), replicated, 0});
  impl->hash = impl->computeHash();
  return Layout(std::move(impl));
}

Layout::Layout(std::vector<DimSpec> specs, Mesh mesh,
               std::vector<std::pair<std::string, ReduceKind>> partial,
               Where where)
    : Layout(get(std::move(specs), std::move(mesh), std::move(partial))
                 .value_or_throw(where)) {}

/// The axes of as many dims that are cut over no axis.
static Layout::DimAxes wholeDims(unsigned rank, Layout::Where where) {
  if (int(rank) < 0) // an int of a caller
    layoutError(fmt::format("expected a rank of at least 0, got {}", int(rank)))
        .atLine(where)
        .raise();
  return Layout::DimAxes(rank);
}

Layout Layout::replicated(const Mesh &mesh, unsigned rank, Where where) {
  return get(mesh, wholeDims(rank, where)).value_or_throw(where);
}

Layout Layout::batch_sharded(const Mesh &mesh, std::string_view axis,
                             unsigned rank, unsigned dim, Where where) {
  if (dim >= rank)
    layoutError(
        fmt::format(
            "there is no dim {} to shard over '{}' in a layout of rank {}",
            int(dim), axis, rank))
        .atLine(where)
        .raise();
  DimAxes dims = wholeDims(rank, where);
  dims[dim] =
      findAxes(mesh, axis, fmt::format("dim {}", dim)).value_or_throw(where);
  return get(mesh, std::move(dims)).value_or_throw(where);
}

Layout Layout::inner_sharded(const Mesh &mesh, std::string_view axis,
                             unsigned rank, Where where) {
  return batch_sharded(mesh, axis, rank, rank ? rank - 1 : 0, where);
}

const Layout::Impl &Layout::contents() const {
  if (!impl)
    layoutError("expected a layout, got an empty one: make it from specs "
                "and a mesh; one that was moved from is empty, too")
        .raise();
  return *impl;
}

static void requireDim(const Layout &layout, unsigned dim,
                       Layout::Where where) {
  if (dim >= layout.rank())
    layoutError(fmt::format("there is no dim {} in layout {} of rank {}",
                            int(dim), layout.spec_string(), layout.rank()))
        .atLine(where)
        .raise();
}

static void requireRank(const Layout &layout, const Shape &global,
                        Layout::Where where) {
  if (global.size() != layout.rank())
    layoutError(fmt::format("layout {} is for tensors of rank {}, but the "
                            "global shape [{}] has "
                            "rank {}; give one spec per dim",
                            layout.spec_string(), layout.rank(),
                            fmt::join(global, ", "), global.size()))
        .atLine(where)
        .raise();
  if (std::ranges::any_of(global, [](int64_t extent) { return extent < 0; }))
    layoutError(
        fmt::format("expected extents of at least 0, got the global shape [{}]",
                    fmt::join(global, ", ")))
        .atLine(where)
        .raise();
}

const Mesh &Layout::mesh() const {
  return contents().mesh;
}

Layout Layout::placed_on(const DeviceAssignment &assignment,
                         Where where) const {
  Mesh placed = mesh().placed_on(assignment, where);
  if (placed == mesh())
    return *this;
  return get(std::move(placed), contents().dims, contents().partial)
      .value_or_throw(where);
}
unsigned Layout::rank() const {
  return unsigned(contents().dims.size());
}
std::span<const unsigned> Layout::axes(unsigned dim, Where where) const {
  requireDim(*this, dim, where);
  return contents().dims[dim];
}
const Layout::DimAxes &Layout::dim_axes() const {
  return contents().dims;
}
std::span<const Partial> Layout::partial() const {
  return contents().partial;
}
bool Layout::is_fully_replicated() const {
  return contents().replicated;
}
size_t Layout::hash() const {
  return impl ? impl->hash : 0;
}

bool Layout::operator==(const Layout &other) const {
  return impl == other.impl ||
         (impl && other.impl && impl->hash == other.impl->hash &&
          impl->mesh == other.impl->mesh && impl->dims == other.impl->dims &&
          impl->partial == other.impl->partial);
}

std::vector<DimSpec> Layout::sharding_specs() const {
  std::vector<DimSpec> specs;
  for (const auto &axes : contents().dims) {
    std::vector<std::string> names;
    names.reserve(axes.size());
    for (unsigned axis : axes)
      names.push_back(mesh().axes()[axis].name);
    specs.push_back(Axes(std::move(names)));
  }
  return specs;
}

int64_t Layout::num_shards(unsigned dim, Where where) const {
  requireDim(*this, dim, where);
  int64_t shards = 1;
  for (unsigned axis : contents().dims[dim])
    shards *= mesh().axis_size(axis);
  return shards;
}

bool Layout::uses_axis(unsigned axis) const {
  for (const auto &axes : contents().dims)
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      return true;
  return std::any_of(contents().partial.begin(), contents().partial.end(),
                     [&](const Partial &p) { return p.axis == axis; });
}

Layout Layout::remove(std::vector<unsigned> dims, Where where) const {
  DimAxes remaining;
  for (unsigned dim : dims)
    requireDim(*this, dim, where);
  for (unsigned d = 0; d < rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      remaining.push_back(contents().dims[d]);
  return get(mesh(), std::move(remaining), contents().partial)
      .value_or_throw(where);
}

Layout Layout::with_dim(unsigned dim, std::vector<unsigned> axes,
                        Where where) const {
  requireDim(*this, dim, where);
  DimAxes dims = contents().dims;
  dims[dim] = std::move(axes);
  return get(mesh(), std::move(dims), contents().partial).value_or_throw(where);
}

Layout Layout::with_partial(std::vector<Partial> partial, Where where) const {
  if (partial.empty() && contents().partial.empty())
    return *this;
  return get(mesh(), contents().dims, std::move(partial)).value_or_throw(where);
}

Shape Layout::local_shape(const Shape &global, Where where) const {
  requireRank(*this, global, where);
  Shape local = global;
  for (unsigned d = 0; d < rank(); ++d)
    for (unsigned axis : contents().dims[d]) {
      int64_t size = mesh().axis_size(axis);
      local[d] = blockOf(local[d], size);
    }
  return local;
}

Box Layout::shard(const Shape &global, int64_t device, Where where) const {
  requireRank(*this, global, where);
  Box box = Box::whole(global);
  if (contents().replicated)
    return box;
  std::vector<int64_t> coords = mesh().coords(device, where);
  for (unsigned d = 0; d < rank(); ++d)
    for (unsigned axis : contents().dims[d])
      takeBlock(box.offset[d], box.extent[d], mesh().axis_size(axis),
                coords[axis]);
  return box;
}

std::vector<std::vector<int64_t>> Layout::offset_to_shard() const {
  std::vector<std::vector<int64_t>> shards;
  for (int64_t device = 0; device < mesh().size(); ++device) {
    std::vector<int64_t> coords = mesh().coords(device), index(rank());
    for (unsigned d = 0; d < rank(); ++d)
      for (unsigned axis : contents().dims[d])
        index[d] = index[d] * mesh().axis_size(axis) + coords[axis];
    shards.push_back(std::move(index));
  }
  return shards;
}

bool Layout::is_even(const Shape &global, Where where) const {
  requireRank(*this, global, where);
  for (unsigned d = 0; d < rank(); ++d)
    if (global[d] % num_shards(d) != 0)
      return false;
  return true;
}

std::ostream &operator<<(std::ostream &out, const Layout &layout) {
  if (!layout.defined())
    return out << "empty layout";
  return out << layout.spec_string() << " on " << layout.mesh();
}

} // namespace meshloom
