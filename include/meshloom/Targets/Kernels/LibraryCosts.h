// LibraryCosts: what ops that run as library calls cost, as a function of their
// rule's factors.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

struct LibraryCost {
  /// Simple operations for each point of the space of all factors not in
  /// `flat`.
  int64_t flopsPerPoint = 1;
  /// Factors whose size and shards do not change the work: a lookup in a table
  /// costs the same whatever the table's size, and every device that has a part
  /// of the table goes through all indices.
  std::vector<unsigned> flat;

  /// Of the whole op, on all devices together.
  int64_t total(const ShardingRule &rule) const;
};

/// Nothing for ops that are no library calls.
std::optional<LibraryCost> libraryCost(Operation *op);

} // namespace meshloom
