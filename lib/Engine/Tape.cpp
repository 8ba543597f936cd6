// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The records of tapes outside of traces, and their gradients: a program of the
// recorded ops, to which the reverse pass is applied (GradientProgram.h).
#include "meshloom/Engine/Tape.h"
#include "GradientProgram.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/TracedFunction.h"

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
  std::string key = call.key().text;
  for (const Layout &layout : call.key().layouts)
    key += layout.to_string();
  TapeRecord record{std::move(key), call.operands, {},
                    call.body(),    call.context,  call.hasUserGradients};
  for (const Tensor &result : results)
    if (result.defined())
      record.results.push_back(result);
  // A value for each result that there is, and no others.
  if (record.results.size() < results.size())
    record.body = [body = call.body()](Emitter &emitter,
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

/// Returns the gradient program of a slice.
static GradientProgram programOf(const TapeSlice &slice,
                                 const std::vector<Tensor> &targets,
                                 bool hasSeeds,
                                 std::vector<GradientProgram::Source> sources) {
  return {slice, slice.numbersOf(targets), hasSeeds, std::move(sources)};
}

/// The sources that are in the slice, and which of all each one is.
static std::pair<std::vector<GradientProgram::Source>, std::vector<size_t>>
presentIn(const TapeSlice &slice,
          const std::vector<std::vector<Tensor>> &sources) {
  std::vector<GradientProgram::Source> present;
  std::vector<size_t> numbers;
  for (size_t s = 0; s < sources.size(); ++s)
    if (std::vector<int64_t> values = slice.presentOf(sources[s]);
        !values.empty()) {
      present.push_back({std::move(values), std::nullopt});
      numbers.push_back(s);
    }
  return {std::move(present), std::move(numbers)};
}

/// Calls `leave(i)` for each target that is not in the slice, and takes it out.
template <typename Seeds, typename F>
static void keepPresent(const TapeSlice &slice, std::vector<Tensor> &targets,
                        Seeds &seeds, F leave) {
  for (size_t i = targets.size(); i-- > 0;)
    if (slice.numberOf(targets[i]) < 0) {
      leave(i);
      targets.erase(targets.begin() + ptrdiff_t(i));
      if (!seeds.empty())
        seeds.erase(seeds.begin() + ptrdiff_t(i));
    }
}

/// The gradients of a program in which rules of the user's run. They may read
/// variables and use other tensors, as the body of a function does, so the
/// program is one: it is traced each time, and compiled where no equal one is
/// there.
static std::vector<Tensor> runAsFunction(const GradientProgram &program,
                                         std::span<const Tensor> operands,
                                         const std::source_location &where) {
  return runWhole([&] {
    const Running running;
    std::vector<bool> present;
    const std::shared_ptr<TracedFunction> function = traceFunction(
        "gradient", operands,
        [&](std::span<const Tensor> arguments) {
          Trace &trace = *threadState().trace();
          SmallVector<Value> values;
          for (const Tensor &argument : arguments)
            values.push_back(trace.valueOf(argument, "gradient", &where));
          Emitter emitter(trace.builder(), trace.location(where));
          TraceOutput output;
          for (Value gradient : program.build(emitter, values)) {
            present.push_back(bool(gradient));
            if (gradient)
              output.tensors.push_back(trace.wrapValue(gradient));
          }
          return output;
        },
        {.isReusable = true});
    std::vector<Tensor> found = function->run(operands), gradients;
    auto next = found.begin();
    for (bool isPresent : present)
      gradients.push_back(isPresent ? std::move(*next++) : Tensor());
    return gradients;
  });
}

std::vector<Tensor>
TapeState::gradients(const std::vector<Tensor> &userTargets,
                     const std::vector<Tensor> &userSeeds,
                     const std::vector<std::vector<Tensor>> &sources,
                     const std::source_location &where) const {
  std::vector<Tensor> found(sources.size()), targets = userTargets,
                                             seeds = userSeeds;
  TapeSlice slice(records, targets, sources);
  keepPresent(slice, targets, seeds, [](size_t) {});
  auto [present, numbers] = presentIn(slice, sources);
  if (present.empty() || targets.empty())
    return found;
  for (size_t i = 0; i < present.size(); ++i)
    if (const TensorNode &node = *sources[numbers[i]].front().internal();
        !node.host)
      present[i].layout = node.array.layout();

  GradientProgram program =
      programOf(slice, targets, !seeds.empty(), std::move(present));
  std::vector<Tensor> operands = slice.values();
  operands.insert(operands.end(), seeds.begin(), seeds.end());
  std::vector<Tensor> gradients;
  if (slice.hasUserGradients()) {
    gradients = runAsFunction(program, operands, where);
  } else {
    OpCall call;
    call.name = "gradient";
    call.mixesDevices = true;
    call.where = where;
    call.operands = std::move(operands);
    call.context = slice.context();
    const std::string key = program.key();
    call.setRecorded(key, [program = std::move(program)](
                              Emitter &emitter, ArrayRef<Value> operands) {
      return program.build(emitter, operands);
    });
    gradients = runOps(std::move(call));
  }
  for (auto [s, gradient] : llvm::zip_equal(numbers, gradients))
    found[s] = std::move(gradient);
  return found;
}

SmallVector<Value>
TapeState::gradientsInto(Trace &trace, const std::vector<Tensor> &userTargets,
                         ArrayRef<Value> userSeeds,
                         const std::vector<std::vector<Tensor>> &sources,
                         const std::source_location &where) const {
  SmallVector<Value> found(sources.size()), seeds(userSeeds);
  std::vector<Tensor> targets = userTargets;
  TapeSlice slice(records, targets, sources);
  Emitter emitter(trace.builder(), trace.location(where));
  auto add = [&](size_t s, Value gradient) {
    found[s] = found[s] && gradient ? emitter.add(found[s], gradient)
               : gradient           ? gradient
                                    : found[s];
  };
  // A target that no op leads to may be a source itself.
  keepPresent(slice, targets, seeds, [&](size_t i) {
    for (size_t s = 0; s < sources.size(); ++s)
      if (llvm::any_of(sources[s], [&](const Tensor &source) {
            return source.internal() == targets[i].internal();
          }))
        add(s, seeds[i]);
  });
  auto [present, numbers] = presentIn(slice, sources);
  if (present.empty() || targets.empty())
    return found;
  GradientProgram program = programOf(slice, targets, true, std::move(present));
  SmallVector<Value> operands;
  for (const Tensor &value : slice.values())
    operands.push_back(trace.valueOf(value, "gradient", &where));
  llvm::append_range(operands, seeds);
  for (auto [s, gradient] :
       llvm::zip_equal(numbers, program.build(emitter, operands)))
    add(s, gradient);
  return found;
}

} // namespace meshloom::detail
