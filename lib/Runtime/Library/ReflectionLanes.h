// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QR factorizations of small real matrices by Householder's reflections, a
// matrix in each lane.
// Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 5.1 and 5.2.
#pragma once

#include "MatrixLanes.h"

namespace meshloom::library {

/// Puts R in place of the upper triangle of `a`, and below it the vectors of
/// the reflections, whose first elements are 1. Sets the column `taus` to their
/// factors. No square of an element overflows.
void factorQr(MatrixLanes &a, MatrixLanes &taus);

/// Puts the first columns of the product of the reflections, whose vectors are
/// below the diagonal of `q`, in their place. Above the diagonal and in columns
/// without a tau `q` is zero.
void multiplyReflections(MatrixLanes &q, MatrixLanes &taus);

} // namespace meshloom::library
