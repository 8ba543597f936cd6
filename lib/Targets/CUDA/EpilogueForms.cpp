// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EpilogueForms.h"

#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Targets/Kernels/KernelSymbol.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

#include <array>
#include <cmath>
#include <numbers>

using namespace meshloom;

namespace {

using Form = ProductEpilogue::Form;

/// A point at which a body is evaluated: u, its first term where it has two,
/// and the factor of a gradient.
struct Sample {
  double u, first, factor;
};
/// Where gelu is neither 0 nor u.
constexpr std::array<Sample, 7> samples{{{-2.3, 0.4, 0.7},
                                         {-1.1, -0.7, -1.9},
                                         {-0.4, 1.2, 1.3},
                                         {0.2, 0.9, 0.6},
                                         {0.9, -0.3, -0.8},
                                         {1.6, 0.5, 2.1},
                                         {2.4, 2.6, 1.1}}};

/// gelu(u) = u / 2 (1 + tanh(slope (u + cubic u^3))).
constexpr double cubic = 0.044715;
const double slope = std::sqrt(2 / std::numbers::pi);

double gelu(double u) {
  return u / 2 * (1 + std::tanh(slope * (u + cubic * u * u * u)));
}
double geluGradient(double u) {
  const double inner = std::tanh(slope * (u + cubic * u * u * u));
  return (1 + inner) / 2 +
         u / 2 * (1 - inner * inner) * slope * (1 + 3 * cubic * u * u);
}

} // namespace

/// Computes the result of an op, or nothing where the op is not analytic.
static std::optional<double> evaluateOp(Operation &op, ArrayRef<double> x) {
  using Number = std::optional<double>;
  return llvm::TypeSwitch<Operation *, Number>(&op)
      .Case([&](mlir::arith::AddFOp) { return x[0] + x[1]; })
      .Case([&](mlir::arith::SubFOp) { return x[0] - x[1]; })
      .Case([&](mlir::arith::MulFOp) { return x[0] * x[1]; })
      .Case([&](mlir::arith::DivFOp) { return x[0] / x[1]; })
      .Case([&](mlir::arith::NegFOp) { return -x[0]; })
      .Case([&](mlir::math::TanhOp) { return std::tanh(x[0]); })
      .Case([&](mlir::math::PowFOp) { return std::pow(x[0], x[1]); })
      .Case<mlir::arith::ExtFOp, mlir::arith::TruncFOp>(
          [&](auto) { return x[0]; })
      .Case([&](mlir::arith::ConstantOp constant) -> Number {
        auto value = dyn_cast<mlir::FloatAttr>(constant.getValue());
        return value ? Number(value.getValueAsDouble()) : Number();
      })
      .Default([](Operation *) { return Number(); });
}

/// Returns what the body yields, or nothing where it is not analytic.
static std::optional<SmallVector<double>> evaluate(Block &body,
                                                   ArrayRef<double> inputs) {
  DenseMap<Value, double> values;
  for (auto [argument, input] : llvm::zip(body.getArguments(), inputs))
    values[argument] = input;
  SmallVector<double> operands;
  for (Operation &op : body) {
    operands.clear();
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    if (&op == body.getTerminator())
      break;
    const std::optional<double> value = evaluateOp(op, operands);
    if (!value)
      return std::nullopt;
    values[op.getResult(0)] = *value;
  }
  return operands;
}

/// The numbers that a kernel has at each sample.
using Samples = std::array<SmallVector<double>, samples.size()>;

/// Returns the outputs of a kernel, or nothing where it is not analytic.
static std::optional<Samples> evaluate(spmd::KernelOp kernel,
                                       const Samples &inputs) {
  Samples outputs;
  for (auto [numbers, result] : llvm::zip(inputs, outputs)) {
    auto values = evaluate(*kernel.getBlock(), numbers);
    if (!values)
      return std::nullopt;
    result = std::move(*values);
  }
  return outputs;
}

/// Finds the output that is a function of the samples. Constants of narrow
/// types are rounded.
static std::optional<unsigned>
findOutput(spmd::KernelOp kernel, const Samples &outputs,
           llvm::function_ref<double(const Sample &)> expected) {
  const Type type = dtensor::elementTypeOf(kernel.getOutputs()[0].getType());
  const double tolerance = type.isF32() ? 1e-6 : type.isF16() ? 4e-3 : 1e-2;
  for (unsigned o = 0; o < outputs[0].size(); ++o) {
    bool isEqual = true;
    for (auto [sample, values] : llvm::zip(samples, outputs)) {
      const double value = expected(sample);
      isEqual &= std::abs(values[o] - value) <=
                 tolerance * std::max(1.0, std::abs(value));
    }
    if (isEqual)
      return o;
  }
  return std::nullopt;
}

/// Returns whether products have results of a type.
static bool isProductType(Type type) {
  return type.isF32() || type.isBF16() || type.isF16();
}

/// Returns whether a kernel combines elements of at most `mostInputs` arrays of
/// one type, one by one.
static bool isElementwise(spmd::KernelOp kernel, size_t mostInputs) {
  const Type type = dtensor::elementTypeOf(kernel.getOutputs()[0].getType());
  auto hasType = [&](Value value) {
    return dtensor::elementTypeOf(value.getType()) == type;
  };
  return !kernel.hasReductionLoops() && !kernel.getInputs().empty() &&
         kernel.getInputs().size() <= mostInputs && isProductType(type) &&
         llvm::all_of(kernel.getInputs(), hasType) &&
         llvm::all_of(kernel.getOutputs(), hasType);
}

/// The terms of u at each sample, of which there are `count`.
static Samples termsOf(size_t count) {
  Samples terms;
  for (auto [sample, numbers] : llvm::zip(samples, terms))
    if (count == 1)
      numbers = {sample.u};
    else
      numbers = {sample.first, sample.u - sample.first};
  return terms;
}

/// The epilogue of a product that a kernel is, and no gradient of one.
static std::optional<ProductEpilogue> forwardOf(spmd::KernelOp kernel) {
  if (!isElementwise(kernel, /*mostInputs=*/2))
    return std::nullopt;
  const size_t inputs = kernel.getInputs().size();
  const auto outputs = evaluate(kernel, termsOf(inputs));
  if (!outputs)
    return std::nullopt;
  auto result = findOutput(kernel, *outputs,
                           [](const Sample &sample) { return gelu(sample.u); });
  Form form = Form::Gelu;
  if (!result && inputs == 2 && kernel.getOutputs().size() == 1) {
    form = Form::Bias;
    result = findOutput(kernel, *outputs,
                        [](const Sample &sample) { return sample.u; });
  }
  if (!result)
    return std::nullopt;
  ProductEpilogue epilogue{.symbol = kernelSymbol(kernel), .form = form};
  for (unsigned input = 0; input < inputs; ++input)
    epilogue.terms.push_back(input);
  epilogue.result = inputs + *result;
  return epilogue;
}

/// The gradient of `gelu` that a kernel is, which reads its operands, its
/// results or both, and one more array.
static std::optional<ProductEpilogue>
gradientOf(spmd::KernelOp kernel, spmd::KernelOp gelu,
           const ProductEpilogue &forward) {
  constexpr size_t mostInputs = 6;
  if (!isElementwise(kernel, mostInputs) || kernel.getOutputs().size() != 1)
    return std::nullopt;
  const Samples terms = termsOf(forward.terms.size());
  const Samples results = *evaluate(gelu, terms);
  ProductEpilogue epilogue{.form = Form::GeluGradient, .gelu = forward.symbol};
  Samples inputs;
  auto add = [&](llvm::function_ref<double(size_t sample)> number) {
    for (size_t s = 0; s < samples.size(); ++s)
      inputs[s].push_back(number(s));
  };
  for (auto [input, value] : llvm::enumerate(kernel.getInputs())) {
    const auto term = llvm::find(gelu.getInputs(), value);
    if (value.getDefiningOp() == gelu) {
      const unsigned result = cast<mlir::OpResult>(value).getResultNumber();
      epilogue.saved.emplace_back(input, gelu.getInputs().size() + result);
      add([&](size_t s) { return results[s][result]; });
    } else if (term != gelu.getInputs().end()) {
      const size_t number = term - gelu.getInputs().begin();
      epilogue.terms.push_back(input);
      add([&](size_t s) { return terms[s][number]; });
    } else if (!epilogue.factor) {
      epilogue.factor = input;
      add([&](size_t s) { return samples[s].factor; });
    } else {
      return std::nullopt;
    }
  }
  const auto outputs =
      epilogue.factor ? evaluate(kernel, inputs) : std::nullopt;
  if (!outputs || !findOutput(kernel, *outputs, [](const Sample &sample) {
        return sample.factor * geluGradient(sample.u);
      }))
    return std::nullopt;
  epilogue.symbol = kernelSymbol(kernel);
  epilogue.result = kernel.getInputs().size();
  return epilogue;
}

/// The sum of a bias's gradient that a kernel is, which adds up one array.
static std::optional<ProductEpilogue> biasGradientOf(spmd::KernelOp kernel) {
  if (kernel.getInputs().size() != 1 || kernel.getOutputs().size() != 1 ||
      kernel.getReducer(0) != spmd::Reducer::Sum)
    return std::nullopt;
  for (Value array : {kernel.getInputs()[0], Value(kernel.getOutputs()[0])})
    if (!isProductType(dtensor::elementTypeOf(array.getType())))
      return std::nullopt;
  Value term = kernel.getBlock()->getTerminator()->getOperand(0);
  if (auto widened = term.getDefiningOp<mlir::arith::ExtFOp>())
    term = widened.getIn();
  if (!isa<mlir::BlockArgument>(term))
    return std::nullopt;
  return ProductEpilogue{.symbol = kernelSymbol(kernel),
                         .form = Form::BiasGradient,
                         .terms = {0},
                         .result = 1};
}

std::vector<ProductEpilogue>
meshloom::findEpilogues(mlir::func::FuncOp function) {
  std::vector<ProductEpilogue> found;
  auto add = [&](ProductEpilogue epilogue) {
    if (!llvm::is_contained(found, epilogue))
      found.push_back(std::move(epilogue));
  };
  function.walk([&](spmd::KernelOp kernel) {
    if (auto sum = biasGradientOf(kernel))
      add(std::move(*sum));
    const auto forward = forwardOf(kernel);
    if (!forward)
      return;
    add(*forward);
    if (forward->form != Form::Gelu)
      return;
    SmallVector<Value> read = llvm::to_vector(kernel.getInputs());
    llvm::append_range(read, kernel.getOutputs());
    for (Value value : read)
      for (Operation *user : value.getUsers())
        if (auto other = dyn_cast<spmd::KernelOp>(user);
            other && other != kernel)
          if (auto gradient = gradientOf(other, kernel, *forward))
            add(std::move(*gradient));
  });
  return found;
}
