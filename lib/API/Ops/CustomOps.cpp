// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The user's ops and gradients; see CustomOps.h. A gradient's rule is kept with
// Autodiff: it runs while the gradient is being built, in whatever trace that
// is, with the trace's ops going where the gradient's go.
#include "meshloom/API/CustomOps.h"

#include "Operands.h"
#include "Regions.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Dialect/DTensor/Callback.h"
#include "meshloom/Dialect/DTensor/Recompute.h"

#include "mlir/IR/Verifier.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

template <typename F> void visitFields(const TensorType &type, F visit) {
  const auto &[dtype, shape] = type;
  visit(dtype);
  visit(shape);
}

/// Returns the call of the function that is registered as `target`, which has
/// no body yet.
static OpCall callOfTarget(std::string_view op, std::string_view target,
                           const CustomTarget *customTarget,
                           const std::vector<Tensor> &inputs,
                           const std::vector<TensorType> &results,
                           std::string_view config, Where loc) {
  if (!customTarget)
    fail(op,
         fmt::format("expected a function that is registered as '{}': call "
                     "register_custom_call first",
                     target),
         &loc);
  OpCall call;
  call.name = op;
  call.operands = inputs;
  call.where = loc;
  for (const TensorType &type : results)
    checkShape(type.shape, op, loc);
  return call;
}

static SmallVector<Type> typesOf(MLIRContext *context,
                                 const std::vector<TensorType> &results) {
  SmallVector<Type> types;
  for (const TensorType &type : results)
    types.push_back(RankedTensorType::get(
        type.shape, dtensor::typeOf(context, type.dtype)));
  return types;
}

std::vector<Tensor> custom_call(std::string_view target,
                                const std::vector<Tensor> &inputs,
                                const std::vector<TensorType> &results,
                                std::string_view config, Where loc) {
  constexpr std::string_view op = "custom_call";
  std::shared_ptr<const CustomTarget> customTarget = find_custom_call(target);
  OpCall call = callOfTarget(op, target, customTarget.get(), inputs, results,
                             config, loc);
  if (results.empty())
    fail(op, "expected at least one result", &loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &target,
         const auto &config, const auto &rule, ReduceKind kind,
         const auto &results) {
        MLIRContext *context = e.getContext();
        mlir::OperationState state(e.getLoc(),
                                   dtensor::CustomCallOp::getOperationName());
        dtensor::CustomCallOp::build(
            e, state, typesOf(context, results), operands,
            e.getStringAttr(target),
            rule.empty() ? mlir::StringAttr() : e.getStringAttr(rule),
            e.getStringAttr(config), e.getI64IntegerAttr(0),
            dtensor::ReduceKindAttr::get(context, kind));
        std::string why;
        mlir::ScopedDiagnosticHandler messages(
            context, [&](mlir::Diagnostic &message) { why = message.str(); });
        Operation *callOp = e.create(state);
        if (failed(mlir::verify(callOp)))
          fail("custom_call", fmt::format("of '{}': {}", target, why));
        return SmallVector<Value>(callOp->getResults());
      },
      std::string(target), std::string(config), customTarget->rule,
      customTarget->kind, results);
  return runOps(std::move(call));
}

std::vector<Tensor> host_call(std::string_view target,
                              const std::vector<Tensor> &inputs,
                              const std::vector<TensorType> &results,
                              std::string_view config, Where loc) {
  std::shared_ptr<const CustomTarget> customTarget = find_custom_call(target);
  OpCall call = callOfTarget("host_call", target, customTarget.get(), inputs,
                             results, config, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &target,
         const auto &config, const auto &results) {
        auto callback = dtensor::createCallback(
            e, e.getLoc(), typesOf(e.getContext(), results), operands, target,
            config);
        SmallVector<Value> values;
        for (Value value : callback.getResults().drop_back())
          values.push_back(e.stopped(value));
        // An op outside of traces needs a result; a callback always has this
        // one.
        values.push_back(callback.getResults().back());
        return values;
      },
      std::string(target), std::string(config), results);
  std::vector<Tensor> values = runOps(std::move(call));
  values.pop_back();
  return values;
}

Tensor custom_call(std::string_view target, const std::vector<Tensor> &inputs,
                   const TensorType &result, std::string_view config,
                   Where loc) {
  return custom_call(target, inputs, std::vector<TensorType>{result}, config,
                     loc)
      .front();
}

namespace detail {
namespace {

/// A case with one branch, whose region uses values around it.
dtensor::CaseOp traceRegion(std::string_view op,
                            const std::function<RegionState()> &body,
                            const std::vector<Tensor> &handedThrough,
                            const std::source_location &where) {
  Trace &trace = traceOf(op, where);
  Value index = trace.valueOf(traceCounter(op, 0, where), op, &where);
  const std::function<RegionState()> branch = [&] {
    RegionState state = body();
    state.tensors.insert(state.tensors.end(), handedThrough.begin(),
                         handedThrough.end());
    return state;
  };
  return traceBranches(trace, op, index, {&branch, 1}, where);
}

Result<SmallVector<Value>> applyRule(const BackwardRule &backward,
                                     const std::source_location &where,
                                     OpBuilder &builder, ArrayRef<Value> inputs,
                                     ArrayRef<Value> results,
                                     ArrayRef<Value> gradients) {
  constexpr std::string_view op = "custom_gradient";
  const std::shared_ptr<Trace> &trace = threadState().trace();
  if (!trace)
    return Error("[custom_gradient] a gradient rule of the user can be used "
                 "only in the trace that it was recorded in");
  OpBuilder::InsertionGuard guard(trace->builder());
  trace->builder().setInsertionPoint(builder.getInsertionBlock(),
                                     builder.getInsertionPoint());
  auto wrapped = [&](ArrayRef<Value> values) {
    std::vector<Tensor> tensors;
    for (Value value : values)
      tensors.push_back(trace->wrapValue(value));
    return tensors;
  };
  std::vector<Tensor> inputGradients =
      backward(wrapped(inputs), wrapped(results), wrapped(gradients));
  if (inputGradients.size() != inputs.size())
    fail(op,
         fmt::format("expected a gradient for each of the {} inputs, got {}",
                     inputs.size(), inputGradients.size()),
         &where);
  SmallVector<Value> values;
  for (size_t i = 0; i < inputGradients.size(); ++i) {
    auto type = cast<RankedTensorType>(inputs[i].getType());
    Value value;
    if (inputGradients[i].internal()) { // an empty tensor: none
      value = trace->valueOf(inputGradients[i], op, &where);
      auto valueType = cast<RankedTensorType>(value.getType());
      if (valueType.getShape() != type.getShape() ||
          valueType.getElementType() != type.getElementType())
        fail(op,
             fmt::format("expected {} as the gradient of input {}, got {}",
                         typeText(trace->wrapValue(inputs[i])), i,
                         typeText(inputGradients[i])),
             &where);
    }
    values.push_back(value);
  }
  builder.setInsertionPoint(trace->builder().getInsertionBlock(),
                            trace->builder().getInsertionPoint());
  return values;
}

std::vector<Tensor> firstOf(ValueRange values, size_t count) {
  std::vector<Tensor> tensors;
  for (Value value : values.take_front(count))
    tensors.push_back(threadState().trace()->wrapValue(value));
  return tensors;
}

} // namespace

std::vector<Tensor>
traceCustomGradient(const std::vector<Tensor> &inputs,
                    const std::function<RegionState()> &forward,
                    BackwardRule backward, const std::source_location &where) {
  dtensor::CaseOp region =
      traceRegion("custom_gradient", forward, inputs, where);
  const size_t count = region.getNumResults() - inputs.size();
  auto rule = registerCustomGradient(
      [backward = std::move(backward),
       where](OpBuilder &builder, ArrayRef<Value> inputs,
              ArrayRef<Value> results, ArrayRef<Value> gradients) {
        return applyRule(backward, where, builder, inputs, results, gradients);
      });
  region->setAttr(customGradientAttr,
                  mlir::DenseI64ArrayAttr::get(region->getContext(),
                                               {*rule, int64_t(count)}));
  threadState().trace()->keep(std::move(rule));
  return firstOf(region.getResults(), count);
}

std::vector<Tensor> traceRecomputed(const std::function<RegionState()> &body,
                                    const std::source_location &where) {
  dtensor::CaseOp region = traceRegion("checkpoint", body, {}, where);
  region->setAttr(dtensor::recomputedAttr,
                  mlir::UnitAttr::get(region->getContext()));
  return firstOf(region.getResults(), region.getNumResults());
}

} // namespace detail
} // namespace meshloom
