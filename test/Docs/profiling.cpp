// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs that docs/Profiling.md and docs/Contracts.md quote.
#include <meshloom/Meshloom.h>

#include <cstdio>
#include <iostream>

using namespace meshloom;

int main() {
  Mesh mesh = create_mesh({{"batch", 8}}, virtual_cpus(8));
  Tensor x = distribute(ones({64, 32}), Layout({"batch", UNSHARDED}, mesh));
  Tensor w = distribute(ones({32, 32}), Layout::replicated(mesh, 2));
  auto step = function([](const Tensor &x, const Tensor &w) {
    Tensor hidden = tanh(matmul(x, w));
    auto scope = name_scope("head");
    return reduce_sum(matmul(hidden, w), {0});
  });

  step(x, w); // compiles
  {
    auto recorded = profile("step.json");
    for (int i = 0; i < 5; ++i)
      step(x, w);
  }

  auto recorded = profile();
  step(x, w);
  for (const StepCost &cost : recorded.steps())
    if (cost.scope == "head")
      std::cout << cost.op << ' ' << cost.source << ": " << cost.seconds
                << " s, " << cost.gflops << " GFLOP/s\n";
  std::cout << recorded.table(3);
  std::remove("step.json");

  set_machine_model("ring");
  auto sums = function(
      [](const Tensor &a, const Tensor &b) {
        return reduce_sum(matmul(a, b), {0});
      },
      {.contract = Contract{{CollectiveKind::AllReduce, {"batch"}, 1, 224}}});
  sums(x, w);
}
