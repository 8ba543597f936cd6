// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library calls that divide their own work among workers: whatever the team,
// results have the same bits.
#include "TestPrograms.h"

#include "../../lib/Runtime/Backends/CPU/Phases.h"

#include "meshloom/Runtime/HalfFloats.h"
#include "meshloom/Runtime/Library/Team.h"

#include <cmath>

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;
using namespace meshloom::test;

namespace {
struct Tensor {
  DType type;
  Shape shape;
};

/// A call of a library function on whole tensors.
struct TeamCall {
  std::string function;
  LibraryOptions options;
  std::vector<Tensor> inputs, outputs;
  bool deterministic = true;
};

Program programOf(const TeamCall &call) {
  const Mesh mesh = makeMesh({{"x", 1}});
  ProgramBuilder b(mesh);
  KernelStep step;
  auto operandOf = [&](unsigned buffer, const Shape &shape) {
    Operand operand{buffer, {}};
    for (int64_t extent : shape) {
      operand.dims.push_back({0, {{unsigned(step.loops.size()), 1}}});
      step.loops.push_back({extent, false, {}});
      step.loops.back().held = true;
    }
    return operand;
  };
  for (const auto &[type, shape] : call.inputs)
    step.inputs.push_back(operandOf(
        b.argument(shape, Layout::replicated(mesh, shape.size()), type),
        shape));
  for (const auto &[type, shape] : call.outputs) {
    const unsigned buffer =
        b.buffer(shape, Layout::replicated(mesh, shape.size()), type);
    step.outputs.push_back(operandOf(buffer, shape));
    b.result(buffer);
  }
  step.inPlace.assign(step.outputs.size(), -1);
  step.library = call.function;
  step.options = call.options;
  step.flops = 1 << 22;
  b.program.deterministic = call.deterministic;
  b.program.steps.push_back(step);
  return b.program;
}

/// Numbers of any order, with equal ones among them.
HostBytes numbersOf(const Tensor &tensor) {
  HostBytes bytes;
  auto append = [&](auto number) {
    const auto *data = reinterpret_cast<const char *>(&number);
    bytes.insert(bytes.end(), data, data + sizeof(number));
  };
  uint64_t state = 1;
  for (int64_t i = 0; i < elementCount(tensor.shape); ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const auto number = int64_t(state >> 44) - (1 << 19);
    switch (tensor.type) {
    case DType::F64:
      append(double(number) / 1024);
      break;
    case DType::C64:
      append(float(number) / 1024);
      append(float(number % 1000));
      break;
    case DType::I32:
      append(int32_t(number % 4096));
      break;
    case DType::BF16:
      append(BF16::narrow(float(number) / 1024));
      break;
    default:
      append(float(number) / 1024);
    }
  }
  return bytes;
}

/// The results of a call by so many workers.
std::vector<HostBytes> resultsOf(const TeamCall &call, int64_t workers,
                                 const std::vector<HostBytes> &values) {
  auto client = makeClient({.devices = 1, .workers = workers});
  const Program program = programOf(call);
  std::vector<Array> arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto &[type, shape] = call.inputs[i];
    auto array = Array::fromHost(
        client, {type, shape, program.buffers[i].layout}, values[i]);
    EXPECT_TRUE(array);
    arguments.push_back(*array);
  }
  std::vector<HostBytes> results;
  for (const Array &result : runProgram(client, program, arguments))
    results.push_back(*result.toHost());
  return results;
}

void expectSameBits(const TeamCall &call, std::vector<HostBytes> values = {}) {
  for (size_t i = values.size(); i < call.inputs.size(); ++i)
    values.push_back(numbersOf(call.inputs[i]));
  const auto alone = resultsOf(call, 1, values);
  ASSERT_EQ(alone.size(), call.outputs.size());
  for (int64_t workers : {2, 7})
    EXPECT_EQ(resultsOf(call, workers, values), alone)
        << call.function << " by " << workers;
}

LibraryOptions sortOptions(std::string direction, std::string type) {
  return {{"dimension", 0},
          {"direction", std::move(direction)},
          {"key_input", 0},
          {"key_type", std::move(type)}};
}

TEST(TeamTest, PartsCoverTheExtent) {
  class Three : public library::Team {
    int64_t workers() const override { return 3; }
  } team;
  std::vector<std::pair<int64_t, int64_t>> parts;
  team.forEachRange(1000, 100, 64, [&](int64_t begin, int64_t end) {
    parts.emplace_back(begin, end);
  });
  EXPECT_EQ(parts, (std::vector<std::pair<int64_t, int64_t>>{
                       {0, 320}, {320, 640}, {640, 1000}}));
  EXPECT_EQ(team.partsOf(199, 100), 1);
  EXPECT_EQ(library::Team::current().workers(), 1);
}

// In a part of its work, a call has no team: its library calls are one
// worker's.
TEST(TeamTest, PartsHaveNoTeam) {
  class Two : public library::Team {
    int64_t workers() const override { return 2; }
  } team;
  const library::TeamScope scope(&team);
  EXPECT_EQ(library::Team::current().workers(), 2);
  library::Team::current().forEach(
      2, [](int64_t) { EXPECT_EQ(library::Team::current().workers(), 1); });
  EXPECT_EQ(library::Team::current().workers(), 2);
}

// A sort of fewer lines than workers has a phase of its own, in which one call
// divides the work; with more lines, workers have lines of their own.
TEST(TeamTest, CallsOfFewLinesAreForATeam) {
  const Mesh mesh = makeMesh({{"x", 1}});
  auto planned = [&](int64_t lines, int64_t workers) {
    ProgramBuilder b(mesh);
    const Layout whole = Layout::replicated(mesh, 2);
    const unsigned x = b.argument({lines, 10000}, whole),
                   sorted = b.buffer({lines, 10000}, whole),
                   y = b.buffer({lines, 10000}, whole);
    Loop line{10000};
    line.held = true;
    KernelStep sort;
    sort.loops = {{lines}, line};
    sort.inputs = {{x, byLoops({0, 1})}};
    sort.outputs = {{sorted, byLoops({0, 1})}};
    sort.inPlace = {-1};
    sort.library = "sort";
    sort.flops = 1 << 20;
    b.program.steps.push_back(sort);
    b.kernel("twice", {{lines}, {10000}}, {{x, byLoops({0, 1})}},
             {{y, byLoops({0, 1})}});
    b.result(sorted);
    b.result(y);
    auto graph = buildStepGraph(b.program, 4 * workers);
    EXPECT_TRUE(graph);
    return schedule(*graph, 4 * workers, workers).phases;
  };
  const std::vector<Phase> few = planned(3, 4);
  ASSERT_EQ(few.size(), 2u);
  EXPECT_TRUE(few[0].isForTeam);
  EXPECT_EQ(few[0].items.size(), 1u);
  EXPECT_EQ(few[0].items[0].cut, Item::Cut::Whole);
  EXPECT_FALSE(few[1].isForTeam);
  for (const auto &[lines, workers] : {std::pair(4, 4), {3, 1}}) {
    const std::vector<Phase> many = planned(lines, workers);
    ASSERT_EQ(many.size(), 1u) << lines;
    EXPECT_FALSE(many[0].isForTeam);
  }
}

TEST(TeamTest, Sorts) {
  const Tensor floats{DType::F32, {100000}}, doubles{DType::F64, {100000}},
      numbers{DType::I32, {100000}};
  for (const char *direction : {"LT", "GT", "LE"})
    expectSameBits({"sort", sortOptions(direction, "f32"), {floats}, {floats}});
  expectSameBits({"sort",
                  sortOptions("GT", "i32"),
                  {numbers, doubles, numbers},
                  {numbers, doubles, numbers}});
  expectSameBits({"sort", sortOptions("LT", "f64"), {doubles}, {doubles}});
}

// Nan is not before or behind anything, so what comes of it is no order: all
// the more it is the same.
TEST(TeamTest, SortsWithNan) {
  const Tensor floats{DType::F32, {100000}};
  HostBytes values = numbersOf(floats);
  const float nan = std::nanf("");
  std::memcpy(&values[4 * 1234], &nan, 4);
  std::memcpy(&values[4 * 67890], &nan, 4);
  expectSameBits({"sort", sortOptions("LT", "f32"), {floats}, {floats}},
                 {values});
}

TEST(TeamTest, TopK) {
  const Tensor line{DType::F32, {2, 300000}};
  expectSameBits({"top_k",
                  {},
                  {line},
                  {{DType::F32, {2, 1000}}, {DType::I32, {2, 1000}}}});
}

/// The index of the extreme of a line by so many workers.
int64_t extremeOf(const char *kind, const std::vector<float> &values,
                  int64_t workers) {
  const Mesh mesh = makeMesh({{"x", 1}});
  const auto length = int64_t(values.size());
  ProgramBuilder b(mesh);
  const Layout line = Layout::replicated(mesh, 1);
  KernelStep step;
  step.loops = {{length, true}};
  step.inputs = {{b.argument({length}, line), byLoops({0})}};
  step.outputs = {{b.buffer({}, Layout::replicated(mesh, 0), DType::I64), {}}};
  step.inPlace = {-1};
  step.library = "find_extreme";
  step.options = {{"kind", kind}};
  step.flops = 1 << 22;
  b.program.steps.push_back(step);
  b.result(step.outputs[0].buffer);
  auto client = makeClient({.devices = 1, .workers = workers});
  const auto results = runProgram(client, b.program,
                                  {fromFloats(client, {length}, line, values)});
  int64_t index = -1;
  std::memcpy(&index, results.at(0).toHost()->data(), 8);
  return index;
}

// The first one of equal extremes, in whichever part it lies, and the first nan
// before all numbers.
TEST(TeamTest, FirstOfEqualExtremes) {
  std::vector<float> values(200000, 1);
  values[70000] = values[70001] = values[190000] = 2;
  values[130000] = values[199999] = -3;
  for (int64_t workers : {1, 2, 7}) {
    EXPECT_EQ(extremeOf("max", values, workers), 70000);
    EXPECT_EQ(extremeOf("min", values, workers), 130000);
  }
  values[150000] = values[160000] = std::nanf("");
  for (int64_t workers : {1, 2, 7}) {
    EXPECT_EQ(extremeOf("max", values, workers), 150000);
    EXPECT_EQ(extremeOf("min", values, workers), 150000);
  }
}

TEST(TeamTest, CumulativeOps) {
  for (const auto &[type, kind] : {std::pair(DType::F32, "sum"),
                                   {DType::BF16, "sum"},
                                   {DType::I32, "sum"},
                                   {DType::F32, "max"},
                                   {DType::I32, "prod"},
                                   {DType::F32, "prod"}})
    for (int64_t reverse : {0, 1}) {
      const Tensor line{type, {300001}};
      expectSameBits({"cumulative",
                      {{"dimension", 0}, {"kind", kind}, {"reverse", reverse}},
                      {line},
                      {line}});
    }
}

TEST(TeamTest, FourierTransforms) {
  auto transform = [](const char *kind, int64_t length, Tensor from,
                      Tensor to) {
    expectSameBits(
        {"fft",
         {{"fft_type", kind}, {"fft_length", length}, {"fft_dim", 0}},
         {std::move(from)},
         {std::move(to)}});
  };
  transform("FFT", 1 << 16, {DType::C64, {1 << 16}}, {DType::C64, {1 << 16}});
  transform("IFFT", 30030, {DType::C64, {30030}}, {DType::C64, {30030}});
  transform("FFT", 20011, {DType::C64, {20011}}, {DType::C64, {20011}});
  transform("RFFT", 15015, {DType::F32, {15015}}, {DType::C64, {7508}});
  transform("IRFFT", 15015, {DType::C64, {7508}}, {DType::F32, {15015}});
  transform("RFFT", 1 << 16, {DType::F32, {1 << 16}},
            {DType::C64, {(1 << 15) + 1}});
  transform("IRFFT", 1 << 16, {DType::C64, {(1 << 15) + 1}},
            {DType::F32, {1 << 16}});
}

// Two workers share many updates of few places. The sums of these numbers are
// exact.
TEST(TeamTest, SumsOfUpdates) {
  const Shape none;
  expectSameBits({"scatter",
                  {{"kind", "sum"},
                   {"index_vector_dim", 1},
                   {"scatter_dims_to_operand_dims", Shape{0}},
                   {"update_window_dims", Shape{1}},
                   {"inserted_window_dims", Shape{0}},
                   {"input_batching_dims", none},
                   {"scatter_indices_batching_dims", none}},
                  {{DType::BF16, {1000, 3}},
                   {DType::I32, {60000, 1}},
                   {DType::BF16, {60000, 3}}},
                  {{DType::BF16, {1000, 3}}},
                  /*deterministic=*/false});
}

TEST(TeamTest, Factorizations) {
  constexpr int64_t rows = 301, columns = 257;
  const Tensor matrix{DType::F32, {rows, columns}},
      square{DType::F64, {rows, rows}}, taus{DType::F32, {columns}},
      pivots{DType::I32, {columns}}, order{DType::I32, {rows}};
  expectSameBits({"lu", {}, {matrix}, {matrix, pivots, order}});
  expectSameBits({"geqrf", {}, {matrix}, {matrix, taus}});
  expectSameBits({"householder_product", {}, {matrix, taus}, {matrix}});
  // Positive definite, as its diagonal is large.
  HostBytes values = numbersOf(square);
  for (int64_t i = 0; i < rows; ++i) {
    const double diagonal = 1e6;
    std::memcpy(&values[size_t(8 * i * (rows + 1))], &diagonal, 8);
  }
  expectSameBits({"cholesky", {{"lower", 1}}, {square}, {square}}, {values});
}
} // namespace
