// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions of dtensor.while and dtensor.case, traced by moving the insertion
// point of the trace into them.
#include "meshloom/API/ControlOps.h"

#include "Operands.h"
#include "Regions.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/EvalShape.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/Engine/DeviceSets.h"

#include "mlir/IR/IRMapping.h"

#include <fmt/format.h>

namespace meshloom::detail {

Trace &traceOf(std::string_view op, const std::source_location &where) {
  const std::shared_ptr<Trace> &trace = threadState().trace();
  if (!trace)
    fail(op,
         "expected to be called in the body of a `function`, which it is "
         "compiled into: outside of one, use a loop or an if of C++",
         &where);
  return *trace;
}

namespace {

/// Ops go to the end of `block` while it lives.
class InBlock {
public:
  InBlock(OpBuilder &builder, Block &block) : guard(builder) {
    builder.setInsertionPointToEnd(&block);
  }

private:
  OpBuilder::InsertionGuard guard;
};

std::vector<Tensor> wrapAll(Trace &trace, ValueRange values) {
  std::vector<Tensor> tensors;
  for (Value value : values)
    tensors.push_back(trace.wrapValue(value));
  return tensors;
}

void yield(Trace &trace, const std::vector<Tensor> &tensors,
           std::string_view op, const std::source_location &where) {
  SmallVector<Value> values;
  for (const Tensor &tensor : tensors)
    values.push_back(trace.valueOf(tensor, op, &where));
  trace.builder().create<dtensor::YieldOp>(trace.location(where), values);
}

void expectScalar(const Tensor &tensor, bool isPredicate, std::string_view role,
                  std::string_view op, const std::source_location &where) {
  const TensorNode &node = nodeOf(tensor, op, &where);
  if (!node.shape.empty() ||
      (isPredicate ? node.dtype != DType::I1 : !isInteger(node.dtype)))
    fail(op,
         fmt::format("expected {} to be {} scalar, got {}", role,
                     isPredicate ? "a bool (i1)" : "an integer",
                     typeText(tensor)),
         &where);
}

} // namespace

void expectAlike(const RegionState &actual, const RegionState &expected,
                 const std::string &role, std::string_view as,
                 std::string_view op, const std::source_location &where) {
  if (actual.statics != expected.statics ||
      actual.tensors.size() != expected.tensors.size())
    fail(op,
         fmt::format(
             "expected {} to be a structure like that of {}: with equally many "
             "tensors, and with the same numbers and strings beside them (a "
             "value that changes has to be a tensor)",
             role, as),
         &where);
  for (size_t i = 0; i < actual.tensors.size(); ++i) {
    const TensorNode &actualNode = nodeOf(actual.tensors[i], op, &where),
                     &expectedNode = nodeOf(expected.tensors[i], op, &where);
    if (actualNode.dtype != expectedNode.dtype ||
        actualNode.shape != expectedNode.shape)
      fail(op,
           fmt::format("expected {} to have {} as tensor {}, like {}, got {}",
                       role, typeText(expectedNode.dtype, expectedNode.shape),
                       i, as, typeText(actualNode.dtype, actualNode.shape)),
           &where);
  }
}

/// Outside of traces.
static std::vector<Tensor>
runWhile(std::string_view op, const RegionState &init,
         const std::function<Tensor(RegionTensors)> &condition,
         const std::function<RegionState(RegionTensors)> &body,
         const std::source_location &where) {
  std::vector<Tensor> state = init.tensors;
  for (const Tensor &tensor : state)
    nodeOf(tensor, op, &where);
  while (true) {
    Tensor goesOn = condition(state);
    expectScalar(goesOn, true, "the condition", op, where);
    if (!goesOn.item<bool>())
      return state;
    RegionState next = body(state);
    expectAlike(next, init, "the body's result", "the initial state", op,
                where);
    state = std::move(next.tensors);
  }
}

/// Returns whether a loop whose body does not end yet uses sets of devices that
/// do not go together.
static bool isOnSeveralSets(const Trace &trace, dtensor::WhileOp loop) {
  if (!trace.isSpread())
    return false;
  UsedSets used;
  auto add = [&](Value value) {
    used.add(trace.deviceSetOf(value),
             dtensor::globalShape(value.getType()).empty());
  };
  llvm::for_each(loop.getInits(), add);
  for (Region &region : loop->getRegions())
    for (Operation &inner : region.front()) {
      llvm::for_each(inner.getOperands(), add);
      llvm::for_each(inner.getResults(), add);
    }
  return !commonDeviceSet(used);
}

/// The results of so many turns of a loop, written out one after the other.
static SmallVector<Value> unrolled(OpBuilder &builder, dtensor::WhileOp loop,
                                   int64_t turns) {
  SmallVector<Value> state(loop.getInits());
  Block &body = loop.getBody().front();
  for (int64_t turn = 0; turn < turns; ++turn) {
    mlir::IRMapping values;
    values.map(body.getArguments(), state);
    for (Operation &op : body.without_terminator())
      builder.clone(op, values);
    for (auto [value, next] :
         llvm::zip_equal(state, body.getTerminator()->getOperands()))
      value = values.lookupOrDefault(next);
  }
  return state;
}

std::vector<Tensor>
traceWhile(std::string_view op, const RegionState &init,
           const std::function<Tensor(RegionTensors)> &condition,
           const std::function<RegionState(RegionTensors)> &body,
           const std::source_location &where) {
  if (!threadState().trace())
    return runWhile(op, init, condition, body, where);
  Trace &trace = traceOf(op, where);
  OpBuilder &builder = trace.builder();
  SmallVector<Value> inits;
  for (const Tensor &tensor : init.tensors)
    inits.push_back(trace.valueOf(tensor, op, &where));
  auto loop = builder.create<dtensor::WhileOp>(trace.location(where), inits);
  bool isApart = false;
  try {
    {
      Block &block = loop.getCondition().front();
      InBlock inside(builder, block);
      Tensor goesOn = condition(wrapAll(trace, block.getArguments()));
      expectScalar(goesOn, true, "the condition", op, where);
      yield(trace, {goesOn}, op, where);
    }
    Block &block = loop.getBody().front();
    InBlock inside(builder, block);
    RegionState next = body(wrapAll(trace, block.getArguments()));
    expectAlike(next, init, "the body's result", "the initial state", op,
                where);
    isApart = isOnSeveralSets(trace, loop);
    yield(trace, next.tensors, op, where);
  } catch (...) {
    trace.discard(loop);
    throw;
  }
  const std::optional<int64_t> turns =
      isApart ? unrolledTurns(loop) : std::nullopt;
  if (!turns)
    return wrapAll(trace, loop.getResults());
  const SmallVector<Value> state = unrolled(builder, loop, *turns);
  trace.discard(loop);
  return wrapAll(trace, state);
}

dtensor::CaseOp
traceBranches(Trace &trace, std::string_view op, Value index,
              std::span<const std::function<RegionState()>> branches,
              const std::source_location &where) {
  OpBuilder &builder = trace.builder();
  // The types of the results are known when the branches are: the regions are
  // made in an op without results, and then moved.
  auto draft =
      builder.create<dtensor::CaseOp>(trace.location(where), mlir::TypeRange(),
                                      index, unsigned(branches.size()));
  SmallVector<Type> types;
  try {
    RegionState first;
    for (auto [i, branch] : llvm::enumerate(branches)) {
      InBlock inside(builder, draft.getBranches()[i].front());
      RegionState result = branch();
      if (i == 0)
        first = result;
      expectAlike(result, first, fmt::format("the result of branch {}", i),
                  "branch 0", op, where);
      yield(trace, result.tensors, op, where);
    }
    for (Value value : draft.getYield(0).getValues())
      types.push_back(dtensor::undecided(value.getType()));
  } catch (...) {
    trace.discard(draft);
    throw;
  }
  auto caseOp = builder.create<dtensor::CaseOp>(
      trace.location(where), types, index, unsigned(branches.size()));
  for (unsigned i = 0; i < branches.size(); ++i)
    caseOp.getBranches()[i].takeBody(draft.getBranches()[i]);
  draft->erase();
  return caseOp;
}

std::vector<Tensor>
traceCase(std::string_view op, const TensorLike &index, bool isPredicate,
          std::span<const std::function<RegionState()>> branches,
          const std::source_location &where) {
  Tensor branchIndex =
      operandLike(index, isPredicate ? DType::I1 : DType::I32, op);
  expectScalar(branchIndex, isPredicate,
               isPredicate ? "the predicate" : "the index", op, where);
  if (!threadState().trace()) {
    const int64_t asked =
        isPredicate ? int64_t(!branchIndex.item<bool>())
                    : cast(branchIndex, DType::I64, where).item<int64_t>();
    const int64_t last = int64_t(branches.size()) - 1;
    const bool isThere = asked >= 0 && asked < last;
    return branches[size_t(isThere ? asked : last)]().tensors;
  }
  Trace &trace = traceOf(op, where);
  if (isPredicate)
    branchIndex = meshloom::where({branchIndex, where},
                                  {traceCounter(op, 0, where), where},
                                  {traceCounter(op, 1, where), where});
  else if (branchIndex.dtype() != DType::I32)
    branchIndex = cast(branchIndex, DType::I32, where);
  Value number = trace.valueOf(branchIndex, op, &where);
  return wrapAll(
      trace, traceBranches(trace, op, number, branches, where).getResults());
}

Tensor traceCounter(std::string_view op, int64_t value,
                    const std::source_location &where) {
  return operandLike({value, where}, DType::I32, op);
}

std::pair<Tensor, Tensor> loopBounds(std::string_view op,
                                     const TensorLike &lower,
                                     const TensorLike &upper,
                                     const std::source_location &where) {
  DType type = DType::I32;
  for (const TensorLike *bound : {&upper, &lower})
    if (bound->kind == TensorLike::Kind::Tensor)
      type = nodeOf(bound->tensor, op, &where).dtype;
  std::pair<Tensor, Tensor> bounds{operandLike(lower, type, op),
                                   operandLike(upper, type, op)};
  expectScalar(bounds.first, false, "the lower bound", op, where);
  expectScalar(bounds.second, false, "the upper bound", op, where);
  if (bounds.first.dtype() != bounds.second.dtype())
    fail(op,
         fmt::format("expected bounds of one type, got {} and {}: cast one",
                     typeText(bounds.first), typeText(bounds.second)),
         &where);
  return bounds;
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

/// i in the first dim, 0 in the others.
static std::vector<TensorLike> startAt(const TensorLike &i, int64_t rank,
                                       const std::source_location &where) {
  std::vector<TensorLike> starts(size_t(rank), TensorLike(0, where));
  starts[0] = i;
  return starts;
}

Tensor elementAt(const Tensor &x, const TensorLike &i,
                 const std::source_location &where) {
  Shape one = x.shape();
  if (one[0] == 0) // in a loop that runs no time
    return zeros(Shape(one.begin() + 1, one.end()), x.dtype(), where);
  one[0] = 1;
  return squeeze(dynamic_slice(x, startAt(i, x.rank(), where), one, where), 0,
                 where);
}

Tensor withElementAt(const Tensor &stack, const Tensor &i,
                     const Tensor &element, const std::source_location &where) {
  if (stack.shape()[0] == 0) // in a loop that runs no time
    return stack;
  return dynamic_update_slice(stack, expand_dims(element, 0, where),
                              startAt({i, where}, stack.rank(), where), where);
}

int64_t scanLength(const std::vector<Tensor> &xs,
                   const std::source_location &where) {
  std::optional<int64_t> length;
  for (const Tensor &x : xs) {
    const Shape &shape = nodeOf(x, "scan", &where).shape;
    if (shape.empty() || (length && shape[0] != *length))
      fail("scan",
           fmt::format("expected tensors of one length to go over, got {} "
                       "beside {}",
                       typeText(x), typeText(xs.front())),
           &where);
    length = shape[0];
  }
  if (!length)
    fail("scan", "expected at least one tensor to go over", &where);
  return *length;
}

std::vector<Tensor> traceStacks(std::string_view op, int64_t n,
                                const std::function<RegionState()> &body,
                                const std::source_location &where) {
  Trace &trace = traceOf(op, where);
  OpBuilder &builder = trace.builder();
  auto draft = builder.create<dtensor::CaseOp>(
      trace.location(where), mlir::TypeRange(),
      trace.valueOf(traceCounter(op, 0, where), op, &where), 1u);
  std::vector<std::pair<DType, Shape>> types;
  try {
    InBlock inside(builder, draft.getBranches()[0].front());
    for (const Tensor &y : body().tensors) {
      const TensorNode &node = nodeOf(y, op, &where);
      types.emplace_back(node.dtype, node.shape);
    }
  } catch (...) {
    trace.discard(draft);
    throw;
  }
  trace.discard(draft);
  std::vector<Tensor> stacks;
  for (auto &[type, shape] : types) {
    shape.insert(shape.begin(), n);
    stacks.push_back(zeros(shape, type, where));
  }
  return stacks;
}

std::vector<Tensor>
emptyStacks(const std::function<std::vector<Tensor>()> &body,
            const std::source_location &where) {
  auto once = [&](const std::vector<Tensor> &) { return body(); };
  std::vector<Tensor> stacks;
  for (TensorSpec &spec : eval_shape(once, {})) {
    spec.shape.insert(spec.shape.begin(), 0);
    stacks.push_back(zeros(spec.shape, spec.dtype, where));
  }
  return stacks;
}

std::vector<Tensor> stackAll(const std::vector<std::vector<Tensor>> &elements,
                             const std::source_location &where) {
  std::vector<Tensor> stacks;
  for (size_t k = 0; k < elements.front().size(); ++k) {
    std::vector<Tensor> column;
    column.reserve(elements.size());
    for (const std::vector<Tensor> &element : elements)
      column.push_back(element[k]);
    stacks.push_back(stack(column, 0, where));
  }
  return stacks;
}

} // namespace meshloom::detail
