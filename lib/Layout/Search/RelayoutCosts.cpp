// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prices of relayouts, planned once per kind, and trees of them.
#include "meshloom/Layout/Search/RelayoutCosts.h"

#include <algorithm>
#include <cassert>

namespace meshloom {

/// Thousands of relayouts are compared and few are made: an estimate does. On
/// four axes most chains that are worth it are found within a few layouts.
static PlanLimits limitsFor(const Mesh &mesh) {
  return {.mostSettled = mesh.rank() < 4 ? 128u : 32u, .exactAxes = 2};
}

/// The collectives of a relayout: where a reduction begins, those before.
static Result<RelayoutPlan> planCollectives(const Layout &from,
                                            const Layout &to,
                                            const Shape &shape, DType type,
                                            const MachineModel &machine,
                                            const PlanLimits &limits) {
  if (from.mesh() == to.mesh() && from.rank() == to.rank() &&
      to.rank() == shape.size() && beginsReduction(from, to))
    return planRelayout(from, beforeBeginning(from, to, shape), shape, type,
                        machine, limits);
  return planRelayout(from, to, shape, type, machine, limits);
}

RelayoutCosts::RelayoutCosts(const Mesh &mesh, const MachineModel &machine)
    : mesh(mesh), machine(machine), planned(PlannedWays::of(mesh, machine)) {
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    unsigned same = 0;
    while (mesh.axis_size(same) != mesh.axis_size(axis) ||
           !(machine.link(mesh, same) == machine.link(mesh, axis)))
      ++same;
    axisClasses.push_back(char(same));
  }
}

bool RelayoutCosts::fits(const MachineModel &other) const {
  return priceCollectivesAlike(machine, other);
}

LayoutId RelayoutCosts::intern(const Layout &layout) {
  auto [entry, isNew] = ids.try_emplace(layout, unsigned(table.size()));
  if (isNew)
    table.push_back(layout);
  return entry->second;
}

TensorKind RelayoutCosts::kindOf(const Shape &shape, DType type) {
  auto [entry, isNew] =
      kindIds.try_emplace({shape, type}, TensorKind(kinds.size()));
  if (isNew) {
    kinds.emplace_back(shape, type);
    bytesOf.emplace_back();
  }
  return entry->second;
}

/// Returns the layouts with each axis replaced by one of its class: the first
/// one for the first axis of the class that appears, and so on.
std::pair<Layout, Layout> RelayoutCosts::renamed(LayoutId from,
                                                 LayoutId to) const {
  std::vector<int> names(axisClasses.size(), -1);
  std::vector<char> isTaken(axisClasses.size());
  auto rename = [&](unsigned axis) {
    if (names[axis] < 0) {
      unsigned name = 0;
      while (isTaken[name] || axisClasses[name] != axisClasses[axis])
        ++name;
      isTaken[name] = 1;
      names[axis] = int(name);
    }
    return unsigned(names[axis]);
  };
  auto renameAll = [&](const Layout &layout) {
    Layout::DimAxes dims = layout.dim_axes();
    for (std::vector<unsigned> &axes : dims)
      std::ranges::transform(axes, axes.begin(), rename);
    std::vector<Partial> pending(layout.partial().begin(),
                                 layout.partial().end());
    for (Partial &partial : pending)
      partial.axis = rename(partial.axis);
    return *Layout::get(mesh, std::move(dims), std::move(pending));
  };
  Layout source = renameAll(table[from]);
  return {std::move(source), renameAll(table[to])};
}

/// Returns the shape, the type and the layouts as text.
static std::string patternOf(const Shape &shape, DType type, const Layout &from,
                             const Layout &to) {
  std::string text(1, char(type));
  text.push_back(char(shape.size()));
  for (const int64_t extent : shape)
    text.append(reinterpret_cast<const char *>(&extent), sizeof extent);
  for (const Layout *layout : {&from, &to}) {
    for (const std::vector<unsigned> &axes : layout->dim_axes()) {
      for (unsigned axis : axes)
        text.push_back(char(1 + axis));
      text.push_back('\0');
    }
    for (Partial pending : layout->partial()) {
      text.push_back(char(1 + pending.axis));
      text.push_back(char(pending.kind));
    }
    text.push_back('\0');
  }
  return text;
}

const RelayoutCosts::Way *RelayoutCosts::way(TensorKind kind, LayoutId from,
                                             LayoutId to) {
  int &found = wayOf[key(kind, from, to)];
  if (found == -1) {
    const auto &[shape, type] = kinds[kind];
    const auto [source, target] = renamed(from, to);
    const auto way = planned->find(
        patternOf(shape, type, source, target), [&]() -> std::optional<Way> {
          auto plan = planCollectives(source, target, shape, type, machine,
                                      limitsFor(mesh));
          if (!plan)
            return std::nullopt;
          return Way{plan->cost, plan->overhead, plan->collectives(),
                     plan->reduces(),
                     plan->steps.size() == 1 &&
                         plan->steps[0].kind == CollectiveKind::AllReduce};
        });
    found = way ? int(ways.size()) : -2;
    if (way)
      ways.push_back(*way);
  }
  return found < 0 ? nullptr : &ways[found];
}

const RelayoutPlan *RelayoutCosts::plan(TensorKind kind, LayoutId from,
                                        LayoutId to) {
  auto [entry, isNew] = plans.try_emplace(key(kind, from, to));
  const auto &[shape, type] = kinds[kind];
  if (isNew)
    if (auto plan = planCollectives(table[from], table[to], shape, type,
                                    machine, limitsFor(mesh)))
      entry->second = std::move(*plan);
  return entry->second ? &*entry->second : nullptr;
}

bool RelayoutCosts::tree(TensorKind kind, std::span<const LayoutId> have,
                         std::span<const LayoutId> targets,
                         std::vector<Edge> &result) {
  assert(!have.empty() && "a value is there in some layout");
  // Returns the best layout to compute `to` from, among those that the value
  // has.
  auto fromHave = [&](LayoutId to) -> Edge {
    Edge best{have[0], to, way(kind, have[0], to)};
    for (LayoutId from : have.subspan(1))
      if (const Way *candidate = way(kind, from, to);
          candidate && (!best.way || candidate->price() < best.way->price()))
        best = {from, to, candidate};
    return best;
  };
  if (targets.empty())
    return true;
  // Nearly always there is one.
  if (targets.size() == 1) {
    Edge edge = fromHave(targets[0]);
    if (edge.way)
      result.push_back(edge);
    return edge.way;
  }
  treeKey.assign({kind, unsigned(have.size())});
  treeKey.insert(treeKey.end(), have.begin(), have.end());
  treeKey.insert(treeKey.end(), targets.begin(), targets.end());
  auto [tree, isNew] = trees.try_emplace(treeKey);
  std::vector<Edge> &planned = tree->second;
  if (!isNew) {
    result.insert(result.end(), planned.begin(), planned.end());
    return !planned.empty();
  }
  auto edgeOf = [&](int source, unsigned target) -> Edge {
    if (source < 0)
      return fromHave(targets[target]);
    return {targets[source], targets[target],
            way(kind, targets[source], targets[target])};
  };
  auto edges = cheapestTree(
      unsigned(targets.size()),
      [&](int source, unsigned target) -> std::optional<TreePrice> {
        const Way *candidate = edgeOf(source, target).way;
        return candidate ? std::optional(candidate->price()) : std::nullopt;
      });
  if (!edges)
    return false;
  for (TreeEdge edge : *edges)
    planned.push_back(edgeOf(edge.source, edge.target));
  result.insert(result.end(), planned.begin(), planned.end());
  return true;
}

/// Bytes of all distinct shards together.
static int64_t distinctBytes(const Layout &layout, const Shape &shape,
                             DType type) {
  int64_t bytes = globalBytes(shape, type);
  for (Partial pending : layout.partial())
    bytes *= layout.mesh().axis_size(pending.axis);
  return bytes;
}

const RelayoutCosts::Bytes &RelayoutCosts::bytes(TensorKind kind, LayoutId id) {
  std::vector<Bytes> &sizes = bytesOf[kind];
  if (sizes.size() <= id)
    sizes.resize(id + 1);
  if (sizes[id].local < 0) {
    const auto &[shape, type] = kinds[kind];
    sizes[id] = {localBytes(table[id], shape, type),
                 distinctBytes(table[id], shape, type)};
  }
  return sizes[id];
}

} // namespace meshloom
