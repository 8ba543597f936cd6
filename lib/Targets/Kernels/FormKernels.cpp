// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --spmd-form-kernels: local math becomes spmd.kernel ops. KernelGroups decides
// what goes together, KernelBuilder writes each kernel, OverwriteDeadInputs
// lets outputs take the memory of inputs that nobody reads afterwards,
// MaskedProducts says what of a product a mask hides.
#include "CombinedSlices.h"
#include "ComplexLowering.h"
#include "JoinedReads.h"
#include "KernelBuilder.h"
#include "KernelGroups.h"
#include "KernelParts.h"
#include "LibraryCalls.h"
#include "LoopCalls.h"
#include "MaskedProducts.h"
#include "NumberGathers.h"
#include "OuterProducts.h"
#include "OverwriteDeadInputs.h"
#include "PickedElements.h"
#include "PlainKernels.h"
#include "ProductTypes.h"
#include "RowCalls.h"
#include "ScatterIntoSums.h"
#include "SolverCalls.h"
#include "SplitReductions.h"
#include "WrappedIndices.h"

#include "meshloom/ControlFlow/BlockOrder.h"
#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Dialect/DTensor/Inlined.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"
#include "meshloom/Targets/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/RegionUtils.h"

#include <numeric>

namespace meshloom {
#define GEN_PASS_DEF_FORMKERNELS
#include "meshloom/Targets/Kernels/Passes.h.inc"
} // namespace meshloom

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;
using spmd::Reducer;
using spmd::ShardAttr;
namespace arith = mlir::arith;

namespace {

/// The dims of a value as the loops that run over it.
SmallVector<DomainDim> domainDims(Value value) {
  auto shard =
      cast<ShardAttr>(cast<RankedTensorType>(value.getType()).getEncoding());
  Layout layout = shard.getLayout().getLayout();
  SmallVector<DomainDim> dims;
  for (auto [i, extent] : llvm::enumerate(shard.getGlobalShape()))
    dims.push_back(
        {extent, false, llvm::to_vector(ArrayRef(layout.dim_axes()[i]))});
  return dims;
}

SmallVector<unsigned> allDims(unsigned rank) {
  return llvm::to_vector(llvm::seq(rank));
}

/// Returns whether the ends of dims, counted in elements from the right, all
/// divide or are divided by those of the other shape.
bool nests(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto ends = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> result;
    int64_t product = 1;
    for (int64_t size : llvm::reverse(shape))
      result.push_back(product *= size);
    return result;
  };
  for (int64_t a : ends(from))
    for (int64_t b : ends(to))
      if (std::max(a, b) % std::min(a, b) != 0)
        return false;
  return true;
}

/// A reshape of dims that do not nest, [6, 4] -> [8, 3], goes over one dim that
/// is kept in memory, [6, 4] -> [24] -> [8, 3], with one more for each factor
/// that is sharded, [2, 5, 6] -> [2, 30] -> [6, 10]: each half is linear in
/// loops.
void splitReshapes(Block &block, DenseSet<Value> &inMemory) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto reshape = dyn_cast<ReshapeOp>(op);
    if (!reshape)
      continue;
    SmallVector<int64_t> from = globalShape(reshape.getOperand().getType());
    SmallVector<int64_t> to = globalShape(reshape.getType());
    if (llvm::is_contained(from, 0))
      continue;
    Layout layout = spmd::layoutOf(reshape.getType());
    ShardingRule rule = reshape.getShardingRule();
    OpSharding sharding = opSharding(
        rule, {{spmd::layoutOf(reshape.getOperand().getType())}}, {{layout}});
    SmallVector<int64_t> middle;
    Layout::DimAxes axes;
    bool needed = false;
    unsigned i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
      unsigned iBegin = i, jBegin = j;
      int64_t fromExtent = i < from.size() ? from[i++] : 1;
      int64_t right = j < to.size() ? to[j++] : 1;
      while (fromExtent != right)
        fromExtent < right ? fromExtent *= from[i++] : right *= to[j++];
      if (nests(ArrayRef(from).slice(iBegin, i - iBegin),
                ArrayRef(to).slice(jBegin, j - jBegin))) {
        for (unsigned dim = jBegin; dim < j; ++dim) {
          middle.push_back(to[dim]);
          axes.push_back(layout.dim_axes()[dim]);
        }
        continue;
      }
      // Sharded factors precede all others of the run (canShard).
      for (unsigned dim = jBegin; dim < j; ++dim)
        for (unsigned factor : rule.results.front()[dim])
          if (const auto &on = sharding.factors.axes[factor]; !on.empty()) {
            middle.push_back(rule.factors[factor].size);
            axes.push_back(on);
            fromExtent /= middle.back();
          }
      middle.push_back(fromExtent);
      axes.emplace_back();
      needed = true;
    }
    if (!needed)
      continue;
    auto flatLayout =
        Layout::get(layout.mesh(), axes,
                    {layout.partial().begin(), layout.partial().end()});
    OpBuilder b(reshape);
    Value flat = b.create<ReshapeOp>(
        reshape.getLoc(),
        spmd::shardType(middle, elementTypeOf(reshape.getType()),
                        LayoutAttr::get(b.getContext(), *flatLayout)),
        reshape.getOperand());
    reshape.getOperandMutable().assign(flat);
    inMemory.insert(flat);
  }
}

/// Returns whether a library call is there for what it does.
bool hasEffects(Operation *op) {
  auto call = dyn_cast<spmd::LibraryCallOp>(op);
  auto options = call ? call.getOptions() : std::optional<DictionaryAttr>();
  auto flag = options ? options->getAs<mlir::BoolAttr>("has_effects")
                      : mlir::BoolAttr();
  return flag && flag.getValue();
}

/// Forms the kernels of one block.
class KernelFormer {
public:
  KernelFormer(Block &block, const KernelPolicy &policy,
               DenseSet<Value> &inMemory)
      : block(block), policy(policy), inMemory(inMemory),
        groups(block, policy, inMemory) {}

  /// Builds all kernels. Where some cannot be built, undoes everything, adds
  /// the values that must be in memory for them to `inMemory`, and fails.
  LogicalResult run() {
    // All of them, not only the first: each time all groups are found again.
    bool complete = true;
    for (auto &group : groups.groups())
      complete &= succeeded(formGroup(*group));
    for (Operation &op : block) {
      LogicalResult formed = success();
      if (isGeneratedDot(&op, policy))
        formed = formDot(cast<DotGeneralOp>(op));
      else if (isAssembled(&op) && !joinsIndices(&op))
        formed = formParts(&op);
      else if (isInlinable(&op) && !groups.groupOf(&op) && !isSplat(&op) &&
               isNeededInMemory(op.getResult(0)))
        formed = formSingle(&op);
      complete &= succeeded(formed);
    }
    if (!complete)
      return giveUp();
    for (auto &[value, kernel] : replacements)
      value.replaceAllUsesWith(kernel);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (mlir::isOpTriviallyDead(&op) && !hasEffects(&op))
        op.erase();
    sortByUse(block);
    return success();
  }

private:
  LogicalResult giveUp() {
    for (KernelOp kernel : llvm::reverse(kernels))
      kernel->dropAllUses();
    for (KernelOp kernel : kernels)
      kernel->erase();
    return failure();
  }

  /// A source or move that an op outside of kernels reads, or a kernel by
  /// indices.
  bool isNeededInMemory(Value value) {
    if (inMemory.contains(value))
      return true;
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isTableOf(user, value) ||
             (!isInlinable(user) && !isReduction(user) &&
              !isGeneratedDot(user, policy) && !isAssembled(user));
    });
  }

  /// `home`: the group whose ops are computed in the kernel.
  KernelPlan makePlan(Operation *anchor, SmallVector<DomainDim> domain,
                      const KernelGroup *home) {
    KernelPlan plan{anchor->getLoc(), std::move(domain), {}, {}};
    plan.isInlined = [this, home](Value value) {
      if (inMemory.contains(value))
        return false;
      // A value that is computed outside of a loop is not computed again in it.
      if (value.getParentBlock() != &block)
        return isMovement(value.getDefiningOp()) ||
               isa<IotaOp>(value.getDefiningOp());
      KernelGroup *owner = groups.groupOf(value.getDefiningOp());
      return !owner || owner == home || !groups.isStored(value);
    };
    return plan;
  }

  LogicalResult form(const KernelPlan &plan, Operation *anchor,
                     ArrayRef<Operation *> ops) {
    OpBuilder builder(anchor->getContext());
    builder.setInsertionPointAfter(anchor);
    KernelBuilder kernelBuilder(plan);
    auto kernel = kernelBuilder.build(builder);
    if (failed(kernel)) {
      assert(kernelBuilder.obstacle && "only reshapes are in the way");
      inMemory.insert(kernelBuilder.obstacle);
      return failure();
    }
    kernels.push_back(*kernel);
    (*kernel)->setAttr("ops", describe(ops, builder));
    for (auto [output, result] : llvm::zip(plan.outputs, kernel->getOutputs()))
      replacements.push_back({output.result, result});
    return success();
  }

  /// The names of the ops, for people: "add, maximum".
  static StringAttr describe(ArrayRef<Operation *> ops, OpBuilder &builder) {
    constexpr unsigned most = 4;
    SmallVector<StringRef> names;
    for (Operation *op : ops) {
      StringRef name = op->getName().stripDialect();
      if (!llvm::is_contained(names, name))
        names.push_back(name);
    }
    std::string text = llvm::join(ArrayRef(names).take_front(most), ", ");
    if (names.size() > most)
      text += ", ...";
    return builder.getStringAttr(text);
  }

  /// Returns a transpose that should be in memory for the group: its kernel
  /// walks along the last dim, which it reduces and along which it stores
  /// values, and neighbours there are far apart in the tensor that is
  /// transposed: a line of the cache is gone before its next element is read.
  /// Null where there is none.
  Value findFarOperand(const KernelGroup &group) {
    constexpr int64_t fewElements = 1 << 14, shortRow = 256, shortStride = 16;
    const SmallVector<int64_t> shape(group.domain.getGlobalShape());
    const int64_t last = int64_t(shape.size()) - 1;
    if (!group.reduced || !llvm::is_contained(*group.reduced, last) ||
        shape[last] < shortRow ||
        mlir::ShapedType::getNumElements(shape) < fewElements ||
        llvm::none_of(
            group.ops,
            [&](Operation *op) {
              return !isReduction(op) && groups.isStored(op->getResult(0));
            }))
      return {};
    for (Operation *op : group.ops)
      for (Value operand : op->getOperands()) {
        auto transpose = operand.getDefiningOp<TransposeOp>();
        if (transpose && !inMemory.contains(operand) &&
            strideOf(transpose, last) >= shortStride)
          return operand;
      }
    return {};
  }

  /// The distance of a transpose's neighbours along `dim` in its operand.
  static int64_t strideOf(TransposeOp transpose, int64_t dim) {
    const SmallVector<int64_t> shape =
        globalShape(transpose.getOperand().getType());
    return mlir::ShapedType::getNumElements(
        ArrayRef(shape).drop_front(transpose.getPermutation()[dim] + 1));
  }

  LogicalResult formGroup(const KernelGroup &group) {
    if (Value far = findFarOperand(group)) {
      inMemory.insert(far);
      return failure();
    }
    Value sample = group.ops.front()->getNumResults() == 1 &&
                           !isReduction(group.ops.front())
                       ? Value(group.ops.front()->getResult(0))
                       : group.ops.front()->getOperand(0);
    SmallVector<DomainDim> domain = domainDims(sample);
    if (group.reduced)
      for (int64_t dim : *group.reduced)
        domain[dim].reduction = true;
    // A reduction of no dims is its operand.
    KernelPlan plan = makePlan(group.ops.back(), std::move(domain), &group);
    SmallVector<unsigned> domainDims = allDims(plan.domain.size()), kept;
    for (unsigned dim : domainDims)
      if (!plan.domain[dim].reduction)
        kept.push_back(dim);
    bool reduces = kept.size() != domainDims.size();
    for (Operation *op : group.ops) {
      if (!isReduction(op)) {
        if (groups.isStored(op->getResult(0)))
          plan.outputs.push_back(
              {op->getResult(0), op->getResult(0), Reducer::None, domainDims});
        continue;
      }
      for (auto [source, result] :
           llvm::zip(op->getOperands(), op->getResults()))
        plan.outputs.push_back(
            {result, source, reduces ? reductionOf(op)->reducer : Reducer::None,
             kept});
    }
    if (plan.outputs.empty())
      return success(); // computed by its users
    return form(plan, group.ops.back(), group.ops);
  }

  LogicalResult formSingle(Operation *op) {
    KernelPlan plan = makePlan(op, domainDims(op->getResult(0)), nullptr);
    plan.outputs.push_back({op->getResult(0), op->getResult(0), Reducer::None,
                            allDims(plan.domain.size())});
    return form(plan, op, op);
  }

  /// Loops: the result's dims, then the contracted ones.
  LogicalResult formDot(DotGeneralOp op) {
    KernelPlan plan = makePlan(op, domainDims(op.getResult()), nullptr);
    unsigned rank = plan.domain.size();
    SmallVector<DomainDim> lhsDims = domainDims(op.getLhs());
    SmallVector<unsigned> lhsLoops(lhsDims.size()),
        rhsLoops(domainDims(op.getRhs()).size());
    unsigned next = 0;
    for (auto [l, r] : llvm::zip(op.getLhsBatchingDimensions(),
                                 op.getRhsBatchingDimensions()))
      lhsLoops[l] = rhsLoops[r] = next++;
    for (int64_t l : op.getLhsFreeDimensions())
      lhsLoops[l] = next++;
    for (int64_t r : op.getRhsFreeDimensions())
      rhsLoops[r] = next++;
    for (auto [l, r] : llvm::zip(op.getLhsContractingDimensions(),
                                 op.getRhsContractingDimensions())) {
      lhsLoops[l] = rhsLoops[r] = next++;
      plan.domain.push_back(lhsDims[l]);
      plan.domain.back().reduction = true;
    }
    bool reduces = plan.domain.size() != rank;
    KernelOutput output{op.getResult(), op.getResult(),
                        reduces ? Reducer::Sum : Reducer::None, allDims(rank)};
    output.emit = [&](KernelBuilder &builder) -> FailureOr<Value> {
      auto access = [&](ArrayRef<unsigned> loops) {
        TensorAccess result;
        for (unsigned loop : loops)
          result.push_back(builder.domainIndex(loop));
        return result;
      };
      auto lhs = builder.scalarAt(op.getLhs(), access(lhsLoops));
      auto rhs = builder.scalarAt(op.getRhs(), access(rhsLoops));
      if (failed(lhs) || failed(rhs))
        return failure();
      return multiply(*lhs, *rhs, reduces, builder.body(), op.getLoc());
    };
    plan.outputs.push_back(std::move(output));
    return form(plan, op, op.getOperation());
  }

  static Value multiply(Value lhs, Value rhs, bool keepWide, OpBuilder &b,
                        Location loc) {
    Type type = lhs.getType();
    if (type.isInteger(1))
      return b.create<arith::AndIOp>(loc, lhs, rhs);
    if (isa<IntegerType>(type))
      return b.create<arith::MulIOp>(loc, lhs, rhs);
    if (isa<mlir::ComplexType>(type))
      return joinParts(
          multiplyComplex(partsOf(lhs, b, loc), partsOf(rhs, b, loc), b, loc),
          b, loc);
    if (!type.isBF16() && !type.isF16())
      return b.create<arith::MulFOp>(loc, lhs, rhs);
    auto widen = [&](Value value) {
      return b.create<arith::ExtFOp>(loc, b.getF32Type(), value);
    };
    Value product = b.create<arith::MulFOp>(loc, widen(lhs), widen(rhs));
    if (keepWide)
      return product;
    return b.create<arith::TruncFOp>(loc, type, product);
  }

  /// One kernel a part; each but the first keeps what the earlier ones wrote.
  LogicalResult formParts(Operation *op) {
    Value result = op->getResult(0), written;
    SmallVector<DomainDim> dims = domainDims(result);
    Mesh mesh = spmd::layoutOf(result.getType()).mesh();
    for (const KernelPart &part : partsOf(op)) {
      KernelPlan plan = makePlan(op, dims, nullptr);
      KernelOutput output{result, result, Reducer::None, allDims(dims.size())};
      for (auto [d, dim] : llvm::enumerate(part.dims)) {
        DomainDim &loop = plan.domain[d];
        output.places.push_back({dim.resultBegin, dim.resultStep});
        if (!loop.axes.empty() && dim.extent != loop.extent)
          loop.ranges = partRanges(dim, loop.extent, loop.axes, mesh);
        loop.extent = dim.extent;
      }
      output.emit = [&](KernelBuilder &builder) -> FailureOr<Value> {
        if (!part.source)
          return builder.zeroOf(elementTypeOf(result.getType()));
        if (part.isFill)
          return builder.scalarAt(part.source, {});
        TensorAccess access;
        for (auto [d, dim] : llvm::enumerate(part.dims))
          access.push_back(
              builder.domainIndex(d, dim.sourceBegin, dim.sourceStep));
        return builder.scalarAt(part.source, access);
      };
      output.over = written;
      plan.outputs.push_back(std::move(output));
      Operation *anchor = written ? written.getDefiningOp() : op;
      if (failed(form(plan, anchor, op)))
        return failure();
      if (written)
        replacements.erase(replacements.end() - 2);
      written = kernels.back().getOutputs().front();
    }
    return success();
  }

  Block &block;
  const KernelPolicy &policy;
  DenseSet<Value> &inMemory;
  KernelGroups groups;
  SmallVector<KernelOp> kernels;
  SmallVector<std::pair<Value, Value>> replacements;
};

/// Replaces regions that end here by their ops. CSE and the forming of kernels,
/// which would merge these with ops outside, are over.
void inlineRegions(mlir::func::FuncOp func) {
  SmallVector<CaseOp> regions;
  func.walk([&](CaseOp op) {
    if (op->hasAttr(inlinedAttr))
      regions.push_back(op);
  });
  for (CaseOp region : regions) {
    Block &body = region.getBranches()[0].front();
    Operation *yield = body.getTerminator();
    region->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    region->getBlock()->getOperations().splice(region->getIterator(),
                                               body.getOperations());
    region->erase();
  }
}

/// Returns whether a kernel reduces so few terms to a result that several
/// threads would have too little to do.
bool hasVeryFewTerms(KernelOp kernel) {
  constexpr int64_t fewest = 16;
  int64_t terms = 1;
  for (auto [extent, reduced] :
       llvm::zip_equal(kernel.getExtents(), kernel.getReductions()))
    if (reduced)
      terms *= extent;
  return kernel.hasReductionLoops() && terms < fewest;
}

/// Returns how many tenths of a nanosecond an op takes of a step, on two cores;
/// most take longer.
int64_t leastCost(Operation *op) {
  constexpr int64_t computed = 8, multiplied = 64;
  if (auto kernel = dyn_cast<KernelOp>(op))
    return (1 + flopsOf(kernel)) * kernel.getNumIterations() / computed;
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    auto sharded = cast<ShardedOpInterface>(op);
    const ShardingRule rule = sharded.getShardingRule();
    return sharded.getCost(rule).total(rule) / multiplied;
  }
  auto call = dyn_cast<spmd::LibraryCallOp>(op);
  if (!call)
    return 0;
  int64_t elements = 0, written = 0;
  for (Type type : call->getOperandTypes())
    elements += cast<RankedTensorType>(type).getNumElements();
  for (auto [type, over] :
       llvm::zip_equal(call->getResultTypes(), call.getInPlace())) {
    const int64_t size = cast<RankedTensorType>(type).getNumElements();
    elements += size;
    written += over < 0 ? size : 0;
  }
  // The library has ways that need fewer flops than an op's definition.
  return std::max(std::min(int64_t(call.getFlops()) / multiplied, elements),
                  written);
}

struct FormKernelsPass : impl::FormKernelsBase<FormKernelsPass> {
  explicit FormKernelsPass(const KernelPolicy &policy = {}) : policy(policy) {}

  void runOnOperation() override {
    mlir::func::FuncOp func = getOperation();
    if (func.isExternal())
      return;
    SmallVector<Block *> blocks = runBlocks(func);
    for (Block *block : blocks)
      for (Operation &op : *block)
        for (Value result : op.getResults())
          if (!isShard(result.getType())) {
            op.emitOpError(
                "is not local yet: run --dtensor-expand-to-spmd first");
            return signalPassFailure();
          }
    // Inner blocks first: their kernels then tell what outer ones must store.
    DenseSet<Value> inMemory;
    for (Block *block : llvm::reverse(blocks)) {
      chooseProductTypes(*block, policy);
      multiplyOuterProducts(*block);
      combineSlices(*block, inMemory);
      if (policy.picksElements)
        pickElements(*block);
      else
        writeRollsByParts(*block);
      if (policy.callsSolver)
        callSolver(*block);
      scatterIntoSums(*block);
      readJoinedInPlace(*block, policy);
      splitReshapes(*block, inMemory);
      // Each failure puts one more value in memory; there are finitely many.
      while (failed(KernelFormer(*block, policy, inMemory).run()))
        ;
    }
    if (failed(formLibraryCalls(func)))
      return signalPassFailure();
    findMaskedProducts(func);
    hoistConstants(func);
    inlineRegions(func);
    // Loops that nothing uses any more are gone, with their blocks.
    blocks = runBlocks(func);
    for (Block *block : llvm::reverse(blocks))
      hoistInvariants(*block);
    // Inner blocks first: a loop in them is one call for the outer ones.
    for (Block *block : llvm::reverse(blocks)) {
      if (policy.reductionParts)
        splitReductions(*block, policy);
      if (policy.largeKernel > 0)
        for (auto kernel : block->getOps<KernelOp>())
          if (kernel.getNumIterations() >= policy.largeKernel &&
              !hasVeryFewTerms(kernel))
            markLarge(kernel);
      if (policy.joinsRows)
        formRowCalls(*block);
      if (policy.wholeLoops)
        formLoopCalls(*block);
      if (!policy.picksElements && block == &func.getBody().front())
        wrapIndicesInCalls(*block);
      overwriteDeadInputs(*block);
    }
    // Code of loops that are compiled whole calls no library.
    if (policy.callsPlainKernels)
      for (Block *block : runBlocks(func))
        callPlainKernels(*block);
    markSmallKernels(func);
    // A program would have the elements of all of them in memory.
    func.walk([](ConstantOp constant) {
      if (constant->use_empty())
        constant.erase();
    });
  }

  /// Marks the kernels that may be interpreted: those of a program that does
  /// little, all or none, as one that is compiled takes the time that the
  /// others would save; of other programs those that take a small part of a
  /// step.
  void markSmallKernels(mlir::func::FuncOp func) {
    if (policy.smallStep == 0)
      return;
    SmallVector<std::pair<int64_t, KernelOp>> candidates;
    int64_t cost = 0, step = 0;
    bool areAllCandidates = true;
    func.walk([&](Operation *op) {
      step += leastCost(op);
      auto kernel = dyn_cast<KernelOp>(op);
      if (!kernel)
        return;
      const bool isInLoop = kernel->getBlock() != &func.getBody().front();
      if (isInLoop || (kernel.hasReductionLoops() && isDeterministic(kernel))) {
        areAllCandidates = false;
        return;
      }
      candidates.emplace_back(interpretedCost(kernel), kernel);
      cost += candidates.back().first;
    });
    llvm::stable_sort(candidates, llvm::less_first());
    constexpr int64_t partOfStep = 64;
    int64_t budget =
        areAllCandidates && cost <= policy.smallStep ? cost : step / partOfStep;
    for (auto [kernelCost, kernel] : candidates) {
      budget -= kernelCost;
      if (budget < 0)
        return;
      markSmall(kernel);
    }
  }

  KernelPolicy policy;
};
} // namespace

std::unique_ptr<mlir::Pass>
meshloom::createFormKernels(const KernelPolicy &policy) {
  return std::make_unique<FormKernelsPass>(policy);
}
