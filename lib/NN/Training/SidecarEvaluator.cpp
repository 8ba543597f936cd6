// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looking for checkpoints, and evaluating them.
#include "meshloom/NN/Training/SidecarEvaluator.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/NN/State/CheckpointManager.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <thread>

namespace meshloom {

namespace fs = std::filesystem;

struct SidecarEvaluator::State {
  Model model;
  TrainingData data;
  fs::path folder;
  SidecarEvaluatorOptions options;
};

SidecarEvaluator::SidecarEvaluator(Model model, TrainingData data,
                                   fs::path checkpoint_dir,
                                   SidecarEvaluatorOptions options) {
  auto expect = [](bool holds, std::string_view option) {
    if (!holds)
      Error(fmt::format("[SidecarEvaluator] expected {} to be above 0", option))
          .raise();
  };
  expect(options.steps.value_or(1) > 0, "steps");
  expect(options.max_evaluations.value_or(1) > 0, "max_evaluations");
  expect(options.poll_seconds > 0, "poll_seconds");
  state = std::make_shared<const State>(State{std::move(model), std::move(data),
                                              std::move(checkpoint_dir),
                                              std::move(options)});
}

/// The N of "ckpt-N".
static int64_t numberOf(const fs::path &checkpoint) {
  const std::string name = checkpoint.filename().string();
  int64_t number = 0;
  std::from_chars(name.data() + name.rfind('-') + 1, name.data() + name.size(),
                  number);
  return number;
}

Logs SidecarEvaluator::start(std::source_location where) const {
  return detail::atLine(where, [&]() -> Logs {
    const SidecarEvaluatorOptions &options = state->options;
    if (!state->model.built())
      state->model.evaluate(state->data, {.verbose = 0, .steps = 1});
    const Checkpoint checkpoint({{"model", state->model}});
    std::optional<fs::path> seen;
    for (bool says = true;;) {
      const std::optional<fs::path> newest =
          latest_checkpoint(state->folder, options.checkpoint_name);
      if (!newest || newest == seen) {
        if (std::exchange(says, false))
          detail::log(LogLevel::INFO,
                      fmt::format("Waiting for a new checkpoint in '{}'",
                                  state->folder.string()));
        std::this_thread::sleep_for(
            std::chrono::duration<double>(options.poll_seconds));
        continue;
      }
      says = true;
      try {
        checkpoint.restore(*newest, {.allow_extra_objects = true});
      } catch (const Error &) {
        if (latest_checkpoint(state->folder, options.checkpoint_name) == newest)
          throw; // else it was removed meanwhile, as newer ones came
        continue;
      }
      seen = newest;
      const Logs numbers =
          state->model.evaluate(state->data, {.verbose = 0,
                                              .steps = options.steps,
                                              .callbacks = options.callbacks});
      std::string text;
      for (const auto &[name, number] : numbers.values())
        text += fmt::format(" {}={:.7g}", name, number);
      detail::log(
          LogLevel::INFO,
          fmt::format("Evaluated '{}':{}", newest->filename().string(), text));
      if (options.max_evaluations &&
          numberOf(*newest) >= *options.max_evaluations)
        return numbers;
    }
  });
}

} // namespace meshloom
