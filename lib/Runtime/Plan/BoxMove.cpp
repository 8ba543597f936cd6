// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every element of a target shard lies in one block of each source dim; which
// device holds that block follows from the dim's axes, and on all other axes
// the device itself is nearest.
#include "meshloom/Runtime/Plan/BoxMove.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Combine.h"

#include <algorithm>
#include <cstring>

using namespace meshloom;
using namespace meshloom::plan;

BoxMove::BoxMove(const Program &program, const CollectiveStep &step,
                 const CollectiveStep::Move &move)
    : from(move.from), to(move.to),
      localBytes(program.buffers[move.to].localBytes()),
      source(program.buffers[move.from]), result(program.buffers[move.to]),
      mesh(program.mesh), reduces(step.kind == CollectiveKind::AllReduce ||
                                  step.kind == CollectiveKind::ReduceScatter),
      kind(step.reduce), sourceLocal(source.layout.local_shape(source.shape)),
      resultLocal(result.localShape()) {
  for (const Partial &partial : source.layout.partial()) {
    auto resultPartial = result.layout.partial();
    if (std::find(resultPartial.begin(), resultPartial.end(), partial) ==
        resultPartial.end())
      reducedAxes.push_back(partial.axis);
  }
  if (step.kind == CollectiveKind::AllReduce)
    sharedAxes = reducedAxes;

  for (unsigned dim = 0; dim < source.shape.size(); ++dim) {
    std::span<const unsigned> axes = source.layout.axes(dim);
    std::vector<Block> found;
    std::vector<int64_t> coords(mesh.rank(), 0);
    for (int64_t i = 0; i < source.layout.num_shards(dim); ++i) {
      int64_t remainder = i;
      Block block{0, 0, std::vector<int64_t>(axes.size())};
      for (size_t a = axes.size(); a-- > 0;) {
        block.coords[a] = coords[axes[a]] = remainder % mesh.axis_size(axes[a]);
        remainder /= mesh.axis_size(axes[a]);
      }
      const Box box = source.layout.shard(source.shape, mesh.device_at(coords));
      block.begin = box.offset[dim];
      block.end = box.offset[dim] + box.extent[dim];
      if (block.begin < block.end)
        found.push_back(std::move(block));
    }
    std::sort(found.begin(), found.end(),
              [](const Block &a, const Block &b) { return a.begin < b.begin; });
    blocks.push_back(std::move(found));
  }
}

int64_t BoxMove::sameAs(int64_t device) const {
  if (sharedAxes.empty())
    return -1;
  std::vector<int64_t> coords = mesh.coords(device);
  for (unsigned axis : sharedAxes)
    coords[axis] = 0;
  const int64_t first = mesh.device_at(coords);
  return first == device ? -1 : first;
}

void BoxMove::fill(int64_t device, const Memory &memory, char *into) const {
  const Box target = result.box(device);
  if (target.empty())
    return;
  std::vector<int64_t> coords = mesh.coords(device);
  Box piece = target;
  fillPieces(coords, piece, 0, memory, into, target);
}

void BoxMove::fillPieces(std::vector<int64_t> &coords, Box &piece, unsigned dim,
                         const Memory &memory, char *into,
                         const Box &target) const {
  if (dim == blocks.size())
    return fillPiece(coords, piece, memory, into, target);
  const int64_t begin = target.offset[dim];
  const int64_t end = begin + target.extent[dim];
  const std::vector<int64_t> before = coords;
  // The first block that ends behind where the target begins.
  auto block =
      std::partition_point(blocks[dim].begin(), blocks[dim].end(),
                           [&](const Block &b) { return b.end <= begin; });
  for (; block != blocks[dim].end() && block->begin < end; ++block) {
    piece.offset[dim] = std::max(begin, block->begin);
    piece.extent[dim] = std::min(end, block->end) - piece.offset[dim];
    std::span<const unsigned> axes = source.layout.axes(dim);
    for (size_t a = 0; a < axes.size(); ++a)
      coords[axes[a]] = block->coords[a];
    fillPieces(coords, piece, dim + 1, memory, into, target);
    coords = before;
  }
}

void BoxMove::fillPiece(const std::vector<int64_t> &start, const Box &piece,
                        const Memory &memory, char *into,
                        const Box &target) const {
  const unsigned width = byteWidth(source.type);
  std::vector<int64_t> coords = start;
  for (unsigned axis : reducedAxes)
    coords[axis] = 0;
  const int64_t first = mesh.device_at(coords);
  const Box held = source.layout.shard(source.shape, first);
  const ArrayView to{into, {target.offset, resultLocal}};
  const ArrayView origin{memory(first), {held.offset, sourceLocal}};
  if (!reduces || reducedAxes.empty())
    return copyBox(to, origin, piece, width);

  // All addends lie alike in their memories.
  std::vector<const void *> addends;
  while (true) {
    addends.push_back(memory(mesh.device_at(coords)));
    size_t a = reducedAxes.size();
    while (a-- > 0) {
      if (++coords[reducedAxes[a]] < mesh.axis_size(reducedAxes[a]))
        break;
      coords[reducedAxes[a]] = 0;
    }
    if (a == size_t(-1))
      break;
  }
  std::vector<const void *> sources(addends.size());
  forEachRun(to, origin, piece, width,
             [&](char *target, const char *from, int64_t count) {
               for (size_t s = 0; s < sources.size(); ++s)
                 sources[s] = static_cast<const char *>(addends[s]) +
                              (from - origin.data);
               combine(kind, source.type, target, sources, count);
             });
}
