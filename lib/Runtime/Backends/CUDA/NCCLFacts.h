// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about NVIDIA's NCCL that this backend needs: its types, numbers and
// functions. Where nccl.h is there, a test compares it with them.
#pragma once

#include "DriverFacts.h"

#include <climits>

namespace meshloom::cuda {

/// The results of the functions; any other number is an error too.
enum class NCCLResult : int {
  Success = 0,
  UnhandledDeviceError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7
};
enum class NCCLType : int {
  I8 = 0,
  UI8 = 1,
  I32 = 2,
  UI32 = 3,
  I64 = 4,
  UI64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9
};
enum class NCCLReduction : int { Sum = 0, Prod = 1, Max = 2, Min = 3 };

/// The name by which ranks find each other.
struct NCCLId {
  char bytes[128];
};
/// The part of a configuration that NCCL 2.14 has, which came first.
struct NCCLConfig {
  size_t bytes = sizeof(NCCLConfig);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 0; ///< functions return before they have done their work
  int clusterSize = INT_MIN;
};
using NCCLHandle = struct NCCLObject *;

} // namespace meshloom::cuda
