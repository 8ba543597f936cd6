// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostArray: tensors of elements, and their parts, without copies.
#include "meshloom/Data/Element.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace meshloom::data::detail {

/// Throws where it is empty.
static DType elementType(const Tensor &tensor) {
  if (!tensor.defined())
    Error("[Dataset] expected tensors, got an empty Tensor: give it a "
          "value first")
        .raise();
  return tensor.dtype();
}

HostArray::HostArray(Tensor tensor)
    : type(elementType(tensor)), extents(tensor.shape()),
      whole(std::move(tensor)) {
  if (whole.is_traced())
    Error("[Dataset] expected a tensor that has a value, got a value of a "
          "trace: make datasets outside of functions, and give functions "
          "an iterator",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
}

HostArray::HostArray(DType type, Shape shape, std::vector<char> values)
    : type(type), extents(std::move(shape)) {
  auto storage = std::make_shared<const std::vector<char>>(std::move(values));
  bytes = storage->data();
  owner = std::move(storage);
}

int64_t HostArray::byteCount() const {
  return elementCount(extents) * byteWidth(type);
}

void HostArray::copyTo(char *to) const {
  const int64_t count = byteCount();
  if (count == 0)
    return;
  if (bytes) {
    std::memcpy(to, bytes, size_t(count));
  } else {
    std::vector<char> values = meshloom::detail::bytesOf(whole, "Dataset");
    std::memcpy(to, values.data(), values.size());
  }
}

HostArray HostArray::inMemory() const {
  if (!whole.defined())
    return *this;
  return HostArray(type, extents, meshloom::detail::bytesOf(whole, "Dataset"));
}

HostArray HostArray::row(int64_t i) const {
  Shape shape(extents.begin() + 1, extents.end());
  const int64_t width = elementCount(shape) * byteWidth(type);
  return HostArray(type, std::move(shape), owner, bytes + i * width);
}

HostArray HostArray::rows(int64_t begin, int64_t end) const {
  Shape shape = extents;
  shape.front() = 1;
  const int64_t width = elementCount(shape) * byteWidth(type);
  shape.front() = end - begin;
  return HostArray(type, std::move(shape), owner, bytes + begin * width);
}

Tensor HostArray::tensor() const {
  if (whole.defined())
    return whole;
  return meshloom::detail::hostTensor(type, extents,
                                      {bytes, size_t(byteCount())});
}

std::optional<Layout> HostArray::layout() const {
  if (!whole.defined())
    return std::nullopt;
  Layout layout = whole.layout();
  return layout.mesh() == meshloom::detail::hostMesh() ? std::nullopt
                                                       : std::optional(layout);
}

std::string HostArray::typeText() const {
  return fmt::format("{} [{}]", name(type), fmt::join(extents, ", "));
}

std::string Element::typeText() const {
  std::vector<std::string> types;
  types.reserve(values.size());
  for (const HostArray &value : values)
    types.push_back(value.typeText());
  return types.size() == 1 ? types.front()
                           : fmt::format("({})", fmt::join(types, ", "));
}

std::vector<Tensor> tensorsOf(const Element &element) {
  std::vector<Tensor> tensors;
  tensors.reserve(element.values.size());
  for (const HostArray &value : element.values)
    tensors.push_back(value.tensor());
  return tensors;
}

} // namespace meshloom::data::detail
