// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Grids.h"

#include <algorithm>
#include <iterator>
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

/// The costs of cuts of a product, by a model of a library's products of one
/// thread: measured on an Intel Xeon (docs/Performance.md, "On 16 cores").
class Costs {
public:
  Costs(const DotStep &step, const Work &work, int64_t chunks)
      : work(work), chunks(chunks) {
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

  using PartsOfLoops = std::span<const std::pair<unsigned, int64_t>>;
  struct Chunks {
    int64_t count;
    double cycles; ///< of each one
  };
  Chunks chunksOf(PartsOfLoops partsOfLoops) const {
    Extents chunk;
    // Where the inner loop over rows is cut, each iteration of an outer one is
    // a product of its own.
    bool isApart[4] = {};
    double calls = 1;
    int64_t pieces = 1;
    for (unsigned l = unsigned(work.extents.size()); l-- > 0;) {
      const Side side = sides[l];
      int64_t extent = std::max<int64_t>(work.extents[l], 1);
      bool isCut = false;
      for (auto [loop, parts] : partsOfLoops)
        if (loop == l) {
          pieces *= std::min(parts, extent);
          extent = (extent + parts - 1) / parts;
          isCut = true;
        }
      (isApart[size_t(side)] ? calls : chunk[side]) *= double(extent);
      isApart[size_t(side)] |= isCut;
    }
    const double rows = chunk[Side::Left], columns = chunk[Side::Right];
    constexpr double perCycle = 32, call = 2000;
    const double product = chunk[Side::Sum] * (rows * columns / perCycle +
                                               (rows + columns) * perElement) +
                           call;
    return {pieces, calls * chunk[Side::Batch] * product};
  }

  /// Rough cycles until all chunks are done, four of them after each other.
  double of(PartsOfLoops partsOfLoops) const {
    const auto [count, cycles] = chunksOf(partsOfLoops);
    const int64_t rounds = (count * 4 + chunks - 1) / chunks;
    // Few chunks do not even out what else the machine does.
    const double uneven = double(chunks) / double(count) - 1;
    return cycles * double(rounds) * (1 + uneven / 10);
  }

  Extents whole;

private:
  const Work &work;
  const int64_t chunks;
  std::vector<Side> sides; ///< of each loop
  double perElement = 0;   ///< cycles for each of a chunk's
};

/// Rough cycles of all chunks together.
double cyclesOfAll(Costs::Chunks chunks) {
  return double(chunks.count) * chunks.cycles;
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
  const Costs costs(step, work, chunks);
  // A product of few rows reads the other matrix once, whatever the cut.
  constexpr double fewRows = 64;
  if (costs.whole[Side::Batch] == 1 &&
      std::min(costs.whole[Side::Left], costs.whole[Side::Right]) <= fewRows)
    return false;
  std::vector<double> alongOne;
  std::ranges::transform(
      work.candidates, std::back_inserter(alongOne),
      [&](unsigned loop) { return costs.of({{{loop, chunks}}}); });
  double least = std::ranges::min(alongOne);
  // Not even what is before or behind the product makes such cuts worth it:
  // many small products in chunks of a row or two.
  constexpr double bearable = 4;
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
      const int64_t most = std::min(chunks / 2, work.extents[outer]);
      for (int64_t parts = 2; parts <= most; ++parts) {
        if (chunks % parts != 0)
          continue;
        const double cost =
            costs.of({{{outer, parts}, {inner, chunks / parts}}});
        if (best.second.parts == 0 || cost < best.first)
          best = {cost, {outer, inner, parts}};
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
  for (const auto &[cost, grid] : found)
    if (cost <= notably * least)
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

int64_t plan::efficientChunks(const DotStep &step, int64_t chunks,
                              const Work &work) {
  const Costs costs(step, work, chunks);
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
