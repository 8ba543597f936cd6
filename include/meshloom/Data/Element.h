// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element: what flows through a pipeline of a Dataset, whatever its type: the
// tensors of a structure, in order, and the structure without them.
#pragma once

#include "meshloom/API/HostTensor.h"
#include "meshloom/API/Structure.h"

namespace meshloom::data {

template <typename T> class Dataset;

namespace detail {

/// One tensor of an element: either a Tensor, or bytes that are part of a
/// larger piece of memory (a row of the array that a dataset is made of), which
/// costs nothing to pass on.
class HostArray {
public:
  HostArray() = default;
  /// Throws where the tensor is empty or a value of a trace.
  explicit HostArray(Tensor tensor);
  /// `bytes`, kept alive by `owner`.
  HostArray(DType type, Shape shape, std::shared_ptr<const void> owner,
            const char *bytes)
      : type(type), extents(std::move(shape)), owner(std::move(owner)),
        bytes(bytes) {}
  /// Takes the bytes over.
  HostArray(DType type, Shape shape, std::vector<char> values);

  DType dtype() const { return type; }
  const Shape &shape() const { return extents; }
  int64_t byteCount() const;
  /// Writes the elements, row-major, to `to`.
  void copyTo(char *to) const;
  /// The same value as bytes in memory of the host.
  HostArray inMemory() const;
  /// Row i of the first dim, of an array in memory.
  HostArray row(int64_t i) const;
  /// Rows [begin, end) of the first dim, of an array in memory.
  HostArray rows(int64_t begin, int64_t end) const;
  /// A tensor: the one it was made of, or a new one of the host.
  Tensor tensor() const;
  /// The bytes of an array in memory.
  const char *data() const { return bytes; }
  /// The layout of an array on devices.
  std::optional<Layout> layout() const;
  /// "f32 [2, 3]".
  std::string typeText() const;

private:
  DType type = DType::F32;
  Shape extents;
  Tensor whole; ///< or:
  std::shared_ptr<const void> owner;
  const char *bytes = nullptr;
};

/// A structure without its tensors.
class Skeleton {
public:
  virtual ~Skeleton() = default;
  /// The text that tells two of one type apart: lengths, keys, numbers,
  /// strings.
  virtual std::string key() const = 0;
  /// How many tensors each part of a pair or tuple has; of others one part.
  virtual std::vector<size_t> parts() const = 0;
  /// For each tensor the key by which its part, a map, has it; "" where its
  /// part is none.
  virtual std::vector<std::string> names() const = 0;
};

/// One element of a dataset.
struct Element {
  std::vector<HostArray> values;
  /// Null for a single Tensor.
  std::shared_ptr<const Skeleton> skeleton;

  std::string key() const { return skeleton ? skeleton->key() : ""; }
  std::vector<size_t> parts() const {
    return skeleton ? skeleton->parts() : std::vector<size_t>{values.size()};
  }
  std::vector<std::string> names() const {
    return skeleton ? skeleton->names()
                    : std::vector<std::string>(values.size());
  }
  /// "(f32 [2], i32 [])".
  std::string typeText() const;
};

template <typename T> inline constexpr bool isDataset = false;
template <typename T> inline constexpr bool isDataset<Dataset<T>> = true;

template <typename T> class TypedSkeleton final : public Skeleton {
public:
  explicit TypedSkeleton(T value) : value(std::move(value)) {}
  std::string key() const override {
    std::string text;
    if constexpr (!isDataset<T>)
      meshloom::detail::appendStatics(value, text);
    return text;
  }
  std::vector<size_t> parts() const override {
    std::vector<size_t> sizes;
    if constexpr (meshloom::detail::isA<T, std::pair> ||
                  meshloom::detail::isA<T, std::tuple>)
      std::apply(
          [&](const auto &...part) {
            (sizes.push_back(meshloom::detail::tensorsOf(part).size()), ...);
          },
          value);
    else if constexpr (!isDataset<T>)
      sizes.push_back(meshloom::detail::tensorsOf(value).size());
    return sizes;
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> paths;
    if constexpr (meshloom::detail::isA<T, std::pair> ||
                  meshloom::detail::isA<T, std::tuple>)
      std::apply([&](const auto &...part) { (appendNames(part, paths), ...); },
                 value);
    else if constexpr (!isDataset<T>)
      appendNames(value, paths);
    return paths;
  }
  const T value;

private:
  template <typename Part>
  static void appendNames(const Part &part, std::vector<std::string> &paths) {
    if constexpr (meshloom::detail::isA<Part, std::map>) {
      if constexpr (std::is_same_v<typename Part::key_type, std::string>) {
        for (const auto &[name, value] : part)
          paths.resize(paths.size() + meshloom::detail::tensorsOf(value).size(),
                       name);
        return;
      }
    }
    paths.resize(paths.size() + meshloom::detail::tensorsOf(part).size());
  }
};

template <typename T> Element elementOf(const T &value) {
  Element element;
  if constexpr (isDataset<T>) {
    element.skeleton = std::make_shared<TypedSkeleton<T>>(value);
  } else {
    std::vector<Tensor> tensors = meshloom::detail::tensorsOf(value);
    element.values.reserve(tensors.size());
    for (Tensor &tensor : tensors)
      element.values.emplace_back(std::move(tensor));
    if constexpr (!std::is_same_v<T, Tensor>) {
      std::vector<Tensor> none(tensors.size());
      element.skeleton = std::make_shared<TypedSkeleton<T>>(
          meshloom::detail::rebuild(value, std::span<const Tensor>(none)));
    }
  }
  return element;
}

/// `tensors` in the structure of `skeleton`.
template <typename T>
T structureOf(const Skeleton *skeleton, std::span<const Tensor> tensors) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return tensors[0];
  } else {
    const T &value = static_cast<const TypedSkeleton<T> *>(skeleton)->value;
    if constexpr (isDataset<T>)
      return value;
    else
      return meshloom::detail::rebuild(value, tensors);
  }
}

/// Sets the numbers and strings of `value`, lengths and keys included, to those
/// that appendStatics wrote. Throws where there are fewer bytes.
template <typename T> void readStatics(T &value, std::string_view &bytes) {
  using meshloom::detail::isA;
  auto taken = [&](size_t n) {
    if (n > bytes.size())
      Error("it was made of elements of another structure").raise();
    std::string_view front = bytes.substr(0, n);
    bytes.remove_prefix(n);
    return front;
  };
  auto number = [&]<typename N>(N &to) {
    std::memcpy(&to, taken(sizeof to).data(), sizeof to);
  };
  if constexpr (std::is_same_v<T, Tensor>) {
    // It has bytes of its own.
  } else if constexpr (std::is_same_v<T, std::string>) {
    size_t size = 0;
    for (char digit; (digit = taken(1).front()) != ':';)
      size = 10 * size + size_t(digit - '0');
    value = taken(size);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    number(value);
  } else if constexpr (isA<T, std::vector>) {
    size_t size = 0;
    number(size);
    value.clear();
    while (size-- > 0)
      readStatics(value.emplace_back(), bytes);
  } else if constexpr (isA<T, std::optional>) {
    bool present = false;
    number(present);
    if (present)
      readStatics(value.emplace(), bytes);
  } else if constexpr (isA<T, std::map>) {
    size_t size = 0;
    number(size);
    while (size-- > 0) {
      typename T::key_type key;
      readStatics(key, bytes);
      readStatics(value[key], bytes);
    }
  } else {
    meshloom::detail::forEachPart(
        value, [&](auto &part) { readStatics(part, bytes); });
  }
}
/// The skeleton that has that key; null for a Tensor.
template <typename T>
std::shared_ptr<const Skeleton> skeletonFrom(std::string_view key) {
  T value{};
  readStatics(value, key);
  if (!key.empty())
    Error("it was made of elements of another structure").raise();
  if constexpr (std::is_same_v<T, Tensor>)
    return nullptr;
  else
    return std::make_shared<TypedSkeleton<T>>(std::move(value));
}

std::vector<Tensor> tensorsOf(const Element &element);
template <typename T> T valueOf(const Element &element) {
  return structureOf<T>(element.skeleton.get(), tensorsOf(element));
}

} // namespace detail
} // namespace meshloom::data
