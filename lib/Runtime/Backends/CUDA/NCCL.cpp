// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NCCL.h"

#include "LibraryFunctions.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

Result<const NCCL *> NCCL::open(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error(fmt::format("NVIDIA's NCCL cannot be loaded: {}", dlerror()),
                 ErrorCode::NOT_FOUND);
  auto nccl = std::make_unique<NCCL>();
  LibraryFunctions functions(library);
#define MESHLOOM_NCCL_FUNCTION(name, ...) functions.find(nccl->name, #name);
#include "NCCLFunctions.def"
#undef MESHLOOM_NCCL_FUNCTION
  int version = 0;
  if (nccl->ncclGetVersion)
    (void)nccl->ncclGetVersion(&version);
  if (!functions.missing().empty() || version < OLDEST)
    return Error(fmt::format(
        "'{}' is no NCCL of version 2.14 or later: {}; install a newer one",
        path,
        functions.missing().empty()
            ? fmt::format("its version is {}.{}", version / 10000,
                          version / 100 % 100)
            : "it has no function " + functions.missing()));
  return nccl.release(); // as the library, it stays
}

Result<const NCCL *> NCCL::load(const std::string &path) {
  return openOnce<NCCL>(path, open);
}
