// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Runtime/Plan/Shared/HostWork.h"

#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/Plan/Steps.h"
#include "meshloom/Runtime/StridedRuns.h"

#include <cstring>

using namespace meshloom;
using namespace meshloom::plan;

Result<HostWork> HostWork::make(const Program &program, const StepGraph &graph,
                                const Work &work, const CodeSymbols *code) {
  HostWork ready;
  ready.work = &work;
  if (work.kind == Work::Kind::Kernel || work.kind == Work::Kind::Dot) {
    auto function =
        library::HostCall::make(program, program.steps[work.step], code);
    if (!function)
      return function.error().withMessage(describe(program, work.step) +
                                          function.error().message());
    ready.function = std::move(*function);
  } else {
    const GraphBuffer &source = graph.buffers[work.accesses[0].buffer];
    ready.width = byteWidth(source.type);
    ready.copyBytes = source.bytesPerCopy();
    ready.type = source.type;
  }
  return ready;
}

Status HostWork::run(const Part &part) const {
  if (work->isExchange())
    return Success();
  if (work->kind == Work::Kind::Kernel || work->kind == Work::Kind::Dot)
    return function.run(part.pointers, part.strides, part.origin, part.extents);
  // The loops of copies and reductions are the dims of what they write.
  const size_t rank = work->extents.size();
  const int64_t *from = part.strides, *to = from + rank;
  const char *source = static_cast<char *>(part.pointers[0]);
  char *target = static_cast<char *>(part.pointers[1]);
  const bool reduces = work->kind == Work::Kind::Reduce;
  const std::span<const int64_t> addends =
      reduces ? work->addends[part.instance] : std::span<const int64_t>();
  std::vector<const void *> sources(addends.size());
  forEachRun({part.extents, rank}, {from, rank}, {to, rank},
             [&](int64_t first, int64_t into, int64_t count) {
               const char *run = source + first * width;
               for (size_t s = 0; s < addends.size(); ++s)
                 sources[s] = run + addends[s] * copyBytes;
               if (reduces)
                 combine(work->reduce, type, target + into * width, sources,
                         count);
               else
                 std::memcpy(target + into * width, run, size_t(count * width));
             });
  return Success();
}
