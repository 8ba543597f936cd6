// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mesh axes and parts of them as ranges, to compare what shardings say.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include <optional>

namespace meshloom::sdy {

/// An axis seen as `before x size x rest`, of which this is the middle: the
/// range [before, after()) of the axis's strides. A whole axis has `before` 1.
struct AxisPart {
  unsigned axis; ///< its index in the mesh
  int64_t before, size;

  int64_t after() const { return before * size; }
  auto operator<=>(const AxisPart &) const = default;
  bool overlaps(const AxisPart &other) const {
    return axis == other.axis && before < other.after() &&
           other.before < after();
  }
};
using AxisParts = SmallVector<AxisPart>;

/// Returns the meaning of `ref` in `mesh`, or nothing where it has no such axis
/// or part.
std::optional<AxisPart> partOf(MeshAttr mesh, AxisRefAttr ref);
/// `"x"`, `"x":(1)2`.
std::string text(MeshAttr mesh, const AxisPart &part);
/// `{"x", "y"}`.
std::string text(MeshAttr mesh, ArrayRef<AxisPart> parts);
/// `@mesh <x=2, y=4>`, for messages.
std::string text(Attribute meshOrRef, MeshAttr mesh);

/// The same axes in the same order, neighbouring parts joined.
AxisParts joined(ArrayRef<AxisPart> parts);
/// Returns the parts of refs that are valid in `mesh`, joined.
AxisParts partsOf(MeshAttr mesh, ArrayRef<AxisRefAttr> refs);
/// In the order of the mesh, joined.
AxisParts sorted(ArrayRef<AxisPart> parts);
/// Returns the parts in `parts` that are not in `less`.
AxisParts without(ArrayRef<AxisPart> parts, ArrayRef<AxisPart> less);
/// `parts` without `end`, the axes that it ends with, or nothing where it does
/// not.
std::optional<AxisParts> withoutEnd(ArrayRef<AxisPart> parts,
                                    ArrayRef<AxisPart> end);

/// The mesh that a sharding in `op` names or writes out, or null.
MeshAttr meshOf(Operation *op, Attribute meshOrRef);
/// The sharding that the program gives `value`, or null.
TensorShardingAttr shardingOf(Value value);

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
/// Axes that a sharding or a collective uses, each once.
class AxisUses {
public:
  AxisUses(Attribute meshOrRef, MeshAttr mesh, EmitError emitError)
      : meshOrRef(meshOrRef), mesh(mesh), emitError(emitError) {}

  /// Adds axes of `where` ("dim 0"), which are in the mesh, valid parts, not
  /// used yet, as few as can be and, with `inOrder`, in the mesh's order.
  mlir::LogicalResult add(ArrayRef<AxisRefAttr> refs, const llvm::Twine &where,
                          bool inOrder = false);

private:
  mlir::LogicalResult check(AxisRefAttr ref);

  Attribute meshOrRef;
  MeshAttr mesh;
  EmitError emitError;
  SmallVector<std::pair<AxisPart, std::string>> used;
};

/// Checks `sharding` of a value of `type` in `op`; null: of no value.
mlir::LogicalResult verifySharding(Operation *op, TensorShardingAttr sharding,
                                   Type type, EmitError emitError);
/// The same for each of `types`.
mlir::LogicalResult verifyShardings(Operation *op,
                                    TensorShardingPerValueAttr shardings,
                                    mlir::TypeRange types, StringRef role);
/// Checks a rule of `op`.
mlir::LogicalResult verifyRule(Operation *op, OpShardingRuleAttr rule);
/// Checks what is written down of propagation through `op`.
mlir::LogicalResult verifyEdges(Operation *op, PropagationEdgesAttr edges);
/// Checks that pending reductions change from `from` to `to` (each may be null)
/// as `op` can: sums begin where `begins`, and those of `ends` end.
mlir::LogicalResult verifyPending(Operation *op, TensorShardingAttr from,
                                  TensorShardingAttr to, bool begins,
                                  ReductionOp ends);
} // namespace meshloom::sdy
