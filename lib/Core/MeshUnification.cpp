// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MeshUnification: digits of device numbers, and the chain of their boundaries.
#include "meshloom/Core/MeshUnification.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>

namespace meshloom {

std::string SourceMesh::to_string() const {
  std::string text;
  for (const MeshAxis &axis : axes)
    text +=
        fmt::format("{}{}={}", text.empty() ? "<" : ", ", axis.name, axis.size);
  text = (text.empty() ? "<" : text) + ">";
  if (!deviceIds.empty())
    text += fmt::format(" device_ids=[{}]", fmt::join(deviceIds, ", "));
  return name.empty() ? text : name + " " + text;
}

namespace {
int64_t deviceCount(const SourceMesh &mesh) {
  int64_t count = 1;
  for (const MeshAxis &axis : mesh.axes)
    count *= axis.size;
  return count;
}

std::optional<size_t> axisIndex(const SourceMesh &mesh, std::string_view name) {
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].name == name)
      return i;
  return std::nullopt;
}

int64_t deviceAt(const SourceMesh &mesh, int64_t position) {
  return mesh.deviceIds.empty() ? position : mesh.deviceIds[size_t(position)];
}

/// In positions.
int64_t strideOf(const SourceMesh &mesh, size_t axis) {
  int64_t stride = 1;
  for (size_t i = axis + 1; i < mesh.axes.size(); ++i)
    stride *= mesh.axes[i].size;
  return stride;
}

/// The meshes that asked for each boundary, for messages.
using Boundaries = std::map<int64_t, std::string>;

/// Adds the boundaries of `use`, a part of an axis of `mesh`, whose axes are
/// made of `digits`. A whole axis has no boundaries but those of its digits.
Status addUse(Boundaries &boundaries, const AxisUse &use,
              const SourceMesh &mesh, const auto &digits,
              const SourceMesh &base) {
  auto axis = axisIndex(mesh, use.axis.axis);
  if (!axis)
    return Error(fmt::format("there is no axis '{}' in mesh {}", use.axis.axis,
                             mesh.to_string()));
  if (use.axis.isWhole())
    return Success();
  int64_t size = mesh.axes[*axis].size;
  std::string who =
      fmt::format("'{}' of mesh {}", use.axis.to_string(), mesh.to_string());
  if (use.axis.before < 1 || use.axis.size < 1 || size % use.axis.before != 0 ||
      size / use.axis.before % use.axis.size != 0)
    return Error(fmt::format("{} is not a part of the axis: {} is not a "
                             "multiple of {} * {}",
                             who, size, use.axis.before, use.axis.size));
  for (int64_t within :
       {size / use.axis.before, size / use.axis.before / use.axis.size}) {
    // `within` counts coordinates of the axis; find its digit.
    for (const auto &digit : digits[*axis]) {
      if (within < digit.size || within % digit.size != 0) {
        if (within > 0 && digit.size % within != 0)
          return Error(fmt::format("{} cannot coexist with axis '{}' of "
                                   "mesh {}",
                                   who, base.axes[0].name, base.to_string()));
        boundaries.emplace(digit.stride * within, who);
        break;
      }
      within /= digit.size;
      boundaries.emplace(digit.stride * digit.size, who);
    }
  }
  return Success();
}

/// Fails unless each boundary divides the next one.
Status checkChain(const Boundaries &boundaries) {
  for (auto current = boundaries.begin(), next = std::next(current);
       next != boundaries.end(); ++current, ++next)
    if (next->first % current->first != 0)
      return Error(fmt::format("{} and {} cannot coexist: they cut the devices "
                               "in ways that have no common refinement",
                               current->second, next->second));
  return Success();
}

/// The axes of the unified mesh, major to minor; every one lies within one axis
/// of the base.
std::vector<MeshAxis> piecesOf(const SourceMesh &base,
                               const std::vector<int64_t> &boundaries) {
  std::vector<MeshAxis> pieces;
  for (size_t axis = 0; axis < base.axes.size(); ++axis) {
    int64_t low = strideOf(base, axis), size = base.axes[axis].size;
    for (size_t i = boundaries.size(); i-- > 1;) {
      int64_t top = boundaries[i], bottom = boundaries[i - 1];
      if (bottom < low || top > low * size)
        continue;
      SubAxis piece{base.axes[axis].name};
      if (top / bottom != size)
        piece = {piece.axis, low * size / top, top / bottom};
      pieces.push_back({piece.to_string(), top / bottom});
    }
  }
  if (pieces.empty()) // one device
    pieces.push_back({base.axes.empty() ? "d" : base.axes[0].name, 1});
  return pieces;
}
} // namespace

Status MeshUnification::checkDevices(const SourceMesh &mesh) const {
  int64_t count = deviceCount(mesh);
  if (!mesh.deviceIds.empty() && int64_t(mesh.deviceIds.size()) != count)
    return Error(fmt::format("mesh {} has {} device_ids for {} devices",
                             mesh.to_string(), mesh.deviceIds.size(), count));
  if (count != 1 && count != int64_t(devices.size()))
    return Error(fmt::format(
        "mesh {} has {} devices, but mesh {} has {}; all meshes of a program "
        "are over the same devices, but for those of one device",
        mesh.to_string(), count, sources[base].to_string(), devices.size()));
  if (mesh.deviceIds.empty() || count == 1)
    return Success();
  std::vector<bool> seen(devices.size());
  for (int64_t id : mesh.deviceIds) {
    if (id < 0 || id >= count || seen[size_t(id)])
      return Error(fmt::format("device_ids of mesh {} are not the numbers 0 to "
                               "{}, each once",
                               mesh.to_string(), count - 1));
    seen[size_t(id)] = true;
  }
  return Success();
}

Result<std::vector<MeshUnification::Digit>>
MeshUnification::digitsOf(const SourceMesh &mesh, size_t axis) const {
  int64_t size = mesh.axes[axis].size, inMesh = strideOf(mesh, axis);
  auto offsetOf = [&](int64_t coordinate) {
    return positionOf(meshloom::deviceAt(mesh, coordinate * inMesh)) -
           positionOf(meshloom::deviceAt(mesh, 0));
  };
  std::vector<Digit> result;
  for (int64_t unit = 1; unit < size;) {
    Digit digit{offsetOf(unit), 1};
    while (unit * digit.size < size &&
           offsetOf(unit * digit.size) == digit.size * digit.stride)
      ++digit.size;
    if (digit.stride < 1 || (size / unit) % digit.size != 0)
      return Error(fmt::format(
          "the order of the devices in mesh {} is, along axis '{}', no "
          "refinement of the one in mesh {}",
          mesh.to_string(), mesh.axes[axis].name, sources[base].to_string()));
    unit *= digit.size;
    result.push_back(digit);
  }
  return result;
}

Status
MeshUnification::checkOrder(const SourceMesh &mesh,
                            const std::vector<std::vector<Digit>> &axes) const {
  for (int64_t position = 0; position < int64_t(devices.size()); ++position) {
    int64_t remainder = position, expected = 0;
    for (size_t axis = axes.size(); axis-- > 0;)
      for (const Digit &digit : axes[axis]) {
        expected += remainder % digit.size * digit.stride;
        remainder /= digit.size;
      }
    if (positionOf(meshloom::deviceAt(mesh, position)) != expected)
      return Error(fmt::format("the order of the devices in mesh {} is not a "
                               "refinement of the one in mesh {}",
                               mesh.to_string(), sources[base].to_string()));
  }
  return Success();
}

bool MeshUnification::isAligned(size_t source) const {
  const SourceMesh &mesh = sources[source];
  if (deviceCount(mesh) != int64_t(devices.size()))
    return false;
  for (int64_t position = 0; position < int64_t(devices.size()); ++position)
    if (meshloom::deviceAt(mesh, position) != deviceAt(position))
      return false;
  return true;
}

Result<MeshUnification> MeshUnification::of(std::vector<SourceMesh> meshes,
                                            const std::vector<AxisUse> &uses) {
  if (meshes.empty())
    return Error("there is no mesh");
  for (const SourceMesh &mesh : meshes) {
    // Names, sizes, and their product.
    if (mesh.axes.empty())
      continue;
    if (auto checked = Mesh::get(mesh.axes); !checked)
      return checked.error().withMessage(fmt::format(
          "mesh {}: {}", mesh.to_string(), checked.error().message()));
  }
  MeshUnification result;
  result.sources = std::move(meshes);
  while (result.base + 1 < result.sources.size() &&
         deviceCount(result.sources[result.base]) == 1)
    ++result.base;
  if (deviceCount(result.sources[result.base]) == 1)
    result.base = 0;
  const SourceMesh &base = result.sources[result.base];
  result.devices.resize(size_t(deviceCount(base)));
  for (const SourceMesh &mesh : result.sources)
    if (Status ok = result.checkDevices(mesh); !ok)
      return ok.error();
  result.positions.resize(result.devices.size());
  for (size_t i = 0; i < result.devices.size(); ++i) {
    // The one device of a program is its device 0, whatever its number.
    if (result.devices.size() > 1)
      result.devices[i] = meshloom::deviceAt(base, int64_t(i));
    result.positions[size_t(result.devices[i])] = int64_t(i);
  }

  Boundaries boundaries;
  for (const SourceMesh &mesh : result.sources) {
    auto &axes = result.digits.emplace_back(mesh.axes.size());
    if (deviceCount(mesh) == 1)
      continue;
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      auto digits = result.digitsOf(mesh, axis);
      if (!digits)
        return digits.error();
      for (const Digit &digit : *digits) {
        std::string who = fmt::format("axis '{}' of mesh {}",
                                      mesh.axes[axis].name, mesh.to_string());
        boundaries.emplace(digit.stride, who);
        boundaries.emplace(digit.stride * digit.size, who);
      }
      axes[axis] = std::move(*digits);
    }
    if (Status ok = result.checkOrder(mesh, axes); !ok)
      return ok.error();
  }

  for (const AxisUse &use : uses)
    if (Status ok = addUse(boundaries, use, result.sources[use.mesh],
                           result.digits[use.mesh], base);
        !ok)
      return ok.error();
  boundaries.emplace(1, "");
  if (Status ok = checkChain(boundaries); !ok)
    return ok.error();
  for (auto &[boundary, who] : boundaries)
    result.boundaries.push_back(boundary);

  auto mesh = Mesh::get(piecesOf(base, result.boundaries));
  if (!mesh)
    return mesh.error();
  result.unified = std::move(*mesh);
  return result;
}

std::vector<unsigned> MeshUnification::axes(const AxisUse &use) const {
  const SourceMesh &mesh = sources[use.mesh];
  size_t axis = *axisIndex(mesh, use.axis.axis);
  int64_t size = mesh.axes[axis].size;
  int64_t top = use.axis.isWhole() ? size : size / use.axis.before;
  int64_t bottom = use.axis.isWhole() ? 1 : top / use.axis.size;
  std::vector<unsigned> result;
  // From the minor digit on; `unit` coordinates of the axis are one of a piece.
  int64_t unit = 1;
  for (const Digit &digit : digits[use.mesh][axis])
    for (size_t i = 1; i < boundaries.size(); ++i) {
      int64_t low = boundaries[i - 1], high = boundaries[i];
      if (low < digit.stride || high > digit.stride * digit.size)
        continue;
      if (unit >= bottom && unit < top)
        result.push_back(unsigned(boundaries.size() - 1 - i));
      unit *= high / low;
    }
  std::reverse(result.begin(), result.end());
  return result;
}

Mesh withoutAxesOfOne(const Mesh &mesh) {
  std::vector<MeshAxis> axes;
  for (const MeshAxis &axis : mesh.axes())
    if (axis.size > 1)
      axes.push_back(axis);
  if (axes.empty())
    axes.push_back(mesh.axes().front());
  if (axes.size() == mesh.rank())
    return mesh;
  // The names of the others were valid together already.
  return Mesh::get(std::move(axes))->placed_on(mesh.assignment());
}

namespace {
/// The digit of a device's index that a sequence of axes counts: floor(index /
/// stride) mod size. Neighbours that are one number are one digit.
struct DigitRun {
  int64_t stride, size;
  bool operator==(const DigitRun &) const = default;
};

std::vector<DigitRun> runsOf(const Mesh &mesh, std::span<const unsigned> axes) {
  const std::vector<int64_t> strides = mesh.strides();
  std::vector<DigitRun> runs;
  for (unsigned axis : axes) {
    const DigitRun run{strides[axis], mesh.axis_size(axis)};
    if (run.size == 1)
      continue;
    if (!runs.empty() && runs.back().stride == run.stride * run.size)
      runs.back() = {run.stride, runs.back().size * run.size};
    else
      runs.push_back(run);
  }
  return runs;
}

/// Returns the axes that a layout is partial over, major to minor.
std::vector<unsigned> partialAxes(const Layout &layout) {
  std::vector<unsigned> axes;
  axes.reserve(layout.partial().size());
  for (const Partial &partial : layout.partial())
    axes.push_back(partial.axis);
  return axes;
}
} // namespace

std::optional<std::vector<unsigned>>
axesOn(const Mesh &from, std::span<const unsigned> axes, const Mesh &to) {
  if (from.size() != to.size())
    return std::nullopt;
  const std::vector<int64_t> strides = to.strides();
  std::vector<unsigned> found;
  for (const DigitRun &run : runsOf(from, axes))
    for (int64_t top = run.stride * run.size; top > run.stride;) {
      unsigned axis = 0;
      while (axis < to.rank() && (to.axis_size(axis) == 1 ||
                                  strides[axis] * to.axis_size(axis) != top))
        ++axis;
      if (axis == to.rank() || strides[axis] < run.stride)
        return std::nullopt;
      found.push_back(axis);
      top = strides[axis];
    }
  return found;
}

std::optional<Layout> layoutOn(const Layout &layout, const Mesh &mesh) {
  Layout::DimAxes dims;
  dims.reserve(layout.rank());
  for (const std::vector<unsigned> &axes : layout.dim_axes()) {
    auto found = axesOn(layout.mesh(), axes, mesh);
    if (!found)
      return std::nullopt;
    dims.push_back(std::move(*found));
  }
  std::vector<Partial> partial;
  if (layout.is_partial()) {
    auto found = axesOn(layout.mesh(), partialAxes(layout), mesh);
    if (!found)
      return std::nullopt;
    partial.reserve(found->size());
    for (unsigned axis : *found)
      partial.push_back({axis, layout.partial().front().kind});
  }
  auto unified = Layout::get(mesh, std::move(dims), std::move(partial));
  return unified ? std::optional(std::move(*unified)) : std::nullopt;
}

bool haveSameShards(const Layout &one, const Layout &other,
                    const Shape &shape) {
  if (one == other)
    return true;
  const Mesh &mesh = one.mesh(), &its = other.mesh();
  if (mesh.size() != its.size() || one.rank() != other.rank() ||
      one.rank() != shape.size())
    return false;
  auto isCombined = [](const Layout &layout,
                       const std::vector<DigitRun> &runs) {
    return runs.empty() ? std::nullopt
                        : std::optional(layout.partial().front().kind);
  };
  const std::vector<DigitRun> addends = runsOf(mesh, partialAxes(one)),
                              others = runsOf(its, partialAxes(other));
  if (addends != others ||
      isCombined(one, addends) != isCombined(other, others))
    return false;
  // Equal digits of a dim that divides are equal blocks.
  bool sure = true;
  for (unsigned dim = 0; dim < shape.size() && sure; ++dim)
    sure = shape[dim] % one.num_shards(dim) == 0 &&
           runsOf(mesh, one.axes(dim)) == runsOf(its, other.axes(dim));
  for (int64_t device = 0; device < mesh.size() && !sure; ++device)
    if (!(one.shard(shape, device) == other.shard(shape, device)))
      return false;
  return true;
}

} // namespace meshloom
