// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rearrange: dims by their names, split, joined, put in another order, summed
// over or copied, with the patterns of einops.
//
//   rearrange(x, "b s (h d) -> b h s d", {{"h", 8}})   // heads of attention
//   rearrange(images, "b (h p) (w q) c -> b (h w) (p q c)",
//             {{"p", 16}, {"q", 16}})                  // patches
//   reduce(images, "b (h 2) (w 2) c -> b h w c", "max") // pooling
//   repeat(x, "h w -> h w c", {{"c", 3}})              // grey to colours
//
// In a pattern names are divided by spaces, parentheses join dims to one, "..."
// are dims without names, and 1 (or, in repeat and reduce, any number) is a dim
// of that extent. Dims that are sharded stay so where the cut allows.
#pragma once

#include "meshloom/API/Ops.h"

#include <map>
#include <string_view>

namespace meshloom {

/// Extents of names in a pattern that do not follow from the tensor.
using DimSizes = std::map<std::string, int64_t>;

/// x with its dims as the right side of the pattern has them: both sides have
/// the same names. Throws meshloom::Error, naming the pattern and the name, if
/// they do not, if extents do not fit, or if the extent of a name is unknown.
[[nodiscard]] Tensor rearrange(const Tensor &x, std::string_view pattern,
                               const DimSizes &sizes = {},
                               Where loc = Where::current());
/// The same, where dims that the right side leaves out are reduced: by "sum",
/// "mean", "max", "min", "prod", "any" or "all". See rearrange.
[[nodiscard]] Tensor reduce(const Tensor &x, std::string_view pattern,
                            std::string_view reduction,
                            const DimSizes &sizes = {},
                            Where loc = Where::current());
/// The same, where x is copied along dims that only the right side has. See
/// rearrange.
[[nodiscard]] Tensor repeat(const Tensor &x, std::string_view pattern,
                            const DimSizes &sizes = {},
                            Where loc = Where::current());

} // namespace meshloom
