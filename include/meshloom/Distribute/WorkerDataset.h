// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets that workers of a ParameterServerStrategy go through by themselves,
// and the names by which a coordinator tells them which.
#pragma once

#include "meshloom/Data/Dataset.h"

namespace meshloom {

template <typename T> class RegisteredDataset;

namespace detail {

/// Begins an iteration over a worker's dataset.
using OpenDataset =
    std::function<std::shared_ptr<data::detail::Stream>(int64_t worker)>;

/// Registered in this process.
class WorkerDatasetName {
public:
  /// For as long as the process lives. Throws meshloom::Error if the name is
  /// empty or taken.
  WorkerDatasetName(std::string name, OpenDataset open,
                    const std::source_location &where);
  /// Under a name that no other process knows, while it lives.
  explicit WorkerDatasetName(OpenDataset open);
  ~WorkerDatasetName();
  WorkerDatasetName(const WorkerDatasetName &) = delete;

  std::string name;

private:
  const bool isForEver;
};

/// An iteration of the workers over a dataset: each of them goes through its
/// own, which it knows by the number.
struct WorkerIteration {
  uint64_t number;
  std::shared_ptr<const WorkerDatasetName> dataset;
};
std::shared_ptr<const WorkerIteration>
newIteration(std::shared_ptr<const WorkerDatasetName> dataset);

/// The dataset of `dataset_fn`: for the worker's number, if it takes one.
template <typename F> auto datasetOf(F &dataset_fn, int64_t worker) {
  if constexpr (std::is_invocable_v<F &, int64_t>)
    return dataset_fn(worker);
  else
    return dataset_fn();
}
/// The type of its elements.
template <typename F>
using ElementOf = typename std::decay_t<decltype(datasetOf(std::declval<F &>(),
                                                           int64_t()))>::Value;
template <typename F> OpenDataset openingOf(F dataset_fn) {
  return [dataset_fn](int64_t worker) mutable {
    return datasetOf(dataset_fn, worker).open();
  };
}

} // namespace detail

/// A dataset that every process of a program knows by a name. A handle.
template <typename T> class RegisteredDataset {
public:
  /// For register_dataset, which makes them.
  explicit RegisteredDataset(
      std::shared_ptr<const detail::WorkerDatasetName> registered)
      : registered(std::move(registered)) {}
  /// For ClusterCoordinator.
  const std::shared_ptr<const detail::WorkerDatasetName> &internal() const {
    return registered;
  }

private:
  std::shared_ptr<const detail::WorkerDatasetName> registered;
};

/// A name for the dataset that dataset_fn() gives, or dataset_fn(worker's
/// number): what ClusterCoordinator::create_per_worker_dataset takes where
/// workers are processes of their own, which have the function by its name
/// alone. All of them run the same program, and register before a Server
/// begins, as a global variable does:
///
///   const auto batches = register_dataset("batches", [] {
///     return data::from_tensor_slices(x(), y()).shuffle(10).repeat().batch(8);
///   });
///
/// Throws meshloom::Error if the name is empty or taken.
template <typename F>
auto register_dataset(
    std::string name, F dataset_fn,
    std::source_location where = std::source_location::current()) {
  return RegisteredDataset<detail::ElementOf<F>>(
      std::make_shared<detail::WorkerDatasetName>(
          std::move(name), detail::openingOf(std::move(dataset_fn)), where));
}

} // namespace meshloom
