// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DVariable: reading, assigning, sharing, and its errors (tf-dtensor.md 94).
#include "Testing.h"

namespace meshloom {
namespace {

TEST(VariableTest, AssignChangesAndReadsBack) {
  DVariable v(tensor({1.f, 2.f}), {.name = "v"});
  v.assign_add(tensor({1.f, 1.f}));
  expectNear(v, {2, 3});
  v.assign_sub(0.5);
  expectNear(v, {1.5, 2.5});
  v.assign(7);
  expectNear(v, {7, 7});
  EXPECT_EQ(v.name(), "v");
  EXPECT_EQ(v.shape(), (Shape{2}));
}

TEST(VariableTest, ACopyIsTheSameVariable) {
  DVariable v(zeros({2}));
  DVariable same = v;
  same.assign(tensor({3.f, 4.f}));
  expectNear(v, {3, 4});
  EXPECT_TRUE(v.is(same));
}

TEST(VariableTest, ReadValuesDoNotChangeWithTheVariable) {
  DVariable v(zeros({2}));
  Tensor before = v;
  v.assign_add(1);
  auto add = function([&] { v.assign_add(1); });
  Tensor between = v;
  add();
  expectNear(before, {0, 0});
  expectNear(between, {1, 1});
  expectNear(v, {2, 2});
}

TEST(VariableTest, KeepsItsLayout) {
  Mesh mesh = mesh2x4();
  Layout rows({"x", UNSHARDED}, mesh), columns({UNSHARDED, "y"}, mesh);
  DVariable v(zeros({4, 4}), rows);
  EXPECT_EQ(v.layout(), rows);
  v.assign(distribute(sample({4, 4}), columns));
  EXPECT_EQ(v.read_value().layout(), rows);
  expectSame(v, sample({4, 4}), 0);
  v.assign(sample({4, 4}, 3)); // from the host
  EXPECT_EQ(v.read_value().layout(), rows);
  // In a function the value is relayouted as well.
  auto set = function([&](const Tensor &x) { v.assign(x); });
  set(distribute(sample({4, 4}, 5), columns));
  EXPECT_EQ(v.read_value().layout(), rows);
  expectSame(v, sample({4, 4}, 5), 0);
}

TEST(VariableTest, ErrorsOfAssignments) {
  Mesh mesh = mesh2x4();
  Layout rows({"x", UNSHARDED}, mesh), columns({UNSHARDED, "y"}, mesh);
  // "Conflicting layout are provided"
  EXPECT_ERROR(DVariable(distribute(zeros({4, 4}), rows), columns),
               HAS("[DVariable]"), HAS("conflicting layouts"), HAS("[x, *]"),
               HAS("[*, y]"));
  EXPECT_ERROR(DVariable(zeros({4}), rows), HAS("rank 1"), HAS("[x, *]"));
  // "Neither layout nor DTensor initial value": ours lies on the host.
  DVariable host(ones({2}));
  expectNear(host, {1, 1});
  EXPECT_ERROR(DVariable(Tensor()), HAS("empty"));
  // Another mesh, another shape, another type.
  DVariable v(zeros({4, 4}), rows);
  EXPECT_ERROR(v.assign(distribute(zeros({4, 4}),
                                   Layout({"batch", UNSHARDED}, mesh8()))),
               HAS("[assign]"), HAS("batch=8"), HAS("x=2, y=4"));
  EXPECT_ERROR(v.assign(zeros({4})), HAS("[assign]"), HAS("f32 [4, 4]"),
               HAS("f32 [4]"));
  EXPECT_ERROR(v.assign(zeros({4, 4}, DType::F64)), HAS("f64"));
  // The message names the caller's line.
  EXPECT_ERROR(v.assign_add(distribute(zeros({4, 4}),
                                       Layout({"batch", UNSHARDED}, mesh8()))),
               HAS("batch=8"), HAS("VariableTest.cpp"));
  expectNear(v, std::vector<double>(16, 0)); // nothing was half done
}

TEST(VariableTest, AnInitialValueOfATraceIsAnError) {
  auto f = function([&](const Tensor &x) {
    DVariable v(x + 1);
    return Tensor(v);
  });
  EXPECT_ERROR(f(zeros({2})), HAS("[DVariable]"), HAS("init_scope"));
}

TEST(VariableTest, ReadAfterAssignSeesTheNewValueOnEveryDeviceCount) {
  // TensorFlow 2.21 reads the old value on two or more devices.
  for (int64_t devices : {1, 2, 8}) {
    Mesh mesh = create_mesh({{"batch", devices}}, virtual_cpus(devices));
    DVariable v(zeros({4}), Layout::replicated(mesh, 1));
    auto f = function([&](const Tensor &x) {
      v.assign(x + 1);
      Tensor seen = v * 10;
      v.assign_add(x);
      return seen;
    });
    Tensor x = distribute(tensor({1.f, 2.f, 3.f, 4.f}), v.layout());
    expectNear(f(x), {20, 30, 40, 50});
    expectNear(v, {3, 5, 7, 9});
  }
}

// A value that lies on the default mesh was laid out by nobody.
TEST(VariableTest, AValueOnTheDefaultMeshTakesTheLayoutAskedFor) {
  const Mesh mesh = mesh2x4();
  auto scope = default_mesh(mesh);
  DVariable w(zeros({4, 4}), specs("ux", mesh));
  EXPECT_EQ(w.layout(), specs("ux", mesh));
  EXPECT_EQ(w.read_value().layout(), specs("ux", mesh));
}

} // namespace
} // namespace meshloom
