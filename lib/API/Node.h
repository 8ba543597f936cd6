// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a Tensor and a DVariable point to, and the state of a thread: traces,
// tapes and default meshes.
#pragma once

#include "meshloom/API/Mesh.h"
#include "meshloom/API/VariableCreation.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Runtime/Platform.h"

#include <mutex>

namespace meshloom::detail {

class Trace;
class TapeState;

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
  /// Where it is while nothing uses it; see keepBetweenUses.
  std::optional<Layout> home;
  /// Why there is no value: an update in place failed half way.
  std::string lost;
};

/// What the current thread is inside of, innermost last.
struct ThreadState {
  /// A null trace: inside init_scope.
  std::vector<std::shared_ptr<Trace>> traces;
  // Weak: another thread may end a tape, or the scope of a mesh.
  std::vector<std::weak_ptr<TapeState>> tapes;
  std::vector<std::weak_ptr<const Mesh>> meshes;
  /// Of variables; while one makes a variable, those around it.
  std::vector<std::weak_ptr<const VariableCreator>> creators;
  /// See CallSite.
  std::optional<std::source_location> callSite;
  /// See CallName.
  std::optional<std::string_view> callName;
  /// See UserLine.
  std::optional<std::source_location> userLine;
  /// Parts of the model, each with those around it: "encoder/block_3".
  std::vector<std::string> scopes;

  const std::shared_ptr<Trace> &trace() const;
};
ThreadState &threadState();

/// Throws "[op] message (at file:line)".
[[noreturn]] void fail(std::string_view op, const std::string &message,
                       const std::source_location *where = nullptr);
/// The same for an error of another layer; its code decides the class.
[[noreturn]] void fail(std::string_view op, const Error &error,
                       const std::source_location *where = nullptr);
/// Unwraps; throws its error with the tag [op] unless it has a tag.
template <typename T> T check(Result<T> result, std::string_view op) {
  if (!result)
    fail(op, result.error());
  return std::move(*result);
}

/// The mesh of plain host tensors: one device.
const Mesh &hostMesh();
/// The client whose devices a mesh of that many devices runs on.
std::shared_ptr<Platform> platformFor(const Mesh &mesh);
std::shared_ptr<Client> clientFor(const Mesh &mesh);

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
/// lost it.
Array valueOf(const VariableState &variable, std::string_view op);
/// `value`, which is in the layout of a variable, as the variable keeps it.
Array stored(const VariableState &variable, Array value, std::string_view op);
/// The value on devices; throws if it is a value of a trace.
const Array &arrayOf(const Tensor &tensor, std::string_view op);
/// The same value, replicated on `mesh`; `op` at `where` takes it.
Array onMesh(const Array &array, const Mesh &mesh, std::string_view op,
             const std::source_location *where = nullptr);
/// Global value as bytes.
HostBytes bytesOf(const Tensor &tensor, std::string_view op);

/// "f32 [128, 784]".
std::string typeText(DType type, const Shape &shape);
std::string shapeText(const Shape &shape);
inline std::string typeText(const Tensor &tensor) {
  return typeText(tensor.dtype(), tensor.shape());
}
std::string meshText(const Mesh &mesh);
/// Whether index i of both meshes is the same device.
bool onSameDevices(const Mesh &mesh, const Mesh &other);
/// "mesh[x=4] on CPU:0, CPU:1, ...": where two meshes differ in their devices.
std::string devicesText(const Mesh &mesh);

/// What the compiler is told; `generation` counts its changes.
struct Settings {
  std::shared_ptr<const MachineModel> machine;
  bool refine = true;
  bool checkNumerics = false;
  bool deterministic = false;
  int64_t generation = 0;
};
Settings settings();

} // namespace meshloom::detail
