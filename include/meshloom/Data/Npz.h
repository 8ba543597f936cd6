// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npz files: NumPy's arrays by name, as numpy.savez and savez_compressed write
// them.
#pragma once

#include "meshloom/Data/Safetensors.h"

namespace meshloom::data {

/// The arrays of a .npz file, named as numpy.load names them ("kernel" is the
/// member "kernel.npy"). Throws meshloom::Error, naming the file and the
/// member, if
/// - it is missing, or is not a zip archive of .npy files only,
/// - it is cut short, or what a member holds is not what its checksum says,
/// - a member is packed otherwise than by deflate, or encrypted,
/// - an array is of a type that load_npy has not.
/// Format: PKWARE's APPNOTE.TXT (ZIP64 included) and numpy.lib.format.
NamedTensors
load_npz(const std::filesystem::path &path,
         std::source_location where = std::source_location::current());
/// Reads the arrays from the bytes of an .npz file; `name` is for messages.
NamedTensors parse_npz(std::string_view bytes, std::string_view name);

} // namespace meshloom::data
