// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Region: any set of elements of a global array, as boxes.
#pragma once

#include "meshloom/Core/Box.h"

namespace meshloom::plan {

/// Boxes of one rank that do not overlap, none of them empty.
using Region = std::vector<Box>;

/// The elements of any of `boxes`, which may overlap and be empty. Few boxes
/// where that is easy: those of a grid's cells are one again.
Region unionOf(std::vector<Box> boxes);
Region intersect(const Region &a, const Box &b);
/// Returns the part of `a` that is in no box of `without`.
Region subtract(Region a, const Region &without);
bool covers(const Region &region, const Region &part);
/// The smallest box around `boxes`, of arrays of `rank` dims; at 0 and empty
/// where there is nothing.
Box hullOf(const std::vector<Box> &boxes, size_t rank);

} // namespace meshloom::plan
