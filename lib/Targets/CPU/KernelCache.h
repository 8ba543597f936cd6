// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Object files of kernels, compiled once however the kernels came about: found
// by content in this process's cache.
#pragma once

#include "KernelCodegen.h"

#include <memory>

namespace meshloom {

using KernelObject = std::shared_ptr<const std::string>;

/// The object file of the kernel called `symbol`; null where the cache has
/// none.
KernelObject cachedKernel(StringRef symbol, CodegenMode mode);

/// Whether it has one; does not count as a question.
bool isKernelCached(StringRef symbol, CodegenMode mode);

/// Returns one object for each kernel, in their order: its script, from the
/// cache, or compiled by `compiler`, which is finished with that.
Result<std::vector<KernelObject>>
kernelObjects(ArrayRef<KernelToCompile> kernels, CodegenMode mode,
              KernelCompiler &compiler);

} // namespace meshloom
