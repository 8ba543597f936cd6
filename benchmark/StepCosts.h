// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the time of a model's step goes, by op.
#pragma once

#include <meshloom/API/Profile.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace meshloom::peers {

/// The costs of all steps, those of one op and source line (the same of each
/// layer) together, in milliseconds of all workers.
inline void printCosts(const std::vector<StepCost> &steps) {
  std::map<std::string, std::pair<double, int64_t>> costs;
  double total = 0;
  for (const StepCost &step : steps) {
    auto &[seconds, count] = costs[step.op + "  " + step.source];
    seconds += step.seconds;
    ++count;
    total += step.seconds;
  }
  std::vector<std::pair<std::string, std::pair<double, int64_t>>> sorted(
      costs.begin(), costs.end());
  std::ranges::sort(sorted, std::greater(),
                    [](const auto &cost) { return cost.second.first; });
  for (const auto &[name, cost] : sorted)
    if (cost.first >= total / 1000)
      std::printf("%9.3f ms %5.1f%% %4ld x  %s\n", cost.first * 1e3,
                  100 * cost.first / total, cost.second, name.c_str());
}

} // namespace meshloom::peers
