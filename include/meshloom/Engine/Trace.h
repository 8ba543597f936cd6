// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trace: a function being built from the ops that its body runs, and the hidden
// arguments (captured tensors, variables) found on the way.
#pragma once

#include "meshloom/Engine/Nodes.h"

#include "meshloom/Core/Contract.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <atomic>

namespace meshloom::detail {

/// Where an argument of the traced function comes from.
struct TraceArgument {
  enum class Kind : uint8_t { Explicit, Captured, Variable } kind;
  /// Explicit: its type (layout) at the time of the call; Captured: the value.
  Tensor tensor;
  std::shared_ptr<VariableState> variable;
  bool assigned = false;
  std::string name = "";
};

/// How long values are that tiled all_gathers join, in the order that a body
/// makes them: where places have other numbers of rows, the extents of others
/// are known when their bodies have been traced.
struct JoinedExtents {
  /// For each join the extents of all places, where those are known.
  std::vector<std::vector<int64_t>> byPlace = {};
  /// For the body being traced: its local extent at each join, and the extents
  /// that the join was built with (none: the same everywhere).
  std::vector<int64_t> local = {};
  std::vector<std::vector<int64_t>> used = {};
};

/// An axis that a function is mapped over (ShardMap.h), in the body of which
/// this is.
struct MappedAxis {
  std::string name;
  int64_t size = 1;
  /// Says whether its places are devices, so that all of the body is on those.
  bool isOfDevices = true;
  /// Numbers of rows by place, where they differ: one list for each argument of
  /// which that is so.
  std::vector<std::vector<int64_t>> rows = {};
  /// One of the places that the body is traced for.
  int64_t place = 0;
  /// The joins of bodies that are traced for several places.
  std::shared_ptr<JoinedExtents> joints = nullptr;
};

/// An explicit argument that a gradient of a tape outside of the trace led to.
/// The trace contains ops that the tape has recorded of this argument.
struct TapeLink {
  size_t argument;
  /// The argument, where the tape leads from it to a source of the gradient;
  /// null: it does not.
  std::shared_ptr<TensorNode> followed;
  /// Returns whether the tape leads from another argument to a source.
  std::function<bool(const Tensor &)> isFollowed;

  /// Returns whether the trace holds for a call with that argument.
  bool fits(const Tensor &tensor) const {
    return followed ? tensor.internal() == followed : !isFollowed(tensor);
  }
};

/// The module of a trace that has ended. Nobody changes it, so that threads may
/// read and clone it at the same time.
struct TracedModule {
  std::shared_ptr<MLIRContext> context; ///< outlives the module
  OwningOpRef<ModuleOp> module;
  /// The objects that the module's attributes have the numbers of.
  std::vector<std::shared_ptr<const void>> objects;
};

class Trace : public std::enable_shared_from_this<Trace> {
public:
  /// Builds in `context`, as others do at the same time.
  Trace(std::string name, std::shared_ptr<MLIRContext> context);
  ~Trace();

  /// Says whether its module is to be found again by its text: what may differ
  /// from one trace to the next, such as seeds, is then captured.
  bool reusable = false;
  /// Innermost last.
  std::vector<MappedAxis> mapped;
  std::vector<TapeLink> tapeLinks;

  /// All that is traced from now on has the same bits everywhere.
  void beDeterministic();
  /// The compiler compares `contract` with what the function sends.
  void expectContract(const Contract &contract);
  /// The batch runs in so many microbatches.
  void accumulateGradients(int64_t microbatches);
  /// A device may hold at most so many bytes at a time.
  void limitMemory(int64_t bytes);
  const std::string &name() const { return title; }
  /// Any thread may ask.
  bool active() const { return !ended; }

  OpBuilder &builder() { return build; }
  /// The op added last, or null.
  Operation *lastOp() const;
  Location location(const std::source_location &where) const;
  /// The place in the source, "file:line:column", of the op that a value of a
  /// trace comes from. An argument of a function has none.
  static std::optional<std::string> sourceOf(const TensorNode &node);

  /// A new explicit argument standing for `tensor`. Without a name: arg0, ...
  Tensor addArgument(const Tensor &tensor, std::string name = "");
  /// The value of `tensor` in this trace; what is not of it becomes a hidden
  /// argument.
  Value valueOf(const Tensor &tensor, std::string_view op,
                const std::source_location *where);
  /// The argument of a variable.
  Value argumentOf(const std::shared_ptr<VariableState> &variable);
  Tensor read(const std::shared_ptr<VariableState> &variable,
              const std::source_location &where);
  void assign(const std::shared_ptr<VariableState> &variable,
              const Tensor &value, const std::source_location &where);
  Tensor wrapValue(Value value);
  /// Takes a loop or branch whose body threw out of the function. It is kept,
  /// so that using a tensor of its body stays an error that says so.
  void discard(Operation *op);
  /// A layout or a value is on `mesh`. Throws in a mapped function where that
  /// is over other devices than the others.
  void useMesh(const Mesh &mesh);
  /// Throws where the trace is on several sets of devices: what is mapped is on
  /// one.
  void expectOneDeviceSet(std::string_view op,
                          const std::source_location *where) const;
  /// The set of devices (DeviceSets.h) that a value of the function's body is
  /// on, or ANYWHERE.
  int64_t deviceSetOf(Value value) const;
  /// Says of `op` what is taken out again where the trace is on one set of
  /// devices; see meshloom/Dialect/DTensor/DeviceSets.h.
  void note(Operation *op, StringRef attribute, Attribute value);

  /// Ends the trace: values are returned, arguments get their types. Throws if
  /// a host variable is assigned on a mesh.
  void finish(ArrayRef<Tensor> results,
              const std::vector<std::optional<Layout>> &resultLayouts);
  /// Ends it, if it has not ended, and frees what it holds but for its name.
  void abandon();

  const std::vector<TraceArgument> &arguments() const { return args; }
  /// The set of devices that each is on, ANYWHERE for those of the host, which
  /// come to where they are used.
  std::vector<int64_t> argumentSets() const;
  /// Returns whether its meshes are on several sets of devices.
  bool isSpread() const;
  /// The meshes of arguments and layouts, in the order in which they came; at
  /// least one when the trace has ended.
  const std::vector<Mesh> &meshes() const { return meshesUsed; }
  /// Keeps `object` as long as the module, whose attributes tell of it.
  void keep(std::shared_ptr<const void> object) {
    objects.push_back(std::move(object));
  }
  ModuleOp moduleOp() { return *module; }
  const std::shared_ptr<MLIRContext> &sharedContext() const { return context; }
  /// Hands the module of an ended trace over.
  std::shared_ptr<const TracedModule> takeModule();

private:
  std::string title;
  std::shared_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::vector<std::shared_ptr<const void>> objects;
  std::vector<OwningOpRef<Operation *>> discarded;
  mlir::func::FuncOp function;
  Block *block = nullptr;
  OpBuilder build;
  std::atomic<bool> ended = false;
  bool hasNotes = false;
  std::vector<Mesh> meshesUsed;
  std::vector<TraceArgument> args;
  llvm::DenseMap<const void *, unsigned>
      known; ///< node or variable -> argument
};

/// Makes `trace` this thread's innermost one while it lives.
class TraceScope {
public:
  explicit TraceScope(std::shared_ptr<Trace> trace) {
    threadState().traces.push_back(std::move(trace));
  }
  ~TraceScope() { threadState().traces.pop_back(); }
  TraceScope(const TraceScope &) = delete;
};

} // namespace meshloom::detail
