// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving values between host, mesh and layouts; and what is refused.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(DistributeTest, RelayoutKeepsTheValue) {
  Mesh mesh = mesh2x4();
  Tensor x = sample({5, 7});
  for (std::string_view from : {"uu", "xu", "uy", "xy", "yx"})
    for (std::string_view to : {"uu", "xu", "ux", "yu", "xy", "yx"}) {
      Tensor y = relayout(distribute(x, specs(from, mesh)), specs(to, mesh));
      check_layout(y, specs(to, mesh));
      expectSame(y, x, 0);
    }
  Layout both({Axes{"x", "y"}, UNSHARDED}, mesh);
  Tensor y = relayout(distribute(x, specs("ux", mesh)), both);
  check_layout(y, both);
  expectSame(y, x, 0);
}

TEST(DistributeTest, RelayoutLikeAnother) {
  Mesh mesh = mesh2x4();
  Tensor x = distribute(sample({4, 4}), specs("xu", mesh));
  Tensor like = distribute(zeros({8, 8}), specs("uy", mesh));
  check_layout(relayout_like(x, like), specs("uy", mesh));
}

TEST(DistributeTest, CopyToMeshAndBack) {
  Tensor x = sample({8, 4});
  Tensor on8 = distribute(x, Layout({"batch", UNSHARDED}, mesh8()));
  Tensor on2x4 = copy_to_mesh(on8, specs("xy", mesh2x4()));
  check_layout(on2x4, specs("xy", mesh2x4()));
  expectSame(on2x4, x, 0);
  EXPECT_EQ(copy_to_mesh(on2x4, mesh8()).layout(),
            Layout::replicated(mesh8(), 2));
}

TEST(DistributeTest, CopyToMeshInAFunction) {
  Tensor x = distribute(sample({8, 4}), specs("xu", mesh2x4()));
  auto f = function([&](const Tensor &a) { return copy_to_mesh(a, mesh8()); });
  check_layout(f(x), Layout::replicated(mesh8(), 2));
  expectSame(f(x), x, 0);
}

TEST(DistributeTest, RefusesWhatDoesNotFit) {
  Mesh mesh = mesh2x4();
  Tensor x = distribute(sample({4, 4}), specs("xu", mesh));
  EXPECT_ERROR(relayout(x, specs("x", mesh)), HAS("[relayout]"), HAS("rank 2"));
  EXPECT_ERROR(distribute(x, Layout({"batch", UNSHARDED}, mesh8())),
               HAS("[distribute]"), HAS("copy_to_mesh"));
  EXPECT_ERROR(check_layout(x, specs("uu", mesh)), HAS("[check_layout]"),
               HAS("[*, *]"), HAS("[x, *]"));
  EXPECT_EQ(fetch_layout(x), specs("xu", mesh));
  auto g = function([](const Tensor &a) {
    pack({a}, Layout({}, mesh8()));
    return a;
  });
  EXPECT_ERROR(g(x), HAS("[pack]"), HAS("outside"));
}

TEST(DistributeTest, MeshesOfOtherDevicesInOneFunctionAreAnError) {
  Tensor a = distribute(
      ones({8}),
      Layout({"batch"}, create_mesh({{"batch", 4}}, virtual_cpus(4))));
  Tensor b = distribute(ones({8}), specs("x", mesh2x4()));
  auto f = function([](const Tensor &x, const Tensor &y) { return x + y; });
  EXPECT_ERROR(f(a, b), HAS("batch=4"), HAS("x=2, y=4"));
  auto g = function([&](const Tensor &x) { return x + b; });
  EXPECT_ERROR(g(a), HAS("[add]"), HAS("copy_to_mesh"));
}

TEST(DistributeTest, APartialValueTheUserWrote) {
  Mesh mesh = mesh2x4();
  Layout partial({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}});
  std::vector<Tensor> parts;
  for (int device = 0; device < 8; ++device)
    parts.push_back(full({2}, device < 4 ? 1 : 10));
  Tensor x = pack(parts, partial);
  EXPECT_EQ(x.layout(), partial);
  expectNear(x, {11, 11});
  Tensor whole = relayout(x, specs("u", mesh));
  expectNear(whole, {11, 11});
  expectNear(whole * 2, {22, 22});
}

TEST(DistributeTest, RelayoutBeginsAReduction) {
  Mesh mesh = mesh2x4();
  Layout pending({UNSHARDED}, mesh, {{"x", ReduceKind::Sum}});
  Tensor rows = distribute(sample({4}), specs("x", mesh));
  Tensor y = relayout(rows, pending);
  EXPECT_EQ(y.layout(), pending);
  expectSame(y, sample({4}), 0);
  // Each device has its block, and zeros around it.
  std::vector<Tensor> parts = unpack(y);
  expectSame(parts[0] + parts[4], sample({4}), 0);
  expectNear(parts[4] * (parts[0] * parts[0]), {0, 0, 0, 0});
  // Along an axis that cuts nothing the first one has all.
  Layout most({"x"}, mesh, {{"y", ReduceKind::Max}});
  std::vector<Tensor> maxima = unpack(relayout(rows, most));
  expectNear(exp(maxima[1]), {0, 0});
  expectSame(relayout(relayout(rows, most), specs("u", mesh)), sample({4}), 0);
  auto f = function([&](const Tensor &a) { return relayout(a, pending) * 2; });
  expectSame(f(rows), sample({4}) * 2, 0);
  GradientTape tape;
  tape.watch(rows);
  Tensor loss = reduce_sum(relayout(rows, pending) * rows);
  expectSame(tape.gradient(loss, rows), sample({4}) * 2, 0);
}

} // namespace
} // namespace meshloom
