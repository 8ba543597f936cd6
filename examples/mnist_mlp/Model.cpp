// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model of TensorFlow's tutorial "DTensor with Core APIs".
#include "Model.h"

#include <cmath>
#include <string>

using namespace meshloom;

namespace mnist {

Dense::Dense(int64_t in, int64_t out, int number, const Layout &layout)
    : w(call_with_layout(
            [&] {
              double limit = std::sqrt(6.0 / double(in + out));
              auto seed = static_cast<uint32_t>(20 + 2 * number);
              return random::stateless_uniform({in, out}, Seed{seed, seed + 1},
                                               -limit, limit);
            },
            layout),
        {.name = "w" + std::to_string(number)}),
      b(call_with_layout([&] { return zeros({out}); }, layout.remove({0})),
        {.name = "b" + std::to_string(number)}) {
  track(this, w, b);
}

Tensor Dense::operator()(const Tensor &x) const {
  return matmul(x, w) + b;
}

Mlp::Mlp(const std::vector<int64_t> &widths, const Mesh &mesh,
         const std::string &modelAxis) {
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    Layout layout = Layout::replicated(mesh, 2);
    if (!modelAxis.empty())
      layout = Layout::batch_sharded(mesh, modelAxis, 2, i % 2 == 0 ? 1 : 0);
    layers.emplace_back(widths[i], widths[i + 1], int(i + 1), layout);
  }
  track(this, layers);
}

Tensor Mlp::operator()(const Tensor &x) const {
  Tensor y = x;
  for (size_t i = 0; i < layers.size(); ++i) {
    y = layers[i](y);
    if (i + 1 < layers.size())
      y = nn::relu(y);
  }
  return y;
}

Metrics metrics(const Tensor &labels, const Tensor &logits) {
  Tensor losses = nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = labels, .logits = logits});
  Tensor hits = cast(equal(argmax(logits, 1, DType::I32), labels), DType::F32);
  return {reduce_mean(losses), reduce_mean(hits)};
}

} // namespace mnist
