// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and convolutions take denormal numbers for zeros, as XLA does on
// CPUs: processors multiply them a hundred times slower, and beside any other
// term of a sum they are nothing.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace meshloom::library {

/// While it lives, float instructions of this thread read denormal numbers as
/// zeros, and give zeros for them.
class DenormalsAreZeros {
public:
  DenormalsAreZeros() { set(before | bits); }
  ~DenormalsAreZeros() { set(before); }
  DenormalsAreZeros(const DenormalsAreZeros &) = delete;
  DenormalsAreZeros &operator=(const DenormalsAreZeros &) = delete;

private:
#if defined(__x86_64__)
  static constexpr unsigned bits = 0x8040; // FTZ and DAZ
  static unsigned get() { return _mm_getcsr(); }
  static void set(unsigned mode) { _mm_setcsr(mode); }
  const unsigned before = get();
#elif defined(__aarch64__)
  static constexpr uint64_t bits = uint64_t(1) << 24; // FZ
  static uint64_t get() {
    uint64_t mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
  const uint64_t before = get();
#else
  static constexpr int bits = 0, before = 0;
  static void set(int) {}
#endif
};

} // namespace meshloom::library
