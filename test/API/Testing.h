// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that the API's tests share: meshes, comparing values, expecting
// errors.
#pragma once

#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <typeinfo>

namespace meshloom {

inline Mesh mesh8() {
  return create_mesh({{"batch", 8}}, virtual_cpus(8));
}
inline Mesh mesh2x4() {
  return create_mesh({{"x", 2}, {"y", 4}}, virtual_cpus(8));
}

/// x, y or u for each dim: specs("xu").
inline Layout specs(std::string_view letters, const Mesh &mesh) {
  std::vector<DimSpec> dims;
  for (char letter : letters)
    if (letter == 'u')
      dims.push_back(UNSHARDED);
    else
      dims.push_back(DimSpec(std::string(1, letter)));
  return Layout(dims, mesh);
}

/// Numbers that are no multiples of each other.
inline Tensor sample(Shape shape, uint32_t seed = 1, DType type = DType::F32) {
  return random::stateless_uniform(shape, Seed{seed, 7}, -1, 1, type);
}

/// With its last two dims exchanged.
inline Tensor transposed(const Tensor &x) {
  std::vector<int64_t> perm;
  for (int64_t d = 0; d < x.rank(); ++d)
    perm.push_back(d);
  std::swap(perm.end()[-1], perm.end()[-2]);
  return transpose(x, perm);
}

inline void expectNear(const Tensor &actual,
                       const std::vector<double> &expected,
                       double tolerance = 1e-5) {
  std::vector<double> values = cast(actual, DType::F64).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  double scale = 1;
  for (double value : expected)
    scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * scale) << "element " << i;
}

/// Same shape, type and values, whatever the layouts.
inline void expectSame(const Tensor &actual, const Tensor &expected,
                       double tolerance = 1e-5) {
  EXPECT_EQ(actual.shape(), expected.shape());
  EXPECT_EQ(actual.dtype(), expected.dtype());
  expectNear(actual, cast(expected, DType::F64).to_vector<double>(), tolerance);
}

/// `f` gives of `host` under each layout, in a function, what it gives of it
/// unsharded, and so does the gradient of its square's sum. Layouts are as
/// `specs` reads them.
template <typename F>
void expectSharded(F f, const Tensor &host,
                   std::initializer_list<std::string_view> layouts,
                   double tolerance = 1e-5) {
  auto gradient = [&](const Tensor &x) {
    GradientTape tape;
    return tape.gradient(reduce_sum(square(f(x))), x);
  };
  Tensor value = f(host), slope = gradient(host);
  Mesh mesh = mesh2x4();
  for (std::string_view letters : layouts) {
    SCOPED_TRACE(letters);
    Tensor x = distribute(host, specs(letters, mesh));
    expectSame(function(f)(x), value, tolerance);
    expectSame(function(gradient)(x), slope, tolerance);
  }
}

/// The message of the Error that `body` throws, which is of a class that says
/// what kind of failure it is (Errors.h).
template <typename F> std::string errorOf(F body) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_NE(typeid(error), typeid(Error)) << error.message();
    return error.message();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

/// `body` throws an Error whose message has `text`.
template <typename F> void expectError(F body, const std::string &text) {
  EXPECT_THAT(errorOf(body), ::testing::HasSubstr(text));
}
#define EXPECT_ERROR(body, ...)                                                \
  EXPECT_THAT(::meshloom::errorOf([&] { (void)(body); }),                      \
              ::testing::AllOf(__VA_ARGS__))
#define HAS(text) ::testing::HasSubstr(text)

} // namespace meshloom
