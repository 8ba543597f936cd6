// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort and generic_reduce: work along whole dims, line by line.
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "Lines.h"
#include "SortOrder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <sstream>
#include <string>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// A number of which the order is that of keys that are not nan; -0 is 0.
uint32_t orderedBits(float key) {
  const auto bits = std::bit_cast<uint32_t>(key + 0.0F);
  return bits >> 31 ? ~bits : bits | uint32_t(1) << 31;
}
uint64_t orderedBits(double key) {
  const auto bits = std::bit_cast<uint64_t>(key + 0.0);
  return bits >> 63 ? ~bits : bits | uint64_t(1) << 63;
}
uint64_t orderedBits(int64_t key) {
  return uint64_t(key) ^ uint64_t(1) << 63;
}
uint64_t orderedBits(uint64_t key) {
  return key;
}

/// The numbers of a line's keys, from the least to the most.
struct NumberRange {
  uint64_t least = std::numeric_limits<uint64_t>::max(), most = 0;
  bool hasNan = false; ///< nan has no place in an order

  void add(uint64_t number) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  void add(const NumberRange &other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    hasNan |= other.hasNan;
  }
};

/// Elements of a part of a line: its work takes longer than to begin it.
constexpr int64_t PART_OF_LINE = 1 << 13;

/// Calls body(begin, end) for parts of the elements [0, count).
template <typename Body> void forEachPart(int64_t count, const Body &body) {
  if (count < 2 * PART_OF_LINE)
    return body(0, count);
  Team::current().forEachRange(count, PART_OF_LINE, /*grain=*/64, body);
}

template <typename KeyAt>
NumberRange rangeOfNumbers(int64_t count, const KeyAt &keyAt) {
  std::mutex mutex;
  NumberRange range;
  forEachPart(count, [&](int64_t begin, int64_t end) {
    NumberRange part;
    for (int64_t i = begin; i < end; ++i) {
      const auto key = keyAt(i);
      if constexpr (std::is_floating_point_v<decltype(keyAt(i))>)
        part.hasNan |= std::isnan(key);
      part.add(orderedBits(key));
    }
    std::lock_guard lock(mutex);
    range.add(part);
  });
  return range;
}

/// Sorts the values valueAt(i) by the numbers numberAt(i), and calls
/// use(items).
template <typename Number, typename NumberAt, typename ValueAt, typename Use>
void sortByNumbers(int64_t count, const NumberAt &numberAt,
                   const ValueAt &valueAt, const Use &use) {
  ItemArray<DigitItem<Number>> items{size_t(count)}, scratch{size_t(count)};
  forEachPart(count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      items[size_t(i)] = {Number(numberAt(i)), Number(valueAt(i))};
  });
  use(digitSort(items.span(), scratch.span()).data());
}

/// Calls body<Number>() with an integer type that tells the keys and places of
/// a line apart.
template <typename Body>
void withNumber(const NumberRange &range, int64_t length, const Body &body) {
  constexpr uint64_t few = std::numeric_limits<uint32_t>::max();
  if (range.most - range.least <= few && uint64_t(length) <= few)
    body.template operator()<uint32_t>();
  else
    body.template operator()<uint64_t>();
}

/// The types that all elements are compared as.
enum class KeyKind : uint8_t { Float, Double, Signed, Unsigned };

KeyKind keyKindOf(DType type) {
  if (type == DType::F64)
    return KeyKind::Double;
  if (isFloat(type))
    return KeyKind::Float;
  return isSigned(type) ? KeyKind::Signed : KeyKind::Unsigned;
}

template <typename Key> Key readKey(DType type, const char *data) {
  if constexpr (std::is_floating_point_v<Key>) {
    if (type == DType::BF16 || type == DType::F16) {
      uint16_t bits;
      std::memcpy(&bits, data, 2);
      return Key(widenHalf(type, bits));
    }
    Key key;
    std::memcpy(&key, data, sizeof(Key));
    return key;
  } else {
    if (type == DType::UI64) {
      uint64_t key;
      std::memcpy(&key, data, 8);
      return Key(key);
    }
    return Key(readIndex(type, data));
  }
}

/// Calls `body.template operator()<width>()`.
template <typename Body> void withWidth(unsigned width, const Body &body) {
  switch (width) {
  case 1:
    return body.template operator()<1>();
  case 2:
    return body.template operator()<2>();
  case 4:
    return body.template operator()<4>();
  case 8:
    return body.template operator()<8>();
  default:
    return body.template operator()<16>();
  }
}

enum Direction { LT, LE, GT, GE };
std::optional<Direction> parseDirection(std::string_view name) {
  return name == "LT"   ? std::optional(LT)
         : name == "LE" ? std::optional(LE)
         : name == "GT" ? std::optional(GT)
         : name == "GE" ? std::optional(GE)
                        : std::nullopt;
}

void copyLine(unsigned width, int64_t count, char *to, int64_t toStride,
              const char *from, int64_t fromStride) {
  copyElements(width, std::span(&count, 1), to, std::span(&toStride, 1), from,
               std::span(&fromStride, 1));
}

//===----------------------------------------------------------------------===//
// sort
//===----------------------------------------------------------------------===//

class Sort : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto sort = std::make_unique<Sort>();
    sort->function = step.scalar;
    sort->dim = options.number("dimension");
    if (options.has("direction")) {
      sort->mode = step.scalar ? COMPUTED : ELEMENTS;
      sort->keyInput = size_t(options.number("key_input"));
      sort->direction = options.named<Direction>("direction", parseDirection);
      sort->keyType = options.named<DType>("key_type", parseDType);
    }
    if (options.has("key_types") && !sort->readKeyTypes(options))
      return Error("its options do not fit");
    if (!options.ok() || step.inputs.empty() ||
        step.inputs.size() != step.outputs.size() ||
        (sort->mode != ELEMENTS && !step.scalar) ||
        sort->keyInput >= step.inputs.size() || isComplex(sort->keyType))
      return Error("its options do not fit");
    const Shape &shape = step.inputs[0]->shape;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i]->shape != shape || step.outputs[i]->shape != shape ||
          step.inputs[i]->type != step.outputs[i]->type)
        return Error("its operands differ in shape");
    if (sort->dim < 0 || sort->dim >= int64_t(shape.size()) ||
        (sort->mode == ELEMENTS &&
         step.inputs[sort->keyInput]->type != sort->keyType))
      return Error("its options do not fit its operands");
    sort->length = shape[size_t(sort->dim)];
    return routineOf(std::move(sort));
  }

  Status run(const LibraryArguments &arguments) const override {
    if (arguments.outputs[0].empty())
      return Success();
    if (arguments.inputs[0].extent[size_t(dim)] != length)
      return Error("a call must have whole lines");
    if (mode == CALL) {
      byFunction(arguments);
      return Success();
    }
    if (mode == SEVERAL) {
      bySeveralKeys(arguments);
      return Success();
    }
    switch (keyKindOf(keyType)) {
    case KeyKind::Float:
      byKeys<float>(arguments);
      break;
    case KeyKind::Double:
      byKeys<double>(arguments);
      break;
    case KeyKind::Signed:
      byKeys<int64_t>(arguments);
      break;
    case KeyKind::Unsigned:
      byKeys<uint64_t>(arguments);
      break;
    }
    return Success();
  }

private:
  /// By the scalar function; by elements of an input; by what the function
  /// makes of those; by several integers that it makes of all inputs' elements.
  enum Mode { CALL, ELEMENTS, COMPUTED, SEVERAL };

  /// An integer that items are sorted by where all before it are equal.
  struct IntegerKey {
    DType type;
    bool descends;
  };

  bool readKeyTypes(OptionReader &options) {
    mode = SEVERAL;
    std::istringstream names(options.text("key_types"));
    const std::vector<int64_t> descend = options.list("descend");
    for (std::string name; names >> name;) {
      const std::optional<DType> type = parseDType(name);
      if (!type || isFloat(*type) || isComplex(*type) ||
          keys.size() == descend.size())
        return false;
      keys.push_back({*type, descend[keys.size()] != 0});
    }
    return !keys.empty() && keys.size() == descend.size();
  }

  Lines lines(const LibraryArguments &arguments) const {
    std::vector<const LibraryOperand *> operands;
    operands.reserve(arguments.inputs.size() + arguments.outputs.size());
    for (const LibraryOperand &input : arguments.inputs)
      operands.push_back(&input);
    for (const LibraryOperand &output : arguments.outputs)
      operands.push_back(&output);
    return linesOf(operands, std::span(&dim, 1));
  }

  /// Writes line `offsets` of every output in the order of `order(i)`.
  template <typename Order>
  void permute(const LibraryArguments &arguments,
               const std::vector<int64_t> &offsets, std::vector<char> &line,
               const Order &order) const {
    for (size_t i = 0; i < arguments.inputs.size(); ++i) {
      const LibraryOperand &from = arguments.inputs[i],
                           &to = arguments.outputs[i];
      const unsigned width = byteWidth(from.type);
      const char *source = from.data + offsets[i] * width;
      char *target = to.data + offsets[arguments.inputs.size() + i] * width;
      const int64_t fromStride = from.strides[size_t(dim)] * width,
                    toStride = to.strides[size_t(dim)];
      // In place, the result is written when all has been read.
      const bool isInPlace = source == target;
      if (isInPlace)
        line.resize(size_t(length) * width);
      char *gathered = isInPlace ? line.data() : target;
      const int64_t step = (isInPlace ? 1 : toStride) * width;
      // By value: a loop that waits for memory has few other instructions.
      withWidth(width, [&]<size_t bytes>() {
        forEachPart(length, [=](int64_t begin, int64_t end) {
          for (int64_t j = begin; j < end; ++j)
            std::memcpy(gathered + j * step, source + order(j) * fromStride,
                        bytes);
        });
      });
      if (isInPlace)
        forEachPart(length, [&](int64_t begin, int64_t end) {
          copyLine(width, end - begin, target + begin * toStride * width,
                   toStride, gathered + begin * width, 1);
        });
    }
  }

  /// Reads or computes the keys of a line.
  template <typename Key>
  void readKeys(char *source, int64_t stride, std::span<Key> lineKeys) const {
    forEachPart(length, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        std::complex<double> computed; // 16 bytes
        const char *key = source + j * stride;
        if (mode == COMPUTED) {
          void *operands[] = {source + j * stride, &computed};
          callScalar(function, operands);
          key = reinterpret_cast<const char *>(&computed);
        }
        lineKeys[size_t(j)] = readKey<Key>(keyType, key);
      }
    });
  }

  /// Sorts a line by the digits of its keys; false where a key is nan. Elements
  /// that are sorted alone move with their keys, others are gathered by places.
  template <typename Key>
  bool byDigits(const LibraryArguments &arguments,
                const std::vector<int64_t> &offsets,
                std::span<const Key> lineKeys, std::vector<char> &line) const {
    const NumberRange range =
        rangeOfNumbers(length, [&](int64_t i) { return lineKeys[size_t(i)]; });
    if (range.hasNan)
      return false;
    auto numberAt = [lineKeys, range, up = direction == LT](int64_t i) {
      const uint64_t bits = orderedBits(lineKeys[size_t(i)]);
      return up ? bits - range.least : range.most - bits;
    };
    const LibraryOperand &from = arguments.inputs[0],
                         &to = arguments.outputs[0];
    const unsigned width = byteWidth(from.type);
    withNumber(range, length, [&]<typename Number>() {
      if (arguments.inputs.size() > 1 || width > sizeof(Number))
        return sortByNumbers<Number>(
            length, numberAt, [](int64_t i) { return i; },
            [&](const DigitItem<Number> *sorted) {
              permute(arguments, offsets, line,
                      [sorted](int64_t j) { return int64_t(sorted[j].value); });
            });
      const char *source = from.data + offsets[0] * width;
      char *target = to.data + offsets[1] * width;
      const int64_t fromStride = from.strides[size_t(dim)] * width,
                    toStride = to.strides[size_t(dim)] * width;
      withWidth(width, [&]<size_t bytes>() {
        if constexpr (bytes <= sizeof(Number))
          sortByNumbers<Number>(
              length, numberAt,
              [source, fromStride](int64_t i) {
                Number value = 0;
                std::memcpy(&value, source + i * fromStride, bytes);
                return value;
              },
              [&](const DigitItem<Number> *sorted) {
                forEachPart(length, [=](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    std::memcpy(target + i * toStride, &sorted[i].value, bytes);
                });
              });
      });
    });
    return true;
  }

  template <typename Key> void byKeys(const LibraryArguments &arguments) const {
    struct Item {
      Key key;
      int64_t from;
    };
    const LibraryOperand &keyed = arguments.inputs[keyInput];
    const unsigned width = byteWidth(keyed.type);
    const int64_t stride = keyed.strides[size_t(dim)] * width;
    const auto count = static_cast<size_t>(length);
    ItemArray<Key> lineKeys(count);
    std::vector<Item> items, scratch;
    std::vector<char> line;
    forEachLine(lines(arguments), [&](const std::vector<int64_t> &offsets) {
      readKeys<Key>(keyed.data + offsets[keyInput] * width, stride,
                    lineKeys.span());
      if (length >= MANY_ITEMS && (direction == LT || direction == GT) &&
          byDigits<Key>(arguments, offsets, lineKeys.span(), line))
        return;
      items.resize(count);
      scratch.resize(count);
      for (size_t j = 0; j < count; ++j)
        items[j] = {lineKeys[j], int64_t(j)};
      auto sortBy = [&](auto before) {
        const auto sorted = mergeSort(std::span(items), std::span(scratch),
                                      [before](const Item &a, const Item &b) {
                                        return before(a.key, b.key);
                                      });
        permute(arguments, offsets, line,
                [sorted](int64_t j) { return sorted[size_t(j)].from; });
      };
      switch (direction) {
      case LT:
        sortBy([](Key a, Key b) { return a < b; });
        break;
      case LE:
        sortBy([](Key a, Key b) { return a <= b; });
        break;
      case GT:
        sortBy([](Key a, Key b) { return a > b; });
        break;
      default:
        sortBy([](Key a, Key b) { return a >= b; });
      }
    });
  }

  /// The keys of a line's elements, as numbers to sort up; those of one element
  /// lie side by side.
  void computeKeys(const LibraryArguments &arguments,
                   const std::vector<int64_t> &offsets,
                   std::span<uint64_t> numbers) const {
    const size_t count = arguments.inputs.size();
    forEachPart(length, [&](int64_t begin, int64_t end) {
      std::vector<uint64_t> computed(keys.size());
      std::vector<void *> operands(count + keys.size());
      for (size_t k = 0; k < keys.size(); ++k)
        operands[count + k] = &computed[k];
      uint64_t *number = &numbers[size_t(begin) * keys.size()];
      for (int64_t j = begin; j < end; ++j) {
        for (size_t i = 0; i < count; ++i) {
          const LibraryOperand &input = arguments.inputs[i];
          operands[i] =
              input.data + (offsets[i] + j * input.strides[size_t(dim)]) *
                               byteWidth(input.type);
        }
        callScalar(function, operands.data());
        for (size_t k = 0; k < keys.size(); ++k) {
          const auto *key = reinterpret_cast<const char *>(&computed[k]);
          const uint64_t bits =
              isSigned(keys[k].type)
                  ? orderedBits(readKey<int64_t>(keys[k].type, key))
                  : orderedBits(readKey<uint64_t>(keys[k].type, key));
          *number++ = keys[k].descends ? ~bits : bits;
        }
      }
    });
  }

  /// Puts `order` into that of the numbers of key `k`.
  void orderByKey(std::span<const uint64_t> numbers, size_t k,
                  std::span<int64_t> order) const {
    auto numberAt = [&](int64_t i) {
      return numbers[size_t(order[size_t(i)]) * keys.size() + k];
    };
    const NumberRange range = rangeOfNumbers(length, numberAt);
    withNumber(range, length, [&]<typename Number>() {
      sortByNumbers<Number>(
          length, [&](int64_t i) { return numberAt(i) - range.least; },
          [&](int64_t i) { return order[size_t(i)]; },
          [&](const DigitItem<Number> *sorted) {
            forEachPart(length, [=](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i)
                order[size_t(i)] = int64_t(sorted[i].value);
            });
          });
    });
  }

  void bySeveralKeys(const LibraryArguments &arguments) const {
    const auto count = static_cast<size_t>(length);
    ItemArray<uint64_t> numbers(count * keys.size());
    ItemArray<int64_t> places(count), scratch(count);
    std::vector<char> line;
    forEachLine(lines(arguments), [&](const std::vector<int64_t> &offsets) {
      computeKeys(arguments, offsets, numbers.span());
      std::span<int64_t> order = places.span();
      std::iota(order.begin(), order.end(), int64_t(0));
      if (length >= MANY_ITEMS)
        for (size_t k = keys.size(); k-- > 0;)
          orderByKey(numbers.span(), k, order);
      else
        order = mergeSort(order, scratch.span(), [&](int64_t a, int64_t b) {
          const auto keysOf = [&](int64_t place) {
            return numbers.span().subspan(size_t(place) * keys.size(),
                                          keys.size());
          };
          return std::ranges::lexicographical_compare(keysOf(a), keysOf(b));
        });
      permute(arguments, offsets, line,
              [order](int64_t j) { return order[size_t(j)]; });
    });
  }

  /// The comparator, which is called on elements of a line. Each thread has its
  /// own one.
  class ByFunction {
  public:
    ByFunction(const Sort &sort, const LibraryArguments &arguments,
               const std::vector<int64_t> &offsets)
        : sort(sort), inputs(arguments.inputs), offsets(offsets),
          operands(2 * inputs.size() + 1) {}

    bool operator()(int64_t a, int64_t b) const {
      for (size_t i = 0; i < inputs.size(); ++i) {
        const LibraryOperand &input = inputs[i];
        const int64_t stride = input.strides[size_t(sort.dim)];
        const unsigned width = byteWidth(input.type);
        operands[2 * i] = input.data + (offsets[i] + a * stride) * width;
        operands[2 * i + 1] = input.data + (offsets[i] + b * stride) * width;
      }
      uint8_t before = 0;
      operands.back() = &before;
      callScalar(sort.function, operands.data());
      return before != 0;
    }

  private:
    const Sort &sort;
    const std::vector<LibraryOperand> &inputs;
    const std::vector<int64_t> &offsets;
    mutable std::vector<void *> operands;
  };

  void byFunction(const LibraryArguments &arguments) const {
    const auto count = static_cast<size_t>(length);
    ItemArray<int64_t> places(count), scratch(count);
    std::vector<char> line;
    forEachLine(lines(arguments), [&](const std::vector<int64_t> &offsets) {
      std::iota(places.span().begin(), places.span().end(), int64_t(0));
      const auto order = mergeSort(places.span(), scratch.span(),
                                   ByFunction(*this, arguments, offsets));
      permute(arguments, offsets, line,
              [order](int64_t j) { return order[size_t(j)]; });
    });
  }

  /// Shorter lines are merged in less time than digits are counted.
  static constexpr int64_t MANY_ITEMS = 512;

  int64_t dim = 0, length = 0, direction = LT;
  Mode mode = CALL;
  size_t keyInput = 0;
  DType keyType = DType::F32;
  std::vector<IntegerKey> keys;
  KernelFunction function = nullptr;
};

//===----------------------------------------------------------------------===//
// generic_reduce
//===----------------------------------------------------------------------===//

class GenericReduce : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto reduce = std::make_unique<GenericReduce>();
    reduce->dims = options.list("dimensions");
    reduce->function = step.scalar;
    const size_t count = reduce->count = step.outputs.size();
    if (!options.ok() || !step.scalar || count == 0 ||
        step.inputs.size() != 2 * count ||
        !areDims(reduce->dims, step.inputs[0]->shape.size()))
      return Error(
          "expected inputs, and one init value and one result for each input");
    const Shape &shape = step.inputs[0]->shape;
    std::ranges::sort(reduce->dims);
    Shape resultShape;
    for (unsigned d : otherDims(shape.size(), reduce->dims))
      resultShape.push_back(shape[d]);
    for (size_t i = 0; i < count; ++i)
      if (step.inputs[i]->shape != shape ||
          step.outputs[i]->shape != resultShape ||
          !step.inputs[count + i]->shape.empty() ||
          step.inputs[i]->type != step.outputs[i]->type ||
          step.inputs[count + i]->type != step.outputs[i]->type)
        return Error("its operands do not fit");
    return routineOf(std::move(reduce));
  }

  Status run(const LibraryArguments &arguments) const override {
    if (arguments.outputs[0].empty())
      return Success();
    // Lines over the kept dims of inputs and results; in each, the reduced
    // dims.
    Lines lines, inner;
    for (size_t i = 0; i < count; ++i) {
      const LibraryOperand &input = arguments.inputs[i];
      Shape &outside = lines.strides.emplace_back();
      Shape &inside = inner.strides.emplace_back();
      for (size_t d = 0; d < input.extent.size(); ++d)
        (std::ranges::count(dims, int64_t(d)) ? inside : outside)
            .push_back(input.strides[d]);
    }
    for (int64_t d : dims)
      inner.extent.push_back(arguments.inputs[0].extent[size_t(d)]);
    lines.extent = arguments.outputs[0].extent;
    for (const LibraryOperand &output : arguments.outputs)
      lines.strides.push_back(output.strides);

    std::vector<std::complex<double>> accumulators(count), next(count);
    std::vector<void *> operands(3 * count);
    forEachLine(lines, [&](const std::vector<int64_t> &offsets) {
      for (size_t i = 0; i < count; ++i)
        std::memcpy(&accumulators[i], arguments.inputs[count + i].data,
                    byteWidth(arguments.outputs[i].type));
      forEachLine(inner, [&](const std::vector<int64_t> &element) {
        for (size_t i = 0; i < count; ++i) {
          const LibraryOperand &input = arguments.inputs[i];
          operands[i] = &accumulators[i];
          operands[count + i] =
              input.data + (offsets[i] + element[i]) * byteWidth(input.type);
          operands[2 * count + i] = &next[i];
        }
        callScalar(function, operands.data());
        accumulators.swap(next);
      });
      for (size_t i = 0; i < count; ++i) {
        const LibraryOperand &output = arguments.outputs[i];
        const unsigned width = byteWidth(output.type);
        std::memcpy(output.data + offsets[count + i] * width, &accumulators[i],
                    width);
      }
    });
    return Success();
  }

private:
  size_t count = 0;
  std::vector<int64_t> dims;
  KernelFunction function = nullptr;
};
} // namespace

namespace meshloom::library {
LibraryRows functionsOfSort() {
  static constexpr LibraryRow rows[] = {
      {"sort", Sort::make, {.usesTeam = true}},
      {"generic_reduce", GenericReduce::make}};
  return rows;
}
} // namespace meshloom::library
