// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lines of a user's source that a page links to.
#pragma once

#include "meshloom/Support/Json.h"

#include <map>
#include <set>
#include <string>

namespace meshloom {

/// Collects places such as "model.py:12:8", and reads the lines around them.
class SourceLines {
public:
  void add(const std::string &place);
  /// Returns the lines of each file that can be read here, as
  /// [{"file": "model.py", "lines": [[10, "text"], ...]}, ...]. Long lines are
  /// cut, and files that cannot be read are left out.
  nlohmann::ordered_json read() const;

private:
  std::map<std::string, std::set<int64_t>> lines; ///< by file
};

} // namespace meshloom
