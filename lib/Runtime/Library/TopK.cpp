// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// top_k: the first elements of lines in descending order. Most elements are
// only compared, a block at a time, with the last one of those that were best
// before. Workers of a team find the first ones of parts of a line.
#include "Clones.h"
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "Lines.h"

#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// An element as a number whose order is the total order of floats (-nan,
/// -inf, ..., -0, 0, ..., inf, nan), or that of the integers.
int64_t totalOrder(DType type, const char *data) {
  auto ofBits = [](auto bits) {
    return int64_t(
        bits < 0
            ? decltype(bits)(bits ^ std::numeric_limits<decltype(bits)>::max())
            : bits);
  };
  switch (type) {
  case DType::F32: {
    int32_t bits;
    std::memcpy(&bits, data, 4);
    return ofBits(bits);
  }
  case DType::F64: {
    int64_t bits;
    std::memcpy(&bits, data, 8);
    return ofBits(bits);
  }
  case DType::F16:
  case DType::BF16: {
    int16_t bits;
    std::memcpy(&bits, data, 2);
    return ofBits(bits);
  }
  case DType::UI64: {
    uint64_t bits;
    std::memcpy(&bits, data, 8);
    return int64_t(bits ^ (uint64_t(1) << 63));
  }
  default:
    return readIndex(type, data);
  }
}

/// The orders of `count` adjacent f32 numbers, and of numbers of 16 bits.
template <typename Bits>
[[gnu::always_inline]] inline void ordersOfBits(const char *data, int64_t count,
                                                int64_t *orders) {
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, data + i * int64_t(sizeof(Bits)), sizeof(Bits));
    const auto sign = Bits(bits >> (8 * sizeof(Bits) - 1));
    orders[i] = Bits(bits ^ (sign & std::numeric_limits<Bits>::max()));
  }
}
MESHLOOM_CLONES void ordersOfSingles(const char *data, int64_t count,
                                     int64_t *orders) {
  ordersOfBits<int32_t>(data, count, orders);
}
MESHLOOM_CLONES void ordersOfHalves(const char *data, int64_t count,
                                    int64_t *orders) {
  ordersOfBits<int16_t>(data, count, orders);
}
MESHLOOM_CLONES bool isAnyAbove(const int64_t *orders, int64_t count,
                                int64_t limit) {
  int64_t above = 0;
  for (int64_t i = 0; i < count; ++i)
    above |= orders[i] > limit;
  return above != 0;
}

/// An element of a line.
struct TopItem {
  int64_t order, from;
  bool operator<(const TopItem &other) const {
    return order != other.order ? order > other.order : from < other.from;
  }
};

/// Items with the first `k` elements of a part of a line among them. Invariant:
/// among `items` are the first k of what was read, and none that was left out
/// comes before the one of the order `limit`. The cost is linear: there is room
/// for as many more as are kept when it is full.
class TopItems {
public:
  TopItems(DType type, int64_t k)
      : type(type), k(size_t(k)), room(std::max<size_t>(2 * size_t(k), 16)) {
    items.reserve(room);
  }

  /// Finds them among the elements [first, last) of the line.
  std::span<TopItem> find(const char *source, int64_t stride, int64_t first,
                          int64_t last) {
    items.clear();
    std::optional<int64_t> limit;
    std::array<int64_t, 256> orders;
    const auto block = int64_t(orders.size());
    for (int64_t begin = first; begin < last; begin += block) {
      const int64_t count = std::min(block, last - begin);
      readOrders(source + begin * stride, stride, count, orders.data());
      if (limit && !isAnyAbove(orders.data(), count, *limit))
        continue;
      for (int64_t i = 0; i < count; ++i) {
        if (limit && orders[size_t(i)] <= *limit)
          continue;
        items.push_back({orders[size_t(i)], begin + i});
        if (items.size() < room)
          continue;
        std::ranges::nth_element(items, items.begin() + long(k) - 1,
                                 std::less());
        items.resize(k);
        limit = items.back().order;
      }
    }
    return items;
  }

private:
  void readOrders(const char *source, int64_t stride, int64_t count,
                  int64_t *orders) const {
    const bool isDense = stride == int64_t(byteWidth(type));
    if (isDense && type == DType::F32)
      return ordersOfSingles(source, count, orders);
    if (isDense && (type == DType::F16 || type == DType::BF16))
      return ordersOfHalves(source, count, orders);
    for (int64_t i = 0; i < count; ++i)
      orders[i] = totalOrder(type, source + i * stride);
  }

  const DType type;
  const size_t k, room;
  std::vector<TopItem> items;
};

class TopK : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    if (!step.step.options.empty() || step.inputs.size() != 1 ||
        step.outputs.size() != 2 || step.inputs[0]->shape.empty())
      return Error("expected one operand with a last dim, and two results");
    auto top = std::make_unique<TopK>();
    Shape shape = step.inputs[0]->shape;
    const DType type = step.inputs[0]->type, index = step.outputs[1]->type;
    top->length = shape.back();
    if (step.outputs[0]->shape.size() == shape.size())
      top->k = shape.back() = step.outputs[0]->shape.back();
    if (step.outputs[0]->shape != shape || step.outputs[1]->shape != shape ||
        top->k > top->length || step.outputs[0]->type != type ||
        isComplex(type) || (index != DType::I32 && index != DType::I64))
      return Error("its results do not fit its operand");
    top->last = int64_t(shape.size()) - 1;
    return routineOf(std::move(top));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &input = arguments.inputs[0],
                         &values = arguments.outputs[0],
                         &indices = arguments.outputs[1];
    if (values.empty())
      return Success();
    if (input.extent[size_t(last)] != length ||
        values.extent[size_t(last)] != k)
      return Error("a call must have whole lines");
    const LibraryOperand *tensors[] = {&input, &values, &indices};
    const Lines lines = linesOf(tensors, std::span(&last, 1));
    Team &team = Team::current();
    const int64_t count = elementCount(lines.extent),
                  parts = (team.partsOf(length * count,
                                        std::max(elementsOfPart, 64 * k)) +
                           count - 1) /
                          count;
    if (parts == 1) {
      TopItems top(input.type, k);
      forEachLine(lines, [&](const std::vector<int64_t> &offsets) {
        write(arguments, offsets, find(top, input, offsets[0], 0, length));
      });
      return Success();
    }
    std::vector<std::vector<int64_t>> offsetsOf;
    forEachLine(lines, [&](const std::vector<int64_t> &offsets) {
      offsetsOf.push_back(offsets);
    });
    // Parts of lines are searched first, and then what was found there.
    std::vector<std::vector<TopItem>> found(size_t(count * parts));
    team.forEach(count * parts, [&](int64_t i) {
      const int64_t part = i % parts;
      TopItems top(input.type, k);
      std::span<TopItem> items =
          find(top, input, offsetsOf[size_t(i / parts)][0],
               length * part / parts, length * (part + 1) / parts);
      if (items.size() > size_t(k)) {
        std::ranges::nth_element(items, items.begin() + (k - 1), std::less());
        items = items.first(size_t(k));
      }
      found[size_t(i)].assign(items.begin(), items.end());
    });
    team.forEach(count, [&](int64_t line) {
      std::vector<TopItem> items;
      for (int64_t i = line * parts; i < (line + 1) * parts; ++i)
        items.insert(items.end(), found[size_t(i)].begin(),
                     found[size_t(i)].end());
      write(arguments, offsetsOf[size_t(line)], items);
    });
    return Success();
  }

private:
  static constexpr int64_t elementsOfPart = 1 << 15;

  /// Finds items among which are the first ones of elements of the line that
  /// begins at `offset`.
  std::span<TopItem> find(TopItems &top, const LibraryOperand &input,
                          int64_t offset, int64_t begin, int64_t end) const {
    const unsigned width = byteWidth(input.type);
    return top.find(input.data + offset * width,
                    input.strides[size_t(last)] * width, begin, end);
  }

  /// Writes the first items of a line in their order.
  void write(const LibraryArguments &arguments,
             const std::vector<int64_t> &offsets,
             std::span<TopItem> items) const {
    const LibraryOperand &input = arguments.inputs[0],
                         &values = arguments.outputs[0],
                         &indices = arguments.outputs[1];
    const unsigned width = byteWidth(input.type),
                   indexWidth = byteWidth(indices.type);
    const char *source = input.data + offsets[0] * width;
    char *value = values.data + offsets[1] * width,
         *index = indices.data + offsets[2] * indexWidth;
    std::ranges::partial_sort(items, items.begin() + k, std::less());
    for (const TopItem &item : items.first(size_t(k))) {
      std::memcpy(value,
                  source + item.from * input.strides[size_t(last)] * width,
                  width);
      // Little endian: the lower half is the i32.
      std::memcpy(index, &item.from, indexWidth);
      value += values.strides[size_t(last)] * width;
      index += indices.strides[size_t(last)] * indexWidth;
    }
  }

  int64_t last = 0, length = 0, k = 0;
};
} // namespace

namespace meshloom::library {
LibraryRows functionsOfTopK() {
  static constexpr LibraryRow rows[] = {
      {"top_k", TopK::make, {.usesTeam = true}}};
  return rows;
}
} // namespace meshloom::library
