// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library calls in hand-written programs: boxes and addends in both kinds of
// memory however the work is cut, users' functions, and programs from files
// that do not fit.
#include "TestPrograms.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Runtime/HappensBefore.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <tbb/parallel_for.h>
#include <thread>

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
/// Both memories; shared, also cut into many chunks.
std::vector<CPUOptions> allClients(int64_t devices) {
  return {{.devices = devices, .workers = 2},
          {.devices = devices, .workers = 3, .chunks = 7},
          {.devices = devices, .workers = 2, .privateMemories = true}};
}

KernelStep call(std::string library, std::vector<Loop> loops,
                std::vector<Operand> inputs, std::vector<Operand> outputs,
                LibraryOptions options) {
  KernelStep step;
  step.loops = std::move(loops);
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.inPlace.assign(step.outputs.size(), -1);
  step.note = {"step.mlir:3:5", library};
  step.flops = 1 << 20;
  step.library = std::move(library);
  step.options = std::move(options);
  return step;
}

/// result[i] = sum over devices of rows ids[i] of a table of 7 rows, the rows
/// cut over x: gather, then all_reduce.
Program lookup(LibraryOptions options) {
  Mesh mesh = makeMesh({{"x", 3}});
  Layout rows = *Layout::get(mesh, {{0}, {}});
  Layout partial = *Layout::get(mesh, {{}, {}}, {{0, ReduceKind::Sum}});
  Layout whole = Layout::replicated(mesh, 2);
  ProgramBuilder b(mesh);
  unsigned table = b.argument({7, 2}, rows);
  unsigned ids = b.argument({5, 1}, whole, DType::I32);
  unsigned parts = b.buffer({5, 2}, partial), all = b.buffer({5, 2}, whole);
  Loop vector{1, false, {}};
  vector.held = true;
  b.program.steps.push_back(
      call("gather",
           {Loop{7, true, {0}}, Loop{5, false, {}}, Loop{2, false, {}}, vector},
           {{table, byLoops({0, 2})}, {ids, byLoops({1, 3})}},
           {{parts, byLoops({1, 2})}}, std::move(options)));
  b.collective(CollectiveKind::AllReduce, {0}, {{parts, all}});
  b.result(all);
  return b.program;
}

using List = std::vector<int64_t>;
const LibraryOptions rowsOfTwo = {
    {"index_vector_dim", 1},
    {"offset_dims", List{1}},
    {"collapsed_slice_dims", List{0}},
    {"operand_batching_dims", List{}},
    {"start_indices_batching_dims", List{}},
    {"start_index_map", List{0}},
    {"slice_sizes", List{1, 2}},
};
LibraryOptions rowsOfTwoBut(std::string name, LibraryOption option) {
  LibraryOptions options = rowsOfTwo;
  options[std::move(name)] = std::move(option);
  return options;
}

// Every device gives what its rows are asked for; ids are clamped to the global
// table, not to the shard.
TEST(LibraryTest, LookupInAShardedTable) {
  for (CPUOptions options : allClients(3)) {
    auto client = makeClient(options);
    Program program = lookup(rowsOfTwo);
    ASSERT_TRUE(program.verify()) << program.verify().error().message();
    Array table =
        fromFloats(client, {7, 2}, program.buffers[0].layout, counting(14));
    const std::vector<int32_t> ids = {6, 0, -4, 100, 3};
    auto indices =
        Array::fromHost(client, {DType::I32, {5, 1}, program.buffers[1].layout},
                        {reinterpret_cast<const char *>(ids.data()), 20});
    ASSERT_TRUE(indices) << indices.error().message();
    auto results = runProgram(client, program, {table, *indices});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(floats(results[0].toHost()),
                ElementsAre(12, 13, 0, 1, 0, 1, 12, 13, 6, 7));
  }
}

// A library call survives a file.
TEST(LibraryTest, ProgramWithACallIsSaved) {
  Program program = lookup(rowsOfTwo);
  auto read = Compiled::deserialize(Compiled(program).serialize());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->program(), program);
}

// Options that do not fit the operands are errors when a program is loaded.
TEST(LibraryTest, MalformedCallsDoNotLoad) {
  auto client = makeClient({.devices = 3});
  auto fails = [&](Program program, const char *why) {
    auto executable = client->load(Compiled(std::move(program), testKernels()));
    ASSERT_FALSE(executable) << why;
    EXPECT_THAT(executable.error().message(), HasSubstr(why));
    EXPECT_THAT(executable.error().message(), HasSubstr("step.mlir:3:5"));
  };
  fails(lookup({}), "'gather': expected a table, indices and a result");
  fails(lookup(rowsOfTwoBut("slice_sizes", "1, 2")),
        "'gather': expected a table, indices and a result");
  fails(lookup(rowsOfTwoBut("more", 1)),
        "'gather': expected a table, indices and a result");
  fails(lookup(rowsOfTwoBut("slice_sizes", List{1, 3})),
        "'gather': its slices are larger than its operand");
  fails(lookup(rowsOfTwoBut("start_index_map", List{5})),
        "'gather': its dims do not fit its operands");
  fails(lookup(rowsOfTwoBut("collapsed_slice_dims", List{9})),
        "'gather': its dims do not fit its operands");
  Program unknown = lookup(rowsOfTwo);
  std::get<KernelStep>(unknown.steps[0]).library = "divine";
  fails(unknown, "this build has no library function 'divine'");
  for (const char *name :
       {"scatter", "sort", "top_k", "generic_reduce", "cholesky", "copy", "fft",
        "fill", "triangular_solve", "geqrf", "householder_product",
        "dynamic_slice", "dynamic_update_slice"}) {
    Program other = lookup({{"some", 3}, {"other", List{1, 4}}});
    std::get<KernelStep>(other.steps[0]).library = name;
    fails(other, name);
  }
}

LibraryOptions customOptions(std::string name, std::string config) {
  return {{"call_target_name", std::move(name)},
          {"backend_config", std::move(config)},
          {"batch_dims", 0},
          {"kind", "sum"}};
}

/// result = name(argument), rows over x.
Program custom(std::string name, std::string config) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout rows = *Layout::get(mesh, {{0}, {}});
  ProgramBuilder b(mesh);
  unsigned from = b.argument({5, 3}, rows), to = b.buffer({5, 3}, rows);
  Loop columns{3, false, {}};
  columns.held = true;
  b.program.steps.push_back(call(
      "custom_call", {Loop{5, false, {0}}, columns}, {{from, byLoops({0, 1})}},
      {{to, byLoops({0, 1})}}, customOptions(name, config)));
  b.result(to);
  return b.program;
}

/// Arrays whose rows are long, or short enough for registers.
const Shape longRows = {6, 67, 3, 70}, shortRows = {2, 67, 5, 3};

/// result = the reduction of an array, dim 0 of which is cut over x, along the
/// dims whose bits are set in `reduced`.
Program reduction(ReduceKind kind, const Shape &reducedShape,
                  unsigned reduced) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout::DimAxes axes;
  std::vector<Partial> partial;
  if (reduced & 1)
    partial.emplace_back(0, kind);
  std::vector<Loop> loops;
  Operand from{0, {}}, to{0, {}};
  Shape result;
  for (unsigned d = 0; d < 4; ++d) {
    const bool isReduced = reduced >> d & 1;
    std::vector<unsigned> over;
    if (d == 0)
      over.push_back(0);
    loops.push_back({reducedShape[d], isReduced, over});
    from.dims.push_back({0, {{d, 1}}});
    if (isReduced)
      continue;
    to.dims.push_back({0, {{d, 1}}});
    result.push_back(reducedShape[d]);
    axes.push_back(over);
  }
  ProgramBuilder b(mesh);
  from.buffer = b.argument(reducedShape, *Layout::get(mesh, {{0}, {}, {}, {}}));
  to.buffer = b.buffer(result, *Layout::get(mesh, axes, partial));
  b.program.steps.push_back(
      call("reduce", loops, {from}, {to}, {{"kind", std::string(name(kind))}}));
  unsigned whole = to.buffer;
  if (reduced & 1) {
    whole = b.buffer(result, Layout::replicated(mesh, unsigned(result.size())));
    b.collective(CollectiveKind::AllReduce, {0}, {{to.buffer, whole}}, kind);
  }
  b.result(whole);
  return b.program;
}

/// The same of `values`, element by element.
std::vector<float> reference(ReduceKind kind, const Shape &reducedShape,
                             unsigned reduced,
                             const std::vector<float> &values) {
  std::map<int64_t, float> results;
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    const float value = values[size_t(i)];
    int64_t place = 0, elements = elementCount(reducedShape);
    for (unsigned d = 0; d < 4; ++d) {
      elements /= reducedShape[d];
      if (!(reduced >> d & 1))
        place = place * reducedShape[d] + i / elements % reducedShape[d];
    }
    float &result =
        results.try_emplace(place, kind == ReduceKind::Sum ? 0 : value)
            .first->second;
    result = kind == ReduceKind::Sum   ? result + value
             : kind == ReduceKind::Max ? std::max(result, value)
                                       : std::min(result, value);
  }
  std::vector<float> list;
  for (auto [place, result] : results)
    list.push_back(result);
  return list;
}

/// The result of such a program.
std::vector<float> reduced(const std::shared_ptr<Client> &client,
                           const Program &program, const Shape &shape,
                           const std::vector<float> &values) {
  auto results = runProgram(
      client, program,
      {fromFloats(client, shape, program.buffers[0].layout, values)});
  return results.size() == 1 ? floats(results[0].toHost())
                             : std::vector<float>();
}

// Whatever dims are reduced, and however the work is cut.
TEST(LibraryTest, ReductionsAlongAllDims) {
  for (const Shape &shape : {longRows, shortRows}) {
    std::vector<float> values;
    for (int64_t i = 0; i < elementCount(shape); ++i)
      values.push_back(float(i * 7919 % 201 - 100));
    for (CPUOptions options : allClients(2))
      for (ReduceKind kind :
           {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min})
        for (unsigned dims = 1; dims < 16; ++dims) {
          Program program = reduction(kind, shape, dims);
          ASSERT_TRUE(program.verify()) << program.verify().error().message();
          EXPECT_EQ(reduced(makeClient(options), program, shape, values),
                    reference(kind, shape, dims, values))
              << "dims " << dims << ", " << name(kind);
        }
  }
}

// A maximum is nan where a term is, and only there.
TEST(LibraryTest, MaximumOfNanAndInfinities) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  auto client = makeClient({.devices = 2});
  for (const Shape &shape : {longRows, shortRows})
    for (unsigned dims : {2U, 8U, 14U}) {
      std::vector<float> values(size_t(elementCount(shape)), 1);
      const auto row = size_t(dims == 2 ? 1 : shape[3]);
      values[row - 1] = std::numeric_limits<float>::quiet_NaN();
      values[row] = -infinity;
      values[2 * row - 1] = infinity;
      const std::vector<float> found = reduced(
          client, reduction(ReduceKind::Max, shape, dims), shape, values);
      ASSERT_GE(found.size(), 2u);
      EXPECT_TRUE(std::isnan(found[0]));
      EXPECT_EQ(found[1], dims == 14 ? 1 : infinity);
      EXPECT_EQ(found.back(), 1);
    }
}

/// result = the rows of the bytes `from`, which are cut over x, three times
/// side by side, with those of `last` in place of the third one.
Program copies() {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout rows = *Layout::get(mesh, {{0}, {}});
  ProgramBuilder b(mesh);
  unsigned from = b.argument({4, 5}, rows, DType::UI8),
           last = b.argument({4, 5}, rows), tiled = b.buffer({4, 15}, rows),
           to = b.buffer({4, 15}, rows);
  const Loop row{4, false, {0}}, column{5, false, {}};
  b.program.steps.push_back(
      call("copy", {row, Loop{3, false, {}}, column}, {{from, byLoops({0, 2})}},
           {{tiled, {{0, {{0, 1}}}, {0, {{1, 5}, {2, 1}}}}}}, {}));
  const std::vector<DimAccess> third = {{0, {{0, 1}}}, {10, {{1, 1}}}};
  b.program.steps.push_back(call("copy", {row, column},
                                 {{last, byLoops({0, 1})}, {tiled, third}},
                                 {{to, third}}, {}));
  std::get<KernelStep>(b.program.steps.back()).inPlace = {1};
  b.result(to);
  return b.program;
}

// Runs go to where they belong, bytes become floats, and what is written over
// keeps its other elements.
TEST(LibraryTest, CopiesOfRuns) {
  std::vector<char> bytes(20);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = char(uint8_t(236 + i));
  for (CPUOptions options : allClients(2)) {
    auto client = makeClient(options);
    Program program = copies();
    ASSERT_TRUE(program.verify()) << program.verify().error().message();
    auto from = Array::fromHost(
        client, {DType::UI8, {4, 5}, program.buffers[0].layout}, bytes);
    ASSERT_TRUE(from) << from.error().message();
    auto results =
        runProgram(client, program,
                   {*from, fromFloats(client, {4, 5}, program.buffers[1].layout,
                                      std::vector<float>(20))});
    ASSERT_EQ(results.size(), 1u);
    const std::vector<float> found = floats(results[0].toHost());
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i], i % 15 < 10 ? float(236 + i / 15 * 5 + i % 5) : 0);
  }
}

// A running reduction of floats combines no bits.
TEST(LibraryTest, ReductionOfFloatsByBitsDoesNotLoad) {
  Program program = custom("", "");
  auto &step = std::get<KernelStep>(program.steps[0]);
  step.library = "cumulative";
  step.options = {{"dimension", 0}, {"kind", "and"}, {"reverse", 0}};
  auto executable =
      makeClient({.devices = 2})->load(Compiled(program, testKernels()));
  ASSERT_FALSE(executable);
  EXPECT_THAT(executable.error().message(),
              HasSubstr("'cumulative': operands do not match"));
}

// A user's function sees boxes with strides, and where they lie.
TEST(LibraryTest, CustomCall) {
  Status registered = register_custom_call(
      "test.times_row",
      {"a b! -> a b!", [](const CustomCall &call) -> Status {
         const CustomOperand &from = call.inputs[0], &to = call.results[0];
         if (from.shape[1] != 3 || call.config != "ten")
           return Error("a call must have whole rows, and its config");
         for (int64_t r = 0; r < from.shape[0]; ++r)
           for (int64_t c = 0; c < 3; ++c)
             static_cast<float *>(
                 to.data)[r * to.strides[0] + c * to.strides[1]] =
                 static_cast<float *>(
                     from.data)[r * from.strides[0] + c * from.strides[1]] *
                 float(10 * (from.offset[0] + r));
         return Success();
       }});
  ASSERT_TRUE(registered) << registered.error().message();
  for (CPUOptions options : allClients(2)) {
    auto client = makeClient(options);
    Program program = custom("test.times_row", "ten");
    Array argument = fromFloats(client, {5, 3}, program.buffers[0].layout,
                                std::vector<float>(15, 1));
    auto results = runProgram(client, program, {argument});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(
        floats(results[0].toHost()),
        ElementsAre(0, 0, 0, 10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40));
    // Its errors, and what it throws, end the run.
    auto executable = client->load(
        Compiled(custom("test.times_row", "twelve"), testKernels()));
    ASSERT_TRUE(executable);
    auto failed = (*executable)->execute({argument});
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().message(),
                HasSubstr("custom call 'test.times_row' failed: a call must"));
  }
}

// A user's function may use oneTBB. While it waits, its worker begins nothing
// else: that would work in the scratch memory where this chunk's values are.
TEST(LibraryTest, CustomCallWithItsOwnLoop) {
  Status registered = register_custom_call(
      "test.own_loop",
      {"a b! -> a b!", [](const CustomCall &call) -> Status {
         const CustomOperand &from = call.inputs[0], &to = call.results[0];
         auto copy = [&](int64_t row, int64_t column) {
           std::this_thread::sleep_for(std::chrono::microseconds(20));
           static_cast<float *>(
               to.data)[row * to.strides[0] + column * to.strides[1]] =
               static_cast<float *>(
                   from.data)[row * from.strides[0] + column * from.strides[1]];
         };
         HandOver begun, done;
         begun.give();
         tbb::parallel_for(int64_t(0), 3 * from.shape[0],
                           [&](int64_t i) MESHLOOM_BEFORE_HAND_OVER {
                             begun.take();
                             copy(i / 3, i % 3);
                             done.give();
                           });
         done.take();
         return Success();
       }});
  ASSERT_TRUE(registered) << registered.error().message();
  Mesh mesh = makeMesh({{"x", 2}});
  Layout rows = *Layout::get(mesh, {{0}, {}});
  ProgramBuilder b(mesh);
  unsigned from = b.argument({64, 3}, rows), twice = b.buffer({64, 3}, rows),
           same = b.buffer({64, 3}, rows), sum = b.buffer({64, 3}, rows);
  Loop columns{3, false, {}};
  columns.held = true;
  b.kernel("twice", {{64, false, {0}}, {3}}, {{from, byLoops({0, 1})}},
           {{twice, byLoops({0, 1})}});
  b.program.steps.push_back(call("custom_call", {Loop{64, false, {0}}, columns},
                                 {{twice, byLoops({0, 1})}},
                                 {{same, byLoops({0, 1})}},
                                 customOptions("test.own_loop", "")));
  b.kernel("add", {{64, false, {0}}, {3}},
           {{twice, byLoops({0, 1})}, {same, byLoops({0, 1})}},
           {{sum, byLoops({0, 1})}});
  b.result(sum);
  std::vector<float> expected = counting(192);
  for (float &value : expected)
    value *= 4;
  for (CPUOptions options :
       {CPUOptions{.devices = 2, .workers = 7},
        CPUOptions{.devices = 2, .workers = 2},
        CPUOptions{.devices = 2, .workers = 2, .privateMemories = true}}) {
    auto client = makeClient(options);
    auto executable = client->load(Compiled(b.program, testKernels()));
    ASSERT_TRUE(executable) << executable.error().message();
    for (int run = 0; run < 20; ++run) {
      auto results =
          (*executable)
              ->execute({fromFloats(client, {64, 3}, rows, counting(192))});
      ASSERT_TRUE(results) << results.error().message();
      ASSERT_EQ(floats((*results)[0].toHost()), expected);
    }
  }
}

TEST(LibraryTest, UnknownCustomCallIsNamed) {
  auto executable = makeClient({.devices = 2})
                        ->load(Compiled(custom("nobody", ""), testKernels()));
  ASSERT_FALSE(executable);
  EXPECT_THAT(executable.error().message(),
              HasSubstr("no function is registered as custom call target "
                        "'nobody'"));
}

TEST(LibraryTest, BadRegistrationsAreErrors) {
  auto run = [](const CustomCall &) -> Status { return Success(); };
  EXPECT_FALSE(register_custom_call("", {"a -> a", run}));
  EXPECT_FALSE(register_custom_call("test.none", {"a -> a", nullptr}));
  EXPECT_FALSE(register_custom_call("test.text", {"a -> (", run}));
}
} // namespace
