// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MaskKernels.h"

#include "WeightedSum.h"

#include "meshloom/Targets/Kernels/KernelSymbol.h"
#include "meshloom/Targets/Kernels/ToProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IRMapping.h"

#include <limits>
#include <set>

using namespace meshloom;
using namespace meshloom::dtensor;
using mlir::AffineExpr;
using spmd::KernelOp;
using Kind = ElementExpression::Kind;
using Loops = ElementExpressions::Loops;
namespace arith = mlir::arith;

namespace {

/// Copies the code of conditions to the body of one kernel.
class MaskBuilder {
public:
  MaskBuilder(ArrayRef<int64_t> extents,
              const DenseMap<Value, unsigned> &buffers, ModuleOp module)
      : extents(extents), buffers(buffers), module(module),
        b(module.getContext()) {
    b.setInsertionPointToEnd(&body);
  }

  /// Adds a condition. Returns false where the kernel cannot compute it.
  bool add(const MaskCondition &condition);
  /// Builds the kernel, after all conditions.
  KernelOp finish();
  AttentionMask mask;

private:
  Location loc() { return mlir::UnknownLoc::get(b.getContext()); }
  Value constant(mlir::TypedAttr value) {
    return b.create<arith::ConstantOp>(loc(), value);
  }
  // These return null where the kernel cannot compute the value.
  /// The element of an array in memory.
  Value load(Value tensor, ArrayRef<AffineExpr> indices);
  Value elementOf(Value tensor, ArrayRef<AffineExpr> indices);
  /// A value of another kernel's body, in the iteration `loops`.
  Value scalarOf(KernelOp kernel, Value value, const Loops &loops);
  Value copy(KernelOp kernel, Operation *op, const Loops &loops);
  Value indexOf(AffineExpr index);

  const ArrayRef<int64_t> extents;
  const DenseMap<Value, unsigned> &buffers;
  ModuleOp module;
  Block body;
  OpBuilder b;
  SmallVector<Value> inputs; ///< of the program
  SmallVector<SmallVector<AffineExpr>> inputIndices;
  std::set<unsigned> loopsUsed;
  DenseMap<Value, SmallVector<std::pair<Loops, Value>>> copied;
  Value isSeen; ///< by all conditions so far
};

} // namespace

Value MaskBuilder::load(Value tensor, ArrayRef<AffineExpr> indices) {
  for (auto [number, input] : llvm::enumerate(inputs))
    if (input == tensor && ArrayRef(inputIndices[number]) == indices)
      return body.getArgument(number);
  const ElementExpression element{.kind = Kind::Element,
                                  .tensor = tensor,
                                  .indices = llvm::to_vector(indices)};
  auto operand = operandOf(&element, buffers);
  if (!operand)
    return nullptr;
  for (const DimAccess &dim : operand->dims)
    for (auto [loop, coefficient] : dim.terms)
      loopsUsed.insert(loop);
  mask.operands.push_back(std::move(*operand));
  inputs.push_back(tensor);
  inputIndices.emplace_back(indices);
  return body.addArgument(
      KernelOp::scalarType(
          cast<RankedTensorType>(tensor.getType()).getElementType()),
      loc());
}

Value MaskBuilder::elementOf(Value tensor, ArrayRef<AffineExpr> indices) {
  if (buffers.contains(tensor))
    return load(tensor, indices);
  tensor = ElementExpressions::withoutRows(tensor);
  auto kernel = tensor.getDefiningOp<KernelOp>();
  if (buffers.contains(tensor) || !kernel)
    return load(tensor, indices);
  const unsigned output = cast<mlir::OpResult>(tensor).getResultNumber();
  const auto loops = ElementExpressions::loopsOf(kernel, output, indices);
  if (!loops || kernel.getHeld() || kernel.getRanges() ||
      kernel.getReducer(output) != spmd::Reducer::None)
    return nullptr;
  return scalarOf(
      kernel, kernel.getBlock()->getTerminator()->getOperand(output), *loops);
}

Value MaskBuilder::scalarOf(KernelOp kernel, Value value, const Loops &loops) {
  for (auto &[place, result] : copied[value])
    if (place == loops)
      return result;
  Value result;
  if (Operation *op = value.getDefiningOp()) {
    result = copy(kernel, op, loops);
  } else {
    const unsigned input = cast<mlir::BlockArgument>(value).getArgNumber();
    SmallVector<AffineExpr> indices;
    for (AffineExpr dim : kernel.getInputAccess(input).getResults())
      indices.push_back(dim.replaceDims(loops));
    result = elementOf(kernel.getInputs()[input], indices);
  }
  copied[value].emplace_back(loops, result);
  return result;
}

Value MaskBuilder::copy(KernelOp kernel, Operation *op, const Loops &loops) {
  if (auto index = dyn_cast<spmd::IndexOp>(op))
    return indexOf(loops[index.getLoop()]);
  if (isa<spmd::ReadOp, spmd::LoadOp>(op) || op->getNumRegions() != 0)
    return nullptr;
  mlir::IRMapping operands;
  for (Value operand : op->getOperands()) {
    const Value scalar = scalarOf(kernel, operand, loops);
    if (!scalar)
      return nullptr;
    operands.map(operand, scalar);
  }
  return b.clone(*op, operands)->getResult(0);
}

Value MaskBuilder::indexOf(AffineExpr index) {
  const DimAccess access = linearAccess(index);
  Value sum = constant(b.getI64IntegerAttr(access.offset));
  for (auto [loop, coefficient] : access.terms) {
    loopsUsed.insert(loop);
    const Value term = b.create<arith::MulIOp>(
        loc(), b.create<spmd::IndexOp>(loc(), b.getI64Type(), loop),
        constant(b.getI64IntegerAttr(coefficient)));
    sum = b.create<arith::AddIOp>(loc(), sum, term);
  }
  return sum;
}

bool MaskBuilder::add(const MaskCondition &condition) {
  const ElementExpression &expression = *condition.expression;
  Value holds;
  if (expression.kind == Kind::Element)
    holds = load(expression.tensor, expression.indices);
  if (expression.kind == Kind::Operation)
    holds = scalarOf(expression.op->getParentOfType<KernelOp>(),
                     expression.op->getResult(0), expression.loops);
  if (!holds || !holds.getType().isInteger(1))
    return false;
  if (condition.hidesWhereTrue)
    holds =
        b.create<arith::XOrIOp>(loc(), holds, constant(b.getBoolAttr(true)));
  isSeen = isSeen ? b.create<arith::AndIOp>(loc(), isSeen, holds) : holds;
  return true;
}

KernelOp MaskBuilder::finish() {
  mlir::MLIRContext *context = module.getContext();
  auto word = [&](int32_t value) {
    return constant(b.getI32IntegerAttr(value));
  };
  // Words are larger than each index of a key, or 0.
  const Value yielded = b.create<arith::SelectOp>(
      loc(), isSeen, word(std::numeric_limits<int32_t>::max()), word(0));
  b.create<spmd::YieldOp>(loc(), yielded);
  const Mesh mesh = *Mesh::get({{"d", 1}});
  auto arrayOf = [&](ArrayRef<int64_t> shape, Type element) -> Type {
    return spmd::shardType(
        shape, element,
        LayoutAttr::get(context,
                        Layout::replicated(mesh, int64_t(shape.size()))));
  };
  SmallVector<Type> types;
  SmallVector<Attribute> accesses;
  auto addAccess = [&](ArrayRef<AffineExpr> indices) {
    accesses.push_back(mlir::AffineMapAttr::get(
        mlir::AffineMap::get(unsigned(extents.size()), 0, indices, context)));
  };
  for (auto [input, indices] : llvm::zip_equal(inputs, inputIndices)) {
    const auto type = cast<RankedTensorType>(input.getType());
    types.push_back(arrayOf(spmd::globalShape(type), type.getElementType()));
    addAccess(indices);
  }
  SmallVector<AffineExpr> words;
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    words.push_back(b.getAffineDimExpr(loop));
    if (loopsUsed.contains(loop))
      mask.loops.push_back(loop);
  }
  addAccess(words);
  OpBuilder outer = OpBuilder::atBlockEnd(module.getBody());
  auto function = outer.create<mlir::func::FuncOp>(
      loc(), "mask", outer.getFunctionType(types, {}));
  outer.setInsertionPointToEnd(function.addEntryBlock());
  auto kernel = outer.create<KernelOp>(
      loc(), TypeRange(arrayOf(extents, outer.getI32Type())),
      ValueRange(function.getArguments()), outer.getDenseI64ArrayAttr(extents),
      outer.getDenseBoolArrayAttr(SmallVector<bool>(extents.size(), false)),
      outer.getArrayAttr(
          SmallVector<Attribute>(extents.size(), outer.getArrayAttr({}))),
      outer.getArrayAttr(accesses),
      outer.getDenseI32ArrayAttr({int32_t(spmd::Reducer::None)}),
      outer.getDenseI32ArrayAttr({-1}), nullptr, nullptr);
  Block &place = kernel.getBody().emplaceBlock();
  for (mlir::BlockArgument argument : body.getArguments())
    argument.replaceAllUsesWith(
        place.addArgument(argument.getType(), argument.getLoc()));
  place.getOperations().splice(place.end(), body.getOperations());
  return kernel;
}

std::optional<AttentionMask>
meshloom::buildMask(ArrayRef<MaskCondition> conditions,
                    ArrayRef<int64_t> extents,
                    const DenseMap<Value, unsigned> &buffers, ModuleOp module,
                    std::vector<std::pair<std::string, Operation *>> &kernels) {
  MaskBuilder builder(extents, buffers, module);
  for (const MaskCondition &condition : conditions)
    if (!builder.add(condition))
      return std::nullopt;
  KernelOp kernel = builder.finish();
  builder.mask.symbol = kernelSymbol(kernel);
  if (!llvm::is_contained(llvm::make_first_range(kernels), builder.mask.symbol))
    kernels.emplace_back(builder.mask.symbol, kernel);
  return builder.mask;
}
