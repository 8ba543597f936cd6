// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Array: checks what a caller gives, and hands the rest to the client.
#include "meshloom/Runtime/Array.h"

#include "meshloom/Runtime/Client.h"
#include "meshloom/Runtime/HappensBefore.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

using namespace meshloom;

namespace {
std::string text(const Shape &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Status checkClient(const std::shared_ptr<Client> &client, const Mesh &mesh) {
  const int64_t here = mesh.num_local_devices();
  if (here <= int64_t(client->devices().size()))
    return Success();
  return Error(fmt::format("the mesh has {} devices{}, but only {} {} devices "
                           "exist",
                           here, here < mesh.size() ? " in this process" : "",
                           client->devices().size(), client->platform()));
}

Status checkShape(const ArrayType &type) {
  if (type.shape.size() != type.layout.rank())
    return Error(fmt::format("a tensor of shape {} needs a layout of rank {}, "
                             "not {}",
                             text(type.shape), type.shape.size(),
                             type.layout.spec_string()));
  for (int64_t extent : type.shape)
    if (extent < 0)
      return Error(
          fmt::format("shape {} has a negative extent", text(type.shape)));
  return Success();
}

/// The first of `devices` that holds the same component as the `d`-th.
size_t firstCopy(const Layout &layout, std::span<const int64_t> devices,
                 size_t d) {
  auto usedCoords = [&](int64_t device) {
    std::vector<int64_t> coords = layout.mesh().coords(device);
    for (unsigned axis = 0; axis < coords.size(); ++axis)
      if (!layout.uses_axis(axis))
        coords[axis] = 0;
    return coords;
  };
  const std::vector<int64_t> used = usedCoords(devices[d]);
  // Where all are there, it is at 0 of the other axes.
  if (int64_t(devices.size()) == layout.mesh().size())
    return size_t(layout.mesh().device_at(used));
  size_t first = 0;
  while (usedCoords(devices[first]) != used)
    ++first;
  return first;
}

std::vector<Shape> shapesOf(std::span<const Component> components) {
  std::vector<Shape> shapes;
  shapes.reserve(components.size());
  for (const Component &component : components)
    shapes.push_back(component.shape);
  return shapes;
}

Error wrongShape(const Layout &layout, int64_t device, const Shape &expected,
                 const Shape &got) {
  return Error(fmt::format("device {} of layout {} must have a component of "
                           "shape {}, got {}",
                           device, layout.spec_string(), text(expected),
                           text(got)));
}

/// Fails where a component has not the shape that its device's part of `global`
/// has.
Status checkShapes(const Layout &layout, const Shape &global,
                   std::span<const Shape> components) {
  const std::span<const int64_t> here = layout.mesh().local_indices();
  std::optional<size_t> wrong;
  for (size_t d = 0; d < here.size() && !wrong; ++d)
    if (layout.shard(global, here[d]).extent != components[d])
      wrong = d;
  if (!wrong)
    return Success();

  // Blame the odd one out where most devices agree (on more than having none),
  // else the first.
  std::map<Shape, size_t> votes;
  for (const Shape &shape : components)
    ++votes[shape];
  auto winner =
      std::max_element(votes.begin(), votes.end(),
                       [](auto &a, auto &b) { return a.second < b.second; });
  if (2 * winner->second > here.size() && elementCount(winner->first) > 0)
    for (size_t d = 0; d < here.size(); ++d)
      if (components[d] != winner->first)
        return wrongShape(layout, here[d], winner->first, components[d]);
  return wrongShape(layout, here[*wrong],
                    layout.shard(global, here[*wrong]).extent,
                    components[*wrong]);
}
} // namespace

bool meshloom::isWhollyHere(const ArrayType &type) {
  const Layout &layout = type.layout;
  // Mostly there is one process: no list is made for that.
  if (layout.mesh().num_local_devices() == layout.mesh().size())
    return true;
  const std::span<const int64_t> here = layout.mesh().local_indices();
  // Counts the places along the axes that the layout uses.
  std::set<std::vector<int64_t>> places;
  int64_t placeCount = 1;
  for (unsigned axis = 0; axis < layout.mesh().rank(); ++axis)
    if (layout.uses_axis(axis))
      placeCount *= layout.mesh().axis_size(axis);
  for (int64_t device : here) {
    std::vector<int64_t> coords = layout.mesh().coords(device);
    for (unsigned axis = 0; axis < coords.size(); ++axis)
      if (!layout.uses_axis(axis))
        coords[axis] = 0;
    places.insert(std::move(coords));
  }
  return int64_t(places.size()) == placeCount;
}

Result<Shape> meshloom::globalShapeOf(const Layout &layout,
                                      std::span<const Shape> components) {
  const Mesh &mesh = layout.mesh();
  const std::span<const int64_t> here = mesh.local_indices();
  if (components.size() != here.size())
    return Error(fmt::format(
        "layout {} is on {} devices{}, got {} components", layout.spec_string(),
        here.size(),
        int64_t(here.size()) < mesh.size() ? " of this process" : "",
        components.size()));
  const unsigned rank = layout.rank();
  for (size_t d = 0; d < here.size(); ++d)
    if (components[d].size() != rank)
      return Error(fmt::format("layout {} has rank {}, but the component of "
                               "device {} has shape {}",
                               layout.spec_string(), rank, here[d],
                               text(components[d])));

  // Along each dim, one block a shard.
  Shape global(rank, 0);
  for (unsigned dim = 0; dim < rank; ++dim) {
    std::vector<int64_t> blocks(size_t(layout.num_shards(dim)), -1);
    int64_t shards = 0, sum = 0;
    for (size_t d = 0; d < here.size(); ++d) {
      const std::vector<int64_t> coords = mesh.coords(here[d]);
      int64_t shard = 0;
      for (unsigned axis : layout.axes(dim))
        shard = shard * mesh.axis_size(axis) + coords[axis];
      if (blocks[size_t(shard)] >= 0)
        continue;
      blocks[size_t(shard)] = components[d][dim];
      sum += components[d][dim];
      ++shards;
    }
    // Shards of other processes are taken to be as large.
    global[dim] = shards == layout.num_shards(dim) || here.empty()
                      ? sum
                      : components.front()[dim] * layout.num_shards(dim);
  }
  if (Status ok = checkShapes(layout, global, components); !ok)
    return ok.error();
  return global;
}

struct Array::State {
  ArrayType type;
  std::shared_ptr<Buffer> buffer;
  Event event;
};

Array::Array(ArrayType type, std::shared_ptr<Buffer> buffer, Event event)
    : state(std::make_shared<const State>(
          State{std::move(type), std::move(buffer), std::move(event)})) {}

Result<Array> Array::fromHost(const std::shared_ptr<Client> &client,
                              const ArrayType &type,
                              std::span<const char> data) {
  if (Status ok = checkShape(type); !ok)
    return ok.error();
  if (Status ok = checkClient(client, type.layout.mesh()); !ok)
    return ok.error();
  const int64_t bytes = elementCount(type.shape) * byteWidth(type.dtype);
  if (int64_t(data.size()) != bytes)
    return Error(fmt::format("{} takes {} bytes, got {}", type.to_string(),
                             bytes, data.size()));
  Result<std::shared_ptr<Buffer>> buffer = client->fromHost(type, data);
  if (!buffer)
    return buffer.error();
  return Array(type, std::move(*buffer));
}

Result<Array> Array::fromComponents(const std::shared_ptr<Client> &client,
                                    DType dtype, const Layout &layout,
                                    std::span<const Component> components) {
  if (Status ok = checkClient(client, layout.mesh()); !ok)
    return ok.error();
  Result<Shape> global = globalShapeOf(layout, shapesOf(components));
  if (!global)
    return global.error();
  return fromComponents(client, {dtype, std::move(*global), layout},
                        components);
}

Result<Array> Array::fromComponents(const std::shared_ptr<Client> &client,
                                    const ArrayType &type,
                                    std::span<const Component> components) {
  const auto &[dtype, shape, layout] = type;
  if (Status ok = checkShape(type); !ok)
    return ok.error();
  if (Status ok = checkClient(client, layout.mesh()); !ok)
    return ok.error();
  const std::span<const int64_t> here = layout.mesh().local_indices();
  if (components.size() != here.size())
    return Error(fmt::format("{} has {} devices in this process, got {} "
                             "components",
                             type.to_string(), here.size(), components.size()));
  if (Status ok = checkShapes(layout, shape, shapesOf(components)); !ok)
    return ok.error();
  for (size_t d = 0; d < components.size(); ++d) {
    const Component &component = components[d];
    const size_t bytes =
        size_t(elementCount(component.shape)) * byteWidth(dtype);
    if (component.bytes.size() != bytes)
      return Error(fmt::format("the component of device {}, {}{}, takes {} "
                               "bytes, got {}",
                               here[d], name(dtype), text(component.shape),
                               bytes, component.bytes.size()));
    const size_t first = firstCopy(layout, here, d);
    if (bytes && first != d &&
        std::memcmp(components[first].bytes.data(), component.bytes.data(),
                    bytes) != 0)
      return Error(fmt::format("layout {} makes the components of devices {} "
                               "and {} copies of each other, but they differ",
                               layout.spec_string(), here[first], here[d]));
  }
  Result<std::shared_ptr<Buffer>> buffer =
      client->fromComponents(type, components);
  if (!buffer)
    return buffer.error();
  return Array(type, std::move(*buffer));
}

Array Array::as(ArrayType type) && {
  Array result(std::move(type), buffer(), event());
  state.reset();
  return result;
}

Result<Array> Array::movedTo(const std::shared_ptr<Client> &client,
                             const ArrayType &type) && {
  if (std::optional<Array> adopted = client->adopt(type, *this))
    return std::move(*adopted);
  Result<HostBytes> value = toHost();
  if (!value)
    return value.error();
  return fromHost(client, type, *value);
}

const ArrayType &Array::type() const {
  return state->type;
}
const Event &Array::event() const {
  return state->event;
}
const std::shared_ptr<Buffer> &Array::buffer() const {
  return state->buffer;
}
const std::shared_ptr<Client> &Array::client() const {
  return state->buffer->client();
}

Status Array::wait() const {
  Status outcome = event().wait();
  if (!outcome)
    (void)event().isUnreported();
  return outcome;
}

Array Array::oldValue() const {
  // The buffer says so once the work has ended.
  if (!event().isReady() || event().wait() || !buffer()->isOldValue())
    return Array();
  return Array(type(), buffer());
}

bool Array::isUnique() const {
  return isLastReference(state) && isLastReference(state->buffer);
}

Result<HostBytes> Array::toHost() const {
  if (Status done = wait(); !done)
    return done.error();
  return client()->toHost(type(), *buffer());
}

Result<OwnedComponent> Array::component(int64_t device) const {
  if (device < 0 || device >= layout().mesh().size())
    return Error(fmt::format("there is no device {} in a mesh of {} devices",
                             device, layout().mesh().size()));
  if (Status done = wait(); !done)
    return done.error();
  return client()->component(type(), *buffer(), device);
}
