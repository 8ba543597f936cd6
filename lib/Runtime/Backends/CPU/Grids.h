// Grids: how a product of matrices is cut along two loops, where one loop would
// leave each chunk a few rows (or columns) and all of the other operand.
#pragma once

#include "Work.h"

namespace meshloom::cpu {

/// Grids of `chunks` chunks that make a product notably faster than the best
/// cut along one loop, best first; none where that one is as good.
/// `work` is the product's, with its loops and candidates.
std::vector<Grid> findGrids(const DotStep &step, const Work &work,
                            int64_t chunks);

} // namespace meshloom::cpu
