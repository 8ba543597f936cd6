// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The snippets of docs/ShardMap.md.
#include <meshloom/Meshloom.h>

#include <cmath>
#include <iostream>

using namespace meshloom;

static int failures = 0;
static void expect(const Tensor &difference, const char *name) {
  float most = reduce_max(abs(difference)).item<float>();
  if (most > 1e-4f) {
    std::cerr << name << " is off by " << most << "\n";
    ++failures;
  }
}

int main() {
  Tensor xs = random::stateless_normal({5, 3}, Seed{1, 2});
  Tensor labels = random::stateless_normal({5, 1}, Seed{3, 4});
  Tensor w = random::stateless_normal({3, 1}, Seed{5, 6});

  // The gradient of each example's loss, [5, 3, 1].
  auto gradient = [&](const Tensor &x, const Tensor &label, const Tensor &w) {
    GradientTape tape;
    Tensor loss = reduce_sum(square(matmul(expand_dims(x, 0), w) - label));
    return tape.gradient(loss, w);
  };
  Tensor gradients = vmap(gradient, {0, 0, std::nullopt})(xs, labels, w);
  Tensor error = matmul(xs, w) - labels;
  expect(reduce_sum(gradients, 0) - 2 * matmul(transpose(xs), error),
         "gradients");

  // Each goes on as long as it has to.
  auto root = [](const Tensor &a) {
    return while_loop(
        [&](const Tensor &x) { return greater(abs(x * x - a), 1e-4f); },
        [&](const Tensor &x) { return (x + a / x) / 2; }, a + 1);
  };
  Tensor roots = vmap(root)(tensor({1.f, 4.f, 100.f}));
  expect(roots - tensor({1.f, 2.f, 10.f}), "roots");

  // A layer of Megatron-LM: columns of w1 and rows of w2 on the axis "model".
  Mesh mesh = create_mesh({{"batch", 2}, {"model", 4}}, virtual_cpus(8));
  Layout rows({"batch", UNSHARDED}, mesh);
  auto mlp = shard_map(
      [](const Tensor &x, const Tensor &w1, const Tensor &w2) {
        return psum(matmul(tanh(matmul(x, w1)), w2), "model");
      },
      mesh, {rows, {{UNSHARDED, "model"}, mesh}, {{"model", UNSHARDED}, mesh}},
      {rows});
  Tensor x = random::stateless_normal({4, 8}, Seed{7, 8});
  Tensor w1 = random::stateless_normal({8, 16}, Seed{9, 10});
  Tensor w2 = random::stateless_normal({16, 8}, Seed{11, 12});
  expect(mlp(x, w1, w2) - matmul(tanh(matmul(x, w1)), w2), "mlp");

  // A sum by a ring: what each device has goes around.
  auto ring = [](const Tensor &x) {
    Tensor sum = x, moving = x;
    for (int step = 1; step < 4; ++step) {
      moving = ppermute(moving, "model", {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
      sum = sum + moving;
    }
    return sum;
  };
  Layout cut({"model", UNSHARDED}, mesh), whole({UNSHARDED, UNSHARDED}, mesh);
  Tensor summed = shard_map(ring, mesh, {cut}, {whole})(x);
  expect(summed[0] - reduce_sum(x, 0), "ring");

  // Ulysses: sequences cut become heads cut, and whole sequences.
  auto swap = shard_map(
      [](const Tensor &q) { return all_to_all(q, "model", 1, 0, true); }, mesh,
      {{{"model", UNSHARDED, UNSHARDED}, mesh}},
      {{{UNSHARDED, "model", UNSHARDED}, mesh}});
  Tensor q = random::stateless_normal({8, 4, 2}, Seed{13, 14});
  expect(swap(q) - q, "all_to_all");
  return failures;
}
