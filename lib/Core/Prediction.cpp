// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums of a prediction.
#include "meshloom/Core/Prediction.h"

using namespace meshloom;

std::string_view meshloom::name(MemoryUse use) {
  switch (use) {
  case MemoryUse::Argument:
    return "argument";
  case MemoryUse::Constant:
    return "constant";
  case MemoryUse::Result:
    return "result";
  case MemoryUse::Temporary:
    break;
  }
  return "temporary";
}

int64_t PredictedMemory::bytesOf(MemoryUse use) const {
  int64_t bytes = 0;
  for (const PredictedTensor &tensor : atPeak)
    if (tensor.use == use)
      bytes += tensor.bytes;
  return bytes;
}
