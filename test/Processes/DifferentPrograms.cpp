// Processes that do not run the same program, in the way that the argument
// names; the last one is the one that differs. Prints what it throws, and how
// long after the first difference.
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Processes.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

using namespace meshloom;

namespace {

Tensor add(const Tensor &x) {
  return reduce_sum(x + 1.0); // the op of most
}
Tensor multiply(const Tensor &x) {
  return reduce_sum(x * 2.0); // that of the last one
}

void run(const std::string &difference) {
  const bool isOther = client_id() == num_clients() - 1;
  const Mesh mesh = create_distributed_mesh({{"batch", num_clients()}});
  const Tensor x = distribute(
      ones({8, 4}),
      Layout::batch_sharded(mesh, "batch", 2,
                            difference == "layout" && isOther ? 1 : 0));
  if (difference == "machine" && isOther)
    set_machine_model("ring");
  auto step = function(difference == "op" && isOther ? multiply : add,
                       {.name = "step"});
  if (difference == "exit" && isOther)
    std::exit(3);
  std::printf("%g\n", double(step(x).item<float>()));
}

} // namespace

int main(int, char **argv) {
  detail::waitForAll("start");
  const auto begin = std::chrono::steady_clock::now();
  try {
    run(argv[1]);
  } catch (const std::exception &error) {
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    std::cout << error.what() << "\nafter " << seconds.count() << " s"
              << std::endl;
    return 1;
  }
}
