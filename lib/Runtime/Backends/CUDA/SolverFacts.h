// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about NVIDIA's cuSOLVER that this backend needs: its types, numbers
// and functions. Where cusolverDn.h is there, a test compares it with them.
#pragma once

#include "DriverFacts.h"

namespace meshloom::cuda {

/// The results of the functions; any other number is an error too.
enum class SolverResult : int {
  Success = 0,
  NotInitialized = 1,
  AllocationFailed = 2,
  InvalidValue = 3,
  ArchitectureMismatch = 4,
  ExecutionFailed = 6,
  InternalError = 7,
  NotSupported = 9
};
/// Complex numbers have parts of f32, or of f64.
enum class SolverType : int { F32 = 0, F64 = 1, C64 = 4, C128 = 5 };
/// Says whether a function computes vectors, too.
enum class SolverVectors : int { No = 0, Yes = 1 };
enum class SolverTriangle : int { Lower = 0, Upper = 1 };

using SolverHandle = struct SolverObject *;
using SolverParameters = struct SolverParametersObject *;
/// The parameters of syevj, and those of gesvdj.
using SolverEigenParameters = struct SolverEigenParametersObject *;
using SolverSvdParameters = struct SolverSvdParametersObject *;

} // namespace meshloom::cuda
