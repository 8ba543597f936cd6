// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ImageConvolution.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
/// A loop of a convolution, and the strides of lhs, rhs and out in it.
struct ConvolutionLoop {
  int64_t extent = 1;
  std::array<int64_t, 3> strides{};
};

/// A dim of one tensor.
struct TensorDim {
  int64_t extent = 1, stride = 0;
};

/// The loops that are not in space. N are examples, C channels of the image
/// and K channels of the response in one of G groups.
struct ChannelLoops {
  ConvolutionLoop g, n, c, k;
};
} // namespace

/// Returns the loop with this letter that is no window's; nothing where there
/// are several.
static std::optional<ConvolutionLoop>
onlyLoop(char letter, const ProductKind &kind,
         const ImageConvolution::Box &box) {
  std::optional<ConvolutionLoop> only;
  for (unsigned loop = 0; loop < box.extents.size(); ++loop) {
    const bool isOfWindow = std::ranges::any_of(
        kind.windows, [&](const ProductKind::Window &window) {
          return loop == window.output || loop == window.kernel;
        });
    if (kind.loops[loop] != letter || isOfWindow || box.extents[loop] == 1)
      continue;
    if (only)
      return std::nullopt;
    only = {box.extents[loop],
            {box.strides[0][loop], box.strides[1][loop], box.strides[2][loop]}};
  }
  return only.value_or(ConvolutionLoop());
}

static std::optional<ChannelLoops>
channelLoops(const ProductKind &kind, const ImageConvolution::Box &box,
             ConvolutionForm form) {
  auto group = onlyLoop('b', kind, box), row = onlyLoop('m', kind, box),
       column = onlyLoop('n', kind, box), term = onlyLoop('k', kind, box);
  if (!group || !row || !column || !term)
    return std::nullopt;
  switch (form) {
  case ConvolutionForm::Forward:
    return ChannelLoops{*group, *row, *term, *column};
  case ConvolutionForm::DataGradient:
    return ChannelLoops{*group, *row, *column, *term};
  case ConvolutionForm::FilterGradient:
    break;
  }
  return ChannelLoops{*group, *term, *row, *column};
}

/// Returns the dim that has the groups of a loop one behind the other; nothing
/// where they do not lie so.
static std::optional<TensorDim> groupedDim(const ConvolutionLoop &group,
                                           const ConvolutionLoop &loop,
                                           size_t operand) {
  if (group.extent == 1)
    return TensorDim{loop.extent, loop.strides[operand]};
  if (loop.extent == 1)
    return TensorDim{group.extent, group.strides[operand]};
  if (group.strides[operand] != loop.strides[operand] * loop.extent)
    return std::nullopt;
  return TensorDim{group.extent * loop.extent, loop.strides[operand]};
}

/// Gives dims of one element the strides that they have in dense tensors, where
/// channels are the last dim if neighbours in memory are channels.
static void completeStrides(ImageConvolution::Tensor &tensor) {
  const size_t rank = tensor.extents.size();
  auto isShorter = [&](size_t dim) {
    return tensor.extents[dim] != 1 && tensor.strides[dim] < tensor.strides[1];
  };
  std::vector<size_t> inwards(rank);
  std::iota(inwards.begin(), inwards.end(), 0);
  const bool areChannelsLast =
      tensor.extents[1] != 1 &&
      std::none_of(inwards.begin() + 2, inwards.end(), isShorter);
  if (areChannelsLast)
    std::rotate(inwards.begin() + 1, inwards.begin() + 2, inwards.end());
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    const size_t dim = inwards[i];
    if (tensor.extents[dim] == 1)
      tensor.strides[dim] = stride;
    stride = tensor.strides[dim] * tensor.extents[dim];
  }
}

namespace {
/// Describes a convolution in one form.
class Describer {
public:
  Describer(const ProductKind &kind, const ImageConvolution::Box &box,
            ConvolutionForm form)
      : kind(kind), box(box) {
    result.type = kind.type;
    result.form = form;
  }
  std::optional<ImageConvolution> describe();

private:
  using Role = ImageConvolution::Role;
  ImageConvolution::Tensor &image() {
    return result.tensors[ImageConvolution::Image];
  }
  void assignOperands();
  bool addChannels();
  bool addDim(const ProductKind::Window &window);
  /// Leaves out what no window reaches of the image's last dim.
  bool crop(ImageConvolution::Dim &dim);
  bool isFlipped(const ProductKind::Window &window) const;

  const ProductKind &kind;
  const ImageConvolution::Box &box;
  ImageConvolution result;
};
} // namespace

void Describer::assignOperands() {
  constexpr size_t lhs = 0, rhs = 1, out = 2;
  const std::array<size_t, 3> operands =
      result.form == ConvolutionForm::Forward ? std::array{lhs, rhs, out}
      : result.form == ConvolutionForm::DataGradient
          ? std::array{out, rhs, lhs}
          : std::array{lhs, out, rhs};
  for (size_t role = 0; role < 3; ++role) {
    result.tensors[role].operand = operands[role];
    result.tensors[role].alignment = box.alignments[operands[role]];
  }
}

bool Describer::addChannels() {
  const auto loops = channelLoops(kind, box, result.form);
  if (!loops)
    return false;
  const ConvolutionLoop none;
  auto add = [&](Role role, const ConvolutionLoop &group,
                 const ConvolutionLoop &loop) {
    ImageConvolution::Tensor &tensor = result.tensors[role];
    const auto dim = groupedDim(group, loop, tensor.operand);
    if (dim) {
      tensor.extents.push_back(dim->extent);
      tensor.strides.push_back(dim->stride);
    }
    return dim.has_value();
  };
  return add(Role::Image, none, loops->n) &&
         add(Role::Image, loops->g, loops->c) &&
         add(Role::Filter, loops->g, loops->k) &&
         add(Role::Filter, none, loops->c) &&
         add(Role::Response, none, loops->n) &&
         add(Role::Response, loops->g, loops->k);
}

bool Describer::crop(ImageConvolution::Dim &dim) {
  int64_t &extent = image().extents.back();
  const bool isResult = result.form == ConvolutionForm::DataGradient;
  // The library rounds the number of places of the response down.
  if (dim.padAfter <= -dim.stride) {
    if (isResult)
      return false;
    extent += dim.padAfter;
  }
  dim.padAfter = std::max<int64_t>(dim.padAfter, 0);
  if (dim.padBefore < 0) {
    if (isResult)
      return false;
    extent += dim.padBefore;
    image().offset -= dim.padBefore * image().strides.back();
    dim.padBefore = 0;
  }
  return extent > 0;
}

bool Describer::addDim(const ProductKind::Window &window) {
  const std::array<unsigned, 3> loops{window.input, window.kernel,
                                      window.output};
  for (ImageConvolution::Tensor &tensor : result.tensors) {
    const unsigned loop = loops[tensor.operand];
    tensor.extents.push_back(box.extents[loop]);
    tensor.strides.push_back(box.strides[tensor.operand][loop]);
  }
  const int64_t kernel = box.extents[window.kernel],
                begin = box.origin[window.kernel],
                first = window.reversedExtent > 0
                            ? window.reversedExtent - begin - kernel
                            : begin,
                // Where the box's first window begins in the box of lhs.
      low = window.low + box.origin[window.input] * window.inputDilation -
            box.origin[window.output] * window.stride -
            first * window.kernelDilation;
  ImageConvolution::Dim &dim = result.dims.emplace_back();
  switch (result.form) {
  case ConvolutionForm::Forward:
    dim = {window.stride, window.kernelDilation, low, 0};
    break;
  case ConvolutionForm::FilterGradient:
    dim = {window.kernelDilation, window.stride, low, 0};
    break;
  case ConvolutionForm::DataGradient:
    if (window.stride != 1)
      return false;
    dim = {window.inputDilation, window.kernelDilation,
           (kernel - 1) * window.kernelDilation - low, 0};
    break;
  }
  auto extentOf = [&](Role role) {
    return result.tensors[role].extents.back();
  };
  dim.padAfter = (extentOf(Role::Response) - 1) * dim.stride +
                 (extentOf(Role::Filter) - 1) * dim.dilation + 1 -
                 extentOf(Role::Image) - dim.padBefore;
  return crop(dim);
}

/// A gradient to the image reads the filter in the opposite order.
bool Describer::isFlipped(const ProductKind::Window &window) const {
  return (window.reversedExtent > 0) ==
         (result.form != ConvolutionForm::DataGradient);
}

std::optional<ImageConvolution> Describer::describe() {
  assignOperands();
  if (!addChannels())
    return std::nullopt;
  std::optional<bool> flipped;
  for (const ProductKind::Window &window : kind.windows) {
    if (!addDim(window))
      return std::nullopt;
    if (box.extents[window.kernel] == 1)
      continue;
    if (flipped && *flipped != isFlipped(window))
      return std::nullopt;
    flipped = isFlipped(window);
  }
  result.isFlipped = flipped.value_or(false);
  // The response has nobody to read it from its end.
  if (result.form == ConvolutionForm::FilterGradient && result.isFlipped)
    return std::nullopt;
  for (ImageConvolution::Tensor &tensor : result.tensors) {
    completeStrides(tensor);
    if (std::ranges::any_of(tensor.strides,
                            [](int64_t stride) { return stride <= 0; }))
      return std::nullopt;
    tensor.alignment = std::gcd(
        tensor.alignment, tensor.offset * int64_t(byteWidth(result.type)));
  }
  return result;
}

std::optional<ImageConvolution> ImageConvolution::of(const ProductKind &kind,
                                                     const Box &box) {
  const bool isTaken = kind.type == DType::F32 || kind.type == DType::F64 ||
                       kind.type == DType::BF16 || kind.type == DType::F16;
  constexpr size_t mostDims = 3;
  if (!isTaken || kind.windows.empty() || kind.windows.size() > mostDims ||
      std::ranges::any_of(box.extents,
                          [](int64_t extent) { return extent <= 0; }))
    return std::nullopt;
  auto isSpread = [](const ProductKind::Window &window) {
    return window.inputDilation != 1;
  };
  if (std::ranges::any_of(kind.windows, isSpread))
    return Describer(kind, box, ConvolutionForm::DataGradient).describe();
  auto isLarge = [&](const ProductKind::Window &window) {
    return box.extents[window.kernel] > box.extents[window.output];
  };
  if (std::ranges::any_of(kind.windows, isLarge))
    if (auto found =
            Describer(kind, box, ConvolutionForm::FilterGradient).describe())
      return found;
  return Describer(kind, box, ConvolutionForm::Forward).describe();
}
