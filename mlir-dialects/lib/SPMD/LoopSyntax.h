// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoopSyntax: how kernels and library calls write their iteration spaces, and
// what must hold for them.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpImplementation.h"

namespace meshloom::spmd {

/// `loops [held? reduce? extent (over [axis, ...])? (ranges [begin, end,
/// ...])?,
/// ...]`, as the attributes extents, reductions and axes, and held and ranges
/// where a loop has them; with `library`, always.
mlir::ParseResult parseLoops(mlir::OpAsmParser &parser,
                             mlir::OperationState &state, bool library);
void printLoops(mlir::OpAsmPrinter &printer, Operation *op);

/// `ins (%x at #map, ...)`.
struct InputSyntax {
  SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Attribute> accesses;
};
mlir::ParseResult parseInputs(mlir::OpAsmParser &parser, InputSyntax &inputs);
void printInputs(mlir::OpAsmPrinter &printer, ValueRange inputs,
                 mlir::ArrayAttr accesses);

/// ` in_place [.., j, ..]`, or nothing: then `count` times -1.
mlir::ParseResult parseInPlace(mlir::OpAsmParser &parser, size_t count,
                               SmallVectorImpl<int32_t> &inPlace);
void printInPlace(mlir::OpAsmPrinter &printer, ArrayRef<int32_t> inPlace);

/// C1 to C3 of both ops: loops, axes and maps. `held` may be empty; the maps of
/// `guarded` operands may lead outside of their tensors.
LogicalResult
verifyIterationSpace(Operation *op, ArrayRef<int64_t> extents,
                     ArrayRef<bool> reductions, mlir::ArrayAttr axes,
                     ArrayRef<bool> held, mlir::ArrayAttr accesses,
                     function_ref<bool(unsigned)> guarded = nullptr);

/// Reads one entry of an op's `ranges`: begin and end of each shard.
std::vector<Interval> rangesFrom(Attribute bounds);

/// Constraint C<number>: outputs over inputs.
LogicalResult verifyInPlace(Operation *op, ArrayRef<int32_t> inPlace,
                            mlir::ArrayAttr accesses, unsigned number);

/// Axis names of every loop, as indices.
SmallVector<SmallVector<unsigned>> axisIndicesOf(mlir::ArrayAttr axes,
                                                 const Mesh &mesh);

} // namespace meshloom::spmd
