// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library function "select_and_scatter". Lanes, the elements along a dim
// that has no window (channels), choose and scatter side by side.
#include "Clones.h"
#include "Elements.h"
#include "LibraryTable.h"
#include "PairwiseSums.h"
#include "ThreadScratch.h"
#include "WindowBox.h"

#include "meshloom/Runtime/BoxCopy.h"

#include <algorithm>
#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {

bool isPlain(const WindowDim &dim) {
  return dim.size == 1 && dim.stride == 1 && dim.low == 0;
}

/// One window: where its elements are in memory, of the operand and (-1: not in
/// the box) of the result.
struct Candidate {
  int64_t operand, result;
};

/// Goes through the source's places, and through each place's window.
class Places {
public:
  Places(const std::vector<WindowDim> &window, const LibraryOperand &operand,
         const LibraryOperand &source, const LibraryOperand &result)
      : window(window), operand(operand), source(source), result(result) {
    const size_t rank = result.extent.size();
    for (size_t d = 0; d < rank; ++d)
      if (isPlain(window[d]) && result.extent[d] > 1 &&
          (lane == size_t(-1) || result.strides[d] < result.strides[lane]))
        lane = d;
    // Lanes that are apart in memory cost more than they give.
    if (lane != size_t(-1) && result.strides[lane] != 1)
      lane = size_t(-1);
    for (size_t d = 0; d < rank; ++d)
      steps.push_back(d == lane ? Steps(size_t(1)) : stepsOf(d));
    candidates.resize(rank + 1);
    candidates[0] = {{0, 0}};
  }

  int64_t lanes() const { return lane == size_t(-1) ? 1 : result.extent[lane]; }
  int64_t laneStep(const LibraryOperand &of) const {
    return lane == size_t(-1) ? 0 : of.strides[lane];
  }

  /// Calls `body(source offset, candidates)` for every place (of the first
  /// lane) whose window meets the result's box.
  template <typename Body> void forEach(const Body &body) { visit(0, 0, body); }

private:
  /// Per place of one dim: the elements of the window, none where none is in
  /// the result's box.
  using Steps = std::vector<std::vector<Candidate>>;

  Steps stepsOf(size_t d) const {
    Steps steps(size_t(std::max<int64_t>(source.extent[d], 0)));
    for (int64_t place = 0; place < source.extent[d]; ++place) {
      std::vector<Candidate> &here = steps[size_t(place)];
      bool meets = false;
      for (int64_t k = 0; k < window[d].size; ++k) {
        const int64_t element =
            window[d].element(source.begin(d) + place, k, (*operand.global)[d]);
        if (element < 0)
          continue;
        // Windows that reach the box are held whole.
        if (element < operand.begin(d) || element >= operand.end(d)) {
          meets = false;
          break;
        }
        const bool inside =
            element >= result.begin(d) && element < result.end(d);
        meets |= inside;
        here.push_back(
            {(element - operand.begin(d)) * operand.strides[d],
             inside ? (element - result.begin(d)) * result.strides[d] : -1});
      }
      if (!meets)
        here.clear();
    }
    return steps;
  }

  /// The places along dim `d` and all after it, for those of the dims before
  /// it that candidates[d] are the windows of.
  template <typename Body>
  void visit(size_t d, int64_t offset, const Body &body) {
    if (d == steps.size())
      return body(offset, candidates[d]);
    if (d == lane) {
      if (source.extent[d] <= 0)
        return;
      candidates[d + 1] = candidates[d];
      return visit(d + 1, offset, body);
    }
    for (size_t place = 0; place < steps[d].size(); ++place) {
      const std::vector<Candidate> &before = candidates[d],
                                   &here = steps[d][place];
      if (here.empty())
        continue;
      std::vector<Candidate> &after = candidates[d + 1];
      after.resize(before.size() * here.size());
      size_t position = 0;
      for (const Candidate &candidate : before)
        for (const Candidate &step : here)
          after[position++] = {candidate.operand + step.operand,
                               candidate.result < 0 || step.result < 0
                                   ? -1
                                   : candidate.result + step.result};
      visit(d + 1, offset + int64_t(place) * source.strides[d], body);
    }
  }

  const std::vector<WindowDim> &window;
  const LibraryOperand &operand, &source, &result;
  size_t lane = size_t(-1);
  std::vector<Steps> steps;                       ///< per dim
  std::vector<std::vector<Candidate>> candidates; ///< of the dims in front
};

template <typename T> void fill(const LibraryOperand &out, T value) {
  T *data = reinterpret_cast<T *>(out.data);
  int64_t count = 1, span = 1;
  for (size_t d = 0; d < out.extent.size(); ++d) {
    count *= out.extent[d];
    span += (out.extent[d] - 1) * out.strides[d];
  }
  if (count == span) {
    std::fill_n(data, count, value);
    return;
  }
  forEachIndex<1>(
      out.extent, {&out.strides},
      [&](const std::array<int64_t, 1> &offsets) { data[offsets[0]] = value; });
}

/// Stores sums as elements.
template <typename T>
void storeSums(const SumOf<T> *sums, T *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = Numbers<T>::store(sums[i]);
}
MESHLOOM_CLONES void storeSums(const float *sums, BF16Element *to,
                               int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = CloneNumbers<BF16Element>::store(sums[i]);
}
MESHLOOM_CLONES void storeSums(const float *sums, F16Element *to,
                               int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = CloneNumbers<F16Element>::store(sums[i]);
}

/// The sums of a result's box, which begin with a number. Sums of halves are
/// kept in f32 beside the result until the end, at the same addresses.
template <typename T> class BoxSums {
public:
  using Sum = SumOf<T>;

  BoxSums(const LibraryOperand &out, T init) : out(out) {
    if constexpr (std::is_same_v<Sum, T>) {
      fill<T>(out, init);
    } else {
      int64_t span = 1;
      for (size_t d = 0; d < out.extent.size(); ++d)
        span += (out.extent[d] - 1) * out.strides[d];
      wide = static_cast<Sum *>(threadScratch(2, size_t(span) * sizeof(Sum)));
      std::fill_n(wide, span, Numbers<T>::load(init));
    }
  }
  Sum *data() const { return wide ? wide : reinterpret_cast<Sum *>(out.data); }
  void store() const {
    if (!wide)
      return;
    T *to = reinterpret_cast<T *>(out.data);
    forEachRun(out.extent, out.strides, out.strides,
               [&](int64_t begin, int64_t, int64_t run) {
                 storeSums(wide + begin, to + begin, run);
               });
  }

private:
  const LibraryOperand &out;
  Sum *wide = nullptr;
};

//===----------------------------------------------------------------------===//
// Sums of floats of lanes that lie next to each other, which training needs
//===----------------------------------------------------------------------===//

/// Which candidate each lane chooses: its number, in `chosen`.
template <bool keepLargest, typename T>
[[gnu::always_inline]] inline void
chooseLanes(const T *values, const std::vector<Candidate> &candidates,
            int64_t lanes, SumOf<T> *best, int32_t *chosen) {
  const T *first = values + candidates[0].operand;
  for (int64_t i = 0; i < lanes; ++i)
    best[i] = CloneNumbers<T>::load(first[i]);
  std::fill_n(chosen, lanes, 0);
  for (size_t c = 1; c < candidates.size(); ++c) {
    const T *next = values + candidates[c].operand;
    for (int64_t i = 0; i < lanes; ++i) {
      const SumOf<T> value = CloneNumbers<T>::load(next[i]);
      const bool keep = keepLargest ? best[i] >= value : best[i] <= value;
      best[i] = keep ? best[i] : value;
      chosen[i] = keep ? chosen[i] : int32_t(c);
    }
  }
}
/// Each lane's update goes to the candidate that it chose.
template <typename T>
[[gnu::always_inline]] inline void
addToChosen(SumOf<T> *sums, const T *updates,
            const std::vector<Candidate> &candidates, int64_t lanes,
            const int32_t *chosen) {
  for (size_t c = 0; c < candidates.size(); ++c) {
    if (candidates[c].result < 0)
      continue;
    SumOf<T> *to = sums + candidates[c].result;
    for (int64_t i = 0; i < lanes; ++i) {
      const SumOf<T> update = CloneNumbers<T>::load(updates[i]);
      to[i] = chosen[i] == int32_t(c) ? to[i] + update : to[i];
    }
  }
}
// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_CHOSEN_LANES(T)                                               \
  MESHLOOM_CLONES void chooseLargest(                                          \
      const T *values, const std::vector<Candidate> &candidates,               \
      int64_t lanes, SumOf<T> *best, int32_t *chosen) {                        \
    chooseLanes<true>(values, candidates, lanes, best, chosen);                \
  }                                                                            \
  MESHLOOM_CLONES void chooseSmallest(                                         \
      const T *values, const std::vector<Candidate> &candidates,               \
      int64_t lanes, SumOf<T> *best, int32_t *chosen) {                        \
    chooseLanes<false>(values, candidates, lanes, best, chosen);               \
  }                                                                            \
  MESHLOOM_CLONES void addChosen(SumOf<T> *sums, const T *updates,             \
                                 const std::vector<Candidate> &candidates,     \
                                 int64_t lanes, const int32_t *chosen) {       \
    addToChosen(sums, updates, candidates, lanes, chosen);                     \
  }
MESHLOOM_CHOSEN_LANES(float)
MESHLOOM_CHOSEN_LANES(double)
MESHLOOM_CHOSEN_LANES(BF16Element)
MESHLOOM_CHOSEN_LANES(F16Element)
#undef MESHLOOM_CHOSEN_LANES
// NOLINTEND(bugprone-macro-parentheses)

/// Only where a lane's elements are next to each other in all arrays.
template <typename T>
void scatterSums(Places &places, bool keepLargest,
                 const LibraryArguments &arguments) {
  using Sum = SumOf<T>;
  auto dataOf = [&](size_t input) {
    return reinterpret_cast<const T *>(arguments.inputs[input].data);
  };
  const T *values = dataOf(0), *updates = dataOf(1);
  const int64_t lanes = places.lanes();
  auto *best =
      static_cast<Sum *>(threadScratch(0, size_t(lanes) * sizeof(Sum)));
  auto *chosen =
      static_cast<int32_t *>(threadScratch(1, size_t(lanes) * sizeof(int32_t)));
  const BoxSums<T> sums(arguments.outputs[0], *dataOf(2));
  places.forEach([&](int64_t from, const std::vector<Candidate> &candidates) {
    if (keepLargest)
      chooseLargest(values, candidates, lanes, best, chosen);
    else
      chooseSmallest(values, candidates, lanes, best, chosen);
    addChosen(sums.data(), updates + from, candidates, lanes, chosen);
  });
  sums.store();
}

//===----------------------------------------------------------------------===//
// By kinds
//===----------------------------------------------------------------------===//

template <ReduceKind kind, typename T>
void scatterByKind(Places &places, bool keepLargest,
                   const LibraryArguments &arguments) {
  using Sum = SumOf<T>;
  const LibraryOperand &operand = arguments.inputs[0],
                       &source = arguments.inputs[1],
                       &out = arguments.outputs[0];
  const T *values = reinterpret_cast<const T *>(operand.data);
  const T *updates = reinterpret_cast<const T *>(source.data);
  const int64_t lanes = places.lanes();
  const int64_t operandStep = places.laneStep(operand),
                sourceStep = places.laneStep(source),
                outStep = places.laneStep(out);
  auto *best =
      static_cast<Sum *>(threadScratch(0, size_t(lanes) * sizeof(Sum)));
  auto *chosen =
      static_cast<int64_t *>(threadScratch(1, size_t(lanes) * sizeof(int64_t)));
  const BoxSums<T> sums(out,
                        *reinterpret_cast<const T *>(arguments.inputs[2].data));
  places.forEach([&](int64_t from, const std::vector<Candidate> &candidates) {
    for (int64_t i = 0; i < lanes; ++i) {
      best[i] =
          Numbers<T>::load(values[candidates[0].operand + i * operandStep]);
      chosen[i] = candidates[0].result;
    }
    for (size_t c = 1; c < candidates.size(); ++c) {
      const T *next = values + candidates[c].operand;
      const int64_t result = candidates[c].result;
      for (int64_t i = 0; i < lanes; ++i) {
        const Sum value = Numbers<T>::load(next[i * operandStep]);
        bool keep = true;
        if constexpr (!isComplexType<Sum>)
          keep = keepLargest ? best[i] >= value : best[i] <= value;
        best[i] = keep ? best[i] : value;
        chosen[i] = keep ? chosen[i] : result;
      }
    }
    for (int64_t i = 0; i < lanes; ++i)
      if (chosen[i] >= 0) {
        Sum &to = sums.data()[chosen[i] + i * outStep];
        to = combined<kind>(to,
                            Numbers<T>::load(updates[from + i * sourceStep]));
      }
  });
  sums.store();
}

//===----------------------------------------------------------------------===//
// By a scalar function
//===----------------------------------------------------------------------===//

/// The function takes (first, second, current, update) and gives whether the
/// first is kept, and current with the update in it.
void scatterByFunction(Places &places, KernelFunction function,
                       const LibraryArguments &arguments) {
  const LibraryOperand &operand = arguments.inputs[0],
                       &source = arguments.inputs[1],
                       &out = arguments.outputs[0];
  const int64_t width = int64_t(byteWidth(out.type));
  auto address = [&](const LibraryOperand &of, int64_t element) {
    return of.data + element * width;
  };
  forEachIndex<1>(out.extent, {&out.strides},
                  [&](const std::array<int64_t, 1> &index) {
                    std::memcpy(address(out, index[0]),
                                arguments.inputs[2].data, size_t(width));
                  });
  alignas(16) char selected[16], sum[16];
  auto call = [&](char *first, char *second, char *current, char *update,
                  char *selectedResult, char *sumResult) {
    void *operands[6] = {first,  second,         current,
                         update, selectedResult, sumResult};
    function(operands, nullptr, nullptr, nullptr);
  };
  const int64_t lanes = places.lanes();
  places.forEach([&](int64_t from, const std::vector<Candidate> &candidates) {
    for (int64_t i = 0; i < lanes; ++i) {
      const int64_t shift = i * places.laneStep(operand);
      char *update = address(source, from + i * places.laneStep(source));
      Candidate best = candidates[0];
      for (size_t c = 1; c < candidates.size(); ++c) {
        call(address(operand, best.operand + shift),
             address(operand, candidates[c].operand + shift), update, update,
             selected, sum);
        if (!selected[0])
          best = candidates[c];
      }
      if (best.result < 0)
        continue;
      char *current = address(out, best.result + i * places.laneStep(out));
      call(current, current, current, update, selected, sum);
      std::memcpy(current, sum, size_t(width));
    }
  });
}

/// By two kinds, that of select min or max, or without them by the scalar
/// function.
class SelectAndScatter final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    OptionReader options(step.step);
    if (step.inputs.size() != 3 || step.outputs.size() != 1)
      return Error("operands do not match");
    const size_t rank = step.outputs[0]->shape.size();
    if (step.inputs[0]->shape != step.outputs[0]->shape ||
        step.inputs[1]->shape.size() != rank || !step.inputs[2]->shape.empty())
      return Error("operands do not match");
    for (const BufferDecl *input : step.inputs)
      if (input->type != step.outputs[0]->type)
        return Error("operands differ in type");
    auto routine = std::make_unique<SelectAndScatter>();
    auto window = readWindow(options, rank);
    if (!window)
      return window.error();
    routine->window = std::move(*window);
    ReduceKind select = ReduceKind::Max;
    if (options.has("select_kind")) {
      const DType type = step.outputs[0]->type;
      select = options.kind("select_kind", type);
      routine->kind = options.kind("scatter_kind", type);
    } else {
      routine->function = step.scalar;
    }
    if (!options.ok() ||
        (select != ReduceKind::Min && select != ReduceKind::Max) ||
        (!options.has("select_kind") && !step.scalar))
      return Error("unknown kind of reduction, or options that it has not");
    routine->keepLargest = select == ReduceKind::Max;
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &out = arguments.outputs[0];
    if (out.empty())
      return Success();
    Places places(window, arguments.inputs[0], arguments.inputs[1], out);
    if (function) {
      scatterByFunction(places, function, arguments);
      return Success();
    }
    auto isDense = [&](const LibraryOperand &of) {
      return places.laneStep(of) == 1;
    };
    const bool areDense = isDense(arguments.inputs[0]) &&
                          isDense(arguments.inputs[1]) && isDense(out);
    withReduction(out.type, kind, [&]<typename T, ReduceKind by>() {
      if constexpr (by == ReduceKind::Sum && isRounded<SumOf<T>> &&
                    !isComplexType<T>)
        if (areDense)
          return scatterSums<T>(places, keepLargest, arguments);
      scatterByKind<by, T>(places, keepLargest, arguments);
    });
    return Success();
  }

private:
  std::vector<WindowDim> window;
  KernelFunction function = nullptr;
  bool keepLargest = true;
  ReduceKind kind = ReduceKind::Sum;
};

} // namespace

namespace meshloom::library {
LibraryRows functionsOfSelectAndScatter() {
  static constexpr LibraryRow rows[] = {
      {"select_and_scatter", SelectAndScatter::make}};
  return rows;
}
} // namespace meshloom::library
