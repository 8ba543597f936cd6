// TrainingData: what fit, evaluate and predict take: a dataset of batches, or
// arrays of examples, or a generator of batches.
#pragma once

#include "meshloom/Data/Dataset.h"

namespace meshloom {

class TrainingData;

namespace detail {
/// What may be a tensor or a structure of tensors; options, which have
/// callbacks, are none.
template <typename T>
concept Arrays =
    !std::derived_from<T, data::AnyDataset> && !std::same_as<T, TrainingData> &&
    !std::invocable<T &> && !requires(T &options) { options.callbacks; };
} // namespace detail

/// Where examples come from. An element of a dataset, and what a generator
/// gives, is a batch: inputs, a pair of inputs and labels, or a tuple of
/// inputs, labels and weights of examples, each a tensor or a structure of
/// tensors (for models with several inputs or outputs, in their order), with
/// one first dim. Arrays are all examples, cut into batches by fit:
///
///   model.fit(dataset.batch(32));
///   model.fit({x, y}, {.batch_size = 32});
///
/// A generator is a function that returns an optional batch, none at its end.
/// It goes on from epoch to epoch, so fit must be given steps_per_epoch.
class TrainingData {
public:
  /// No examples.
  TrainingData() = default;
  /// A dataset, whose elements are batches.
  TrainingData(const data::AnyDataset &batches) : batches(batches) {}
  /// Arrays: inputs alone, of which predictions are made,
  template <detail::Arrays X>
  TrainingData(const X &inputs) : arrays(data::detail::elementOf(inputs)) {}
  /// with labels,
  template <detail::Arrays X, detail::Arrays Y>
  TrainingData(const X &inputs, const Y &labels)
      : arrays(data::detail::elementOf(std::pair<X, Y>(inputs, labels))) {}
  /// and with the weight of each example.
  template <detail::Arrays X, detail::Arrays Y, detail::Arrays W>
  TrainingData(const X &inputs, const Y &labels, const W &weights)
      : arrays(data::detail::elementOf(
            std::tuple<X, Y, W>(inputs, labels, weights))) {}
  /// A generator.
  template <std::invocable G>
  TrainingData(G generator)
      : batches(data::AnyDataset(data::detail::fromGenerator(
            // Each opening goes on where the one before ended.
            [next = data::detail::ElementGenerator(
                 [generator = std::make_shared<G>(std::move(
                      generator))]() -> std::optional<data::detail::Element> {
                   if (auto batch = (*generator)())
                     return data::detail::elementOf(*batch);
                   return std::nullopt;
                 })] { return next; }))),
        isGenerator(true) {}

  /// Whether there are none.
  bool empty() const { return !batches && !arrays; }

  /// The dataset, or none.
  std::optional<data::AnyDataset> batches;
  /// The arrays, or none.
  std::optional<data::detail::Element> arrays;
  /// Whether the dataset is a generator.
  bool isGenerator = false;
};

} // namespace meshloom
