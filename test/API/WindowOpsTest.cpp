// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions, pooling and running reductions outside of a function, on one
// device and over a mesh.
#include "Testing.h"

#include <cmath>

namespace meshloom {
namespace {

Tensor countedFromOne(Shape shape) {
  int64_t count = elementCount(shape);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float(i + 1));
  return tensor(values, shape);
}

TEST(WindowOpsTest, Conv1d) {
  Tensor x = countedFromOne({1, 4, 1}),
         w = tensor({1.f, 10.f, 100.f}, {3, 1, 1});
  expectNear(conv1d(x, w), {321, 432});
  expectNear(conv1d(x, w, {.padding = "SAME"}), {210, 321, 432, 43});
  expectNear(conv1d(x, w, {.strides = {2}, .padding = "same"}), {321, 43});
  expectNear(conv1d(x, w, {.dilations = {2}, .padding = {{2, 2}}}),
             {310, 420, 31, 42});
  expectNear(conv1d(reshape(x, {1, 1, 4}), w, {.channels_first = true}),
             {321, 432});
  // bf16 is summed in f32: 256 + 1 would be 256.
  Tensor one = cast(tensor({256.f, 1.f, 1.f}, {1, 3, 1}), DType::BF16);
  expectNear(conv1d(one, cast(tensor({1.f, 1.f, 1.f}, {3, 1, 1}), DType::BF16)),
             {258});
}

TEST(WindowOpsTest, Conv2dIsTheSameOnEveryLayout) {
  Tensor x = sample({4, 9, 10, 3}), w = sample({3, 2, 3, 5}, 2);
  ConvOptions options{.strides = {2, 1}, .padding = "SAME"};
  Tensor expected = conv2d(x, w, options);
  EXPECT_EQ(expected.shape(), (Shape{4, 5, 10, 5}));
  Mesh mesh = mesh2x4();
  for (std::string_view letters : {"xuuu", "uxuu", "uuyu", "uxyu", "yuxu"})
    expectSame(conv2d(distribute(x, specs(letters, mesh)),
                      distribute(w, specs("uuuu", mesh)), options),
               expected);
  // Output features, and input features: a sum over y.
  expectSame(conv2d(distribute(x, specs("uuuu", mesh)),
                    distribute(w, specs("uuux", mesh)), options),
             expected);
  Tensor wide = sample({2, 5, 5, 8}), deep = sample({3, 3, 8, 4}, 3);
  expectSame(conv2d(distribute(wide, specs("uuuy", mesh)),
                    distribute(deep, specs("uuyu", mesh))),
             conv2d(wide, deep));
}

TEST(WindowOpsTest, GroupsFollowFromTheShapes) {
  // Each of two features with its own filter.
  Tensor x = tensor({1.f, 10.f, 2.f, 20.f, 3.f, 30.f}, {1, 3, 2});
  Tensor w = tensor({1.f, 2.f, 1.f, 3.f}, {2, 1, 2});
  expectNear(conv1d(x, w), {3, 80, 5, 130});
  EXPECT_ERROR(conv1d(x, sample({2, 4, 2})), HAS("[conv1d]"),
               HAS("filters for 2 input features"));
}

TEST(WindowOpsTest, ConvGeneralDilated) {
  Tensor x = countedFromOne({1, 1, 3}), w = tensor({1.f, 10.f}, {1, 1, 2});
  expectNear(conv_general_dilated(x, w,
                                  {.padding = {{1, 1}},
                                   .lhs_dilation = {2},
                                   .lhs_dims = "NCW",
                                   .rhs_dims = "OIW",
                                   .out_dims = "NWC"}),
             {10, 1, 20, 2, 30, 3});
  Tensor three = sample({2, 4, 5, 6, 3}), cube = sample({2, 2, 2, 3, 4}, 2);
  expectSame(conv_general_dilated(three, cube), conv3d(three, cube));
  // Lists are by the kernel's dims; the numbers are JAX's.
  Tensor image = countedFromOne({1, 2, 5, 1}) - 1;
  Tensor wide = tensor({1.f, 10.f, 100.f, 1e3f, 1e4f, 1e5f}, {3, 2, 1, 1});
  expectNear(
      conv_general_dilated(
          image, wide,
          {.strides = {1, 2}, .padding = {{1, 0}, {0, 1}}, .rhs_dims = "WHIO"}),
      {615000, 726150, 837261, 948372});
  EXPECT_ERROR(conv_general_dilated(x, w, {.lhs_dims = "NWW"}),
               HAS("[conv_general_dilated]"), HAS("NWW"));
}

TEST(WindowOpsTest, ErrorsNameWhatIsWrong) {
  Tensor x = sample({1, 4, 1}), w = sample({3, 1, 1});
  EXPECT_ERROR(conv1d(x, w, {.padding = "full"}), HAS("\"full\""));
  EXPECT_ERROR(conv1d(x, w, {.strides = {1, 1}}), HAS("expected 1 strides"));
  EXPECT_ERROR(conv1d(x, w, {.strides = {0}}), HAS("at least 1"));
  EXPECT_ERROR(conv2d(x, w), HAS("[conv2d]"), HAS("rank 4"));
  EXPECT_ERROR(conv1d(x, cast(w, DType::F64)), HAS("[conv1d]"), HAS("f64"));
  EXPECT_ERROR(max_pool(x, {2, 2}), HAS("[max_pool]"), HAS("rank 4"));
  EXPECT_ERROR(cumsum(x, 3), HAS("[cumsum]"), HAS("3"));
}

TEST(WindowOpsTest, Pooling) {
  Tensor x = countedFromOne({1, 5, 1});
  expectNear(max_pool(x, {2}), {2, 4});
  expectNear(max_pool(-x, {3}, {.strides = {2}, .padding = "SAME"}),
             {-1, -2, -4});
  expectNear(avg_pool(x, {2}), {1.5, 3.5});
  // Padding does not count.
  expectNear(avg_pool(x, {3}, {.strides = {2}, .padding = "SAME"}),
             {1.5, 3, 4.5});
  Tensor image = sample({2, 9, 8, 3});
  Mesh mesh = mesh2x4();
  for (std::string_view letters : {"xuuu", "uxyu", "uuyu"}) {
    Tensor spread = distribute(image, specs(letters, mesh));
    PoolOptions options{.strides = {2, 2}, .padding = "SAME"};
    expectSame(max_pool(spread, {3, 3}, options),
               max_pool(image, {3, 3}, options));
    expectSame(avg_pool(spread, {3, 3}, options),
               avg_pool(image, {3, 3}, options));
  }
}

TEST(WindowOpsTest, ReduceWindow) {
  Tensor x = countedFromOne({4});
  expectNear(reduce_window(x, 0, ReduceKind::Sum, {.window = {2}}), {3, 5, 7});
  // Padding holds the init value, which is combined once more at the start.
  expectNear(reduce_window(x, 10, ReduceKind::Sum,
                           {.window = {2}, .padding = {{1, 0}}}),
             {21, 13, 15, 17});
  expectNear(reduce_window(x, 1, ReduceKind::Prod,
                           {.window = {2}, .window_dilations = {2}}),
             {3, 8});
  // An infinity stands for the least or the largest integer.
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor most = reduce_window(tensor({-5, -7, -6}), -infinity, ReduceKind::Max,
                              {.window = {2}});
  EXPECT_EQ(most.to_vector<int32_t>(), (std::vector<int32_t>{-5, -6}));
}

TEST(WindowOpsTest, RunningReductions) {
  Tensor x = tensor({3, 1, 4, 1, 5});
  expectNear(cumsum(x), {3, 4, 8, 9, 14});
  expectNear(cumsum(x, 0, {.reverse = true}), {14, 11, 10, 6, 5});
  expectNear(cumsum(x, 0, {.exclusive = true}), {0, 3, 4, 8, 9});
  expectNear(cumsum(x, -1, {.exclusive = true, .reverse = true}),
             {11, 10, 6, 5, 0});
  expectNear(cumprod(x), {3, 3, 12, 12, 60});
  expectNear(cumprod(x, 0, {.exclusive = true}), {1, 3, 3, 12, 12});
  expectNear(cummax(x), {3, 3, 4, 4, 5});
  expectNear(cummin(x, 0, true), {1, 1, 1, 1, 5});
  Tensor wide = sample({3, 19});
  expectSame(cumsum(distribute(wide, specs("xy", mesh2x4())), 1),
             cumsum(wide, 1));
}

TEST(WindowOpsTest, GradientsOfAConvNet) {
  Tensor image = sample({4, 8, 8, 1}), filters = sample({3, 3, 1, 2}, 2);
  auto gradients = [&](const Tensor &x, const Tensor &w) {
    GradientTape tape;
    tape.watch(x);
    tape.watch(w);
    Tensor hidden = max_pool(conv2d(x, w, {.padding = "SAME"}), {2, 2});
    Tensor loss = reduce_sum(square(cumsum(hidden, 1)));
    return tape.gradient(loss, std::vector<Tensor>{x, w});
  };
  std::vector<Tensor> expected = gradients(image, filters);
  Mesh mesh = mesh2x4();
  for (std::string_view letters : {"xuuu", "uxuu", "uxyu"}) {
    std::vector<Tensor> got =
        gradients(distribute(image, specs(letters, mesh)),
                  distribute(filters, specs("uuuu", mesh)));
    expectSame(got[0], expected[0]);
    expectSame(got[1], expected[1]);
  }
}

} // namespace
} // namespace meshloom
