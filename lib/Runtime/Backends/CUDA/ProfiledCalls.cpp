// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run for a profile: one call after the other in the stream, each between two
// marks with times.
#include "CUDAExecutable.h"

#include "meshloom/Runtime/Plan/StepProfile.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

std::string CUDAExecutable::codeOf(const Call &call) {
  if (!call.libraryWork.empty())
    return std::string(call.libraryWork.front()->function());
  if (call.kernel.shape)
    return call.kernel.shape->symbol;
  return call.onHost ? "the host" : "";
}

int64_t CUDAExecutable::flopsOf(const Call &call, const Part &part) const {
  if (call.work->kind == Work::Kind::Copy)
    return 0;
  if (call.attention) { // products, of which each has loops of its own
    const Attention &attention = *call.attention->attention;
    const int64_t terms = part.extents[attention.termLoop()],
                  columns = part.extents[attention.columnLoop()];
    const int64_t scores = elementCount(part.extents) / terms / columns;
    return call.attention->form == AttentionForm::Gradient
               ? 2 * scores * (3 * terms + 2 * columns)
               : 2 * scores * (terms + columns);
  }
  if (call.work->kind != Work::Kind::Reduce)
    return plan::flopsOf(loaded.steps[call.work->step], part.extents);
  const auto addends = std::ssize(call.work->addends[part.instance]);
  return elementCount(part.extents) * std::max<int64_t>(addends - 1, 0);
}

int64_t CUDAExecutable::bytesOf(const Call &call, const Part &part) const {
  const Work &work = *call.work;
  int64_t bytes = 0;
  for (size_t a = 0; a < work.accesses.size(); ++a) {
    const Access &access = work.accesses[a];
    int64_t touched =
        touchedBytes({access.buffer, access.dims},
                     graph.buffers[access.buffer].type, part.extents);
    if (work.kind == Work::Kind::Reduce && a == 0)
      touched *= std::ssize(work.addends[part.instance]);
    bytes += touched * (int64_t(access.reads) + int64_t(access.writes));
  }
  return bytes;
}

Status CUDAExecutable::beginProfile(Run &run) const {
  // The first mark is then nearly now.
  if (Status ok = card->synchronize(); !ok)
    return ok;
  run.begin = profiled->profiler().now();
  run.times.emplace(card);
  return Success();
}

/// Devices of a card do their parts of a step together.
void CUDAExecutable::recordCalls(const Run &run) const {
  const Result<std::vector<int64_t>> times = run.times->nanoseconds();
  if (!times || times->size() != calls.size() + 1)
    return; // who reads the results learns why
  Profiler &profiler = profiled->profiler();
  const std::span<const int64_t> devices = processes.devicesHere();
  const unsigned deviceSet =
      profiler.devices(std::vector(devices.begin(), devices.end()));
  for (size_t c = 0; c < calls.size(); ++c) {
    const Call &call = calls[c];
    ProfileEvent event = profiled->event(
        call.work->kind == Work::Kind::Copy ? ProfileEvent::Kind::Copy
                                            : ProfileEvent::Kind::Step,
        call.work->step, run.begin + (*times)[c]);
    event.end = run.begin + (*times)[c + 1];
    event.worker = card->number();
    event.devices = deviceSet;
    event.name = codeOf(call);
    if (!call.work->isExchange())
      (void)forEachBox(call, [&](const Part &part) -> Status {
        event.flops += flopsOf(call, part);
        event.bytes += bytesOf(call, part);
        return Success();
      });
    profiler.add(std::move(event));
  }
}
