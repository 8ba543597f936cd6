// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// chlo.scan as a loop of StableHLO: one step an index, which takes a slice of
// each input and puts one into each output.
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace meshloom;
using namespace meshloom::importer;

namespace {
/// One scan being rewritten, by a builder of ops of StableHLO.
class ScanLoop {
public:
  explicit ScanLoop(chlo::ScanOp op)
      : op(op), b(op), loc(op.getLoc()), dim(int64_t(op.getDimension())),
        reverse(op.getIsReverse().value_or(false)) {}

  LogicalResult run() {
    if (failed(check()))
      return failure();
    Type word = b.getI32Type();
    auto scalar = RankedTensorType::get({}, word);
    auto number = [&](int64_t value) {
      return make(
          "stablehlo.constant", scalar, {},
          {named("value", DenseElementsAttr::get(scalar, int32_t(value)))});
    };
    // Carried: the step, the carries, the outputs so far.
    SmallVector<Value> carried{number(0)};
    llvm::append_range(carried, op.getInits());
    for (Value output : op.getOutputs()) {
      auto type = cast<RankedTensorType>(output.getType());
      carried.push_back(
          make("stablehlo.constant", type, {}, {named("value", zeros(type))}));
    }
    SmallVector<Type> types;
    for (Value value : carried)
      types.push_back(value.getType());
    OperationState state(loc, "stablehlo.while", carried, types);
    state.addRegion();
    state.addRegion();
    Operation *loop = b.create(state);
    Region *condition = &loop->getRegion(0), *body = &loop->getRegion(1);

    begin(condition, types);
    Value steps = number(length);
    Value more =
        make("stablehlo.compare", RankedTensorType::get({}, b.getI1Type()),
             {condition->getArgument(0), steps},
             {named("comparison_direction",
                    stablehlo::ComparisonDirectionAttr::get(
                        b.getContext(), stablehlo::ComparisonDirection::LT))});
    b.create<stablehlo::ReturnOp>(loc, more);

    begin(body, types);
    Value step = body->getArgument(0), zero = number(0);
    Value index =
        reverse ? make("stablehlo.subtract", scalar, {number(length - 1), step})
                : step;
    mlir::IRMapping mapping;
    Block &scan = op.getBody().front();
    for (auto [argument, input] :
         llvm::zip(scan.getArguments(), op.getInputs()))
      mapping.map(argument, sliceOf(input, argument.getType(), index, zero));
    size_t inputs = op.getInputs().size(), carries = op.getInits().size();
    for (size_t i = 0; i < carries; ++i)
      mapping.map(scan.getArgument(unsigned(inputs + i)),
                  body->getArgument(unsigned(1 + i)));
    for (Operation &inner : scan.without_terminator())
      b.clone(inner, mapping);
    SmallVector<Value> yielded;
    for (Value value : scan.getTerminator()->getOperands())
      yielded.push_back(mapping.lookupOrDefault(value));
    SmallVector<Value> next{make("stablehlo.add", scalar, {step, number(1)})};
    size_t outputs = op.getOutputs().size();
    next.append(yielded.begin() + outputs, yielded.end());
    for (size_t i = 0; i < outputs; ++i)
      next.push_back(withSlice(body->getArgument(unsigned(1 + carries + i)),
                               yielded[i], index, zero));
    b.create<stablehlo::ReturnOp>(loc, next);

    SmallVector<Value> results;
    for (size_t i = 0; i < outputs; ++i)
      results.push_back(loop->getResult(unsigned(1 + carries + i)));
    for (size_t i = 0; i < carries; ++i)
      results.push_back(loop->getResult(unsigned(1 + i)));
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }

private:
  LogicalResult check() {
    size_t inputs = op.getInputs().size(), carries = op.getInits().size(),
           outputs = op.getOutputs().size();
    Region &region = op.getBody();
    bool fits =
        region.hasOneBlock() && op.getCarries().size() == carries &&
        region.getNumArguments() == inputs + carries &&
        region.front().getTerminator()->getNumOperands() == outputs + carries;
    if (!fits)
      return op.emitError("the body of a scan takes a slice of each input and "
                          "each carry, and gives a slice of each output and "
                          "each carry");
    std::optional<int64_t> extent;
    if (op.getScanDimSize())
      extent = int64_t(*op.getScanDimSize());
    auto checkSlice = [&](Value whole, Type slice) -> LogicalResult {
      auto type = dyn_cast<RankedTensorType>(whole.getType());
      auto part = dyn_cast<RankedTensorType>(slice);
      if (!type || !part || dim < 0 || dim >= type.getRank())
        return op.emitError("scans dim ") << dim << " of a " << whole.getType();
      int64_t here = type.getDimSize(unsigned(dim));
      if (extent.value_or(here) != here)
        return op.emitError("scans ")
               << *extent << " slices, but a " << type << " has " << here;
      extent = here;
      SmallVector<int64_t> sliceShape(type.getShape());
      sliceShape.erase(sliceShape.begin() + dim);
      if (part.getShape() != ArrayRef(sliceShape) ||
          part.getElementType() != type.getElementType())
        return op.emitError("a slice of a ")
               << type << " along dim " << dim << " is not a " << part;
      return success();
    };
    for (auto [argument, input] :
         llvm::zip(region.getArguments(), op.getInputs()))
      if (failed(checkSlice(input, argument.getType())))
        return failure();
    for (auto [value, output] : llvm::zip(
             region.front().getTerminator()->getOperands(), op.getOutputs()))
      if (failed(checkSlice(output, value.getType())))
        return failure();
    if (!extent)
      return op.emitError("a scan without inputs and outputs needs its "
                          "scan_dim_size");
    length = *extent;
    return success();
  }

  NamedAttribute named(StringRef name, Attribute value) {
    return b.getNamedAttr(name, value);
  }
  Value make(StringRef name, Type type, ValueRange operands,
             ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(loc, name, operands, type, attributes);
    return b.create(state)->getResult(0);
  }
  void begin(Region *region, ArrayRef<Type> types) {
    b.createBlock(region, region->end(), types,
                  SmallVector<Location>(types.size(), loc));
  }
  static Attribute zeros(RankedTensorType type) {
    Type element = type.getElementType();
    auto complex = dyn_cast<mlir::ComplexType>(element);
    if (!complex)
      return DenseElementsAttr::get(
          type,
          cast<Attribute>(Builder(type.getContext()).getZeroAttr(element)));
    auto zero = llvm::APFloat::getZero(
        cast<FloatType>(complex.getElementType()).getFloatSemantics());
    return DenseElementsAttr::get(type,
                                  std::complex<llvm::APFloat>(zero, zero));
  }
  SmallVector<Value> starts(int64_t rank, Value index, Value zero) const {
    SmallVector<Value> result(size_t(rank), zero);
    result[size_t(dim)] = index;
    return result;
  }

  Value sliceOf(Value whole, Type slice, Value index, Value zero) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dim] = 1;
    SmallVector<Value> operands{whole};
    llvm::append_range(operands, starts(type.getRank(), index, zero));
    Value one = make("stablehlo.dynamic_slice", type.clone(sizes), operands,
                     named("slice_sizes", b.getDenseI64ArrayAttr(sizes)));
    return make("stablehlo.reshape", slice, one);
  }
  Value withSlice(Value whole, Value slice, Value index, Value zero) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[dim] = 1;
    SmallVector<Value> operands{
        whole, make("stablehlo.reshape", type.clone(sizes), slice)};
    llvm::append_range(operands, starts(type.getRank(), index, zero));
    return make("stablehlo.dynamic_update_slice", type, operands);
  }

  chlo::ScanOp op;
  OpBuilder b;
  Location loc;
  int64_t dim, length = 0;
  bool reverse;
};
} // namespace

LogicalResult importer::writeScansAsLoops(ModuleOp module) {
  // Inner ones first: what is cloned holds none.
  SmallVector<chlo::ScanOp> scans;
  module.walk([&](chlo::ScanOp scan) { scans.push_back(scan); });
  for (chlo::ScanOp scan : scans)
    if (failed(ScanLoop(scan).run()))
      return failure();
  return success();
}
