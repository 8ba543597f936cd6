// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that several tests of layers, losses and metrics compare with Keras
// on.
#pragma once

#include "../API/Testing.h"

namespace meshloom {

inline Tensor probabilities() {
  return tensor({{0.1f, 0.7f, 0.2f}, {0.3f, 0.3f, 0.4f}});
}
inline Tensor logits() {
  return tensor({{-1.5f, 2.f, 0.3f}, {0.6f, -0.4f, 1.1f}});
}
inline Tensor oneHot() {
  return tensor({{0.f, 1.f, 0.f}, {0.f, 0.f, 1.f}});
}
inline Tensor classes() {
  return tensor({1, 2});
}
inline Tensor weights() {
  return tensor({0.5f, 2.f});
}

inline Tensor waves(const Shape &shape, double shift) {
  return meshloom::sin(reshape(
             arange(double(elementCount(shape))) * 0.7 + shift, shape)) *
         0.5;
}

} // namespace meshloom
