// Reading and making collectives of the spmd dialect.

#include "Collectives.h"

namespace meshloom {

std::optional<CollectiveKind> collectiveKind(Operation *op) {
  if (!op || !isa_and_present<spmd::SPMDDialect>(op->getDialect()))
    return std::nullopt;
  StringRef name = op->getName().stripDialect();
  return parseCollectiveKind(std::string_view(name.data(), name.size()));
}

CollectiveOp collectiveOf(Operation *op, unsigned index) {
  CollectiveOp collective{*collectiveKind(op),
                          {},
                          spmd::layoutOf(op->getOperand(index).getType()),
                          spmd::layoutOf(op->getResult(index).getType())};
  for (Attribute axis : op->getAttrOfType<mlir::ArrayAttr>("axes"))
    collective.axes.push_back(
        *collective.from.mesh().axis_index(cast<StringAttr>(axis).str()));
  return collective;
}

std::optional<ReduceKind> reduceKindOf(Operation *op) {
  if (auto kind = op->getAttrOfType<dtensor::ReduceKindAttr>("kind"))
    return kind.getValue();
  return std::nullopt;
}

Operation *createCollective(OpBuilder &builder, Location location,
                            CollectiveKind kind, ArrayRef<unsigned> axes,
                            ValueRange operands, ArrayRef<Layout> to,
                            ArrayRef<NamedAttribute> attributes) {
  std::string name = "spmd." + std::string(meshloom::name(kind));
  OperationState state(location, name);
  state.addOperands(operands);
  MLIRContext *context = builder.getContext();
  int64_t bytes = 0;
  for (auto [operand, layout] : llvm::zip_equal(operands, to)) {
    Type elementType = dtensor::elementTypeOf(operand.getType());
    RankedTensorType type =
        spmd::shardType(spmd::globalShape(operand.getType()), elementType,
                        dtensor::LayoutAttr::get(context, layout));
    state.addTypes(type);
    bytes += type.getNumElements() * byteWidth(*dtensor::dtypeOf(elementType));
  }
  Layout from = spmd::layoutOf(operands.front().getType());
  SmallVector<Attribute> names;
  for (unsigned axis : axes)
    names.push_back(builder.getStringAttr(from.mesh().axes()[axis].name));
  state.addAttribute("axes", builder.getArrayAttr(names));
  if (kind == CollectiveKind::AllReduce ||
      kind == CollectiveKind::ReduceScatter)
    for (const Partial &partial : from.partial())
      if (partial.axis == axes.front())
        state.addAttribute("kind",
                           dtensor::ReduceKindAttr::get(context, partial.kind));
  state.addAttributes(attributes);
  state.addAttribute("bytes", builder.getI64IntegerAttr(bytes));
  return builder.create(state);
}

SmallVector<NamedAttribute> notesOf(Operation *op) {
  SmallVector<NamedAttribute> notes;
  for (StringRef name : {"reason", "dtensor.origin"})
    if (Attribute attribute = op->getAttr(name))
      notes.emplace_back(StringAttr::get(op->getContext(), name), attribute);
  return notes;
}

} // namespace meshloom
