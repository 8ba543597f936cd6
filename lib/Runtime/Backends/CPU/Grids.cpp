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
};

int64_t roundUp(int64_t number, int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

class Costs {
public:
  Costs(const DotStep &step, const Work &work, int64_t chunks)
      : step(step), work(work), chunks(chunks),
        leftCopy(rowsAreOf(step.lhs, Side::Sum) ? IN_ORDER : TRANSPOSED),
        rightCopy(rowsAreOf(step.rhs, Side::Sum) ? TRANSPOSED : IN_ORDER) {}

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
    // Vectors of columns, a few rows at a time. Both matrices are copied into
    // the order in which they are read.
    constexpr int64_t rowsAtOnce = 4, columnsAtOnce = 16;
    constexpr double perCycle = 32, call = 500;
    const double rows = double(roundUp(int64_t(chunk[Side::Left]), rowsAtOnce));
    const double columns =
        double(roundUp(int64_t(chunk[Side::Right]), columnsAtOnce));
    const double product =
        chunk[Side::Sum] * (rows * columns / perCycle + rows * leftCopy +
                            columns * rightCopy) +
        call;
    const int64_t rounds = (pieces * 4 + chunks - 1) / chunks;
    // Few chunks do not even out what else the machine does.
    const double uneven = double(chunks) / double(pieces) - 1;
    return chunk[Side::Batch] * product * double(rounds) * (1 + uneven / 10);
  }

private:
  /// Cycles for copying an element.
  static constexpr double IN_ORDER = 1.5, TRANSPOSED = 3;

  /// Whether the operand lies row by row along loops of that side.
  bool rowsAreOf(const Operand &operand, Side side) const {
    return !operand.dims.empty() &&
           std::ranges::any_of(operand.dims.back().terms, [&](auto term) {
             return sideOf(step, term.first) == side;
           });
  }

  const DotStep &step;
  const Work &work;
  const int64_t chunks;
  const double leftCopy, rightCopy;
};
} // namespace

std::vector<Grid> cpu::findGrids(const DotStep &step, const Work &work,
                                 int64_t chunks) {
  if (work.addendLoop >= 0 || work.candidates.size() < 2)
    return {};
  Extents whole;
  for (unsigned l = 0; l < work.extents.size(); ++l)
    whole[sideOf(step, l)] *= double(work.extents[l]);
  // One whose other operand is read once, whatever the cut.
  constexpr double fewRows = 64;
  if (whole[Side::Batch] == 1 &&
      std::min(whole[Side::Left], whole[Side::Right]) <= fewRows)
    return {};
  const Costs costs(step, work, chunks);
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
