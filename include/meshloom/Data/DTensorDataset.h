// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DTensorDataset: batches on the devices of a mesh.
#pragma once

#include "meshloom/Data/Dataset.h"

namespace meshloom::data {

/// See DTensorDataset.
struct DTensorDatasetOptions {
  /// Says whether the elements are batches of the global size already.
  bool dataset_already_batched = false;
  /// The mesh axis that batches are cut over: dim 0 of every layout must be on
  /// it. Empty: as the layouts say.
  std::string batch_dim = {};
  /// How many batches a thread makes and places ahead.
  int64_t prefetch = 0;
};

namespace detail {
SourcePtr placedBatches(SourcePtr source, const Mesh &mesh,
                        std::vector<Layout> layouts, int64_t size,
                        const DTensorDatasetOptions &options);
} // namespace detail

/// Batches of a dataset as tensors on a mesh: each device gets its part, of the
/// batch and, where a layout cuts other dims too (of images in space), of
/// those. A last short batch is left out. One layout for each tensor of an
/// element, in order, each of the tensor's rank with the batch.
///
///   Layout images({"batch", "x", UNSHARDED, UNSHARDED}, mesh);
///   data::DTensorDataset train(dataset, mesh,
///                              {images, Layout({"batch"}, mesh)}, 128,
///                              {.batch_dim = "batch", .prefetch = 2});
///   for (auto [x, y] : train)
///     step(x, y);
template <typename T> class DTensorDataset : public Dataset<T> {
public:
  /// Throws meshloom::Error if a layout is on another mesh or not cut as
  /// batch_dim says, or if the dataset is known to have batches of another
  /// size; when elements are taken if their number of tensors, a rank, or the
  /// size of a batch does not fit.
  DTensorDataset(const Dataset<T> &dataset, const Mesh &mesh,
                 std::vector<Layout> layouts, int64_t global_batch_size,
                 const DTensorDatasetOptions &options = {},
                 std::source_location where = std::source_location::current())
      : Dataset<T>(meshloom::detail::atLine(where, [&] {
          return detail::placedBatches(dataset.source(), mesh,
                                       std::move(layouts), global_batch_size,
                                       options);
        })) {}
};

} // namespace meshloom::data
