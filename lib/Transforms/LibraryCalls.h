// LibraryCalls: the ops that no fused kernel does become spmd.library_call.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

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
  void setScalar(Region &region);
};

/// Nothing for ops that are no library calls.
std::optional<LibraryDescription> describeLibraryCall(Operation *op);

/// The input whose memory output `output` of a call may take over, as far as
/// the function is concerned, or -1.
int overwritableInput(spmd::LibraryCallOp call, unsigned output);

/// Replaces all library ops on shards in the blocks that `func` runs.
LogicalResult formLibraryCalls(mlir::func::FuncOp func);

} // namespace meshloom
