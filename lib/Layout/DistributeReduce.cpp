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
// each: as many calls of the region as one after the other. Of uneven blocks
// the padding is masked: it is behind all elements of its block.

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

/// What one accumulator becomes: `kind` of itself and the value that is operand
/// `element` of the op that the region yields.
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

/// Whether `value` is made of a region's arguments from `first` on only.
bool isMadeOf(Value value, unsigned first) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getArgNumber() >= first;
  return llvm::all_of(value.getDefiningOp()->getOperands(),
                      [&](Value operand) { return isMadeOf(operand, first); });
}

std::optional<SmallVector<Addend>> addendsOf(dtensor::GenericReduceOp op) {
  Block &block = op.getComputation().front();
  unsigned count = op.getInputs().size();
  SmallVector<Addend> addends;
  for (unsigned i = 0; i < count; ++i) {
    Operation *made = block.getTerminator()->getOperand(i).getDefiningOp();
    std::optional<ReduceKind> kind = made ? kindOf(made) : std::nullopt;
    if (!kind)
      return std::nullopt;
    unsigned element = made->getOperand(0) == block.getArgument(i) ? 1 : 0;
    if (made->getOperand(1 - element) != block.getArgument(i) ||
        !isMadeOf(made->getOperand(element), count))
      return std::nullopt;
    addends.push_back({*kind, element});
  }
  return addends;
}

Value repeatInit(Maker &make, Value init, Value like) {
  return make.make<dtensor::BroadcastInDimOp>(init, Maker::shapeOf(like),
                                              ArrayRef<int64_t>{});
}

void reduceAddends(Maker &make, dtensor::GenericReduceOp op,
                   ArrayRef<Addend> addends) {
  // The accumulators are not read by what is kept.
  SmallVector<Value> operands(op.getInputs());
  llvm::append_range(operands, op.getInputs());
  Operation *before = op->getPrevNode();
  auto applied = dtensor::applyElementwise(make.builder, make.location,
                                           op.getComputation(), operands);
  assert(succeeded(applied) && "checked by reducedDim");
  SmallVector<Value> results;
  for (auto [i, addend] : llvm::enumerate(addends)) {
    Value elements = (*applied)[i].getDefiningOp()->getOperand(addend.element);
    Value reduced =
        make.make<dtensor::ReduceOp>(addend.kind, elements, op.getDimensions());
    results.push_back(combine(make, addend.kind,
                              repeatInit(make, op.getInitValues()[i], reduced),
                              reduced));
  }
  op->replaceAllUsesWith(results);
  for (Operation *made = op->getPrevNode(); made != before;) {
    Operation *earlier = made->getPrevNode();
    if (mlir::isOpTriviallyDead(made))
      made->erase();
    made = earlier;
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
  Tree(Maker &make, Region &region) : make(make), region(region) {}

  SmallVector<Value> apply(ArrayRef<Value> left, ArrayRef<Value> right) {
    SmallVector<Value> operands(left);
    llvm::append_range(operands, right);
    auto results = dtensor::applyElementwise(make.builder, make.location,
                                             region, operands);
    assert(succeeded(results) && "checked by reducedDim");
    return *results;
  }

  /// Reduces along `dim`, which goes.
  void reduce(Places &all, int64_t dim) {
    // Of those that have no partner, the later ones in the dim come first.
    Places rest;
    for (int64_t n = extent(all, dim); n > 1; n = n / 2) {
      int64_t paired = n / 2 * 2;
      if (paired < n) {
        Places last = slice(all, dim, paired, n, 1);
        rest = rest.values.empty() ? last : combined(last, rest);
      }
      all = combined(slice(all, dim, 0, paired, 2),
                     slice(all, dim, 1, paired, 2));
    }
    if (!rest.values.empty())
      all = combined(all, rest);
    forEach(all, [&](Value value) {
      SmallVector<int64_t> shape = Maker::shapeOf(value);
      shape.erase(shape.begin() + dim);
      return make.reshape(value, shape);
    });
  }

  template <typename Function>
  static void forEach(Places &all, const Function &function) {
    for (Value &value : all.values)
      value = function(value);
    if (all.valid)
      all.valid = function(all.valid);
  }

private:
  static int64_t extent(const Places &all, int64_t dim) {
    return Maker::shapeOf(all.values.front())[dim];
  }
  Places slice(Places all, int64_t dim, int64_t from, int64_t to,
               int64_t stride) {
    forEach(all, [&](Value value) {
      return make.slice(value, dim, from, to, stride);
    });
    return all;
  }
  Places combined(const Places &left, const Places &right) {
    Places made{apply(left.values, right.values), left.valid};
    if (right.valid)
      for (auto [value, alone] : llvm::zip_equal(made.values, left.values))
        value = make.select(right.valid, value, alone);
    return made;
  }

  Maker &make;
  Region &region;
};

/// One dim after the other, from the last cut one on: in row-major order, what
/// is behind it in a block, then the block, then the blocks.
class Stages {
public:
  Stages(ArrayRef<int64_t> dims, const Layout &layout)
      : rest(llvm::to_vector(dims)), layout(layout) {
    llvm::sort(rest);
  }

  /// The next dim that is cut and reduced.
  std::optional<int64_t> next() const {
    for (int64_t dim : llvm::reverse(rest))
      if (!layout.axes(unsigned(dim)).empty())
        return dim;
    return std::nullopt;
  }
  /// Reduced dims behind `dim`, last first.
  SmallVector<int64_t> behind(int64_t dim) const {
    SmallVector<int64_t> dims;
    for (int64_t each : llvm::reverse(rest))
      if (each > dim)
        dims.push_back(each);
    return dims;
  }
  /// They and `dim` are gone.
  void pop(int64_t dim) {
    std::vector<unsigned> gone{unsigned(dim)};
    for (int64_t each : behind(dim))
      gone.push_back(unsigned(each));
    layout = layout.remove(gone);
    llvm::erase_if(rest, [&](int64_t each) { return each >= dim; });
  }

  SmallVector<int64_t> rest;
  Layout layout;
};

/// Which blocks have elements, for `value`, which has one of each; none where
/// all do.
Value blocksWithElements(Maker &make, const Cut &cut, Value value) {
  SmallVector<bool> truths;
  for (int64_t size : cut.sizes())
    truths.push_back(size > 0);
  if (!llvm::is_contained(truths, false))
    return nullptr;
  auto type = RankedTensorType::get(cut.counts, make.builder.getI1Type());
  Value blocks = make.make<dtensor::ConstantOp>(
      DenseElementsAttr::get(type, ArrayRef<bool>(truths)));
  return make.make<dtensor::BroadcastInDimOp>(blocks, Maker::shapeOf(value),
                                              cut.outer());
}

void reduceBlocks(Maker &make, dtensor::GenericReduceOp op,
                  const Candidate &candidate) {
  Tree tree(make, op.getComputation());
  Places all{SmallVector<Value>(op.getInputs()), Value()};
  Stages stages(op.getDimensions(), candidate.layout);
  while (std::optional<int64_t> dim = stages.next()) {
    SmallVector<int64_t> shape = Maker::shapeOf(all.values.front());
    Cut cut(stages.layout, shape, *dim);
    if (!cut.isEven())
      all.valid = make.splat(shape, make.builder.getI1Type(), 1);
    Tree::forEach(all, [&](Value value) {
      return cut.apply(make, value, make.zero(Maker::elementOf(value)));
    });
    for (int64_t behind : stages.behind(*dim))
      tree.reduce(all, behind + int64_t(cut.axes.size()));
    tree.reduce(all, cut.inner());
    SmallVector<int64_t> outer = cut.outer();
    all.valid = blocksWithElements(make, cut, all.values.front());
    SmallVector<std::vector<unsigned>> everywhere(outer.size());
    for (Value &value : all.values)
      value = make.pin(value, stages.layout.mesh(), outer, everywhere);
    for (int64_t each : llvm::reverse(outer))
      tree.reduce(all, each);
    all.valid = Value();
    stages.pop(*dim);
  }
  if (!stages.rest.empty()) {
    auto last = make.builder.create<dtensor::GenericReduceOp>(
        make.location, all.values, op.getInitValues(), stages.rest);
    mlir::IRMapping mapping;
    op.getComputation().cloneInto(&last.getComputation(), mapping);
    op->replaceAllUsesWith(last);
    return;
  }
  SmallVector<Value> inits;
  for (auto [init, value] : llvm::zip_equal(op.getInitValues(), all.values))
    inits.push_back(repeatInit(make, init, value));
  op->replaceAllUsesWith(tree.apply(inits, all.values));
}

/// The dim it can be distributed along, of those that `layout` cuts.
std::optional<int64_t> reducedDim(dtensor::GenericReduceOp op,
                                  const Layout &layout) {
  SmallVector<int64_t> shape = Maker::shapeOf(op.getInputs()[0]);
  if (llvm::is_contained(shape, 0) ||
      !dtensor::isElementwise(op.getComputation()) ||
      (!op->hasAttr(dtensor::associativeAttrName) && !addendsOf(op)))
    return std::nullopt;
  return Stages(op.getDimensions(), layout).next();
}

Cost costOf(dtensor::GenericReduceOp op, const Candidate &candidate,
            const MachineModel &model) {
  Stages stages(op.getDimensions(), candidate.layout);
  SmallVector<int64_t> shape = Maker::shapeOf(op.getInputs()[0]);
  if (auto addends = addendsOf(op)) {
    SmallVector<unsigned> axes;
    for (int64_t dim : stages.rest)
      llvm::append_range(axes, candidate.layout.axes(unsigned(dim)));
    std::vector<unsigned> dims(stages.rest.begin(), stages.rest.end());
    Layout to = candidate.layout.remove(dims);
    Exchange exchange;
    for (auto [addend, result] : llvm::zip_equal(*addends, op.getResults())) {
      std::vector<Partial> pending;
      for (unsigned axis : axes)
        pending.push_back({axis, addend.kind});
      exchange.add(to.with_partial(pending), to, Maker::shapeOf(result),
                   dtypeOf(result), model);
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
  std::optional<Distribution> getDistribution(Operation *op,
                                              const Candidate &candidate,
                                              const MachineModel &model) const {
    auto reduce = cast<dtensor::GenericReduceOp>(op);
    return Distribution{costOf(reduce, candidate, model),
                        [reduce, candidate](Maker &make) {
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
