// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The builder that the bodies of ops are written with.
#include "meshloom/Engine/Emitter.h"

#include "meshloom/Autodiff/Autodiff.h"

#include "llvm/ADT/APSInt.h"

namespace meshloom::detail {

Value Emitter::number(Type elementType, double real, int64_t integer,
                      ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, elementType);
  if (!isa<IntegerType>(elementType))
    return splat(type, real);
  return splat(type, llvm::APInt(64, uint64_t(integer), /*isSigned=*/true)
                         .trunc(elementType.getIntOrFloatBitWidth()));
}

Value Emitter::real(Type elementType, double value, ArrayRef<int64_t> shape) {
  if (!isa<IntegerType>(elementType))
    return number(elementType, value, 0, shape);
  llvm::APSInt integer(elementType.getIntOrFloatBitWidth(),
                       elementType.isUnsignedInteger() ||
                           elementType.isInteger(1));
  bool exact = false;
  llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero,
                                        &exact);
  return number(elementType, value,
                int64_t(integer.extOrTrunc(64).getZExtValue()), shape);
}

Value Emitter::broadcastTo(Value value, ArrayRef<int64_t> target) {
  ArrayRef<int64_t> source = shape(value);
  if (source == target)
    return value;
  int64_t added = int64_t(target.size()) - int64_t(source.size());
  SmallVector<int64_t> dims;
  for (size_t d = 0; d < source.size(); ++d)
    dims.push_back(int64_t(d) + added);
  return broadcast(value, target, dims);
}

std::pair<Value, Value> Emitter::broadcastTogether(Value a, Value b) {
  const size_t rank = std::max(shape(a).size(), shape(b).size());
  SmallVector<int64_t> target(rank, 1);
  for (ArrayRef<int64_t> source : {shape(a), shape(b)})
    for (auto [d, extent] : llvm::enumerate(source))
      if (extent != 1)
        target[rank - source.size() + d] = extent;
  return {broadcastTo(a, target), broadcastTo(b, target)};
}

Value Emitter::stopped(Value value) {
  value.getDefiningOp()->setAttr(stopGradientAttr, getUnitAttr());
  return value;
}

Value Emitter::shiftFor(Value value, ArrayRef<int64_t> dims) {
  return stopped(reduce(ReduceKind::Max, value, dims));
}

Value Emitter::isHot(Value indices, ArrayRef<int64_t> shape) {
  int64_t last = int64_t(shape.size()) - 1;
  // A type that counts that far needs no check.
  if (DType type = *dtensor::dtypeOf(elementType(indices));
      shape.back() - 1 > largestInteger(type))
    indices = convert(indices, getIntegerType(64));
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
  return compare(dtensor::ComparisonDirection::EQ,
                 broadcast(indices, shape, dims),
                 iota(shape, last, elementType(indices)));
}

int64_t largestInteger(DType type) {
  const unsigned bits = 8 * byteWidth(type);
  if (bits == 64)
    return std::numeric_limits<int64_t>::max();
  return (int64_t(1) << (isSigned(type) ? bits - 1 : bits)) - 1;
}

double largestFinite(DType type) {
  return type == DType::F64    ? std::numeric_limits<double>::max()
         : type == DType::F16  ? 65504
         : type == DType::BF16 ? 0x1.fep127
                               : double(std::numeric_limits<float>::max());
}

} // namespace meshloom::detail
