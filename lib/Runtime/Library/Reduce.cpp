// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library function "reduce": the sum, maximum or minimum of an array's
// elements along some of its dims; and "find_extreme", the index of the first
// maximum or minimum of lines. Neighbours that are terms of one result are
// combined in lanes; rows of neighbours that are terms of different results are
// combined with a row of states, which stays in registers where it is short.
// Floats are added in pairs (PairwiseSums.h).
#include "Clones.h"
#include "Elements.h"
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "PairwiseSums.h"
#include "RegisterReductions.h"

#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// The lanes that share the terms of a run, and the terms of a run whose lanes
/// add them one by one.
constexpr int64_t LANES = 64, SERIAL_RUN = 64 * LANES;
/// Results whose states are in the L1 cache together.
constexpr int64_t SIDE = 1024;

/// Returns the larger or the smaller number, by one instruction, which may lose
/// a nan.
template <ReduceKind kind, typename Sum>
[[gnu::always_inline]] inline Sum selected(Sum a, Sum b) {
  if constexpr (kind == ReduceKind::Max)
    return a > b ? a : b;
  else if constexpr (kind == ReduceKind::Min)
    return a < b ? a : b;
  else
    return combined<kind>(a, b);
}

/// Combines a run of elements in lanes: calls `take(lane, element)` for all,
/// and `merge(lane, other)` until lane 0 has all.
template <typename T, typename Take, typename Merge>
[[gnu::always_inline]] inline void
inLanes(const T *from, int64_t count, const Take &take, const Merge &merge) {
  int64_t i = 0;
  auto takeAll = [&]<int64_t number>() __attribute__((always_inline)) {
    for (; i + number <= count; i += number)
      for (int64_t l = 0; l < number; ++l)
        take(l, Numbers<T>::load(from[i + l]));
  };
  takeAll.template operator()<LANES>();
  takeAll.template operator()<LANES / 8>();
  takeAll.template operator()<1>();
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; ++l)
      merge(l, l + half);
}

/// Returns the reduction of a run of elements, as `combined` has it.
template <ReduceKind kind, typename T>
[[gnu::always_inline]] inline SumOf<T> reduceExactly(const T *from,
                                                     int64_t count) {
  SumOf<T> lanes[LANES];
  for (int64_t l = 0; l < LANES; ++l)
    lanes[l] = identity<kind, SumOf<T>>();
  inLanes(
      from, count,
      [&](int64_t l, SumOf<T> term) __attribute__((always_inline)) {
        lanes[l] = combined<kind>(term, lanes[l]);
      },
      [&](int64_t l, int64_t other) __attribute__((always_inline)) {
        lanes[l] = combined<kind>(lanes[l], lanes[other]);
      });
  return lanes[0];
}

/// Returns the reduction of a run of elements. Where a nan may be lost, the sum
/// of all terms is nan, too.
template <ReduceKind kind, typename T>
[[gnu::always_inline]] inline SumOf<T> reduceInLanes(const T *from,
                                                     int64_t count) {
  using Sum = SumOf<T>;
  if constexpr (kind == ReduceKind::Sum || std::is_integral_v<Sum>) {
    return reduceExactly<kind>(from, count);
  } else {
    Sum lanes[LANES], sums[LANES];
    for (int64_t l = 0; l < LANES; ++l) {
      lanes[l] = identity<kind, Sum>();
      sums[l] = 0;
    }
    inLanes(
        from, count,
        [&](int64_t l, Sum term) __attribute__((always_inline)) {
          lanes[l] = selected<kind>(term, lanes[l]);
          sums[l] += term;
        },
        [&](int64_t l, int64_t other) __attribute__((always_inline)) {
          lanes[l] = selected<kind>(lanes[l], lanes[other]);
          sums[l] += sums[other];
        });
    return sums[0] == sums[0] ? lanes[0] : reduceExactly<kind>(from, count);
  }
}

/// states[i] is combined with from[row * step + i] for all rows.
template <ReduceKind kind, typename T>
[[gnu::always_inline]] inline void
combineRows(SumOf<T> *__restrict states, const T *__restrict from, int64_t step,
            int64_t rows, int64_t width) {
  using Sum = SumOf<T>;
  constexpr bool losesNan = kind != ReduceKind::Sum && isRounded<Sum>;
  auto take = [&]<int64_t number>() __attribute__((always_inline)) {
    for (; rows >= number; rows -= number, from += number * step)
      for (int64_t i = 0; i < width; ++i) {
        auto load = [&](int64_t row) {
          return Numbers<T>::load(from[row * step + i]);
        };
        Sum terms = load(0);
        for (int64_t row = 1; row < number; ++row)
          terms = selected<kind>(load(row), terms);
        Sum state = selected<kind>(terms, states[i]);
        if constexpr (losesNan) {
          bool hasNan = false;
          for (int64_t row = 0; row < number; row += 2)
            hasNan |= std::isunordered(load(row),
                                       load(std::min(row + 1, number - 1)));
          state = hasNan ? std::numeric_limits<Sum>::quiet_NaN() : state;
        }
        states[i] = state;
      }
  };
  take.template operator()<4>();
  take.template operator()<3>();
  take.template operator()<2>();
  take.template operator()<1>();
}

/// states[i] is combined with the run of elements at from[i * step].
template <ReduceKind kind, typename T>
[[gnu::always_inline]] inline void combineRuns(SumOf<T> *states, const T *from,
                                               int64_t step, int64_t count,
                                               int64_t width) {
  if (count <= SHORT_RUN) {
    for (int64_t i = 0; i < width; ++i)
      for (int64_t k = 0; k < count; ++k)
        states[i] =
            combined<kind>(Numbers<T>::load(from[i * step + k]), states[i]);
    return;
  }
  for (int64_t i = 0; i < width; ++i)
    states[i] =
        combined<kind>(reduceInLanes<kind>(from + i * step, count), states[i]);
}

// The loops, compiled for the CPU at hand.
// NOLINTBEGIN(bugprone-macro-parentheses): names take none.
#define MESHLOOM_LOOP(loop, T, extent)                                         \
  MESHLOOM_CLONES void loop(ReduceKind kind, SumOf<T> *states, const T *from,  \
                            int64_t step, int64_t extent, int64_t width) {     \
    if (kind == ReduceKind::Sum)                                               \
      return loop<ReduceKind::Sum>(states, from, step, extent, width);         \
    if (kind == ReduceKind::Max)                                               \
      return loop<ReduceKind::Max>(states, from, step, extent, width);         \
    return loop<ReduceKind::Min>(states, from, step, extent, width);           \
  }
#define MESHLOOM_REDUCTION(T)                                                  \
  MESHLOOM_LOOP(combineRuns, T, count)                                         \
  MESHLOOM_LOOP(combineRows, T, rows)
#define MESHLOOM_SHORT_REDUCTION(T)                                            \
  MESHLOOM_CLONES void reduceShort(ReduceKind kind, T *to, const T *from,      \
                                   int64_t count, int64_t runs) {              \
    if (kind == ReduceKind::Sum)                                               \
      return reduceShortRuns<ReduceKind::Sum>(to, from, count, runs);          \
    if (kind == ReduceKind::Max)                                               \
      return reduceShortRuns<ReduceKind::Max>(to, from, count, runs);          \
    return reduceShortRuns<ReduceKind::Min>(to, from, count, runs);            \
  }                                                                            \
  MESHLOOM_CLONES void reduceNarrow(ReduceKind kind, T *to, const T *from,     \
                                    int64_t step, int64_t rows,                \
                                    int64_t width) {                           \
    if (kind == ReduceKind::Sum)                                               \
      return reduceColumns<ReduceKind::Sum>(to, from, step, rows, width);      \
    if (kind == ReduceKind::Max)                                               \
      return reduceColumns<ReduceKind::Max>(to, from, step, rows, width);      \
    return reduceColumns<ReduceKind::Min>(to, from, step, rows, width);        \
  }
MESHLOOM_REDUCTION(float)
MESHLOOM_REDUCTION(double)
MESHLOOM_REDUCTION(BF16Element)
MESHLOOM_REDUCTION(int32_t)
MESHLOOM_SHORT_REDUCTION(float)
MESHLOOM_SHORT_REDUCTION(double)
MESHLOOM_SHORT_REDUCTION(int32_t)
#undef MESHLOOM_SHORT_REDUCTION
#undef MESHLOOM_REDUCTION
#undef MESHLOOM_LOOP
// NOLINTEND(bugprone-macro-parentheses)

/// Returns the reduction of a run; both halves of long sums are reduced first.
template <ReduceKind kind, typename T>
SumOf<T> reduceRun(const T *from, int64_t count) {
  if (kind != ReduceKind::Sum || count <= SERIAL_RUN) {
    auto state = identity<kind, SumOf<T>>();
    combineRuns(kind, &state, from, /*step=*/0, count, /*width=*/1);
    return state;
  }
  const int64_t runs = (count + SERIAL_RUN - 1) / SERIAL_RUN,
                first = (runs + 1) / 2 * SERIAL_RUN;
  return combined<kind>(reduceRun<kind>(from, first),
                        reduceRun<kind>(from + first, count - first));
}

/// A dim of the operand, or several that lie in memory as one does. `to` is the
/// stride of the result, or 0 where the dim is reduced.
struct ReducedDim {
  int64_t extent = 1, from = 0, to = 0;
  bool isReduced = false;
};

/// How the loops go over a box.
struct ReductionLoops {
  ReducedDim run;  ///< neighbours that are terms of one result, if any
  ReducedDim rows; ///< terms of one result, one behind the other
  ReducedDim side; ///< results whose states are together
  Shape outer, outerFrom, outerTo; ///< the remaining results
  Shape repeated, repeatedFrom;    ///< the remaining terms
};

/// Returns the dims of the operand that have extents, the inner ones last;
/// neighbours that lie in memory as one dim are one.
std::vector<ReducedDim> mergedDims(std::vector<ReducedDim> dims) {
  std::erase_if(dims, [](const ReducedDim &dim) { return dim.extent == 1; });
  std::ranges::stable_sort(dims, std::greater<>(), &ReducedDim::from);
  std::vector<ReducedDim> merged;
  for (const ReducedDim &dim : dims) {
    if (!merged.empty()) {
      ReducedDim &before = merged.back();
      if (before.isReduced == dim.isReduced &&
          before.from == dim.from * dim.extent &&
          before.to == dim.to * dim.extent) {
        before = {before.extent * dim.extent, dim.from, dim.to, dim.isReduced};
        continue;
      }
    }
    merged.push_back(dim);
  }
  return merged;
}

ReductionLoops loopsOver(std::vector<ReducedDim> dims) {
  ReductionLoops loops;
  dims = mergedDims(std::move(dims));
  auto take = [&](ReducedDim &loop) {
    loop = dims.back();
    dims.pop_back();
  };
  const bool hasRuns =
      !dims.empty() && dims.back().isReduced && dims.back().from == 1;
  if (hasRuns)
    take(loops.run);
  else if (!dims.empty() && !dims.back().isReduced && dims.back().from == 1)
    take(loops.side);
  // The innermost one of the remaining dims.
  auto takeInnermost = [&](bool isReduced, ReducedDim &loop) {
    for (size_t d = dims.size(); d-- > 0;)
      if (dims[d].isReduced == isReduced) {
        loop = dims[d];
        dims.erase(dims.begin() + int64_t(d));
        return;
      }
  };
  if (hasRuns)
    takeInnermost(/*isReduced=*/false, loops.side);
  takeInnermost(/*isReduced=*/true, loops.rows);
  for (const ReducedDim &dim : dims)
    if (dim.isReduced) {
      loops.repeated.push_back(dim.extent);
      loops.repeatedFrom.push_back(dim.from);
    } else {
      loops.outer.push_back(dim.extent);
      loops.outerFrom.push_back(dim.from);
      loops.outerTo.push_back(dim.to);
    }
  return loops;
}

/// The states of neighbouring results.
template <ReduceKind kind, typename T> class States {
public:
  using Sum = SumOf<T>;

  void start(int64_t results) {
    width = results;
    std::fill_n(states.data(), width, identity<kind, Sum>());
    if constexpr (inPairs)
      sums.start(width);
    terms = 0;
  }
  /// Adds rows of terms, `loops.rows` of them, that begin at `from`.
  void add(const ReductionLoops &loops, const T *from) {
    for (int64_t row = 0; row < loops.rows.extent;) {
      const int64_t count = std::min(loops.rows.extent - row, BLOCK - terms);
      const T *first = from + row * loops.rows.from;
      if (loops.run.isReduced)
        for (int64_t r = 0; r < count; ++r)
          addRuns(loops, first + r * loops.rows.from);
      else
        combineRows(kind, states.data(), first, loops.rows.from, count, width);
      row += count;
      terms += count;
      if (terms == BLOCK)
        endBlock();
    }
  }
  void store(T *to, int64_t step) {
    if constexpr (inPairs)
      sums.addTo(states.data());
    for (int64_t i = 0; i < width; ++i)
      to[i * step] = Numbers<T>::store(states[size_t(i)]);
  }

private:
  static constexpr bool inPairs = kind == ReduceKind::Sum && isRounded<Sum>;
  static constexpr int64_t BLOCK = PairwiseSums<Sum>::BLOCK;

  /// Adds a run of terms to each state.
  void addRuns(const ReductionLoops &loops, const T *from) {
    if (loops.run.extent <= SERIAL_RUN)
      return combineRuns(kind, states.data(), from, loops.side.from,
                         loops.run.extent, width);
    for (int64_t i = 0; i < width; ++i)
      states[size_t(i)] = combined<kind>(
          reduceRun<kind>(from + i * loops.side.from, loops.run.extent),
          states[size_t(i)]);
  }
  void endBlock() {
    terms = 0;
    if constexpr (inPairs) {
      sums.push(states.data());
      std::fill_n(states.data(), width, Sum());
    }
  }

  std::array<Sum, SIDE> states;
  PairwiseSums<Sum> sums;
  int64_t width = 0, terms = 0;
};

/// Reduces what needs no states in memory: dense runs of few terms, and rows
/// that registers have states for. Returns whether the loops are of such.
template <ReduceKind kind, typename T>
bool reduceInRegisters(const ReductionLoops &loops, const T *from, T *to) {
  constexpr int64_t lanes = REGISTER_LANES<T>;
  const bool hasRuns = loops.run.isReduced;
  const int64_t width = loops.side.extent, run = loops.run.extent;
  const bool isShort = hasRuns && run >= 2 && run <= SHORT_RUN &&
                       loops.side.from == run && loops.rows.extent == 1,
             isNarrow =
                 !hasRuns && width >= FEW_VECTORS * lanes &&
                 width <= MOST_VECTORS<kind, T> * lanes &&
                 loops.rows.extent <= ColumnStates<kind, T, 4>::mostRows();
  if (!(isShort || isNarrow) || !loops.repeated.empty() || loops.side.to != 1)
    return false;
  forEachIndex<2>(loops.outer, {&loops.outerFrom, &loops.outerTo},
                  [&](const std::array<int64_t, 2> &place) {
                    if (isShort)
                      reduceShort(kind, to + place[1], from + place[0], run,
                                  width);
                    else
                      reduceNarrow(kind, to + place[1], from + place[0],
                                   loops.rows.from, loops.rows.extent, width);
                  });
  return true;
}

template <ReduceKind kind, typename T>
void reduce(const ReductionLoops &loops, const T *from, T *to) {
  if constexpr (std::is_same_v<T, SumOf<T>>)
    if (reduceInRegisters<kind>(loops, from, to))
      return;
  States<kind, T> states;
  forEachIndex<2>(
      loops.outer, {&loops.outerFrom, &loops.outerTo},
      [&](const std::array<int64_t, 2> &place) {
        for (int64_t first = 0; first < loops.side.extent; first += SIDE) {
          states.start(std::min(SIDE, loops.side.extent - first));
          forEachIndex<1>(loops.repeated, {&loops.repeatedFrom},
                          [&](const std::array<int64_t, 1> &repeated) {
                            states.add(loops, from + place[0] + repeated[0] +
                                                  first * loops.side.from);
                          });
          states.store(to + place[1] + first * loops.side.to, loops.side.to);
        }
      });
}

/// Says whether there are loops for elements of T.
template <typename T>
constexpr bool hasLoops =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, BF16Element> || std::is_same_v<T, int32_t>;

bool hasLoopsFor(DType type) {
  return withElement(type, []<typename T>() { return hasLoops<T>; });
}

/// The dims of the results of a reduction by dim of its operand: -1 where the
/// dim is reduced. Nothing where not all dims have a loop of their own, or the
/// result does not have all that are not reduced.
std::optional<std::vector<int>> resultDimsOf(const KernelStep &step) {
  const Operand &in = step.inputs[0], &out = step.outputs[0];
  std::vector<int> dimOfLoop(step.loops.size(), -1), resultDims;
  for (size_t d = 0; d < out.dims.size(); ++d)
    for (auto [loop, coefficient] : out.dims[d].terms)
      dimOfLoop[loop] = int(d);
  size_t results = 0;
  std::vector<bool> seen(step.loops.size());
  for (const DimAccess &dim : in.dims) {
    if (dim.terms.size() != 1 || seen[dim.terms[0].first])
      return std::nullopt;
    const unsigned loop = dim.terms[0].first;
    seen[loop] = true;
    resultDims.push_back(dimOfLoop[loop]);
    results += dimOfLoop[loop] >= 0;
    if (step.loops[loop].reduction != (dimOfLoop[loop] < 0))
      return std::nullopt;
  }
  return results == out.dims.size() ? std::optional(resultDims) : std::nullopt;
}

class ReduceRoutine final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    auto routine = std::make_unique<ReduceRoutine>();
    if (step.inputs.size() != 1 || step.outputs.size() != 1)
      return Error("operands do not match");
    const auto resultDims = resultDimsOf(step.step);
    if (!resultDims)
      return Error("operands do not match");
    routine->resultDims = *resultDims;
    OptionReader options(step.step);
    const DType type = step.inputs[0]->type;
    routine->kind = options.kind("kind", type);
    const bool isKind = routine->kind == ReduceKind::Sum ||
                        routine->kind == ReduceKind::Max ||
                        routine->kind == ReduceKind::Min;
    if (!options.ok() || !isKind || step.outputs[0]->type != type ||
        !hasLoopsFor(type))
      return Error("operands do not match");
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &in = arguments.inputs[0], &out = arguments.outputs[0];
    if (out.empty())
      return Success();
    std::vector<ReducedDim> dims;
    for (size_t d = 0; d < in.extent.size(); ++d) {
      const int result = resultDims[d];
      dims.push_back({in.extent[d], in.strides[d],
                      result < 0 ? 0 : out.strides[size_t(result)],
                      result < 0});
    }
    const ReductionLoops loops = loopsOver(std::move(dims));
    withElement(in.type, [&]<typename T>() {
      if constexpr (hasLoops<T>)
        withKindAmong<T, ReduceKind::Sum, ReduceKind::Max, ReduceKind::Min>(
            kind, [&]<typename, ReduceKind by>() {
              reduce<by>(loops, reinterpret_cast<const T *>(in.data),
                         reinterpret_cast<T *>(out.data));
            });
    });
    return Success();
  }

private:
  ReduceKind kind = ReduceKind::Sum;
  std::vector<int> resultDims; ///< -1: the dim is reduced
};

/// Part of a line: its first maximum or minimum, or its first nan.
template <typename T> struct Extreme {
  SumOf<T> value;
  int64_t begin = 0, end = 0; ///< where it is
};

/// The index of the first maximum or minimum of dense lines; a nan is one.
class ExtremeRoutine final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    auto routine = std::make_unique<ExtremeRoutine>();
    if (step.inputs.size() != 1 || step.outputs.size() != 1)
      return Error("operands do not match");
    const auto resultDims = resultDimsOf(step.step);
    OptionReader options(step.step);
    const DType type = step.inputs[0]->type, index = step.outputs[0]->type;
    routine->kind = options.kind("kind", type);
    if (!resultDims || resultDims->empty() || resultDims->back() >= 0 ||
        std::ranges::count_if(*resultDims, [](int d) { return d < 0; }) != 1 ||
        !options.ok() || !hasLoopsFor(type) ||
        (routine->kind != ReduceKind::Max &&
         routine->kind != ReduceKind::Min) ||
        (index != DType::I32 && index != DType::I64))
      return Error("operands do not match");
    routine->resultDims = *resultDims;
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &in = arguments.inputs[0], &out = arguments.outputs[0];
    if (out.empty())
      return Success();
    Shape lines, from, to;
    for (size_t d = 0; d + 1 < resultDims.size(); ++d) {
      lines.push_back(in.extent[d]);
      from.push_back(in.strides[d]);
      to.push_back(out.strides[size_t(resultDims[d])]);
    }
    const unsigned width = byteWidth(out.type);
    withElement(in.type, [&]<typename T>() {
      if constexpr (hasLoops<T>)
        withKindAmong<T, ReduceKind::Max, ReduceKind::Min>(
            kind, [&]<typename, ReduceKind by>() {
              forEachIndex<2>(
                  lines, {&from, &to},
                  [&](const std::array<int64_t, 2> &offsets) {
                    const auto *line =
                        reinterpret_cast<const T *>(in.data) + offsets[0];
                    // Little endian: the lower half is the i32.
                    const int64_t index =
                        in.begin(in.extent.size() - 1) +
                        indexOf<by, T>(line, in.extent.back());
                    std::memcpy(out.data + offsets[1] * width, &index, width);
                  });
            });
    });
    return Success();
  }

private:
  /// Returns whether an extreme is in place of one that is in front of it.
  template <ReduceKind by, typename Sum>
  static bool isBetter(Sum value, Sum before) {
    if constexpr (std::is_floating_point_v<Sum>)
      if (before != before || value != value)
        return before == before;
    return by == ReduceKind::Max ? value > before : value < before;
  }

  /// Reduces blocks that stay in the first-level cache, and looks for the
  /// element in the best one.
  template <ReduceKind by, typename T>
  static int64_t indexOf(const T *line, int64_t length) {
    constexpr int64_t block = 4096, blocksOfPart = 4;
    Team &team = Team::current();
    const int64_t blocks = (length + block - 1) / block,
                  parts = team.partsOf(blocks, blocksOfPart);
    std::vector<Extreme<T>> extremes(static_cast<size_t>(parts));
    team.forEach(parts, [&](int64_t part) {
      Extreme<T> &best = extremes[size_t(part)];
      for (int64_t b = blocks * part / parts; b < blocks * (part + 1) / parts;
           ++b) {
        const int64_t begin = b * block, end = std::min(begin + block, length);
        const auto value = reduceRun<by>(line + begin, end - begin);
        if (best.end == 0 || isBetter<by>(value, best.value))
          best = {value, begin, end};
      }
    });
    Extreme<T> best = extremes[0];
    for (const Extreme<T> &extreme : extremes)
      if (isBetter<by>(extreme.value, best.value))
        best = extreme;
    int64_t i = best.begin;
    for (; i + 1 < best.end; ++i) {
      const auto value = Numbers<T>::load(line[i]);
      if (value == best.value || (value != value && best.value != best.value))
        break;
    }
    return i;
  }

  ReduceKind kind = ReduceKind::Max;
  std::vector<int> resultDims; ///< -1: the dim is reduced
};

} // namespace

namespace meshloom::library {
LibraryRows functionsOfReduce() {
  static constexpr LibraryRow rows[] = {
      {"reduce", ReduceRoutine::make, {.isReduction = true}},
      {"find_extreme", ExtremeRoutine::make, {.usesTeam = true}}};
  return rows;
}
} // namespace meshloom::library
