// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How messages write types, shapes and meshes.
#pragma once

#include "meshloom/API/Mesh.h"
#include "meshloom/API/Tensor.h"

namespace meshloom::detail {

/// "f32 [128, 784]".
std::string typeText(DType type, const Shape &shape);
std::string shapeText(const Shape &shape);
inline std::string typeText(const Tensor &tensor) {
  return typeText(tensor.dtype(), tensor.shape());
}
/// "x=2, y=4".
std::string axesText(std::span<const MeshAxis> axes,
                     std::string_view separator = ", ");
std::string meshText(const Mesh &mesh);
/// "mesh[x=4] on CPU:0, CPU:1, ...": where two meshes differ in their devices.
std::string devicesText(const Mesh &mesh);

} // namespace meshloom::detail
