// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments: a structure of the PJRT C API as a function of the plug-in sees
// it, and objects that handles stand for. Callers may be wrong: a null pointer,
// a handle of a different kind or of a destroyed object, and a count that no
// list has are errors.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Runtime/Backends/PJRT/Abi.h"

#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <span>

namespace meshloom::plugin {

namespace capi = pjrt::capi;

/// The first base of an object of type T that a handle stands for. Its first
/// bytes tell the kind of the object until it is destroyed. `T::kindName` is
/// the kind in messages, as in "a buffer".
template <typename T> class HandleObject {
public:
  HandleObject() = default;
  HandleObject(const HandleObject &) = delete;
  HandleObject &operator=(const HandleObject &) = delete;
  ~HandleObject() { kind = nullptr; }

  static bool isObject(const void *handle) {
    return *static_cast<const void *const volatile *>(handle) == &marker;
  }

private:
  static constexpr char marker = 0;
  const void *volatile kind = &marker;
};

/// The structure that a caller gave. Callers of older versions give shorter
/// structures: a field that theirs lacks reads as zero, and is not written.
class Arguments {
public:
  using Pointer = capi::Field<capi::Pointer>;
  using Count = capi::Field<size_t>;

  /// Throws meshloom::Error where there is no structure.
  explicit Arguments(void *structure) : base(structure) {
    if (!structure)
      Error("expected the structure of the call, got a null pointer").raise();
    size = capi::read<size_t>(structure, capi::Block::OWN_SIZE);
    if (size == 0) // some callers leave the size out
      size = SIZE_MAX;
  }

  /// A structure of `size` bytes, where callers leave its own size undefined.
  Arguments(void *structure, size_t size) : base(structure), size(size) {}

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
  /// Two fields that are a pointer to elements and their number. Throws
  /// meshloom::Error where there are no elements at the pointer.
  template <typename T>
  std::span<const T> list(Pointer field, Count countField) const {
    const auto count = get<size_t>(countField);
    if (count > mostElements)
      Error(fmt::format("the structure of the call says that a list has {} "
                        "elements; the longest one has {}",
                        count, mostElements))
          .raise();
    return {elements<T>(field, count), count};
  }
  /// `count` elements, which are of the caller's, and may be written.
  template <typename T> T *elements(Pointer field, size_t count) const {
    auto *first = get<T *>(field);
    if (count > 0 && !first)
      Error(fmt::format("expected {} elements in the structure of the call, "
                        "got a null pointer",
                        count))
          .raise();
    return first;
  }
  std::string_view text(Pointer field, Count sizeField) const {
    const auto length = get<size_t>(sizeField);
    return {elements<const char>(field, length), length};
  }
  /// The object of ours that a handle stands for. Throws meshloom::Error where
  /// the caller gave none, or an object of a different kind.
  template <typename T> T &object(Pointer field) const {
    return objectOf<T>(get<void *>(field));
  }
  template <typename T> static T &objectOf(void *handle) {
    if (!handle)
      Error(fmt::format("expected a handle of {}, got a null pointer",
                        T::kindName))
          .raise();
    if (!HandleObject<T>::isObject(handle))
      Error(fmt::format("expected a handle of {}, got one of a different "
                        "object, or of one that has been destroyed",
                        T::kindName))
          .raise();
    return *static_cast<T *>(handle);
  }
  /// The object that the caller has destroyed; null where he gave none.
  template <typename T> std::unique_ptr<T> owned(Pointer field) const {
    return std::unique_ptr<T>(has(field) ? &object<T>(field) : nullptr);
  }
  /// Gives the caller an object, which he destroys. Throws meshloom::Error
  /// where his structure has no place for it.
  template <typename T>
  void give(Pointer field, std::unique_ptr<T> object) const {
    if (field.offset + sizeof(void *) > size)
      Error(fmt::format("the structure of the call has {} bytes, and no place "
                        "for the result",
                        size))
          .raise();
    set(field, static_cast<void *>(object.release()));
  }
  /// A structure that is a part of this one.
  Arguments structure(Pointer field) const {
    return Arguments(get<void *>(field));
  }
  bool has(Pointer field) const { return get<const void *>(field) != nullptr; }

private:
  static constexpr size_t mostElements = 1 << 24;
  void *base;
  size_t size = 0;
};

} // namespace meshloom::plugin
