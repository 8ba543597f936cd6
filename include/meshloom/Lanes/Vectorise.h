// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vectoriser: what a map computes, as ordinary ops on values that have
// lanes where they differ from place to place.
#pragma once

#include "meshloom/Dialect/DTensor/Map.h"
#include "meshloom/Lanes/LaneBuilder.h"

#include <functional>

namespace meshloom::lanes {

/// A builder whose lanes are the axes of `map`: those of its mesh, or its own
/// by number, or with several regions one for each region's places.
LaneBuilder laneBuilderFor(dtensor::MapOp map);
/// The lane of axis number `axis` for region `part`.
unsigned laneOf(dtensor::MapOp map, unsigned axis, unsigned part = 0);

/// Callbacks by which users of the vectoriser add to it.
struct VectoriserHooks {
  /// A case was made that has attributes beside those of the dialect.
  std::function<void(dtensor::CaseOp op, const LaneBuilder &b)> caseCreated;
  /// Returns the name by which users know a variable.
  std::function<std::string(Value variable)> variableName;
};

/// Builds in front of `map` what its regions yield, region by region; the lanes
/// of the values are `b`'s, which is laneBuilderFor(map). The map stays. Maps
/// inside of it must have gone. Failures are reported.
FailureOr<SmallVector<Value>> vectorise(dtensor::MapOp map, LaneBuilder &b,
                                        const VectoriserHooks &hooks = {});

} // namespace meshloom::lanes
