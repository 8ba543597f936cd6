// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions of kernel bodies become the formulas of
// NarrowFormulas.h and WideFormulas.h, or calls of a library.
#include "DeviceMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace meshloom;
using namespace meshloom::formulas;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace math = mlir::math;

namespace {
/// The library computes remainders of larger quotients.
constexpr double hugeQuotient = 0x1p28;
using NarrowAngle = Angle<Scalar, Scalar>;

/// Right for |x| >= 2^49 (M. Payne, R. Hanek: Radian Reduction for
/// Trigonometric Functions, 1983): x is m 2^e with an integer m of 24 bits, and
/// the bits of 2 / pi in front of 2^-(e - 1) add multiples of four quadrants.
/// The first two of the 96 bits that follow, times m, are the quadrant.
NarrowAngle hugeAngleOf(Scalar x) {
  // The first 224 bits of 2 / pi behind the point.
  constexpr uint32_t twoOverPi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                    0xf534ddc0, 0xdb629599, 0x3c439041,
                                    0xfe5163ab};
  OpBuilder &b = *x.b;
  auto wide = [&](Scalar value) {
    return x.with(b.create<arith::ExtUIOp>(x.loc, b.getI64Type(), value.v));
  };
  auto up = [&](Scalar value, Scalar by) {
    return x.with(b.create<arith::ShLIOp>(x.loc, value.v, by.v));
  };
  auto down = [&](Scalar value, int64_t by) { // of an unsigned integer
    return x.with(b.create<arith::ShRUIOp>(x.loc, value.v, value.i(by).v));
  };
  Scalar bits = x.abs().bits();
  Scalar m = wide((bits & 0x7fffff) | bits.i(0x800000));
  // Where the window begins: e - 2, with e = exponent - 150.
  Scalar first = down(bits, 23) - bits.i(152);
  Scalar word = down(first, 5), by = wide(first & 31);
  std::array<Scalar, 4> words{x, x, x, x};
  for (int k = 0; k < 4; ++k) {
    words[k] = m.i(twoOverPi[k]);
    for (int start = 1; start < 4; ++start)
      words[k] = (word - word.i(start))
                     .isZero()
                     .select(m.i(twoOverPi[k + start]), words[k]);
  }
  auto part = [&](int k) {
    Scalar pair = shiftLeft(words[k], 32) | words[k + 1];
    return down(up(pair, by), 32);
  };
  // 62 bits behind the point; what carries beyond the quadrant is lost.
  Scalar turns =
      shiftLeft(m * part(0), 32) + m * part(1) + down(m * part(2), 32);
  Scalar quadrant = down(turns + turns.i(int64_t(1) << 61), 62);
  Scalar fraction = turns - shiftLeft(quadrant, 62);
  Scalar r = fraction.toF64() * (1.57079632679489661923 * 0x1p-62);
  Scalar negative = x.less(x.f(0));
  quadrant = negative.select(quadrant.i(0) - quadrant, quadrant);
  r = negative.select(r * -1.0, r);
  r = x.abs().less(x.f(infinite)).select(r, r.f(notANumber));
  return narrow::angleOf(quadrant.toI32(), r.toF32());
}

using Formula = Scalar (*)(Scalar);
using BinaryFormula = Scalar (*)(Scalar, Scalar);

/// The formulas of a function, where there are any.
struct Formulas {
  Formula narrow = nullptr, wide = nullptr; ///< of f32 and of f64
  Formula huge = nullptr;         ///< of f32, for what `narrow` is wrong for
  BinaryFormula binary = nullptr; ///< of two f32 numbers
  BinaryFormula wideBinary = nullptr;
};

/// Replaces a math op: by its formula where there is one, else by a call of the
/// function of libm; that is declared as pure, so that calls with
/// loop-invariant arguments leave the loop.
template <typename Op> struct MathFunction : mlir::OpRewritePattern<Op> {
  MathFunction(MLIRContext *context, MathLibrary library, StringRef name,
               Formulas formulas)
      : mlir::OpRewritePattern<Op>(context), library(library), name(name),
        formulas(formulas) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Scalar x{&rewriter, op.getLoc(), op->getOperand(0)};
    const Formula formula = type.isF32()   ? formulas.narrow
                            : type.isF64() ? formulas.wide
                                           : nullptr;
    const BinaryFormula binary = type.isF32()   ? formulas.binary
                                 : type.isF64() ? formulas.wideBinary
                                                : nullptr;
    if (formula)
      rewriter.replaceOp(op, op->hasAttr(exactAttr)
                                 ? exactly(op, x, formula, rewriter)
                                 : formula(x).v);
    else if (binary)
      rewriter.replaceOp(op, binary(x, x.with(op->getOperand(1))).v);
    else if ((type.isF32() || type.isF64()) && library == MathLibrary::Libm)
      rewriter.replaceOp(op, call(op, rewriter));
    else if (type.isF64())
      rewriter.replaceOp(op, callDevice(name, op->getOperands(), rewriter).v);
    else
      return failure();
    return success();
  }

private:
  /// Also right for huge arguments: by the library where there is one, which
  /// vectors of arguments take both ways, else by a branch.
  Value exactly(Op op, Scalar x, Formula formula,
                PatternRewriter &rewriter) const {
    Scalar huge = x.f(hugeAngle).less(x.abs());
    if (library == MathLibrary::Libm)
      return huge.select(x.with(call(op, rewriter)), formula(x)).v;
    auto branch = rewriter.create<mlir::scf::IfOp>(
        x.loc, TypeRange{x.v.getType()}, huge.v, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rewriter);
    for (bool taken : {true, false}) {
      rewriter.setInsertionPointToStart(taken ? branch.thenBlock()
                                              : branch.elseBlock());
      Scalar value = taken ? formulas.huge(x) : formula(x);
      rewriter.create<mlir::scf::YieldOp>(x.loc, value.v);
    }
    return branch.getResult(0);
  }
  Value call(Op op, PatternRewriter &rewriter) const {
    auto callee = declare(op->template getParentOfType<ModuleOp>(),
                          op.getType(), op->getNumOperands(), rewriter);
    return rewriter.create<LLVM::CallOp>(op.getLoc(), callee, op->getOperands())
        .getResult();
  }
  LLVM::LLVMFuncOp declare(ModuleOp module, Type type, unsigned numOperands,
                           PatternRewriter &rewriter) const {
    std::string symbol = name + (type.isF32() ? "f" : "");
    if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
      return declared;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    auto callee = rewriter.create<LLVM::LLVMFuncOp>(
        module.getLoc(), symbol,
        LLVM::LLVMFunctionType::get(type,
                                    SmallVector<Type>(numOperands, type)));
    auto none = LLVM::ModRefInfo::NoModRef;
    callee.setMemoryAttr(LLVM::MemoryEffectsAttr::get(rewriter.getContext(),
                                                      {none, none, none}));
    SmallVector<StringRef> pure{"nounwind", "willreturn", "speculatable"};
    callee.setPassthroughAttr(rewriter.getStrArrayAttr(pure));
    return callee;
  }

  const MathLibrary library;
  std::string name;
  Formulas formulas;
};

/// The remainder of f32 numbers, in f64: the quotient of two numbers of 24 bits
/// is at least 2^-24 away from an integer that it does not equal, so that its
/// integer part is right below 2^28. The product of that and the divisor, and
/// the difference, are exact. An op that is to be exact for larger quotients
/// stays for the library.
struct SmallRemainder : mlir::OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() || op->hasAttr(exactAttr))
      return failure();
    Scalar x = Scalar{&rewriter, op.getLoc(), op.getLhs()}.toF64();
    Scalar y = x.with(op.getRhs()).toF64();
    Scalar whole =
        x.with(rewriter.create<math::TruncOp>(x.loc, (x / y).v)) * -1.0;
    Scalar value = x.with(
        rewriter.create<math::FmaOp>(x.loc, whole.v, y.v, x.v).getResult());
    // A finite number by an infinite one is itself.
    Scalar isInfinite = y.abs().equals(y.f(infinite));
    Scalar unchanged = x.abs().less(x.f(infinite)).select(x, value);
    value = isInfinite.select(unchanged, value);
    value = x.with(rewriter.create<math::CopySignOp>(x.loc, value.v, x.v));
    rewriter.replaceOp(op, value.toF32().v);
    return success();
  }
};

/// The quotient by a constant: its product with the constant's inverse, and a
/// step of Newton's method, which rounds it right (P. Markstein, "Computation
/// of elementary functions on the IBM RISC System/6000 processor", 1990).
/// Zeros, infinities and nan are right before the step, and tiny quotients are
/// within one unit; after it they would not be.
struct DivisionByConstant : mlir::OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr divisor;
    const bool isWide = op.getType().isF64();
    if ((!op.getType().isF32() && !isWide) ||
        !matchPattern(op.getRhs(), mlir::m_Constant(&divisor)) ||
        matchPattern(op.getLhs(), mlir::m_Constant()))
      return failure();
    // The processor divides by no power of 2 where it can multiply.
    llvm::APFloat number = divisor.getValue();
    const int exponent = isWide ? 500 : 60;
    if (!number.isFiniteNonZero() || std::abs(ilogb(number)) > exponent ||
        number.getExactInverse(nullptr))
      return failure();
    llvm::APFloat inverse(number.getSemantics(), 1);
    inverse.divide(number, llvm::APFloat::rmNearestTiesToEven);
    Scalar x{&rewriter, op.getLoc(), op.getLhs()};
    Scalar factor = x.f(inverse.convertToDouble());
    auto multiplyAdd = [&](Scalar a, Scalar b, Scalar c) {
      return x.with(rewriter.create<math::FmaOp>(x.loc, a.v, b.v, c.v));
    };
    Scalar product = x * factor;
    Scalar remainder = multiplyAdd(product, x.f(-number.convertToDouble()), x);
    Scalar rounded = multiplyAdd(remainder, factor, product);
    Scalar size = product.abs();
    Scalar isLarge = x.f(isWide ? 0x1p-400 : 0x1p-60).less(size);
    Scalar isFinite = size.less(x.f(infinite));
    Scalar isOrdinary =
        x.with(rewriter.create<arith::AndIOp>(x.loc, isLarge.v, isFinite.v));
    rewriter.replaceOp(op, isOrdinary.select(rounded, product).v);
    return success();
  }
};

/// The remainder of floats, where no library has it: that of f64, which is
/// exact, and so is the rounding to fewer bits.
struct Remainder : mlir::OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    const bool isWide = op.getType().isF64();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Scalar x{&rewriter, op.getLoc(), operand};
      operands.push_back(isWide ? operand : x.toF64().v);
    }
    Value result = callDevice("fmod", operands, rewriter).v;
    if (isWide)
      rewriter.replaceOp(op, result);
    else
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), result);
    return success();
  }
};
} // namespace

bool meshloom::losesHugeArguments(Operation *op) {
  if (isa<arith::RemFOp>(op))
    return op->getResult(0).getType().isF32();
  if (!isa<math::SinOp, math::CosOp, math::TanOp>(op))
    return false;
  Type type = op->getResult(0).getType();
  return type.isF32() || type.isF64();
}

Value meshloom::argumentSize(OpBuilder &builder, Operation *op) {
  Scalar x{&builder, op->getLoc(), op->getOperand(0)};
  if (isa<arith::RemFOp>(op))
    x = (x.toF64() / x.with(op->getOperand(1)).toF64()) *
        (hugeAngle / hugeQuotient);
  Scalar bits = (x.v.getType().isF64() ? x.toF32() : x).bits();
  return (bits + bits).v; // without the sign
}

void meshloom::populateDivisionPatterns(mlir::RewritePatternSet &patterns) {
  patterns.add<DivisionByConstant>(patterns.getContext());
}

void meshloom::populateMathFunctionPatterns(mlir::RewritePatternSet &patterns,
                                            MathLibrary library) {
  auto add = [&]<typename Op>(StringRef name, Formulas formulas) {
    patterns.add<MathFunction<Op>>(patterns.getContext(), library, name,
                                   formulas);
  };
  add.operator()<math::ExpOp>("exp", {narrow::exp, wide::exp});
  add.operator()<math::ExpM1Op>("expm1", {narrow::expm1, wide::expm1});
  add.operator()<math::LogOp>("log", {narrow::log, wide::log});
  add.operator()<math::Log1pOp>("log1p", {narrow::log1p, wide::log1p});
  add.operator()<math::TanhOp>("tanh", {narrow::tanh, wide::tanh});
  add.operator()<math::ErfOp>("erf", {narrow::erf, wide::erf});
  // The formulas of f64 have none beside them for huge arguments; of cube roots
  // and powers there are functions for targets without a library.
  auto orNone = [&](Formula formula) {
    return library == MathLibrary::Libm ? formula : nullptr;
  };
  add.operator()<math::CbrtOp>("cbrt", {narrow::cbrt, orNone(wide::cbrt)});
  add.operator()<math::SinOp>(
      "sin", {narrow::sin, orNone(wide::sin), [](Scalar x) {
                return sinOrCos(hugeAngleOf(x), false, narrow::format);
              }});
  add.operator()<math::CosOp>(
      "cos", {narrow::cos, orNone(wide::cos), [](Scalar x) {
                return sinOrCos(hugeAngleOf(x), true, narrow::format);
              }});
  add.operator()<math::TanOp>(
      "tan", {narrow::tan, orNone(wide::tan),
              [](Scalar x) { return tangent(hugeAngleOf(x)); }});
  if (library == MathLibrary::None)
    patterns.add<Remainder>(patterns.getContext());
  else
    patterns.add<SmallRemainder>(patterns.getContext());
  add.operator()<math::Atan2Op>(
      "atan2", {.binary = narrow::atan2, .wideBinary = wide::atan2});
  add.operator()<math::PowFOp>(
      "pow", {.binary = narrow::pow,
              .wideBinary =
                  library == MathLibrary::Libm ? wide::pow<Scalar> : nullptr});
}
