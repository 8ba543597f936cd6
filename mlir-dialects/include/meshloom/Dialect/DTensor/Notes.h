// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The discardable attributes by which passes tell later ones, and --explain,
// where layouts and collectives come from.
#pragma once

#include "meshloom/Support/LLVM.h"

namespace meshloom::dtensor {

/// The name of an argument or a result, which messages and the Signature use.
inline constexpr llvm::StringLiteral nameAttr = "dtensor.name";
/// The number of the result that is the new value of the variable whose value
/// the argument is.
inline constexpr llvm::StringLiteral aliasAttr = "dtensor.alias";

/// The number of bits, 4 or 2, of the integers that an argument of i8 or ui8
/// holds. NumPy saves them as int8 or uint8, or as bytes.
inline constexpr llvm::StringLiteral bitsAttr = "dtensor.bits";
/// The range [low, high) of random inputs of an argument, as in
/// {dtensor.range = array<f64: 0.0, 1.0>}.
inline constexpr llvm::StringLiteral inputRangeAttr = "dtensor.range";

/// For each mesh axis in the layout of a value, the user's annotation that it
/// follows from, as a dictionary of texts.
inline constexpr llvm::StringLiteral originAttr = "dtensor.origin";
/// The changes of refinement to the op, or, on a function, all of its moves.
inline constexpr llvm::StringLiteral refinedAttr = "dtensor.refined";
/// The plan that refinement did not take, and what it would have cost.
inline constexpr llvm::StringLiteral rejectedAttr = "dtensor.rejected";

/// On a function whose layouts were found by --dtensor-auto-layout: what the
/// plan takes, then the arguments' layouts, as lines of text.
inline constexpr llvm::StringLiteral autoLayoutAttr = "dtensor.auto_layout";
/// On a function that is compiled within a memory budget: what is computed or
/// gathered again, as lines of text.
inline constexpr llvm::StringLiteral memoryChoicesAttr =
    "dtensor.memory_choices";

/// The name of the op that a relayout or a collective is for.
inline constexpr llvm::StringLiteral consumerAttr = "dtensor.op";
/// Why a relayout is there, as a text for users.
inline constexpr llvm::StringLiteral reasonAttr = "dtensor.reason";
/// The notes of the collectives that one collective combines, in its order of
/// operands.
inline constexpr llvm::StringLiteral membersAttr = "dtensor.members";
/// The machine model, as text, that a function was expanded for.
inline constexpr llvm::StringLiteral machineAttr = "dtensor.machine";

} // namespace meshloom::dtensor
