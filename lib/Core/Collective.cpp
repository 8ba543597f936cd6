// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives: names, bytes, and the check that a pair of layouts is what a
// kind of collective over some axes does.
#include "meshloom/Core/Collective.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace meshloom {

static constexpr std::array<std::string_view, 7> names = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
    "permute",    "slice",      "halo_exchange"};

std::string_view name(CollectiveKind kind) {
  return names[size_t(kind)];
}

std::optional<CollectiveKind> parseCollectiveKind(std::string_view text) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == text)
      return CollectiveKind(i);
  return std::nullopt;
}

int64_t groupSize(const Mesh &mesh, std::span<const unsigned> axes) {
  int64_t size = 1;
  for (unsigned axis : axes)
    size *= mesh.axis_size(axis);
  return size;
}

static int64_t shardsOf(const Layout &layout) {
  int64_t shards = 1;
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    shards *= layout.num_shards(dim);
  return shards;
}

int64_t countedBytes(const CollectiveOp &op, int64_t before, int64_t after) {
  if (op.kind != CollectiveKind::Permute)
    return after;
  const __int128 had = shardsOf(op.from), has = shardsOf(op.to);
  return std::max(after, int64_t((before * had + has - 1) / has));
}

int64_t bytesSent(CollectiveKind kind, int64_t countedBytes, int64_t group) {
  // 128 bits: g - 1 times a large tensor does not overflow.
  __int128 bytes = countedBytes, others = group - 1;
  auto share = [&](__int128 total) {
    return int64_t((total + group - 1) / group);
  };
  switch (kind) {
  case CollectiveKind::AllReduce:
    return share(2 * bytes * others);
  case CollectiveKind::AllGather:
  case CollectiveKind::AllToAll:
    return share(bytes * others);
  case CollectiveKind::ReduceScatter:
    return int64_t(bytes * others);
  case CollectiveKind::Permute:
  case CollectiveKind::HaloExchange:
    return group > 1 ? countedBytes : 0;
  case CollectiveKind::Slice:
    return 0;
  }
  return 0;
}

namespace {

using AxisList = std::vector<unsigned>;

bool startsWith(std::span<const unsigned> list,
                std::span<const unsigned> prefix) {
  return list.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), list.begin());
}

AxisList sorted(AxisList axes) {
  std::sort(axes.begin(), axes.end());
  return axes;
}

/// One check of `verify`; holds what its messages need.
struct Checker {
  const CollectiveOp &op;
  const Mesh &mesh = op.from.mesh();

  Error fail(const std::string &why) const {
    return Error(fmt::format("{} over [{}] cannot turn {} into {}: {}",
                             name(op.kind), axisNames(op.axes),
                             op.from.spec_string(), op.to.spec_string(), why));
  }
  std::string axisNames(std::span<const unsigned> axes) const {
    std::string text;
    for (unsigned axis : axes)
      text += (text.empty() ? "" : ", ") + mesh.axes()[axis].name;
    return text;
  }
  bool has(unsigned axis) const {
    return std::find(op.axes.begin(), op.axes.end(), axis) != op.axes.end();
  }

  /// Axes that `longer`'s dims have after `shorter`'s; fails where a dim of
  /// `shorter` is not a prefix.
  Result<AxisList> minorAxes(const Layout &longer,
                             const Layout &shorter) const {
    AxisList extra;
    for (unsigned dim = 0; dim < longer.rank(); ++dim) {
      auto more = longer.axes(dim), fewer = shorter.axes(dim);
      if (!startsWith(more, fewer))
        return fail(
            fmt::format("dim {} must only gain or lose its minor axes", dim));
      extra.insert(extra.end(), more.begin() + fewer.size(), more.end());
    }
    return extra;
  }
  Status sameAxes(const AxisList &moved) const {
    if (sorted(moved) != sorted(op.axes))
      return fail(fmt::format("the axes that change are [{}]",
                              axisNames(sorted(moved))));
    return Success();
  }
  Status samePartial() const {
    if (!std::ranges::equal(op.from.partial(), op.to.partial()))
      return fail("the pending reductions must stay as they are");
    return Success();
  }
  /// `to` is partial as `from`, less exactly the collective's axes, of one
  /// kind.
  Status resolvesPartial() const {
    std::vector<Partial> remaining;
    std::optional<ReduceKind> kind;
    size_t resolved = 0;
    for (Partial partial : op.from.partial()) {
      if (!has(partial.axis)) {
        remaining.push_back(partial);
        continue;
      }
      if (kind && *kind != partial.kind)
        return fail("the axes are partial with different kinds");
      kind = partial.kind;
      ++resolved;
    }
    if (resolved != op.axes.size())
      return fail("the source is not partial over all of these axes");
    if (!std::ranges::equal(remaining, op.to.partial()))
      return fail("it resolves exactly the axes it runs over");
    return Success();
  }

  /// Before and after, a device's box is the same block of the axes that stay,
  /// cut along other dims: so each of g devices has 1/g of what each one wants.
  Status allToAll() const {
    AxisList lost, gained;
    for (unsigned dim = 0; dim < op.from.rank(); ++dim) {
      auto before = op.from.axes(dim), after = op.to.axes(dim);
      bool loses = before.size() > after.size();
      auto longer = loses ? before : after, shorter = loses ? after : before;
      if (!startsWith(longer, shorter))
        return fail(fmt::format(
            "dim {} must keep its axes, or only gain or lose minor ones", dim));
      AxisList &changed = loses ? lost : gained;
      changed.insert(changed.end(), longer.begin() + shorter.size(),
                     longer.end());
    }
    if (sorted(lost) != sorted(gained))
      return fail("an axis that one dim loses must be gained by another dim");
    return sameAxes(lost);
  }

  /// Where an axis sits in a layout: its dim, and how many blocks the axes
  /// before it make there. Two layouts that agree on this cut alike.
  std::optional<std::pair<unsigned, int64_t>> place(const Layout &layout,
                                                    unsigned axis) const {
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      int64_t major = 1;
      for (unsigned other : layout.axes(dim)) {
        if (other == axis)
          return std::pair(dim, major);
        major *= mesh.axis_size(other);
      }
    }
    return std::nullopt;
  }
  Status permute() const {
    for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
      if (has(axis)) {
        if (!place(op.from, axis) && !place(op.to, axis))
          return fail(fmt::format("axis '{}' is in neither layout",
                                  mesh.axes()[axis].name));
      } else if (place(op.from, axis) != place(op.to, axis)) {
        return fail(fmt::format("axis '{}' changes its place too",
                                mesh.axes()[axis].name));
      }
    }
    return Success();
  }

  Status check() const {
    if (op.axes.empty())
      return fail("it needs at least one mesh axis");
    for (unsigned axis : op.axes)
      if (std::count(op.axes.begin(), op.axes.end(), axis) > 1)
        return fail("an axis is named twice");
    auto extra = [&](const Layout &longer, const Layout &shorter) -> Status {
      auto moved = minorAxes(longer, shorter);
      if (!moved)
        return moved.error();
      return sameAxes(*moved);
    };
    Status partial = op.kind == CollectiveKind::AllReduce ||
                             op.kind == CollectiveKind::ReduceScatter
                         ? resolvesPartial()
                         : samePartial();
    if (!partial)
      return partial;
    switch (op.kind) {
    case CollectiveKind::AllReduce:
      if (op.from.dim_axes() != op.to.dim_axes())
        return fail("the dims must stay as they are");
      return Success();
    case CollectiveKind::AllGather:
      return extra(op.from, op.to);
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::Slice:
      return extra(op.to, op.from);
    case CollectiveKind::AllToAll:
      return allToAll();
    case CollectiveKind::Permute:
      return permute();
    case CollectiveKind::HaloExchange:
      return haloExchange();
    }
    return Success();
  }

  /// The windows are not in the layouts: whoever has them checks them.
  Status haloExchange() const {
    if (op.from.dim_axes() != op.to.dim_axes())
      return fail("the dims must stay as they are");
    for (unsigned axis : op.axes)
      if (auto dim = place(op.from, axis); !dim)
        return fail(
            fmt::format("no dim is on axis '{}'", mesh.axes()[axis].name));
    return Success();
  }
};

} // namespace

Status verify(const CollectiveOp &op) {
  if (!(op.from.mesh() == op.to.mesh()))
    return Error(
        fmt::format("{}: the layouts are on different meshes", name(op.kind)));
  if (op.from.rank() != op.to.rank())
    return Error(fmt::format("{}: the layouts have ranks {} and {}",
                             name(op.kind), op.from.rank(), op.to.rank()));
  for (unsigned axis : op.axes)
    if (axis >= op.from.mesh().rank())
      return Error(
          fmt::format("{}: mesh axis {} does not exist", name(op.kind), axis));
  return Checker{op}.check();
}

} // namespace meshloom
