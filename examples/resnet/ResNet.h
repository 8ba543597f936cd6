// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ResNet (He, Zhang, Ren and Sun, 2015) with bottlenecks, its strides in the
// 3x3 convolutions as in torchvision, whose names its variables have:
// "layer1.0.conv1/kernel", "layer1.0.bn1/gamma".
#pragma once

#include "meshloom/Meshloom.h"

#include <string>
#include <vector>

namespace resnet {

using namespace meshloom;

struct Options {
  std::vector<int64_t> blocks = {3, 4, 6, 3}; ///< of each stage; ResNet-50
  int64_t classes = 1000;
  /// For images of about 32x32: the first convolution is 3x3 with a stride of
  /// 1, and there is no pooling after it.
  bool small = false;
};

/// A convolution and its batch norm.
struct Unit : Module {
  layers::Conv2D conv;
  layers::BatchNormalization norm;
  int64_t border; ///< zeros around x; 0: the convolution pads by itself
  Unit(const std::string &conv, const std::string &norm, int64_t window,
       int64_t in, int64_t out, int64_t stride = 1);
  Tensor operator()(const Tensor &x, bool training) const;
};

/// x + three convolutions of x: 1x1 to fewer features, 3x3, 1x1 to four times
/// as many.
struct Block : Module {
  Unit reduce, convolve, expand;
  std::vector<Unit> shortcut; ///< one, where x changes its shape
  Block(const std::string &name, int64_t in, int64_t width, int64_t stride);
  Tensor operator()(const Tensor &x, bool training) const;
};

struct ResNet : Module {
  Unit first;
  std::vector<Block> blocks;
  layers::Dense classify;
  explicit ResNet(const Options &options = {});
  /// x [batch, height, width, 3] -> logits [batch, classes].
  Tensor operator()(const Tensor &x, bool training) const;

private:
  bool small;
};

} // namespace resnet
