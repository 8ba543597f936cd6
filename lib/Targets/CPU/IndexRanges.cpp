// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IndexRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace meshloom;
using spmd::KernelOp;
namespace arith = mlir::arith;

namespace {
/// index * sign + offset.
struct Place {
  int64_t sign, offset;
};
} // namespace

static std::optional<int64_t> constantOf(Value value) {
  llvm::APInt number;
  if (!matchPattern(value, mlir::m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

/// Returns `value` as a place along `loop`, or nothing where it is none.
static std::optional<Place> placeAlong(Value value, unsigned loop) {
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast_or_null<spmd::IndexOp>(op))
    return index.getLoop() == loop ? std::optional(Place{1, 0}) : std::nullopt;
  // Indices fit into what they are compared in.
  if (auto narrow = dyn_cast_or_null<arith::TruncIOp>(op))
    return placeAlong(narrow.getIn(), loop);
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto place = placeAlong(op->getOperand(0), loop);
  const auto number = constantOf(op->getOperand(1));
  if (!place || !number)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    place->offset += *number;
  else if (*number == -1)
    *place = {-place->sign, -place->offset};
  else
    return std::nullopt;
  return place;
}

SmallVector<IndexRange> meshloom::rangesAlong(KernelOp kernel, unsigned loop) {
  SmallVector<IndexRange> ranges;
  const int64_t extent = kernel.getExtents()[loop];
  for (auto compare : kernel.getBlock()->getOps<arith::CmpIOp>()) {
    const auto place = placeAlong(compare.getLhs(), loop);
    const auto limit = constantOf(compare.getRhs());
    if (!place || !limit)
      continue;
    // It holds where low <= place < high.
    int64_t low = -extent - std::abs(place->offset), high = *limit;
    if (compare.getPredicate() == arith::CmpIPredicate::ult && *limit >= 0)
      low = 0;
    else if (compare.getPredicate() != arith::CmpIPredicate::slt)
      continue;
    const int64_t first = low - place->offset, end = high - place->offset;
    ranges.push_back(place->sign > 0 ? IndexRange{compare, first, end}
                                     : IndexRange{compare, 1 - end, 1 - first});
  }
  return ranges;
}

SmallVector<int64_t> meshloom::bordersOf(KernelOp kernel, unsigned loop,
                                         ArrayRef<IndexRange> ranges) {
  constexpr int64_t shortLoop = 64, mostPieces = 6, mostOps = 2048;
  const int64_t extent = kernel.getExtents()[loop];
  SmallVector<int64_t> borders;
  for (const IndexRange &range : ranges)
    for (int64_t border : {range.begin, range.end})
      if (border > 0 && border < extent)
        borders.push_back(border);
  llvm::sort(borders);
  borders.erase(llvm::unique(borders), borders.end());
  const bool reads = !kernel.getBlock()->getOps<spmd::ReadOp>().empty();
  const auto pieces = int64_t(borders.size()) + 1,
             ops = int64_t(kernel.getBlock()->getOperations().size());
  if (!reads || extent < shortLoop || pieces > mostPieces ||
      pieces * ops > mostOps)
    borders.clear();
  return borders;
}
