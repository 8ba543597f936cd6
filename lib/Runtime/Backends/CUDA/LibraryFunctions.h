// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LibraryFunctions: how the driver and NVIDIA's other libraries are found when
// a program first needs them.
#pragma once

#include "meshloom/Core/Result.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <span>
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
  /// Fails where some function was not found in the library that openLibrary
  /// has opened.
  Status complete(const std::string &path,
                  std::span<const char *const> systemNames,
                  std::string_view product) const {
    if (missingName.empty())
      return Success();
    return Error(fmt::format("'{}' is no {}: it has no function {}",
                             path.empty() ? systemNames.front() : path, product,
                             missingName));
  }

private:
  void *handle;
  std::string missingName;
};

/// Opens the library `path`; where the path is empty, the first one of
/// `systemNames` that the system has.
inline Result<void *> openLibrary(const std::string &path,
                                  std::span<const char *const> systemNames,
                                  std::string_view product) {
  void *handle = nullptr;
  if (!path.empty())
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  else
    for (const char *name : systemNames)
      if (!handle)
        handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Error(
        fmt::format("NVIDIA's {} cannot be loaded: {}", product, dlerror()),
        ErrorCode::NOT_FOUND);
  return handle;
}

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
