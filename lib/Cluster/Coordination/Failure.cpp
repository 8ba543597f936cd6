// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Failure.h.
#include "meshloom/Cluster/Coordination/Failure.h"

#include <fmt/format.h>

namespace meshloom {

std::string Failure::message() const {
  const std::string who =
      host.empty()
          ? fmt::format("rank {}", rank)
          : fmt::format("rank {} (host {}, process {})", rank, host, pid);
  switch (kind) {
  case Kind::LOST:
    return fmt::format("{} is lost: {}", who, text);
  case Kind::REPORTED:
    return fmt::format("{} failed: {}", who, text);
  case Kind::REFUSED:
    return fmt::format("{} cannot be in this run: {}", who, text);
  case Kind::SERVICE_LOST:
    if (rank < 0)
      return fmt::format("the coordination service is lost: {}", text);
    return fmt::format("{}, which runs the coordination service, is lost: {}",
                       who, text);
  case Kind::ABORTED:
    return text;
  }
  return text;
}

} // namespace meshloom
