// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions that passes ask about the layouts in a function.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace meshloom {

/// The layout in a type, or none.
std::optional<Layout> annotatedLayout(Type type);

/// The layouts in types, each of which has one.
std::vector<Layout> annotatedLayouts(mlir::TypeRange types);

/// Fails, with a diagnostic, on a function whose body branches.
LogicalResult expectOneBlock(mlir::func::FuncOp function);

/// The mesh of all layouts of `function`; where it has none, that of the
/// module's `dtensor.mesh`, else one device. Fails, with a diagnostic, on
/// several: --dtensor-unify-meshes comes first.
FailureOr<Mesh> onlyMesh(mlir::func::FuncOp function);

} // namespace meshloom
