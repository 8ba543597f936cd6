// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reordering: what plants a mistake for mesh-sim to find, two collectives that
// one rank runs in another order than the others.
#pragma once

#include "meshloom/Runtime/Transport.h"

#include <memory>
#include <mutex>
#include <vector>

namespace meshloom::sim {

/// A collective is known by the tag of its messages.
class Reordering {
public:
  /// A transport that notes the collectives of its rank in their order.
  std::shared_ptr<Transport> recorded(std::shared_ptr<Transport> transport);
  /// Returns whether a rank has run two collectives.
  bool isPossible() const;
  /// The transport itself or, for the one rank that `seed` chooses, one on
  /// which two collectives that follow each other have changed places.
  std::shared_ptr<Transport> planted(std::shared_ptr<Transport> transport,
                                     uint64_t seed) const;

private:
  class Recorded;
  std::mutex mutex;
  std::vector<std::vector<uint64_t>> tags; ///< of each rank
};

} // namespace meshloom::sim
