// Array: checks what a caller gives, and hands the rest to the client.
#include "meshloom/Runtime/Array.h"

#include "meshloom/Runtime/Client.h"
#include "meshloom/Runtime/HappensBefore.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

using namespace meshloom;

namespace {
std::string text(const Shape &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Status checkClient(const std::shared_ptr<Client> &client, const Mesh &mesh) {
  if (mesh.size() <= int64_t(client->devices().size()))
    return Success();
  return Error(fmt::format("the mesh has {} devices, but only {} {} devices "
                           "exist",
                           mesh.size(), client->devices().size(),
                           client->platform()));
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

/// The device with coordinate 0 on all axes that the layout does not use: the
/// first of those that hold the same component.
int64_t firstCopy(const Layout &layout, int64_t device) {
  std::vector<int64_t> coords = layout.mesh().coords(device);
  for (unsigned axis = 0; axis < coords.size(); ++axis)
    if (!layout.uses_axis(axis))
      coords[axis] = 0;
  return layout.mesh().device_at(coords);
}

Error wrongShape(const Layout &layout, int64_t device, const Shape &expected,
                 const Shape &got) {
  return Error(fmt::format("device {} of layout {} must have a component of "
                           "shape {}, got {}",
                           device, layout.spec_string(), text(expected),
                           text(got)));
}
} // namespace

Result<Shape> meshloom::globalShapeOf(const Layout &layout,
                                      std::span<const Shape> components) {
  const Mesh &mesh = layout.mesh();
  if (int64_t(components.size()) != mesh.size())
    return Error(fmt::format("layout {} is on {} devices, got {} components",
                             layout.spec_string(), mesh.size(),
                             components.size()));
  const unsigned rank = layout.rank();
  for (int64_t device = 0; device < mesh.size(); ++device)
    if (components[device].size() != rank)
      return Error(fmt::format("layout {} has rank {}, but the component of "
                               "device {} has shape {}",
                               layout.spec_string(), rank, device,
                               text(components[device])));

  // Along each dim, the blocks are those of the devices that differ only there.
  Shape global(rank, 0);
  for (int64_t device = 0; device < mesh.size(); ++device) {
    const std::vector<int64_t> coords = mesh.coords(device);
    for (unsigned dim = 0; dim < rank; ++dim) {
      std::span<const unsigned> axes = layout.axes(dim);
      bool onlyHere = true;
      for (unsigned axis = 0; axis < mesh.rank() && onlyHere; ++axis)
        onlyHere = coords[axis] == 0 ||
                   std::find(axes.begin(), axes.end(), axis) != axes.end();
      if (onlyHere)
        global[dim] += components[device][dim];
    }
  }

  std::optional<int64_t> wrong;
  for (int64_t device = 0; device < mesh.size() && !wrong; ++device)
    if (layout.shard(global, device).extent != components[device])
      wrong = device;
  if (!wrong)
    return global;

  // Blame the odd one out where most devices agree (on more than having none),
  // else the first.
  std::map<Shape, int64_t> votes;
  for (const Shape &shape : components)
    ++votes[shape];
  auto winner =
      std::max_element(votes.begin(), votes.end(),
                       [](auto &a, auto &b) { return a.second < b.second; });
  if (2 * winner->second > mesh.size() && elementCount(winner->first) > 0)
    for (int64_t device = 0; device < mesh.size(); ++device)
      if (components[device] != winner->first)
        return wrongShape(layout, device, winner->first, components[device]);
  return wrongShape(layout, *wrong, layout.shard(global, *wrong).extent,
                    components[*wrong]);
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
  std::vector<Shape> shapes;
  for (const Component &component : components)
    shapes.push_back(component.shape);
  Result<Shape> global = globalShapeOf(layout, shapes);
  if (!global)
    return global.error();
  for (size_t device = 0; device < components.size(); ++device) {
    const Component &given = components[device];
    const size_t bytes = size_t(elementCount(given.shape)) * byteWidth(dtype);
    if (given.bytes.size() != bytes)
      return Error(fmt::format("the component of device {}, {}{}, takes {} "
                               "bytes, got {}",
                               device, name(dtype), text(given.shape), bytes,
                               given.bytes.size()));
    const int64_t first = firstCopy(layout, int64_t(device));
    if (bytes && first != int64_t(device) &&
        std::memcmp(components[first].bytes.data(), given.bytes.data(),
                    bytes) != 0)
      return Error(fmt::format("layout {} makes the components of devices {} "
                               "and {} copies of each other, but they differ",
                               layout.spec_string(), first, device));
  }
  ArrayType type{dtype, std::move(*global), layout};
  Result<std::shared_ptr<Buffer>> buffer =
      client->fromComponents(type, components);
  if (!buffer)
    return buffer.error();
  return Array(std::move(type), std::move(*buffer));
}

Array Array::as(ArrayType type) && {
  Array made(std::move(type), buffer(), event());
  state.reset();
  return made;
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
