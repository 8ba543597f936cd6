// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps on batches that the workers of a strategy read themselves, see
// StepRunner.h.
#include "StepRunner.h"

#include "Training.h"

namespace meshloom::detail {

using data::detail::Element;

namespace {

/// An iteration of the workers over their datasets.
struct WorkerBatches {
  std::shared_ptr<const WorkerIteration> iteration;
  data::detail::ReadSkeleton read;

  /// Tensors that stand for the worker's next batch.
  Element take(WorkerCall &worker) const {
    const WorkerCall::Element next = worker.take(iteration);
    Element batch{{}, read(next.key)};
    batch.values.reserve(next.values.size());
    for (const Tensor &value : next.values)
      batch.values.emplace_back(value);
    return batch;
  }
};

/// Each worker traces the step with its next batch, one worker at a time.
class StepsOnWorkerData : public StepRunner {
public:
  /// `like`: a batch of the workers, of zeros.
  StepsOnWorkerData(Training &training, WorkerBatches batches, Element like)
      : training(training), batches(std::move(batches)), like(std::move(like)) {
  }

  PlacedBatches place(std::span<const Element> likenesses,
                      std::string_view) const override {
    return {{}, std::ssize(likenesses)};
  }
  void train(const PlacedBatches &placed) override {
    for (int64_t i = 0; i < placed.steps; ++i)
      schedule(&Training::onTrain, "fit");
    training.steps += placed.steps;
  }
  void test(const PlacedBatches &) override {
    schedule(&Training::onTest, "evaluate");
  }
  void traceStep(const StepBatch &batch) override {
    training.runner->traceStep(batch);
  }
  void wait() override { training.workers->join(); }

private:
  using Step = std::optional<Training::OnBatch> Training::*;

  /// So that this thread makes what the first trace makes.
  void traceHere(Step step, std::string_view function) {
    std::lock_guard lock(training.tracing);
    if (!(training.*step)->concrete_functions().empty())
      return;
    const Training::Scope scope(training);
    const StepBatch batch = training.place(like, function);
    (void)captured(training.strategy, [&] { (*(training.*step))(batch); });
  }
  void schedule(Step step, std::string_view function) {
    traceHere(step, function);
    (void)training.workers->schedule(
        [weak = training.weak_from_this(), step, from = batches,
         function = std::string(function)](WorkerCall &worker) {
          const std::shared_ptr<Training> target = weak.lock();
          if (!target) // the model is gone
            return std::vector<FunctionCall>();
          const Element next = from.take(worker);
          std::lock_guard lock(target->tracing);
          const Training::Scope scope(*target);
          const StepBatch batch = target->place(next, function);
          return std::vector{
              captured(target->strategy, [&] { (*((*target).*step))(batch); })};
        });
  }

  Training &training;
  const WorkerBatches batches;
  const Element like;
};

} // namespace

Feed feedOfWorkers(Training &training, const WorkerData &data,
                   std::string_view function) {
  const WorkerBatches begun{newIteration(data.dataset), data.read};
  auto first = std::make_shared<Element>();
  (void)training.workers->schedule([first, begun](WorkerCall &worker) {
    *first = begun.take(worker);
    return std::vector<FunctionCall>();
  });
  training.workers->join();
  (void)training.place(*first, function);
  return {data::AnyDataset(data::detail::fromGenerator([like = *first] {
            return data::detail::ElementGenerator(
                [like]() -> std::optional<Element> { return like; });
          })),
          std::make_shared<StepsOnWorkerData>(training, begun, *first)};
}

} // namespace meshloom::detail
