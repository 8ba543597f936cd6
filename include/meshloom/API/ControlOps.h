// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches that depend on values: parts of the body of a `function`,
// compiled into it. Outside of one they run at once, as loops and branches of
// C++ would: what decides is read after each step. State is a structure of
// tensors (see Structure.h); bodies may use tensors and variables from outside,
// and assign variables.
//
// A body returns the values that are used outside of it. A GradientTape
// around a loop differentiates through it, and through branches. Where an
// integer that the loop carries counts its iterations from a constant to a
// constant, as in fori_loop with numbers, the gradient keeps what each one
// began with. Where only the running program knows how often the loop runs, it
// keeps that of 128 iterations, evenly spread, and computes those between
// again: up to 128 iterations cost as much as counted ones and one more run of
// the loop, and n iterations n / 256 more runs. A tape inside of a body is for
// what that body computes.
#pragma once

#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"

#include <array>

namespace meshloom {

namespace detail {

/// The tensors that a body took or returned, and the rest of the structure.
struct RegionState {
  std::vector<Tensor> tensors;
  std::string statics;
};
template <typename S> RegionState regionState(const S &structure) {
  RegionState state{tensorsOf(structure), ""};
  appendStatics(structure, state.statics);
  return state;
}
/// The same without the numbers beside the tensors: what stays alike from step
/// to step of a loop of C++.
template <typename S> RegionState stepState(const S &structure) {
  RegionState state{tensorsOf(structure), ""};
  appendStatics(structure, state.statics, false);
  return state;
}
/// Throws where `actual` has other types, shapes or parts than `expected`;
/// `role` and `as` name them.
void expectAlike(const RegionState &actual, const RegionState &expected,
                 const std::string &role, std::string_view as,
                 std::string_view op, const std::source_location &where);
using RegionTensors = std::span<const Tensor>;
std::vector<Tensor>
traceWhile(std::string_view op, const RegionState &init,
           const std::function<Tensor(RegionTensors)> &condition,
           const std::function<RegionState(RegionTensors)> &body,
           const std::source_location &where);
/// Branches by index, or two by predicate: where it holds the first one.
std::vector<Tensor>
traceCase(std::string_view op, const TensorLike &index, bool isPredicate,
          std::span<const std::function<RegionState()>> branches,
          const std::source_location &where);
/// Element i, a number or an integer scalar, of the first dim.
Tensor elementAt(const Tensor &x, const TensorLike &i,
                 const std::source_location &where);
/// `stack` with `element` as its i-th one.
Tensor withElementAt(const Tensor &stack, const Tensor &i,
                     const Tensor &element, const std::source_location &where);
/// How many elements the first dims of all of them have.
int64_t scanLength(const std::vector<Tensor> &xs,
                   const std::source_location &where);
/// For each tensor that the body gives, zeros [n, ...] to put n of it into.
/// Removes from the trace the ops that the body adds.
std::vector<Tensor> traceStacks(std::string_view op, int64_t n,
                                const std::function<RegionState()> &body,
                                const std::source_location &where);
/// For each tensor that the body would give, a stack of none; nothing is
/// computed.
std::vector<Tensor>
emptyStacks(const std::function<std::vector<Tensor>()> &body,
            const std::source_location &where);
std::vector<Tensor> stackAll(const std::vector<std::vector<Tensor>> &elements,
                             const std::source_location &where);
/// An i32 constant of the function that is being traced.
Tensor traceCounter(std::string_view op, int64_t value,
                    const std::source_location &where);
/// Where a counted loop begins and ends: two integer scalars of one type, that
/// of a bound that is a tensor, else i32. Throws if they are not.
std::pair<Tensor, Tensor> loopBounds(std::string_view op,
                                     const TensorLike &lower,
                                     const TensorLike &upper,
                                     const std::source_location &where);
/// The result of a branch that returns nothing.
struct NoResult {};
template <typename F> auto resultOf(F &body) {
  if constexpr (std::is_void_v<std::invoke_result_t<F &>>) {
    body();
    return NoResult();
  } else {
    return body();
  }
}
template <typename F> using ResultOf = decltype(resultOf(std::declval<F &>()));

} // namespace detail

/// Runs `state = body(state)` while `condition(state)`, a bool scalar, holds,
/// starting with `init`; the last state. Types and shapes in it stay the same.
///
///   auto end = while_loop([&](const auto &s) { return less(s[0], limit); },
///                         [&](const auto &s) { return std::array{s[0] * 2.f,
///                                                                s[1] + 1}; },
///                         std::array{x, tensor(0)});
///
/// Throws meshloom::Error if the condition is not a bool scalar, or if the
/// body's result is not like `init`.
template <typename C, typename B, typename S>
S while_loop(C &&condition, B &&body, const S &init,
             Where where = Where::current()) {
  constexpr bool takeState = std::is_invocable_v<C &, const S &> &&
                             std::is_invocable_v<B &, const S &>;
  static_assert(takeState, "the condition and the body of while_loop take one "
                           "argument: the state, which has the type of init");
  if constexpr (takeState) {
    constexpr bool decides =
        std::is_convertible_v<std::invoke_result_t<C &, const S &>, Tensor>;
    constexpr bool givesState =
        std::is_convertible_v<std::invoke_result_t<B &, const S &>, S>;
    static_assert(
        decides, "the condition of while_loop returns a tensor: a bool scalar");
    static_assert(givesState,
                  "the body of while_loop returns a state of the type of init");
    if constexpr (decides && givesState) {
      std::vector<Tensor> results = detail::traceWhile(
          "while_loop", detail::regionState(init),
          [&](detail::RegionTensors state) -> Tensor {
            return condition(detail::rebuild(init, state));
          },
          [&](detail::RegionTensors state) {
            S next = body(detail::rebuild(init, state));
            return detail::regionState(next);
          },
          where);
      return detail::rebuild(init, std::span<const Tensor>(results));
    } else {
      return init; // so that the compiler says no more than the assertion
    }
  } else {
    return init;
  }
}

/// Runs body() while condition(), a bool scalar, holds: a loop whose state is
/// in variables, which the body assigns.
///
///   while_loop([&] { return less(count, 10); },
///              [&] { count.assign_add(1); });
template <typename C, typename B>
  requires std::is_invocable_v<C &> && std::is_invocable_v<B &>
void while_loop(C &&condition, B &&body, Where where = Where::current()) {
  constexpr bool decides =
      std::is_convertible_v<std::invoke_result_t<C &>, Tensor>;
  static_assert(decides,
                "the condition of while_loop returns a tensor: a bool scalar");
  if constexpr (decides)
    detail::traceWhile(
        "while_loop", {},
        [&](detail::RegionTensors) -> Tensor { return condition(); },
        [&](detail::RegionTensors) {
          static_cast<void>(body());
          return detail::RegionState();
        },
        where);
}

namespace detail {
/// fori_loop for `op`, which messages name.
template <typename B, typename S>
S countedLoop(std::string_view op, const TensorLike &lower,
              const TensorLike &upper, B &&body, const S &init,
              const std::source_location &where) {
  RegionState state = regionState(init);
  const std::pair<Tensor, Tensor> bounds = loopBounds(op, lower, upper, where);
  state.tensors.push_back(bounds.first);
  std::vector<Tensor> results = traceWhile(
      op, state,
      [&](RegionTensors now) {
        return less({now.back(), where}, {bounds.second, where});
      },
      [&](RegionTensors now) {
        S next = body(now.back(), rebuild(init, now.first(now.size() - 1)));
        RegionState state = regionState(next);
        state.tensors.push_back(add({now.back(), where}, {1, where}));
        return state;
      },
      where);
  return rebuild(init, std::span<const Tensor>(results));
}
} // namespace detail

/// Runs `state = body(i, state)` for i from `lower` to `upper` - 1, starting
/// with `init`; the last state. See while_loop. Bounds are numbers or integer
/// scalars; i is of a bound's type, or i32 where both are numbers.
///
///   Tensor y = fori_loop(0, 10, [&](const Tensor &i, const Tensor &x) {
///     return tanh(matmul(x, w)); }, x);
template <typename B, typename S>
S fori_loop(const TensorLike &lower, const TensorLike &upper, B &&body,
            const S &init, Where where = Where::current()) {
  constexpr bool takesBoth =
      std::is_invocable_v<B &, const Tensor &, const S &>;
  static_assert(takesBoth,
                "the body of fori_loop takes two arguments: the counter, a "
                "tensor, and the state, which has the type of init");
  if constexpr (takesBoth) {
    constexpr bool givesState = std::is_convertible_v<
        std::invoke_result_t<B &, const Tensor &, const S &>, S>;
    static_assert(givesState,
                  "the body of fori_loop returns a state of the type of init");
    if constexpr (givesState)
      return detail::countedLoop("fori_loop", lower, upper,
                                 std::forward<B>(body), init, where);
    else
      return init; // so that the compiler says no more than the assertion
  } else {
    return init;
  }
}

/// Runs body(i) for i from `lower` to `upper` - 1: a loop whose state is in
/// variables, which the body assigns.
///
///   fori_loop(0, steps, [&](const Tensor &) { v.assign_add(1); });
template <typename B>
  requires std::is_invocable_v<B &, const Tensor &>
void fori_loop(const TensorLike &lower, const TensorLike &upper, B &&body,
               Where where = Where::current()) {
  detail::countedLoop(
      "fori_loop", lower, upper,
      [&](const Tensor &i, const detail::NoResult &none) {
        static_cast<void>(body(i));
        return none;
      },
      detail::NoResult(), where);
}

namespace detail {
/// A pair of what a loop goes on with and of anything.
template <typename P, typename S> inline constexpr bool isCarryAndStack = false;
template <typename C, typename Y, typename S>
inline constexpr bool isCarryAndStack<std::pair<C, Y>, S> =
    std::is_convertible_v<C, S>;
template <typename C, typename Y, typename S>
inline constexpr bool isCarryAndStack<std::tuple<C, Y>, S> =
    std::is_convertible_v<C, S>;
template <typename P, typename S>
concept CarryAndStack = isCarryAndStack<P, S>;

/// `scan` of a body that fits.
template <typename F, typename S, typename X>
auto scanOver(F &&body, const S &init, const X &xs,
              const std::source_location &where) {
  using Y = std::tuple_element_t<
      1, std::decay_t<std::invoke_result_t<F &, const S &, const X &>>>;
  const std::vector<Tensor> inputs = tensorsOf(xs);
  const int64_t n = scanLength(inputs, where);
  auto elements = [&](const TensorLike &i) {
    std::vector<Tensor> parts;
    for (const Tensor &x : inputs)
      parts.push_back(elementAt(x, i, where));
    return rebuild(xs, std::span<const Tensor>(parts));
  };
  std::optional<Y> like;
  if (!isTracing()) {
    S carry = init;
    std::vector<std::vector<Tensor>> outputs;
    const RegionState first = stepState(init);
    for (int64_t i = 0; i < n; ++i) {
      auto [next, y] = body(carry, elements({i, where}));
      expectAlike(stepState(next), first, "the body's carry", "the initial one",
                  "scan", where);
      if (like)
        expectAlike(stepState(y), stepState(*like), "the output of the body",
                    "its output before", "scan", where);
      carry = next;
      outputs.push_back(tensorsOf(y));
      like = y;
    }
    auto none = [&] {
      like = std::get<1>(body(init, elements({0, where})));
      return tensorsOf(*like);
    };
    std::vector<Tensor> stacks =
        n > 0 ? stackAll(outputs, where) : emptyStacks(none, where);
    return std::pair<S, Y>(carry,
                           rebuild(*like, std::span<const Tensor>(stacks)));
  }
  std::vector<Tensor> stacks = traceStacks(
      "scan", n,
      [&] {
        auto [carry, y] = body(init, elements({0, where}));
        like = y;
        return regionState(y);
      },
      where);
  auto [last, filled] = countedLoop(
      "scan", 0, int32_t(n),
      [&](const Tensor &i, const std::pair<S, std::vector<Tensor>> &state) {
        auto [next, y] = body(state.first, elements({i, where}));
        expectAlike(stepState(y), stepState(*like), "the output of the body",
                    "its output before", "scan", where);
        std::vector<Tensor> now = tensorsOf(y);
        for (size_t k = 0; k < now.size(); ++k)
          now[k] = withElementAt(state.second[k], i, now[k], where);
        return std::pair<S, std::vector<Tensor>>(next, std::move(now));
      },
      std::pair<S, std::vector<Tensor>>(init, stacks), where);
  return std::pair<S, Y>(last, rebuild(*like, std::span<const Tensor>(filled)));
}
} // namespace detail

/// Goes over the first dim of `xs`, a tensor or a structure of tensors of n
/// elements each: `{carry, y} = body(carry, x)` for each element x, starting
/// with `init`. Gives the last carry, and all y, with a new first dim of n.
///
///   auto [last, all] = scan([&](const Tensor &h, const Tensor &x) {
///     Tensor next = tanh(matmul(h, w) + x);
///     return std::pair{next, next};
///   }, h0, xs);
///
/// In a `function` one loop, which has a gradient; outside a loop of C++.
/// Throws meshloom::Error if the lengths differ, or if types or shapes of the
/// carry or of what is kept change.
template <typename F, typename S, typename X>
auto scan(F &&body, const S &init, const X &xs,
          Where where = Where::current()) {
  constexpr bool takesBoth = std::is_invocable_v<F &, const S &, const X &>;
  static_assert(takesBoth, "the body of scan takes two arguments: the carry, "
                           "which has the type of init, and an element of xs");
  if constexpr (takesBoth) {
    constexpr bool givesPair = detail::CarryAndStack<
        std::decay_t<std::invoke_result_t<F &, const S &, const X &>>, S>;
    static_assert(givesPair,
                  "the body of scan returns a pair: the carry, which has the "
                  "type of init, and the result of this step");
    if constexpr (givesPair)
      return detail::scanOver(std::forward<F>(body), init, xs, where);
    else // so that the compiler says no more than the assertion
      return std::pair<S, X>(init, xs);
  } else {
    return std::pair<S, X>(init, xs);
  }
}

/// branches[index](): `index` is an integer scalar; the last branch where it is
/// out of range. All branches return structures alike, or nothing, where they
/// assign variables.
///
/// Throws meshloom::Error if the index is not an integer scalar, or, in a
/// `function`, if types or shapes differ between branches.
template <typename F, typename... More>
auto switch_case(const TensorLike &index, F &&first, More &&...more) {
  constexpr bool takeNothing =
      std::is_invocable_v<F &> && (std::is_invocable_v<More &> && ...);
  static_assert(takeNothing, "the branches of switch_case take no arguments: "
                             "they capture what they use");
  if constexpr (takeNothing) {
    using R = std::decay_t<detail::ResultOf<F>>;
    constexpr bool areAlike =
        (std::is_same_v<std::decay_t<detail::ResultOf<More>>, R> && ...);
    static_assert(areAlike, "all branches return the same type");
    std::optional<R> structure;
    auto branch = [&structure](auto &body) {
      return [&structure, &body] {
        R result = detail::resultOf(body);
        structure = result;
        return detail::regionState(result);
      };
    };
    std::array<std::function<detail::RegionState()>, 1 + sizeof...(More)>
        branches{branch(first), branch(more)...};
    std::vector<Tensor> results =
        detail::traceCase("switch_case", index, false, branches, index.where);
    if constexpr (!std::is_same_v<R, detail::NoResult>)
      return detail::rebuild(*structure, std::span<const Tensor>(results));
  }
}

/// then() where `predicate`, a bool scalar, holds, otherwise(). Only that one
/// runs. See switch_case.
template <typename T, typename E>
auto cond(const TensorLike &predicate, T &&then, E &&otherwise) {
  constexpr bool takeNothing =
      std::is_invocable_v<T &> && std::is_invocable_v<E &>;
  static_assert(takeNothing, "the branches of cond take no arguments: they "
                             "capture what they use");
  if constexpr (takeNothing) {
    using R = std::decay_t<detail::ResultOf<T>>;
    constexpr bool areAlike =
        std::is_same_v<std::decay_t<detail::ResultOf<E>>, R>;
    static_assert(areAlike, "both branches return the same type");
    if constexpr (areAlike) {
      std::optional<R> structure;
      std::array<std::function<detail::RegionState()>, 2> branches{
          [&] {
            structure = detail::resultOf(then);
            return detail::regionState(*structure);
          },
          [&] {
            structure = detail::resultOf(otherwise);
            return detail::regionState(*structure);
          }};
      std::vector<Tensor> results =
          detail::traceCase("cond", predicate, true, branches, predicate.where);
      if constexpr (!std::is_same_v<R, detail::NoResult>)
        return detail::rebuild(*structure, std::span<const Tensor>(results));
    }
  }
}

} // namespace meshloom
