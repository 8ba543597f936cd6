// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// generic_reduce along a cut dim, in one of two ways:
//
// * Where each accumulator is only ever added to (or multiplied by, compared
//   with ...) a function of the elements, that function is applied to whole
//   tensors, and the rest is an ordinary reduction. Nothing is asked of the
//   function.
// * Where the region is associative, each block is reduced to one element, the
//   few of all blocks are gathered and reduced, and the init counts once, at
//   the end. Neighbours are combined in rounds, the earlier one on the left, so
//   that the region need not be commutative, nor the init its identity.
//
// The second takes log2(n) rounds of elementwise ops on half as many elements
// each: as many calls of the region as one after the other. Uneven blocks are
// masked: their padding is behind all elements of the block.

#include "DistributeOps.h"

#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>

namespace meshloom::distribution {
namespace {

//===----------------------------------------------------------------------===//
// A function of the elements, then an ordinary reduction
//===----------------------------------------------------------------------===//

/// The accumulation of one accumulator: `kind` of itself and the value that is
/// operand `element` of the op that the region yields.
struct Addend {
  ReduceKind kind;
  unsigned element;
};

std::optional<ReduceKind> kindOf(Operation *op) {
  if (isa<dtensor::AddOp>(op))
    return ReduceKind::Sum;
  if (isa<dtensor::MultiplyOp>(op))
    return ReduceKind::Prod;
  if (isa<dtensor::MinimumOp>(op))
    return ReduceKind::Min;
  if (isa<dtensor::MaximumOp>(op))
    return ReduceKind::Max;
  if (isa<dtensor::AndOp>(op))
    return ReduceKind::And;
  if (isa<dtensor::OrOp>(op))
    return ReduceKind::Or;
  return std::nullopt;
}

/// Returns whether `value` is made of a region's arguments from `first` on
/// only.
bool consistsOf(Value value, unsigned first) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= first;
  return llvm::all_of(value.getDefiningOp()->getOperands(), [&](Value operand) {
    return consistsOf(operand, first);
  });
}

std::optional<SmallVector<Addend>> addendsOf(dtensor::GenericReduceOp op) {
  Block &block = op.getComputation().front();
  unsigned count = op.getInputs().size();
  SmallVector<Addend> addends;
  for (unsigned i = 0; i < count; ++i) {
    Operation *yielded = block.getTerminator()->getOperand(i).getDefiningOp();
    std::optional<ReduceKind> kind = yielded ? kindOf(yielded) : std::nullopt;
    if (!kind)
      return std::nullopt;
    unsigned element = yielded->getOperand(0) == block.getArgument(i) ? 1 : 0;
    if (yielded->getOperand(1 - element) != block.getArgument(i) ||
        !consistsOf(yielded->getOperand(element), count))
      return std::nullopt;
    addends.push_back({*kind, element});
  }
  return addends;
}

Value repeatInit(dtensor::TensorBuilder &make, Value init, Value like) {
  return make.broadcast(init, dtensor::globalShape(like.getType()),
                        ArrayRef<int64_t>{});
}

void reduceAddends(dtensor::TensorBuilder &make, dtensor::GenericReduceOp op,
                   ArrayRef<Addend> addends) {
  // The accumulators are not read by what is kept.
  SmallVector<Value> operands(op.getInputs());
  llvm::append_range(operands, op.getInputs());
  Operation *before = op->getPrevNode();
  auto applied = dtensor::applyElementwise(make, make.getLoc(),
                                           op.getComputation(), operands);
  assert(succeeded(applied) && "checked by reducedDim");
  SmallVector<Value> results;
  for (auto [i, addend] : llvm::enumerate(addends)) {
    Value elements = (*applied)[i].getDefiningOp()->getOperand(addend.element);
    Value reduced = make.reduce(addend.kind, elements, op.getDimensions());
    results.push_back(make.combine(
        addend.kind, repeatInit(make, op.getInitValues()[i], reduced),
        reduced));
  }
  op->replaceAllUsesWith(results);
  for (Operation *current = op->getPrevNode(); current != before;) {
    Operation *earlier = current->getPrevNode();
    if (mlir::isOpTriviallyDead(current))
      current->erase();
    current = earlier;
  }
}

//===----------------------------------------------------------------------===//
// Blocks, then the results of blocks
//===----------------------------------------------------------------------===//

/// Values that are reduced together, and which places hold one, unless all do.
/// Along a dim that is being reduced those are the first ones.
struct Places {
  SmallVector<Value> values;
  Value valid;
};

class Tree {
public:
  Tree(dtensor::TensorBuilder &make, Region &region)
      : make(make), region(region) {}

  SmallVector<Value> apply(ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
    SmallVector<Value> operands(lhs);
    llvm::append_range(operands, rhs);
    auto results =
        dtensor::applyElementwise(make, make.getLoc(), region, operands);
    assert(succeeded(results) && "checked by reducedDim");
    return *results;
  }

  /// Reduces along `dim`, which goes.
  void reduce(Places &places, int64_t dim) {
    // Elements without a partner that come later in the dim come first.
    Places unpaired;
    for (int64_t n = extent(places, dim); n > 1; n = n / 2) {
      int64_t paired = n / 2 * 2;
      if (paired < n) {
        Places last = slice(places, dim, paired, n, 1);
        unpaired = unpaired.values.empty() ? last : combined(last, unpaired);
      }
      places = combined(slice(places, dim, 0, paired, 2),
                        slice(places, dim, 1, paired, 2));
    }
    if (!unpaired.values.empty())
      places = combined(places, unpaired);
    forEach(places, [&](Value value) {
      SmallVector<int64_t> shape = dtensor::globalShape(value.getType());
      shape.erase(shape.begin() + dim);
      return make.reshape(value, shape);
    });
  }

  template <typename Function>
  static void forEach(Places &places, const Function &function) {
    for (Value &value : places.values)
      value = function(value);
    if (places.valid)
      places.valid = function(places.valid);
  }

private:
  static int64_t extent(const Places &places, int64_t dim) {
    return dtensor::globalShape(places.values.front().getType())[dim];
  }
  Places slice(Places places, int64_t dim, int64_t from, int64_t to,
               int64_t stride) {
    forEach(places, [&](Value value) {
      return make.sliceDim(value, dim, from, to, stride);
    });
    return places;
  }
  Places combined(const Places &lhs, const Places &rhs) {
    Places result{apply(lhs.values, rhs.values), lhs.valid};
    if (rhs.valid)
      for (auto [value, alone] : llvm::zip_equal(result.values, lhs.values))
        value = make.select(rhs.valid, value, alone);
    return result;
  }

  dtensor::TensorBuilder &make;
  Region &region;
};

/// One dim after the other, from the last cut one on: in row-major order, what
/// is behind it in a block, then the block, then the blocks.
class Stages {
public:
  Stages(ArrayRef<int64_t> dims, const Layout &layout)
      : pendingDims(llvm::to_vector(dims)), layout(layout) {
    llvm::sort(pendingDims);
  }

  /// The next dim that is cut and reduced.
  std::optional<int64_t> next() const {
    for (int64_t dim : llvm::reverse(pendingDims))
      if (!layout.axes(unsigned(dim)).empty())
        return dim;
    return std::nullopt;
  }
  /// Reduced dims behind `dim`, last first.
  SmallVector<int64_t> behind(int64_t dim) const {
    SmallVector<int64_t> dims;
    for (int64_t remaining : llvm::reverse(pendingDims))
      if (remaining > dim)
        dims.push_back(remaining);
    return dims;
  }
  /// They and `dim` are gone.
  void pop(int64_t dim) {
    std::vector<unsigned> gone{unsigned(dim)};
    for (int64_t inner : behind(dim))
      gone.push_back(unsigned(inner));
    layout = layout.remove(gone);
    llvm::erase_if(pendingDims,
                   [&](int64_t remaining) { return remaining >= dim; });
  }

  SmallVector<int64_t> pendingDims;
  Layout layout;
};

/// Which blocks have elements, for `value`, which has one of each; none where
/// all do.
Value blocksWithElements(dtensor::TensorBuilder &make, const Cut &cut,
                         Value value) {
  SmallVector<bool> truths;
  for (int64_t size : cut.sizes())
    truths.push_back(size > 0);
  if (!llvm::is_contained(truths, false))
    return nullptr;
  auto type = RankedTensorType::get(cut.counts, make.getI1Type());
  Value blocks =
      make.constant(DenseElementsAttr::get(type, ArrayRef<bool>(truths)));
  return make.broadcast(blocks, dtensor::globalShape(value.getType()),
                        cut.outer());
}

void reduceBlocks(dtensor::TensorBuilder &make, dtensor::GenericReduceOp op,
                  const Candidate &candidate) {
  Tree tree(make, op.getComputation());
  Places places{SmallVector<Value>(op.getInputs()), Value()};
  Stages stages(op.getDimensions(), candidate.layout);
  while (std::optional<int64_t> dim = stages.next()) {
    SmallVector<int64_t> shape =
        dtensor::globalShape(places.values.front().getType());
    Cut cut(stages.layout, shape, *dim);
    if (!cut.isEven())
      places.valid = make.integers(shape, 1, make.getI1Type());
    Tree::forEach(places, [&](Value value) {
      return cut.apply(make, value,
                       make.zeros(RankedTensorType::get(
                           {}, dtensor::elementTypeOf(value.getType()))));
    });
    for (int64_t behind : stages.behind(*dim))
      tree.reduce(places, behind + int64_t(cut.axes.size()));
    tree.reduce(places, cut.inner());
    SmallVector<int64_t> outer = cut.outer();
    places.valid = blocksWithElements(make, cut, places.values.front());
    SmallVector<std::vector<unsigned>> everywhere(outer.size());
    for (Value &value : places.values)
      value = pin(make, value, stages.layout.mesh(), outer, everywhere);
    for (int64_t outerDim : llvm::reverse(outer))
      tree.reduce(places, outerDim);
    places.valid = Value();
    stages.pop(*dim);
  }
  if (!stages.pendingDims.empty()) {
    auto last = make.create<dtensor::GenericReduceOp>(
        make.getLoc(), places.values, op.getInitValues(), stages.pendingDims);
    mlir::IRMapping mapping;
    op.getComputation().cloneInto(&last.getComputation(), mapping);
    op->replaceAllUsesWith(last);
    return;
  }
  SmallVector<Value> inits;
  for (auto [init, value] : llvm::zip_equal(op.getInitValues(), places.values))
    inits.push_back(repeatInit(make, init, value));
  op->replaceAllUsesWith(tree.apply(inits, places.values));
}

/// The dim it can be distributed along, of those that `layout` cuts.
std::optional<int64_t> reducedDim(dtensor::GenericReduceOp op,
                                  const Layout &layout) {
  SmallVector<int64_t> shape =
      dtensor::globalShape(op.getInputs()[0].getType());
  if (llvm::is_contained(shape, 0) ||
      !dtensor::isElementwise(op.getComputation()) ||
      (!op->hasAttr(dtensor::associativeAttrName) && !addendsOf(op)))
    return std::nullopt;
  return Stages(op.getDimensions(), layout).next();
}

Cost costOf(dtensor::GenericReduceOp op, const Candidate &candidate,
            const MachineModel &model) {
  Stages stages(op.getDimensions(), candidate.layout);
  SmallVector<int64_t> shape =
      dtensor::globalShape(op.getInputs()[0].getType());
  if (auto addends = addendsOf(op)) {
    SmallVector<unsigned> axes;
    for (int64_t dim : stages.pendingDims)
      llvm::append_range(axes, candidate.layout.axes(unsigned(dim)));
    std::vector<unsigned> dims(stages.pendingDims.begin(),
                               stages.pendingDims.end());
    Layout to = candidate.layout.remove(dims);
    Exchange exchange;
    for (auto [addend, result] : llvm::zip_equal(*addends, op.getResults())) {
      std::vector<Partial> pending;
      for (unsigned axis : axes)
        pending.push_back({axis, addend.kind});
      exchange.add(to.with_partial(pending), to,
                   dtensor::globalShape(result.getType()), dtypeOf(result),
                   model);
    }
    return exchange.total() + resultCost(candidate, candidate.layout, model);
  }
  Cost sum = resultCost(candidate, candidate.layout, model);
  while (std::optional<int64_t> dim = stages.next()) {
    std::vector<unsigned> gone;
    for (int64_t behind : stages.behind(*dim)) {
      gone.push_back(unsigned(behind));
      shape.erase(shape.begin() + behind);
    }
    Layout layout = gone.empty() ? stages.layout : stages.layout.remove(gone);
    Cut cut(layout, shape, *dim);
    Exchange exchange;
    for (Value input : op.getInputs())
      exchange.add(cut.cutLayout(layout, false), cut.gathered(layout, false),
                   cut.cutShape(shape, std::nullopt), dtypeOf(input), model);
    sum += exchange.total();
    shape.erase(shape.begin() + *dim);
    stages.pop(*dim);
  }
  return sum;
}

struct GenericReduceModel
    : DistributableOpInterface::ExternalModel<GenericReduceModel,
                                              dtensor::GenericReduceOp> {
  std::optional<int64_t> getCutDim(Operation *op, const Layout &layout) const {
    return reducedDim(cast<dtensor::GenericReduceOp>(op), layout);
  }
  SmallVector<int64_t> getWholeDims(Operation *op, int64_t) const {
    return llvm::to_vector(cast<dtensor::GenericReduceOp>(op).getDimensions());
  }
  bool combinesElements(Operation *) const { return true; }
  std::optional<Distribution> getDistribution(Operation *op,
                                              const Candidate &candidate,
                                              const MachineModel &model) const {
    auto reduce = cast<dtensor::GenericReduceOp>(op);
    return Distribution{costOf(reduce, candidate, model),
                        [reduce, candidate](dtensor::TensorBuilder &make) {
                          if (auto addends = addendsOf(reduce))
                            reduceAddends(make, reduce, *addends);
                          else
                            reduceBlocks(make, reduce, candidate);
                        }};
  }
};
} // namespace

void attachReduce(MLIRContext *context) {
  dtensor::GenericReduceOp::attachInterface<GenericReduceModel>(*context);
}

} // namespace meshloom::distribution
