// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layout annotations of a function, and changes of single ones.
#pragma once

#include "meshloom/Core/LayoutAdvice.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace meshloom {

/// Returns a module with the attributes of the module of `function`, in which a
/// copy of it is the only function.
OwningOpRef<ModuleOp> copyAlone(mlir::func::FuncOp function);

/// Brings functions to the form in which annotations are found: with all
/// layouts on one mesh, and variables as arguments.
LogicalResult exposeAnnotations(ModuleOp module);

/// Returns the arguments of `function` that are tensors, and the constraints
/// with a layout, in the order of the program. Arguments without a layout are
/// among them where the function has a mesh.
std::vector<LayoutAnnotation> annotationsOf(mlir::func::FuncOp function);

/// Returns the layouts to which a change of one axis leads from an annotation's
/// layout, or from an argument that is whole on each device: each axis on each
/// different dim, as its minor axis, or on none. The layout that is whole on
/// each device comes first.
std::vector<Layout> layoutsNear(mlir::func::FuncOp function,
                                const LayoutAnnotation &annotation);

/// Gives the places of an annotation a layout, or none. The next value of an
/// argument that was laid out alike follows.
void annotate(mlir::func::FuncOp function, const LayoutAnnotation &annotation,
              const std::optional<Layout> &layout);

} // namespace meshloom
