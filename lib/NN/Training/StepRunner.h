// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StepRunner: who runs the steps of fit and evaluate. This process runs them on
// the model's mesh, or the workers of a strategy do, on batches that this
// process reads or on batches that they read themselves.
#pragma once

#include "meshloom/Data/Dataset.h"
#include "meshloom/NN/Training/TrainingData.h"

namespace meshloom::detail {

class Training;

/// The tensors of a batch, in order: what a step is a function of.
struct StepBatch {
  std::vector<Tensor> x, y, weights;

  /// The batch of a stack.
  StepBatch batchAt(int64_t index) const;
};

/// The batches of one call of a StepRunner, on the devices.
struct PlacedBatches {
  /// A batch for each step, or one stack of the batches of all steps. Empty if
  /// workers read them.
  std::vector<StepBatch> batches;
  int64_t steps = 0;
};

/// Runs steps, each of which adds to loss and metrics.
class StepRunner {
public:
  virtual ~StepRunner() = default;

  /// Brings batches of one type to the devices. Throws if one is not a batch:
  /// parts that differ in their first dim, or have none.
  virtual PlacedBatches place(std::span<const data::detail::Element> batches,
                              std::string_view function) const = 0;
  virtual void train(const PlacedBatches &batches) = 0;
  virtual void test(const PlacedBatches &batches) = 0;
  /// Traces a training step on such a batch, which makes the metrics.
  virtual void traceStep(const StepBatch &batch) = 0;
  /// Throws if a test step cannot take such a batch of validation data.
  virtual void expectTestable(const data::detail::Element &) {}
  /// Waits for the steps that were handed to others.
  virtual void wait() {}
};

/// Batches, and who runs steps on them.
struct Feed {
  data::AnyDataset batches;
  std::shared_ptr<StepRunner> runner;
};

/// The runner of steps on batches that this process reads.
std::shared_ptr<StepRunner> stepRunnerFor(Training &training);
/// The workers of the model's strategy, which read batches themselves. The
/// dataset is without end and gives zeros like a worker's first batch, which
/// this waits for.
Feed feedOfWorkers(Training &training, const WorkerData &data,
                   std::string_view function);

} // namespace meshloom::detail
