// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roles of mesh axes, and the layouts that follow from them.
#include "meshloom/Layout/Search/LayoutStarts.h"

#include <algorithm>
#include <optional>

namespace meshloom {

namespace {
/// The dims that one mesh axis cuts. `LargestFirst` and `LargestLast` are the
/// first and the last one of the dims that are largest; `TensorParallel` is the
/// argument's own.
struct Role {
  enum Dim { None, First, Last, LargestFirst, LargestLast, TensorParallel };
  Dim inputs = None, weights = None, moments = None;
  bool operator==(const Role &) const = default;

  Dim dimOf(OpenArgument::Kind kind) const {
    switch (kind) {
    case OpenArgument::Kind::Weight:
      return weights;
    case OpenArgument::Kind::Moment:
      return moments;
    case OpenArgument::Kind::Input:
      break;
    }
    return inputs;
  }
};
} // namespace

static std::vector<Role> possibleRoles(std::span<const OpenArgument> list) {
  using Kind = OpenArgument::Kind;
  auto has = [&](Kind kind) {
    return std::ranges::count(list, kind, &OpenArgument::kind) > 0;
  };
  std::vector<Role> roles{{}};
  if (has(Kind::Input))
    roles.push_back({.inputs = Role::First});
  if (!has(Kind::Weight)) {
    roles.push_back({.inputs = Role::Last});
    return roles;
  }
  for (Role::Dim dim : {Role::LargestFirst, Role::LargestLast}) {
    roles.push_back({.weights = dim, .moments = dim});
    if (has(Kind::Input))
      roles.push_back({.inputs = Role::First, .weights = dim, .moments = dim});
  }
  if (has(Kind::Moment))
    roles.push_back({.inputs = Role::First, .moments = Role::LargestFirst});
  if (std::ranges::any_of(list, [](const OpenArgument &argument) {
        return argument.tensorParallelDim.has_value();
      }))
    roles.push_back(
        {.weights = Role::TensorParallel, .moments = Role::TensorParallel});
  return roles;
}

/// Returns which role each axis has, in each start.
static std::vector<std::vector<Role>>
assignments(const std::vector<Role> &roles, unsigned axes) {
  constexpr unsigned fewAxes = 2;
  std::vector<std::vector<Role>> list;
  if (axes > fewAxes) {
    for (const Role &role : roles)
      list.emplace_back(axes, role);
    for (unsigned axis = 0; axis < axes; ++axis)
      for (const Role &most : roles)
        for (const Role &role : roles)
          if (!(role == most) && (role == roles[0] || most == roles[0])) {
            list.emplace_back(axes, most);
            list.back()[axis] = role;
          }
    return list;
  }
  list.emplace_back();
  for (unsigned axis = 0; axis < axes; ++axis) {
    std::vector<std::vector<Role>> longer;
    for (const std::vector<Role> &shorter : list)
      for (const Role &role : roles) {
        longer.push_back(shorter);
        longer.back().push_back(role);
      }
    list = std::move(longer);
  }
  return list;
}

/// Returns the dim that an axis of `size` devices cuts further, where `parts`
/// has how many parts each dim is in.
static std::optional<size_t> dimFor(Role::Dim wanted,
                                    const OpenArgument &argument,
                                    std::span<const int64_t> parts,
                                    int64_t size) {
  const Shape &shape = argument.shape;
  std::optional<size_t> found;
  for (size_t dim = 0; dim < shape.size() && wanted != Role::None; ++dim) {
    if (wanted == Role::TensorParallel && argument.tensorParallelDim != dim)
      continue;
    const bool divides =
        shape[dim] > 0 && shape[dim] % (parts[dim] * size) == 0;
    const int64_t part = shape[dim] / parts[dim];
    const int64_t before = found ? shape[*found] / parts[*found] : 0;
    const bool better = !found || wanted == Role::Last ||
                        (wanted == Role::LargestFirst && part > before) ||
                        (wanted == Role::LargestLast && part >= before);
    if (divides && better)
      found = dim;
  }
  return found;
}

static Layout layoutBy(std::span<const Role> roles, const Mesh &mesh,
                       const OpenArgument &argument) {
  Layout::DimAxes dims(argument.shape.size());
  std::vector<int64_t> parts(argument.shape.size(), 1);
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    const int64_t size = mesh.axes()[axis].size;
    if (auto dim =
            dimFor(roles[axis].dimOf(argument.kind), argument, parts, size)) {
      dims[*dim].push_back(axis);
      parts[*dim] *= size;
    }
  }
  return *Layout::get(mesh, std::move(dims));
}

std::vector<Mesh> meshesOfDevices(int64_t devices) {
  constexpr size_t mostMeshes = 12;
  std::vector<Mesh> meshes{*Mesh::get({{"x", devices}})};
  for (int64_t minor = 2; minor < devices && meshes.size() < mostMeshes;
       ++minor)
    if (devices % minor == 0)
      meshes.push_back(*Mesh::get({{"x", devices / minor}, {"y", minor}}));
  return meshes;
}

std::vector<std::vector<Layout>>
layoutStarts(const Mesh &mesh, std::span<const OpenArgument> arguments) {
  std::vector<std::vector<Layout>> starts;
  for (const std::vector<Role> &roles :
       assignments(possibleRoles(arguments), mesh.rank())) {
    std::vector<Layout> start;
    start.reserve(arguments.size());
    for (const OpenArgument &argument : arguments)
      start.push_back(layoutBy(roles, mesh, argument));
    if (std::ranges::find(starts, start) == starts.end())
      starts.push_back(std::move(start));
  }
  return starts;
}

} // namespace meshloom
