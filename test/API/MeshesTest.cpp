// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several meshes over the same devices in one program.
#include "Testing.h"

using namespace meshloom;

namespace {

Mesh meshA() {
  return create_mesh({{"x", 2}, {"y", 4}}, virtual_cpus(8), "a");
}
Mesh meshB() {
  return create_mesh({{"p", 4}, {"q", 2}}, virtual_cpus(8), "b");
}

// Arguments on two meshes meet in ops; results are laid out as asked for, on
// either mesh, and otherwise on one of the user's.
TEST(MeshesTest, AFunctionOnTwoMeshes) {
  Tensor x = sample({8, 16}), w = sample({16, 8});
  Layout onA({"y", UNSHARDED}, meshA()), onB({"q", "p"}, meshB());
  Layout rows({"x", UNSHARDED}, meshA()), blocks({"p", "q"}, meshB());
  auto f = function([&](const Tensor &a, const Tensor &b) {
    Tensor product = matmul(a, b);
    return std::vector<Tensor>{product, relayout(product, rows),
                               relayout(tanh(product), blocks)};
  });
  std::vector<Tensor> results = f(distribute(x, onA), distribute(w, onB));
  Tensor expected = matmul(x, w);
  expectSame(results[0], expected, 1e-5);
  expectSame(results[1], expected, 1e-5);
  expectSame(results[2], tanh(expected), 1e-5);
  EXPECT_TRUE(results[0].mesh() == meshA() || results[0].mesh() == meshB());
  check_layout(results[1], rows);
  check_layout(results[2], blocks);

  ConcreteFunction concrete = f.concrete_functions().front();
  EXPECT_EQ(concrete.arguments()[0].layout, onA);
  EXPECT_EQ(concrete.arguments()[1].layout, onB);
  EXPECT_EQ(concrete.results()[2].layout, blocks);
}

// Values that a function captures, and variables, keep their own layouts.
TEST(MeshesTest, VariablesOnSeveralMeshes) {
  DVariable counter(distribute(zeros({8}), Layout({"y"}, meshA())));
  DVariable weight(distribute(ones({8}), Layout({"q"}, meshB())));
  Tensor step = distribute(sample({8}), Layout({"p"}, meshB()));
  auto f = function([&] {
    counter.assign_add(step);
    weight.assign(weight.read_value() + counter.read_value());
    return reduce_sum(weight.read_value());
  });
  f();
  f();
  check_layout(counter.read_value(), Layout({"y"}, meshA()));
  check_layout(weight.read_value(), Layout({"q"}, meshB()));
  expectSame(counter.read_value(), 2 * sample({8}), 1e-6);
  expectSame(weight.read_value(), 1 + 3 * sample({8}), 1e-6);
  // Outside of a function values are brought to the variable's mesh before.
  EXPECT_ERROR(counter.assign(step), HAS("[assign]"), HAS("relayout"));
  counter.assign(relayout(step, Layout({"x"}, meshA())));
  check_layout(counter.read_value(), Layout({"y"}, meshA()));
  expectSame(counter.read_value(), sample({8}), 0);
}

// Outside of functions relayout is what crosses meshes, and nothing else.
TEST(MeshesTest, EagerOpsAreOnOneMesh) {
  Tensor a = distribute(sample({8, 4}), Layout({"y", UNSHARDED}, meshA()));
  Tensor b = distribute(sample({8, 4}), Layout({"q", "p"}, meshB()));
  EXPECT_ERROR(a + b, HAS("[add]"), HAS("a[x=2, y=4]"), HAS("b[p=4, q=2]"),
               HAS("relayout"));
  Tensor moved = relayout(b, a.layout());
  check_layout(moved, a.layout());
  expectSame(moved, b, 0);
  expectSame(relayout(moved, b.layout()), b, 0);
  expectSame(a + moved, 2 * sample({8, 4}), 1e-6);
  Layout sums({UNSHARDED}, meshA(), {{"x", ReduceKind::Sum}});
  Tensor row = distribute(sample({8}), Layout({"q"}, meshB()));
  expectSame(relayout(row, sums), row, 0);
}

TEST(MeshesTest, GradientsCrossMeshes) {
  Tensor x = distribute(sample({8, 16}), Layout({"y", UNSHARDED}, meshA()));
  Tensor w = distribute(sample({16, 8}), Layout({"q", "p"}, meshB()));
  Tensor hostX = sample({8, 16}), hostW = sample({16, 8});
  auto f = function([](const Tensor &a, const Tensor &b) {
    return reduce_sum(tanh(matmul(a, b)));
  });
  auto gradients = [](auto &&loss, const Tensor &a, const Tensor &b) {
    GradientTape tape;
    tape.watch(a);
    tape.watch(b);
    Tensor value = loss(a, b);
    return tape.gradient(value, std::vector<Tensor>{a, b});
  };
  auto expected =
      gradients([](const Tensor &a,
                   const Tensor &b) { return reduce_sum(tanh(matmul(a, b))); },
                hostX, hostW);
  auto got = gradients(f, x, w);
  for (size_t i = 0; i < 2; ++i)
    expectSame(got[i], expected[i], 1e-5);
  // Through a relayout outside of functions.
  Layout onA({"x", UNSHARDED}, meshA());
  got = gradients(
      [&](const Tensor &a, const Tensor &b) {
        return reduce_sum(tanh(matmul(a, relayout(b, onA))));
      },
      x, w);
  for (size_t i = 0; i < 2; ++i)
    expectSame(got[i], expected[i], 1e-5);
  EXPECT_EQ(got[1].mesh(), meshB());
}

// Meshes that do not go together are named.
TEST(MeshesTest, MeshesThatDoNotGoTogetherAreNamed) {
  auto f = function([](const Tensor &a, const Tensor &b) { return a + b; });
  Tensor six = distribute(
      ones({6}),
      Layout({"u"}, create_mesh({{"u", 2}, {"v", 3}}, virtual_cpus(6))));
  Tensor other = distribute(
      ones({6}),
      Layout({"s"}, create_mesh({{"s", 3}, {"t", 2}}, virtual_cpus(6))));
  EXPECT_ERROR(f(six, other), HAS("argument 'arg1'"), HAS("<s=3, t=2>"),
               HAS("<u=2, v=3>"), HAS("no common refinement"));

  Tensor few = distribute(
      ones({4}), Layout({"z"}, create_mesh({{"z", 4}}, virtual_cpus(4))));
  Tensor elsewhere = distribute(
      ones({4}),
      Layout({"z"},
             create_mesh({{"z", 4}},
                         {{"CPU", 3}, {"CPU", 2}, {"CPU", 1}, {"CPU", 0}})));
  EXPECT_ERROR(f(few, elsewhere), HAS("CPU:0, CPU:1"), HAS("CPU:3, CPU:2"),
               HAS("copy_to_mesh"));
}

// Blocks of 10 over y are 3, 3, 3, 1; over its parts, 3, 2, 3, 2: the argument
// comes in those.
TEST(MeshesTest, AnArgumentOfOtherBlocksComesAlong) {
  auto f = function([](const Tensor &a, const Tensor &b) { return a + b; });
  Tensor odd = distribute(range(10, DType::F32), Layout({"y"}, meshA()));
  Tensor b = distribute(ones({10}), Layout({"p"}, meshB()));
  expectSame(f(odd, b), range(10, DType::F32) + 1);
}

// A loop in a function on two meshes, called again with values of its own.
TEST(MeshesTest, ResultsGoBackIn) {
  Tensor x = distribute(sample({8}), Layout({"y"}, meshA()));
  Tensor b = distribute(ones({8}), Layout({"p"}, meshB()));
  auto f = function([&](const Tensor &a, const Tensor &c) {
    return std::vector<Tensor>{relayout(a + c, x.layout()), c + a};
  });
  std::vector<Tensor> once = f(x, b), twice = f(once[0], once[1]);
  EXPECT_EQ(once[0].mesh(), meshA());
  expectSame(twice[0], 2 * sample({8}) + 2, 1e-5);
}

} // namespace
