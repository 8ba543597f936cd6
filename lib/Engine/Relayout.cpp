// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moving values between layouts, and between sets of devices.
#include "meshloom/Engine/Relayout.h"
#include "meshloom/Engine/DeviceSets.h"
#include "meshloom/Engine/OpCall.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Tape.h"
#include "meshloom/Engine/Transfers.h"

#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Dialect/DTensor/DeviceSets.h"

#include <fmt/format.h>

#include <atomic>

namespace meshloom::detail {

void expectRank(const Tensor &tensor, const Layout &layout, std::string_view op,
                const std::source_location *where) {
  if (nodeOf(tensor, op, where).shape.size() != layout.rank())
    fail(op,
         fmt::format("expected a layout of rank {} for {}, got {}",
                     tensor.rank(), typeText(tensor), layout.spec_string()),
         where);
}

namespace {

/// A relayout whose operand is in layout `source`, which counts where that is
/// on other devices: its gradient goes back there.
void setRelayout(OpCall &call, const Layout &layout,
                 const std::optional<Layout> &source) {
  auto builder = [](Emitter &e, ArrayRef<Value> operands, const Layout &layout,
                    const std::optional<Layout> &source) -> SmallVector<Value> {
    MLIRContext *context = e.getContext();
    RankedTensorType bare = e.typeOf(operands[0]);
    auto type =
        RankedTensorType::get(bare.getShape(), bare.getElementType(),
                              dtensor::LayoutAttr::get(context, layout));
    auto op = e.create<dtensor::RelayoutOp>(e.getLoc(), type, operands[0]);
    Trace &trace = *threadState().trace();
    trace.note(op, dtensor::deviceSetAttr,
               e.getI64IntegerAttr(deviceSetOf(layout.mesh())));
    if (!source)
      return SmallVector<Value>{op};
    static std::atomic<int64_t> count;
    trace.note(op, dtensor::transferAttr, e.getI64IntegerAttr(++count));
    trace.note(
        op, dtensor::sourceAttr,
        dtensor::transferSource(deviceSetOf(source->mesh()),
                                dtensor::LayoutAttr::get(context, *source)));
    return SmallVector<Value>{op};
  };
  call.setBody(builder, layout, source);
}

/// The layout of a value of a trace that a relayout brings to other devices, as
/// far as one can tell; nothing: it is on those of `layout`, or on none.
std::optional<Layout> transferSourceOf(Trace &trace, const TensorNode &node,
                                       const Layout &layout) {
  if (!trace.isSpread())
    return std::nullopt;
  const int64_t set =
      trace.deviceSetOf(Value::getFromOpaquePointer(node.value));
  if (set == ANYWHERE || set == deviceSetOf(layout.mesh()))
    return std::nullopt;
  return Layout::replicated(meshOfDeviceSet(set, trace.meshes()),
                            unsigned(node.shape.size()));
}

} // namespace

Tensor relayoutTo(const Tensor &tensor, const Layout &layout,
                  std::string_view op, const std::source_location &where) {
  expectRank(tensor, layout, op, &where);
  const TensorNode &node = nodeOf(tensor, op, &where);
  OpCall call;
  call.name = op;
  call.operands = {tensor};
  call.where = where;
  call.layout = layout;
  if (const std::shared_ptr<Trace> &trace = threadState().trace()) {
    trace->useMesh(layout.mesh());
    (void)trace->valueOf(tensor, op, &where); // so that its mesh is known
    setRelayout(call, layout,
                node.trace ? transferSourceOf(*trace, node, layout)
                           : std::nullopt);
    return runOp(std::move(call));
  }
  const Layout &current = node.array.layout();
  if (current == layout)
    return tensor;
  const bool isElsewhere = !onSameDevices(current.mesh(), layout.mesh());
  // A part of it goes to another process together with all others.
  if (isElsewhere && spansThisProcess(current.mesh()) &&
      ownerOf(layout.mesh()) && !current.is_fully_replicated())
    return relayoutTo(
        relayoutTo(tensor, Layout::replicated(current.mesh(), current.rank()),
                   op, where),
        layout, op, where);
  setRelayout(call, layout,
              isElsewhere && !node.host ? std::optional(current)
                                        : std::nullopt);
  // Nothing is to be computed where all devices have their parts already.
  const bool isThere = !isElsewhere && current.mesh() != layout.mesh() &&
                       haveSameShards(current, layout, node.shape);
  if (!isElsewhere && !node.host && !isThere)
    return runOp(std::move(call));
  Running running;
  Tensor result = wrapResult(check(movedTo(node.array, layout), op));
  recordOp(call, {result});
  return result;
}

} // namespace meshloom::detail
