// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the rewrites of --dtensor-distribute-ops: creating ops,
// cutting a dim into a layout's blocks, and the cost of an exchange. One file a
// family, which attaches DistributableOpInterface to its ops.
#pragma once

#include "meshloom/Core/RelayoutPlanner.h"
#include "meshloom/Dialect/DTensor/TensorBuilder.h"

#include <functional>

namespace meshloom::distribution {

/// `value` with dims `dims[i]` on `axes[i]` and nothing else, whatever it has
/// on other dims; what the value is made from is not asked to be laid out so.
Value pin(dtensor::TensorBuilder &make, Value value, const Mesh &mesh,
          ArrayRef<int64_t> dims, ArrayRef<std::vector<unsigned>> axes);

/// Returns the value that no element is changed by when `kind` combines them.
mlir::TypedAttr identityOf(ReduceKind kind, Type type);

/// How a dim is cut into a layout's blocks: [n] -> [g0, g1, ..., block].
struct Cut {
  int64_t dim;
  std::vector<unsigned> axes;
  SmallVector<int64_t> counts;  ///< g0, g1, ...
  SmallVector<int64_t> extents; ///< n, and what a block of each axis holds

  Cut(const Layout &layout, ArrayRef<int64_t> shape, int64_t dim);

  int64_t block() const { return extents.back(); }
  /// The dim of the elements of a block, after cutting.
  int64_t inner() const { return dim + int64_t(axes.size()); }
  SmallVector<int64_t> outer() const {
    return llvm::to_vector(llvm::seq<int64_t>(dim, inner()));
  }
  /// Number of blocks.
  int64_t blocks() const;
  /// How many elements each block has, in order.
  SmallVector<int64_t> sizes() const;
  /// Returns whether all blocks are full.
  bool isEven() const { return blocks() * block() == extents.front(); }

  Value apply(dtensor::TensorBuilder &make, Value value, Value padding) const;
  Value undo(dtensor::TensorBuilder &make, Value value, Value padding) const;
  /// The layout of a value of the operand's, cut: each outer dim on its axis.
  /// With `block`, of one that has a dim for the elements of a block.
  Layout cutLayout(const Layout &layout, bool block) const;
  /// The same with the outer dims on every device.
  Layout gathered(const Layout &layout, bool block) const;
  SmallVector<int64_t> cutShape(ArrayRef<int64_t> shape,
                                std::optional<int64_t> block) const;
};

/// One op that may be distributed, and along which dim of its first operand
/// that is cut.
struct Candidate {
  Operation *op;
  Layout layout; ///< of that operand
  int64_t dim;
  SmallVector<int64_t> whole; ///< all dims that the op needs whole
  /// The layout of each operand; nothing for those that every device can make.
  SmallVector<std::optional<Layout>> operands;
  /// The layout that is asked for of each result, where one is.
  SmallVector<std::optional<Layout>> results;
};

/// Values that are brought from one layout to another at once: their transfers
/// add up, what a collective costs whatever its size counts once.
struct Exchange {
  Cost transfer = 0, overhead = 0;

  void add(const Layout &from, const Layout &to, ArrayRef<int64_t> shape,
           DType type, const MachineModel &model);
  /// Windows that reach over blocks: `elements` of each device move.
  void addHalo(const Layout &layout, ArrayRef<unsigned> axes, int64_t elements,
               ArrayRef<int64_t> shape, DType type, const MachineModel &model);
  Cost total() const { return transfer + overhead; }
};

DType dtypeOf(Value value);

/// The layouts that make `candidate.whole` whole: on every device, or with
/// their axes on another dim.
SmallVector<Layout> wholeLayouts(const Candidate &candidate);

/// Bringing all operands to `whole`, and the results to what is asked of them.
Cost relayoutCost(const Candidate &candidate, const Layout &whole,
                  const MachineModel &model);

/// Bringing results, made from an operand that is laid out as `layout`, to what
/// is asked of them. Dims that are needed whole may be missing in a result.
Cost resultCost(const Candidate &candidate, const Layout &layout,
                const MachineModel &model);

/// How an op is distributed.
struct Distribution {
  /// The exchanges of the rewritten ops, and the time by which their work takes
  /// longer than the op's.
  Cost cost;
  /// Makes them in front of the op, whose results they replace.
  std::function<void(dtensor::TensorBuilder &)> rewrite;
};

/// `dim`, where `layout` cuts it.
std::optional<int64_t> cutDim(const Layout &layout, int64_t dim);

// The families.
void attachLines(MLIRContext *context);
void attachReduce(MLIRContext *context);
void attachSort(MLIRContext *context);

} // namespace meshloom::distribution

#include "meshloom/Layout/DistributableOpInterface.h.inc"
