// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The factors of reshapes, and the cuts that let them stay local.
#include "meshloom/Core/ReshapeCuts.h"

#include <algorithm>
#include <numeric>

namespace meshloom {

namespace {
/// One side of a reshape on the walk from the major end: the dim it is at, and
/// what of that dim has no factor yet (1: the walk is between dims).
struct ReshapeSide {
  const Shape &shape;
  ShardingRule::Tensor dims;
  size_t dim = 0;
  int64_t remaining = 1;

  explicit ReshapeSide(const Shape &shape) : shape(shape), dims(shape.size()) {}

  /// Goes to the next dim that has something left; false at the end.
  bool advance() {
    while (remaining == 1 && dim < shape.size())
      if ((remaining = shape[dim]) == 1)
        ++dim; // Size one: a dim without factor.
    return remaining != 1;
  }
  void take(unsigned factor, int64_t size) {
    dims[dim].push_back(factor);
    if ((remaining /= size) == 1)
      ++dim;
  }
};
} // namespace

ShardingRule reshapeRule(const Shape &fromShape, const Shape &toShape) {
  ShardingRule rule;
  auto factorOfSize = [&](int64_t size, FactorKind kind) {
    unsigned index = unsigned(rule.factors.size());
    std::string name(1, char('a' + index % 26));
    if (index >= 26)
      name += std::to_string(index / 26);
    rule.factors.push_back({name, size, kind});
    return index;
  };
  ReshapeSide from(fromShape), to(toShape);
  if (std::ranges::count(fromShape, 0) > 0) {
    for (ReshapeSide *side : {&from, &to})
      for (size_t dim = 0; dim < side->dims.size(); ++dim)
        side->dims[dim] = {factorOfSize(side->shape[dim], FactorKind::Whole)};
  } else {
    while (from.advance() && to.advance()) {
      if (int64_t common = std::gcd(from.remaining, to.remaining); common > 1) {
        unsigned factor = factorOfSize(common, FactorKind::Parallel);
        from.take(factor, common);
        to.take(factor, common);
        continue;
      }
      int64_t fromProduct = 1, toProduct = 1;
      do {
        bool behind = fromProduct <= toProduct;
        ReshapeSide &side = behind ? from : to;
        side.advance();
        (behind ? fromProduct : toProduct) *= side.remaining;
        side.take(factorOfSize(side.remaining, FactorKind::Whole),
                  side.remaining);
      } while (fromProduct != toProduct);
    }
  }
  rule.operands = {std::move(from.dims)};
  rule.results = {std::move(to.dims)};
  rule.partialFlow = PartialFlow::Movement;
  return rule;
}

void ReshapeCuts::addReshape(const Shape &from, const Shape &to) {
  ShardingRule rule = reshapeRule(from, to);
  auto add = [&](const ShardingRule::Tensor &tensor, const Shape &shape,
                 const ShardingRule::Tensor &other, const Shape &otherShape) {
    auto beginsOf = [&](unsigned factor) {
      for (size_t dim = 0; dim < other.size(); ++dim)
        if (!other[dim].empty() && other[dim].front() == factor)
          return otherShape[dim];
      return int64_t(0);
    };
    for (size_t dim = 0; dim < tensor.size(); ++dim) {
      std::vector<Digit> digits;
      for (unsigned factor : tensor[dim])
        if (rule.factors[factor].kind == FactorKind::Parallel)
          digits.push_back({rule.factors[factor].size,
                            factor == tensor[dim].back(), beginsOf(factor)});
        else
          break;
      // A dim of one factor, the major one of a larger dim, hands its axes on.
      const bool handsOn = digits.size() == 1 && digits[0].begins > shape[dim];
      if (!digits.empty() && (tensor[dim].size() > 1 || handsOn))
        splits[shape[dim]].insert(std::move(digits));
    }
  };
  add(rule.operands[0], from, rule.results[0], to);
  add(rule.results[0], to, rule.operands[0], from);
}

void ReshapeCuts::addDim(int64_t extent, std::vector<AxisPart> parts) {
  if (!parts.empty())
    dims.emplace(extent, std::move(parts));
}

std::set<AxisPart> ReshapeCuts::find() const {
  std::set<AxisPart> cuts;
  auto initial = dims;
  std::vector<std::pair<int64_t, std::vector<AxisPart>>> queue(initial.begin(),
                                                               initial.end());
  while (!queue.empty()) {
    auto [extent, parts] = std::move(queue.back());
    queue.pop_back();
    auto found = splits.find(extent);
    if (found == splits.end())
      continue;
    for (const std::vector<Digit> &digits : found->second) {
      std::vector<AxisPart> minorParts(parts.rbegin(), parts.rend());
      for (const Digit &digit : digits) {
        std::vector<AxisPart> taken;
        int64_t remaining = digit.size;
        if (digit.isMinor) {
          taken.assign(minorParts.rbegin(), minorParts.rend());
          minorParts.clear();
        }
        while (remaining > 1 && !minorParts.empty()) {
          AxisPart &next = minorParts.back();
          int64_t fits = std::gcd(remaining, next.size);
          if (fits == 1)
            break;
          taken.push_back({next.axis, next.before, fits});
          remaining /= fits;
          if (fits == next.size) {
            minorParts.pop_back();
            continue;
          }
          cuts.insert(taken.back());
          next.before *= fits;
          next.size /= fits;
        }
        if (!taken.empty() && digit.begins != 0)
          if (auto [entry, isNew] =
                  initial.emplace(digit.begins, std::move(taken));
              isNew)
            queue.push_back(*entry);
        if (remaining > 1)
          break;
      }
    }
  }
  return cuts;
}

} // namespace meshloom
