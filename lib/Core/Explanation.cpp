// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/Explanation.h"

#include "meshloom/Core/SubAxis.h"

namespace meshloom {

std::vector<std::string> ExplainedCollective::axisNames() const {
  return mergedNames(first().from.mesh(), first().axes);
}

int64_t ExplainedCollective::countedBytes() const {
  int64_t bytes = 0;
  for (const MovedValue &value : values)
    bytes += value.countedBytes;
  return bytes;
}

} // namespace meshloom
