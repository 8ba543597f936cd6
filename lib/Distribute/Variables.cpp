// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables made in the scope of a strategy: how replicas and what is around
// them read and assign them.
#include "StrategyState.h"
#include "meshloom/Distribute/ReplicaContext.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

namespace meshloom::detail {
namespace {

/// The initial value, replicated on the strategy's devices where it has no
/// place yet.
Tensor placed(const StrategyState &strategy, const Tensor &initial,
              const VariableOptions &options) {
  if (!initial.defined() || initial.is_traced())
    return initial; // DVariable says what is wrong
  auto expectMesh = [&](const Mesh &mesh, std::string_view of) {
    if (mesh != *strategy.mesh)
      fail("DVariable",
           fmt::format("expected {} on the mesh of the strategy in whose "
                       "scope the variable{} is made, {}, got one on another "
                       "mesh: bring the value there with copy_to_mesh, or "
                       "make the variable outside of the scope",
                       of,
                       options.name.empty() ? "" : " '" + options.name + "'",
                       textOf(strategy)));
  };
  if (options.layout && options.layout->defined())
    expectMesh(options.layout->mesh(), "a layout");
  if (is_dtensor(initial)) {
    expectMesh(initial.mesh(), "an initial value");
    return initial;
  }
  return options.layout ? initial
                        : copy_to_mesh(ofFirstProcess(initial), *strategy.mesh);
}

/// `value` outside of traces as a tensor of the variable's type, on its mesh.
Tensor tensorOf(const TensorLike &value, const DVariable &variable) {
  if (value.kind == TensorLike::Kind::Tensor)
    return value.tensor;
  const Tensor number = value.kind == TensorLike::Kind::Float
                            ? tensor(value.real)
                            : tensor(value.integer);
  return broadcast_to(cast(number, variable.dtype()), variable.shape());
}

/// The common part of variables of all strategies: they know theirs.
class StrategyVariable : public VariablePolicy {
public:
  explicit StrategyVariable(std::shared_ptr<const StrategyState> strategy)
      : strategy(std::move(strategy)) {}

  void print(std::ostream &out, const DVariable &variable) const override {
    out << kind() << ":{";
    const std::vector<Tensor> values = copies(variable);
    for (size_t replica = 0; replica < values.size(); ++replica)
      out << (replica ? "," : "") << "\n  "
          << strategy->firstLocalReplica() + int64_t(replica) << ": variable '"
          << variable.name() << "' on "
          << DeviceSpec(meshOfCopies().local_devices()[replica]) << " "
          << values[replica];
    out << "\n}";
  }

protected:
  virtual const char *kind() const = 0;
  /// Each of `copies` is on one of its devices.
  virtual const Mesh &meshOfCopies() const { return *strategy->mesh; }
  /// The value of each replica, outside of them.
  virtual std::vector<Tensor> copies(const DVariable &variable) const = 0;

  /// Returns whether this thread runs a replica, whose trace is not left for a
  /// while.
  bool inReplica() const {
    return currentFrame().inReplica && isTracing() && isMappedAxis(replicaAxis);
  }

  /// Throws where another strategy is in use.
  void expectThisStrategy(const DVariable &variable, std::string_view op,
                          const std::source_location &where) const {
    const StrategyFrame now = currentFrame();
    if (now.strategy != strategy &&
        now.strategy->kind != StrategyState::Kind::Default)
      fail(op,
           fmt::format("variable '{}' was made in the scope of {} and is "
                       "used in that of {}: make it in the scope of the "
                       "strategy that uses it",
                       variable.name(), textOf(*strategy),
                       textOf(*now.strategy)),
           &where);
  }

  /// Returns the value, in a replica, that all replicas' values of an update
  /// become.
  TensorLike aggregated(const DVariable &variable, std::string_view op,
                        const TensorLike &value) const {
    // A number is the same in all replicas, and taken as it is.
    if (value.kind != TensorLike::Kind::Tensor)
      return value;
    return {aggregated(variable, op, value.tensor, value.where), value.where};
  }
  Tensor aggregated(const DVariable &variable, std::string_view op,
                    const Tensor &value,
                    const std::source_location &where) const {
    const VariableAggregation aggregation = variable.aggregation();
    switch (aggregation) {
    case VariableAggregation::NONE:
      return value; // where replicas have different ones that is refused
    case VariableAggregation::ONLY_FIRST_REPLICA:
      return ofFirst(value);
    case VariableAggregation::MEAN:
      if (!isFloat(variable.dtype()) && !isComplex(variable.dtype()))
        fail(op,
             fmt::format("expected a variable of floats to take the mean of "
                         "replicas' values, got '{}' of {}: aggregate by SUM "
                         "or ONLY_FIRST_REPLICA",
                         variable.name(), meshloom::name(variable.dtype())),
             &where);
      break;
    case VariableAggregation::SUM:
      break;
    }
    return reduceInReplicas(*strategy,
                            aggregation == VariableAggregation::SUM
                                ? ReduceOp::SUM
                                : ReduceOp::MEAN,
                            {value})
        .front();
  }
  /// Replica 0's.
  Tensor ofFirst(const Tensor &value) const {
    const ReplicaValue stacked = stackReplicas(*strategy, value);
    const std::vector<ReplicaRows> rows = {stacked.rows};
    return ofReplica({&stacked.value, 1}, rows, strategy->replicas(), 0)
        .front();
  }

  std::shared_ptr<const StrategyState> strategy;
};

/// One value, the same for all replicas, on all devices.
class MirroredVariable : public StrategyVariable {
public:
  using StrategyVariable::StrategyVariable;

  Tensor read(const DVariable &variable,
              std::source_location where) const override {
    expectThisStrategy(variable, "read_value", where);
    return valueOf(variable, where);
  }

  void assign(const DVariable &variable, VariableUpdate update,
              const TensorLike &value) const override {
    expectThisStrategy(variable, name(update), value.where);
    store(variable, update,
          inReplica() ? aggregated(variable, name(update), value) : value);
  }

  void scatter(const DVariable &variable, RowUpdate update,
               const Tensor &indices, const Tensor &updates,
               std::source_location where) const override {
    expectThisStrategy(variable, name(update), where);
    CallSite site(where);
    if (!inReplica() || variable.aggregation() == VariableAggregation::NONE)
      return storeRows(variable, update, indices, updates, where);
    if (variable.aggregation() == VariableAggregation::ONLY_FIRST_REPLICA)
      return storeRows(variable, update, ofFirst(indices), ofFirst(updates),
                       where);
    if (update != RowUpdate::Add && update != RowUpdate::Subtract)
      fail(name(update),
           fmt::format("rows that replicas change of variable '{}' cannot be "
                       "aggregated by {}: aggregate by NONE or "
                       "ONLY_FIRST_REPLICA",
                       variable.name(),
                       variable.aggregation() == VariableAggregation::SUM
                           ? "SUM"
                           : "MEAN"),
           &where);
    const Tensor change = scattered(zeros(variable.shape(), variable.dtype()),
                                    RowUpdate::Add, indices, updates, where);
    store(variable,
          update == RowUpdate::Add ? VariableUpdate::Add
                                   : VariableUpdate::Subtract,
          {aggregated(variable, name(update), change, where), where});
  }

protected:
  const char *kind() const override { return "MirroredVariable"; }
  std::vector<Tensor> copies(const DVariable &variable) const override {
    std::vector<Tensor> values;
    const Tensor value = valueOf(variable, std::source_location::current());
    return is_dtensor(value) ? unpack(value) : std::vector{value};
  }
  virtual Tensor valueOf(const DVariable &variable,
                         std::source_location where) const {
    return readStored(variable, where);
  }
  virtual void store(const DVariable &variable, VariableUpdate update,
                     const TensorLike &value) const {
    assignStored(variable, update, value);
  }
  virtual void storeRows(const DVariable &variable, RowUpdate update,
                         const Tensor &indices, const Tensor &updates,
                         std::source_location where) const {
    scatterStored(variable, update, indices, updates, where);
  }
};

/// One value, on a device that computes nothing: replicas find it on all of
/// theirs while they use it.
class FarCentralVariable : public MirroredVariable {
public:
  using MirroredVariable::MirroredVariable;

protected:
  const char *kind() const override { return "CentralVariable"; }
  const Mesh &meshOfCopies() const override { return *strategy->parameterMesh; }
  std::vector<Tensor> copies(const DVariable &variable) const override {
    return {MirroredVariable::copies(variable).front()};
  }
};

/// One value, on the first device: what is stored is [1, ...], cut over the
/// replicas, so that the others hold nothing.
class CentralVariable : public MirroredVariable {
public:
  CentralVariable(std::shared_ptr<const StrategyState> strategy, Shape shape)
      : MirroredVariable(std::move(strategy)), seen(std::move(shape)),
        everywhere(
            Layout::replicated(*this->strategy->mesh, unsigned(seen.size()))) {}

  const Shape *shape() const override { return &seen; }
  const Layout *layout() const override { return &everywhere; }

protected:
  const char *kind() const override { return "CentralVariable"; }
  std::vector<Tensor> copies(const DVariable &variable) const override {
    return {MirroredVariable::copies(variable).front()};
  }
  Tensor valueOf(const DVariable &variable,
                 std::source_location where) const override {
    return relayout(reshape(readStored(variable, where), seen, where),
                    everywhere, where);
  }
  void store(const DVariable &variable, VariableUpdate update,
             const TensorLike &value) const override {
    if (value.kind != TensorLike::Kind::Tensor)
      return assignStored(variable, update, value);
    if (value.tensor.shape() != seen)
      fail(name(update),
           fmt::format("expected shape [{}] for variable '{}', got [{}]",
                       fmt::join(seen, ", "), variable.name(),
                       fmt::join(value.tensor.shape(), ", ")),
           &value.where);
    assignStored(variable, update,
                 {expand_dims(value.tensor, 0, value.where), value.where});
  }
  void storeRows(const DVariable &variable, RowUpdate update,
                 const Tensor &indices, const Tensor &updates,
                 std::source_location where) const override {
    store(variable, VariableUpdate::Assign,
          {scattered(valueOf(variable, where), update, indices, updates, where),
           where});
  }

private:
  Shape seen;
  Layout everywhere;
};

/// A value of each replica's own, [replicas, ...], which become one where they
/// are read outside of replicas.
class SyncOnReadVariable : public StrategyVariable {
public:
  SyncOnReadVariable(std::shared_ptr<const StrategyState> strategy, Shape shape)
      : StrategyVariable(std::move(strategy)), seen(std::move(shape)),
        everywhere(
            Layout::replicated(*this->strategy->mesh, unsigned(seen.size()))) {}

  const Shape *shape() const override { return &seen; }
  const Layout *layout() const override { return &everywhere; }

  Tensor read(const DVariable &variable,
              std::source_location where) const override {
    expectThisStrategy(variable, "read_value", where);
    const Tensor stored = readStored(variable, where);
    if (inReplica())
      return localReplica(*strategy, ReplicaValue{stored, true, {}});
    switch (variable.aggregation()) {
    case VariableAggregation::SUM:
      return reduce_sum(stored, {0}, false, where);
    case VariableAggregation::MEAN:
      return reduce_mean(stored, {0}, false, where);
    case VariableAggregation::ONLY_FIRST_REPLICA:
      return ofReplica({&stored, 1}, {}, strategy->replicas(), 0).front();
    case VariableAggregation::NONE:
      break;
    }
    fail("read_value",
         fmt::format("variable '{}' has a value of each replica's own and no "
                     "way to make them one: read it in a replica, or make it "
                     "with an aggregation (SUM, MEAN, ONLY_FIRST_REPLICA)",
                     variable.name()),
         &where);
  }

  void assign(const DVariable &variable, VariableUpdate update,
              const TensorLike &value) const override {
    expectThisStrategy(variable, name(update), value.where);
    CallSite site(value.where);
    const Tensor newValue = tensorOf(value, variable);
    if (newValue.shape() != seen || newValue.dtype() != variable.dtype())
      fail(name(update),
           fmt::format("expected {} [{}] for variable '{}', got {} [{}]",
                       meshloom::name(variable.dtype()), fmt::join(seen, ", "),
                       variable.name(), meshloom::name(newValue.dtype()),
                       fmt::join(newValue.shape(), ", ")),
           &value.where);
    const bool isSum = variable.aggregation() == VariableAggregation::SUM;
    Tensor stacked;
    if (inReplica()) {
      stacked = stackAlike(*strategy, newValue).value;
    } else if (isSum && update != VariableUpdate::Assign) {
      fail(name(update),
           fmt::format("variable '{}' is the sum of the replicas' values, so "
                       "it is not clear which of them would change: assign the "
                       "new sum, or change the values in the replicas",
                       variable.name()),
           &value.where);
    } else {
      // Their sum is what was assigned.
      const Tensor share = isSum ? cast(newValue / double(strategy->replicas()),
                                        variable.dtype())
                                 : newValue;
      Shape stackedShape = seen;
      stackedShape.insert(stackedShape.begin(), strategy->replicas());
      stacked = broadcast_to(share, stackedShape);
    }
    assignStored(variable, update, {stacked, value.where});
  }

  void scatter(const DVariable &variable, RowUpdate update, const Tensor &,
               const Tensor &, std::source_location where) const override {
    fail(name(update),
         fmt::format("variable '{}' is made one when it is read, and rows of "
                     "such variables cannot be changed: assign the whole "
                     "value",
                     variable.name()),
         &where);
  }

protected:
  const char *kind() const override { return "SyncOnReadVariable"; }
  std::vector<Tensor> copies(const DVariable &variable) const override {
    const Tensor stored = readStored(variable, std::source_location::current());
    std::vector<Tensor> values;
    for (const Tensor &part : unpack(stored))
      values.push_back(reshape(part, seen));
    return values;
  }

private:
  Shape seen;
  Layout everywhere;
};

/// [count, ...] over the replicas, of which each of `count` has the value.
Tensor cutOverReplicas(const StrategyState &strategy, const Tensor &value,
                       int64_t count) {
  Shape shape = value.shape();
  shape.insert(shape.begin(), count);
  const Tensor stacked = broadcast_to(value, shape);
  return relayout(stacked, Layout::batch_sharded(*strategy.mesh, replicaAxis,
                                                 unsigned(shape.size())));
}

} // namespace

DVariable makeVariable(const std::shared_ptr<const StrategyState> &strategy,
                       const NextVariable &next, const Tensor &initial,
                       VariableOptions options) {
  if (options.synchronization == VariableSynchronization::NONE)
    fail("DVariable",
         "expected VariableSynchronization AUTO, ON_WRITE or ON_READ, got "
         "NONE: in the scope of a strategy replicas agree on a variable");
  const Tensor value = placed(*strategy, initial, options);
  if (!value.defined() || value.is_traced())
    return next(value, std::move(options));
  if (strategy->replicas() == 1 && !strategy->parameterMesh) {
    const DVariable variable = next(value, options);
    if (strategy->kind == StrategyState::Kind::Mirrored &&
        options.synchronization != VariableSynchronization::ON_READ)
      setPolicy(variable, std::make_shared<MirroredVariable>(strategy));
    return variable;
  }
  const bool isReadSynchronized =
      options.synchronization == VariableSynchronization::ON_READ;
  const Shape shape = value.shape();
  if (isReadSynchronized) {
    // There is no gradient, as in TensorFlow: gradients of replicas' own values
    // have no sum.
    options.trainable = false;
    options.layout.reset();
    const Tensor onMesh =
        is_dtensor(value) ? value : copy_to_mesh(value, *strategy->mesh);
    const DVariable variable =
        next(cutOverReplicas(*strategy, onMesh, strategy->replicas()), options);
    setPolicy(variable, std::make_shared<SyncOnReadVariable>(strategy, shape));
    return variable;
  }
  const bool isWhole = !options.layout || options.layout->is_fully_replicated();
  if (strategy->parameterMesh && isWhole &&
      value.layout().is_fully_replicated()) {
    const DVariable variable = next(value, std::move(options));
    setPolicy(variable, std::make_shared<FarCentralVariable>(strategy));
    keepBetweenUses(variable, *strategy->parameterMesh);
    return variable;
  }
  if (strategy->kind == StrategyState::Kind::Central && isWhole &&
      value.layout().is_fully_replicated()) {
    options.layout.reset();
    const DVariable variable =
        next(cutOverReplicas(*strategy, value, 1), options);
    setPolicy(variable, std::make_shared<CentralVariable>(strategy, shape));
    return variable;
  }
  const DVariable variable = next(value, std::move(options));
  setPolicy(variable, std::make_shared<MirroredVariable>(strategy));
  return variable;
}

} // namespace meshloom::detail
