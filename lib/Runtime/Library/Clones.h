// Clones: inner loops compiled twice, for CPUs with AVX2 and FMA and for any;
// the one for the CPU at hand is taken when the program starts. That is before
// ThreadSanitizer is ready, which has the other one only.
#pragma once

#include "meshloom/Runtime/ThreadSanitizer.h"

#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
#define MESHLOOM_CLONES                                                        \
  __attribute__((target_clones("arch=haswell", "default")))
#else
#define MESHLOOM_CLONES
#endif
