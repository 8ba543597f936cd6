// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contracts as texts, and which of them can be meant.
#include "meshloom/Core/Contract.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {

bool areAlike(const Allowance &a, const Allowance &b) {
  return a.kind == b.kind && a.axes == b.axes;
}

std::string kindAndAxes(const Allowance &allowance) {
  return fmt::format("{} over [{}]", name(allowance.kind),
                     fmt::join(allowance.axes, ", "));
}

std::string str(const Allowance &allowance) {
  std::string text = kindAndAxes(allowance);
  if (allowance.count)
    text += fmt::format(": {} in a step", *allowance.count);
  if (allowance.bytes)
    text += fmt::format("{} {} bytes", allowance.count ? "," : ":",
                        *allowance.bytes);
  return text;
}

Result<Contract> normalized(Contract contract) {
  for (Allowance &allowance : contract) {
    std::ranges::sort(allowance.axes);
    const std::string text = str(allowance);
    if (allowance.kind == CollectiveKind::Slice)
      return Error("the contract allows a slice, which sends nothing: leave it "
                   "out");
    if (allowance.axes.empty())
      return Error(fmt::format("the contract allows '{}': name the mesh axes "
                               "that it may run over",
                               text));
    if (std::ranges::adjacent_find(allowance.axes) != allowance.axes.end())
      return Error(
          fmt::format("the contract names an axis twice in '{}'", text));
    if (allowance.count.value_or(0) < 0 || allowance.bytes.value_or(0) < 0)
      return Error(
          fmt::format("the contract has a negative limit in '{}'", text));
  }
  for (auto allowance = contract.begin(); allowance != contract.end();
       ++allowance)
    if (std::any_of(contract.begin(), allowance, [&](const Allowance &earlier) {
          return areAlike(earlier, *allowance);
        }))
      return Error(fmt::format("the contract has two entries for {}: make one "
                               "of them",
                               kindAndAxes(*allowance)));
  return contract;
}

} // namespace meshloom
