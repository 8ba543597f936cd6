// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --dtensor-vectorise-maps: the innermost maps first.
#include "meshloom/Lanes/Passes.h"
#include "meshloom/Lanes/Vectorise.h"

namespace meshloom {

#define GEN_PASS_DEF_VECTORISEMAPS
#include "meshloom/Lanes/Passes.h.inc"

namespace {

LogicalResult replaceMap(dtensor::MapOp map) {
  lanes::LaneBuilder b = lanes::laneBuilderFor(map);
  auto results = lanes::vectorise(map, b);
  if (failed(results))
    return failure();
  b.setInsertionPoint(map);
  unsigned parts = map.getBodies().size(),
           perPart = map.getNumResults() / parts;
  for (auto [i, value] : llvm::enumerate(*results)) {
    SmallVector<unsigned> axisLanes;
    for (unsigned axis = 0; axis < map.getAxes().size(); ++axis)
      axisLanes.push_back(lanes::laneOf(map, axis, unsigned(i) / perPart));
    map.getResult(unsigned(i)).replaceAllUsesWith(b.expose(value, axisLanes));
  }
  map.erase();
  return success();
}

struct VectoriseMapsPass : impl::VectoriseMapsBase<VectoriseMapsPass> {
  void runOnOperation() override {
    SmallVector<dtensor::MapOp> maps;
    getOperation().walk<mlir::WalkOrder::PostOrder>(
        [&](dtensor::MapOp map) { maps.push_back(map); });
    for (dtensor::MapOp map : maps)
      if (failed(replaceMap(map)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace meshloom
