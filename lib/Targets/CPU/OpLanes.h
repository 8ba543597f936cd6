// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of arithmetic of scripts: loops over the elements of a block.
#pragma once

#include <cstdint>
#include <string_view>

namespace meshloom {

/// result[i] = op(operands[0][i], ...) for `count` elements. Arrays are dense,
/// have the types that the op has, a byte for each i1, and do not overlap.
using ScriptLanes = void (*)(void *result, const void *const *operands,
                             int64_t count);

/// Returns the loop of the op with this name: what the op is called, its
/// predicate, the type of its last operand and of its result. Null: there is
/// none.
ScriptLanes findOpLanes(std::string_view name);

} // namespace meshloom
