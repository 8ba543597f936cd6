// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Learning rates that follow the step, see Schedules.h.
#include "meshloom/NN/Schedules.h"

#include "RegisteredParts.h"

#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace meshloom::schedules {

using detail::Bound;

template <typename F> void fields(F &field, DecayOptions &o) {
  field("initial_learning_rate", o.initial_learning_rate, Bound::NotNegative);
  field("decay_steps", o.decay_steps, Bound::MoreThan0);
  field("decay_rate", o.decay_rate, Bound::NotNegative);
  field("staircase", o.staircase);
}
template <typename F> void fields(F &field, PolynomialDecayOptions &o) {
  field("initial_learning_rate", o.initial_learning_rate, Bound::NotNegative);
  field("decay_steps", o.decay_steps, Bound::MoreThan0);
  field("end_learning_rate", o.end_learning_rate, Bound::NotNegative);
  field("power", o.power, Bound::NotNegative);
  field("cycle", o.cycle);
}
template <typename F> void fields(F &field, CosineDecayOptions &o) {
  field("initial_learning_rate", o.initial_learning_rate, Bound::NotNegative);
  field("decay_steps", o.decay_steps, Bound::MoreThan0);
  field("alpha", o.alpha, Bound::NotNegative);
  field("warmup_target", o.warmup_target, Bound::NotNegative);
  field("warmup_steps", o.warmup_steps, Bound::NotNegative);
}
template <typename F> void fields(F &field, CosineDecayRestartsOptions &o) {
  field("initial_learning_rate", o.initial_learning_rate, Bound::NotNegative);
  field("first_decay_steps", o.first_decay_steps, Bound::MoreThan0);
  field("t_mul", o.t_mul, Bound::AtLeast1);
  field("m_mul", o.m_mul, Bound::NotNegative);
  field("alpha", o.alpha, Bound::NotNegative);
}

namespace {

struct PiecewiseOptions {
  std::vector<int64_t> boundaries;
  std::vector<double> values;
  Where where = {};
};
template <typename F> void fields(F &field, PiecewiseOptions &o) {
  field("boundaries", o.boundaries, Bound::NotNegative);
  field("values", o.values, Bound::NotNegative);
}

/// Returns half a cosine wave: from 1 to alpha, as `done` goes from 0 to 1.
Tensor wave(const Tensor &done, double alpha) {
  return (cos(done * std::numbers::pi) + 1) * (0.5 * (1 - alpha)) + alpha;
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
  auto &[initial, length, alpha, target, warmup, line] = options;
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
  auto &[initial, first, longer, higher, alpha, line] = options;
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

Schedule piecewiseOf(const PiecewiseOptions &options) {
  constexpr const char *name = "piecewise_constant_decay";
  detail::atLine(options.where, [&] {
    const auto &[boundaries, values, where] = options;
    if (values.size() != boundaries.size() + 1)
      Error(fmt::format("[{}] expected one value more than boundaries, got "
                        "{} values and {} boundaries",
                        name, values.size(), boundaries.size()))
          .raise();
    if (!std::ranges::is_sorted(boundaries, std::less_equal<>()))
      Error(fmt::format("[{}] expected boundaries that rise", name)).raise();
  });
  return makePart<Schedule>(name, options, [options](const Tensor &step) {
    Tensor rate = step * 0 + options.values.back();
    for (size_t i = options.boundaries.size(); i-- > 0;)
      rate =
          where(step <= double(options.boundaries[i]), options.values[i], rate);
    return rate;
  });
}

} // namespace

Schedule ExponentialDecay(const DecayOptions &options) {
  return makePart<Schedule>(
      "exponential_decay", options, [options](const Tensor &step) {
        return pow(options.decay_rate, decays(step, options)) *
               options.initial_learning_rate;
      });
}

Schedule InverseTimeDecay(const DecayOptions &options) {
  return makePart<Schedule>(
      "inverse_time_decay", options, [options](const Tensor &step) {
        return options.initial_learning_rate /
               (decays(step, options) * options.decay_rate + 1);
      });
}

Schedule PiecewiseConstantDecay(const std::vector<int64_t> &boundaries,
                                const std::vector<double> &values,
                                Where where) {
  return piecewiseOf({boundaries, values, where});
}

Schedule PolynomialDecay(const PolynomialDecayOptions &options) {
  return makePart<Schedule>(
      "polynomial_decay", options,
      [options](const Tensor &step) { return polynomial(step, options); });
}

Schedule CosineDecay(const CosineDecayOptions &options) {
  detail::atLine(options.where, [&] {
    if (options.warmup_steps > 0 && !options.warmup_target)
      Error("[cosine_decay] warmup_steps need a warmup_target, the rate "
            "that they lead to")
          .raise();
  });
  return makePart<Schedule>(
      "cosine_decay", options,
      [options](const Tensor &step) { return cosine(step, options); });
}

Schedule CosineDecayRestarts(const CosineDecayRestartsOptions &options) {
  return makePart<Schedule>(
      "cosine_decay_restarts", options,
      [options](const Tensor &step) { return restarts(step, options); });
}

} // namespace meshloom::schedules

namespace meshloom {

using schedules::Schedule;

template <>
detail::Names<std::function<Schedule(const nn::Config &)>> &
registeredParts<Schedule>() {
  using namespace schedules;
  static auto &registry =
      *new detail::Names<std::function<Schedule(const nn::Config &)>>(
          "a schedule",
          {registeredPart<Schedule, DecayOptions>("exponential_decay",
                                                  ExponentialDecay),
           registeredPart<Schedule, DecayOptions>("inverse_time_decay",
                                                  InverseTimeDecay),
           registeredPart<Schedule, PiecewiseOptions>(
               "piecewise_constant_decay", piecewiseOf),
           registeredPart<Schedule, PolynomialDecayOptions>("polynomial_decay",
                                                            PolynomialDecay),
           registeredPart<Schedule, CosineDecayOptions>("cosine_decay",
                                                        CosineDecay),
           registeredPart<Schedule, CosineDecayRestartsOptions>(
               "cosine_decay_restarts", CosineDecayRestarts)});
  return registry;
}

template class NamedPart<Schedule, Tensor(const Tensor &)>;

} // namespace meshloom
