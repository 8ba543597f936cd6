// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From ops to library calls. The common properties follow from the op's
// sharding rule: a loop for each factor, cut as the op runs; a map for each
// operand. The op itself names its special properties (LibraryOpInterface).
#include "LibraryCalls.h"

#include "CallLoops.h"
#include "KernelBuilder.h"
#include "ScalarFunctions.h"
#include "meshloom/SPMD/RunningOp.h"

#include "meshloom/ControlFlow/ControlFlow.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::LibraryCallOp;
using spmd::ShardAttr;

namespace {
/// The loops that the dims of one tensor are indexed by.
SmallVector<TermList> indexDims(const ShardingRule &rule,
                                const ShardingRule::Tensor &dims) {
  SmallVector<TermList> terms(dims.size());
  for (auto [dim, list] : llvm::zip_equal(dims, terms)) {
    int64_t coefficient = 1;
    for (unsigned factor : llvm::reverse(dim)) {
      list.emplace_back(factor, coefficient);
      coefficient *= rule.factors[factor].size;
    }
  }
  return terms;
}

/// Adds the part of dim `dim` of a windowed operand that devices hold, as a
/// loop.
unsigned addHeldLoop(CallLoops &loops, Value operand, unsigned dim) {
  auto shard =
      cast<ShardAttr>(cast<RankedTensorType>(operand.getType()).getEncoding());
  Layout layout = shard.getLayout().getLayout();
  unsigned loop = loops.add(shard.getGlobalShape()[dim], /*reduction=*/false,
                            /*isHeld=*/true, layout.dim_axes()[dim]);
  Windows windows = shard.getWindows();
  if (dim < windows.size())
    for (Interval range : windows[dim]) {
      loops.ranges[loop].push_back(range.begin);
      loops.ranges[loop].push_back(range.end);
    }
  return loop;
}

/// A transform is a call for each dim that it goes along: the lines of one dim
/// are independent of each other, so workers share them out even where there is
/// no batch. Real numbers become complex first, or last.
Value formFourierCalls(FftOp op) {
  auto sharded = cast<ShardedOpInterface>(op.getOperation());
  const RunningOp running(op, sharded.getShardingRule());
  const auto &[rule, operands, results, sharding] = running;
  const StringRef kind = op.getFftType();
  const bool isToReal = kind == "IRFFT", isInverse = isToReal || kind == "IFFT";
  const ArrayRef<int64_t> lengths = op.getFftLength();
  const Type complexType =
      isToReal ? op.getOperand().getType() : op.getResult().getType();
  const unsigned rank = results.front().rank(),
                 first = rank - unsigned(lengths.size()), last = rank - 1;
  SmallVector<unsigned> dims =
      llvm::to_vector(llvm::seq<unsigned>(first, rank));
  if (!isToReal)
    std::rotate(dims.begin(), dims.end() - 1, dims.end());
  Value value = op.getOperand();
  for (unsigned dim : dims) {
    const Type type =
        isToReal && dim == last ? op.getResult().getType() : complexType;
    CallLoops loops;
    SmallVector<TermList> from(rank), to(rank);
    for (unsigned d = 0; d < rank; ++d) {
      SmallVector<unsigned> axes;
      if (d < first)
        llvm::append_range(axes,
                           sharding.factors.axes[rule.results[0][d].front()]);
      const unsigned loop = loops.add(globalShape(type)[d], /*reduction=*/false,
                                      /*isHeld=*/d == dim, axes);
      from[d] = to[d] = {{loop, 1}};
      if (d == dim)
        from[d] = {{loops.add(globalShape(value.getType())[d],
                              /*reduction=*/false, /*isHeld=*/true, {}),
                    1}};
    }
    const auto description = LibraryCall(op, "fft")
                                 .text("fft_type", dim == last ? kind
                                                   : isInverse ? "IFFT"
                                                               : "FFT")
                                 .number("fft_length", lengths[dim - first])
                                 .number("fft_dim", dim);
    auto call = createCall(
        op, type, value, loops, {from, to}, results.front().mesh(), description,
        dim == dims.front() || type != value.getType() ? -1 : 0,
        sharded.getCost(rule).total(rule) / int64_t(lengths.size()));
    value = call.getOutputs().front();
  }
  return value;
}

FailureOr<LibraryCallOp> formCall(LibraryOpInterface op) {
  auto sharded = cast<ShardedOpInterface>(op.getOperation());
  const LibraryCall description = op.getLibraryCall();
  const RunningOp running(op, sharded.getShardingRule());
  const auto &[rule, operands, results, sharding] = running;
  const Mesh &mesh = results.front().mesh();

  CallLoops loops;
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    loops.add(factor.size, factor.kind == FactorKind::Reduced,
              factor.kind == FactorKind::Whole, sharding.factors.axes[f]);
  // An effect that only the host sees happens once: devices have a part each of
  // one more loop, and who has its beginning does it. Results are needed
  // everywhere.
  const bool isReduced = llvm::any_of(rule.factors, [](const Factor &factor) {
    return factor.kind == FactorKind::Reduced;
  });
  if (!mlir::isMemoryEffectFree(op) && op->getNumResults() == 1 &&
      rule.results.front().empty() && !isReduced) {
    SmallVector<unsigned> allAxes =
        llvm::to_vector(llvm::seq<unsigned>(0, unsigned(mesh.rank())));
    loops.add(mesh.size(), /*reduction=*/false, /*isHeld=*/false, allAxes);
  }
  SmallVector<SmallVector<TermList>> accesses;
  for (auto [i, dims] : llvm::enumerate(rule.operands)) {
    auto &access = accesses.emplace_back(indexDims(rule, dims));
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (rule.windowOf(i, dim))
        access[dim] = {{addHeldLoop(loops, op->getOperand(i), dim), 1}};
  }
  for (const ShardingRule::Tensor &dims : rule.results)
    accesses.push_back(indexDims(rule, dims));

  SmallVector<int32_t> overwritable;
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    overwritable.push_back(op.getOverwritable(result));
  auto call = createCall(op, op->getResultTypes(), op->getOperands(), loops,
                         accesses, mesh, description, overwritable,
                         sharded.getCost(rule).total(rule));
  if (!description.scalarResults.empty() &&
      failed(buildScalarFunction(
          description.scalarArguments, description.scalarResults,
          layoutAttrOf(op->getResult(0).getType()).getMeshAttr(),
          call.getScalar())))
    return failure();
  return call;
}
/// Lets a scatter fill its results where they begin with one number: the number
/// is the input then, without dims.
void fillFromSplats(LibraryCallOp scatter) {
  SmallVector<Attribute> accesses(scatter.getAccesses().begin(),
                                  scatter.getAccesses().end());
  SmallVector<int32_t> overwritable(scatter.getNumResults(), -1);
  if (std::optional<ArrayRef<int32_t>> inputs = scatter.getOverwritable())
    overwritable = llvm::to_vector(*inputs);
  for (unsigned i = 0; i < scatter.getNumResults(); ++i) {
    Operation *before = scatter.getInputs()[i].getDefiningOp();
    if (!before || !isSplat(before) ||
        spmd::layoutOf(scatter.getInputs()[i].getType()).is_partial())
      continue;
    auto splat =
        cast<mlir::SplatElementsAttr>(cast<ConstantOp>(before).getValue());
    OpBuilder b(scatter);
    auto type = RankedTensorType::get({}, splat.getElementType());
    auto scalar = LayoutAttr::replicated(
        layoutAttrOf(scatter.getInputs()[i].getType()).getMeshAttr(), 0);
    Value number = b.create<ConstantOp>(
        before->getLoc(), spmd::shardType({}, splat.getElementType(), scalar),
        DenseElementsAttr::get(type, splat.getSplatValue<Attribute>()));
    scatter.getInputsMutable()[i].assign(number);
    accesses[i] = mlir::AffineMapAttr::get(
        mlir::AffineMap::get(scatter.getNumLoops(), 0, b.getContext()));
    overwritable[i] = -1;
    if (before->use_empty())
      before->erase();
  }
  scatter.setAccessesAttr(mlir::ArrayAttr::get(scatter.getContext(), accesses));
  scatter.setOverwritable(
      llvm::all_of(overwritable, [](int32_t input) { return input < 0; })
          ? std::nullopt
          : std::optional<ArrayRef<int32_t>>(overwritable));
}
} // namespace

LogicalResult meshloom::formLibraryCalls(mlir::func::FuncOp func) {
  for (Block *block : runBlocks(func))
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      auto library = dyn_cast<LibraryOpInterface>(op);
      if (!library)
        continue;
      if (auto fft = dyn_cast<FftOp>(op)) {
        fft.replaceAllUsesWith(formFourierCalls(fft));
        op.erase();
        continue;
      }
      auto call = formCall(library);
      if (failed(call))
        return failure();
      if (isa<ScatterOp>(op))
        fillFromSplats(*call);
      op.replaceAllUsesWith(call->getOutputs());
      op.erase();
    }
  return success();
}
