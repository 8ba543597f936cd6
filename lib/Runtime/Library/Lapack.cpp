// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenBLAS, as the process loads it.
#include "Lapack.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

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

Result<void *> load() {
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

Status library::loadLapack() {
  if (!loadedOnce())
    return loadedOnce().error();
  return Success();
}

void *library::lapackRoutine(char type, const char *name) {
  return dlsym(*loadedOnce(), fmt::format("{}{}_", type, name).c_str());
}
