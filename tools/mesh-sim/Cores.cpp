// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Cores.h"

#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/Backends/CPU/WorkerClocks.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::sim;

/// Runs until the caches are warm, and as often again for the shortest step.
static constexpr int repeats = 5;

static Result<WorkerClocks::Times> shortestStep(const SavedProgram &program,
                                                int64_t workers) {
  auto clocks = std::make_shared<WorkerClocks>();
  auto client =
      createCPUClient({.devices = program.compiled.signature().mesh.size(),
                       .workers = workers,
                       .clocks = clocks});
  if (!client)
    return client.error();
  auto executable = (*client)->load(program.compiled);
  if (!executable)
    return executable.error();
  WorkerClocks::Times shortest;
  for (int run = 0; run < 2 * repeats; ++run) {
    auto arguments = program.place(*client);
    if (!arguments)
      return arguments.error();
    auto results = (*executable)->execute(std::move(*arguments));
    if (!results)
      return results.error();
    for (const Array &result : *results)
      if (auto bytes = result.toHost(); !bytes)
        return bytes.error();
    const WorkerClocks::Times times = clocks->take();
    if (run <= repeats || times.total < shortest.total)
      shortest = times;
  }
  return shortest;
}

Status sim::printTimesByCores(const SavedProgram &program,
                              std::span<const int64_t> workers) {
  fmt::print("{:>7}  {:>10}  {:>8}  {:>7}  {:>9}  {:>10}  {:>6}\n", "workers",
             "step, ms", "speed-up", "busy, %", "alone, ms", "waits, ms",
             "phases");
  double first = 0;
  for (int64_t count : workers) {
    Result<WorkerClocks::Times> times = shortestStep(program, count);
    if (!times)
      return times.error();
    const double total = double(times->total) * 1e-6,
                 alone = double(times->alone) * 1e-6,
                 busy = double(times->busy) * 1e-6;
    if (first == 0)
      first = total;
    // A worker waits for the others in the phases that all share.
    const double waits = total - alone - (busy - alone) / double(count);
    fmt::print("{:7}  {:10.3f}  {:8.2f}  {:7.0f}  {:9.3f}  {:10.3f}  {:6}\n",
               count, total, first / total, 100 * busy / total / double(count),
               alone, waits, times->phases);
  }
  return Success();
}
