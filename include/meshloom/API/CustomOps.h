// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops and gradients of the user's own, and computing again instead of keeping.
//
// An op of the user's is a function on the boxes of tensors that devices have,
// and a rule that says how it may be cut (Core/CustomCall.h):
//
//   register_custom_call("cube", {"a -> a", [](const CustomCall &call) {...}});
//   auto cube = custom_gradient(
//       [](const Tensor &x) { return custom_call("cube", {x}, like(x)); },
//       [](const Tensor &x, const Tensor &, const Tensor &dy) {
//         return 3 * x * x * dy;
//       });
//
// test/Docs/custom_op.cpp is the whole program.
#pragma once

#include "meshloom/API/ControlOps.h"
#include "meshloom/Core/CustomCall.h"

#include <functional>
#include <string>
#include <tuple>

namespace meshloom {

/// Type and shape of a tensor.
struct TensorType {
  DType dtype = DType::F32; ///< type of the elements
  Shape shape = {};         ///< global
  /// Returns whether type and shape are the same.
  bool operator==(const TensorType &) const = default;
};
/// The type of `x`.
inline TensorType like(const Tensor &x) {
  return {x.dtype(), x.shape()};
}

/// The result of the function that is registered as `target`
/// (register_custom_call) for `inputs`: tensors of the types `results`.
/// `config` is handed to it. The registered rule says what is cut and what is
/// reduced. Throws meshloom::Error if nothing is registered so, or if the rule
/// does not fit the shapes; what the function fails with ends the run. It has
/// no gradient: see custom_gradient.
std::vector<Tensor> custom_call(std::string_view target,
                                const std::vector<Tensor> &inputs,
                                const std::vector<TensorType> &results,
                                std::string_view config = "",
                                Where loc = Where::current());
/// With one result.
Tensor custom_call(std::string_view target, const std::vector<Tensor> &inputs,
                   const TensorType &result, std::string_view config = "",
                   Where loc = Where::current());

/// Calls the function for its effects, such as reading a file or taking the
/// next batch: whenever the program reaches the call, in the order of the
/// program, with whole values, once for all devices, even if nobody uses its
/// results. No gradient flows through it.
std::vector<Tensor> host_call(std::string_view target,
                              const std::vector<Tensor> &inputs,
                              const std::vector<TensorType> &results,
                              std::string_view config = "",
                              Where loc = Where::current());

namespace detail {
/// Gradients of the inputs, one for each, from those of the results.
using BackwardRule = std::function<std::vector<Tensor>(
    RegionTensors inputs, RegionTensors results, RegionTensors gradients)>;
std::vector<Tensor>
traceCustomGradient(const std::vector<Tensor> &inputs,
                    const std::function<RegionState()> &forward,
                    BackwardRule backward, const std::source_location &where);
std::vector<Tensor> traceRecomputed(const std::function<RegionState()> &body,
                                    const std::source_location &where);

/// Calls `backward` with one input for each number of `I`.
template <typename R, typename B, size_t... I>
std::vector<Tensor> applyBackward(const B &backward, const R &like,
                                  RegionTensors inputs, RegionTensors results,
                                  RegionTensors gradients,
                                  std::index_sequence<I...>) {
  return tensorsOf(
      backward(inputs[I]..., rebuild(like, results), rebuild(like, gradients)));
}
} // namespace detail

/// The callable that `custom_gradient` returns. Copies share the trace.
template <typename F, typename B> class CustomGradientFunction {
public:
  /// For `custom_gradient`, which makes them.
  CustomGradientFunction(F forward, B backward, Where where)
      : call(Body{std::move(forward), std::move(backward), where}, {}, where) {}

  /// The result of `forward` for the inputs.
  template <std::convertible_to<Tensor>... T>
  auto operator()(const T &...inputs) const {
    return call(Tensor(inputs)...);
  }

private:
  struct Body {
    F forward;
    B backward;
    Where where;

    template <typename... T> auto operator()(const T &...inputs) const {
      using R = std::decay_t<std::invoke_result_t<const F &, const T &...>>;
      static_assert(
          std::is_invocable_v<const B &, const T &..., const R &, const R &>,
          "the gradient takes the inputs, the result and the result's "
          "gradient");
      // Only the structure of the result stays: no tensor of the trace.
      auto like = std::make_shared<std::optional<R>>();
      std::optional<R> result;
      std::vector<Tensor> tensors = detail::traceCustomGradient(
          {inputs...},
          [&] {
            result = forward(inputs...);
            detail::RegionState state = detail::regionState(*result);
            std::vector<Tensor> none(state.tensors.size());
            *like = detail::rebuild(*result, std::span<const Tensor>(none));
            return state;
          },
          [like, backward = backward](detail::RegionTensors operands,
                                      detail::RegionTensors results,
                                      detail::RegionTensors gradients) {
            return detail::applyBackward(backward, **like, operands, results,
                                         gradients,
                                         std::index_sequence_for<T...>());
          },
          where);
      return detail::rebuild(*result, std::span<const Tensor>(tensors));
    }
  };
  Function<Body> call;
};

/// A callable on tensors that computes `forward` and whose gradient is
/// `backward(inputs..., result, gradient of the result)`: the gradients of the
/// inputs, a tensor, or a pair, tuple or vector of as many as there are inputs.
/// If backward needs more of forward's values than the result, forward returns
/// them too (a structure of tensors; see Structure.h).
///
///   auto clipped = custom_gradient(
///       [](const Tensor &x) { return x; },
///       [](const Tensor &, const Tensor &, const Tensor &dy) {
///         return clip_by_value(dy, -1, 1);
///       });
///
/// Outside of a `function` it is one. Second derivatives are those of
/// `backward`. Throws meshloom::Error, when a gradient is taken, if backward
/// gives a different number of gradients or different shapes, or if a gradient
/// is asked for something that forward uses and is not given.
template <typename F, typename B>
CustomGradientFunction<std::decay_t<F>, std::decay_t<B>>
custom_gradient(F &&forward, B &&backward, Where where = Where::current()) {
  return {std::forward<F>(forward), std::forward<B>(backward), where};
}

/// body(), of which a gradient keeps only what comes from outside of it and
/// what it returns: the rest is computed again when the gradient needs it.
/// Memory for time: a stack of layers, each in one, keeps what is between them.
///
///   for (const Layer &layer : layers)
///     x = checkpoint([&] { return layer(x); });
///
/// Outside of a `function`, where a tape keeps what ran, it is body(). Throws
/// meshloom::Error if the body assigns a variable and a gradient goes through.
template <typename F>
auto checkpoint(F &&body, Where where = Where::current()) {
  using R = std::decay_t<std::invoke_result_t<F &>>;
  if (!detail::isTracing())
    return R(body());
  std::optional<R> result;
  std::vector<Tensor> tensors = detail::traceRecomputed(
      [&] {
        result = body();
        return detail::regionState(*result);
      },
      where);
  return detail::rebuild(*result, std::span<const Tensor>(tensors));
}

} // namespace meshloom
