// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a folder of tensors looks: names of its files, its index.
//
//   {"checksum": "1c291ca3",        CRC-32 of the rest, as nlohmann dumps it
//    "format": "meshloom-tensors", "version": 1,
//    "notes": {"step": 7},
//    "tensors": {"kernel": {
//      "dtype": "f32", "shape": [4, 8], "layout": "sharding_specs:x,...",
//      "shards": [{"file": "device-0.5f.safetensors", "at": 128,
//                  "offset": [0, 0], "extent": [2, 8], "crc32": "..."}]}}}
//
// Shards of one tensor do not overlap, and cover it.
#pragma once

#include "meshloom/Core/Box.h"

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace meshloom::data {

inline constexpr char indexName[] = "index.json";
inline constexpr char folderFormat[] = "meshloom-tensors";
inline constexpr int folderVersion = 1;

/// A part of a tensor in a file.
struct StoredShard {
  Box box;             ///< of the global tensor
  std::string file;    ///< its name in the folder
  uint64_t offset = 0; ///< byte in the file
  std::string sum;     ///< of its bytes
};

/// CRC-32 (zlib's), as 8 hexadecimal digits.
std::string checksum(std::span<const char> bytes);

/// The text of an index, without and with its sum.
std::string textWithSum(nlohmann::json index);
/// Throws meshloom::Error, `path` in it, if the text is damaged.
nlohmann::json indexOf(const std::string &text, const std::string &path);

} // namespace meshloom::data
