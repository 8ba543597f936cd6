// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort and generic_reduce: work along whole dims, line by line.
#include "LibraryArrays.h"
#include "LibraryTable.h"
#include "Lines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Sorts stably: an item moves in front of an earlier one only where
/// `before(item, earlier)`. Whatever `before` says, all accesses are in bounds.
/// Runs of 16 are sorted by insertion, then merged pairwise: n log n steps.
template <typename Item, typename Before>
void mergeSort(std::vector<Item> &items, std::vector<Item> &scratch,
               const Before &before) {
  constexpr size_t RUN = 16;
  const size_t n = items.size();
  for (size_t begin = 0; begin < n; begin += RUN)
    for (size_t i = begin + 1; i < std::min(begin + RUN, n); ++i) {
      Item item = items[i];
      size_t j = i;
      for (; j > begin && before(item, items[j - 1]); --j)
        items[j] = items[j - 1];
      items[j] = item;
    }
  scratch.resize(n);
  for (size_t run = RUN; run < n; run *= 2) {
    for (size_t begin = 0; begin < n; begin += 2 * run) {
      const size_t middle = std::min(begin + run, n),
                   end = std::min(begin + 2 * run, n);
      size_t first = begin, second = middle;
      for (size_t to = begin; to < end; ++to)
        scratch[to] = second < end && (first == middle ||
                                       before(items[second], items[first]))
                          ? items[second++]
                          : items[first++];
    }
    items.swap(scratch);
  }
}

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

/// Sorts stably by `bits`, eight of them at a time, the lowest first. Digits
/// that all items agree in take no pass.
template <typename Item>
void radixSort(std::vector<Item> &items, std::vector<Item> &scratch) {
  using Bits = decltype(Item::bits);
  constexpr size_t digits = sizeof(Bits), values = 256;
  std::array<std::array<size_t, values>, digits> counts{};
  for (const Item &item : items)
    for (size_t d = 0; d < digits; ++d)
      ++counts[d][(item.bits >> (8 * d)) & (values - 1)];
  scratch.resize(items.size());
  for (size_t d = 0; d < digits; ++d) {
    auto digitOf = [d](const Item &item) {
      return size_t(item.bits >> (8 * d)) & (values - 1);
    };
    if (counts[d][digitOf(items[0])] == items.size())
      continue;
    size_t begin = 0;
    for (size_t &count : counts[d])
      begin += std::exchange(count, begin);
    for (const Item &item : items)
      scratch[counts[d][digitOf(item)]++] = item;
    items.swap(scratch);
  }
}

/// An item of radixSort, with 32 bits where these tell all keys apart.
template <typename Bits> struct RadixItem {
  Bits bits;
  Bits from;
};

/// The places of `items` in the order of their keys, written to them; false
/// where a key is nan, which has no place in an order.
template <typename Item> bool orderByDigits(std::vector<Item> &items, bool up) {
  using Key = decltype(Item::key);
  uint64_t least = std::numeric_limits<uint64_t>::max(), most = 0;
  for (const Item &item : items) {
    if constexpr (std::is_floating_point_v<Key>)
      if (std::isnan(item.key))
        return false;
    const uint64_t bits = orderedBits(item.key);
    least = std::min(least, bits);
    most = std::max(most, bits);
  }
  auto sort = [&]<typename Bits>(Bits) {
    std::vector<RadixItem<Bits>> keyed(items.size()), scratch;
    for (size_t i = 0; i < items.size(); ++i) {
      const uint64_t bits = orderedBits(items[i].key);
      keyed[i] = {Bits(up ? bits - least : most - bits), Bits(items[i].from)};
    }
    radixSort(keyed, scratch);
    for (size_t i = 0; i < items.size(); ++i)
      items[i].from = int64_t(keyed[i].from);
  };
  constexpr uint64_t small = std::numeric_limits<uint32_t>::max();
  if (most - least <= small && items.size() <= small) {
    sort(uint32_t());
    return true;
  }
  sort(uint64_t());
  return true;
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
      line.resize(size_t(length) * width);
      const char *source = from.data + offsets[i] * width;
      const int64_t stride = from.strides[size_t(dim)] * width;
      auto take = [&]<size_t bytes>(std::integral_constant<size_t, bytes>) {
        for (int64_t j = 0; j < length; ++j)
          std::memcpy(line.data() + size_t(j) * bytes,
                      source + order(j) * stride, bytes);
      };
      switch (width) {
      case 1:
        take(std::integral_constant<size_t, 1>());
        break;
      case 2:
        take(std::integral_constant<size_t, 2>());
        break;
      case 4:
        take(std::integral_constant<size_t, 4>());
        break;
      case 8:
        take(std::integral_constant<size_t, 8>());
        break;
      default:
        take(std::integral_constant<size_t, 16>());
      }
      copyLine(width, length,
               to.data + offsets[arguments.inputs.size() + i] * width,
               to.strides[size_t(dim)], line.data(), 1);
    }
  }

  template <typename Key> void byKeys(const LibraryArguments &arguments) const {
    struct Item {
      Key key;
      int64_t from;
    };
    const LibraryOperand &keyed = arguments.inputs[keyInput];
    const unsigned width = byteWidth(keyed.type);
    const int64_t stride = keyed.strides[size_t(dim)] * width;
    std::vector<Item> items, scratch;
    std::vector<char> line;
    forEachLine(lines(arguments), [&](const std::vector<int64_t> &offsets) {
      char *source = keyed.data + offsets[keyInput] * width;
      items.resize(size_t(length));
      for (int64_t j = 0; j < length; ++j) {
        std::complex<double> computed; // 16 bytes
        const char *key = source + j * stride;
        if (mode == COMPUTED) {
          void *operands[] = {source + j * stride, &computed};
          callScalar(function, operands);
          key = reinterpret_cast<const char *>(&computed);
        }
        items[size_t(j)] = {readKey<Key>(keyType, key), j};
      }
      auto writeInOrder = [&] {
        permute(arguments, offsets, line,
                [&](int64_t j) { return items[size_t(j)].from; });
      };
      if (length >= MANY_ITEMS && (direction == LT || direction == GT) &&
          orderByDigits(items, direction == LT))
        return writeInOrder();
      auto sortBy = [&](auto before) {
        mergeSort(items, scratch, [&](const Item &a, const Item &b) {
          return before(a.key, b.key);
        });
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
      writeInOrder();
    });
  }

  /// The keys of a line's elements, as numbers to sort up; those of one element
  /// lie side by side.
  void computeKeys(const LibraryArguments &arguments,
                   const std::vector<int64_t> &offsets,
                   std::vector<uint64_t> &numbers) const {
    const size_t count = arguments.inputs.size();
    std::vector<uint64_t> computed(keys.size());
    std::vector<void *> operands(count + keys.size());
    for (size_t k = 0; k < keys.size(); ++k)
      operands[count + k] = &computed[k];
    numbers.clear();
    for (int64_t j = 0; j < length; ++j) {
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
        numbers.push_back(keys[k].descends ? ~bits : bits);
      }
    }
  }

  void bySeveralKeys(const LibraryArguments &arguments) const {
    struct Item {
      uint64_t key;
      int64_t from;
    };
    std::vector<uint64_t> numbers;
    std::vector<Item> items, scratch;
    std::vector<char> line;
    forEachLine(lines(arguments), [&](const std::vector<int64_t> &offsets) {
      computeKeys(arguments, offsets, numbers);
      const auto keysOf = [&](const Item &item) {
        return std::span(numbers).subspan(size_t(item.from) * keys.size(),
                                          keys.size());
      };
      items.clear();
      for (int64_t j = 0; j < length; ++j)
        items.push_back({0, j});
      if (length >= MANY_ITEMS)
        for (size_t k = keys.size(); k-- > 0;) {
          for (Item &item : items)
            item.key = keysOf(item)[k];
          orderByDigits(items, /*up=*/true);
        }
      else
        mergeSort(items, scratch, [&](const Item &a, const Item &b) {
          return std::ranges::lexicographical_compare(keysOf(a), keysOf(b));
        });
      permute(arguments, offsets, line,
              [&](int64_t j) { return items[size_t(j)].from; });
    });
  }

  void byFunction(const LibraryArguments &arguments) const {
    const size_t count = arguments.inputs.size();
    std::vector<int64_t> items, scratch;
    std::vector<void *> operands(2 * count + 1);
    std::vector<char> line;
    forEachLine(lines(arguments), [&](const std::vector<int64_t> &offsets) {
      items.resize(size_t(length));
      for (int64_t j = 0; j < length; ++j)
        items[size_t(j)] = j;
      mergeSort(items, scratch, [&](int64_t a, int64_t b) {
        for (size_t i = 0; i < count; ++i) {
          const LibraryOperand &input = arguments.inputs[i];
          const int64_t stride = input.strides[size_t(dim)];
          const unsigned width = byteWidth(input.type);
          operands[2 * i] = input.data + (offsets[i] + a * stride) * width;
          operands[2 * i + 1] = input.data + (offsets[i] + b * stride) * width;
        }
        uint8_t before = 0;
        operands[2 * count] = &before;
        callScalar(function, operands.data());
        return before != 0;
      });
      permute(arguments, offsets, line,
              [&](int64_t j) { return items[size_t(j)]; });
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
      {"sort", Sort::make}, {"generic_reduce", GenericReduce::make}};
  return rows;
}
} // namespace meshloom::library
