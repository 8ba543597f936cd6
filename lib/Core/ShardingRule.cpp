// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generic algorithm: from a rule and some layouts to how the op runs, and
// from how it runs to all layouts.
#include "Contains.h"

#include "meshloom/Core/ShardingRule.h"

#include <algorithm>
#include <cassert>

namespace meshloom {

namespace {
bool isUsed(const FactorSharding &sharding, unsigned axis) {
  return std::any_of(sharding.axes.begin(), sharding.axes.end(),
                     [&](const auto &axes) { return contains(axes, axis); });
}

/// Returns whether a dim of the rule has several factors.
bool hasCompounds(const ShardingRule &rule) {
  auto in = [](const ShardingRule::Tensor &tensor) {
    return std::any_of(tensor.begin(), tensor.end(),
                       [](const auto &dim) { return dim.size() > 1; });
  };
  return std::any_of(rule.operands.begin(), rule.operands.end(), in) ||
         std::any_of(rule.results.begin(), rule.results.end(), in);
}

int64_t shardsOver(std::span<const unsigned> axes, const Mesh &mesh) {
  int64_t shards = 1;
  for (unsigned axis : axes)
    shards *= mesh.axis_size(axis);
  return shards;
}

/// The factors of a dim that can be sharded: those of a size other than one, or
/// the first where all are of size one.
std::vector<unsigned> factorsOf(const ShardingRule &rule,
                                const ShardingRule::Dim &dim) {
  std::vector<unsigned> factors;
  for (unsigned f : dim)
    if (rule.factors[f].size != 1)
      factors.push_back(f);
  if (factors.empty() && !dim.empty())
    factors.push_back(dim.front());
  return factors;
}

/// Returns whether a compound dim's blocks are blocks of each of its factors.
/// `axesOf`: the axes of a factor.
template <typename AxesOf>
bool nests(const ShardingRule &rule, const ShardingRule::Dim &dim,
           const Mesh &mesh, AxesOf axesOf) {
  std::vector<unsigned> factors = factorsOf(rule, dim);
  for (unsigned f : dim)
    if (!contains(factors, f) && !axesOf(f).empty())
      return false;
  bool mayFollow = true;
  for (size_t i = 0; i < factors.size(); ++i) {
    const Factor &factor = rule.factors[factors[i]];
    std::span<const unsigned> axes = axesOf(factors[i]);
    if (!axes.empty() && !mayFollow)
      return false;
    int64_t shards = shardsOver(axes, mesh);
    if (i + 1 < factors.size() && factor.size % shards != 0)
      return false;
    mayFollow &= shards == factor.size && factor.kind == FactorKind::Parallel;
  }
  return true;
}

Layout build(const ShardingRule::Tensor &dims, const FactorSharding &sharding,
             std::vector<Partial> partial, const Mesh &mesh) {
  Layout::DimAxes axes(dims.size());
  for (size_t d = 0; d < dims.size(); ++d)
    for (unsigned f : dims[d])
      axes[d].insert(axes[d].end(), sharding.axes[f].begin(),
                     sharding.axes[f].end());
  Result<Layout> layout =
      Layout::get(mesh, std::move(axes), std::move(partial));
  assert(layout && "an OpSharding uses each axis once");
  return *layout;
}

/// Returns whether the flow lets pending reductions of `kind` through.
bool flowPasses(const ShardingRule &rule, ReduceKind kind) {
  switch (rule.partialFlow) {
  case PartialFlow::None:
    return false;
  case PartialFlow::LinearJoint:
  case PartialFlow::LinearEach:
    return kind == rule.reduceKind;
  case PartialFlow::Movement:
    return true;
  }
  return false;
}

bool isPartialOver(const Layout &layout, Partial pending) {
  return std::find(layout.partial().begin(), layout.partial().end(), pending) !=
         layout.partial().end();
}
} // namespace

bool canShard(const ShardingRule &rule, const FactorSharding &others,
              unsigned factor, std::span<const unsigned> axes,
              const Mesh &mesh) {
  if (axes.empty())
    return true;
  if (rule.factors[factor].kind == FactorKind::Whole)
    return false;
  auto axesOf = [&](unsigned f) {
    return f == factor ? axes : std::span<const unsigned>(others.axes[f]);
  };
  auto allowedIn = [&](const ShardingRule::Tensor &dims) {
    return std::all_of(dims.begin(), dims.end(), [&](const auto &dim) {
      return dim.size() < 2 || !contains(dim, factor) ||
             nests(rule, dim, mesh, axesOf);
    });
  };
  return std::all_of(rule.operands.begin(), rule.operands.end(), allowedIn) &&
         std::all_of(rule.results.begin(), rule.results.end(), allowedIn);
}

bool canRun(const ShardingRule &rule, const FactorSharding &sharding,
            const Mesh &mesh) {
  for (unsigned f = 0; f < rule.factors.size(); ++f)
    if (!canShard(rule, sharding, f, sharding.axes[f], mesh))
      return false;
  return true;
}

Layout operandLayout(const ShardingRule &rule, unsigned index,
                     const OpSharding &sharding, const Mesh &mesh) {
  bool carries = rule.partialFlow == PartialFlow::LinearEach
                     ? index == sharding.carrier
                     : rule.isCarrier(index);
  return build(rule.operands[index], sharding.factors,
               carries ? sharding.passed : std::vector<Partial>(), mesh);
}

Interval ShardingRule::Window::map(Interval range, int64_t extent) const {
  Interval read;
  if (range.empty() || extent == 0)
    return read;
  if (!sources.empty()) {
    for (int64_t i = range.begin; i < range.end; ++i)
      if (sources[size_t(i)] >= 0)
        read = read.hull({sources[size_t(i)], sources[size_t(i)] + 1});
    return read;
  }
  auto floorDiv = [&](__int128 value) {
    __int128 quotient = value / divisor;
    return quotient - (value % divisor < 0);
  };
  __int128 first = scale, last = scale;
  first *= scale < 0 ? range.end - 1 : range.begin;
  last *= scale < 0 ? range.begin : range.end - 1;
  auto clip = [&](__int128 value) {
    return int64_t(std::clamp<__int128>(value, 0, extent));
  };
  read = {clip(floorDiv(first + low)), clip(floorDiv(last + high) + 1)};
  return read.empty() ? Interval() : read;
}

const ShardingRule::Window *ShardingRule::windowOf(unsigned operand,
                                                   unsigned dim) const {
  for (const Window &window : windows)
    if (window.operand == operand && window.dim == dim)
      return &window;
  return nullptr;
}

Windows operandWindows(const ShardingRule &rule, unsigned index,
                       const OpSharding &sharding, const Shape &shape,
                       const Mesh &mesh) {
  Windows windows;
  for (const ShardingRule::Window &window : rule.windows) {
    if (window.operand != index)
      continue;
    const std::vector<unsigned> &axes = sharding.factors.axes[window.factor];
    if (axes.empty())
      continue;
    windows.resize(shape.size());
    int64_t shards = 1;
    for (unsigned axis : axes)
      shards *= mesh.axis_size(axis);
    const int64_t size = rule.factors[window.factor].size;
    // Several windows of one dim: what lies between them is read, too.
    std::vector<Interval> &held = windows[window.dim];
    held.resize(size_t(shards));
    for (int64_t shard = 0; shard < shards; ++shard)
      held[size_t(shard)] = held[size_t(shard)].hull(
          window.map(blockOf(size, axes, mesh, shard), shape[window.dim]));
  }
  return windows;
}

Layout resultLayout(const ShardingRule &rule, unsigned index,
                    const OpSharding &sharding, const Mesh &mesh) {
  std::vector<Partial> partial = sharding.passed;
  for (size_t f = 0; f < rule.factors.size(); ++f)
    if (rule.factors[f].kind == FactorKind::Reduced)
      for (unsigned axis : sharding.factors.axes[f])
        partial.push_back({axis, rule.reduceKind});
  return build(rule.results[index], sharding.factors, std::move(partial), mesh);
}

FactorSharding project(const ShardingRule &rule,
                       const ShardingRule::Tensor &dims, const Layout &layout) {
  assert(dims.size() == layout.rank() && "the layout of another tensor");
  const Mesh &mesh = layout.mesh();
  FactorSharding wish = FactorSharding::none(rule);
  for (unsigned d = 0; d < dims.size(); ++d) {
    std::span<const unsigned> axes = layout.axes(d);
    if (axes.empty())
      continue;
    if (dims[d].size() == 1) {
      if (unsigned f = dims[d][0]; rule.factors[f].kind != FactorKind::Whole)
        wish.axes[f].assign(axes.begin(), axes.end());
      continue;
    }
    std::vector<unsigned> factors = factorsOf(rule, dims[d]);
    for (size_t i = 0; i < factors.size() && !axes.empty(); ++i) {
      const Factor &factor = rule.factors[factors[i]];
      if (factor.kind == FactorKind::Whole)
        break;
      size_t count = axes.size();
      if (i + 1 < factors.size())
        while (factor.size % shardsOver(axes.first(count), mesh) != 0)
          --count;
      wish.axes[factors[i]].assign(axes.begin(), axes.begin() + count);
      if (shardsOver(axes.first(count), mesh) != factor.size)
        break;
      axes = axes.subspan(count);
    }
  }
  if (!hasCompounds(rule))
    return wish;
  // A sharding that this tensor leaves open may conflict with the other
  // tensors.
  FactorSharding allowed = FactorSharding::none(rule);
  merge(rule, allowed, wish, mesh);
  return allowed;
}

/// One round of merge.
static bool extend(const ShardingRule &rule, FactorSharding &sharding,
                   const FactorSharding &wish, const Mesh &mesh) {
  bool changed = false;
  for (unsigned f = 0; f < rule.factors.size(); ++f) {
    const std::vector<unsigned> &wished = wish.axes[f];
    size_t has = sharding.axes[f].size();
    if (wished.size() <= has ||
        !std::equal(sharding.axes[f].begin(), sharding.axes[f].end(),
                    wished.begin()))
      continue;
    std::span<const unsigned> axes(wished);
    size_t end = has;
    while (end < axes.size() && !isUsed(sharding, axes[end]) &&
           !contains(axes.first(end), axes[end]))
      ++end;
    while (end > has && !canShard(rule, sharding, f, axes.first(end), mesh))
      --end;
    changed |= end > has;
    sharding.axes[f].assign(axes.begin(), axes.begin() + end);
  }
  return changed;
}

bool merge(const ShardingRule &rule, FactorSharding &sharding,
           const FactorSharding &wish, const Mesh &mesh) {
  if (!extend(rule, sharding, wish, mesh))
    return false;
  // A factor may wait for the axes that another one of its dim has got by now.
  if (hasCompounds(rule))
    while (extend(rule, sharding, wish, mesh))
      ;
  return true;
}

OpSharding passPartial(const ShardingRule &rule,
                       std::span<const Layout> operands,
                       FactorSharding factors) {
  assert(operands.size() == rule.operands.size() && "one layout per operand");
  OpSharding sharding{std::move(factors), {}, 0};
  bool reduces = false;
  for (size_t f = 0; f < rule.factors.size(); ++f)
    reduces |= rule.factors[f].kind == FactorKind::Reduced &&
               !sharding.factors.axes[f].empty();
  auto passes = [&](Partial pending) {
    return flowPasses(rule, pending.kind) &&
           !isUsed(sharding.factors, pending.axis) &&
           (!reduces || pending.kind == rule.reduceKind);
  };

  bool isEach = rule.partialFlow == PartialFlow::LinearEach;
  bool first = true;
  for (unsigned i = 0; i < operands.size(); ++i) {
    if (!rule.isCarrier(i))
      continue;
    std::vector<Partial> passed;
    for (Partial pending : operands[i].partial())
      if (passes(pending))
        passed.push_back(pending);
    if (isEach) {
      if (passed.size() > sharding.passed.size()) {
        sharding.passed = std::move(passed);
        sharding.carrier = i;
      }
    } else if (first) {
      sharding.passed = std::move(passed);
    } else {
      std::erase_if(sharding.passed, [&](Partial pending) {
        return !isPartialOver(operands[i], pending);
      });
    }
    first = false;
  }
  return sharding;
}

namespace {
/// The axes that results are partial over and steps 1 to 4 of opSharding have
/// not yet explained.
class PendingAxes {
public:
  PendingAxes(const ShardingRule &rule, std::span<const Layout> operands,
              std::span<const Layout> results, OpSharding &sharding)
      : rule(rule), operands(operands), sharding(sharding) {
    for (const Layout &result : results)
      for (Partial pending : result.partial())
        if (!isUsed(sharding.factors, pending.axis) &&
            std::find(unexplained.begin(), unexplained.end(), pending) ==
                unexplained.end())
          unexplained.push_back(pending);
    std::sort(unexplained.begin(), unexplained.end());
  }

  /// Step 2.
  void takeReducedAxesOfOperands(const Mesh &mesh) {
    while (!unexplained.empty()) {
      unsigned best = 0;
      std::vector<unsigned> bestAxes;
      for (size_t i = 0; i < operands.size(); ++i) {
        FactorSharding shown = project(rule, rule.operands[i], operands[i]);
        for (unsigned f = 0; f < rule.factors.size(); ++f) {
          if (rule.factors[f].kind != FactorKind::Reduced ||
              !sharding.factors.axes[f].empty())
            continue;
          std::vector<unsigned> axes;
          for (unsigned axis : shown.axes[f])
            if (isLeft(axis))
              axes.push_back(axis);
          if (axes.size() > bestAxes.size() &&
              canShard(rule, sharding.factors, f, axes, mesh)) {
            best = f;
            bestAxes = std::move(axes);
          }
        }
      }
      if (bestAxes.empty())
        return;
      for (unsigned axis : bestAxes)
        take(axis);
      sharding.factors.axes[best] = std::move(bestAxes);
    }
  }

  /// Step 3.
  void passFromOperands() {
    auto carriedBy = [&](unsigned operand) {
      std::vector<Partial> carried;
      for (Partial pending : unexplained)
        if (rule.isCarrier(operand) && flowPasses(rule, pending.kind) &&
            isPartialOver(operands[operand], pending))
          carried.push_back(pending);
      return carried;
    };
    for (unsigned i = 0; i < operands.size(); ++i) {
      std::vector<Partial> carried = carriedBy(i);
      if (rule.partialFlow != PartialFlow::LinearEach) {
        for (Partial pending : carried) {
          sharding.passed.push_back(pending);
          take(pending.axis);
        }
      } else if (carried.size() > sharding.passed.size()) {
        sharding.passed = std::move(carried);
        sharding.carrier = i;
      }
    }
    for (Partial pending : sharding.passed)
      take(pending.axis);
    std::sort(sharding.passed.begin(), sharding.passed.end());
  }

  /// Step 4.
  void placeOnReducedFactors(const Mesh &mesh) {
    for (Partial pending : unexplained) {
      if (pending.kind != rule.reduceKind)
        continue;
      for (unsigned f = 0; f < rule.factors.size(); ++f) {
        if (rule.factors[f].kind != FactorKind::Reduced)
          continue;
        std::vector<unsigned> axes = sharding.factors.axes[f];
        axes.push_back(pending.axis);
        if (!canShard(rule, sharding.factors, f, axes, mesh))
          continue;
        sharding.factors.axes[f] = std::move(axes);
        break;
      }
    }
  }

private:
  bool isLeft(unsigned axis) const {
    return std::any_of(
        unexplained.begin(), unexplained.end(), [&](Partial pending) {
          return pending.axis == axis && pending.kind == rule.reduceKind;
        });
  }
  void take(unsigned axis) {
    std::erase_if(unexplained,
                  [&](Partial pending) { return pending.axis == axis; });
  }

  const ShardingRule &rule;
  std::span<const Layout> operands;
  OpSharding &sharding;
  std::vector<Partial> unexplained;
};
} // namespace

OpSharding opSharding(const ShardingRule &rule,
                      std::span<const Layout> operands,
                      std::span<const Layout> results) {
  assert(operands.size() == rule.operands.size() &&
         results.size() == rule.results.size() && !results.empty() &&
         "one layout per operand and result");
  const Mesh &mesh = results[0].mesh();
  OpSharding sharding{FactorSharding::none(rule), {}, 0};
  for (size_t r = 0; r < results.size(); ++r)
    merge(rule, sharding.factors, project(rule, rule.results[r], results[r]),
          mesh);
  PendingAxes pending(rule, operands, results, sharding);
  pending.takeReducedAxesOfOperands(mesh);
  pending.passFromOperands();
  pending.placeOnReducedFactors(mesh);
  return sharding;
}

} // namespace meshloom
