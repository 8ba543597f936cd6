// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part behind Trainer: a model as it was compiled, its steps, and the
// numbers that they sum up on the devices.
#pragma once

#include "StepRunner.h"

#include "meshloom/API/CheckNumerics.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/Distribute/Workers.h"
#include "meshloom/NN/Training/Callback.h"
#include "meshloom/NN/Training/Trainer.h"

#include <mutex>

namespace meshloom::callbacks {
class CallbackList;
}

namespace meshloom::detail {

[[noreturn]] void refuseTraining(std::string_view function,
                                 const std::string &message);

/// One output of the model: its loss and what is shown of it.
struct TrainedOutput {
  std::string name; ///< empty where there is one output only
  losses::Loss loss;
  double weight = 1;
  /// The mean of its loss, where there are several outputs.
  std::optional<metrics::Mean> mean;
  std::vector<metrics::Metric> metrics, weighted;
};

/// Where fit goes on, as a callback found when training began.
struct Resumption {
  int64_t epoch = 0;
  int64_t batch = 0; ///< batches of the epoch that were taken
  /// The states of callbacks, as CallbackList names them.
  std::map<std::string, callbacks::CallbackState> callbacks = {};
  /// See Training::epochNumbers.
  std::optional<callbacks::CallbackState> numbers = std::nullopt;
};

/// Not copied: compiled functions refer to it.
class Training : public std::enable_shared_from_this<Training> {
public:
  explicit Training(Layer model) : model(std::move(model)) {}
  Training(const Training &) = delete;
  Training &operator=(const Training &) = delete;

  void compile(TrainingOptions trainingOptions, const Where &where);

  /// Makes the model's weights for the batch, where they are not there.
  /// Errors name the line `where`, else that of compile.
  void build(const data::detail::Element &batch, std::string_view function,
             std::optional<Where> where = std::nullopt);
  /// The batch on the devices. Throws where it is none: parts that differ in
  /// their first dim, or have none.
  StepBatch place(const data::detail::Element &batch,
                  std::string_view function) const;
  /// Several batches as one with another first dim, for a compiled loop.
  /// `slots`: how many the loop is compiled for.
  StepBatch placeStack(std::span<const data::detail::Element> batches,
                       int64_t slots, std::string_view function) const;

  /// Errors name the line `where`.
  std::vector<Tensor> predict(const StepBatch &batch, Where where);

  /// The error of a training step that failed on the batch, which also says
  /// which step it was, and which variables or gradients are not finite.
  Error failureOfStep(const Error &error, const StepBatch &batch);
  /// "'a', 'b'": the variables of the model that hold a nan or an infinity;
  /// empty if none does. In several processes empty: they may not all ask.
  std::string nonFiniteVariables() const;
  /// After the last epoch: weights become their averages, where the optimizer
  /// keeps some.
  void finish();
  void reset();
  /// The sums of loss and metrics over the epoch so far.
  callbacks::CallbackState epochNumbers();
  /// Goes on from such sums; `like`: a batch that the next ones are like.
  void resumeEpoch(const data::detail::Element &like,
                   const callbacks::CallbackState &numbers);
  /// Reads loss and metrics: waits for the devices.
  std::vector<Logs::Value> read();
  std::vector<std::string> names() const;
  /// See Trainer::train_functions.
  std::vector<ConcreteFunction> trainFunctions() const;
  /// Sets the weights of examples by their label; a change compiles the step
  /// again.
  void setClassWeights(const std::map<int64_t, double> &weights);

  /// Takes the step of a model that has no step of its own.
  void takeStep(const StepBatch &batch, bool trains);
  /// The loss of a batch, which is added to the means, and so are metrics.
  /// `added`: the losses that the model's layers added.
  Tensor measure(const StepBatch &batch, const std::vector<Tensor> &outputs,
                 const std::vector<Tensor> &added, bool isTraining);
  /// Throws where there is none.
  const optimizers::Optimizer &optimizer() const;

  const Layer model;
  bool isCompiled = false;
  bool stops = false;
  std::optional<Resumption> resumed;
  /// The callbacks of the fit that runs.
  const callbacks::CallbackList *callbacks = nullptr;
  int64_t steps = 0; ///< taken
  /// The epoch and its batch that fit is at, from 1 on.
  std::optional<std::pair<int64_t, int64_t>> position;
  TrainingOptions options;
  /// In whose scope the model was compiled.
  Strategy strategy = get_strategy();
  /// The processes that run the steps; null if this one does.
  std::shared_ptr<Workers> workers;
  /// Runs steps on batches that this process reads.
  std::shared_ptr<StepRunner> runner;

  /// While steps are traced and run: variables are made the strategy's way.
  struct Scope {
    explicit Scope(const Training &training);
    std::optional<StrategyScope> strategy;
    std::optional<DefaultMeshScope> mesh;
    std::optional<CheckNumericsScope> checking;
  };

  /// Compiled by the first call, one for each signature.
  using OnBatch = Function<std::function<void(const StepBatch &)>>;
  using OnStack =
      Function<std::function<void(const StepBatch &, const Tensor &)>>;
  /// The steps, for StepRunner. Loss and metrics are added to.
  std::optional<OnBatch> onTrain, onTest;
  std::optional<OnStack> onTrainMany;
  std::mutex tracing; ///< held while threads of workers use steps

private:
  using Predicting =
      Function<std::function<std::vector<Tensor>(const std::vector<Tensor> &)>>;
  using Reading = Function<std::function<std::vector<Tensor>()>>;

  /// By the model's own code, or by `takeStep`.
  void step(const StepBatch &batch, bool trains);
  void makeTrainingSteps();
  /// Values of the batch that are of a map go by names to where the model has
  /// them.
  data::detail::Element inOrder(const data::detail::Element &batch,
                                std::string_view function) const;
  /// `takeStep` in replicas, whose gradients the strategy reduces its own way.
  void trainStepInReplicas(const StepBatch &batch);
  /// Changes the weights by the gradients of the loss.
  void changeBy(GradientTape &tape, const Tensor &total);
  /// The variables whose gradients are not finite on this batch. No variable
  /// changes.
  std::vector<DVariable> nonFiniteGradients(const StepBatch &batch);
  void makeOutputs(const StepBatch &batch, const std::vector<Tensor> &results,
                   bool isTraining);
  Tensor exampleWeights(const StepBatch &batch, size_t output,
                        bool isTraining) const;
  std::vector<metrics::Metric> metricsOf(const MetricsOfOutputs &listed,
                                         size_t output, size_t count) const;
  std::vector<std::string> outputNames(size_t count) const;
  void forEachMetric(
      const std::function<void(const metrics::Metric &metric,
                               const std::string &name)> &visit) const;
  std::optional<Layout> layoutOf(int64_t rank, int64_t dim) const;
  Tensor placed(const Tensor &tensor, int64_t batchDim) const;

  /// Runs `part`, "the loss", which messages then name, and what it is of.
  template <typename F>
  void inPart(std::string_view part, size_t output, F &&run) const;

  Where compiledAt = Where::current();
  Where predictedAt = Where::current(); ///< the last call of predict
  std::optional<Mesh> mesh;        ///< where the model lies, once it is known
  std::optional<std::string> axis; ///< that batches are cut over
  std::vector<TrainedOutput> outputs;
  std::optional<metrics::Mean> loss;
  /// While a failed step is looked into: gradients go here, and change nothing.
  std::optional<Gradients> watched;
  std::map<int64_t, double> classWeights;
  Tensor classTable; ///< [classes] f32, or empty
  std::optional<Predicting> onPredict;
  std::optional<Reading> onRead;
};

} // namespace meshloom::detail
