// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LibraryFunctions: how the driver and NVIDIA's other libraries are found when
// a program first needs them.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Result.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <memory>
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

private:
  void *handle;
  std::string missingName;
};

/// Returns the library `path`, which `open(path)` opens once in a process. A
/// failure is not remembered.
template <typename Library, typename Open>
Result<const Library *> openOnce(const std::string &path, const Open &open) {
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

/// How a library of NVIDIA's is found.
struct LibraryProduct {
  std::string_view name; ///< "cuFFT"
  /// Systems have it in files of these names, of which the newest is the first.
  std::span<const char *const> systemNames;
};

/// Returns the library `path`, or that of the system where the path is empty;
/// it is opened once in a process, where it stays. `findAll(functions,
/// library)` finds each function that is needed. Fails where there is no such
/// library, or where it lacks a function.
template <typename Library, typename FindAll>
Result<const Library *> loadLibrary(const std::string &path,
                                    const LibraryProduct &product,
                                    const FindAll &findAll) {
  auto open = [&](const std::string &) -> Result<const Library *> {
    void *handle = nullptr;
    if (!path.empty())
      handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    else
      for (const char *name : product.systemNames)
        if (!handle)
          handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      return Error(fmt::format("NVIDIA's {} cannot be loaded: {}", product.name,
                               dlerror()),
                   ErrorCode::NOT_FOUND);
    auto library = std::make_unique<Library>();
    LibraryFunctions functions(handle);
    findAll(functions, *library);
    if (!functions.missing().empty())
      return Error(
          fmt::format("'{}' is no {}: it has no function {}",
                      path.empty() ? product.systemNames.front() : path,
                      product.name, functions.missing()));
    return library.release(); // as the library, it stays
  };
  return openOnce<Library>(path, open);
}

/// Returns the error of a call of a library's function, whose result has a
/// name.
inline Error failedCall(std::string_view function, std::string_view result) {
  return Error(fmt::format("{} fails with {}", function, result),
               ErrorCode::INTERNAL);
}

/// Returns the function of a library for numbers of a type, which is one of
/// these.
template <typename Function>
Function functionOf(DType type, Function f32, Function f64, Function c64,
                    Function c128) {
  switch (type) {
  case DType::F32:
    return f32;
  case DType::F64:
    return f64;
  case DType::C64:
    return c64;
  default:
    return c128;
  }
}

} // namespace meshloom::cuda
