// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Meshes over several processes, which are threads here with a client each:
// what one process alone sees, and errors. That results are right is for the
// conformance suite and random programs, which run on createProcessThreads.
#include "TestPrograms.h"

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/MeshProcesses.h"
#include "meshloom/Runtime/Platform.h"
#include "meshloom/Runtime/PlatformProcesses.h"

#include <numeric>
#include <thread>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {
/// A client for each of `count` processes, of as many devices.
std::vector<std::shared_ptr<Client>> makeProcesses(int count, int64_t devices) {
  const std::shared_ptr<Platform> cpu =
      platform("cpu:workers=1").value_or_throw();
  std::vector<std::shared_ptr<Client>> clients;
  for (auto &transport : makeInProcessTransports(count)) {
    auto processes = std::make_shared<PlatformProcesses>(
        transport->rank(), count, std::weak_ptr<KeyValueStore>(), "run/",
        std::make_shared<Communicator>(transport));
    clients.push_back(cpu->client(devices, processes).value_or_throw());
  }
  return clients;
}

/// The mesh as a process sees it that has the devices from `first` on.
Mesh meshIn(const std::vector<MeshAxis> &axes, int64_t first, int64_t count) {
  MeshOptions options;
  for (int64_t d = 0; d < count; ++d) {
    options.localDeviceIds.push_back(first + d);
    options.localDevices.push_back("CPU:" + std::to_string(d));
  }
  return Mesh::get(axes, options).value_or_throw();
}

template <typename F> void inProcesses(size_t count, const F &body) {
  std::vector<std::thread> threads;
  for (size_t p = 0; p < count; ++p)
    threads.emplace_back([&body, p] { body(p); });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ProcessesTest, RegionsAreFewBoxes) {
  using plan::Region;
  const Box leftBox{{0, 0}, {4, 3}}, rightBox{{0, 3}, {4, 2}},
      belowBox{{4, 0}, {1, 5}};
  EXPECT_THAT(plan::unionOf({rightBox, belowBox, leftBox, leftBox}),
              ElementsAre(Box{{0, 0}, {5, 5}}));
  const Region cross =
      plan::unionOf({{{0, 1}, {3, 1}}, {{1, 0}, {1, 3}}, {{7, 0}, {0, 3}}});
  int64_t elements = 0;
  for (const Box &box : cross)
    elements += box.count();
  EXPECT_EQ(elements, 5);
  EXPECT_TRUE(plan::covers(cross, {{{1, 0}, {1, 3}}}));
  EXPECT_FALSE(plan::covers(cross, {{{0, 0}, {1, 2}}}));
  EXPECT_EQ(plan::subtract({{{0}, {10}}}, {{{2}, {3}}, {{9}, {4}}}),
            (Region{{{0}, {2}}, {{5}, {4}}}));
}

TEST(ProcessesTest, AProcessHasItsPartOfAnArray) {
  auto clients = makeProcesses(2, 2);
  const Mesh mesh = meshIn({{"x", 4}}, 2, 2);
  const Array rows =
      fromFloats(clients[1], {6}, Layout({"x"}, mesh), counting(6));
  EXPECT_EQ(clients[1]->bytesInUse(), 64);
  EXPECT_FALSE(isWhollyHere(rows.type()));
  EXPECT_EQ(floats(rows.component(2)->bytes), counting(2, 4));
  EXPECT_EQ(floats(rows.component(3)->bytes), std::vector<float>());
  Result<OwnedComponent> other = rows.component(1);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message(),
              AllOf(HasSubstr("another process"), HasSubstr("2 to 3")));
  Result<HostBytes> bytes = rows.toHost();
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().message(),
              AllOf(HasSubstr("f32[6]"), HasSubstr("replicated")));
  const Array everywhere =
      fromFloats(clients[1], {6}, Layout::replicated(mesh, 1), counting(6));
  EXPECT_TRUE(isWhollyHere(everywhere.type()));
  EXPECT_EQ(floats(everywhere.toHost()), counting(6));
}

// The global shape follows from components of this process: all of a dim, or
// that all shards are alike; else the shape is to be given.
TEST(ProcessesTest, ComponentsAreThoseOfThisProcess) {
  auto clients = makeProcesses(2, 2);
  const Layout rows({"x"}, meshIn({{"x", 4}}, 0, 2));
  const std::vector<float> values = counting(6);
  const std::span bytes(reinterpret_cast<const char *>(values.data()), 24);
  const std::vector<Component> even = {{{3}, bytes.first(12)},
                                       {{3}, bytes.last(12)}};
  auto array = Array::fromComponents(clients[0], DType::F32, rows, even);
  ASSERT_TRUE(array) << array.error().message();
  EXPECT_EQ(array->shape(), Shape{12});
  array = Array::fromComponents(clients[0], {DType::F32, {10}, rows}, even);
  ASSERT_TRUE(array) << array.error().message();
  EXPECT_EQ(floats(array->component(1)->bytes), counting(3, 3));
  array = Array::fromComponents(clients[0], {DType::F32, {7}, rows}, even);
  ASSERT_FALSE(array);
  EXPECT_THAT(array.error().message(), HasSubstr("device 0"));
  EXPECT_FALSE(Array::fromComponents(clients[0], DType::F32, rows,
                                     std::span(even).first(1)));
}

TEST(ProcessesTest, MeshesAreOnAllProcessesAlike) {
  auto clients = makeProcesses(2, 3);
  auto make = [&](const Mesh &mesh) {
    return Array::fromHost(clients[0], {DType::F32, {}, Layout({}, mesh)},
                           std::vector<char>(4));
  };
  EXPECT_TRUE(make(meshIn({{"x", 6}}, 0, 3)));
  EXPECT_TRUE(make(meshIn({{"x", 3}}, 0, 3))); // this process alone
  for (const Mesh &mesh : {meshIn({{"x", 5}}, 0, 3), meshIn({{"x", 6}}, 3, 3),
                           meshIn({{"x", 4}}, 0, 1)}) {
    Result<Array> array = make(mesh);
    ASSERT_FALSE(array) << mesh.to_string();
    EXPECT_THAT(array.error().message(), HasSubstr("all 2 processes alike"));
  }
  Result<Array> alone =
      Array::fromHost(makeClient({.devices = 3}),
                      {DType::F32, {}, Layout({}, meshIn({{"x", 6}}, 0, 3))},
                      std::vector<char>(4));
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message(), HasSubstr("initialize()"));
}

// Columns are summed over x, then whole: 0 + 4 + 8 + 12 and so on.
TEST(ProcessesTest, DevicesOfAProcessAreAnywhereInAMesh) {
  auto clients = makeProcesses(2, 2);
  const Mesh mesh = makeMesh({{"x", 2}, {"y", 2}});
  ProgramBuilder b(mesh);
  const Layout blocks({"x", "y"}, mesh), columns({"y"}, mesh);
  const unsigned in = b.argument({4, 4}, blocks);
  const unsigned sum = b.buffer(
      {4}, Layout::get(mesh, {{1}}, {{0, ReduceKind::Sum}}).value_or_throw());
  const unsigned sums = b.buffer({4}, columns),
                 all = b.buffer({4}, Layout::replicated(mesh, 1));
  b.kernel("row_sum", {{4, false, {1}}, {4, true, {0}}},
           {{in, byLoops({1, 0})}}, {{sum, byLoops({0})}});
  b.collective(CollectiveKind::AllReduce, {0}, {{sum, sums}});
  b.collective(CollectiveKind::AllGather, {1}, {{sums, all}});
  b.result(all);
  for (const std::vector<int64_t> &order : {std::vector<int64_t>{0, 0, 1, 1},
                                            {0, 1, 0, 1},
                                            {1, 0, 1, 0},
                                            {0, 1, 1, 0}}) {
    std::vector<std::vector<float>> results(2);
    inProcesses(2, [&](size_t p) {
      auto executable =
          clients[p]->load(Compiled(b.program, testKernels()),
                           DeviceAssignment::among(order, int64_t(p)));
      ASSERT_TRUE(executable) << executable.error().message();
      const Layout here = (*executable)->signature().arguments[0].type.layout;
      auto outcome =
          (*executable)
              ->execute({fromFloats(clients[p], {4, 4}, here, counting(16))});
      ASSERT_TRUE(outcome) << outcome.error().message();
      results[p] = floats((*outcome)[0].toHost());
    });
    for (const std::vector<float> &result : results)
      EXPECT_THAT(result, ElementsAre(24, 28, 32, 36));
  }
}

// A library function whose second result is empty has all of its first one.
TEST(ProcessesTest, AHeldLoopIsEmptyByItself) {
  const std::vector<Loop> loops{{.extent = 4, .axes = {0}},
                                {.extent = 3, .held = true},
                                {.extent = 0, .held = true}};
  const std::vector<int64_t> devices{2, 3};
  const auto pieces =
      plan::iterationPieces(loops, makeMesh({{"x", 4}}), devices);
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->size(), 1U);
  EXPECT_THAT(pieces->front().box.extent, ElementsAre(2, 3, 0));
}

// The others' step ends with an error that says who failed, where and why.
TEST(ProcessesTest, FailureOfOneEndsTheOthers) {
  auto clients = makeProcesses(2, 2);
  const Mesh mesh = makeMesh({{"x", 4}});
  ProgramBuilder b(mesh);
  const Layout rows({"x", UNSHARDED}, mesh), all = Layout::replicated(mesh, 2);
  const unsigned a = b.buffer({4, 4}, rows), whole = b.buffer({4, 4}, all);
  b.kernel("index", {{4, false, {0}}, {4}}, {}, {{a, byLoops({0, 1})}});
  b.collective(CollectiveKind::AllGather, {0}, {{a, whole}});
  b.result(whole);
  std::vector<std::string> errors(2);
  inProcesses(2, [&](size_t p) {
    auto kernels = testKernels();
    if (p == 1)
      kernels->functions["index"] = kernels->functions["failing"];
    auto executable = clients[p]->load(Compiled(b.program, kernels));
    auto results = (*executable)->execute({});
    if (!results)
      errors[p] = results.error().message();
  });
  EXPECT_EQ(errors[1], "test.mlir:1:3: in 'dtensor.index': no more ink");
  EXPECT_THAT(errors[0],
              AllOf(HasSubstr("test.mlir:1:1: in 'dtensor.relayout': "),
                    HasSubstr("all_gather between processes"),
                    HasSubstr("process 1 (localhost)"),
                    HasSubstr("'dtensor.index': no more ink")));
}

// Where values are checked, one that is not finite in one process ends the step
// in all of them, with one text, and they go on. Sums that overflow are found
// at the collective.
TEST(ProcessesTest, NonFiniteValuesEndAStepInAllProcesses) {
  auto clients = makeProcesses(2, 2);
  const Mesh mesh = makeMesh({{"x", 4}});
  ProgramBuilder b(mesh);
  const Layout columns({UNSHARDED, "x"}, mesh);
  const Layout parts =
      Layout::get(mesh, {{}}, {{0, ReduceKind::Sum}}).value_or_throw();
  const unsigned in = b.argument({4, 4}, columns);
  const unsigned twice = b.buffer({4, 4}, columns), sum = b.buffer({4}, parts);
  const unsigned whole = b.buffer({4}, Layout::replicated(mesh, 1));
  b.kernel("twice", {{4}, {4, false, {0}}}, {{in, byLoops({0, 1})}},
           {{twice, byLoops({0, 1})}});
  b.kernel("row_sum", {{4}, {4, true, {0}}}, {{twice, byLoops({0, 1})}},
           {{sum, byLoops({0})}});
  b.collective(CollectiveKind::AllReduce, {0}, {{sum, whole}});
  b.result(whole);
  std::vector<std::vector<std::string>> errors(2);
  inProcesses(2, [&](size_t p) {
    auto executable = clients[p]->load(Compiled(b.program, testKernels()),
                                       {.checkNonFinite = true});
    ASSERT_TRUE(executable);
    const Layout here = (*executable)->signature().arguments[0].type.layout;
    for (const auto &[first, third, last] :
         {std::array{1.F, 1.F, 1.F}, std::array{1.F, 1.F, 3e38F},
          std::array{1e38F, 1e38F, 1.F}, std::array{1.F, 1.F, 2.F}}) {
      std::vector<float> values(16, 1);
      values[0] = first;
      values[2] = third;
      values[15] = last;
      auto results =
          (*executable)
              ->execute({fromFloats(clients[p], {4, 4}, here, values)});
      errors[p].push_back(
          results ? std::to_string(floats((*results)[0].toHost())[3])
                  : results.error().message());
    }
  });
  EXPECT_EQ(errors[0], errors[1]);
  EXPECT_THAT(
      errors[0],
      ElementsAre("8.000000",
                  AllOf(HasSubstr("in 'dtensor.twice': the result "),
                        HasSubstr("or an infinity (in process 1, localhost)")),
                  AllOf(HasSubstr("in 'dtensor.relayout': the result "),
                        HasSubstr("or an infinity")),
                  "10.000000"));
}

void doubleAndTell(void *const *operands, const int64_t *, const int64_t *,
                   const int64_t *extents) {
  // Whether this device's element is below 100.
  *static_cast<uint8_t *>(operands[1]) =
      extents[0] > 0 && *static_cast<float *>(operands[0]) < 100;
}

// Devices whose own condition is false go on where the body exchanges: u is
// replaced by its mirror image, doubled, until all are at least 100.
TEST(ProcessesTest, ProcessesAgreeToGoOn) {
  auto clients = makeProcesses(2, 2);
  const Mesh mesh = makeMesh({{"x", 4}});
  const Layout rows({"x"}, mesh);
  ProgramBuilder b(mesh);
  const unsigned u0 = b.argument({4}, rows), u = b.buffer({4}, rows),
                 all = b.buffer({4}, Layout::replicated(mesh, 1)),
                 next = b.buffer({4}, rows), after = b.buffer({4}, rows);
  const unsigned goesOn = b.buffer(
      {}, Layout::replicated(mesh, 0).with_partial({{0, ReduceKind::Or}}),
      DType::I1);
  LoopStep loop;
  loop.carried = {{u0, u, next, after}};
  loop.predicate = goesOn;
  b.kernel("tell", {{4, true, {0}}}, {{u, byLoops({0})}}, {{goesOn, {}}});
  loop.condition = std::exchange(b.program.steps, {});
  b.collective(CollectiveKind::AllGather, {0}, {{u, all}});
  std::vector<DimAccess> mirrored = byLoops({0});
  mirrored[0] = {3, {{0, -1}}};
  b.kernel("mirror", {{4, false, {0}}}, {{all, mirrored}},
           {{next, byLoops({0})}});
  loop.body = std::exchange(b.program.steps, {});
  b.program.steps.push_back(std::move(loop));
  b.result(after);
  auto kernels = testKernels();
  kernels->functions["tell"] = doubleAndTell;
  kernels->functions["mirror"] = [](void *const *operands,
                                    const int64_t *strides, const int64_t *,
                                    const int64_t *extents) {
    for (int64_t i = 0; i < extents[0]; ++i)
      static_cast<float *>(operands[1])[i * strides[1]] =
          2 * static_cast<float *>(operands[0])[i * strides[0]];
  };
  std::vector<std::vector<float>> results(2);
  inProcesses(2, [&](size_t p) {
    auto executable = clients[p]->load(Compiled(b.program, kernels));
    const Layout here = (*executable)->signature().arguments[0].type.layout;
    auto outcome = (*executable)
                       ->execute({fromFloats(clients[p], {4}, here,
                                             {1, 1000, 2000, 3000})});
    if (outcome)
      for (int64_t d : {0, 1})
        results[p].push_back(
            floats((*outcome)[0].component(int64_t(2 * p) + d)->bytes)[0]);
  });
  // Merged, a process looks at the first of its elements: 1, 2, .. 128 goes to
  // and fro between the ends; seven times.
  EXPECT_THAT(results[0], ElementsAre(3000 * 128, 2000 * 128));
  EXPECT_THAT(results[1], ElementsAre(1000 * 128, 1 * 128));
}
} // namespace
