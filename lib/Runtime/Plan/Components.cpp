// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Box copies in both directions; the addends of partial values.
#include "meshloom/Runtime/Plan/Components.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/Plan/Region.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plan;

int64_t plan::copyCount(const Layout &layout) {
  int64_t count = 1;
  for (const Partial &partial : layout.partial())
    count *= layout.mesh().axis_size(partial.axis);
  return count;
}

int64_t plan::copyIndex(const Layout &layout, std::span<const int64_t> coords) {
  int64_t index = 0;
  for (const Partial &partial : layout.partial())
    index =
        index * layout.mesh().axis_size(partial.axis) + coords[partial.axis];
  return index;
}

std::vector<int64_t> plan::copiesOf(const Layout &layout,
                                    std::span<const int64_t> devices) {
  const int64_t total = copyCount(layout);
  std::vector<int64_t> copies;
  if (std::ssize(devices) == layout.mesh().size()) {
    copies.resize(size_t(total));
    std::iota(copies.begin(), copies.end(), 0);
    return copies;
  }
  for (int64_t device : devices)
    copies.push_back(
        total == 1 ? 0 : copyIndex(layout, layout.mesh().coords(device)));
  std::ranges::sort(copies);
  copies.erase(std::ranges::unique(copies).begin(), copies.end());
  return copies;
}

std::vector<int64_t> plan::addendDevices(const Layout &layout, int64_t device) {
  const Mesh &mesh = layout.mesh();
  std::vector<int64_t> coords = mesh.coords(device), devices;
  const int64_t count = copyCount(layout);
  for (int64_t copy = 0; copy < count; ++copy) {
    int64_t remainder = copy;
    std::span<const Partial> partial = layout.partial();
    for (size_t p = partial.size(); p-- > 0;) {
      const int64_t size = mesh.axis_size(partial[p].axis);
      coords[partial[p].axis] = remainder % size;
      remainder /= size;
    }
    devices.push_back(mesh.device_at(coords));
  }
  return devices;
}

namespace {
/// Addend `copy` of a value that is all in addend 0. The identities of nested
/// partial axes of different kinds: whatever the order, an addend that is not
/// the first is combined away by the innermost axis on which its coordinate is
/// not 0.
void fillOtherAddend(const Layout &layout, DType type, int64_t copy, char *into,
                     int64_t count) {
  std::span<const Partial> partial = layout.partial();
  for (size_t p = partial.size(); p-- > 0;) {
    const int64_t size = layout.mesh().axis_size(partial[p].axis);
    if (copy % size) {
      fillIdentity(partial[p].kind, type, into, count);
      return;
    }
    copy /= size;
  }
}

/// Combines addends that lie one after the other in row-major order of the
/// partial axes; all neighbouring axes of one kind at once, so that f16 and
/// bf16 are rounded once, minor ones first. The addends are overwritten; the
/// value is left in the first.
void combineAddends(const Layout &layout, DType type,
                    std::vector<char *> addends, int64_t count) {
  std::span<const Partial> partial = layout.partial();
  for (size_t p = partial.size(); p-- > 0;) {
    size_t size = size_t(layout.mesh().axis_size(partial[p].axis));
    for (; p > 0 && partial[p - 1].kind == partial[p].kind; --p)
      size *= size_t(layout.mesh().axis_size(partial[p - 1].axis));
    std::vector<char *> combined;
    for (size_t first = 0; first < addends.size(); first += size) {
      std::vector<const void *> sources(addends.begin() + long(first),
                                        addends.begin() + long(first + size));
      combine(partial[p].kind, type, addends[first], sources, count);
      combined.push_back(addends[first]);
    }
    addends = std::move(combined);
  }
}

/// Returns whether `coords` are those of the first device that holds its
/// component.
bool isFirstCopy(const Layout &layout, std::span<const int64_t> coords) {
  for (unsigned axis = 0; axis < coords.size(); ++axis)
    if (coords[axis] != 0 && !layout.uses_axis(axis))
      return false;
  return true;
}

char *writable(const char *data) {
  return const_cast<char *>(data); // an ArrayView that is only read
}

/// The memory of a device's padded component.
ArrayView padded(const ArrayType &type, const char *data, const Box &box) {
  return {writable(data), {box.offset, type.layout.local_shape(type.shape)}};
}
} // namespace

Box plan::sharedBox(const ArrayType &type, std::span<const int64_t> devices) {
  if (std::ssize(devices) == type.layout.mesh().size())
    return Box::whole(type.shape);
  std::vector<Box> boxes;
  boxes.reserve(devices.size());
  for (int64_t device : devices)
    boxes.push_back(type.layout.shard(type.shape, device));
  return hullOf(boxes, type.shape.size());
}

namespace {
/// The array of the addend that `device` holds.
ArrayView sharedAddend(const ArrayType &type, std::span<const int64_t> devices,
                       const char *memory, int64_t device) {
  const Box where = sharedBox(type, devices);
  const std::vector<int64_t> copies = copiesOf(type.layout, devices);
  const int64_t copy =
      copyIndex(type.layout, type.layout.mesh().coords(device));
  const int64_t slot = std::ranges::lower_bound(copies, copy) - copies.begin();
  return {writable(memory) + slot * where.count() * byteWidth(type.dtype),
          where};
}

/// Returns whether an earlier one of the devices holds the same component.
bool isHeldBefore(const Layout &layout, std::span<const int64_t> devices,
                  int64_t device) {
  const std::vector<int64_t> coords = layout.mesh().coords(device);
  if (std::ssize(devices) == layout.mesh().size())
    return !isFirstCopy(layout, coords);
  for (int64_t other : devices) {
    if (other == device)
      break;
    const std::vector<int64_t> others = layout.mesh().coords(other);
    bool same = true;
    for (unsigned axis = 0; axis < coords.size(); ++axis)
      same &= others[axis] == coords[axis] || !layout.uses_axis(axis);
    if (same)
      return true;
  }
  return false;
}
} // namespace

int64_t plan::sharedBytes(const ArrayType &type,
                          std::span<const int64_t> devices) {
  if (std::ssize(devices) == type.layout.mesh().size())
    return copyCount(type.layout) * elementCount(type.shape) *
           byteWidth(type.dtype);
  return int64_t(copiesOf(type.layout, devices).size()) *
         sharedBox(type, devices).count() * byteWidth(type.dtype);
}

void plan::fillShared(const ArrayType &type, std::span<const int64_t> devices,
                      std::span<const char> data, char *into) {
  const Box where = sharedBox(type, devices);
  const unsigned width = byteWidth(type.dtype);
  for (int64_t copy : copiesOf(type.layout, devices)) {
    if (copy)
      fillOtherAddend(type.layout, type.dtype, copy, into, where.count());
    else
      copyBox({into, where}, {writable(data.data()), Box::whole(type.shape)},
              where, width);
    into += where.count() * width;
  }
}

void plan::placeInShared(const ArrayType &type,
                         std::span<const int64_t> devices,
                         const Component &component, int64_t device,
                         char *into) {
  if (isHeldBefore(type.layout, devices, device))
    return;
  const Box box = type.layout.shard(type.shape, device);
  copyBox(sharedAddend(type, devices, into, device),
          {writable(component.bytes.data()), box}, box, byteWidth(type.dtype));
}

Result<HostBytes> plan::readShared(const ArrayType &type, const char *from) {
  if (!isWhollyHere(type))
    return Error(fmt::format(
        "{} has parts in other processes: relayout it to one that is "
        "replicated first, or read the components of this process's devices",
        type.to_string()));
  const int64_t copies = copyCount(type.layout);
  const int64_t count = elementCount(type.shape);
  const int64_t bytes = count * byteWidth(type.dtype);
  if (copies == 1)
    return HostBytes(from, from + bytes);
  HostBytes scratch(from, from + copies * bytes);
  std::vector<char *> addends;
  addends.reserve(size_t(copies));
  for (int64_t copy = 0; copy < copies; ++copy)
    addends.push_back(scratch.data() + copy * bytes);
  combineAddends(type.layout, type.dtype, std::move(addends), count);
  scratch.resize(size_t(bytes));
  return scratch;
}

OwnedComponent plan::takeFromShared(const ArrayType &type,
                                    std::span<const int64_t> devices,
                                    const char *from, int64_t device) {
  const unsigned width = byteWidth(type.dtype);
  const Box box = type.layout.shard(type.shape, device);
  OwnedComponent result{box.extent, HostBytes(size_t(box.count()) * width)};
  copyBox({result.bytes.data(), box}, sharedAddend(type, devices, from, device),
          box, width);
  return result;
}

int64_t plan::paddedBytes(const ArrayType &type) {
  return elementCount(type.layout.local_shape(type.shape)) *
         byteWidth(type.dtype);
}

void plan::fillPadded(const ArrayType &type, std::span<const char> data,
                      int64_t device, char *into) {
  const Layout &layout = type.layout;
  const int64_t copy = copyIndex(layout, layout.mesh().coords(device));
  if (copy != 0)
    return fillOtherAddend(layout, type.dtype, copy, into,
                           elementCount(layout.local_shape(type.shape)));
  const Box box = layout.shard(type.shape, device);
  copyBox(padded(type, into, box),
          {writable(data.data()), Box::whole(type.shape)}, box,
          byteWidth(type.dtype));
}

void plan::placeInPadded(const ArrayType &type, const Component &component,
                         int64_t device, char *into) {
  const Box box = type.layout.shard(type.shape, device);
  copyBox(padded(type, into, box), {writable(component.bytes.data()), box}, box,
          byteWidth(type.dtype));
}

HostBytes
plan::readPadded(const ArrayType &type,
                 const std::function<const char *(int64_t)> &memoryOf) {
  const Layout &layout = type.layout;
  const unsigned width = byteWidth(type.dtype);
  HostBytes host(size_t(elementCount(type.shape) * width));
  const ArrayView to{host.data(), Box::whole(type.shape)};
  const Shape local = layout.local_shape(type.shape);
  const int64_t localCount = elementCount(local);
  const int64_t copies = copyCount(layout);
  for (int64_t device = 0; device < layout.mesh().size(); ++device) {
    const std::vector<int64_t> coords = layout.mesh().coords(device);
    const Box box = layout.shard(type.shape, device);
    if (copyIndex(layout, coords) != 0 || !isFirstCopy(layout, coords) ||
        box.empty())
      continue;
    if (copies == 1) {
      copyBox(to, padded(type, memoryOf(device), box), box, width);
      continue;
    }
    HostBytes scratch(size_t(copies * localCount * width));
    std::vector<char *> addends;
    for (int64_t other : addendDevices(layout, device)) {
      char *addend =
          scratch.data() + int64_t(addends.size()) * localCount * width;
      copyBox({addend, {box.offset, local}}, padded(type, memoryOf(other), box),
              box, width);
      addends.push_back(addend);
    }
    combineAddends(layout, type.dtype, addends, localCount);
    copyBox(to, {scratch.data(), {box.offset, local}}, box, width);
  }
  return host;
}

OwnedComponent plan::takeFromPadded(const ArrayType &type, const char *from,
                                    int64_t device) {
  const unsigned width = byteWidth(type.dtype);
  const Box box = type.layout.shard(type.shape, device);
  OwnedComponent result{box.extent, HostBytes(size_t(box.count()) * width)};
  copyBox({result.bytes.data(), box}, padded(type, from, box), box, width);
  return result;
}
