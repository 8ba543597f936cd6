// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of ops on complex numbers. Functions get operands away from their
// poles and branch cuts, where a rounding error would decide the result.
#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace meshloom::fuzz {
namespace {

DType partType(DType type) {
  return type == DType::C128 ? DType::F64 : DType::F32;
}

/// One whose parts are in [low, high], that is there or a new argument.
unsigned complexIn(Generator &g, double low, double high, int64_t leastRank) {
  if (g.chance(0.8))
    if (auto found = g.find([&](const Value &v) {
          return isComplex(v.type) && v.range.low >= low &&
                 v.range.high <= high && int64_t(v.shape.size()) >= leastRank;
        }))
      return *found;
  DType type = g.chance(0.7) ? DType::C64 : DType::C128;
  // Quarters: exact, as what the range says they are.
  double bound = std::floor(4 * std::min(high, 2.0)) / 4;
  return g.argument(type, g.shape(leastRank, 3),
                    {std::max(std::ceil(4 * low) / 4, -bound), bound, 2, 0});
}

unsigned anyComplex(Generator &g, int64_t leastRank = 0) {
  return complexIn(g, -300, 300, leastRank);
}

/// A result whose parts are at most `most`.
Range upTo(DType type, double most, double epsilon) {
  return rangeIn(type, -most, most, -1, epsilon);
}

/// A function that is smooth where both parts are in [low, high]; the parts of
/// its values are at most `most`.
struct SmoothComplex {
  const char *op;
  double low, high, most;
};
const SmoothComplex SMOOTH_COMPLEX[] = {
    {"exp", -2, 2, 8},      {"expm1", -2, 2, 9},  {"log", 0.25, 2, 2},
    {"log1p", -0.25, 2, 2}, {"sqrt", 0.25, 2, 2}, {"rsqrt", 0.25, 2, 2},
    {"tanh", -1, 1, 2},     {"tan", -1, 1, 2},    {"logistic", -2, 2, 2},
    {"sine", -2, 2, 4},     {"cosine", -2, 2, 4}, {"sign", 0.25, 2, 1}};

void addFunctions(OpMakers &makers) {
  for (const SmoothComplex &f : SMOOTH_COMPLEX)
    makers.push_back(
        {std::string(f.op) + " of complex", [&f](Generator &g) {
           unsigned x = complexIn(g, f.low, f.high, 0);
           const Value v = g[x];
           g.emitOne(std::string("dtensor.") + f.op, {x},
                     {v.type, v.shape, upTo(v.type, f.most, v.range.epsilon)});
           return true;
         }});
}

void addParts(OpMakers &makers) {
  makers.push_back(
      {"complex", [](Generator &g) {
         bool isDouble = g.chance(0.3);
         unsigned re =
             g.like(isDouble ? DType::F64 : DType::F32, g.shape(0, 3));
         unsigned im = g.like(g[re].type, g[re].shape);
         g.emitOne("dtensor.complex", {re, im},
                   {isDouble ? DType::C128 : DType::C64, g[re].shape,
                    joined(g[re].range, g[im].range)});
         return true;
       }});
  for (const char *op : {"real", "imag"})
    makers.push_back({op, [op](Generator &g) {
                        unsigned x = anyComplex(g);
                        const Value v = g[x];
                        g.emitOne(std::string("dtensor.") + op, {x},
                                  {partType(v.type), v.shape, v.range});
                        return true;
                      }});
  makers.push_back(
      {"abs of complex", [](Generator &g) {
         unsigned x = anyComplex(g);
         const Value v = g[x];
         g.emitOne("dtensor.abs", {x},
                   {partType(v.type), v.shape,
                    rangeIn(partType(v.type), 0, 1.5 * v.range.magnitude(), -1,
                            v.range.epsilon)});
         return true;
       }});
  makers.push_back({"negate of complex", [](Generator &g) {
                      unsigned x = anyComplex(g);
                      const Value v = g[x];
                      Range range = v.range;
                      range.low = -v.range.high, range.high = -v.range.low;
                      g.emitOne("dtensor.negate", {x},
                                {v.type, v.shape, range});
                      return true;
                    }});
}

void addComplexArithmetic(OpMakers &makers) {
  for (const char *op : {"add", "subtract", "multiply"})
    makers.push_back(
        {std::string(op) + " of complex", [op](Generator &g) {
           unsigned x = anyComplex(g);
           const Value v = g[x];
           unsigned y = g.like(v.type, v.shape);
           double r = v.range.magnitude(), s = g[y].range.magnitude();
           double most = std::string(op) == "multiply" ? 2 * r * s : r + s;
           if (most > 300)
             return false;
           g.emitOne(std::string("dtensor.") + op, {x, y},
                     {v.type, v.shape,
                      upTo(v.type, most, joined(v.range, g[y].range).epsilon)});
           return true;
         }});
  // The divisor, or the base, is a new argument away from 0.
  makers.push_back(
      {"divide of complex", [](Generator &g) {
         unsigned x = anyComplex(g);
         const Value v = g[x];
         unsigned y = g.argument(v.type, v.shape, {0.5, 2, 2, 0});
         g.emitOne("dtensor.divide", {x, y},
                   {v.type, v.shape,
                    upTo(v.type, 3 * v.range.magnitude(), v.range.epsilon)});
         return true;
       }});
  makers.push_back(
      {"power of complex", [](Generator &g) {
         unsigned y = complexIn(g, -2, 2, 0);
         const Value v = g[y];
         unsigned x = g.argument(v.type, v.shape, {0.5, 2, 2, 0});
         g.emitOne("dtensor.power", {x, y},
                   {v.type, v.shape, upTo(v.type, 200, v.range.epsilon)});
         return true;
       }});
  makers.push_back(
      {"compare of complex", [](Generator &g) {
         auto x = g.find([](const Value &v) {
           return isComplex(v.type) && v.range.exact();
         });
         if (!x)
           x = g.argument(DType::C64, g.shape(0, 3), {-2, 2, 1, 0});
         const Value v = g[*x];
         unsigned y = g.exactIn(v.type, v.shape, -2, 2);
         g.emitOne("dtensor.compare", {*x, y},
                   {DType::I1, v.shape, {0, 1, 0, 0}},
                   fmt::format("direction = #dtensor<comparison {}>",
                               g.chance(0.5) ? "EQ" : "NE"));
         return true;
       }});
}

void addSums(OpMakers &makers) {
  for (const char *kind : {"sum", "prod"})
    makers.push_back(
        {std::string("reduce ") + kind + " of complex", [kind](Generator &g) {
           bool isSum = std::string(kind) == "sum";
           // Numbers of which a product stays small.
           unsigned x = isSum ? anyComplex(g, 1) : complexIn(g, -0.7, 0.7, 1);
           const Value v = g[x];
           int64_t rank = int64_t(v.shape.size());
           std::vector<int64_t> dims = g.subset(rank, g.between(1, rank));
           Shape to;
           int64_t terms = 1;
           for (int64_t d = 0; d < rank; ++d)
             if (std::ranges::count(dims, d))
               terms *= v.shape[size_t(d)];
             else
               to.push_back(v.shape[size_t(d)]);
           double most = isSum ? double(terms) * v.range.magnitude() : 1;
           if (most > 600)
             return false;
           g.emitOne("dtensor.reduce", {x},
                     {v.type, to, upTo(v.type, most, v.range.epsilon)},
                     fmt::format("dimensions = {}, kind = #dtensor.kind<{}>",
                                 listText(dims), kind));
           return true;
         }});
  makers.push_back(
      {"matmul of complex", [](Generator &g) {
         unsigned x = anyComplex(g, 2);
         const Value v = g[x];
         Shape other = v.shape, to = v.shape;
         size_t last = v.shape.size() - 1;
         other[last - 1] = v.shape[last];
         to[last] = other[last] = g.extent();
         unsigned y = g.like(v.type, other);
         double most = 2 * double(v.shape[last]) * v.range.magnitude() *
                       g[y].range.magnitude();
         if (most > 600 || elementCount(to) > 3000)
           return false;
         g.emitOne("dtensor.matmul", {x, y},
                   {v.type, to,
                    upTo(v.type, most, joined(v.range, g[y].range).epsilon)});
         return true;
       }});
}

} // namespace

void addComplexMakers(OpMakers &makers) {
  addParts(makers);
  addFunctions(makers);
  addComplexArithmetic(makers);
  addSums(makers);
}

} // namespace meshloom::fuzz
