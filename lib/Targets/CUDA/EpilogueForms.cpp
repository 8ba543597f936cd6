// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EpilogueForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

#include <array>
#include <cmath>
#include <numbers>

using namespace meshloom;

namespace {

using Form = ProductEpilogue::Form;

/// Says what an input of the kernel is to the epilogue.
enum class Role : uint8_t { Sum, Factor, Inner };

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

double innerOf(double u) {
  return std::tanh(slope * (u + cubic * u * u * u));
}
double gelu(double u) {
  return u / 2 * (1 + innerOf(u));
}
double geluGradient(double u) {
  const double inner = innerOf(u);
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

/// Finds which output each function of a sample is: `outputs[s]` are those at
/// sample s. Constants of narrow types are rounded.
static std::optional<unsigned>
findOutput(ArrayRef<SmallVector<double>> outputs, double tolerance,
           llvm::function_ref<double(const Sample &)> expected) {
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

/// Returns the epilogue that the kernel is where its inputs have these roles.
static std::optional<ProductEpilogue>
epilogueWith(ArrayRef<Role> roles, spmd::KernelOp kernel, double tolerance) {
  ProductEpilogue epilogue;
  for (auto [input, role] : llvm::enumerate(roles)) {
    if (role == Role::Sum)
      epilogue.sum.push_back(input);
    else
      (role == Role::Factor ? epilogue.factor : epilogue.inner) = input;
  }
  SmallVector<SmallVector<double>> outputs;
  for (const Sample &sample : samples) {
    SmallVector<double> inputs;
    for (Role role : roles)
      inputs.push_back(role == Role::Factor  ? sample.factor
                       : role == Role::Inner ? innerOf(sample.u)
                                             : sample.u);
    if (epilogue.sum.size() == 2) {
      inputs[epilogue.sum[0]] = sample.first;
      inputs[epilogue.sum[1]] = sample.u - sample.first;
    }
    auto values = evaluate(*kernel.getBlock(), inputs);
    if (!values)
      return std::nullopt;
    outputs.push_back(std::move(*values));
  }
  auto find = [&](llvm::function_ref<double(const Sample &)> expected) {
    return findOutput(outputs, tolerance, expected);
  };
  std::optional<unsigned> result, inner;
  if (epilogue.factor) {
    epilogue.form = Form::GeluGradient;
    result = find([](const Sample &sample) {
      return sample.factor * geluGradient(sample.u);
    });
  } else if (result = find([](const Sample &sample) { return gelu(sample.u); });
             result) {
    epilogue.form = Form::Gelu;
    inner = find([](const Sample &sample) { return innerOf(sample.u); });
  } else if (epilogue.sum.size() == 2) {
    result = find([](const Sample &sample) { return sample.u; });
  }
  // An epilogue has no further results.
  if (!result || outputs[0].size() != (inner ? 2 : 1))
    return std::nullopt;
  epilogue.result = roles.size() + *result;
  if (inner)
    epilogue.inner = roles.size() + *inner;
  return epilogue;
}

/// Returns whether an epilogue may have inputs of these roles.
static bool areRoles(ArrayRef<Role> roles) {
  auto count = [&](Role role) { return llvm::count(roles, role); };
  const auto sums = count(Role::Sum), factors = count(Role::Factor);
  return (sums == 1 || sums == 2) && factors <= 1 &&
         count(Role::Inner) <= factors;
}

std::optional<ProductEpilogue> meshloom::epilogueOf(spmd::KernelOp kernel,
                                                    StringRef symbol) {
  constexpr size_t mostInputs = 4, numRoles = 3;
  const size_t inputs = kernel.getInputs().size();
  if (kernel.hasReductionLoops() || inputs == 0 || inputs > mostInputs)
    return std::nullopt;
  const Type type =
      cast<RankedTensorType>(kernel.getOutputs()[0].getType()).getElementType();
  auto hasType = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType() == type;
  };
  if (!(type.isF32() || type.isBF16() || type.isF16()) ||
      !llvm::all_of(kernel.getInputs(), hasType) ||
      !llvm::all_of(kernel.getOutputs(), hasType))
    return std::nullopt;
  const double tolerance = type.isF32() ? 1e-6 : type.isF16() ? 4e-3 : 1e-2;
  SmallVector<Role> roles(inputs);
  const auto combinations = size_t(std::pow(numRoles, inputs));
  for (size_t combination = 0; combination < combinations; ++combination) {
    size_t digits = combination;
    for (Role &role : roles) {
      role = Role(digits % numRoles);
      digits /= numRoles;
    }
    if (!areRoles(roles))
      continue;
    if (auto epilogue = epilogueWith(roles, kernel, tolerance)) {
      epilogue->symbol = symbol.str();
      return epilogue;
    }
  }
  return std::nullopt;
}
