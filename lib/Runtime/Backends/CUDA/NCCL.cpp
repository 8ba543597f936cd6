// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "NCCL.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace meshloom;
using namespace meshloom::cuda;

Result<const NCCL *> NCCL::open(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error(fmt::format("NVIDIA's NCCL cannot be loaded: {}", dlerror()),
                 ErrorCode::NOT_FOUND);
  auto nccl = std::make_unique<NCCL>();
  std::string missing;
  auto find = [&](auto &function, const char *name) {
    void *address = dlsym(library, name);
    if (!address && missing.empty())
      missing = name;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
  };
#define MESHLOOM_NCCL_FUNCTION(name, ...) find(nccl->name, #name);
#include "NCCLFunctions.def"
#undef MESHLOOM_NCCL_FUNCTION
  int version = 0;
  if (nccl->ncclGetVersion)
    (void)nccl->ncclGetVersion(&version);
  if (!missing.empty() || version < OLDEST)
    return Error(fmt::format(
        "'{}' is no NCCL of version 2.14 or later: {}; install a newer one",
        path,
        missing.empty() ? fmt::format("its version is {}.{}", version / 10000,
                                      version / 100 % 100)
                        : "it has no function " + missing));
  return nccl.release(); // as the library, it stays
}

Result<const NCCL *> NCCL::load(const std::string &path) {
  static std::mutex mutex;
  static auto &libraries = *new std::map<std::string, const NCCL *>;
  std::lock_guard lock(mutex);
  if (auto found = libraries.find(path); found != libraries.end())
    return found->second;
  Result<const NCCL *> library = open(path);
  if (library)
    libraries.emplace(path, *library);
  return library;
}
