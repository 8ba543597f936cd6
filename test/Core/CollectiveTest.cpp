// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives: bytes, names, what the verifier accepts and says; machine
// models.
#include "meshloom/Core/MachineModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;
using enum CollectiveKind;

namespace {
const Mesh mesh = *Mesh::get({{"x", 2}, {"y", 4}});
constexpr unsigned X = 0, Y = 1;

std::string check(CollectiveKind kind, std::vector<unsigned> axes, Layout from,
                  Layout to) {
  Status status = verify({kind, std::move(axes), from, to});
  return status ? "" : status.error().message();
}
Layout partial(Layout layout, std::vector<unsigned> axes,
               ReduceKind kind = ReduceKind::Sum) {
  std::vector<Partial> list;
  for (unsigned axis : axes)
    list.push_back({axis, kind});
  return layout.with_partial(list);
}
} // namespace

TEST(CollectiveTest, NamesRoundTrip) {
  for (unsigned i = 0; i < 6; ++i)
    EXPECT_EQ(parseCollectiveKind(name(CollectiveKind(i))), CollectiveKind(i));
  EXPECT_FALSE(parseCollectiveKind("broadcast"));
}

TEST(CollectiveTest, BytesSentByTheRingAlgorithm) {
  EXPECT_EQ(bytesSent(AllReduce, 800, 8), 1400);
  EXPECT_EQ(bytesSent(AllGather, 800, 8), 700);
  EXPECT_EQ(bytesSent(AllToAll, 800, 8), 700);
  EXPECT_EQ(bytesSent(ReduceScatter, 100, 8), 700);
  EXPECT_EQ(bytesSent(Permute, 800, 8), 800);
  EXPECT_EQ(bytesSent(Slice, 800, 8), 0);
  // Rounded up; nothing in a group of one.
  EXPECT_EQ(bytesSent(AllReduce, 4, 8), 7);
  EXPECT_EQ(bytesSent(AllGather, 10, 4), 8);
  for (unsigned i = 0; i < 6; ++i)
    EXPECT_EQ(bytesSent(CollectiveKind(i), 1000, 1), 0);
  // 128 bits inside.
  EXPECT_EQ(bytesSent(AllGather, INT64_MAX / 2, 2), INT64_MAX / 4 + 1);
}

TEST(CollectiveTest, VerifierAccepts) {
  Layout full = Layout::replicated(mesh, 2);
  EXPECT_EQ(check(AllReduce, {X, Y}, partial(full, {X, Y}), full), "");
  EXPECT_EQ(check(AllReduce, {Y}, partial(full, {X, Y}), partial(full, {X})),
            "");
  EXPECT_EQ(
      check(AllGather, {X, Y}, Layout({Axes{"x", "y"}, UNSHARDED}, mesh), full),
      "");
  EXPECT_EQ(check(AllGather, {Y}, Layout({Axes{"x", "y"}, UNSHARDED}, mesh),
                  Layout({"x", UNSHARDED}, mesh)),
            "");
  EXPECT_EQ(check(ReduceScatter, {Y},
                  partial(Layout({"x", UNSHARDED}, mesh), {Y}),
                  Layout({Axes{"x", "y"}, UNSHARDED}, mesh)),
            "");
  EXPECT_EQ(check(AllToAll, {Y}, Layout({Axes{"x", "y"}, UNSHARDED}, mesh),
                  Layout({"x", "y"}, mesh)),
            "");
  // An all_to_all of several axes may leave them in a different order.
  EXPECT_EQ(check(AllToAll, {X, Y}, Layout({Axes{"x", "y"}, UNSHARDED}, mesh),
                  Layout({UNSHARDED, Axes{"y", "x"}}, mesh)),
            "");
  EXPECT_EQ(check(AllToAll, {X, Y},
                  Layout({"x", UNSHARDED, "y", UNSHARDED}, mesh),
                  Layout({UNSHARDED, "y", UNSHARDED, "x"}, mesh)),
            "");
  EXPECT_EQ(check(Permute, {X, Y}, Layout({Axes{"x", "y"}, UNSHARDED}, mesh),
                  Layout({Axes{"y", "x"}, UNSHARDED}, mesh)),
            "");
  EXPECT_EQ(check(Permute, {X, Y}, Layout({"x", "y"}, mesh),
                  Layout({"y", "x"}, mesh)),
            "");
  EXPECT_EQ(check(Permute, {X, Y}, Layout({"x"}, mesh), Layout({"y"}, mesh)),
            "");
  EXPECT_EQ(check(Slice, {X, Y}, full, Layout({"y", "x"}, mesh)), "");
}

TEST(CollectiveTest, VerifierRejectsInTheUsersNames) {
  Layout full = Layout::replicated(mesh, 2), x({"x", UNSHARDED}, mesh),
         xy({Axes{"x", "y"}, UNSHARDED}, mesh);
  EXPECT_THAT(check(AllReduce, {X}, full, full),
              HasSubstr("all_reduce over [x] cannot turn [*, *] into [*, *]: "
                        "the source is not partial"));
  EXPECT_THAT(check(AllReduce, {X}, partial(full, {X}), x),
              HasSubstr("dims must stay"));
  EXPECT_THAT(check(AllReduce, {X}, partial(full, {X, Y}), full),
              HasSubstr("exactly the axes"));
  EXPECT_THAT(check(AllGather, {X}, xy, full), HasSubstr("[x, y]"));
  EXPECT_THAT(check(AllGather, {X}, xy, Layout({"y", UNSHARDED}, mesh)),
              HasSubstr("minor axes"));
  EXPECT_THAT(check(AllGather, {X}, partial(x, {Y}), full),
              HasSubstr("pending reductions"));
  EXPECT_THAT(check(Slice, {X}, full, Layout({"y", UNSHARDED}, mesh)),
              HasSubstr("[y]"));
  EXPECT_THAT(check(ReduceScatter, {X}, full, x), HasSubstr("not partial"));
  EXPECT_THAT(check(AllToAll, {X}, xy, Layout({UNSHARDED, "x"}, mesh)),
              HasSubstr("must be gained by another dim"));
  EXPECT_THAT(check(AllToAll, {X}, full, x),
              HasSubstr("must be gained by another dim"));
  EXPECT_THAT(check(AllToAll, {X}, xy, Layout({"y", "x"}, mesh)),
              HasSubstr("dim 0 must keep its axes"));
  EXPECT_THAT(check(AllToAll, {X, Y}, Layout({"x", "y"}, mesh),
                    Layout({"y", "x"}, mesh)),
              HasSubstr("dim 0 must keep its axes"));
  EXPECT_THAT(
      check(AllToAll, {X}, xy, Layout({UNSHARDED, Axes{"x", "y"}}, mesh)),
      HasSubstr("[x, y]"));
  EXPECT_THAT(check(Permute, {X}, x, Layout({"y", UNSHARDED}, mesh)),
              HasSubstr("axis 'y' changes its place"));
  EXPECT_THAT(
      check(Permute, {X}, xy, Layout({Axes{"y", "x"}, UNSHARDED}, mesh)),
      HasSubstr("axis 'y' changes its place"));
  EXPECT_THAT(check(Slice, {}, full, full), HasSubstr("at least one"));
  EXPECT_THAT(check(Slice, {X, X}, full, x), HasSubstr("twice"));
  EXPECT_THAT(check(Slice, {9}, full, x), HasSubstr("axis 9"));
  EXPECT_THAT(check(Slice, {X}, full, Layout::replicated(mesh, 1)),
              HasSubstr("ranks 2 and 1"));
  EXPECT_THAT(
      check(Slice, {X}, full, Layout::replicated(*Mesh::get({{"z", 8}}), 2)),
      HasSubstr("different meshes"));
}

TEST(MachineModelTest, Presets) {
  EXPECT_EQ(MachineModel::preset("shared-memory")->workers, 2);
  EXPECT_TRUE(MachineModel::preset("shared-memory")->sharedMemory);
  EXPECT_EQ(MachineModel::preset("ring")->defaultLink.latency, 0);
  EXPECT_EQ(MachineModel::preset("ring-latency")->defaultLink.latency, 5000000);
  EXPECT_THAT(MachineModel::preset("rings").error().message(),
              HasSubstr("unknown machine model 'rings'"));
}

// The slower of compute and memory; totals over the workers in shared memory.
TEST(MachineModelTest, LocalWork) {
  Work work{.flops = 200'000'000,
            .bytes = 1'000,
            .totalFlops = 1'600'000'000,
            .totalBytes = 8'000,
            .shards = 8};
  constexpr Cost millisecond = 1'000'000'000;
  EXPECT_EQ(MachineModel::preset("ring")->work(work), millisecond);
  EXPECT_EQ(MachineModel().work(work), 4 * millisecond);
  work.shards = 1;
  work.splittable = false;
  EXPECT_EQ(MachineModel().work(work), 8 * millisecond);
  work.bytes = 1'000'000'000;
  EXPECT_EQ(MachineModel::preset("ring")->work(work), 10 * millisecond);
}

TEST(MachineModelTest, CollectivesUseTheSlowestLink) {
  MachineModel machine = *MachineModel::preset("ring");
  machine.links["y"] = {1'000'000'000, 7};
  Layout full = Layout::replicated(mesh, 1);
  CollectiveOp both{AllGather, {X, Y}, Layout({Axes{"x", "y"}}, mesh), full};
  EXPECT_EQ(machine.collective(both, 8000, 8000), 7 + 7'000'000);
  CollectiveOp fast{AllGather, {X}, Layout({"x"}, mesh), full};
  EXPECT_EQ(machine.collective(fast, 8000, 8000), 400'000);
  CollectiveOp slice{Slice, {X}, full, Layout({"x"}, mesh)};
  EXPECT_EQ(machine.collective(slice, 4000, 8000), 0);
}

// An all_reduce waits for its addends and for its result; a slice for nothing.
TEST(MachineModelTest, SharedMemoryWaitsAtBoundaries) {
  MachineModel machine;
  Layout full = Layout::replicated(mesh, 1), x({"x"}, mesh);
  EXPECT_EQ(machine.overhead({AllReduce, {X}, partial(full, {X}), full}),
            2 * machine.phaseBoundary);
  EXPECT_EQ(machine.overhead({ReduceScatter, {X}, partial(full, {X}), x}),
            machine.phaseBoundary);
  EXPECT_EQ(machine.overhead({AllGather, {X}, x, full}), machine.phaseBoundary);
  EXPECT_EQ(machine.overhead({Slice, {X}, full, x}), 0);
  // Two addends loaded, one result stored, by two workers at 25 GB/s.
  EXPECT_EQ(machine.transfer({AllReduce, {X}, partial(full, {X}), full},
                             1'000'000, 1'000'000),
            60'000'000);
}

TEST(MachineModelTest, HashFollowsContent) {
  MachineModel a, b;
  EXPECT_EQ(a.hash(), b.hash());
  b.links["x"].latency = 1;
  EXPECT_NE(a.hash(), b.hash());
}

TEST(MachineModelTest, VerifyNamesTheField) {
  MachineModel machine;
  EXPECT_TRUE(machine.verify());
  machine.links["x"].bytesPerSecond = 0;
  EXPECT_THAT(machine.verify().error().message(),
              HasSubstr("links.x.bytes_per_second is 0"));
}

TEST(MachineModelTest, TimesDoNotOverflow) {
  EXPECT_EQ(timeFor(1, 3), 333'333'333'334);
  EXPECT_EQ(timeFor(INT64_MAX, 1), INT64_MAX / 4);
}
