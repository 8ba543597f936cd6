// scatter and dynamic_update_slice. A call applies what of each window of
// updates lies in its part of the result. Where it has only a part of the
// updates, its result is an addend: the call whose part is the first one begins
// with the input, the others with the identity. Sums of floats: the windows of
// one place are added to each other first, in pairs and halves in f32.
#include "Elements.h"
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "PairwiseSums.h"

#include "meshloom/Core/ThreadLocal.h"
#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Combine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// How updates are combined with what is there, where that is no ReduceKind: by
/// the scalar function, where there is one.
constexpr int64_t REPLACES = -1, CALLS_FUNCTION = -2;

/// The part of a window that lies in the box of the result.
struct WindowPart {
  Shape extent, resultStrides, updateStrides;
  int64_t result = 0, update = 0; ///< elements to the first one
  bool empty = false;
};

/// `updateDims[d]`: where result dim d is in the updates, or -1; `update`: the
/// window's element at the first index of its box.
void cutWindow(WindowPart &part, const Shape &start, int64_t update,
               const LibraryOperand &result, const LibraryOperand &updates,
               const std::vector<int> &updateDims) {
  part.extent.clear();
  part.resultStrides.clear();
  part.updateStrides.clear();
  part.result = 0;
  part.update = update;
  part.empty = false;
  for (size_t d = 0; d < start.size(); ++d) {
    const int u = updateDims[d];
    const int64_t begin = u < 0 ? 0 : updates.begin(size_t(u));
    const int64_t end = u < 0 ? 1 : updates.end(size_t(u));
    const int64_t low = std::max(begin, result.begin(d) - start[d]);
    const int64_t high = std::min(end, result.end(d) - start[d]);
    part.empty |= high <= low;
    part.result += result.strides[d] * (start[d] + low - result.begin(d));
    if (u < 0)
      continue;
    part.update += updates.strides[size_t(u)] * (low - begin);
    part.extent.push_back(high - low);
    part.resultStrides.push_back(result.strides[d]);
    part.updateStrides.push_back(updates.strides[size_t(u)]);
  }
}

/// A window of updates: where it goes, as the linear index of its first element
/// in the whole result, and its number.
struct Arrival {
  uint64_t place, window;
};

/// In the order of their places, those of one place as they were.
void sortByPlace(std::vector<Arrival> &arrivals, uint64_t places) {
  auto before = [](const Arrival &a, const Arrival &b) {
    return a.place < b.place;
  };
  if (std::ranges::is_sorted(arrivals, before))
    return;
  constexpr unsigned DIGIT = 11;
  std::vector<Arrival> sorted(arrivals.size());
  for (unsigned shift = 0; shift < unsigned(std::bit_width(places));
       shift += DIGIT) {
    std::array<size_t, (1 << DIGIT) + 1> begin{};
    auto digit = [&](const Arrival &a) {
      return size_t(a.place >> shift & ((1 << DIGIT) - 1));
    };
    for (const Arrival &arrival : arrivals)
      ++begin[digit(arrival) + 1];
    for (size_t d = 1; d < begin.size(); ++d)
      begin[d] += begin[d - 1];
    for (const Arrival &arrival : arrivals)
      sorted[begin[digit(arrival)]++] = arrival;
    arrivals.swap(sorted);
  }
}

class Scatter : public LibraryRoutine {
public:
  static MadeRoutine make(const LibraryStep &step);
  Status run(const LibraryArguments &arguments) const override;

private:
  void begin(const LibraryArguments &arguments) const;
  void apply(const LibraryArguments &arguments, const Shape &start,
             const std::vector<int64_t> &updates, WindowPart &part) const;
  /// Calls visit(start, updates) for each window that is wholly in bounds.
  template <typename Visit>
  void forEachWindow(const LibraryArguments &arguments,
                     const Visit &visit) const;
  void addInPairs(const LibraryArguments &arguments) const;
  template <typename T>
  void addWindows(const LibraryArguments &arguments, size_t i,
                  std::span<const Arrival> arrivals, const Shape &starts,
                  const std::vector<int64_t> &updates) const;

  size_t count = 0; ///< inputs
  int64_t how = REPLACES, vectorDim = 0;
  KernelFunction function = nullptr;
  std::vector<int64_t> indexMap;
  std::vector<int> updateDims;
  std::vector<unsigned> batchDims, indexDims;
  std::vector<std::pair<unsigned, size_t>> batching;
  Shape windowSizes; ///< per result dim, global
  std::vector<unsigned> reducedLoops;
};

MadeRoutine Scatter::make(const LibraryStep &step) {
  OptionReader options(step.step);
  auto scatter = std::make_unique<Scatter>();
  scatter->function = step.scalar;
  scatter->how = options.has("kind") ? int64_t(options.kind("kind"))
                 : step.scalar       ? CALLS_FUNCTION
                                     : REPLACES;
  scatter->vectorDim = options.number("index_vector_dim");
  const auto windowDims = options.list("update_window_dims");
  const auto inserted = options.list("inserted_window_dims");
  const auto inputBatching = options.list("input_batching_dims");
  const auto indexBatching = options.list("scatter_indices_batching_dims");
  scatter->indexMap = options.list("scatter_dims_to_operand_dims");
  const size_t count = scatter->count = step.outputs.size();
  if (!options.ok() || count == 0 || step.inputs.size() != 2 * count + 1)
    return Error("expected inputs, indices and as many updates and results");
  const Shape &result = step.outputs[0]->shape,
              &indices = step.inputs[count]->shape,
              &updates = step.inputs[count + 1]->shape;
  for (size_t i = 0; i < count; ++i) {
    const DType type = step.outputs[i]->type;
    if (step.inputs[i]->type != type ||
        step.inputs[count + 1 + i]->type != type ||
        step.inputs[i]->shape != result || step.outputs[i]->shape != result ||
        step.inputs[count + 1 + i]->shape != updates)
      return Error("its inputs, updates and results do not fit");
  }
  const auto kept = otherDims(result.size(), inserted, inputBatching);
  const int64_t vector = scatter->vectorDim;
  for (unsigned dim = 0; dim < indices.size(); ++dim)
    if (dim != vector)
      scatter->indexDims.push_back(dim);
  scatter->batchDims = otherDims(updates.size(), windowDims);
  const int64_t entries = vector >= 0 && vector < int64_t(indices.size())
                              ? indices[size_t(vector)]
                              : 1;
  if (!areDims(windowDims, updates.size()) ||
      kept.size() != windowDims.size() ||
      scatter->batchDims.size() != scatter->indexDims.size() ||
      !areDims(scatter->indexMap, result.size()) ||
      !areDims(inserted, result.size()) ||
      !areDims(inputBatching, result.size()) ||
      !areDims(indexBatching, indices.size()) ||
      inputBatching.size() != indexBatching.size() ||
      int64_t(scatter->indexMap.size()) != entries || vector < 0 ||
      vector > int64_t(indices.size()) || isFloat(step.inputs[count]->type) ||
      isComplex(step.inputs[count]->type))
    return Error("its dims do not fit its operands");
  scatter->updateDims.assign(result.size(), -1);
  scatter->windowSizes.assign(result.size(), 1);
  for (size_t i = 0; i < kept.size(); ++i) {
    scatter->updateDims[kept[i]] = int(windowDims[i]);
    scatter->windowSizes[kept[i]] = updates[size_t(windowDims[i])];
  }
  for (size_t i = 0; i < inputBatching.size(); ++i) {
    auto place =
        std::ranges::find(scatter->indexDims, unsigned(indexBatching[i]));
    if (place == scatter->indexDims.end())
      return Error("a batching dim is its index vector");
    scatter->batching.emplace_back(unsigned(inputBatching[i]),
                                   size_t(place - scatter->indexDims.begin()));
  }
  for (unsigned l = 0; l < step.step.loops.size(); ++l)
    if (step.step.loops[l].reduction)
      scatter->reducedLoops.push_back(l);
  if (!scatter->reducedLoops.empty() && scatter->how < 0)
    return Error("only updates that are combined by a kind can be cut");
  return made(std::move(scatter));
}

/// The results before the first update.
void Scatter::begin(const LibraryArguments &arguments) const {
  const bool first = std::ranges::all_of(reducedLoops, [&](unsigned l) {
    return arguments.origin[l] == 0 && arguments.extents[l] > 0;
  });
  for (size_t i = 0; i < count; ++i) {
    const LibraryOperand &input = arguments.inputs[i],
                         &result = arguments.outputs[i];
    const unsigned width = byteWidth(result.type);
    if (first)
      copyElements(width, result.extent, result.data, result.strides,
                   input.data, input.strides);
    else
      forEachRun(result.extent, result.strides, result.strides,
                 [&](int64_t at, int64_t, int64_t run) {
                   fillIdentity(ReduceKind(how), result.type,
                                result.data + at * width, run);
                 });
  }
}

/// Applies one window: `updates[i]` is the element of updates i at the first
/// index of the window's box.
void Scatter::apply(const LibraryArguments &arguments, const Shape &start,
                    const std::vector<int64_t> &updates,
                    WindowPart &part) const {
  if (how == CALLS_FUNCTION) {
    std::vector<WindowPart> parts(count);
    for (size_t i = 0; i < count; ++i)
      cutWindow(parts[i], start, updates[i], arguments.outputs[i],
                arguments.inputs[count + 1 + i], updateDims);
    if (parts[0].empty)
      return;
    // Strides of all arrays, in turn, at one index of the window.
    std::vector<std::complex<double>> values(count); // 16 bytes each
    std::vector<void *> operands(3 * count);
    Shape index(parts[0].extent.size(), 0);
    while (true) {
      for (size_t i = 0; i < count; ++i) {
        const LibraryOperand &result = arguments.outputs[i],
                             &update = arguments.inputs[count + 1 + i];
        int64_t r = parts[i].result, u = parts[i].update;
        for (size_t d = 0; d < index.size(); ++d) {
          r += index[d] * parts[i].resultStrides[d];
          u += index[d] * parts[i].updateStrides[d];
        }
        const unsigned width = byteWidth(result.type);
        operands[i] = result.data + r * width;
        operands[count + i] = update.data + u * width;
        operands[2 * count + i] = &values[i];
      }
      callScalar(function, operands.data());
      for (size_t i = 0; i < count; ++i)
        std::memcpy(operands[i], &values[i],
                    byteWidth(arguments.outputs[i].type));
      size_t d = index.size();
      while (d-- > 0) {
        if (++index[d] < parts[0].extent[d])
          break;
        index[d] = 0;
      }
      if (d == size_t(-1))
        return;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const LibraryOperand &result = arguments.outputs[i],
                         &update = arguments.inputs[count + 1 + i];
    const unsigned width = byteWidth(result.type);
    cutWindow(part, start, updates[i], result, update, updateDims);
    if (part.empty)
      continue;
    char *to = result.data + part.result * width;
    const char *from = update.data + part.update * width;
    if (how == REPLACES) {
      copyElements(width, part.extent, to, part.resultStrides, from,
                   part.updateStrides);
      continue;
    }
    forEachRun(part.extent, part.resultStrides, part.updateStrides,
               [&](int64_t target, int64_t source, int64_t run) {
                 void *into = to + target * width;
                 const void *addends[] = {into, from + source * width};
                 combine(ReduceKind(how), result.type, into, addends, run);
               });
  }
}

template <typename Visit>
void Scatter::forEachWindow(const LibraryArguments &arguments,
                            const Visit &visit) const {
  const LibraryOperand &indices = arguments.inputs[count],
                       &result = arguments.outputs[0],
                       &updates = arguments.inputs[count + 1];
  if (updates.empty())
    return;
  const int64_t entry = size_t(vectorDim) < indices.strides.size()
                            ? indices.strides[size_t(vectorDim)]
                            : 0;
  const unsigned width = byteWidth(indices.type);
  const size_t rank = batchDims.size();
  Shape start(updateDims.size(), 0), index(rank, 0);
  std::vector<int64_t> at(count, 0);
  int64_t from = 0;
  auto step = [&](size_t d, int64_t by) {
    from += by * indices.strides[indexDims[d]];
    for (size_t i = 0; i < count; ++i)
      at[i] += by * arguments.inputs[count + 1 + i].strides[batchDims[d]];
  };
  while (true) {
    for (size_t k = 0; k < indexMap.size(); ++k)
      start[size_t(indexMap[k])] = readIndex(
          indices.type, indices.data + (from + int64_t(k) * entry) * width);
    for (auto [d, place] : batching)
      start[d] = indices.begin(indexDims[place]) + index[place];
    // Windows that are not wholly in bounds are left out.
    bool inside = true;
    for (size_t d = 0; d < start.size(); ++d)
      inside &=
          start[d] >= 0 && start[d] <= (*result.global)[d] - windowSizes[d];
    if (inside)
      visit(start, at);
    size_t d = rank;
    while (d-- > 0) {
      step(d, 1);
      if (++index[d] < updates.extent[batchDims[d]])
        break;
      step(d, -updates.extent[batchDims[d]]);
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

/// Adds windows of updates `i` that all go to the same place. `starts` and
/// `updates`: of each window, one after the other.
template <typename T>
void Scatter::addWindows(const LibraryArguments &arguments, size_t i,
                         std::span<const Arrival> arrivals, const Shape &starts,
                         const std::vector<int64_t> &updates) const {
  const LibraryOperand &result = arguments.outputs[i],
                       &update = arguments.inputs[count + 1 + i];
  const size_t rank = updateDims.size();
  const auto first = starts.begin() + long(arrivals[0].window * rank);
  const Shape start(first, first + long(rank));
  WindowPart part;
  cutWindow(part, start, 0, result, update, updateDims);
  if (part.empty)
    return;
  const T *from = reinterpret_cast<const T *>(update.data) + part.update;
  T *to = reinterpret_cast<T *>(result.data) + part.result;
  using Sum = SumOf<T>;
  const Shape dense = rowMajorStrides(part.extent);
  auto &running = threadLocal<std::vector<Sum>>();
  auto &sums = threadLocal<PairwiseSums<Sum>>();
  const int64_t elements = elementCount(part.extent);
  running.assign(size_t(elements), Sum());
  sums.start(elements);
  for (const Arrival &arrival : arrivals) {
    const T *window = from + updates[arrival.window * count + i];
    forEachRun(part.extent, dense, part.updateStrides,
               [&](int64_t target, int64_t source, int64_t run) {
                 for (int64_t e = 0; e < run; ++e)
                   running[size_t(target + e)] +=
                       Numbers<T>::load(window[source + e]);
               });
    sums.added(running.data());
  }
  sums.addTo(running.data());
  forEachRun(part.extent, part.resultStrides, dense,
             [&](int64_t target, int64_t source, int64_t run) {
               for (int64_t e = 0; e < run; ++e)
                 to[target + e] =
                     Numbers<T>::store(Numbers<T>::load(to[target + e]) +
                                       running[size_t(source + e)]);
             });
}

void Scatter::addInPairs(const LibraryArguments &arguments) const {
  const Shape &whole = *arguments.outputs[0].global;
  std::vector<Arrival> arrivals;
  Shape starts;
  std::vector<int64_t> updates;
  forEachWindow(arguments,
                [&](const Shape &start, const std::vector<int64_t> &at) {
                  uint64_t place = 0;
                  for (size_t d = 0; d < start.size(); ++d)
                    place = place * uint64_t(whole[d]) + uint64_t(start[d]);
                  arrivals.push_back({place, arrivals.size()});
                  starts.insert(starts.end(), start.begin(), start.end());
                  updates.insert(updates.end(), at.begin(), at.end());
                });
  sortByPlace(arrivals, uint64_t(elementCount(whole)));
  for (size_t begin = 0, end = 0; begin < arrivals.size(); begin = end) {
    while (end < arrivals.size() &&
           arrivals[end].place == arrivals[begin].place)
      ++end;
    for (size_t i = 0; i < count; ++i)
      withElement(arguments.outputs[i].type, [&]<typename T>() {
        if constexpr (isRounded<SumOf<T>>)
          addWindows<T>(arguments, i, {&arrivals[begin], end - begin}, starts,
                        updates);
      });
  }
}

Status Scatter::run(const LibraryArguments &arguments) const {
  if (arguments.outputs[0].empty())
    return Success();
  begin(arguments);
  auto isFloatSum = [&](const LibraryOperand &result) {
    return how == int64_t(ReduceKind::Sum) &&
           (isFloat(result.type) || isComplex(result.type));
  };
  if (std::ranges::all_of(arguments.outputs, isFloatSum)) {
    addInPairs(arguments);
    return Success();
  }
  WindowPart part;
  forEachWindow(arguments,
                [&](const Shape &start, const std::vector<int64_t> &at) {
                  apply(arguments, start, at, part);
                });
  return Success();
}

class DynamicUpdateSlice : public LibraryRoutine {
public:
  static MadeRoutine make(const LibraryStep &step) {
    if (!step.step.options.empty() || step.outputs.size() != 1 ||
        step.inputs.size() < 2)
      return Error("expected a tensor, an update and start indices");
    const BufferDecl &whole = *step.outputs[0], &update = *step.inputs[1];
    const size_t rank = whole.shape.size();
    auto routine = std::make_unique<DynamicUpdateSlice>();
    bool fits = step.inputs.size() == rank + 2 &&
                step.inputs[0]->shape == whole.shape &&
                step.inputs[0]->type == whole.type &&
                update.type == whole.type && update.shape.size() == rank;
    for (size_t d = 0; fits && d < rank; ++d) {
      fits = update.shape[d] <= whole.shape[d] &&
             step.inputs[d + 2]->shape.empty();
      routine->updateDims.push_back(int(d));
    }
    if (!fits)
      return Error("its operands do not fit");
    return made(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &operand = arguments.inputs[0],
                         &update = arguments.inputs[1],
                         &result = arguments.outputs[0];
    if (result.empty())
      return Success();
    const unsigned width = byteWidth(result.type);
    copyElements(width, result.extent, result.data, result.strides,
                 operand.data, operand.strides);
    Shape start;
    for (size_t d = 0; d < updateDims.size(); ++d) {
      const LibraryOperand &index = arguments.inputs[d + 2];
      start.push_back(
          std::clamp<int64_t>(readIndex(index.type, index.data), 0,
                              (*result.global)[d] - (*update.global)[d]));
    }
    WindowPart part;
    cutWindow(part, start, 0, result, update, updateDims);
    if (!part.empty)
      copyElements(width, part.extent, result.data + part.result * width,
                   part.resultStrides, update.data + part.update * width,
                   part.updateStrides);
    return Success();
  }

private:
  std::vector<int> updateDims;
};
} // namespace

namespace meshloom::library {
LibraryRows scatterFunctions() {
  static constexpr LibraryRow rows[] = {
      {"scatter", Scatter::make},
      {"dynamic_update_slice", DynamicUpdateSlice::make}};
  return rows;
}
} // namespace meshloom::library
