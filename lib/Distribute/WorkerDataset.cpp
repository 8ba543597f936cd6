// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See WorkerDataset.h.
#include "WorkerDatasets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>

namespace meshloom::detail {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, OpenDataset> byName;
};
/// Lives as long as what is registered in static objects.
Registry &registry() {
  static auto *instance = new Registry;
  return *instance;
}

constexpr std::string_view unnamed = "dataset of process ";

} // namespace

WorkerDatasetName::WorkerDatasetName(std::string name, OpenDataset open,
                                     const std::source_location &where)
    : name(std::move(name)), isForEver(true) {
  if (this->name.empty() || this->name.starts_with(unnamed))
    Error(
        fmt::format("[register_dataset] expected a name, got '{}'", this->name))
        .atLine(where)
        .raise();
  Registry &datasets = registry();
  std::lock_guard lock(datasets.mutex);
  if (!datasets.byName.emplace(this->name, std::move(open)).second)
    Error(fmt::format("[register_dataset] there is a dataset '{}' "
                      "already: give this one another name",
                      this->name))
        .atLine(where)
        .raise();
}

WorkerDatasetName::WorkerDatasetName(OpenDataset open) : isForEver(false) {
  // No other process has it.
  static const uint64_t process = drawNumber();
  static std::atomic<uint64_t> last = 0;
  name = fmt::format("{}{:016x}: {}", unnamed, process, ++last);
  Registry &datasets = registry();
  std::lock_guard lock(datasets.mutex);
  datasets.byName.emplace(name, std::move(open));
}

WorkerDatasetName::~WorkerDatasetName() {
  if (isForEver)
    return;
  Registry &datasets = registry();
  std::lock_guard lock(datasets.mutex);
  datasets.byName.erase(name);
}

uint64_t drawNumber() {
  std::random_device device;
  // Not 0, which stands for none.
  return (uint64_t(device()) << 32 | device()) | 1;
}

std::shared_ptr<const WorkerIteration>
newIteration(std::shared_ptr<const WorkerDatasetName> dataset) {
  return std::make_shared<WorkerIteration>(
      WorkerIteration{drawNumber(), std::move(dataset)});
}

std::shared_ptr<data::detail::Stream> openDataset(const std::string &name,
                                                  int64_t worker) {
  Registry &datasets = registry();
  std::unique_lock lock(datasets.mutex);
  auto found = datasets.byName.find(name);
  if (found != datasets.byName.end()) {
    const OpenDataset open = found->second;
    lock.unlock();
    return open(worker);
  }
  if (name.starts_with(unnamed))
    Error("its process does not have the function of the dataset, which is one "
          "of the coordinator's: give it a name, by register_dataset(\"a "
          "name\", function), before Servers begin, and give "
          "create_per_worker_dataset its result")
        .raise();
  std::vector<std::string_view> names;
  for (const auto &[key, open] : datasets.byName)
    if (!key.starts_with(unnamed))
      names.push_back(key);
  Error(fmt::format("its program has no dataset '{}': register_dataset "
                    "it before Servers begin; there are [{}]",
                    name, fmt::join(names, ", ")))
      .raise();
}

} // namespace meshloom::detail
