// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reverse pass: from outputs to inputs, each op once, after all its users.
#include "meshloom/Autodiff/Autodiff.h"

#include "ControlGradients.h"
#include "Queries.h"

#include "meshloom/ControlFlow/ControlFlow.h"

#include <fmt/format.h>

namespace meshloom {
namespace {

/// The ops that `outputs` are computed from, operands before users. Iterative:
/// a traced loop makes chains deeper than a stack.
/// The ops of `block` alone: the values around it stand still.
SmallVector<Operation *> opsBehind(ValueRange outputs, Block *block) {
  SmallVector<Operation *> order;
  DenseSet<Operation *> seen;
  struct Visit {
    Operation *op;
    SmallVector<Value> uses;
    unsigned next = 0;
  };
  SmallVector<Visit> path;
  auto enter = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == block && seen.insert(op).second)
      path.push_back({op, usedValues(op)});
  };
  for (Value output : outputs) {
    enter(output);
    while (!path.empty()) {
      Visit &visit = path.back();
      if (visit.next < visit.uses.size()) {
        enter(visit.uses[visit.next++]);
        continue;
      }
      order.push_back(visit.op);
      path.pop_back();
    }
  }
  return order;
}

/// Values that some `wrt` value influences through floats.
DenseSet<Value> activeValues(ArrayRef<Operation *> order, ValueRange wrt) {
  DenseSet<Value> active;
  for (Value value : wrt)
    if (holdsFloats(value.getType()))
      active.insert(value);
  for (Operation *op : order)
    if (!op->hasAttr(stopGradientAttr) &&
        llvm::any_of(usedValues(op),
                     [&](Value used) { return active.contains(used); }))
      for (Value result : op->getResults())
        if (holdsFloats(result.getType()))
          active.insert(result);
  return active;
}

} // namespace

Result<SmallVector<Value>> buildGradients(OpBuilder &builder,
                                          ValueRange outputs, ValueRange seeds,
                                          ValueRange wrt, Block *block) {
  assert((seeds.empty() || seeds.size() == outputs.size()) &&
         "one seed an output, or none");
  if (!block)
    block = builder.getInsertionBlock();
  readBeforeRegions(*block);
  SmallVector<Operation *> order = opsBehind(outputs, block);
  DenseSet<Value> active = activeValues(order, wrt);

  // Invariant: when an op is visited, its results' sums are complete.
  DenseMap<Value, Value> gradients;
  auto accumulate = [&](Value value, Value gradient, Location location) {
    Value &sum = gradients[value];
    dtensor::TensorBuilder math(builder, location);
    sum = sum ? math.add(sum, gradient) : gradient;
  };
  for (auto [i, output] : llvm::enumerate(outputs)) {
    if (!active.contains(output))
      continue;
    dtensor::TensorBuilder math(builder, output.getLoc());
    accumulate(output, seeds.empty() ? math.like(output, 1) : seeds[i],
               output.getLoc());
  }

  for (Operation *op : llvm::reverse(order)) {
    if (op->hasAttr(stopGradientAttr))
      continue; // a result may be one of `wrt`
    SmallVector<Value> results;
    for (Value result : op->getResults())
      results.push_back(active.contains(result) ? gradients.lookup(result)
                                                : Value());
    if (isControl(op)) {
      SmallVector<Value> wanted;
      for (Value used : usedValues(op))
        if (active.contains(used))
          wanted.push_back(used);
      if (wanted.empty() ||
          llvm::none_of(results, [](Value value) { return bool(value); }))
        continue;
      auto regionGradients =
          buildControlGradients(builder, op, results, wanted);
      if (!regionGradients)
        return regionGradients.error();
      for (auto [used, gradient] : llvm::zip_equal(wanted, *regionGradients))
        if (gradient)
          accumulate(used, gradient, op->getLoc());
      continue;
    }
    SmallVector<bool> wanted;
    for (Value operand : op->getOperands())
      wanted.push_back(active.contains(operand));
    if (!llvm::is_contained(wanted, true) ||
        llvm::none_of(results, [](Value value) { return bool(value); }))
      continue;
    auto rule = dyn_cast<DifferentiableOpInterface>(op);
    if (!rule)
      return Error(fmt::format("[gradient] '{}' at {} has no gradient: {}",
                               std::string_view(op->getName().getStringRef()),
                               locationOf(op),
                               std::string_view(whyNoGradient(op->getName()))));
    auto reaches = [&](Value value, ArrayRef<Value> past) {
      return active.contains(value) && llvm::none_of(past, [&](Value on) {
               return llvm::is_contained(wrt, on);
             });
    };
    OpGradient gradient(builder, op, std::move(results), std::move(wanted),
                        reaches);
    rule.buildGradient(gradient);
    if (!gradient.refusal().empty())
      return Error(fmt::format("[gradient] '{}' at {} has no gradient: {}",
                               std::string_view(op->getName().getStringRef()),
                               locationOf(op), gradient.refusal()));
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (gradient.wants(i) && gradient.gradientOf(i))
        accumulate(operand, gradient.gradientOf(i), op->getLoc());
    if (auto [value, further] = gradient.furtherGradient(); value)
      accumulate(value, further, op->getLoc());
  }

  SmallVector<Value> found;
  for (Value value : wrt)
    found.push_back(gradients.lookup(value));
  return found;
}

} // namespace meshloom
