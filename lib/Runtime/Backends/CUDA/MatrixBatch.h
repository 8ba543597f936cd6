// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MatrixBatch: where the matrices of a batch are, in each operand of a call.
#pragma once

#include "Card.h"

#include <span>
#include <vector>

namespace meshloom::cuda {

/// Loops over the matrices of a batch.
struct MatrixBatch {
  std::vector<int64_t> extents;
  /// Per operand and loop, in bytes.
  std::vector<std::vector<int64_t>> strides;

  int64_t count() const;
  /// Returns where each matrix of an operand begins, in bytes from where the
  /// operand does.
  std::vector<int64_t> starts(size_t operand) const;
  /// Returns whether one call for all matrices, which have at most so many
  /// rows, is faster than a call for each, if a library has both.
  bool isForOneCall(int64_t rows) const;
  /// Returns whether there are more matrices than calls are made. The host is
  /// faster than so many.
  bool isTooLargeForCalls() const;
  /// Returns whether libraries that count matrices and their rows in `int` can
  /// count these.
  bool isCountedInInt(int64_t rows) const;
};

/// Writes the addresses of matrices, which begin so many bytes behind
/// `operand`, to memory of the card: functions for batches read them there.
Status writeAddresses(Card &card, char *table, const char *operand,
                      std::span<const int64_t> starts);
/// Returns how many bytes such a table has.
int64_t addressBytes(int64_t count);

} // namespace meshloom::cuda
