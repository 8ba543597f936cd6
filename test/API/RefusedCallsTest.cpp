// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After an error of a call every variable has its old value, or its new one:
// what can be refused is refused before a value is moved, and what fails in the
// user's own functions leaves the values as they were.
#include "Testing.h"

#include "meshloom/Core/CustomCall.h"

#include <atomic>

namespace meshloom {
namespace {

std::atomic<bool> fails = true;

/// Fails as long as `fails` says so.
Status refusing(const CustomCall &call) {
  if (fails)
    return Error("no more files");
  const CustomOperand &x = call.inputs[0], &y = call.results[0];
  for (int64_t i = 0; i < elementCount(x.shape); ++i)
    static_cast<float *>(y.data)[i * y.strides[0]] =
        static_cast<const float *>(x.data)[i * x.strides[0]];
  return Success();
}
const bool isRegistered =
    bool(register_custom_call("refusing", {"a -> a", refusing}));

Tensor passed(const Tensor &x) {
  return custom_call("refusing", {x}, like(x));
}

void expectValue(const DVariable &variable, float value) {
  for (float element : variable.read_value().to_vector<float>())
    EXPECT_EQ(element, value);
}

// Values on meshes that cut them in different ways (pytorch#180346): such a
// call was refused once, and took the variable's value with it.
TEST(RefusedCallsTest, OtherMeshes) {
  const Mesh one = create_mesh({{"x", 4}}, virtual_cpus(4)),
             other = create_mesh({{"y", 2}, {"z", 2}}, virtual_cpus(4));
  DVariable v(distribute(ones({4, 3}), Layout({"y", "z"}, other))),
      w(distribute(ones({5, 2}), Layout({"x", UNSHARDED}, one)));
  auto f = function([&](const Tensor &t) {
    v.assign_add(v * t + reduce_sum(w));
    return reduce_sum(v * 1.F);
  });
  EXPECT_EQ(f(tensor(1.F)).item<float>(), 12 * 12);
  expectValue(v, 12);
  expectValue(w, 1);
}

// A handle that was moved from, a type that the sum does not take.
TEST(RefusedCallsTest, WrongArguments) {
  DVariable v(ones({4}));
  auto f = function([&](const Tensor &t) {
    v.assign_add(t);
    return reduce_sum(v.read_value());
  });
  f(zeros({4}));
  Tensor moved = ones({4});
  const Tensor holder = std::move(moved);
  EXPECT_THROW(f(moved), Error);
  EXPECT_THROW(f(ones({5})), Error);
  EXPECT_THROW(f(ones({4}, DType::F64)), Error);
  expectValue(v, 1);
}

// A function of the user's that fails, before and after an update.
TEST(RefusedCallsTest, UsersFunctionFails) {
  DVariable v(ones({64})), w(ones({64}));
  auto f = function([&](const Tensor &t) {
    v.assign_add(t);
    w.assign_add(passed(v * 1.F));
    v.assign_add(w.read_value());
    return reduce_sum(v.read_value());
  });
  fails = true;
  EXPECT_ERROR((void)f(ones({64})).item<float>(), HAS("no more files"));
  expectValue(v, 1);
  expectValue(w, 1);
  fails = false;
  EXPECT_EQ(f(ones({64})).item<float>(), 64 * 5);
  expectValue(w, 3);
}

// An argument that another call failed to compute.
TEST(RefusedCallsTest, AnEarlierFailure) {
  DVariable v(ones({64}));
  auto failing = function([](const Tensor &t) { return passed(t); });
  auto f = function([&](const Tensor &t) { v.assign_add(t); });
  fails = true;
  EXPECT_ERROR(f(failing(ones({64}))), HAS("no more files"));
  expectValue(v, 1);
}

} // namespace
} // namespace meshloom
