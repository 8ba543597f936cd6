// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a function says that its values are on several sets of devices.
// Discardable attributes of its ops, which are gone when the function has been
// cut into a program for each set (lib/Engine/DeviceCut.h): no pass after that
// sees more than one.
//
// A set of devices has a number, which is the same all over the process.
//
// %r = dtensor.relayout %x {dtensor.device_set = 2,
//        dtensor.source = {set = 1, layout = #dtensor.layout<#m, []>},
//        dtensor.transfer = 7}
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// On a relayout or constraint: the set that its layout is on. On a different
/// op: the set that it runs on where each of its operands is on a single
/// device.
inline constexpr llvm::StringLiteral deviceSetAttr = "dtensor.device_set";
/// On a relayout whose operand is on other devices: their set, and a layout for
/// the gradient, which goes back there.
inline constexpr llvm::StringLiteral sourceAttr = "dtensor.source";
/// On such a relayout: its number. On the relayout that is its gradient:
/// `transferBackAttr` with the same number, so that the gradient gets the
/// layout that the operand turns out to have.
inline constexpr llvm::StringLiteral transferAttr = "dtensor.transfer";
inline constexpr llvm::StringLiteral transferBackAttr = "dtensor.transfer_back";
/// On an op: the part of the function that it runs in. Ops of different parts
/// are in different programs; see lib/Engine/DeviceCut.h.
inline constexpr llvm::StringLiteral partAttr = "dtensor.part";

/// Takes the attributes above from `op` and all inside it.
void eraseDeviceSets(Operation *op);
/// The value of sourceAttr.
DictionaryAttr transferSource(int64_t deviceSet, LayoutAttr layout);
/// The relayout that brings the gradient of `relayout`, which has sourceAttr,
/// back to where its operand is.
Value transferBack(OpBuilder &builder, RelayoutOp relayout, Value gradient);

} // namespace meshloom::dtensor
