// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as text or bytecode, and changes to them that leave most of them
// intact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshloom::fuzz {

/// The programs in the files of `folders`: of a .mlir file what `// -----`
/// separates, without comments, and the bytes of a .mlirbc file. Programs that
/// are longer than `longest` are left out. The order is fixed.
std::vector<std::string> programsIn(const std::vector<std::string> &folders,
                                    size_t longest);

/// One of `programs` with a few changes, at most `longest` characters; the same
/// for the same seed.
std::string mutated(const std::vector<std::string> &programs, uint64_t seed,
                    size_t longest);

} // namespace meshloom::fuzz
