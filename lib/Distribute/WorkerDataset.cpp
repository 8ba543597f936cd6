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
  static auto *own = new Registry;
  return *own;
}

constexpr std::string_view unnamed = "dataset of process ";

} // namespace

WorkerDatasetName::WorkerDatasetName(std::string name, OpenDataset open)
    : name(std::move(name)), isForEver(true) {
  if (this->name.empty() || this->name.starts_with(unnamed))
    Error(
        fmt::format("[register_dataset] expected a name, got '{}'", this->name))
        .raise();
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  if (!all.byName.emplace(this->name, std::move(open)).second)
    Error(fmt::format("[register_dataset] there is a dataset '{}' "
                      "already: give this one another name",
                      this->name))
        .raise();
}

WorkerDatasetName::WorkerDatasetName(OpenDataset open) : isForEver(false) {
  // No other process has it.
  static const uint64_t process = drawNumber();
  static std::atomic<uint64_t> last = 0;
  name = fmt::format("{}{:016x}: {}", unnamed, process, ++last);
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  all.byName.emplace(name, std::move(open));
}

WorkerDatasetName::~WorkerDatasetName() {
  if (isForEver)
    return;
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  all.byName.erase(name);
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
  Registry &all = registry();
  std::unique_lock lock(all.mutex);
  auto found = all.byName.find(name);
  if (found != all.byName.end()) {
    const OpenDataset open = found->second;
    lock.unlock();
    return open(worker);
  }
  if (name.starts_with(unnamed))
    Error("its process does not have the function of the dataset, which "
          "is one of the coordinator's: give it a name, by "
          "register_dataset(\"a name\", function), before Servers begin, "
          "and create_per_worker_dataset what that returns")
        .raise();
  std::vector<std::string_view> names;
  for (const auto &[own, open] : all.byName)
    if (!own.starts_with(unnamed))
      names.push_back(own);
  Error(fmt::format("its program has no dataset '{}': register_dataset "
                    "it before Servers begin; there are [{}]",
                    name, fmt::join(names, ", ")))
      .raise();
}

} // namespace meshloom::detail
