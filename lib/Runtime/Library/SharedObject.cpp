// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels from an ELF shared object that a saved program carries: written to
// an anonymous file, loaded by dlopen.
#include "meshloom/Runtime/Library/HostCode.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace meshloom;

namespace {
class SharedObject : public CodeSymbols {
public:
  SharedObject(void *handle, int file) : handle(handle), file(file) {}
  ~SharedObject() override {
    dlclose(handle);
    close(file);
  }
  Result<const void *> lookup(const std::string &symbol) const override {
    if (void *address = dlsym(handle, symbol.c_str()))
      return static_cast<const void *>(address);
    return Error(
        fmt::format("the program's shared object has no kernel '{}'", symbol));
  }

private:
  void *handle;
  /// Stays open: the loader knows objects by their path, and takes a reused
  /// descriptor for the object that it named before.
  int file;
};
} // namespace

Result<std::shared_ptr<const CodeSymbols>>
library::loadSharedObject(std::span<const char> bytes) {
  const int file = memfd_create("meshloom-kernels", MFD_CLOEXEC);
  if (file < 0)
    return Error(fmt::format("cannot hold the program's kernels in memory: {}",
                             std::strerror(errno)));
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0) {
      const int reason = errno;
      close(file);
      return Error(fmt::format("cannot write the program's kernels: {}",
                               std::strerror(reason)));
    }
    done += size_t(n);
  }
  // Where a library that was loaded locally uses Meshloom, the process does not
  // show what that library needs.
  (void)dlopen("libm.so.6", RTLD_LAZY | RTLD_GLOBAL);
  void *handle = dlopen(fmt::format("/proc/self/fd/{}", file).c_str(),
                        RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    close(file);
    return Error(fmt::format("the program's kernels are not a shared object "
                             "that can be loaded: {}",
                             dlerror()));
  }
  return std::shared_ptr<const CodeSymbols>(
      std::make_shared<SharedObject>(handle, file));
}
