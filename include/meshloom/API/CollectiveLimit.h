// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long collectives of several processes may take, for those who write
// strategies: see CommunicationOptions::timeout_seconds.
#pragma once

#include <memory>
#include <optional>

namespace meshloom {
class CollectiveTimeout;
}

namespace meshloom::detail {

/// While one lives, the collectives that this thread calls fail after `asked`
/// seconds without progress, or, where nothing is asked, after `usual`. So do,
/// later, those of what it traces meanwhile: a program has one limit, the
/// longest that is asked for any of its collectives.
class CollectiveLimit {
public:
  CollectiveLimit(std::optional<double> asked, std::optional<double> usual);
  ~CollectiveLimit();
  CollectiveLimit(const CollectiveLimit &) = delete;
  CollectiveLimit &operator=(const CollectiveLimit &) = delete;

private:
  std::unique_ptr<CollectiveTimeout> here;
};

} // namespace meshloom::detail
