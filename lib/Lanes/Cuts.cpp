// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts, see Cuts.h.
#include "Cuts.h"

namespace meshloom {

const lanes::Cut *lanes::cutOf(const Cuts &cuts, int64_t dim) {
  auto found =
      llvm::find_if(cuts, [&](const Cut &cut) { return cut.dim == dim; });
  return found == cuts.end() ? nullptr : found;
}

std::optional<lanes::Cuts> lanes::throughReshape(ArrayRef<int64_t> from,
                                                 ArrayRef<int64_t> to,
                                                 const Cuts &cuts) {
  Cuts moved;
  for (const Cut &cut : cuts) {
    // Elements from one to the next along the cut, counted over all dims.
    int64_t step = cut.minor;
    for (int64_t dim = cut.dim + 1; dim < int64_t(to.size()); ++dim)
      step *= to[dim];
    int64_t stride = 1;
    int64_t dim = int64_t(from.size()) - 1;
    while (dim >= 0 && stride * from[dim] <= step &&
           !(cut.extent == 1 && stride == step && from[dim] == 1))
      stride *= from[dim--];
    if (cut.extent == 1 && (dim < 0 || from[dim] != 1))
      continue; // one addend, wherever it is
    if (dim < 0 || step % stride || from[dim] % (step / stride * cut.extent))
      return std::nullopt;
    moved.push_back({dim, step / stride, cut.extent});
  }
  // Two of one dim are one where they are neighbours.
  llvm::sort(moved, [](const Cut &a, const Cut &b) {
    return std::pair(a.dim, -a.minor) < std::pair(b.dim, -b.minor);
  });
  Cuts merged;
  for (const Cut &cut : moved) {
    if (merged.empty() || merged.back().dim != cut.dim) {
      merged.push_back(cut);
      continue;
    }
    Cut &major = merged.back();
    if (major.minor != cut.minor * cut.extent)
      return std::nullopt;
    major = {cut.dim, cut.minor, major.extent * cut.extent};
  }
  return merged;
}

} // namespace meshloom
