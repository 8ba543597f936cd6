// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Addends.h"

#include "Noise.h"

#include "meshloom/Runtime/BoxCopy.h"

#include <cmath>

namespace meshloom::fuzz {
namespace {

/// One list of numbers of a value, in parts: parts[k] is what the k-th device
/// along the pending axes holds. `unit`: elements are multiples of it.
template <typename T>
std::vector<std::vector<T>> partsOf(const std::vector<T> &numbers,
                                    ReduceKind kind, size_t count, T unit,
                                    uint64_t seed) {
  std::vector<std::vector<T>> parts(count, numbers);
  for (size_t i = 0; i < numbers.size(); ++i) {
    auto random = [&](size_t k) { return noise(seed + k, i); };
    const size_t holder = size_t(random(count) * double(count));
    for (size_t k = 0; k < count; ++k) {
      if (k == holder)
        continue;
      T &part = parts[k][i];
      const T step = unit * T(std::floor(random(k) * 3));
      switch (kind) {
      case ReduceKind::Sum:
        part = step - unit; // -1, 0 or 1 units
        parts[holder][i] -= part;
        break;
      case ReduceKind::Max: // stays in the range of unsigned types
        part = numbers[i] >= 0 && step > numbers[i] ? numbers[i]
                                                    : numbers[i] - step;
        break;
      case ReduceKind::Min:
        part = numbers[i] + step;
        break;
      case ReduceKind::Or:
        part = numbers[i] != 0 && step > 0 ? T(1) : T(0);
        break;
      case ReduceKind::And:
        part = numbers[i] != 0 || step > 0 ? T(1) : T(0);
        break;
      case ReduceKind::Prod:
        part = T(1);
        break;
      }
    }
  }
  return parts;
}

/// The elements of `numbers`, an array of `shape`, that lie in `box`.
template <typename T>
std::vector<T> sliceOf(const std::vector<T> &numbers, const Shape &shape,
                       const Box &box) {
  std::vector<T> slice;
  if (numbers.empty() || box.empty())
    return slice;
  const Shape strides = rowMajorStrides(shape);
  std::vector<int64_t> index(shape.size(), 0);
  while (true) {
    int64_t element = 0;
    for (size_t d = 0; d < index.size(); ++d)
      element += (box.offset[d] + index[d]) * strides[d];
    slice.push_back(numbers[size_t(element)]);
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == box.extent[d - 1])
      index[--d] = 0;
    if (d == 0)
      return slice;
  }
}

} // namespace

Result<Array> inAddends(const std::shared_ptr<Client> &client,
                        const ArrayType &type, const HostValue &value,
                        const Range &range, uint64_t seed) {
  const Layout &layout = type.layout;
  const Mesh &mesh = layout.mesh();
  const ReduceKind kind = layout.partial()[0].kind;
  size_t count = 1;
  for (const Partial &partial : layout.partial())
    count *= size_t(mesh.axis_size(partial.axis));
  const double unit = std::ldexp(1.0, -std::max(range.fraction, 0));
  const auto floats = partsOf(value.floats, kind, count, unit, seed);
  const auto imaginaries =
      partsOf(value.imaginaries, kind, count, unit, seed + 100);
  const auto ints = partsOf<int64_t>(value.ints, kind, count, 1, seed);

  std::vector<HostBytes> bytes;
  std::vector<Component> components;
  for (int64_t device = 0; device < mesh.size(); ++device) {
    const std::vector<int64_t> coords = mesh.coords(device);
    size_t part = 0;
    for (const Partial &partial : layout.partial())
      part = part * size_t(mesh.axis_size(partial.axis)) +
             size_t(coords[partial.axis]);
    const Box box = layout.shard(value.shape, device);
    HostValue held(value.type, box.extent);
    held.floats = sliceOf(floats[part], value.shape, box);
    held.imaginaries = sliceOf(imaginaries[part], value.shape, box);
    held.ints = sliceOf(ints[part], value.shape, box);
    for (int64_t &number : held.ints)
      number = wrapInteger(value.type, number);
    bytes.push_back(held.toBytes());
    components.push_back({box.extent, {}});
  }
  for (size_t i = 0; i < bytes.size(); ++i)
    components[i].bytes = bytes[i];
  return Array::fromComponents(client, type.dtype, layout, components);
}

} // namespace meshloom::fuzz
