// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes merged work apart again: chunks against the devices' own boxes.
#include "Parts.h"

#include "meshloom/Runtime/Plan/StepProfile.h"
#include "meshloom/Runtime/Plan/Steps.h"

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;

namespace {
/// Returns the part of the work's iteration space that each device runs.
std::vector<Box> boxesOf(const Program &program, const StepGraph &graph,
                         const Work &work) {
  const std::vector<Loop> *loops =
      work.kind == Work::Kind::Kernel || work.kind == Work::Kind::Dot
          ? plan::loopsOf(program.steps[work.step])
          : nullptr;
  // The loops of a reduction or copy are the dims of what it writes.
  const BufferDecl &written =
      program.buffers[graph.buffers[work.accesses.back().buffer].decl];
  const Shape &origin =
      loops ? work.begin : graph.buffers[work.accesses.back().buffer].origin;
  std::vector<Box> boxes;
  boxes.reserve(size_t(program.mesh.size()));
  for (int64_t device = 0; device < program.mesh.size(); ++device) {
    Box &box =
        boxes.emplace_back(loops ? iterationBox(*loops, program.mesh, device)
                                 : written.box(device));
    for (size_t d = 0; d < origin.size(); ++d)
      box.offset[d] -= origin[d];
  }
  return boxes;
}

bool meet(const Box &box, std::span<const int64_t> begin,
          std::span<const int64_t> extent) {
  for (size_t d = 0; d < box.offset.size(); ++d)
    if (Interval{box.offset[d], box.offset[d] + box.extent[d]}
            .intersect({begin[d], begin[d] + extent[d]})
            .empty())
      return false;
  return true;
}

/// The boxes of the iteration space that chunk `c` runs.
std::vector<Box> chunkBoxes(const Work &work, const Item &item, int64_t chunks,
                            int64_t c) {
  std::vector<Box> boxes;
  const Interval instances = item.instances(work, chunks, c);
  for (int64_t i = instances.begin; i < instances.end; ++i) {
    Box &box = boxes.emplace_back(
        work.instances.empty()
            ? Box{Shape(work.extents.size(), 0), work.extents}
            : Box{work.instances[size_t(i)].begin,
                  work.instances[size_t(i)].extent});
    item.narrow(work, chunks, c, box.offset, box.extent);
  }
  return boxes;
}
} // namespace

std::vector<Part> cpu::partsOf(const Program &program, const StepGraph &graph,
                               const Item &item, int64_t chunks) {
  const Work &work = graph.works[item.work];
  const std::vector<Box> devices = boxesOf(program, graph, work);
  std::vector<Part> parts(static_cast<size_t>(chunks));
  if (work.isExchange())
    return parts;
  std::vector<Interval> touched;
  for (int64_t c = 0; c < chunks; ++c) {
    Part &part = parts[size_t(c)];
    const std::vector<Box> boxes = chunkBoxes(work, item, chunks, c);
    for (size_t b = 0; b < boxes.size(); ++b) {
      if (work.kind == Work::Kind::Reduce)
        part.flops +=
            elementCount(boxes[b].extent) *
            std::max<int64_t>(
                0,
                int64_t(
                    work.addends[std::min(b, work.addends.size() - 1)].size()) -
                    1);
      else
        part.flops += plan::flopsOf(program.steps[work.step], boxes[b].extent);
    }
    for (size_t device = 0; device < devices.size(); ++device)
      if (std::ranges::any_of(boxes, [&](const Box &box) {
            return meet(devices[device], box.offset, box.extent);
          }))
        part.devices.push_back(int64_t(device));
    for (unsigned a = 0; a < work.accesses.size(); ++a) {
      const Access &access = work.accesses[a];
      const GraphBuffer &buffer = graph.buffers[access.buffer];
      touched.assign(buffer.shape.size() + 1, {});
      touchedBox(graph, item, chunks, c, a, touched);
      int64_t bytes = int64_t(byteWidth(buffer.type));
      for (const Interval &interval : touched)
        bytes *= interval.size();
      part.bytes += bytes * (int64_t(access.reads) + int64_t(access.writes));
    }
  }
  return parts;
}
