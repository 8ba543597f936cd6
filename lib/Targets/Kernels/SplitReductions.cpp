// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A reduction loop of parts * terms iterations becomes a parallel loop over the
// parts and a reduction loop over the terms of one:
//
//   %s = kernel loops [reduce 4096, 768] outs (sum (i, j) -> (j))
//   // becomes
//   %p = kernel loops [reduce 256, 768, 16] outs (sum (i, j, p) -> (p, j))
//   %s = kernel loops [768, reduce 16] outs (sum (j, p) -> (j))
//
// A loop that is cut over mesh axes leaves these to its parts, so that a part
// is in one shard. The parts' results keep the width in which terms are summed.
#include "SplitReductions.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"

using namespace meshloom;
using mlir::AffineExpr;
using mlir::AffineMap;
using spmd::KernelOp;
using spmd::Reducer;
namespace arith = mlir::arith;

namespace {

/// How one reduction loop is cut: `parts` of all shards, of `terms` each.
struct Cut {
  unsigned loop;
  int64_t parts, terms;
};

/// Returns whether parts of the terms can be reduced in a kernel of their own,
/// whose results a tensor can hold.
bool isSplittable(KernelOp kernel) {
  if (!kernel.hasReductionLoops() || kernel.getHeld() ||
      isDeterministic(kernel))
    return false;
  return llvm::all_of(llvm::seq(kernel.getNumResults()), [&](unsigned i) {
    switch (kernel.getReducer(i)) {
    case Reducer::ArgMax:
    case Reducer::ArgMin:
      return false;
    case Reducer::Prod: // f32 is multiplied in f64
      return !dtensor::elementTypeOf(kernel.getResult(i).getType()).isF32();
    default:
      return true;
    }
  });
}

int64_t largestDivisor(int64_t number, int64_t most) {
  int64_t divisor = std::min(number, most);
  while (number % divisor != 0)
    --divisor;
  return divisor;
}

/// The cut into the most parts, but no more than `most` of each shard.
std::optional<Cut> findCut(KernelOp kernel, int64_t most) {
  // Fewer parts are not worth a second kernel.
  constexpr int64_t fewestParts = 4;
  const auto axes = kernel.getAxisIndices();
  int64_t mostFound = fewestParts - 1;
  std::optional<Cut> cut;
  for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop) {
    int64_t shards = 1;
    for (unsigned axis : axes[loop])
      shards *= kernel.getMesh().axis_size(axis);
    const int64_t extent = kernel.getExtents()[loop];
    if (!kernel.getReductions()[loop] || !kernel.getLoopRanges(loop).empty() ||
        extent == 0 || extent % shards != 0)
      continue;
    const int64_t parts = largestDivisor(extent / shards, most);
    if (parts <= mostFound)
      continue;
    mostFound = parts;
    cut = {loop, parts * shards, extent / shards / parts};
  }
  return cut;
}

class Splitter {
public:
  Splitter(KernelOp kernel, const Cut &cut)
      : kernel(kernel), cut(cut), b(kernel), loc(kernel.getLoc()),
        partLoop(kernel.getNumLoops()) {}

  void run() {
    const LoopOrder order = loopOrder(kernel);
    partsLast = order.vectorIsReduction;
    KernelOp ofParts = reduceParts();
    KernelOp ofResults = combineParts(ofParts);
    unsigned next = 0;
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      kernel.getResult(i).replaceAllUsesWith(
          isReduced(i) ? ofResults.getResult(next++) : ofParts.getResult(i));
    for (KernelOp half : {ofParts, ofResults})
      half->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    kernel.erase();
  }

private:
  bool isReduced(unsigned output) {
    return kernel.getReducer(output) != Reducer::None;
  }

  /// `values`, one a dim of a result, with `part` for the dim of the parts.
  template <typename T> SmallVector<T> withPart(ArrayRef<T> values, T part) {
    SmallVector<T> extended(values);
    extended.insert(partsLast ? extended.end() : extended.begin(), part);
    return extended;
  }

  /// The type of the parts' results of output `output`.
  Type typeOfParts(unsigned output, Type yielded) {
    auto type = cast<RankedTensorType>(kernel.getResult(output).getType());
    const Layout layout = spmd::layoutOf(type);
    const SmallVector<unsigned> axes = kernel.getAxisIndices()[cut.loop];
    Layout::DimAxes dims = layout.dim_axes();
    dims.insert(partsLast ? dims.end() : dims.begin(),
                std::vector<unsigned>(axes.begin(), axes.end()));
    std::vector<Partial> partial(layout.partial().begin(),
                                 layout.partial().end());
    std::erase_if(partial, [&](const Partial &pending) {
      return llvm::is_contained(axes, pending.axis);
    });
    const Type element = type.getElementType();
    const bool isNarrow = element.isBF16() || element.isF16();
    return spmd::shardType(
        withPart<int64_t>(spmd::globalShape(type), cut.parts),
        isNarrow ? yielded : element,
        dtensor::LayoutAttr::get(b.getContext(),
                                 *Layout::get(layout.mesh(), dims, partial)));
  }

  /// Reduces the terms of each part.
  KernelOp reduceParts() {
    MLIRContext *context = b.getContext();
    const unsigned loops = kernel.getNumLoops();
    SmallVector<int64_t> extents(kernel.getExtents());
    SmallVector<bool> reductions(kernel.getReductions());
    SmallVector<Attribute> axes(kernel.getAxes().getValue());
    extents.push_back(cut.parts);
    extents[cut.loop] = cut.terms;
    reductions.push_back(false);
    axes.push_back(std::exchange(axes[cut.loop], b.getArrayAttr({})));
    mlir::ArrayAttr ranges;
    if (auto present = kernel.getRanges()) {
      SmallVector<Attribute> extended(present->getValue());
      extended.push_back(b.getDenseI64ArrayAttr({}));
      ranges = b.getArrayAttr(extended);
    }
    SmallVector<AffineExpr> whole;
    for (unsigned loop = 0; loop < loops; ++loop)
      whole.push_back(mlir::getAffineDimExpr(loop, context));
    const AffineExpr part = mlir::getAffineDimExpr(partLoop, context);
    whole[cut.loop] = part * cut.terms + whole[cut.loop];
    SmallVector<Attribute> accesses;
    SmallVector<Type> types;
    const unsigned numInputs = kernel.getInputs().size();
    Operation *yield = kernel.getBlock()->getTerminator();
    for (unsigned i = 0; i < kernel.getAccesses().size(); ++i) {
      AffineMap map = kernel.getInputAccess(i).replaceDimsAndSymbols(
          whole, {}, loops + 1, 0);
      if (i >= numInputs) {
        const unsigned output = i - numInputs;
        types.push_back(kernel.getResult(output).getType());
        if (isReduced(output)) {
          types.back() =
              typeOfParts(output, yield->getOperand(output).getType());
          map = AffineMap::get(loops + 1, 0, withPart(map.getResults(), part),
                               context);
        }
      }
      accesses.push_back(mlir::AffineMapAttr::get(map));
    }
    auto parts = b.create<KernelOp>(
        loc, types, kernel.getInputs(), b.getDenseI64ArrayAttr(extents),
        b.getDenseBoolArrayAttr(reductions), b.getArrayAttr(axes),
        b.getArrayAttr(accesses), kernel.getReducersAttr(),
        kernel.getInPlaceAttr(), ranges, nullptr);
    parts.getBody().takeBody(kernel.getBody());
    replaceIndices(parts);
    return parts;
  }

  /// The body knows the cut loop by its two halves.
  void replaceIndices(KernelOp parts) {
    for (auto index : llvm::make_early_inc_range(
             parts.getBlock()->getOps<spmd::IndexOp>())) {
      if (index.getLoop() != cut.loop)
        continue;
      OpBuilder body(index);
      Value part = body.create<spmd::IndexOp>(loc, b.getI64Type(), partLoop);
      Value terms = body.create<arith::ConstantIntOp>(loc, cut.terms, 64);
      Value first = body.create<arith::MulIOp>(loc, part, terms);
      body.setInsertionPointAfter(index);
      auto whole = body.create<arith::AddIOp>(loc, first, index);
      index.getResult().replaceAllUsesExcept(whole, whole);
    }
  }

  /// Reduces the results of the parts: loops are the parallel ones, then the
  /// parts.
  KernelOp combineParts(KernelOp parts) {
    MLIRContext *context = b.getContext();
    SmallVector<int64_t> extents;
    SmallVector<Attribute> axes, ranges;
    SmallVector<AffineExpr> newLoop(kernel.getNumLoops());
    auto addLoop = [&](KernelOp from, unsigned loop) {
      extents.push_back(from.getExtents()[loop]);
      axes.push_back(from.getAxes()[loop]);
      if (from.getRanges())
        ranges.push_back((*from.getRanges())[loop]);
      return mlir::getAffineDimExpr(extents.size() - 1, context);
    };
    for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
      if (!kernel.getReductions()[loop])
        newLoop[loop] = addLoop(kernel, loop);
    const AffineExpr part = addLoop(parts, partLoop);
    SmallVector<bool> reductions(extents.size(), false);
    reductions.back() = true;
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Attribute> inputAccesses, outputAccesses;
    SmallVector<int32_t> reducers;
    for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
      if (!isReduced(i))
        continue;
      AffineMap map = kernel.getOutputAccess(i);
      SmallVector<AffineExpr> dims;
      for (AffineExpr dim : map.getResults())
        dims.push_back(dim.replaceDims(newLoop));
      auto access = [&](ArrayRef<AffineExpr> results) {
        return mlir::AffineMapAttr::get(
            AffineMap::get(extents.size(), 0, results, context));
      };
      inputs.push_back(parts.getResult(i));
      inputAccesses.push_back(access(withPart<AffineExpr>(dims, part)));
      outputAccesses.push_back(access(dims));
      types.push_back(kernel.getResult(i).getType());
      reducers.push_back(kernel.getReducers()[i]);
    }
    inputAccesses.append(outputAccesses);
    auto results = b.create<KernelOp>(
        loc, types, inputs, b.getDenseI64ArrayAttr(extents),
        b.getDenseBoolArrayAttr(reductions), b.getArrayAttr(axes),
        b.getArrayAttr(inputAccesses), b.getDenseI32ArrayAttr(reducers),
        b.getDenseI32ArrayAttr(SmallVector<int32_t>(types.size(), -1)),
        ranges.empty() ? nullptr : b.getArrayAttr(ranges), nullptr);
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&results.getBody());
    for (Value input : inputs)
      body->addArgument(
          KernelOp::scalarType(dtensor::elementTypeOf(input.getType())), loc);
    b.create<spmd::YieldOp>(loc, body->getArguments());
    return results;
  }

  KernelOp kernel;
  Cut cut;
  OpBuilder b;
  Location loc;
  unsigned partLoop;
  bool partsLast = false;
};
} // namespace

void meshloom::splitReductions(Block &block, const KernelPolicy &policy) {
  for (KernelOp kernel : llvm::make_early_inc_range(block.getOps<KernelOp>())) {
    if (!isSplittable(kernel))
      continue;
    const int64_t most = policy.reductionParts(kernel);
    if (most <= 1)
      continue;
    if (std::optional<Cut> cut = findCut(kernel, most))
      Splitter(kernel, *cut).run();
  }
}
