// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbered checkpoints of a folder. The folder's contents say which there are;
// only the list of those that are kept for good is written down beside them.
#include "meshloom/NN/State/CheckpointManager.h"

#include "meshloom/API/MovedFrom.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Processes.h"
#include "meshloom/Core/SystemError.h"
#include "meshloom/Data/TensorFolder.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>

namespace meshloom {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Finished checkpoints "NAME-N", by N.
std::map<int64_t, fs::path> numbered(const fs::path &directory,
                                     const std::string &name) {
  std::map<int64_t, fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(directory, ignored)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(name + "-"))
      continue;
    const char *begin = file.data() + name.size() + 1;
    const char *end = file.data() + file.size();
    int64_t number = 0;
    auto [stop, error] = std::from_chars(begin, end, number);
    if (error == std::errc() && stop == end &&
        data::is_tensor_folder(entry.path()))
      found.emplace(number, entry.path());
  }
  return found;
}

double hoursNow() {
  using Hours = std::chrono::duration<double, std::ratio<3600>>;
  return Hours(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

struct CheckpointManager::State {
  Checkpoint checkpoint;
  fs::path directory;
  CheckpointManagerOptions options;
  std::optional<int64_t> lastStep{}; ///< at the last save

  fs::path record() const {
    return directory / (options.checkpoint_name + ".kept.json");
  }
  void prune() const;
};

/// Removes what is too old, oldest first. Runs where checkpoints are written.
void CheckpointManager::State::prune() const {
  // One of several processes that share the folder tidies it.
  if (options.max_to_keep == 0 || client_id() != 0)
    return;
  json updated = {{"numbers", json::array()}, {"hours", hoursNow()}};
  std::error_code gone;
  const bool isFirst = !fs::exists(record(), gone);
  if (!isFirst) {
    json stored = json::parse(readFile(record().string()).value_or_throw(),
                              nullptr, /*allow_exceptions=*/false);
    // A damaged record keeps nothing for good.
    if (stored.is_object() && stored["numbers"].is_array() &&
        stored["hours"].is_number())
      updated = std::move(stored);
  }
  std::set<int64_t> forGood;
  for (const json &number : updated["numbers"])
    if (number.is_number_integer())
      forGood.insert(number.get<int64_t>());
  std::map<int64_t, fs::path> checkpoints =
      numbered(directory, options.checkpoint_name);
  std::erase_if(checkpoints,
                [&](const auto &one) { return forGood.contains(one.first); });

  bool isChanged = isFirst && options.keep_checkpoint_every_n_hours > 0;
  std::vector<fs::path> old;
  while (int64_t(checkpoints.size()) > options.max_to_keep) {
    const auto [number, path] = *checkpoints.begin();
    checkpoints.erase(checkpoints.begin());
    if (options.keep_checkpoint_every_n_hours > 0) {
      const auto time = fs::last_write_time(path / "index.json", gone);
      if (gone) // somebody else has removed it
        continue;
      const double written =
          std::chrono::duration<double, std::ratio<3600>>(
              std::chrono::file_clock::to_sys(time).time_since_epoch())
              .count();
      if (written - updated["hours"].get<double>() >=
          options.keep_checkpoint_every_n_hours) {
        updated["numbers"].push_back(number);
        updated["hours"] = written;
        isChanged = true;
        continue;
      }
    }
    old.push_back(path);
  }
  if (isChanged)
    std::move(writeFile(record().string(), updated.dump())).value_or_throw();
  for (const fs::path &path : old)
    data::remove_tensor_folder(path);
}

CheckpointManager::CheckpointManager(Checkpoint checkpoint, fs::path directory,
                                     CheckpointManagerOptions options,
                                     std::source_location where) {
  auto refuse = [&](const std::string &why) {
    detail::fail("CheckpointManager", why, &where);
  };
  if (options.max_to_keep < 0 || options.keep_checkpoint_every_n_hours < 0 ||
      options.checkpoint_interval < 0)
    refuse(fmt::format("expected numbers of 0 or more, got max_to_keep {}, "
                       "keep_checkpoint_every_n_hours {}, checkpoint_interval "
                       "{}",
                       options.max_to_keep,
                       options.keep_checkpoint_every_n_hours,
                       options.checkpoint_interval));
  if (options.checkpoint_name.empty() ||
      fs::path(options.checkpoint_name).filename() != options.checkpoint_name)
    refuse(fmt::format("expected the name of a file as checkpoint_name, got "
                       "'{}'",
                       options.checkpoint_name));
  if (options.checkpoint_interval > 0 && !options.step_counter)
    refuse("checkpoint_interval needs step_counter, which says how many steps "
           "have passed");
  if (options.step_counter && (options.step_counter->rank() != 0 ||
                               !isInteger(options.step_counter->dtype())))
    refuse(fmt::format("expected step_counter to be a scalar of integers, got "
                       "'{}' of {} and rank {}",
                       options.step_counter->name(),
                       name(options.step_counter->dtype()),
                       options.step_counter->rank()));
  state = std::make_shared<State>(
      State{std::move(checkpoint), std::move(directory), std::move(options)});
}

std::optional<fs::path>
CheckpointManager::save(std::optional<int64_t> checkpoint_number,
                        std::source_location where) const {
  return detail::atLine(where, [&]() -> std::optional<fs::path> {
    const detail::CallSite site(detail::callSiteOr(where));
    const detail::CallName name("CheckpointManager::save");
    detail::expectNotMovedFrom(state, "CheckpointManager");
    const CheckpointManagerOptions &options = state->options;
    std::optional<int64_t> step;
    if (options.step_counter)
      step = options.step_counter->item<int64_t>();
    if (step && state->lastStep &&
        *step - *state->lastStep < options.checkpoint_interval)
      return std::nullopt;
    // A checkpoint that is being written counts.
    wait();
    if (!checkpoint_number)
      checkpoint_number = step;
    if (!checkpoint_number) {
      const auto checkpoints =
          numbered(state->directory, options.checkpoint_name);
      checkpoint_number =
          checkpoints.empty() ? 1 : checkpoints.rbegin()->first + 1;
    }
    fs::path path =
        state->directory /
        fmt::format("{}-{}", options.checkpoint_name, *checkpoint_number);
    std::error_code failure;
    fs::create_directories(state->directory, failure);
    if (failure)
      Error(fmt::format("[CheckpointManager] expected a folder that can be "
                        "written, but '{}' cannot be made: {}",
                        state->directory.string(), failure.message()),
            errorCodeOfSystem(failure.value()))
          .raise();
    state->checkpoint.write(path, options.write,
                            {.after = [state = std::weak_ptr(state)] {
                              if (auto alive = state.lock())
                                alive->prune();
                            }});
    state->lastStep = step;
    return path;
  });
}

std::optional<fs::path>
CheckpointManager::restore_or_initialize(const RestoreOptions &options,
                                         std::source_location where) const {
  return detail::atLine(where, [&]() -> std::optional<fs::path> {
    wait();
    std::optional<fs::path> newest = latest_checkpoint();
    if (newest) {
      state->checkpoint.restore(*newest, options);
      if (state->options.step_counter)
        state->lastStep = state->options.step_counter->item<int64_t>();
    } else if (state->options.init_fn) {
      state->options.init_fn();
    }
    return newest;
  });
}

std::optional<fs::path> CheckpointManager::latest_checkpoint() const {
  detail::expectNotMovedFrom(state, "CheckpointManager");
  return meshloom::latest_checkpoint(state->directory,
                                     state->options.checkpoint_name);
}

std::vector<fs::path> CheckpointManager::checkpoints() const {
  detail::expectNotMovedFrom(state, "CheckpointManager");
  std::vector<fs::path> paths;
  for (auto &[number, path] :
       numbered(state->directory, state->options.checkpoint_name))
    paths.push_back(path);
  return paths;
}

const fs::path &CheckpointManager::directory() const {
  detail::expectNotMovedFrom(state, "CheckpointManager");
  return state->directory;
}
const Checkpoint &CheckpointManager::checkpoint() const {
  detail::expectNotMovedFrom(state, "CheckpointManager");
  return state->checkpoint;
}

std::optional<fs::path> latest_checkpoint(const fs::path &directory,
                                          const std::string &checkpoint_name) {
  const auto checkpoints = numbered(directory, checkpoint_name);
  if (checkpoints.empty())
    return std::nullopt;
  return checkpoints.rbegin()->second;
}

} // namespace meshloom
