// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of results: boxes of elements that lie at regular distances in both
// the source and the result.
#include "KernelParts.h"

#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

#include <array>

using namespace meshloom;
using namespace meshloom::dtensor;

/// Returns whether all elements of `pad` are those of its operand, or zeros
/// between, before and behind them along `dim`.
static bool spreadsAlong(PadOp pad, int64_t dim) {
  auto fill = pad.getFill().getDefiningOp<ConstantOp>();
  if (!pad->hasOneUse() || !fill || !spmd::windowsOf(pad.getType()).empty() ||
      !spmd::layoutOf(pad.getType()).dim_axes()[dim].empty() ||
      !(matchPattern(fill.getResult(), mlir::m_Zero()) ||
        matchPattern(fill.getResult(), mlir::m_AnyZeroFloat())))
    return false;
  for (int64_t d = 0; d < int64_t(pad.getInteriorPadding().size()); ++d)
    if (d != dim &&
        (pad.getInteriorPadding()[d] != 0 || pad.getEdgePaddingLow()[d] != 0 ||
         pad.getEdgePaddingHigh()[d] != 0))
      return false;
  return !llvm::is_contained(globalShape(pad.getOperand().getType()), 0) &&
         pad.getEdgePaddingLow()[dim] >= 0 &&
         pad.getEdgePaddingHigh()[dim] >= 0;
}

/// The tensors whose elements are next to each other in a result in turns. An
/// associative scan joins its parts so: add(pad(a), pad(b)), each with zeros
/// where the other one has its elements.
struct Turns {
  std::array<PadOp, 2> pads;
  int64_t dim;
};

static std::optional<Turns> turnsOf(Operation *op) {
  if (!isa<AddOp, OrOp>(op) ||
      spmd::layoutOf(op->getResult(0).getType()).is_partial())
    return std::nullopt;
  std::array<PadOp, 2> pads{op->getOperand(0).getDefiningOp<PadOp>(),
                            op->getOperand(1).getDefiningOp<PadOp>()};
  if (!pads[0] || !pads[1] || pads[0] == pads[1])
    return std::nullopt;
  for (auto [dim, between] : llvm::enumerate(pads[0].getInteriorPadding())) {
    if (between == 0)
      continue;
    const int64_t apart =
        pads[1].getEdgePaddingLow()[dim] - pads[0].getEdgePaddingLow()[dim];
    const int64_t elements = globalShape(pads[0].getOperand().getType())[dim] +
                             globalShape(pads[1].getOperand().getType())[dim];
    // Each place has an element of one of them.
    if (between == 1 && pads[1].getInteriorPadding()[dim] == 1 &&
        apart % 2 != 0 &&
        elements == globalShape(op->getResult(0).getType())[dim] &&
        spreadsAlong(pads[0], int64_t(dim)) &&
        spreadsAlong(pads[1], int64_t(dim)))
      return Turns{pads, int64_t(dim)};
    break;
  }
  return std::nullopt;
}

bool meshloom::isAssembled(Operation *op) {
  if (turnsOf(op))
    return true;
  auto moves = dyn_cast<IndexMapOpInterface>(op);
  return moves &&
         (moves.getNumSources() != 1 ||
          !llvm::all_of(moves.getIndexMap(0),
                        [](const SourceDim &dim) { return dim.isLinear(); }));
}

/// All of a tensor of shape `shape`, where it is.
static SmallVector<KernelPart::Dim> whole(ArrayRef<int64_t> shape) {
  SmallVector<KernelPart::Dim> dims;
  for (int64_t extent : shape)
    dims.push_back({extent});
  return dims;
}

/// The runs of result indices along one dim that a source's elements at regular
/// distances go to.
static SmallVector<KernelPart::Dim> runsOf(const SourceDim &map, int64_t from,
                                           int64_t to) {
  if (!map.indices) {
    // From the first element that lands in the result to the last one.
    int64_t step = map.divisor, low = -map.offset;
    int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(-low, step));
    int64_t end = std::min(from, llvm::divideCeilSigned(to - low, step));
    if (end <= first)
      return {};
    return {{end - first, first, 1, low + first * step, step}};
  }
  SmallVector<KernelPart::Dim> runs;
  ArrayRef<int64_t> indices = *map.indices;
  for (size_t begin = 0; begin < indices.size();) {
    size_t end = begin + 1;
    if (indices[begin] < 0) {
      begin = end;
      continue;
    }
    int64_t step = 1;
    if (end < indices.size() && indices[end] >= 0)
      step = indices[end] - indices[begin];
    while (end < indices.size() && indices[end] >= 0 &&
           indices[end] - indices[end - 1] == step)
      ++end;
    int64_t extent = int64_t(end - begin);
    runs.push_back(
        {extent, indices[begin], extent > 1 ? step : 1, int64_t(begin), 1});
    begin = end;
  }
  return runs;
}

/// The parts of tensors that take turns. Where one is joined of others and
/// nothing else reads it, they are written straight away.
static SmallVector<KernelPart> partsOf(const Turns &turns) {
  SmallVector<KernelPart> parts;
  for (PadOp pad : turns.pads) {
    const KernelPart part = partsOf(pad.getOperation()).back();
    auto joined = pad.getOperand().getDefiningOp<ConcatenateOp>();
    // Kernels that are being formed read it, too.
    if (!joined || !llvm::all_of(joined->getUsers(), [&](Operation *user) {
          return user == pad || isa<spmd::KernelOp>(user);
        })) {
      parts.push_back(part);
      continue;
    }
    for (KernelPart inner : partsOf(joined.getOperation())) {
      for (auto [dim, outer] : llvm::zip_equal(inner.dims, part.dims)) {
        dim.resultBegin =
            outer.resultBegin + dim.resultBegin * outer.resultStep;
        dim.resultStep *= outer.resultStep;
      }
      parts.push_back(std::move(inner));
    }
  }
  return parts;
}

SmallVector<KernelPart> meshloom::partsOf(Operation *op) {
  if (const auto turns = turnsOf(op))
    return ::partsOf(*turns);
  auto moves = cast<IndexMapOpInterface>(op);
  SmallVector<int64_t> to = globalShape(op->getResult(0).getType());
  SmallVector<KernelPart> parts;
  Value fill = moves.getFill();
  bool fills = fill != nullptr;
  for (unsigned source = 0; source < moves.getNumSources(); ++source)
    for (const SourceDim &map : moves.getIndexMap(source))
      fills |= map.indices && llvm::is_contained(*map.indices, -1);
  if (fills)
    parts.push_back({fill, true, whole(to)});
  for (unsigned source = 0; source < moves.getNumSources(); ++source) {
    Value value = op->getOperand(source);
    SmallVector<int64_t> from = globalShape(value.getType());
    // Every run of one dim with every run of the others.
    SmallVector<KernelPart> boxes{{value, false, {}}};
    for (auto [dim, map] : llvm::enumerate(moves.getIndexMap(source))) {
      SmallVector<KernelPart> longer;
      for (const KernelPart &box : boxes)
        for (const KernelPart::Dim &run : runsOf(map, from[dim], to[dim])) {
          longer.push_back(box);
          longer.back().dims.push_back(run);
        }
      boxes = std::move(longer);
    }
    llvm::append_range(parts, boxes);
  }
  if (parts.empty()) // nothing is written, by a kernel that says so
    parts.push_back({Value(), true, whole(to)});
  return parts;
}

std::vector<Interval> meshloom::partRanges(const KernelPart::Dim &dim,
                                           int64_t extent,
                                           ArrayRef<unsigned> axes,
                                           const Mesh &mesh) {
  int64_t shards = 1;
  for (unsigned axis : axes)
    shards *= mesh.axis_size(axis);
  auto firstAt = [&](int64_t index) {
    return std::clamp<int64_t>(
        llvm::divideCeilSigned(index - dim.resultBegin, dim.resultStep), 0,
        dim.extent);
  };
  std::vector<Interval> ranges;
  for (int64_t shard = 0; shard < shards; ++shard) {
    Interval block = blockOf(extent, axes, mesh, shard);
    Interval range{firstAt(block.begin), firstAt(block.end)};
    if (range.empty())
      range.end = range.begin;
    ranges.push_back(range);
  }
  return ranges;
}
