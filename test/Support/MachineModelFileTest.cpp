// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Machine models from JSON.
#include "../TemporaryFolder.h"

#include "meshloom/Support/File.h"
#include "meshloom/Support/MachineModelFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using testing::HasSubstr;

static std::string problem(const char *json) {
  auto model = parseMachineModel(json, "m.json");
  return model ? "" : model.error().message();
}

TEST(MachineModelFileTest, EmptyObjectIsTheDefault) {
  EXPECT_EQ(*parseMachineModel("{}", "m.json"), MachineModel());
  EXPECT_EQ(*parseMachineModel(R"({"preset": "ring"})", "m.json"),
            *MachineModel::preset("ring"));
}

TEST(MachineModelFileTest, EveryFieldIsRead) {
  auto model = parseMachineModel(R"({
    "name": "two racks", "shared_memory": false, "workers": 7,
    "flops_per_second": 3e11, "memory_bytes_per_second": 2e10,
    "cache_bytes_per_second": 5, "phase_boundary_ps": 6,
    "default_link": {"bytes_per_second": 100},
    "links": {"rack": {"latency_ps": 20}}})",
                                 "m.json");
  ASSERT_TRUE(model) << model.error().message();
  MachineModel expected{"two racks",           false, 7, 300'000'000'000,
                        20'000'000'000,        5,     6, {100, 0},
                        {{"rack", {100, 20}}}, {}};
  EXPECT_EQ(*model, expected);
}

TEST(MachineModelFileTest, WrongFilesSayWhere) {
  EXPECT_THAT(problem("{"),
              HasSubstr("machine model 'm.json': it is not JSON"));
  EXPECT_THAT(problem("[1]"), HasSubstr("expected an object"));
  EXPECT_THAT(problem(R"({"worker": 2})"),
              HasSubstr("unknown field 'worker': expected one of preset"));
  EXPECT_THAT(problem(R"({"workers": 0})"),
              HasSubstr("workers is 0, expected at least 1"));
  EXPECT_THAT(problem(R"({"workers": 1.5})"),
              HasSubstr("'workers' must be an integer, got 1.5"));
  EXPECT_THAT(problem(R"({"workers": 1e300})"), HasSubstr("integer"));
  EXPECT_THAT(problem(R"({"workers": "2"})"), HasSubstr("integer"));
  EXPECT_THAT(problem(R"({"shared_memory": 1})"), HasSubstr("true or false"));
  EXPECT_THAT(problem(R"({"preset": "rings"})"),
              HasSubstr("unknown machine model 'rings'"));
  EXPECT_THAT(problem(R"({"links": {"x": {"bandwidth": 1}}})"),
              HasSubstr("links.x: unknown field 'bandwidth'"));
  EXPECT_THAT(problem(R"({"library_launch_ps": 3})"),
              HasSubstr("'library_launch_ps' must map names to times"));
  EXPECT_THAT(problem(R"({"ordering_ps": {"sorts": 2}})"),
              HasSubstr("no 'sorts', only sort, merge and top_k"));
  EXPECT_THAT(problem(R"({"library_launch_ps": {"gather": "2 us"}})"),
              HasSubstr("'library_launch_ps.gather' must be an integer"));
  EXPECT_THAT(problem(R"({"library_launch_ps": {"gather": -2}})"),
              HasSubstr("library_launch_ps.gather is -2"));
  EXPECT_THAT(problem(R"({"links": {"x": 3}})"),
              HasSubstr("links.x: expected an object, got 3"));
  EXPECT_THAT(problem(R"({"links": {"x": {"bytes_per_second": -1}}})"),
              HasSubstr("links.x.bytes_per_second is -1"));
}

TEST(MachineModelFileTest, PresetsAndFilesByName) {
  EXPECT_EQ(loadMachineModel("ring-latency")->defaultLink.latency, 5'000'000);
  const test::TemporaryFolder folder;
  const std::string path = folder / "machine.json";
  ASSERT_TRUE(writeFile(path, R"({"preset": "ring", "workers": 3})"));
  EXPECT_EQ(loadMachineModel(path)->workers, 3);
  EXPECT_THAT(loadMachineModel("rong").error().message(),
              HasSubstr("expected shared-memory, ring, ring-latency"));
}

// An option of a pass is a preset's name, or the model as JSON.
TEST(MachineModelFileTest, TextRoundTrips) {
  for (const std::string &name : MachineModel::presetNames())
    EXPECT_EQ(machineModelText(*MachineModel::preset(name)), name);
  MachineModel machine;
  machine.name = "own";
  machine.workers = 5;
  machine.links["x"] = {7, 8};
  machine.packBytesPerSecond = 9;
  machine.productLaunch = 10;
  machine.libraryLaunch["gather"] = 11;
  machine.ordering["merge"] = 12;
  auto back = loadMachineModel(machineModelText(machine));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, machine);
}

// A machine of one's own: two rows of four chips, the second one backwards.
TEST(MachineModelFileTest, TorusesAreReadAndWritten) {
  auto model = parseMachineModel(R"({"preset": "ring", "torus": {
    "shape": [4, 2], "wraps": [true, false], "devices_per_chip": 1,
    "link_bytes_per_second": 3e10, "hop_latency_ps": 5,
    "chip_bytes_per_second": 7e10,
    "chips": [[0, 0], [1, 0], [2, 0], [3, 0],
              [3, 1], [2, 1], [1, 1], [0, 1]]}})",
                                 "m.json");
  ASSERT_TRUE(model) << model.error().message();
  const Torus::Description &torus = model->torus->description();
  EXPECT_EQ(torus.shape, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(torus.wraps, (std::vector<bool>{true, false}));
  EXPECT_EQ(torus.linkBytesPerSecond, 30'000'000'000);
  EXPECT_EQ(torus.hopLatency, 5);
  EXPECT_EQ(torus.chipBytesPerSecond, 70'000'000'000);
  EXPECT_FALSE(model->torus->isInOrder());
  EXPECT_EQ(*loadMachineModel(machineModelText(*model)), *model);
}

TEST(MachineModelFileTest, TPUsByTopology) {
  auto model = loadMachineModel("tpu:v5e:2x4");
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(*model, *MachineModel::preset("tpu:v5e:2x4"));
  EXPECT_EQ(machineModelText(*model), "tpu:v5e:2x4");
  // Chips that libtpu would list in another order are written out.
  auto other = tpuMachine("v5e:1x2", {{0, 1, 0}, {0, 0, 0}});
  ASSERT_TRUE(other) << other.error().message();
  EXPECT_EQ(*loadMachineModel(machineModelText(*other)), *other);
  EXPECT_FALSE(*other == *MachineModel::preset("tpu:v5e:1x2"));
}

TEST(MachineModelFileTest, WrongTorusesSayWhy) {
  auto wrong = [](const std::string &torus) {
    return problem(("{\"torus\": " + torus + "}").c_str());
  };
  EXPECT_THAT(wrong("[]"), HasSubstr("torus: expected an object"));
  EXPECT_THAT(wrong(R"({"shape": "2x4"})"),
              HasSubstr("torus: 'shape' must be a list of integers"));
  EXPECT_THAT(wrong(R"({"shape": [2], "wraps": [1]})"),
              HasSubstr("'wraps' must be a list of true and false"));
  EXPECT_THAT(wrong(R"({"shape": [2], "chips": [0, 1]})"),
              HasSubstr("'chips' must be a list of coordinates"));
  EXPECT_THAT(wrong(R"({"shape": [2], "chips": [[0], [2]]})"),
              HasSubstr("torus of 2 chips: there is no chip at (2)"));
  EXPECT_THAT(wrong(R"({"shape": [2], "form": 1})"),
              HasSubstr("unknown field 'form'"));
}
