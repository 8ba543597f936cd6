// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bytes of IDX files. Errors name no line: fuzzers link this without the
// engine.
#pragma once

#include "meshloom/Data/Idx.h"

#include <string>

namespace meshloom::data {

/// The array of an IDX file, plain or gzip; `name` is for messages. Throws as
/// read_idx does.
IdxArray parseIdx(std::string_view bytes, std::string_view name);

/// The bytes of an IDX file; `name` is for messages. Throws as write_idx does.
std::string bytesOfIdx(const IdxArray &array, std::string_view name);

} // namespace meshloom::data
