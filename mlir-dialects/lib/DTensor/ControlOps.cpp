// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builders, verifiers and canonical forms of the ops that hold regions that
// run: while and case.

#include "States.h"

#include "meshloom/Dialect/DTensor/Recompute.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace meshloom::dtensor {

/// The yield that ends a region of one block, or null.
static YieldOp yieldOf(Region &region) {
  if (!region.hasOneBlock() || region.front().empty())
    return {};
  return dyn_cast<YieldOp>(region.front().back());
}

YieldOp WhileOp::getConditionYield() {
  return yieldOf(getCondition());
}
YieldOp WhileOp::getBodyYield() {
  return yieldOf(getBody());
}
YieldOp CaseOp::getYield(unsigned branch) {
  return yieldOf(getBranches()[branch]);
}

static Block *addBlock(OperationState &state) {
  Region *region = state.addRegion();
  region->push_back(new Block);
  return &region->front();
}

void WhileOp::build(OpBuilder &, OperationState &state, ValueRange inits) {
  state.addOperands(inits);
  for (Value init : inits)
    state.addTypes(undecided(init.getType()));
  for (int region = 0; region < 2; ++region) {
    Block *block = addBlock(state);
    for (Value init : inits)
      block->addArgument(undecided(init.getType()), init.getLoc());
  }
}

void CaseOp::build(OpBuilder &, OperationState &state, TypeRange results,
                   Value index, unsigned branches) {
  state.addOperands(index);
  state.addTypes(results);
  for (unsigned i = 0; i < branches; ++i)
    addBlock(state);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult WhileOp::verify() {
  unsigned count = getInits().size();
  if (getNumResults() != count)
    return violates(*this, 1)
           << count << " inits, but " << getNumResults() << " results";
  for (Region *region : {&getCondition(), &getBody()})
    if (region->getNumArguments() != count)
      return violates(*this, 1)
             << count << " inits, but the "
             << (region == &getBody() ? "body" : "condition") << " has "
             << region->getNumArguments() << " arguments";
  return success();
}

LogicalResult WhileOp::verifyRegions() {
  YieldOp predicate = getConditionYield(), next = getBodyYield();
  if (!predicate || !next)
    return violates(*this, 5) << "the " << (predicate ? "body" : "condition")
                              << " does not end with dtensor.yield";
  if (next.getNumOperands() != getNumResults())
    return violates(*this, 1)
           << getNumResults() << " carried values, but the body yields "
           << next.getNumOperands();
  SmallVector<Type> resultTypes;
  for (unsigned i = 0; i < getNumResults(); ++i) {
    const std::pair<StringRef, Type> types[] = {
        {"init", getInits()[i].getType()},
        {"argument of the condition", getConditionArgument(i).getType()},
        {"argument of the body", getBodyArgument(i).getType()},
        {"next value", next.getOperand(i).getType()},
        {"result", getResult(i).getType()}};
    LayoutAttr layout;
    for (auto &[role, type] : types) {
      if (!isa<RankedTensorType>(type) ||
          undecided(type) != undecided(types[0].second))
        return violates(*this, 2)
               << "carried value #" << i << " starts as " << types[0].second
               << ", but its " << role << " is " << type;
      resultTypes.push_back(type);
      if (role == "init" || role == "next value")
        continue;
      LayoutAttr has = layoutAttrOf(type);
      if (layout && has && layout != has)
        return violates(*this, 4)
               << "carried value #" << i << " is laid out both "
               << layout.getLayout().spec_string() << " and "
               << has.getLayout().spec_string();
      layout = has ? has : layout;
    }
    // S3: in the shard state all five are the same type.
    if (llvm::any_of(types, [](auto &entry) { return isShard(entry.second); }))
      for (auto &[role, type] : types)
        if (layoutAttrOf(type) != layout)
          return emitOpError("violates S3: carried value #")
                 << i << " is " << types[4].second << ", but its " << role
                 << " is " << type;
  }
  Type flag = predicate.getNumOperands() == 1
                  ? predicate.getOperand(0).getType()
                  : Type();
  if (!flag || !globalShape(flag).empty() ||
      !elementTypeOf(flag).isSignlessInteger(1))
    return violates(*this, 3) << "the condition does not yield one tensor<i1>";
  resultTypes.push_back(flag);
  return verifyStates(*this, resultTypes);
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return violates(*this, 1) << "there is no branch";
  if (!globalShape(getIndex().getType()).empty())
    return emitOpError("needs a scalar index, but has ")
           << getIndex().getType();
  return success();
}

LogicalResult CaseOp::verifyRegions() {
  SmallVector<Type> operandTypes{getIndex().getType()};
  llvm::append_range(operandTypes, getResultTypes());
  for (unsigned branch = 0; branch < getBranches().size(); ++branch) {
    YieldOp yield = getYield(branch);
    if (!yield || getBranches()[branch].getNumArguments() != 0)
      return violates(*this, 2)
             << "branch #" << branch
             << (yield ? " has arguments" : " does not end with dtensor.yield");
    if (yield.getNumOperands() != getNumResults())
      return violates(*this, 3)
             << getNumResults() << " results, but branch #" << branch
             << " yields " << yield.getNumOperands();
    for (auto [i, value] : llvm::enumerate(yield.getOperands())) {
      Type type = getResult(i).getType();
      if (undecided(value.getType()) != undecided(type))
        return violates(*this, 3)
               << "result #" << i << " is " << type << ", but branch #"
               << branch << " yields " << value.getType();
      if (isShard(type) && value.getType() != type)
        return emitOpError("violates S3: result #")
               << i << " is " << type << ", but branch #" << branch
               << " yields " << value.getType();
      operandTypes.push_back(value.getType());
    }
  }
  return verifyStates(*this, operandTypes);
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

namespace {

/// A carried value that the body passes on as it got it is the init, used from
/// outside; one that nobody reads is dropped.
struct DropCarries : mlir::OpRewritePattern<WhileOp> {
  using OpRewritePattern::OpRewritePattern;

  static bool isUnread(WhileOp loop, unsigned i) {
    return loop.getResult(i).use_empty() &&
           loop.getConditionArgument(i).use_empty() &&
           loop.getBodyArgument(i).use_empty();
  }

  LogicalResult matchAndRewrite(WhileOp loop,
                                mlir::PatternRewriter &rewriter) const final {
    llvm::BitVector drop(loop.getNumResults());
    YieldOp next = loop.getBodyYield();
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      Value init = loop.getInits()[i];
      // A layout of the user's stays.
      bool pinned = layoutAttrOf(loop.getResult(i).getType()) ||
                    layoutAttrOf(loop.getBodyArgument(i).getType()) ||
                    layoutAttrOf(loop.getConditionArgument(i).getType());
      if (next.getOperand(i) == loop.getBodyArgument(i) && !pinned) {
        drop.set(i);
        rewriter.replaceAllUsesWith(loop.getConditionArgument(i), init);
        rewriter.replaceAllUsesWith(loop.getBodyArgument(i), init);
        rewriter.replaceAllUsesWith(loop.getResult(i), init);
      } else if (isUnread(loop, i)) {
        drop.set(i);
      }
    }
    if (drop.none())
      return failure();
    SmallVector<Value> inits, kept;
    SmallVector<Type> types;
    for (unsigned i = 0; i < loop.getNumResults(); ++i)
      if (!drop[i]) {
        inits.push_back(loop.getInits()[i]);
        types.push_back(loop.getResult(i).getType());
        kept.push_back(loop.getResult(i));
      }
    rewriter.modifyOpInPlace(next, [&] { next->eraseOperands(drop); });
    OperationState state(loop.getLoc(), WhileOp::getOperationName());
    state.addOperands(inits);
    state.addTypes(types);
    state.addAttributes(loop->getAttrs());
    for (Region *region : {&loop.getCondition(), &loop.getBody()}) {
      region->front().eraseArguments(drop);
      state.addRegion()->takeBody(*region);
    }
    Operation *newLoop = rewriter.create(state);
    for (auto [old, value] : llvm::zip_equal(kept, newLoop->getResults()))
      rewriter.replaceAllUsesWith(old, value);
    rewriter.eraseOp(loop);
    return success();
  }
};

/// A constant index chooses now.
struct ChooseBranch : mlir::OpRewritePattern<CaseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CaseOp op,
                                mlir::PatternRewriter &rewriter) const final {
    if (op->hasAttr(recomputedAttr))
      return failure();
    unsigned last = op.getBranches().size() - 1, chosen = last;
    DenseElementsAttr index;
    if (mlir::matchPattern(op.getIndex(), mlir::m_Constant(&index))) {
      int64_t value = (*index.getValues<llvm::APInt>().begin()).getSExtValue();
      if (value >= 0 && value <= int64_t(last))
        chosen = unsigned(value);
    } else if (last != 0) {
      return failure();
    }
    // A layout of the user's stays.
    SmallVector<Value> results;
    YieldOp yield = op.getYield(chosen);
    results.append(yield.operand_begin(), yield.operand_end());
    rewriter.inlineBlockBefore(&op.getBranches()[chosen].front(), op);
    rewriter.setInsertionPoint(op);
    for (auto [value, result] : llvm::zip_equal(results, op.getResults()))
      if (LayoutAttr layout = layoutAttrOf(result.getType());
          layout && value.getType() != result.getType())
        value = rewriter.create<ConstraintOp>(op.getLoc(), value, layout);
    rewriter.eraseOp(yield);
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A region keeps the users of a value apart from its other users. Where it has
/// none, the region does not pass the value on.
struct PassUnsharedValues : mlir::OpRewritePattern<CaseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CaseOp op,
                                mlir::PatternRewriter &rewriter) const final {
    if (!op->hasAttr(recomputedAttr))
      return failure();
    YieldOp yield = op.getYield(0);
    SmallVector<Value> remaining;
    llvm::BitVector isPassed(op.getNumResults());
    for (auto [value, result] :
         llvm::zip_equal(yield.getOperands(), op.getResults())) {
      const bool isOutside = value.getParentRegion() != &op.getBranches()[0];
      if (isOutside && value.hasOneUse() && value.getType() == result.getType())
        isPassed.set(result.getResultNumber());
      else
        remaining.push_back(result);
    }
    if (isPassed.none())
      return failure();
    for (unsigned i : isPassed.set_bits())
      rewriter.replaceAllUsesWith(op.getResult(i), yield.getOperand(i));
    if (remaining.empty()) {
      rewriter.eraseOp(op);
      return success();
    }
    rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(isPassed); });
    auto smaller = rewriter.create<CaseOp>(
        op.getLoc(), mlir::TypeRange(mlir::ValueRange(remaining)),
        op.getIndex(), 1U);
    smaller->setAttrs(op->getAttrs());
    smaller.getBranches()[0].takeBody(op.getBranches()[0]);
    for (auto [old, result] : llvm::zip_equal(remaining, smaller.getResults()))
      rewriter.replaceAllUsesWith(old, result);
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void WhileOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<DropCarries>(context);
}
void CaseOp::getCanonicalizationPatterns(mlir::RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<ChooseBranch, PassUnsharedValues>(context);
}

} // namespace meshloom::dtensor
