// A generator of handwritten-like digits, for machines without MNIST.
#pragma once

#include <cstdint>
#include <filesystem>

namespace meshloom::data {

/// Writes MNIST's four IDX files into `folder` (made if missing): 28 x 28
/// digits drawn as strokes with random shift, slant, width and noise, classes
/// in random order. The same seed gives the same files. Throws meshloom::Error
/// if a file cannot be written; nothing half-written is left under its name.
void write_digits(const std::filesystem::path &folder, int64_t train,
                  int64_t test, uint64_t seed);

} // namespace meshloom::data
