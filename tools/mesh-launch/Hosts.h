// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hosts, and how ranks are given out to them.
#pragma once

#include "Task.h"

#include "meshloom/Core/Result.h"

#include <optional>
#include <string_view>

namespace meshloom::launch {

/// A host and how many processes it takes; none: as many as there are for it.
struct HostSlots {
  std::string name;
  std::optional<int64_t> slots;
};
/// "a,b:2". Fails where it is malformed.
Result<std::vector<HostSlots>> readHosts(const std::string &text);
/// Lines "name [slots]"; "#" begins a comment.
Result<std::vector<HostSlots>> readHostsFile(const std::string &text);

/// Gives ranks out to hosts, in order. Fails where they do not fit.
Result<std::vector<Task>> placeRanks(const std::vector<HostSlots> &hosts,
                                     std::optional<int64_t> wanted);

/// All of `text` as a number.
std::optional<int64_t> readNumber(std::string_view text);

} // namespace meshloom::launch
