// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine models of TPUs: from a topology's name, and the public figures of
// each generation.
#include "meshloom/Core/TPUMachine.h"
#include "meshloom/Core/MachineModel.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom {

namespace {
/// The numbers of one chip. Compute is that of bf16 products with f32 sums:
/// what is f32 takes several times as long. Sources: the pages on v4, v5e, v5p
/// and v6e of Cloud TPU's documentation (docs.cloud.google.com/tpu/docs/v5e,
/// ...), which give peak compute, memory bandwidth and the bidirectional
/// bandwidth of all of a chip's links: 400 GB/s of 4 links (v5e), 800 of 4
/// (v6e), 1200 of 6 (v5p), so 50, 100 and 100 GB/s for one link in one
/// direction. v4's links have 50 GB/s: Jouppi et al., "TPU v4", ISCA 2023. A
/// hop takes about 1 us: Austin et al., "How to Scale Your Model", part 2.
struct Generation {
  std::string_view name;
  std::string_view kind; ///< what libtpu calls its devices
  size_t dims;
  int64_t devicesPerChip; ///< cores that are devices of their own
  int64_t flopsPerSecond;
  int64_t memoryBytesPerSecond;
  int64_t memoryBytes; ///< 32, 16, 95 and 32 GiB, on the same pages
  int64_t linkBytesPerSecond;
  /// A dim wraps where it is a multiple of this (and all others are): pods of
  /// v5e and v6e are 16x16, tori of v4 and v5p are made of cubes of 4x4x4.
  int64_t wrapsAt;
};
constexpr int64_t GIBI = int64_t(1) << 30;
constexpr Generation generations[] = {
    {"v4", "TPU v4", 3, 2, 275'000'000'000'000, 1'200'000'000'000, 32 * GIBI,
     50'000'000'000, 4},
    {"v5e", "TPU v5 lite", 2, 1, 197'000'000'000'000, 819'000'000'000,
     16 * GIBI, 50'000'000'000, 16},
    {"v5p", "TPU v5", 3, 1, 459'000'000'000'000, 2'765'000'000'000, 95 * GIBI,
     100'000'000'000, 4},
    {"v6e", "TPU v6 lite", 2, 1, 918'000'000'000'000, 1'638'000'000'000,
     32 * GIBI, 100'000'000'000, 16},
};
constexpr Cost hop = 1'000'000;

/// "2x4"; empty where it is not a shape.
std::vector<int64_t> shapeFrom(std::string_view text) {
  std::vector<int64_t> shape;
  const char *cursor = text.data(), *end = cursor + text.size();
  while (cursor != end) {
    int64_t size = 0;
    auto [next, failure] = std::from_chars(cursor, end, size);
    if (failure != std::errc() || size < 1 || size > 65536)
      return {};
    shape.push_back(size);
    if (next == end)
      return shape;
    if (*next != 'x')
      return {};
    cursor = next + 1;
  }
  return {};
}
} // namespace

Result<MachineModel> tpuMachine(std::string_view topology,
                                std::vector<std::vector<int64_t>> chips) {
  const size_t colon = std::min(topology.find(':'), topology.size());
  const std::string_view name = topology.substr(0, colon);
  const Generation *generation = nullptr;
  std::vector<std::string_view> names;
  for (const Generation &candidate : generations) {
    names.push_back(candidate.name);
    if (candidate.name == name)
      generation = &candidate;
  }
  auto wrong = [&](const std::string &why) {
    return Error(
        fmt::format("no machine model for the TPUs '{}': {}", topology, why));
  };
  if (!generation)
    return wrong(fmt::format("there are figures for {}; expected one of these, "
                             "a colon and the chips along each dim, as in "
                             "v5e:2x4",
                             fmt::join(names, ", ")));
  std::vector<int64_t> shape;
  if (colon < topology.size())
    shape = shapeFrom(topology.substr(colon + 1));
  if (shape.size() != generation->dims)
    return wrong(fmt::format("expected {} sizes after {}, as in {}",
                             generation->dims, name,
                             generation->dims == 2 ? "v5e:2x4" : "v4:2x2x2"));

  Torus::Description torus;
  torus.shape = shape;
  int64_t count = 1;
  bool cubes = true;
  for (int64_t size : shape) {
    count *= size;
    cubes &= size % generation->wrapsAt == 0;
  }
  for (int64_t size : shape)
    torus.wraps.push_back(
        generation->dims == 2 ? size % generation->wrapsAt == 0 : cubes);
  torus.devicesPerChip = generation->devicesPerChip;
  if (!chips.empty()) {
    // The third coordinate of a flat topology is 0.
    for (std::vector<int64_t> &chip : chips)
      while (chip.size() > shape.size() && chip.back() == 0)
        chip.pop_back();
    torus.devicesPerChip = std::max<int64_t>(int64_t(chips.size()) / count, 1);
    torus.chips = std::move(chips);
  }
  torus.linkBytesPerSecond = generation->linkBytesPerSecond;
  torus.hopLatency = hop;
  MachineModel model;
  model.name = fmt::format("tpu:{}", topology);
  model.sharedMemory = false;
  model.flopsPerSecond = generation->flopsPerSecond / torus.devicesPerChip;
  model.memoryBytesPerSecond =
      generation->memoryBytesPerSecond / torus.devicesPerChip;
  model.memoryBytes = generation->memoryBytes / torus.devicesPerChip;
  // Devices of one chip meet in its memory: one writes and one reads.
  torus.chipBytesPerSecond = generation->memoryBytesPerSecond / 2;
  model.defaultLink = {generation->linkBytesPerSecond, hop};
  Result<Torus> result = Torus::get(std::move(torus));
  if (!result)
    return wrong(result.error().message());
  model.torus = *result;
  return model;
}

std::optional<std::string>
tpuTopology(std::string_view kind,
            std::span<const std::vector<int64_t>> chips) {
  for (const Generation &generation : generations) {
    if (generation.kind != kind)
      continue;
    std::vector<int64_t> shape(generation.dims, 1);
    for (const std::vector<int64_t> &chip : chips)
      for (size_t dim = 0; dim < std::min(chip.size(), shape.size()); ++dim)
        shape[dim] = std::max(shape[dim], chip[dim] + 1);
    return fmt::format("{}:{}", generation.name, fmt::join(shape, "x"));
  }
  return std::nullopt;
}

} // namespace meshloom
