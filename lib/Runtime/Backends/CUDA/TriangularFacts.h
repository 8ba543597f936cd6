// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about NVIDIA's cuBLAS that this backend needs, for triangular
// systems: its numbers and functions. Where cublas_v2.h is there, a test
// compares it with them.
#pragma once

#include "BlasFacts.h"
#include "SolverFacts.h"

namespace meshloom::cuda {

enum class TriangularSide : int { Left = 0, Right = 1 };
enum class TriangularTranspose : int { None = 0, Transpose = 1, Adjoint = 2 };
enum class TriangularDiagonal : int { Stored = 0, Ones = 1 };

using TriangularHandle = struct TriangularObject *;

} // namespace meshloom::cuda
