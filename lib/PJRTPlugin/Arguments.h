// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments: a structure of the PJRT C API as a function of the plug-in sees
// it.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Runtime/Backends/PJRT/Abi.h"

#include <cstdint>
#include <span>

namespace meshloom::plugin {

namespace capi = pjrt::capi;

/// The structure that a caller gave. Callers of older versions give shorter
/// structures: a field that theirs lacks reads as zero, and is not written.
class Arguments {
public:
  explicit Arguments(void *structure)
      : base(structure), size(capi::read<size_t>(structure, 0)) {
    if (size == 0) // some callers leave the size out
      size = SIZE_MAX;
  }

  template <typename T> T get(size_t field) const {
    return field + sizeof(T) <= size ? capi::read<T>(base, field) : T{};
  }
  template <typename T> void set(size_t field, T value) const {
    if (field + sizeof(T) <= size)
      capi::write(base, field, value);
  }
  void setText(size_t field, size_t sizeField, std::string_view text) const {
    set(field, text.data());
    set(sizeField, text.size());
  }
  /// Two fields that are a pointer to elements and their number.
  template <typename T>
  std::span<const T> list(size_t field, size_t countField) const {
    return {get<const T *>(field), get<size_t>(countField)};
  }
  std::string_view text(size_t field, size_t sizeField) const {
    return {get<const char *>(field), get<size_t>(sizeField)};
  }
  /// The object of ours that a handle stands for. Throws meshloom::Error where
  /// the caller gave none.
  template <typename T> T &object(size_t field) const {
    auto *found = get<T *>(field);
    if (!found)
      Error("expected a handle of an object in the structure of the call, got "
            "a null pointer")
          .raise();
    return *found;
  }
  bool has(size_t field) const { return get<const void *>(field) != nullptr; }

private:
  void *base;
  size_t size;
};

} // namespace meshloom::plugin
