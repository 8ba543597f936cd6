// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the rules of Optimizers.h are made again from: their options by name.
#pragma once

#include "Numbers.h"

#include "meshloom/NN/Config.h"
#include "meshloom/NN/Optimizers.h"

#include <type_traits>

namespace meshloom::optimizers {

// Calls `f` with each number of the options' own formula, and its name.
template <typename F> void eachNumber(SGDOptions &o, F f) {
  f("momentum", o.momentum);
  f("nesterov", o.nesterov);
}
template <typename F> void eachNumber(AdamOptions &o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
  f("epsilon", o.epsilon);
  f("amsgrad", o.amsgrad);
}
template <typename F> void eachNumber(AdagradOptions &o, F f) {
  f("initial_accumulator_value", o.initial_accumulator_value);
  f("epsilon", o.epsilon);
}
template <typename F> void eachNumber(AdadeltaOptions &o, F f) {
  f("rho", o.rho);
  f("epsilon", o.epsilon);
}
template <typename F> void eachNumber(RMSpropOptions &o, F f) {
  f("rho", o.rho);
  f("momentum", o.momentum);
  f("epsilon", o.epsilon);
  f("centered", o.centered);
}
template <typename F> void eachNumber(AdamaxOptions &o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
  f("epsilon", o.epsilon);
}
template <typename F> void eachNumber(NadamOptions &o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
  f("epsilon", o.epsilon);
}
template <typename F> void eachNumber(FtrlOptions &o, F f) {
  f("learning_rate_power", o.learning_rate_power);
  f("initial_accumulator_value", o.initial_accumulator_value);
  f("l1_regularization_strength", o.l1_regularization_strength);
  f("l2_regularization_strength", o.l2_regularization_strength);
  f("l2_shrinkage_regularization_strength",
    o.l2_shrinkage_regularization_strength);
  f("beta", o.beta);
}
template <typename F> void eachNumber(LionOptions &o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
}
template <typename F> void eachNumber(LAMBOptions &o, F f) {
  f("beta_1", o.beta_1);
  f("beta_2", o.beta_2);
  f("epsilon", o.epsilon);
}
template <typename F> void eachNumber(AdafactorOptions &o, F f) {
  f("beta_2_decay", o.beta_2_decay);
  f("epsilon_1", o.epsilon_1);
  f("epsilon_2", o.epsilon_2);
  f("clip_threshold", o.clip_threshold);
  f("relative_step", o.relative_step);
}
template <typename F> void eachNumber(MuonOptions &o, F f) {
  f("momentum", o.momentum);
  f("nesterov", o.nesterov);
  f("ns_steps", o.ns_steps);
  f("muon_a", o.muon_a);
  f("muon_b", o.muon_b);
  f("muon_c", o.muon_c);
  f("rms_rate", o.rms_rate);
  f("adam_beta_1", o.adam_beta_1);
  f("adam_beta_2", o.adam_beta_2);
  f("epsilon", o.epsilon);
  f("adam_lr_ratio", o.adam_lr_ratio);
  f("exclude_embeddings", o.exclude_embeddings);
}
/// What all optimizers have.
template <typename F> void eachNumber(OptimizerOptions &o, F f) {
  f("weight_decay", o.weight_decay);
  f("clip_norm", o.clip_norm);
  f("global_clip_norm", o.global_clip_norm);
  f("clip_value", o.clip_value);
  f("ema_momentum", o.ema_momentum);
  f("ema_overwrite_frequency", o.ema_overwrite_frequency);
  f("gradient_accumulation_steps", o.gradient_accumulation_steps);
}

template <typename Options> Config numbersOf(Options options) {
  Config config{Config::Map()};
  eachNumber(options,
             [&](const char *name, auto number) { config[name] = number; });
  return config;
}
/// Those that the config has; others are as they are by default.
template <typename Options> Options optionsOf(const Config &config) {
  Options options;
  eachNumber(options, [&](const char *name, auto &number) {
    const Config *given = config.find(name);
    if (!given)
      return;
    using Number = std::remove_reference_t<decltype(number)>;
    if constexpr (std::is_same_v<Number, bool>)
      number = given->as_bool();
    else if constexpr (std::is_same_v<Number, int64_t>)
      number = given->as_int();
    else
      number = given->as_double();
  });
  return options;
}

/// Throws where a formula would divide by zero, or its averages grow without
/// end. The numbers of one name mean the same in all formulas.
inline void expectNumbers(const char *className, const Config &numbers) {
  using namespace detail;
  auto each = [&](std::initializer_list<const char *> options, auto expect) {
    for (const char *option : options)
      if (const Config *number = numbers.find(option))
        expect(className, option, number->as_double());
  };
  each({"momentum"}, expectShare);
  each({"beta_1", "beta_2", "rho", "adam_beta_1", "adam_beta_2"}, expectKept);
  each({"epsilon", "epsilon_1", "epsilon_2", "initial_accumulator_value",
        "l1_regularization_strength", "l2_regularization_strength",
        "l2_shrinkage_regularization_strength", "beta", "rms_rate",
        "adam_lr_ratio"},
       expectNotNegative);
  each({"clip_threshold", "ns_steps"}, expectMoreThan0);
  each({"beta_2_decay", "muon_a", "muon_b", "muon_c"}, expectFinite);
}

/// A rule of Optimizers.h.
template <typename Options> struct KnownRule : UpdateRule {
  KnownRule(const char *className, const Options &options)
      : className(className), numbers(numbersOf(options)) {
    expectNumbers(className, numbers);
  }
  std::string class_name() const override { return className; }
  Config get_config() const override { return numbers; }

private:
  const char *className;
  const Config numbers;
};

} // namespace meshloom::optimizers
