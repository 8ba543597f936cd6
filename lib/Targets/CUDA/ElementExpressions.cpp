// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ElementExpressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineMap.h"

#include <cmath>
#include <functional>
#include <map>

using namespace meshloom;
using mlir::AffineExpr;
using spmd::KernelOp;
namespace arith = mlir::arith;

bool ElementExpression::operator==(const ElementExpression &other) const {
  return kind == other.kind && tensor == other.tensor &&
         indices == other.indices && number == other.number &&
         name == other.name && attributes == other.attributes &&
         operands == other.operands;
}

Value ElementExpressions::withoutRows(Value value) {
  while (true) {
    if (auto result = dyn_cast<mlir::OpResult>(value)) {
      auto call = dyn_cast<spmd::LibraryCallOp>(result.getOwner());
      if (!call || call.getCallee() != "rows")
        return value;
      value = call.getScalar().front().getTerminator()->getOperand(
          result.getResultNumber());
      continue;
    }
    auto argument = cast<mlir::BlockArgument>(value);
    auto call =
        dyn_cast<spmd::LibraryCallOp>(argument.getOwner()->getParentOp());
    if (!call || call.getCallee() != "rows")
      return value;
    value = call.getInputs()[argument.getArgNumber()];
  }
}

ElementExpressions::Expression
ElementExpressions::unique(ElementExpression expression) {
  // More is no attention.
  constexpr size_t mostExpressions = 256;
  const auto found = llvm::find(expressions, expression);
  if (found != expressions.end())
    return &*found;
  if (expressions.size() == mostExpressions)
    return nullptr;
  return &expressions.emplace_back(std::move(expression));
}

std::optional<ElementExpressions::Loops>
ElementExpressions::loopsOf(KernelOp kernel, unsigned output,
                            ArrayRef<AffineExpr> indices) {
  Loops loops(kernel.getNumLoops());
  for (auto [dim, index] :
       llvm::zip_equal(kernel.getOutputAccess(output).getResults(), indices))
    if (auto loop = dyn_cast<mlir::AffineDimExpr>(dim))
      loops[loop.getPosition()] = index;
    else if (!isa<mlir::AffineConstantExpr>(dim))
      return std::nullopt;
  for (unsigned loop = 0; loop < loops.size(); ++loop) {
    if (loops[loop])
      continue;
    if (kernel.getExtents()[loop] == 1)
      loops[loop] = mlir::getAffineConstantExpr(0, kernel.getContext());
    else if (!kernel.getReductions()[loop])
      return std::nullopt;
  }
  return loops;
}

ElementExpressions::Expression
ElementExpressions::elementOf(Value tensor, ArrayRef<AffineExpr> indices) {
  using Kind = ElementExpression::Kind;
  tensor = withoutRows(tensor);
  auto kernel = tensor.getDefiningOp<KernelOp>();
  auto element = [&](Kind kind) {
    return unique(
        {.kind = kind, .tensor = tensor, .indices = llvm::to_vector(indices)});
  };
  if (!kernel || kernel.getHeld() || kernel.getRanges())
    return element(Kind::Element);
  const unsigned output = cast<mlir::OpResult>(tensor).getResultNumber();
  const auto loops = loopsOf(kernel, output, indices);
  if (!loops)
    return element(Kind::Element);
  if (kernel.getReducer(output) != spmd::Reducer::None)
    return element(Kind::Reduction);
  return scalarOf(
      kernel, kernel.getBlock()->getTerminator()->getOperand(output), *loops);
}

std::optional<unsigned> meshloom::movedInputOf(KernelOp kernel,
                                               unsigned result) {
  Value yielded = kernel.getBlock()->getTerminator()->getOperand(result);
  while (Operation *op = yielded.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      return std::nullopt;
    yielded = op->getOperand(0);
  }
  return cast<mlir::BlockArgument>(yielded).getArgNumber();
}

std::optional<std::pair<Value, SmallVector<AffineExpr>>>
ElementExpressions::sourceOf(Value tensor, ArrayRef<AffineExpr> indices) {
  tensor = withoutRows(tensor);
  auto kernel = tensor.getDefiningOp<KernelOp>();
  if (!kernel || kernel.getHeld() || kernel.getRanges())
    return std::nullopt;
  const unsigned output = cast<mlir::OpResult>(tensor).getResultNumber();
  const auto input = movedInputOf(kernel, output);
  const auto loops = loopsOf(kernel, output, indices);
  if (!input || !loops || kernel.getReducer(output) != spmd::Reducer::None ||
      llvm::is_contained(*loops, AffineExpr()))
    return std::nullopt;
  SmallVector<AffineExpr> source;
  for (AffineExpr dim : kernel.getInputAccess(*input).getResults())
    source.push_back(dim.replaceDims(*loops));
  return std::pair(kernel.getInputs()[*input], std::move(source));
}

spmd::Reducer ElementExpressions::reducerOf(Expression reduction) {
  auto result = cast<mlir::OpResult>(reduction->tensor);
  return cast<KernelOp>(result.getOwner()).getReducer(result.getResultNumber());
}

ElementExpressions::Expression ElementExpressions::termOf(Expression reduction,
                                                          AffineExpr index,
                                                          int64_t extent) {
  auto result = cast<mlir::OpResult>(reduction->tensor);
  auto kernel = cast<KernelOp>(result.getOwner());
  Loops loops = *loopsOf(kernel, result.getResultNumber(), reduction->indices);
  const auto reduced = llvm::find(loops, AffineExpr());
  if (llvm::count(loops, AffineExpr()) != 1 ||
      kernel.getExtents()[reduced - loops.begin()] != extent)
    return nullptr;
  *reduced = index;
  return scalarOf(
      kernel,
      kernel.getBlock()->getTerminator()->getOperand(result.getResultNumber()),
      loops);
}

ElementExpressions::Expression ElementExpressions::copyOf(Expression other) {
  std::map<Expression, Expression> copies;
  std::function<Expression(Expression)> copy =
      [&](Expression original) -> Expression {
    if (const auto found = copies.find(original); found != copies.end())
      return found->second;
    ElementExpression result = *original;
    for (Expression &operand : result.operands)
      if (operand = copy(operand); !operand)
        return nullptr;
    return copies[original] = unique(std::move(result));
  };
  return copy(other);
}

ElementExpressions::Expression
ElementExpressions::scalarOf(KernelOp kernel, Value value, const Loops &loops) {
  if (Operation *op = value.getDefiningOp())
    return operationOf(kernel, op, loops);
  const unsigned input = cast<mlir::BlockArgument>(value).getArgNumber();
  SmallVector<AffineExpr> indices;
  for (AffineExpr dim : kernel.getInputAccess(input).getResults()) {
    for (unsigned loop = 0; loop < loops.size(); ++loop)
      if (!loops[loop] && dim.isFunctionOfDim(loop))
        return nullptr;
    indices.push_back(dim.replaceDims(loops));
  }
  return elementOf(kernel.getInputs()[input], indices);
}

/// Returns the number that a constant op is.
static std::optional<double> numberOf(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  if (auto number = dyn_cast<mlir::FloatAttr>(constant.getValue()))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<mlir::IntegerAttr>(constant.getValue()))
    return number.getType().isInteger(1)
               ? double(number.getValue().getBoolValue())
               : double(number.getInt());
  return std::nullopt;
}

/// Returns whether a number is 1 where a condition holds, else 0.
static bool isCondition(Value number) {
  auto conversion = number.getDefiningOp<arith::UIToFPOp>();
  return conversion && conversion.getIn().getType().isInteger(1);
}

/// Conditions that select true or false, or are no zero, are these; nothing is
/// larger than minus infinity.
ElementExpressions::Expression
ElementExpressions::operationOf(KernelOp kernel, Operation *op,
                                const Loops &loops) {
  using Kind = ElementExpression::Kind;
  if (auto number = numberOf(op))
    return unique({.kind = Kind::Constant, .number = *number});
  if (auto index = dyn_cast<spmd::IndexOp>(op))
    return loops[index.getLoop()]
               ? unique(
                     {.kind = Kind::Index, .indices = {loops[index.getLoop()]}})
               : nullptr;
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      op->getNumOperands() == 0)
    return nullptr;
  SmallVector<Expression> operands;
  for (Value operand : op->getOperands()) {
    Expression scalar = scalarOf(kernel, operand, loops);
    if (!scalar)
      return nullptr;
    operands.push_back(scalar);
  }
  // A read names its input by a number, which says nothing outside its kernel.
  if (auto read = dyn_cast<spmd::ReadOp>(op)) {
    Expression element = scalarOf(
        kernel, kernel.getBlock()->getArgument(read.getInput()), loops);
    if (!element)
      return nullptr;
    operands.push_back(element);
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) ||
      (isa<arith::TruncIOp, arith::ExtSIOp>(op) &&
       operands[0]->kind == Kind::Index) ||
      isCondition(op->getResult(0)))
    return operands[0];
  if (auto compare = dyn_cast<arith::CmpFOp>(op);
      compare && compare.getPredicate() == arith::CmpFPredicate::UNE &&
      isCondition(compare.getLhs()) && operands[1]->isConstant() &&
      operands[1]->number == 0)
    return operands[0];
  if (isa<arith::SelectOp>(op) && operands[1]->isConstant() &&
      operands[2]->isConstant() && op->getResult(0).getType().isInteger(1) &&
      operands[1]->number == 1 && operands[2]->number == 0)
    return operands[0];
  if (isa<arith::MaximumFOp>(op))
    for (unsigned side : {0, 1})
      if (operands[side]->isConstant() && operands[side]->number == -HUGE_VAL)
        return operands[1 - side];
  return unique({.kind = Kind::Operation,
                 .name = op->getName().getStringRef(),
                 .attributes = op->getAttrDictionary(),
                 .operands = std::move(operands),
                 .op = op,
                 .loops = loops});
}

/// Returns whether the predicate of a comparison of integers holds.
static bool holds(arith::CmpIPredicate predicate, double lhs, double rhs) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return lhs == rhs;
  case arith::CmpIPredicate::ne:
    return lhs != rhs;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return lhs < rhs;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return lhs <= rhs;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return lhs > rhs;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return lhs >= rhs;
  }
  return false;
}

/// Returns the number that an operation is of such operands; nothing where it
/// is none of the operations of attention.
static std::optional<double> apply(ElementExpressions::Expression operation,
                                   ArrayRef<double> x) {
  if (operation->is(arith::AddFOp::getOperationName()) ||
      operation->is(arith::AddIOp::getOperationName()))
    return x[0] + x[1];
  if (operation->is(arith::SubFOp::getOperationName()) ||
      operation->is(arith::SubIOp::getOperationName()))
    return x[0] - x[1];
  if (operation->is(arith::MulFOp::getOperationName()))
    return x[0] * x[1];
  if (operation->is(arith::DivFOp::getOperationName()))
    return x[0] / x[1];
  if (operation->is(arith::NegFOp::getOperationName()))
    return -x[0];
  if (operation->is(mlir::math::ExpOp::getOperationName()))
    return std::exp(x[0]);
  if (operation->is(arith::SelectOp::getOperationName()))
    return x[0] != 0 ? x[1] : x[2];
  // The gradient of the largest score asks which one that is.
  if (operation->is(arith::CmpFOp::getOperationName()) &&
      cast<arith::CmpFPredicateAttr>(operation->attributes.get("predicate"))
              .getValue() == arith::CmpFPredicate::OEQ)
    return double(x[0] == x[1]);
  if (operation->is(arith::CmpIOp::getOperationName()))
    return double(holds(
        cast<arith::CmpIPredicateAttr>(operation->attributes.get("predicate"))
            .getValue(),
        x[0], x[1]));
  return std::nullopt;
}

std::optional<double> ElementExpressions::evaluate(
    Expression expression,
    function_ref<std::optional<double>(Expression)> numberOf) {
  if (expression->isConstant())
    return expression->number;
  if (expression->kind != ElementExpression::Kind::Operation)
    return std::nullopt;
  SmallVector<double> operands;
  for (Expression operand : expression->operands) {
    const auto number = numberOf(operand);
    if (!number)
      return std::nullopt;
    operands.push_back(*number);
  }
  return apply(expression, operands);
}
