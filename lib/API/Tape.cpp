// Gradients: in a trace by the reverse pass on the spot; outside by a program
// of the recorded ops, to which the same pass is applied (GradientProgram).
#include "Tape.h"
#include "GradientProgram.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/RemoteVariables.h"
#include "meshloom/Autodiff/Autodiff.h"

#include <fmt/format.h>

namespace meshloom::detail {

/// Calls `use` with each of the thread's tapes that records what runs outside
/// of traces.
template <typename F> static void forEachRecording(F use) {
  for (const std::weak_ptr<TapeState> &weak : threadState().tapes)
    if (std::shared_ptr<TapeState> tape = weak.lock(); tape && !tape->trace)
      use(*tape);
}

bool isRecording() {
  if (threadState().trace())
    return false;
  bool recording = false;
  forEachRecording([&](TapeState &) { recording = true; });
  return recording;
}

void recordOp(const OpCall &call, const std::vector<Tensor> &results) {
  if (threadState().tapes.empty())
    return;
  CacheKey key;
  key.text = fmt::format("{}/{}", call.name, call.extraKey);
  for (int64_t attribute : call.attributes)
    key.add(attribute);
  if (call.layout)
    key.text += call.layout->to_string();
  TapeRecord record{key.text, call.operands, {}, call.body, call.context};
  for (const Tensor &result : results)
    if (result.defined())
      record.results.push_back(result);
  // A value for each result that there is, and no others.
  if (record.results.size() < results.size())
    record.body = [body = call.body](Emitter &emitter,
                                     ArrayRef<Value> operands) {
      SmallVector<Value> values = body(emitter, operands);
      llvm::erase(values, Value());
      return values;
    };
  forEachRecording([&](TapeState &tape) { tape.records.push_back(record); });
}

void recordRead(const std::shared_ptr<VariableState> &variable,
                const Tensor &value) {
  forEachRecording(
      [&](TapeState &tape) { tape.reads.emplace_back(variable, value); });
}

std::vector<Tensor>
TapeState::gradients(const Tensor &target,
                     const std::vector<std::vector<Tensor>> &sources,
                     const std::source_location &where) const {
  TapeSlice slice(records, target, sources);
  int64_t targetNumber = slice.numberOf(target);
  std::vector<Tensor> found(sources.size());
  std::vector<GradientProgram::Source> inSlice;
  std::vector<size_t> asked; ///< which source each of `inSlice` is
  for (size_t s = 0; s < sources.size(); ++s) {
    std::vector<int64_t> numbers = slice.presentOf(sources[s]);
    if (numbers.empty())
      continue;
    const TensorNode &node = *sources[s].front().internal();
    inSlice.push_back(
        {std::move(numbers),
         node.host ? std::nullopt : std::optional(node.array.layout())});
    asked.push_back(s);
  }
  if (inSlice.empty() || targetNumber < 0)
    return found;

  GradientProgram program(slice, targetNumber, std::move(inSlice));
  OpCall call;
  call.name = "gradient";
  call.mixesDevices = true;
  call.extraKey = program.key();
  call.where = where;
  call.operands = slice.values();
  call.context = slice.context();
  call.body = [program = std::move(program)](Emitter &emitter,
                                             ArrayRef<Value> given) {
    return program.build(emitter, given);
  };
  std::vector<Tensor> gradients = runOps(std::move(call));
  for (auto [s, gradient] : llvm::zip_equal(asked, gradients))
    found[s] = std::move(gradient);
  return found;
}

} // namespace meshloom::detail

namespace meshloom {
using namespace detail;

GradientTape::GradientTape() : state(std::make_shared<TapeState>()) {
  threadState().tapes.push_back(state);
}

GradientTape::~GradientTape() {
  std::erase_if(threadState().tapes, [&](const std::weak_ptr<TapeState> &tape) {
    return tape.expired() || tape.lock() == state;
  });
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
  DVariable variable;
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
    wrt.push_back(source.variable.defined()
                      ? trace.argumentOf(source.variable.internal())
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

Tensor asSeen(const Tensor &gradient, const DVariable &variable,
              const std::source_location &where) {
  return gradient.shape() == variable.shape()
             ? gradient
             : reshape(gradient, variable.shape(), where);
}

std::vector<Tensor> gradientsOf(const TapeState &tape, const Tensor &target,
                                const std::vector<Source> &sources,
                                UnconnectedGradients unconnected,
                                const std::source_location &where) {
  checkTarget(target, where);
  for (const Source &source : sources)
    if (DType type = source.variable.defined()
                         ? source.variable.dtype()
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
      if (!source.variable.defined())
        own.push_back(source.tensor);
      for (auto &[variable, value] : tape.reads)
        if (variable == source.variable.internal())
          own.push_back(value);
    }
    gradients = tape.gradients(target, tensors, where);
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (gradients[i].defined()) {
      // What is stored of a strategy's variable may have a dim more.
      if (sources[i].variable.defined())
        gradients[i] = asSeen(gradients[i], sources[i].variable, where);
      continue;
    }
    if (unconnected == UnconnectedGradients::Error)
      fail("gradient",
           fmt::format("expected a target that depends on {}, but no path of "
                       "float ops leads there: compute the target from it "
                       "while the tape lives, or ask for zeros with "
                       "UnconnectedGradients::Zero",
                       sources[i].name),
           &where);
    gradients[i] = zeros_like(sources[i].variable.defined()
                                  ? sources[i].variable.read_value(where)
                                  : sources[i].tensor,
                              where);
  }
  return gradients;
}

Source sourceOf(const GradientSource &source, size_t number,
                const std::source_location &where) {
  if (source.tensor.defined() || !source.variable.defined())
    return {fmt::format("source {}", number), DVariable(), source.tensor};
  return {fmt::format("variable '{}'", source.variable.name()), source.variable,
          Tensor()};
}

} // namespace

std::vector<Tensor>
GradientTape::gradient(const Tensor &target,
                       const std::vector<GradientSource> &sources,
                       UnconnectedGradients unconnected, Where where) const {
  std::vector<Source> list;
  std::vector<size_t> counts; ///< of each source: how many of the list it is
  for (const GradientSource &source : sources) {
    const size_t before = list.size();
    Source own = sourceOf(source, counts.size(), where);
    if (own.variable.defined())
      for (const DVariable &part : partsOf(own.variable))
        list.push_back(
            {fmt::format("variable '{}'", part.name()), part, Tensor()});
    if (list.size() == before)
      list.push_back(std::move(own));
    counts.push_back(list.size() - before);
  }
  const std::vector<Tensor> found =
      gradientsOf(*state, target, list, unconnected, where);
  if (found.size() == sources.size())
    return found;
  std::vector<Tensor> gradients;
  auto part = found.begin();
  for (size_t count : counts) {
    gradients.push_back(
        count == 1 ? *part : concat({part, part + ptrdiff_t(count)}, 0, where));
    part += ptrdiff_t(count);
  }
  return gradients;
}

std::vector<Tensor> GradientTape::gradient(const Tensor &target,
                                           const std::vector<Tensor> &sources,
                                           UnconnectedGradients unconnected,
                                           Where where) const {
  return gradient(target,
                  std::vector<GradientSource>(sources.begin(), sources.end()),
                  unconnected, where);
}

Tensor GradientTape::gradient(const Tensor &target, const Tensor &source,
                              UnconnectedGradients unconnected,
                              Where where) const {
  return gradient(target, std::vector{GradientSource(source)}, unconnected,
                  where)
      .front();
}

Tensor GradientTape::gradient(const Tensor &target, const DVariable &source,
                              UnconnectedGradients unconnected,
                              Where where) const {
  stateOf(source, "gradient", &where);
  return gradient(target, std::vector{GradientSource(source)}, unconnected,
                  where)
      .front();
}

Gradients GradientTape::gradient(const Tensor &target,
                                 const std::vector<DVariable> &sources,
                                 UnconnectedGradients unconnected,
                                 Where where) const {
  for (const DVariable &source : sources)
    stateOf(source, "gradient", &where);
  std::vector<Tensor> found = gradient(
      target, std::vector<GradientSource>(sources.begin(), sources.end()),
      unconnected, where);
  Gradients gradients;
  for (size_t i = 0; i < sources.size(); ++i)
    gradients.push_back({found[i], sources[i]});
  return gradients;
}

} // namespace meshloom
