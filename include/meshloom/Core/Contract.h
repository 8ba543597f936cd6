// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contract: limits of what a program sends between its devices.
#pragma once

#include "meshloom/Core/Collective.h"

#include <optional>
#include <string>
#include <vector>

namespace meshloom {

/// An Allowance permits collectives of one kind over the same mesh axes.
struct Allowance {
  CollectiveKind kind = CollectiveKind::AllReduce; ///< all_reduce, ...
  /// The names of the mesh axes, in any order. An axis of which only a part is
  /// used is named as reports name it.
  std::vector<std::string> axes = {};
  /// At most so many collectives run in one step, where one in a loop counts
  /// each time; nothing: any number.
  std::optional<int64_t> count = std::nullopt;
  /// At most so many bytes are sent by each device in one step, by the ring
  /// algorithm; nothing: any number.
  std::optional<int64_t> bytes = std::nullopt;

  bool operator==(const Allowance &) const = default;
};

/// All that a program may send. Collectives that no allowance is about are
/// forbidden, so that an empty contract forbids all of them.
using Contract = std::vector<Allowance>;

/// Returns whether both are about the same kind of collectives over the same
/// axes, which are in the same order.
bool areAlike(const Allowance &a, const Allowance &b);

/// "all_reduce over [batch]".
std::string kindAndAxes(const Allowance &allowance);

/// "all_reduce over [batch]: 2 in a step, 4263 bytes"; without the limits that
/// there are not.
std::string str(const Allowance &allowance);

/// Fails where a contract cannot be meant: no axis, the same axis twice, a
/// negative limit, or two allowances for the same kind and axes. Axes of the
/// result are sorted.
Result<Contract> normalized(Contract contract);

} // namespace meshloom
