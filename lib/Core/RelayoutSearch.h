// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The search behind planRelayout: its nodes, and what it keeps. The edges are
// in RelayoutEdges.cpp, the search itself in RelayoutPlanner.cpp.
#pragma once

#include "meshloom/Core/RelayoutPlanner.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace meshloom::relayout {

using DimAxes = Layout::DimAxes;
using AxisList = std::vector<unsigned>;

/// Valid by construction: the planner never places an axis twice.
inline Layout layoutOf(const Mesh &mesh, DimAxes dims,
                       std::span<const Partial> partial) {
  auto layout =
      Layout::get(mesh, std::move(dims), {partial.begin(), partial.end()});
  assert(layout && "planner made an invalid layout");
  return *layout;
}

/// The order of paths.
struct Length {
  Cost cost = 0;
  int64_t bytes = 0, collectives = 0, steps = 0;
  auto operator<=>(const Length &) const = default;
  Length operator+(const Length &other) const {
    return {cost + other.cost, bytes + other.bytes,
            collectives + other.collectives, steps + other.steps};
  }
};

inline constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();
inline constexpr Length farthest{noLimit, 0, 0, 0};

/// Axes as characters, each one more than its index.
using AxisText = std::string;

/// A layout as text: the axes of each dim, a '\0' after each; then the pending
/// axes in ascending order (their kind is that of the source). Small ones need
/// no memory of their own.
using Code = std::string;

inline unsigned axisOf(char axis) {
  return unsigned(static_cast<unsigned char>(axis)) - 1;
}
inline char textOf(unsigned axis) {
  return char(axis + 1);
}

class Planner {
public:
  Planner(const Layout &from, const Layout &to, const Shape &global, DType type,
          const MachineModel &machine, const PlanLimits &limits)
      : mesh(from.mesh()), from(from), to(to), global(global), type(type),
        machine(machine), wholeBytes(globalBytes(global, type)),
        elementBytes(byteWidth(type)), start(encode(from)), goal(encode(to)),
        scratch{CollectiveKind::Slice, {}, from, to} {
    for (const MeshAxis &axis : mesh.axes())
      sizes.push_back(axis.size);
    unpack(goal, wanted, wantedPending);
    targetBytes = bytesOf(wanted);
    exhaustive = mesh.rank() <= limits.exactAxes;
    leastLatency = machine.phaseBoundary;
    int64_t slowest = noLimit;
    for (unsigned axis = 0; axis < mesh.rank() && !machine.sharedMemory;
         ++axis) {
      const AxisLink &link = machine.link(mesh, axis);
      leastLatency = axis ? std::min(leastLatency, link.latency) : link.latency;
      fastest = std::max(fastest, link.bytesPerSecond);
      slowest = std::min(slowest, link.bytesPerSecond);
    }
    // Axes that it can pay to slice over: those that the target has, and those
    // that are faster than others; few axes: all.
    for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
      bool isWanted = goal.find(textOf(axis)) != Code::npos &&
                      wantedPending.find(textOf(axis)) == AxisText::npos;
      bool isFast = !machine.sharedMemory &&
                    machine.link(mesh, axis).bytesPerSecond > slowest;
      if (exhaustive || isWanted || isFast)
        sliced.push_back(textOf(axis));
    }
  }

  RelayoutPlan plan(const PlanLimits &limits);

private:
  static constexpr unsigned mostScattered = 4;

  struct Node {
    Length length = farthest;
    const Code *code = nullptr, *before = nullptr;
    CollectiveKind kind = CollectiveKind::Slice; ///< how it was reached
    AxisText axes;
    bool settled = false;
  };
  struct Entry {
    Length key;
    size_t order;
    Node *node;
    bool operator>(const Entry &other) const {
      return std::tie(key, order) > std::tie(other.key, other.order);
    }
  };

  static Code encode(const Layout &layout) {
    Code code;
    for (const AxisList &axes : layout.dim_axes()) {
      for (unsigned axis : axes)
        code.push_back(textOf(axis));
      code.push_back('\0');
    }
    for (Partial pending : layout.partial())
      code.push_back(textOf(pending.axis));
    return code;
  }
  Layout decode(const Code &code) const {
    std::vector<AxisText> texts;
    AxisText pendingAxes;
    unpack(code, texts, pendingAxes);
    DimAxes dimAxes;
    for (const AxisText &text : texts) {
      dimAxes.emplace_back();
      for (char axis : text)
        dimAxes.back().push_back(axisOf(axis));
    }
    std::vector<Partial> partial;
    for (char axis : pendingAxes)
      partial.push_back({axisOf(axis), from.partial().front().kind});
    return layoutOf(mesh, std::move(dimAxes), partial);
  }
  void unpack(const Code &code, std::vector<AxisText> &axes,
              AxisText &pendingAxes) const {
    axes.resize(global.size());
    size_t position = 0;
    for (AxisText &text : axes) {
      size_t end = code.find('\0', position);
      text.assign(code, position, end - position);
      position = end + 1;
    }
    pendingAxes.assign(code, position);
  }
  int64_t sizeOf(char axis) const { return sizes[axisOf(axis)]; }
  int64_t groupOf(const AxisText &axes) const {
    int64_t size = 1;
    for (char axis : axes)
      size *= sizeOf(axis);
    return size;
  }
  /// Returns the bytes of one device's shard.
  int64_t bytesOf(const std::vector<AxisText> &axes) const {
    int64_t bytes = elementBytes;
    for (size_t dim = 0; dim < axes.size(); ++dim) {
      int64_t extent = global[dim];
      for (char axis : axes[dim])
        extent = (extent + sizeOf(axis) - 1) / sizeOf(axis);
      bytes *= extent;
    }
    return bytes;
  }
  /// Returns a lower bound of the largest shard's bytes, for any layout with as
  /// many shards as `dims`.
  int64_t evenBytes() const {
    int64_t shards = 1;
    for (const AxisText &axes : dims)
      shards *= groupOf(axes);
    return wholeBytes / shards;
  }
  /// Returns a lower bound of the time to move the data of shards of so many
  /// bytes, beside the latency: all of each is sent, or read by a worker.
  Cost leastMove(int64_t bytes) const {
    if (!machine.sharedMemory)
      return timeFor(bytes, fastest);
    const int64_t perWorker =
        (mesh.size() + machine.workers - 1) / machine.workers;
    return timeFor(std::min(wholeBytes, bytes * perWorker),
                   machine.cacheBytesPerSecond);
  }
  /// How many of the dim's axes it has in common with the target, from the
  /// major one on.
  size_t commonAxes(const std::vector<AxisText> &axes, size_t dim) const {
    auto [have, want] = std::mismatch(axes[dim].begin(), axes[dim].end(),
                                      wanted[dim].begin(), wanted[dim].end());
    return size_t(have - axes[dim].begin());
  }

  void expand(Node &node);
  void reductions();
  void scatter(const AxisText &axes, size_t count);
  void scatterTowardsTarget(const AxisText &resolvable);
  void gathers(unsigned dim, const AxisText &gathered);
  void allToAlls();
  void exchanges(unsigned dim, const AxisText &lost);
  void deal(const AxisText &axes, size_t count);
  void permutations();
  void arrange(unsigned dim, const AxisText &free, int64_t blocks);
  void tryPermute();
  void slices();

  Length measure(CollectiveKind kind, const AxisText &axes, int64_t counted);
  Cost atLeast() const;
  int64_t misplaced() const;
  void reach(CollectiveKind kind, const AxisText &axes);
  bool search(int64_t mostBytes, size_t mostSettled, bool greedily);
  void add(RelayoutPlan &plan, CollectiveOp op) const;
  RelayoutPlan plainChain() const;
  RelayoutPlan found() const;
  RelayoutPlan searched(const PlanLimits &limits);
  void considerOnePermute(RelayoutPlan &best) const;

  const Mesh &mesh;
  const Layout &from, &to;
  const Shape &global;
  DType type;
  const MachineModel &machine;
  int64_t wholeBytes, elementBytes;
  std::vector<int64_t> sizes; ///< of the mesh's axes
  Code start, goal;
  std::vector<AxisText> wanted;
  AxisText wantedPending;
  int64_t targetBytes = 0;
  Cost leastLatency = 0;
  int64_t fastest = 0; ///< bytes per second
  AxisText sliced;
  bool exhaustive = true;

  // One search.
  std::unordered_map<Code, Node> nodes;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  size_t pushed = 0;
  Length limit = farthest;     ///< of the shortest chain that is known
  int64_t bound = 0;           ///< bytes that a layout may take
  int64_t nextBound = noLimit; ///< the least that was over it
  bool greedy = false, outOfTime = false;

  // The node that is expanded, and the neighbour that is made of it.
  Node *current = nullptr;
  std::vector<AxisText> dims, next;
  AxisText pending, nextPending;
  using Places = std::vector<std::pair<int, int64_t>>;
  Places placesBefore, placesAfter;
  Code reached;
  CollectiveOp scratch; ///< what prices are asked for
  std::unordered_map<AxisText, Layout> pendingLayouts;
};

} // namespace meshloom::relayout
