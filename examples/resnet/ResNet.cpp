// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model; see ResNet.h.
#include "ResNet.h"

namespace resnet {

/// The same kernels in every run.
static initializers::Initializer firstKernel() {
  return initializers::GlorotUniform(Seed{});
}

// With a stride of 1 a window of odd size pads alike at both ends by "same";
// with a stride of 2 "same" would pad less in front than torchvision.
Unit::Unit(const std::string &conv, const std::string &norm, int64_t window,
           int64_t in, int64_t out, int64_t stride)
    : conv(out, window,
           {.strides = stride,
            .padding = stride == 1 ? "same" : "valid",
            .use_bias = false,
            .kernel_initializer = firstKernel(),
            .name = conv}),
      norm({.momentum = 0.9, .epsilon = 1e-5, .name = norm}),
      border(stride == 1 ? 0 : window / 2) {
  this->conv.build({-1, -1, -1, in});
  this->norm.build({-1, -1, -1, out});
  track(this, this->conv, this->norm);
}

Tensor Unit::operator()(const Tensor &x, bool training) const {
  const PadDim around{border, border};
  const Tensor padded = border == 0 ? x : pad(x, {{}, around, around, {}}, 0);
  return norm(conv(padded), {.training = training});
}

Block::Block(const std::string &name, int64_t in, int64_t width, int64_t stride)
    : reduce(name + ".conv1", name + ".bn1", 1, in, width),
      convolve(name + ".conv2", name + ".bn2", 3, width, width, stride),
      expand(name + ".conv3", name + ".bn3", 1, width, 4 * width) {
  if (stride != 1 || in != 4 * width)
    shortcut.emplace_back(name + ".downsample.0", name + ".downsample.1", 1, in,
                          4 * width, stride);
  track(this, reduce, convolve, expand, shortcut);
}

Tensor Block::operator()(const Tensor &x, bool training) const {
  Tensor y = nn::relu(reduce(x, training));
  y = nn::relu(convolve(y, training));
  y = expand(y, training);
  return nn::relu(y + (shortcut.empty() ? x : shortcut.front()(x, training)));
}

ResNet::ResNet(const Options &options)
    : first("conv1", "bn1", options.small ? 3 : 7, 3, 64,
            options.small ? 1 : 2),
      classify(options.classes,
               {.kernel_initializer = firstKernel(), .name = "fc"}),
      small(options.small) {
  classify.build({-1, 256 << (options.blocks.size() - 1)});
  int64_t features = 64;
  for (size_t stage = 0; stage < options.blocks.size(); ++stage)
    for (int64_t k = 0; k < options.blocks[stage]; ++k) {
      const int64_t width = int64_t(64) << stage;
      blocks.emplace_back("layer" + std::to_string(stage + 1) + "." +
                              std::to_string(k),
                          features, width, k == 0 && stage > 0 ? 2 : 1);
      features = 4 * width;
    }
  track(this, first, blocks, classify);
}

Tensor ResNet::operator()(const Tensor &images, bool training) const {
  Tensor x = nn::relu(first(images, training));
  if (!small)
    x = max_pool(x, {3, 3}, {.strides = {2, 2}, .padding = {{1, 1}, {1, 1}}});
  for (const Block &block : blocks)
    x = block(x, training);
  return classify(reduce_mean(x, {1, 2}));
}

} // namespace resnet
