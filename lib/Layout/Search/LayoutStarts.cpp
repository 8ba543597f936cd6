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

namespace {
/// The roles of all axes.
using Assignment = std::vector<Role>;

/// The lists of layouts that were met, each once.
class StartLists {
public:
  StartLists(const Mesh &mesh, std::span<const OpenArgument> arguments)
      : mesh(mesh), arguments(arguments), roles(possibleRoles(arguments)) {
    const Role &cutsNothing = roles.front();
    add(Assignment(mesh.rank(), cutsNothing));
    add(dataParallel());
  }

  /// Returns whether all assignments of roles to the axes are few.
  bool areFew() const {
    constexpr size_t few = 9;
    size_t number = 1;
    for (unsigned axis = 0; axis < mesh.rank() && number <= few; ++axis)
      number *= roles.size();
    return number <= few;
  }
  /// Returns the assignment of the second role to all axes, which is data
  /// parallelism where there are inputs.
  Assignment dataParallel() const {
    return Assignment(mesh.rank(),
                      roles[std::min<size_t>(1, roles.size() - 1)]);
  }
  void addAll(const Assignment &begin = {});
  void descend(const RankStarts &rank);

  std::vector<std::vector<Layout>> lists;

private:
  const std::vector<Layout> &add(const Assignment &assignment);

  const Mesh &mesh;
  const std::span<const OpenArgument> arguments;
  const std::vector<Role> roles;
};
} // namespace

/// Returns the list that an assignment comes to.
const std::vector<Layout> &StartLists::add(const Assignment &assignment) {
  std::vector<Layout> list;
  list.reserve(arguments.size());
  for (const OpenArgument &argument : arguments)
    list.push_back(layoutBy(assignment, mesh, argument));
  const auto found = std::ranges::find(lists, list);
  return found != lists.end() ? *found : lists.emplace_back(std::move(list));
}

/// Adds the lists of all assignments whose first axes have these roles.
void StartLists::addAll(const Assignment &begin) {
  if (begin.size() == mesh.rank()) {
    add(begin);
    return;
  }
  for (const Role &role : roles) {
    Assignment longer = begin;
    longer.push_back(role);
    addAll(longer);
  }
}

/// Both descents go on at the same time, so that `rank` can price the lists of
/// both side by side.
void StartLists::descend(const RankStarts &rank) {
  const unsigned axes = mesh.rank();
  std::vector<Assignment> descents(2, dataParallel());
  for (unsigned step = 0; step < axes; ++step) {
    const unsigned turns[] = {step, axes - 1 - step};
    std::vector<std::vector<Layout>> candidates;
    for (unsigned descent = 0; descent < descents.size(); ++descent)
      for (const Role &role : roles) {
        Assignment assignment = descents[descent];
        assignment[turns[descent]] = role;
        candidates.push_back(add(assignment));
      }
    const std::vector<size_t> places = rank(candidates);
    if (places.empty())
      return;
    auto first = places.begin();
    for (unsigned descent = 0; descent < descents.size(); ++descent) {
      const auto end = first + std::ptrdiff_t(roles.size());
      descents[descent][turns[descent]] =
          roles[size_t(std::min_element(first, end) - first)];
      first = end;
    }
  }
}

std::vector<std::vector<Layout>>
layoutStarts(const Mesh &mesh, std::span<const OpenArgument> arguments,
             const RankStarts &rank) {
  StartLists starts(mesh, arguments);
  if (starts.areFew())
    starts.addAll();
  else
    starts.descend(rank);
  return std::move(starts.lists);
}

} // namespace meshloom
