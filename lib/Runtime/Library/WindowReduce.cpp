// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library function "reduce_window". With a kind, a row of results at a
// time: each element of the window adds a row of the operand, many of them in
// pairs. Where rows have no window of their own, as channels have none, or the
// only one, the rows of all windows of a line are combined in registers. Where
// they have one of several, as images have, the rows of a line of windows are
// combined first, and then the columns of all these windows, as if they were
// one long row. With a scalar function, element by element. Windows of many
// elements take about as long as small ones (SlidingWindow.h).
#include "Elements.h"
#include "LibraryTable.h"
#include "PairwiseSums.h"
#include "SlidingWindow.h"
#include "ThreadScratch.h"
#include "WindowBox.h"
#include "WindowLines.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

using namespace meshloom;
using namespace meshloom::library;

namespace {

/// An element of the window that is an operand element: which window element,
/// and where it is in memory.
struct Touch {
  int64_t window, offset;
};

/// The window elements that are operand elements, for each place of a dim of
/// the result.
class Touches {
public:
  /// The touches of a place lie `shift` elements further on.
  struct Place {
    std::span<const Touch> touches;
    int64_t shift;
  };

  void add(Touch touch) { touches.push_back(touch); }
  void endPlace() { ends.push_back(touches.size()); }
  /// All places touch what the first one does, each so many elements further on
  /// than the one before.
  void repeat(int64_t places, int64_t elements) {
    ends.assign(1, touches.size());
    repeated = size_t(places);
    step = elements;
  }
  size_t places() const { return repeated > 0 ? repeated : ends.size(); }
  /// Elements from each place to the next, where all are alike.
  std::optional<int64_t> stepOfPlaces() const {
    return repeated > 0 ? std::optional(step) : std::nullopt;
  }
  Place operator[](size_t place) const {
    if (repeated > 0)
      return {touches, int64_t(place) * step};
    const size_t begin = place == 0 ? 0 : ends[place - 1];
    return {std::span(touches).subspan(begin, ends[place] - begin), 0};
  }

private:
  std::vector<Touch> touches; ///< place after place
  std::vector<size_t> ends;
  size_t repeated = 0;
  int64_t step = 0;
};

/// into[i] is combined with the elements that place i touches.
template <typename T>
void combineTouched(ReduceKind kind, SumOf<T> *into, const T *from,
                    const Touches &touches) {
  withKindOf<T>(kind, [&]<ReduceKind by>() {
    for (size_t i = 0; i < touches.places(); ++i) {
      const auto [ofPlace, shift] = touches[i];
      for (const Touch &touch : ofPlace)
        into[i] =
            combined<by>(into[i], Numbers<T>::load(from[shift + touch.offset]));
    }
  });
}

/// The touches of dim `d` of the box.
Touches touchesOf(const WindowDim &window, const LibraryOperand &in,
                  const LibraryOperand &out, size_t d) {
  Touches touches;
  auto element = [&](int64_t place, int64_t k) {
    return window.element(out.begin(d) + place, k, (*in.global)[d]);
  };
  auto add = [&](int64_t place) {
    for (int64_t k = 0; k < window.size; ++k)
      if (const int64_t found = element(place, k);
          found >= in.begin(d) && found < in.end(d))
        touches.add({k, (found - in.begin(d)) * in.strides[d]});
  };
  // Windows without holes, none of which reaches beyond the box, are alike.
  const int64_t last = element(out.extent[d] - 1, window.size - 1);
  if (window.base == 1 && element(0, 0) >= in.begin(d) && last >= 0 &&
      last < in.end(d)) {
    add(0);
    touches.repeat(out.extent[d], window.stride * in.strides[d]);
    return touches;
  }
  for (int64_t y = 0; y < out.extent[d]; ++y, touches.endPlace())
    add(y);
  return touches;
}

int64_t windowSize(const std::vector<WindowDim> &window) {
  int64_t size = 1;
  for (const WindowDim &dim : window)
    size *= dim.size;
  return size;
}

//===----------------------------------------------------------------------===//
// By kind
//===----------------------------------------------------------------------===//

template <typename T> class KindReduction {
  using Sum = SumOf<T>;

public:
  KindReduction(ReduceKind kind, const std::vector<WindowDim> &window,
                const LibraryOperand &in, const LibraryOperand &initial,
                const LibraryOperand &out, bool deterministic)
      : kind(kind), window(window), in(in), out(out),
        source(reinterpret_cast<const T *>(in.data)),
        target(reinterpret_cast<T *>(out.data)),
        init(Numbers<T>::load(*reinterpret_cast<const T *>(initial.data))) {
    rank = out.extent.size();
    for (size_t d = 0; d < rank; ++d) {
      touches.push_back(touchesOf(window[d], in, out, d));
      if (!deterministic && out.extent[d] > 1 &&
          (row == rank_none || out.strides[d] < out.strides[row]))
        row = d;
    }
    if (row == rank_none && rank > 0)
      row = rank - 1;
  }

  void run() {
    const int64_t count = rank ? out.extent[row] : 1;
    sums = static_cast<Sum *>(threadScratch(0, size_t(count) * sizeof(Sum)));
    std::vector<int64_t> index(rank, 0);
    int64_t offset = 0;
    wholeRows = hasWholeRows();
    if (wholeRows)
      startLines(count, /*joins=*/true);
    else if (sumsColumnsFirst())
      startPlanes();
    const bool hasLines = wholeRows || planes.lines > 0;
    while (true) {
      if (planes.lines > 0) {
        collectRows(index, 0, 0);
        reducePlane(offset);
      } else if (wholeRows) {
        collectRows(index, 0, 0);
        combineWindowRows(kind, target + offset, init, source, lines);
      } else {
        reduceRow(index, offset, count);
      }
      size_t d = rank;
      while (d-- > 0) {
        if (d == row || (hasLines && d == line))
          continue;
        offset += out.strides[d];
        if (++index[d] < out.extent[d])
          break;
        offset -= out.strides[d] * out.extent[d];
        index[d] = 0;
      }
      if (d == size_t(-1))
        return;
    }
  }

private:
  /// Returns whether the elements of a window may be combined in any order,
  /// without blocks and without padding that counts.
  bool isPlain() const {
    return !paddingCounts() &&
           !(sumsInPairs() && windowSize(window) > PairwiseSums<Sum>::BLOCK);
  }

  /// Returns whether rows of the result are combinations of rows of the
  /// operand, and all are dense: a row has no window of its own, as channels
  /// have none, or it has the only one, and no window reaches beyond the
  /// operand.
  bool hasWholeRows() const {
    return rank > 0 && isPlain() && out.strides[row] == 1 &&
           touches[row].stepOfPlaces() == 1 &&
           (window[row].size == 1 || windowSize(window) == window[row].size);
  }

  /// Returns whether the rows that a row of windows lies in are combined with
  /// each other first, then the elements of the windows along the row.
  bool sumsColumnsFirst() const {
    return rank > 1 && isPlain() && window[row].size > 1 &&
           window[row].base == 1 && in.strides[row] == 1 &&
           windowSize(window) > window[row].size;
  }

  /// The line is along the dim, but that of the row, whose places are nearest
  /// to each other.
  void startLines(int64_t count, bool joins) {
    for (size_t d = 0; d < rank; ++d)
      if (d != row && (line == rank_none || out.strides[d] < out.strides[line]))
        line = d;
    begins.assign(1, 0);
    int64_t places = line == rank_none ? 1 : int64_t(touches[line].places());
    // Rows that lie one behind another, as those that they combine do, are one.
    if (joins && line != rank_none && out.strides[line] == count &&
        touches[line].stepOfPlaces() == count) {
      count *= places;
      places = 1;
    }
    if (line == rank_none)
      inner.assign(1, 0);
    else
      for (int64_t place = 0; place < places; ++place) {
        const auto [ofPlace, shift] = touches[line][size_t(place)];
        for (const Touch &touch : ofPlace)
          inner.push_back(shift + touch.offset);
        begins.push_back(int64_t(inner.size()));
      }
    if (line == rank_none)
      begins.push_back(1);
    lines = {{},
             inner.data(),
             begins.data(),
             places,
             line == rank_none ? 0 : out.strides[line],
             count};
  }

  /// Where the rows of a place's window begin, without what the line adds.
  void collectRows(const std::vector<int64_t> &index, size_t d,
                   int64_t offset) {
    if (d == 0) {
      rows.clear();
      lines.outer = {};
    }
    if (d == rank) {
      rows.push_back(offset);
      lines.outer = rows;
    } else if (d == line || (d == row && !wholeRows)) {
      collectRows(index, d + 1, offset);
    } else {
      const auto [ofPlace, shift] = touches[d][size_t(index[d])];
      for (const Touch &touch : ofPlace)
        collectRows(index, d + 1, offset + shift + touch.offset);
    }
  }

  void reduceRow(const std::vector<int64_t> &index, int64_t offset,
                 int64_t count) {
    std::fill_n(sums, count, init);
    pairs.start(count);
    addOuter(index, 0, 0);
    if (sumsInPairs())
      pairs.addTo(sums);
    addPadding(index, count);
    const int64_t step = rank ? out.strides[row] : 0;
    for (int64_t i = 0; i < count; ++i)
      target[offset + i * step] = Numbers<T>::store(sums[i]);
  }

  /// Lines of windows that are reduced together: how many, how many elements of
  /// scratch memory are between two of them, which hold the operand's elements
  /// from `first` on, and others that change nothing; and the element that the
  /// first window begins at.
  struct Planes {
    int64_t lines = 0, pitch = 0, first = 0, begin = 0;
    Sum *columns = nullptr;
  };

  void startPlanes() {
    startLines(in.extent[row], /*joins=*/false);
    const WindowDim &dim = window[row];
    const int64_t count = out.extent[row];
    const int64_t before =
        out.begin(row) * dim.stride - dim.low - in.begin(row);
    planes.first = std::max<int64_t>(0, -before);
    planes.begin = planes.first + before;
    const int64_t reach = (dim.size - 1) * dim.dilation + 1;
    const int64_t length =
        std::max(planes.first + in.extent[row],
                 planes.begin + (count - 1) * dim.stride + reach);
    planes.pitch = (length + dim.stride - 1) / dim.stride * dim.stride;
    // The elements of several lines stay in the cache until they are stored.
    constexpr int64_t elements = 4096;
    planes.lines =
        std::clamp<int64_t>(elements / planes.pitch, 1, lines.places);
    const int64_t size = planes.lines * planes.pitch;
    // The last windows of a line may reach into the next one: nobody reads
    // those.
    planes.columns = static_cast<Sum *>(
        threadScratch(1, size_t(size + planes.begin + reach) * sizeof(Sum)));
    std::fill_n(planes.columns, size + planes.begin + reach, neutral());
    sums = static_cast<Sum *>(
        threadScratch(0, size_t(size / dim.stride) * sizeof(Sum)));
  }

  /// Returns a value that changes nothing, however often it is combined.
  Sum neutral() const {
    return kind == ReduceKind::Sum    ? Sum(0)
           : kind == ReduceKind::Prod ? Sum(1)
                                      : init;
  }

  /// Reduces the windows of a line whose outer rows are collected.
  void reducePlane(int64_t offset) {
    const WindowDim &dim = window[row];
    const int64_t width = planes.pitch / dim.stride;
    for (int64_t done = 0; done < lines.places; done += planes.lines) {
      const int64_t count = std::min(planes.lines, lines.places - done);
      WindowLine part = lines;
      part.begins += done;
      part.places = count;
      part.step = planes.pitch;
      combineWindowRows(kind, planes.columns + planes.first, neutral(), source,
                        part);
      std::fill_n(sums, count * width, init);
      for (int64_t k = 0; k < dim.size; ++k)
        combineWindowElements(kind, sums,
                              planes.columns + planes.begin + k * dim.dilation,
                              dim.stride, count * width);
      for (int64_t l = 0; l < count; ++l) {
        T *to = target + offset + (done + l) * lines.step;
        for (int64_t i = 0; i < out.extent[row]; ++i)
          to[i * out.strides[row]] = Numbers<T>::store(sums[l * width + i]);
      }
    }
  }

  static constexpr size_t rank_none = size_t(-1);

  /// Padding and holes hold the init value: whether it changes results.
  bool paddingCounts() const {
    const bool isArithmetic =
        kind == ReduceKind::Sum || kind == ReduceKind::Prod;
    return isArithmetic && init != neutral();
  }

  bool sumsInPairs() const { return isRounded<Sum> && kind == ReduceKind::Sum; }

  /// A row was combined with the sums, or one without elements: how many there
  /// are depends on the window alone.
  void addedRow() {
    if (sumsInPairs())
      pairs.added(sums);
  }

  /// Every combination of window elements of the dims but the row.
  void addOuter(const std::vector<int64_t> &index, size_t d, int64_t offset) {
    if (d == rank)
      return addRow(offset);
    if (d == row)
      return addOuter(index, d + 1, offset);
    const auto [ofPlace, shift] = touches[d][size_t(index[d])];
    for (const Touch &touch : ofPlace)
      addOuter(index, d + 1, offset + shift + touch.offset);
  }

  void addRow(int64_t offset) {
    if (rank == 0) {
      combineWindowElements(kind, sums, source + offset, 1, 1);
    } else if (window[row].base > 1) {
      combineTouched(kind, sums, source + offset, touches[row]);
      addedRow();
    } else {
      addAlong(source + offset);
    }
  }

  /// Adds the elements of a row that windows without holes have along it: each
  /// window element meets the row over a range of places.
  void addAlong(const T *elements) {
    const WindowDim &dim = window[row];
    const int64_t first = out.begin(row), count = out.extent[row];
    for (int64_t k = 0; k < dim.size; ++k) {
      const int64_t shift = k * dim.dilation - dim.low;
      auto placesBelow = [&](int64_t element) {
        // The first place whose element is not below `element`.
        const int64_t distance = element - shift;
        return distance <= 0 ? 0 : (distance + dim.stride - 1) / dim.stride;
      };
      const int64_t begin =
          std::clamp(placesBelow(in.begin(row)) - first, int64_t(0), count);
      const int64_t end =
          std::clamp(placesBelow(in.end(row)) - first, begin, count);
      const int64_t element = (first + begin) * dim.stride + shift;
      if (begin < end)
        combineWindowElements(kind, sums + begin,
                              elements +
                                  (element - in.begin(row)) * in.strides[row],
                              dim.stride * in.strides[row], end - begin);
      addedRow();
    }
  }

  /// Adds the elements of padding and holes.
  void addPadding(const std::vector<int64_t> &index, int64_t count) {
    if (!paddingCounts())
      return;
    const int64_t elements = windowSize(window);
    int64_t outer = 1;
    for (size_t d = 0; d < rank; ++d)
      if (d != row)
        outer *= int64_t(touches[d][size_t(index[d])].touches.size());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t met =
          rank ? outer * int64_t(touches[row][size_t(i)].touches.size()) : 1;
      for (int64_t p = met; p < elements; ++p)
        combineWindowElements(kind, &sums[i], &init, 1, 1);
    }
  }

  const ReduceKind kind;
  const std::vector<WindowDim> &window;
  const LibraryOperand &in, &out;
  const T *source;
  T *target;
  const Sum init;
  size_t rank = 0, row = rank_none, line = rank_none;
  std::vector<Touches> touches;
  Sum *sums = nullptr;
  PairwiseSums<Sum> pairs;
  bool wholeRows = false;
  std::vector<int64_t> rows, inner, begins;
  WindowLine lines{};
  Planes planes;
};

//===----------------------------------------------------------------------===//
// By a scalar function
//===----------------------------------------------------------------------===//

/// Several operands at once; the window's elements in row-major order.
void reduceByFunction(const std::vector<WindowDim> &window,
                      KernelFunction function,
                      const LibraryArguments &arguments) {
  const size_t count = arguments.outputs.size();
  const LibraryOperand &in = arguments.inputs[0], &out = arguments.outputs[0];
  const size_t rank = out.extent.size();
  // Accumulated values, twice; every slot fits any element.
  struct alignas(16) Slot {
    char bytes[16];
  };
  std::vector<Slot> slots(2 * count);
  std::vector<void *> operands(3 * count);
  auto width = [&](size_t i) { return byteWidth(arguments.outputs[i].type); };
  Shape place(rank, 0), k(rank, 0);
  if (out.empty())
    return;
  auto advance = [](Shape &index, auto extent) {
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < extent(d))
        return true;
      index[d] = 0;
    }
    return false;
  };
  do {
    size_t now = 0;
    for (size_t i = 0; i < count; ++i)
      std::memcpy(slots[i].bytes, arguments.inputs[count + i].data, width(i));
    do {
      int64_t offset = 0;
      bool inside = true;
      for (size_t d = 0; d < rank && inside; ++d) {
        const int64_t element =
            window[d].element(out.begin(d) + place[d], k[d], (*in.global)[d]);
        inside = element >= in.begin(d) && element < in.end(d);
        offset += (element - in.begin(d)) * in.strides[d];
      }
      for (size_t i = 0; i < count; ++i) {
        int64_t inputOffset = 0;
        if (inside && i > 0)
          for (size_t d = 0; d < rank; ++d)
            inputOffset += (window[d].element(out.begin(d) + place[d], k[d],
                                              (*in.global)[d]) -
                            arguments.inputs[i].begin(d)) *
                           arguments.inputs[i].strides[d];
        else
          inputOffset = offset;
        operands[i] = slots[now * count + i].bytes;
        operands[count + i] =
            inside ? arguments.inputs[i].data + inputOffset * int64_t(width(i))
                   : arguments.inputs[count + i].data;
        operands[2 * count + i] = slots[(1 - now) * count + i].bytes;
      }
      function(operands.data(), nullptr, nullptr, nullptr);
      now = 1 - now;
    } while (advance(k, [&](size_t d) { return window[d].size; }));
    for (size_t i = 0; i < count; ++i) {
      const LibraryOperand &to = arguments.outputs[i];
      int64_t target = 0;
      for (size_t d = 0; d < rank; ++d)
        target += place[d] * to.strides[d];
      std::memcpy(to.data + target * int64_t(width(i)),
                  slots[now * count + i].bytes, width(i));
    }
  } while (advance(place, [&](size_t d) { return out.extent[d]; }));
}

/// By a kind, or without one by the scalar function.
class WindowRoutine final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto routine = std::make_unique<WindowRoutine>();
    const size_t count = step.outputs.size();
    const bool byKind = options.has("kind");
    if (count == 0 || step.inputs.size() != 2 * count ||
        (byKind ? count != 1 : !step.scalar))
      return Error("operands, init values and results do not match");
    const size_t rank = step.outputs[0]->shape.size();
    for (size_t i = 0; i < count; ++i)
      if (step.inputs[i]->shape.size() != rank ||
          step.outputs[i]->shape.size() != rank ||
          !step.inputs[count + i]->shape.empty() ||
          step.inputs[i]->type != step.outputs[i]->type ||
          step.inputs[count + i]->type != step.outputs[i]->type)
        return Error("operands, init values and results do not match");
    if (byKind)
      routine->kind = options.kind("kind", step.outputs[0]->type);
    auto window = readWindow(options, rank);
    if (!window)
      return window.error();
    if (!options.ok())
      return Error("unknown kind of reduction, or options that it has not");
    routine->window = std::move(*window);
    routine->function = step.scalar;
    routine->deterministic = step.deterministic;
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &out = arguments.outputs[0];
    if (out.empty())
      return Success();
    if (!kind) {
      if (!slideByFunction(window, function, arguments))
        reduceByFunction(window, function, arguments);
      return Success();
    }
    const LibraryOperand &in = arguments.inputs[0],
                         &initial = arguments.inputs[1];
    withReduction(out.type, *kind, [&]<typename T, ReduceKind by>() {
      static constexpr auto sliding = SlidingLoops<SumOf<T>>::template of<by>();
      if (!slideByKind<T>(sliding, window, in, initial, out))
        KindReduction<T>(by, window, in, initial, out, deterministic).run();
    });
    return Success();
  }

private:
  std::vector<WindowDim> window;
  std::optional<ReduceKind> kind;
  bool deterministic = false;
  KernelFunction function = nullptr;
};

} // namespace

namespace meshloom::library {
LibraryRows functionsOfWindowReduce() {
  static constexpr LibraryRow rows[] = {
      {"reduce_window", WindowRoutine::make, {.readsLines = true}}};
  return rows;
}
} // namespace meshloom::library
