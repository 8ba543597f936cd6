// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about NVIDIA's cuBLASLt that this backend needs: its types, numbers
// and functions. Where cublasLt.h is there, a test compares it with them.
#pragma once

#include "DriverFacts.h"

namespace meshloom::cuda {

/// The results of the functions; any other number is an error too.
enum class BlasResult : int {
  Success = 0,
  NotInitialized = 1,
  AllocationFailed = 3,
  InvalidValue = 7,
  ExecutionFailed = 13,
  NotSupported = 15
};
enum class BlasType : int { F32 = 0, F16 = 2, BF16 = 14 };
/// F32: sums of f32, whose operands are not rounded to TF32.
enum class BlasCompute : int { F32 = 68 };
/// The value of an attribute of products.
enum class BlasTranspose : int { No = 0, Yes = 1 };
enum class BlasProductAttribute : int {
  TransposeA = 3,
  TransposeB = 4,
  Epilogue = 7,
  Bias = 8,
  Auxiliary = 11,
  AuxiliaryPitch = 12
};
/// Bits that the library combines; Gelu is the form with tanh.
enum class BlasEpilogue : uint32_t {
  None = 1,
  Bias = 4,
  BiasGradient = 16,
  Gelu = 32,
  Auxiliary = 128,
  GeluGradient = 192,
  BiasGradientOfA = 256,
  BiasGradientOfB = 512
};
enum class BlasLayoutAttribute : int { BatchCount = 5, BatchStride = 6 };
enum class BlasPreferenceAttribute : int {
  MostWorkspaceBytes = 1,
  AlignmentOfA = 5,
  AlignmentOfB = 6,
  AlignmentOfC = 7,
  AlignmentOfD = 8
};

using BlasHandle = struct BlasObject *;
using BlasProductHandle = struct BlasProductObject *;
using BlasLayoutHandle = struct BlasLayoutObject *;
using BlasPreferenceHandle = struct BlasPreferenceObject *;

struct BlasAlgorithm {
  uint64_t data[8];
};
/// An algorithm that the library proposes for a product.
struct BlasHeuristic {
  BlasAlgorithm algorithm;
  size_t workspaceBytes;
  BlasResult state;
  float waves;
  int reserved[4];
};

} // namespace meshloom::cuda
