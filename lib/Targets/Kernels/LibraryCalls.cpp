// From ops to library calls. What all have in common follows from the op's
// sharding rule: a loop for each factor, cut as the op runs; a map for each
// operand. What is the op's own is one row of describeLibraryCall.
#include "LibraryCalls.h"

#include "ScalarFunctions.h"
#include "WindowCalls.h"
#include "meshloom/SPMD/RunningOp.h"
#include "meshloom/Targets/Kernels/LibraryCosts.h"

#include "meshloom/ControlFlow/ControlFlow.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::LibraryCallOp;
using spmd::ShardAttr;

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

static LibraryDescription describe(GatherOp op) {
  LibraryDescription call{"gather"};
  call.values.add(op.getIndexVectorDim())
      .add(op.getOffsetDims())
      .add(op.getCollapsedSliceDims())
      .add(op.getOperandBatchingDims())
      .add(op.getStartIndicesBatchingDims())
      .add(op.getStartIndexMap())
      .add(op.getSliceSizes());
  return call;
}

/// How updates are combined with what is there, where that is no ReduceKind.
constexpr int64_t replaces = -1, callsFunction = -2;

static LibraryDescription describe(ScatterOp op) {
  LibraryDescription call{"scatter"};
  int64_t how = replaces;
  if (std::optional<ReduceKind> kind = op.getKind())
    how = int64_t(*kind);
  else if (!op.getComputation().empty())
    how = callsFunction;
  call.values.add(how)
      .add(op.getIndexVectorDim())
      .add(op.getUpdateWindowDims())
      .add(op.getInsertedWindowDims())
      .add(op.getInputBatchingDims())
      .add(op.getScatterIndicesBatchingDims())
      .add(op.getScatterDimsToOperandDims());
  if (how == callsFunction)
    call.setScalar(op.getComputation());
  return call;
}

static LibraryDescription describe(DynamicSliceOp op) {
  LibraryDescription call{"dynamic_slice"};
  call.values.add(op.getSliceSizes());
  return call;
}

static LibraryDescription describe(DynamicUpdateSliceOp) {
  return {"dynamic_update_slice"};
}

/// dimension, mode (0: call the comparator; 1: compare an input's elements; 2:
/// compare what the scalar function makes of them), input, direction, DType of
/// what is compared.
static LibraryDescription describe(SortOp op) {
  LibraryDescription call{"sort"};
  call.values.add(op.getDimension());
  std::optional<KeyComparison> comparison = keyComparison(op.getComparator());
  if (!comparison) {
    call.setScalar(op.getComparator());
    call.values.add(0).add(0).add(0).add(0);
    return call;
  }
  Block &block = op.getComparator().front();
  Value element = block.getArgument(2 * comparison->input);
  bool plain = comparison->key == element;
  call.values.add(plain ? 1 : 2)
      .add(comparison->input)
      .add(int64_t(comparison->direction))
      .add(int64_t(*dtypeOf(elementTypeOf(comparison->key.getType()))));
  if (!plain) {
    call.scalarArguments = {element};
    call.scalarResults = {comparison->key};
  }
  return call;
}

static LibraryDescription describe(TopKOp) {
  return {"top_k"};
}

static LibraryDescription describe(GenericReduceOp op) {
  LibraryDescription call{"generic_reduce"};
  call.values.add(op.getDimensions());
  call.setScalar(op.getComputation());
  return call;
}

static LibraryDescription describe(CholeskyOp op) {
  LibraryDescription call{"cholesky"};
  call.values.add(op.getLower());
  return call;
}

static LibraryDescription describe(TriangularSolveOp op) {
  LibraryDescription call{"triangular_solve"};
  int64_t transpose = llvm::StringSwitch<int64_t>(op.getTransposeA())
                          .Case("TRANSPOSE", 1)
                          .Case("ADJOINT", 2)
                          .Default(0);
  call.values.add(op.getLeftSide())
      .add(op.getLower())
      .add(op.getUnitDiagonal())
      .add(transpose);
  return call;
}

static LibraryDescription describe(FftOp op) {
  LibraryDescription call{"fft"};
  call.values
      .add(llvm::StringSwitch<int64_t>(op.getFftType())
               .Case("FFT", 0)
               .Case("IFFT", 1)
               .Case("RFFT", 2)
               .Default(3))
      .add(op.getFftLength());
  return call;
}

static LibraryDescription describe(GeqrfOp) {
  return {"geqrf"};
}

static LibraryDescription describe(HouseholderProductOp) {
  return {"householder_product"};
}

static LibraryDescription describe(CustomCallOp op) {
  LibraryDescription call{"custom_call"};
  call.config = (op.getCallTargetName() + "\n" + op.getBackendConfig()).str();
  call.values.add(op.getBatchDims())
      .add(int64_t(op.getShardingRule().reduceKind));
  return call;
}

std::optional<LibraryDescription> meshloom::describeLibraryCall(Operation *op) {
  using Description = std::optional<LibraryDescription>;
  Description call =
      llvm::TypeSwitch<Operation *, Description>(op)
          .Case<GatherOp, ScatterOp, DynamicSliceOp, DynamicUpdateSliceOp,
                SortOp, TopKOp, GenericReduceOp, CholeskyOp, TriangularSolveOp,
                FftOp, GeqrfOp, HouseholderProductOp, CustomCallOp>(
              [](auto each) -> Description { return describe(each); })
          .Default([](Operation *other) { return describeWindowCall(other); });
  if (call)
    if (auto cost = libraryCost(op))
      call->flops = cost->total(cast<ShardedOpInterface>(op).getShardingRule());
  return call;
}

int meshloom::overwritableInput(LibraryCallOp call, unsigned output) {
  StringRef callee = call.getCallee();
  if (callee == "scatter" || callee == "sort")
    return int(output);
  if (callee == "triangular_solve")
    return 1;
  bool first =
      llvm::is_contained(ArrayRef<StringRef>{"dynamic_update_slice", "cholesky",
                                             "geqrf", "householder_product"},
                         callee);
  return first && output == 0 ? 0 : -1;
}

//===----------------------------------------------------------------------===//
// What all have in common
//===----------------------------------------------------------------------===//

namespace {
/// The loops of a call under construction.
struct Loops {
  SmallVector<int64_t> extents;
  SmallVector<bool> reductions, held;
  SmallVector<SmallVector<unsigned>> axes;
  SmallVector<SmallVector<int64_t>> ranges;

  unsigned add(int64_t extent, bool reduction, bool isHeld,
               ArrayRef<unsigned> over) {
    extents.push_back(extent);
    reductions.push_back(reduction);
    held.push_back(isHeld);
    axes.emplace_back(over);
    ranges.emplace_back();
    return extents.size() - 1;
  }
};

using TermList = SmallVector<std::pair<unsigned, int64_t>>;

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

/// What devices hold of dim `dim` of a windowed operand, as a loop.
unsigned addHeldLoop(Loops &loops, Value operand, unsigned dim) {
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

mlir::AffineMap toMap(ArrayRef<TermList> dims, unsigned numLoops,
                      MLIRContext *context) {
  SmallVector<mlir::AffineExpr> exprs;
  for (const TermList &dim : dims) {
    mlir::AffineExpr expr = mlir::getAffineConstantExpr(0, context);
    for (auto [loop, coefficient] : dim)
      expr = expr + mlir::getAffineDimExpr(loop, context) * coefficient;
    exprs.push_back(expr);
  }
  return mlir::AffineMap::get(numLoops, 0, exprs, context);
}

FailureOr<LibraryCallOp> formCall(Operation *op,
                                  const LibraryDescription &description) {
  const RunningOp running(op, cast<ShardedOpInterface>(op).getShardingRule());
  const auto &[rule, operands, results, sharding] = running;
  const Mesh &mesh = results.front().mesh();

  Loops loops;
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    loops.add(factor.size, factor.kind == FactorKind::Reduced,
              factor.kind == FactorKind::Whole, sharding.factors.axes[f]);
  SmallVector<SmallVector<TermList>> accesses;
  for (auto [i, dims] : llvm::enumerate(rule.operands)) {
    auto &access = accesses.emplace_back(indexDims(rule, dims));
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (rule.windowOf(i, dim))
        access[dim] = {{addHeldLoop(loops, op->getOperand(i), dim), 1}};
  }
  for (const ShardingRule::Tensor &dims : rule.results)
    accesses.push_back(indexDims(rule, dims));

  OpBuilder b(op);
  unsigned numLoops = loops.extents.size();
  SmallVector<Attribute> maps, axes, ranges;
  for (ArrayRef<TermList> access : accesses)
    maps.push_back(
        mlir::AffineMapAttr::get(toMap(access, numLoops, b.getContext())));
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    SmallVector<Attribute> names;
    for (unsigned axis : loops.axes[loop])
      names.push_back(b.getStringAttr(mesh.axes()[axis].name));
    axes.push_back(b.getArrayAttr(names));
    ranges.push_back(b.getDenseI64ArrayAttr(loops.ranges[loop]));
  }
  auto call = b.create<LibraryCallOp>(
      op->getLoc(), op->getResultTypes(), description.callee, op->getOperands(),
      loops.extents, loops.reductions, b.getArrayAttr(axes), loops.held,
      b.getArrayAttr(ranges), b.getArrayAttr(maps),
      SmallVector<int32_t>(op->getNumResults(), -1), description.values.get(),
      description.config, description.flops);
  if (!description.scalarResults.empty() &&
      failed(buildScalarFunction(
          description.scalarArguments, description.scalarResults,
          layoutAttrOf(op->getResult(0).getType()).getMeshAttr(),
          call.getScalar())))
    return failure();
  return call;
}
} // namespace

LogicalResult meshloom::formLibraryCalls(mlir::func::FuncOp func) {
  for (Block *block : runBlocks(func))
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      auto description = describeLibraryCall(&op);
      if (!description)
        continue;
      auto call = formCall(&op, *description);
      if (failed(call))
        return failure();
      op.replaceAllUsesWith(call->getOutputs());
      op.erase();
    }
  return success();
}
