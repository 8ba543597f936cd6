// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps that a program goes through before it is imported: constructs that
// are a way of writing others are written as those, in StableHLO itself.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom::importer {

/// How many ops a program may have when all calls in it are inlined.
constexpr int64_t mostOps = 1 << 20;
/// How many ops the program has when all calls in it are inlined. Reports
/// functions that call themselves, and what stands for more than can be
/// imported in reasonable time.
FailureOr<int64_t> inlinedSize(ModuleOp module);

/// Returns whether the program has parts on meshes of their own (mpmd).
bool holdsFragments(ModuleOp module);
/// Makes the program on global tensors over one mesh of it, on a module that is
/// lost after an error.
LogicalResult inlineFragments(ModuleOp module);

/// Returns whether prepare() would do anything.
bool needsPreparing(ModuleOp module);

/// Rewrites `module` in place: composites of chlo's ops are those ops,
/// annotations are attributes, constants are dense, shapes that are dynamic
/// only in form are static, no value is a future or a token, custom calls give
/// no tuples, scans are loops, old calls of LAPACK are today's, quantized
/// values are integers, and narrow numbers (f8, int4) are bytes that arithmetic
/// unpacks. Fails with a diagnostic.
LogicalResult prepare(ModuleOp module);

/// Returns whether annotations of Shardy stand in `mhlo.frontend_attributes`.
bool holdsFrontendShardings(ModuleOp module);

// The steps, one file each. None leaves a program that the next cannot read.
/// Returns whether `op` is a composite that stands for one of chlo's ops.
bool isOpOfChlo(Operation *op);
void raiseComposites(ModuleOp module);
LogicalResult readFrontendShardings(ModuleOp module);
bool isFuture(Type type);
LogicalResult awaitFutures(ModuleOp module);
/// Returns whether `type` is a token or a tuple with one in it.
bool holdsToken(Type type);
LogicalResult dropTokens(ModuleOp module);
LogicalResult makeShapesStatic(ModuleOp module);
LogicalResult writeScansAsLoops(ModuleOp module);
/// Calls of LAPACK in the form of older releases of JAX.
bool isOldLapackCall(Operation *op);
LogicalResult updateLapackCalls(ModuleOp module);
bool isPerturbedSolve(Operation *op);
LogicalResult writePerturbedSolvesAsLoops(ModuleOp module);
bool holdsQuantizedTypes(ModuleOp module);
LogicalResult storeQuantizedTypes(ModuleOp module);
bool holdsNarrowTypes(ModuleOp module);
LogicalResult unpackNarrowTypes(ModuleOp module);

/// Returns whether `op` only moves elements, whatever they are.
bool movesElements(Operation *op);
/// Returns whether an update computation gives its second argument: new
/// elements for old ones.
bool replaces(Region &region);

/// The custom calls that unpackNarrowTypes() makes, from bytes to numbers and
/// back, and their attribute that says what is in the bytes.
constexpr StringRef unpackTarget = "meshloom.unpack";
constexpr StringRef packTarget = "meshloom.pack";
/// From bytes of f8 to bytes in the order of the numbers, and back: for the
/// largest, or the smallest, of them.
constexpr StringRef orderForMax = "meshloom.order_for_max";
constexpr StringRef unorderForMax = "meshloom.unorder_for_max";
constexpr StringRef orderForMin = "meshloom.order_for_min";
constexpr StringRef unorderForMin = "meshloom.unorder_for_min";
constexpr StringRef narrowFormatName = "meshloom.format";

} // namespace meshloom::importer
