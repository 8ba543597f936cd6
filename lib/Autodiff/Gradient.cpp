// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --dtensor-gradient: appends gradients of the first result to a function's
// results.
#include "Queries.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Autodiff/Passes.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Dialect/DTensor/Notes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <fmt/format.h>

namespace meshloom {

#define GEN_PASS_DEF_GRADIENT
#include "meshloom/Autodiff/Passes.h.inc"

namespace {

using mlir::func::FuncOp;

std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// "argument 1 ('x', tensor<4xi32>)".
std::string describe(FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, dtensor::nameAttr);
  return fmt::format("argument {} ({}{})", index,
                     name ? "'" + name.str() + "', " : "",
                     print(function.getArgumentTypes()[index]));
}

/// The gradient in the layout of what it is the gradient of.
Value layOutLike(OpBuilder &builder, Value gradient, Type like) {
  if (auto variable = dyn_cast<dtensor::VariableType>(like))
    like = variable.getTensorType();
  auto layout = dyn_cast_or_null<dtensor::LayoutAttr>(
      cast<RankedTensorType>(like).getEncoding());
  if (!layout || layout.getLayout().is_partial())
    return gradient;
  return builder.create<dtensor::ConstraintOp>(gradient.getLoc(), gradient,
                                               layout);
}

LogicalResult appendGradients(FuncOp function, ArrayRef<unsigned> chosen) {
  Operation *terminator = function.getBody().back().getTerminator();
  auto isLoss = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 0 && isa<FloatType>(type.getElementType());
  };
  if (!llvm::hasSingleElement(function.getBody()) ||
      terminator->getNumOperands() == 0 || !isLoss(terminator->getOperand(0)))
    return function.emitError("the first result must be a float scalar (the "
                              "loss) to take gradients of");
  SmallVector<unsigned> indices(chosen);
  if (indices.empty())
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (holdsFloats(type))
        indices.push_back(i);
  SmallVector<Value> wrt;
  for (unsigned i : indices) {
    if (i >= function.getNumArguments())
      return function.emitError() << "wrt=" << i << ": the function has "
                                  << function.getNumArguments() << " arguments";
    wrt.push_back(function.getArgument(i));
  }

  OpBuilder builder(terminator);
  Value loss = terminator->getOperand(0);
  auto gradients = buildGradients(builder, loss, {}, wrt);
  if (!gradients)
    return function.emitError(gradients.error().message());
  SmallVector<Value> results(terminator->getOperands());
  SmallVector<Type> types(function.getResultTypes());
  for (auto [i, gradient] : llvm::zip_equal(indices, *gradients)) {
    if (!gradient)
      return function.emitError()
             << "no gradient path from result 0 to " << describe(function, i)
             << (holdsFloats(function.getArgumentTypes()[i])
                     ? ": the result does not depend on it through "
                       "differentiable ops"
                     : ": only floats have gradients");
    results.push_back(
        layOutLike(builder, gradient, function.getArgumentTypes()[i]));
    types.push_back(results.back().getType());
  }
  terminator->setOperands(results);
  // Loops that have one in their place that keeps more.
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*terminator->getBlock())))
    if (isControl(&op) && mlir::isOpTriviallyDead(&op))
      op.erase();
  auto type = mlir::FunctionType::get(function.getContext(),
                                      function.getArgumentTypes(), types);
  // Results gained no attributes; setType keeps those of the old ones.
  SmallVector<DictionaryAttr> attributes;
  function.getAllResultAttrs(attributes);
  attributes.resize(types.size(), DictionaryAttr::get(function.getContext()));
  function.setType(type);
  if (llvm::any_of(attributes, [](auto dict) { return dict && !dict.empty(); }))
    function.setAllResultAttrs(attributes);
  return success();
}

struct GradientPass : impl::GradientBase<GradientPass> {
  using GradientBase::GradientBase;

  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<FuncOp>());
    FuncOp chosen;
    for (FuncOp candidate : functions)
      if (candidate.getName() ==
          (function.empty() ? "main" : function.getValue()))
        chosen = candidate;
    if (!chosen && function.empty() && functions.size() == 1)
      chosen = functions.front();
    if (!chosen || chosen.isExternal()) {
      getOperation().emitError()
          << "no function '"
          << (function.empty() ? "main" : function.getValue())
          << "' to differentiate";
      return signalPassFailure();
    }
    if (failed(appendGradients(chosen, llvm::to_vector(wrt))))
      signalPassFailure();
  }
};

} // namespace
} // namespace meshloom
