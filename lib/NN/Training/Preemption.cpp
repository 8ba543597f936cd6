// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ending together after SIGTERM, see Preemption.h.
#include "meshloom/NN/Training/Preemption.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/MovedFrom.h"
#include "meshloom/API/Processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace meshloom {

namespace {

constexpr char checkpointName[] = "preemption";

volatile std::sig_atomic_t wasTold = 0;

void remember(int) {
  wasTold = 1;
}

} // namespace

namespace detail {

void watchForPreemption() {
  std::signal(SIGTERM, remember);
}

bool isAnyPreempted() {
  return std::ranges::any_of(
      gatherNumbers({int64_t(wasTold)}, "PreemptionCheckpointHandler"),
      [](const std::vector<int64_t> &told) { return told.front() != 0; });
}

void exitPreempted() {
  log(LogLevel::INFO, "A process of this program was told to end: its state is "
                      "written, and it ends");
  std::exit(128 + SIGTERM);
}

} // namespace detail

struct PreemptionCheckpointHandler::State {
  CheckpointManager manager;
  TerminationConfig termination;
  int64_t calls = 0;
};

PreemptionCheckpointHandler::PreemptionCheckpointHandler(
    Checkpoint checkpoint, std::filesystem::path directory,
    TerminationConfig termination)
    : state(std::make_shared<State>(
          State{CheckpointManager(
                    std::move(checkpoint), std::move(directory),
                    {.max_to_keep = 1, .checkpoint_name = checkpointName}),
                std::move(termination)})) {
  detail::watchForPreemption();
  if (auto newest = state->manager.restore_or_initialize())
    // "preemption-12", as it was saved.
    state->calls =
        std::stoll(newest->filename().string().substr(sizeof(checkpointName)));
}

int64_t PreemptionCheckpointHandler::total_run_calls() const {
  detail::expectNotMovedFrom(state, "PreemptionCheckpointHandler");
  return state->calls;
}

void PreemptionCheckpointHandler::endStep() const {
  detail::expectNotMovedFrom(state, "PreemptionCheckpointHandler");
  ++state->calls;
  if (!detail::isAnyPreempted())
    return;
  state->manager.save(state->calls);
  wasTold = 0; // where the program goes on nevertheless
  if (!state->termination.exit_fn)
    detail::exitPreempted();
  state->termination.exit_fn();
}

} // namespace meshloom
