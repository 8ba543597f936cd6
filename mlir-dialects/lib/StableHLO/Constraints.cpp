// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared constraints, and their messages.

#include "Constraints.h"

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "llvm/ADT/SmallSet.h"

using namespace meshloom;
using mlir::ShapedType;
using mlir::quant::QuantizedType;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool meshloom::agree(int64_t dim, int64_t other) {
  return dim == other || ShapedType::isDynamic(dim) ||
         ShapedType::isDynamic(other);
}

bool meshloom::agree(ArrayRef<int64_t> shape, ArrayRef<int64_t> other) {
  return shape.size() == other.size() &&
         llvm::all_of(llvm::zip_equal(shape, other), [](auto dims) {
           return agree(std::get<0>(dims), std::get<1>(dims));
         });
}

bool meshloom::elementsAgree(Type type, Type other) {
  return elementOf(type) == elementOf(other);
}

bool meshloom::agree(Type type, Type other) {
  if (type == other)
    return true;
  if (auto tuple = dyn_cast<mlir::TupleType>(type)) {
    auto second = dyn_cast<mlir::TupleType>(other);
    return second &&
           agree(TypeRange(tuple.getTypes()), TypeRange(second.getTypes()));
  }
  auto a = dyn_cast<RankedTensorType>(type),
       b = dyn_cast<RankedTensorType>(other);
  return a && b && elementsAgree(a, b) && agree(a.getShape(), b.getShape());
}

bool meshloom::agree(TypeRange types, TypeRange others) {
  return types.size() == others.size() &&
         llvm::all_of(llvm::zip_equal(types, others), [](auto pair) {
           return agree(std::get<0>(pair), std::get<1>(pair));
         });
}

Type meshloom::elementOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

ArrayRef<int64_t> meshloom::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t meshloom::rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

SmallVector<int64_t> meshloom::numbersIn(mlir::DenseIntElementsAttr list) {
  auto numbers = list.getValues<llvm::APInt>();
  SmallVector<int64_t> result;
  if (!list.isSplat()) {
    for (const llvm::APInt &number : numbers)
      result.push_back(number.getSExtValue());
    return result;
  }
  int64_t count = 1;
  for (int64_t extent : list.getType().getShape())
    count = std::min(count * std::min<int64_t>(extent, 4), int64_t(4));
  if (count > 0)
    result.assign(size_t(count), (*numbers.begin()).getSExtValue());
  return result;
}

unsigned meshloom::floatBitsOf(Type element) {
  if (auto minifloat = dyn_cast<stablehlo::MinifloatType>(element))
    return minifloat.getWidth();
  auto format = dyn_cast<FloatType>(element);
  return format ? format.getWidth() : 0;
}

bool meshloom::isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  if (auto a = dyn_cast<QuantizedType>(from)) {
    auto b = dyn_cast<QuantizedType>(to);
    return b && isPromotable(a, b);
  }
  if (auto a = dyn_cast<mlir::ComplexType>(from)) {
    auto b = dyn_cast<mlir::ComplexType>(to);
    return b && isPromotable(a.getElementType(), b.getElementType());
  }
  if (auto a = dyn_cast<IntegerType>(from)) {
    auto b = dyn_cast<IntegerType>(to);
    return b && a.getSignedness() == b.getSignedness() &&
           a.getWidth() <= b.getWidth();
  }
  return floatBitsOf(from) > 0 && floatBitsOf(from) <= floatBitsOf(to);
}

int64_t meshloom::windowCount(int64_t extent, const WindowDim &window) {
  if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(window.size))
    return ShapedType::kDynamic;
  // Numbers of the program: their products may need more than 64 bits.
  using Wide = __int128;
  auto dilated = [](int64_t size, int64_t dilation) {
    return size == 0 ? Wide(0) : Wide(size - 1) * dilation + 1;
  };
  Wide padded = dilated(extent, window.baseDilation) + window.low + window.high;
  Wide reach = dilated(window.size, window.dilation);
  if (padded <= 0 || reach > padded)
    return 0;
  Wide count = (padded - reach) / window.stride + 1;
  return int64_t(std::min<Wide>(count, INT64_MAX));
}

//===----------------------------------------------------------------------===//
// Lists of numbers
//===----------------------------------------------------------------------===//

InFlightDiagnostic Constraints::violates(StringRef number) const {
  return op->emitOpError("violates constraint ") << number << ": ";
}

bool Constraints::size(StringRef number, StringRef name, size_t size,
                       int64_t expected) const {
  if (int64_t(size) == expected)
    return true;
  violates(number) << name << " has " << size << " entries, expected "
                   << expected;
  return false;
}

bool Constraints::inRange(StringRef number, StringRef name,
                          ArrayRef<int64_t> values, int64_t begin,
                          int64_t end) const {
  for (int64_t value : values)
    if (value < begin || value >= end) {
      violates(number) << name << " has " << value << ", expected " << begin
                       << " <= " << name << " < " << end;
      return false;
    }
  return true;
}

bool Constraints::atLeast(StringRef number, StringRef name,
                          ArrayRef<int64_t> values, int64_t least) const {
  for (int64_t value : values)
    if (value < least) {
      violates(number) << name << " has " << value << ", expected at least "
                       << least;
      return false;
    }
  return true;
}

bool Constraints::unique(StringRef number, StringRef name,
                         ArrayRef<int64_t> values) const {
  return unique(number, name, values, {});
}

bool Constraints::unique(StringRef number, StringRef name,
                         ArrayRef<int64_t> values,
                         ArrayRef<int64_t> more) const {
  llvm::SmallSet<int64_t, 8> seen;
  for (ArrayRef<int64_t> list : {values, more})
    for (int64_t value : list)
      if (!seen.insert(value).second) {
        violates(number) << name << " has " << value << " twice";
        return false;
      }
  return true;
}

bool Constraints::sorted(StringRef number, StringRef name,
                         ArrayRef<int64_t> values) const {
  if (llvm::is_sorted(values))
    return true;
  violates(number) << name << " must be sorted, but is [" << values << "]";
  return false;
}

bool Constraints::permutation(StringRef number, StringRef name,
                              ArrayRef<int64_t> values, int64_t rank) const {
  return size(number, name, values.size(), rank) &&
         inRange(number, name, values, 0, rank) && unique(number, name, values);
}

//===----------------------------------------------------------------------===//
// Types of operands and results
//===----------------------------------------------------------------------===//

bool Constraints::sameElement(StringRef number, TypeRange types) const {
  for (Type type : types)
    if (!elementsAgree(types.front(), type)) {
      violates(number) << "the element types of " << types.front() << " and "
                       << type << " differ";
      return false;
    }
  return true;
}

bool Constraints::sameShape(StringRef number, TypeRange types) const {
  for (Type type : types)
    if (!agree(cast<RankedTensorType>(types.front()).getShape(),
               cast<RankedTensorType>(type).getShape())) {
      violates(number) << "the shapes of " << types.front() << " and " << type
                       << " differ";
      return false;
    }
  return true;
}

bool Constraints::sameTypes(StringRef number, TypeRange types) const {
  for (Type type : types)
    if (!agree(types.front(), type)) {
      violates(number) << "the types " << types.front() << " and " << type
                       << " differ";
      return false;
    }
  return true;
}

bool Constraints::scalar(StringRef number, StringRef name, Value value) const {
  if (rankOf(value) == 0)
    return true;
  violates(number) << name << " must be a scalar, but is a " << value.getType();
  return false;
}

bool Constraints::shape(StringRef number, StringRef role, Type type,
                        ArrayRef<int64_t> expected) const {
  auto tensor = cast<RankedTensorType>(type);
  if (agree(tensor.getShape(), expected))
    return true;
  auto error = violates(number) << role << " must be [";
  llvm::interleaveComma(expected, error, [&](int64_t dim) {
    if (ShapedType::isDynamic(dim))
      error << "?";
    else
      error << dim;
  });
  error << "], but is a " << type;
  return false;
}

bool Constraints::precision(StringRef number,
                            std::optional<mlir::ArrayAttr> precision) const {
  if (!precision)
    return true;
  bool isPrecision = llvm::all_of(*precision, [](Attribute entry) {
    return isa_and_nonnull<stablehlo::PrecisionAttr, chlo::PrecisionAttr>(
        entry);
  });
  return require(isPrecision && precision->size() <= 2, number,
                 "precision_config must be two of DEFAULT, HIGH and HIGHEST");
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

std::optional<mlir::OperandRange> Constraints::returned(StringRef number,
                                                        Region &region) const {
  // Regions are of one block, by the ops' definitions.
  Block &block = region.front();
  if (!block.empty() && isa<stablehlo::ReturnOp>(block.back()))
    return block.back().getOperands();
  violates(number) << "a region must end in stablehlo.return";
  return std::nullopt;
}

bool Constraints::branch(StringRef number, Region &region,
                         TypeRange types) const {
  if (region.getNumArguments() != 0) {
    violates(number) << "a branch takes no arguments, but this one takes "
                     << region.getArgumentTypes();
    return false;
  }
  auto values = returned(number, region);
  if (!values)
    return false;
  if (agree(values->getTypes(), types))
    return true;
  violates(number) << "a branch returns (" << values->getTypes()
                   << "), but the results are (" << types << ")";
  return false;
}

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// How a function of scalars is written in messages.
static InFlightDiagnostic &writeFunction(InFlightDiagnostic &error,
                                         Region &region, TypeRange results) {
  return error << "the region is (" << region.getArgumentTypes() << ") -> ("
               << results << ")";
}

bool Constraints::scalars(StringRef number, Region &region, TypeRange elements,
                          bool interleaved, TypeRange results) const {
  auto values = returned(number, region);
  if (!values)
    return false;
  size_t count = elements.size();
  bool holds = region.getNumArguments() == 2 * count &&
               agree(values->getTypes(), results);
  for (size_t i = 0; holds && i < 2 * count; ++i) {
    Type type = region.getArgument(i).getType();
    holds = isScalar(type) &&
            elementsAgree(type, elements[interleaved ? i / 2 : i % count]);
  }
  if (holds)
    return true;
  auto error = violates(number);
  writeFunction(error, region, values->getTypes())
      << ", expected two scalars of each of (" << elements << ") and to return "
      << "(" << results << ")";
  return false;
}

bool Constraints::reducer(StringRef number, Region &region, TypeRange elements,
                          StringRef resultNumber, TypeRange results) const {
  auto values = returned(number, region);
  if (!values)
    return false;
  size_t count = elements.size();
  TypeRange yielded = values->getTypes();
  bool holds = region.getNumArguments() == 2 * count && yielded.size() == count;
  for (size_t i = 0; holds && i < count; ++i) {
    Type type = yielded[i];
    holds = isScalar(type) && agree(region.getArgument(i).getType(), type) &&
            agree(region.getArgument(i + count).getType(), type) &&
            isPromotable(elementOf(elements[i]), elementOf(type));
  }
  if (!holds) {
    auto error = violates(number);
    writeFunction(error, region, yielded)
        << ", expected two scalars of each of (" << elements
        << "), or of wider types, and to return one of each";
    return false;
  }
  for (auto [type, result] : llvm::zip_equal(yielded, results))
    if (!elementsAgree(type, result)) {
      violates(resultNumber) << "the region returns " << type
                             << ", but the result is a " << result;
      return false;
    }
  return true;
}

LogicalResult meshloom::verifySameTypes(Operation *op, StringRef number) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return success(Constraints(op).sameBaselineTypes(number, types));
}
