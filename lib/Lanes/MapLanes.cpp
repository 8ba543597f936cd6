// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lanes a map has.
#include "meshloom/Lanes/Vectorise.h"

using namespace meshloom;
using namespace meshloom::lanes;
using dtensor::MapOp;

unsigned lanes::laneOf(MapOp map, unsigned axis, unsigned part) {
  if (map.getMembers())
    return part;
  if (auto mesh = map.getMesh())
    return *mesh->getMesh().axis_index(
        std::string_view(cast<StringAttr>(map.getAxes()[axis]).strref()));
  return axis;
}

LaneBuilder lanes::laneBuilderFor(MapOp map) {
  MLIRContext *context = map.getContext();
  if (auto mesh = map.getMesh())
    return LaneBuilder(context, *mesh);
  if (!map.getMembers())
    return LaneBuilder(context, map.getSizes());
  SmallVector<int64_t> extents;
  for (unsigned part = 0; part < map.getMembers()->size(); ++part)
    extents.push_back(int64_t(map.getMembersOf(part).size()));
  return LaneBuilder(context, extents);
}
