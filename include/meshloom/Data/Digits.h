// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A generator of handwritten-like digits, for machines without MNIST.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace meshloom::data {

/// Grey images and their classes, in memory.
struct Digits {
  /// Height and width of an image.
  static constexpr int64_t side = 28;
  std::vector<uint8_t> images; ///< [n, 28, 28], 0 background to 255 ink
  std::vector<uint8_t> labels; ///< [n], 0 to 9
};

/// n digits drawn as strokes with random shift, slant, size, width and noise;
/// as many of each class as n allows, in random order. Image i depends on seed,
/// n and i alone.
Digits make_digits(int64_t n, uint64_t seed);

/// Writes MNIST's four IDX files into `folder` (made if missing): `train` and
/// `test` digits of make_digits. The same seed gives the same files; train and
/// test digits differ. t10k-labels-idx1-ubyte is written last: where it is, all
/// are. Throws meshloom::Error if a file cannot be written; nothing
/// half-written is left under its name.
void write_digits(const std::filesystem::path &folder, int64_t train,
                  int64_t test, uint64_t seed,
                  std::source_location where = std::source_location::current());

} // namespace meshloom::data
