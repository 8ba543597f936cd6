// The parts of results: boxes of elements that lie at regular distances in both
// the source and the result.
#include "KernelParts.h"

#include "llvm/Support/MathExtras.h"

using namespace meshloom;
using namespace meshloom::dtensor;

bool meshloom::isAssembled(Operation *op) {
  if (auto pad = dyn_cast<PadOp>(op))
    return llvm::any_of(pad.getInteriorPadding(),
                        [](int64_t count) { return count != 0; });
  return isa<ConcatenateOp, TakeOp>(op);
}

/// All of a tensor of shape `shape`, where it is.
static SmallVector<KernelPart::Dim> whole(ArrayRef<int64_t> shape) {
  SmallVector<KernelPart::Dim> dims;
  for (int64_t extent : shape)
    dims.push_back({extent});
  return dims;
}

static SmallVector<KernelPart> partsOf(ConcatenateOp op) {
  SmallVector<KernelPart> parts;
  int64_t begin = 0;
  for (Value input : op.getInputs()) {
    KernelPart part{input, false, whole(globalShape(input.getType()))};
    KernelPart::Dim &dim = part.dims[op.getDimension()];
    dim.resultBegin = begin;
    begin += dim.extent;
    if (dim.extent != 0)
      parts.push_back(std::move(part));
  }
  return parts;
}

/// Runs of indices at equal distances.
static SmallVector<KernelPart> partsOf(TakeOp op) {
  SmallVector<KernelPart> parts;
  ArrayRef<int64_t> indices = op.getIndices();
  if (llvm::is_contained(indices, -1))
    parts.push_back({Value(), true, whole(globalShape(op.getType()))});
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
    KernelPart part{op.getOperand(), false, whole(globalShape(op.getType()))};
    KernelPart::Dim &dim = part.dims[op.getDimension()];
    dim.extent = int64_t(end - begin);
    dim.sourceBegin = indices[begin];
    dim.sourceStep = dim.extent > 1 ? step : 1;
    dim.resultBegin = int64_t(begin);
    parts.push_back(std::move(part));
    begin = end;
  }
  return parts;
}

/// The padding everywhere, then the elements that land in the result.
static SmallVector<KernelPart> partsOf(PadOp op) {
  SmallVector<int64_t> from = globalShape(op.getOperand().getType());
  SmallVector<int64_t> to = globalShape(op.getType());
  SmallVector<KernelPart> parts;
  parts.push_back({op.getPaddingValue(), true, whole(to)});
  KernelPart part{op.getOperand(), false, whole(to)};
  for (auto [d, dim] : llvm::enumerate(part.dims)) {
    int64_t low = op.getEdgePaddingLow()[d],
            step = op.getInteriorPadding()[d] + 1;
    int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(-low, step));
    int64_t end = std::min(from[d], llvm::divideCeilSigned(to[d] - low, step));
    dim.extent = std::max<int64_t>(0, end - first);
    dim.sourceBegin = first;
    dim.resultBegin = low + first * step;
    dim.resultStep = step;
    if (dim.extent == 0)
      return parts;
  }
  parts.push_back(std::move(part));
  return parts;
}

SmallVector<KernelPart> meshloom::partsOf(Operation *op) {
  SmallVector<KernelPart> parts;
  if (auto concatenate = dyn_cast<ConcatenateOp>(op))
    parts = ::partsOf(concatenate);
  else if (auto take = dyn_cast<TakeOp>(op))
    parts = ::partsOf(take);
  else
    parts = ::partsOf(cast<PadOp>(op));
  if (parts.empty()) // nothing is written, by a kernel that says so
    parts.push_back(
        {Value(), true, whole(globalShape(op->getResult(0).getType()))});
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
