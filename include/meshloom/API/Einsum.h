// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// einsum: sums of products by the letters of dims, as in NumPy.
#pragma once

#include "meshloom/API/Ops.h"

#include <string_view>
#include <vector>

namespace meshloom {

namespace detail {
/// An equation, and the line that it is on.
struct EquationText {
  std::string_view text;
  std::source_location where;
  template <std::convertible_to<std::string_view> T>
  EquationText(const T &text,
               std::source_location where = std::source_location::current())
      : text(text), where(where) {}
};
} // namespace detail

/// Sums of products: in `equation` each operand's dims have letters, and so has
/// the result; what it leaves out is summed over. Without "->" the result has
/// the letters that come once, in alphabetical order. A letter that comes twice
/// in one operand is its diagonal; "..." are dims that broadcast.
///
///   einsum("bqhd,bkhd->bhqk", {q, k})    // attention scores
///   einsum("ii", {a})                    // the trace
///   einsum("...ij,...jk->...ik", {a, b}) // batches of products
///
/// Any number of operands, which are multiplied pair by pair, the smallest
/// product first. Products are dot_general: a letter that is sharded in two
/// operands stays so, one that is summed over makes a sum over its axes. Throws
/// meshloom::Error, naming the letter, if extents or letters do not fit, or if
/// types differ.
[[nodiscard]] Tensor einsum(detail::EquationText equation,
                            const std::vector<Tensor> &operands,
                            Where loc = Where::current());
/// einsum("ij,jk->ik", a, b).
template <std::convertible_to<Tensor>... T>
[[nodiscard]] Tensor einsum(detail::EquationText equation, const Tensor &first,
                            const T &...more) {
  return einsum(equation.text, std::vector<Tensor>{first, Tensor(more)...},
                equation.where);
}

/// Sums of products over the last `axes` dims of x and the first of y -> the
/// other dims of x, then those of y; 0: all products. Throws meshloom::Error if
/// extents differ, or types do.
[[nodiscard]] Tensor tensordot(const Tensor &x, const Tensor &y,
                               int64_t axes = 2, Where loc = Where::current());
/// Over these dims of x and those of y, in pairs.
[[nodiscard]] Tensor tensordot(const Tensor &x, const Tensor &y,
                               const Axis &x_axes, const Axis &y_axes,
                               Where loc = Where::current());

/// x [m], y [n] -> [m, n]: all products; other shapes are flattened.
[[nodiscard]] Tensor outer(const Tensor &x, const Tensor &y,
                           Where loc = Where::current());

} // namespace meshloom
