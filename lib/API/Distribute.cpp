// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving values between host and mesh, and between layouts.
#include "meshloom/API/Distribute.h"
#include "Ops/Operands.h"
#include "meshloom/Engine/Relayout.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/SharedValues.h"
#include "meshloom/Engine/Tape.h"

#include "meshloom/API/NameScope.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

Tensor pack(const std::vector<Tensor> &components, const Layout &layout,
            std::source_location where) {
  return atLine(where, [&]() -> Tensor {
    constexpr std::string_view op = "pack";
    const Mesh &mesh = layout.mesh();
    if (isTracing())
      fail(op,
           "expected to be outside of a function: pack before, and pass the "
           "tensor");
    if (int64_t(components.size()) != mesh.num_local_devices())
      fail(op,
           fmt::format("expected {} components, one for each local device of "
                       "{}, got {}",
                       mesh.num_local_devices(), meshText(mesh),
                       components.size()));
    std::vector<HostBytes> bytes;
    std::vector<Component> parts;
    DType type = DType::F32;
    for (size_t device = 0; device < components.size(); ++device) {
      const Tensor &component = components[device];
      const TensorNode &node = nodeOf(component, op);
      if (!node.host && !node.array.layout().mesh().is_single_device() &&
          !node.array.layout().is_fully_replicated())
        fail(op, fmt::format("expected host tensors, got a sharded one for "
                             "device {}: use relayout instead",
                             device));
      if (device == 0)
        type = node.dtype;
      else if (node.dtype != type)
        fail(op,
             fmt::format("expected components of one type, got {} for device "
                         "0 and {} for device {}",
                         name(type), name(node.dtype), device));
      if (node.shape.size() != layout.rank())
        fail(op,
             fmt::format("expected components of rank {} for layout {}, got "
                         "{} for device {}",
                         layout.rank(), layout.spec_string(),
                         typeText(component), device));
      bytes.push_back(bytesOf(component, op));
    }
    parts.reserve(components.size());
    for (size_t device = 0; device < components.size(); ++device)
      parts.push_back({components[device].shape(), bytes[device]});
    Array array =
        check(Array::fromComponents(clientFor(mesh), type, layout, parts), op);
    if (!bytes.empty())
      noteHostValue(array, bytes.front(), Placing::Asked, op, nullptr);
    return wrap(std::move(array));
  });
}

std::vector<Tensor> unpack(const Tensor &tensor, std::source_location where) {
  return atLine(where, [&]() -> std::vector<Tensor> {
    constexpr std::string_view op = "unpack";
    const Array &array = arrayOf(tensor, op);
    std::vector<Tensor> components;
    for (int64_t device : array.layout().mesh().local_device_ids()) {
      int64_t index = device - array.layout().mesh().min_global_device_id();
      OwnedComponent part = check(array.component(index), op);
      Layout layout =
          Layout::replicated(hostMesh(), unsigned(part.shape.size()));
      components.push_back(
          wrap(check(Array::fromHost(clientFor(hostMesh()),
                                     {array.dtype(), part.shape, layout},
                                     part.bytes),
                     op),
               true));
    }
    return components;
  });
}

namespace {

Tensor fromBytes(const Tensor &tensor, const Layout &layout,
                 std::string_view op, const std::source_location &where) {
  return wrap(placedFromHost({tensor.dtype(), tensor.shape(), layout},
                             bytesOf(tensor, op), Placing::Asked, op, &where));
}

} // namespace

Tensor distribute(const Tensor &host, const Layout &layout,
                  std::source_location where) {
  return atLine(where, [&]() -> Tensor {
    constexpr std::string_view op = "distribute";
    expectRank(host, layout, op);
    const TensorNode &node = nodeOf(host, op);
    if (node.trace)
      return relayout(host, layout);
    if (node.host)
      return fromBytes(host, layout, op, where);
    if (node.array.layout().mesh() != layout.mesh())
      fail(op, fmt::format("expected a host tensor, got one on {}: use "
                           "relayout or copy_to_mesh",
                           meshText(node.array.layout().mesh())));
    return relayout(host, layout);
  });
}

Tensor relayout(const Tensor &tensor, const Layout &layout,
                std::source_location where) {
  return atLine(where,
                [&] { return relayoutTo(tensor, layout, "relayout", where); });
}

Tensor relayout_like(const Tensor &tensor, const Tensor &like,
                     std::source_location where) {
  const TensorNode &node = nodeOf(like, "relayout_like", &where);
  if (node.trace) {
    // The layout of a value of a trace is known where the user pinned it.
    auto value = Value::getFromOpaquePointer(node.value);
    if (auto layout = dtensor::layoutAttrOf(value.getType()))
      return relayout(tensor, layout.getLayout(), where);
  }
  return relayout(tensor, like.layout(), where);
}

Tensor copy_to_mesh(const Tensor &tensor, const Layout &layout,
                    std::source_location where) {
  const CallName name("copy_to_mesh");
  return relayout(tensor, layout, where);
}
Tensor copy_to_mesh(const Tensor &tensor, const Mesh &mesh,
                    std::source_location where) {
  const CallName name("copy_to_mesh");
  return atLine(where, [&] {
    const TensorNode &node = nodeOf(tensor, "copy_to_mesh", &where);
    return relayout(
        tensor, Layout::replicated(mesh, unsigned(node.shape.size())), where);
  });
}

Layout fetch_layout(const Tensor &tensor, std::source_location where) {
  return atLine(where,
                [&] { return arrayOf(tensor, "fetch_layout").layout(); });
}

void check_layout(const Tensor &tensor, const Layout &layout,
                  std::source_location where) {
  atLine(where, [&] {
    const Layout actual = arrayOf(tensor, "check_layout").layout();
    if (actual != layout)
      fail("check_layout",
           fmt::format("expected layout {} on {}, got {} on {}",
                       layout.spec_string(), meshText(layout.mesh()),
                       actual.spec_string(), meshText(actual.mesh())));
  });
}

bool is_dtensor(const Tensor &tensor, std::source_location where) {
  const TensorNode &node = nodeOf(tensor, "is_dtensor", &where);
  return !node.trace && !node.host;
}

} // namespace meshloom
