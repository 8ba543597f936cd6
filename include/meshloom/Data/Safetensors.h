// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Safetensors files: tensors by name, the format in which weights of models are
// published.
#pragma once

#include "meshloom/API/Variable.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace meshloom::data {

/// Host tensors by name.
using NamedTensors = std::map<std::string, Tensor>;

/// The tensors of a .safetensors file. Throws meshloom::Error, naming the file
/// and the tensor, if
/// - it is missing or cannot be read,
/// - its header is cut short, is no JSON object, has a name twice, or says what
///   does not fit into the file,
/// - two tensors share bytes, or bytes belong to no tensor,
/// - it is something else: a Git LFS pointer, a web page, a PyTorch file, ...,
/// - an element type is not one of F64, F32, F16, BF16, I64, I32, I16, I8, U64,
///   U32, U16, U8, BOOL, F8_E4M3, F8_E5M2. The last two become F32, which has
///   all of their numbers.
/// Format: https://github.com/huggingface/safetensors (the header's length in 8
/// bytes, little endian; the header, JSON; the tensors, row-major).
NamedTensors
load_safetensors(const std::filesystem::path &path,
                 std::source_location where = std::source_location::current());
/// Reads the tensors from the bytes of a safetensors file; `name` is for
/// messages.
NamedTensors parse_safetensors(std::string_view bytes, std::string_view name);

/// Writes global values under their names. Throws meshloom::Error if a type is
/// complex, or if the file cannot be written; nothing half-written is left
/// under its name.
void save_safetensors(
    const std::filesystem::path &path, const NamedTensors &tensors,
    std::source_location where = std::source_location::current());
/// Variables under their names. Throws also if two have the same name or one
/// has none.
void save_safetensors(
    const std::filesystem::path &path, const std::vector<DVariable> &variables,
    std::source_location where = std::source_location::current());

/// Assigns to each variable the tensor of its name, cast to its type and, where
/// the number of elements is the same, in its shape: a tensor [in, 3 * out] of
/// a file may be a variable [in, 3, out]. Tensors without a variable of their
/// name are left out.
///
///   data::assign_by_name(model.variables(),
///                        data::load_safetensors("model.safetensors"));
///
/// Throws meshloom::Error, naming the variable, if a tensor is missing or has
/// another number of elements; nothing is assigned then.
void assign_by_name(
    const std::vector<DVariable> &variables, const NamedTensors &tensors,
    std::source_location where = std::source_location::current());

} // namespace meshloom::data
