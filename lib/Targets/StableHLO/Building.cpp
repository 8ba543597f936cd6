// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building StableHLO ops, and what devices hold of a value.
#include "Exporter.h"

#include "llvm/ADT/APFloat.h"

namespace meshloom::exporting {

//===----------------------------------------------------------------------===//
// Held
//===----------------------------------------------------------------------===//

Held Held::whole(ArrayRef<int64_t> shape, Type element, int64_t devices) {
  Held held;
  held.global.assign(shape.begin(), shape.end());
  held.buffer = held.global;
  held.element = element;
  for (int64_t extent : shape)
    held.ranges.emplace_back(devices, Interval{0, extent});
  return held;
}

Held Held::of(Type type, int64_t devices) {
  auto tensor = cast<RankedTensorType>(type);
  if (!dtensor::isShard(type))
    return whole(tensor.getShape(), tensor.getElementType(), devices);
  Held held;
  held.global = dtensor::globalShape(type);
  held.buffer.assign(tensor.getShape().begin(), tensor.getShape().end());
  held.element = tensor.getElementType();
  held.ranges.assign(held.rank(), std::vector<Interval>(devices));
  Layout layout = spmd::layoutOf(type);
  Windows windows = dtensor::windowsOf(type);
  Shape global(held.global.begin(), held.global.end());
  for (int64_t device = 0; device < devices; ++device) {
    Box box = heldBox(layout, global, windows, device);
    for (unsigned dim = 0; dim < held.rank(); ++dim)
      held.ranges[dim][device] = {box.offset[dim],
                                  box.offset[dim] + box.extent[dim]};
  }
  return held;
}

bool Held::isWhole(unsigned dim) const {
  return buffer[dim] == global[dim] &&
         llvm::all_of(ranges[dim], [&](Interval range) {
           return range == Interval{0, global[dim]};
         });
}

bool Held::isWhole() const {
  for (unsigned dim = 0; dim < rank(); ++dim)
    if (!isWhole(dim))
      return false;
  return true;
}

bool Held::isPadded(unsigned dim) const {
  return llvm::any_of(
      ranges[dim], [&](Interval range) { return range.size() < buffer[dim]; });
}

bool Held::agrees(unsigned dim, const Held &other, unsigned otherDim) const {
  return buffer[dim] == other.buffer[otherDim] &&
         ranges[dim] == other.ranges[otherDim];
}

void Held::setDim(unsigned dim, const Held &other, unsigned otherDim) {
  global[dim] = other.global[otherDim];
  buffer[dim] = other.buffer[otherDim];
  ranges[dim] = other.ranges[otherDim];
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Exporter::Exporter(MLIRContext *context, const Mesh &mesh, bool describes)
    : b(context), loc(b.getUnknownLoc()), mesh(mesh), devices(mesh.size()),
      describes(describes) {}

NamedAttribute Exporter::attr(StringRef name, Attribute value) {
  return b.getNamedAttr(name, value);
}
NamedAttribute Exporter::list(StringRef name, ArrayRef<int64_t> value) {
  return b.getNamedAttr(name, b.getDenseI64ArrayAttr(value));
}
NamedAttribute Exporter::attr(StringRef name, int64_t value) {
  return b.getNamedAttr(name, b.getI64IntegerAttr(value));
}
NamedAttribute Exporter::fullPrecision() {
  Attribute highest = stablehlo::PrecisionAttr::get(
      b.getContext(), stablehlo::Precision::HIGHEST);
  return attr("precision_config", b.getArrayAttr({highest, highest}));
}

Operation *Exporter::op(StringRef name, mlir::TypeRange types,
                        mlir::ValueRange operands, Attrs attrs,
                        unsigned regions) {
  std::string full =
      name.contains('.') ? name.str() : ("stablehlo." + name).str();
  OperationState state(loc, full);
  state.addTypes(types);
  state.addOperands(operands);
  state.addAttributes(attrs);
  for (unsigned i = 0; i < regions; ++i)
    state.addRegion();
  return b.create(state);
}

Value Exporter::one(StringRef name, Type type, mlir::ValueRange operands,
                    Attrs attrs) {
  return op(name, type, operands, attrs)->getResult(0);
}

Value Exporter::constant(DenseElementsAttr value) {
  auto create = [&](DenseElementsAttr value) {
    return one("constant", value.getType(), {},
               attr("value", Attribute(value)));
  };
  if (!value.getElementType().isInteger(1) || value.isSplat())
    return create(value);
  // Releases of MLIR differ in how many bits an i1 of a long constant takes.
  SmallVector<int8_t> bytes;
  for (bool bit : value.getValues<bool>())
    bytes.push_back(bit);
  auto type = RankedTensorType::get(value.getType().getShape(), b.getI8Type());
  return convert(create(DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes))),
                 b.getI1Type());
}

static DenseElementsAttr scalarAttr(Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  if (auto complex = dyn_cast<mlir::ComplexType>(element)) {
    auto format = cast<FloatType>(complex.getElementType());
    llvm::APFloat real(value), imag(0.0);
    bool lost;
    for (llvm::APFloat *part : {&real, &imag})
      part->convert(format.getFloatSemantics(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
    return DenseElementsAttr::get(type,
                                  std::complex<llvm::APFloat>(real, imag));
  }
  if (isa<FloatType>(element))
    return DenseElementsAttr::get(
        type, Attribute(FloatAttr::get(cast<FloatType>(element), value)));
  return DenseElementsAttr::get(
      type, Attribute(IntegerAttr::get(element, int64_t(value))));
}

Value Exporter::zero(Type element) {
  return constant(scalarAttr(element, 0));
}

Value Exporter::number(Type integer, int64_t value, ArrayRef<int64_t> shape) {
  return constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, integer),
                             Attribute(IntegerAttr::get(integer, value))));
}

Value Exporter::identity(ReduceKind kind, Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  auto bits = [&](const llvm::APInt &value) {
    return constant(
        DenseElementsAttr::get(RankedTensorType::get({}, element),
                               Attribute(IntegerAttr::get(element, value))));
  };
  unsigned width = integer ? integer.getWidth() : 0;
  bool isUnsigned = integer && (integer.isUnsigned() || width == 1);
  double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    return zero(element);
  case ReduceKind::Prod:
    if (integer)
      return bits(llvm::APInt(width, 1));
    return constant(scalarAttr(element, 1));
  case ReduceKind::Min:
    if (!integer)
      return constant(scalarAttr(element, infinity));
    return bits(isUnsigned ? llvm::APInt::getMaxValue(width)
                           : llvm::APInt::getSignedMaxValue(width));
  case ReduceKind::Max:
    if (!integer)
      return constant(scalarAttr(element, -infinity));
    return bits(isUnsigned ? llvm::APInt::getMinValue(width)
                           : llvm::APInt::getSignedMinValue(width));
  case ReduceKind::And:
    return bits(llvm::APInt::getAllOnes(width));
  }
  llvm_unreachable("kinds are covered");
}

Value Exporter::broadcast(Value value, ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  auto result = RankedTensorType::get(shape, type.getElementType());
  return result == type ? value
                        : one("broadcast_in_dim", result, value,
                              list("broadcast_dimensions", dims));
}

Value Exporter::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  auto result = RankedTensorType::get(shape, type.getElementType());
  return result == type ? value : one("reshape", result, value);
}

Value Exporter::transpose(Value value, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  return one("transpose", RankedTensorType::get(shape, type.getElementType()),
             value, list("permutation", permutation));
}

Value Exporter::convert(Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  auto result = RankedTensorType::get(type.getShape(), element);
  return result == type ? value : one("convert", result, value);
}

Value Exporter::iota(ArrayRef<int64_t> shape, unsigned dim, Type element) {
  return one("iota", RankedTensorType::get(shape, element), {},
             attr("iota_dimension", int64_t(dim)));
}

Value Exporter::compare(stablehlo::ComparisonDirection direction, Value lhs,
                        Value rhs) {
  auto type = cast<RankedTensorType>(lhs.getType());
  return one("compare", RankedTensorType::get(type.getShape(), b.getI1Type()),
             {lhs, rhs},
             attr("comparison_direction",
                  Attribute(stablehlo::ComparisonDirectionAttr::get(
                      b.getContext(), direction))));
}

Value Exporter::slice(Value value, unsigned dim, int64_t begin, int64_t end,
                      int64_t stride) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> start(type.getRank()), strides(type.getRank(), 1);
  auto limit = llvm::to_vector(type.getShape()), shape = limit;
  if (begin == 0 && end == shape[dim] && stride == 1)
    return value;
  start[dim] = begin;
  limit[dim] = end;
  strides[dim] = stride;
  shape[dim] = (end - begin + stride - 1) / stride;
  return one("slice", RankedTensorType::get(shape, type.getElementType()),
             value,
             {list("start_indices", start), list("limit_indices", limit),
              list("strides", strides)});
}

Value Exporter::pad(Value value, unsigned dim, int64_t low, int64_t high,
                    Value fill) {
  if (low == 0 && high == 0)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> lows(type.getRank()), highs(type.getRank()),
      interior(type.getRank());
  auto shape = llvm::to_vector(type.getShape());
  lows[dim] = low;
  highs[dim] = high;
  shape[dim] += low + high;
  if (!fill)
    fill = zero(type.getElementType());
  return one("pad", RankedTensorType::get(shape, type.getElementType()),
             {value, fill},
             {list("edge_padding_low", lows), list("edge_padding_high", highs),
              list("interior_padding", interior)});
}

StringRef Exporter::reducerName(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return "add";
  case ReduceKind::Prod:
    return "multiply";
  case ReduceKind::Min:
    return "minimum";
  case ReduceKind::Max:
    return "maximum";
  case ReduceKind::And:
    return "and";
  case ReduceKind::Or:
    return "or";
  }
  llvm_unreachable("kinds are covered");
}

void Exporter::fillReducer(mlir::Region &region, ReduceKind kind,
                           Type element) {
  OpBuilder::InsertionGuard guard(b);
  auto scalar = RankedTensorType::get({}, element);
  Block *block =
      b.createBlock(&region, region.end(), {scalar, scalar}, {loc, loc});
  Value result = one(reducerName(kind), scalar,
                     {block->getArgument(0), block->getArgument(1)});
  op("return", {}, result);
}

Value Exporter::reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  if (dims.empty())
    return value;
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDimSize(dim));
  Operation *result =
      op("reduce", RankedTensorType::get(shape, type.getElementType()),
         {value, identity(kind, type.getElementType())},
         list("dimensions", dims), 1);
  fillReducer(result->getRegion(0), kind, type.getElementType());
  return result->getResult(0);
}

LogicalResult Exporter::copyScalars(mlir::Region &from, mlir::Region &to) {
  OpBuilder::InsertionGuard guard(b);
  Block &source = from.front();
  Block *block = b.createBlock(&to);
  for (BlockArgument argument : source.getArguments())
    set(argument, block->addArgument(argument.getType(), loc));
  return exportBlock(source);
}

} // namespace meshloom::exporting
