// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of results: boxes of elements that lie at regular distances in both
// the source and the result.
#include "KernelParts.h"

#include "llvm/Support/MathExtras.h"

using namespace meshloom;
using namespace meshloom::dtensor;

bool meshloom::isAssembled(Operation *op) {
  auto moves = dyn_cast<IndexMapOpInterface>(op);
  return moves &&
         (moves.getNumSources() != 1 ||
          !llvm::all_of(moves.getIndexMap(0),
                        [](const SourceDim &dim) { return dim.isLinear(); }));
}

/// All of a tensor of shape `shape`, where it is.
static SmallVector<KernelPart::Dim> whole(ArrayRef<int64_t> shape) {
  SmallVector<KernelPart::Dim> dims;
  for (int64_t extent : shape)
    dims.push_back({extent});
  return dims;
}

/// The runs of result indices along one dim that a source's elements at regular
/// distances go to.
static SmallVector<KernelPart::Dim> runsOf(const SourceDim &map, int64_t from,
                                           int64_t to) {
  if (!map.indices) {
    // From the first element that lands in the result to the last one.
    int64_t step = map.divisor, low = -map.offset;
    int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(-low, step));
    int64_t end = std::min(from, llvm::divideCeilSigned(to - low, step));
    if (end <= first)
      return {};
    return {{end - first, first, 1, low + first * step, step}};
  }
  SmallVector<KernelPart::Dim> runs;
  ArrayRef<int64_t> indices = *map.indices;
  for (size_t begin = 0; begin < indices.size();) {
    size_t end = begin + 1;
    if (indices[begin] < 0) {
      begin = end;
      continue;
    }
    int64_t step = 1;
    if (end < indices.size() && indices[end] >= 0)
      step = indices[end] - indices[begin];
    while (end < indices.size() && indices[end] >= 0 &&
           indices[end] - indices[end - 1] == step)
      ++end;
    int64_t extent = int64_t(end - begin);
    runs.push_back(
        {extent, indices[begin], extent > 1 ? step : 1, int64_t(begin), 1});
    begin = end;
  }
  return runs;
}

SmallVector<KernelPart> meshloom::partsOf(Operation *op) {
  auto moves = cast<IndexMapOpInterface>(op);
  SmallVector<int64_t> to = globalShape(op->getResult(0).getType());
  SmallVector<KernelPart> parts;
  Value fill = moves.getFill();
  bool fills = fill != nullptr;
  for (unsigned source = 0; source < moves.getNumSources(); ++source)
    for (const SourceDim &map : moves.getIndexMap(source))
      fills |= map.indices && llvm::is_contained(*map.indices, -1);
  if (fills)
    parts.push_back({fill, true, whole(to)});
  for (unsigned source = 0; source < moves.getNumSources(); ++source) {
    Value value = op->getOperand(source);
    SmallVector<int64_t> from = globalShape(value.getType());
    // Every run of one dim with every run of the others.
    SmallVector<KernelPart> boxes{{value, false, {}}};
    for (auto [dim, map] : llvm::enumerate(moves.getIndexMap(source))) {
      SmallVector<KernelPart> longer;
      for (const KernelPart &box : boxes)
        for (const KernelPart::Dim &run : runsOf(map, from[dim], to[dim])) {
          longer.push_back(box);
          longer.back().dims.push_back(run);
        }
      boxes = std::move(longer);
    }
    llvm::append_range(parts, boxes);
  }
  if (parts.empty()) // nothing is written, by a kernel that says so
    parts.push_back({Value(), true, whole(to)});
  return parts;
}

std::vector<Interval> meshloom::partRanges(const KernelPart::Dim &dim,
                                           int64_t extent,
                                           ArrayRef<unsigned> axes,
                                           const Mesh &mesh) {
  int64_t shards = 1;
  for (unsigned axis : axes)
    shards *= mesh.axis_size(axis);
  auto firstAt = [&](int64_t index) {
    return std::clamp<int64_t>(
        llvm::divideCeilSigned(index - dim.resultBegin, dim.resultStep), 0,
        dim.extent);
  };
  std::vector<Interval> ranges;
  for (int64_t shard = 0; shard < shards; ++shard) {
    Interval block = blockOf(extent, axes, mesh, shard);
    Interval range{firstAt(block.begin), firstAt(block.end)};
    if (range.empty())
      range.end = range.begin;
    ranges.push_back(range);
  }
  return ranges;
}
