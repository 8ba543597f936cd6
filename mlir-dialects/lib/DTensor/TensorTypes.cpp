// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of a tensor type in each of its three states, and element types.

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

static RankedTensorType tensorOf(Type type) {
  if (auto variable = dyn_cast<VariableType>(type))
    return variable.getTensorType();
  return dyn_cast<RankedTensorType>(type);
}

namespace {
/// The encoding of a tensor type, if it is one of ours. Every pass asks for it,
/// of every value: the interface's methods are looked up once, where dyn_cast
/// does so twice and, with assertions, takes the name of the class apart.
class Encoding {
public:
  using Methods = detail::LayoutEncodingInterfaceInterfaceTraits::Concept;
  explicit Encoding(RankedTensorType type)
      : attribute(type ? type.getEncoding() : Attribute()),
        methods(attribute ? attribute.getAbstractAttribute()
                                .getInterface<LayoutEncodingInterface>()
                          : nullptr) {}
  explicit operator bool() const { return methods; }
  LayoutAttr layout() const {
    return cast<LayoutAttr>(methods->getEncodedLayout(methods, attribute));
  }
  SmallVector<int64_t> globalShape(RankedTensorType type) const {
    return methods->getGlobalShape(methods, attribute, type);
  }
  bool isShard() const { return methods->isShard(methods, attribute); }
  Windows windows() const { return methods->getWindows(methods, attribute); }

private:
  Attribute attribute;
  const Methods *methods;
};
} // namespace

LayoutAttr layoutAttrOf(Type type) {
  const Encoding encoding(tensorOf(type));
  return encoding ? encoding.layout() : LayoutAttr();
}

SmallVector<int64_t> globalShape(Type type) {
  RankedTensorType tensor = tensorOf(type);
  if (const Encoding encoding(tensor); encoding)
    return encoding.globalShape(tensor);
  return SmallVector<int64_t>(tensor.getShape());
}

bool isShard(Type type) {
  const Encoding encoding(tensorOf(type));
  return encoding && encoding.isShard();
}

Windows windowsOf(Type type) {
  const Encoding encoding(tensorOf(type));
  return encoding ? encoding.windows() : Windows();
}

Type elementTypeOf(Type type) {
  return tensorOf(type).getElementType();
}

Type partTypeOf(Type type) {
  Type element = elementTypeOf(type);
  auto complex = dyn_cast<mlir::ComplexType>(element);
  return complex ? complex.getElementType() : element;
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
  for (unsigned index = 0; index <= unsigned(lastDType); ++index)
    if (typeOf(type.getContext(), DType(index)) == type)
      return DType(index);
  return std::nullopt;
}

Type typeOf(MLIRContext *context, DType type) {
  switch (type) {
  case DType::F16:
    return FloatType::getF16(context);
  case DType::F32:
    return FloatType::getF32(context);
  case DType::F64:
    return FloatType::getF64(context);
  case DType::BF16:
    return FloatType::getBF16(context);
  case DType::C64:
  case DType::C128:
    return mlir::ComplexType::get(typeOf(context, partOf(type)));
  case DType::I1:
    return IntegerType::get(context, 1);
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return IntegerType::get(context, 8 * byteWidth(type));
  case DType::UI8:
  case DType::UI16:
  case DType::UI32:
  case DType::UI64:
    return IntegerType::get(context, 8 * byteWidth(type),
                            IntegerType::Unsigned);
  }
  (void)byteWidth(type); // throws: it is none of them
  llvm_unreachable("a type has a width");
}

} // namespace meshloom::dtensor
