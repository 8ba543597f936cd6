// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers in the order in which layouts are asked for.
#include "LayoutNumbers.h"

namespace meshloom {

unsigned LayoutNumbers::of(const Layout &layout) {
  auto [entry, isNew] = numbers.try_emplace(layout, unsigned(layouts.size()));
  if (isNew)
    layouts.push_back(layout);
  return entry->second;
}

RankedTensorType LayoutNumbers::typeOf(Type type, unsigned number) {
  RankedTensorType &laidOut = types[{type, number}];
  if (!laidOut) {
    auto tensor = cast<RankedTensorType>(type);
    laidOut = RankedTensorType::get(
        tensor.getShape(), tensor.getElementType(),
        dtensor::LayoutAttr::get(type.getContext(), layouts[number]));
  }
  return laidOut;
}

} // namespace meshloom
