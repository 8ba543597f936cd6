// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The binary interface of the PJRT C API, without its header: where functions
// and fields lie and of which type they are, as tables, and a block of memory
// to pass arguments in. The build makes the tables (AbiTables.inc) of the facts
// in lib/Runtime/Backends/PJRT/{Slots,Structs}.txt.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace meshloom::pjrt::capi {

/// The type of fields that point to something.
struct Pointer;
/// The type of fields that are structures.
struct Struct;
/// The place of a field in its structure, in bytes, with the type of its value.
template <typename T> struct Field {
  size_t offset;
  bool operator==(const Field &) const = default;
};
/// The field `inner` of the structure that is the field `outer`.
template <typename T>
constexpr Field<T> operator+(Field<Struct> outer, Field<T> inner) {
  return {outer.offset + inner.offset};
}

#include "meshloom/Runtime/Backends/PJRT/AbiTables.inc"

/// The head of the table that GetPjrtApi returns; functions follow it.
struct Api {
  static constexpr Field<size_t> struct_size{0};
  static constexpr Field<Pointer> extension_start{8};
  static constexpr Field<Struct> version{16}; ///< an Api_Version
  static constexpr size_t functions = 40;
};
constexpr Field<Pointer> fieldOf(Slot slot) {
  return {Api::functions + sizeof(void *) * size_t(slot)};
}

/// An object that a plug-in keeps behind a pointer of ours: client, buffer,
/// event, ...
using Handle = void *;
/// All functions look like this; a null result is success, an error otherwise.
using Function = Handle (*)(void *arguments);

/// Returns whether a value of type `Value` can be that of a Field<T>: any
/// pointer for a Pointer, an enumerator of the same integers, else T itself.
template <typename T, typename Value> constexpr bool fits() {
  if constexpr (std::is_same_v<T, Pointer>)
    return std::is_pointer_v<Value>;
  else if constexpr (std::is_enum_v<Value>)
    return std::is_same_v<T, std::underlying_type_t<Value>>;
  else
    return std::is_same_v<T, Value>;
}

template <typename Value, typename T>
Value read(const void *base, Field<T> field) {
  static_assert(fits<T, Value>(), "the field has another type");
  Value value;
  std::memcpy(static_cast<void *>(&value),
              static_cast<const char *>(base) + field.offset, sizeof(Value));
  return value;
}
/// Numbers convert to the field's type, as they do where a structure's member
/// is assigned; pointers and enumerators must fit.
template <typename T>
  requires std::is_arithmetic_v<T>
void write(void *base, Field<T> field, std::type_identity_t<T> value) {
  std::memcpy(static_cast<char *>(base) + field.offset, &value, sizeof(T));
}
template <typename T, typename Value>
  requires(std::is_pointer_v<Value> || std::is_enum_v<Value>)
void write(void *base, Field<T> field, Value value) {
  static_assert(fits<T, Value>(), "the field has another type");
  std::memcpy(static_cast<char *>(base) + field.offset,
              static_cast<const void *>(&value), sizeof(Value));
}

/// A structure given to a plug-in. It is longer than any that a version so far
/// has, and says so: plug-ins refuse shorter ones than they know, and take
/// fields that they know and we do not for zero, their default.
class Block {
public:
  static constexpr size_t SIZE = 256;
  /// The size of itself, with which every structure begins.
  static constexpr Field<size_t> OWN_SIZE{0};
  Block() { set(OWN_SIZE, SIZE); }

  template <typename T, typename Value>
  Block &set(Field<T> field, Value value) {
    assert(field.offset + sizeof(Value) <= SIZE);
    write(bytes.data(), field, value);
    return *this;
  }
  template <typename Value, typename T> Value get(Field<T> field) const {
    assert(field.offset + sizeof(Value) <= SIZE);
    return read<Value>(bytes.data(), field);
  }
  void *data() { return bytes.data(); }

private:
  alignas(sizeof(void *)) std::array<char, SIZE> bytes{};
};

/// A PJRT_Program of StableHLO text, which must outlive it.
inline Block stablehloProgram(std::string_view text) {
  constexpr std::string_view format = "mlir";
  return Block()
      .set(Program::code, text.data())
      .set(Program::code_size, text.size())
      .set(Program::format, format.data())
      .set(Program::format_size, format.size());
}

/// Kinds of values in a NamedValue.
enum class ValueKind : int32_t { String, Int64, Int64List, Float, Bool };
/// How long a plug-in may read what a new buffer's data came from: `ZeroCopy`
/// is until it says that it no longer does.
enum class HostBufferSemantics : int32_t { OnlyDuringCall = 0, ZeroCopy = 2 };
/// Kinds of a Buffer_MemoryLayout.
enum class MemoryLayoutKind : int32_t { Tiled, Strides };
/// States of a ProcessInfo. The others are those of processes that are
/// starting, connected, or gone in an orderly way.
enum class ProcessState : int32_t { Error = 4 };
/// Kinds of extensions that plug-ins have, by their Extension_Base::type.
enum class ExtensionKind : int32_t {
  Profiler = 1,
  Layouts = 4,
  FFI = 5,
  Shardings = 19
};

} // namespace meshloom::pjrt::capi
