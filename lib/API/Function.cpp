// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function, call_with_layout and init_scope: tracing, and finding what was
// traced before.
#include "meshloom/API/Function.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/Core/Timing.h"
#include "meshloom/Engine/Contexts.h"
#include "meshloom/Engine/DeviceSets.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Tape.h"
#include "meshloom/Engine/TracedFunction.h"
#include "meshloom/Runtime/Profiler.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <unordered_map>

namespace meshloom::detail {

class FunctionState {
public:
  FunctionOptions options;
  std::source_location where;
  /// Held over a whole call: calls run one at a time. Recursive, for a body
  /// that calls the same function in init_scope.
  std::recursive_mutex mutex;
  std::unordered_map<CacheKey, std::shared_ptr<TracedFunction>, CacheKeyHash>
      traced;
  std::vector<std::shared_ptr<TracedFunction>> order;
  /// Types of the arguments of the latest trace, for telling what changed.
  std::vector<std::string> lastTypes;
  /// Traces by all that tells calls apart but their numbers.
  std::unordered_map<CacheKey, int64_t, CacheKeyHash> tracesByKind;
  bool hasWarned = false;
  /// Arguments of traces. They live as long as the keys that have their
  /// addresses, so that no other object gets one.
  Identities objects;
};

void checkMemory(std::string_view op, int64_t bytes,
                 const std::source_location *where) {
  if (bytes < 0)
    fail(op,
         fmt::format("expected memory of 0 or more bytes per device, got {}",
                     bytes),
         where);
}

std::shared_ptr<FunctionState> makeFunction(FunctionOptions options,
                                            std::source_location where) {
  static std::atomic<int64_t> count;
  auto state = std::make_shared<FunctionState>();
  if (options.name.empty())
    options.name = fmt::format("function{}", ++count);
  if (options.contract) {
    Result<Contract> contract = normalized(std::move(*options.contract));
    if (!contract)
      fail("function", contract.error(), &where);
    options.contract = std::move(*contract);
  }
  if (options.accumulate_gradients < 1)
    fail("function",
         fmt::format("expected accumulate_gradients of 1 or more, got {}: it "
                     "is the number of microbatches of a step",
                     options.accumulate_gradients),
         &where);
  checkMemory("function", options.memory, &where);
  if (const char *print = std::getenv("MESHLOOM_PRINT_RETRACES"))
    options.print_retraces |= std::string_view(print) != "0";
  state->options = std::move(options);
  state->where = where;
  return state;
}

FunctionState &usable(const std::shared_ptr<FunctionState> &state) {
  if (!state)
    fail("function", "expected a function, got one that was moved from: call "
                     "the one that it was moved to");
  return *state;
}

bool isTracing() {
  return threadState().trace() != nullptr;
}
std::optional<Mesh> meshOfTrace() {
  const std::shared_ptr<Trace> &trace = threadState().trace();
  if (!trace || trace->meshes().empty())
    return std::nullopt;
  return trace->meshes().front();
}

namespace {

/// Returns the key that tells calls apart: static values, and the arguments'
/// types and layouts.
CacheKey keyOf(std::span<const Tensor> inputs, std::string statics,
               std::string_view name) {
  CacheKey key;
  key.text = std::move(statics);
  key.layouts.reserve(inputs.size());
  bool allHost = true;
  for (const Tensor &input : inputs) {
    const TensorNode &node = nodeOf(input, name);
    if (node.trace)
      arrayOf(input, name); // throws
    allHost &= node.host;
    key.add(node.dtype, node.shape);
    key.text.push_back(node.host ? 'h' : 'd');
    key.layouts.push_back(node.array.layout());
  }
  if (allHost)
    if (std::optional<Mesh> mesh = get_default_mesh())
      key.layouts.push_back(Layout::replicated(*mesh, 0));
  key.add(deviceSetOfScope());
  key.add(settings().generation);
  key.add(layoutGeneration());
  return key;
}

std::string describe(const Tensor &tensor) {
  return fmt::format("{} {}", typeText(tensor),
                     tensor.internal()->host
                         ? "on the host"
                         : tensor.layout().spec_string() + " on " +
                               meshText(tensor.mesh()));
}

void reportRetrace(FunctionState &state, std::span<const Tensor> inputs) {
  std::vector<std::string> types;
  for (const Tensor &input : inputs)
    types.push_back(describe(input));
  if (state.options.print_retraces && !state.order.empty()) {
    std::string changes;
    for (size_t i = 0; i < std::max(types.size(), state.lastTypes.size());
         ++i) {
      std::string was =
          i < state.lastTypes.size() ? state.lastTypes[i] : "none";
      std::string now = i < types.size() ? types[i] : "none";
      if (was != now)
        changes += fmt::format("\n  tensor {}: was {}, now {}", i, was, now);
    }
    if (changes.empty())
      changes = "\n  a static argument, the structure, or the machine model";
    fmt::print(stderr, "[{}] traced again (trace {}) at {}:{}, because of{}\n",
               state.options.name, state.order.size() + 1,
               state.where.file_name(), state.where.line(), changes);
  }
  state.lastTypes = std::move(types);
}

} // namespace

std::shared_ptr<TracedFunction> traceFunction(const std::string &name,
                                              std::span<const Tensor> inputs,
                                              const TraceBody &body,
                                              const TraceOptions &options) {
  HostRange range([&] { return "trace " + name; });
  auto begin = std::chrono::steady_clock::now();
  auto trace = std::make_shared<Trace>(name, functionContext());
  trace->reusable = options.isReusable;
  if (options.isDeterministic || settings().deterministic)
    trace->beDeterministic();
  if (options.contract)
    trace->expectContract(*options.contract);
  if (options.microbatches > 1)
    trace->accumulateGradients(options.microbatches);
  if (options.memory > 0)
    trace->limitMemory(options.memory);
  TraceOutput out;
  std::vector<TracedUpdate> updates;
  {
    TimedScope timed("trace");
    TraceScope scope(trace);
    RemoteTrace remote(*trace, options.isUpdate);
    try {
      std::vector<Tensor> arguments;
      for (size_t i = 0; i < inputs.size(); ++i)
        arguments.push_back(trace->addArgument(
            inputs[i], i < options.names.size() ? options.names[i] : ""));
      out = body(arguments);
      std::vector<std::optional<Layout>> layouts;
      if (const std::optional<Layout> &layout = options.layout) {
        trace->useMesh(layout->mesh());
        for (const Tensor &tensor : out.tensors) {
          if (nodeOf(tensor, name).shape.size() != layout->rank())
            fail(name,
                 fmt::format(
                     "expected tensors of rank {} for layout {}, got {}",
                     layout->rank(), layout->spec_string(), typeText(tensor)));
          layouts.push_back(layout);
        }
      }
      std::vector<Tensor> returned = out.tensors;
      for (const TracedUpdate &update : remote.updates)
        returned.insert(returned.end(), update.operands.begin(),
                        update.operands.end());
      updates = std::move(remote.updates);
      trace->finish(returned, layouts);
      if (trace->isSpread() && (options.microbatches > 1 || options.memory > 0))
        fail(name, "accumulate_gradients and memory are for functions on one "
                   "set of devices, and this one is on several: make functions "
                   "of its parts");
    } catch (...) {
      trace->abandon();
      throw;
    }
  }
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  std::shared_ptr<TracedFunction> traced(
      new TracedFunction(trace, out.tensors.size(), out.skeleton, seconds,
                         std::move(updates)),
      TracedFunction::Deleter());
  trace->abandon(); // tensors that were kept name the trace still
  return traced;
}

namespace {

/// Numbers that differ from call to call are a trace each: the fourth one is no
/// accident.
void warnOfNumbers(FunctionState &state, const CallInput &input) {
  constexpr int64_t many = 4;
  if (state.hasWarned || input.statics == input.withoutNumbers)
    return;
  CacheKey kind =
      keyOf(input.tensors, input.withoutNumbers, state.options.name);
  if (++state.tracesByKind[std::move(kind)] < many)
    return;
  state.hasWarned = true;
  fmt::print(stderr,
             "[{}] traced for the {}th different number among its arguments, "
             "at {}:{}: each number is a program of its own; for one program, "
             "pass a tensor, tensor(x), in place of the number x\n",
             state.options.name, many, state.where.file_name(),
             state.where.line());
}

std::shared_ptr<TracedFunction> find(FunctionState &state, CallInput &input,
                                     const TraceBody &body) {
  CacheKey key = keyOf(input.tensors, input.statics, state.options.name);
  auto entry = state.traced.find(key);
  if (entry != state.traced.end() && entry->second->fits(input.tensors))
    return entry->second;
  reportRetrace(state, input.tensors);
  if (entry == state.traced.end())
    warnOfNumbers(state, input);
  std::shared_ptr<TracedFunction> traced =
      traceFunction(state.options.name, input.tensors, body,
                    {.names = state.options.arguments,
                     .isDeterministic = state.options.deterministic,
                     .contract = state.options.contract,
                     .microbatches = state.options.accumulate_gradients,
                     .memory = state.options.memory});
  state.traced.insert_or_assign(std::move(key), traced);
  state.order.push_back(traced);
  state.objects.insert(state.objects.end(), input.objects.begin(),
                       input.objects.end());
  return traced;
}

} // namespace

CallOutput callFunction(FunctionState &state, CallInput input,
                        const TraceBody &body) {
  // A call has no line: its parameters are those of the body.
  const UserLine line(state.where);
  return runWhole([&]() -> CallOutput {
    const Running running;
    std::lock_guard lock(state.mutex);
    std::shared_ptr<TracedFunction> traced = find(state, input, body);
    if (std::optional<std::vector<Tensor>> empty =
            captureCall(traced, input.tensors))
      return {std::move(*empty), traced->skeleton};
    return {traced->run(input.tensors), traced->skeleton};
  });
}

ConcreteFunction concreteFunction(FunctionState &state, CallInput input,
                                  const TraceBody &body) {
  const UserLine line(state.where);
  Running running;
  std::lock_guard lock(state.mutex);
  InitScope outside;
  return ConcreteFunction(find(state, input, body));
}

int64_t traceCount(const FunctionState &state) {
  auto &shared = const_cast<FunctionState &>(state);
  std::lock_guard lock(shared.mutex);
  return int64_t(state.order.size());
}

std::vector<ConcreteFunction> concreteFunctions(const FunctionState &state) {
  auto &shared = const_cast<FunctionState &>(state);
  std::lock_guard lock(shared.mutex);
  return {state.order.begin(), state.order.end()};
}

InitScope::InitScope() {
  threadState().traces.push_back(nullptr);
}
InitScope::~InitScope() {
  threadState().traces.pop_back();
}

void appendVariableKey(const DVariable &variable, std::string &key) {
  key += fmt::format("v{};", stateOf(variable, "function")->id);
}

std::vector<Tensor> callWithLayout(const TraceBody &body, const Layout &layout,
                                   std::shared_ptr<const void> &skeleton,
                                   const std::source_location &where) {
  constexpr std::string_view name = "call_with_layout";
  const UserLine line(where);
  if (isTracing()) {
    TraceOutput out = body({});
    for (Tensor &tensor : out.tensors) {
      if (tensor.rank() != layout.rank())
        fail(name, fmt::format(
                       "expected tensors of rank {} for layout {}, got {}",
                       layout.rank(), layout.spec_string(), typeText(tensor)));
      OpCall call;
      call.name = name;
      call.operands = {tensor};
      call.layout = layout;
      call.setBody(
          [](Emitter &e, ArrayRef<Value> operands, const auto &layout) {
            return SmallVector<Value>{constrained(e, operands[0], layout)};
          },
          layout);
      tensor = runOp(std::move(call));
    }
    skeleton = out.skeleton;
    return out.tensors;
  }
  return runWhole([&] {
    const Running running;
    std::shared_ptr<TracedFunction> traced = traceFunction(
        std::string(name), {}, body, {.layout = layout, .isReusable = true});
    skeleton = traced->skeleton;
    return traced->run({});
  });
}

} // namespace meshloom::detail
