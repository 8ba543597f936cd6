#include "Grids.h"

#include <algorithm>
#include <tuple>

using namespace meshloom;
using namespace meshloom::cpu;

namespace {
/// Which operands of a product a loop counts along.
enum class Side : uint8_t { Batch, Left, Right, Sum };

bool isIn(const Operand &operand, unsigned loop) {
  return std::ranges::any_of(operand.dims, [&](const DimAccess &dim) {
    return std::ranges::any_of(dim.terms,
                               [&](auto term) { return term.first == loop; });
  });
}

Side sideOf(const DotStep &step, unsigned loop) {
  if (step.loops[loop].reduction)
    return Side::Sum;
  const bool left = isIn(step.lhs, loop), right = isIn(step.rhs, loop);
  return left == right ? Side::Batch : left ? Side::Left : Side::Right;
}

/// What the largest chunk has of each side: how many products, of how many
/// rows, columns and terms.
struct Extents {
  double count[4] = {1, 1, 1, 1};
  double &operator[](Side side) { return count[size_t(side)]; }
  double operator[](Side side) const { return count[size_t(side)]; }
};

class Costs {
public:
  Extents whole;

  Costs(const DotStep &step, const Work &work, int64_t chunks)
      : step(step), work(work), chunks(chunks) {
    for (unsigned l = 0; l < work.extents.size(); ++l)
      whole[sideOf(step, l)] *= double(work.extents[l]);
    // Products of few rows read the other matrix as it lies. Others copy both
    // into the order in which they read them.
    constexpr double fewRows = 32, read = 0.5, inOrder = 1.5, transposed = 3;
    if (std::min(whole[Side::Left], whole[Side::Right]) <= fewRows) {
      leftElement = rightElement = read;
      return;
    }
    leftElement = liesAlong(step.lhs, Side::Sum) ? inOrder : transposed;
    rightElement = liesAlong(step.rhs, Side::Sum) ? transposed : inOrder;
  }

  /// Rough cycles until all chunks are done, four of them after each other.
  double of(std::span<const std::pair<unsigned, int64_t>> partsOfLoops) const {
    Extents chunk;
    int64_t pieces = 1;
    for (unsigned l = 0; l < work.extents.size(); ++l) {
      int64_t extent = std::max<int64_t>(work.extents[l], 1);
      for (auto [loop, parts] : partsOfLoops)
        if (loop == l) {
          pieces *= std::min(parts, extent);
          extent = (extent + parts - 1) / parts;
        }
      chunk[sideOf(step, l)] *= double(extent);
    }
    const double rows = chunk[Side::Left], columns = chunk[Side::Right];
    constexpr double perCycle = 32, call = 2000;
    const double product =
        chunk[Side::Sum] * (rows * columns / perCycle + rows * leftElement +
                            columns * rightElement) +
        call;
    const int64_t rounds = (pieces * 4 + chunks - 1) / chunks;
    // Few chunks do not even out what else the machine does.
    const double uneven = double(chunks) / double(pieces) - 1;
    return chunk[Side::Batch] * product * double(rounds) * (1 + uneven / 10);
  }

private:
  /// Whether an operand's rows are along loops of that side.
  bool liesAlong(const Operand &operand, Side side) const {
    return !operand.dims.empty() &&
           std::ranges::any_of(operand.dims.back().terms, [&](auto term) {
             return sideOf(step, term.first) == side;
           });
  }

  const DotStep &step;
  const Work &work;
  const int64_t chunks;
  double leftElement = 0, rightElement = 0; ///< cycles for each of a chunk's
};
} // namespace

std::vector<Grid> cpu::findGrids(const DotStep &step, const Work &work,
                                 int64_t chunks) {
  if (work.addendLoop >= 0 || work.candidates.size() < 2)
    return {};
  const Costs costs(step, work, chunks);
  // Of a product of few rows the other matrix is read once, whatever the cut.
  constexpr double fewRows = 64;
  if (costs.whole[Side::Batch] == 1 &&
      std::min(costs.whole[Side::Left], costs.whole[Side::Right]) <= fewRows)
    return {};
  double alongOne = 0;
  for (unsigned loop : work.candidates) {
    const double cost = costs.of({{{loop, chunks}}});
    if (alongOne == 0 || cost < alongOne)
      alongOne = cost;
  }
  std::vector<std::pair<double, Grid>> found;
  for (unsigned first : work.candidates)
    for (unsigned second : work.candidates) {
      if (first >= second)
        continue;
      std::pair<double, Grid> best{0, {first, second, 0}};
      const int64_t most = std::min(chunks / 2, work.extents[first]);
      for (int64_t parts = 2; parts <= most; ++parts) {
        if (chunks % parts != 0)
          continue;
        const double cost =
            costs.of({{{first, parts}, {second, chunks / parts}}});
        if (best.second.parts == 0 || cost < best.first)
          best = {cost, {first, second, parts}};
      }
      constexpr double notably = 1.25;
      if (best.second.parts > 0 && best.first * notably < alongOne)
        found.push_back(best);
    }
  std::ranges::sort(found, [](const auto &a, const auto &b) {
    return std::tuple(a.first, a.second.first, a.second.second) <
           std::tuple(b.first, b.second.first, b.second.second);
  });
  std::vector<Grid> grids;
  constexpr double asGood = 1.15;
  for (const auto &[cost, grid] : found)
    if (cost <= asGood * found.front().first)
      grids.push_back(grid);
  return grids;
}
