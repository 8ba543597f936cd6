// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that takes indices from its user adds the extent to the negative
// ones (x[-1]). That is one more array, which workers write in one phase and
// read in the next one, while the library looks at the sign of indices anyway.
#include "WrappedIndices.h"

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace meshloom;
using spmd::KernelOp;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;

/// Returns what `kernel` adds to its negative elements where it does that and
/// nothing else.
static std::optional<int64_t> wrappedExtent(KernelOp kernel) {
  if (!kernel || kernel.getInputs().size() != 1 ||
      kernel.getOutputs().size() != 1 ||
      kernel.getInputs()[0].getType() != kernel.getOutputs()[0].getType() ||
      kernel.getInputAccess(0) != kernel.getOutputAccess(0) ||
      !kernel.getInputAccess(0).isIdentity())
    return std::nullopt;
  Block &body = *kernel.getBlock();
  auto select =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select || select.getFalseValue() != body.getArgument(0))
    return std::nullopt;
  auto compare = select.getCondition().getDefiningOp<arith::CmpIOp>();
  auto sum = select.getTrueValue().getDefiningOp<arith::AddIOp>();
  llvm::APInt extent;
  if (!compare || !sum || compare.getLhs() != body.getArgument(0) ||
      sum.getLhs() != body.getArgument(0) ||
      compare.getPredicate() != arith::CmpIPredicate::slt ||
      !mlir::matchPattern(compare.getRhs(), mlir::m_Zero()) ||
      !mlir::matchPattern(sum.getRhs(), mlir::m_ConstantInt(&extent)) ||
      !extent.isStrictlyPositive())
    return std::nullopt;
  return extent.getSExtValue();
}

/// Returns the operands that become the entries of index vectors: `indices`
/// itself, or the columns that are copied into it, for this reader only.
static SmallVector<OpOperand *> entriesOf(OpOperand &indices, int64_t count) {
  if (count == 1)
    return {&indices};
  SmallVector<OpOperand *> entries(count, nullptr);
  Value joined = indices.get();
  for (int64_t copied = 0; copied < count; ++copied) {
    auto kernel = joined.getDefiningOp<KernelOp>();
    if (!kernel || !joined.hasOneUse() || kernel.getOutputs().size() != 1 ||
        kernel.getInputs().empty() || kernel.getInputs().size() > 2 ||
        kernel.getBlock()->getTerminator()->getOperand(0) !=
            kernel.getBlock()->getArgument(0))
      return {};
    const mlir::AffineMap from = kernel.getInputAccess(0),
                          to = kernel.getOutputAccess(0);
    auto entry = dyn_cast<mlir::AffineConstantExpr>(to.getResults().back());
    if (!from.isIdentity() || !entry ||
        from.getResults() != to.getResults().drop_back() ||
        entry.getValue() >= count || entries[entry.getValue()])
      return {};
    entries[entry.getValue()] = &kernel->getOpOperand(0);
    const bool isFirst = kernel.getInPlace()[0] < 0;
    if (isFirst != (copied + 1 == count) || kernel.getInPlace()[0] == 0)
      return {};
    if (!isFirst)
      joined = kernel.getInputs()[1];
  }
  return entries;
}

/// Hands the entries of a scatter's index vectors over as arrays of their own,
/// the first one in place of the indices and the others behind all inputs.
static void separateEntries(LibraryCallOp scatter, unsigned indices,
                            ArrayRef<OpOperand *> entries) {
  SmallVector<KernelOp> copies;
  for (Value joined = scatter.getInputs()[indices];
       auto kernel = joined.getDefiningOp<KernelOp>();
       joined = kernel.getInputs().back()) {
    copies.push_back(kernel);
    if (kernel.getInputs().size() == 1)
      break;
  }
  SmallVector<Attribute> accesses(scatter.getAccesses().begin(),
                                  scatter.getAccesses().end());
  const mlir::AffineMap joined =
      cast<mlir::AffineMapAttr>(accesses[indices]).getValue();
  accesses[indices] = mlir::AffineMapAttr::get(mlir::AffineMap::get(
      joined.getNumDims(), 0, joined.getResults().drop_back(),
      scatter.getContext()));
  accesses.insert(accesses.begin() + scatter.getInputs().size(),
                  entries.size() - 1, accesses[indices]);
  scatter.getInputsMutable()[indices].assign(entries.front()->get());
  for (OpOperand *entry : entries.drop_front())
    scatter.getInputsMutable().append(entry->get());
  scatter.setAccessesAttr(mlir::ArrayAttr::get(scatter.getContext(), accesses));
  for (KernelOp copy : copies)
    copy.erase();
}

void meshloom::wrapIndicesInCalls(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto call = dyn_cast<LibraryCallOp>(op);
    if (!call ||
        (call.getCallee() != "gather" && call.getCallee() != "scatter"))
      continue;
    const DictionaryAttr options = *call.getOptions();
    const bool scatters = call.getCallee() == "scatter";
    const int64_t count =
        options
            .getAs<DenseI64ArrayAttr>(scatters ? "scatter_dims_to_operand_dims"
                                               : "start_index_map")
            .size();
    const unsigned indices = scatters ? call.getNumResults() : 1;
    const SmallVector<OpOperand *> entries =
        entriesOf(op.getOpOperand(indices), count);
    SmallVector<int64_t> extents;
    for (OpOperand *entry : entries) {
      auto kernel = entry->get().getDefiningOp<KernelOp>();
      const std::optional<int64_t> extent = wrappedExtent(kernel);
      extents.push_back(extent.value_or(0));
      if (!extent)
        continue;
      entry->set(kernel.getInputs()[0]);
      if (kernel.use_empty())
        kernel.erase();
    }
    const bool areSeparate = scatters && entries.size() > 1;
    if (areSeparate)
      separateEntries(call, indices, entries);
    if (!areSeparate &&
        llvm::all_of(extents, [](int64_t extent) { return extent == 0; }))
      continue;
    mlir::NamedAttrList list(options);
    list.set("wrapped_extents",
             DenseI64ArrayAttr::get(op.getContext(), extents));
    call.setOptionsAttr(list.getDictionary(op.getContext()));
  }
}
