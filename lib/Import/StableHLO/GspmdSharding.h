// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GspmdSharding: the text of an `mhlo.sharding` attribute.
#pragma once

#include "meshloom/Core/MeshUnification.h"

#include <optional>

namespace meshloom::importer {

/// A sharding as XLA's GSPMD writes it: `{devices=[8,1]<=[8]}`,
/// `{devices=[2,1,4]<=[8] last_tile_dim_replicate}`, `{replicated}`,
/// `{manual}`, `{maximal device=0}`, `{unknown}` (nothing is said).
///
/// `devices=[a,b,...]` is a grid of tiles, one dim for each dim of the tensor,
/// then those that `last_tile_dims` describes; what follows lists the device of
/// each tile, row-major: `0,1,...`, or `<=[r,...]T(p,...)`: the numbers 0, 1,
/// ... as an array of shape r, transposed by p. A value whose text ends in
/// `shard_as 3` or `shard_like 3` (`jax.experimental.shard_alike`) is laid out
/// as the other values of group 3 are.
struct GspmdSharding {
  enum class Kind { Replicated, Unknown, Manual, Maximal, Tiled };
  enum class LastDim { Replicated, Manual };
  Kind kind = Kind::Replicated;
  std::vector<int64_t> tiles;
  std::vector<LastDim> lastDims; ///< of the last tile dims
  std::vector<int64_t> devices;  ///< of each tile
  int64_t device = 0;            ///< the only one, of Maximal
  std::optional<int64_t> group;  ///< of `shard_as` or `shard_like`

  /// Number of tile dims that are dims of the tensor.
  size_t rank() const { return tiles.size() - lastDims.size(); }
  /// The tiles as a mesh: axis `i` is called "dim0", "dim1", ...
  SourceMesh mesh(const std::string &text) const;

  static Result<GspmdSharding> parse(std::string_view text);
};

/// The elements of `{{...}, {...}}`; of anything else, itself.
Result<std::vector<std::string>> splitGspmdTuple(std::string_view text);

} // namespace meshloom::importer
