// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One process of a start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace meshloom::launch {

/// The meaning of the end of a process for the others.
enum class Duty : uint8_t {
  Computes, ///< the run is over when all of these have ended
  Serves,   ///< it ends with those that compute; the run fails without it
  Helps     ///< it ends with those that compute, which go on without it
};

struct Task {
  std::string name;  ///< for messages: "rank 3", "worker 0"
  std::string label; ///< in front of its lines: "3", "worker 0"
  std::string host;
  bool local = true;
  Duty duty = Duty::Computes;
  std::map<std::string, std::string> variables; ///< its own ones
};

} // namespace meshloom::launch
