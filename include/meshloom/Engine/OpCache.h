// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpCache: compiled programs of ops outside of functions.
#pragma once

#include "meshloom/Core/Layout.h"
#include "meshloom/Runtime/Client.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <list>
#include <mutex>
#include <unordered_map>

namespace meshloom::detail {

/// Says what a compiled unit depends on, for finding it again.
struct CacheKey {
  std::string text;
  std::vector<Layout> layouts;
  bool operator==(const CacheKey &) const = default;
  size_t hash() const;
  /// Makes room for the types and layouts of so many values of few dims.
  void reserve(size_t values) {
    text.reserve(text.size() + 32 * (values + 1));
    layouts.reserve(layouts.size() + values);
  }
  void add(int64_t number) {
    text.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  void add(DType type, const Shape &shape) {
    text.push_back(char(type));
    text.push_back(char(shape.size()));
    text.append(reinterpret_cast<const char *>(shape.data()),
                shape.size() * sizeof(int64_t));
  }
};
struct CacheKeyHash {
  size_t operator()(const CacheKey &key) const { return key.hash(); }
};

class DeviceProgram;

/// The program of one op.
struct CompiledOp {
  std::shared_ptr<const DeviceProgram> program;
  /// Per result of the op: whether it has one. The program's results are those
  /// that it has.
  std::vector<bool> present;
};

/// The programs that were used last, at most `most` of them. A program that is
/// pushed out lives until its last call has ended, and is compiled again when
/// it is asked for again. May be used from several threads: each key is
/// compiled by one of them while the others wait, and other keys do not.
class OpCache {
public:
  explicit OpCache(size_t most) : most(most) {}

  /// Returns the op that `compile` returned for this key, now or the last time.
  /// An exception of `compile` goes to the caller, and the next caller tries
  /// again.
  std::shared_ptr<const CompiledOp>
  find(CacheKey key, llvm::function_ref<CompiledOp()> compile);

  size_t size() const;
  /// How often `compile` has been called.
  int64_t compiled() const;

private:
  struct Entry {
    std::mutex mutex; ///< held while compiling
    std::shared_ptr<const CompiledOp> op;
  };
  using Order = std::list<const CacheKey *>;
  struct Slot {
    std::shared_ptr<Entry> entry;
    Order::iterator place;
  };
  std::shared_ptr<Entry> entryOf(CacheKey key);

  const size_t most;
  mutable std::mutex mutex; ///< guards what follows; not held while compiling
  std::unordered_map<CacheKey, Slot, CacheKeyHash> slots;
  Order order; ///< keys of `slots`, last used first
  int64_t compilations = 0;
};

/// How many programs of ops the process keeps: more than the ops of one step of
/// any model, at 7 to 140 kilobytes each (measured: `x * 2`; with code of its
/// own).
constexpr size_t mostCompiledOps = 2048;
OpCache &opCache();

} // namespace meshloom::detail
