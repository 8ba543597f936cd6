// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library that computes with Meshloom and leaves work behind, for
// ExitTest.cpp.
#include "meshloom/Meshloom.h"

extern "C" void launchWork() {
  using namespace meshloom;
  const Tensor x = random::stateless_normal({100, 100}, Seed{1, 1}, 0, 0.03F);
  auto f = function([](const Tensor &x) {
    Tensor y = x;
    for (int i = 0; i < 8; ++i)
      y = tanh(matmul(y, x));
    return y;
  });
  for (int i = 0; i < 10; ++i)
    f(x);
}
