// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The links that chips on a grid give to the axes of a mesh.
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Core/TPUMachine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;

namespace {
using Coords = std::vector<int64_t>;
constexpr int64_t GB = 1'000'000'000;

Mesh meshOf(const std::vector<int64_t> &sizes) {
  std::vector<MeshAxis> axes;
  for (int64_t size : sizes)
    axes.push_back({"axis" + std::to_string(axes.size()), size});
  return Mesh::get(axes).value_or_throw();
}

/// Links of 50 GB/s and 1 us.
Torus torusOf(const Coords &shape, std::vector<bool> wraps,
              std::vector<Coords> chips = {}, int64_t devicesPerChip = 1) {
  Torus::Description about;
  about.shape = shape;
  about.wraps = std::move(wraps);
  about.hopLatency = 1'000'000;
  about.chips = std::move(chips);
  about.devicesPerChip = devicesPerChip;
  about.chipBytesPerSecond = 400 * GB;
  return Torus::get(about).value_or_throw();
}

std::vector<int64_t> ringRates(const Torus &torus, const Mesh &mesh) {
  std::vector<int64_t> rates;
  for (unsigned axis = 0; axis < mesh.rank(); ++axis)
    rates.push_back(torus.link(mesh, axis).bytesPerSecond / GB);
  return rates;
}
std::vector<Cost> hops(const Torus &torus, const Mesh &mesh) {
  std::vector<Cost> found;
  for (unsigned axis = 0; axis < mesh.rank(); ++axis)
    found.push_back(torus.link(mesh, axis).latency / 1'000'000);
  return found;
}

// A ring of links carries half the data each way round; on a line both ways use
// the same links.
TEST(TorusTest, RingsAreTwiceAsFastAsLines) {
  EXPECT_EQ(ringRates(torusOf({8}, {true}), meshOf({8})), Coords{100});
  EXPECT_EQ(ringRates(torusOf({8}, {false}), meshOf({8})), Coords{50});
  EXPECT_EQ(hops(torusOf({8}, {true}), meshOf({8})), Coords{4});
  EXPECT_EQ(hops(torusOf({8}, {false}), meshOf({8})), Coords{7});
}

// The example of the class: axes that are a row, a part of a row, and every
// fourth chip of one.
TEST(TorusTest, AxesThatCutADim) {
  const Torus torus = torusOf({16, 16}, {true, true});
  EXPECT_EQ(ringRates(torus, meshOf({16, 4, 4})), (Coords{100, 25, 50}));
  EXPECT_EQ(hops(torus, meshOf({16, 4, 4})), (Coords{8, 8, 3}));
}

// One axis over all chips goes along the rows; from a row's end to the next
// row's start it takes the row's links once more. Where every second row is
// numbered backwards, it goes from neighbour to neighbour.
TEST(TorusTest, OneAxisOverAllChips) {
  EXPECT_EQ(ringRates(torusOf({2, 4}, {false, true}), meshOf({8})), Coords{50});
  const Torus backwards = torusOf({2, 4}, {false, true},
                                  {{0, 0},
                                   {1, 0},
                                   {1, 1},
                                   {0, 1}, //
                                   {0, 2},
                                   {1, 2},
                                   {1, 3},
                                   {0, 3}});
  EXPECT_EQ(ringRates(backwards, meshOf({8})), Coords{100});
}

// Which axis is fast follows from where its devices are, not from its name.
TEST(TorusTest, ChipsInAnotherOrder) {
  std::vector<Coords> columns;
  for (int64_t x = 0; x < 4; ++x)
    for (int64_t y = 0; y < 16; ++y)
      columns.push_back({x, y});
  EXPECT_EQ(ringRates(torusOf({4, 16}, {false, true}), meshOf({16, 4})),
            (Coords{100, 50}));
  EXPECT_EQ(
      ringRates(torusOf({4, 16}, {false, true}, columns), meshOf({4, 16})),
      (Coords{50, 100}));
}

// Devices of a chip meet in its memory; between chips they share the links.
TEST(TorusTest, SeveralDevicesOfAChip) {
  const Torus torus = torusOf({4}, {false}, {}, 2);
  EXPECT_EQ(ringRates(torus, meshOf({4, 2})), (Coords{25, 400}));
  EXPECT_EQ(hops(torus, meshOf({4, 2})), (Coords{3, 0}));
}

// An exchange sends through others: from one half of 16 chips in a ring 64
// messages pass to the other, over four links in two directions.
TEST(TorusTest, ExchangesShareLinks) {
  const AxisLink link = torusOf({16}, {true}).link(meshOf({16}), 0);
  EXPECT_EQ(link.bytesPerSecond, 100 * GB);
  EXPECT_EQ(link.allToAllBytesPerSecond, 50 * GB * 15 / 32);
  // Neighbours only have each other.
  EXPECT_EQ(torusOf({2}, {false}).link(meshOf({2}), 0).allToAllBytesPerSecond,
            50 * GB);
}

TEST(TorusTest, WrongOnesSayWhy) {
  auto wrong = [](Coords shape, std::vector<bool> wraps,
                  std::vector<Coords> chips = {}, int64_t devices = 1) {
    Torus::Description about;
    about.shape = std::move(shape);
    about.wraps = std::move(wraps);
    about.chips = std::move(chips);
    about.devicesPerChip = devices;
    return Torus::get(about).error().message();
  };
  EXPECT_THAT(wrong({}, {}), HasSubstr("one to three dims"));
  EXPECT_THAT(wrong({2, 0}, {false, false}), HasSubstr("torus of 2x0 chips"));
  EXPECT_THAT(wrong({1 << 30, 1 << 30, 1 << 30}, {false, false, false}),
              HasSubstr("more than 65536"));
  EXPECT_THAT(wrong({2}, {false}, {}, 0), HasSubstr("with 0 devices"));
  EXPECT_THAT(wrong({2}, {}), HasSubstr("'wrap' has entries for"));
  EXPECT_THAT(wrong({2}, {false}, {{0}}),
              HasSubstr("expected the chips of 2 devices, got 1"));
  EXPECT_THAT(wrong({2}, {false}, {{0}, {0, 0}}),
              HasSubstr("no chip at (0, 0)"));
}

// ---- TPUs

// The coordinates that libtpu reports for a pod of v4 with 2x2x2 chips: two
// cores each are devices.
const std::vector<Coords> v4Chips = {
    {0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0},
    {1, 1, 0}, {1, 1, 0}, {0, 0, 1}, {0, 0, 1}, {1, 0, 1}, {1, 0, 1},
    {0, 1, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}};
// The coordinates of v5e:2x4, with the third coordinate that libtpu gives flat
// ones too.
const std::vector<Coords> v5eChips = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},
                                      {1, 1, 0}, {0, 2, 0}, {1, 2, 0},
                                      {0, 3, 0}, {1, 3, 0}};

TEST(TPUMachineTest, NamesGiveWhatLibtpuSays) {
  EXPECT_EQ(*tpuMachine("v4:2x2x2", v4Chips),
            *MachineModel::preset("tpu:v4:2x2x2"));
  EXPECT_EQ(*tpuMachine("v5e:2x4", v5eChips),
            *MachineModel::preset("tpu:v5e:2x4"));
}

// From what a client of TPUs says of its devices.
TEST(TPUMachineTest, ChipsGiveTheName) {
  EXPECT_EQ(tpuTopology("TPU v4", v4Chips), "v4:2x2x2");
  EXPECT_EQ(tpuTopology("TPU v5 lite", v5eChips), "v5e:2x4");
  EXPECT_EQ(tpuTopology("TPU v3", v4Chips), std::nullopt);
}

TEST(TPUMachineTest, EachGenerationHasItsFigures) {
  const MachineModel v5e = *MachineModel::preset("tpu:v5e:16x16");
  EXPECT_FALSE(v5e.sharedMemory);
  EXPECT_EQ(v5e.flopsPerSecond, 197'000 * GB);
  EXPECT_EQ(v5e.memoryBytesPerSecond, 819 * GB);
  EXPECT_EQ(v5e.torus->size(), 256);
  EXPECT_TRUE(v5e.verify());
  // Half a chip.
  EXPECT_EQ(MachineModel::preset("tpu:v4:2x2x2")->memoryBytesPerSecond,
            600 * GB);
  EXPECT_EQ(MachineModel::preset("tpu:v4:2x2x2")->torus->size(), 16);
}

// Pods of v5e close their rows to rings, parts of them do not; cubes of v5p do.
TEST(TPUMachineTest, WhereRowsAreRings) {
  auto wraps = [](const char *name) {
    return MachineModel::preset(name)->torus->description().wraps;
  };
  using Wraps = std::vector<bool>;
  EXPECT_EQ(wraps("tpu:v5e:16x16"), (Wraps{true, true}));
  EXPECT_EQ(wraps("tpu:v6e:8x16"), (Wraps{false, true}));
  EXPECT_EQ(wraps("tpu:v5e:2x4"), (Wraps{false, false}));
  EXPECT_EQ(wraps("tpu:v5p:4x4x8"), (Wraps{true, true, true}));
  EXPECT_EQ(wraps("tpu:v5p:2x4x4"), (Wraps{false, false, false}));
}

// 100 MB are gathered four times as fast along a column, which is a ring of 16
// links, as along every fourth chip of a row; what is said of an axis by name
// goes first; meshes of another size have a link between neighbours.
TEST(TPUMachineTest, CollectivesArePricedByTheAxis) {
  MachineModel machine = *MachineModel::preset("tpu:v5e:16x16");
  const Mesh mesh = meshOf({16, 4, 4});
  auto time = [&](const Mesh &mesh, unsigned axis, CollectiveKind kind) {
    const Layout full = Layout::replicated(mesh, 1);
    return machine.transfer({kind, {axis}, full, full}, 100'000'000,
                            100'000'000);
  };
  using enum CollectiveKind;
  EXPECT_EQ(time(mesh, 0, AllGather),
            timeFor(bytesSent(AllGather, 100'000'000, 16), 100 * GB));
  EXPECT_EQ(time(mesh, 1, AllGather),
            timeFor(bytesSent(AllGather, 100'000'000, 4), 25 * GB));
  EXPECT_EQ(time(mesh, 0, AllToAll),
            timeFor(bytesSent(AllToAll, 100'000'000, 16), 50 * GB * 15 / 32));
  EXPECT_EQ(machine.link(meshOf({8}), 0).bytesPerSecond, 50 * GB);
  machine.links["axis1"] = {7 * GB, 3};
  EXPECT_EQ(machine.link(mesh, 1).bytesPerSecond, 7 * GB);
  EXPECT_EQ(machine.link(mesh, 0).bytesPerSecond, 100 * GB);
}

TEST(TPUMachineTest, HashFollowsThePlaces) {
  const MachineModel one = *MachineModel::preset("tpu:v5e:2x4");
  std::vector<Coords> chips = v5eChips;
  std::swap(chips[0], chips[7]);
  const MachineModel other = *tpuMachine("v5e:2x4", chips);
  EXPECT_FALSE(one == other);
  EXPECT_NE(one.hash(), other.hash());
  EXPECT_EQ(one.hash(), tpuMachine("v5e:2x4", v5eChips)->hash());
}

TEST(TPUMachineTest, WrongNamesSayWhatIsRight) {
  auto wrong = [](const char *name) {
    return MachineModel::preset(name).error().message();
  };
  EXPECT_THAT(wrong("tpu:v3:2x2"),
              HasSubstr("there are figures for v4, v5e, v5p, v6e"));
  EXPECT_THAT(wrong("tpu:"), HasSubstr("there are figures for"));
  for (const char *name :
       {"tpu:v5e", "tpu:v5e:", "tpu:v5e:2x2x2", "tpu:v5e:2x", "tpu:v5e:0x4",
        "tpu:v5e:2y4", "tpu:v5e:99999999999999999999x2"})
    EXPECT_THAT(wrong(name), HasSubstr("expected 2 sizes after v5e, as in "
                                       "v5e:2x4"))
        << name;
  EXPECT_THAT(wrong("tpu:v5e:60000x60000"), HasSubstr("more than 65536"));
  EXPECT_THAT(tpuMachine("v5e:2x4", {{0, 0}, {1, 0}}).error().message(),
              HasSubstr("expected the chips of 8 devices, got 2"));
}
} // namespace
