// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KeyValueStore: where processes of one run leave what others look for, such as
// addresses. The coordination service's client is one; so is a table in memory,
// for ranks that are threads of one process.
#pragma once

#include "meshloom/Core/Result.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom {

/// Text by text, the same for everybody who has the store. Keys are paths such
/// as "transport/3/shm/0"; values any bytes. Safe to use from any thread.
class KeyValueStore {
public:
  virtual ~KeyValueStore();

  /// Replaces what was there.
  virtual Status set(const std::string &key, std::string_view value) = 0;
  /// The value, once somebody has set it: waits at most `timeout`. The error
  /// names the key.
  virtual Result<std::string> get(const std::string &key,
                                  std::chrono::milliseconds timeout) = 0;
  /// The value, if somebody has set it by now; waits for nobody.
  virtual Result<std::optional<std::string>> find(const std::string &key) = 0;
  /// Forgets every key that starts with `prefix`.
  virtual Status erase(const std::string &prefix) = 0;

  /// Returns what each of `size` ranks says of `subject`, in the order of
  /// ranks. All call it once; this one is `rank` and says `statement`. The
  /// error names a rank that did not come within `timeout`.
  virtual Result<std::vector<std::string>>
  gather(const std::string &subject, int rank, int size,
         std::string_view statement, std::chrono::milliseconds timeout);
};

/// A table of this process.
class MemoryStore final : public KeyValueStore {
public:
  Status set(const std::string &key, std::string_view value) override;
  Result<std::string> get(const std::string &key,
                          std::chrono::milliseconds timeout) override;
  Result<std::optional<std::string>> find(const std::string &key) override;
  Status erase(const std::string &prefix) override;

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;
};

/// The part of a store below a prefix, which a generation of processes uses.
class PrefixStore final : public KeyValueStore {
public:
  PrefixStore(std::shared_ptr<KeyValueStore> store, std::string prefix)
      : store(std::move(store)), prefix(std::move(prefix)) {}
  Status set(const std::string &key, std::string_view value) override;
  Result<std::string> get(const std::string &key,
                          std::chrono::milliseconds timeout) override;
  Result<std::optional<std::string>> find(const std::string &key) override;
  Status erase(const std::string &keys) override;

private:
  std::shared_ptr<KeyValueStore> store;
  std::string prefix;
};

} // namespace meshloom
