// The spmd dialect: registration, the shard attribute, and types of shards.

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::spmd;
using dtensor::LayoutAttr;

#include "meshloom/Dialect/SPMD/SPMDDialect.cpp.inc"
#include "meshloom/Dialect/SPMD/SPMDEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/SPMD/SPMDAttrs.cpp.inc"

void SPMDDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/SPMD/SPMDOps.cpp.inc"
      >();
}

void SPMDDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "meshloom/Dialect/SPMD/SPMDAttrs.cpp.inc"
      >();
}

Operation *SPMDDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return builder.getContext()
      ->getLoadedDialect<dtensor::DTensorDialect>()
      ->materializeConstant(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// ShardAttr
//===----------------------------------------------------------------------===//

LogicalResult ShardAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> globalShape,
                                LayoutAttr layout) {
  if (globalShape.size() == layout.getRank())
    return success();
  return emitError() << "violates constraint C1 of #spmd.shard: the global "
                        "shape has "
                     << globalShape.size() << " dims, the layout "
                     << layout.getRank();
}

Attribute ShardAttr::getEncodedLayout() const {
  return getLayout();
}
SmallVector<int64_t> ShardAttr::getGlobalShape(RankedTensorType) const {
  return SmallVector<int64_t>(getGlobalShape());
}
bool ShardAttr::isShard() const {
  return true;
}

static Shape localShape(ArrayRef<int64_t> global, LayoutAttr layout) {
  return layout.getLayout().local_shape(Shape(global.begin(), global.end()));
}

LogicalResult
ShardAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                          function_ref<InFlightDiagnostic()> emitError) const {
  Shape expected = localShape(getGlobalShape(), getLayout());
  if (shape == ArrayRef<int64_t>(expected))
    return success();
  InFlightDiagnostic error = emitError();
  error << "violates constraint C2 of #spmd.shard: the local shape must be [";
  llvm::interleaveComma(expected, error);
  return error << "]";
}

//===----------------------------------------------------------------------===//
// Types of shards
//===----------------------------------------------------------------------===//

Layout spmd::layoutOf(Type type) {
  LayoutAttr layout = dtensor::layoutAttrOf(type);
  assert(layout && "the layout of this type is not decided");
  return layout.getLayout();
}

RankedTensorType spmd::shardType(ArrayRef<int64_t> global, Type elementType,
                                 LayoutAttr layout) {
  return RankedTensorType::get(
      localShape(global, layout), elementType,
      ShardAttr::get(elementType.getContext(), global, layout));
}
