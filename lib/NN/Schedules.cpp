// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Learning rates that follow the step, see Schedules.h.
#include "meshloom/NN/Schedules.h"

#include "Numbers.h"
#include "Parts.h"

#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace meshloom::schedules {
namespace {

using detail::Bound;
using detail::expectBound;

void expectDecay(std::string_view schedule, const DecayOptions &options) {
  expectBound(schedule, "initial_learning_rate", options.initial_learning_rate,
              Bound::Finite);
  expectBound(schedule, "decay_steps", options.decay_steps, Bound::MoreThan0);
  expectBound(schedule, "decay_rate", options.decay_rate, Bound::Finite);
}

/// Of `done`, from 0 to 1: from 1 to alpha.
Tensor wave(const Tensor &done, double alpha) {
  return (cos(done * std::numbers::pi) + 1) * (0.5 * (1 - alpha)) + alpha;
}

PartConfig configOf(const DecayOptions &options) {
  return {{"initial_learning_rate", options.initial_learning_rate},
          {"decay_steps", options.decay_steps},
          {"decay_rate", options.decay_rate},
          {"staircase", options.staircase}};
}

Tensor decays(const Tensor &step, const DecayOptions &options) {
  Tensor count = step / options.decay_steps;
  return options.staircase ? floor(count) : count;
}

Tensor polynomial(const Tensor &step, const PolynomialDecayOptions &options) {
  const double end = options.end_learning_rate, length = options.decay_steps;
  Tensor done = options.cycle
                    ? step / (maximum(ceil(step / length), 1) * length)
                    : minimum(step, length) / length;
  return pow(1 - done, options.power) * (options.initial_learning_rate - end) +
         end;
}

Tensor cosine(const Tensor &step, const CosineDecayOptions &options) {
  auto &[initial, length, alpha, target, warmup] = options;
  if (!target)
    return wave(minimum(step, length) / length, alpha) * initial;
  Tensor past = clip_by_value(step - warmup, 0, length) / length;
  Tensor falling = wave(past, alpha) * *target;
  if (warmup == 0)
    return falling;
  return where(step < warmup, step * ((*target - initial) / warmup) + initial,
               falling);
}

// Wave i begins at first (t_mul^i - 1) / (t_mul - 1).
Tensor restarts(const Tensor &step, const CosineDecayRestartsOptions &options) {
  auto &[initial, first, longer, higher, alpha] = options;
  Tensor count = step / first, index, done;
  if (longer == 1) {
    index = floor(count);
    done = count - index;
  } else {
    index = floor(log(1 - count * (1 - longer)) / std::log(longer));
    Tensor length = pow(longer, index);
    done = (count - (1 - length) / (1 - longer)) / length;
  }
  Tensor height = pow(higher, index);
  return ((cos(done * std::numbers::pi) + 1) * height * (0.5 * (1 - alpha)) +
          alpha) *
         initial;
}

} // namespace

Schedule ExponentialDecay(const DecayOptions &options) {
  expectDecay("exponential_decay", options);
  return Schedule("exponential_decay", configOf(options),
                  [options](const Tensor &step) {
                    return pow(options.decay_rate, decays(step, options)) *
                           options.initial_learning_rate;
                  });
}

Schedule InverseTimeDecay(const DecayOptions &options) {
  expectDecay("inverse_time_decay", options);
  return Schedule("inverse_time_decay", configOf(options),
                  [options](const Tensor &step) {
                    return options.initial_learning_rate /
                           (decays(step, options) * options.decay_rate + 1);
                  });
}

Schedule PiecewiseConstantDecay(const std::vector<int64_t> &boundaries,
                                const std::vector<double> &values) {
  constexpr std::string_view name = "piecewise_constant_decay";
  if (values.size() != boundaries.size() + 1)
    throw Error(fmt::format("[{}] expected one value more than boundaries, got "
                            "{} values and {} boundaries",
                            name, values.size(), boundaries.size()));
  for (double value : values)
    expectBound(name, "each of values", value, Bound::Finite);
  if (!std::ranges::is_sorted(boundaries, std::less_equal<>()))
    throw Error(fmt::format("[{}] expected boundaries that rise", name));
  return Schedule(
      std::string(name), {{"boundaries", boundaries}, {"values", values}},
      [boundaries, values](const Tensor &step) {
        Tensor rate = step * 0 + values.back();
        for (size_t i = boundaries.size(); i-- > 0;)
          rate = where(step <= double(boundaries[i]), values[i], rate);
        return rate;
      });
}

Schedule PolynomialDecay(const PolynomialDecayOptions &options) {
  constexpr std::string_view name = "polynomial_decay";
  expectBound(name, "initial_learning_rate", options.initial_learning_rate,
              Bound::Finite);
  expectBound(name, "decay_steps", options.decay_steps, Bound::MoreThan0);
  expectBound(name, "end_learning_rate", options.end_learning_rate,
              Bound::Finite);
  expectBound(name, "power", options.power, Bound::Finite);
  return Schedule(
      "polynomial_decay",
      {{"initial_learning_rate", options.initial_learning_rate},
       {"decay_steps", options.decay_steps},
       {"end_learning_rate", options.end_learning_rate},
       {"power", options.power},
       {"cycle", options.cycle}},
      [options](const Tensor &step) { return polynomial(step, options); });
}

Schedule CosineDecay(const CosineDecayOptions &options) {
  constexpr std::string_view name = "cosine_decay";
  expectBound(name, "initial_learning_rate", options.initial_learning_rate,
              Bound::Finite);
  expectBound(name, "decay_steps", options.decay_steps, Bound::MoreThan0);
  expectBound(name, "alpha", options.alpha, Bound::Finite);
  expectBound(name, "warmup_steps", options.warmup_steps, Bound::NotNegative);
  expectBound(name, "warmup_target", options.warmup_target.value_or(0),
              Bound::Finite);
  PartConfig config{{"initial_learning_rate", options.initial_learning_rate},
                    {"decay_steps", options.decay_steps},
                    {"alpha", options.alpha},
                    {"warmup_steps", options.warmup_steps}};
  if (options.warmup_target)
    config["warmup_target"] = *options.warmup_target;
  else if (options.warmup_steps > 0)
    throw Error("[cosine_decay] warmup_steps need a warmup_target, the rate "
                "that they lead to");
  return Schedule(
      "cosine_decay", std::move(config),
      [options](const Tensor &step) { return cosine(step, options); });
}

Schedule CosineDecayRestarts(const CosineDecayRestartsOptions &options) {
  constexpr std::string_view name = "cosine_decay_restarts";
  expectBound(name, "initial_learning_rate", options.initial_learning_rate,
              Bound::Finite);
  expectBound(name, "first_decay_steps", options.first_decay_steps,
              Bound::MoreThan0);
  expectBound(name, "t_mul", options.t_mul, Bound::MoreThan0);
  expectBound(name, "m_mul", options.m_mul, Bound::Finite);
  expectBound(name, "alpha", options.alpha, Bound::Finite);
  return Schedule(
      "cosine_decay_restarts",
      {{"initial_learning_rate", options.initial_learning_rate},
       {"first_decay_steps", options.first_decay_steps},
       {"t_mul", options.t_mul},
       {"m_mul", options.m_mul},
       {"alpha", options.alpha}},
      [options](const Tensor &step) { return restarts(step, options); });
}

} // namespace meshloom::schedules

namespace meshloom {

using schedules::Schedule;

namespace {
using Reader = detail::ConfigReader;

schedules::DecayOptions decayOf(Reader &from) {
  return {.initial_learning_rate = from.number("initial_learning_rate", 0),
          .decay_steps = from.number("decay_steps", 0),
          .decay_rate = from.number("decay_rate", 0),
          .staircase = from.flag("staircase", false)};
}

Schedule cosineOf(Reader &from) {
  schedules::CosineDecayOptions options{
      .initial_learning_rate = from.number("initial_learning_rate", 0),
      .decay_steps = from.number("decay_steps", 0),
      .alpha = from.number("alpha", 0),
      .warmup_target = std::nullopt,
      .warmup_steps = from.number("warmup_steps", 0)};
  if (from.has("warmup_target"))
    options.warmup_target = from.number("warmup_target", 0);
  return schedules::CosineDecay(options);
}
} // namespace

template <>
detail::Names<std::function<Schedule(const PartConfig &)>> &
knownParts<Schedule>() {
  using namespace schedules;
  constexpr auto part = knownPart<Schedule>;
  static auto &known =
      *new detail::Names<std::function<Schedule(const PartConfig &)>>(
          "a schedule",
          {part("exponential_decay",
                [](Reader &from) { return ExponentialDecay(decayOf(from)); }),
           part("inverse_time_decay",
                [](Reader &from) { return InverseTimeDecay(decayOf(from)); }),
           part("piecewise_constant_decay",
                [](Reader &from) {
                  return PiecewiseConstantDecay(from.integers("boundaries", {}),
                                                from.numbers("values", {}));
                }),
           part("polynomial_decay",
                [](Reader &from) {
                  return PolynomialDecay(
                      {.initial_learning_rate =
                           from.number("initial_learning_rate", 0),
                       .decay_steps = from.number("decay_steps", 0),
                       .end_learning_rate =
                           from.number("end_learning_rate", 1e-4),
                       .power = from.number("power", 1),
                       .cycle = from.flag("cycle", false)});
                }),
           part("cosine_decay", cosineOf),
           part("cosine_decay_restarts", [](Reader &from) {
             return CosineDecayRestarts(
                 {.initial_learning_rate =
                      from.number("initial_learning_rate", 0),
                  .first_decay_steps = from.number("first_decay_steps", 0),
                  .t_mul = from.number("t_mul", 2),
                  .m_mul = from.number("m_mul", 1),
                  .alpha = from.number("alpha", 0)});
           })});
  return known;
}

template class NamedPart<Schedule, Tensor(const Tensor &)>;

} // namespace meshloom
