// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KernelFunction: how a backend whose kernels are machine code calls them.
#pragma once

#include <cstdint>

namespace meshloom {

/// The function that a KernelStep's symbol names.
///
/// operands[k]: address of operand k's element at the first iteration; inputs
///   first, then those outputs that share no input's memory.
/// strides[k * loops + l]: elements from one iteration of loop l to the next.
///   Where an operand's last dim is a loop with coefficient 1 the compiled code
///   relies on that stride being 1, and on 0 for loops it does not use.
/// origin[l]: global index of the first iteration; extents[l]: how many (0: an
///   empty shard; outputs of reductions still get the identity).
using KernelFunction = void (*)(void *const *operands, const int64_t *strides,
                                const int64_t *origin, const int64_t *extents);

/// The address that a CodeSymbols gives, as a function, and back.
inline KernelFunction asKernel(const void *address) {
  return reinterpret_cast<KernelFunction>(const_cast<void *>(address));
}
inline const void *addressOf(KernelFunction function) {
  return reinterpret_cast<const void *>(function);
}

} // namespace meshloom
