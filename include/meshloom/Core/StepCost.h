// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StepCost: a row of the table of what a profiled program spent its time on.
#pragma once

#include <cstdint>
#include <string>

namespace meshloom {

/// The cost of a step in all. Work on devices that the platform tells nothing
/// of counts as one step, the whole call.
struct StepCost {
  std::string program; ///< its function
  unsigned step = 0;   ///< number in the program
  std::string kind;    ///< "kernel", "dot", "all_reduce", "whole call", ...
  std::string op;      ///< "matmul", "add, tanh"
  std::string scope;   ///< as name_scope names it: "encoder/block_3"
  std::string source;  ///< "model.cpp:12:8"
  /// Times of all workers that took part in it, together; and of the time of
  /// all steps.
  double seconds = 0, share = 0;
  int64_t parts = 0; ///< in which it was done, in all runs
  int64_t flops = 0, bytes = 0;
  double gflops = 0, gigabytes = 0; ///< 10^9 a second and worker
  /// The nearer one of the two to the machine's peak: 1 is as fast as it can
  /// go. More than 1: the operands came from the caches. 0: nothing known.
  double of_peak = 0;
};

} // namespace meshloom
