// What the processes of one host are started with: the same here, where
// mesh-launch starts them itself, and on hosts where an agent of its does.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace meshloom::launch {

/// Some ranks of a run, all on one host.
struct RankStart {
  std::vector<int64_t> ranks;
  std::vector<std::string> program; ///< with its arguments
  std::string folder;               ///< to run in; empty: this program's
  /// Variables of all of them, in place of or beside the host's own.
  std::map<std::string, std::string> variables;
};

/// The environment of a rank: this process' with `start`'s variables and those
/// that differ from rank to rank.
std::vector<std::string> environmentOf(const RankStart &start, int64_t rank);

/// As one line of text, and back. Throws nlohmann::json::exception on a text of
/// another kind.
std::string toText(const RankStart &start);
RankStart fromText(const std::string &text);

} // namespace meshloom::launch
