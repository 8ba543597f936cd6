// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TrainingData: what fit, evaluate and predict take: a dataset of batches, or
// arrays of examples, or a generator of batches, or datasets of workers.
#pragma once

#include "meshloom/Distribute/Input.h"
#include "meshloom/Distribute/WorkerDataset.h"

namespace meshloom {

class TrainingData;
template <typename T> class PerWorkerDataset;

namespace detail {
/// A type that may be a tensor or a structure of tensors; options, which have
/// callbacks, are not.
template <typename T>
concept Arrays =
    !std::derived_from<T, data::AnyDataset> && !std::same_as<T, TrainingData> &&
    !std::invocable<T &> && !std::invocable<T &, const InputContext &> &&
    !isA<T, PerWorkerDataset> && !requires(T &options) { options.callbacks; };

/// A dataset that each worker has of its own.
struct WorkerData {
  std::shared_ptr<const WorkerDatasetName> dataset;
  data::detail::ReadSkeleton read;
  /// The same in a process without workers, where it is a function of that.
  std::function<data::AnyDataset(const InputContext &)> here;
};
} // namespace detail

/// Where examples come from. An element of a dataset, and what a generator
/// gives, is a batch: inputs, a pair of inputs and labels, or a tuple of
/// inputs, labels and weights of examples, each a tensor or a structure of
/// tensors, with one first dim. For a model with several inputs or outputs they
/// are in its order; those of a map go by the names of its Inputs, or of the
/// layers that it ends with. Arrays are all examples, cut into batches by fit:
///
///   model.fit(dataset.batch(32));
///   model.fit({x, y}, {.batch_size = 32});
///
/// A generator is a function that returns an optional batch, none at its end.
/// It goes on from epoch to epoch, so fit must be given steps_per_epoch.
///
/// Workers of a ParameterServerStrategy can make their batches themselves, so
/// that those do not go through this process: a PerWorkerDataset, or, where
/// workers are threads of this process, a function of InputContext (Keras'
/// DatasetCreator). fit must be given steps_per_epoch then:
///
///   model.fit(coordinator.create_per_worker_dataset(batches),
///             {.epochs = 5, .steps_per_epoch = 10});
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

  /// Datasets of workers,
  template <typename T>
  TrainingData(const PerWorkerDataset<T> &batches)
      : workers(detail::WorkerData{batches.internal(),
                                   data::detail::skeletonFrom<T>, nullptr}) {}
  /// and what makes one. Where there are no workers it is called once.
  template <std::invocable<const InputContext &> F>
    requires(!std::invocable<F &>)
  TrainingData(F dataset_fn) {
    using T = typename std::decay_t<
        std::invoke_result_t<F &, const InputContext &>>::Value;
    auto open = [dataset_fn] { return dataset_fn(InputContext()); };
    workers = detail::WorkerData{
        std::make_shared<detail::WorkerDatasetName>(detail::openingOf(open)),
        data::detail::skeletonFrom<T>,
        [dataset_fn](const InputContext &context) -> data::AnyDataset {
          return dataset_fn(context);
        }};
  }

  /// Returns whether there are none.
  bool empty() const { return !batches && !arrays && !workers; }

  /// The dataset, or none.
  std::optional<data::AnyDataset> batches;
  /// The arrays, or none.
  std::optional<data::detail::Element> arrays;
  /// The datasets of workers, or none.
  std::optional<detail::WorkerData> workers;
  /// Says whether the dataset is a generator.
  bool isGenerator = false;
};

} // namespace meshloom
