// LibraryDescription: what a library function is told about the op that it
// stands for.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// The numbers that a library function gets: single ones and lists, which are
/// preceded by their length.
class LibraryValues {
public:
  LibraryValues &add(int64_t number) {
    numbers.push_back(number);
    return *this;
  }
  LibraryValues &add(ArrayRef<int64_t> list) {
    numbers.push_back(int64_t(list.size()));
    numbers.append(list.begin(), list.end());
    return *this;
  }
  ArrayRef<int64_t> get() const { return numbers; }

private:
  SmallVector<int64_t> numbers;
};

/// What an op's library call is, beside its operands and loops.
struct LibraryDescription {
  StringRef callee;
  LibraryValues values = {};
  std::string config = {};
  /// The scalar function that goes with it: values of one region of the op.
  SmallVector<Value> scalarArguments = {}, scalarResults = {};
  int64_t flops = 0; ///< of all iterations

  /// A whole scalar region as the scalar function.
  void setScalar(Region &region) {
    Block &block = region.front();
    scalarArguments.assign(block.args_begin(), block.args_end());
    llvm::append_range(scalarResults, block.getTerminator()->getOperands());
  }
};

} // namespace meshloom
