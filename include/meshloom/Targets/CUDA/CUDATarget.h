// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target of NVIDIA GPUs: kernels in PTX, and how they are launched
// (Core/DeviceCode.h). See docs/CUDA.md.
#pragma once

#include "meshloom/Targets/Target.h"

namespace meshloom {

const Target &cudaTarget();

} // namespace meshloom
