// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of any loops as cuDNN takes them.
#include "../../../lib/Runtime/Backends/CUDA/ImageConvolution.h"

#include <gtest/gtest.h>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
using Form = ConvolutionForm;
using List = std::vector<int64_t>;

/// The loops of a convolution in one spatial dim: groups, examples, features of
/// the result and of the operand; then places of the result, of the kernel and
/// of the operand.
struct Loops {
  List extents;
  std::array<List, 3> strides;
  List origin = List(7);
};
constexpr unsigned output = 4, kernel = 5, input = 6;

std::optional<ImageConvolution> convolutionOf(const Loops &loops,
                                              ProductKind::Window window,
                                              DType type = DType::F32) {
  window.output = output;
  window.kernel = kernel;
  window.input = input;
  return ImageConvolution::of(
      {type, "bmnkmkh", {window}},
      {.extents = loops.extents,
       .origin = loops.origin,
       .strides = {loops.strides[0], loops.strides[1], loops.strides[2]},
       .alignments = {16, 8, 4}});
}

/// 2 examples of 6 places and 3 features, a kernel of 3 places and 4 features.
const Loops plain{{1, 2, 4, 3, 6, 3, 6},
                  {List{0, 18, 0, 1, 0, 0, 3}, List{0, 0, 1, 4, 0, 12, 0},
                   List{0, 24, 1, 0, 4, 0, 0}}};

const ImageConvolution::Tensor &tensorOf(const ImageConvolution &convolution,
                                         ImageConvolution::Role role) {
  return convolution.tensors[role];
}

TEST(ImageConvolutionTest, TensorsHaveBatchChannelsAndSpace) {
  const auto convolution = convolutionOf(plain, {.low = 1});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(*convolution,
            (ImageConvolution{.type = DType::F32,
                              .form = Form::Forward,
                              .tensors = {{{.operand = 0,
                                            .extents = {2, 3, 6},
                                            .strides = {18, 1, 3},
                                            .alignment = 16},
                                           {.operand = 1,
                                            .extents = {4, 3, 3},
                                            .strides = {1, 4, 12},
                                            .alignment = 8},
                                           {.operand = 2,
                                            .extents = {2, 4, 6},
                                            .strides = {24, 1, 4},
                                            .alignment = 4}}},
                              .dims = {{.padBefore = 1, .padAfter = 1}}}));
}

// The library rounds down how many places the response has; what no window
// reaches of the image is left out, as padding is not negative.
TEST(ImageConvolutionTest, ImageIsCutToWhatWindowsReach) {
  Loops loops = plain;
  loops.extents[output] = loops.extents[kernel] = 2;
  auto convolution = convolutionOf(loops, {.stride = 3, .low = 0});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->dims[0], (ImageConvolution::Dim{.stride = 3}));
  EXPECT_EQ(convolution->tensors[0].extents[2], 6);
  convolution = convolutionOf(loops, {.stride = 1, .low = -2});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->dims[0], ImageConvolution::Dim());
  EXPECT_EQ(convolution->tensors[0].extents[2], 3);
  EXPECT_EQ(convolution->tensors[0].offset, 2 * 3);
  EXPECT_EQ(convolution->tensors[0].alignment, 8); // 24 bytes behind 16
}

// A box counts from where it begins: with places 3 to 6 of the operand a window
// that begins at place 2 begins one before it.
TEST(ImageConvolutionTest, PlacesAreCountedFromTheBox) {
  Loops loops = plain;
  loops.origin = {0, 0, 0, 0, 3, 0, 3};
  loops.extents[output] = 3;
  loops.extents[input] = 4;
  const auto convolution = convolutionOf(loops, {.low = 1});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->dims[0],
            (ImageConvolution::Dim{.padBefore = 1, .padAfter = 0}));
}

// A window that goes over an operand with gaps is a gradient to the image; the
// filter is read the other way round.
TEST(ImageConvolutionTest, OperandWithGapsIsAResponse) {
  Loops loops = plain;
  loops.extents[output] = 11;
  for (bool isReversed : {false, true}) {
    const auto convolution = convolutionOf(
        loops,
        {.low = 1, .inputDilation = 2, .reversedExtent = isReversed ? 3 : 0});
    ASSERT_TRUE(convolution);
    EXPECT_EQ(convolution->form, Form::DataGradient);
    EXPECT_EQ(convolution->isFlipped, !isReversed);
    EXPECT_EQ(
        convolution->dims[0],
        (ImageConvolution::Dim{.stride = 2, .padBefore = 1, .padAfter = 1}));
    EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Response).operand, 0U);
    EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Image).operand, 2U);
    EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Filter).extents,
              (List{3, 4, 3}));
  }
  EXPECT_FALSE(
      convolutionOf(loops, {.stride = 2, .low = 1, .inputDilation = 2}));
}

// A kernel that is larger than the result is the gradient of a response.
TEST(ImageConvolutionTest, LargeKernelIsAResponse) {
  Loops loops = plain;
  loops.extents[output] = 3;
  loops.extents[kernel] = 4;
  const auto convolution =
      convolutionOf(loops, {.stride = 2, .low = 1, .kernelDilation = 1});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->form, Form::FilterGradient);
  EXPECT_EQ(
      convolution->dims[0],
      (ImageConvolution::Dim{.dilation = 2, .padBefore = 1, .padAfter = 1}));
  // The operand's features are the examples.
  EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Image).extents,
            (List{3, 2, 6}));
  EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Filter).operand, 2U);
  EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Filter).extents,
            (List{4, 2, 3}));
  EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Response).extents,
            (List{3, 4, 4}));
}

TEST(ImageConvolutionTest, GroupsAreChannelsOneBehindTheOther) {
  Loops loops = plain;
  loops.extents[0] = 5;
  loops.strides = {List{3, 90, 0, 1, 0, 0, 15}, List{4, 0, 1, 20, 0, 60, 0},
                   List{4, 120, 1, 0, 20, 0, 0}};
  const auto convolution = convolutionOf(loops, {.low = 1});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Image).extents,
            (List{2, 15, 6}));
  EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Filter).extents,
            (List{20, 3, 3}));
  EXPECT_EQ(tensorOf(*convolution, ImageConvolution::Response).extents,
            (List{2, 20, 6}));
  loops.strides[0][0] = 4;
  EXPECT_FALSE(convolutionOf(loops, {.low = 1}));
}

// The library knows dense tensors by their strides.
TEST(ImageConvolutionTest, DimsOfOneElementLieAsInDenseTensors) {
  Loops loops = plain;
  loops.extents[3] = 1;
  loops.strides[0] = {0, 6, 0, 0, 0, 0, 1};
  auto convolution = convolutionOf(loops, {.low = 1});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->tensors[0].strides, (List{6, 6, 1}));
  loops = plain;
  loops.extents[1] = 1;
  convolution = convolutionOf(loops, {.low = 1});
  ASSERT_TRUE(convolution);
  EXPECT_EQ(convolution->tensors[0].strides, (List{18, 1, 3}));
}

TEST(ImageConvolutionTest, OthersAreNotTaken) {
  EXPECT_FALSE(convolutionOf(plain, {.low = 1}, DType::I32));
  Loops loops = plain;
  loops.extents[1] = 0;
  EXPECT_FALSE(convolutionOf(loops, {.low = 1}));
  loops = plain;
  loops.strides[0][1] = 0; // all examples are one
  EXPECT_FALSE(convolutionOf(loops, {.low = 1}));
}
} // namespace
