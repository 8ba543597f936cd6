// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding compiled ops, and forgetting those that were not used for longest.
#include "meshloom/Engine/OpCache.h"

namespace meshloom::detail {

size_t CacheKey::hash() const {
  size_t seed = std::hash<std::string>()(text);
  for (const Layout &layout : layouts)
    seed = seed * 0x9E3779B97F4A7C15u + layout.hash();
  return seed;
}

std::shared_ptr<OpCache::Entry> OpCache::entryOf(CacheKey key) {
  std::vector<std::shared_ptr<Entry>> forgotten; // freed without the lock
  std::lock_guard lock(mutex);
  auto [position, isNew] = slots.try_emplace(std::move(key));
  Slot &slot = position->second;
  if (!isNew) {
    order.splice(order.begin(), order, slot.place);
    return slot.entry;
  }
  slot.entry = std::make_shared<Entry>();
  slot.place = order.insert(order.begin(), &position->first);
  std::shared_ptr<Entry> entry = slot.entry;
  while (slots.size() > most) {
    auto oldest = slots.find(*order.back());
    forgotten.push_back(std::move(oldest->second.entry));
    order.pop_back();
    slots.erase(oldest);
  }
  return entry;
}

std::shared_ptr<const CompiledOp>
OpCache::find(CacheKey key, llvm::function_ref<CompiledOp()> compile) {
  std::shared_ptr<Entry> entry = entryOf(std::move(key));
  std::lock_guard lock(entry->mutex);
  if (!entry->op) {
    {
      std::lock_guard counting(mutex);
      ++compilations;
    }
    entry->op = std::make_shared<const CompiledOp>(compile());
  }
  return entry->op;
}

size_t OpCache::size() const {
  std::lock_guard lock(mutex);
  return slots.size();
}

int64_t OpCache::compiled() const {
  std::lock_guard lock(mutex);
  return compilations;
}

OpCache &opCache() {
  static OpCache &cache = *new OpCache(mostCompiledOps);
  return cache;
}

} // namespace meshloom::detail
