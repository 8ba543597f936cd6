// Strategy: on which devices a model is trained, and how variables and batches
// lie on them. Strategies.h has the ones there are.
#pragma once

#include "meshloom/API/Devices.h"
#include "meshloom/API/VariableCreation.h"
#include "meshloom/Distribute/CrossDeviceOps.h"

namespace meshloom {

class Strategy;

namespace detail {
struct StrategyState;
/// What a thread is inside of: the scope of a strategy, or one of its replicas.
struct StrategyFrame {
  std::shared_ptr<const StrategyState> strategy;
  bool inReplica = false;
};
/// Makes a frame this thread's innermost one while it lives.
class StrategyFrameScope {
public:
  StrategyFrameScope(std::shared_ptr<const StrategyState> strategy,
                     bool inReplica);
  ~StrategyFrameScope();
  StrategyFrameScope(const StrategyFrameScope &) = delete;
  StrategyFrameScope &operator=(const StrategyFrameScope &) = delete;
};
} // namespace detail

/// While it lives, this thread is in a strategy's scope: get_strategy() gives
/// it, variables are made its way, tensors without a layout are on its mesh.
class [[nodiscard]] StrategyScope {
public:
  /// See Strategy::scope.
  explicit StrategyScope(const Strategy &strategy);
  StrategyScope(const StrategyScope &) = delete;
  StrategyScope &operator=(const StrategyScope &) = delete;

private:
  detail::StrategyFrameScope frame;
  std::optional<DefaultMeshScope> mesh;
  std::optional<VariableCreatorScope> creator;
};

/// A choice of devices, and of how variables and batches lie on them: a mesh of
/// one axis, "replica", and layouts. A copy is the same strategy; may be used
/// from any thread.
///
///   MirroredStrategy strategy;
///   auto scope = strategy.scope();
///   DVariable w(ones({4})); // mirrored: a copy for each replica
class Strategy {
public:
  /// For Meshloom's own layers.
  explicit Strategy(std::shared_ptr<const detail::StrategyState> state)
      : state(std::move(state)) {}

  /// "MirroredStrategy".
  const std::string &name() const;
  /// Over how many replicas gradients are summed.
  int64_t num_replicas_in_sync() const;
  /// Its devices, one for each replica, along the axis "replica". None of the
  /// default strategy, which leaves values where they are.
  const std::optional<Mesh> &mesh() const;
  /// How a batch lies on the devices: dim 0 over the replicas. None where there
  /// is no mesh. Throws meshloom::Error if the rank is 0.
  std::optional<Layout> batch_layout(int64_t rank) const;
  /// The batch, laid out so; as it is where it is on a mesh already, or where
  /// the strategy has none.
  Tensor place_batch(const Tensor &batch) const;

  /// auto scope = strategy.scope(); see StrategyScope. Throws meshloom::Error
  /// if the thread is in the scope of another strategy.
  StrategyScope scope() const { return StrategyScope(*this); }

  /// Whether both are the same strategy.
  bool operator==(const Strategy &other) const { return state == other.state; }
  /// For Meshloom's own layers.
  const std::shared_ptr<const detail::StrategyState> &internal() const {
    return state;
  }

protected:
  std::shared_ptr<const detail::StrategyState> state;
};

/// The strategy in whose scope this thread is; outside of scopes the default
/// one, which has one replica and leaves everything where it is.
Strategy get_strategy();
/// Whether it is another one than the default.
bool has_strategy();
/// Whether this thread is in a strategy's scope, and not in one of its
/// replicas: where values of all replicas are seen.
bool in_cross_replica_context();

} // namespace meshloom
