// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Grids.h"

#include "meshloom/Runtime/Library/HostCall.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// Numbers by side: how many products, of how many rows, columns and terms.
struct Extents {
  double count[4] = {1, 1, 1, 1};
  double &operator[](Side side) { return count[size_t(side)]; }
  double operator[](Side side) const { return count[size_t(side)]; }
};

/// A cut: loops, and into how many parts.
using PartsOfLoops = std::span<const std::pair<unsigned, int64_t>>;

struct Chunks {
  int64_t count;
  double cycles; ///< of each one
};

/// Returns the iterations of loop `l` in a chunk.
int64_t extentOf(const Work &work, unsigned l, PartsOfLoops partsOfLoops) {
  int64_t extent = std::max<int64_t>(work.extents[l], 1);
  for (auto [loop, parts] : partsOfLoops)
    if (loop == l)
      extent = (extent + parts - 1) / parts;
  return extent;
}

/// Returns how many chunks of a cut have iterations.
int64_t countOf(const Work &work, PartsOfLoops partsOfLoops) {
  int64_t count = 1;
  for (auto [loop, parts] : partsOfLoops)
    count *= std::min(parts, std::max<int64_t>(work.extents[loop], 1));
  return count;
}

/// Rough cycles until all chunks are done, where workers have four of `chunks`
/// each, one after the other.
double untilDone(Chunks cut, int64_t chunks) {
  const int64_t rounds = (cut.count * 4 + chunks - 1) / chunks;
  // Few chunks do not even out what else the machine does.
  const double uneven = double(chunks) / double(cut.count) - 1;
  return cut.cycles * double(rounds) * (1 + uneven / 10);
}

/// The costs of cuts of a product, by a model of a library's products of one
/// thread: measured on an Intel Xeon (docs/Performance.md, "On 16 cores").
class Costs {
public:
  Costs(const DotStep &step, const Work &work) : work(work) {
    sides.reserve(work.extents.size());
    for (unsigned l = 0; l < work.extents.size(); ++l) {
      sides.push_back(sideOf(step, l));
      whole[sides.back()] *= double(work.extents[l]);
    }
    // Products of few rows read the other matrix as it lies. Others copy both
    // into the order in which they read them.
    constexpr double fewRows = 32, read = 0.5, copied = 1.5;
    perElement = std::min(whole[Side::Left], whole[Side::Right]) <= fewRows
                     ? read
                     : copied;
  }

  Chunks chunksOf(PartsOfLoops partsOfLoops) const {
    Extents chunk;
    // Where the inner loop over rows is cut, each iteration of an outer one is
    // a product of its own.
    bool isApart[4] = {};
    double calls = 1;
    for (unsigned l = unsigned(work.extents.size()); l-- > 0;) {
      const Side side = sides[l];
      const int64_t extent = extentOf(work, l, partsOfLoops);
      const bool isCut = std::ranges::any_of(
          partsOfLoops, [&](auto cut) { return cut.first == l; });
      (isApart[size_t(side)] ? calls : chunk[side]) *= double(extent);
      isApart[size_t(side)] |= isCut;
    }
    const double rows = chunk[Side::Left], columns = chunk[Side::Right];
    constexpr double perCycle = 32, call = 2000;
    const double product = chunk[Side::Sum] * (rows * columns / perCycle +
                                               (rows + columns) * perElement) +
                           call;
    return {countOf(work, partsOfLoops), calls * chunk[Side::Batch] * product};
  }

  Extents whole;

private:
  const Work &work;
  std::vector<Side> sides; ///< of each loop
  double perElement = 0;   ///< cycles for each of a chunk's
};

/// The costs of cuts of a convolution by a library: what it multiplies, in
/// vectors of features, and what of its operands each chunk copies into the
/// order in which it reads them.
class ConvolutionCosts {
public:
  ConvolutionCosts(const KernelStep &step, const Work &work) : work(work) {
    const Operand &lhs = step.inputs[0], &rhs = step.inputs[1],
                  &out = step.outputs[0];
    for (unsigned l = 0; l < work.extents.size(); ++l) {
      Loop &loop = loops.emplace_back();
      loop.isLhs = lhs.dependsOn(l);
      loop.isRhs = rhs.dependsOn(l);
      loop.isOut = out.dependsOn(l);
      loop.isFeature = loop.isOut && loop.isRhs;
      // Places of lhs are not counted beside those of the kernel and the
      // result.
      loop.isInput = step.loops[l].held && loop.isLhs;
      if (step.loops[l].held && loop.isRhs)
        window = std::max(window, work.extents[l]);
    }
    areLhsRows = areRows(lhs);
    areOutRows = areRows(out);
  }

  Chunks chunksOf(PartsOfLoops partsOfLoops) const {
    double products = 1, features = 1, left = 1, right = 1, results = 1;
    bool isLhsCut = false, isOutCut = false;
    for (unsigned l = 0; l < loops.size(); ++l) {
      const auto extent = double(extentOf(work, l, partsOfLoops));
      const Loop &loop = loops[l];
      const bool isRowCut = loop.isRhs && extent < double(work.extents[l]);
      isLhsCut |= isRowCut && loop.isLhs;
      isOutCut |= isRowCut && loop.isOut;
      if (loop.isFeature)
        features *= extent;
      else if (!loop.isInput)
        products *= extent;
      left *= loop.isLhs ? extent : 1;
      right *= loop.isRhs ? extent : 1;
      results *= loop.isOut ? extent : 1;
      // A part of the places reads its windows' elements.
      if (loop.isOut && !loop.isLhs && !loop.isRhs) {
        const auto whole = double(std::max<int64_t>(work.extents[l], 1));
        left *= std::min(1.0, (extent + double(window - 1)) / whole);
      }
    }
    constexpr double lanes = 16, perCycle = 32, call = 5000, copied = 1.5,
                     read = 0.25;
    const double perLhs = areLhsRows && !isLhsCut ? read : copied;
    const double perOut = areOutRows && !isOutCut ? read : copied;
    const double vectors = std::ceil(features / lanes) * lanes;
    return {countOf(work, partsOfLoops), products * vectors / perCycle +
                                             left * perLhs + right * copied +
                                             results * perOut + call};
  }

private:
  /// Returns whether what lies side by side in memory are features, as the
  /// library likes them.
  bool areRows(const Operand &operand) const {
    for (unsigned l = 0; l < loops.size(); ++l)
      if (!operand.dims.empty() && operand.dims.back().dependsOn(l))
        return loops[l].isRhs;
    return false;
  }

  struct Loop {
    bool isLhs = false, isRhs = false, isOut = false;
    bool isFeature = false; ///< of the results, or a group of them
    bool isInput = false;   ///< counts what is there of lhs
  };
  const Work &work;
  std::vector<Loop> loops;
  int64_t window = 1; ///< the largest extent of the kernel
  bool areLhsRows = false, areOutRows = false; ///< rows of features
};

/// The costs of cuts of a reduction of windows: a chunk reads all elements that
/// its windows have.
class WindowCosts {
public:
  static std::optional<WindowCosts> of(const KernelStep &step,
                                       const Work &work) {
    const auto sizes = step.options.find("window_dimensions"),
               strides = step.options.find("window_strides");
    if (step.library != "reduce_window" || sizes == step.options.end() ||
        strides == step.options.end())
      return std::nullopt;
    WindowCosts costs(work);
    for (unsigned l = 0; l < work.extents.size(); ++l)
      for (size_t d = 0; d < step.outputs[0].dims.size(); ++d)
        if (step.outputs[0].dims[d].dependsOn(l)) {
          const int64_t stride = std::get<Numbers>(strides->second).at(d);
          costs.dims.push_back({l, stride,
                                std::get<Numbers>(sizes->second).at(d) - stride,
                                d + 1 == step.outputs[0].dims.size()});
        }
    return costs;
  }

  Chunks chunksOf(PartsOfLoops partsOfLoops) const {
    constexpr double lanes = 16, call = 5000;
    double elements = 1;
    for (const Dim &dim : dims) {
      const auto extent = double(extentOf(work, dim.loop, partsOfLoops));
      elements *= dim.isInnermost ? std::ceil(extent / lanes) * lanes : extent;
      elements *= 1 + double(dim.overlap) / (extent * double(dim.stride));
    }
    return {countOf(work, partsOfLoops), elements + call};
  }

private:
  using Numbers = std::vector<int64_t>;
  struct Dim {
    unsigned loop;
    int64_t stride;
    int64_t overlap; ///< elements that a window shares with the next one
    bool isInnermost;
  };
  explicit WindowCosts(const Work &work) : work(work) {}
  const Work &work;
  std::vector<Dim> dims;
};

/// Rough cycles of all chunks together.
double cyclesOfAll(Chunks chunks) {
  return double(chunks.count) * chunks.cycles;
}

/// Fills in grids of `count` chunks, and puts better loops first, where the
/// loop that the work would be cut along is notably worse. Workers have four of
/// `chunks` chunks each. Not even what is before or behind the work makes cuts
/// worth it that cost `bearable` times the best. Returns whether it did
/// anything.
template <typename Model>
bool chooseCuts(const Model &model, int64_t count, int64_t chunks,
                double bearable, Work &work) {
  auto cost = [&](PartsOfLoops cut) {
    return untilDone(model.chunksOf(cut), chunks);
  };
  std::vector<double> alongOne;
  std::ranges::transform(
      work.candidates, std::back_inserter(alongOne),
      [&](unsigned loop) { return cost({{{loop, count}}}); });
  double least = std::ranges::min(alongOne);
  for (size_t i = alongOne.size(); i-- > 0;) {
    if (alongOne[i] <= bearable * least)
      continue;
    work.numGood -= i < work.numGood;
    work.numBest -= i < work.numBest;
    work.candidates.erase(work.candidates.begin() + int64_t(i));
    alongOne.erase(alongOne.begin() + int64_t(i));
  }
  std::vector<std::pair<double, Grid>> found;
  for (unsigned outer : work.candidates)
    for (unsigned inner : work.candidates) {
      if (outer >= inner)
        continue;
      std::pair<double, Grid> best{0, {outer, inner, 0}};
      const int64_t most = std::min(count / 2, work.extents[outer]);
      for (int64_t parts = 2; parts <= most; ++parts) {
        if (count % parts != 0)
          continue;
        const double cycles = cost({{{outer, parts}, {inner, count / parts}}});
        if (best.second.parts == 0 || cycles < best.first)
          best = {cycles, {outer, inner, parts}};
      }
      if (best.second.parts > 0)
        found.push_back(best);
    }
  std::ranges::sort(found, [](const auto &a, const auto &b) {
    return std::tuple(a.first, a.second.first, a.second.second) <
           std::tuple(b.first, b.second.first, b.second.second);
  });
  if (!found.empty())
    least = std::min(least, found.front().first);
  constexpr double notably = 1.25;
  if (alongOne.front() <= notably * least)
    return false;
  for (const auto &[cycles, grid] : found)
    if (cycles <= notably * least)
      work.grids.push_back(grid);
  std::vector<unsigned> good, others;
  for (size_t i = 0; i < alongOne.size(); ++i)
    (alongOne[i] <= notably * least ? good : others)
        .push_back(work.candidates[i]);
  work.numGood = work.numBest = unsigned(work.grids.size() + good.size());
  good.insert(good.end(), others.begin(), others.end());
  work.candidates = std::move(good);
  return true;
}

/// The same with four chunks a worker, two, or one, whichever is best.
template <typename Model>
bool chooseCutsAndCount(const Model &model, int64_t chunks, double bearable,
                        Work &work) {
  auto costOf = [&](int64_t count) {
    Work cut = work;
    chooseCuts(model, count, chunks, bearable, cut);
    if (cut.grids.empty())
      return untilDone(model.chunksOf({{{cut.candidates.front(), count}}}),
                       chunks);
    const Grid &grid = cut.grids.front();
    return untilDone(model.chunksOf({{{grid.first, grid.parts},
                                      {grid.second, count / grid.parts}}}),
                     chunks);
  };
  std::vector<int64_t> counts{chunks};
  while (counts.size() < 3 && counts.back() % 2 == 0)
    counts.push_back(counts.back() / 2);
  const int64_t best = *std::ranges::min_element(counts, {}, costOf);
  if (best < chunks)
    work.mostChunks = best;
  return chooseCuts(model, best, chunks, bearable, work);
}
} // namespace

Side plan::sideOf(const DotStep &step, unsigned loop) {
  if (step.loops[loop].reduction)
    return Side::Sum;
  const bool isLeft = step.lhs.dependsOn(loop),
             isRight = step.rhs.dependsOn(loop);
  return isLeft == isRight ? Side::Batch : isLeft ? Side::Left : Side::Right;
}

bool plan::findGrids(const DotStep &step, int64_t chunks, Work &work) {
  if (work.addendLoop >= 0 || work.candidates.size() < 2)
    return false;
  const Costs costs(step, work);
  // A product of few rows reads the other matrix once, whatever the cut.
  constexpr double fewRows = 64;
  if (costs.whole[Side::Batch] == 1 &&
      std::min(costs.whole[Side::Left], costs.whole[Side::Right]) <= fewRows)
    return false;
  // Worse are many small products in chunks of a row or two.
  constexpr double bearable = 4;
  return chooseCuts(costs, chunks, chunks, bearable, work);
}

bool plan::findGrids(const KernelStep &step, int64_t chunks, Work &work) {
  if (work.addendLoop >= 0 || work.candidates.empty())
    return false;
  // Worse are parts of few features, and those that read most windows' elements
  // of others again.
  constexpr double bearable = 1.5;
  if (library::propertiesOf(step.library).isProduct)
    return chooseCutsAndCount(ConvolutionCosts(step, work), chunks, bearable,
                              work);
  if (std::optional<WindowCosts> costs = WindowCosts::of(step, work))
    return chooseCutsAndCount(*costs, chunks, bearable, work);
  return false;
}

int64_t plan::efficientChunks(const DotStep &step, int64_t chunks,
                              const Work &work) {
  const Costs costs(step, work);
  constexpr double bearable = 2;
  const double most = bearable * cyclesOfAll(costs.chunksOf({}));
  if (std::ranges::any_of(work.grids, [&](const Grid &grid) {
        return cyclesOfAll(costs.chunksOf(
                   {{{grid.first, grid.parts},
                     {grid.second, chunks / grid.parts}}})) <= most;
      }))
    return chunks;
  while (chunks > 1 &&
         std::ranges::none_of(work.candidates, [&](unsigned loop) {
           return work.extents[loop] >= chunks &&
                  cyclesOfAll(costs.chunksOf({{{loop, chunks}}})) <= most;
         }))
    chunks /= 2;
  return chunks;
}
