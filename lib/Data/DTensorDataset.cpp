// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches on the devices of a mesh.
#include "meshloom/Data/DTensorDataset.h"

#include "Steps.h"
#include "meshloom/API/Distribute.h"

namespace meshloom::data::detail {

namespace {
constexpr std::string_view step = "DTensorDataset";

Error refusal(const std::string &why) {
  return Error(fmt::format("[{}] {}", step, why));
}

/// Brings a batch to the devices.
struct Placement {
  std::vector<Layout> layouts;
  int64_t size;
  bool isBatched; ///< by the user

  Element operator()(const Element &batch) const {
    if (batch.values.size() != layouts.size())
      refusal(fmt::format("expected a layout for each tensor of an "
                          "element {}, got {}",
                          batch.typeText(), layouts.size()))
          .raise();
    Element placed;
    placed.skeleton = batch.skeleton;
    placed.values.reserve(layouts.size());
    for (size_t i = 0; i < layouts.size(); ++i) {
      const HostArray &value = batch.values[i];
      if (isBatched && value.shape().size() + 1 == layouts[i].rank())
        refusal(fmt::format("expected batches of {}, got {} as tensor "
                            "{}, for layout {} of rank {}: batch the "
                            "dataset first, or leave "
                            "dataset_already_batched out",
                            size, value.typeText(), i, layouts[i].spec_string(),
                            layouts[i].rank()))
            .raise();
      if (value.shape().size() != layouts[i].rank())
        refusal(fmt::format("layout {} has rank {}, but with the batch "
                            "tensor {} is {}",
                            layouts[i].spec_string(), layouts[i].rank(), i,
                            value.typeText()))
            .raise();
      if (value.shape().empty() || value.shape().front() != size)
        refusal(fmt::format("expected batches of {}, got {} as tensor {}: "
                            "batch with drop_remainder, or give the size "
                            "of the batches",
                            size, value.typeText(), i))
            .raise();
      placed.values.emplace_back(distribute(value.tensor(), layouts[i]));
    }
    return placed;
  }
};
} // namespace

SourcePtr placedBatches(SourcePtr source, const Mesh &mesh,
                        std::vector<Layout> layouts, int64_t size,
                        const DTensorDatasetOptions &options) {
  expect(size >= 1, step, "a global_batch_size of at least 1", size);
  expect(options.prefetch >= 0, step, "a number of batches to prefetch",
         options.prefetch);
  if (!mesh.defined())
    refusal("expected a mesh, got an empty one").raise();
  const std::string &axis = options.batch_dim;
  if (!axis.empty() && !mesh.contains_axis(axis))
    refusal(fmt::format("the mesh has no axis '{}'", axis)).raise();
  for (const Layout &layout : layouts) {
    if (!layout.defined() || layout.mesh() != mesh)
      refusal("expected layouts on the mesh that is given").raise();
    if (layout.rank() == 0)
      refusal("expected layouts that have a dim for the batch, got one of "
              "rank 0")
          .raise();
    if (!axis.empty() && layout.sharding_specs().front() != DimSpec(axis))
      refusal(fmt::format("batch_dim is '{}', but layout {} cuts the batch "
                          "along a different axis",
                          axis, layout.spec_string()))
          .raise();
  }
  if (options.dataset_already_batched) {
    std::optional<int64_t> existing = batchSizeOf(*source);
    if (existing && *existing != size)
      refusal(fmt::format("the dataset has batches of {}, but "
                          "global_batch_size is {}",
                          *existing, size))
          .raise();
  } else {
    source = batch(std::move(source), size, /*dropRemainder=*/true);
  }
  Placement place{std::move(layouts), size, options.dataset_already_batched};
  if (options.prefetch)
    return prefetch(std::move(source), options.prefetch, place);
  return map(std::move(source), place, {});
}

} // namespace meshloom::data::detail
