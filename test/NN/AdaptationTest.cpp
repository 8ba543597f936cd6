// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoRA and kernels of integers: the numbers of Keras 3.15, and of what a kernel
// with the product added gives.
#include "KerasValues.h"

#include "meshloom/NN/Layers/Adaptation.h"
#include "meshloom/NN/Layers/EinsumDense.h"
#include "meshloom/NN/Models/Model.h"

namespace meshloom {
namespace {

using namespace layers;
using Values = std::vector<double>;

Values valuesOf(const Tensor &x) {
  return cast(x, DType::F64).to_vector<double>();
}

// The learnt weights are alpha / rank A B beside the kernel, which stays;
// merging gives the same results.
void expectAdapted(const Layer &layer, const Tensor &x, const char *kernelPath,
                   const char *aPath, const char *bPath) {
  layer(x);
  const DVariable kernel = layer.variable(kernelPath);
  const Values before = valuesOf(layer(x));
  enable_lora(layer, 2, {.alpha = 3});
  expectNear(layer(x), before); // B is zeros
  const DVariable a = layer.variable(aPath), b = layer.variable(bPath);
  for (const DVariable &variable : layer.trainable_variables())
    EXPECT_FALSE(variable.is(kernel));
  b.assign(waves(b.shape(), 0.4));
  const Tensor product =
      matmul(reshape(a.read_value(), {-1, 2}), b.read_value());
  const Tensor merged =
      kernel.read_value() + reshape(product, kernel.shape()) * 1.5;
  const Values adapted = valuesOf(layer(x));
  // Weights that are made again from the config have the same paths.
  const Layer again = Layer::from_config(layer.config());
  for (const NamedVariable &weight : layer.named_variables())
    again.variable(weight.path).assign(weight.variable);
  expectNear(again(x), adapted);
  EXPECT_EQ(again.trainable_variables().size(),
            layer.trainable_variables().size());
  merge_lora(layer);
  expectNear(layer.variable(kernelPath).read_value(), valuesOf(merged));
  expectNear(layer(x), adapted);
  EXPECT_ERROR(merge_lora(layer), HAS("a layer with LoRA"));
}

TEST(AdaptationTest, LoraIsBesideEveryKernel) {
  expectAdapted(Dense(3), waves({2, 4}, 0.1), "kernel", "lora_kernel_a",
                "lora_kernel_b");
  expectAdapted(EinsumDense("abc,cde->abde", {-1, 2, 3}), waves({2, 2, 4}, 0.1),
                "kernel", "lora_kernel_a", "lora_kernel_b");
  expectAdapted(Embedding(5, 3), tensor({{1, 4}, {0, 2}}), "embeddings",
                "lora_embeddings_a", "lora_embeddings_b");
}

// LoRA covers all kernels of a model, and fit trains the thin matrices alone.
TEST(AdaptationTest, FitTrainsTheProductAlone) {
  Sequential model({Input({4}), Dense(8, "relu"), Dense(2)});
  enable_lora(model, 2);
  EXPECT_EQ(model.get_layer(0).variable("lora_kernel_a").name(),
            "dense/lora_kernel_a");
  const Values kernel = valuesOf(model.variable("dense/kernel"));
  const Tensor x = waves({16, 4}, 0.1), y = waves({16, 2}, 0.9);
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const History history = model.fit(x, y, {.epochs = 3, .verbose = 0});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
  EXPECT_EQ(valuesOf(model.variable("dense/kernel")), kernel);
  EXPECT_GT(reduce_max(abs(model.variable("dense/lora_kernel_b").read_value()))
                .item<float>(),
            0);
}

TEST(AdaptationTest, IntegersOfDenseAreThoseOfKeras) {
  const Dense layer(3);
  layer.build({-1, 4});
  layer.set_weights({waves({4, 3}, 0), tensor({0.1f, 0.2f, 0.3f})});
  const Tensor x = waves({2, 4}, 1);
  quantize(layer, "int8");
  EXPECT_EQ(layer.variable("kernel").to_vector<int8_t>(),
            (std::vector<int8_t>{0, 83, 127, 126, 43, -45, -127, -127, -81, 2,
                                 85, 127}));
  expectNear(layer.variable("kernel_scale").read_value(),
             {291.42612, 258.53659, 257.04120}, 1e-3);
  const Values expected{0.1664886, 0.2573994, 0.3241353,
                        0.0802572, 0.1765101, 0.2816437};
  expectNear(layer(x), expected, 1e-6);
  expectNear(function([&](const Tensor &value) { return layer(value); })(x),
             expected, 1e-6);
  // The gradient is that of the kernel that the integers stand for.
  const GradientTape tape;
  const Tensor slope = tape.gradient(reduce_sum(layer(x)), x);
  const Tensor kernel = cast(layer.variable("kernel"), DType::F32) /
                        layer.variable("kernel_scale").read_value();
  expectNear(slope,
             valuesOf(matmul(ones({2, 3}), kernel, {.transpose_b = true})));
  // Saved and made again it is one of integers.
  const Layer again = Layer::from_config(layer.config());
  again.set_weights(layer.get_weights());
  expectNear(again(x), expected, 1e-6);
  EXPECT_ERROR(quantize(layer, "int8"), HAS("quantised already"));
  EXPECT_ERROR(enable_lora(layer, 2), HAS("quantised already"));
  EXPECT_ERROR(quantize(Dense(2), "int8"), HAS("not built"));
  EXPECT_ERROR(quantize(layer, "int3"), HAS("'int3'"));
}

TEST(AdaptationTest, IntegersOfOtherLayersAreThoseOfKeras) {
  const EinsumDense dense("abc,cde->abde", {-1, 2, 3}, {.bias_axes = "de"});
  dense.build({-1, 2, 4});
  dense.set_weights({waves({4, 2, 3}, 0), zeros({2, 3})});
  quantize(dense, "int8");
  const Values values = valuesOf(dense(waves({2, 2, 4}, 1)));
  const Values expected{-0.0700521, -0.0477649, -0.0020251, 0.0448243,
                        0.0690079,  0.0630494,  0.0199277,  0.0088422};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-6) << i;

  const Embedding table(5, 4);
  table.build_many({{{-1}, DType::I32}});
  table.set_weights({waves({5, 4}, 0)});
  quantize(table, "int8");
  expectNear(table(tensor({1, 4})),
             {0.1663208, -0.1740566, -0.4370755, -0.4912264, -0.4895889,
              -0.3084025, 0.0154201, 0.3353877},
             1e-6);
}

// The thin matrices, integers and scales are cut as the kernel is.
TEST(AdaptationTest, LayoutsFollowTheKernel) {
  const Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  const DefaultMeshScope scope(mesh);
  const Dense layer(4);
  layer.build({-1, 8});
  const Tensor x = waves({2, 8}, 0.3);
  const Values plain = valuesOf(layer(x));
  layer.variable("kernel").set_layout(Layout({UNSHARDED, "x"}, mesh));
  enable_lora(layer, 2);
  EXPECT_EQ(layer.variable("lora_kernel_a").layout(),
            Layout::replicated(mesh, 2));
  EXPECT_EQ(layer.variable("lora_kernel_b").layout(),
            Layout({UNSHARDED, "x"}, mesh));
  merge_lora(layer);
  expectNear(layer(x), plain);
  quantize(layer, "int8");
  EXPECT_EQ(layer.variable("kernel").layout(), Layout({UNSHARDED, "x"}, mesh));
  EXPECT_EQ(layer.variable("kernel_scale").layout(), Layout({"x"}, mesh));
  expectNear(layer(x), plain, 0.02);
}

// The nearest eight-bit floats; a half goes to the even one.
TEST(AdaptationTest, EightBitFloatsAreThoseOfKeras) {
  const Tensor x =
      tensor({{1.79f, .44f, .1f, -1.86f}, {-.28f, -.35f, -.08f, -.63f}});
  const std::vector<Tensor> weights{tensor({{-.04f, -.48f, -1.31f},
                                            {.88f, .88f, 1.71f},
                                            {.05f, -.4f, -.55f},
                                            {-1.55f, .98f, -1.1f}}),
                                    zeros({3})};
  const Values expected{3.2616110, -2.3316963, 0.4077174,
                        0.6429532, -0.7337896, 0.4351012};
  const Dense layer(3);
  layer.build({-1, 4});
  layer.set_weights(weights);
  quantize(layer, "float8");
  expectNear(layer(x), expected, 1e-6);
  EXPECT_EQ(layer.variable("kernel").dtype(), DType::UI8);
  expectNear(layer.variable("kernel_scale").read_value(), {1.71 / 448}, 1e-8);
  expectNear(function([&](const Tensor &value) { return layer(value); })(x),
             expected, 1e-6);
  const Layer again = Layer::from_config(layer.config());
  again.set_weights(layer.get_weights());
  expectNear(again(x), expected, 1e-6);
  EXPECT_ERROR(quantize(layer, "int8"), HAS("quantised already"));
  // The gradient is that of the kernel that the bytes stand for.
  const GradientTape tape;
  const Values slope = valuesOf(tape.gradient(reduce_sum(layer(x)), x));
  const Values rowSums{-1.83, 3.47, -.9, -1.67};
  for (size_t i = 0; i < slope.size(); ++i)
    EXPECT_NEAR(slope[i], rowSums[i % 4], 0.1) << i;

  const EinsumDense dense("abc,cd->abd", {-1, 3});
  dense.build({-1, 2, 4});
  dense.set_weights({weights[0]});
  quantize(dense, "float8");
  expectNear(dense(reshape(x, {1, 2, 4})), expected, 1e-6);

  // Every byte's number is rounded to itself, and numbers between to the
  // nearest.
  const Dense one(1, {.use_bias = false});
  one.build({-1, 1});
  one.set_weights({tensor({{448.f}})});
  quantize(one, "float8");
  const Tensor numbers =
      tensor({{0.f},     {448.f},   {-448.f},       {1.f},     {1.0625f},
              {1.06f},   {1.1875f}, {9.765625e-4f}, {.0029f},  {.001f},
              {-.0146f}, {15.5f},   {16.5f},        {17.f},    {239.f},
              {241.f},   {.0156f},  {.017f},        {3.3e-4f}, {30.9f}});
  expectNear(one(numbers) / 448,
             {0,   448,        -448,       1,           1,  1,  1.25,
              0,   .001953125, .001953125, -.013671875, 16, 16, 16,
              240, 240,        .015625,    .017578125,  0,  30},
             1e-6);
  EXPECT_ERROR(quantize(Embedding(3, 4), "float8"),
               HAS("expected a Dense or EinsumDense layer"));
}

// A kernel of bytes is cut as the kernel was.
TEST(AdaptationTest, EightBitFloatsFollowTheKernel) {
  const Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  const DefaultMeshScope scope(mesh);
  const Dense layer(4);
  layer.build({-1, 8});
  const Tensor x = waves({2, 8}, 0.3);
  const Values plain = valuesOf(layer(x));
  layer.variable("kernel").set_layout(Layout({UNSHARDED, "x"}, mesh));
  quantize(layer, "float8");
  EXPECT_EQ(layer.variable("kernel").layout(), Layout({UNSHARDED, "x"}, mesh));
  EXPECT_EQ(layer.variable("kernel_scale").layout(),
            Layout::replicated(mesh, 0));
  expectNear(layer(x), plain, 0.1);
}

} // namespace
} // namespace meshloom
