// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// debug_print: in functions, loops and outside, whole values, once.
#include "meshloom/API/DebugPrint.h"

#include "meshloom/API/ControlOps.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Devices.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/API/Mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshloom {
namespace {
using testing::HasSubstr;

/// Returns the text that `body` prints.
template <typename F> std::string outputOf(F body) {
  testing::internal::CaptureStdout();
  body();
  return testing::internal::GetCapturedStdout();
}

TEST(DebugPrintTest, PrintsAtOnceOutsideOfFunctions) {
  EXPECT_EQ(outputOf([] {
              debug_print("{} and {{{}}}",
                          {tensor({1.5f, -2.f}), tensor(int64_t(7))});
              debug_print("nothing", {});
            }),
            "[1.5 -2] and {7}\nnothing\n");
}

// Nothing depends on what is printed, and a call of the compiled function
// prints again, in the order of the text.
TEST(DebugPrintTest, PrintsWheneverAFunctionGetsThere) {
  auto f = function([](const Tensor &x) {
    debug_print("x {}", {x});
    Tensor y = fori_loop(
        0, 2,
        [](const Tensor &i, const Tensor &state) {
          debug_print("turn {}", {i});
          return state * 2;
        },
        x);
    debug_print("y {}", {y});
    return y;
  });
  EXPECT_EQ(outputOf([&] { (void)f(tensor({1.f, 2.f})).to_vector<float>(); }),
            "x [1 2]\nturn 0\nturn 1\ny [4 8]\n");
  EXPECT_EQ(outputOf([&] { (void)f(tensor({3.f, 4.f})).to_vector<float>(); }),
            "x [3 4]\nturn 0\nturn 1\ny [12 16]\n");
}

// A value that is cut is printed whole, by one device.
TEST(DebugPrintTest, PrintsGlobalValuesOnce) {
  Mesh mesh = create_mesh({{"x", 4}}, virtual_cpus(4));
  auto f = function([](const Tensor &x) {
    debug_print("{}", {x});
    return x + x;
  });
  Tensor x = distribute(tensor({1.f, 2.f, 3.f, 4.f, 5.f}), Layout({"x"}, mesh));
  EXPECT_EQ(outputOf([&] { (void)f(x).to_vector<float>(); }), "[1 2 3 4 5]\n");
}

// The forward pass prints, its gradient is as without.
TEST(DebugPrintTest, GradientsPassItBy) {
  auto f = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x * x;
    debug_print("y {}", {y});
    return tape.gradient(y, x);
  });
  Tensor gradient;
  EXPECT_EQ(outputOf([&] {
              gradient = f(tensor(3.f));
              (void)gradient.item<float>();
            }),
            "y 9\n");
  EXPECT_EQ(gradient.item<float>(), 6);
}

TEST(DebugPrintTest, WrongFormatsSayWhy) {
  auto message = [](const char *format) {
    try {
      debug_print(format, {tensor(1.f)});
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("{} {}"), HasSubstr("has 2 {} for 1 tensors"));
  EXPECT_THAT(message("{:.3f}"), HasSubstr("has a single brace"));
}

} // namespace
} // namespace meshloom
