// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The README's program: a model written once against global tensors, trained on
// 8 virtual CPUs, and what the compiler did with it.
#include <meshloom/Meshloom.h>

#include <algorithm>
#include <iostream>

using namespace meshloom;

int main() {
  // Four devices share the rows of the batch, two the columns of the weight.
  Mesh mesh = create_mesh({{"batch", 4}, {"model", 2}}, virtual_cpus(8));
  Layout rows({"batch", UNSHARDED}, mesh), columns({UNSHARDED, "model"}, mesh);

  Tensor x = call_with_layout(
      [] { return random::stateless_normal({64, 16}, Seed{1, 2}); }, rows);
  Tensor y = reduce_sum(x * x, 1, true);
  DVariable w(call_with_layout([] { return zeros({16, 6}); }, columns),
              {.name = "w"});
  DVariable v(relayout(full({6, 1}, 0.1), Layout::replicated(mesh, 2)),
              {.name = "v"});
  w.assign(random::stateless_normal({16, 6}, Seed{3, 4}, 0, 0.3));

  optimizers::Adam adam(0.05);
  auto step = function(
      [&](const Tensor &x, const Tensor &y) {
        GradientTape tape;
        Tensor error = matmul(square(matmul(x, w)), v) - y;
        Tensor loss = reduce_mean(error * error);
        adam.apply_gradients(tape.gradient(loss, {w, v}));
        return loss;
      },
      {.arguments = {"x", "y"}});

  for (int i = 0; i <= 100; ++i)
    if (Tensor loss = step(x, y); i % 25 == 0)
      std::cout << "step " << i << ": loss " << loss.item<float>() << '\n';
  ConcreteFunction compiled = step.get_concrete_function(x, y);
  auto adding = std::ranges::count(
      compiled.collectives(), CollectiveKind::AllReduce, &CollectiveInfo::kind);
  std::cout << visualize(w.read_value())
            << "The step as 8 separate devices would run it:\n"
            << compiled.collectives("ring")
            << "These 8 share memory: " << compiled.collectives().size()
            << " collectives there, " << adding
            << " of which add up; the others are views.\n";
}
