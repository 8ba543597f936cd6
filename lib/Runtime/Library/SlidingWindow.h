// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SlidingWindow: reductions over windows in a time that does not depend on the
// windows' sizes (M. van Herk, 1992; J. Gil and M. Werman, 1993).
//
// A line, with its padding, is cut into blocks as long as the window. A window
// is then the end of one block and the beginning of the next one:
//
//   window of 4      |. . a b|c d . .|       a b: what a block holds from a on
//                         [     ]            c d: what the next holds up to d
//
// Running reductions of all blocks, from both ends, give these. A window over
// several dims is one along each of them, the last dim first, which keeps the
// order of the elements. Only associative reductions can be grouped so; blocks
// begin at the same places of the tensor however work is cut.
#pragma once

#include "Scan.h"
#include "WindowBox.h"

#include "meshloom/Runtime/BoxCopy.h"

namespace meshloom::library {

/// Windows of fewer elements are reduced one by one.
inline constexpr int64_t WIDE_WINDOW = 32;

/// One dim of a box whose windows slide. Places count from the beginning of the
/// padding.
struct SlidingDim {
  int64_t size, stride;
  int64_t firstWindow, windows; ///< the results, along the dim
  int64_t begin, end;           ///< the operand's elements that they need

  /// The element that a window begins at, and the one it ends with.
  int64_t firstPlace(int64_t y) const { return (firstWindow + y) * stride; }
  int64_t lastPlace(int64_t y) const { return firstPlace(y) + size - 1; }
};

/// Dim `d` of a call; its `begin` and `end` may be empty.
inline SlidingDim slidingDim(const WindowDim &window, const LibraryOperand &in,
                             const LibraryOperand &out, size_t d) {
  SlidingDim dim{window.size, window.stride, out.begin(d), out.extent[d], 0, 0};
  dim.begin = std::max(in.begin(d) + window.low, dim.firstPlace(0));
  dim.end =
      std::min(in.end(d) + window.low, dim.lastPlace(dim.windows - 1) + 1);
  dim.end = std::max(dim.end, dim.begin);
  return dim;
}

/// Whether windows are wide, without holes.
inline bool canSlide(const std::vector<WindowDim> &window) {
  int64_t elements = 1;
  for (const WindowDim &dim : window) {
    if (dim.base != 1 || (dim.dilation != 1 && dim.size > 1))
      return false;
    elements *= dim.size;
  }
  return elements >= WIDE_WINDOW;
}

/// to[i] = combined(a[i], b[i]).
template <ReduceKind kind, typename Sum>
void combinePairs(const Sum *a, const Sum *b, Sum *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = combined<kind>(a[i], b[i]);
}

/// values[i] = combined(init, values[i]).
template <ReduceKind kind, typename Sum>
void combineInit(Sum init, Sum *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    values[i] = combined<kind>(init, values[i]);
}

/// The loops of a kind; all else is compiled once for each Sum.
template <typename Sum> struct SlidingLoops {
  template <ReduceKind kind> static constexpr SlidingLoops of() {
    return {kind, scan<kind, Sum>, combinePairs<kind, Sum>,
            combineInit<kind, Sum>};
  }

  ReduceKind kind;
  void (*running)(const Sum *from, int64_t fromLine, int64_t fromStep, Sum *to,
                  int64_t toLine, int64_t toStep, int64_t lines, int64_t count);
  void (*pairs)(const Sum *a, const Sum *b, Sum *to, int64_t count);
  void (*init)(Sum init, Sum *values, int64_t count);
};

/// Windows along the middle dim of a dense array [outer, from dim.begin to
/// dim.end, inner], whose results are [outer, dim.windows, inner].
template <typename Sum>
void slide(const SlidingLoops<Sum> &loops, const SlidingDim &dim,
           const Sum *from, Sum *to, int64_t outer, int64_t inner, Sum init) {
  constexpr int64_t SIDE = 64; // lines side by side
  const int64_t elements = dim.end - dim.begin;
  const int64_t lanes = std::min(inner, SIDE);
  std::vector<Sum> ends(size_t(lanes * std::min(dim.size, elements))),
      beginnings(ends.size());
  // A part of a block: the elements of it that there are.
  auto partOf = [&](int64_t block) {
    const int64_t begin = std::max(block * dim.size, dim.begin);
    return Interval{begin,
                    std::max(begin, std::min((block + 1) * dim.size, dim.end))};
  };
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t first = 0; first < inner; first += SIDE) {
      const int64_t width = std::min(SIDE, inner - first);
      const Sum *line = from + o * elements * inner + first;
      Sum *target = to + o * dim.windows * inner + first;
      for (int64_t y = 0; y < dim.windows;) {
        const int64_t block = dim.firstPlace(y) / dim.size;
        const Interval firstPart = partOf(block),
                       secondPart = partOf(block + 1);
        auto elementAt = [&](int64_t place) {
          return line + (place - dim.begin) * inner;
        };
        if (!firstPart.empty())
          loops.running(elementAt(firstPart.end - 1), 1, -inner,
                        ends.data() + (firstPart.size() - 1) * lanes, 1, -lanes,
                        width, firstPart.size());
        // The next block is needed as far as windows go that begin here.
        const int64_t last = std::min(
            dim.windows - 1,
            ((block + 1) * dim.size - 1) / dim.stride - dim.firstWindow);
        const int64_t needed =
            std::min(secondPart.end, dim.lastPlace(last) + 1) -
            secondPart.begin;
        if (needed > 0)
          loops.running(elementAt(secondPart.begin), 1, inner,
                        beginnings.data(), 1, lanes, width, needed);
        for (; y <= last; ++y, target += inner) {
          const int64_t begin = std::max(dim.firstPlace(y), firstPart.begin);
          const int64_t end = std::min(dim.lastPlace(y) + 1, secondPart.end);
          const Sum *a = begin < firstPart.end
                             ? ends.data() + (begin - firstPart.begin) * lanes
                             : nullptr;
          const Sum *b =
              secondPart.begin < end
                  ? beginnings.data() + (end - 1 - secondPart.begin) * lanes
                  : nullptr;
          if (a && b)
            loops.pairs(a, b, target, width);
          else if (a || b)
            std::copy_n(a ? a : b, width, target);
          else
            std::fill_n(target, width, init);
        }
      }
    }
}

/// Reduces wide windows; false where they must be reduced one by one.
template <typename T>
bool slideByKind(const SlidingLoops<SumOf<T>> &loops,
                 const std::vector<WindowDim> &window, const LibraryOperand &in,
                 const LibraryOperand &initial, const LibraryOperand &out) {
  using Sum = SumOf<T>;
  const Sum init = Numbers<T>::load(*reinterpret_cast<const T *>(initial.data));
  // Padding counts where it is not a neutral element.
  if (!canSlide(window) || (loops.kind == ReduceKind::Sum && init != Sum(0)) ||
      (loops.kind == ReduceKind::Prod && init != Sum(1)))
    return false;
  const size_t rank = window.size();
  std::vector<SlidingDim> dims;
  Shape extent;
  int64_t offset = 0;
  for (size_t d = 0; d < rank; ++d) {
    dims.push_back(slidingDim(window[d], in, out, d));
    extent.push_back(dims[d].end - dims[d].begin);
    offset += (dims[d].begin - window[d].low - in.begin(d)) * in.strides[d];
  }
  std::vector<Sum> values(size_t(elementCount(extent))), results;
  const T *source = reinterpret_cast<const T *>(in.data) + offset;
  forEachRun(extent, rowMajorStrides(extent), in.strides,
             [&](int64_t to, int64_t from, int64_t run) {
               for (int64_t e = 0; e < run; ++e)
                 values[size_t(to + e)] = Numbers<T>::load(source[from + e]);
             });
  for (size_t d = rank; d-- > 0;) {
    int64_t outer = 1, inner = 1;
    for (size_t other = 0; other < rank; ++other)
      (other < d ? outer : inner) *= other == d ? 1 : extent[other];
    extent[d] = dims[d].windows;
    results.resize(size_t(elementCount(extent)));
    slide(loops, dims[d], values.data(), results.data(), outer, inner, init);
    values.swap(results);
  }
  loops.init(init, values.data(), int64_t(values.size()));
  T *target = reinterpret_cast<T *>(out.data);
  forEachRun(extent, out.strides, rowMajorStrides(extent),
             [&](int64_t to, int64_t from, int64_t run) {
               for (int64_t e = 0; e < run; ++e)
                 target[to + e] = Numbers<T>::store(values[size_t(from + e)]);
             });
  return true;
}

/// The same with a scalar function and any number of operands, for windows
/// along one dim. False where they must be reduced element by element.
bool slideByFunction(const std::vector<WindowDim> &window,
                     KernelFunction function,
                     const LibraryArguments &arguments);

} // namespace meshloom::library
