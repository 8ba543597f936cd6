// Collectives: their kinds, what they do to a layout, and what they send.
#pragma once

#include "meshloom/Core/Layout.h"

namespace meshloom {

enum class CollectiveKind : uint8_t {
  AllReduce,     ///< partial over axes -> not partial
  AllGather,     ///< drops the minor axes of dims
  ReduceScatter, ///< partial over an axis -> minor axis of a dim
  AllToAll,      ///< the minor axis of one dim becomes the minor one of another
  Permute,       ///< as many shards, on other devices or cut another way
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

/// Bytes one device sends by the ring algorithm, for a group of g and a result
/// of `resultBytes` on one device: all_gather and all_to_all (g-1)/g,
/// reduce_scatter g-1, all_reduce 2(g-1)/g, permute 1, slice 0 (rounded up). Of
/// a halo exchange `resultBytes` are those that move: see haloElements. In a
/// permute every device sends its shard once, whole or in pieces: each element
/// is held by as many devices before as after.
int64_t bytesSent(CollectiveKind kind, int64_t resultBytes, int64_t group);

/// Fails, naming axes and dims, where `op.from` -> `op.to` is not what
/// `op.kind` over `op.axes` does.
Status verify(const CollectiveOp &op);

} // namespace meshloom
