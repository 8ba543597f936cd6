// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A case: a case on the same index, whose branches compute the branches again
// and then their gradients.
//
// A while whose trip count n is known: a loop that counts j from 0 to n, in
// iteration j of which the body's gradient of iteration k = n - 1 - j is built.
// It carries the gradients of the carried values, from the results' back to the
// inits', and sums those of the values from outside. The arguments of the body
// in iteration k are read from a stack, [n, ...], that a new forward loop in
// place of the old one fills; the body is computed again from it. Only values
// that the body's gradient really reads are kept. Both loops count by
// constants, so they have gradients again, and trip counts that later passes
// can use.
//
// A while of unknown trip count: a copy of the loop counts its iterations, n.
// Another one, which runs n times, puts what the body was given every s-th time
// into stacks of `checkpoints` elements, s being the least for which these
// suffice. The backward loop runs n times, too: in iteration j the body is run
// from the nearest element before k, up to k, and then differentiated. For n up
// to `checkpoints` s is 1, and nothing is computed again. No bound on n is
// needed, and all loops have gradients again.
#include "ControlGradients.h"
#include "Queries.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/Dialect/DTensor/Recompute.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

namespace meshloom {
namespace {

using dtensor::CaseOp, dtensor::WhileOp, dtensor::YieldOp;

/// Copies the ops of `block` but the terminator to `builder`.
void cloneBody(OpBuilder &builder, Block &block, mlir::IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
}

/// Erases the ops that were copied for gradients that turned out not to need
/// them.
void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

Value zerosLike(OpBuilder &builder, Value value) {
  dtensor::TensorBuilder math(builder, value.getLoc());
  return math.zeros(dtensor::undecided(value.getType()));
}

//===----------------------------------------------------------------------===//
// case
//===----------------------------------------------------------------------===//

Result<SmallVector<Value>> caseGradients(OpBuilder &builder, CaseOp branch,
                                         ArrayRef<Value> results,
                                         ArrayRef<Value> wanted) {
  SmallVector<Type> types;
  for (Value value : wanted)
    types.push_back(dtensor::undecided(value.getType()));
  auto newCase = builder.create<CaseOp>(
      branch.getLoc(), types, branch.getIndex(), branch.getBranches().size());
  // The ops that are computed again stay apart from the ops that they were
  // computed by.
  if (branch->hasAttr(dtensor::recomputedAttr))
    newCase->setAttr(dtensor::recomputedAttr, builder.getUnitAttr());
  for (auto [i, region] : llvm::enumerate(branch.getBranches())) {
    Block &block = newCase.getBranches()[i].front();
    OpBuilder inner(builder.getContext());
    inner.setInsertionPointToEnd(&block);
    mlir::IRMapping mapping;
    cloneBody(inner, region.front(), mapping);
    SmallVector<Value> outputs, seeds;
    for (auto [value, gradient] :
         llvm::zip_equal(branch.getYield(unsigned(i)).getOperands(), results))
      if (gradient) {
        outputs.push_back(mapping.lookupOrDefault(value));
        seeds.push_back(gradient);
      }
    auto found = buildGradients(inner, outputs, seeds, wanted);
    if (!found) {
      newCase->erase();
      return found.error();
    }
    SmallVector<Value> yielded;
    for (auto [value, gradient] : llvm::zip_equal(wanted, *found))
      yielded.push_back(gradient ? gradient : zerosLike(inner, value));
    inner.create<YieldOp>(branch.getLoc(), yielded);
    eraseDeadOps(block);
  }
  return SmallVector<Value>(newCase.getResults());
}

//===----------------------------------------------------------------------===//
// Gradients that users give
//===----------------------------------------------------------------------===//

class CustomGradients {
public:
  static CustomGradients &get() {
    static CustomGradients &registry = *new CustomGradients;
    return registry;
  }
  int64_t add(CustomGradient rule) {
    std::lock_guard lock(mutex);
    rules.emplace(next,
                  std::make_shared<const CustomGradient>(std::move(rule)));
    return next++;
  }
  void remove(int64_t number) {
    std::shared_ptr<const CustomGradient> last; // may hold other rules
    std::lock_guard lock(mutex);
    auto entry = rules.find(number);
    last = std::move(entry->second);
    rules.erase(entry);
  }
  std::shared_ptr<const CustomGradient> find(int64_t number) {
    std::lock_guard lock(mutex);
    auto entry = rules.find(number);
    return entry == rules.end() ? nullptr : entry->second;
  }

private:
  std::mutex mutex;
  int64_t next = 0;
  std::map<int64_t, std::shared_ptr<const CustomGradient>> rules;
};

Result<SmallVector<Value>> customGradients(OpBuilder &builder, CaseOp branch,
                                           ArrayRef<Value> results,
                                           ArrayRef<Value> wanted) {
  auto numberAndCount =
      branch->getAttrOfType<mlir::DenseI64ArrayAttr>(customGradientAttr);
  auto rule = numberAndCount && numberAndCount.size() == 2 &&
                      numberAndCount[1] >= 0 &&
                      numberAndCount[1] <= int64_t(branch.getNumResults())
                  ? CustomGradients::get().find(numberAndCount[0])
                  : nullptr;
  if (!rule)
    return Error(fmt::format("[gradient] the function at {} has a gradient of "
                             "its own, which only the process that traced it "
                             "knows",
                             locationOf(branch)));
  const size_t count = size_t(numberAndCount[1]);
  YieldOp yield = branch.getYield(0);
  SmallVector<Value> inputs(llvm::drop_begin(yield.getOperands(), count));
  for (Value value : wanted)
    if (!llvm::is_contained(inputs, value))
      return Error(fmt::format(
          "[custom_gradient] the function at {} uses a value that it is not "
          "given, and that a gradient is asked for: pass it as an argument",
          locationOf(branch)));
  SmallVector<Value> outputs(branch.getResults().take_front(count)), gradients;
  for (size_t i = 0; i < count; ++i)
    gradients.push_back(results[i] ? results[i]
                                   : zerosLike(builder, outputs[i]));
  auto inputGradients = (*rule)(builder, inputs, outputs, gradients);
  if (!inputGradients)
    return inputGradients.error();
  dtensor::TensorBuilder math(builder, branch.getLoc());
  SmallVector<Value> found;
  for (Value value : wanted) {
    Value sum;
    for (size_t i = 0; i < inputs.size(); ++i) {
      // An input that is handed out again as a result has its gradient too.
      for (Value gradient : {(*inputGradients)[i], results[count + i]})
        if (inputs[i] == value && gradient)
          sum = sum ? math.add(sum, gradient) : gradient;
    }
    found.push_back(sum);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

/// How many iterations of a loop that is not counted are kept.
constexpr int64_t checkpoints = 128;

class WhileGradient {
public:
  WhileGradient(OpBuilder &builder, WhileOp loop,
                std::optional<LoopCounter> counter, ArrayRef<Value> results,
                ArrayRef<Value> wanted)
      : builder(builder), loop(loop), counter(counter), wanted(wanted),
        math(builder, loop.getLoc()), seeds(results) {}

  Result<SmallVector<Value>> build();

private:
  void findCarried();
  Value number(OpBuilder &builder, int64_t value, Type element) {
    auto type = RankedTensorType::get({}, element);
    return builder.create<dtensor::ConstantOp>(
        loop.getLoc(), type,
        DenseElementsAttr::get(type, builder.getIntegerAttr(element, value)));
  }
  Value number(OpBuilder &builder, int64_t value) {
    return number(builder, value, builder.getI32Type());
  }
  /// 0 in every dim, but `first` in dim 0.
  SmallVector<Value> start(OpBuilder &builder, Value first, int64_t rank) {
    SmallVector<Value> indices(size_t(rank), number(builder, 0));
    indices[0] = first;
    return indices;
  }
  SmallVector<int64_t> stacked(Value value, int64_t count) {
    SmallVector<int64_t> shape{count};
    llvm::append_range(shape, dtensor::undecided(value.getType()).getShape());
    return shape;
  }
  Value add(OpBuilder &builder, Value x, Value y) {
    return builder.create<dtensor::AddOp>(loop.getLoc(), x, y);
  }
  Value subtract(OpBuilder &builder, Value x, Value y) {
    return builder.create<dtensor::SubtractOp>(loop.getLoc(), x, y);
  }
  Value multiply(OpBuilder &builder, Value x, Value y) {
    return builder.create<dtensor::MultiplyOp>(loop.getLoc(), x, y);
  }
  Value divide(OpBuilder &builder, Value x, Value y) {
    return builder.create<dtensor::DivideOp>(loop.getLoc(), x, y);
  }
  Value compare(OpBuilder &builder, dtensor::ComparisonDirection direction,
                Value x, Value y) {
    return builder.create<dtensor::CompareOp>(loop.getLoc(), direction, x, y);
  }
  /// Element `index` of the stack of carried value `i`.
  Value elementOf(OpBuilder &builder, Value stack, Value index, Value like) {
    SmallVector<int64_t> one = stacked(like, 1);
    Value slice = builder.create<dtensor::DynamicSliceOp>(
        loop.getLoc(), stack, start(builder, index, int64_t(one.size())), one);
    return builder.create<dtensor::ReshapeOp>(loop.getLoc(), slice,
                                              ArrayRef(one).drop_front());
  }
  /// The stack with `value` as element `index`.
  Value withElement(OpBuilder &builder, Value stack, Value index, Value value) {
    SmallVector<int64_t> one = stacked(value, 1);
    Value update =
        builder.create<dtensor::ReshapeOp>(loop.getLoc(), value, one);
    return builder.create<dtensor::DynamicUpdateSliceOp>(
        loop.getLoc(), stack, update,
        start(builder, index, int64_t(one.size())));
  }
  using MoreYields =
      llvm::function_ref<void(OpBuilder &, Block &, SmallVector<Value> &)>;
  WhileOp copyLoop(OpBuilder &builder, ArrayRef<Value> inits,
                   std::optional<Value> limit, MoreYields addYields);
  SmallVector<Value> bodyArgumentsAt(OpBuilder &builder, Value k);
  void countAndKeep();
  Status fillBody(OpBuilder &builder, Block &body);
  void keep();
  void eraseStandIns();

  OpBuilder &builder;
  WhileOp loop;
  std::optional<LoopCounter> counter; ///< nothing: it is not counted
  ArrayRef<Value> wanted;
  dtensor::TensorBuilder math;
  /// Per carried value: the gradient of its result, or null.
  SmallVector<Value> seeds;
  /// Carried values with gradients, and values from outside that get one.
  SmallVector<unsigned> carried;
  SmallVector<Value> outside;
  /// Per carried value: its stack, a stand-in for it where the loop is counted,
  /// and what is read from it.
  SmallVector<Value> stacks, kept;
  /// Where the loop is not counted: n, s, and the loop in the backward loop's
  /// body that runs on from a stack's element.
  Value total, stride;
  WhileOp again;
};

/// A copy of the loop that carries more: after its own values comes a count of
/// iterations, an i32, then others, whose next values `addYields` adds to what
/// the body yields. It goes on while the count is less than `limit`; nothing:
/// as the loop itself.
WhileOp WhileGradient::copyLoop(OpBuilder &outer, ArrayRef<Value> inits,
                                std::optional<Value> limit,
                                MoreYields addYields) {
  Location location = loop.getLoc();
  auto copy = outer.create<WhileOp>(location, inits);
  const unsigned count = loop.getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    copy.getResult(i).setType(loop.getResult(i).getType());
    copy.getConditionArgument(i).setType(
        loop.getConditionArgument(i).getType());
    copy.getBodyArgument(i).setType(loop.getBodyArgument(i).getType());
  }
  for (int region = 0; region < 2; ++region) {
    Block &from = loop->getRegion(region).front();
    Block &to = copy->getRegion(region).front();
    OpBuilder inner(builder.getContext());
    inner.setInsertionPointToEnd(&to);
    if (region == 0 && limit) {
      inner.create<YieldOp>(location,
                            compare(inner, dtensor::ComparisonDirection::LT,
                                    to.getArgument(count), *limit));
      continue;
    }
    mlir::IRMapping mapping;
    for (unsigned i = 0; i < count; ++i)
      mapping.map(from.getArgument(i), to.getArgument(i));
    cloneBody(inner, from, mapping);
    SmallVector<Value> yielded;
    for (Value value : from.getTerminator()->getOperands())
      yielded.push_back(mapping.lookupOrDefault(value));
    if (region == 1) {
      yielded.push_back(add(inner, to.getArgument(count), number(inner, 1)));
      addYields(inner, to, yielded);
    }
    inner.create<YieldOp>(location, yielded);
  }
  return copy;
}

/// Puts in the loop's place one that counts, and after it one that fills the
/// stacks. A turn that is not kept goes to an element after the last one.
void WhileGradient::countAndKeep() {
  OpBuilder front(loop);
  const unsigned count = loop.getNumResults();
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(number(front, 0));
  auto counting = copyLoop(front, inits, std::nullopt,
                           [](OpBuilder &, Block &, SmallVector<Value> &) {});
  loop->replaceAllUsesWith(counting.getResults().take_front(count));
  total = counting.getResult(count);
  // The least s with n <= s checkpoints; 1 where n is 0.
  stride = add(front,
               divide(front, subtract(front, total, number(front, 1)),
                      number(front, checkpoints)),
               number(front, 1));
  dtensor::TensorBuilder zero(front, loop.getLoc());
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument argument = loop.getBodyArgument(i);
    inits.push_back(zero.zeros(
        RankedTensorType::get(stacked(argument, checkpoints + 1),
                              dtensor::elementTypeOf(argument.getType()))));
  }
  auto filling = copyLoop(
      front, inits, total,
      [&](OpBuilder &inner, Block &body, SmallVector<Value> &yielded) {
        Value k = body.getArgument(count);
        Value slot = divide(inner, k, stride);
        Value isCheckpoint = compare(inner, dtensor::ComparisonDirection::EQ,
                                     multiply(inner, slot, stride), k);
        Value index = inner.create<dtensor::SelectOp>(
            loop.getLoc(), isCheckpoint, slot, number(inner, checkpoints));
        for (unsigned i = 0; i < count; ++i)
          yielded.push_back(withElement(inner, body.getArgument(count + 1 + i),
                                        index, body.getArgument(i)));
      });
  for (unsigned i = 0; i < count; ++i)
    stacks[i] = filling.getResult(count + 1 + i);
}

/// Returns the arguments of the body in iteration k.
SmallVector<Value> WhileGradient::bodyArgumentsAt(OpBuilder &inner, Value k) {
  const unsigned count = loop.getNumResults();
  SmallVector<Value> arguments;
  if (!counter) {
    Value slot = divide(inner, k, stride);
    SmallVector<Value> inits;
    for (unsigned i = 0; i < count; ++i)
      inits.push_back(
          elementOf(inner, stacks[i], slot, loop.getBodyArgument(i)));
    inits.push_back(number(inner, 0));
    again = copyLoop(inner, inits,
                     subtract(inner, k, multiply(inner, slot, stride)),
                     [](OpBuilder &, Block &, SmallVector<Value> &) {});
    llvm::append_range(arguments, again.getResults().take_front(count));
    return arguments;
  }
  for (unsigned i = 0; i < count; ++i) {
    BlockArgument argument = loop.getBodyArgument(i);
    if (i != counter->carried) {
      arguments.push_back(elementOf(inner, stacks[i], k, argument));
      continue;
    }
    Type element = dtensor::elementTypeOf(argument.getType());
    Value step = multiply(
        inner, dtensor::TensorBuilder(inner, loop.getLoc()).convert(k, element),
        number(inner, counter->step, element));
    arguments.push_back(
        add(inner, number(inner, counter->first, element), step));
  }
  return arguments;
}

/// A gradient goes through the carried values that a result with a gradient
/// depends on, if a wanted value reaches them; by what the body computes from
/// what, to a fixpoint each.
void WhileGradient::findCarried() {
  unsigned count = loop.getNumResults();
  YieldOp yield = loop.getBodyYield();
  // Per yielded value: the arguments and outside values it depends on.
  SmallVector<DenseSet<Value>> sources(count);
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<Value> work{yield.getOperand(i)};
    DenseSet<Value> seen;
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!seen.insert(value).second)
        continue;
      Operation *op = value.getDefiningOp();
      if (!op || op->getBlock() != yield->getBlock())
        sources[i].insert(value);
      else if (holdsFloats(value.getType()) && !op->hasAttr(stopGradientAttr))
        llvm::append_range(work, usedValues(op));
    }
  }
  SmallVector<bool> useful(count), reached(count);
  for (unsigned i = 0; i < count; ++i) {
    useful[i] = bool(seeds[i]);
    reached[i] = llvm::is_contained(wanted, loop.getInits()[i]) ||
                 llvm::any_of(wanted, [&](Value value) {
                   return sources[i].contains(value);
                 });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned to = 0; to < count; ++to)
      for (unsigned from = 0; from < count; ++from) {
        if (!sources[to].contains(loop.getBodyArgument(from)))
          continue;
        changed |=
            (useful[to] && !useful[from]) || (reached[from] && !reached[to]);
        useful[from] = useful[from] || useful[to];
        reached[to] = reached[to] || reached[from];
      }
  }
  for (unsigned i = 0; i < count; ++i)
    if (useful[i] && reached[i] && holdsFloats(loop.getResult(i).getType()))
      carried.push_back(i);
  for (Value value : wanted)
    if (llvm::any_of(carried,
                     [&](unsigned i) { return sources[i].contains(value); }))
      outside.push_back(value);
}

/// sum + value. Returns sum + value. Where `value` is zeros with a slice in
/// them, which is the gradient of reading a slice, only the slice is added: the
/// rest of the sum, as long as all iterations, is not touched.
static Value addTo(dtensor::TensorBuilder &math, Value sum, Value value) {
  auto update = value.getDefiningOp<dtensor::DynamicUpdateSliceOp>();
  if (!update ||
      !mlir::matchPattern(update.getOperand(), mlir::m_AnyZeroFloat()))
    return math.add(sum, value);
  Value old = math.create<dtensor::DynamicSliceOp>(
      math.getLoc(), sum, update.getStartIndices(),
      math.typeOf(update.getUpdate()).getShape());
  return math.create<dtensor::DynamicUpdateSliceOp>(
      math.getLoc(), sum, math.add(old, update.getUpdate()),
      update.getStartIndices());
}

/// The body's gradient of iteration n - 1 - j.
Status WhileGradient::fillBody(OpBuilder &bodyBuilder, Block &body) {
  dtensor::TensorBuilder inner(bodyBuilder, loop.getLoc());
  Value j = body.getArgument(0);
  Value k =
      counter
          ? subtract(bodyBuilder, number(bodyBuilder, counter->count - 1), j)
          : subtract(bodyBuilder,
                     subtract(bodyBuilder, total, number(bodyBuilder, 1)), j);
  kept = bodyArgumentsAt(bodyBuilder, k);
  mlir::IRMapping mapping;
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    mapping.map(loop.getBodyArgument(i), kept[i]);
  cloneBody(bodyBuilder, loop.getBody().front(), mapping);
  SmallVector<Value> outputs, gradients, wrt;
  for (auto [position, i] : llvm::enumerate(carried)) {
    outputs.push_back(
        mapping.lookupOrDefault(loop.getBodyYield().getOperand(i)));
    gradients.push_back(body.getArgument(unsigned(position) + 1));
    wrt.push_back(kept[i]);
  }
  wrt.append(outside.begin(), outside.end());
  // The values that were computed again are sources here, no results. For
  // second derivatives they are results again.
  if (again)
    again->setAttr(stopGradientAttr, bodyBuilder.getUnitAttr());
  auto found = buildGradients(bodyBuilder, outputs, gradients, wrt);
  if (again)
    again->removeAttr(stopGradientAttr);
  if (!found)
    return found.error();
  SmallVector<Value> next{add(bodyBuilder, j, number(bodyBuilder, 1))};
  for (auto [i, value] : llvm::enumerate(*found)) {
    Value sum = body.getArgument(unsigned(i) + 1);
    if (i < carried.size())
      next.push_back(value ? value : zerosLike(bodyBuilder, sum));
    else
      next.push_back(value ? addTo(inner, sum, value) : sum);
  }
  bodyBuilder.create<YieldOp>(loop.getLoc(), next);
  eraseDeadOps(body);
  return Success();
}

/// Puts a loop that fills the stacks that are read in the place of a counted
/// loop.
void WhileGradient::keep() {
  SmallVector<unsigned> needed;
  for (unsigned i = 0; i < stacks.size(); ++i)
    if (stacks[i] && !stacks[i].use_empty())
      needed.push_back(i);
  if (!needed.empty()) {
    OpBuilder front(loop);
    const unsigned count = loop.getNumResults();
    SmallVector<Value> inits(loop.getInits());
    inits.push_back(number(front, 0));
    for (unsigned i : needed)
      inits.push_back(
          zerosLike(front, stacks[i])); // of its own, to be laid out so
    auto filling = copyLoop(
        front, inits, std::nullopt,
        [&](OpBuilder &inner, Block &body, SmallVector<Value> &yielded) {
          for (auto [position, i] : llvm::enumerate(needed))
            yielded.push_back(withElement(
                inner, body.getArgument(count + 1 + unsigned(position)),
                body.getArgument(count), body.getArgument(i)));
        });
    loop->replaceAllUsesWith(filling.getResults().take_front(count));
    for (auto [position, i] : llvm::enumerate(needed))
      stacks[i].replaceAllUsesWith(
          filling.getResult(count + 1 + unsigned(position)));
  }
  eraseStandIns();
}

/// Erases the ops that stood for the stacks of a counted loop.
void WhileGradient::eraseStandIns() {
  if (!counter)
    return;
  for (Value stack : stacks)
    if (stack)
      stack.getDefiningOp()->erase();
}

Result<SmallVector<Value>> WhileGradient::build() {
  findCarried();
  Location location = loop.getLoc();
  OpBuilder front(loop);
  stacks.assign(loop.getNumResults(), Value());
  kept.assign(loop.getNumResults(), Value());
  if (!counter)
    countAndKeep();
  for (unsigned i = 0; counter && i < loop.getNumResults(); ++i)
    if (i != counter->carried) {
      BlockArgument argument = loop.getBodyArgument(i);
      stacks[i] = dtensor::TensorBuilder(front, location)
                      .zeros(RankedTensorType::get(
                          stacked(argument, counter->count),
                          dtensor::elementTypeOf(argument.getType())));
    }

  SmallVector<Value> inits{number(builder, 0)};
  for (unsigned i : carried)
    inits.push_back(seeds[i] ? seeds[i]
                             : zerosLike(builder, loop.getResult(i)));
  for (Value value : outside)
    inits.push_back(zerosLike(builder, value));
  auto backward = builder.create<WhileOp>(location, inits);
  OpBuilder backwardBuilder(builder.getContext());
  backwardBuilder.setInsertionPointToEnd(&backward.getCondition().front());
  backwardBuilder.create<YieldOp>(
      location,
      compare(backwardBuilder, dtensor::ComparisonDirection::LT,
              backward.getConditionArgument(0),
              counter ? number(backwardBuilder, counter->count) : total));
  Block &body = backward.getBody().front();
  backwardBuilder.setInsertionPointToEnd(&body);
  if (Status ok = fillBody(backwardBuilder, body); !ok) {
    backward->erase();
    eraseStandIns();
    return ok.error();
  }
  if (counter)
    keep();

  SmallVector<Value> found;
  for (Value value : wanted) {
    Value sum;
    auto add = [&](Value gradient) {
      sum = sum ? math.add(sum, gradient) : gradient;
    };
    for (auto [position, i] : llvm::enumerate(carried))
      if (loop.getInits()[i] == value)
        add(backward.getResult(unsigned(position) + 1));
    auto used = llvm::find(outside, value);
    if (used != outside.end())
      add(backward.getResult(
          unsigned(1 + carried.size() + (used - outside.begin()))));
    found.push_back(sum);
  }
  return found;
}

Result<SmallVector<Value>> whileGradients(OpBuilder &builder, WhileOp loop,
                                          ArrayRef<Value> results,
                                          ArrayRef<Value> wanted) {
  auto counter = loopCounter(loop);
  if (counter && counter->count > std::numeric_limits<int32_t>::max() - 1)
    counter.reset(); // more than the stacks' indices can count
  if (counter && counter->count == 0) {
    // A value that only the body would read has a gradient: zero.
    SmallVector<Value> found;
    for (Value value : wanted) {
      Value sum;
      for (auto [init, gradient] : llvm::zip_equal(loop.getInits(), results))
        if (init == value && gradient)
          sum = sum ? dtensor::TensorBuilder(builder, loop.getLoc())
                          .add(sum, gradient)
                    : gradient;
      found.push_back(sum ? sum : zerosLike(builder, value));
    }
    return found;
  }
  return WhileGradient(builder, loop, counter, results, wanted).build();
}

} // namespace

/// An assignment inside `control`, or null.
static Operation *assignmentIn(Operation *control) {
  Operation *found = nullptr;
  control->walk([&](dtensor::AssignVariableOp assign) { found = assign; });
  return found;
}

void readBeforeRegions(Block &block) {
  for (Operation &op : block) {
    if (!isControl(&op) || assignmentIn(&op))
      continue;
    DenseMap<Value, Value> values;
    op.walk([&](dtensor::ReadVariableOp read) {
      Value &value = values[read.getVariable()];
      if (!value)
        value = OpBuilder(&op).create<dtensor::ReadVariableOp>(
            read.getLoc(), read.getVariable());
      read.getResult().replaceAllUsesWith(value);
      read->erase();
    });
  }
}

Result<SmallVector<Value>> buildControlGradients(OpBuilder &builder,
                                                 Operation *control,
                                                 ArrayRef<Value> results,
                                                 ArrayRef<Value> wanted) {
  if (Operation *assign = assignmentIn(control))
    return Error(fmt::format(
        "[gradient] '{}' at {} has no gradient: it assigns a variable ({}); "
        "carry the value, and assign it afterwards",
        std::string_view(control->getName().getStringRef()),
        locationOf(control), locationOf(assign)));
  if (auto loop = dyn_cast<WhileOp>(control))
    return whileGradients(builder, loop, results, wanted);
  if (control->hasAttr(customGradientAttr))
    return customGradients(builder, cast<CaseOp>(control), results, wanted);
  return caseGradients(builder, cast<CaseOp>(control), results, wanted);
}

std::shared_ptr<const int64_t> registerCustomGradient(CustomGradient rule) {
  CustomGradients &registry = CustomGradients::get();
  return {new int64_t(registry.add(std::move(rule))),
          [&registry](const int64_t *number) {
            registry.remove(*number);
            delete number;
          }};
}
std::shared_ptr<const CustomGradient> findCustomGradient(int64_t number) {
  return CustomGradients::get().find(number);
}

} // namespace meshloom
