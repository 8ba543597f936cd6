// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of products and reductions. Their operands stay so small that sums of
// exact elements are exact.
#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace meshloom::fuzz {
namespace {

/// A sum of `terms` elements of `range`; nothing where it grows too large.
std::optional<Range> sumOf(DType type, const Range &range, int64_t terms) {
  double n = double(std::max<int64_t>(terms, 1));
  double low = std::min(range.low * n, 0.0),
         high = std::max(range.high * n, 0.0);
  if (isFloat(type) && std::max(-low, high) > 600)
    return std::nullopt;
  // The interpreter rounds nothing: f16 and bf16 are right to their last bits
  // only, where terms are many.
  return rangeIn(type, low, high, range.fraction, range.epsilon);
}

bool dotGeneral(Generator &g) {
  unsigned x = g.chance(0.85) ? g.anyFloat(1, 3) : g.anyInteger(1, 3);
  const Value v = g[x];
  int64_t rank = int64_t(v.shape.size());
  std::vector<int64_t> order = g.permutation(rank);
  int64_t batch = g.chance(0.3) ? 1 : 0, contract = g.between(0, 2);
  if (batch + contract > rank)
    return false;
  std::vector<int64_t> lhsBatch(order.begin(), order.begin() + batch),
      lhsContract(order.begin() + batch, order.begin() + batch + contract);
  // The other operand: batching, contracted and free dims in any order.
  std::vector<int64_t> pieces;
  for (int64_t d : lhsBatch)
    pieces.push_back(v.shape[size_t(d)]);
  for (int64_t d : lhsContract)
    pieces.push_back(v.shape[size_t(d)]);
  for (int64_t free = g.between(0, 1); free > 0; --free)
    pieces.push_back(g.extent());
  std::vector<int64_t> place = g.permutation(int64_t(pieces.size()));
  Shape other(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i)
    other[size_t(place[i])] = pieces[i];
  unsigned y = g.like(v.type, other);
  std::vector<int64_t> rhsBatch(place.begin(), place.begin() + batch),
      rhsContract(place.begin() + batch, place.begin() + batch + contract);
  Shape to;
  for (int64_t d : lhsBatch)
    to.push_back(v.shape[size_t(d)]);
  int64_t terms = 1;
  for (int64_t d : lhsContract)
    terms *= v.shape[size_t(d)];
  for (int64_t d = 0; d < rank; ++d)
    if (!std::ranges::count(lhsBatch, d) && !std::ranges::count(lhsContract, d))
      to.push_back(v.shape[size_t(d)]);
  for (int64_t d = 0; d < int64_t(other.size()); ++d)
    if (!std::ranges::count(rhsBatch, d) && !std::ranges::count(rhsContract, d))
      to.push_back(other[size_t(d)]);
  if (elementCount(to) > 3000)
    return false;
  const Range r = v.range, s = g[y].range;
  double most = r.magnitude() * s.magnitude();
  Range product{-most, most,
                r.exact() && s.exact() ? r.fraction + s.fraction : -1,
                joined(r, s).epsilon};
  const bool isHalf = v.type == DType::BF16 || v.type == DType::F16;
  const DType type = isHalf && g.chance(0.4) ? DType::F32 : v.type;
  auto range = sumOf(type, product, terms);
  if (!range)
    return false;
  g.emitOne("dtensor.dot_general", {x, y}, {type, to, *range},
            fmt::format("lhs_batching_dimensions = {}, rhs_batching_dimensions "
                        "= {}, lhs_contracting_dimensions = {}, "
                        "rhs_contracting_dimensions = {}",
                        listText(lhsBatch), listText(rhsBatch),
                        listText(lhsContract), listText(rhsContract)),
            true);
  return true;
}

bool matmul(Generator &g) {
  unsigned x = g.anyFloat(2, 3);
  const Value v = g[x];
  Shape other = v.shape, to = v.shape;
  size_t last = v.shape.size() - 1;
  other[last - 1] = v.shape[last];
  to[last] = other[last] = g.extent();
  unsigned y = g.like(v.type, other);
  double most = v.range.magnitude() * g[y].range.magnitude();
  Range both = joined(v.range, g[y].range);
  auto range = sumOf(
      v.type,
      {-most, most, both.exact() ? v.range.fraction + g[y].range.fraction : -1,
       both.epsilon},
      v.shape[last]);
  if (!range || elementCount(to) > 3000)
    return false;
  g.emitOne("dtensor.matmul", {x, y}, {v.type, to, *range}, "", true);
  return true;
}

OpMaker reduce(const std::string &kind) {
  return {"reduce " + kind, [kind](Generator &g) {
            bool bits = kind == "and" || kind == "or";
            unsigned x = bits ? g.like(g.chance(0.5) ? DType::I1 : DType::I32,
                                       g.shape(1, 3))
                         : g.chance(0.8) ? g.anyFloat(1)
                                         : g.anyInteger(1);
            Value v = g[x];
            int64_t rank = int64_t(v.shape.size());
            std::vector<int64_t> dims = g.subset(rank, g.between(1, rank));
            Shape to;
            int64_t terms = 1;
            for (int64_t d = 0; d < rank; ++d)
              if (std::ranges::count(dims, d))
                terms *= v.shape[size_t(d)];
              else
                to.push_back(v.shape[size_t(d)]);
            // The largest of nothing is infinite.
            if (terms == 0 && (kind == "max" || kind == "min"))
              return false;
            Range range = v.range;
            if (kind == "sum") {
              auto sum = sumOf(v.type, v.range, terms);
              if (!sum)
                return false;
              range = *sum;
            } else if (kind == "prod" && isFloat(v.type)) {
              x = g.into(x, 0.75, 1.25);
              v = g[x];
              if (terms > 24)
                return false;
              range =
                  rangeIn(v.type, std::pow(0.75, double(terms)),
                          std::pow(1.25, double(terms)), -1, v.range.epsilon);
            } else if (!isFloat(v.type)) {
              range = {-1e30, 1e30, 0, 0};
            }
            std::vector<unsigned> operands{x};
            std::vector<Generator::Result> results{{v.type, to, range}};
            if (kind == "sum" && g.chance(0.2)) {
              operands.push_back(x);
              results.push_back(results[0]);
            }
            g.emit("dtensor.reduce", operands, results,
                   fmt::format("dimensions = {}, kind = #dtensor.kind<{}>",
                               listText(dims), kind),
                   "", true);
            return true;
          }};
}

OpMaker argument(const char *op) {
  return {op, [op](Generator &g) {
            unsigned x = g.chance(0.7) ? g.exactFloat(1) : g.anyInteger(1);
            const Value v = g[x];
            size_t dim = size_t(g.below(int64_t(v.shape.size())));
            if (v.shape[dim] == 0)
              return false;
            Shape to = v.shape;
            to.erase(to.begin() + ptrdiff_t(dim));
            g.emitOne(std::string("dtensor.") + op, {x},
                      {g.chance(0.5) ? DType::I32 : DType::I64,
                       to,
                       {0, double(v.shape[dim] - 1), 0, 0}},
                      fmt::format("dimension = {} : i64", dim));
            return true;
          }};
}

} // namespace

void addContractionMakers(OpMakers &makers) {
  makers.push_back({"dot_general", dotGeneral});
  makers.push_back({"matmul", matmul});
  for (const char *kind : {"sum", "prod", "max", "min", "and", "or"})
    makers.push_back(reduce(kind));
  makers.push_back(argument("argmax"));
  makers.push_back(argument("argmin"));
}

} // namespace meshloom::fuzz
