// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that are reported are bytes that are sent: what collectives between
// private memories really take from other devices, counted by what arrives,
// against bytesSent.
#include "meshloom/Core/Program.h"
#include "meshloom/Runtime/Plan/BoxMove.h"

#include <gtest/gtest.h>

using namespace meshloom;

namespace {

/// Every layout of two dims over the axes of `mesh`, with sums pending on any.
std::vector<Layout> layoutsOf(const Mesh &mesh) {
  std::vector<Layout> layouts;
  // Where each axis is: on dim 0, on dim 1, nowhere, or pending.
  const unsigned choices = 1u << (2 * mesh.rank());
  for (unsigned choice = 0; choice < choices; ++choice)
    for (bool reversed : {false, true}) {
      Layout::DimAxes dims(2);
      std::vector<Partial> partial;
      for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
        const unsigned place = choice >> (2 * axis) & 3;
        if (place < 2)
          dims[place].push_back(axis);
        else if (place == 3)
          partial.push_back({axis, ReduceKind::Sum});
      }
      bool several = false;
      for (std::vector<unsigned> &axes : dims) {
        several |= axes.size() > 1;
        if (reversed)
          std::reverse(axes.begin(), axes.end());
      }
      if (!reversed || several)
        layouts.push_back(*Layout::get(mesh, dims, partial));
    }
  return layouts;
}

constexpr int64_t width = 8; ///< bytes of an element

/// The bytes that one device takes from others, and gives to them.
struct Traffic {
  int64_t taken = 0, given = 0;
};

/// Bytes, per device. Every element of a source is one bit, that of its device,
/// so a target tells where it is from.
std::vector<Traffic> trafficOf(const Program &program,
                               const CollectiveStep &step) {
  const plan::BoxMove move(program, step, step.moves[0]);
  const BufferDecl &from = program.buffers[0], &to = program.buffers[1];
  const int64_t devices = program.mesh.size();
  std::vector<std::vector<uint64_t>> sources;
  for (int64_t d = 0; d < devices; ++d)
    sources.emplace_back(size_t(elementCount(from.localShape())), uint64_t(1)
                                                                      << d);
  std::vector<Traffic> traffic(static_cast<size_t>(devices));
  auto send = [&](int64_t giver, int64_t taker, int64_t elements) {
    traffic[size_t(giver)].given += elements * width;
    traffic[size_t(taker)].taken += elements * width;
  };
  for (int64_t d = 0; d < devices; ++d) {
    if (const int64_t first = move.sameAs(d); first >= 0) {
      send(first, d, to.box(d).count()); // made once, and copied from there
      continue;
    }
    std::vector<uint64_t> target(size_t(elementCount(to.localShape())), 0);
    move.fill(
        d,
        [&](int64_t device) {
          return reinterpret_cast<char *>(sources[size_t(device)].data());
        },
        reinterpret_cast<char *>(target.data()));
    for (uint64_t element : target)
      for (int64_t giver = 0; giver < devices; ++giver)
        if (giver != d && (element >> giver & 1))
          send(giver, d, 1);
  }
  return traffic;
}

int64_t bytesTaken(const Program &program, const CollectiveStep &step) {
  int64_t bytes = 0;
  for (const Traffic &device : trafficOf(program, step))
    bytes += device.taken;
  return bytes;
}

struct Counts {
  int64_t checked = 0, sending = 0;
};

/// Checks every collective between layouts of a [rows, columns] tensor.
Counts checkAll(const Mesh &mesh, const Shape &shape) {
  Counts counts;
  const std::vector<Layout> layouts = layoutsOf(mesh);
  for (const Layout &from : layouts)
    for (const Layout &to : layouts)
      for (CollectiveKind kind :
           {CollectiveKind::AllReduce, CollectiveKind::AllGather,
            CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
            CollectiveKind::Permute, CollectiveKind::Slice})
        for (unsigned set = 1; set < 1u << mesh.rank(); ++set) {
          std::vector<unsigned> axes;
          for (unsigned axis = 0; axis < mesh.rank(); ++axis)
            if (set >> axis & 1)
              axes.push_back(axis);
          if (from == to || !verify(CollectiveOp{kind, axes, from, to}))
            continue;
          Program program{.name = "move",
                          .mesh = mesh,
                          .buffers = {{"from", DType::UI64, shape, from},
                                      {"to", DType::UI64, shape, to}}};
          CollectiveStep step{.kind = kind, .axes = axes, .moves = {{0, 1}}};
          const int64_t reported =
              bytesSent(kind, transferBytes(program.buffers, step),
                        groupSize(mesh, axes)) *
              mesh.size();
          const int64_t taken = bytesTaken(program, step);
          ++counts.checked;
          counts.sending += taken > 0;
          // The bytes that a device sends are reported in whole bytes, rounded
          // up.
          const int64_t rounded = taken + mesh.size() - 1;
          const bool isExact = kind != CollectiveKind::Permute &&
                               from.is_even(shape) && to.is_even(shape);
          EXPECT_TRUE(taken <= reported && (!isExact || reported <= rounded))
              << name(kind) << " " << from.spec_string() << " -> "
              << to.spec_string() << " on " << mesh.spec_string() << ": "
              << taken << " bytes are taken, " << reported << " reported";
        }
  return counts;
}

} // namespace

TEST(BytesMovedTest, EvenShardsMoveWhatIsReported) {
  const Counts counts = checkAll(*Mesh::get({{"x", 2}, {"y", 4}}), {16, 24});
  EXPECT_GT(counts.checked, 100);
  EXPECT_GT(counts.sending, 80);
}

TEST(BytesMovedTest, ThreeAxesMoveWhatIsReported) {
  checkAll(*Mesh::get({{"x", 2}, {"y", 3}, {"z", 2}}), {24, 12});
}

TEST(BytesMovedTest, UnevenAndEmptyShardsMoveNoMoreThanReported) {
  checkAll(*Mesh::get({{"x", 2}, {"y", 4}}), {7, 5});
  checkAll(*Mesh::get({{"x", 3}, {"y", 4}}), {13, 2});
}

TEST(BytesMovedTest, HaloExchangesMoveTheReportedBytes) {
  const Mesh mesh = *Mesh::get({{"x", 2}, {"y", 4}});
  const Shape shape{19, 10};
  for (const Layout &layout : layoutsOf(mesh)) {
    if (layout.is_partial())
      continue;
    for (int64_t before : {0, 1, 3})
      for (int64_t after : {0, 2, 7}) {
        // Each device's rows, some before them and some behind.
        Windows windows(2);
        for (int64_t shard = 0; shard < layout.num_shards(0); ++shard) {
          const Interval block = blockOf(shape[0], layout.axes(0), mesh, shard);
          windows[0].push_back({std::max<int64_t>(block.begin - before, 0),
                                std::min(block.end + after, shape[0])});
        }
        Program program{
            .name = "move",
            .mesh = mesh,
            .buffers = {{"from", DType::UI64, shape, layout},
                        {"to", DType::UI64, shape, layout, windows}}};
        CollectiveStep step{.kind = CollectiveKind::HaloExchange,
                            .axes = haloAxes(layout, shape, windows),
                            .moves = {{0, 1}}};
        int64_t most = 0;
        for (const Traffic &device : trafficOf(program, step))
          most = std::max({most, device.taken, device.given});
        EXPECT_EQ(most, transferBytes(program.buffers, step))
            << layout.spec_string() << " windows " << to_string(windows);
      }
  }
}
