// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// WorkersTeam: all workers of a client, for a call that is alone in its phase.
#pragma once

#include "Workers.h"

#include "meshloom/Runtime/Backends/CPU/WorkerClocks.h"
#include "meshloom/Runtime/Library/HostCall.h"
#include "meshloom/Runtime/Library/Team.h"

#include <atomic>

namespace meshloom::cpu {

class WorkersTeam final : public library::Team {
public:
  /// `clocks` may be null.
  WorkersTeam(const Workers &workers, WorkerClocks *clocks)
      : number(workers.count()), clocks(clocks) {}
  int64_t workers() const override { return number; }

private:
  void run(int64_t parts, const std::function<void(int64_t)> &body) override {
    std::atomic<int64_t> next{0};
    auto runNext = [&] {
      const int64_t part = next.fetch_add(1, std::memory_order_relaxed);
      if (part < parts)
        body(part);
      return part < parts;
    };
    const int64_t sharing = std::min(parts, number);
    if (clocks)
      return clocks->share(sharing, [&](int64_t) { return runNext(); });
    Workers::forEach(sharing, [&](int64_t) {
      library::SingleThreaded guard;
      while (runNext()) {
      }
    });
  }

  const int64_t number;
  WorkerClocks *const clocks;
};

} // namespace meshloom::cpu
