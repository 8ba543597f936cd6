// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of the steps, and those that need no file: tuples of custom calls,
// and constants whose numbers do not stand in them.
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::DenseResourceElementsAttr;
using mlir::SparseElementsAttr;
using mlir::func::FuncOp;

static bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

/// Returns whether `op` is a custom call with tuples among its results.
static bool givesTuple(Operation *op) {
  return isa<stablehlo::CustomCallOp>(op) &&
         llvm::any_of(op->getResultTypes(),
                      [](Type type) { return isa<mlir::TupleType>(type); });
}

/// The value of `op`, if it is a constant whose numbers stand elsewhere.
static mlir::ElementsAttr indirectValue(Operation *op) {
  if (!isa<stablehlo::ConstantOp, chlo::ConstantOp, sdy::ConstantOp>(op))
    return nullptr;
  auto value = op->getAttrOfType<mlir::ElementsAttr>("value");
  return isa_and_nonnull<DenseResourceElementsAttr, SparseElementsAttr>(value)
             ? value
             : nullptr;
}

bool importer::needsPreparing(ModuleOp module) {
  auto needs = [](Type type) {
    return holdsToken(type) || isFuture(type) || isDynamic(type);
  };
  auto result = module.walk([&](Operation *op) {
    auto func = dyn_cast<FuncOp>(op);
    auto call = dyn_cast<stablehlo::CustomCallOp>(op);
    bool found =
        givesTuple(op) || isPerturbedSolve(op) || indirectValue(op) ||
        isOpOfChlo(op) ||
        (call && (call.getCallTargetName() == "shape_assertion" ||
                  isOldLapackCall(call))) ||
        isa<stablehlo::DynamicBroadcastInDimOp, stablehlo::DynamicConvOp,
            stablehlo::DynamicGatherOp, stablehlo::DynamicIotaOp,
            stablehlo::DynamicPadOp, stablehlo::DynamicReshapeOp,
            stablehlo::GetDimensionSizeOp, stablehlo::RealDynamicSliceOp,
            stablehlo::SetDimensionSizeOp, chlo::ScanOp>(op) ||
        llvm::any_of(op->getResultTypes(), needs) ||
        (func && (llvm::any_of(func.getArgumentTypes(), needs) ||
                  llvm::any_of(func.getResultTypes(), needs)));
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted() || holdsQuantizedTypes(module) ||
         holdsNarrowTypes(module) || holdsFrontendShardings(module);
}

/// Appends what `type` consists of, tuples taken apart.
static void appendParts(Type type, SmallVectorImpl<Type> &parts) {
  auto tuple = dyn_cast<mlir::TupleType>(type);
  if (!tuple)
    return parts.push_back(type);
  for (Type element : tuple.getTypes())
    appendParts(element, parts);
}

/// The value of `type` that consists of the first ones of `parts`, which are
/// taken from it.
static Value joined(OpBuilder &b, Location loc, Type type,
                    ArrayRef<Value> &parts) {
  auto tuple = dyn_cast<mlir::TupleType>(type);
  if (!tuple) {
    Value first = parts.front();
    parts = parts.drop_front();
    return first;
  }
  SmallVector<Value> elements;
  for (Type element : tuple.getTypes())
    elements.push_back(joined(b, loc, element, parts));
  OperationState state(loc, "stablehlo.tuple", elements, type);
  return b.create(state)->getResult(0);
}

/// Custom calls give several results instead of a tuple, as JAX wrote until
/// early 2023.
static void takeTuplesApart(ModuleOp module) {
  SmallVector<Operation *> calls;
  module.walk([&](Operation *op) {
    if (givesTuple(op))
      calls.push_back(op);
  });
  for (Operation *call : calls) {
    SmallVector<Type> types;
    for (Type type : call->getResultTypes())
      appendParts(type, types);
    mlir::NamedAttrList attributes(call->getAttrs());
    // These are about the tuple, or there with those that are.
    attributes.erase("operand_layouts");
    attributes.erase("result_layouts");
    attributes.erase("output_operand_aliases");
    OpBuilder b(call);
    OperationState state(call->getLoc(), call->getName().getStringRef(),
                         call->getOperands(), types, attributes.getAttrs());
    SmallVector<Value> results(b.create(state)->getResults());
    ArrayRef<Value> parts = results;
    for (mlir::OpResult result : call->getResults())
      result.replaceAllUsesWith(
          joined(b, call->getLoc(), result.getType(), parts));
    call->erase();
  }
  if (calls.empty())
    return;
  module.walk<mlir::WalkOrder::PreOrder>([](stablehlo::GetTupleElementOp op) {
    auto tuple = op.getOperand().getDefiningOp<stablehlo::TupleOp>();
    if (!tuple)
      return;
    op.replaceAllUsesWith(Value(tuple.getVal()[op.getIndex()]));
    op.erase();
  });
  // Tuples that are not used as such use nothing.
  SmallVector<stablehlo::TupleOp> tuples;
  module.walk([&](stablehlo::TupleOp op) { tuples.push_back(op); });
  for (stablehlo::TupleOp tuple : llvm::reverse(tuples))
    if (tuple->use_empty())
      tuple.erase();
}

/// Returns the bytes of an element in a resource: whole ones, also for a bool.
/// 0: not known (numbers of a few bits, which tools pack in different ways).
static int64_t bytesOf(Type element) {
  if (auto complex = dyn_cast<mlir::ComplexType>(element))
    return 2 * bytesOf(complex.getElementType());
  if (element.isInteger(1))
    return 1;
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return 0;
  return element.getIntOrFloatBitWidth() / 8;
}

static FailureOr<DenseElementsAttr>
readResource(Operation *op, DenseResourceElementsAttr value) {
  StringRef key = value.getRawHandle().getKey();
  mlir::ShapedType type = value.getType();
  const mlir::AsmResourceBlob *blob = value.getRawHandle().getBlob();
  if (!blob) {
    op->emitError("there is no data for dense_resource<")
        << key << ">: "
        << (key.contains("elided")
                ? "the program was printed without its large constants; print "
                  "it with them"
                : "dialect_resources, at the end of the file, does not have "
                  "it");
    return failure();
  }
  const int64_t elementBytes = bytesOf(type.getElementType());
  ArrayRef<char> data = blob->getData();
  if (elementBytes == 0)
    return op->emitError("the value of a constant of type ")
           << type << " must be written out (dense<...>)";
  if (int64_t(data.size()) != elementBytes * type.getNumElements())
    return op->emitError("dense_resource<")
           << key << "> has " << data.size() << " bytes; a constant of type "
           << type << " has " << elementBytes * type.getNumElements();
  if (!type.getElementType().isInteger(1))
    return DenseElementsAttr::getFromRawBuffer(type, data);
  SmallVector<bool> bools(llvm::map_range(data, [](char c) { return c != 0; }));
  return DenseElementsAttr::get(type, bools);
}

static DenseElementsAttr writeOut(SparseElementsAttr value) {
  SmallVector<Attribute> elements(value.getValues<Attribute>());
  return DenseElementsAttr::get(value.getType(), elements);
}

/// Constants whose numbers do not stand in the op become dense ones: those of a
/// resource (dense_resource<name>), which are at the end of the file, as
/// PyTorch's exporters print weights, and sparse ones.
static LogicalResult writeConstantsDense(ModuleOp module) {
  auto result = module.walk([&](Operation *op) -> mlir::WalkResult {
    mlir::ElementsAttr value = indirectValue(op);
    if (!value)
      return mlir::WalkResult::advance();
    if (auto sparse = dyn_cast<SparseElementsAttr>(value)) {
      op->setAttr("value", writeOut(sparse));
      return mlir::WalkResult::advance();
    }
    auto dense = readResource(op, cast<DenseResourceElementsAttr>(value));
    if (failed(dense))
      return failure();
    op->setAttr("value", *dense);
    return mlir::WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The records of Shardy's propagation are about operands by number, which the
/// steps change, and ask for nothing.
static void forgetPropagation(ModuleOp module) {
  module.walk([](Operation *op) {
    for (StringRef name :
         {"sdy.propagation_edges", "sdy.block_arg_propagation_edges",
          "sdy.result_propagation_edges"})
      op->removeDiscardableAttr(name);
  });
}

LogicalResult importer::prepare(ModuleOp module) {
  forgetPropagation(module);
  raiseComposites(module);
  if (failed(readFrontendShardings(module)))
    return failure();
  if (failed(awaitFutures(module)))
    return failure();
  if (failed(dropTokens(module)))
    return failure();
  takeTuplesApart(module);
  if (failed(writeConstantsDense(module)))
    return failure();
  if (failed(makeShapesStatic(module)))
    return failure();
  if (failed(writeScansAsLoops(module)))
    return failure();
  if (failed(updateLapackCalls(module)))
    return failure();
  if (failed(writePerturbedSolvesAsLoops(module)))
    return failure();
  if (failed(storeQuantizedTypes(module)))
    return failure();
  if (failed(unpackNarrowTypes(module)))
    return failure();
  // The parser has verified the ops that these were made of.
  return mlir::verify(module);
}
