// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clones: inner loops compiled three times, for CPUs with AVX-512, with AVX2
// and FMA and for any; the one for the CPU at hand is taken when the program
// starts. (By a level of the architecture: the name of a CPU is that model
// alone.) That is before ThreadSanitizer is ready. For sanitizers there is the
// last one alone: they check the same source in each, and all three take them
// a third of the library's compile time.
#pragma once

#include "meshloom/Runtime/Sanitizers.h"

#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER) &&              \
    !defined(MESHLOOM_ADDRESS_SANITIZER)
#define MESHLOOM_CLONES                                                        \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define MESHLOOM_CLONES
#endif
