// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// scatter and dynamic_update_slice. Its inputs are followed by the indices, the
// updates and, where each entry of index vectors is an array of its own, the
// arrays of the entries behind the first one. A call applies what of each
// window of updates lies in its part of the result, window after window in the
// order of the indices. Where it has only a part of the updates, its result is
// an addend: the call whose part is the first one begins with the input, the
// others with the identity.
#include "LibraryTable.h"
#include "PairwiseSums.h"
#include "ScatterSums.h"
#include "ScatterUpdates.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <array>
#include <memory>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// How updates are combined with what is there, where that is no ReduceKind: by
/// the scalar function, where there is one.
constexpr int64_t REPLACES = -1, CALLS_FUNCTION = -2;

/// An element that is not read as a number.
template <unsigned width> struct Bytes {
  char bytes[width];
};

/// Calls `body.template operator()<T>()` for bytes as wide as the type.
template <typename Body> void withBytes(DType type, const Body &body) {
  switch (byteWidth(type)) {
  case 1:
    return body.template operator()<Bytes<1>>();
  case 2:
    return body.template operator()<Bytes<2>>();
  case 4:
    return body.template operator()<Bytes<4>>();
  case 8:
    return body.template operator()<Bytes<8>>();
  default:
    return body.template operator()<Bytes<16>>();
  }
}

class Scatter : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step);
  Status run(const LibraryArguments &arguments) const override;

private:
  void runPart(const LibraryArguments &arguments) const;
  void runInPlace(const LibraryArguments &arguments) const;
  void applyUpdates(const LibraryArguments &arguments) const;
  void begin(const LibraryArguments &arguments) const;
  void callFunction(const IndexedWindows &windows,
                    const LibraryArguments &arguments) const;
  /// Returns the windows of updates `i`, which lie alike.
  AlikeWindows alikeWindows(const IndexedWindows &windows,
                            const LibraryArguments &arguments, size_t i) const {
    return {windows, dims, arguments.outputs[i],
            arguments.inputs[count + 1 + i], i};
  }
  template <typename T, typename Body>
  void forEachRunOf(const IndexedWindows &windows,
                    const LibraryArguments &arguments, size_t i,
                    const Shape &strides, const Body &body) const;
  template <typename T>
  void combine(const UpdateLoops<T> &loops, const IndexedWindows &windows,
               const LibraryArguments &arguments, size_t i) const;
  template <typename T>
  void add(const IndexedWindows &windows, const LibraryArguments &arguments,
           size_t i) const;

  size_t count = 0; ///< inputs
  /// How much of the result a call has decides in which order it adds, which
  /// must not change bits.
  bool isOrdered = false;
  int64_t combination = REPLACES;
  KernelFunction function = nullptr;
  /// Complex numbers are summed as pairs of real ones, which are a last dim of
  /// windows, also in `dims`.
  bool addsParts = false;
  Shape resultOfParts, updatesOfParts;
  IndexDims dims;
  std::vector<unsigned> reducedLoops;
};

Shape withParts(Shape shape) {
  shape.push_back(2);
  return shape;
}

/// Complex numbers as pairs of real ones, in a box of `global`.
LibraryOperand partsOf(LibraryOperand numbers, const Shape &global) {
  numbers.type = numbers.type == DType::C64 ? DType::F32 : DType::F64;
  for (int64_t &stride : numbers.strides)
    stride *= 2;
  numbers.strides.push_back(1);
  numbers.extent = withParts(std::move(numbers.extent));
  numbers.offset.push_back(0);
  numbers.global = &global;
  return numbers;
}

RoutineOrError Scatter::make(const LibraryStep &step) {
  OptionReader options(step.step);
  auto scatter = std::make_unique<Scatter>();
  scatter->function = step.scalar;
  const bool hasKind = options.has("kind");
  scatter->combination = hasKind       ? int64_t(options.kind("kind"))
                         : step.scalar ? CALLS_FUNCTION
                                       : REPLACES;
  scatter->isOrdered =
      step.deterministic && scatter->combination == int64_t(ReduceKind::Sum) &&
      std::ranges::any_of(step.outputs, [](const BufferDecl *output) {
        return isFloat(output->type) || isComplex(output->type);
      });
  scatter->dims.read(options, "scatter_dims_to_operand_dims");
  const auto windowDims = options.list("update_window_dims");
  const auto inserted = options.list("inserted_window_dims");
  const auto inputBatching = options.list("input_batching_dims");
  const auto indexBatching = options.list("scatter_indices_batching_dims");
  const size_t count = scatter->count = step.outputs.size();
  const size_t entryArrays = step.inputs.size() - 2 * count;
  if (!options.ok() || count == 0 || step.inputs.size() <= 2 * count ||
      (entryArrays > 1 && entryArrays != scatter->dims.indexMap.size()))
    return Error("expected inputs, indices, and one update and one result for "
                 "each input");
  const Shape &result = step.outputs[0]->shape,
              &indices = step.inputs[count]->shape,
              &updates = step.inputs[count + 1]->shape;
  for (size_t i = 0; i < count; ++i) {
    const DType type = step.outputs[i]->type;
    const Shape &input = step.inputs[i]->shape;
    if (step.inputs[i]->type != type ||
        step.inputs[count + 1 + i]->type != type ||
        (input != result && !input.empty()) ||
        step.outputs[i]->shape != result ||
        step.inputs[count + 1 + i]->shape != updates ||
        (hasKind && !isCombinedBy(type, ReduceKind(scatter->combination))))
      return Error("its inputs, updates and results do not fit");
  }
  const auto windowInputDims =
      otherDims(result.size(), inserted, inputBatching);
  const int64_t vector = scatter->dims.vectorDim;
  for (unsigned dim = 0; dim < indices.size(); ++dim)
    if (dim != vector)
      scatter->dims.indexDims.push_back(dim);
  scatter->dims.batchDims = otherDims(updates.size(), windowDims);
  const int64_t entries = vector >= 0 && vector < int64_t(indices.size())
                              ? indices[size_t(vector)]
                              : int64_t(entryArrays);
  for (const BufferDecl *other : std::span(step.inputs).subspan(2 * count + 1))
    if (other->shape != indices || other->type != step.inputs[count]->type)
      return Error("the entries of its indices do not fit each other");
  if (!areDims(windowDims, updates.size()) ||
      windowInputDims.size() != windowDims.size() ||
      scatter->dims.batchDims.size() != scatter->dims.indexDims.size() ||
      !areDims(scatter->dims.indexMap, result.size()) ||
      !areDims(inserted, result.size()) ||
      !areDims(inputBatching, result.size()) ||
      !areDims(indexBatching, indices.size()) ||
      inputBatching.size() != indexBatching.size() ||
      int64_t(scatter->dims.indexMap.size()) != entries ||
      int64_t(scatter->dims.wraps.size()) != entries || vector < 0 ||
      vector > int64_t(indices.size()) || isFloat(step.inputs[count]->type) ||
      isComplex(step.inputs[count]->type))
    return Error("its dims do not fit its operands");
  scatter->dims.arrayDims.assign(result.size(), -1);
  scatter->dims.windowSizes.assign(result.size(), 1);
  for (size_t i = 0; i < windowInputDims.size(); ++i) {
    scatter->dims.arrayDims[windowInputDims[i]] = int(windowDims[i]);
    scatter->dims.windowSizes[windowInputDims[i]] =
        updates[size_t(windowDims[i])];
  }
  for (size_t i = 0; i < inputBatching.size(); ++i) {
    auto place =
        std::ranges::find(scatter->dims.indexDims, unsigned(indexBatching[i]));
    if (place == scatter->dims.indexDims.end())
      return Error("a batching dim is its index vector");
    scatter->dims.batching.emplace_back(
        unsigned(inputBatching[i]),
        size_t(place - scatter->dims.indexDims.begin()));
  }
  scatter->addsParts =
      scatter->combination == int64_t(ReduceKind::Sum) &&
      std::ranges::all_of(step.outputs, [](const BufferDecl *output) {
        return isComplex(output->type);
      });
  if (scatter->addsParts) {
    scatter->resultOfParts = withParts(result);
    scatter->updatesOfParts = withParts(updates);
    scatter->dims.arrayDims.push_back(int(updates.size()));
    scatter->dims.windowSizes.push_back(2);
  }
  for (unsigned l = 0; l < step.step.loops.size(); ++l)
    if (step.step.loops[l].reduction)
      scatter->reducedLoops.push_back(l);
  if (!scatter->reducedLoops.empty() && scatter->combination < 0)
    return Error("only updates that are combined by a kind can be cut");
  return routineOf(std::move(scatter));
}

/// Fills a box with copies of an element.
void fillBox(const LibraryOperand &box, const void *element) {
  withBytes(box.type, [&]<typename T>() {
    T *data = reinterpret_cast<T *>(box.data);
    const T value = *static_cast<const T *>(element);
    forEachRun(box.extent, box.strides, box.strides,
               [&](int64_t begin, int64_t, int64_t run) {
                 std::fill_n(data + begin, run, value);
               });
  });
}

/// Fills a box with what changes no element that it is combined with: a sum's
/// is the negative zero, which leaves even zeros as they are.
void fillNeutral(ReduceKind kind, const LibraryOperand &box) {
  withElement(box.type, [&]<typename T>() {
    T value{};
    fillIdentity(kind, box.type, &value, 1);
    if constexpr (isRounded<SumOf<T>>)
      if (kind == ReduceKind::Sum)
        value = Numbers<T>::store(-Numbers<T>::load(value));
    fillBox(box, &value);
  });
}

/// The results before the first update. An input without dims is a number that
/// all elements begin with.
void Scatter::begin(const LibraryArguments &arguments) const {
  const bool first = std::ranges::all_of(reducedLoops, [&](unsigned l) {
    return arguments.origin[l] == 0 && arguments.extents[l] > 0;
  });
  for (size_t i = 0; i < count; ++i) {
    const LibraryOperand &input = arguments.inputs[i],
                         &result = arguments.outputs[i];
    if (!first)
      fillNeutral(ReduceKind(combination), result);
    else if (input.extent.size() == result.extent.size())
      copyElements(byteWidth(result.type), result.extent, result.data,
                   result.strides, input.data, input.strides);
    else
      fillBox(result, input.data);
  }
}

/// Calls the scalar function for each element of each window.
void Scatter::callFunction(const IndexedWindows &windows,
                           const LibraryArguments &arguments) const {
  std::vector<WindowPart> parts(count);
  std::vector<std::complex<double>> values(count); // 16 bytes each
  std::vector<void *> operands(3 * count);
  for (size_t i = 0; i < count; ++i)
    operands[2 * count + i] = &values[i];
  Shape start, index;
  auto apply = [&](const Shape &first) {
    index.assign(parts[0].extent.size(), 0);
    while (true) {
      for (size_t i = 0; i < count; ++i) {
        const LibraryOperand &result = arguments.outputs[i],
                             &update = arguments.inputs[count + 1 + i];
        int64_t r = parts[i].tensor, u = parts[i].array + first[i];
        for (size_t d = 0; d < index.size(); ++d) {
          r += index[d] * parts[i].tensorStrides[d];
          u += index[d] * parts[i].arrayStrides[d];
        }
        const unsigned width = byteWidth(result.type);
        operands[i] = result.data + r * width;
        operands[count + i] = update.data + u * width;
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
  };
  windows.forEachBlock([&](const IndexedWindows::Block &block) {
    Shape first = block.arrays;
    for (int64_t w = 0; w < block.count; ++w) {
      if (windows.readStart(block, w, start)) {
        for (size_t i = 0; i < count; ++i)
          parts[i].cut(start, arguments.outputs[i],
                       arguments.outputs[i].strides,
                       arguments.inputs[count + 1 + i], dims.arrayDims);
        if (!parts[0].empty)
          apply(first);
      }
      for (size_t i = 0; i < count; ++i)
        first[i] += windows.step(i);
    }
  });
}

/// Windows of which the box has different parts: calls body(target, from, run)
/// for each run of updates, one window after the other. Targets are by
/// `strides`.
template <typename T, typename Body>
void Scatter::forEachRunOf(const IndexedWindows &windows,
                           const LibraryArguments &arguments, size_t i,
                           const Shape &strides, const Body &body) const {
  const LibraryOperand &result = arguments.outputs[i],
                       &updates = arguments.inputs[count + 1 + i];
  WindowPart part;
  Shape start;
  windows.forEachBlock([&](const IndexedWindows::Block &block) {
    for (int64_t w = 0; w < block.count; ++w) {
      if (!windows.readStart(block, w, start))
        continue;
      part.cut(start, result, strides, updates, dims.arrayDims);
      if (part.empty)
        continue;
      const T *from = reinterpret_cast<const T *>(updates.data) + part.array +
                      block.arrays[i] + w * windows.step(i);
      forEachRun(part.extent, part.tensorStrides, part.arrayStrides,
                 [&](int64_t target, int64_t source, int64_t run) {
                   body(part.tensor + target, from + source, run);
                 });
    }
  });
}

/// Combines elements with their updates in the order of the indices.
template <typename T>
void Scatter::combine(const UpdateLoops<T> &loops,
                      const IndexedWindows &windows,
                      const LibraryArguments &arguments, size_t i) const {
  if (windows.areAlike())
    return combineInOrder(loops, alikeWindows(windows, arguments, i));
  const LibraryOperand &result = arguments.outputs[i];
  T *to = reinterpret_cast<T *>(result.data);
  forEachRunOf<T>(windows, arguments, i, result.strides,
                  [&](int64_t target, const T *from, int64_t run) {
                    const IndexedWindows::Offset here = 0;
                    loops.rows(to + target, from, 0, WindowOffsets(&here, 1),
                               run);
                  });
}

/// Adds updates that are summed in a type that rounds less (SumOfUpdates.h).
template <typename T>
void Scatter::add(const IndexedWindows &windows,
                  const LibraryArguments &arguments, size_t i) const {
  if (windows.areAlike())
    return addUpdates<T>(alikeWindows(windows, arguments, i), isOrdered);
  const LibraryOperand &result = arguments.outputs[i];
  const Shape dense = rowMajorStrides(result.extent);
  std::vector<SumOfUpdates<T>> sums(size_t(elementCount(result.extent)));
  forEachRunOf<T>(windows, arguments, i, dense,
                  [&](int64_t target, const T *from, int64_t run) {
                    for (int64_t e = 0; e < run; ++e)
                      sums[size_t(target + e)].add(Numbers<T>::load(from[e]));
                  });
  addSums(result.extent, reinterpret_cast<T *>(result.data), result.strides,
          sums.data(), dense);
}

/// Leaves of a box the indices [begin, end) of a dim.
void cutBox(LibraryOperand &box, size_t dim, int64_t begin, int64_t end) {
  box.offset[dim] += begin;
  box.extent[dim] = end - begin;
  box.data += begin * box.strides[dim] * byteWidth(box.type);
}

/// Where nothing else is cut, workers of a team have parts of the result along
/// its longest dim that windows move along. Each reads all indices, which takes
/// a fraction of the time that updates at random places take: two or three
/// workers gain nothing with windows of few numbers in a result that stays in
/// the first cache, and they share the updates where these are many for each
/// element (ScatterSums.h).
Status Scatter::run(const LibraryArguments &arguments) const {
  const LibraryOperand &result = arguments.outputs[0];
  if (result.empty())
    return Success();
  size_t cut = result.extent.size();
  for (size_t d = 0; d < result.extent.size(); ++d)
    if (dims.moves(d) &&
        (cut == result.extent.size() || result.extent[d] > result.extent[cut]))
      cut = d;
  auto runRange = [&](int64_t begin, int64_t end) {
    LibraryArguments part = arguments;
    for (size_t i = 0; i < count; ++i) {
      cutBox(part.outputs[i], cut, begin, end);
      if (part.inputs[i].extent.size() == result.extent.size())
        cutBox(part.inputs[i], cut, begin, end);
    }
    runPart(part);
  };
  const int64_t places = elementCount(result.extent);
  if (isOrdered) {
    const TeamScope alone(nullptr);
    if (cut == result.extent.size()) {
      runPart(arguments);
      return Success();
    }
    // There is a sum for each element, at once for as many as this.
    constexpr int64_t mostSums = 1 << 22;
    const int64_t length = result.extent[cut],
                  pieces = std::min(length, (places + mostSums - 1) / mostSums);
    for (int64_t p = 0; p < pieces; ++p)
      runRange(length * p / pieces, length * (p + 1) / pieces);
    return Success();
  }
  Team &team = Team::current();
  constexpr int64_t fewWorkers = 3, fewNumbers = 4, fewPlaces = 1 << 15;
  const int64_t updates = elementCount(arguments.inputs[count + 1].extent);
  int64_t windows = 1;
  for (unsigned d : dims.batchDims)
    windows *= arguments.inputs[count + 1].extent[d];
  const bool gainsNothing =
      team.workers() <= fewWorkers &&
      ((updates < fewNumbers * windows && places < fewPlaces) ||
       updates >= MANY_UPDATES * team.workers() * places);
  if (gainsNothing || cut == result.extent.size()) {
    runPart(arguments);
    return Success();
  }
  constexpr int64_t elementsOfWorker = 1 << 14, grain = 64;
  const int64_t elements = places + updates;
  team.forEachRange(
      result.extent[cut],
      std::max(grain, result.extent[cut] * elementsOfWorker / elements), grain,
      runRange);
  return Success();
}

/// The results of workers lie side by side. Where they are small, workers would
/// wait for lines of the cache that another one writes: each has its own memory
/// until its result is complete.
void Scatter::runPart(const LibraryArguments &arguments) const {
  alignas(64) std::array<char, 4096> memory;
  LibraryArguments part = arguments;
  size_t used = 0;
  for (LibraryOperand &result : part.outputs) {
    result.strides = rowMajorStrides(result.extent);
    result.data = memory.data() + used;
    used += size_t(elementCount(result.extent)) * byteWidth(result.type);
    if (used > memory.size())
      return runInPlace(arguments);
    used = (used + 15) / 16 * 16;
  }
  runInPlace(part);
  for (size_t i = 0; i < count; ++i) {
    const LibraryOperand &result = arguments.outputs[i],
                         &complete = part.outputs[i];
    copyElements(byteWidth(result.type), result.extent, result.data,
                 result.strides, complete.data, complete.strides);
  }
}

void Scatter::runInPlace(const LibraryArguments &arguments) const {
  begin(arguments);
  if (arguments.inputs[count + 1].empty())
    return;
  if (!addsParts)
    return applyUpdates(arguments);
  LibraryArguments parts = arguments;
  for (size_t i = 0; i < count; ++i) {
    LibraryOperand &result = parts.outputs[i],
                   &updates = parts.inputs[count + 1 + i];
    result = partsOf(std::move(result), resultOfParts);
    updates = partsOf(std::move(updates), updatesOfParts);
  }
  applyUpdates(parts);
}

void Scatter::applyUpdates(const LibraryArguments &arguments) const {
  const IndexedWindows windows(
      dims, arguments.inputs[count], arguments.outputs[0],
      std::span(arguments.inputs).subspan(count + 1, count),
      IndexedWindows::Outside::Skipped,
      std::span(arguments.inputs).subspan(2 * count + 1));
  if (combination == CALLS_FUNCTION) {
    callFunction(windows, arguments);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (windows.areAlike() && alikeWindows(windows, arguments, i)
                                  .part(arguments.outputs[i].strides)
                                  .empty)
      continue;
    const DType type = arguments.outputs[i].type;
    if (combination == REPLACES)
      withBytes(type, [&]<typename T>() {
        combine(UpdateLoops<T>::template of<Replace>(), windows, arguments, i);
      });
    else
      withReduction(type, ReduceKind(combination),
                    [&]<typename T, ReduceKind kind>() {
                      // Complex numbers are here only beside results of another
                      // type.
                      if constexpr (kind == ReduceKind::Sum &&
                                    isRounded<SumOf<T>> && !isComplexType<T>)
                        add<T>(windows, arguments, i);
                      else
                        combine(UpdateLoops<T>::template of<CombineBy<kind>>(),
                                windows, arguments, i);
                    });
  }
}

class DynamicUpdateSlice : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
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
    return routineOf(std::move(routine));
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
    part.cut(start, result, result.strides, update, updateDims);
    if (!part.empty)
      copyElements(width, part.extent, result.data + part.tensor * width,
                   part.tensorStrides, update.data + part.array * width,
                   part.arrayStrides);
    return Success();
  }

private:
  std::vector<int> updateDims;
};
} // namespace

namespace meshloom::library {
LibraryRows functionsOfScatter() {
  static constexpr LibraryRow rows[] = {
      {"scatter", Scatter::make, {.isScatter = true, .usesTeam = true}},
      {"dynamic_update_slice", DynamicUpdateSlice::make}};
  return rows;
}
} // namespace meshloom::library
