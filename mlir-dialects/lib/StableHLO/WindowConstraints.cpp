// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the ops that slide a window: reduce_window, select_and_scatter.

#include "Constraints.h"

using namespace meshloom;
using namespace meshloom::stablehlo;

namespace {
/// A list of one number a dim, all at least 1, and the two constraints on it.
struct WindowList {
  StringRef name;
  std::optional<ArrayRef<int64_t>> values;
  StringRef sizeNumber, number;
};
} // namespace

static bool lists(const Constraints &c, int64_t rank,
                  ArrayRef<WindowList> lists) {
  return llvm::all_of(lists, [&](const WindowList &list) {
    return !list.values ||
           (c.size(list.sizeNumber, list.name, list.values->size(), rank) &&
            c.atLeast(list.number, list.name, *list.values, 1));
  });
}

static bool padded(const Constraints &c, StringRef number, int64_t rank,
                   std::optional<mlir::DenseIntElementsAttr> padding) {
  return !padding || c.shape(number, "padding", padding->getType(), {rank, 2});
}

/// How often the window fits along each dim of `shape`.
static SmallVector<int64_t>
windowCounts(ArrayRef<int64_t> shape, ArrayRef<int64_t> sizes,
             std::optional<ArrayRef<int64_t>> strides,
             std::optional<ArrayRef<int64_t>> baseDilations,
             std::optional<ArrayRef<int64_t>> dilations,
             std::optional<mlir::DenseIntElementsAttr> padding) {
  SmallVector<int64_t> pads(2 * shape.size(), 0), counts;
  if (padding)
    llvm::copy(padding->getValues<int64_t>(), pads.begin());
  for (auto [i, extent] : llvm::enumerate(shape)) {
    auto entryOf = [&](std::optional<ArrayRef<int64_t>> values) {
      return values ? (*values)[i] : 1;
    };
    counts.push_back(
        windowCount(extent, {.size = sizes[i],
                             .stride = entryOf(strides),
                             .low = pads[2 * i],
                             .high = pads[2 * i + 1],
                             .baseDilation = entryOf(baseDilations),
                             .dilation = entryOf(dilations)}));
  }
  return counts;
}

LogicalResult ReduceWindowOp::verify() {
  Constraints c(*this);
  if (!c.require(!getInputs().empty(), "C1", "expected at least one input") ||
      !c.require(getNumOperands() % 2 == 0, "C1",
                 "expected an init value for each input") ||
      !c.size("C1", "the list of results", getNumResults(),
              int64_t(getInputs().size())) ||
      !c.sameShape("C2", getInputs().getTypes()))
    return failure();
  for (auto [input, init] : llvm::zip_equal(getInputs(), getInitValues()))
    if (!c.scalar("C3", "an init value", init) ||
        !c.sameElement("C3", {input.getType(), init.getType()}))
      return failure();
  ArrayRef<int64_t> shape = shapeOf(getInputs()[0]);
  int64_t rank = int64_t(shape.size());
  if (!lists(c, rank,
             {{"window_dimensions", getWindowDimensions(), "C4", "C5"},
              {"window_strides", getWindowStrides(), "C6", "C7"},
              {"base_dilations", getBaseDilations(), "C8", "C9"},
              {"window_dilations", getWindowDilations(), "C10", "C11"}}) ||
      !padded(c, "C12", rank, getPadding()))
    return failure();
  SmallVector<int64_t> counts =
      windowCounts(shape, getWindowDimensions(), getWindowStrides(),
                   getBaseDilations(), getWindowDilations(), getPadding());
  for (Type result : getResultTypes())
    if (!c.shape("C15", "a result", result, counts))
      return failure();
  return success();
}

LogicalResult ReduceWindowOp::verifyRegions() {
  return success(Constraints(*this).reducer(
      "C13", getBody(), getInputs().getTypes(), "C16", getResultTypes()));
}

LogicalResult SelectAndScatterOp::verify() {
  Constraints c(*this);
  Type operand = getOperand().getType();
  ArrayRef<int64_t> shape = shapeOf(getOperand());
  int64_t rank = int64_t(shape.size());
  ArrayRef<int64_t> sizes = getWindowDimensions().value_or(ArrayRef<int64_t>());
  return success(
      c.sameElement("C1", {operand, getSource().getType()}) &&
      c.scalar("C3", "init_value", getInitValue()) &&
      c.sameElement("C3", {operand, getInitValue().getType()}) &&
      lists(c, rank,
            {{"window_dimensions", sizes, "C4", "C5"},
             {"window_strides", getWindowStrides(), "C6", "C7"}}) &&
      padded(c, "C8", rank, getPadding()) &&
      c.shape("C2", "source", getSource().getType(),
              windowCounts(shape, sizes, getWindowStrides(), std::nullopt,
                           std::nullopt, getPadding())) &&
      c.sameShape("C11", {operand, getType()}));
}

LogicalResult SelectAndScatterOp::verifyRegions() {
  Constraints c(*this);
  Type operand = getOperand().getType();
  auto flag =
      RankedTensorType::get({}, IntegerType::get(getContext(), /*width=*/1));
  return success(c.scalars("C9", getSelect(), operand, /*interleaved=*/false,
                           TypeRange(flag)) &&
                 c.reducer("C10", getScatter(), operand, "C12", getType()));
}
