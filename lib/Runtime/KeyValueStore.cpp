// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KeyValueStore: a table of this process, and a part of another store.
#include "meshloom/Runtime/KeyValueStore.h"

#include <fmt/format.h>

#include <algorithm>

using namespace meshloom;

KeyValueStore::~KeyValueStore() = default;

Result<std::vector<std::string>>
KeyValueStore::gather(const std::string &subject, int rank, int size,
                      std::string_view statement,
                      std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + timeout;
  auto keyOf = [&](int of) { return fmt::format("{}/{}", subject, of); };
  if (Status status = set(keyOf(rank), statement); !status)
    return status.error();
  std::vector<std::string> values;
  values.reserve(size_t(size));
  for (int other = 0; other < size; ++other) {
    const auto remaining =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline -
                                                              Clock::now());
    Result<std::string> value =
        get(keyOf(other), std::max(remaining, std::chrono::milliseconds(1)));
    if (!value)
      return value.error().withMessage(
          fmt::format("rank {} of {} has not come within {} ms: {}", other,
                      size, timeout.count(), value.error().message()));
    values.push_back(std::move(*value));
  }
  return values;
}

Status MemoryStore::set(const std::string &key, std::string_view value) {
  std::lock_guard lock(mutex);
  values.insert_or_assign(key, std::string(value));
  changed.notify_all();
  return Success();
}

Result<std::string> MemoryStore::get(const std::string &key,
                                     std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex);
  if (!changed.wait_for(lock, timeout, [&] { return values.contains(key); }))
    return Error(fmt::format("[store] no process has set '{}' within {} ms",
                             key, timeout.count()),
                 ErrorCode::DEADLINE_EXCEEDED);
  return values.at(key);
}

Result<std::optional<std::string>> MemoryStore::find(const std::string &key) {
  std::lock_guard lock(mutex);
  const auto found = values.find(key);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Status MemoryStore::erase(const std::string &prefix) {
  std::lock_guard lock(mutex);
  std::erase_if(values, [&](const auto &entry) {
    return entry.first.starts_with(prefix);
  });
  return Success();
}

Status PrefixStore::set(const std::string &key, std::string_view value) {
  return store->set(prefix + key, value);
}

Result<std::string> PrefixStore::get(const std::string &key,
                                     std::chrono::milliseconds timeout) {
  return store->get(prefix + key, timeout);
}

Result<std::optional<std::string>> PrefixStore::find(const std::string &key) {
  return store->find(prefix + key);
}

Status PrefixStore::erase(const std::string &keys) {
  return store->erase(prefix + keys);
}
