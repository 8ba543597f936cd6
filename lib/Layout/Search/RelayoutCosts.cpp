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
    : mesh(mesh), machine(machine) {
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    unsigned same = 0;
    while (mesh.axis_size(same) != mesh.axis_size(axis) ||
           !(machine.link(mesh, same) == machine.link(mesh, axis)))
      ++same;
    axisClasses.push_back(char(same));
  }
}

bool RelayoutCosts::fits(const MachineModel &other) const {
  if (machine == other)
    return true;
  // With links, only links count.
  return !machine.sharedMemory && !other.sharedMemory &&
         machine.defaultLink == other.defaultLink &&
         machine.links == other.links && machine.torus == other.torus;
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

RelayoutCosts::Table::Slot &RelayoutCosts::Table::find(uint64_t key) {
  size_t place = (key * 0x9e3779b97f4a7c15u) >> 20;
  while (true) {
    Slot &slot = slots[place & (slots.size() - 1)];
    if (slot.key == key || slot.key == ~uint64_t(0))
      return slot;
    ++place;
  }
}

int &RelayoutCosts::Table::operator[](uint64_t key) {
  Slot *slot = &find(key);
  if (slot->key == key)
    return slot->value;
  if (2 * ++used > slots.size()) {
    std::vector<Slot> old(2 * slots.size());
    std::swap(old, slots);
    for (const Slot &slot : old)
      if (slot.key != ~uint64_t(0))
        find(slot.key) = slot;
    slot = &find(key);
  }
  slot->key = key;
  return slot->value;
}

/// The two layouts with each axis as its class and its place among those of the
/// class, by first appearance.
std::string RelayoutCosts::pattern(TensorKind kind, LayoutId from,
                                   LayoutId to) const {
  std::string text(1, char(kind & 127));
  text.push_back(char(kind >> 7));
  std::vector<int> places(axisClasses.size(), -1);
  std::vector<int> seen(axisClasses.size(), 0); ///< per class
  auto add = [&](unsigned axis) {
    unsigned axisClass = unsigned(axisClasses[axis]);
    if (places[axis] < 0)
      places[axis] = seen[axisClass]++;
    text.push_back(char(1 + axisClass));
    text.push_back(char(1 + places[axis]));
  };
  for (LayoutId id : {from, to}) {
    const Layout &layout = table[id];
    for (const std::vector<unsigned> &axes : layout.dim_axes()) {
      for (unsigned axis : axes)
        add(axis);
      text.push_back('\0');
    }
    for (Partial pending : layout.partial()) {
      add(pending.axis);
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
    auto [entry, isNew] = wayOfPattern.try_emplace(pattern(kind, from, to), -2);
    const auto &[shape, type] = kinds[kind];
    if (isNew)
      if (auto plan = planCollectives(table[from], table[to], shape, type,
                                      machine, limitsFor(mesh))) {
        entry->second = int(ways.size());
        ways.push_back({plan->cost, plan->overhead, plan->collectives(),
                        plan->reduces(),
                        plan->steps.size() == 1 &&
                            plan->steps[0].kind == CollectiveKind::AllReduce});
      }
    found = entry->second;
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
