// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debugging: what must hold of values, checked while a program runs. In a
// `function` each check is part of what is compiled, runs whenever the program
// gets there, in the turn of a loop and the branch that it is in, and ends the
// call with the message; elsewhere it throws at once.
//
// A function with checks keeps the old values of the variables that it assigns
// until it has ended well: after a check that failed they are what they were.
#pragma once

#include "meshloom/API/Ops.h"

#include <string_view>

/// Checks of values while a program runs.
namespace meshloom::debugging {

/// Throws meshloom::Error with `message` and the line of this call if an
/// element of `condition`, of i1, does not hold; `data` are tensors that the
/// error shows. In a function the call of it throws.
///
///   debugging::Assert(reduce_all(x > 0), "x must be positive", {x});
void Assert(const Tensor &condition, std::string_view message = "",
            const std::vector<Tensor> &data = {},
            Where where = Where::current());
/// Checks that all elements of x equal those of y; the shapes broadcast.
void assert_equal(const TensorLike &x, const TensorLike &y,
                  std::string_view message = "");
/// Checks that no element of x equals that of y.
void assert_none_equal(const TensorLike &x, const TensorLike &y,
                       std::string_view message = "");
/// Checks that all elements of x are less than those of y.
void assert_less(const TensorLike &x, const TensorLike &y,
                 std::string_view message = "");
/// Checks that all elements of x are at most those of y.
void assert_less_equal(const TensorLike &x, const TensorLike &y,
                       std::string_view message = "");
/// Checks that all elements of x are greater than those of y.
void assert_greater(const TensorLike &x, const TensorLike &y,
                    std::string_view message = "");
/// Checks that all elements of x are at least those of y.
void assert_greater_equal(const TensorLike &x, const TensorLike &y,
                          std::string_view message = "");
/// Checks that |x - y| <= absolute + relative |y| for all elements.
void assert_near(const TensorLike &x, const TensorLike &y,
                 double relative = 1e-5, double absolute = 1e-5,
                 std::string_view message = "");
/// Checks that all elements are greater than 0.
void assert_positive(const TensorLike &x, std::string_view message = "");
/// Checks that all elements are at least 0.
void assert_non_negative(const TensorLike &x, std::string_view message = "");
/// Checks that no element is nan or infinite.
void assert_all_finite(const TensorLike &x, std::string_view message = "");
/// x, of which no element is nan or infinite: TensorFlow's check_numerics.
[[nodiscard]] Tensor check_numerics(const Tensor &x, std::string_view message,
                                    Where where = Where::current());

/// The number of dims is `rank`: known when it is traced, and checked then.
void assert_rank(const Tensor &x, int64_t rank, std::string_view message = "",
                 Where where = Where::current());

} // namespace meshloom::debugging
