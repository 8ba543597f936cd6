// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Weights.h.
#include "Weights.h"

using namespace meshloom;

namespace example {

DVariable normalWeight(const std::string &name, const Shape &shape,
                       const Layout &layout, double deviation) {
  uint32_t seed = 0;
  for (char letter : name)
    seed = seed * 31 + static_cast<uint8_t>(letter);
  auto fill = [&] {
    return random::stateless_normal(shape, Seed{seed, 0}, 0, deviation);
  };
  return DVariable(call_with_layout(fill, layout),
                   {.name = name, .trainable = true, .layout = std::nullopt});
}

DVariable constantWeight(const std::string &name, const Shape &shape,
                         double value, const Layout &layout) {
  return DVariable(call_with_layout([&] { return full(shape, value); }, layout),
                   {.name = name, .trainable = true, .layout = std::nullopt});
}

} // namespace example
