// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory and the element types of new buffers.
#pragma once

#include "PluginObjects.h"

namespace meshloom::plugin {

/// Memory for `bytes` bytes, aligned as arrays are. Throws meshloom::Error
/// where there is none.
std::shared_ptr<char> allocateAligned(int64_t bytes);

/// The memory that a call names, or its device's default one.
template <typename Args> MemoryObject &memoryOf(const Arguments &args) {
  if (args.has(Args::memory))
    return args.object<MemoryObject>(Args::memory);
  return args.object<DeviceObject>(Args::device).defaultMemory();
}

/// The type with the C API's number. Fails where no buffer has elements of that
/// type, or such dims.
Result<ElementType> checkedType(int32_t number,
                                std::span<const int64_t> extents);

/// Gives each byte of a truth value or a narrow number the one form that
/// kernels know: users' memory may have anything in unused bits.
void normalize(std::span<char> bytes, const ElementType &element);

} // namespace meshloom::plugin
