// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's own cuDNN, where it is installed, takes the descriptors of
// convolutions and has engines for them. It needs no GPU for that: it gets the
// properties of an H100 in the place of a handle. Its engines of attention,
// which compile their kernels, also get a driver that does nothing
// (CompilingDriver).
#include "../../../lib/Runtime/Backends/CUDA/Dnn.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {

// Facts of cudnn_graph.h that only this test needs.
constexpr auto deviceProperties = DnnObject(38);
constexpr auto characters = DnnValue(24);
constexpr auto propertiesAsJson = DnnAttribute(2702);
constexpr auto propertiesOfHeuristics = DnnAttribute(204);
constexpr auto propertiesOfPlan = DnnAttribute(407);
constexpr std::string_view h100 =
    R"({"cudaDeviceId": 0, "deviceName": "NVIDIA H100 80GB HBM3", "deviceVer": 900,
"driverVer": 13000, "isTccDriver": 0, "l2CacheSize": 52428800,
"maxBlockSize": [1024, 1024, 64], "maxCtasPerSM": 32,
"maxGridSize": [2147483647, 65535, 65535], "maxRegistersPerSM": 65536,
"maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
"maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
"memClockRateKHz": 2619000, "multiProcessorCount": 132, "pciDeviceId": 590352606,
"regsPerBlock": 65536, "reservedSharedMemoryPerBlock": 1024,
"smClockRateKHz": 1980000, "supportCoopLaunch": 1, "totalGlobalMem": 85000000000,
"warpSize": 32})";

const DnnLibrary *real = nullptr;
DnnDescriptorHandle properties = nullptr;
int numPlans = 0;
/// Sets an attribute; the properties take the place of a handle.
DnnResult setAttribute(DnnDescriptorHandle descriptor, DnnAttribute attribute,
                       DnnValue type, int64_t count, const void *values) {
  auto setProperties = [&](DnnAttribute name) {
    return real->cudnnBackendSetAttribute(descriptor, name,
                                          DnnValue::Descriptor, 1, &properties);
  };
  if (attribute == DnnAttribute::GraphHandle)
    return DnnResult::Success;
  if (attribute == DnnAttribute::PlanHandle) {
    ++numPlans;
    return setProperties(propertiesOfPlan);
  }
  if (attribute == DnnAttribute::HeuristicsGraph)
    if (const DnnResult result = setProperties(propertiesOfHeuristics);
        result != DnnResult::Success)
      return result;
  return real->cudnnBackendSetAttribute(descriptor, attribute, type, count,
                                        values);
}

class DnnPlansTest : public testing::Test {
protected:
  void SetUp() override {
    Result<const DnnLibrary *> loaded = DnnLibrary::load("");
    if (!loaded)
      GTEST_SKIP() << loaded.error().message();
    real = *loaded;
    library = *real;
    library.cudnnCreate = [](DnnHandle *) { return DnnResult::Success; };
    library.cudnnDestroy = [](DnnHandle) { return DnnResult::Success; };
    library.cudnnBackendSetAttribute = setAttribute;
    ASSERT_EQ(real->cudnnBackendCreateDescriptor(deviceProperties, &properties),
              DnnResult::Success);
    ASSERT_EQ(real->cudnnBackendSetAttribute(properties, propertiesAsJson,
                                             characters, int64_t(h100.size()),
                                             h100.data()),
              DnnResult::Success);
    if (real->cudnnBackendFinalize(properties) != DnnResult::Success)
      GTEST_SKIP() << "this cuDNN " << real->cudnnGetVersion()
                   << " has other device properties";
    dnn = Dnn::create(library).value_or_throw();
  }
  void TearDown() override {
    if (properties)
      (void)real->cudnnBackendDestroyDescriptor(
          std::exchange(properties, nullptr));
  }

  DnnLibrary library;
  std::unique_ptr<Dnn> dnn;
};

using List = std::vector<int64_t>;
using Form = ConvolutionForm;

/// Strides of a dense tensor whose channels are its second or its last dim.
List stridesOf(const List &extents, bool areChannelsLast) {
  List inwards{0};
  if (!areChannelsLast)
    inwards.push_back(1);
  for (size_t dim = 2; dim < extents.size(); ++dim)
    inwards.push_back(int64_t(dim));
  if (areChannelsLast)
    inwards.push_back(1);
  List strides(extents.size());
  int64_t stride = 1;
  for (size_t i = inwards.size(); i-- > 0;) {
    strides[size_t(inwards[i])] = stride;
    stride *= extents[size_t(inwards[i])];
  }
  return strides;
}

struct Shape {
  std::string_view name;
  int64_t examples, channels, features, groups;
  List space, filter;
  ImageConvolution::Dim dim;
};

ImageConvolution convolutionOf(const Shape &shape, DType type, Form form,
                               bool areChannelsLast) {
  ImageConvolution convolution{.type = type, .form = form};
  List image{shape.examples, shape.channels * shape.groups},
      filter{shape.features * shape.groups, shape.channels},
      response{shape.examples, shape.features * shape.groups};
  for (size_t d = 0; d < shape.space.size(); ++d) {
    image.push_back(shape.space[d]);
    filter.push_back(shape.filter[d]);
    response.push_back((shape.space[d] + shape.dim.padBefore +
                        shape.dim.padAfter -
                        (shape.filter[d] - 1) * shape.dim.dilation - 1) /
                           shape.dim.stride +
                       1);
    convolution.dims.push_back(shape.dim);
  }
  size_t role = 0;
  for (const List &extents : {image, filter, response})
    convolution.tensors[role++] = {.extents = extents,
                                   .strides =
                                       stridesOf(extents, areChannelsLast),
                                   .alignment = 16};
  // A kernel of JAX and Flax has its features as last dims.
  if (areChannelsLast) {
    List &strides = convolution.tensors[ImageConvolution::Filter].strides;
    strides = stridesOf(filter, false);
    const int64_t place = filter[0] * filter[1];
    for (size_t d = 2; d < filter.size(); ++d)
      strides[d] *= place;
    strides[1] = filter[0];
    strides[0] = 1;
  }
  return convolution;
}

// Each form, type and order of dims has an engine for usual convolutions, for
// odd ones and for grouped ones.
TEST_F(DnnPlansTest, LibraryHasEnginesForConvolutions) {
  const std::vector<Shape> shapes{
      {"ResNet", 32, 64, 64, 1, {56, 56}, {3, 3}, {1, 1, 1, 1}},
      {"stem", 32, 3, 64, 1, {224, 224}, {7, 7}, {2, 1, 3, 3}},
      {"odd", 3, 5, 7, 1, {13, 11}, {2, 3}, {1, 2, 0, 1}},
      {"TensorFlow's SAME", 8, 16, 32, 1, {28, 28}, {3, 3}, {2, 1, 0, 1}},
      {"depthwise", 8, 1, 1, 32, {28, 28}, {3, 3}, {1, 1, 1, 1}},
      {"groups", 8, 16, 16, 4, {14, 14}, {3, 3}, {1, 1, 1, 1}},
      {"signals", 8, 16, 32, 1, {100}, {5}, {1, 1, 2, 2}},
      {"volumes", 2, 8, 16, 1, {10, 10, 10}, {3, 3, 3}, {1, 1, 1, 1}}};
  for (const Shape &shape : shapes)
    for (DType type : {DType::F32, DType::F64, DType::BF16, DType::F16})
      for (Form form :
           {Form::Forward, Form::DataGradient, Form::FilterGradient})
        for (bool areChannelsLast : {false, true}) {
          LibraryWorkOrError work =
              dnn->plan(convolutionOf(shape, type, form, areChannelsLast));
          ASSERT_TRUE(work) << work.error().message();
          EXPECT_TRUE(*work)
              << shape.name << " of " << name(type) << ", form " << int(form)
              << (areChannelsLast ? ", channels last" : ", channels first");
        }
  EXPECT_GT(numPlans, 0);
}

// Kernels compute a convolution that the library does not take.
TEST_F(DnnPlansTest, ConvolutionThatDoesNotFitIsRefused) {
  ImageConvolution convolution =
      convolutionOf({"plain", 2, 3, 4, 1, {8, 8}, {3, 3}, {1, 1, 1, 1}},
                    DType::F32, Form::Forward, false);
  convolution.tensors[ImageConvolution::Response].extents[2] = 9;
  LibraryWorkOrError work = dnn->plan(convolution);
  ASSERT_TRUE(work) << work.error().message();
  EXPECT_FALSE(*work);
}

/// The engines that the library proposes, whose plans need a GPU.
class DnnAttentionTest : public DnnPlansTest {
protected:
  void SetUp() override {
    if (!dlopen(MESHLOOM_COMPILING_DRIVER_PATH, RTLD_NOW | RTLD_GLOBAL))
      GTEST_SKIP() << dlerror();
    DnnPlansTest::SetUp();
    library.cudnnBackendFinalize = [](DnnDescriptorHandle descriptor) {
      return descriptor == plan ? DnnResult::NotSupported
                                : real->cudnnBackendFinalize(descriptor);
    };
    library.cudnnBackendCreateDescriptor = [](DnnObject kind,
                                              DnnDescriptorHandle *handle) {
      const DnnResult result = real->cudnnBackendCreateDescriptor(kind, handle);
      if (kind == DnnObject::Plan)
        plan = *handle;
      return result;
    };
  }
  /// Returns how many engines that keep our promises the library has.
  int enginesFor(const AttentionShape &attention) {
    numPlans = 0;
    EXPECT_TRUE(dnn->plan(attention));
    return numPlans;
  }

private:
  static inline DnnDescriptorHandle plan = nullptr; ///< the last one
};

constexpr int64_t examples = 2;

/// Queries, keys or results of `heads` in 2 examples; heads of an example lie
/// side by side, as in JAX.
DnnMatrices matricesOf(size_t operand, DType type, int64_t heads, int64_t rows,
                       int64_t columns) {
  return {operand,
          type,
          {examples, heads, rows, columns},
          {rows * heads * columns, columns, heads * columns, 1},
          16};
}

struct AttentionCase {
  DType type;
  int64_t queries, keys, terms;
  bool isCausal, hasBias, hasMask;
};

/// A bias and a mask are those of all heads.
AttentionShape attentionOf(const AttentionCase &test, AttentionForm form) {
  constexpr int64_t heads = 3;
  auto tensor = [&](size_t operand, int64_t rows) {
    return matricesOf(operand, test.type, heads, rows, test.terms);
  };
  AttentionShape shape{.form = form,
                       .type = test.type,
                       .query = tensor(0, test.queries),
                       .key = tensor(1, test.keys),
                       .value = tensor(2, test.keys),
                       .result = tensor(3, test.queries),
                       .resultGradient = tensor(7, test.queries),
                       .queryGradient = tensor(8, test.queries),
                       .keyGradient = tensor(9, test.keys),
                       .valueGradient = tensor(10, test.keys),
                       .scale = 0.125F,
                       .hidden = -1e9F,
                       .isCausal = test.isCausal};
  std::swap(shape.key.extents[2], shape.key.extents[3]);
  std::swap(shape.key.strides[2], shape.key.strides[3]);
  const DnnMatrices rows = matricesOf(6, DType::F32, heads, test.queries, 1);
  if (form != AttentionForm::Result)
    (test.hasMask ? shape.largest : shape.logarithms) = rows;
  if (form != AttentionForm::Result && test.hasMask)
    shape.sums = rows;
  // A program may round it later.
  shape.keyGradient.type = DType::F32;
  if (test.hasBias)
    shape.bias = matricesOf(4, test.type, 1, test.queries, test.keys);
  if (test.hasMask)
    shape.mask = matricesOf(5, DType::I32, 1, test.queries, test.keys);
  return shape;
}

// Usual attention and odd ones have engines, and so have their gradients.
TEST_F(DnnAttentionTest, LibraryHasEnginesForAttention) {
  for (const AttentionCase &test :
       {AttentionCase{DType::BF16, 128, 128, 64, true, false, false},
        AttentionCase{DType::F16, 77, 130, 128, false, true, false},
        AttentionCase{DType::BF16, 1, 24, 8, false, true, true}})
    for (AttentionForm form :
         {AttentionForm::Result, AttentionForm::ResultAndRows,
          AttentionForm::Gradient})
      EXPECT_GT(enginesFor(attentionOf(test, form)), 0)
          << test.queries << " queries, " << test.keys << " keys of "
          << test.terms << " terms, form " << int(form);
}

// Heads of queries share those of keys and values in groups.
TEST_F(DnnAttentionTest, LibraryHasEnginesForGroups) {
  for (AttentionForm form :
       {AttentionForm::Result, AttentionForm::ResultAndRows,
        AttentionForm::Gradient}) {
    AttentionShape shape =
        attentionOf({DType::BF16, 77, 128, 64, true, false, false}, form);
    auto ofOneHead = [](size_t operand) {
      return matricesOf(operand, DType::BF16, 1, 128, 64);
    };
    shape.key = ofOneHead(1);
    std::swap(shape.key.extents[2], shape.key.extents[3]);
    std::swap(shape.key.strides[2], shape.key.strides[3]);
    shape.value = ofOneHead(2);
    shape.keyGradient = ofOneHead(9);
    shape.valueGradient = ofOneHead(10);
    EXPECT_GT(enginesFor(shape), 0) << "form " << int(form);
  }
}

// Kernels compute f32, which engines of attention round, and f64, which they do
// not know.
TEST_F(DnnAttentionTest, OtherTypesHaveNoEngines) {
  for (DType type : {DType::F32, DType::F64})
    EXPECT_EQ(enginesFor(attentionOf({type, 128, 128, 64, true, false, false},
                                     AttentionForm::Result)),
              0);
}
} // namespace
