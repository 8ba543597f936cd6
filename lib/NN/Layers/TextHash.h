// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hashes of texts whose values are the same everywhere and for ever: they say
// which bin a text has in Keras.
#pragma once

#include <cstdint>
#include <string_view>

namespace meshloom::detail {

/// Fingerprint64 of FarmHash (Google, 2014).
uint64_t farmFingerprint(std::string_view text);

/// SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF",
/// 2012) with the key (first, second).
uint64_t sipHash(std::string_view text, uint64_t first, uint64_t second);

} // namespace meshloom::detail
