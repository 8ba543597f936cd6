// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LibraryFunctions: how the driver and NVIDIA's other libraries are found when
// a program first needs them.
#pragma once

#include "meshloom/Core/Result.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>

namespace meshloom::cuda {

/// Finds the functions of a library by their names.
class LibraryFunctions {
public:
  /// `handle`: what dlopen has returned.
  explicit LibraryFunctions(void *handle) : handle(handle) {}

  /// Sets `function` to the address of a function, or to null.
  template <typename Function>
  void find(Function *&function, const char *name) {
    void *address = dlsym(handle, name);
    if (!address && missingName.empty())
      missingName = name;
    function = reinterpret_cast<Function *>(address);
  }
  /// Returns the first name that was not found; empty if all were.
  const std::string &missing() const { return missingName; }

private:
  void *handle;
  std::string missingName;
};

/// Returns the library `path`, which `open(path)` opens once in a process. A
/// failure is not remembered.
template <typename Library>
Result<const Library *>
openOnce(const std::string &path,
         Result<const Library *> (*open)(const std::string &)) {
  // Never destroyed: arrays that outlive main keep cards alive.
  static std::mutex &mutex = *new std::mutex;
  static auto &libraries = *new std::map<std::string, const Library *>;
  std::lock_guard lock(mutex);
  if (auto found = libraries.find(path); found != libraries.end())
    return found->second;
  Result<const Library *> library = open(path);
  if (library)
    libraries.emplace(path, *library);
  return library;
}

} // namespace meshloom::cuda
