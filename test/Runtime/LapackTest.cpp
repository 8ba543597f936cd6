// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels OpenBLAS computes with.
#include "../../lib/Runtime/Library/Lapack.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace meshloom;

namespace {

TEST(LapackTest, YoungProcessorsGetTheKernelsOfTheirInstructions) {
  using library::youngerKernels;
  EXPECT_STREQ(youngerKernels("Prescott", true, true), "SkylakeX");
  EXPECT_STREQ(youngerKernels("Barcelona", true, false), "Haswell");
  EXPECT_EQ(youngerKernels("Prescott", false, false), nullptr);
  EXPECT_EQ(youngerKernels("Zen", true, true), nullptr);
  EXPECT_EQ(youngerKernels("SkylakeX", true, true), nullptr);
}

#ifdef __x86_64__
TEST(LapackTest, OpenBlasHasTheKernelsOfThisProcessor) {
  const Status loaded = library::loadLapack();
  ASSERT_TRUE(loaded) << loaded.error().message();
  void *openBlas = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_TRUE(openBlas);
  auto *name = reinterpret_cast<const char *(*)()>(
      dlsym(openBlas, "openblas_get_corename"));
  ASSERT_TRUE(name);
  __builtin_cpu_init();
  EXPECT_EQ(library::youngerKernels(name(), __builtin_cpu_supports("avx2"),
                                    __builtin_cpu_supports("avx512bw")),
            nullptr)
      << "the kernels are those of " << name();
}
#endif

} // namespace
