// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PlainKernels.h"

#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace meshloom;
using spmd::KernelOp;
using spmd::LibraryCallOp;
using spmd::Reducer;
namespace arith = mlir::arith;

/// Returns the library's name of how a reducer combines elements, or an empty
/// one where the library does not.
static StringRef nameOf(Reducer reducer) {
  switch (reducer) {
  case Reducer::Sum:
    return "sum";
  case Reducer::Max:
  case Reducer::ArgMax:
    return "max";
  case Reducer::Min:
  case Reducer::ArgMin:
    return "min";
  default:
    return "";
  }
}

static bool findsIndex(KernelOp kernel) {
  return kernel.getReducer(0) == Reducer::ArgMax ||
         kernel.getReducer(0) == Reducer::ArgMin;
}

/// Returns whether the body yields the input's element, at most widened.
static bool yieldsInput(KernelOp kernel) {
  Block *body = kernel.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  if (Operation *widened = yielded.getDefiningOp();
      isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp>(widened))
    yielded = widened->getOperand(0);
  return yielded == body->getArgument(0);
}

/// Returns whether the operand's rows have lengths for which the library has
/// fast loops, and there are so many elements that a call takes little time
/// beside them. The inner dims are one row where all of them are reduced, or
/// none of them is.
static bool hasLibraryRows(KernelOp kernel, Type element) {
  constexpr int64_t longRun = 64, shortRun = 3, longRow = 256,
                    fewElements = 1 << 15, fewBytes = 256;
  const mlir::AffineMap access = kernel.getInputAccess(0);
  std::optional<bool> isReduced;
  int64_t row = 1;
  for (auto expr : llvm::reverse(access.getResults())) {
    const unsigned loop = cast<mlir::AffineDimExpr>(expr).getPosition();
    const int64_t extent = kernel.getExtents()[loop];
    if (extent == 1)
      continue;
    if (isReduced.value_or(kernel.getReductions()[loop]) !=
        kernel.getReductions()[loop])
      break;
    isReduced = kernel.getReductions()[loop];
    row *= extent;
  }
  if (kernel.getNumIterations() < fewElements)
    return false;
  // The library combines short rows in registers (RegisterReductions.h).
  const bool inRegisters = !element.isBF16();
  if (isReduced.value_or(true))
    return row >= longRun || (inRegisters && row <= shortRun);
  const int64_t bytes = row * element.getIntOrFloatBitWidth() / 8;
  const bool losesNan =
      isa<FloatType>(element) && kernel.getReducer(0) != Reducer::Sum;
  const int64_t manyBytes = losesNan ? 512 : 1024;
  return row >= longRow ||
         (inRegisters && bytes >= fewBytes && bytes <= manyBytes);
}

/// Returns whether the library has loops that reduce elements of the type.
static bool hasLibraryLoops(Type element) {
  return element.isF32() || element.isF64() || element.isBF16() ||
         element.isSignlessInteger(32);
}

static bool isLibraryReduction(KernelOp kernel) {
  if (kernel.getInputs().size() != 1 || kernel.getNumResults() != 1 ||
      kernel.getHeld() || kernel.getRanges() || isDeterministic(kernel) ||
      nameOf(kernel.getReducer(0)).empty() || findsIndex(kernel) ||
      !yieldsInput(kernel))
    return false;
  const Type element = dtensor::elementTypeOf(kernel.getInputs()[0].getType());
  return hasLibraryLoops(element) &&
         element == dtensor::elementTypeOf(kernel.getResult(0).getType()) &&
         kernel.getInputAccess(0).isPermutation() &&
         kernel.getOutputAccess(0).isProjectedPermutation() &&
         hasLibraryRows(kernel, element);
}

/// Returns whether the kernel finds the first maximum or minimum of long lines
/// whose elements lie side by side.
static bool isLibrarySearch(KernelOp kernel) {
  constexpr int64_t longLine = 1 << 14;
  if (kernel.getInputs().size() != 1 || kernel.getNumResults() != 1 ||
      kernel.getHeld() || kernel.getRanges() ||
      !kernel.getInputAccess(0).isPermutation() ||
      !kernel.getOutputAccess(0).isProjectedPermutation() ||
      !findsIndex(kernel) || !yieldsInput(kernel))
    return false;
  const unsigned innermost =
      kernel.getInputAccess(0).getDimPosition(kernel.getNumLoops() - 1);
  return hasLibraryLoops(
             dtensor::elementTypeOf(kernel.getInputs()[0].getType())) &&
         llvm::count(kernel.getReductions(), true) == 1 &&
         kernel.getReductions()[innermost] &&
         kernel.getAxisIndices()[innermost].empty() &&
         kernel.getExtents()[innermost] >= longLine;
}

/// Returns whether `op` makes an i32 or f32 of bytes of the type `from`.
static bool widensBytes(Operation *op, Type from) {
  const bool isSigned = isa_and_nonnull<arith::ExtSIOp, arith::SIToFPOp>(op),
             isUnsigned = isa_and_nonnull<arith::ExtUIOp, arith::UIToFPOp>(op);
  return (isSigned && from.isSignlessInteger(8)) ||
         (isUnsigned && from.isUnsignedInteger(8));
}

/// Returns whether the body yields the first input's element, at most widened,
/// and reads no other one: the second input, if any, is what the result is
/// written over.
static bool onlyCopies(KernelOp kernel) {
  Block *body = kernel.getBlock();
  const bool overwrites = kernel.getInputs().size() == 2 &&
                          kernel.getInPlace() == ArrayRef<int32_t>{1} &&
                          body->getArgument(1).use_empty();
  if (kernel.getInputs().size() != 1 && !overwrites)
    return false;
  const Type from = dtensor::elementTypeOf(kernel.getInputs()[0].getType()),
             to = dtensor::elementTypeOf(kernel.getResult(0).getType());
  Value yielded = body->getTerminator()->getOperand(0);
  Operation *op = yielded.getDefiningOp();
  if (widensBytes(op, from) && (to.isSignlessInteger(32) || to.isF32()))
    return op->getOperand(0) == body->getArgument(0);
  return yielded == body->getArgument(0) && from == to;
}

/// Returns whether the kernel writes so many elements of one result that a call
/// of "copy" or "fill" is worth its time.
static bool writesMany(KernelOp kernel) {
  constexpr int64_t many = 1 << 10;
  return !kernel.getHeld() && !kernel.getRanges() &&
         !kernel.hasReductionLoops() && kernel.getNumResults() == 1 &&
         kernel.getNumIterations() >= many;
}

/// Returns whether the kernel copies many elements, those that are widened in
/// long runs.
static bool isLibraryCopy(KernelOp kernel) {
  constexpr int64_t longRun = 256;
  if (!writesMany(kernel) || !onlyCopies(kernel))
    return false;
  const auto from = staticStrides(kernel, 0),
             to = staticStrides(kernel, kernel.getInputs().size());
  return kernel.getBlock()->without_terminator().empty() ||
         llvm::any_of(llvm::seq<unsigned>(kernel.getNumLoops()),
                      [&](unsigned loop) {
                        return from[loop].is(1) && to[loop].is(1) &&
                               kernel.getExtents()[loop] >= longRun;
                      });
}

/// Makes a call of the library's `function` with the kernel's loops, which may
/// have other extents.
static LibraryCallOp createCall(OpBuilder &b, KernelOp kernel,
                                StringRef function, mlir::ValueRange inputs,
                                ArrayRef<int64_t> extents,
                                mlir::ArrayAttr accesses,
                                ArrayRef<int32_t> inPlace, int64_t flops,
                                mlir::DictionaryAttr options) {
  const SmallVector<Attribute> ranges(kernel.getNumLoops(),
                                      b.getDenseI64ArrayAttr({}));
  return b.create<LibraryCallOp>(
      kernel.getLoc(), kernel.getResultTypes(), function, inputs, extents,
      kernel.getReductions(), kernel.getAxes(),
      SmallVector<bool>(kernel.getNumLoops(), false), b.getArrayAttr(ranges),
      accesses, inPlace, options, mlir::DenseI32ArrayAttr(), flops);
}

/// Returns the bits that the kernel writes everywhere, if they are many
/// elements.
static std::optional<uint64_t> filledBits(KernelOp kernel) {
  const bool overwrites = kernel.getInputs().size() == 1 &&
                          kernel.getInPlace() == ArrayRef<int32_t>{0};
  if (!writesMany(kernel) || (!kernel.getInputs().empty() && !overwrites))
    return std::nullopt;
  return constantBits(kernel.getBlock()->getTerminator()->getOperand(0));
}

/// Replaces the kernel by a call of the library's `function`.
static void replaceByCall(KernelOp kernel, StringRef function, int64_t flops,
                          mlir::DictionaryAttr options) {
  OpBuilder b(kernel);
  LibraryCallOp call =
      createCall(b, kernel, function, kernel.getInputs(), kernel.getExtents(),
                 kernel.getAccesses(), kernel.getInPlace(), flops, options);
  kernel.replaceAllUsesWith(call.getOutputs());
  kernel.erase();
}

/// Returns the options of a call of "fill".
static mlir::DictionaryAttr fillOptions(OpBuilder &b, uint64_t bits) {
  return b.getDictionaryAttr(
      b.getNamedAttr("bits", b.getI64IntegerAttr(int64_t(bits))));
}

/// A kernel that is a pad alone: its result has numbers around a box that is
/// copied.
struct LonePad {
  uint64_t bits;                  ///< of the number
  SmallVector<int64_t> extents;   ///< of the box
  mlir::AffineMap source, result; ///< where the box's iterations are
};

/// Finds a pad that puts many short rows into longer ones. (Others are kernels,
/// which write each element once.)
static std::optional<LonePad> lonePadOf(KernelOp kernel) {
  constexpr int64_t longRow = 16;
  const auto ops = kernel->getAttrOfType<mlir::StringAttr>("ops");
  const unsigned rank = kernel.getNumLoops();
  if (!ops || ops.getValue() != "pad" || kernel.getInputs().size() != 1 ||
      !writesMany(kernel) || rank == 0 ||
      kernel.getExtents().back() > longRow ||
      !kernel.getOutputAccess(0).isIdentity() ||
      kernel.getInputAccess(0).getNumResults() != rank ||
      llvm::any_of(kernel.getAxisIndices(),
                   [](const auto &axes) { return !axes.empty(); }))
    return std::nullopt;
  auto select = kernel.getBlock()
                    ->getTerminator()
                    ->getOperand(0)
                    .getDefiningOp<arith::SelectOp>();
  if (!select || !select.getTrueValue().getDefiningOp<spmd::ReadOp>())
    return std::nullopt;
  const std::optional<uint64_t> bits = constantBits(select.getFalseValue());
  if (!bits)
    return std::nullopt;
  mlir::MLIRContext *context = kernel.getContext();
  const SmallVector<int64_t> shape =
      spmd::globalShape(kernel.getInputs()[0].getType());
  LonePad pad{*bits, {}, {}, {}};
  SmallVector<mlir::AffineExpr> source, result;
  for (unsigned loop = 0; loop < rank; ++loop) {
    const mlir::AffineExpr expr = kernel.getInputAccess(0).getResult(loop),
                           dim = mlir::getAffineDimExpr(loop, context);
    // The source's index is the iteration less the padding in front.
    const auto offset = dyn_cast<mlir::AffineConstantExpr>(expr - dim);
    if (!offset)
      return std::nullopt;
    const int64_t begin = std::max<int64_t>(-offset.getValue(), 0),
                  end = std::min(kernel.getExtents()[loop],
                                 shape[loop] - offset.getValue());
    if (end <= begin)
      return std::nullopt;
    pad.extents.push_back(end - begin);
    source.push_back(dim + (begin + offset.getValue()));
    result.push_back(dim + begin);
  }
  if (kernel.getExtents().back() == pad.extents.back())
    return std::nullopt;
  pad.source = mlir::AffineMap::get(rank, 0, source, context);
  pad.result = mlir::AffineMap::get(rank, 0, result, context);
  return pad;
}

/// Replaces a pad by calls that fill its result and copy the box.
static void replacePad(KernelOp kernel, const LonePad &pad) {
  OpBuilder b(kernel);
  LibraryCallOp filled =
      createCall(b, kernel, "fill", {}, kernel.getExtents(),
                 b.getAffineMapArrayAttr({kernel.getOutputAccess(0)}), {-1},
                 /*flops=*/0, fillOptions(b, pad.bits));
  LibraryCallOp copied = createCall(
      b, kernel, "copy", {kernel.getInputs()[0], filled.getOutputs()[0]},
      pad.extents,
      b.getAffineMapArrayAttr({pad.source, pad.result, pad.result}), {1},
      /*flops=*/0, mlir::DictionaryAttr());
  kernel.replaceAllUsesWith(copied.getOutputs());
  kernel.erase();
}

void meshloom::callPlainKernels(Block &block) {
  OpBuilder b(block.getParentOp());
  for (auto kernel : llvm::make_early_inc_range(block.getOps<KernelOp>())) {
    const bool isSearch = isLibrarySearch(kernel);
    if (isSearch || isLibraryReduction(kernel))
      replaceByCall(
          kernel, isSearch ? "find_extreme" : "reduce",
          kernel.getNumIterations(),
          b.getDictionaryAttr(b.getNamedAttr(
              "kind", b.getStringAttr(nameOf(kernel.getReducer(0))))));
    else if (isLibraryCopy(kernel))
      replaceByCall(kernel, "copy", /*flops=*/0, mlir::DictionaryAttr());
    else if (const std::optional<uint64_t> bits = filledBits(kernel))
      replaceByCall(kernel, "fill", /*flops=*/0, fillOptions(b, *bits));
    else if (const std::optional<LonePad> pad = lonePadOf(kernel))
      replacePad(kernel, *pad);
  }
}
