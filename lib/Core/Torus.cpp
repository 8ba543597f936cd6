// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How busy the links of a torus are when the groups of a mesh axis talk.
#include "meshloom/Core/Torus.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <mutex>
#include <numeric>

namespace meshloom {

namespace {
using Coords = std::vector<int64_t>;

/// The number of a chip, x fastest.
size_t indexOf(const Coords &shape, const Coords &chip) {
  size_t index = 0;
  for (size_t dim = shape.size(); dim-- > 0;)
    index = index * size_t(shape[dim]) + size_t(chip[dim]);
  return index;
}

Coords chipAt(const Coords &shape, size_t index) {
  Coords chip;
  for (int64_t size : shape) {
    chip.push_back(int64_t(index) % size);
    index /= size_t(size);
  }
  return chip;
}

/// The traffic of each link in each direction, in halves of a message.
class Traffic {
public:
  explicit Traffic(const Torus::Description &torus)
      : torus(torus),
        load(size_t(std::accumulate(torus.shape.begin(), torus.shape.end(),
                                    int64_t(1), std::multiplies<>())) *
             torus.shape.size() * 2) {}

  /// One message, dim after dim. Where both ways round are as long, half of it
  /// goes each way.
  void send(const Coords &from, const Coords &to) {
    Coords position = from;
    for (size_t dim = 0; dim < position.size(); ++dim) {
      const int64_t size = torus.shape[dim];
      const int64_t up = (to[dim] - from[dim] + size) % size;
      if (!torus.wraps[dim])
        walk(position, dim, std::abs(to[dim] - from[dim]), to[dim] > from[dim],
             2);
      else if (2 * up == size) {
        walk(position, dim, up, true, 1);
        walk(position, dim, up, false, 1);
      } else
        walk(position, dim, std::min(up, size - up), 2 * up < size, 2);
      position[dim] = to[dim];
    }
  }
  int64_t busiest() const { return *std::ranges::max_element(load); }

private:
  void walk(Coords position, size_t dim, int64_t hops, bool up,
            int64_t halves) {
    const int64_t size = torus.shape[dim];
    for (; hops > 0; --hops) {
      load[(indexOf(torus.shape, position) * position.size() + dim) * 2 + up] +=
          halves;
      position[dim] = (position[dim] + (up ? 1 : size - 1)) % size;
    }
  }

  const Torus::Description &torus;
  std::vector<int64_t> load;
};

int64_t distance(const Torus::Description &torus, const Coords &from,
                 const Coords &to) {
  int64_t hops = 0;
  for (size_t dim = 0; dim < from.size(); ++dim) {
    const int64_t straight = std::abs(to[dim] - from[dim]);
    hops += torus.wraps[dim] ? std::min(straight, torus.shape[dim] - straight)
                             : straight;
  }
  return hops;
}

/// The link of the axis of `size` devices that are `stride` apart.
AxisLink linkAlong(const Torus::Description &torus, int64_t size,
                   int64_t stride) {
  Traffic ring(torus), exchange(torus);
  int64_t farthest = 0;
  bool onOneChip = false;
  for (size_t first = 0; first < torus.chips.size(); ++first) {
    if (int64_t(first) / stride % size != 0)
      continue;
    auto member = [&](int64_t i) -> const Coords & {
      return torus.chips[first + size_t(i % size * stride)];
    };
    for (int64_t i = 0; i < size; ++i) {
      ring.send(member(i), member(i + 1));
      ring.send(member(i + 1), member(i));
      onOneChip |= size > 1 && member(i) == member(i + 1);
      for (int64_t j = 0; j < size; ++j) {
        exchange.send(member(i), member(j));
        farthest = std::max(farthest, distance(torus, member(i), member(j)));
      }
    }
  }
  // A ring each way, with half the data: two messages, four halves, are what
  // all of the data is. In an exchange each of size - 1 messages, of two
  // halves, is a part of it.
  auto rate = [&](int64_t parts, int64_t busiest) {
    int64_t fastest = onOneChip || busiest == 0
                          ? torus.chipBytesPerSecond
                          : parts * torus.linkBytesPerSecond;
    return busiest == 0
               ? fastest
               : std::max<int64_t>(
                     std::min(fastest,
                              int64_t(__int128(torus.linkBytesPerSecond) *
                                      parts / busiest)),
                     1);
  };
  AxisLink link;
  link.bytesPerSecond = rate(4, ring.busiest());
  link.latency = farthest * torus.hopLatency;
  link.allToAllBytesPerSecond =
      std::min(link.bytesPerSecond,
               rate(2 * std::max<int64_t>(size - 1, 1), exchange.busiest()));
  return link;
}
} // namespace

struct Torus::Impl {
  Description description;
  bool inOrder = true;
  /// The links that were worked out, by the sizes of the mesh.
  mutable std::mutex mutex;
  mutable std::map<std::vector<int64_t>, std::vector<AxisLink>> links;
};

Result<Torus> Torus::get(Description description) {
  const std::string shape =
      fmt::format("{}", fmt::join(description.shape, "x"));
  auto wrong = [&](const std::string &why) {
    return Error(fmt::format("torus of {} chips: {}", shape, why));
  };
  const Coords &dims = description.shape;
  if (dims.empty() || dims.size() > 3 || std::ranges::min(dims) < 1)
    return wrong("expected one to three dims of at least 1");
  // The product is bounded as it grows: it cannot overflow.
  constexpr int64_t mostDevices = 65536;
  int64_t devices = description.devicesPerChip;
  for (int64_t dim : dims)
    devices = devices > 0 && dim <= mostDevices && devices <= mostDevices
                  ? devices * dim
                  : mostDevices + 1;
  if (devices > mostDevices)
    return wrong(
        fmt::format("with {} devices on each chip, the number of devices is 0 "
                    "or more than {}",
                    description.devicesPerChip, mostDevices));
  if (description.wraps.size() != dims.size())
    return wrong(fmt::format("{} dims, but 'wrap' has entries for {}",
                             dims.size(), description.wraps.size()));
  if (description.linkBytesPerSecond < 1 ||
      description.chipBytesPerSecond < 1 || description.hopLatency < 0)
    return wrong("rates must be at least 1, times at least 0");

  auto impl = std::make_shared<Impl>();
  std::vector<Coords> inOrder;
  inOrder.reserve(size_t(devices));
  for (int64_t i = 0; i < devices; ++i)
    inOrder.push_back(chipAt(dims, size_t(i / description.devicesPerChip)));
  if (description.chips.empty())
    description.chips = inOrder;
  if (int64_t(description.chips.size()) != devices)
    return wrong(fmt::format("expected the chips of {} devices, got {}",
                             devices, description.chips.size()));
  for (const Coords &chip : description.chips) {
    bool inside = chip.size() == dims.size();
    for (size_t dim = 0; inside && dim < dims.size(); ++dim)
      inside = chip[dim] >= 0 && chip[dim] < dims[dim];
    if (!inside)
      return wrong(
          fmt::format("there is no chip at ({})", fmt::join(chip, ", ")));
  }
  impl->inOrder = description.chips == inOrder;
  impl->description = std::move(description);
  return Torus(std::move(impl));
}

const Torus::Description &Torus::description() const {
  return impl->description;
}

bool Torus::isInOrder() const {
  return impl->inOrder;
}

int64_t Torus::size() const {
  return int64_t(impl->description.chips.size());
}

AxisLink Torus::link(const Mesh &mesh, unsigned axis) const {
  std::vector<int64_t> sizes;
  for (const MeshAxis &meshAxis : mesh.axes())
    sizes.push_back(meshAxis.size);
  std::lock_guard lock(impl->mutex);
  std::vector<AxisLink> &links = impl->links[sizes];
  if (links.empty()) {
    const std::vector<int64_t> strides = mesh.strides();
    for (unsigned index = 0; index < mesh.rank(); ++index)
      links.push_back(
          linkAlong(impl->description, sizes[index], strides[index]));
  }
  return links[axis];
}

} // namespace meshloom
