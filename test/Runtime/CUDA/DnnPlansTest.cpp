// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA's own cuDNN, where it is installed, takes the descriptors of
// convolutions and has engines for them. It needs no GPU for that: it gets the
// properties of an H100 in the place of a handle. Its engines of attention take
// our graphs, and then ask for NVIDIA's driver, which compiles their kernels.
#include "../../../lib/Runtime/Backends/CUDA/Dnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {

// Facts of cudnn_graph.h that only this test needs.
constexpr auto deviceProperties = DnnObject(38);
constexpr auto characters = DnnValue(24);
constexpr auto propertiesAsJson = DnnAttribute(2702);
constexpr auto propertiesOfHeuristics = DnnAttribute(204);
constexpr auto propertiesOfPlan = DnnAttribute(407);
constexpr auto engineGraph = DnnAttribute(1300),
               engineNumber = DnnAttribute(1301),
               propertiesOfEngine = DnnAttribute(1307);
constexpr auto needsDriver = DnnResult(3008);
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
bool asksEngines = false;
/// The engines that took the last graph.
std::vector<int64_t> takenBy;

/// Returns whether an engine takes a graph, as far as the library can tell
/// without NVIDIA's driver.
bool takes(int64_t number, const void *graph) {
  DnnDescriptor engine(*real, DnnObject::Engine),
      configuration(*real, DnnObject::EngineConfiguration);
  engine.set(propertiesOfEngine, DnnValue::Descriptor, properties);
  engine.set(engineGraph, DnnValue::Descriptor,
             *static_cast<const DnnDescriptorHandle *>(graph));
  engine.set(engineNumber, DnnValue::Int64, number);
  engine.finish();
  configuration.set(DnnAttribute::ConfigurationEngine, engine);
  configuration.finish();
  return engine.result() == DnnResult::Success &&
         (configuration.result() == DnnResult::Success ||
          configuration.result() == needsDriver);
}

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
  if (attribute == DnnAttribute::HeuristicsGraph && asksEngines) {
    takenBy.clear();
    for (int64_t number : {0, 1, 2})
      if (takes(number, values))
        takenBy.push_back(number);
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

/// Attention of `heads` in 2 examples; a bias and a mask are those of all
/// heads.
AttentionShape attentionOf(DType type, int64_t heads, int64_t queries,
                           int64_t keys, int64_t terms, bool isCausal,
                           bool hasBias, bool hasMask) {
  constexpr int64_t examples = 2;
  // Heads of an example lie side by side, as in JAX.
  auto tensor = [&](size_t operand, int64_t rows, int64_t columns) {
    return DnnMatrices{operand,
                       {examples, heads, rows, columns},
                       {rows * heads * columns, columns, heads * columns, 1},
                       16};
  };
  AttentionShape shape{.type = type,
                       .biasType = type,
                       .query = tensor(0, queries, terms),
                       .key = tensor(1, keys, terms),
                       .value = tensor(2, keys, terms),
                       .result = tensor(3, queries, terms),
                       .scale = 0.125F,
                       .hidden = -1e9F,
                       .isCausal = isCausal};
  std::swap(shape.key.extents[2], shape.key.extents[3]);
  std::swap(shape.key.strides[2], shape.key.strides[3]);
  const DnnMatrices scores{4,
                           {examples, 1, queries, keys},
                           {queries * keys, queries * keys, keys, 1},
                           16};
  if (hasBias)
    shape.bias = scores;
  if (hasMask)
    shape.mask = scores;
  return shape;
}

// Usual attention and odd ones; engines of attention have the numbers 1 and 2.
TEST_F(DnnPlansTest, EnginesOfAttentionTakeOurGraphs) {
  asksEngines = true;
  struct Case {
    DType type;
    int64_t queries, keys, terms;
    bool isCausal, hasBias, hasMask;
  };
  for (const Case &test : {Case{DType::BF16, 128, 128, 64, true, false, false},
                           Case{DType::F16, 77, 130, 128, false, true, false},
                           Case{DType::BF16, 1, 24, 8, false, false, true}}) {
    ASSERT_TRUE(
        dnn->plan(attentionOf(test.type, 3, test.queries, test.keys, test.terms,
                              test.isCausal, test.hasBias, test.hasMask)));
    EXPECT_THAT(takenBy, testing::ElementsAre(1, 2))
        << test.queries << " queries, " << test.keys << " keys of "
        << test.terms << " terms";
  }
  // There are none of f64.
  LibraryWorkOrError work =
      dnn->plan(attentionOf(DType::F64, 3, 128, 128, 64, false, false, false));
  ASSERT_TRUE(work) << work.error().message();
  EXPECT_TRUE(takenBy.empty());
  EXPECT_FALSE(*work);
}
} // namespace
