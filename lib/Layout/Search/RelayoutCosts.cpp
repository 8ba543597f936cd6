// Prices of relayouts, planned once per kind.
#include "meshloom/Layout/Search/RelayoutCosts.h"

#include <algorithm>
#include <map>

namespace meshloom {

/// Thousands of relayouts are compared and few are made: an estimate does. On
/// four axes most chains that are worth it are found within a few layouts.
static PlanLimits limitsFor(const Mesh &mesh) {
  return {.mostSettled = mesh.rank() < 4 ? 128u : 32u, .exactAxes = 2};
}

RelayoutCosts::RelayoutCosts(const LayoutGraph &graph,
                             const MachineModel &machine)
    : graph(graph), machine(machine) {
  std::map<std::pair<Shape, DType>, unsigned> kindOf;
  for (const LayoutGraph::Value &value : graph.values) {
    auto key = std::pair(value.shape, value.type);
    kinds.push_back(
        kindOf.try_emplace(key, unsigned(kindOf.size())).first->second);
  }
  known.resize(kindOf.size());
  const Mesh &mesh = graph.mesh();
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

RelayoutCosts::Table::Slot &RelayoutCosts::Table::find(uint64_t key) {
  size_t at = (key * 0x9e3779b97f4a7c15u) >> 20;
  while (true) {
    Slot &slot = slots[at & (slots.size() - 1)];
    if (slot.key == key || slot.key == ~uint64_t(0))
      return slot;
    ++at;
  }
}

int &RelayoutCosts::Table::operator[](uint64_t key) {
  Slot *slot = &find(key);
  if (slot->key == key)
    return slot->value;
  if (2 * ++used > slots.size()) {
    std::vector<Slot> old(2 * slots.size());
    std::swap(old, slots);
    for (const Slot &each : old)
      if (each.key != ~uint64_t(0))
        find(each.key) = each;
    slot = &find(key);
  }
  slot->key = key;
  return slot->value;
}

/// The two layouts with each axis as its class and its place among those of the
/// class, by first appearance.
std::string RelayoutCosts::pattern(unsigned kind, LayoutId from,
                                   LayoutId to) const {
  std::string text(1, char(kind & 127));
  text.push_back(char(kind >> 7));
  std::vector<int> places(axisClasses.size(), -1);
  std::vector<int> seen(axisClasses.size(), 0); ///< per class
  auto add = [&](unsigned axis) {
    unsigned each = unsigned(axisClasses[axis]);
    if (places[axis] < 0)
      places[axis] = seen[each]++;
    text.push_back(char(1 + each));
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

const RelayoutCosts::Way *RelayoutCosts::way(unsigned value, LayoutId from,
                                             LayoutId to) {
  int &found = wayOf[key(value, from, to)];
  if (found == -1) {
    auto [entry, isNew] =
        wayOfPattern.try_emplace(pattern(kinds[value], from, to), -2);
    const LayoutGraph::Value &what = graph.values[value];
    if (isNew)
      if (auto made =
              planRelayout(table[from], table[to], what.shape, what.type,
                           machine, limitsFor(graph.mesh()))) {
        entry->second = int(ways.size());
        ways.push_back({made->cost, made->overhead, made->collectives(),
                        made->reduces(),
                        made->steps.size() == 1 &&
                            made->steps[0].kind == CollectiveKind::AllReduce});
      }
    found = entry->second;
  }
  return found < 0 ? nullptr : &ways[found];
}

const RelayoutPlan *RelayoutCosts::plan(unsigned value, LayoutId from,
                                        LayoutId to) {
  auto [entry, isNew] = plans.try_emplace(key(value, from, to));
  const LayoutGraph::Value &what = graph.values[value];
  if (isNew)
    if (auto made = planRelayout(table[from], table[to], what.shape, what.type,
                                 machine, limitsFor(graph.mesh())))
      entry->second = std::move(*made);
  return entry->second ? &*entry->second : nullptr;
}

/// Bytes of all distinct shards together.
static int64_t distinctBytes(const Layout &layout, const Shape &shape,
                             DType type) {
  int64_t bytes = globalBytes(shape, type);
  for (Partial pending : layout.partial())
    bytes *= layout.mesh().axis_size(pending.axis);
  return bytes;
}

const RelayoutCosts::Bytes &RelayoutCosts::bytes(unsigned value, LayoutId id) {
  std::vector<Bytes> &all = known[kinds[value]];
  if (all.size() <= id)
    all.resize(id + 1);
  if (all[id].local < 0) {
    const LayoutGraph::Value &what = graph.values[value];
    all[id] = {localBytes(table[id], what.shape, what.type),
               distinctBytes(table[id], what.shape, what.type)};
  }
  return all[id];
}

} // namespace meshloom
