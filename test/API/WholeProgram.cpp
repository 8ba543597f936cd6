// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A whole program as a user writes it, with its own formatting: it compiles
// against the public headers with clang-19 and g++-12 (api_headers_*), and
// runs.
#include "meshloom/Meshloom.h"

using namespace meshloom;

namespace {

struct Dense : Module {
  DVariable w, b;
  Dense(int64_t in, int64_t out, const Layout &layout)
      : w(call_with_layout(
            [&] {
              float limit = std::sqrt(6.f / float(in + out));
              return random::stateless_uniform({in, out}, Seed{22, 23}, -limit,
                                               limit);
            },
            layout)),
        b(call_with_layout([&] { return zeros({out}); }, layout.remove({0}))) {
    track(w, b);
  }
  Tensor operator()(const Tensor &x) const { return matmul(x, w) + b; }
};

} // namespace

/// Trains for two steps; returns whether the loss fell.
bool runWholeProgram() {
  Mesh mesh = create_mesh({{"batch", 8}}, virtual_cpus(8));
  Layout replicated({UNSHARDED, UNSHARDED}, mesh),
      rows({"batch", UNSHARDED}, mesh);
  Dense model(12, 10, replicated);
  optimizers::Adam adam(1e-2);
  auto trainStep = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = y, .logits = model(x)}));
    adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss;
  });
  Tensor x = distribute(random::stateless_uniform({16, 12}, Seed{1, 2}), rows);
  Tensor y =
      distribute(range(16) - range(16) / 10 * 10, Layout({"batch"}, mesh));
  float first = trainStep(x, y).item<float>();
  return trainStep(x, y).item<float>() < first;
}
