// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A map being traced: its region or regions, and what becomes of them when the
// function has returned.
#pragma once

#include "meshloom/Engine/OpCall.h"

#include "meshloom/API/ShardMap.h"
#include "meshloom/Dialect/DTensor/Map.h"
#include "meshloom/Lanes/LaneBuilder.h"

namespace meshloom::detail {

/// The axis and the arguments of a map.
struct PlaceMap {
  std::string op; ///< for messages
  std::vector<MappedAxis> axes;
  std::optional<Mesh> mesh = std::nullopt;
  /// For each region the places that it runs at; none: one region for all.
  std::vector<std::vector<int64_t>> members = {};
  /// The inputs of all regions, with their lanes as leading dims.
  SmallVector<Value> inputs = {};
  /// For each input the axes, by number, that it has lanes for.
  std::vector<std::vector<int64_t>> lanes = {};
};

/// The values that the regions yield, region by region, as values with lanes of
/// `builder`.
struct PlaceResults {
  lanes::LaneBuilder builder;
  SmallVector<Value> values;
};

/// Traces `body` once for each region, and makes ordinary ops of it at the end
/// of `trace`. `entering(region)` may change the axes that collectives see.
PlaceResults traceMap(Trace &trace, const PlaceMap &map, const PlaceBody &body,
                      const std::function<void(size_t region)> &entering,
                      const std::source_location &where);

/// A builder at the end of `trace` for values without lanes.
lanes::LaneBuilder builderAt(Trace &trace, const std::source_location &where);

} // namespace meshloom::detail
