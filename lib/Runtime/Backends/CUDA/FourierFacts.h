// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about NVIDIA's cuFFT that this backend needs: its types, numbers
// and functions. Where cufft.h is there, a test compares it with them.
#pragma once

#include "DriverFacts.h"

namespace meshloom::cuda {

/// The results of the functions; any other number is an error too.
enum class FourierResult : int {
  Success = 0,
  InvalidPlan = 1,
  AllocationFailed = 2,
  InvalidType = 3,
  InvalidValue = 4,
  InternalError = 5,
  ExecutionFailed = 6,
  SetupFailed = 7,
  InvalidSize = 8,
  NoWorkspace = 13,
  NotImplemented = 14,
  NotSupported = 16
};
/// From what to what: complex (C) or real (R) numbers of f32, and of f64.
enum class FourierType : int {
  C2C = 0x29,
  R2C = 0x2a,
  C2R = 0x2c,
  C2C64 = 0x69,
  R2C64 = 0x6a,
  C2R64 = 0x6c
};
enum class FourierDirection : int { Forward = -1, Inverse = 1 };

using FourierHandle = int;

} // namespace meshloom::cuda
