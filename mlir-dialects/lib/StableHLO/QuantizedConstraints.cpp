// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constraints on quantized types: where the parameters of a quantization may
// differ, and which of them products allow.

#include "Constraints.h"

#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace meshloom;
using mlir::quant::QuantizedType;
using mlir::quant::UniformQuantizedPerAxisType;
using mlir::quant::UniformQuantizedType;

static QuantizedType quantizedOf(Type type) {
  return dyn_cast<QuantizedType>(elementOf(type));
}

static UniformQuantizedPerAxisType perAxisOf(Type type) {
  return dyn_cast<UniformQuantizedPerAxisType>(elementOf(type));
}

/// Returns whether both store integers of the same range and express the same
/// floats.
static bool haveSameStorage(QuantizedType a, QuantizedType b) {
  return a.isSigned() == b.isSigned() &&
         a.getStorageType() == b.getStorageType() &&
         a.getStorageTypeMin() == b.getStorageTypeMin() &&
         a.getStorageTypeMax() == b.getStorageTypeMax() &&
         a.getExpressedType() == b.getExpressedType();
}

bool meshloom::haveSameBaseline(Type type, Type other) {
  if (elementsAgree(type, other))
    return true;
  QuantizedType a = quantizedOf(type), b = quantizedOf(other);
  if (!a || !b || !haveSameStorage(a, b))
    return false;
  auto first = perAxisOf(type), second = perAxisOf(other);
  if (first && second)
    return first.getQuantizedDimension() == second.getQuantizedDimension();
  return !first && !second;
}

bool meshloom::isQuantized(Type type) {
  return bool(quantizedOf(type));
}

bool meshloom::isPromotable(QuantizedType from, QuantizedType to) {
  return from.getStorageTypeIntegralWidth() <=
             to.getStorageTypeIntegralWidth() &&
         from.getExpressedType() == to.getExpressedType();
}

bool Constraints::sameBaseline(StringRef number, TypeRange types) const {
  for (Type type : types)
    if (!haveSameBaseline(types.front(), type)) {
      violates(number) << "the element types of " << types.front() << " and "
                       << type << " differ";
      return false;
    }
  return true;
}

bool Constraints::sameBaselineTypes(StringRef number, TypeRange types) const {
  for (Type type : types)
    if (!haveSameBaseline(types.front(), type) ||
        !agree(cast<RankedTensorType>(types.front()).getShape(),
               cast<RankedTensorType>(type).getShape())) {
      violates(number) << "the types " << types.front() << " and " << type
                       << " differ";
      return false;
    }
  return true;
}

bool Constraints::movesElements(StringRef number, Type from, Type to,
                                bool mayRepeat) const {
  auto first = perAxisOf(from), second = perAxisOf(to);
  if (!first || !second)
    return sameElement(number, {from, to});
  auto agreeing = [&](auto a, auto b) {
    return a == b ||
           (mayRepeat && a.size() == 1 &&
            llvm::all_of(b, [&](auto entry) { return entry == a.front(); }));
  };
  if (haveSameStorage(first, second) &&
      agreeing(first.getScales(), second.getScales()) &&
      agreeing(first.getZeroPoints(), second.getZeroPoints()))
    return true;
  violates(number) << "the quantizations of " << from << " and " << to
                   << " differ in more than the dim that they go along";
  return false;
}

bool Constraints::movesDim(StringRef number, Type from, Type to,
                           function_ref<bool(int64_t, int64_t)> fits) const {
  auto first = perAxisOf(from), second = perAxisOf(to);
  if (!first || !second)
    return true;
  const int64_t dim = first.getQuantizedDimension(),
                resultDim = second.getQuantizedDimension();
  if (dim < cast<RankedTensorType>(from).getRank() &&
      resultDim < cast<RankedTensorType>(to).getRank() && fits(dim, resultDim))
    return true;
  violates(number) << "the operand is quantized along dim " << dim
                   << ", which is not dim " << resultDim
                   << " of the result, along which that is quantized";
  return false;
}

bool Constraints::zeroPointsAreZero(StringRef number, Type type) const {
  auto uniform = dyn_cast<UniformQuantizedType>(elementOf(type));
  auto perAxis = perAxisOf(type);
  bool holds =
      (!uniform || uniform.getZeroPoint() == 0) &&
      (!perAxis || llvm::all_of(perAxis.getZeroPoints(),
                                [](int64_t point) { return point == 0; }));
  return require(holds, number, "the zero points of rhs must be 0");
}

bool Constraints::quantizedProduct(const QuantizedProduct &product) const {
  QuantizedType lhs = quantizedOf(product.lhs), rhs = quantizedOf(product.rhs),
                result = quantizedOf(product.result);
  if (!lhs && !rhs && !result)
    return true;
  auto number = [&](int place) {
    return "C" + std::to_string(product.firstNumber + place);
  };
  if (!require(rhs && bool(lhs) == bool(result), number(0),
               "a quantized product has a quantized rhs, and its result is "
               "quantized if and only if its lhs is"))
    return false;
  if (auto perAxis = perAxisOf(product.rhs);
      perAxis && !product.verifyRhs(perAxis.getQuantizedDimension()))
    return false;
  if (auto perAxis = perAxisOf(product.result);
      perAxis && product.verifyResult &&
      !product.verifyResult(perAxis.getQuantizedDimension()))
    return false;
  if (!lhs) {
    if (elementOf(product.lhs) == rhs.getExpressedType() &&
        elementOf(product.result) == rhs.getExpressedType())
      return true;
    violates(number(6)) << "rhs expresses " << rhs.getExpressedType()
                        << ", but lhs has elements of type "
                        << elementOf(product.lhs) << " and the result of type "
                        << elementOf(product.result);
    return false;
  }
  return require(lhs.isSigned() == rhs.isSigned() &&
                     lhs.getStorageType() == rhs.getStorageType(),
                 number(3), "lhs and rhs are stored as different integers") &&
         require(lhs.getExpressedType() == rhs.getExpressedType() &&
                     lhs.getExpressedType() == result.getExpressedType(),
                 number(4),
                 "lhs, rhs and the result express different types") &&
         require(perAxisOf(product.rhs) || !perAxisOf(product.result),
                 number(5),
                 "the result is quantized along a dim, but rhs as a whole");
}
