// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How kernels are launched, and boxes copied.
#pragma once

#include "Card.h"

#include "meshloom/Core/DeviceCode.h"

namespace meshloom::cuda {

/// A kernel counts its results in 32 bits: see KernelShape.
inline constexpr int64_t MOST_RESULTS = (int64_t(1) << 31) - 1;

/// Returns how many blocks a launch has: fewer than have work where those go on
/// with further results.
unsigned blocksOf(const KernelShape &shape, std::span<const int64_t> extents,
                  const Card &card);

/// A kernel that a card has, and how it is launched.
struct LoadedKernel {
  const KernelShape *shape = nullptr;
  FunctionHandle function = nullptr;
};

/// The values of a kernel's parameters: see KernelParameter.
struct KernelArguments {
  std::span<char *const> pointers;
  std::span<const int64_t> extents, origin;
  std::function<int64_t(unsigned operand, unsigned loop)> stride;
};

/// Launches a kernel of at most MOST_RESULTS results.
Status launchKernel(Commands &commands, const Card &card,
                    const LoadedKernel &kernel,
                    const KernelArguments &arguments);

/// Copies a box of elements of `width` bytes: runs of elements, rows of runs
/// and planes of rows are one copy. Strides are in elements.
Status copyStrided(Commands &commands, char *to, const char *from,
                   std::span<const int64_t> extents,
                   std::span<const int64_t> fromStrides,
                   std::span<const int64_t> toStrides, int64_t width);

} // namespace meshloom::cuda
