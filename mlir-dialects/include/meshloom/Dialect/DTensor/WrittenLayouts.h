// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record that a function keeps of the meshes that its program was written
// on, where those are not the one that it runs on. Discardable attributes, left
// by the importer and --dtensor-unify-meshes:
//
// func.func @main(%a: tensor<8xf32, #on_fine>
//                     {dtensor.written = #dtensor.layout<#a, [y]>})
//     attributes {dtensor.meshes = [#a, #b],
//                 dtensor.devices = array<i64: 0, 2, 1, 3>,
//                 dtensor.notes = ["..."]}
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace meshloom::dtensor {

/// On an argument or a result: its layout as the user wrote it. Every device
/// holds the same part under it as under the layout in the type.
inline constexpr llvm::StringLiteral writtenAttr = "dtensor.written";
/// On a function: the meshes that its layouts were written on. All number their
/// devices as the function's own does.
inline constexpr llvm::StringLiteral meshesAttr = "dtensor.meshes";
/// On a function: which device each index of its mesh is, where the user said.
/// On an argument or a result: the same for this value, where the user's mesh
/// has its devices in an order that the function's cannot have.
/// On a module of StableHLO: the order that the meshes of its functions have to
/// have.
inline constexpr llvm::StringLiteral devicesAttr = "dtensor.devices";
/// On a function: the requests of the user that are not met, in words.
inline constexpr llvm::StringLiteral notesAttr = "dtensor.notes";

/// The meshes in meshesAttr, in order; none where it is missing.
SmallVector<Mesh> writtenMeshes(Operation *function);
/// Appends to notesAttr, unless it is there.
void addNote(Operation *function, const Twine &note);

/// A note: `which` is laid out as `now`, whose blocks are not those of
/// `written`.
std::string noteOfOtherBlocks(StringRef which, const Layout &now,
                              const Layout &written);

} // namespace meshloom::dtensor
