// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives: their kinds, what they do to a layout, and what they send.
#pragma once

#include "meshloom/Core/Layout.h"

namespace meshloom {

enum class CollectiveKind : uint8_t {
  AllReduce,     ///< partial over axes -> not partial
  AllGather,     ///< drops the minor axes of dims
  ReduceScatter, ///< partial over an axis -> minor axis of a dim
  AllToAll,      ///< minor axes of some dims become minor axes of others
  Permute,       ///< any shards, on other devices or cut another way
  Slice,         ///< adds minor axes to dims; local, sends nothing
  HaloExchange   ///< the same layout; devices get their windows of dims
};
/// "all_reduce", "all_gather", ...
std::string_view name(CollectiveKind kind);
std::optional<CollectiveKind> parseCollectiveKind(std::string_view name);

/// One collective of a plan: everything that follows is read off the layouts.
struct CollectiveOp {
  CollectiveKind kind;
  /// Mesh axes it runs over (devices that differ only there form a group).
  std::vector<unsigned> axes;
  Layout from, to;
  bool operator==(const CollectiveOp &) const = default;
};

/// Devices in one group of a collective over `axes`.
int64_t groupSize(const Mesh &mesh, std::span<const unsigned> axes);

/// The bytes that `op` is counted by, where the largest shard takes `before`
/// and then `after` bytes: those after. The devices of a permute can have
/// more to send than they get: an element on h devices that k want is sent k/h
/// times by each, so that nobody sends more than `before` k/h.
int64_t countedBytes(const CollectiveOp &op, int64_t before, int64_t after);

/// Bytes one device sends by the ring algorithm, for a group of g and counted
/// bytes on one device: all_gather and all_to_all (g-1)/g, reduce_scatter g-1,
/// all_reduce 2(g-1)/g, permute 1, slice 0 (rounded up). A halo exchange counts
/// the bytes that move: see HaloTraffic.
int64_t bytesSent(CollectiveKind kind, int64_t countedBytes, int64_t group);

/// Fails, naming axes and dims, where `op.from` -> `op.to` is not what
/// `op.kind` over `op.axes` does.
Status verify(const CollectiveOp &op);

} // namespace meshloom
