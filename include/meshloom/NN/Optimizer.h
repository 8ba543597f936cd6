// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizer: what all optimizers share. Optimizers.h has those that are known
// by name; a user's own is an UpdateRule.
#pragma once

#include "meshloom/API/GradientTape.h"
#include "meshloom/NN/Config.h"
#include "meshloom/NN/Schedules.h"

#include <functional>
#include <map>
#include <span>
#include <variant>

/// Optimizers, which update variables.
namespace meshloom::optimizers {

/// The line of a call, for messages and reports.
using Where = std::source_location;

/// A number that an optimizer uses. A double is part of the program that a
/// function is compiled to; a scalar variable, which the program reads, may be
/// assigned between steps without tracing again; a function computes it from
/// the number of the step, an f32 scalar that is 1 in the first one:
///
///   DVariable rate(tensor(1e-3f));
///   optimizers::Adam adam({.learning_rate = rate});
///   optimizers::SGD sgd({.learning_rate = [](const Tensor &step) {
///     return 0.1f / sqrt(step);
///   }});
class Hyperparameter {
public:
  /// Computes the number from that of the step.
  using Schedule = std::function<Tensor(const Tensor &step)>;
  /// A number that never changes.
  Hyperparameter(double number, Where where = Where::current())
      : value(number), where(where) {}
  /// The value that the variable has at each step.
  Hyperparameter(const DVariable &variable, Where where = Where::current())
      : value(variable), where(where) {}
  /// The result of the schedule for the number of steps before this one.
  Hyperparameter(const schedules::Schedule &schedule,
                 Where where = Where::current());
  /// The result of `schedule` for the number of the step.
  template <typename F>
    requires std::convertible_to<std::invoke_result_t<F &, const Tensor &>,
                                 Tensor>
  Hyperparameter(F schedule, Where where = Where::current())
      : value(Schedule(std::move(schedule))), where(where) {}

  /// Which of them it is.
  std::variant<double, DVariable, Schedule> value;
  /// The one that `value` computes, where it has a name or may have; else
  /// empty.
  schedules::Schedule schedule;
  Where where; ///< the line that errors name
};

/// By how much a loss is multiplied before its gradients are taken, and these
/// divided by after: so that small ones are not 0 in f16. A step whose
/// gradients are not all finite changes nothing.
struct LossScale {
  double initial = 0; ///< a power of 2; 0: losses are not scaled
  /// After so many finite steps the scale doubles, and after each other one it
  /// is halved; 0: it stays.
  int64_t growth_steps = 0;
};

/// The options of every optimizer beside its own rule, as Keras has them. In
/// each step gradients are averaged over the accumulated calls, then clipped;
/// then variables decay, then the rule changes them, then their averages
/// follow.
struct OptimizerOptions {
  /// In each step, variables lose learning_rate * weight_decay of themselves.
  double weight_decay = 0;
  /// Returns whether a variable decays (biases often should not); empty: all
  /// do.
  std::function<bool(const DVariable &)> decays = {};
  /// At most one of these three is given, a positive number. Every gradient is
  /// shortened to this length,
  double clip_norm = 0;
  /// all gradients together are,
  double global_clip_norm = 0;
  /// or every element is brought into [-clip_value, clip_value].
  double clip_value = 0;
  /// Keeps a running average of every variable: average = momentum * average +
  /// (1 - momentum) * variable; 0: none. See overwrite_with_averages.
  double ema_momentum = 0;
  /// Every so many steps variables become their averages; 0: never.
  int64_t ema_overwrite_frequency = 0;
  /// Variables change at every so many calls, by the mean of their gradients.
  int64_t gradient_accumulation_steps = 1;
  /// The layout of state (moments, averages) that has the shape of its
  /// variable; empty: the variable's. Cut over the batch's axis it is ZeRO's
  /// first stage:
  ///   .state_layout = [&](const DVariable &v) {
  ///     return Layout::batch_sharded(mesh, "batch", v.rank());
  ///   }
  std::function<Layout(const DVariable &)> state_layout = {};
  /// See Optimizer::scale_loss.
  LossScale loss_scale = {};
  Where where = Where::current(); ///< the line that errors name
};

/// The step that an optimizer is in.
class Step {
public:
  /// `number`: 1 in the first step, an i64 scalar.
  explicit Step(const Tensor &number) : count(number) {}
  /// Its number in a type of floats.
  Tensor number(DType type) const;
  /// base to the power of its number.
  Tensor power(double base, DType type) const;
  /// 1 / (1 - beta^number): what a running average that began with 0 is
  /// multiplied by. Computed in f32 for narrower types, as JAX and TensorFlow
  /// compute it.
  Tensor correction(double beta, DType type) const;

private:
  Tensor count;
  mutable std::map<std::pair<double, DType>, Tensor> corrections;
};

/// The gradient and the state from which an UpdateRule changes a variable.
struct Update {
  Tensor gradient;    ///< averaged and clipped
  DVariable variable; ///< already decayed
  /// The variable's state, in the order of UpdateRule::slots.
  std::span<const DVariable> slots;
  /// The learning rate, a number or a scalar of the variable's type.
  TensorLike rate;
  const Step &step; ///< has a number where the rule asks for one
};

/// How an optimizer changes one variable by its gradient. Your own optimizer
/// is an Optimizer of a class that derives from this:
///
///   struct SignDescent : optimizers::UpdateRule {
///     void update(const optimizers::Update &u) const override {
///       u.variable.assign_sub(u.rate * sign(u.gradient));
///     }
///   };
///   optimizers::Optimizer optimizer(std::make_shared<SignDescent>(), 1e-3);
class UpdateRule {
public:
  /// The type of configs, for classes that derive from this.
  using Config = nn::Config;
  /// A piece of a variable's state.
  struct Slot {
    std::string name; ///< its variable is called after it
    /// Its first value, of the variable's value.
    std::function<Tensor(const Tensor &value)> initial;
  };

  UpdateRule() = default;
  UpdateRule(const UpdateRule &) = delete;
  UpdateRule &operator=(const UpdateRule &) = delete;
  virtual ~UpdateRule() = default;
  /// The state that it keeps of a variable; none by default.
  virtual std::vector<Slot> slots(const DVariable &variable) const;
  /// Returns whether it asks for the number of the step. Steps are counted
  /// anyway.
  virtual bool usesStep() const { return false; }
  /// Assigns the variable and its slots.
  virtual void update(const Update &update) const = 0;
  /// The name that register_rule knows the rule by, for saving. By default
  /// empty: a saved model then has the optimizer's state, but not the
  /// optimizer.
  virtual std::string class_name() const { return ""; }
  /// The numbers from which it is made again; by default none.
  virtual nn::Config get_config() const;
};

/// Changes variables by their gradients. A copy is the same optimizer; one that
/// was moved from is empty, and its use throws meshloom::Error. State lies in
/// variables laid out like those of the model, made at the first call (in a
/// `function` too). May be used from any thread.
class Optimizer {
public:
  /// Throws meshloom::Error if `rule` is null, a number of `options` is
  /// negative, or two ways to clip are given.
  Optimizer(std::shared_ptr<const UpdateRule> rule,
            Hyperparameter learning_rate, OptimizerOptions options = {});

  /// One step. Throws meshloom::Error, naming the line of its caller, if there
  /// is no gradient, or if one has not its variable's type and shape.
  void apply_gradients(const Gradients &gradients,
                       Where where = Where::current()) const;
  /// With another learning rate, a number or a scalar, in this step.
  void apply_gradients(const Gradients &gradients,
                       const TensorLike &learning_rate) const;
  /// The loss times the scale of losses, of which gradients are then taken for
  /// apply_gradients; as it is where losses are not scaled.
  Tensor scale_loss(const Tensor &loss, Where where = Where::current()) const;
  /// The counters (of steps, and of calls where gradients are accumulated), the
  /// scale of losses, then each variable's state, in the order seen.
  std::vector<DVariable> variables() const;
  /// Makes the counters and the state of those variables now, as the first step
  /// would: a checkpoint is restored into them. Throws meshloom::Error if one
  /// is empty or of integers.
  void build(const std::vector<DVariable> &variables,
             Where where = Where::current()) const;
  /// A piece of state that is kept of a variable.
  struct SlotVariable {
    DVariable of;       ///< of the model
    std::string slot;   ///< UpdateRule::Slot's name, "average" or "gradients"
    DVariable variable; ///< the state
  };
  /// All of them, in the order seen; `variables` has them after the counters.
  std::vector<SlotVariable> slot_variables() const;
  /// The given rate, or the variable that set_learning_rate made of a number.
  const Hyperparameter &learning_rate() const;
  /// Its number now; of a schedule that of the next step.
  double current_learning_rate() const;
  /// Sets it, from the next step on. Throws meshloom::Error if a schedule
  /// computes it. A number that it was made with becomes a variable by the
  /// first call: functions that were traced before keep the number, those
  /// traced later are not traced again for other rates.
  void set_learning_rate(double rate, Where where = Where::current()) const;
  /// The number of steps so far, an i64 variable, which functions may read.
  /// Every optimizer counts from its first step on: calls that change variables
  /// (with gradient_accumulation_steps one of so many, with scaled losses those
  /// whose gradients are finite). Before the first step it lies on the default
  /// mesh, and comes to the mesh of the variables by the first step. Where a
  /// parameter server has the variables, ask in the scope of their strategy.
  DVariable iterations(Where where = Where::current()) const;
  /// Returns whether its rule, its averages or the schedule of its rate use the
  /// number of steps. In checkpoints of earlier versions others had no such
  /// number: those are restored without one.
  bool uses_iterations() const;
  /// The data from which it is made again: the rule's class and numbers, the
  /// learning rate (the present one of a variable; a schedule that has a name;
  /// nothing of a function), the options. Functions among the options, which
  /// are code, are not in it.
  nn::Config config() const;
  /// The optimizer of such a config, without state. Throws meshloom::Error if
  /// its class is not known (see register_rule), or if it had a function that
  /// computes the learning rate or says which variables decay.
  static Optimizer from_config(const nn::Config &config);
  /// For `function`: what tells this optimizer from others.
  std::shared_ptr<const void> shared_identity() const { return state; }
  /// Returns whether it keeps running averages of variables; see ema_momentum.
  bool keeps_averages() const;
  /// Returns whether variables are their running averages now, and the averages
  /// what the variables were; see swap_with_averages.
  bool is_swapped() const;
  /// Makes every variable that was updated its running average, as one does
  /// after training. Throws meshloom::Error where none is kept.
  void overwrite_with_averages(Where where = Where::current()) const;
  /// Exchanges variables that were updated with their running averages; a
  /// second call brings them back. No steps are to be taken between both.
  /// Throws meshloom::Error where no averages are kept.
  void swap_with_averages(Where where = Where::current()) const;

protected:
  /// The optimizer `inner`, which is not used any more, with scaled losses.
  Optimizer(const Optimizer &inner, const LossScale &scale);

private:
  struct State;
  void expectUsable(const char *function, const Where &where) const;
  State &withAverages(const char *function, const Where &where) const;
  std::shared_ptr<State> state;
};

/// Makes Optimizer::from_config know a rule of the user's own: `make` gets what
/// get_config gave. Throws meshloom::Error if the name is taken.
void register_rule(
    const std::string &class_name,
    std::function<std::shared_ptr<const UpdateRule>(const nn::Config &)> make);

} // namespace meshloom::optimizers
