// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws "Epoch 0 [=====>    ] 23/40 loss 0.41".
#include "Progress.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

namespace mnist {

Progress::Progress(std::string label, int64_t total)
    : label(std::move(label)), total(total), terminal(isatty(STDOUT_FILENO)) {}

void Progress::update(int64_t done, const std::string &note) {
  if (!terminal)
    return;
  double now = std::chrono::duration<double>(
                   std::chrono::steady_clock::now().time_since_epoch())
                   .count();
  if (done < total && now - lastDrawn < 0.1)
    return;
  lastDrawn = now;
  constexpr int64_t Width = 30;
  auto filled = static_cast<size_t>(Width * done / total);
  std::string bar(filled, '=');
  bar.resize(Width, ' ');
  std::printf("\r%s [%s] %lld/%lld %s\033[K", label.c_str(), bar.c_str(),
              static_cast<long long>(done), static_cast<long long>(total),
              note.c_str());
  std::fflush(stdout);
}

void Progress::finish() {
  if (terminal && lastDrawn > 0)
    std::printf("\r\033[K");
  lastDrawn = 0;
}

} // namespace mnist
