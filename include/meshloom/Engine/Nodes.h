// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes that a Tensor and a DVariable point to, and access to them.
#pragma once

#include "meshloom/Engine/Clients.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/Texts.h"
#include "meshloom/Engine/ThreadState.h"

#include "meshloom/API/VariableCreation.h"

#include <mutex>

namespace meshloom::detail {

class Trace;

/// Either a value on devices (`array`) or a value of a trace (`trace`,
/// `value`).
class TensorNode {
public:
  Shape shape;
  DType dtype = DType::F32;
  Array array;
  /// A plain host tensor: an op takes it as replicated on the mesh of its other
  /// operands. Its array is on hostMesh().
  bool host = false;
  std::shared_ptr<Trace> trace;
  /// The mlir::Value of a value of a trace, as an opaque pointer.
  void *value = nullptr;
  /// See get_mask; null: there is none.
  std::shared_ptr<TensorNode> mask;
};

class VariableState {
public:
  int64_t id = 0;
  std::string name;
  bool trainable = true;
  std::function<Tensor(const Tensor &)> constraint;
  ArrayType type{DType::F32, {}, Layout({}, *Mesh::get({{"d", 1}}))};
  bool host = false;
  VariableSynchronization synchronization = VariableSynchronization::AUTO;
  VariableAggregation aggregation = VariableAggregation::NONE;
  /// Null: it is what is stored.
  std::shared_ptr<const VariablePolicy> policy;
  /// Guards what follows. Several variables are locked in order of id.
  std::mutex mutex;
  /// The value, in `type`'s layout or in `home`.
  Array array;
  /// While `array` is not complete: the last complete value that assignments
  /// outside of functions have replaced.
  Array previous;
  /// Where it is while nothing uses it; see keepBetweenUses.
  std::optional<Layout> home;
  /// Why there is no value: an update in place failed half way.
  std::string lost;
};

Tensor wrap(Array array, bool host = false);
/// A plain host tensor where the array is on hostMesh().
Tensor wrapResult(Array array);
/// Throws if `tensor` is empty or belongs to a trace that is not this thread's.
TensorNode &nodeOf(const Tensor &tensor, std::string_view op,
                   const std::source_location *where = nullptr);
/// Throws if `variable` is empty.
const std::shared_ptr<VariableState> &
stateOf(const DVariable &variable, std::string_view op,
        const std::source_location *where = nullptr);
/// The value of a variable, which is locked, in its layout. Throws if an update
/// lost it. After an update in the background that failed and left the old
/// value, throws once, unless the error has been reported, and is that value
/// then.
Array valueOf(VariableState &variable, std::string_view op);
/// Assigns `value`, which is in the layout of a variable, outside of functions.
void assignValue(VariableState &variable, Array value, std::string_view op);
/// `value`, which is in the layout of a variable, as the variable keeps it.
Array stored(const VariableState &variable, Array value, std::string_view op);
/// The value on devices; throws if it is a value of a trace.
const Array &arrayOf(const Tensor &tensor, std::string_view op);
/// The same value, replicated on `mesh`; `op` at `where` takes it.
Array onMesh(const Array &array, const Mesh &mesh, std::string_view op,
             const std::source_location *where = nullptr);
/// Global value as bytes.
HostBytes bytesOf(const Tensor &tensor, std::string_view op);

} // namespace meshloom::detail
