// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scopes of strategies, and what is asked of any strategy.
#include "meshloom/Distribute/Strategy.h"
#include "StrategyState.h"
#include "meshloom/Core/ThreadLocal.h"

#include "meshloom/API/NameScope.h"

#include "meshloom/API/Distribute.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

namespace {
std::vector<StrategyFrame> &frames() {
  return threadLocal<std::vector<StrategyFrame>>();
}

const StrategyState &get(const std::shared_ptr<const StrategyState> &state,
                         std::string_view op) {
  if (!state)
    fail(op, "expected a strategy, got one that was moved from");
  return *state;
}
} // namespace

namespace detail {

StrategyFrame currentFrame() {
  static const auto &none = *new std::shared_ptr<const StrategyState>(
      std::make_shared<StrategyState>(StrategyState{.name = "default"}));
  // Outside of scopes there is one replica, and its code is what runs.
  return frames().empty() ? StrategyFrame{none, true} : frames().back();
}

StrategyFrameScope::StrategyFrameScope(
    std::shared_ptr<const StrategyState> strategy, bool inReplica) {
  frames().push_back({std::move(strategy), inReplica});
}
StrategyFrameScope::~StrategyFrameScope() {
  frames().pop_back();
}

std::string textOf(const StrategyState &strategy) {
  std::string text = strategy.name;
  if (strategy.kind == StrategyState::Kind::ParameterServer)
    return text;
  if (!strategy.mesh)
    return text + " strategy";
  for (const std::string &device : deviceNames(*strategy.mesh))
    text +=
        fmt::format("{}{}", text.size() == strategy.name.size() ? " on " : ", ",
                    DeviceSpec::from_string(device).to_string());
  return text;
}

} // namespace detail

namespace {
/// The strategy that a scope of it can begin in this thread.
std::shared_ptr<const StrategyState> enterable(const Strategy &strategy) {
  const StrategyState &entered = get(strategy.internal(), "scope");
  if (const StrategyFrame now = currentFrame();
      !frames().empty() && now.strategy != strategy.internal())
    fail("scope",
         fmt::format("expected no other strategy's scope around it, but this "
                     "thread is in that of {}: end that one before the scope "
                     "of {} begins",
                     textOf(*now.strategy), textOf(entered)));
  return strategy.internal();
}
} // namespace

StrategyScope::StrategyScope(const Strategy &strategy,
                             std::source_location where)
    // A scope inside a replica is the replica's.
    : frame(atLine(where, [&] { return enterable(strategy); }),
            !frames().empty() && frames().back().inReplica) {
  const std::shared_ptr<const StrategyState> &state = strategy.internal();
  if (frames().size() > 1)
    return;
  if (state->createVariable)
    creator.emplace(state->createVariable);
  if (!state->mesh)
    return;
  mesh.emplace(*state->mesh);
  creator.emplace([state](const NextVariable &next, const Tensor &initial,
                          VariableOptions options) {
    return makeVariable(state, next, initial, std::move(options));
  });
}

const std::string &Strategy::name() const {
  return get(state, "name").name;
}
int64_t Strategy::num_replicas_in_sync() const {
  return get(state, "num_replicas_in_sync").replicas();
}
const std::optional<TPUClusterResolver> &Strategy::cluster_resolver() const {
  return get(state, "cluster_resolver").resolver;
}
const std::optional<Mesh> &Strategy::mesh() const {
  return get(state, "mesh").mesh;
}

std::optional<Layout> Strategy::batch_layout(int64_t rank) const {
  if (rank < 1)
    fail("batch_layout", "expected a batch, which has at least one dim, got "
                         "a rank of 0: batch the dataset");
  if (!get(state, "batch_layout").mesh)
    return std::nullopt;
  return Layout::batch_sharded(*state->mesh, replicaAxis, unsigned(rank));
}

Tensor Strategy::place_batch(const Tensor &batch) const {
  const std::optional<Layout> layout = batch_layout(batch.rank());
  return !layout || is_dtensor(batch) ? batch : distribute(batch, *layout);
}

Strategy get_strategy() {
  return Strategy(currentFrame().strategy);
}
bool has_strategy() {
  return currentFrame().strategy->kind != StrategyState::Kind::Default;
}
bool in_cross_replica_context() {
  return !currentFrame().inReplica;
}

} // namespace meshloom
