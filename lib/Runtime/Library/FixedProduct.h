// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products whose elements have the same bits whatever is computed beside
// them: an element's sum is made in an order that its number of terms alone
// decides, and by the same instructions in every place of a tile.
#pragma once

#include "meshloom/Core/DType.h"

#include <cstdint>
#include <vector>

namespace meshloom::library {

/// The iterations of several loops in one list: which elements of two of the
/// operands each of them is about.
struct Offsets {
  std::vector<int64_t> first, second;
};

/// out[r, c] = the sum over k of lhs[r, k] * rhs[k, c], all of `type`: f32,
/// f64, or bf16 or f16, which are summed in f32; `widens`: whether their result
/// is f32, too. `rows`: in lhs and out;
/// `columns`: in rhs and out; `terms`: in lhs and rhs.
///
/// Sums: 1024 terms in the order given, by PanelProduct.h; the sums of such
/// blocks in pairs.
void fixedProduct(DType type, const void *lhs, const void *rhs, void *out,
                  const Offsets &rows, const Offsets &columns,
                  const Offsets &terms, bool widens = false);

} // namespace meshloom::library
