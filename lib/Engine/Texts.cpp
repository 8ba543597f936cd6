// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How messages write types, shapes and meshes.
#include "meshloom/Engine/Texts.h"
#include "meshloom/Engine/Processes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::detail {

std::string shapeText(const Shape &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}
std::string typeText(DType type, const Shape &shape) {
  return fmt::format("{} {}", meshloom::name(type), shapeText(shape));
}
std::string axesText(std::span<const MeshAxis> axes,
                     std::string_view separator) {
  std::vector<std::string> texts;
  for (const MeshAxis &axis : axes)
    texts.push_back(fmt::format("{}={}", axis.name, axis.size));
  return fmt::format("{}", fmt::join(texts, separator));
}
std::string meshText(const Mesh &mesh) {
  return fmt::format("{}[{}]", mesh.name().empty() ? "mesh" : mesh.name(),
                     axesText(mesh.axes()));
}

std::string devicesText(const Mesh &mesh) {
  constexpr size_t most = 8;
  if (mesh.is_remote())
    return fmt::format("{} on {} ... {}", meshText(mesh),
                       mesh.global_devices().front(),
                       mesh.global_devices().back());
  if (spansProcesses(mesh))
    return fmt::format("{} on devices of {} processes", meshText(mesh),
                       processes("mesh").group.size);
  std::vector<int64_t> numbers = mesh.assignment().localDeviceNumbers();
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(most, numbers.size()); ++i)
    names.push_back(fmt::format("{}:{}", mesh.device_type(), numbers[i]));
  return fmt::format("{} on {}{}", meshText(mesh), fmt::join(names, ", "),
                     numbers.size() > most ? ", ..." : "");
}

} // namespace meshloom::detail
