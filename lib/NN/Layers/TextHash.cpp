// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FarmHash's Fingerprint64 and SipHash-2-4; see TextHash.h.
#include "TextHash.h"

#include <bit>
#include <cstring>
#include <utility>

namespace meshloom::detail {
namespace {

template <typename Word> Word wordAt(std::string_view text, size_t offset) {
  Word word;
  std::memcpy(&word, text.data() + offset, sizeof word);
  return word; // little-endian, as all machines that we run on
}
uint64_t load(std::string_view text, size_t offset) {
  return wordAt<uint64_t>(text, offset);
}

// The constants of FarmHash: primes with as many ones as zeros.
constexpr uint64_t prime0 = 0xc3a5c85c97cb3127, prime1 = 0xb492b66fbe98f273,
                   prime2 = 0x9ae16a3b2f90404f;

uint64_t foldedWord(uint64_t x) {
  return x ^ (x >> 47);
}
uint64_t mixedWords(uint64_t x, uint64_t y, uint64_t factor) {
  const uint64_t first = foldedWord((x ^ y) * factor);
  return foldedWord((y ^ first) * factor) * factor;
}

uint64_t upTo16(std::string_view s) {
  const uint64_t n = s.size(), factor = prime2 + n * 2;
  if (n >= 8) {
    const uint64_t head = load(s, 0) + prime2, tail = load(s, n - 8);
    return mixedWords(std::rotr(tail, 37) * factor + head,
                      (std::rotr(head, 25) + tail) * factor, factor);
  }
  if (n >= 4)
    return mixedWords(n + (uint64_t(wordAt<uint32_t>(s, 0)) << 3),
                      wordAt<uint32_t>(s, n - 4), factor);
  if (n == 0)
    return prime2;
  const auto byte = [&](size_t i) { return uint32_t(uint8_t(s[i])); };
  const uint32_t low = byte(0) + (byte(n / 2) << 8),
                 high = uint32_t(n) + (byte(n - 1) << 2);
  return foldedWord(low * prime2 ^ high * prime0) * prime2;
}

/// A step over 32 bytes, of which the last 16 are the end of the text.
struct Half {
  uint64_t sum, mix;
};
uint64_t upTo32(std::string_view s) {
  const uint64_t n = s.size(), factor = prime2 + n * 2;
  const uint64_t a = load(s, 0) * prime1, b = load(s, 8),
                 c = load(s, n - 8) * factor, d = load(s, n - 16) * prime2;
  return mixedWords(std::rotr(a + b, 43) + std::rotr(c, 30) + d,
                    a + std::rotr(b + prime2, 18) + c, factor);
}
uint64_t upTo64(std::string_view s) {
  const uint64_t n = s.size(), factor = prime2 + n * 2;
  const uint64_t a = load(s, 0) * prime2, b = load(s, 8),
                 c = load(s, n - 8) * factor, d = load(s, n - 16) * prime2;
  const Half outer{std::rotr(a + b, 43) + std::rotr(c, 30) + d,
                   a + std::rotr(b + prime2, 18) + c};
  const uint64_t z = mixedWords(outer.sum, outer.mix, factor);
  const uint64_t e = load(s, 16) * factor, f = load(s, 24),
                 g = (outer.sum + load(s, n - 32)) * factor,
                 h = (z + load(s, n - 24)) * factor;
  return mixedWords(std::rotr(e + f, 43) + std::rotr(g, 30) + h,
                    e + std::rotr(f + a, 18) + g, factor);
}

using Pair = std::pair<uint64_t, uint64_t>;
/// The state of two words after 32 bytes.
Pair absorbed(std::string_view s, size_t offset, uint64_t a, uint64_t b) {
  const uint64_t first = load(s, offset), last = load(s, offset + 24);
  a += first;
  b = std::rotr(b + a + last, 21);
  const uint64_t start = a;
  a += load(s, offset + 8) + load(s, offset + 16);
  return {a + last, b + std::rotr(a, 44) + start};
}

} // namespace

uint64_t farmFingerprint(std::string_view s) {
  const size_t n = s.size();
  if (n <= 16)
    return upTo16(s);
  if (n <= 32)
    return upTo32(s);
  if (n <= 64)
    return upTo64(s);
  // 56 bytes of state go over blocks of 64 bytes; the last block ends with the
  // text and so may overlap the one before it.
  constexpr uint64_t seed = 81;
  uint64_t x = seed * prime2 + load(s, 0), y = seed * prime1 + 113,
           z = foldedWord(y * prime2 + 113) * prime2;
  Pair v{0, 0}, w{0, 0};
  auto block = [&](size_t offset, uint64_t factor, uint64_t weight) {
    x = std::rotr(x + y + v.first + load(s, offset + 8), 37) * factor;
    y = std::rotr(y + v.second + load(s, offset + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + load(s, offset + 40);
    z = std::rotr(z + w.first, 33) * factor;
    v = absorbed(s, offset, v.second * factor, x + w.first);
    w = absorbed(s, offset + 32, z + w.second, y + load(s, offset + 16));
    std::swap(z, x);
  };
  const size_t end = (n - 1) / 64 * 64;
  for (size_t offset = 0; offset < end; offset += 64)
    block(offset, prime1, 1);
  const uint64_t factor = prime1 + ((z & 0xff) << 1);
  w.first += (n - 1) & 63;
  v.first += w.first;
  w.first += v.first;
  block(n - 64, factor, 9);
  return mixedWords(mixedWords(v.first, w.first, factor) +
                        foldedWord(y) * prime0 + z,
                    mixedWords(v.second, w.second, factor) + x, factor);
}

uint64_t sipHash(std::string_view text, uint64_t first, uint64_t second) {
  uint64_t v0 = first ^ 0x736f6d6570736575, v1 = second ^ 0x646f72616e646f6d,
           v2 = first ^ 0x6c7967656e657261, v3 = second ^ 0x7465646279746573;
  auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  };
  auto absorb = [&](uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  };
  const size_t whole = text.size() / 8 * 8;
  for (size_t offset = 0; offset < whole; offset += 8)
    absorb(load(text, offset));
  uint64_t last = uint64_t(text.size()) << 56;
  for (size_t i = whole; i < text.size(); ++i)
    last |= uint64_t(uint8_t(text[i])) << (8 * (i - whole));
  absorb(last);
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

} // namespace meshloom::detail
