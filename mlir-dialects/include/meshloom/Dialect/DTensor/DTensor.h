// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dtensor dialect: math on global tensors whose layouts say how they are
// cut over a mesh. This is the one header to include; the .td files beside it
// are the reference (docs/Ops/DTensor.md is generated from them).
#pragma once

#include "meshloom/Core/ShardingRule.h"
#include "meshloom/Dialect/DTensor/OpInterfaces.h"
#include "meshloom/Dialect/DTensor/Windows.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace meshloom {
inline llvm::hash_code hash_value(const Partial &partial) {
  return llvm::hash_combine(partial.axis, unsigned(partial.kind));
}
} // namespace meshloom

namespace meshloom::dtensor {
class MeshAttr;
class LayoutAttr;

//===----------------------------------------------------------------------===//
// What a tensor type says. All take a ranked tensor or a variable of one.
//===----------------------------------------------------------------------===//

/// The layout, or null where it is not decided.
LayoutAttr layoutAttrOf(Type type);
/// The shape of the global value, in all three type states.
SmallVector<int64_t> globalShape(Type type);
/// Returns whether `type` describes one device's shard.
bool isShard(Type type);
/// Returns the range of each dim that devices hold where it is not their block:
/// for the result of a halo exchange.
Windows windowsOf(Type type);
Type elementTypeOf(Type type);
/// The element type; of complex numbers, that of their parts.
Type partTypeOf(Type type);

/// The type of a global value whose layout is not decided: `type`'s global
/// shape and element type, or the ones given.
RankedTensorType undecided(Type type);
RankedTensorType undecided(Type type, Type elementType);
RankedTensorType undecided(Type type, ArrayRef<int64_t> globalShape);

/// The mesh of `module`: the one of the first layout in it, else of its
/// `dtensor.mesh` attribute, else one device `d = 1`.
MeshAttr meshOf(ModuleOp module);

/// The Core element type of an MLIR one, if Meshloom has it, and back.
std::optional<DType> dtypeOf(Type elementType);
Type typeOf(MLIRContext *context, DType type);

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The rule that `text` states, bound to the shapes of `op`. `...` stands for
/// the dims that the ranks leave over.
ShardingRule ruleFromText(Operation *op, StringRef text,
                          PartialFlow flow = PartialFlow::None,
                          ArrayRef<unsigned> carriers = {},
                          ReduceKind kind = ReduceKind::Sum);

/// The rule of an op that moves elements, from its index maps: a dim that is
/// not the result's, one to one, is a window of it. `carriers` as in a rule.
ShardingRule ruleFromIndexMaps(Operation *op, ArrayRef<unsigned> carriers = {});

//===----------------------------------------------------------------------===//
// What ops say (OpInterfaces.td)
//===----------------------------------------------------------------------===//

/// Returns whether `op`, which may be null, costs nothing to make again, in any
/// layout.
bool isFreeToMake(Operation *op);
/// Returns whether `op` is one function of one element of each operand.
bool isPerElement(Operation *op);
/// Returns the cost of an elementwise op that takes `flops` of real numbers.
int64_t elementFlops(Operation *op, int64_t flops);

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// S1 and S2 of the dialect's description, and S3 on shards.
LogicalResult verifyShardedOp(Operation *op);

/// S3: every operand and result of a sharded op is laid out as its rule says.
/// Ops that change layouts, and types that are not decided, pass.
LogicalResult verifyLayouts(Operation *op);

/// "violates constraint C<number>: ...", for verifiers.
InFlightDiagnostic violates(Operation *op, unsigned number);

LogicalResult verifyElementwise(Operation *op);
LogicalResult verifySameElements(Operation *op);

/// See DTensorBase.td.
template <typename ConcreteOp>
class Elementwise : public mlir::OpTrait::TraitBase<ConcreteOp, Elementwise> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifyElementwise(op);
  }
};
template <typename ConcreteOp>
class SameElements : public mlir::OpTrait::TraitBase<ConcreteOp, SameElements> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return verifySameElements(op);
  }
};
} // namespace meshloom::dtensor

#include "meshloom/Dialect/DTensor/DTensorEnums.h.inc"
#include "meshloom/Dialect/DTensor/LayoutEncodingInterface.h.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/DTensor/DTensorAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "meshloom/Dialect/DTensor/DTensorTypes.h.inc"

#include "meshloom/Dialect/DTensor/DTensorDialect.h.inc"
#include "meshloom/Dialect/DTensor/OpInterfaces.h.inc"

#define GET_OP_CLASSES
#include "meshloom/Dialect/DTensor/DTensorOps.h.inc"
