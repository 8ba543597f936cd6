// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StableHash: a hash that is the same in every process and on every machine,
// so that it may be compared between ranks or written to a file.
#pragma once

#include <cstdint>
#include <string_view>

namespace meshloom {

/// FNV-1a over the values added, in order. Strings add their length too, so
/// that ("ab", "c") and ("a", "bc") differ.
class StableHash {
public:
  void add(uint64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      byte(uint8_t(value >> shift));
  }
  void add(std::string_view text) {
    add(uint64_t(text.size()));
    for (char c : text)
      byte(uint8_t(c));
  }
  uint64_t value() const { return state; }

private:
  void byte(uint8_t b) { state = (state ^ b) * 0x100000001b3ull; }
  uint64_t state = 0xcbf29ce484222325ull;
};

} // namespace meshloom
