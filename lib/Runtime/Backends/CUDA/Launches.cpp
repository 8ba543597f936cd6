// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call as work for a card: the parts of its iterations, and the launch of a
// kernel or the copies of each.
#include "CUDAExecutable.h"

#include "Launches.h"

#include "meshloom/Runtime/StridedRuns.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

/// Threads of blocks that a multiprocessor runs at one time.
static constexpr int64_t RESIDENT_THREADS = 2048;

unsigned cuda::blocksOf(const KernelShape &shape,
                        std::span<const int64_t> extents, const Card &card) {
  const int64_t most = std::max<int64_t>(
      1, card.multiprocessors() * RESIDENT_THREADS / shape.threads());
  return unsigned(std::min(shape.blocks(extents), most));
}

Status cuda::launchKernel(Commands &commands, const Card &card,
                          const LoadedKernel &kernel,
                          const KernelArguments &arguments) {
  const KernelShape &shape = *kernel.shape;
  std::vector<uint64_t> parameters;
  for (const KernelParameter &parameter : shape.parameters)
    switch (parameter.kind) {
    case KernelParameter::Kind::Pointer:
      parameters.push_back(
          reinterpret_cast<uintptr_t>(arguments.pointers[parameter.operand]));
      break;
    case KernelParameter::Kind::Extent:
      parameters.push_back(uint64_t(arguments.extents[parameter.loop]));
      break;
    case KernelParameter::Kind::Origin:
      parameters.push_back(uint64_t(arguments.origin[parameter.loop]));
      break;
    case KernelParameter::Kind::Stride:
      parameters.push_back(
          uint64_t(arguments.stride(parameter.operand, parameter.loop)));
      break;
    }
  return commands.launch(kernel.function,
                         blocksOf(shape, arguments.extents, card),
                         shape.threads(), parameters);
}

Status
CUDAExecutable::forEachBox(const Call &call,
                           const std::function<Status(Part &)> &body) const {
  const Work &work = *call.work;
  const size_t loops = work.extents.size();
  const size_t parts = std::max<size_t>(work.instances.size(), 1);
  for (size_t i = 0; i < parts; ++i) {
    const Instance *instance =
        work.instances.empty() ? nullptr : &work.instances[i];
    Part part;
    part.instance = i;
    part.begin = instance ? instance->begin : std::vector<int64_t>(loops);
    part.extents = instance ? instance->extent : work.extents;
    if (work.kind != Work::Kind::Kernel && work.kind != Work::Kind::Dot &&
        elementCount(part.extents) == 0)
      continue;
    part.origin = part.begin;
    for (size_t l = 0; l < work.begin.size(); ++l)
      part.origin[l] += work.begin[l];
    for (size_t a = 0; a < work.accesses.size(); ++a) {
      const GraphBuffer &buffer = graph.buffers[work.accesses[a].buffer];
      int64_t element = call.elements[a].first;
      for (size_t l = 0; l < loops; ++l)
        element += part.begin[l] * call.elements[a].strides[l];
      part.offsets.push_back(
          element * int64_t(byteWidth(buffer.type)) +
          (instance ? instance->copy[a] * buffer.bytesPerCopy() : 0));
    }
    if (Status ok = body(part); !ok)
      return ok;
  }
  return Success();
}

Status CUDAExecutable::forEachPart(
    const Call &call, const std::function<uintptr_t(unsigned)> &base,
    const std::function<Status(const Part &)> &body) const {
  return forEachBox(call, [&](Part &part) {
    for (size_t a = 0; a < part.offsets.size(); ++a)
      part.pointers.push_back(reinterpret_cast<char *>(
          base(graph.buffers[call.work->accesses[a].buffer].memory) +
          part.offsets[a]));
    return body(std::as_const(part));
  });
}

CUDAExecutable::Part CUDAExecutable::launched(const Call &call,
                                              Part part) const {
  if (call.work->kind != Work::Kind::Reduce)
    return part;
  const Addends addends = *Addends::of(call.work->addends[part.instance]);
  part.pointers[0] +=
      addends.first *
      graph.buffers[call.work->accesses[0].buffer].bytesPerCopy();
  part.extents.push_back(addends.count);
  part.origin.push_back(0);
  return part;
}

/// A box of too many results is launched in halves.
Status CUDAExecutable::launch(Commands &commands, const Call &call,
                              Part part) const {
  const KernelShape &shape = *call.kernel.shape;
  int64_t results = 1;
  for (unsigned loop : shape.parallel)
    results *= part.extents[loop];
  if (results == 0)
    return Success();
  if (results > MOST_RESULTS) {
    const unsigned widest = *std::ranges::max_element(
        shape.parallel, {}, [&](unsigned loop) { return part.extents[loop]; });
    const int64_t half = part.extents[widest] / 2;
    Part second = part;
    part.extents[widest] = half;
    second.extents[widest] -= half;
    second.origin[widest] += half;
    for (size_t a = 0; a < second.pointers.size(); ++a)
      second.pointers[a] +=
          half * call.elements[a].strides[widest] *
          int64_t(byteWidth(graph.buffers[call.work->accesses[a].buffer].type));
    if (Status ok = launch(commands, call, std::move(part)); !ok)
      return ok;
    return launch(commands, call, std::move(second));
  }
  return launchKernel(commands, *card, call.kernel,
                      {part.pointers, part.extents, part.origin,
                       [&](unsigned operand, unsigned loop) {
                         return call.elements[operand].strides[loop];
                       }});
}

/// Parts have one workspace, in turn.
Status CUDAExecutable::launchLibrary(Commands &commands, const Call &call,
                                     const Part &part, char *workspace) const {
  if (workspace)
    commands.join();
  const Status done = call.libraryWork[part.instance]->enqueue(
      commands, part.pointers, workspace);
  return done ? done : Status(ofCard(done.error()));
}

Status CUDAExecutable::copyBoxes(Commands &commands, const Call &call,
                                 const Part &part) const {
  return copyStrided(
      commands, part.pointers[1], part.pointers[0], part.extents,
      call.elements[0].strides, call.elements[1].strides,
      byteWidth(graph.buffers[call.work->accesses[0].buffer].type));
}

/// A box of more dims is several copies.
Status cuda::copyStrided(Commands &commands, char *result, const char *operand,
                         std::span<const int64_t> extents,
                         std::span<const int64_t> from,
                         std::span<const int64_t> to, int64_t width) {
  size_t outer = extents.size();
  int64_t run = 1;
  while (outer > 0 && (extents[outer - 1] == 1 ||
                       (from[outer - 1] == run && to[outer - 1] == run)))
    run *= extents[--outer];
  CopyNode box{.bytes = size_t(run * width)};
  auto arePitches = [&](int64_t a, int64_t b) {
    return std::min(a, b) >= run && std::max(a, b) <= mostPitch / width;
  };
  if (outer > 0 && arePitches(from[outer - 1], to[outer - 1])) {
    const int64_t fromRow = from[--outer], toRow = to[outer];
    box.rows = size_t(extents[outer]);
    box.fromPitch = size_t(fromRow * width);
    box.toPitch = size_t(toRow * width);
    auto arePlanes = [&](int64_t stride, int64_t row) {
      return stride % row == 0 && stride / row >= extents[outer];
    };
    if (outer > 0 && arePlanes(from[outer - 1], fromRow) &&
        arePlanes(to[outer - 1], toRow)) {
      --outer;
      box.planes = size_t(extents[outer]);
      box.fromHeight = size_t(from[outer] / fromRow);
      box.toHeight = size_t(to[outer] / toRow);
    }
  }
  Status outcome = Success();
  auto copyOne = [&](int64_t source, int64_t target) -> Status {
    char *into = result + target * width;
    const char *begin = operand + source * width;
    if (box.rows * box.planes == 1)
      return commands.copy(into, begin, int64_t(box.bytes));
    box.from = reinterpret_cast<DevicePointer>(begin);
    box.to = reinterpret_cast<DevicePointer>(into);
    return commands.copyBox(box);
  };
  forEachRun(extents.first(outer), from.first(outer), to.first(outer),
             [&](int64_t source, int64_t target, int64_t count) {
               for (int64_t i = 0; i < count && outcome; ++i)
                 outcome = copyOne(source + i, target + i);
             });
  return outcome;
}
