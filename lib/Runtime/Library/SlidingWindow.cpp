// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sliding windows with a scalar function, element after element of one line.
#include "SlidingWindow.h"

#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Reductions of several operands at once.
class FunctionLine {
  /// Fits any element.
  struct alignas(16) Slot {
    char bytes[16];
  };

  unsigned width(size_t i) const {
    return byteWidth(arguments.outputs[i].type);
  }
  static auto slots(std::span<Slot> values) {
    return [values](size_t i) { return values[i].bytes; };
  }
  char *element(const Shape &from, int64_t place, size_t i) const {
    const LibraryOperand &in = arguments.inputs[i];
    return in.data + (from[i] + (place - dim.begin) * in.strides[along]) *
                         int64_t(width(i));
  }
  void load(Slot *slot, const Shape &from, int64_t place) const {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(slot[i].bytes, element(from, place, i), width(i));
  }
  template <typename A, typename B>
  void combine(const A &a, const B &b, Slot *result) {
    for (size_t i = 0; i < count; ++i) {
      operands[i] = a(i);
      operands[count + i] = b(i);
      operands[2 * count + i] = result[i].bytes;
    }
    callScalar(function, operands.data());
  }

public:
  FunctionLine(const SlidingDim &dim, KernelFunction function,
               const LibraryArguments &arguments, size_t along)
      : dim(dim), function(function), arguments(arguments), along(along),
        count(arguments.outputs.size()), operands(3 * count),
        ends(size_t(std::min(dim.size, dim.end - dim.begin)) * count),
        beginnings(ends.size()), values(count), initial(count) {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(initial[i].bytes, arguments.inputs[count + i].data, width(i));
  }

  /// Whether the init values stay what they are when combined with each other,
  /// so that it does not matter how much padding a window has.
  bool isPaddingNeutral() {
    combine(slots(initial), slots(initial), values.data());
    bool same = true;
    for (size_t i = 0; i < count; ++i)
      same &= std::memcmp(values[i].bytes, initial[i].bytes, width(i)) == 0;
    return same;
  }

  /// `from`, `to`: per operand and result, the line's first element.
  void run(const Shape &from, const Shape &to) {
    auto partOf = [&](int64_t block) {
      const int64_t begin = std::max(block * dim.size, dim.begin);
      return Interval{
          begin, std::max(begin, std::min((block + 1) * dim.size, dim.end))};
    };
    for (int64_t y = 0; y < dim.windows;) {
      const int64_t block = dim.firstPlace(y) / dim.size;
      const Interval firstPart = partOf(block), secondPart = partOf(block + 1);
      for (int64_t place = firstPart.end; place-- > firstPart.begin;) {
        Slot *slot = ends.data() + size_t(place - firstPart.begin) * count;
        if (place + 1 == firstPart.end)
          load(slot, from, place);
        else
          combine([&](size_t i) { return element(from, place, i); },
                  slots(std::span(slot + count, count)), slot);
      }
      const int64_t last =
          std::min(dim.windows - 1,
                   ((block + 1) * dim.size - 1) / dim.stride - dim.firstWindow);
      const int64_t needed = std::min(secondPart.end, dim.lastPlace(last) + 1);
      for (int64_t place = secondPart.begin; place < needed; ++place) {
        Slot *slot =
            beginnings.data() + size_t(place - secondPart.begin) * count;
        if (place == secondPart.begin)
          load(slot, from, place);
        else
          combine(
              slots(std::span(slot - count, count)),
              [&](size_t i) { return element(from, place, i); }, slot);
      }
      for (; y <= last; ++y) {
        const int64_t begin = std::max(dim.firstPlace(y), firstPart.begin);
        const int64_t end = std::min(dim.lastPlace(y) + 1, secondPart.end);
        Slot *result = initial.data();
        auto append = [&](Slot *part) {
          Slot *next = result == values.data() ? others.data() : values.data();
          combine(slots(std::span(result, count)),
                  slots(std::span(part, count)), next);
          result = next;
        };
        if (begin < firstPart.end)
          append(ends.data() + size_t(begin - firstPart.begin) * count);
        if (secondPart.begin < end)
          append(beginnings.data() +
                 size_t(end - 1 - secondPart.begin) * count);
        for (size_t i = 0; i < count; ++i) {
          const LibraryOperand &out = arguments.outputs[i];
          std::memcpy(out.data +
                          (to[i] + y * out.strides[along]) * int64_t(width(i)),
                      result[i].bytes, width(i));
        }
      }
    }
  }

private:
  const SlidingDim dim;
  const KernelFunction function;
  const LibraryArguments &arguments;
  const size_t along, count;
  std::vector<void *> operands;
  std::vector<Slot> ends, beginnings, values, others{count}, initial;
};
} // namespace

bool library::slideByFunction(const std::vector<WindowDim> &window,
                              KernelFunction function,
                              const LibraryArguments &arguments) {
  const LibraryOperand &in = arguments.inputs[0], &out = arguments.outputs[0];
  const size_t count = arguments.outputs.size();
  const auto isWindow = [](const WindowDim &dim) { return dim.size > 1; };
  const auto wide = std::ranges::find_if(window, isWindow);
  if (!canSlide(window) || std::ranges::count_if(window, isWindow) != 1)
    return false;
  const size_t along = size_t(wide - window.begin());
  const SlidingDim dim = slidingDim(*wide, in, out, along);
  FunctionLine line(dim, function, arguments, along);
  // Along the other dims a result has one element of the operand.
  for (size_t d = 0; d < window.size(); ++d)
    if (d != along &&
        (window[d].element(out.begin(d), 0, (*in.global)[d]) < in.begin(d) ||
         window[d].element(out.end(d) - 1, 0, (*in.global)[d]) < in.begin(d) ||
         window[d].element(out.end(d) - 1, 0, (*in.global)[d]) >= in.end(d)))
      return false;
  if (!line.isPaddingNeutral())
    return false;
  Shape index(window.size(), 0), from(count), to(count);
  while (true) {
    for (size_t i = 0; i < count; ++i) {
      const LibraryOperand &operand = arguments.inputs[i],
                           &result = arguments.outputs[i];
      from[i] = to[i] = 0;
      for (size_t d = 0; d < window.size(); ++d) {
        const int64_t element = d == along
                                    ? dim.begin - window[d].low
                                    : window[d].element(out.begin(d) + index[d],
                                                        0, (*in.global)[d]);
        from[i] += (element - operand.begin(d)) * operand.strides[d];
        to[i] += index[d] * result.strides[d];
      }
    }
    line.run(from, to);
    size_t d = index.size();
    while (d-- > 0) {
      if (d == along)
        continue;
      if (++index[d] < out.extent[d])
        break;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return true;
  }
}
