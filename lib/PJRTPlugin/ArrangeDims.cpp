// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArrangeDims.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;
using mlir::func::FuncOp;

namespace {
constexpr llvm::StringLiteral modeAttr = "mhlo.layout_mode",
                              shardingAttr = "sdy.sharding";

/// Returns the order that a mode names; row-major where it names none.
Result<DimOrder> orderOf(StringAttr mode, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const size_t rank = tensor ? size_t(tensor.getRank()) : 0;
  if (!mode || mode.getValue() == "default" || mode.getValue() == "auto")
    return DimOrder::rowMajor(rank);
  return DimOrder::read(mode.getValue(), rank);
}

/// Returns the sharding of a value with its dims in the order of memory. Fails
/// on a sharding that is not Shardy's.
Result<Attribute> inMemory(const DimOrder &order, Attribute attribute) {
  if (!attribute)
    return attribute;
  auto sharding = dyn_cast<sdy::TensorShardingAttr>(attribute);
  if (!sharding || sharding.getRank() != order.rank())
    return Error("a value with an order of its dims in memory has a sharding "
                 "that is not Shardy's",
                 ErrorCode::UNIMPLEMENTED);
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (int64_t dim : order.majorToMinor())
    dims.push_back(sharding.getDimShardings()[size_t(dim)]);
  return Attribute(sdy::TensorShardingAttr::get(
      attribute.getContext(), sharding.getMeshOrRef(), dims,
      sharding.getReplicatedAxes(), sharding.getUnreducedAxes(),
      sharding.getReductionOp()));
}

/// Returns the order in which a result needs no copy.
DimOrder freeOrder(Value result) {
  const size_t rank =
      size_t(cast<RankedTensorType>(result.getType()).getRank());
  std::vector<int64_t> order = DimOrder::rowMajor(rank).majorToMinor();
  while (auto transpose = result.getDefiningOp<stablehlo::TransposeOp>()) {
    for (int64_t &dim : order)
      dim = transpose.getPermutation()[size_t(dim)];
    result = transpose.getOperand();
  }
  // Here `order` has the source's dim of each of the result's dims.
  std::vector<int64_t> majorToMinor(rank);
  for (size_t dim = 0; dim < rank; ++dim)
    majorToMinor[size_t(order[dim])] = int64_t(dim);
  return *DimOrder::get(std::move(majorToMinor));
}

Result<DimOrder> arrangeArgument(FuncOp main, unsigned i) {
  BlockArgument argument = main.getArgument(i);
  const Type type = argument.getType();
  auto order = orderOf(main.getArgAttrOfType<StringAttr>(i, modeAttr), type);
  if (!order || order->isRowMajor())
    return order;
  auto sharding = inMemory(*order, main.getArgAttr(i, shardingAttr));
  if (!sharding)
    return sharding.error();
  if (*sharding)
    main.setArgAttr(i, shardingAttr, *sharding);
  auto tensor = cast<RankedTensorType>(type);
  argument.setType(tensor.clone(order->inMemory(tensor.getShape())));
  OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
  Value value = fromMemory(builder, *order, argument);
  argument.replaceAllUsesExcept(value, value.getDefiningOp());
  return order;
}

Result<DimOrder> arrangeResult(FuncOp main, unsigned i) {
  Operation *terminator = main.getBody().front().getTerminator();
  Value result = terminator->getOperand(i);
  auto mode = main.getResultAttrOfType<StringAttr>(i, modeAttr);
  const bool isOpen = mode && mode.getValue() == "auto" &&
                      isa<RankedTensorType>(result.getType());
  auto order = isOpen ? Result<DimOrder>(freeOrder(result))
                      : orderOf(mode, result.getType());
  if (!order || order->isRowMajor())
    return order;
  auto sharding = inMemory(*order, main.getResultAttr(i, shardingAttr));
  if (!sharding)
    return sharding.error();
  if (*sharding)
    main.setResultAttr(i, shardingAttr, *sharding);
  OpBuilder builder(terminator);
  terminator->setOperand(i, toMemory(builder, *order, result));
  return order;
}
} // namespace

Value plugin::toMemory(OpBuilder &builder, const DimOrder &order, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return builder.create<stablehlo::TransposeOp>(
      value.getLoc(), type.clone(order.inMemory(type.getShape())), value,
      order.majorToMinor());
}

Value plugin::fromMemory(OpBuilder &builder, const DimOrder &order,
                         Value inMemory) {
  auto type = cast<RankedTensorType>(inMemory.getType());
  return builder.create<stablehlo::TransposeOp>(
      inMemory.getLoc(), type.clone(order.ofValue(type.getShape())), inMemory,
      order.ofValue(DimOrder::rowMajor(order.rank()).majorToMinor()));
}

Result<DimOrders> plugin::arrangeDims(FuncOp main) {
  DimOrders orders;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto order = arrangeArgument(main, i);
    if (!order)
      return order.error().withMessage(
          fmt::format("argument {}: {}", i, order.error().message()));
    orders.arguments.push_back(std::move(*order));
  }
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    auto order = arrangeResult(main, i);
    if (!order)
      return order.error().withMessage(
          fmt::format("result {}: {}", i, order.error().message()));
    orders.results.push_back(std::move(*order));
  }
  Operation *terminator = main.getBody().front().getTerminator();
  main.setFunctionType(mlir::FunctionType::get(
      main.getContext(), main.getBody().front().getArgumentTypes(),
      terminator->getOperandTypes()));
  return orders;
}
