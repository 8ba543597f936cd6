// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Into and out of maps over the axes of a mesh, see Blocks.h.
#include "meshloom/Lanes/Blocks.h"

using namespace meshloom;
using namespace meshloom::lanes;

Value lanes::toBlocks(LaneBuilder &b, Value value, AxesPerDim perDim) {
  // Each dim as [its axes..., rest]; then all axes to the front.
  SmallVector<int64_t> cut, axesFirst, innerDims;
  SmallVector<unsigned> axes;
  for (auto [size, itsAxes] : llvm::zip_equal(b.shapeOf(value), perDim)) {
    int64_t part = size;
    for (unsigned axis : itsAxes) {
      axesFirst.push_back(int64_t(cut.size()));
      axes.push_back(axis);
      cut.push_back(b.extentOf(axis));
      part /= b.extentOf(axis);
    }
    innerDims.push_back(int64_t(cut.size()));
    cut.push_back(part);
  }
  if (axes.empty())
    return value;
  llvm::append_range(axesFirst, innerDims);
  return b.hide(b.transpose(b.reshape(value, cut), axesFirst), axes);
}

Value lanes::fromBlocks(LaneBuilder &b, Value value, AxesPerDim perDim,
                        ArrayRef<unsigned> manual, ArrayRef<int64_t> shape) {
  SmallVector<unsigned> axes;
  for (ArrayRef<unsigned> itsAxes : perDim)
    llvm::append_range(axes, itsAxes);
  for (unsigned axis : Lanes(b.lanesOf(value))) {
    if (!contains(manual, axis) || contains(axes, axis))
      continue;
    SmallVector<int64_t> local = b.shapeOf(value);
    value = b.reshape(b.sliceDim(b.expose(value, axis), 0, 0, 1), local);
  }
  if (axes.empty())
    return value;
  value = b.expose(value, axes);
  SmallVector<int64_t> order;
  int64_t nextAxis = 0, nextDim = int64_t(axes.size());
  for (ArrayRef<unsigned> itsAxes : perDim) {
    for (size_t i = 0; i < itsAxes.size(); ++i)
      order.push_back(nextAxis++);
    order.push_back(nextDim++);
  }
  return b.reshape(b.transpose(value, order), shape);
}

dtensor::Wish lanes::openWish(LaneBuilder &b, Value value) {
  ArrayRef<unsigned> lanes = b.lanesOf(value);
  size_t rank = lanes.size() + size_t(b.rankOf(value));
  Layout::DimAxes dims(rank);
  for (auto [i, lane] : llvm::enumerate(lanes))
    dims[i] = {lane};
  dtensor::Wish wish{*Layout::get(b.getMesh().getMesh(), std::move(dims))};
  wish.open.assign(rank, true);
  return wish;
}

Value lanes::asWritten(LaneBuilder &b, Value value, ArrayRef<unsigned> axes) {
  Lanes lanes(b.lanesOf(value));
  if (axes.empty() && lanes.empty())
    return value;
  dtensor::Wish wish = openWish(b, value);
  for (unsigned axis : axes)
    if (!contains(lanes, axis))
      wish.replicated.push_back(axis);
  wish.released = true;
  return b.note(dtensor::addWish(b, b.getLoc(), value, wish), lanes);
}
