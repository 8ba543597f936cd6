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
  using Pointer = capi::Field<capi::Pointer>;
  using Count = capi::Field<size_t>;

  explicit Arguments(void *structure)
      : base(structure),
        size(capi::read<size_t>(structure, capi::Block::OWN_SIZE)) {
    if (size == 0) // some callers leave the size out
      size = SIZE_MAX;
  }

  template <typename Value, typename T> Value get(capi::Field<T> field) const {
    return field.offset + sizeof(Value) <= size ? capi::read<Value>(base, field)
                                                : Value{};
  }
  template <typename Value, typename T>
  void set(capi::Field<T> field, Value value) const {
    if (field.offset + sizeof(Value) <= size)
      capi::write(base, field, value);
  }
  void setText(Pointer field, Count sizeField, std::string_view text) const {
    set(field, text.data());
    set(sizeField, text.size());
  }
  /// Two fields that are a pointer to elements and their number.
  template <typename T>
  std::span<const T> list(Pointer field, Count countField) const {
    return {get<const T *>(field), get<size_t>(countField)};
  }
  std::string_view text(Pointer field, Count sizeField) const {
    return {get<const char *>(field), get<size_t>(sizeField)};
  }
  /// The object of ours that a handle stands for. Throws meshloom::Error where
  /// the caller gave none.
  template <typename T> T &object(Pointer field) const {
    auto *found = get<T *>(field);
    if (!found)
      Error("expected a handle of an object in the structure of the call, got "
            "a null pointer")
          .raise();
    return *found;
  }
  bool has(Pointer field) const { return get<const void *>(field) != nullptr; }

private:
  void *base;
  size_t size;
};

} // namespace meshloom::plugin
