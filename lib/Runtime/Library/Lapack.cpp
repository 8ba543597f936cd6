// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenBLAS, as the process loads it.
#include "Lapack.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>

using namespace meshloom;

namespace {
constexpr const char *library = "libopenblas.so.0",
                     *package = "libopenblas0-pthread";

/// OpenBLAS begins with a thread for each other processor that the thread which
/// loads it may run on, and they all run for a tenth of a second before they
/// sleep: it is shown one processor.
void *loadOnOneProcessor() {
  cpu_set_t allowed, one;
  const bool hasAffinity = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  CPU_ZERO(&one);
  CPU_SET(std::max(sched_getcpu(), 0), &one);
  if (hasAffinity)
    sched_setaffinity(0, sizeof(one), &one);
  void *loaded = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (hasAffinity)
    sched_setaffinity(0, sizeof(allowed), &allowed);
  return loaded;
}

/// Returns whether this processor has the instructions that kernels for
/// Haswell, or for SkylakeX, are made of.
bool hasInstructionsOf([[maybe_unused]] bool skylakeX) {
#ifdef __x86_64__
  __builtin_cpu_init();
  return skylakeX
             ? __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512cd") &&
                   __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
             : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

/// Lets an OpenBLAS that nobody has called yet choose its kernels again, where
/// it does not know this processor.
void chooseKernels(void *loaded) {
  constexpr const char *variable = "OPENBLAS_CORETYPE";
  auto *name = reinterpret_cast<const char *(*)()>(
      dlsym(loaded, "openblas_get_corename"));
  auto *begin =
           reinterpret_cast<void (*)()>(dlsym(loaded, "gotoblas_dynamic_init")),
       *end =
           reinterpret_cast<void (*)()>(dlsym(loaded, "gotoblas_dynamic_quit"));
  // An OpenBLAS for one kind of processor has no choice.
  if (!name || !begin || !end || std::getenv(variable))
    return;
  const char *kernels =
      library::youngerKernels(name(), hasInstructionsOf(/*skylakeX=*/false),
                              hasInstructionsOf(/*skylakeX=*/true));
  if (!kernels)
    return;
  setenv(variable, kernels, /*overwrite=*/0);
  end();
  begin();
  unsetenv(variable);
}

Result<void *> load() {
  const bool isInUse = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  void *loaded = loadOnOneProcessor();
  if (!loaded)
    return Error(fmt::format("functions of matrices need OpenBLAS, which "
                             "Debian's package {} has: {}",
                             package, dlerror()));
  auto *parallel =
      reinterpret_cast<int (*)()>(dlsym(loaded, "openblas_get_parallel"));
  auto *setThreads = reinterpret_cast<void (*)(int)>(
      dlsym(loaded, "openblas_set_num_threads"));
  if (!parallel || !setThreads || !dlsym(loaded, "dgees_"))
    return Error(fmt::format("functions of matrices need OpenBLAS with LAPACK, "
                             "which {} is not; Debian's package {} has it",
                             library, package));
  // Its threads share the buffers of the one, without a lock.
  if (parallel() == 0)
    return Error(fmt::format("functions of matrices need an OpenBLAS that "
                             "several threads may call at once, and {} is the "
                             "serial one: install Debian's package {}",
                             library, package));
  if (!isInUse)
    chooseKernels(loaded);
  // A call is one thread's: the others have matrices of their own.
  setThreads(1);
  return loaded;
}

const Result<void *> &loadedOnce() {
  // Never destroyed: threads may compute while the process ends.
  static const auto &loaded = *new const Result<void *>(load());
  return loaded;
}
} // namespace

const char *library::youngerKernels(std::string_view chosen, bool hasHaswell,
                                    bool hasSkylakeX) {
  constexpr std::string_view young[] = {"Haswell",    "Zen",
                                        "Excavator",  "SkylakeX",
                                        "Cooperlake", "SapphireRapids"};
  if (!hasHaswell || std::ranges::find(young, chosen) != std::end(young))
    return nullptr;
  return hasSkylakeX ? "SkylakeX" : "Haswell";
}

Status library::loadLapack() {
  if (!loadedOnce())
    return loadedOnce().error();
  return Success();
}

void *library::lapackRoutine(char type, const char *name) {
  return dlsym(*loadedOnce(), fmt::format("{}{}_", type, name).c_str());
}
