// Gradients: in a trace by the reverse pass on the spot; outside by a program
// of the recorded ops, to which the same pass is applied. The values that the
// ops had are arguments of that program, so nothing is computed twice.
#include "Tape.h"

#include "meshloom/API/GradientTape.h"
#include "meshloom/Autodiff/Autodiff.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

namespace meshloom::detail {

bool isRecording() {
  ThreadState &state = threadState();
  if (state.trace())
    return false;
  for (TapeState *tape : state.tapes)
    if (!tape->trace)
      return true;
  return false;
}

void recordOp(const OpCall &call, const std::vector<Tensor> &results) {
  ThreadState &state = threadState();
  if (state.tapes.empty())
    return;
  CacheKey key;
  key.text = fmt::format("{}/{}", call.name, call.extraKey);
  for (int64_t attribute : call.attributes)
    key.add(attribute);
  if (call.layout)
    key.text += call.layout->to_string();
  for (TapeState *tape : state.tapes)
    if (!tape->trace)
      tape->records.push_back({key.text, call.operands, results, call.body});
}

void recordRead(const std::shared_ptr<VariableState> &variable,
                const Tensor &value) {
  for (TapeState *tape : threadState().tapes)
    if (!tape->trace)
      tape->reads.emplace_back(variable, value);
}

namespace {

/// The part of a tape between sources and target, in terms of numbered values:
/// first the leaves (operands that no chosen record makes), then all results.
struct Slice {
  std::vector<const TapeState::Record *> records;
  std::vector<Tensor> leaves, results;
  std::unordered_map<const TensorNode *, int64_t> leafIndex, resultIndex;
};

Slice sliceOf(const TapeState &tape, const Tensor &target,
              const std::vector<std::vector<Tensor>> &sources) {
  std::unordered_set<const TensorNode *> active,
      needed{target.internal().get()};
  for (const std::vector<Tensor> &source : sources)
    for (const Tensor &tensor : source)
      active.insert(tensor.internal().get());
  std::vector<bool> isActive(tape.records.size());
  for (size_t r = 0; r < tape.records.size(); ++r) {
    const TapeState::Record &record = tape.records[r];
    for (const Tensor &operand : record.operands)
      isActive[r] = isActive[r] || active.contains(operand.internal().get());
    if (isActive[r])
      for (const Tensor &result : record.results)
        active.insert(result.internal().get());
  }
  Slice slice;
  for (size_t r = tape.records.size(); r-- > 0;) {
    const TapeState::Record &record = tape.records[r];
    bool isNeeded = false;
    for (const Tensor &result : record.results)
      isNeeded |= needed.contains(result.internal().get());
    if (!isNeeded || !isActive[r])
      continue;
    for (const Tensor &operand : record.operands)
      needed.insert(operand.internal().get());
    slice.records.push_back(&record);
  }
  std::reverse(slice.records.begin(), slice.records.end());
  for (const TapeState::Record *record : slice.records) {
    for (const Tensor &operand : record->operands)
      if (!slice.resultIndex.contains(operand.internal().get()) &&
          slice.leafIndex
              .try_emplace(operand.internal().get(), slice.leaves.size())
              .second)
        slice.leaves.push_back(operand);
    for (const Tensor &result : record->results) {
      slice.resultIndex.try_emplace(result.internal().get(),
                                    slice.results.size());
      slice.results.push_back(result);
    }
  }
  return slice;
}

} // namespace

std::vector<Tensor>
TapeState::gradients(const Tensor &target,
                     const std::vector<std::vector<Tensor>> &sources,
                     const std::source_location &where) const {
  Slice slice = sliceOf(*this, target, sources);
  int64_t leafCount = int64_t(slice.leaves.size());
  // The number of a value in the slice, -1 if it is not in it.
  auto numberOf = [&](const Tensor &tensor) -> int64_t {
    const TensorNode *node = tensor.internal().get();
    if (auto at = slice.resultIndex.find(node); at != slice.resultIndex.end())
      return leafCount + at->second;
    if (auto at = slice.leafIndex.find(node); at != slice.leafIndex.end())
      return at->second;
    return -1;
  };

  CacheKey key;
  std::vector<std::vector<int64_t>> operandNumbers, sourceNumbers;
  for (const Record *record : slice.records) {
    key.text += record->key + "(";
    std::vector<int64_t> &numbers = operandNumbers.emplace_back();
    for (const Tensor &operand : record->operands) {
      numbers.push_back(numberOf(operand));
      key.add(numbers.back());
    }
    key.add(int64_t(record->results.size()));
  }
  int64_t targetNumber = numberOf(target);
  key.add(targetNumber);
  std::vector<Tensor> found(sources.size());
  std::vector<size_t> reachable;
  std::vector<std::optional<Layout>> layouts;
  for (size_t s = 0; s < sources.size(); ++s) {
    std::vector<int64_t> numbers;
    for (const Tensor &tensor : sources[s])
      if (int64_t number = numberOf(tensor);
          number >= 0 &&
          std::find(numbers.begin(), numbers.end(), number) == numbers.end())
        numbers.push_back(number);
    key.add(-int64_t(numbers.size()) - 2);
    for (int64_t number : numbers)
      key.add(number);
    if (numbers.empty() || targetNumber < 0)
      continue;
    reachable.push_back(s);
    sourceNumbers.push_back(numbers);
    const TensorNode &node = *sources[s].front().internal();
    layouts.push_back(node.host ? std::nullopt
                                : std::optional(node.array.layout()));
  }
  if (reachable.empty())
    return found;

  OpCall call;
  call.name = "gradient";
  call.extraKey = std::move(key.text);
  call.where = where;
  call.operands = slice.leaves;
  call.operands.insert(call.operands.end(), slice.results.begin(),
                       slice.results.end());
  // Which sources the reverse pass reached; set when the body first runs and
  // the same for all programs of this key.
  static std::mutex mutex;
  static std::unordered_map<std::string, std::vector<bool>> reachedBy;
  std::string pathKey = call.extraKey;
  std::vector<OpBody> bodies;
  for (const Record *record : slice.records)
    bodies.push_back(record->body);
  call.body = [bodies = std::move(bodies), operandNumbers, sourceNumbers,
               layouts, leafCount, targetNumber,
               pathKey](Emitter &e, ArrayRef<Value> operands) {
    SmallVector<Value> values(operands.take_front(leafCount));
    Block *block = e.builder.getInsertionBlock();
    auto last = [&]() { return block->empty() ? nullptr : &block->back(); };
    Operation *before = last();
    for (size_t r = 0; r < bodies.size(); ++r) {
      SmallVector<Value> own;
      for (int64_t number : operandNumbers[r])
        own.push_back(values[size_t(number)]);
      llvm::append_range(values, bodies[r](e, own));
    }
    Operation *forwardEnd = last();
    SmallVector<Value> wrt;
    for (const std::vector<int64_t> &numbers : sourceNumbers)
      for (int64_t number : numbers)
        wrt.push_back(values[size_t(number)]);
    SmallVector<Value> gradients =
        check(buildGradients(e.builder, values[size_t(targetNumber)], {}, wrt),
              "gradient");
    // The reverse pass reads the values that the ops had.
    DenseMap<Value, Value> saved;
    for (size_t v = size_t(leafCount); v < values.size(); ++v)
      saved.try_emplace(values[v], operands[v]);
    auto next = [&](Operation *op) {
      return op               ? op->getNextNode()
             : block->empty() ? nullptr
                              : &block->front();
    };
    for (Operation *op = next(forwardEnd); op; op = op->getNextNode())
      for (OpOperand &operand : op->getOpOperands())
        if (Value had = saved.lookup(operand.get()))
          operand.set(had);
    SmallVector<Value> results;
    std::vector<bool> reached;
    size_t at = 0;
    for (size_t s = 0; s < sourceNumbers.size(); ++s) {
      Value sum;
      for (size_t n = 0; n < sourceNumbers[s].size(); ++n, ++at) {
        Value gradient = gradients[at];
        if (Value had = gradient ? saved.lookup(gradient) : Value())
          gradient = had;
        if (gradient)
          sum = sum ? e.add(sum, gradient) : gradient;
      }
      reached.push_back(bool(sum));
      if (!sum)
        continue;
      if (layouts[s])
        sum = e.builder.create<dtensor::ConstraintOp>(
            e.location, sum,
            dtensor::LayoutAttr::get(e.builder.getContext(), *layouts[s]));
      results.push_back(sum);
    }
    SmallVector<Operation *> forward;
    if (forwardEnd != before)
      for (Operation *op = next(before);; op = op->getNextNode()) {
        forward.push_back(op);
        if (op == forwardEnd)
          break;
      }
    for (Operation *op : llvm::reverse(forward))
      if (op->use_empty())
        op->erase();
    std::lock_guard lock(mutex);
    reachedBy[pathKey] = reached;
    return results;
  };
  std::vector<Tensor> results = runOps(std::move(call));
  std::vector<bool> reached;
  {
    std::lock_guard lock(mutex);
    reached = reachedBy.at(pathKey);
  }
  size_t next = 0;
  for (size_t i = 0; i < reachable.size(); ++i)
    if (reached[i])
      found[reachable[i]] = results[next++];
  return found;
}

} // namespace meshloom::detail

namespace meshloom {
using namespace detail;

GradientTape::GradientTape() : state(std::make_shared<TapeState>()) {
  threadState().tapes.push_back(state.get());
}

GradientTape::~GradientTape() {
  std::erase(threadState().tapes, state.get());
}

namespace {

/// Checks what can be known before differentiating.
void checkTarget(const Tensor &target, const std::source_location &where) {
  nodeOf(target, "gradient", &where);
  if (isComplex(target.dtype()))
    fail("gradient",
         fmt::format("expected a float target, got {}: take its real part, or "
                     "abs",
                     typeText(target)),
         &where);
  if (!isFloat(target.dtype()))
    fail("gradient",
         fmt::format("expected a float target, got {}: integers and booleans "
                     "have no gradient",
                     typeText(target)),
         &where);
}

/// Each source: a variable, or tensors.
struct Source {
  std::string name;
  std::shared_ptr<VariableState> variable;
  Tensor tensor;
};

/// Keeps gradients out of the ops up to `last` while it lives.
class StopBefore {
public:
  explicit StopBefore(Operation *last) {
    for (Operation *op = last; op; op = op->getPrevNode())
      if (!op->hasAttr(stopGradientAttr)) {
        op->setAttr(stopGradientAttr, mlir::UnitAttr::get(op->getContext()));
        marked.push_back(op);
      }
  }
  ~StopBefore() {
    for (Operation *op : marked)
      op->removeAttr(stopGradientAttr);
  }
  StopBefore(const StopBefore &) = delete;

private:
  SmallVector<Operation *> marked;
};

std::vector<Tensor> gradientsInTrace(Trace &trace, const TapeState &tape,
                                     const Tensor &target,
                                     const std::vector<Source> &sources,
                                     const std::source_location &where) {
  SmallVector<Value> wrt;
  for (const Source &source : sources)
    wrt.push_back(source.variable
                      ? trace.argumentOf(source.variable, "gradient")
                      : trace.valueOf(source.tensor, "gradient", &where));
  OpBuilder &builder = trace.builder();
  if (tape.trace.get() == &trace && tape.block != builder.getInsertionBlock())
    fail("gradient",
         "expected a tape that was made in the body of the loop or branch that "
         "the gradient is taken in, got one from outside of it (or from inside "
         "of one that has ended)",
         &where);
  StopBefore stop(tape.trace.get() == &trace ? tape.start : trace.lastOp());
  SmallVector<Value> found =
      check(buildGradients(builder, trace.valueOf(target, "gradient", &where),
                           {}, wrt),
            "gradient");
  std::vector<Tensor> gradients;
  for (Value gradient : found)
    gradients.push_back(gradient ? trace.wrapValue(gradient) : Tensor());
  return gradients;
}

std::vector<Tensor> gradientsOf(const TapeState &tape, const Tensor &target,
                                const std::vector<Source> &sources,
                                const std::source_location &where) {
  checkTarget(target, where);
  for (const Source &source : sources)
    if (DType type = source.variable
                         ? source.variable->type.dtype
                         : nodeOf(source.tensor, "gradient", &where).dtype;
        !isFloat(type) && !isComplex(type))
      fail("gradient",
           fmt::format("expected float sources, got {} {}: integers and "
                       "booleans have no gradient",
                       name(type), source.name),
           &where);
  std::vector<Tensor> gradients;
  if (const std::shared_ptr<Trace> &trace = threadState().trace()) {
    gradients = gradientsInTrace(*trace, tape, target, sources, where);
  } else {
    std::vector<std::vector<Tensor>> tensors;
    for (const Source &source : sources) {
      std::vector<Tensor> &own = tensors.emplace_back();
      if (!source.variable)
        own.push_back(source.tensor);
      for (auto &[variable, value] : tape.reads)
        if (source.variable && variable == source.variable)
          own.push_back(value);
    }
    gradients = tape.gradients(target, tensors, where);
  }
  for (size_t i = 0; i < sources.size(); ++i)
    if (!gradients[i])
      fail("gradient",
           fmt::format("expected a target that depends on {}, but no path of "
                       "float ops leads there: compute the target from it "
                       "while the tape lives",
                       sources[i].name),
           &where);
  return gradients;
}

Source sourceOf(const DVariable &variable) {
  return {fmt::format("variable '{}'", variable.name()), variable.internal(),
          Tensor()};
}

} // namespace

Tensor GradientTape::gradient(const Tensor &target, const Tensor &source,
                              Where where) const {
  return gradient(target, std::vector<Tensor>{source}, where).front();
}

std::vector<Tensor> GradientTape::gradient(const Tensor &target,
                                           const std::vector<Tensor> &sources,
                                           Where where) const {
  std::vector<Source> list;
  for (size_t i = 0; i < sources.size(); ++i)
    list.push_back({fmt::format("source {}", i), nullptr, sources[i]});
  return gradientsOf(*state, target, list, where);
}

Tensor GradientTape::gradient(const Tensor &target, const DVariable &source,
                              Where where) const {
  return gradient(target, std::vector<DVariable>{source}, where)
      .front()
      .gradient;
}

Gradients GradientTape::gradient(const Tensor &target,
                                 const std::vector<DVariable> &sources,
                                 Where where) const {
  std::vector<Source> list;
  for (const DVariable &source : sources)
    list.push_back(sourceOf(source));
  std::vector<Tensor> found = gradientsOf(*state, target, list, where);
  Gradients gradients;
  for (size_t i = 0; i < sources.size(); ++i)
    gradients.push_back({found[i], sources[i]});
  return gradients;
}

} // namespace meshloom
