// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kind is a tuple of what uniqued things an op consists of.
#include "meshloom/ControlFlow/OpKinds.h"

using namespace meshloom;

uintptr_t OpKinds::propertiesOf(Operation *op) {
  if (op->getPropertiesStorageSize() == 0)
    return 0;
  mlir::OperationName name = op->getName();
  auto &alike =
      byTypes[{name.getAsOpaquePointer(),
               size_t(name.hashOpProperties(op->getPropertiesStorage()))}];
  for (const Properties &other : alike)
    if (name.compareOpProperties(op->getPropertiesStorage(),
                                 other.op->getPropertiesStorage()))
      return other.number;
  alike.push_back({op, ++properties});
  return properties;
}

unsigned OpKinds::of(Operation *op) {
  key.clear();
  auto add = [&](const void *part) { key.push_back(uintptr_t(part)); };
  if (op->getNumRegions() != 0) {
    add(op);
    return numbers(key);
  }
  add(op->getName().getAsOpaquePointer());
  add(op->getRawDictionaryAttrs().getAsOpaquePointer());
  key.push_back(propertiesOf(op));
  key.push_back(op->getNumOperands());
  for (Value operand : op->getOperands()) {
    Type type = operand.getType();
    add(type.getAsOpaquePointer());
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && tensor.getRank() == 0)
      if (auto constant = operand.getDefiningOp<dtensor::ConstantOp>())
        add(constant.getValue().getAsOpaquePointer());
  }
  for (Value result : op->getResults())
    add(result.getType().getAsOpaquePointer());
  return numbers(key);
}
