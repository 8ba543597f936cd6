// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making collectives of the spmd dialect.

#include "Collectives.h"

#include "meshloom/Dialect/DTensor/Notes.h"

namespace meshloom {

spmd::CollectiveOpInterface
createCollective(OpBuilder &builder, Location location, CollectiveKind kind,
                 ArrayRef<unsigned> axes, ValueRange operands,
                 ArrayRef<Layout> to, ArrayRef<NamedAttribute> notes) {
  SmallVector<Type> types;
  for (auto [operand, layout] : llvm::zip_equal(operands, to))
    types.push_back(spmd::shardType(
        spmd::globalShape(operand.getType()),
        dtensor::elementTypeOf(operand.getType()),
        dtensor::LayoutAttr::get(builder.getContext(), layout)));
  return createCollective(builder, location, kind, axes, operands,
                          mlir::TypeRange(types), notes);
}

spmd::CollectiveOpInterface
createCollective(OpBuilder &builder, Location location, CollectiveKind kind,
                 ArrayRef<unsigned> axes, ValueRange operands,
                 mlir::TypeRange types, ArrayRef<NamedAttribute> notes) {
  MLIRContext *context = builder.getContext();
  std::string name = "spmd." + std::string(meshloom::name(kind));
  OperationState state(location, name);
  state.addOperands(operands);
  state.addTypes(types);
  int64_t bytes = spmd::transferBytes(kind, operands.getTypes(), types);
  Layout from = spmd::layoutOf(operands.front().getType());
  state.addAttribute(
      "axes",
      spmd::axesAttr(dtensor::MeshAttr::get(context, from.mesh()), axes));
  if (kind == CollectiveKind::AllReduce ||
      kind == CollectiveKind::ReduceScatter)
    for (const Partial &partial : from.partial())
      if (partial.axis == axes.front())
        state.addAttribute("kind",
                           dtensor::ReduceKindAttr::get(context, partial.kind));
  state.addAttributes(notes);
  state.addAttribute("bytes", builder.getI64IntegerAttr(bytes));
  return cast<spmd::CollectiveOpInterface>(builder.create(state));
}

SmallVector<NamedAttribute> notesOf(Operation *op) {
  SmallVector<NamedAttribute> notes;
  const StringRef names[] = {"reason", dtensor::originAttr,
                             dtensor::consumerAttr, dtensor::rejectedAttr,
                             dtensor::membersAttr};
  for (StringRef name : names)
    if (Attribute attribute = op->getAttr(name))
      notes.emplace_back(StringAttr::get(op->getContext(), name), attribute);
  return notes;
}

} // namespace meshloom
