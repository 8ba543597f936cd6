// Clones: inner loops compiled twice, for CPUs with AVX2 and FMA and for any;
// the one for the CPU at hand is taken when the program starts.
#pragma once

#if defined(__x86_64__)
#define MESHLOOM_CLONES                                                        \
  __attribute__((target_clones("arch=haswell", "default")))
#else
#define MESHLOOM_CLONES
#endif
