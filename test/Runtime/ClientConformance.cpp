// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The behaviour of every client, whatever its programs consist of: arrays,
// variables, errors, threads. Backends that run Programs pass Conformance.cpp
// too.
#include "ClientConformance.h"

#include <thread>

using namespace meshloom;
using namespace meshloom::test;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ClientConformance);

Compiled meshloom::test::updateByKernel(const Mesh &mesh,
                                        const Layout &layout) {
  ProgramBuilder b(mesh);
  unsigned w = b.argument({5, 3}, layout), g = b.argument({5, 3}, layout);
  unsigned after = b.buffer({5, 3}, layout);
  std::vector<unsigned> rows(layout.axes(0).begin(), layout.axes(0).end());
  b.kernel("update", {{5, false, rows}, {3}},
           {{w, byLoops({0, 1})}, {g, byLoops({0, 1})}},
           {{after, byLoops({0, 1})}}, {0});
  b.result(after, 0);
  return Compiled(b.program, testKernels());
}

namespace {
std::vector<Array> run(const std::shared_ptr<Client> &client, Compiled program,
                       std::vector<Array> arguments) {
  return client->load(std::move(program))
      .value_or_throw()
      ->execute(std::move(arguments))
      .value_or_throw();
}

std::span<const char> bytesOf(const std::vector<float> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(float)};
}

// ---- Arrays

// A global value comes back as it went in, under any layout.
TEST_P(ClientConformance, HostValueSurvivesEveryLayout) {
  Mesh mesh = makeMesh({{"x", 2}, {"y", 4}});
  auto cpu = client(8);
  for (Shape shape : {Shape{5, 7}, Shape{8, 4}, Shape{1, 3}, Shape{0, 3}})
    for (const Layout &layout :
         {Layout({UNSHARDED, UNSHARDED}, mesh), Layout({"x", "y"}, mesh),
          Layout({Axes{"y", "x"}, UNSHARDED}, mesh),
          Layout({UNSHARDED, "y"}, mesh, {{"x", ReduceKind::Sum}}),
          Layout({UNSHARDED, UNSHARDED}, mesh, {{"y", ReduceKind::Max}})}) {
      const std::vector<float> values = counting(elementCount(shape), -3);
      Array array = fromFloats(cpu, shape, layout, values);
      EXPECT_EQ(floats(array.toHost()), values) << array.type().to_string();
    }
}

// A scalar has one element and no dims.
TEST_P(ClientConformance, ScalarHasOneElement) {
  Mesh mesh = makeMesh({{"x", 2}});
  Array array = fromFloats(client(2), {}, Layout::replicated(mesh, 0), {7});
  EXPECT_EQ(array.item<float>().value_or_throw(), 7);
}

// Uneven dims: the last components are short or empty.
TEST_P(ClientConformance, ComponentsAreUnpaddedShards) {
  Mesh mesh = makeMesh({{"x", 4}});
  Array array = fromFloats(client(4), {5, 2}, Layout({"x", UNSHARDED}, mesh),
                           counting(10));
  const std::vector<Shape> shapes = {{2, 2}, {2, 2}, {1, 2}, {0, 2}};
  for (int64_t device = 0; device < 4; ++device) {
    auto component = array.component(device);
    ASSERT_TRUE(component);
    EXPECT_EQ(component->shape, shapes[size_t(device)]);
    EXPECT_EQ(floats(component->bytes),
              counting(elementCount(component->shape), float(4 * device)));
  }
  EXPECT_FALSE(array.component(4));
}

// fromComponents is the inverse of component.
TEST_P(ClientConformance, ComponentsMakeTheGlobalValue) {
  Mesh mesh = makeMesh({{"x", 2}, {"y", 2}});
  auto cpu = client(4);
  for (const Layout &layout :
       {Layout({"x", "y"}, mesh), Layout({UNSHARDED, "x"}, mesh),
        Layout({Axes{"x", "y"}, UNSHARDED}, mesh),
        Layout({"y", UNSHARDED}, mesh, {{"x", ReduceKind::Sum}})}) {
    Array array = fromFloats(cpu, {5, 3}, layout, counting(15));
    std::vector<OwnedComponent> owned;
    for (int64_t device = 0; device < 4; ++device)
      owned.push_back(array.component(device).value_or_throw());
    std::vector<Component> components;
    for (const OwnedComponent &c : owned)
      components.push_back({c.shape, c.bytes});
    auto again = Array::fromComponents(cpu, DType::F32, layout, components);
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->shape(), (Shape{5, 3}));
    EXPECT_EQ(floats(again->toHost()), counting(15));
  }
}

// Addends of a partial value are kept apart, and combined by a reader.
TEST_P(ClientConformance, PartialComponentsAddUp) {
  Mesh mesh = makeMesh({{"x", 3}});
  Layout layout({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}});
  auto cpu = client(3);
  const std::vector<std::vector<float>> parts = {{1, 2}, {10, 20}, {100, 200}};
  std::vector<Component> components;
  for (const auto &part : parts)
    components.push_back({{2}, bytesOf(part)});
  auto array = Array::fromComponents(cpu, DType::F32, layout, components);
  ASSERT_TRUE(array);
  EXPECT_EQ(floats(array->toHost()), (std::vector<float>{111, 222}));
  EXPECT_EQ(floats(array->component(1)->bytes), parts[1]);
}

// The error names the device, what was expected and what was given.
TEST_P(ClientConformance, WrongComponentIsNamed) {
  Mesh mesh = makeMesh({{"x", 4}});
  Layout layout({"x"}, mesh);
  const std::vector<float> values = counting(3);
  std::vector<Component> components(4, {{2}, bytesOf({0, 1})});
  const std::vector<float> two = {0, 1};
  for (Component &c : components)
    c.bytes = bytesOf(two);
  components[2] = {{3}, bytesOf(values)};
  auto array = Array::fromComponents(client(4), DType::F32, layout, components);
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().message(), "device 2 of layout [x] must have a "
                                     "component of shape [2], got [3]");

  // The devices that have nothing, though they are most, are not taken as the
  // standard.
  for (int device = 0; device < 4; ++device)
    components[device] = {{device == 0 ? 2 : 0}, {}};
  components[3].shape = {1};
  array = Array::fromComponents(client(4), DType::F32, layout, components);
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().message(), "device 0 of layout [x] must have a "
                                     "component of shape [1], got [2]");
}

// Copies that differ are an error, not a choice.
TEST_P(ClientConformance, DifferingCopiesAreAnError) {
  Mesh mesh = makeMesh({{"x", 2}});
  const std::vector<float> one = {1}, two = {2};
  auto array = Array::fromComponents(
      client(2), DType::F32, Layout({UNSHARDED}, mesh),
      std::vector<Component>{{{1}, bytesOf(one)}, {{1}, bytesOf(two)}});
  ASSERT_FALSE(array);
  EXPECT_NE(array.error().message().find("devices 0 and 1"), std::string::npos);
}

// Bytes that do not fit the type, and meshes that do not fit the client.
TEST_P(ClientConformance, WrongHostDataIsAnError) {
  Mesh mesh = makeMesh({{"x", 4}});
  const ArrayType type{DType::F32, {3}, Layout({"x"}, mesh)};
  EXPECT_FALSE(Array::fromHost(client(4), type, bytesOf({1, 2})));
  EXPECT_FALSE(Array::fromHost(client(2), type, bytesOf({1, 2, 3})));
  const ArrayType wrongRank{DType::F32, {3, 1}, Layout({"x"}, mesh)};
  EXPECT_FALSE(Array::fromHost(client(4), wrongRank, bytesOf({1, 2, 3})));
}

// Memory goes with the last reference.
TEST_P(ClientConformance, MemoryIsFreedWithTheLastReference) {
  Mesh mesh = makeMesh({{"x", 2}});
  auto cpu = client(2);
  const int64_t before = cpu->bytesInUse();
  {
    Array array = fromFloats(cpu, {1000}, Layout({"x"}, mesh), counting(1000));
    Array copy = array;
    array = Array();
    EXPECT_GE(cpu->bytesInUse() - before, 4000);
    EXPECT_EQ(floats(copy.toHost()), counting(1000));
  }
  EXPECT_EQ(cpu->bytesInUse(), before);
}

// An array keeps its client alive.
TEST_P(ClientConformance, ArrayOutlivesTheHandleOfItsClient) {
  Mesh mesh = makeMesh({{"x", 2}});
  Array array = fromFloats(client(2), {3}, Layout({"x"}, mesh), counting(3));
  EXPECT_EQ(floats(array.toHost()), counting(3));
}

// ---- Variables

// The only reference is moved in: the result lives in its memory.
TEST_P(ClientConformance, MovedVariableIsUpdatedInPlace) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  auto cpu = client(2);
  auto executable = cpu->load(update(mesh, layout));
  ASSERT_TRUE(executable);
  Array w = fromFloats(cpu, {5, 3}, layout, counting(15, 100));
  Array g = fromFloats(cpu, {5, 3}, layout, counting(15));
  const int64_t before = cpu->bytesInUse();
  for (int step = 1; step <= 3; ++step) {
    std::vector<Array> arguments;
    arguments.push_back(std::move(w));
    arguments.push_back(g);
    auto results = (*executable)->execute(std::move(arguments));
    ASSERT_TRUE(results) << results.error().message();
    w = std::move((*results)[0]);
    EXPECT_EQ(cpu->bytesInUse(), before);
  }
  EXPECT_EQ(floats(w.toHost())[14], 114 - 3 * 14);
}

// A tensor that was read earlier keeps its value.
TEST_P(ClientConformance, OldValueOfAVariableLivesOn) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  auto cpu = client(2);
  Array w = fromFloats(cpu, {5, 3}, layout, counting(15, 100));
  Array g = fromFloats(cpu, {5, 3}, layout, counting(15));
  Array old = w;
  auto results = run(cpu, update(mesh, layout), {w, g});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(floats(results[0].toHost()), std::vector<float>(15, 100));
  EXPECT_EQ(floats(old.toHost()), counting(15, 100));
  EXPECT_EQ(floats(g.toHost()), counting(15));
}

// The same array as variable and as gradient.
TEST_P(ClientConformance, VariablePassedTwiceIsCopied) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  auto cpu = client(2);
  std::vector<Array> arguments = {
      fromFloats(cpu, {5, 3}, layout, counting(15, 1))};
  arguments.push_back(arguments[0]);
  auto results = run(cpu, update(mesh, layout), std::move(arguments));
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(floats(results[0].toHost()), std::vector<float>(15, 0));
}

// ---- Errors, statistics, threads

TEST_P(ClientConformance, WrongArgumentsAreNamed) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  auto cpu = client(2);
  auto executable = cpu->load(update(mesh, layout));
  ASSERT_TRUE(executable);
  Array good = fromFloats(cpu, {5, 3}, layout, counting(15));
  auto message = [&](std::vector<Array> arguments) {
    auto results = (*executable)->execute(std::move(arguments));
    return results ? "" : results.error().message();
  };
  EXPECT_EQ(message({good}), "program 'test' takes 2 arguments, got 1");
  EXPECT_EQ(message({good, Array()}),
            "argument 1 ('b1') of program 'test' is not an array: it was moved "
            "from, or never set");
  EXPECT_EQ(message({good, fromFloats(cpu, {5, 4}, layout, counting(20))}),
            "argument 1 ('b1') of program 'test' must be f32[5, 3] with layout "
            "[x, *], got f32[5, 4] with layout [x, *]");
  Layout replicated = Layout::replicated(mesh, 2);
  EXPECT_EQ(message({fromFloats(cpu, {5, 3}, replicated, counting(15)), good}),
            "argument 0 ('b0') of program 'test' must be f32[5, 3] with layout "
            "[x, *], got f32[5, 3] with layout [*, *]");
  Mesh other = makeMesh({{"y", 2}});
  EXPECT_NE(
      message({good, fromFloats(cpu, {5, 3}, Layout({"y", UNSHARDED}, other),
                                counting(15))})
          .find("must be on the mesh"),
      std::string::npos);
  auto another = client(2);
  EXPECT_NE(message({good, fromFloats(another, {5, 3}, layout, counting(15))})
                .find("another client"),
            std::string::npos);
}

// Several threads on one executable, each with its own variable.
TEST_P(ClientConformance, CallsFromSeveralThreadsDoNotMix) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  auto cpu = client(2);
  auto executable = cpu->load(update(mesh, layout));
  ASSERT_TRUE(executable);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Array w = fromFloats(cpu, {5, 3}, layout,
                           std::vector<float>(15, float(1000 * t)));
      Array g = fromFloats(cpu, {5, 3}, layout, std::vector<float>(15, 1));
      for (int step = 0; step < 50; ++step) {
        std::vector<Array> arguments;
        arguments.push_back(std::move(w));
        arguments.push_back(g);
        auto results = (*executable)->execute(std::move(arguments));
        ASSERT_TRUE(results);
        w = std::move((*results)[0]);
      }
      EXPECT_EQ(floats(w.toHost()),
                std::vector<float>(15, float(1000 * t - 50)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ((*executable)->statistics().executions, 200);
}

// An array whose computation failed says so to whoever uses it.
TEST_P(ClientConformance, ErrorOfAnArrayReachesItsReaders) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  auto cpu = client(2);
  Array good = fromFloats(cpu, {5, 3}, layout, counting(15));
  Array bad(good.type(), good.buffer(), Event::failed(Error("lost")));
  EXPECT_EQ(bad.toHost().error().message(), "lost");
  EXPECT_EQ(bad.component(0).error().message(), "lost");
  auto executable = cpu->load(update(mesh, layout));
  auto results = (*executable)->execute({good, bad});
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message(), "lost");
}

// One that is still being computed is waited for.
TEST_P(ClientConformance, ReadersWaitForTheEvent) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x"}, mesh);
  Array done = fromFloats(client(2), {3}, layout, counting(3));
  Event event = Event::pending();
  Array later(done.type(), done.buffer(), event);
  EXPECT_FALSE(event.isReady());
  std::thread worker([&] { event.complete(); });
  EXPECT_EQ(floats(later.toHost()), counting(3));
  worker.join();
}

// Peak memory is at least what the arguments and results take.
TEST_P(ClientConformance, PeakBytesAreReported) {
  Mesh mesh = makeMesh({{"x", 2}});
  Layout layout({"x", UNSHARDED}, mesh);
  auto executable = client(2)->load(update(mesh, layout));
  ASSERT_TRUE(executable);
  Statistics stats = (*executable)->statistics();
  EXPECT_GE(stats.peakBytesPerDevice, 2 * 4 * 15 / 2);
  EXPECT_GE(stats.peakBytes, stats.peakBytesPerDevice);
}
} // namespace
