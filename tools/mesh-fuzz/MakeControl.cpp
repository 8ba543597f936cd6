// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of loops and branches, nested up to twice.
#include "Generator.h"

#include <fmt/format.h>

namespace meshloom::fuzz {
namespace {

/// A value of `like`'s type and shape with elements in [-2, 2], made by some
/// random ops; `like` itself may be used.
unsigned someOps(Generator &g, unsigned like, int64_t ops) {
  g.makeOps(ops, opMakers());
  const Value v = g[like];
  unsigned result = like;
  if (auto found = g.find([&](const Value &other) {
        return other.type == v.type && other.shape == v.shape;
      }))
    result = *found;
  if (result == like)
    result = g.emitOne(
        "dtensor.sine", {like},
        {v.type, v.shape, rangeIn(v.type, -1, 1, -1, v.range.epsilon)}, "",
        true);
  return g.into(result, -2, 2);
}

/// A loop of JAX's scan form: a counter from 0 to a constant, and a state.
bool loop(Generator &g) {
  if (g.depth() >= 2)
    return false;
  unsigned init = g.into(g.anyFloat(0, 3), -2, 2);
  const Value v = g[init];
  Range range = rangeIn(v.type, -2, 2, -1, v.range.epsilon);
  unsigned zero = g.splat(DType::I32, {}, 0);
  std::vector<Generator::Result> carries{{DType::I32, {}, {0, 4, 0, 0}},
                                         {v.type, v.shape, range}};
  carries[1].differentiable = v.differentiable;
  Block condition = g.inBlock(
      [&](std::vector<unsigned> arguments) {
        unsigned limit = g.splat(DType::I32, {}, double(g.between(0, 4)));
        return std::vector<unsigned>{
            g.emitOne("dtensor.compare", {arguments[0], limit},
                      {DType::I1, {}, {0, 1, 0, 0}},
                      "direction = #dtensor<comparison LT>")};
      },
      carries);
  bool differentiable = false;
  Block body = g.inBlock(
      [&](std::vector<unsigned> arguments) {
        unsigned next = someOps(g, arguments[1], g.between(1, 3));
        differentiable = v.differentiable && g[next].differentiable;
        unsigned one = g.splat(DType::I32, {}, 1);
        unsigned counter = g.emitOne("dtensor.add", {arguments[0], one},
                                     {DType::I32, {}, {0, 5, 0, 0}});
        return std::vector<unsigned>{counter, next};
      },
      carries);
  carries[1].differentiable = false;
  g.emit("dtensor.while", {zero, init}, carries, "", "", differentiable,
         {condition, body});
  return true;
}

bool branch(Generator &g) {
  if (g.depth() >= 2)
    return false;
  unsigned index = g.exactIn(DType::I32, {}, -1, 3);
  unsigned x = g.into(g.anyFloat(0, 3), -2, 2);
  const Value v = g[x];
  std::vector<Block> blocks;
  double epsilon = 0;
  bool differentiable = true;
  for (int64_t arms = g.between(1, 3); arms > 0; --arms)
    blocks.push_back(g.inBlock(
        [&](std::vector<unsigned>) {
          unsigned value = someOps(g, x, g.between(0, 3));
          epsilon = std::max(epsilon, g[value].range.epsilon);
          differentiable &= g[value].differentiable;
          return std::vector<unsigned>{value};
        },
        {}));
  unsigned result =
      g.emitOne("dtensor.case", {index},
                {v.type, v.shape, rangeIn(v.type, -2, 2, -1, epsilon)}, "",
                false, "", std::move(blocks));
  if (differentiable)
    g.setDifferentiable(result);
  return true;
}

} // namespace

void addControlMakers(OpMakers &makers) {
  makers.push_back({"while", loop});
  makers.push_back({"case", branch});
}

} // namespace meshloom::fuzz
