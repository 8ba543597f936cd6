// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds one spmd.kernel by pulling: starting from what the kernel is to
// compute, every value is followed to the ops that it comes from, together with
// the index map under which it is needed, until values that are in memory.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include <functional>
#include <map>

namespace meshloom {

/// An index as a linear function of loops: offset + sum of coefficient * loop.
struct LinearIndex {
  int64_t offset = 0;
  SmallVector<int64_t> coefficients; ///< one a loop
};
/// One index for each dim of a tensor.
using TensorAccess = SmallVector<LinearIndex>;

/// One dim of the space that a kernel covers.
struct DomainDim {
  int64_t extent;
  bool reduction = false;
  SmallVector<unsigned> axes;
  /// The range of each shard along the axes, where that is not its block.
  std::vector<Interval> ranges = {};
};

class KernelBuilder;

/// The result of a kernel, in terms of the ops it replaces.
struct KernelOutput {
  /// The value in the IR that the kernel's result takes the place of.
  Value result;
  /// The value whose elements are yielded, over all dims of the domain.
  Value source;
  spmd::Reducer reducer = spmd::Reducer::None;
  /// The domain's dims that are the result's dims, in order.
  SmallVector<unsigned> dims;
  /// Where `source` is not one value: emits the scalar to yield.
  std::function<FailureOr<Value>(KernelBuilder &)> emit = {};
  /// For results that are written in parts: the tensor whose other elements are
  /// kept, and where each dim's elements go: begin + index * step.
  Value over = {};
  SmallVector<std::pair<int64_t, int64_t>> places = {};
};

struct KernelPlan {
  Location loc;
  SmallVector<DomainDim> domain;
  SmallVector<KernelOutput> outputs;
  /// Returns whether a value with an inlinable op is computed in the kernel;
  /// the others are read from memory.
  std::function<bool(Value)> isInlined;
};

/// Returns whether the builder can compute `op` at any index: elementwise ops,
/// moves of elements, gathers of numbers, iota, rng, splat constants.
bool isInlinable(Operation *op);
/// Returns whether the op only says where an element comes from.
bool isMovement(Operation *op);
/// A constant whose elements are all equal.
bool isSplat(Operation *op);

class KernelBuilder {
public:
  explicit KernelBuilder(const KernelPlan &plan) : plan(plan) {}

  /// The kernel, before the ops it replaces are gone; its results are not in
  /// use yet. Fails where a reshape cannot be followed: see `obstacle`.
  FailureOr<spmd::KernelOp> build(OpBuilder &builder);
  /// The reshaped value that must be in memory for the kernel to be built.
  Value obstacle;

  // For KernelOutput::emit.

  /// The element of `value` at `access` (ignored for splats). `isRoot`:
  /// computed here even if the plan says that it is read.
  FailureOr<Value> scalarAt(Value value, const TensorAccess &access,
                            bool isRoot = false);
  /// The index along dim `dim` of the domain.
  LinearIndex domainIndex(unsigned dim) const { return dims[dim]; }
  /// begin + index * step.
  LinearIndex domainIndex(unsigned dim, int64_t begin, int64_t step) const;
  /// Zero of an element type of tensors.
  Value zeroOf(Type elementType);
  OpBuilder &body() { return *bodyBuilder; }

private:
  struct Loop {
    int64_t extent;
    bool reduction;
    SmallVector<unsigned> axes;
    std::vector<Interval> ranges;
    bool splittable;
  };
  /// A loop that must become two for a reshape to be linear.
  struct Split {
    unsigned loop;
    int64_t inner;
  };

  void startLoops();
  bool split(const Split &request);
  LogicalResult emitBody();
  FailureOr<Value> emitOutput(const KernelOutput &output);
  FailureOr<Value> inlineOp(Value value, const TensorAccess &access);
  FailureOr<Value> inlineFilled(Value operand, Value fill,
                                const TensorAccess &from, Location loc);
  Value insideOf(const LinearIndex &index, int64_t extent, Location loc);
  Value readInput(Value value, const TensorAccess &access);
  FailureOr<TensorAccess> operandAccess(Operation *op,
                                        const TensorAccess &access);
  FailureOr<TensorAccess> throughReshape(Operation *op,
                                         const TensorAccess &access);
  bool delinearize(LinearIndex index, ArrayRef<int64_t> sizes,
                   SmallVectorImpl<LinearIndex> &digits);
  LinearIndex constantIndex(int64_t value) const {
    return {value, SmallVector<int64_t>(loops.size(), 0)};
  }
  Value indexValue(const LinearIndex &index, Location loc);
  /// `input`: the one whose held loops the map uses, if any.
  mlir::AffineMap toMap(const TensorAccess &access, MLIRContext *context,
                        std::optional<unsigned> input = std::nullopt) const;
  unsigned inputFor(Value value, const TensorAccess &access);
  /// The element of a gather that isNumberGather takes.
  FailureOr<Value> inlineGather(Operation *op, const TensorAccess &access);
  /// The input that is `value`, with a held loop for each dim in `indexed`.
  unsigned tableFor(Value value, const TensorAccess &access,
                    ArrayRef<int64_t> indexed);

  const KernelPlan &plan;
  SmallVector<Loop> loops;
  /// Each dim of the domain in terms of loops.
  SmallVector<LinearIndex> dims;
  std::optional<Split> wanted;

  // The body under construction.
  std::unique_ptr<mlir::Region> region;
  std::optional<OpBuilder> bodyBuilder;
  SmallVector<Value> inputs;
  SmallVector<TensorAccess> inputAccesses;
  /// A dim of an input that has a held loop. These loops follow all others.
  struct HeldDim {
    unsigned input;
    int64_t dim;
    bool operator==(const HeldDim &) const = default;
  };
  SmallVector<HeldDim> held;
  /// The inputs with such dims, and the first one of each in `held`.
  std::map<unsigned, unsigned> tables;
  SmallVector<Value> yields;
  using Key = std::pair<void *, std::vector<int64_t>>;
  /// The values that are emitted under a condition: innermost last, the
  /// outermost one, null, everywhere. Inputs are only looked at where it holds.
  struct Scope {
    Value condition;
    std::map<Key, Value> scalars;
  };
  std::vector<Scope> scopes;
};

} // namespace meshloom
