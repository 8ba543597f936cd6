// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// metrics: what a model is judged by over many batches, by the names and with
// the defaults of Keras.
#pragma once

#include "meshloom/API/Ops.h"
#include "meshloom/NN/Named.h"

#include <concepts>

/// Metrics, by which a model is judged.
namespace meshloom::metrics {

/// The parts of a batch that a metric takes.
struct MetricBatch {
  Tensor y_true;        ///< labels, or the values of Mean and Sum
  Tensor y_pred;        ///< predictions
  Tensor sample_weight; ///< empty: all examples weigh 1
};

/// How a metric is computed: sums over all batches of what each adds, and a
/// function of the sums. Because they are sums, it does not matter how examples
/// are cut into batches, replicas and devices. Sums are kept in f64: after 2^31
/// batches they are right to 1e-6.
struct MetricRule {
  /// One of the sums.
  struct Sum {
    std::string name; ///< its variable is called after it
    /// Sizes of -1 are those of what the first batch adds; before it `result`
    /// gets scalars of 0.
    Shape shape = {};
  };
  std::vector<Sum> sums; ///< all of them, 0 at first
  /// The numbers that a batch adds to each sum.
  std::function<std::vector<Tensor>(const MetricBatch &)> add;
  /// The result for the sums, as f32.
  std::function<Tensor(const std::vector<Tensor> &sums)> result;
};

/// A number, or some, over all batches since the last reset. A handle: a copy
/// is the same metric. Its sums are variables, made at the first use on the
/// default mesh (in a `function` too); in replicas of a strategy all replicas'
/// batches are added. May be used from any thread.
///
///   metrics::Metric accuracy = metrics::SparseCategoricalAccuracy();
///   auto step = function([&](const Tensor &x, const Tensor &y) {
///     accuracy.update_state(y, model(x));
///   });
///   for (auto &[x, y] : batches)
///     step(x, y);
///   std::cout << accuracy.result() << "\n";
///   accuracy.reset_state();
///
/// A default-constructed metric is empty.
class Metric {
public:
  /// Makes a metric from a config: a map of its options.
  using Maker = std::function<Metric(const nn::Config &)>;

  /// An empty one.
  Metric() = default;
  /// The one that is known by this name. "accuracy" (also "acc") and
  /// "crossentropy" (also "ce") are the binary, categorical or sparse one,
  /// whichever fits the shapes of labels and predictions. Option "name": what
  /// `name` gives. Throws meshloom::Error that lists the closest names, or if
  /// there is no such option.
  Metric(const char *id, const nn::Config::Map &config = {},
         Where where = Where::current())
      : Metric(std::string(textOrThrow(id, "the name of a metric", where)),
               config, where) {}
  /// By name; see above.
  Metric(const std::string &id, const nn::Config::Map &config = {},
         Where where = Where::current())
      : Metric(detail::atLine(where, [&] { return get(id, config); })) {}
  /// By name, with the config of another metric.
  template <std::same_as<nn::Config> C>
  Metric(const std::string &id, const C &config, Where where = Where::current())
      : Metric(detail::atLine(where, [&] { return get(id, config); })) {}
  /// By name, and what `name` gives.
  Metric(const std::string &id, const std::string &name,
         Where where = Where::current())
      : Metric(id, nn::Config::Map{{"name", name}}, where) {}
  /// Your own metric.
  Metric(std::string name, MetricRule rule);
  /// Your own metric that can be saved: `id` was added, or will be. Option
  /// "name": what `name` gives, else the id.
  Metric(std::string id, nn::Config config, MetricRule rule);
  /// The mean of what a function of labels and predictions gives of examples.
  template <typename F>
    requires std::is_invocable_r_v<Tensor, F &, const Tensor &,
                                   const Tensor &> &&
             (!std::derived_from<std::remove_cvref_t<F>, Metric>)
  Metric(F function, std::string name = "metric")
      : Metric(std::move(name), meanOf(std::move(function))) {}

  /// Adds a batch. sample_weight: empty (all 1), or of the first dims of the
  /// labels. Throws meshloom::Error if shapes or types do not fit.
  void update_state(const Tensor &y_true, const Tensor &y_pred,
                    const Tensor &sample_weight = {},
                    Where where = Where::current()) const;
  /// The result of all batches since the last reset; mostly a scalar, f32. 0
  /// where there was none.
  Tensor result(Where where = Where::current()) const;
  /// Forgets all batches.
  void reset_state(Where where = Where::current()) const;

  /// For reports: as given, else the id.
  const std::string &name() const;
  /// The name by which it is known; empty: the user's own.
  const std::string &id() const;
  /// The options that it was made with, beside the id, a map.
  const nn::Config &config() const;
  /// Its sums, f64; none before the first use, or `build`.
  std::vector<DVariable> variables() const;
  /// A sum by its name and its shape.
  using SumShape = std::pair<std::string, Shape>;
  /// Makes its sums now, where they are not there, as the first batch would: a
  /// checkpoint is restored into them. `shapes`: of the sums whose shapes only
  /// batches say, as `sum_shapes` names them. Throws meshloom::Error if one of
  /// these is missing.
  void build(const std::vector<SumShape> &shapes = {},
             Where where = Where::current()) const;
  /// Its sums; sizes of -1 are those of what the first batch adds.
  std::vector<SumShape> sum_shapes() const;
  /// Returns whether it is not empty.
  explicit operator bool() const { return state != nullptr; }
  /// Returns whether both are the same metric.
  bool is(const Metric &other) const { return state == other.state; }
  /// For `function`: what tells this metric from others.
  std::shared_ptr<const void> shared_identity() const { return state; }

  /// The one that is known by this name. Throws meshloom::Error that lists the
  /// closest names.
  static Metric get(std::string_view id,
                    const nn::Config &config = nn::Config::Map());
  /// From now on `maker` makes what is called `id`, in all threads. Throws
  /// meshloom::Error if the id is taken.
  static void add(const std::string &id, Maker maker);

protected:
  /// Adds a batch of any kind.
  void addBatch(const MetricBatch &batch, const Where &where) const;

private:
  static MetricRule
  meanOf(std::function<Tensor(const Tensor &, const Tensor &)> values);

  struct State;
  std::shared_ptr<State> state;
};

/// The options of every metric.
struct MetricOptions {
  std::string name = "";          ///< for reports; empty: what it is known by
  Where where = Where::current(); ///< the line that errors name
};

/// The mean of values, weighted if weights are given.
class Mean : public Metric {
public:
  /// Mean({.name = "loss"}).
  explicit Mean(const MetricOptions &options = {});
  /// Mean("loss").
  template <std::convertible_to<std::string> N>
  explicit Mean(const N &name) : Mean(MetricOptions{name}) {}
  /// Adds values [...], with a weight, or weights of their first dims.
  void update_state(const TensorLike &values,
                    const std::optional<TensorLike> &sample_weight = {}) const;
};
/// The sum of values.
class Sum : public Metric {
public:
  /// Sum({.name = "examples"}).
  explicit Sum(const MetricOptions &options = {});
  /// Sum("examples").
  template <std::convertible_to<std::string> N>
  explicit Sum(const N &name) : Sum(MetricOptions{name}) {}
  /// Adds values [...], with a weight, or weights of their first dims.
  void update_state(const TensorLike &values,
                    const std::optional<TensorLike> &sample_weight = {}) const;
};

/// How many predictions are equal to their labels.
Metric Accuracy(const MetricOptions &options = {});
/// Accuracy("accuracy").
template <std::convertible_to<std::string> S> Metric Accuracy(S &&name) {
  return Accuracy(MetricOptions{.name = std::forward<S>(name)});
}
/// The options of BinaryAccuracy.
struct BinaryAccuracyOptions {
  double threshold = 0.5;         ///< greater predictions are class 1
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// How many predictions are on their label's side of the threshold.
Metric BinaryAccuracy(const BinaryAccuracyOptions &options = {});
/// BinaryAccuracy("accuracy").
template <std::convertible_to<std::string> S> Metric BinaryAccuracy(S &&name) {
  return BinaryAccuracy(BinaryAccuracyOptions{.name = std::forward<S>(name)});
}
/// labels [..., classes]: how often both have their largest element in one
/// place.
Metric CategoricalAccuracy(const MetricOptions &options = {});
/// CategoricalAccuracy("accuracy").
template <std::convertible_to<std::string> S>
Metric CategoricalAccuracy(S &&name) {
  return CategoricalAccuracy(MetricOptions{.name = std::forward<S>(name)});
}
/// labels [...] of integers, predictions [..., classes]: how often the largest
/// one is the label's.
Metric SparseCategoricalAccuracy(const MetricOptions &options = {});
/// SparseCategoricalAccuracy("accuracy").
template <std::convertible_to<std::string> S>
Metric SparseCategoricalAccuracy(S &&name) {
  return SparseCategoricalAccuracy(
      MetricOptions{.name = std::forward<S>(name)});
}
/// The options of the TopK accuracies.
struct TopKOptions {
  int64_t k = 5;                  ///< among how many
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// labels [..., classes]: how often the prediction of the label's class is
/// among the k largest; equal ones count as among them.
Metric TopKCategoricalAccuracy(const TopKOptions &options = {});
/// TopKCategoricalAccuracy(3).
template <std::integral I>
Metric TopKCategoricalAccuracy(I k, Where where = Where::current()) {
  return TopKCategoricalAccuracy(TopKOptions{.k = k, .where = where});
}
/// labels [...] of integers; see TopKCategoricalAccuracy.
Metric SparseTopKCategoricalAccuracy(const TopKOptions &options = {});
/// SparseTopKCategoricalAccuracy(3).
template <std::integral I>
Metric SparseTopKCategoricalAccuracy(I k, Where where = Where::current()) {
  return SparseTopKCategoricalAccuracy(TopKOptions{.k = k, .where = where});
}

/// The mean of losses::mean_squared_error.
Metric MeanSquaredError(const MetricOptions &options = {});
/// MeanSquaredError("error").
template <std::convertible_to<std::string> S>
Metric MeanSquaredError(S &&name) {
  return MeanSquaredError(MetricOptions{.name = std::forward<S>(name)});
}
/// The root of the mean of (p - t)^2.
Metric RootMeanSquaredError(const MetricOptions &options = {});
/// RootMeanSquaredError("error").
template <std::convertible_to<std::string> S>
Metric RootMeanSquaredError(S &&name) {
  return RootMeanSquaredError(MetricOptions{.name = std::forward<S>(name)});
}
/// The mean of losses::mean_absolute_error.
Metric MeanAbsoluteError(const MetricOptions &options = {});
/// MeanAbsoluteError("error").
template <std::convertible_to<std::string> S>
Metric MeanAbsoluteError(S &&name) {
  return MeanAbsoluteError(MetricOptions{.name = std::forward<S>(name)});
}
/// The mean of losses::mean_absolute_percentage_error.
Metric MeanAbsolutePercentageError(const MetricOptions &options = {});
/// The mean of losses::mean_squared_logarithmic_error.
Metric MeanSquaredLogarithmicError(const MetricOptions &options = {});
/// The mean cosine of the angle between labels and predictions along the last
/// dim.
Metric CosineSimilarity(const MetricOptions &options = {});
/// The mean of losses::log_cosh.
Metric LogCoshError(const MetricOptions &options = {});
/// The mean of losses::hinge.
Metric Hinge(const MetricOptions &options = {});
/// The mean of losses::squared_hinge.
Metric SquaredHinge(const MetricOptions &options = {});
/// The mean of losses::categorical_hinge.
Metric CategoricalHinge(const MetricOptions &options = {});
/// The mean of losses::kl_divergence.
Metric KLDivergence(const MetricOptions &options = {});
/// The mean of losses::poisson.
Metric Poisson(const MetricOptions &options = {});
/// The options of crossentropies.
struct CrossentropyMetricOptions {
  bool from_logits = false;       ///< see losses::CrossentropyOptions
  double label_smoothing = 0;     ///< of labels that are probabilities
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// The mean of losses::binary_crossentropy.
Metric BinaryCrossentropy(const CrossentropyMetricOptions &options = {});
/// The mean of losses::categorical_crossentropy.
Metric CategoricalCrossentropy(const CrossentropyMetricOptions &options = {});
/// The mean of losses::sparse_categorical_crossentropy.
Metric
SparseCategoricalCrossentropy(const CrossentropyMetricOptions &options = {});

/// The options of metrics that count positives.
struct ThresholdOptions {
  /// Greater predictions are positive. With several the result has one element
  /// for each.
  std::vector<double> thresholds = {0.5};
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// How many positive predictions have a positive label.
Metric TruePositives(const ThresholdOptions &options = {});
/// How many positive predictions have a negative label.
Metric FalsePositives(const ThresholdOptions &options = {});
/// How many negative predictions have a negative label.
Metric TrueNegatives(const ThresholdOptions &options = {});
/// How many negative predictions have a positive label.
Metric FalseNegatives(const ThresholdOptions &options = {});
/// The options of Precision and Recall.
struct RetrievalOptions {
  /// Greater predictions are positive. With several the result has one element
  /// for each. Default: 0.5, or with top_k none.
  std::vector<double> thresholds = {};
  /// How many of the largest predictions [..., classes] may be positive.
  std::optional<int64_t> top_k = std::nullopt;
  /// Only that class counts.
  std::optional<int64_t> class_id = std::nullopt;
  std::string name = "";          ///< for reports
  Where where = Where::current(); ///< the line that errors name
};
/// The share of positive predictions whose label is positive.
Metric Precision(const RetrievalOptions &options = {});
/// Precision(0.7).
template <std::floating_point F>
Metric Precision(F threshold, Where where = Where::current()) {
  return Precision(
      RetrievalOptions{.thresholds = {double(threshold)}, .where = where});
}
/// The share of positive labels that are predicted.
Metric Recall(const RetrievalOptions &options = {});
/// Recall(0.7).
template <std::floating_point F>
Metric Recall(F threshold, Where where = Where::current()) {
  return Recall(
      RetrievalOptions{.thresholds = {double(threshold)}, .where = where});
}

} // namespace meshloom::metrics
