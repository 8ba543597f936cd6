// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes of one device: they cost nothing, and users see the layouts that they
// wrote.
#include "../TemporaryFolder.h"
#include "Testing.h"

namespace meshloom {
namespace {

Mesh plain() {
  return create_mesh({{"x", 8}}, virtual_cpus(8));
}
Mesh withOnes() {
  return create_mesh({{"a", 1}, {"x", 8}, {"b", 1}}, virtual_cpus(8));
}

/// Bytes of each collective under "ring", by kind.
std::vector<std::string> sent(const ConcreteFunction &function) {
  std::vector<std::string> texts;
  for (const CollectiveInfo &info : function.collectives("ring")) {
    std::ostringstream text;
    text << name(info.kind) << " over";
    for (const std::string &axis : info.axes)
      text << " " << axis;
    text << ": " << info.bytes << ", " << info.bytes_sent;
    texts.push_back(text.str());
  }
  return texts;
}

/// A step of Adam of two weights, cut over `cut`, and its input over x.
ConcreteFunction trainingStep(const Mesh &mesh, const DimSpec &cut) {
  constexpr int64_t width = 16;
  auto place = [&](Shape shape, std::vector<DimSpec> dims) {
    return relayout(ones(shape), Layout(std::move(dims), mesh));
  };
  DefaultMeshScope onMesh = default_mesh(mesh);
  DVariable up(place({width, 4 * width}, {UNSHARDED, cut}), {.name = "up"}),
      down(place({4 * width, width}, {cut, UNSHARDED}), {.name = "down"});
  optimizers::Adam adam(1e-3);
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor h = x;
    for (int i = 0; i < 3; ++i)
      h = nn::layer_norm(h + matmul(nn::gelu(matmul(h, up)), down));
    Tensor loss = reduce_mean(square(h));
    adam.apply_gradients(tape.gradient(loss, {up, down}));
    return loss;
  });
  return step.get_concrete_function(place({16, width}, {"x", UNSHARDED}));
}

TEST(AxesOfOneTest, AxesOfOneDeviceSendNothing) {
  const std::vector<std::string> expected =
      sent(trainingStep(plain(), UNSHARDED));
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(sent(trainingStep(withOnes(), "b")), expected);
}

TEST(AxesOfOneTest, OneDeviceSendsNothing) {
  Mesh mesh = create_mesh({{"x", 1}, {"y", 1}}, virtual_cpus(1));
  ConcreteFunction step = trainingStep(mesh, "y");
  EXPECT_TRUE(step.collectives().empty());
  EXPECT_TRUE(step.collectives("ring").empty());
  EXPECT_THAT(step.explain(), HAS(": 0 collectives, 0 bytes"));
}

// Arguments, results and variables keep what was written, outside of functions
// and inside; what nobody laid out is on the same mesh.
TEST(AxesOfOneTest, LayoutsAreAsWritten) {
  Layout both({"x", "b"}, withOnes()), cut({Axes{"x", "a"}, "b"}, withOnes());
  Tensor x = distribute(sample({8, 3}), both);
  check_layout(x, both);
  check_layout(relayout(x, cut), cut);
  EXPECT_EQ((x + x).mesh(), withOnes());
  expectSame(x + relayout(x, cut), 2 * sample({8, 3}), 1e-6);

  DVariable w(x);
  auto f = function([&](const Tensor &x) {
    w.assign_add(x);
    return std::vector<Tensor>{relayout(x * 2, cut), reduce_sum(x, 1)};
  });
  std::vector<Tensor> results = f(x);
  ConcreteFunction concrete = f.concrete_functions().front();
  EXPECT_EQ(concrete.arguments()[0].layout, both);
  EXPECT_EQ(concrete.results()[0].layout, cut);
  check_layout(results[0], cut);
  EXPECT_EQ(results[1].mesh(), withOnes());
  check_layout(w.read_value(), both);
  expectSame(w, 2 * sample({8, 3}), 1e-6);
  // And go back in.
  expectSame(f(results[0])[0], 4 * sample({8, 3}), 1e-6);
}

// A sum over one device is its value.
TEST(AxesOfOneTest, PendingOverOne) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Max, ReduceKind::Prod}) {
    Layout pending({"x"}, withOnes(), {{"b", kind}});
    Tensor x = distribute(sample({16}), Layout({"x"}, withOnes()));
    Tensor moved = relayout(x, pending);
    check_layout(moved, pending);
    expectSame(moved, sample({16}), 0);
    expectSame(relayout(moved + 1, x.layout()), sample({16}) + 1, 1e-6);
  }
}

TEST(AxesOfOneTest, ShardMapOverOne) {
  Tensor x = distribute(sample({8, 4}), Layout({"x", "b"}, withOnes()));
  auto sums = [](const Tensor &block) {
    return psum(block, "b") + cast(axis_index("b"), DType::F32) +
           psum(reduce_sum(block), {"x", "b"});
  };
  Tensor y = shard_map(sums, withOnes(), {x.layout()}, {x.layout()})(x);
  expectSame(y, sample({8, 4}) + reduce_sum(sample({8, 4})), 1e-5);
}

TEST(AxesOfOneTest, InLoopsAndBranches) {
  Layout cut({"x", "b"}, withOnes());
  Tensor x = distribute(sample({8, 4}), cut);
  auto f = function([&](const Tensor &x) {
    Tensor y = fori_loop(
        0, 3,
        [&](const Tensor &, const Tensor &y) { return relayout(y + x, cut); },
        x);
    return cond(
        greater(reduce_sum(square(y)), 0.f), [&] { return relayout(y, cut); },
        [&] { return x; });
  });
  Tensor y = f(x);
  expectSame(y, 4 * sample({8, 4}), 1e-6);
  EXPECT_EQ(y.mesh(), withOnes());
}

// Beside another mesh, whose axes are other ones.
TEST(AxesOfOneTest, OnTwoMeshes) {
  Mesh other = create_mesh({{"p", 2}, {"one", 1}, {"q", 4}}, virtual_cpus(8));
  Layout a({"x", "b"}, withOnes()), b({"one", "q"}, other);
  auto f = function([&](const Tensor &x, const Tensor &y) {
    return std::vector<Tensor>{relayout(x + y, a), relayout(x - y, b)};
  });
  Tensor x = sample({8, 4}), y = sample({8, 4}, 2);
  std::vector<Tensor> results = f(distribute(x, a), distribute(y, b));
  check_layout(results[0], a);
  check_layout(results[1], b);
  expectSame(results[0], x + y, 1e-6);
  expectSame(results[1], x - y, 1e-6);
}

class SavedAxesOfOneTest : public test::TemporaryFolderTest {};

// A saved program is loaded on the mesh that it was written on.
TEST_F(SavedAxesOfOneTest, SavedOnTheMeshThatWasWritten) {
  Layout cut({"x", "b"}, withOnes());
  Tensor x = distribute(sample({8, 4}), cut);
  auto f = function([&](const Tensor &x) { return relayout(2 * x, cut); });
  f.get_concrete_function(x).save(folder / "f.mlprog");
  SavedFunction loaded = load_function(folder / "f.mlprog", withOnes());
  EXPECT_EQ(loaded.mesh(), withOnes());
  EXPECT_EQ(loaded.arguments()[0].layout, cut);
  check_layout(loaded({x})[0], cut);
  expectSame(loaded({x})[0], 2 * sample({8, 4}), 1e-6);
  EXPECT_EQ(load_function(folder / "f.mlprog").mesh().spec_string(),
            withOnes().spec_string());
  EXPECT_ERROR(load_function(folder / "f.mlprog", plain()),
               HAS("[load_function]"), HAS("a=1, x=8, b=1"), HAS("x=8"));
}

} // namespace
} // namespace meshloom
