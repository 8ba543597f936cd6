// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work of programs on the platform cuda that stand-ins of NVIDIA's libraries
// do.
#include "CUDATest.h"

#include <filesystem>
#include <fstream>

using namespace meshloom;
using namespace meshloom::test;
using testing::HasSubstr;

namespace {

class LibraryTest : public CUDATest {};

// Each of the step's five products is work of the library's, and no kernel's.
TEST_F(LibraryTest, ProductsAreThoseOfTheLibrary) {
  auto cpus = clientOf("cpu", 8);
  ASSERT_TRUE(cpus);
  auto expected = runStep(*cpus, "cpu", 8);
  ASSERT_TRUE(expected) << expected.error().message();
  begin();
  auto client = clientOf(platformName(), 8);
  ASSERT_TRUE(client && runStep(*client, "cuda", 8));
  *client = nullptr;
  const int64_t withoutLibrary = standInLaunches();
  for (auto [order, graphs] :
       {std::pair("order=first", 1), std::pair("order=last", 1),
        std::pair("seed=6", 1), std::pair("seed=7", 0)}) {
    begin(order);
    client = clientOf(platformName(fmt::format(",graphs={},cublaslt={}", graphs,
                                               MESHLOOM_STANDIN_BLAS_PATH)),
                      8);
    ASSERT_TRUE(client) << client.error().message();
    auto results = runStep(*client, "cuda", 8);
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i], 1e-5);
    constexpr int products = 5, times = 2;
    EXPECT_EQ(standInLaunches(), withoutLibrary - products * times);
    EXPECT_EQ(standInCalls("cuGraphAddChildGraphNode"), graphs * products);
    if (graphs == 0)
      EXPECT_EQ(standInCalls("cublasLtMatmul"), products * times);
    EXPECT_STREQ(standInFault(), "");
    *client = nullptr;
    EXPECT_EQ(standInBytes(), 0) << "some memory is not given back";
  }
}

/// The step with a bias and gelu, in its form with tanh, in place of tanh, and
/// a bias behind the second product, as far as the products of the gradients.
const std::string geluLayers = R"(
#mesh = #dtensor.mesh<batch = {0}>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>
func.func @main(%x: tensor<24x10xf32, #rows>, %y: tensor<24x4xf32, #rows>,
                %v: tensor<10x8xf32, #full> {{dtensor.alias = 0 : i64}},
                %w: tensor<8x4xf32, #full> {{dtensor.alias = 1 : i64}})
    -> (tensor<10x8xf32, #full>, tensor<8x4xf32, #full>) {{
  %b = dtensor.constant dense<[0.1, -0.2, 0.3, 0.5, -0.4, 0.0, 0.7, -0.6]> : tensor<8xf32>
  %c = dtensor.constant dense<[0.1, -0.2, 0.3, 0.5]> : tensor<4xf32>
  %slope = dtensor.constant dense<0.797884583> : tensor<24x8xf32>
  %cubic = dtensor.constant dense<0.044715> : tensor<24x8xf32>
  %one = dtensor.constant dense<1.0> : tensor<24x8xf32>
  %half = dtensor.constant dense<0.5> : tensor<24x8xf32>
  %three = dtensor.constant dense<3.0> : tensor<24x8xf32>
  %z = dtensor.dot_general %x, %v contracting [1] x [0] : (tensor<24x10xf32, #rows>, tensor<10x8xf32, #full>) -> tensor<24x8xf32>
  %bs = dtensor.broadcast_in_dim %b dims [1] : (tensor<8xf32>) -> tensor<24x8xf32>
  %u = dtensor.add %z, %bs : tensor<24x8xf32>
  %u2 = dtensor.multiply %u, %u : tensor<24x8xf32>
  %cu2 = dtensor.multiply %cubic, %u2 : tensor<24x8xf32>
  %f = dtensor.add %one, %cu2 : tensor<24x8xf32>
  %su = dtensor.multiply %slope, %u : tensor<24x8xf32>
  %i = dtensor.multiply %su, %f : tensor<24x8xf32>
  %t = dtensor.tanh %i : tensor<24x8xf32>
  %t1 = dtensor.add %t, %one : tensor<24x8xf32>
  %ht1 = dtensor.multiply %half, %t1 : tensor<24x8xf32>
  %a = dtensor.multiply %u, %ht1 : tensor<24x8xf32>
  %p = dtensor.dot_general %a, %w contracting [1] x [0] : (tensor<24x8xf32>, tensor<8x4xf32, #full>) -> tensor<24x4xf32>
  %cs = dtensor.broadcast_in_dim %c dims [1] : (tensor<4xf32>) -> tensor<24x4xf32>
  %o = dtensor.add %p, %cs : tensor<24x4xf32>
  %dw = dtensor.dot_general %a, %o contracting [0] x [0] : (tensor<24x8xf32>, tensor<24x4xf32>) -> tensor<8x4xf32>
  %da = dtensor.dot_general %o, %w contracting [1] x [1] : (tensor<24x4xf32>, tensor<8x4xf32, #full>) -> tensor<24x8xf32>
  %k = dtensor.multiply %da, %ht1 : tensor<24x8xf32>
  %ud = dtensor.multiply %u, %da : tensor<24x8xf32>
  %hd = dtensor.multiply %ud, %half : tensor<24x8xf32>
  %mt = dtensor.subtract %one, %t : tensor<24x8xf32>
  %m = dtensor.multiply %hd, %mt : tensor<24x8xf32>
  %n = dtensor.multiply %m, %t : tensor<24x8xf32>
  %e = dtensor.add %m, %n : tensor<24x8xf32>
  %q = dtensor.multiply %e, %slope : tensor<24x8xf32>
  %r = dtensor.add %k, %q : tensor<24x8xf32>
  %cq = dtensor.multiply %q, %cubic : tensor<24x8xf32>
  %u3 = dtensor.multiply %u2, %three : tensor<24x8xf32>
  %s = dtensor.multiply %cq, %u3 : tensor<24x8xf32>
  %du = dtensor.add %r, %s : tensor<24x8xf32>
  %dv = dtensor.dot_general %x, %du contracting [0] x [0] : (tensor<24x10xf32, #rows>, tensor<24x8xf32>) -> tensor<10x8xf32>
)";
/// The updates of the products' operands.
const std::string geluUpdates = R"(
  %v1 = dtensor.subtract %v, %dv : (tensor<10x8xf32, #full>, tensor<10x8xf32>) -> tensor<10x8xf32, #full>
  %w1 = dtensor.subtract %w, %dw : (tensor<8x4xf32, #full>, tensor<8x4xf32>) -> tensor<8x4xf32, #full>
  return %v1, %w1 : tensor<10x8xf32, #full>, tensor<8x4xf32, #full>
}}
)";

/// The same, with the gradients of both biases in them.
const std::string geluUpdatesWithBiases = R"(
  %db = dtensor.reduce sum %du dims [0] : (tensor<24x8xf32>) -> tensor<8xf32>
  %dbs = dtensor.broadcast_in_dim %db dims [1] : (tensor<8xf32>) -> tensor<10x8xf32>
  %rv = dtensor.constant dense<0.01> : tensor<10x8xf32>
  %rdb = dtensor.multiply %dbs, %rv : tensor<10x8xf32>
  %dvb = dtensor.add %dv, %rdb : tensor<10x8xf32>
  %dc = dtensor.reduce sum %o dims [0] : (tensor<24x4xf32>) -> tensor<4xf32>
  %dcs = dtensor.broadcast_in_dim %dc dims [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %rw = dtensor.constant dense<0.01> : tensor<8x4xf32>
  %rdc = dtensor.multiply %dcs, %rw : tensor<8x4xf32>
  %dwc = dtensor.add %dw, %rdc : tensor<8x4xf32>
  %v1 = dtensor.subtract %v, %dvb : (tensor<10x8xf32, #full>, tensor<10x8xf32>) -> tensor<10x8xf32, #full>
  %w1 = dtensor.subtract %w, %dwc : (tensor<8x4xf32, #full>, tensor<8x4xf32>) -> tensor<8x4xf32, #full>
  return %v1, %w1 : tensor<10x8xf32, #full>, tensor<8x4xf32, #full>
}}
)";

// gelu, its gradient, as jax.grad writes it, the second bias and, on one
// device, the gradients of the biases are no launches of their own; the two
// updates are.
TEST_F(LibraryTest, EpiloguesAreThoseOfTheLibrary) {
  const std::string library =
      fmt::format(",cublaslt={}", MESHLOOM_STANDIN_BLAS_PATH);
  const std::string text = geluLayers + geluUpdates,
                    withBiases = geluLayers + geluUpdatesWithBiases;
  auto cpus = clientOf("cpu", 8).value_or_throw();
  for (auto [order, options, text, devices, launches] :
       {std::tuple("order=first", ",graphs=1" + library, &text, 8, 4),
        std::tuple("order=last", ",graphs=0" + library, &text, 8, 4),
        std::tuple("seed=6", std::string(), &text, 8, 4 + 3 * 2 + 5 * 2),
        std::tuple("order=last", ",graphs=1" + library, &withBiases, 1, 4)}) {
    auto expected = runStep(cpus, "cpu", devices, 2, false, text->c_str());
    ASSERT_TRUE(expected) << expected.error().message();
    begin(order);
    auto client = clientOf(platformName(options), devices).value_or_throw();
    auto results = runStep(client, "cuda", devices, 2, false, text->c_str());
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i], 1e-5);
    EXPECT_EQ(standInLaunches(), launches);
    EXPECT_STREQ(standInFault(), "");
  }
}

/// Two layers without an activation, whose bias's gradient is the sum of 1,024
/// rows. The compiler cuts the sum into two kernels.
constexpr const char *biasGradientText = R"(
#mesh = #dtensor.mesh<batch = {0}>
#rows = #dtensor.layout<#mesh, [batch, *]>
#full = #dtensor.layout<#mesh, [*, *]>
func.func @main(%x: tensor<1024x10xf32, #rows>, %y: tensor<1024x4xf32, #rows>,
                %v: tensor<10x4xf32, #full> {{dtensor.alias = 0 : i64}},
                %w: tensor<4x10xf32, #full> {{dtensor.alias = 1 : i64}})
    -> (tensor<10x4xf32, #full>, tensor<4x10xf32, #full>) {{
  %p = dtensor.dot_general %x, %v contracting [1] x [0] : (tensor<1024x10xf32, #rows>, tensor<10x4xf32, #full>) -> tensor<1024x4xf32>
  %e = dtensor.subtract %p, %y : (tensor<1024x4xf32>, tensor<1024x4xf32, #rows>) -> tensor<1024x4xf32>
  %rate = dtensor.constant dense<0.001> : tensor<1024x4xf32>
  %d = dtensor.multiply %e, %rate : tensor<1024x4xf32>
  %dv = dtensor.dot_general %x, %d contracting [0] x [0] : (tensor<1024x10xf32, #rows>, tensor<1024x4xf32>) -> tensor<10x4xf32>
  %dw = dtensor.dot_general %d, %x contracting [0] x [0] : (tensor<1024x4xf32>, tensor<1024x10xf32, #rows>) -> tensor<4x10xf32>
  %db = dtensor.reduce sum %d dims [0] : (tensor<1024x4xf32>) -> tensor<4xf32>
  %dbv = dtensor.broadcast_in_dim %db dims [1] : (tensor<4xf32>) -> tensor<10x4xf32>
  %dvb = dtensor.add %dv, %dbv : tensor<10x4xf32>
  %dbw = dtensor.broadcast_in_dim %db dims [0] : (tensor<4xf32>) -> tensor<4x10xf32>
  %dwb = dtensor.add %dw, %dbw : tensor<4x10xf32>
  %v1 = dtensor.subtract %v, %dvb : (tensor<10x4xf32, #full>, tensor<10x4xf32>) -> tensor<10x4xf32, #full>
  %w1 = dtensor.subtract %w, %dwb : (tensor<4x10xf32, #full>, tensor<4x10xf32>) -> tensor<4x10xf32, #full>
  return %v1, %w1 : tensor<10x4xf32, #full>, tensor<4x10xf32, #full>
}}
)";

// The sum is a part of a product that reads what it adds up: of the second one,
// since the library has no algorithm for it with the first one.
TEST_F(LibraryTest, GradientsOfBiasesArePartsOfProducts) {
  auto cpus = clientOf("cpu", 1).value_or_throw();
  auto expected = runStep(cpus, "cpu", 1, 2, false, biasGradientText);
  ASSERT_TRUE(expected) << expected.error().message();
  const std::string library =
      fmt::format(",cublaslt={}", MESHLOOM_STANDIN_BLAS_PATH);
  for (auto [order, options, launches] :
       {std::tuple("order=first", ",graphs=1" + library, 3 * 2),
        std::tuple("order=last", std::string(), (3 + 3 + 2) * 2)}) {
    begin(order);
    auto client = clientOf(platformName(options), 1).value_or_throw();
    auto results = runStep(client, "cuda", 1, 2, false, biasGradientText);
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i],
                    1e-5 * std::max(1.0F, std::abs((*expected)[r][i])));
    EXPECT_EQ(standInLaunches(), launches);
    EXPECT_STREQ(standInFault(), "");
  }
}

// An algorithm of the library's may depend on more than the operands. Kernels
// give the same bits on any number of devices.
TEST_F(LibraryTest, DeterministicProductsAreKernels) {
  std::vector<std::vector<std::vector<float>>> results;
  for (int64_t devices : {1, 8}) {
    begin();
    auto client = clientOf(
        platformName(fmt::format(",cublaslt={}", MESHLOOM_STANDIN_BLAS_PATH)),
        devices);
    ASSERT_TRUE(client) << client.error().message();
    auto values = runStep(*client, "cuda", devices, /*times=*/2,
                          /*deterministic=*/true);
    ASSERT_TRUE(values) << values.error().message();
    results.push_back(std::move(*values));
    EXPECT_EQ(standInCalls("cublasLtMatmul"), 0);
    EXPECT_STREQ(standInFault(), "");
  }
  EXPECT_EQ(results[0], results[1]);
}

/// A convolution with a stride, and its gradients to both operands as jax.grad
/// writes them. Rows are examples.
constexpr const char *convolutionsText = R"(
#mesh = #dtensor.mesh<batch = {0}>
#rows = #dtensor.layout<#mesh, [batch, *, *, *]>
#full = #dtensor.layout<#mesh, [*, *, *, *]>
func.func @main(%x: tensor<8x3x9x7xf32, #rows>, %y: tensor<8x4x5x4xf32, #rows>,
                %v: tensor<4x3x3x3xf32, #full> {{dtensor.alias = 0 : i64}},
                %w: tensor<8x3x9x7xf32, #rows> {{dtensor.alias = 1 : i64}})
    -> (tensor<4x3x3x3xf32, #full>, tensor<8x3x9x7xf32, #rows>) {{
  %r = dtensor.convolution %x, %v dims [b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1] strides [2, 2] padding [1, 1, 1, 1] : (tensor<8x3x9x7xf32, #rows>, tensor<4x3x3x3xf32, #full>) -> tensor<8x4x5x4xf32>
  %d = dtensor.subtract %r, %y : (tensor<8x4x5x4xf32>, tensor<8x4x5x4xf32, #rows>) -> tensor<8x4x5x4xf32>
  %dx = dtensor.convolution %d, %v dims [b, f, 0, 1] x [i, o, 0, 1] -> [b, f, 0, 1] padding [1, 1, 1, 1] lhs_dilation [2, 2] reversal [1, 1] : (tensor<8x4x5x4xf32>, tensor<4x3x3x3xf32, #full>) -> tensor<8x3x9x7xf32>
  %dv = dtensor.convolution %x, %d dims [f, b, 0, 1] x [i, o, 0, 1] -> [f, b, 0, 1] padding [1, 1, 1, 1] rhs_dilation [2, 2] : (tensor<8x3x9x7xf32, #rows>, tensor<8x4x5x4xf32>) -> tensor<4x3x3x3xf32>
  %v1 = dtensor.subtract %v, %dv : (tensor<4x3x3x3xf32, #full>, tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32, #full>
  %w1 = dtensor.subtract %w, %dx : (tensor<8x3x9x7xf32, #rows>, tensor<8x3x9x7xf32>) -> tensor<8x3x9x7xf32, #rows>
  return %v1, %w1 : tensor<4x3x3x3xf32, #full>, tensor<8x3x9x7xf32, #rows>
}}
)";

// Each of the step's three convolutions is work of the library's: not by the
// engines that it proposes first, which round or have other bits in each run.
// Both gradients may begin together, but the library's memory has one user. A
// graph asks again for the two whose operand x lies elsewhere in the second
// run.
TEST_F(LibraryTest, ConvolutionsAreThoseOfTheLibrary) {
  auto cpus = clientOf("cpu", 8).value_or_throw();
  auto expected = runStep(cpus, "cpu", 8, 2, false, convolutionsText);
  ASSERT_TRUE(expected) << expected.error().message();
  const std::string library =
      fmt::format(",cudnn={}", MESHLOOM_STANDIN_DNN_PATH);
  for (auto [order, graphs, isDeterministic, convolutions] :
       {std::tuple("order=first", 0, false, 3 * 2),
        std::tuple("order=last", 1, false, 3 + 2),
        std::tuple("seed=1", 1, false, 3 + 2),
        std::tuple("seed=2", 1, false, 3 + 2),
        std::tuple("seed=3", 1, true, 0)}) {
    begin(order);
    auto client =
        clientOf(platformName(fmt::format(",graphs={}", graphs) + library), 8)
            .value_or_throw();
    auto results =
        runStep(client, "cuda", 8, 2, isDeterministic, convolutionsText);
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i],
                    1e-5 * std::max(1.0F, std::abs((*expected)[r][i])));
    EXPECT_EQ(standInCalls("cudnnBackendExecute"), convolutions);
    EXPECT_STREQ(standInFault(), "");
    client = nullptr;
    EXPECT_EQ(standInBytes(), 0) << "some memory is not given back";
  }
}

/// Transforms of real and complex numbers, whose result is their operand.
constexpr const char *transformsText = R"(
#mesh = #dtensor.mesh<batch = 2>
#full = #dtensor.layout<#mesh, [*, *]>
func.func @main(%x: tensor<4x12xf32, #full>) -> tensor<4x12xf32, #full> {
  %0 = dtensor.fft %x {fft_length = array<i64: 12>, fft_type = "RFFT"} : (tensor<4x12xf32, #full>) -> tensor<4x7xcomplex<f32>>
  %1 = dtensor.fft %0 {fft_length = array<i64: 4, 7>, fft_type = "FFT"} : (tensor<4x7xcomplex<f32>>) -> tensor<4x7xcomplex<f32>>
  %2 = dtensor.fft %1 {fft_length = array<i64: 4, 7>, fft_type = "IFFT"} : (tensor<4x7xcomplex<f32>>) -> tensor<4x7xcomplex<f32>>
  %3 = dtensor.fft %2 {fft_length = array<i64: 12>, fft_type = "IRFFT"} : (tensor<4x7xcomplex<f32>>) -> tensor<4x12xf32, #full>
  return %3 : tensor<4x12xf32, #full>
}
)";

// A transform along two dims is two of the library's. Where there is none, or
// where bits must not depend on it, the host transforms.
TEST_F(LibraryTest, FourierTransformsAreThoseOfTheLibrary) {
  const std::string library =
      fmt::format(",cufft={}", MESHLOOM_STANDIN_FOURIER_PATH);
  for (auto [options, isDeterministic, transforms] :
       {std::tuple(library, false, 6), std::tuple(library, true, 0),
        std::tuple(std::string(), false, 0)}) {
    begin("order=last");
    auto client = clientOf(platformName(",graphs=0" + options), 2);
    ASSERT_TRUE(client) << client.error().message();
    auto executable =
        (*client)->load(compileFor("cuda", transformsText, isDeterministic));
    ASSERT_TRUE(executable) << executable.error().message();
    const std::vector<float> values = counting(48, 1);
    auto array =
        Array::fromHost(*client, (*executable)->signature().arguments[0].type,
                        {reinterpret_cast<const char *>(values.data()),
                         values.size() * sizeof(float)})
            .value_or_throw();
    auto results = (*executable)->execute({array});
    ASSERT_TRUE(results) << results.error().message();
    const std::vector<float> result = floats(results->front().toHost());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(result[i], values[i], 1e-4);
    EXPECT_EQ(standInCalls("cufftExec"), transforms);
    EXPECT_EQ(standInCalls("cuLaunchHostFunc"), 6 - transforms);
    EXPECT_STREQ(standInFault(), "");
  }
}

/// A step whose variables change by attention: of x over y, with a causal mask,
/// and of y over x, with a bias.
/// A value is also added to the second one.
constexpr const char *attentionText = R"(
#mesh = #dtensor.mesh<batch = {0}>
#heads = #dtensor.layout<#mesh, [batch, *, *]>
func.func @main(%x: tensor<8x6x6xf32, #heads>, %y: tensor<8x6x6xf32, #heads>,
                %v: tensor<8x6x6xf32, #heads> {{dtensor.alias = 0 : i64}},
                %w: tensor<8x6x6xf32, #heads> {{dtensor.alias = 1 : i64}})
    -> (tensor<8x6x6xf32, #heads>, tensor<8x6x6xf32, #heads>) {{
  %y1 = dtensor.tanh %y : (tensor<8x6x6xf32, #heads>) -> tensor<8x6x6xf32>
  %i = dtensor.iota dim 1 : tensor<8x6x6xi32>
  %j = dtensor.iota dim 2 : tensor<8x6x6xi32>
  %c = dtensor.compare GE, %i, %j : (tensor<8x6x6xi32>, tensor<8x6x6xi32>) -> tensor<8x6x6xi1>
  %h = dtensor.constant dense<-1.0e9> : tensor<8x6x6xf32>
  %s0 = dtensor.dot_general %x, %y batching [0] x [0] contracting [2] x [2] : (tensor<8x6x6xf32, #heads>, tensor<8x6x6xf32, #heads>) -> tensor<8x6x6xf32>
  %a0 = dtensor.select %c, %s0, %h : (tensor<8x6x6xi1>, tensor<8x6x6xf32>, tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %m0 = dtensor.reduce max %a0 dims [2] : (tensor<8x6x6xf32>) -> tensor<8x6xf32>
  %ms0 = dtensor.broadcast_in_dim %m0 dims [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
  %d0 = dtensor.subtract %a0, %ms0 : tensor<8x6x6xf32>
  %e0 = dtensor.exp %d0 : tensor<8x6x6xf32>
  %t0 = dtensor.reduce sum %e0 dims [2] : (tensor<8x6x6xf32>) -> tensor<8x6xf32>
  %ts0 = dtensor.broadcast_in_dim %t0 dims [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
  %p0 = dtensor.divide %e0, %ts0 : tensor<8x6x6xf32>
  %o0 = dtensor.dot_general %p0, %v batching [0] x [0] contracting [2] x [1] : (tensor<8x6x6xf32>, tensor<8x6x6xf32, #heads>) -> tensor<8x6x6xf32>
  %s1 = dtensor.dot_general %y, %x batching [0] x [0] contracting [2] x [2] : (tensor<8x6x6xf32, #heads>, tensor<8x6x6xf32, #heads>) -> tensor<8x6x6xf32>
  %a1 = dtensor.add %s1, %x : (tensor<8x6x6xf32>, tensor<8x6x6xf32, #heads>) -> tensor<8x6x6xf32>
  %m1 = dtensor.reduce max %a1 dims [2] : (tensor<8x6x6xf32>) -> tensor<8x6xf32>
  %ms1 = dtensor.broadcast_in_dim %m1 dims [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
  %d1 = dtensor.subtract %a1, %ms1 : tensor<8x6x6xf32>
  %e1 = dtensor.exp %d1 : tensor<8x6x6xf32>
  %t1 = dtensor.reduce sum %e1 dims [2] : (tensor<8x6x6xf32>) -> tensor<8x6xf32>
  %ts1 = dtensor.broadcast_in_dim %t1 dims [0, 1] : (tensor<8x6xf32>) -> tensor<8x6x6xf32>
  %p1 = dtensor.divide %e1, %ts1 : tensor<8x6x6xf32>
  %o1 = dtensor.dot_general %p1, %w batching [0] x [0] contracting [2] x [1] : (tensor<8x6x6xf32>, tensor<8x6x6xf32, #heads>) -> tensor<8x6x6xf32>
  %v1 = dtensor.add %v, %o0 : (tensor<8x6x6xf32, #heads>, tensor<8x6x6xf32>) -> tensor<8x6x6xf32, #heads>
  %w0 = dtensor.add %w, %o1 : (tensor<8x6x6xf32, #heads>, tensor<8x6x6xf32>) -> tensor<8x6x6xf32, #heads>
  %w1 = dtensor.add %w0, %ADDED : (tensor<8x6x6xf32, #heads>, tensor<8x6x6xf32>) -> tensor<8x6x6xf32, #heads>
  return %v1, %w1 : tensor<8x6x6xf32, #heads>, tensor<8x6x6xf32, #heads>
}}
)";

// Products and softmax are one work of cuDNN's, but where somebody else reads
// the weights, and in deterministic programs.
TEST_F(LibraryTest, AttentionIsThatOfTheLibrary) {
  struct Case {
    const char *order, *added;
    bool isDeterministic;
    int works;
  };
  for (const Case &test :
       {Case{"order=first", "y1", false, 2}, Case{"order=last", "y1", false, 2},
        Case{"seed=6", "p1", false, 1}, Case{"seed=7", "y1", true, 0}}) {
    std::string text = attentionText;
    text.replace(text.find("ADDED"), 5, test.added);
    auto cpus = clientOf("cpu", 4).value_or_throw();
    auto expected = runStep(cpus, "cpu", 4, 2, false, text.c_str());
    ASSERT_TRUE(expected) << expected.error().message();
    begin(test.order);
    auto client = clientOf(platformName(fmt::format(",graphs=0,cudnn={}",
                                                    MESHLOOM_STANDIN_DNN_PATH)),
                           4)
                      .value_or_throw();
    auto results =
        runStep(client, "cuda", 4, 2, test.isDeterministic, text.c_str());
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i], 1e-5);
    EXPECT_EQ(standInCalls("cudnnBackendExecute"), 2 * test.works);
    EXPECT_STREQ(standInFault(), "");
  }
}

/// The text of a program of test/Programs; {0} would be its number of devices.
std::string programText(const std::string &name) {
  std::ifstream file(fmt::format(MESHLOOM_PROGRAMS "/{}.mlir", name));
  std::string text, escaped;
  std::getline(file, text, '\0');
  for (char letter : text)
    escaped += letter == '{' || letter == '}' ? std::string(2, letter)
                                              : std::string(1, letter);
  return escaped;
}

/// Puts a text in the place of another one.
std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  return text.replace(text.find(from), from.size(), to);
}

// An attention and its gradient are two works of cuDNN's, between which numbers
// of each row are: nobody has weights in memory. They are kernels where the
// weights are a result too. A mask may hide all keys of a query, whose weights
// are all the same, by a number that takes up the logarithm of their sum.
TEST_F(LibraryTest, GradientsOfAttentionAreThoseOfTheLibrary) {
  const std::string text = programText("attention_step");
  const std::string hidesRows = replaced(
      replaced(text, "dense<-1.000000e+02>", "dense<-1.000000e+09>"),
      "%17 = dtensor.broadcast_in_dim %seen dims [0, 3] : (tensor<2x6xi1>)",
      "%80 = dtensor.slice %seen [0:2, 1:2] : (tensor<2x6xi1>) -> "
      "tensor<2x1xi1>\n"
      "%17 = dtensor.broadcast_in_dim %80 dims [0, 3] : (tensor<2x1xi1>)");
  const std::string computesMask = replaced(
      replaced(text, "  %18 =",
               "%17 = dtensor.and %82, %83 : tensor<2x2x6x6xi1>\n%18 ="),
      "%17 = dtensor.broadcast_in_dim",
      "%80 = dtensor.iota dim 2 : tensor<2x2x6x6xi32>\n"
      "%81 = dtensor.iota dim 3 : tensor<2x2x6x6xi32>\n"
      "%82 = dtensor.compare GE, %80, %81 : (tensor<2x2x6x6xi32>, "
      "tensor<2x2x6x6xi32>) -> tensor<2x2x6x6xi1>\n"
      "%83 = dtensor.broadcast_in_dim");
  const std::string readsWeights =
      replaced(text, "return %73",
               "%75 = dtensor.reduce sum %27 dims [0, 1, 2, 3] : "
               "(tensor<2x2x6x6xf32>) -> tensor<f32>\n"
               "%76 = dtensor.broadcast_in_dim %75 dims [] : "
               "(tensor<f32>) -> tensor<8x24xf32>\n"
               "%77 = dtensor.constant dense<0.01> : tensor<8x24xf32>\n"
               "%78 = dtensor.multiply %76, %77 : tensor<8x24xf32>\n"
               "%79 = dtensor.add %73, %78 : tensor<8x24xf32>\n"
               "return %79");
  struct Case {
    const char *order, *options;
    std::string text;
    int calls; ///< of two runs; a graph asks once
  };
  for (const Case &test :
       {Case{"order=first", ",graphs=0", text, 4},
        Case{"order=last", "", text, 2}, Case{"order=last", "", hidesRows, 2},
        Case{"seed=5", ",graphs=0", computesMask, 4},
        Case{"seed=6", ",graphs=0", programText("attention_groups_step"), 4},
        Case{"seed=8", "", readsWeights, 0}}) {
    auto cpus = clientOf("cpu", 2).value_or_throw();
    auto expected = runStep(cpus, "cpu", 2, 2, false, test.text.c_str());
    ASSERT_TRUE(expected) << expected.error().message();
    begin(test.order);
    auto client = clientOf(platformName(fmt::format("{},cudnn={}", test.options,
                                                    MESHLOOM_STANDIN_DNN_PATH)),
                           2)
                      .value_or_throw();
    auto results = runStep(client, "cuda", 2, 2, false, test.text.c_str());
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], (*expected)[r][i], 1e-5);
    EXPECT_EQ(standInCalls("cudnnBackendExecute"), test.calls);
    EXPECT_STREQ(standInFault(), "");
  }
}

/// Attention of queries that are cut, each of which sees the last three keys up
/// to its own.
constexpr const char *windowText = R"(
#mesh = #dtensor.mesh<batch = {0}>
#rows = #dtensor.layout<#mesh, [*, batch, *]>
#full = #dtensor.layout<#mesh, [*, *, *]>
func.func @main(%q: tensor<2x8x4xf32, #rows>, %k: tensor<2x8x4xf32, #full>,
                %v: tensor<2x8x4xf32, #full> {{dtensor.alias = 0 : i64}},
                %w: tensor<2x8x4xf32, #rows> {{dtensor.alias = 1 : i64}})
    -> (tensor<2x8x4xf32, #full>, tensor<2x8x4xf32, #rows>) {{
  %i = dtensor.iota dim 1 : tensor<2x8x8xi32>
  %j = dtensor.iota dim 2 : tensor<2x8x8xi32>
  %c = dtensor.compare GE, %i, %j : (tensor<2x8x8xi32>, tensor<2x8x8xi32>) -> tensor<2x8x8xi1>
  %r = dtensor.subtract %i, %j : tensor<2x8x8xi32>
  %n = dtensor.constant dense<3> : tensor<2x8x8xi32>
  %f = dtensor.compare GE, %r, %n : (tensor<2x8x8xi32>, tensor<2x8x8xi32>) -> tensor<2x8x8xi1>
  %h = dtensor.constant dense<-1.0e9> : tensor<2x8x8xf32>
  %s = dtensor.dot_general %q, %k batching [0] x [0] contracting [2] x [2] : (tensor<2x8x4xf32, #rows>, tensor<2x8x4xf32, #full>) -> tensor<2x8x8xf32>
  %a = dtensor.select %c, %s, %h : (tensor<2x8x8xi1>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %b = dtensor.select %f, %h, %a : (tensor<2x8x8xi1>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %m = dtensor.reduce max %b dims [2] : (tensor<2x8x8xf32>) -> tensor<2x8xf32>
  %ms = dtensor.broadcast_in_dim %m dims [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %d = dtensor.subtract %b, %ms : tensor<2x8x8xf32>
  %e = dtensor.exp %d : tensor<2x8x8xf32>
  %t = dtensor.reduce sum %e dims [2] : (tensor<2x8x8xf32>) -> tensor<2x8xf32>
  %ts = dtensor.broadcast_in_dim %t dims [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %p = dtensor.divide %e, %ts : tensor<2x8x8xf32>
  %o = dtensor.dot_general %p, %v batching [0] x [0] contracting [2] x [1] : (tensor<2x8x8xf32>, tensor<2x8x4xf32, #full>) -> tensor<2x8x4xf32>
  %v1 = dtensor.negate %v : tensor<2x8x4xf32, #full>
  %w1 = dtensor.add %w, %o : (tensor<2x8x4xf32, #rows>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32, #rows>
  return %v1, %w1 : tensor<2x8x4xf32, #full>, tensor<2x8x4xf32, #rows>
}}
)";

// A mask that the program computes is computed in front of the library's work.
// Each card has the indices of its own queries.
TEST_F(LibraryTest, ComputedMasksAreOperandsOfTheLibrary) {
  auto expected = runStep(clientOf("cpu", 2).value_or_throw(), "cpu", 2, 2,
                          false, windowText)
                      .value_or_throw();
  for (auto [order, calls] :
       {std::pair("gpus=1,order=last", 2), std::pair("gpus=2,seed=3", 4)}) {
    begin(order);
    auto client =
        clientOf(platformName(fmt::format(",graphs=0,exchange=host,cudnn={}",
                                          MESHLOOM_STANDIN_DNN_PATH)),
                 2)
            .value_or_throw();
    auto results = runStep(client, "cuda", 2, 2, false, windowText);
    ASSERT_TRUE(results) << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      for (size_t i = 0; i < (*results)[r].size(); ++i)
        EXPECT_NEAR((*results)[r][i], expected[r][i], 1e-5);
    EXPECT_EQ(standInCalls("cudnnBackendExecute"), calls);
    EXPECT_STREQ(standInFault(), "");
  }
}

/// Decompositions of {0} matrices, and systems that one has solved.
constexpr const char *decompositionsText = R"(
#mesh = #dtensor.mesh<batch = 2>
func.func @main(%a: tensor<{0}x4x4xf32>) -> (tensor<{0}x4x4xf32>, tensor<{0}x4x4xf32>, tensor<{0}x4x4xf32>, tensor<{0}x4xf32>, tensor<{0}x4x4xf32>, tensor<{0}x4xi32>) {{
  %l = dtensor.cholesky %a {{lower}} : tensor<{0}x4x4xf32>
  %x = dtensor.triangular_solve %l, %a {{left_side, lower}} : (tensor<{0}x4x4xf32>, tensor<{0}x4x4xf32>) -> tensor<{0}x4x4xf32>
  %qr, %taus = dtensor.geqrf %a : (tensor<{0}x4x4xf32>) -> (tensor<{0}x4x4xf32>, tensor<{0}x4xf32>)
  %q = dtensor.householder_product %qr, %taus : (tensor<{0}x4x4xf32>, tensor<{0}x4xf32>) -> tensor<{0}x4x4xf32>
  %v, %e = dtensor.eigh %a {{lower}} : (tensor<{0}x4x4xf32>) -> (tensor<{0}x4x4xf32>, tensor<{0}x4xf32>)
  %u, %s, %vh = dtensor.svd %a : (tensor<{0}x4x4xf32>) -> (tensor<{0}x4x4xf32>, tensor<{0}x4xf32>, tensor<{0}x4x4xf32>)
  %lu, %p, %rows = dtensor.lu %a : (tensor<{0}x4x4xf32>) -> (tensor<{0}x4x4xf32>, tensor<{0}x4xi32>, tensor<{0}x4xi32>)
  return %x, %q, %v, %s, %lu, %rows : tensor<{0}x4x4xf32>, tensor<{0}x4x4xf32>, tensor<{0}x4x4xf32>, tensor<{0}x4xf32>, tensor<{0}x4x4xf32>, tensor<{0}x4xi32>
}}
)";

// The host has nothing to do where the libraries are. Their calls, which may
// wait for the card, are between graphs of what is around them. Many small
// matrices are one call of most functions.
TEST_F(LibraryTest, DecompositionsAreThoseOfTheLibraries) {
  const std::vector<const char *>
      ofOne = {"cusolverDnXpotrf", "cublasStrsm",      "cusolverDnSgetrf",
               "cusolverDnSlaswp", "cusolverDnXsyevd", "cusolverDnXgesvd"},
      ofMany = {"cusolverDnSpotrfBatched", "cublasStrsmBatched",
                "cublasSgetrfBatched", "cusolverDnSsyevjBatched",
                "cusolverDnSgesvdjBatched"};
  for (int64_t matrices : {2, 8}) {
    begin("order=last");
    auto client =
        clientOf(platformName(fmt::format(",cusolver={},cublas={}",
                                          MESHLOOM_STANDIN_SOLVER_PATH,
                                          MESHLOOM_STANDIN_TRIANGULAR_PATH)),
                 2);
    ASSERT_TRUE(client) << client.error().message();
    auto executable = (*client)->load(
        compileFor("cuda", fmt::format(decompositionsText, matrices)));
    ASSERT_TRUE(executable) << executable.error().message();
    const std::vector<float> values = counting(size_t(matrices) * 16, 1);
    auto array =
        Array::fromHost(*client, (*executable)->signature().arguments[0].type,
                        {reinterpret_cast<const char *>(values.data()),
                         values.size() * sizeof(float)})
            .value_or_throw();
    auto results = (*executable)->execute({array});
    ASSERT_TRUE(results) << results.error().message();
    (void)results->front().toHost();
    for (const char *function : ofOne)
      EXPECT_EQ(standInCalls(function), matrices == 2 ? 2 : 0) << function;
    for (const char *function : ofMany)
      EXPECT_EQ(standInCalls(function), matrices == 2 ? 0 : 1) << function;
    for (const char *function : {"cusolverDnXgeqrf", "cusolverDnSorgqr"})
      EXPECT_EQ(standInCalls(function), matrices) << function;
    EXPECT_EQ(standInCalls("cuLaunchHostFunc"), 0);
    EXPECT_STREQ(standInFault(), "");
  }
}

TEST_F(LibraryTest, LibraryThatIsNotThereIsAnErrorThatNamesIt) {
  begin();
  EXPECT_THAT(clientOf(platformName(",cufft=/nowhere/libcufft.so"), 2)
                  .value_or_throw()
                  ->load(compileFor("cuda", transformsText))
                  .error()
                  .message(),
              HasSubstr("GPU 0 (stand-in): NVIDIA's cuFFT cannot be loaded: "
                        "/nowhere/libcufft.so"));
  begin();
  EXPECT_THAT(failure(",cublaslt=/nowhere/libcublasLt.so"),
              HasSubstr("GPU 0 (stand-in): NVIDIA's cuBLASLt cannot be loaded: "
                        "/nowhere/libcublasLt.so"));
  begin();
  EXPECT_THAT(clientOf(platformName(",cudnn=/nowhere/libcudnn.so"), 2)
                  .value_or_throw()
                  ->load(compileFor("cuda", fmt::format(convolutionsText, 2)))
                  .error()
                  .message(),
              HasSubstr("GPU 0 (stand-in): NVIDIA's cuDNN cannot be loaded: "
                        "/nowhere/libcudnn.so"));
  // The path is another one than that of the library which is there already.
  const std::filesystem::path path(MESHLOOM_STANDIN_DNN_PATH);
  const std::string another =
      (path.parent_path() / "." / path.filename()).string();
  begin();
  setenv("MESHLOOM_STANDIN_CUDNN", "80907", /*overwrite=*/1);
  EXPECT_THAT(clientOf(platformName(",cudnn=" + another), 2)
                  .value_or_throw()
                  ->load(compileFor("cuda", fmt::format(convolutionsText, 2)))
                  .error()
                  .message(),
              HasSubstr("has the version 80907: cuDNN 9 is needed"));
  unsetenv("MESHLOOM_STANDIN_CUDNN");
  begin();
  EXPECT_THAT(failure(fmt::format(",cublaslt={}", MESHLOOM_STANDIN_PATH)),
              HasSubstr("is no cuBLASLt: it has no function"));
}
} // namespace
