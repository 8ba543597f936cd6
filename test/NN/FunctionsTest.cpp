// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of nn against the values that JAX 0.10 and Flax 0.12 give for
// sines(shape, phase), and sharded against unsharded.
#include "../API/Testing.h"

#include <cmath>

namespace meshloom {
namespace {

/// cos(0.7 i + phase) of the i-th element.
Tensor sines(Shape shape, double phase) {
  std::vector<float> values;
  for (int64_t i = 0; i < elementCount(shape); ++i)
    values.push_back(float(std::cos(0.7 * double(i) + phase)));
  return tensor(values, shape);
}

TEST(FunctionsTest, MoreActivations) {
  Tensor x = tensor({-30.f, -1.f, 0.f, 0.5f, 30.f});
  expectNear(nn::silu(x), {-2.80729e-12, -0.268941, 0, 0.31123, 30});
  expectNear(nn::softplus(x), {0, 0.313262, 0.693147, 0.974077, 30});
  expectNear(nn::elu(x), {-1, -0.632121, 0, 0.5, 30});
  expectNear(nn::leaky_relu(x), {-0.3, -0.01, 0, 0.5, 30});
  expectNear(nn::leaky_relu(x, 0.1), {-3, -0.1, 0, 0.5, 30});
  auto slope = [&](auto f) {
    GradientTape tape;
    return tape.gradient(reduce_sum(f(x)), x);
  };
  expectNear(slope([](const Tensor &x) { return nn::softplus(x); }),
             {0, 0.268941, 0.5, 0.622459, 1});
  expectNear(slope([](const Tensor &x) { return nn::elu(100 * x); }),
             {0, 0, 100, 100, 100});
}

TEST(FunctionsTest, DropoutDropsAtItsRate) {
  Tensor x = ones({40, 50});
  Tensor y = nn::dropout(x, 0.25, Seed{1, 2});
  std::vector<float> values = y.to_vector<float>();
  auto dropped = std::ranges::count(values, 0.f);
  EXPECT_NEAR(double(dropped), 500, 60);
  EXPECT_EQ(std::ranges::count(values, 1 / 0.75f), 2000 - dropped);
  expectSharded(
      [](const Tensor &x) { return nn::dropout(x, 0.5, tensor({3u, 4u})); },
      sample({6, 8}), {"xy"});
  expectSame(nn::dropout(x, 0, Seed{}), x);
  EXPECT_ERROR(nn::dropout(x, 1, Seed{}), HAS("[dropout]"), HAS("[0, 1)"));
}

TEST(FunctionsTest, Normalizations) {
  Tensor x = sines({2, 3, 4}, 1), s = sines({4}, 2), o = sines({4}, 3);
  expectNear(nn::layer_norm(x, s, o),
             {-1.60055,  -1.15616,  0.353621,   1.02423,   -0.423991,
              -0.420467, -0.854225, -0.350574,  -1.50723,  -1.37949,
              0.12728,   1.1719,    -0.536569,  -0.207373, -0.607272,
              -0.477388, -1.33796,  -1.62658,   -0.21006,  1.29576,
              -0.876495, 0.113708,  -0.0109939, -0.566523});
  expectNear(nn::rms_norm(x, s),
             {-0.330569, 0.171257,  1.04813,   0.844381,  0.497671,  0.288139,
              -0.684853, -0.806075, -0.595915, -0.716738, 0.211986,  0.648514,
              0.606822,  1.02935,   0.274046,  -0.405232, -0.542382, -1.19248,
              -0.690616, 0.130088,  0.42614,   1.2186,    1.00338,   0.137771});
  expectNear(nn::group_norm(x, 2, s, o),
             {-1.27108,  -0.418053,  0.425739,  1.02843,  -0.318034,
              -0.290598, -1.23716,   -0.551157, -1.56454, -1.43663,
              -0.390456, 0.823062,   -0.642292, -0.32173, 0.00557435,
              -0.318832, -1.57233,   -2.12494,  -1.54153, 0.522049,
              -0.757748, -0.0924395, 1.2669,    0.542497});
  nn::Moments batchMoments = nn::moments(x, {0, 1});
  expectNear(nn::batch_norm(x, batchMoments, s, o),
             {-1.26702, -0.820638, 0.81986,   1.1469,    -0.610011, -0.711587,
              -1.47275, -0.524528, -1.46933,  -1.69212,  -0.305416, 0.929586,
              -0.507,   0.0465935, -0.212583, -0.139188, -1.46114,  -2.24939,
              -1.55486, 0.420743,  -0.625448, 0.338543,  0.88175,   0.434358});
  // Narrow floats are averaged in f32: 4096 ones would stop counting at 256.
  Tensor narrow = nn::layer_norm(concat(
      {full({1, 4096}, 1, DType::BF16), full({1, 4096}, 3, DType::BF16)}, 1));
  EXPECT_EQ(narrow.dtype(), DType::BF16);
  expectNear(narrow(0, range(4095, 4097)), {-1, 1});

  auto layouts = {"xuy", "uxu"};
  for (const char *letters : layouts) {
    expectSharded([&](const Tensor &x) { return nn::layer_norm(x, s, o); }, x,
                  {letters}, 1e-4);
    expectSharded([&](const Tensor &x) { return nn::group_norm(x, 2, s); }, x,
                  {letters}, 1e-4);
  }
  EXPECT_ERROR(nn::layer_norm(x, sines({3}, 0)), HAS("[layer_norm]"),
               HAS("a scale [4]"), HAS("f32 [3]"));
  EXPECT_ERROR(nn::group_norm(x, 3), HAS("divides the features"));
}

TEST(FunctionsTest, Attention) {
  Tensor q = sines({1, 3, 4, 2}, 1), k = sines({1, 3, 2, 2}, 2),
         v = sines({1, 3, 2, 2}, 3);
  expectNear(nn::attention(q, k, v),
             {-0.274842, -0.320632,   -0.636652,  -0.633348,  -0.436951,
              0.0288753, 0.294467,    -0.0109117, 0.00111547, -0.0377303,
              -0.528024, -0.551104,   -0.535835,  0.0111883,  -0.0935101,
              0.0220425, 0.164799,    0.143618,   -0.288865,  -0.334243,
              -0.539778, 6.37354e-05, -0.427681,  0.0294818});
  std::vector<double> causal{
      -0.989992, -0.8481,   -0.989992, -0.8481,     -0.307333, 0.377978,
      -0.307333, 0.377978,  0.358057,  0.463419,    -0.450015, -0.322755,
      -0.212257, 0.333956,  0.197372,  0.144289,    0.164799,  0.143618,
      -0.288865, -0.334243, -0.539778, 6.37354e-05, -0.427681, 0.0294818};
  expectNear(nn::attention(q, k, v, {.causal = true}), causal);
  expectNear(nn::attention(q, k, v, {.mask = tri(3, {}, 0, DType::I1)}),
             causal);
  Tensor x = sample({2, 4, 8, 3});
  expectSharded(
      [](const Tensor &x) {
        return nn::attention(x, x * 2, x, {.causal = true, .scale = 0.5});
      },
      x, {"xuyu", "uxyu"}, 1e-4);
  EXPECT_ERROR(nn::attention(q, k, q), HAS("[attention]"),
               HAS("f32 [1, 3, 2, 2]"));
  EXPECT_ERROR(nn::attention(q, k, v, {.mask = ones({3, 3})}), HAS("type i1"));
}

TEST(FunctionsTest, TransposedConvolutions) {
  Tensor x = sines({1, 3, 2}, 1), w = sines({3, 2, 2}, 2);
  auto check = [&](int64_t stride, const char *padding, int64_t width,
                   const std::vector<double> &values) {
    Tensor y =
        nn::conv_transpose(x, w, {.strides = {stride}, .padding = padding});
    EXPECT_EQ(y.shape(), (Shape{1, width, 2}));
    expectNear(y, values);
  };
  check(1, "SAME", 3,
        {0.643942, 1.55742, -1.16716, -1.20793, 0.99355, 0.508498});
  check(2, "SAME", 6,
        {0.25315, -0.109078, -0.0811231, 0.277794, 0.624786, 0.865218, -1.0602,
         -1.33759, 1.26615, 1.78505, -0.279276, -0.732486});
  check(4, "VALID", 12,
        {0.25315,   -0.109078, -0.0811231, 0.277794, -0.100278,   -0.414409,
         0,         0,         0.725065,   1.27963,  -1.0602,     -1.33759,
         1.27283,   1.24098,   0,          0,        -0.00667598, 0.544068,
         -0.279276, -0.732486, 0.532956,   0.836262, 0,           0});
  expectNear(
      nn::conv_transpose(x, w, {.strides = {2}, .transpose_filters = true}),
      {-0.10836, -0.4483, -0.0440323, 0.433332, 1.40149, 0.918947, -0.772578,
       -1.54986, 0.76546, 2.51927, -0.218593, -0.960184});
  EXPECT_ERROR(nn::conv_transpose(x, w, {.strides = {1, 1}}),
               HAS("[conv_transpose]"), HAS("1 strides"));
}

} // namespace
} // namespace meshloom
