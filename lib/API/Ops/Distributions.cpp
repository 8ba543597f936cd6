// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distributions made of uniform and normal numbers; see Distributions.h.
//
// Rejection repeats for all elements until each has been accepted once: an
// element keeps the first number that was, so that it depends on its own index
// and the seed only.
#include "meshloom/API/Distributions.h"

#include "IndexedElements.h"
#include "Operands.h"
#include "RandomParameters.h"
#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/WindowOps.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace meshloom::random {
using namespace detail;

namespace {

/// Returns the type that is computed in: narrow floats have too few steps.
DType wideTypeOf(DType type) {
  return type == DType::F64 ? DType::F64 : DType::F32;
}

/// A parameter as a tensor of `shape`; of a number `isValid` is asked.
Tensor parameterOf(const TensorLike &like, std::string_view parameter,
                   std::string_view range, bool (*isValid)(double), DType type,
                   const Shape &shape, std::string_view op, Where where) {
  checkShape(shape, op, where);
  if (like.kind != TensorLike::Kind::Tensor) {
    const double number =
        like.kind == TensorLike::Kind::Float ? like.real : double(like.integer);
    if (!isValid(number))
      fail(op, fmt::format("expected {} {}, got {}", parameter, range, number),
           &where);
    return full(shape, number, type, where);
  }
  const TensorNode &node = nodeOf(like.tensor, op, &where);
  if (node.dtype == DType::I1 || isComplex(node.dtype))
    fail(op,
         fmt::format("expected {} of real numbers, got {}", parameter,
                     typeText(like.tensor)),
         &where);
  if (broadcastShape(node.shape, shape, op, where) != shape)
    fail(op,
         fmt::format("expected {} that broadcasts to {}, got {}", parameter,
                     shapeText(shape), typeText(like.tensor)),
         &where);
  return broadcast_to(stop_gradient(cast(like.tensor, type, where), where),
                      shape, where);
}

bool isProbability(double p) {
  return p >= 0 && p <= 1;
}
bool isPositive(double x) {
  return x > 0 && std::isfinite(x);
}
bool isNotNegative(double x) {
  return x >= 0 && std::isfinite(x);
}

/// Uniform in [0, 1), for part `i` of a computation.
Tensor unitOf(const Shape &shape, const Tensor &seed, const TensorLike &i,
              DType type) {
  return stateless_uniform(shape, fold_in(seed, i), 0, 1, type, i.where);
}

/// Another seed than that of the caller's numbers, whatever kind it has.
Tensor wordsOf(const SeedLike &seed, int64_t part, Where where) {
  return fold_in(seed, {part, where});
}

/// Calls `draw(round)` for a number and whether it is accepted, until all are.
/// Elements that are not `isValid` are nan.
template <typename F>
Tensor firstAccepted(const Tensor &isValid, DType type, F draw, Where where) {
  struct State {
    Tensor round, isDone, value;
  };
  Tensor nans = full(isValid.shape(), std::numeric_limits<double>::quiet_NaN(),
                     type, where);
  State state{tensor(int32_t(0), where), logical_not(isValid, where), nans};
  state = while_loop(
      [&](const State &now) {
        return logical_not(reduce_all(now.isDone, Axis(), false, where), where);
      },
      [&](const State &now) {
        auto [value, isAccepted] = draw(now.round);
        return State{add({now.round, where}, {1, where}),
                     logical_or({now.isDone, where}, {isAccepted, where}),
                     meshloom::where({now.isDone, where}, {now.value, where},
                                     {value, where})};
      },
      state, where);
  return state.value;
}

/// A number of the gamma distribution is `scale` exp(logBoost).
struct GammaParts {
  Tensor scale, logBoost;
};

/// Where alpha is less than 1: the parts of Gamma(alpha + 1), times U^(1 /
/// alpha).
GammaParts gammaParts(const Tensor &alpha, const Tensor &seed, Where where) {
  const Shape shape = alpha.shape();
  const DType type = alpha.dtype();
  Tensor isValid = logical_and({greater({alpha, where}, {0, where}), where},
                               {is_finite(alpha, where), where});
  Tensor isSmall = less({alpha, where}, {1, where});
  Tensor raised =
      meshloom::where({isSmall, where}, {alpha + 1, where}, {alpha, where});
  Tensor d = raised - 1.0 / 3, c = rsqrt(9 * d, where);
  Tensor scale = firstAccepted(
      isValid, type,
      [&](const Tensor &round) {
        Tensor now = fold_in(seed, round);
        Tensor x = stateless_normal(shape, fold_in(now, {0, where}), 0, 1, type,
                                    where);
        Tensor u = unitOf(shape, now, {1, where}, type);
        Tensor root = 1 + c * x, v = root * root * root;
        // nan, and so no acceptance, where v is negative.
        Tensor bound = 0.5 * square(x, where) + d - d * v + d * log(v, where);
        return std::pair(d * v, less({log(u, where), where}, {bound, where}));
      },
      where);
  Tensor boost = log(unitOf(shape, seed, {-1, where}, type), where) / alpha;
  return {scale, meshloom::where({isSmall, where}, {boost, where}, {0, where})};
}

/// Sequential search of the distribution function, for rates up to 10.
Tensor poissonBySearch(const Tensor &rate, const Tensor &isValid,
                       const Tensor &seed, Where where) {
  struct State {
    Tensor count, part, sum;
  };
  Tensor u = unitOf(rate.shape(), seed, {0, where}, DType::F64);
  Tensor none = exp(-rate, where);
  State state{zeros(rate.shape(), DType::F64, where), none, none};
  auto goesOn = [&](const State &now) {
    // Far out the rest of the sum is less than what rounding left.
    return logical_and(
        {logical_and({isValid, where},
                     {greater_equal({u, where}, {now.sum, where}), where}),
         where},
        {greater({now.part, where}, {1e-30, where}), where});
  };
  state = while_loop(
      [&](const State &now) {
        return reduce_any(goesOn(now), Axis(), false, where);
      },
      [&](const State &now) {
        Tensor isOpen = goesOn(now);
        Tensor count = meshloom::where({isOpen, where}, {now.count + 1, where},
                                       {now.count, where});
        Tensor part = meshloom::where(
            {isOpen, where},
            {now.part * rate / maximum({count, where}, {1, where}), where},
            {now.part, where});
        return State{count, part,
                     meshloom::where({isOpen, where}, {now.sum + part, where},
                                     {now.sum, where})};
      },
      state, where);
  return state.count;
}

/// Hoermann's PTRS, for rates from 10 on.
Tensor poissonByRejection(const Tensor &rate, const Tensor &isValid,
                          const Tensor &seed, Where where) {
  const Shape shape = rate.shape();
  Tensor b = 0.931 + 2.53 * sqrt(rate, where), a = -0.059 + 0.02483 * b;
  Tensor inverseAlpha = 1.1239 + 1.1328 / (b - 3.4),
         inside = 0.9277 - 3.6224 / (b - 2);
  Tensor logRate = log(rate, where);
  return firstAccepted(
      isValid, DType::F64,
      [&](const Tensor &round) {
        Tensor now = fold_in(seed, round);
        Tensor u = unitOf(shape, now, {0, where}, DType::F64) - 0.5;
        Tensor v = unitOf(shape, now, {1, where}, DType::F64);
        Tensor us = 0.5 - abs(u, where);
        Tensor k = floor((2 * a / us + b) * u + rate + 0.43, where);
        Tensor isInside = (us >= 0.07) & (v <= inside);
        Tensor isOutside = (k < 0) | ((us < 0.013) & (v > us));
        Tensor height =
            log(v * inverseAlpha / (a / square(us, where) + b), where);
        Tensor isBelow = height <= k * logRate - rate - lgamma(k + 1, where);
        return std::pair(k,
                         isInside | (logical_not(isOutside, where) & isBelow));
      },
      where);
}

/// i64 [count]: which of the classes of `weights` [..., n] (not negative, f64)
/// a uniform number of each row of `units` [..., count] is in.
Tensor classesOf(const Tensor &weights, const Tensor &units,
                 std::string_view op, Where where) {
  const int64_t last = weights.rank() - 1;
  Tensor upTo = cumsum(weights, last, {}, where);
  Shape begin(weights.shape().size(), 0), size = weights.shape();
  begin.back() = size.back() - 1;
  size.back() = 1;
  Tensor sum = slice(upTo, begin, size, where);
  Tensor drawn = countBelow(op, upTo, units * sum, true, where);
  // Rounding may give the whole sum: then the last class that has a part of it.
  Tensor most = countBelow(op, upTo, sum, false, where);
  return minimum({drawn, where}, {most, where});
}

int64_t countIn(const Shape &shape) {
  return elementCount(shape);
}

} // namespace

Tensor stateless_bernoulli(Shape shape, const SeedLike &seed,
                           const TensorLike &p, Where where) {
  constexpr std::string_view op = "stateless_bernoulli";
  const CallName name(op);
  const CallSite site(where);
  const DType type = p.kind == TensorLike::Kind::Tensor && p.tensor.defined()
                         ? wideTypeOf(p.tensor.dtype())
                         : DType::F32;
  Tensor limit = parameterOf(p, "a probability", "in [0, 1]", isProbability,
                             type, shape, op, where);
  return less({stateless_uniform(shape, seed, 0, 1, type, where), where},
              {limit, where});
}

Tensor stateless_truncated_normal(Shape shape, const SeedLike &seed,
                                  double mean, double stddev, DType type,
                                  Where where) {
  constexpr std::string_view op = "stateless_truncated_normal";
  const CallName name(op);
  const CallSite site(where);
  expectNormal(type, mean, stddev, op, where);
  const double most = std::erf(std::numbers::sqrt2);
  Tensor u =
      stateless_uniform(shape, seed, -most, most, wideTypeOf(type), where);
  Tensor z = clip_by_value({std::numbers::sqrt2 * erfinv(u, where), where},
                           {-2, where}, {2, where});
  return cast(mean + stddev * z, type, where);
}

Tensor stateless_exponential(Shape shape, const SeedLike &seed,
                             const TensorLike &rate, DType type, Where where) {
  constexpr std::string_view op = "stateless_exponential";
  const CallName name(op);
  const CallSite site(where);
  expectFloatType(type, op, where);
  const DType wide = wideTypeOf(type);
  Tensor by = parameterOf(rate, "a rate", "that is finite and above 0",
                          isPositive, wide, shape, op, where);
  Tensor u = stateless_uniform(shape, seed, 0, 1, wide, where);
  Tensor drawn = -log1p(-u, where) / by;
  return cast(
      meshloom::where({by > 0, where}, {drawn, where},
                      {std::numeric_limits<double>::quiet_NaN(), where}),
      type, where);
}

Tensor stateless_gamma(Shape shape, const SeedLike &seed,
                       const TensorLike &alpha, const TensorLike &beta,
                       DType type, Where where) {
  constexpr std::string_view op = "stateless_gamma";
  const CallName name(op);
  const CallSite site(where);
  expectFloatType(type, op, where);
  const DType wide = wideTypeOf(type);
  Tensor form = parameterOf(alpha, "an alpha", "that is finite and above 0",
                            isPositive, wide, shape, op, where);
  Tensor rate = parameterOf(beta, "a beta", "that is finite and above 0",
                            isPositive, wide, shape, op, where);
  GammaParts parts = gammaParts(form, wordsOf(seed, 1, where), where);
  Tensor drawn = parts.scale * exp(parts.logBoost, where) / rate;
  return cast(
      meshloom::where({rate > 0, where}, {drawn, where},
                      {std::numeric_limits<double>::quiet_NaN(), where}),
      type, where);
}

Tensor stateless_beta(Shape shape, const SeedLike &seed, const TensorLike &a,
                      const TensorLike &b, DType type, Where where) {
  constexpr std::string_view op = "stateless_beta";
  const CallName name(op);
  const CallSite site(where);
  expectFloatType(type, op, where);
  const DType wide = wideTypeOf(type);
  auto logOf = [&](const TensorLike &form, std::string_view parameter,
                   int64_t part) {
    GammaParts parts =
        gammaParts(parameterOf(form, parameter, "that is finite and above 0",
                               isPositive, wide, shape, op, where),
                   wordsOf(seed, part, where), where);
    return log(parts.scale, where) + parts.logBoost;
  };
  // x / (x + y) of logarithms: both may be too small to be numbers.
  Tensor x = logOf(a, "an a", 1), y = logOf(b, "a b", 2);
  return cast(sigmoid(x - y, where), type, where);
}

Tensor stateless_poisson(Shape shape, const SeedLike &seed,
                         const TensorLike &rate, DType type, Where where) {
  constexpr std::string_view op = "stateless_poisson";
  const CallName name(op);
  const CallSite site(where);
  if (!isFloat(type) && type != DType::I32 && type != DType::I64)
    fail(op,
         fmt::format("expected type i32, i64 or a float type, got {}",
                     meshloom::name(type)),
         &where);
  // The logarithms of large rates need f64.
  Tensor mean = parameterOf(rate, "a rate", "that is finite and 0 or more",
                            isNotNegative, DType::F64, shape, op, where);
  Tensor isValid = is_finite(mean, where) & (mean >= 0);
  Tensor words = wordsOf(seed, 1, where);
  // An element that is not searched for, or not rejected, runs no loop.
  Tensor isSmall = mean < 10;
  Tensor searched = poissonBySearch(
      meshloom::where({isSmall & isValid, where}, {mean, where}, {0, where}),
      isSmall & isValid, words, where);
  Tensor isLarge = logical_not(isSmall, where) & isValid;
  Tensor rejected = poissonByRejection(
      meshloom::where({isLarge, where}, {mean, where}, {10, where}), isLarge,
      words, where);
  Tensor drawn =
      meshloom::where({isSmall, where}, {searched, where}, {rejected, where});
  if (isFloat(type))
    return cast(
        meshloom::where({isValid, where}, {drawn, where},
                        {std::numeric_limits<double>::quiet_NaN(), where}),
        type, where);
  return cast(meshloom::where({isValid, where}, {drawn, where}, {0, where}),
              type, where);
}

Tensor stateless_categorical(const Tensor &logits, int64_t num_samples,
                             const SeedLike &seed, DType type, Where where) {
  constexpr std::string_view op = "stateless_categorical";
  const CallName name(op);
  const CallSite site(where);
  expectFloat(logits, op, where);
  if (logits.rank() < 1 || logits.shape().back() < 1)
    fail(op,
         fmt::format("expected logits [batch..., classes] with at least one "
                     "class, got {}",
                     typeText(logits)),
         &where);
  if (num_samples < 0)
    fail(op, fmt::format("expected 0 samples or more, got {}", num_samples),
         &where);
  if (type != DType::I32 && type != DType::I64)
    fail(op,
         fmt::format("expected type i32 or i64, got {}", meshloom::name(type)),
         &where);
  Tensor wide = stop_gradient(cast(logits, DType::F64, where), where);
  Tensor top = reduce_max(wide, -1, true, where);
  Tensor weights = exp(wide - top, where);
  Shape shape = logits.shape();
  shape.back() = num_samples;
  Tensor units = stateless_uniform(shape, seed, 0, 1, DType::F64, where);
  return cast(classesOf(weights, units, op, where), type, where);
}

Tensor stateless_permutation(int64_t n, const SeedLike &seed, Where where) {
  constexpr std::string_view op = "stateless_permutation";
  const CallName name(op);
  const CallSite site(where);
  if (n < 0)
    fail(op, fmt::format("expected 0 numbers or more, got {}", n), &where);
  Tensor keys = bitcast(stateless_bits({n, 2}, seed, where), DType::I64, where);
  return argsort(keys, 0, false, DType::I64, where);
}

Tensor stateless_shuffle(const Tensor &x, const SeedLike &seed, int64_t axis,
                         Where where) {
  constexpr std::string_view op = "stateless_shuffle";
  const CallName name(op);
  const CallSite site(where);
  nodeOf(x, op, &where);
  axis = axisOf(axis, x.rank(), op, where);
  const int64_t n = x.shape()[size_t(axis)];
  return n < 2 ? x
               : gatherClamped(x, stateless_permutation(n, seed, where), axis,
                               where);
}

Tensor stateless_choice(int64_t n, Shape shape, const SeedLike &seed,
                        const ChoiceOptions &options, Where where) {
  constexpr std::string_view op = "stateless_choice";
  const CallName name(op);
  const CallSite site(where);
  checkShape(shape, op, where);
  const int64_t count = countIn(shape);
  if (n < 1 && count > 0)
    fail(op, fmt::format("expected something to choose from, got {}", n),
         &where);
  if (!options.replace && count > n)
    fail(op,
         fmt::format("expected at most {} without replacement, got {}", n,
                     shapeText(shape)),
         &where);
  if (count == 0)
    return zeros(shape, DType::I64, where);
  if (!options.p.defined()) {
    if (options.replace)
      return stateless_uniform(shape, seed, 0, double(n), DType::I64, where);
    Tensor order = stateless_permutation(n, seed, where);
    return reshape(slice(order, {0}, {count}, where), shape, where);
  }
  expectFloat(options.p, op, where);
  if (options.p.shape() != Shape{n})
    fail(op,
         fmt::format("expected a probability for each of {}, got {}", n,
                     typeText(options.p)),
         &where);
  Tensor p = stop_gradient(cast(options.p, DType::F64, where), where);
  if (options.replace) {
    Tensor units = stateless_uniform({count}, seed, 0, 1, DType::F64, where);
    return reshape(classesOf(p, units, op, where), shape, where);
  }
  // The largest of log p + Gumbel noise are drawn one after the other without
  // replacement (Vieira, "Gumbel-max trick and weighted reservoir sampling").
  Tensor u = stateless_uniform({n}, seed, 0, 1, DType::F64, where);
  Tensor keys = log(p, where) - log(-log(u, where), where);
  Tensor chosen = top_k(keys, count, where).indices;
  return reshape(cast(chosen, DType::I64, where), shape, where);
}

Tensor stateless_choice(const Tensor &x, Shape shape, const SeedLike &seed,
                        const ChoiceOptions &options, Where where) {
  constexpr std::string_view op = "stateless_choice";
  const CallName name(op);
  const CallSite site(where);
  if (nodeOf(x, op, &where).shape.empty())
    fail(op,
         fmt::format("expected a tensor with a first dim, got {}", typeText(x)),
         &where);
  Tensor rows = stateless_choice(x.shape()[0], shape, seed, options, where);
  if (rows.size() > 0)
    return gatherClamped(x, rows, 0, where);
  shape.insert(shape.end(), x.shape().begin() + 1, x.shape().end());
  return zeros(shape, x.dtype(), where);
}

//===----------------------------------------------------------------------===//
// Generator
//===----------------------------------------------------------------------===//

Generator Generator::from_seed(uint32_t seed, Where where) {
  return from_seed(Seed{seed, 0}, where);
}

Generator Generator::from_seed(Seed seed, Where where) {
  const CallName name("Generator");
  if (isTracing())
    fail("Generator",
         "expected to be made outside of a function, which would make one with "
         "the same numbers at each call",
         &where);
  Generator generator;
  VariableOptions options;
  options.name = "generator";
  options.trainable = false;
  generator.variable = DVariable(
      tensor({seed.first, seed.second, uint32_t(0)}, where), options, where);
  return generator;
}

Tensor Generator::make_seed(Where where) const {
  const CallName name("Generator");
  const CallSite site(where);
  if (!variable.defined())
    fail("Generator", "expected one that was made by Generator::from_seed",
         &where);
  Tensor state = variable.read_value(where);
  Tensor seed = slice(state, {0}, {2}, where);
  Tensor count = reshape(slice(state, {2}, {1}, where), {}, where);
  variable.assign_add({tensor({0u, 0u, 1u}, where), where});
  return fold_in(seed, {count, where});
}

Tensor Generator::uniform(Shape shape, double minval, double maxval, DType type,
                          Where where) const {
  return stateless_uniform(std::move(shape), make_seed(where), minval, maxval,
                           type, where);
}
Tensor Generator::normal(Shape shape, double mean, double stddev, DType type,
                         Where where) const {
  return stateless_normal(std::move(shape), make_seed(where), mean, stddev,
                          type, where);
}
Tensor Generator::truncated_normal(Shape shape, double mean, double stddev,
                                   DType type, Where where) const {
  return stateless_truncated_normal(std::move(shape), make_seed(where), mean,
                                    stddev, type, where);
}
Tensor Generator::bernoulli(Shape shape, const TensorLike &p,
                            Where where) const {
  return stateless_bernoulli(std::move(shape), make_seed(where), p, where);
}
Tensor Generator::exponential(Shape shape, const TensorLike &rate, DType type,
                              Where where) const {
  return stateless_exponential(std::move(shape), make_seed(where), rate, type,
                               where);
}
Tensor Generator::gamma(Shape shape, const TensorLike &alpha,
                        const TensorLike &beta, DType type, Where where) const {
  return stateless_gamma(std::move(shape), make_seed(where), alpha, beta, type,
                         where);
}
Tensor Generator::beta(Shape shape, const TensorLike &a, const TensorLike &b,
                       DType type, Where where) const {
  return stateless_beta(std::move(shape), make_seed(where), a, b, type, where);
}
Tensor Generator::poisson(Shape shape, const TensorLike &rate, DType type,
                          Where where) const {
  return stateless_poisson(std::move(shape), make_seed(where), rate, type,
                           where);
}
Tensor Generator::categorical(const Tensor &logits, int64_t num_samples,
                              DType type, Where where) const {
  return stateless_categorical(logits, num_samples, make_seed(where), type,
                               where);
}
Tensor Generator::permutation(int64_t n, Where where) const {
  return stateless_permutation(n, make_seed(where), where);
}
Tensor Generator::shuffle(const Tensor &x, int64_t axis, Where where) const {
  return stateless_shuffle(x, make_seed(where), axis, where);
}
Tensor Generator::choice(const Tensor &x, Shape shape,
                         const ChoiceOptions &options, Where where) const {
  return stateless_choice(x, std::move(shape), make_seed(where), options,
                          where);
}
Tensor Generator::choice(int64_t n, Shape shape, const ChoiceOptions &options,
                         Where where) const {
  return stateless_choice(n, std::move(shape), make_seed(where), options,
                          where);
}

} // namespace meshloom::random
