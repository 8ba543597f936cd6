// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving values between host and mesh, and between layouts.
#pragma once

#include "meshloom/API/Function.h"
#include "meshloom/API/Mesh.h"
#include "meshloom/API/Variable.h"

namespace meshloom {

/// The tensor whose shard on device k is `components[k]`: exactly the local
/// shape of device k under `layout`, empty ones included. Copies. Throws
/// meshloom::Error if their number is not that of the mesh's local devices, if
/// types or ranks differ, if a component has another shape than its device's
/// shard (the message names device, expected and given shape), or if components
/// that should be replicas differ.
[[nodiscard]] Tensor
pack(const std::vector<Tensor> &components, const Layout &layout,
     std::source_location where = std::source_location::current());

/// The shard of each local device, in device order, as host tensors. Inverse of
/// `pack`.
[[nodiscard]] std::vector<Tensor>
unpack(const Tensor &tensor,
       std::source_location where = std::source_location::current());

/// `host` cut as `layout` says: the tutorial's repack_local_tensor. Where the
/// layout is replicated over several processes all must give the same value,
/// which is compared by the next run in which they exchange messages. Throws
/// meshloom::Error if ranks differ, or if the tensor is already on another mesh
/// (see relayout).
[[nodiscard]] Tensor
distribute(const Tensor &host, const Layout &layout,
           std::source_location where = std::source_location::current());

/// The same value, laid out as `layout`, which may be on another mesh, over the
/// same devices or over others. Inside a `function`, and under a GradientTape,
/// it is an op like others (its gradient is brought back to the devices and to
/// the layout of `tensor`). Where `layout` is partial and the tensor is not, a
/// reduction begins: the shards add up to the value (nothing is sent).
///
///   Tensor hidden = relu(matmul(x, w1));               // on mesh a
///   Tensor y = matmul(relayout(hidden, on_mesh_b), w2); // on mesh b
///
/// Throws meshloom::Error if ranks differ, if two meshes over the same devices
/// have no common refinement, and if devices differ in the body of a loop or
/// branch, in a mapped function, or where a layout is partial.
[[nodiscard]] Tensor
relayout(const Tensor &tensor, const Layout &layout,
         std::source_location where = std::source_location::current());
/// The same value, laid out like `like`.
[[nodiscard]] Tensor
relayout_like(const Tensor &tensor, const Tensor &like,
              std::source_location where = std::source_location::current());

/// The same as relayout: TensorFlow's name for it where devices differ.
[[nodiscard]] Tensor
copy_to_mesh(const Tensor &tensor, const Layout &layout,
             std::source_location where = std::source_location::current());
/// The same, replicated on `mesh`.
[[nodiscard]] Tensor
copy_to_mesh(const Tensor &tensor, const Mesh &mesh,
             std::source_location where = std::source_location::current());

/// The layout of a value on devices.
Layout
fetch_layout(const Tensor &tensor,
             std::source_location where = std::source_location::current());
/// Throws meshloom::Error if the tensor's layout is not `layout`.
void check_layout(const Tensor &tensor, const Layout &layout,
                  std::source_location where = std::source_location::current());
/// Returns whether the tensor is laid out over a mesh (not a plain host
/// tensor).
bool is_dtensor(const Tensor &tensor,
                std::source_location where = std::source_location::current());

namespace detail {
[[nodiscard]] std::vector<Tensor>
callWithLayout(const TraceBody &body, const Layout &layout,
               std::shared_ptr<const void> &skeleton,
               const std::source_location &where);
} // namespace detail

/// Returns the result of `fn()` (a tensor, or a structure of tensors), laid out
/// as `layout`: its ops are compiled together, so that no device makes more
/// than its shard; the same ops on the same shapes and layout, whatever the
/// seeds, are compiled once. Without a layout a plain call. Throws
/// meshloom::Error if a rank differs.
template <typename F>
auto call_with_layout(
    F &&fn, const std::optional<Layout> &layout,
    std::source_location where = std::source_location::current()) {
  constexpr bool takesNothing = std::is_invocable_v<F &>;
  static_assert(takesNothing, "the function of call_with_layout takes no "
                              "arguments: it captures what it uses");
  if constexpr (takesNothing) {
    using R = std::decay_t<std::invoke_result_t<F &>>;
    if (!layout)
      return R(fn());
    std::shared_ptr<const void> skeleton;
    std::vector<Tensor> outputs = detail::callWithLayout(
        [&](std::span<const Tensor>) {
          auto result = std::make_shared<R>(fn());
          detail::TraceOutput out{detail::tensorsOf(*result), nullptr};
          out.skeleton = std::move(result);
          return out;
        },
        *layout, skeleton, where);
    return detail::rebuild(*static_cast<const R *>(skeleton.get()), outputs);
  }
}

} // namespace meshloom
