// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Philox4x32-10 and the rng op: counter-based, so that an element's value
// depends on the seed and its global index alone.
#include "Ops.h"

#include "meshloom/Interpreter/Interpreter.h"

namespace meshloom {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t first = uint64_t(0xD2511F53) * counter[0];
    uint64_t second = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

namespace interpreter {

static Values rng(const Call &call) {
  HostValue out = call.result();
  std::array<uint32_t, 2> key{uint32_t(call[0].ints[0]),
                              uint32_t(call[0].ints[1])};
  for (int64_t i = 0; i < out.count(); ++i) {
    uint64_t block = uint64_t(i) / 4;
    out.ints[i] =
        philox4x32({uint32_t(block), uint32_t(block >> 32), 0, 0}, key)[i % 4];
  }
  return {std::move(out)};
}

void addRandomOps(OpTable &table) {
  table["dtensor.rng"] = rng;
}

} // namespace interpreter
} // namespace meshloom
