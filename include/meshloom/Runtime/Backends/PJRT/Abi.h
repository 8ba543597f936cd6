// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The binary interface of the PJRT C API, without its header: where functions
// and fields lie, as tables, and a block of memory to pass arguments in. The
// facts are in lib/Runtime/Backends/PJRT/{Slots,Structs}.txt.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace meshloom::pjrt::capi {

#include "meshloom/Runtime/Backends/PJRT/AbiTables.inc"

/// The head of the table that GetPjrtApi returns; functions follow it.
struct Api {
  static constexpr size_t structSize = 0;
  static constexpr size_t extensionStart = 8;
  static constexpr size_t version = 16; ///< an Api_Version
  static constexpr size_t functions = 40;
};
constexpr size_t offsetOf(Slot slot) {
  return Api::functions + sizeof(void *) * size_t(slot);
}

/// An object that a plug-in keeps behind a pointer of ours: client, buffer,
/// event, ...
using Handle = void *;
/// All functions look like this; a null result is success, an error otherwise.
using Function = Handle (*)(void *arguments);

template <typename T> T read(const void *base, size_t offset) {
  T value;
  std::memcpy(static_cast<void *>(&value),
              static_cast<const char *>(base) + offset, sizeof(T));
  return value;
}
template <typename T> void write(void *base, size_t offset, T value) {
  std::memcpy(static_cast<char *>(base) + offset,
              static_cast<const void *>(&value), sizeof(T));
}

/// A structure given to a plug-in. It is longer than any that a version so far
/// has, and says so: plug-ins refuse shorter ones than they know, and take
/// fields that they know and we do not for zero, their default.
class Block {
public:
  static constexpr size_t SIZE = 256;
  Block() { set<size_t>(0, SIZE); }

  template <typename T> Block &set(size_t field, T value) {
    assert(field + sizeof(T) <= SIZE);
    write(bytes.data(), field, value);
    return *this;
  }
  template <typename T> T get(size_t field) const {
    assert(field + sizeof(T) <= SIZE);
    return read<T>(bytes.data(), field);
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
/// When a plug-in may stop reading what a new buffer's data came from.
enum class HostBufferSemantics : int32_t {
  OnlyDuringCall,
  UntilTransferCompletes,
  /// The data is the buffer's memory until the buffer is gone. Nobody changes
  /// it.
  ImmutableZeroCopy
};
/// Kinds of a Buffer_MemoryLayout.
enum class MemoryLayoutKind : int32_t { Tiled, Strides };
/// Kinds of extensions that plug-ins have, by their Extension_Base::type.
enum class ExtensionKind : int32_t { Layouts = 4, FFI = 5, Shardings = 19 };

} // namespace meshloom::pjrt::capi
