// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function: C++ code traced into one compiled program per signature.
#pragma once

#include "meshloom/API/ConcreteFunction.h"
#include "meshloom/API/Structure.h"
#include "meshloom/Core/Contract.h"

#include <functional>

namespace meshloom {

/// The options of `function`.
struct FunctionOptions {
  /// For messages and reports. Default: "function" and a number.
  std::string name = "";
  /// Names of the tensors among the arguments, in order, for messages and
  /// reports. Default: arg0, arg1, ...
  std::vector<std::string> arguments = {};
  /// Print to stderr, at each trace after the first, what differed.
  bool print_retraces = false;
  /// Results have the same bits for every mesh, layout and number of replicas,
  /// docs/Threads.md; as `enable_op_determinism`, for this function alone. One
  /// that is called in another function is a part of that one.
  bool deterministic = false;
  /// Limits of what its programs send between devices, on the machine model
  /// that they are compiled for (`set_machine_model`). A program that sends
  /// anything else does not compile; the error names the collective, the
  /// annotation that it follows from, and the line, docs/Contracts.md.
  /// `Contract{}` forbids all collectives; nothing: any program is right. One
  /// that is called in another function is a part of that one, whose contract
  /// counts.
  std::optional<Contract> contract = std::nullopt;
  /// Into how many microbatches a training step cuts its batch: it computes
  /// them one after the other and adds up their gradients, which takes less
  /// memory, docs/AutomaticLayouts.md. The batch are the arguments that the
  /// step does not update and whose leading dims have one size. A step that
  /// needs the whole batch at once, or whose batch this does not divide, does
  /// not compile. One that is called in another function is a part of that
  /// one.
  int64_t accumulate_gradients = 1;
  /// Most bytes that a device may hold during a call, by the plan of its
  /// memory; 0: any number. A program that takes more gathers values twice,
  /// computes values again in the backward part, as `jax.checkpoint` does, and
  /// runs its batch in microbatches, docs/AutomaticLayouts.md; `explain` tells
  /// which. Arguments keep their layouts. A program for which none of that
  /// suffices does not compile. One that is called in another function is a
  /// part of that one.
  int64_t memory = 0;
};

namespace detail {

/// The result of a traced body: its tensors, and the result
/// itself, in which each call replaces the tensors.
struct TraceOutput {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> skeleton;
};
using TraceBody = std::function<TraceOutput(std::span<const Tensor>)>;

class FunctionState;
/// Throws where there is none: of a Function that was moved from.
FunctionState &usable(const std::shared_ptr<FunctionState> &state);
std::shared_ptr<FunctionState> makeFunction(FunctionOptions options,
                                            std::source_location where);
/// Whether this thread is tracing: functions are then inlined.
bool isTracing();
/// Where the values of this thread's trace are that it has seen so far.
std::optional<Mesh> meshOfTrace();
struct CallOutput {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> skeleton;
};
/// The arguments of a call: tensors, what is static in them, with and without
/// its numbers, and the objects among them.
struct CallInput {
  std::vector<Tensor> tensors;
  std::string statics, withoutNumbers;
  Identities objects;
};
/// Its address tells types of arguments apart whose bytes are the same, such as
/// 0 and 0.f.
template <typename... Args> inline constexpr char argumentTypes = 0;
CallOutput callFunction(FunctionState &state, CallInput input,
                        const TraceBody &body);
ConcreteFunction concreteFunction(FunctionState &state, CallInput input,
                                  const TraceBody &body);
int64_t traceCount(const FunctionState &state);
std::vector<ConcreteFunction> concreteFunctions(const FunctionState &state);

} // namespace detail

/// The callable that `function` returns. Copies share the trace. May be called
/// from any thread; calls run one at a time, in the order in which they came.
template <typename F> class [[nodiscard]] Function {
public:
  /// For `function`, which makes them.
  Function(F body, FunctionOptions options, std::source_location where)
      : body(std::move(body)),
        state(detail::makeFunction(std::move(options), where)) {
    if constexpr (detail::isA<F, std::function> || std::is_pointer_v<F>)
      if (!this->body)
        Error("[function] expected a body to trace, got none").raise();
  }

  /// Runs the compiled body. The first call with these shapes, types, layouts
  /// and static values traces and compiles it. Throws meshloom::Error, from the
  /// op that found it, if the body is wrong; nothing has then been assigned.
  template <typename... Args> auto operator()(const Args &...args) const {
    constexpr bool isCallable = std::is_invocable_v<const F &, const Args &...>;
    static_assert(isCallable, "call a function with as many arguments as its "
                              "body takes, of the types that it takes");
    if constexpr (isCallable) {
      using R = std::invoke_result_t<const F &, const Args &...>;
      detail::FunctionState &usable = detail::usable(state);
      if (detail::isTracing())
        return body(args...);
      detail::CallOutput out =
          detail::callFunction(usable, flatten(args...), traceBody(args...));
      if constexpr (!std::is_void_v<R>)
        return detail::rebuild(
            *static_cast<const std::decay_t<R> *>(out.skeleton.get()),
            out.tensors);
    }
  }

  /// The compiled program for such arguments, with what the compiler decided.
  /// Traces and compiles if need be; runs nothing.
  template <typename... Args>
  ConcreteFunction get_concrete_function(const Args &...args) const {
    constexpr bool isCallable = std::is_invocable_v<const F &, const Args &...>;
    static_assert(isCallable, "trace a function for as many arguments as its "
                              "body takes, of the types that it takes");
    if constexpr (isCallable)
      return detail::concreteFunction(detail::usable(state), flatten(args...),
                                      traceBody(args...));
  }

  /// How often the body has been traced.
  int64_t trace_count() const {
    return detail::traceCount(detail::usable(state));
  }
  /// One for each signature seen so far.
  std::vector<ConcreteFunction> concrete_functions() const {
    return detail::concreteFunctions(detail::usable(state));
  }

private:
  template <typename... Args>
  static detail::CallInput flatten(const Args &...args) {
    detail::CallInput flat;
    detail::appendBytes(&detail::argumentTypes<Args...>, flat.statics);
    (detail::appendTensors(args, flat.tensors), ...);
    (detail::appendStatics(args, flat.statics), ...);
    (detail::appendStatics(args, flat.withoutNumbers, false), ...);
    (detail::appendIdentities(args, flat.objects), ...);
    return flat;
  }

  /// Calls the body with the arguments' tensors replaced by traced ones.
  template <typename... Args> auto traceBody(const Args &...args) const {
    using R = std::invoke_result_t<const F &, const Args &...>;
    return [this, all = std::tie(args...)](std::span<const Tensor> traced) {
      using Held = std::tuple<detail::HeldArgument<Args>...>;
      Held rebuilt = detail::rebuild(Held(all), traced);
      if constexpr (std::is_void_v<R>) {
        std::apply(body, std::as_const(rebuilt));
        return detail::TraceOutput{};
      } else {
        auto result = std::make_shared<std::decay_t<R>>(
            std::apply(body, std::as_const(rebuilt)));
        std::vector<Tensor> tensors = detail::tensorsOf(*result);
        return detail::TraceOutput{std::move(tensors), std::move(result)};
      }
    };
  }

  F body;
  std::shared_ptr<detail::FunctionState> state;
};

/// A callable that traces `body` once for each combination of argument shapes,
/// types, layouts and static values, compiles it into one program for the
/// mesh, and runs that. Arguments and result: structures of tensors (see
/// Structure.h). Variables and tensors that the body captures are found; they
/// are arguments of the program, so a variable's later values are seen, and
/// assigns take effect when the call returns. Tensors and variables may be on
/// several meshes over the same devices, in the same order.
///
///   auto step = function([&](const Tensor &x) { return matmul(x, w) + b; });
///   Tensor y = step(x);
///
/// A model, layer, optimizer or metric among the arguments is one of the
/// objects that the body uses: it is traced once for each.
///
///   auto train_step = function([](const Sequential &model, const Tensor &x,
///                                 const optimizers::Optimizer &optimizer) {
///     ... });
///
/// A C++ number is part of the program: another one is another trace, and at
/// the fourth a line on stderr says so. A value that changes from call to call,
/// such as a learning rate or a step, is passed as a tensor, tensor(0.1f).
///
/// C++ side effects of the body happen when it is traced only. Inside another
/// function's body it is inlined.
template <typename F>
Function<std::decay_t<F>>
function(F &&body, FunctionOptions options = {},
         std::source_location where = std::source_location::current()) {
  return {std::forward<F>(body), std::move(options), where};
}

namespace detail {
class InitScope {
public:
  InitScope();
  ~InitScope();
  InitScope(const InitScope &) = delete;
};
} // namespace detail
/// Runs `fn` outside of the trace in progress: for making a variable in the
/// body of a `function`, once.
template <typename F> auto init_scope(F &&fn) {
  detail::InitScope scope;
  return fn();
}

} // namespace meshloom
