// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How resolvers read numbers, and what other programs tell.
#pragma once

#include "meshloom/Cluster/ClusterResolver.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace meshloom::detail {

/// All of a text as a number that is not negative.
inline std::optional<int64_t> readNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return std::nullopt;
  return number;
}

/// The output of a command, run without a shell. Fails where it cannot be run
/// or exits with another status than 0, with what it wrote to its error stream.
Result<std::string> commandOutput(const std::vector<std::string> &command);

} // namespace meshloom::detail
