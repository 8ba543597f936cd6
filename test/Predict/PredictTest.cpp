// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predictions of programs that are written by hand, against numbers worked out
// from the machine's figures.
#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/MachineModelFile.h"
#include "meshloom/Support/PredictionFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom {
namespace {
using testing::HasSubstr;

Mesh meshOf(std::vector<MeshAxis> axes) {
  return *Mesh::get(std::move(axes));
}

/// Devices that do 10^12 operations and move 10^11 bytes a second, 10^10 over
/// links, with 2 us for a launch and 3 us for a collective.
MachineModel machine() {
  MachineModel model = *MachineModel::preset("ring");
  model.flopsPerSecond = 1'000'000'000'000;
  model.memoryBytesPerSecond = 100'000'000'000;
  model.launch = 2'000'000;
  model.defaultLink = {10'000'000'000, 3'000'000};
  return model;
}

/// [1000, 1000] x [1000, width] in f32 with the contraction cut over x = 4, the
/// sum of which all devices get, beside a second product that is not sent.
Program products(int64_t width = 1000) {
  const Mesh mesh = meshOf({{"x", 4}});
  const Layout columns = *Layout::get(mesh, {{}, {0}}),
               rows = *Layout::get(mesh, {{0}, {}}),
               whole = Layout::replicated(mesh, 2),
               sums = *Layout::get(mesh, {{}, {}}, {{0, ReduceKind::Sum}});
  Program program{.name = "products", .mesh = mesh};
  auto add = [&](const char *name, const Layout &layout) {
    program.buffers.push_back({name, DType::F32, {1000, width}, layout});
    return unsigned(program.buffers.size() - 1);
  };
  const unsigned lhs = add("lhs", columns), rhs = add("rhs", rows),
                 partial = add("partial", sums), sum = add("sum", whole),
                 second = add("second", sums);
  program.buffers[lhs].shape[1] = 1000;
  program.arguments = {{lhs, "lhs"}, {rhs, "rhs"}};
  auto access = [](unsigned first, unsigned second) {
    return std::vector<DimAccess>{{0, {{first, 1}}}, {0, {{second, 1}}}};
  };
  auto product = [&](unsigned out) {
    DotStep dot{.loops = {{1000}, {width}, {1000, true, {0}}},
                .lhs = {lhs, access(0, 2)},
                .rhs = {rhs, access(2, 1)},
                .out = {out, access(0, 1)},
                .note = {"model.py:3", "matmul"}};
    program.steps.emplace_back(std::move(dot));
  };
  product(partial);
  program.steps.emplace_back(
      CollectiveStep{.kind = CollectiveKind::AllReduce,
                     .axes = {0},
                     .moves = {{partial, sum}},
                     .note = {"model.py:3", "all_reduce"}});
  product(second);
  program.results = {{sum, -1, "sum"}};
  return program;
}

Prediction predicted(const Program &program, const MachineModel &model) {
  Result<Prediction> prediction = predict(Compiled(program), model);
  EXPECT_TRUE(prediction) << (prediction ? "" : prediction.error().message());
  return prediction ? *prediction : Prediction();
}

// A product of 500 MFLOP takes 500 us, an all_reduce of 4 MB 2 * 3/4 * 4 MB at
// 10 GB/s.
TEST(PredictTest, StepsTakeTheirWorkAndALaunch) {
  const Prediction prediction = predicted(products(), machine());
  ASSERT_EQ(prediction.steps.size(), 3U);
  EXPECT_EQ(prediction.steps[0].flops, 500'000'000);
  EXPECT_EQ(prediction.steps[0].bytes, 6'000'000);
  EXPECT_EQ(prediction.steps[0].time, 502'000'000);
  EXPECT_EQ(prediction.steps[1].bytesSent, 6'000'000);
  EXPECT_EQ(prediction.steps[1].time, 603'000'000);
  EXPECT_EQ(prediction.launches, 2);
  EXPECT_EQ(prediction.collectives, 1);
  EXPECT_EQ(prediction.collectiveTime, 603'000'000);
}

TEST(PredictTest, WorkThatDoesNotWaitOverlapsACollective) {
  const Prediction prediction = predicted(products(), machine());
  EXPECT_EQ(prediction.serialTime, (502 + 603 + 502) * int64_t(1'000'000));
  EXPECT_EQ(prediction.time, (502 + 603) * int64_t(1'000'000));
  EXPECT_EQ(prediction.steps[2].begin, 502'000'000);
}

TEST(PredictTest, SlowMemorySetsThePace) {
  MachineModel model = machine();
  model.memoryBytesPerSecond = 1'000'000'000; // 6 MB take 6 ms
  EXPECT_EQ(predicted(products(), model).steps[0].time, 6'002'000'000);
}

TEST(PredictTest, ProductsOfFloatsHaveARateOfTheirOwn) {
  MachineModel model = machine();
  model.floatFlopsPerSecond = 500'000'000'000;
  EXPECT_EQ(predicted(products(), model).steps[0].time, 1'002'000'000);
}

// The 6 MB of operands and results take 60 us beside the 510 us of operations.
TEST(PredictTest, ProductsThatPackOperandsTakeBothTimes) {
  MachineModel model = machine();
  model.packBytesPerSecond = 100'000'000'000;
  model.productLaunch = 1'000'000;
  EXPECT_EQ(predicted(products(), model).steps[0].time, 571'000'000);
}

// 20 columns are two registers, one of them masked, and take as long as 2.75
// registers: 22 us instead of 10.
TEST(PredictTest, ProductsOfFewColumnsHaveIdleLanes) {
  MachineModel model = machine();
  model.packBytesPerSecond = 100'000'000'000;
  const Prediction prediction = predicted(products(/*width=*/20), model);
  EXPECT_EQ(prediction.steps[0].flops, 10'000'000);
  EXPECT_EQ(prediction.steps[0].bytes, 1'100'000);
  EXPECT_EQ(prediction.steps[0].time, 2'000'000 + 22'000'000 + 11'000'000);
}

// 6 MB take 3 ms in the cache and 6 ms in memory.
TEST(PredictTest, TheCacheHoldsAPartOfTheBytes) {
  MachineModel model = machine();
  model.memoryBytesPerSecond = 1'000'000'000;
  model.cacheBytesPerSecond = 2'000'000'000;
  auto time = [&](int64_t cacheBytes) {
    model.cacheBytes = cacheBytes;
    return predicted(products(), model).steps[0].time;
  };
  EXPECT_EQ(time(6'000'000), 3'002'000'000);
  // 2 MB are left in a cache of 4 MB; twice as many as it has leave nothing.
  EXPECT_EQ(time(4'000'000), 5'002'000'000);
  EXPECT_EQ(time(3'000'000), 6'002'000'000);
}

/// Sixteen products [rows, 64] x [64, columns], whose right operands lie along
/// their terms or not.
Program batch(int64_t rows, int64_t columns, bool isTransposed) {
  const Mesh mesh = meshOf({{"x", 1}});
  const Layout whole = Layout::replicated(mesh, 3);
  Program program{.name = "batch", .mesh = mesh};
  program.buffers = {
      {"lhs", DType::F32, {16, rows, 64}, whole},
      {"rhs", DType::F32,
       isTransposed ? Shape{16, columns, 64} : Shape{16, 64, columns}, whole},
      {"out", DType::F32, {16, rows, columns}, whole}};
  auto access = [](unsigned first, unsigned second) {
    return std::vector<DimAccess>{
        {0, {{0, 1}}}, {0, {{first, 1}}}, {0, {{second, 1}}}};
  };
  program.steps.emplace_back(
      DotStep{.loops = {{16}, {rows}, {columns}, {64, true}},
              .lhs = {0, access(1, 3)},
              .rhs = {1, isTransposed ? access(2, 3) : access(3, 2)},
              .out = {2, access(1, 2)}});
  program.arguments = {{0, "lhs"}, {1, "rhs"}};
  program.results = {{2, -1, "out"}};
  return program;
}

Cost timeOfBatch(int64_t rows, int64_t columns, bool isTransposed) {
  MachineModel model = machine();
  model.packBytesPerSecond = 1'000'000'000'000'000;
  model.productLaunch = 4'000'000; // 2 us more than the launch
  return predicted(batch(rows, columns, isTransposed), model).steps[0].time;
}

// Each of 15 more products takes 1 us; small ones are one call. The work is
// that of registers: 64 columns are four, and a quarter of one.
TEST(PredictTest, ProductsOfABatchBeginOneByOne) {
  const Cost work = 2 * 16 * 64 * 64 * 64 * 17 / 16;
  EXPECT_NEAR(timeOfBatch(64, 64, false), 4'000'000 + 15'000'000 + work,
              10'000);
  const Cost smallWork = 2 * 16 * 4 * 16 * 64 * 5 / 4;
  EXPECT_NEAR(timeOfBatch(4, 16, false), 4'000'000 + smallWork, 10'000);
}

// 0.4 ns for each of 16 x 64 x 64 elements.
TEST(PredictTest, RightOperandsAlongTheirTermsAreTurned) {
  EXPECT_EQ(timeOfBatch(64, 64, true) - timeOfBatch(64, 64, false), 26'214'400);
}

// Rows of 84 floats do not begin at registers; many rows are packed.
TEST(PredictTest, FewRowsReadSplitLines) {
  auto work = [](int64_t rows) {
    return double(timeOfBatch(rows, 84, false) - 19'000'000) / double(rows);
  };
  EXPECT_NEAR(work(168) / work(169), 1.15, 0.001);
}

/// One step of 100 x 50 iterations that reads x[i, j] or its transpose, and
/// whose inner loop is a reduction or not.
Program elements(bool isTransposed, bool reduces, std::string library = "") {
  const Mesh mesh = meshOf({{"x", 1}});
  Program program{.name = "elements", .mesh = mesh};
  const Layout whole = Layout::replicated(mesh, 2);
  program.buffers = {
      {"x", DType::F32, isTransposed ? Shape{50, 100} : Shape{100, 50}, whole},
      {"y", DType::F32, {100, 50}, whole}};
  const DimAccess first{0, {{0, 1}}}, second{0, {{1, 1}}}, zero{0, {}};
  KernelStep step{.loops = {{100}, {50, reduces}},
                  .inputs = {{0, isTransposed ? std::vector{second, first}
                                              : std::vector{first, second}}},
                  .outputs = {{1, {first, reduces ? zero : second}}}};
  step.inPlace = {-1};
  step.flops = 20;
  step.library = std::move(library);
  program.arguments = {{0, "x"}};
  program.steps.emplace_back(std::move(step));
  program.results = {{1, -1, "y"}};
  return program;
}

MachineModel sharedMachine() {
  MachineModel model = machine();
  model.sharedMemory = true;
  model.workers = 1;
  model.phaseBoundary = 0;
  return model;
}

Cost timeOfElements(bool isTransposed, bool reduces, int64_t flops = 20) {
  Program program = elements(isTransposed, reduces);
  std::get<KernelStep>(program.steps[0]).flops = flops;
  return predicted(program, sharedMachine()).steps[0].time;
}

// 1.5 ns for each of 5,000 elements, and 4.9 ns for each of 100 lines.
TEST(PredictTest, KernelsTakeTimeForReadsAcrossLines) {
  EXPECT_EQ(timeOfElements(true, false) - timeOfElements(false, false),
            7'500'000 + 490'000);
}

// 1.5 ns and 0.17 ns for each operation for each of 100 lines of 50 elements,
// which is no multiple of 64. Lines that follow one another have no ends. Bytes
// that are written are read, too: 20,800 and 60,000 at 100 GB/s.
TEST(PredictTest, KernelsTakeTimeForTheEndsOfLines) {
  EXPECT_EQ(timeOfElements(false, true), 2'000'000 + 208'000 + 490'000);
  EXPECT_EQ(timeOfElements(false, true, 2), 2'000'000 + 208'000 + 184'000);
  EXPECT_EQ(timeOfElements(false, false), 2'000'000 + 600'000);
}

// Lines of 8 elements or less are computed side by side, and half of an end is
// for their sums.
TEST(PredictTest, SumsOfShortLinesTakeHalfOfAnEnd) {
  auto time = [](bool reduces) {
    Program program = elements(false, reduces);
    auto &step = std::get<KernelStep>(program.steps[0]);
    step.loops[1].extent = 6;
    for (BufferDecl &buffer : program.buffers)
      buffer.shape = {100, 6};
    return predicted(program, sharedMachine()).steps[0].time;
  };
  EXPECT_EQ(time(true), 2'000'000 + (2'400 + 800) * 10 + 245'000);
  EXPECT_EQ(time(false), 2'000'000 + (2'400 + 4'800) * 10);
}

// An operand that is updated in place has been read.
TEST(PredictTest, OperandsInPlaceAreReadOnce) {
  Program program = elements(false, false);
  std::get<KernelStep>(program.steps[0]).inPlace = {0};
  EXPECT_EQ(predicted(program, sharedMachine()).steps[0].time,
            2'000'000 + 400'000);
}

// 17 units of 0.1 ns beside the work.
TEST(PredictTest, InterpretedKernelsTakeLonger) {
  Program program = elements(false, false);
  std::get<KernelStep>(program.steps[0]).options["interpreted"] = 17;
  EXPECT_EQ(predicted(program, sharedMachine()).steps[0].time,
            timeOfElements(false, false) + 1'700);
}

TEST(PredictTest, LibraryFunctionsHaveLaunchesOfTheirOwn) {
  MachineModel model = sharedMachine();
  const Program program = elements(false, false, "gather");
  const int64_t usual = predicted(program, model).steps[0].time;
  model.libraryLaunch["gather"] = 9'000'000;
  EXPECT_EQ(predicted(program, model).steps[0].time - usual, 7'000'000);
}

// 8 lines of 1,000 elements, 10 ns each in a sort and 20 for those of top_k; a
// comparison takes 0.28 ns. The machine may say otherwise. Lines of 64 elements
// are merged six times.
TEST(PredictTest, SortsTakeTheTimeOfTheirElements) {
  const Mesh mesh = meshOf({{"x", 1}});
  Program program{.name = "order", .mesh = mesh};
  const std::vector<DimAccess> whole = {{0, {{0, 1}}}, {0, {{1, 1}}}};
  auto addStep = [&](const char *library, int64_t length, int64_t wanted) {
    for (int64_t extent : {length, wanted})
      program.buffers.push_back(
          {library, DType::F32, {8, extent}, Layout::replicated(mesh, 2)});
    const auto result = unsigned(program.buffers.size() - 1);
    KernelStep step{.loops = {{8}, {length}, {wanted}},
                    .inputs = {{result - 1, whole}},
                    .outputs = {{result, {{0, {{0, 1}}}, {0, {{2, 1}}}}}}};
    step.loops[1].held = step.loops[2].held = true;
    step.library = library;
    step.inPlace = {-1};
    program.arguments.push_back({result - 1, library});
    program.steps.emplace_back(std::move(step));
    program.results.push_back({result, -1, library});
  };
  addStep("sort", 1000, 1000);
  addStep("top_k", 1000, 1);
  addStep("sort", 64, 64);
  const Prediction prediction = predicted(program, machine());
  ASSERT_EQ(prediction.steps.size(), 3U);
  EXPECT_EQ(prediction.steps[0].time, 82'000'000);
  // 7.908 elements of each line are the largest one when they are read.
  EXPECT_EQ(prediction.steps[1].time, 2'000'000 + 1'265'240 + 2'240'000);
  EXPECT_EQ(prediction.steps[2].time, 2'000'000 + 4'608'000);
  MachineModel model = machine();
  model.ordering = {{"sort", 9'000}, {"merge", 3'000}, {"top_k", 40'000}};
  const Prediction other = predicted(program, model);
  EXPECT_EQ(other.steps[0].time, 74'000'000);
  EXPECT_EQ(other.steps[1].time, 2'000'000 + 2'530'481 + 2'240'000);
  EXPECT_EQ(other.steps[2].time, 2'000'000 + 9'216'000);
}

// Four addends of 4 MB are read and one sum is written; a product is that of
// all devices, shared out to 2 workers.
TEST(PredictTest, SharedMemoryReadsAddends) {
  MachineModel model = machine();
  model.sharedMemory = true;
  model.workers = 2;
  model.phaseBoundary = 0;
  const Prediction prediction = predicted(products(), model);
  EXPECT_EQ(prediction.steps[0].flops, 2'000'000'000);
  EXPECT_EQ(prediction.steps[0].time, 1'002'000'000);
  EXPECT_EQ(prediction.steps[1].bytes, 20'000'000);
  EXPECT_EQ(prediction.steps[1].time, 102'000'000);
  model.workers = 1; // which computes whole sums
  EXPECT_EQ(predicted(products(), model).steps[1].time, 0);
}

// Arguments of 1 MB each, a result and two partial products of 4 MB; the first
// of those is used up before the second begins.
TEST(PredictTest, MemoryIsThatOfThePlan) {
  const Prediction prediction = predicted(products(), machine());
  const PredictedMemory &memory = prediction.memory;
  EXPECT_EQ(memory.bytesOf(MemoryUse::Argument), 2'000'000);
  EXPECT_EQ(memory.bytesOf(MemoryUse::Result), 4'000'000);
  EXPECT_EQ(memory.bytesOf(MemoryUse::Temporary), 4'000'000);
  EXPECT_EQ(memory.profile.size(), 3U);
  int64_t sum = memory.fragmentation;
  for (const PredictedTensor &tensor : memory.atPeak)
    sum += tensor.bytes;
  EXPECT_EQ(sum, memory.peakBytes);
  EXPECT_EQ(memory.atPeak.front().bytes, 4'000'000);
}

TEST(PredictTest, MemoryThatIsTooSmallIsTold) {
  MachineModel model = machine();
  model.memoryBytes = 9'000'000;
  const Prediction prediction = predicted(products(), model);
  EXPECT_FALSE(prediction.fits());
  EXPECT_THAT(predictionText(prediction), HasSubstr("TOO LITTLE"));
  model.memoryBytes = 11'000'000;
  EXPECT_TRUE(predicted(products(), model).fits());
}

TEST(PredictTest, StepsOfALoopCountOnceATurn) {
  Program program = products();
  LoopStep loop;
  loop.body.push_back(program.steps[2]);
  loop.tripCount = 5;
  program.buffers.push_back(
      {"condition", DType::I1, {}, Layout::replicated(program.mesh, 0)});
  loop.predicate = unsigned(program.buffers.size() - 1);
  program.constants = {{loop.predicate, {0}, true}};
  program.steps[2] = loop;
  const Prediction prediction = predicted(program, machine());
  EXPECT_EQ(prediction.launches, 1 + 5);
  EXPECT_EQ(prediction.time, (502 + 603 + 5 * 502) * int64_t(1'000'000));
  EXPECT_EQ(prediction.unknownLoops, 0);
  std::get<LoopStep>(program.steps[2]).tripCount = -1;
  EXPECT_EQ(predicted(program, machine()).unknownLoops, 1);
}

// Generated code of a whole loop is the work of one core, turn by turn.
TEST(PredictTest, ALoopInOneStepCountsItsTurns) {
  MachineModel model = machine();
  model.sharedMemory = true;
  model.workers = 4;
  Program program = products();
  program.steps[2] =
      KernelStep{.symbol = "loop",
                 .flops = 1,
                 .options = {{"turns", 1000}, {"turn_operations", 2'000'000}}};
  const auto timeOfLoop = [&] {
    return predicted(program, model).steps[2].time;
  };
  EXPECT_EQ(predicted(program, model).steps[2].flops, 2'000'000'000);
  const int64_t wholeTime = timeOfLoop();
  std::get<KernelStep>(program.steps[2]).options["turns"] = -1;
  EXPECT_EQ(wholeTime - timeOfLoop(),
            timeFor(999 * int64_t(2'000'000), model.flopsPerSecond));
  EXPECT_EQ(predicted(program, model).unknownLoops, 1);
}

TEST(PredictTest, AProgramWithoutStepsIsAnError) {
  const Compiled compiled(Signature{.name = "main"}, {}, StableHLOProgram());
  EXPECT_THAT(predict(compiled, machine()).error().message(),
              HasSubstr("compile it for the target cpu or cuda"));
}

TEST(PredictTest, MachinesThatCannotHaveTheDevicesAreErrors) {
  const Compiled compiled(products());
  EXPECT_THAT(
      predict(compiled, *MachineModel::preset("tpu:v5e:2x4")).error().message(),
      HasSubstr("has 4 devices, and the machine tpu:v5e:2x4 has 8"));
  MachineModel model = *MachineModel::preset("gpu:h100");
  model.hosts->devices = 3;
  EXPECT_THAT(predict(compiled, model).error().message(),
              HasSubstr("hosts of the machine gpu:h100 have 3 each"));
}

TEST(PredictTest, PicturesAreWholeDocuments) {
  const Prediction prediction = predicted(products(), machine());
  for (const std::string &picture :
       {memoryPicture(prediction),
        scalingPicture(std::vector<Prediction>{prediction, prediction})}) {
    EXPECT_TRUE(picture.starts_with("<svg "));
    EXPECT_TRUE(picture.ends_with("</svg>\n"));
    EXPECT_THAT(picture, HasSubstr("<title>"));
  }
}

// Hosts of 8, 100 bytes a second inside and 10 between, 1 and 5 ps a hop.
HostLinks hosts() {
  return {8, {100, 1}, {10, 5}, 7};
}

TEST(HostLinksTest, AnAxisInsideOfAHostHasItsLinks) {
  const AxisLink link = hosts().link(meshOf({{"a", 16}, {"b", 8}}), 1);
  EXPECT_EQ(link.bytesPerSecond, 100);
  EXPECT_EQ(link.latency, 7 + 2 * 7 * 1);
}

TEST(HostLinksTest, AnAxisBetweenHostsHasTheSlowLinks) {
  const AxisLink link = hosts().link(meshOf({{"a", 16}, {"b", 8}}), 0);
  EXPECT_EQ(link.bytesPerSecond, 10);
  EXPECT_EQ(link.latency, 7 + 2 * 4 * 5);
}

// 1 / (1/100 + 1/(8 * 10)) = 44.4: each of the 8 members sends an eighth.
TEST(HostLinksTest, AnAxisOverHostsIsHierarchical) {
  const AxisLink link = hosts().link(meshOf({{"a", 64}}), 0);
  EXPECT_EQ(link.bytesPerSecond, 44);
  EXPECT_EQ(link.latency, 7 + 2 * (7 * 1 + 3 * 5));
  // 56 of the 63 others are in other hosts.
  EXPECT_EQ(link.allToAllBytesPerSecond, 10 * 63 / 56);
}

TEST(HostLinksTest, PresetsAreReadByName) {
  for (const std::string &name : hostMachineNames()) {
    const Result<MachineModel> model = loadMachineModel(name);
    ASSERT_TRUE(model) << name;
    EXPECT_TRUE(model->verify());
    EXPECT_GT(model->memoryBytes, 0);
    EXPECT_EQ(machineModelText(*model), name);
  }
  EXPECT_THAT(loadMachineModel("gpu:b300").error().message(),
              HasSubstr("gpu:h100, gpu:h200, gpu:a100, cpu:tcp"));
}

TEST(HostLinksTest, AFileChangesHosts) {
  const Result<MachineModel> model = parseMachineModel(
      R"({"preset": "gpu:h100", "name": "slow network", "launch_ps": 5,
          "hosts": {"between": {"bytes_per_second": 1e9}}})",
      "test");
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(model->hosts->devices, 8);
  EXPECT_EQ(model->hosts->between.bytesPerSecond, 1'000'000'000);
  EXPECT_EQ(model->launch, 5);
  EXPECT_EQ(*loadMachineModel(machineModelText(*model)), *model);
  EXPECT_THAT(parseMachineModel(R"({"hosts": {"devices": 0}})", "test")
                  .error()
                  .message(),
              HasSubstr("hosts.devices is 0, expected at least 1"));
  EXPECT_THAT(parseMachineModel(R"({"hosts": {"number": 1}})", "test")
                  .error()
                  .message(),
              HasSubstr("unknown field 'number'"));
}

} // namespace
} // namespace meshloom
