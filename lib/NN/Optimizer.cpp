// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of all optimizers, see Optimizer.h.
#include "meshloom/NN/Optimizer.h"

#include "LossScaling.h"
#include "OptimizerChecks.h"
#include "OptimizerFields.h"

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/RemoteVariables.h"
#include "meshloom/API/Shards.h"
#include "meshloom/API/StatisticsOps.h"
#include "meshloom/Distribute/ReplicaContext.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace meshloom::optimizers {
namespace {

constexpr char applying[] = "apply_gradients";

/// A number on the mesh of `like`, or on the server that has it.
DVariable makeScalar(const std::string &name, double number, DType type,
                     const DVariable &like) {
  return init_scope([&] {
    const detail::ColocationScope beside(like);
    Tensor scalar = full({}, number, type);
    Tensor value = like.read_value();
    if (is_dtensor(value))
      scalar = copy_to_mesh(scalar, value.mesh());
    return DVariable(
        scalar, {.name = name, .trainable = false, .layout = std::nullopt});
  });
}
DVariable makeCounter(const std::string &name, const DVariable &like) {
  return makeScalar(name, 0, DType::I64, like);
}

Tensor zerosOf(const Tensor &value) {
  return zeros_like(value);
}
Tensor same(const Tensor &value) {
  return value;
}

/// In a replica the sums over all replicas, by the strategy's cross_device_ops:
/// then all of them change variables alike.
Gradients overReplicas(const Gradients &gradients, const Where &where) {
  const MaybeReplicaContext context = get_replica_context();
  if (!context || context->num_replicas_in_sync() == 1)
    return gradients;
  std::vector<Tensor> placed;
  placed.reserve(gradients.size());
  for (const VariableGradient &entry : gradients) {
    if (entry.variable.layout().mesh() != *context->strategy().mesh())
      nn::fail(applying,
               fmt::format("variable '{}' was not made in the scope of the {} "
                           "whose replica this is: make the model in its scope",
                           entry.variable.name(), context->strategy().name()),
               where);
    placed.push_back(entry.gradient);
  }
  const std::vector<Tensor> sums = context->all_reduce(ReduceOp::SUM, placed);
  Gradients summed = gradients;
  for (size_t i = 0; i < sums.size(); ++i)
    summed[i].gradient = sums[i];
  return summed;
}

} // namespace

nn::Config UpdateRule::get_config() const {
  return nn::Config::Map();
}

std::vector<UpdateRule::Slot> UpdateRule::slots(const DVariable &) const {
  return {};
}

struct Optimizer::State {
  using Slot = UpdateRule::Slot;
  /// The state that belongs to a variable of the model.
  struct Entry {
    DVariable of;
    /// The slots of the rule, then the average, then the sum of gradients,
    /// where there are such.
    std::vector<DVariable> slots;
    std::vector<std::string> names; ///< of the slots
  };

  std::vector<Slot> slotsOf(const DVariable &variable) const;
  const Entry &entry(const DVariable &variable);
  /// Makes what `apply` and checkpoints need of the variable.
  void build(const DVariable &variable);
  /// The number of steps, beside the variable where it is the first one.
  void buildStep(const DVariable &variable);
  void apply(Gradients gradients,
             const std::optional<TensorLike> &learning_rate,
             const Where &where);
  void accumulate(Gradients gradients,
                  const std::optional<TensorLike> &learning_rate);
  /// `when`: whether it is to happen, a bool scalar; empty: it is.
  void change(const Gradients &gradients,
              const std::optional<TensorLike> &learning_rate,
              const Tensor &when = {});
  Gradients clipped(const Gradients &gradients) const;
  TensorLike rate(const std::optional<TensorLike> &chosenRate) const;
  /// One variable, or a part of one, where it is. `number`: of the step.
  void changeOne(const DVariable &variable, const std::vector<DVariable> &slots,
                 const Tensor &gradient, const Step &now, const Tensor &number,
                 const TensorLike &learningRate, const Tensor &when);
  void average(const DVariable &of, const DVariable &average,
               const Tensor &number) const;

  void expectNoAccumulation(const Where &where) const;
  /// Returns whether another process holds it.
  static bool isElsewhere(const DVariable &variable) {
    return detail::remoteOf(variable) || !detail::partsOf(variable).empty();
  }
  bool accumulates() const { return options.gradient_accumulation_steps > 1; }
  bool averages() const { return options.ema_momentum > 0; }
  /// Follow what the rule keeps.
  const DVariable &averageOf(const std::vector<DVariable> &slots) const {
    return slots[slots.size() - (accumulates() ? 2 : 1)];
  }
  static const DVariable &sumOf(const Entry &entry) {
    return entry.slots.back();
  }
  bool usesStep() const {
    return rule->usesStep() || averages() ||
           std::holds_alternative<Hyperparameter::Schedule>(learningRate.value);
  }

  std::shared_ptr<const UpdateRule> rule;
  Hyperparameter learningRate;
  OptimizerOptions options;
  std::optional<DVariable> step, calls;
  /// Somebody asked for `step` before it was known where it counts.
  bool isStepEarly = false;
  std::optional<LossScaling> scaling;
  std::vector<Entry> table;
  /// Variables are their averages, and these what variables were.
  bool isSwapped = false;
  std::mutex mutex;
};

std::vector<UpdateRule::Slot>
Optimizer::State::slotsOf(const DVariable &variable) const {
  std::vector<Slot> slots = rule->slots(variable);
  if (averages())
    slots.push_back({"average", same});
  if (accumulates())
    slots.push_back({"gradients", zerosOf});
  return slots;
}

/// Made once, whoever asks first, also while a function is being traced.
const Optimizer::State::Entry &
Optimizer::State::entry(const DVariable &variable) {
  for (const Entry &entry : table)
    if (entry.of.is(variable))
      return entry;
  Entry entry{variable, {}, {}};
  for (const Slot &slot : slotsOf(variable)) {
    entry.names.push_back(slot.name);
    entry.slots.push_back(init_scope([&] {
      const detail::ColocationScope beside(variable);
      Tensor initial = slot.initial(variable.read_value());
      if (options.state_layout && initial.shape() == variable.shape())
        initial = relayout(initial, options.state_layout(variable));
      return DVariable(initial, {.name = variable.name() + "/" + slot.name,
                                 .trainable = false,
                                 .layout = std::nullopt});
    }));
  }
  return table.emplace_back(std::move(entry));
}

void Optimizer::State::buildStep(const DVariable &variable) {
  if (step && !std::exchange(isStepEarly, false))
    return;
  if (!step || detail::remoteOf(*step) || isElsewhere(variable)) {
    // One that a server has counts there, whichever server it is.
    if (!step || !detail::remoteOf(*step))
      step = makeCounter("step", variable);
    return;
  }
  init_scope([&] {
    if (const Tensor value = variable.read_value(); is_dtensor(value))
      step->set_layout(Layout::replicated(value.mesh(), 0));
  });
}

void Optimizer::State::build(const DVariable &variable) {
  buildStep(variable);
  if (accumulates() && !calls)
    calls = makeCounter("calls", variable);
  entry(variable);
}

void Optimizer::State::apply(Gradients gradients,
                             const std::optional<TensorLike> &learning_rate,
                             const Where &where) {
  detail::CallSite site(where);
  gradients = overReplicas(gradients, where);
  std::lock_guard lock(mutex);
  for (auto &[gradient, variable] : gradients)
    build(variable);
  if (isElsewhere(gradients.front().variable))
    expectNoAccumulation(where);
  if (!scaling)
    return accumulate(std::move(gradients), learning_rate);
  scaling->build(gradients.front().variable.read_value());
  gradients = scaling->unscaled(std::move(gradients));
  const Tensor finite = LossScaling::areFinite(gradients);
  if (isElsewhere(gradients.front().variable)) {
    // Where the variables are it is decided whether they change.
    change(gradients, learning_rate, finite);
    return scaling->follow(finite);
  }
  auto accumulateAll = [&] {
    accumulate(gradients, learning_rate);
    return std::vector<Tensor>();
  };
  if (detail::isTracing())
    cond(finite, accumulateAll, [] { return std::vector<Tensor>(); });
  else if (finite)
    accumulateAll();
  scaling->follow(finite);
}

void Optimizer::State::accumulate(
    Gradients gradients, const std::optional<TensorLike> &learning_rate) {
  if (!accumulates())
    return change(gradients, learning_rate);

  calls->assign_add(1);
  for (auto &[gradient, variable] : gradients)
    sumOf(entry(variable)).assign_add(gradient);
  const int64_t count = options.gradient_accumulation_steps;
  const Tensor isLast = equal(*calls % count, 0);
  auto changeByMeans = [&] {
    for (auto &[gradient, variable] : gradients)
      gradient = sumOf(entry(variable)) / double(count);
    change(gradients, learning_rate);
    for (auto &[gradient, variable] : gradients)
      sumOf(entry(variable)).assign(zeros_like(gradient));
    return std::vector<Tensor>();
  };
  if (detail::isTracing())
    cond(isLast, changeByMeans, [] { return std::vector<Tensor>(); });
  else if (isLast)
    changeByMeans();
}

void Optimizer::State::expectNoAccumulation(const Where &where) const {
  if (accumulates())
    nn::fail(
        applying,
        fmt::format("gradient_accumulation_steps of {} cannot be had with a "
                    "ParameterServerStrategy, whose workers do not wait for "
                    "each other, so that no step is the last one of a mean: "
                    "make batches larger instead",
                    options.gradient_accumulation_steps),
        where);
}

void Optimizer::State::change(const Gradients &gradients,
                              const std::optional<TensorLike> &learning_rate,
                              const Tensor &when) {
  if (when.defined())
    step->assign_add(cast(when, DType::I64));
  else
    step->assign_add(1);
  const Tensor number = usesStep() ? step->read_value() : Tensor();
  const Step now(number);
  const TensorLike learningRate = rate(learning_rate);
  for (auto &[gradient, variable] : clipped(gradients)) {
    const Entry &slotEntry = entry(variable);
    const std::vector<DVariable> parts = detail::partsOf(variable);
    if (parts.empty()) {
      changeOne(slotEntry.of, slotEntry.slots, gradient, now, number,
                learningRate, when);
      continue;
    }
    // Each where it is, with its part of the state.
    const std::vector<Tensor> rows =
        detail::rowsOfParts(gradient, parts, learningRate.where);
    for (size_t part = 0; part < parts.size(); ++part) {
      std::vector<DVariable> slots;
      for (const DVariable &slot : slotEntry.slots) {
        const std::vector<DVariable> slotParts = detail::partsOf(slot);
        if (slotParts.size() != parts.size())
          nn::fail(applying,
                   fmt::format("variable '{}' is in {} parts, and the "
                               "optimizer's '{}' is not: leave this variable "
                               "whole, or take another optimizer",
                               variable.name(), parts.size(), slot.name()),
                   learningRate.where);
        slots.push_back(slotParts[part]);
      }
      changeOne(parts[part], slots, rows[part], now, number, learningRate,
                when);
    }
  }
}

void Optimizer::State::changeOne(const DVariable &variable,
                                 const std::vector<DVariable> &slots,
                                 const Tensor &gradient, const Step &now,
                                 const Tensor &number,
                                 const TensorLike &learningRate,
                                 const Tensor &when) {
  std::vector<Tensor> operands = {gradient};
  if (learningRate.kind == TensorLike::Kind::Tensor)
    operands.push_back(learningRate.tensor);
  if (number.defined())
    operands.push_back(number);
  const size_t last = operands.size() - 1; // number's, where there is one
  if (when.defined())
    operands.push_back(when);
  const bool isHere = !detail::remoteOf(variable);
  auto body = [&](std::span<const Tensor> locals) {
    const Tensor stepNumber = number.defined() ? locals[last] : Tensor();
    // Corrections are computed once for all variables of a process.
    const Step there(stepNumber);
    // A number as it is, a scalar in the variable's type.
    const TensorLike rate =
        learningRate.kind == TensorLike::Kind::Tensor
            ? TensorLike(cast(locals[1], variable.dtype()), learningRate.where)
            : learningRate;
    if (options.weight_decay > 0 &&
        (!options.decays || options.decays(variable)))
      variable.assign_sub(variable * options.weight_decay * rate);
    rule->update(
        {locals[0], variable,
         std::span(slots).first(slots.size() - averages() - accumulates()),
         rate, isHere ? now : there});
    if (const auto &constraint = variable.constraint())
      variable.assign(constraint(variable));
    if (averages())
      average(variable, averageOf(slots), stepNumber);
    return std::vector<Tensor>();
  };
  detail::updateInPlace(variable, operands,
                        [&](std::span<const Tensor> locals) {
                          if (when.defined())
                            cond(
                                locals.back(), [&] { return body(locals); },
                                [] { return std::vector<Tensor>(); });
                          else
                            body(locals);
                        });
}

TensorLike
Optimizer::State::rate(const std::optional<TensorLike> &chosenRate) const {
  TensorLike rate = chosenRate ? *chosenRate : TensorLike(0);
  if (!chosenRate) {
    if (auto *number = std::get_if<double>(&learningRate.value))
      rate = TensorLike(*number);
    else if (auto *variable = std::get_if<DVariable>(&learningRate.value))
      rate = TensorLike(*variable);
    else
      rate = TensorLike(std::get<Hyperparameter::Schedule>(learningRate.value)(
          Step(step->read_value()).number(DType::F32)));
  }
  if (rate.kind == TensorLike::Kind::Tensor && !rate.tensor.defined())
    nn::fail(
        applying,
        "expected a learning rate, got an empty Tensor: a schedule returns "
        "the rate of the step that it is given",
        rate.where);
  if (rate.kind != TensorLike::Kind::Tensor)
    expectRate(rate.kind == TensorLike::Kind::Float ? rate.real
                                                    : double(rate.integer),
               applying, rate.where);
  if (rate.kind == TensorLike::Kind::Tensor && rate.tensor.rank() != 0)
    nn::fail(
        applying,
        fmt::format("expected a learning rate that is a number or a scalar, "
                    "got a tensor of rank {}",
                    rate.tensor.rank()),
        rate.where);
  return rate;
}

Gradients Optimizer::State::clipped(const Gradients &gradients) const {
  if (options.global_clip_norm > 0)
    return clip_by_global_norm(gradients, options.global_clip_norm).first;
  Gradients shorter = gradients;
  for (auto &[gradient, variable] : shorter)
    if (options.clip_norm > 0)
      gradient = clip_by_global_norm(std::vector{gradient}, options.clip_norm)
                     .first.front();
    else if (options.clip_value > 0)
      gradient =
          clip_by_value(gradient, -options.clip_value, options.clip_value);
  return shorter;
}

void Optimizer::State::average(const DVariable &of, const DVariable &average,
                               const Tensor &number) const {
  const Tensor value = of.read_value();
  const double momentum = options.ema_momentum;
  average.assign(where(equal(number, 1), value,
                       average * momentum + value * (1 - momentum)));
  if (options.ema_overwrite_frequency > 0)
    of.assign(where(equal(number % options.ema_overwrite_frequency, 0),
                    average.read_value(), value));
}

Optimizer::Optimizer(std::shared_ptr<const UpdateRule> rule,
                     Hyperparameter learning_rate, OptimizerOptions options) {
  detail::atLine(learning_rate.where, [&] {
    if (!rule)
      Error("[Optimizer] expected a rule, got a null pointer").raise();
    expectOptions(options);
    detail::atLine(options.where, [&] { expectRate(learning_rate); });
  });
  state = std::make_shared<State>(std::move(rule), std::move(learning_rate),
                                  std::move(options));
  if (state->options.loss_scale.initial != 0)
    state->scaling.emplace(state->options.loss_scale);
}

Optimizer::Optimizer(const Optimizer &inner, const LossScale &scale) {
  constexpr char function[] = "LossScaleOptimizer";
  if (!inner.state)
    Error(fmt::format("[{}] expected an optimizer, got one that was "
                      "moved from",
                      function),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  std::lock_guard lock(inner.state->mutex);
  if (inner.state->scaling)
    Error(fmt::format("[{}] the optimizer scales losses already", function),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  if (!inner.state->table.empty())
    Error(fmt::format("[{}] expected an optimizer that has taken no step",
                      function),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  OptimizerOptions options = inner.state->options;
  options.loss_scale = scale;
  *this = Optimizer(inner.state->rule, inner.state->learningRate,
                    std::move(options));
}

Tensor Optimizer::scale_loss(const Tensor &loss, Where where) const {
  expectUsable("scale_loss", where);
  if (!state->scaling)
    return loss;
  detail::CallSite site(where);
  std::lock_guard lock(state->mutex);
  state->scaling->build(loss);
  return state->scaling->scaled(loss);
}

void Optimizer::apply_gradients(const Gradients &gradients, Where where) const {
  expectUsable(applying, where);
  expectGradients(gradients, where);
  state->apply(gradients, std::nullopt, where);
}

void Optimizer::apply_gradients(const Gradients &gradients,
                                const TensorLike &learning_rate) const {
  expectUsable(applying, learning_rate.where);
  expectGradients(gradients, learning_rate.where);
  state->apply(gradients, learning_rate, learning_rate.where);
}

std::vector<DVariable> Optimizer::variables() const {
  if (!state)
    Error("[variables] expected an optimizer, got one that was moved "
          "from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  std::lock_guard lock(state->mutex);
  std::vector<DVariable> counters;
  for (const std::optional<DVariable> &counter : {state->step, state->calls})
    if (counter)
      counters.push_back(*counter);
  if (state->scaling)
    std::ranges::copy(state->scaling->variables(),
                      std::back_inserter(counters));
  for (const State::Entry &entry : state->table)
    counters.insert(counters.end(), entry.slots.begin(), entry.slots.end());
  return counters;
}

void Optimizer::build(const std::vector<DVariable> &variables,
                      Where where) const {
  constexpr char function[] = "build";
  expectUsable(function, where);
  for (const DVariable &variable : variables) {
    if (!variable.defined())
      nn::fail(function, "expected variables, got an empty DVariable", where);
    expectDifferentiable(variable, function, where);
  }
  detail::CallSite site(where);
  std::lock_guard lock(state->mutex);
  for (const DVariable &variable : variables)
    state->build(variable);
}

std::vector<Optimizer::SlotVariable> Optimizer::slot_variables() const {
  if (!state)
    Error("[slot_variables] expected an optimizer, got one that was "
          "moved from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  std::lock_guard lock(state->mutex);
  std::vector<SlotVariable> slots;
  for (const State::Entry &entry : state->table)
    for (size_t slot = 0; slot < entry.slots.size(); ++slot)
      slots.push_back({entry.of, entry.names[slot], entry.slots[slot]});
  return slots;
}

const Hyperparameter &Optimizer::learning_rate() const {
  if (!state)
    Error("[learning_rate] expected an optimizer, got one that was moved "
          "from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  return state->learningRate;
}

double Optimizer::current_learning_rate() const {
  if (!state)
    Error("[current_learning_rate] expected an optimizer, got one that "
          "was moved from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  std::lock_guard lock(state->mutex);
  const auto &value = state->learningRate.value;
  if (auto *number = std::get_if<double>(&value))
    return *number;
  auto read = [](const Tensor &rate) {
    return cast(rate, DType::F64).item<double>();
  };
  if (auto *variable = std::get_if<DVariable>(&value))
    return read(*variable);
  const Tensor next = state->step ? *state->step + 1 : tensor(int64_t(1));
  return read(
      std::get<Hyperparameter::Schedule>(value)(Step(next).number(DType::F32)));
}

void Optimizer::set_learning_rate(double rate, Where where) const {
  constexpr char function[] = "set_learning_rate";
  expectUsable(function, where);
  expectRate(rate, function, where);
  std::lock_guard lock(state->mutex);
  auto &value = state->learningRate.value;
  if (std::holds_alternative<Hyperparameter::Schedule>(value))
    nn::fail(
        function,
        "the learning rate is computed by a schedule: give the optimizer a "
        "number or a variable to set it",
        where);
  if (auto *variable = std::get_if<DVariable>(&value)) {
    init_scope([&] {
      variable->assign(cast(full({}, rate, DType::F64), variable->dtype()));
    });
    return;
  }
  // Before anything was made no program knows the number.
  if (state->table.empty())
    value = rate;
  else
    value = makeScalar(
        "learning_rate", rate,
        state->table.front().of.dtype() == DType::F64 ? DType::F64 : DType::F32,
        state->table.front().of);
}

DVariable Optimizer::iterations(Where where) const {
  constexpr char function[] = "iterations";
  expectUsable(function, where);
  std::lock_guard lock(state->mutex);
  if (!state->step) {
    state->isStepEarly = true;
    state->step = init_scope([] {
      return DVariable(
          tensor(int64_t(0)),
          {.name = "step", .trainable = false, .layout = std::nullopt});
    });
  }
  return *state->step;
}

bool Optimizer::uses_iterations() const {
  if (!state)
    Error("[uses_iterations] expected an optimizer, got one that was "
          "moved from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  return state->usesStep();
}

nn::Config Optimizer::config() const {
  if (!state)
    Error("[config] expected an optimizer, got one that was moved from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  nn::Config config;
  config["class_name"] = state->rule->class_name();
  config["config"] = state->rule->get_config();
  nn::Config &rate = config["learning_rate"];
  if (auto *number = std::get_if<double>(&state->learningRate.value))
    rate = *number;
  else if (auto *variable = std::get_if<DVariable>(&state->learningRate.value))
    rate = cast(variable->read_value(), DType::F64).item<double>();
  else if (const schedules::Schedule &schedule = state->learningRate.schedule;
           schedule && !schedule.name().empty())
    rate = detail::configOf(schedule);
  nn::Config &options = config["options"];
  options = detail::toConfig(state->options);
  options["decays"] = bool(state->options.decays);
  return config;
}

bool Optimizer::keeps_averages() const {
  return state && state->averages();
}

bool Optimizer::is_swapped() const {
  return state && state->isSwapped;
}

void Optimizer::expectUsable(const char *function, const Where &where) const {
  if (!state)
    nn::fail(function, "expected an optimizer, got one that was moved from",
             where);
}

Optimizer::State &Optimizer::withAverages(const char *function,
                                          const Where &where) const {
  expectUsable(function, where);
  if (!state->averages())
    nn::fail(function, "the optimizer keeps no averages: give it ema_momentum",
             where);
  return *state;
}

void Optimizer::overwrite_with_averages(Where where) const {
  State &averaged = withAverages("overwrite_with_averages", where);
  detail::CallSite site(where);
  std::lock_guard lock(averaged.mutex);
  const bool hasThem = std::exchange(averaged.isSwapped, false);
  for (const State::Entry &entry : averaged.table) {
    const DVariable &average = averaged.averageOf(entry.slots);
    if (hasThem)
      average.assign(entry.of.read_value());
    else
      entry.of.assign(average.read_value());
  }
}

void Optimizer::swap_with_averages(Where where) const {
  State &averaged = withAverages("swap_with_averages", where);
  detail::CallSite site(where);
  std::lock_guard lock(averaged.mutex);
  if (averaged.table.empty())
    return;
  averaged.isSwapped = !averaged.isSwapped;
  for (const State::Entry &entry : averaged.table) {
    const DVariable &average = averaged.averageOf(entry.slots);
    const Tensor value = entry.of.read_value();
    entry.of.assign(average.read_value());
    average.assign(value);
  }
}

} // namespace meshloom::optimizers
