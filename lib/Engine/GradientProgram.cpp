// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replaying a slice, differentiating it, and reading the values that it had.
#include "GradientProgram.h"

#include "meshloom/Autodiff/Autodiff.h"

namespace meshloom::detail {

GradientProgram::GradientProgram(const TapeSlice &slice,
                                 std::vector<int64_t> targets, bool hasSeeds,
                                 std::vector<Source> sources)
    : leaves(slice.leafCount()), targets(std::move(targets)),
      hasSeeds(hasSeeds), sources(std::move(sources)) {
  for (const TapeRecord *record : slice.records())
    ops.push_back({record->key, slice.numbersOf(record->operands),
                   int64_t(record->results.size()), record->body});
}

std::string GradientProgram::key() const {
  CacheKey key;
  auto addAll = [&](const std::vector<int64_t> &numbers) {
    key.add(int64_t(numbers.size()));
    for (int64_t number : numbers)
      key.add(number);
  };
  for (const Op &op : ops) {
    key.text += op.key + "(";
    addAll(op.operands);
    key.add(op.results);
  }
  key.text += "->";
  addAll(targets);
  key.add(hasSeeds);
  for (const Source &source : sources) {
    addAll(source.values);
    key.text += source.layout ? source.layout->to_string() : "any";
  }
  return std::move(key.text);
}

namespace {
/// The ops that are put at the end of a block from now on.
class OpsFromNow {
public:
  explicit OpsFromNow(Block *block)
      : block(block), before(block->empty() ? nullptr : &block->back()) {}

  SmallVector<Operation *> list() const {
    SmallVector<Operation *> ops;
    for (Operation *op = before           ? before->getNextNode()
                         : block->empty() ? nullptr
                                          : &block->front();
         op; op = op->getNextNode())
      ops.push_back(op);
    return ops;
  }

private:
  Block *block;
  Operation *before;
};
} // namespace

SmallVector<Value> GradientProgram::replay(Emitter &emitter,
                                           ArrayRef<Value> leaves) const {
  SmallVector<Value> values(leaves);
  for (const Op &op : ops) {
    SmallVector<Value> operands;
    for (int64_t number : op.operands)
      operands.push_back(values[size_t(number)]);
    llvm::append_range(values, op.body(emitter, operands));
  }
  return values;
}

/// Users among `ops` of what was computed again read what is given instead.
static void readRecorded(ArrayRef<Operation *> ops,
                         const DenseMap<Value, Value> &recorded) {
  for (Operation *op : ops)
    for (OpOperand &operand : op->getOpOperands())
      if (Value had = recorded.lookup(operand.get()))
        operand.set(had);
}

SmallVector<Value> GradientProgram::build(Emitter &emitter,
                                          ArrayRef<Value> operands) const {
  Block *block = emitter.getInsertionBlock();
  OpsFromNow fromReplay(block);
  SmallVector<Value> values = replay(emitter, operands.take_front(leaves));
  SmallVector<Operation *> forward = fromReplay.list();

  SmallVector<Value> wrt;
  for (const Source &source : sources)
    for (int64_t number : source.values)
      wrt.push_back(values[size_t(number)]);
  OpsFromNow fromReverse(block);
  SmallVector<Value> outputs;
  for (int64_t number : targets)
    outputs.push_back(values[size_t(number)]);
  ArrayRef<Value> seeds;
  if (hasSeeds)
    seeds = operands.take_back(targets.size());
  SmallVector<Value> found =
      check(buildGradients(emitter, outputs, seeds, wrt), "gradient");
  DenseMap<Value, Value> had;
  for (size_t v = leaves; v < values.size(); ++v)
    had.try_emplace(values[v], operands[v]);
  readRecorded(fromReverse.list(), had);

  SmallVector<Value> gradients;
  ArrayRef<Value> remaining = found;
  for (const Source &source : sources) {
    Value sum;
    for (Value gradient : remaining.take_front(source.values.size())) {
      if (!gradient)
        continue;
      // The gradient of x * w to x is w itself.
      if (Value value = had.lookup(gradient))
        gradient = value;
      sum = sum ? emitter.add(sum, gradient) : gradient;
    }
    remaining = remaining.drop_front(source.values.size());
    if (sum && source.layout)
      sum = constrained(emitter, sum, *source.layout);
    gradients.push_back(sum);
  }
  for (Operation *op : llvm::reverse(forward))
    if (op->use_empty())
      op->erase();
  return gradients;
}

} // namespace meshloom::detail
