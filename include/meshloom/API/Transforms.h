// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions made of functions: gradients, Jacobians, products with them, and
// the same for every tensor of a structure. Names and meaning are those of JAX
// and TensorFlow.
//
// They work in a `function` and outside of one, on any structure of tensors
// (see Structure.h), and on each other: hessian(f) is jacobian(grad(f)).
#pragma once

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/GradientTape.h"

#include <memory>

namespace meshloom {

namespace detail {

/// The tensors of a structure as sources of a gradient.
template <typename S> std::vector<GradientSource> sourcesOf(const S &s) {
  std::vector<Tensor> tensors = tensorsOf(s);
  return {tensors.begin(), tensors.end()};
}
/// The value of a function that is differentiated: the result itself, or the
/// first of a pair, whose second is handed through.
template <typename R> const Tensor &lossOf(const R &result) {
  if constexpr (isA<R, std::pair>)
    return result.first;
  else
    return result;
}
/// Throws where it is not a float scalar.
void expectLoss(const Tensor &loss, std::string_view op,
                const std::source_location &where);
/// Throws where tangents are not tensors like the primals.
void expectTangents(const std::vector<Tensor> &primals,
                    const std::vector<Tensor> &tangents,
                    const std::source_location &where);
/// The derivative of the outputs along the tangents: linear in an output
/// gradient u, the reverse pass is differentiated by u.
std::vector<Tensor> forwardProduct(const GradientTape &tape,
                                   const std::vector<Tensor> &outputs,
                                   const std::vector<Tensor> &primals,
                                   const std::vector<Tensor> &tangents,
                                   const std::source_location &where);

template <typename F> struct ValueAndGradient {
  F fn;
  std::source_location where;

  template <typename First, typename... More>
  auto operator()(const First &first, const More &...more) const {
    GradientTape tape;
    auto value = fn(first, more...);
    const Tensor &loss = lossOf(value);
    expectLoss(loss, "value_and_grad", where);
    std::vector<Tensor> gradients = tape.gradient(
        loss, sourcesOf(first), UnconnectedGradients::Zero, where);
    return std::pair(std::move(value),
                     rebuild(first, std::span<const Tensor>(gradients)));
  }
};

template <typename F> struct Gradient {
  ValueAndGradient<F> both;
  template <typename... Args> auto operator()(const Args &...args) const {
    return both(args...).second;
  }
};

template <typename F> struct Jacobian {
  F fn;
  std::source_location where;

  template <typename... More>
  Tensor operator()(const Tensor &x, const More &...more) const {
    GradientTape tape;
    const Tensor y = fn(x, more...);
    return tape.jacobian(y, x, where);
  }
};

} // namespace detail

/// A function that gives what `fn` gives, a scalar, and its gradient by the
/// first argument, which is a structure like it. Where fn gives a pair, the
/// first of it is differentiated, and all of it is given.
///
///   auto [loss, gradient] = value_and_grad(loss_of)(parameters, x, y);
///
/// Zeros where the value does not depend on a tensor. Throws meshloom::Error if
/// the value is not a float scalar, or a tensor of the argument no float.
template <typename F>
auto value_and_grad(F &&fn, Where where = Where::current()) {
  return detail::ValueAndGradient<std::decay_t<F>>{std::forward<F>(fn), where};
}

/// A function that gives the gradient alone; see value_and_grad.
///
///   Tensor slope = grad([](const Tensor &x) { return reduce_sum(x * x); })(x);
template <typename F> auto grad(F &&fn, Where where = Where::current()) {
  return detail::Gradient<std::decay_t<F>>{{std::forward<F>(fn), where}};
}

/// A function that gives the Jacobian of fn, a function of one tensor and maybe
/// more arguments, by the first: [shape of fn(x)..., shape of x...]. See
/// GradientTape::jacobian.
template <typename F> auto jacobian(F &&fn, Where where = Where::current()) {
  return detail::Jacobian<std::decay_t<F>>{std::forward<F>(fn), where};
}

/// A function that gives the second derivatives of fn, whose value is a scalar,
/// by its first argument, a tensor: [shape of x..., shape of x...].
template <typename F> auto hessian(F &&fn, Where where = Where::current()) {
  return jacobian(grad(std::forward<F>(fn), where), where);
}

/// The result of fn for the primals, a structure, and a function: for a
/// structure like that value it gives the product with the Jacobian's
/// transpose, for each primal a structure like it; of a single primal that one.
///
///   auto [y, pull_back] = vjp(fn, x);
///   Tensor slope = pull_back(ones_like(y));
///
/// The function may be called several times, in the body in which it was made
/// and in those inside.
template <typename F, typename... Args>
auto vjp(F &&fn, const Args &...primals) {
  static_assert(sizeof...(Args) > 0, "vjp takes a function and the arguments "
                                     "that it is called with");
  auto tape = std::make_shared<GradientTape>();
  auto value = fn(primals...);
  tape->stop_recording();
  auto pullBack = [tape = std::move(tape), value,
                   all = std::tuple<Args...>(primals...)](
                      const decltype(value) &output_gradients,
                      Where where = Where::current()) {
    std::vector<Tensor> gradients = tape->gradient(
        detail::tensorsOf(value), detail::sourcesOf(all),
        detail::tensorsOf(output_gradients), UnconnectedGradients::Zero, where);
    auto found = detail::rebuild(all, std::span<const Tensor>(gradients));
    if constexpr (sizeof...(Args) == 1)
      return std::get<0>(std::move(found));
    else
      return found;
  };
  return std::pair(std::move(value), std::move(pullBack));
}

/// The result of fn for the primals, a tuple of its arguments, and the
/// derivative of that along the tangents, a tuple like it.
///
///   auto [y, dy] = jvp(fn, std::tuple(x), std::tuple(dx));
///
/// Throws meshloom::Error if the shape or type of a tangent differs from that
/// of its primal.
template <typename F, typename... Args>
auto jvp(F &&fn, const std::tuple<Args...> &primals,
         const std::tuple<Args...> &tangents, Where where = Where::current()) {
  const std::vector<Tensor> from = detail::tensorsOf(primals),
                            along = detail::tensorsOf(tangents);
  detail::expectTangents(from, along, where);
  GradientTape tape;
  auto value = std::apply(fn, primals);
  tape.stop_recording();
  std::vector<Tensor> derivatives = detail::forwardProduct(
      tape, detail::tensorsOf(value), from, along, where);
  auto derivative =
      detail::rebuild(value, std::span<const Tensor>(derivatives));
  return std::pair(std::move(value), std::move(derivative));
}

/// fn(tensor, ...) for every tensor of a structure, and of those that are like
/// it: a structure like the first. TensorFlow's tf.nest.map_structure.
///
///   auto sums = map_structure([](const Tensor &x, const Tensor &y) {
///     return x + y; }, first, second);
///
/// Throws meshloom::Error if another structure has another number of tensors.
template <typename F, typename S, typename... More>
S map_structure(F &&fn, const S &structure, const More &...more) {
  std::vector<Tensor> results = detail::tensorsOf(structure);
  const auto others = std::tuple(detail::tensorsOf(more)...);
  std::apply(
      [&](const auto &...other) {
        if (((other.size() != results.size()) || ...))
          Error("[map_structure] expected structures with equally many "
                "tensors, got " +
                std::to_string(results.size()) +
                ((" and " + std::to_string(other.size())) + ... + ""))
              .raise();
        for (size_t i = 0; i < results.size(); ++i)
          results[i] = fn(std::as_const(results[i]), other[i]...);
      },
      others);
  return detail::rebuild(structure, std::span<const Tensor>(results));
}

namespace detail {
/// Every second element of the first dim, from `first` on.
std::vector<Tensor> everySecond(const std::vector<Tensor> &xs, int64_t first,
                                const std::source_location &where);
/// Elements [begin, end) of the first dim.
std::vector<Tensor> elementsOf(const std::vector<Tensor> &xs, int64_t begin,
                               int64_t end, const std::source_location &where);
/// even[0], odd[0], even[1], odd[1], ...
std::vector<Tensor> interleaved(const std::vector<Tensor> &even,
                                const std::vector<Tensor> &odd,
                                const std::source_location &where);
std::vector<Tensor> reversed(std::vector<Tensor> xs,
                             const std::source_location &where);

/// Neighbours are combined; the running combinations of these are those of the
/// odd places, and each with the next element is one of an even place. n
/// elements take less than 2 n combinations in 2 log2 n steps.
template <typename F>
std::vector<Tensor> scanPairs(const F &combine, const std::vector<Tensor> &xs,
                              const std::source_location &where) {
  const int64_t n = scanLength(xs, where);
  if (n < 2)
    return xs;
  const std::vector<Tensor> odd =
      scanPairs(combine,
                combine(everySecond(elementsOf(xs, 0, n - 1, where), 0, where),
                        everySecond(xs, 1, where)),
                where);
  const std::vector<Tensor> first = elementsOf(xs, 0, 1, where);
  if (n == 2)
    return interleaved(first, odd, where);
  const std::vector<Tensor> later =
      combine(elementsOf(odd, 0, (n - 1) / 2, where),
              everySecond(elementsOf(xs, 2, n, where), 0, where));
  std::vector<Tensor> even;
  for (size_t k = 0; k < xs.size(); ++k)
    even.push_back(concat({first[k], later[k]}, 0, where));
  return interleaved(even, odd, where);
}
} // namespace detail

/// The running combinations along the first dim of `xs`, a structure of tensors
/// of n elements each: of elements a, b, c these are a, fn(a, b), fn(fn(a, b),
/// c). `fn` is associative and gets slices [k, ...] of elements, which it
/// combines element by element. `reverse`: from the end, fn(c, b) and so on.
///
///   Tensor sums = associative_scan([](const Tensor &x, const Tensor &y) {
///     return x + y; }, xs);
///
/// Throws meshloom::Error if the lengths differ.
template <typename F, typename S>
S associative_scan(F &&fn, const S &xs, bool reverse = false,
                   Where where = Where::current()) {
  auto combine = [&](const std::vector<Tensor> &x,
                     const std::vector<Tensor> &y) {
    return detail::tensorsOf(
        S(fn(detail::rebuild(xs, std::span<const Tensor>(x)),
             detail::rebuild(xs, std::span<const Tensor>(y)))));
  };
  std::vector<Tensor> tensors = detail::tensorsOf(xs);
  if (reverse)
    tensors = detail::reversed(std::move(tensors), where);
  tensors = detail::scanPairs(combine, tensors, where);
  if (reverse)
    tensors = detail::reversed(std::move(tensors), where);
  return detail::rebuild(xs, std::span<const Tensor>(tensors));
}

/// The sum of tensors of one shape and type. Throws meshloom::Error if there is
/// none, or if shapes or types differ.
[[nodiscard]] Tensor add_n(const std::vector<Tensor> &values,
                           Where where = Where::current());

} // namespace meshloom
