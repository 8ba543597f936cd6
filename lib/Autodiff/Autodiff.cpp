// The reverse pass: from outputs to inputs, each op once, after all its users.
#include "meshloom/Autodiff/Autodiff.h"

#include "mlir/IR/TypeUtilities.h"

#include <fmt/format.h>

namespace meshloom {
namespace {

/// The ops that `outputs` are computed from, operands before users. Iterative:
/// a traced loop makes chains deeper than a stack.
SmallVector<Operation *> opsBehind(ValueRange outputs) {
  SmallVector<Operation *> order;
  DenseSet<Operation *> seen;
  SmallVector<std::pair<Operation *, unsigned>> path;
  auto enter = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && seen.insert(op).second)
      path.emplace_back(op, 0);
  };
  for (Value output : outputs) {
    enter(output);
    while (!path.empty()) {
      auto &[op, next] = path.back();
      if (next < op->getNumOperands()) {
        enter(op->getOperand(next++));
        continue;
      }
      order.push_back(op);
      path.pop_back();
    }
  }
  return order;
}

bool holdsFloats(Type type) {
  if (auto variable = dyn_cast<dtensor::VariableType>(type))
    type = variable.getTensorType();
  return isa<FloatType>(mlir::getElementTypeOrSelf(type));
}

std::string locationOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << op->getLoc();
  return text;
}

/// Values that some `wrt` value influences through floats.
DenseSet<Value> activeValues(ArrayRef<Operation *> order, ValueRange wrt) {
  DenseSet<Value> active;
  for (Value value : wrt)
    if (holdsFloats(value.getType()))
      active.insert(value);
  for (Operation *op : order)
    if (!op->hasAttr(stopGradientAttr) &&
        llvm::any_of(op->getOperands(),
                     [&](Value operand) { return active.contains(operand); }))
      for (Value result : op->getResults())
        if (holdsFloats(result.getType()))
          active.insert(result);
  return active;
}

} // namespace

Result<SmallVector<Value>> buildGradients(OpBuilder &builder,
                                          ValueRange outputs, ValueRange seeds,
                                          ValueRange wrt) {
  assert((seeds.empty() || seeds.size() == outputs.size()) &&
         "one seed an output, or none");
  SmallVector<Operation *> order = opsBehind(outputs);
  DenseSet<Value> active = activeValues(order, wrt);

  // Invariant: when an op is visited, its results' sums are complete.
  DenseMap<Value, Value> gradients;
  auto accumulate = [&](Value value, Value gradient, Location location) {
    Value &sum = gradients[value];
    GradientBuilder math(builder, location);
    sum = sum ? math.add(sum, gradient) : gradient;
  };
  for (auto [i, output] : llvm::enumerate(outputs)) {
    if (!active.contains(output))
      continue;
    GradientBuilder math(builder, output.getLoc());
    accumulate(output, seeds.empty() ? math.constant(output, 1) : seeds[i],
               output.getLoc());
  }

  for (Operation *op : llvm::reverse(order)) {
    SmallVector<Value> results;
    for (Value result : op->getResults())
      results.push_back(active.contains(result) ? gradients.lookup(result)
                                                : Value());
    SmallVector<bool> wanted;
    for (Value operand : op->getOperands())
      wanted.push_back(active.contains(operand));
    if (!llvm::is_contained(wanted, true) ||
        llvm::none_of(results, [](Value value) { return bool(value); }))
      continue;
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    if (!rule)
      return Error(fmt::format("[gradient] '{}' at {} has no gradient",
                               std::string_view(op->getName().getStringRef()),
                               locationOf(op)));
    OpGradient gradient(builder, op, std::move(results), std::move(wanted));
    rule.buildGradient(gradient);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (gradient.wants(i) && gradient.given(i))
        accumulate(operand, gradient.given(i), op->getLoc());
  }

  SmallVector<Value> found;
  for (Value value : wrt)
    found.push_back(gradients.lookup(value));
  return found;
}

} // namespace meshloom
