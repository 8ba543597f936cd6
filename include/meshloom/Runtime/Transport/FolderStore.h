// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FolderStore: a store in a folder, for processes of one host that have no
// coordination service: benchmarks and tests.
#pragma once

#include "meshloom/Runtime/KeyValueStore.h"

namespace meshloom {

/// A file per key. Waiting looks again every millisecond.
class FolderStore final : public KeyValueStore {
public:
  /// The folder is there.
  explicit FolderStore(std::string folder) : folder(std::move(folder)) {}
  Status set(const std::string &key, std::string_view value) override;
  Result<std::string> get(const std::string &key,
                          std::chrono::milliseconds timeout) override;
  Result<std::optional<std::string>> find(const std::string &key) override;
  Status erase(const std::string &prefix) override;

private:
  std::string fileOf(const std::string &key) const;
  std::string folder;
};

} // namespace meshloom
