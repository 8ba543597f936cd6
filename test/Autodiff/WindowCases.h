// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions, windows and running reductions for GradientTest: an op each.
#pragma once

#include "meshloom/Core/DType.h"

#include <string>
#include <vector>

namespace meshloom::test {

struct WindowCase {
  std::string name;
  std::vector<Shape> shapes; ///< of %a, %b, %c
  std::string op;            ///< with its operands, without types
  Shape result;
  bool second = true;
};

inline std::vector<WindowCase> windowCases() {
  const std::string nwc = " dims [b, 0, f] x [0, i, o] -> [b, 0, f] ";
  auto conv = [&](std::string name, Shape lhs, Shape rhs,
                  std::string attributes, Shape result) {
    return WindowCase{"conv_" + name,
                      {lhs, rhs},
                      "convolution %a, %b" + nwc + attributes,
                      result};
  };
  return {
      conv("plain", {2, 5, 2}, {3, 2, 3}, "", {2, 3, 3}),
      conv("strided", {2, 6, 2}, {3, 2, 3}, "strides [2] padding [1, 2]",
           {2, 4, 3}),
      // The last element of lhs is in no window.
      conv("rest", {1, 6, 1}, {2, 1, 2}, "strides [3]", {1, 2, 2}),
      conv("spread", {1, 4, 2}, {3, 2, 2}, "padding [1, 0] lhs_dilation [3]",
           {1, 9, 2}),
      conv("dilated", {1, 6, 2}, {3, 2, 2}, "padding [0, 3] rhs_dilation [2]",
           {1, 5, 2}),
      conv("all", {1, 4, 2}, {2, 2, 2},
           "strides [2] padding [-1, 2] lhs_dilation [2] rhs_dilation [3] "
           "reversal [1]",
           {1, 3, 2}),
      conv("feature_groups", {2, 4, 6}, {2, 3, 4}, "feature_groups 2",
           {2, 3, 4}),
      conv("depthwise", {1, 4, 3}, {2, 1, 6}, "padding [1, 0] feature_groups 3",
           {1, 4, 6}),
      conv("batch_groups", {4, 4, 2}, {2, 2, 6}, "batch_groups 2", {2, 3, 6}),
      {"conv_two_dims",
       {{2, 1, 4, 3}, {2, 2, 3, 1}},
       "convolution %a, %b dims [b, f, 0, 1] x [o, 1, 0, i] -> [0, b, f, 1] "
       "strides [1, 2] padding [1, 0, 0, 1]",
       {3, 2, 2, 2}},

      {"window_sum",
       {{3, 7}, {}},
       "reduce_window sum %a init %b window [2, 3] strides [1, 2] padding [1, "
       "0, 2, -1]",
       {3, 3}},
      {"window_sum_dilated",
       {{7}, {}},
       "reduce_window sum %a init %b window [3] strides [2] padding [2, 3] "
       "base_dilations [2] window_dilations [3]",
       {6}},
      {"window_prod",
       {{7}, {}},
       "reduce_window prod %a init %b window [3] strides [2] padding [1, 2]",
       {4}},
      {"window_prod_dilated",
       {{4}, {}},
       "reduce_window prod %a init %b window [2] padding [1, 1] base_dilations "
       "[2] window_dilations [2]",
       {7}},
      {"window_max",
       {{3, 7}, {}},
       "reduce_window max %a init %b window [2, 3] padding [0, 1, 1, 1]",
       {3, 7},
       false},
      {"window_min_cropped",
       {{7}, {}},
       "reduce_window min %a init %b window [3] strides [2] padding [-1, 3]",
       {4},
       false},
      {"window_max_dilated",
       {{7}, {}},
       "reduce_window max %a init %b window [3] padding [2, 2] "
       "window_dilations "
       "[2]",
       {7},
       false},
      {"select_and_scatter",
       {{6}, {6}, {}},
       "select_and_scatter %a, %b init %c select max scatter sum window [3] "
       "padding [1, 1]",
       {6},
       false},

      {"cumulative_sum", {{3, 5}}, "cumulative sum %a dim 1", {3, 5}},
      {"cumulative_sum_reverse",
       {{3, 5}},
       "cumulative sum %a dim 0 reverse",
       {3, 5}},
      {"cumulative_prod", {{6}}, "cumulative prod %a dim 0", {6}},
      {"cumulative_prod_reverse",
       {{2, 5}},
       "cumulative prod %a dim 1 reverse",
       {2, 5}},
      {"cumulative_max", {{2, 9}}, "cumulative max %a dim 1", {2, 9}, false},
      {"cumulative_min_reverse",
       {{9}},
       "cumulative min %a dim 0 reverse",
       {9},
       false},
  };
}

} // namespace meshloom::test
