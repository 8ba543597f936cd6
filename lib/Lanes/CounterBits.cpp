// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Philox of dtensor ops, see CounterBits.h.
#include "meshloom/Lanes/CounterBits.h"

using namespace meshloom;
using namespace meshloom::lanes;

Quad lanes::philox(Words &w, Quad x, Pair key) {
  for (unsigned round = 0; round < 10; ++round) {
    if (round)
      key = {w.add(key[0], w.constant(0x9E3779B9, w.word)),
             w.add(key[1], w.constant(0xBB67AE85, w.word))};
    auto product = [&](uint64_t factor, Value by) {
      return w.split(
          w.multiply(w.constant(factor, w.wide), w.b.convert(by, w.wide)));
    };
    auto [low0, high0] = product(0xD2511F53, x[0]);
    auto [low1, high1] = product(0xCD9E8D57, x[2]);
    x = {w.exclusiveOr(w.exclusiveOr(high1, x[1]), key[0]), low1,
         w.exclusiveOr(w.exclusiveOr(high0, x[3]), key[1]), low0};
  }
  return x;
}

Value lanes::randomBits(LaneBuilder &b, ArrayRef<int64_t> shape, Value seed) {
  Words w{b, SmallVector<int64_t>(shape)};
  auto keyWord = [&](int64_t i) {
    return b.broadcast(b.reshape(b.sliceDim(seed, 0, i, i + 1), {}), shape);
  };
  Value index = w.index(-1);
  auto [low, high] = w.split(w.shiftRight(index, 2));
  Value zero = w.constant(0, w.word);
  Quad words = philox(w, {low, high, zero, zero}, {keyWord(0), keyWord(1)});
  Value place = b.apply<dtensor::AndOp>({index, b.like(index, 3)});
  auto isAt = [&](unsigned i) {
    return b.compare(dtensor::ComparisonDirection::EQ, place, b.like(place, i));
  };
  return b.select(
      isAt(0), words[0],
      b.select(isAt(1), words[1], b.select(isAt(2), words[2], words[3])));
}
