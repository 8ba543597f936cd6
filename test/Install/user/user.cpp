// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program of someone's first day: a sharded product, checked.
#include <meshloom/Meshloom.h>

#include <iostream>

using namespace meshloom;

int main() {
  Mesh mesh = create_mesh({{"batch", 4}}, virtual_cpus(4));
  Layout rows({"batch", UNSHARDED}, mesh), whole({UNSHARDED, UNSHARDED}, mesh);
  Tensor x = relayout(ones({8, 3}), rows);
  Tensor w = relayout(full({3, 2}, 2.f), whole);
  auto product = function([](const Tensor &a, const Tensor &b) {
    return reduce_sum(matmul(a, b));
  });
  float sum = product(x, w).item<float>();
  std::cout << matmul(x, w) << "\nsum " << sum << '\n';
  if (version() != FOUND_VERSION) {
    std::cerr << "version() is " << version() << ", CMake found "
              << FOUND_VERSION << '\n';
    return 1;
  }
  return sum == 96.f ? 0 : 1;
}
