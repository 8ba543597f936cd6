// What a tensor type says in each of its three states, and element types.

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

static RankedTensorType tensorOf(Type type) {
  if (auto variable = dyn_cast<VariableType>(type))
    return variable.getTensorType();
  return dyn_cast<RankedTensorType>(type);
}

static LayoutEncodingInterface encodingOf(RankedTensorType type) {
  if (!type)
    return {};
  return mlir::dyn_cast_or_null<LayoutEncodingInterface>(type.getEncoding());
}

LayoutAttr layoutAttrOf(Type type) {
  auto encoding = encodingOf(tensorOf(type));
  return encoding ? cast<LayoutAttr>(encoding.getEncodedLayout())
                  : LayoutAttr();
}

SmallVector<int64_t> globalShape(Type type) {
  RankedTensorType tensor = tensorOf(type);
  if (auto encoding = encodingOf(tensor))
    return encoding.getGlobalShape(tensor);
  return SmallVector<int64_t>(tensor.getShape());
}

bool isShard(Type type) {
  auto encoding = encodingOf(tensorOf(type));
  return encoding && encoding.isShard();
}

Type elementTypeOf(Type type) {
  return tensorOf(type).getElementType();
}

RankedTensorType undecided(Type type) {
  return undecided(type, elementTypeOf(type));
}

RankedTensorType undecided(Type type, Type elementType) {
  return RankedTensorType::get(globalShape(type), elementType);
}

RankedTensorType undecided(Type type, ArrayRef<int64_t> globalShape) {
  return RankedTensorType::get(globalShape, elementTypeOf(type));
}

std::optional<DType> dtypeOf(Type type) {
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isBF16())
    return DType::BF16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  if (integer.isUnsigned())
    return integer.getWidth() == 8    ? std::optional(DType::UI8)
           : integer.getWidth() == 32 ? std::optional(DType::UI32)
                                      : std::nullopt;
  if (!integer.isSignless())
    return std::nullopt;
  switch (integer.getWidth()) {
  case 1:
    return DType::I1;
  case 8:
    return DType::I8;
  case 32:
    return DType::I32;
  case 64:
    return DType::I64;
  default:
    return std::nullopt;
  }
}

Type typeOf(MLIRContext *context, DType type) {
  auto unsignedInteger = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (type) {
  case DType::F32:
    return FloatType::getF32(context);
  case DType::F64:
    return FloatType::getF64(context);
  case DType::BF16:
    return FloatType::getBF16(context);
  case DType::I1:
    return IntegerType::get(context, 1);
  case DType::I8:
    return IntegerType::get(context, 8);
  case DType::I32:
    return IntegerType::get(context, 32);
  case DType::I64:
    return IntegerType::get(context, 64);
  case DType::UI8:
    return unsignedInteger(8);
  case DType::UI32:
    return unsignedInteger(32);
  }
  llvm_unreachable("covered switch");
}

} // namespace meshloom::dtensor
