// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference interpreter: what a dtensor program means, on one device, with
// exact integers and f64 for every float type. It is the oracle that compiled
// programs are held against, so it shares no code with the lowering.
#pragma once

#include "meshloom/Interpreter/HostValue.h"

#include "mlir/IR/BuiltinOps.h"

#include <array>

namespace meshloom {

/// Terms of a long sum that are added between two roundings of it.
constexpr int64_t SUM_BLOCK = 64;

/// Where floats, which are computed in f64, are rounded to their type.
enum class Rounding {
  /// Only where the program converts: as near to the truth as f64 is.
  ByConvert,
  /// The result of each op is rounded, and so are the sums of contractions,
  /// reductions and convolutions after every SUM_BLOCK terms. How far this is
  /// from the above is a sample of what rounding does to a program.
  ByEachOp,
};

/// The results of `function` (empty: `main`, or the only one) of a module of
/// dtensor ops before any layout pass, on `inputs`, one per argument; then, for
/// every variable argument that the function assigns, in argument order, its
/// final value. A variable argument's input is its value before.
///
/// Layouts are not looked at: relayout and constraint are the identity. Ops
/// mean what StableHLO's mean; where that is left open: x / 0 is -1 and x rem 0
/// is x for integers, conversions to integers saturate, nan becomes 0.
Result<std::vector<HostValue>>
interpret(mlir::ModuleOp module, llvm::StringRef function,
          const std::vector<HostValue> &inputs,
          Rounding rounding = Rounding::ByConvert);

/// One value of `function`'s signature.
struct ValueSignature {
  DType type;
  Shape shape;
  std::string name; ///< "x" of %x where known, else "argument 0"
};
/// The arguments and results of `function`, as `interpret` takes and gives
/// them.
struct FunctionSignature {
  std::string name;
  std::vector<ValueSignature> arguments, results;
};
Result<FunctionSignature> signatureOf(mlir::ModuleOp module,
                                      llvm::StringRef function);

/// Returns whether ops of that name are defined.
bool isInterpreted(mlir::OperationName name);

/// Terms of the longest sum or product in `function`: contracted or reduced
/// elements (the largest of some is exact, and does not count). The error of
/// its results grows with this number.
int64_t longestContraction(mlir::ModuleOp module, llvm::StringRef function);

/// Philox4x32-10 of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
/// 3" (SC11): four random words of a counter under a key.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

} // namespace meshloom
