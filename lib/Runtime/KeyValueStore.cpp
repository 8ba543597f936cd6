// KeyValueStore: a table of this process, and a part of another store.
#include "meshloom/Runtime/KeyValueStore.h"

#include <fmt/format.h>

using namespace meshloom;

KeyValueStore::~KeyValueStore() = default;

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
    return Error(fmt::format("[store] nobody has set '{}' within {} ms", key,
                             timeout.count()));
  return values.at(key);
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

Status PrefixStore::erase(const std::string &keys) {
  return store->erase(prefix + keys);
}
