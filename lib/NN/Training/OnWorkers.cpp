// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps on batches that the workers of a ParameterServerStrategy make
// themselves, see Training.h.
#include "Training.h"

namespace meshloom::detail {

using data::detail::Element;

data::AnyDataset WorkerBatches::likenesses() const {
  return data::AnyDataset(data::detail::fromGenerator([like = like] {
    return data::detail::ElementGenerator(
        [like]() -> std::optional<Element> { return like; });
  }));
}

Element WorkerBatches::take(WorkerCall &worker) const {
  const WorkerCall::Element next = worker.take(iteration);
  Element batch{{}, read(next.key)};
  batch.values.reserve(next.values.size());
  for (const Tensor &value : next.values)
    batch.values.emplace_back(value);
  return batch;
}

WorkerBatches Training::beginOnWorkers(const WorkerData &data,
                                       std::string_view function) const {
  Coordination &coordination = *coordinationOf(strategy);
  WorkerBatches begun{newIteration(data.dataset), data.read, {}};
  auto first = std::make_shared<Element>();
  (void)detail::schedule(coordination, [first, begun](WorkerCall &worker) {
    *first = begun.take(worker);
    return std::vector<FunctionCall>();
  });
  join(coordination);
  begun.like = *first;
  (void)place(begun.like, function);
  return begun;
}

void Training::scheduleOnWorkers(const WorkerBatches &from,
                                 std::optional<OnBatch> Training::*step,
                                 std::string_view function) {
  (void)detail::schedule(
      *coordinationOf(strategy),
      [weak = weak_from_this(), step, from,
       function = std::string(function)](WorkerCall &worker) {
        const std::shared_ptr<Training> own = weak.lock();
        if (!own) // the model is gone
          return std::vector<FunctionCall>();
        const Element next = from.take(worker);
        std::lock_guard lock(own->tracing);
        Scope scope(*own);
        const StepBatch batch = own->place(next, function);
        return std::vector{
            captured(own->strategy, [&] { (*((*own).*step))(batch); })};
      });
}

void Training::traceHere(const WorkerBatches &from,
                         std::optional<OnBatch> &step,
                         std::string_view function) {
  std::lock_guard lock(tracing);
  if (!step->concrete_functions().empty())
    return;
  Scope scope(*this);
  const StepBatch like = place(from.like, function);
  (void)captured(strategy, [&] { (*step)(like); });
}

void Training::trainOnWorkers(const WorkerBatches &from, int64_t count) {
  traceHere(from, onTrain, "fit");
  for (int64_t i = 0; i < count; ++i)
    scheduleOnWorkers(from, &Training::onTrain, "fit");
  steps += count;
}

void Training::testOnWorkers(const WorkerBatches &from) {
  traceHere(from, onTest, "evaluate");
  scheduleOnWorkers(from, &Training::onTest, "evaluate");
}

} // namespace meshloom::detail
