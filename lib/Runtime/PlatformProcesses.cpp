// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a store that may be gone before those who use them.
#include "meshloom/Runtime/PlatformProcesses.h"

#include "meshloom/Core/AvailableCores.h"

#include <fmt/format.h>

#include <algorithm>

using namespace meshloom;

namespace {
/// The keys of another store below a prefix, as long as that is there.
class LentStore final : public KeyValueStore {
public:
  LentStore(std::weak_ptr<KeyValueStore> store, std::string prefix)
      : store(std::move(store)), prefix(std::move(prefix)) {}

  Status set(const std::string &key, std::string_view value) override {
    if (auto held = store.lock())
      return held->set(prefix + key, value);
    return gone(key);
  }
  Result<std::string> get(const std::string &key,
                          std::chrono::milliseconds timeout) override {
    if (auto held = store.lock())
      return held->get(prefix + key, timeout);
    return gone(key);
  }
  Result<std::optional<std::string>> find(const std::string &key) override {
    if (auto held = store.lock())
      return held->find(prefix + key);
    return gone(key);
  }
  Status erase(const std::string &keys) override {
    if (auto held = store.lock())
      return held->erase(prefix + keys);
    return gone(keys);
  }

private:
  Error gone(const std::string &key) const {
    return Error(fmt::format("[store] '{}{}' cannot be reached: this process "
                             "has left the others",
                             prefix, key),
                 ErrorCode::UNAVAILABLE);
  }

  const std::weak_ptr<KeyValueStore> store;
  const std::string prefix;
};
} // namespace

PlatformProcesses::PlatformProcesses(int64_t rank, int64_t size,
                                     std::weak_ptr<KeyValueStore> store,
                                     std::string prefix,
                                     std::shared_ptr<Communicator> communicator,
                                     int64_t onThisHost)
    : thisRank(rank), count(size), store(std::move(store)),
      prefix(std::move(prefix)), connection(std::move(communicator)),
      onThisHost(onThisHost) {}

int64_t PlatformProcesses::workers() const {
  return std::max<int64_t>(1, availableCores() / onThisHost);
}

std::shared_ptr<KeyValueStore>
PlatformProcesses::part(const std::string &name) {
  std::lock_guard lock(mutex);
  return std::make_shared<LentStore>(
      store, fmt::format("{}{}/{}/", prefix, name, calls[name]++));
}
