// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Access to what a Tensor and a DVariable point to.
#include "meshloom/Engine/Nodes.h"
#include "meshloom/Engine/SharedValues.h"
#include "meshloom/Engine/Trace.h"
#include "meshloom/Engine/Transfers.h"

#include <fmt/format.h>

namespace meshloom::detail {

Tensor wrap(Array array, bool host) {
  auto node = std::make_shared<TensorNode>();
  node->shape = array.shape();
  node->dtype = array.dtype();
  node->array = std::move(array);
  node->host = host;
  return Tensor::internalFrom(std::move(node));
}

Tensor wrapResult(Array array) {
  const bool host = array.layout().mesh() == hostMesh();
  return wrap(std::move(array), host);
}

TensorNode &nodeOf(const Tensor &tensor, std::string_view op,
                   const std::source_location *where) {
  const std::shared_ptr<TensorNode> &node = tensor.internal();
  if (!node)
    fail(op, "expected a tensor, got an empty Tensor: give it a value first",
         where);
  if (node->trace && node->trace != threadState().trace())
    fail(op,
         node->trace->active()
             ? fmt::format("expected a tensor of the trace in progress, got {} "
                           "of the trace of '{}': return it from that function",
                           typeText(node->dtype, node->shape),
                           node->trace->name())
             : fmt::format(
                   "expected a value, got {} of the trace of '{}', which has "
                   "ended: return it from the function instead of keeping it",
                   typeText(node->dtype, node->shape), node->trace->name()),
         where);
  return *node;
}

const std::shared_ptr<VariableState> &
stateOf(const DVariable &variable, std::string_view op,
        const std::source_location *where) {
  if (!variable.defined())
    fail(op,
         "expected a variable, got an empty DVariable: make it from an initial "
         "value; one that was moved from is empty, too",
         where);
  return variable.internal();
}

/// Gives a variable its old value back where computing the new one has failed.
static void settle(VariableState &variable, std::string_view op) {
  const Event event = variable.array.event();
  if (!event.isReady())
    return;
  Array old = std::exchange(variable.previous, Array());
  const Status outcome = event.wait();
  if (outcome)
    return;
  if (Array replaced = variable.array.oldValue())
    old = std::move(replaced);
  if (!old)
    return;
  variable.array = std::move(old);
  if (event.isUnreported())
    fail(op, outcome.error());
}

Array valueOf(VariableState &variable, std::string_view op) {
  if (!variable.array)
    fail(op, fmt::format("variable '{}' has lost its value: {}", variable.name,
                         variable.lost));
  settle(variable, op);
  return variable.home
             ? check(movedTo(variable.array, variable.type.layout), op)
             : variable.array;
}

void assignValue(VariableState &variable, Array value, std::string_view op) {
  value = stored(variable, std::move(value), op);
  if (value.event().isReady()) {
    // A value that could not be computed leaves the variable as it is.
    if (Status computed = value.wait(); !computed)
      fail(op, computed.error());
    variable.previous = Array();
  } else if (variable.array && variable.array.event().isReady() &&
             variable.array.event().wait()) {
    variable.previous = std::move(variable.array);
  }
  variable.array = std::move(value);
  variable.lost.clear();
}

Array stored(const VariableState &variable, Array value, std::string_view op) {
  return variable.home ? check(movedTo(std::move(value), *variable.home), op)
                       : value;
}

const Array &arrayOf(const Tensor &tensor, std::string_view op) {
  TensorNode &node = nodeOf(tensor, op);
  if (node.trace)
    fail(op, fmt::format("{} is a value of the trace of '{}', which has no "
                         "value yet: return it from the function first",
                         typeText(node.dtype, node.shape), node.trace->name()));
  return node.array;
}

Array onMesh(const Array &array, const Mesh &mesh, std::string_view op,
             const std::source_location *where) {
  if (array.layout().mesh() == mesh)
    return array;
  ArrayType type{array.dtype(), array.shape(),
                 Layout::replicated(mesh, unsigned(array.shape().size()))};
  return placedFromHost(type, check(array.toHost(), op), Placing::Needed, op,
                        where);
}

HostBytes bytesOf(const Tensor &tensor, std::string_view op) {
  return check(arrayOf(tensor, op).toHost(), op);
}

} // namespace meshloom::detail
