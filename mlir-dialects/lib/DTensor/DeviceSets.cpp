// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Relayouts between sets of devices, and their gradients.
#include "meshloom/Dialect/DTensor/DeviceSets.h"

namespace meshloom::dtensor {

void eraseDeviceSets(Operation *op) {
  op->walk([](Operation *inner) {
    for (StringRef name :
         {deviceSetAttr, sourceAttr, transferAttr, transferBackAttr, partAttr})
      inner->removeDiscardableAttr(name);
  });
}

DictionaryAttr transferSource(int64_t deviceSet, LayoutAttr layout) {
  Builder b(layout.getContext());
  return b.getDictionaryAttr(
      {b.getNamedAttr("layout", layout),
       b.getNamedAttr("set", b.getI64IntegerAttr(deviceSet))});
}

Value transferBack(OpBuilder &builder, RelayoutOp relayout, Value gradient) {
  auto source = relayout->getAttrOfType<DictionaryAttr>(sourceAttr);
  auto set = relayout->getAttrOfType<IntegerAttr>(deviceSetAttr);
  RankedTensorType type = undecided(gradient.getType());
  auto back = builder.create<RelayoutOp>(
      relayout.getLoc(),
      RankedTensorType::get(type.getShape(), type.getElementType(),
                            source.getAs<LayoutAttr>("layout")),
      gradient);
  back->setAttr(deviceSetAttr, source.get("set"));
  back->setAttr(sourceAttr,
                transferSource(set.getInt(), layoutAttrOf(relayout.getType())));
  if (Attribute number = relayout->getAttr(transferAttr))
    back->setAttr(transferBackAttr, number);
  return back;
}

} // namespace meshloom::dtensor
