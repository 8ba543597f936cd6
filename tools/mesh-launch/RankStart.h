// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The start of the processes of one host: the same here, where mesh-launch
// starts them itself, and on hosts where an agent of its does.
#pragma once

#include "Task.h"

namespace meshloom::launch {

/// Some processes of a start, all on one host.
struct RankStart {
  std::vector<int64_t> ranks;       ///< their places among all
  std::vector<std::string> program; ///< with its arguments
  std::string folder;               ///< to run in; empty: this program's
  /// Variables of all of them, in place of or beside the host's own,
  std::map<std::string, std::string> variables;
  /// and those that each has for itself.
  std::vector<std::map<std::string, std::string>> perRank;
};

/// The environment of the index-th of them: this process' with both.
std::vector<std::string> environmentOf(const RankStart &start, size_t index);

/// Writes the start as one line of text, and reads it. Throws
/// nlohmann::json::exception on a text of another kind.
std::string toText(const RankStart &start);
RankStart fromText(const std::string &text);

} // namespace meshloom::launch
