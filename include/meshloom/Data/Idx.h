// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IDX files, the format of MNIST: reading (plain or gzip) and writing.
#pragma once

#include "meshloom/Core/DType.h"

#include <filesystem>
#include <source_location>
#include <string_view>

namespace meshloom::data {

/// A whole array in memory: row-major, elements in this machine's byte order.
///
///   data::IdxArray labels = data::read_idx("train-labels-idx1-ubyte.gz");
///   // labels.shape == {60000}, labels.type == DType::UI8
struct IdxArray {
  DType type = DType::UI8; ///< of the elements
  Shape shape;             ///< its extents
  std::vector<char> bytes; ///< of the elements, row-major
  /// Returns whether type, shape and bytes are the same.
  bool operator==(const IdxArray &) const = default;
};

/// The array of an IDX file, plain or gzip (told by its content, not by its
/// name). Throws meshloom::Error, naming the file, if
/// - it is missing or cannot be read,
/// - it does not begin with an IDX header, or its gzip data are corrupt,
/// - its element type is not one of ui8, i8, i32, f32, f64,
/// - it is shorter or longer than its header says.
/// Format: http://yann.lecun.com/exdb/mnist (two zero bytes, a type, the
/// number of dims, the extents and elements big endian).
IdxArray read_idx(const std::filesystem::path &path,
                  std::source_location where = std::source_location::current());

/// Reads an array from the bytes of an IDX file; `name` is for messages.
IdxArray
parse_idx(std::string_view bytes, std::string_view name,
          std::source_location where = std::source_location::current());

/// Writes an array, uncompressed. Throws meshloom::Error if the type is not one
/// of those that read_idx takes, if `bytes` has another size than shape and
/// type say, or if the file cannot be written; nothing half-written is left
/// under its name.
void write_idx(const std::filesystem::path &path, const IdxArray &array,
               std::source_location where = std::source_location::current());

} // namespace meshloom::data
