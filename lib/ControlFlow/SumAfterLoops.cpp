// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SumAfterLoops: what a loop adds up of products becomes one product behind it,
// of all iterations' operands. That is how the gradient of a recurrent layer's
// weights is summed, a matrix larger than what it is made of.
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/MapVector.h"

namespace meshloom {
#define GEN_PASS_DEF_SUMAFTERLOOPS
#include "meshloom/ControlFlow/Passes.h.inc"

namespace {
using dtensor::AddOp, dtensor::DotGeneralOp, dtensor::TransposeOp,
    dtensor::WhileOp;

/// Elements of a sum that is worth it, and how many times as many all
/// iterations' operands may have.
constexpr int64_t LEAST = 1 << 16, MOST = 4;

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// A carried value to which the body adds a product, or the transpose of one,
/// and nothing else.
struct Sum {
  unsigned carried;
  AddOp add;
  TransposeOp transpose; ///< null where the product itself is added
  DotGeneralOp product;

  bool contains(Operation *op) const {
    return op == add || op == product || op == transpose;
  }
};

/// Returns whether the value is one of each iteration, and nobody laid it out.
bool isOfIteration(Value value, WhileOp loop) {
  return value.getParentRegion() == &loop.getBody() &&
         !typeOf(value).getEncoding();
}

std::optional<Sum> findSum(WhileOp loop, unsigned carried, int64_t count) {
  const mlir::BlockArgument sum = loop.getBodyArgument(carried);
  auto add = loop.getBodyYield().getOperand(carried).getDefiningOp<AddOp>();
  if (!add || !add->hasOneUse() || !sum.hasOneUse() ||
      *sum.getUsers().begin() != add ||
      !loop.getConditionArgument(carried).use_empty())
    return std::nullopt;
  const Value term = add.getOperand(add.getOperand(0) == sum ? 1 : 0);
  auto transpose = term.getDefiningOp<TransposeOp>();
  const Value other = transpose ? transpose.getOperand() : term;
  auto product = other.getDefiningOp<DotGeneralOp>();
  if (!product || !product->hasOneUse() || !term.hasOneUse() ||
      !isOfIteration(other, loop) || !isOfIteration(term, loop) ||
      !isOfIteration(add, loop) ||
      typeOf(loop.getResult(carried)).getEncoding() ||
      !isa<mlir::FloatType>(typeOf(other).getElementType()))
    return std::nullopt;
  int64_t operands = 0;
  for (Value operand : product->getOperands()) {
    if (!isOfIteration(operand, loop))
      return std::nullopt;
    operands += typeOf(operand).getNumElements();
  }
  const int64_t elements = typeOf(other).getNumElements();
  if (elements < LEAST || elements < 2 * operands ||
      operands > MOST * elements / count)
    return std::nullopt;
  return Sum{carried, add, transpose, product};
}

/// [count, ...]: what a value is in all iterations.
RankedTensorType stackedType(Value value, int64_t count) {
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, typeOf(value).getShape());
  return RankedTensorType::get(shape, typeOf(value).getElementType());
}

Value number(OpBuilder &builder, Location location, int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI32Type());
  return builder.create<dtensor::ConstantOp>(
      location, type,
      mlir::DenseElementsAttr::get(type, builder.getI32IntegerAttr(value)));
}

/// Builds the loop again without the sums, with their products' operands kept
/// in stacks.
class Rebuild {
public:
  Rebuild(WhileOp loop, ArrayRef<Sum> sums, int64_t count)
      : loop(loop), sums(sums), count(count), builder(loop) {
    for (const Sum &sum : sums)
      for (Value operand : sum.product->getOperands())
        stacks.insert({operand, unsigned(stacks.size())});
  }

  void run() {
    const unsigned numCarried = loop.getNumResults();
    SmallVector<Value> inits;
    for (unsigned i = 0; i < numCarried; ++i)
      if (!isSum(i)) {
        place[i] = unsigned(inits.size());
        inits.push_back(loop.getInits()[i]);
      }
    const auto counter = unsigned(inits.size());
    inits.push_back(number(builder, loop.getLoc(), 0));
    for (const auto &[operand, position] : stacks) {
      const RankedTensorType type = stackedType(operand, count);
      inits.push_back(builder.create<dtensor::ConstantOp>(
          loop.getLoc(), type,
          mlir::DenseElementsAttr::get(
              type, builder.getFloatAttr(type.getElementType(), 0))));
    }
    auto newLoop = builder.create<WhileOp>(loop.getLoc(), inits);
    newLoop->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    for (auto [from, to] : place) {
      newLoop.getResult(to).setType(loop.getResult(from).getType());
      newLoop.getConditionArgument(to).setType(
          loop.getConditionArgument(from).getType());
      newLoop.getBodyArgument(to).setType(loop.getBodyArgument(from).getType());
    }
    fillCondition(newLoop);
    fillBody(newLoop, counter);
    replace(newLoop, counter);
  }

private:
  bool isSum(unsigned carried) const {
    return llvm::any_of(sums,
                        [&](const Sum &sum) { return sum.carried == carried; });
  }

  /// Copies a region's ops but its terminator and those of the sums.
  OpBuilder copy(mlir::Region &from, mlir::Region &to,
                 mlir::IRMapping &mapping) {
    OpBuilder inner = OpBuilder::atBlockEnd(&to.front());
    for (auto [old, now] : place)
      mapping.map(from.getArgument(old), to.getArgument(now));
    for (Operation &op : from.front().without_terminator())
      if (llvm::none_of(sums,
                        [&](const Sum &sum) { return sum.contains(&op); }))
        inner.clone(op, mapping);
    return inner;
  }

  void fillCondition(WhileOp newLoop) {
    mlir::IRMapping mapping;
    OpBuilder inner =
        copy(loop.getCondition(), newLoop.getCondition(), mapping);
    inner.create<dtensor::YieldOp>(
        loop.getLoc(),
        mapping.lookupOrDefault(loop.getConditionYield().getOperand(0)));
  }

  void fillBody(WhileOp newLoop, unsigned counter) {
    mlir::IRMapping mapping;
    const Location location = loop.getLoc();
    OpBuilder inner = copy(loop.getBody(), newLoop.getBody(), mapping);
    SmallVector<Value> yielded(newLoop.getNumResults());
    for (auto [from, to] : place)
      yielded[to] =
          mapping.lookupOrDefault(loop.getBodyYield().getOperand(from));
    const Value iteration = newLoop.getBodyArgument(counter);
    yielded[counter] =
        inner.create<AddOp>(location, iteration, number(inner, location, 1));
    for (const auto &[operand, position] : stacks) {
      const unsigned carried = counter + 1 + position;
      const Value update = inner.create<dtensor::ReshapeOp>(
          location, mapping.lookupOrDefault(operand),
          stackedType(operand, 1).getShape());
      SmallVector<Value> start(size_t(typeOf(update).getRank()),
                               number(inner, location, 0));
      start[0] = iteration;
      yielded[carried] = inner.create<dtensor::DynamicUpdateSliceOp>(
          location, newLoop.getBodyArgument(carried), update, start);
    }
    inner.create<dtensor::YieldOp>(location, yielded);
  }

  void replace(WhileOp newLoop, unsigned counter) {
    for (auto [from, to] : place)
      loop.getResult(from).replaceAllUsesWith(newLoop.getResult(to));
    auto stack = [&](Value operand) {
      return newLoop.getResult(counter + 1 + stacks.lookup(operand));
    };
    auto further = [](ArrayRef<int64_t> dims, bool contracting) {
      SmallVector<int64_t> shifted;
      if (contracting)
        shifted.push_back(0);
      for (int64_t dim : dims)
        shifted.push_back(dim + 1);
      return shifted;
    };
    for (Sum sum : sums) {
      DotGeneralOp product = sum.product;
      Value total = builder.create<DotGeneralOp>(
          product.getLoc(), stack(product.getLhs()), stack(product.getRhs()),
          further(product.getLhsBatchingDimensions(), false),
          further(product.getRhsBatchingDimensions(), false),
          further(product.getLhsContractingDimensions(), true),
          further(product.getRhsContractingDimensions(), true),
          product.getType().getElementType());
      if (TransposeOp transpose = sum.transpose)
        total = builder.create<TransposeOp>(transpose.getLoc(), total,
                                            transpose.getPermutation());
      const Value init = loop.getInits()[sum.carried];
      if (!mlir::matchPattern(init, mlir::m_AnyZeroFloat()))
        total = builder.create<AddOp>(sum.add.getLoc(), init, total);
      loop.getResult(sum.carried).replaceAllUsesWith(total);
    }
    loop->erase();
  }

  WhileOp loop;
  const ArrayRef<Sum> sums;
  const int64_t count;
  OpBuilder builder;
  /// Carried values that stay: where they are, and where they go.
  llvm::MapVector<unsigned, unsigned> place;
  llvm::MapVector<Value, unsigned> stacks;
};

class SumAfterLoopsPass : public impl::SumAfterLoopsBase<SumAfterLoopsPass> {
  void runOnOperation() override {
    SmallVector<WhileOp> loops; // inner ones first
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    for (WhileOp loop : loops) {
      const auto counter = loopCounter(loop);
      if (!counter || counter->count < 2 ||
          counter->count > std::numeric_limits<int32_t>::max())
        continue;
      SmallVector<Sum> sums;
      for (unsigned i = 0; i < loop.getNumResults(); ++i)
        if (auto sum = findSum(loop, i, counter->count))
          sums.push_back(*sum);
      if (!sums.empty())
        Rebuild(loop, sums, counter->count).run();
    }
  }
};
} // namespace
} // namespace meshloom
