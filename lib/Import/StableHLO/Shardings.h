// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shardings: what a program's annotations say, in axes of one mesh.
#pragma once

#include "GspmdSharding.h"

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include <map>
#include <set>

namespace meshloom::importer {

/// A sharding of one value, in indices of the unified mesh's axes.
struct ValueSharding {
  struct Dim {
    SmallVector<unsigned> axes; ///< major to minor
    bool isOpen = false;
    int64_t priority = 0; ///< smaller comes first
  };
  SmallVector<Dim> dims;
  SmallVector<unsigned> replicated, unreduced;
  ReduceKind unreducedKind = ReduceKind::Sum;
  /// GSPMD: axes along which the value is one per device.
  SmallVector<unsigned> manual;
  /// GSPMD: the sharding group that the value is in.
  std::optional<int64_t> group = std::nullopt;
  /// The value is to be on this device of several, and nowhere else.
  std::optional<int64_t> onlyDevice = std::nullopt;

  bool hasOpenDim() const;
  bool hasAxes() const;
};

int64_t deviceCount(const SourceMesh &mesh);

/// The module's meshes, unified, and its annotations in terms of that mesh.
class Shardings {
public:
  /// Reads all annotations of `module`. Reports malformed ones where they are.
  static FailureOr<Shardings> collect(ModuleOp module);

  /// Returns whether the module annotates anything.
  bool any() const { return unification.has_value(); }
  const MeshUnification &meshes() const { return *unification; }
  dtensor::MeshAttr getMesh() const { return mesh; }

  /// Returns the meaning of `attribute` (#sdy.sharding, or a GSPMD string) for
  /// a value of local type `type`. Fails, with a diagnostic, where it is
  /// malformed.
  FailureOr<ValueSharding> of(Location loc, Attribute attribute,
                              RankedTensorType type) const;
  /// Returns whether `attribute`, of GSPMD, says the same of every part of a
  /// tuple: it names no dims.
  bool isForTuple(Attribute attribute) const;
  /// The layout that `attribute`, which decides all dims, spells, on the mesh
  /// that it names: none where that numbers devices in another order than
  /// getMesh(), and of GSPMD, whose tiles have no names.
  std::optional<Layout> written(Attribute attribute) const;
  /// The meshes that the program names, but for those that are numbered in
  /// another order than getMesh().
  std::vector<Mesh> writtenMeshes() const;
  /// Which device each index of getMesh() is; empty: 0, 1, ...
  std::vector<int64_t> deviceOrder() const;
  /// How a mesh numbers its devices, where that is an order for which there is
  /// no layout on getMesh(); else empty. A value over such a mesh is laid out
  /// in the order of the program's first one.
  ArrayRef<int64_t> declaredOrder(Attribute meshOrRef) const;
  /// Which device has the part of a value under `sharding` that is the one of
  /// each index of getMesh(), where the value's mesh has a declared order; else
  /// empty.
  std::vector<int64_t> declaredDevices(Attribute sharding) const;
  bool haveDeclaredOrders() const { return !declaredOrders.empty(); }
  /// A sentence about each such mesh.
  std::vector<std::string> notesOnOrders() const;
  /// Axes of a manual computation with shardings of `shardings`.
  FailureOr<SmallVector<unsigned>>
  manualAxes(Location loc, sdy::ManualAxesAttr axes,
             ArrayRef<sdy::TensorShardingAttr> shardings) const;
  /// Axes that a collective names over `mesh`.
  FailureOr<SmallVector<unsigned>>
  groupAxes(Location loc, stablehlo::ReplicaGroupMeshAxesAttr groups) const;

private:
  Shardings() = default;
  ValueSharding ofShardy(sdy::TensorShardingAttr sharding,
                         RankedTensorType type) const;
  FailureOr<ValueSharding> ofGspmd(Location loc, StringRef text,
                                   RankedTensorType type) const;
  LogicalResult addUses(Location loc, Attribute attribute, TypeRange types);
  LogicalResult addGspmd(Location loc, StringRef text, TypeRange types);
  /// The index of a mesh, which is added where it is new.
  FailureOr<size_t> indexOf(Location loc, Attribute meshOrRef);
  size_t addMesh(SourceMesh source, Location loc);
  /// The device of a mesh that has one, where the program has more.
  std::optional<int64_t> onlyDeviceOf(std::optional<size_t> mesh) const;
  bool hasSeveralDevices() const;
  std::optional<size_t> indexIfDeclared(Attribute meshOrRef) const;
  LogicalResult addAxis(Location loc, size_t which, StringRef name,
                        int64_t before, int64_t size);
  LogicalResult unify();
  bool takeFirstOrder();
  /// Cuts axes so that reshapes of dims that are on them can stay local.
  void cutForReshapes(ModuleOp module);
  /// Cuts axes of which collectives span a part.
  void cutForGroups(ModuleOp module);

  std::vector<SourceMesh> sources;
  SmallVector<Location> sourceLocs;
  std::map<size_t, std::vector<int64_t>>
      declaredOrders;                  ///< see declaredOrder()
  std::map<std::string, size_t> named; ///< @mesh
  DenseMap<Attribute, size_t> inlined; ///< meshes written out
  std::map<std::string, size_t> gspmd; ///< by text
  std::map<std::string, GspmdSharding> gspmdParsed;
  std::vector<AxisUse> uses;
  SmallVector<Location> useLocs;
  /// Dims that annotations shard: their mesh, extent, and axes or parts of
  /// them, major to minor.
  struct ShardedDim {
    size_t mesh;
    int64_t extent;
    std::vector<SubAxis> axes;
  };
  std::vector<ShardedDim> shardedDims;
  std::optional<MeshUnification> unification;
  dtensor::MeshAttr mesh;
};

/// The name of GSPMD's sharding attribute.
inline constexpr llvm::StringLiteral gspmdName = "mhlo.sharding";
inline constexpr llvm::StringLiteral shardyName = "sdy.sharding";

/// The sharding in the attributes of an argument, a result or an op of one
/// result, or null.
Attribute shardingIn(DictionaryAttr attributes);

} // namespace meshloom::importer
