// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A progress bar on a terminal; nothing where the output is a file.
#pragma once

#include <cstdint>
#include <string>

namespace mnist {

class Progress {
public:
  Progress(std::string label, int64_t total);
  ~Progress() { finish(); }
  /// Redraws at most ten times a second.
  void update(int64_t done, const std::string &note);
  void finish();

private:
  std::string label;
  int64_t total;
  bool terminal;
  double lastDrawn = 0;
};

} // namespace mnist
