// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps on batches that this process reads, see StepRunner.h.
#include "StepRunner.h"

#include "Training.h"

#include <fmt/format.h>

namespace meshloom::detail {

using data::detail::Element;

StepBatch StepBatch::batchAt(int64_t index) const {
  auto of = [&](std::vector<Tensor> stacks) {
    for (Tensor &tensor : stacks)
      tensor =
          elementAt(tensor, meshloom::tensor(int32_t(index)), Where::current());
    return stacks;
  };
  return {of(x), of(y), of(weights)};
}

namespace {

/// This process runs the steps. Several of them are one compiled loop.
class StepsHere : public StepRunner {
public:
  explicit StepsHere(Training &training) : training(training) {}

  PlacedBatches place(std::span<const Element> batches,
                      std::string_view function) const override {
    PlacedBatches placed{{}, std::ssize(batches)};
    placed.batches.push_back(
        batches.size() == 1
            ? training.place(batches.front(), function)
            : training.placeStack(batches, training.options.steps_per_execution,
                                  function));
    return placed;
  }
  void train(const PlacedBatches &placed) override {
    const Training::Scope scope(training);
    const StepBatch &batch = placed.batches.front();
    if (placed.steps == 1)
      return trainOn(batch);
    const Tensor count = tensor(int32_t(placed.steps));
    try {
      (*training.onTrainMany)(batch, count);
    } catch (const Error &error) {
      if (!failedInRun(*training.onTrainMany, error, batch, count))
        throw;
      // The loop has changed nothing: its steps, one by one, say which fails.
      for (int64_t i = 0; i < placed.steps; ++i) {
        trainOn(batch.batchAt(i));
        if (training.position)
          ++training.position->second;
      }
      return;
    }
    training.steps += placed.steps;
  }
  void test(const PlacedBatches &placed) override {
    const Training::Scope scope(training);
    (*training.onTest)(placed.batches.front());
  }
  void traceStep(const StepBatch &batch) override {
    const Training::Scope scope(training);
    (void)training.onTrain->get_concrete_function(batch);
  }
  void expectTestable(const Element &batch) override {
    try {
      const StepBatch placed = training.place(batch, "fit");
      if (placed.y.empty())
        return;
      const Training::Scope scope(training);
      (void)training.onTest->get_concrete_function(placed);
    } catch (const Error &error) {
      Error(fmt::format("[fit] validation_data do not fit: {}", error.what()))
          .raise();
    }
  }

private:
  void trainOn(const StepBatch &batch) {
    try {
      (*training.onTrain)(batch);
    } catch (const Error &error) {
      if (!failedInRun(*training.onTrain, error, batch))
        throw;
      training.failureOfStep(error, batch).raise();
    }
    ++training.steps;
  }
  /// Returns whether a check failed while the step ran, and not while it was
  /// traced.
  template <typename Step, typename... Arguments>
  static bool failedInRun(const Step &step, const Error &error,
                          const Arguments &...arguments) {
    if (error.code() != ErrorCode::INVALID_ARGUMENT || !error.isOfCodeClass())
      return false;
    try {
      (void)step.get_concrete_function(arguments...);
      return true;
    } catch (const Error &) {
      return false;
    }
  }

  Training &training;
};

/// One worker runs the steps of a call, one after the other.
class StepsOfWorkers : public StepRunner {
public:
  explicit StepsOfWorkers(Training &training) : training(training) {}

  PlacedBatches place(std::span<const Element> batches,
                      std::string_view function) const override {
    PlacedBatches placed{{}, std::ssize(batches)};
    placed.batches.reserve(batches.size());
    for (const Element &batch : batches)
      placed.batches.push_back(training.place(batch, function));
    return placed;
  }
  void train(const PlacedBatches &placed) override {
    schedule(*training.onTrain, placed);
    training.steps += placed.steps;
  }
  void test(const PlacedBatches &placed) override {
    schedule(*training.onTest, placed);
  }
  void traceStep(const StepBatch &batch) override {
    const Training::Scope scope(training);
    (void)captured(training.strategy, [&] { (*training.onTrain)(batch); });
  }
  void wait() override { training.workers->join(); }

private:
  void schedule(const Training::OnBatch &step, const PlacedBatches &placed) {
    const Training::Scope scope(training);
    std::vector<FunctionCall> calls;
    calls.reserve(placed.batches.size());
    for (const StepBatch &batch : placed.batches)
      calls.push_back(captured(training.strategy, [&] { step(batch); }));
    (void)training.workers->schedule([calls](WorkerCall &) { return calls; });
  }

  Training &training;
};

} // namespace

std::shared_ptr<StepRunner> stepRunnerFor(Training &training) {
  if (training.workers)
    return std::make_shared<StepsOfWorkers>(training);
  return std::make_shared<StepsHere>(training);
}

} // namespace meshloom::detail
