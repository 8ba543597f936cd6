// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StackAddends.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

using namespace meshloom;
using mlir::func::FuncOp;

namespace {
constexpr llvm::StringLiteral shardingAttr = "sdy.sharding";

/// Returns whether the use is by a manual computation over the unreduced axes
/// of `sharding`, which takes the value with the same ones.
bool takesAddends(mlir::OpOperand &use, sdy::TensorShardingAttr sharding) {
  auto manual = dyn_cast<sdy::ManualComputationOp>(use.getOwner());
  if (!manual)
    return false;
  auto axes = manual.getManualAxes().getValue();
  return manual.getInShardings()
                 .getShardings()[use.getOperandNumber()]
                 .getUnreducedAxes() == sharding.getUnreducedAxes() &&
         llvm::all_of(sharding.getUnreducedAxes(), [&](sdy::AxisRefAttr axis) {
           return llvm::any_of(axes, [&](StringAttr name) {
             return name.getValue() == axis.getName();
           });
         });
}

/// Returns the number of addends; 0 where the axes are not whole axes of a mesh
/// that the module names.
int64_t countAddends(ModuleOp module, sdy::TensorShardingAttr sharding) {
  auto op = module.lookupSymbol<sdy::MeshOp>(sharding.getMeshName());
  if (!op || sharding.getReductionOp() != sdy::ReductionOp::SUM)
    return 0;
  int64_t count = 1;
  for (sdy::AxisRefAttr axis : sharding.getUnreducedAxes()) {
    auto found = llvm::find_if(op.getMesh().getAxes(), [&](auto meshAxis) {
      return meshAxis.getName() == axis.getName();
    });
    if (axis.getSubAxisInfo() || found == op.getMesh().getAxes().end())
      return 0;
    count *= found->getSize();
  }
  return count;
}

/// The sharding with the unreduced axes on a first dim.
sdy::TensorShardingAttr stacked(sdy::TensorShardingAttr sharding) {
  MLIRContext *context = sharding.getContext();
  SmallVector<sdy::DimensionShardingAttr> dims{sdy::DimensionShardingAttr::get(
      context, sharding.getUnreducedAxes(), /*isClosed=*/true, std::nullopt)};
  llvm::append_range(dims, sharding.getDimShardings());
  return sdy::TensorShardingAttr::get(context, sharding.getMeshOrRef(), dims,
                                      sharding.getReplicatedAxes(), {},
                                      sharding.getReductionOp());
}

RankedTensorType stacked(RankedTensorType type, int64_t count) {
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

/// Has the manual computation take the addends in a first dim.
void passAddends(mlir::OpOperand &use) {
  auto manual = cast<sdy::ManualComputationOp>(use.getOwner());
  const unsigned i = use.getOperandNumber();
  SmallVector<sdy::TensorShardingAttr> shardings(
      manual.getInShardings().getShardings());
  shardings[i] = stacked(shardings[i]);
  manual.setInShardingsAttr(
      sdy::TensorShardingPerValueAttr::get(manual.getContext(), shardings));
  BlockArgument addend = manual.getBody().getArgument(i);
  auto type = cast<RankedTensorType>(addend.getType());
  addend.setType(stacked(type, 1));
  OpBuilder builder = OpBuilder::atBlockBegin(&manual.getBody().front());
  auto value =
      builder.create<stablehlo::ReshapeOp>(addend.getLoc(), type, addend);
  addend.replaceAllUsesExcept(value, value);
}

/// The sum over the first dim.
Value sumAddends(OpBuilder &builder, Value addends, RankedTensorType type) {
  const Location loc = addends.getLoc();
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = builder.create<stablehlo::ConstantOp>(
      loc, scalar, cast<mlir::ElementsAttr>(builder.getZeroAttr(scalar)));
  auto sum = builder.create<stablehlo::ReduceOp>(
      loc, mlir::TypeRange(type), ValueRange(addends), ValueRange(zero),
      ArrayRef<int64_t>{0});
  OpBuilder::InsertionGuard guard(builder);
  Block *body =
      builder.createBlock(&sum.getBody(), {}, {scalar, scalar}, {loc, loc});
  Value total = builder.create<stablehlo::AddOp>(
      loc, scalar, body->getArgument(0), body->getArgument(1));
  builder.create<stablehlo::ReturnOp>(loc, total);
  return sum->getResult(0);
}

/// Removes constraints that repeat the sharding of the value. JAX 0.11 and
/// later write one before each jax.shard_map.
void removeRepeatedConstraints(Value value, sdy::TensorShardingAttr sharding) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    auto constraint = dyn_cast<sdy::ShardingConstraintOp>(user);
    if (!constraint || constraint.getSharding() != sharding)
      continue;
    removeRepeatedConstraints(constraint.getResult(), sharding);
    constraint.replaceAllUsesWith(value);
    constraint.erase();
  }
}

bool stackArgument(FuncOp main, unsigned i) {
  auto sharding =
      main.getArgAttrOfType<sdy::TensorShardingAttr>(i, shardingAttr);
  BlockArgument argument = main.getArgument(i);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!sharding || sharding.getUnreducedAxes().empty() || !type ||
      !type.getElementType().isIntOrFloat())
    return false;
  removeRepeatedConstraints(argument, sharding);
  SmallVector<mlir::OpOperand *> entries, others;
  for (mlir::OpOperand &use : argument.getUses())
    (takesAddends(use, sharding) ? entries : others).push_back(&use);
  const int64_t count =
      countAddends(main->getParentOfType<ModuleOp>(), sharding);
  if (entries.empty() || count == 0)
    return false;
  argument.setType(stacked(type, count));
  main.setArgAttr(i, shardingAttr, stacked(sharding));
  for (mlir::OpOperand *entry : entries)
    passAddends(*entry);
  if (!others.empty()) {
    OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
    Value sum = sumAddends(builder, argument, type);
    for (mlir::OpOperand *use : others)
      use->set(sum);
  }
  return true;
}
} // namespace

std::vector<bool> plugin::stackAddends(FuncOp main) {
  std::vector<bool> isStacked;
  isStacked.reserve(main.getNumArguments());
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    isStacked.push_back(stackArgument(main, i));
  return isStacked;
}
