// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of boxes whose elements lie anywhere in two arrays.
#pragma once

#include <cstdint>
#include <span>

namespace meshloom::library {

/// Returns the bytes of the registers in which this CPU looks bytes up: 64
/// (AVX-512 VBMI), 16 (SSSE3) or 0 for none.
int64_t lookUpBytes();

/// to[i...] = from[i...] for all i below `extent`; strides in elements of
/// `width` bytes. Both arrays may be the same, not overlap otherwise, and no
/// two elements of `to` have one place. `vector`: bytes of the registers in
/// which bytes are looked up, at most lookUpBytes().
void copyElements(unsigned width, std::span<const int64_t> extent, char *to,
                  std::span<const int64_t> toStrides, const char *from,
                  std::span<const int64_t> fromStrides,
                  int64_t vector = lookUpBytes());

} // namespace meshloom::library
