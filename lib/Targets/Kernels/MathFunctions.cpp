// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementary functions of kernel bodies as branch-free arithmetic on scalars,
// which LLVM's loop vectoriser turns into vector code; all are right for inf,
// nan, denormals and the ends of their ranges. Polynomials are those of Cephes'
// single and double precision libraries (S. Moshier, netlib.org/cephes) unless
// noted.
// test/Targets/CPU/MathAccuracyTest.cpp holds them to their errors.
#include "DeviceMath.h"
#include "WideFormulas.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace meshloom;
using namespace meshloom::formulas;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace math = mlir::math;

namespace {
constexpr double smallestNormal = 0x1p-126;
/// Libm computes sine and cosine of larger arguments: neighbouring floats are
/// many periods apart.
constexpr double hugeAngle = 0x1p49;
/// The library computes remainders of larger quotients.
constexpr double hugeQuotient = 0x1p28;
constexpr double ln2High = 0.693359375, ln2Low = -2.12194440e-4;

/// 2^n for an i32 n with -126 <= n <= 127.
Scalar powerOf2(Scalar n) {
  return shiftLeft(n + n.i(127), 23).asFloat();
}

/// x = n ln 2 + r with |r| <= ln 2 / 2, and e^r - 1. Adding 1.5 * 2^23 rounds
/// to an integer and leaves it in the low bits of the sum.
struct ExpParts {
  Scalar n, expm1r;
};
ExpParts expParts(Scalar x) {
  Scalar magic = x.f(12582912.0);
  Scalar shifted = x * 1.44269504088896341 + magic;
  Scalar n = shifted - magic;
  Scalar r = x - n * ln2High;
  r = r - n * ln2Low;
  Scalar p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                            4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return {shifted.bits() - magic.bits(), p * r * r + r};
}

namespace narrow { // the names are also those of libm

Scalar exp(Scalar x) {
  // Below ln(2^-150) the result is 0. Products that underflow on the way there
  // take some processors a hundred times as long, and what a mask hides from a
  // softmax is all of that kind.
  Scalar vanishes = x.less(x.f(-103.98));
  Scalar above = x.f(89.0).less(x).select(x.f(89.0), x);
  ExpParts parts = expParts(vanishes.select(x.f(0), above));
  // In two factors: 2^n alone is out of range at both ends.
  Scalar half = shiftRight(parts.n, 1);
  Scalar value =
      (parts.expm1r + 1.0) * powerOf2(half) * powerOf2(parts.n - half);
  return vanishes.select(x.f(0), value);
}

Scalar expm1(Scalar x) {
  ExpParts parts = expParts(x.clamp(-18.0, 89.0));
  // 2^n (e^r - 1) + (2^n - 1), all halved so that n = 128 is in range.
  Scalar h = powerOf2(parts.n - parts.n.i(1));
  return ((h * parts.expm1r + (h - 0.5)) * 2.0).withSignOf(x);
}

Scalar log(Scalar x) {
  Scalar tiny = x.less(x.f(smallestNormal));
  Scalar scaled = tiny.select(x * 0x1p23, x);
  Scalar bits = scaled.bits();
  Scalar e = (shiftRight(bits, 23) - bits.i(126)).toF32();
  e = e - tiny.select(x.f(23), x.f(0));
  // The mantissa in [1/2, 1), then x in [sqrt(1/2), sqrt(2)) minus 1.
  Scalar m = ((bits & 0x7fffff) | bits.i(0x3f000000)).asFloat();
  Scalar low = m.less(m.f(0.707106781186547524));
  e = e - low.select(x.f(1), x.f(0));
  m = low.select(m + m, m) - 1.0;
  Scalar z = m * m;
  Scalar p =
      polynomial(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                     -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                     2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Scalar y = p * m * z + e * ln2Low - z * 0.5;
  Scalar result = m + y + e * ln2High;
  // inf and nan as they are; 0 to -inf; below 0 to nan.
  result = x.less(x.f(infinite)).select(result, x);
  result = x.equals(x.f(0)).select(x.f(-infinite), result);
  return x.less(x.f(0)).select(x.f(notANumber), result);
}

/// log(u) with u = 1 + x rounded, plus what the rounding lost.
Scalar log1p(Scalar x) {
  Scalar u = x + 1.0;
  Scalar correction = (x - (u - 1.0)) / u;
  Scalar inRange = x.abs().less(x.f(0x1p24));
  Scalar notMinusOne = u.equals(u.f(0)).select(u.f(0), correction);
  return (log(u) + inRange.select(notMinusOne, x.f(0))).withSignOf(x);
}

Scalar tanh(Scalar x) {
  Scalar t = expm1(x.clamp(-10.0, 10.0) * 2.0);
  return t / (t + 2.0);
}

/// Rational approximation on [-4, 4], from Eigen's generic_fast_erf.
Scalar erf(Scalar x) {
  Scalar y = x.clamp(-4.0, 4.0);
  Scalar z = y * y;
  Scalar p = polynomial(z, {-2.72614225801306e-10, 2.77068142495902e-8,
                            -2.10102402082508e-6, -5.69250639462346e-5,
                            -7.34990630326855e-4, -2.95459980854025e-3,
                            -1.60960333262415e-2});
  Scalar q = polynomial(z, {-1.45660718464996e-5, -2.13374055278905e-4,
                            -1.68282697438203e-3, -7.37332916720468e-3,
                            -1.42647390514189e-2});
  return y * (p / q); // y * p may be denormal
}

/// x = n pi/2 + r, by sine and cosine of r; n as an i32.
struct Angle {
  Scalar quadrant, sine, cosine;
};

/// The angle that is `r` radians beyond the beginning of `quadrant`.
Angle angleOf(Scalar quadrant, Scalar r) {
  Scalar z = r * r;
  Scalar sine =
      polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1}) * z *
          r +
      r;
  Scalar cosin = polynomial(z, {2.443315711809948e-5, -1.388731625493765e-3,
                                4.166664568298827e-2}) *
                     z * z -
                 z * 0.5 + 1.0;
  return {quadrant, sine.withSignOf(r), cosin};
}

/// Reduced in f64: right for |x| up to 2^50.
Angle angleOf(Scalar x) {
  Scalar wide = x.toF64();
  Scalar magic = wide.f(0x1.8p52);
  Scalar shifted = wide * 0.636619772367581343 + magic;
  Scalar n = shifted - magic;
  auto subtract = [&](Scalar from, double part) {
    return n.with(n.b->create<math::FmaOp>(n.loc, n.v, n.f(-part).v, from.v));
  };
  Scalar wideR =
      subtract(subtract(wide, 0x1.921fb54442d18p0), 0x1.1a62633145c07p-54);
  Scalar quadrant = shifted.bits();
  quadrant = quadrant.with(quadrant.b->create<arith::TruncIOp>(
      quadrant.loc, quadrant.b->getI32Type(), quadrant.v));
  return angleOf(quadrant, wideR.toF32());
}

/// The first 224 bits of 2 / pi behind the point.
constexpr uint32_t twoOverPi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                  0xf534ddc0, 0xdb629599, 0x3c439041,
                                  0xfe5163ab};

/// Right for |x| >= 2^49 (M. Payne, R. Hanek: Radian Reduction for
/// Trigonometric Functions, 1983): x is m 2^e with an integer m of 24 bits, and
/// the bits of 2 / pi in front of 2^-(e - 1) add multiples of four quadrants.
/// The first two of the 96 bits that follow, times m, are the quadrant.
Angle hugeAngleOf(Scalar x) {
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
  Scalar r =
      x.with(b.create<arith::SIToFPOp>(x.loc, b.getF64Type(), fraction.v)) *
      (1.57079632679489661923 * 0x1p-62);
  Scalar negative = x.less(x.f(0));
  quadrant = negative.select(quadrant.i(0) - quadrant, quadrant);
  r = negative.select(r * -1.0, r);
  r = x.abs().less(x.f(infinite)).select(r, r.f(notANumber));
  quadrant = quadrant.with(
      b.create<arith::TruncIOp>(x.loc, b.getI32Type(), quadrant.v));
  return angleOf(quadrant, r.toF32());
}

Scalar sinOrCos(Angle angle, bool cosine) {
  Scalar quadrant = angle.quadrant;
  if (cosine)
    quadrant = quadrant + quadrant.i(1);
  Scalar value = (quadrant & 1).isZero().select(angle.sine, angle.cosine);
  Scalar sign = shiftLeft(quadrant & 2, 30);
  return (value.bits() ^ sign).asFloat();
}

/// sin r / cos r, in odd quadrants -cos r / sin r.
Scalar tan(Angle angle) {
  Scalar even = (angle.quadrant & 1).isZero();
  Scalar minusCosine = angle.cosine * -1.0;
  return even.select(angle.sine, minusCosine) /
         even.select(angle.cosine, angle.sine);
}

/// The angle in the first half of the first quadrant from the ratio of the
/// sides, by Cephes' atanf; then the octants, as the sides' order and signs
/// tell.
Scalar atan2(Scalar y, Scalar x) {
  Scalar a = x.abs(), b = y.abs();
  Scalar steep = a.less(b);
  Scalar small = steep.select(a, b), large = steep.select(b, a);
  Scalar ratio = (small.toF64() / large.toF64()).toF32();
  // Both 0 or both infinite.
  ratio = (a + b).equals(x.f(0)).select(x.f(0), ratio);
  Scalar equal = small.equals(x.f(infinite)).select(x.f(1), ratio);
  ratio = large.equals(x.f(infinite)).select(equal, ratio);
  Scalar wide = x.f(0.414213562373095).less(ratio); // tan(pi / 8)
  Scalar t = wide.select((ratio - 1.0) / (ratio + 1.0), ratio);
  Scalar z = t * t;
  Scalar angle = polynomial(z, {8.05374449538e-2, -1.38776856032e-1,
                                1.99777106478e-1, -3.33329491539e-1}) *
                     z * t +
                 t;
  angle = angle + wide.select(x.f(0.785398163397448310), x.f(0));
  angle = steep.select(x.f(1.57079632679489662) - angle, angle);
  Scalar behind = x.bits().negative();
  angle = behind.select(x.f(3.14159265358979324) - angle, angle);
  return angle.withSignOf(y);
}

/// Two Newton steps in f64 from a third of the exponent, as FreeBSD's cbrtf.
Scalar cbrt(Scalar x) {
  Scalar size = x.abs();
  Scalar tiny = size.less(size.f(smallestNormal));
  Scalar bits = tiny.select(size * 0x1p24, size).bits();
  Scalar third =
      bits.with(bits.b->create<arith::DivUIOp>(bits.loc, bits.v, bits.i(3).v));
  Scalar start = third + tiny.select(bits.i(642849266), bits.i(709958130));
  Scalar t = start.asFloat().toF64(), wide = size.toF64();
  for (int step = 0; step < 2; ++step) {
    Scalar r = t * t * t;
    t = t * (wide + wide + r) / (wide + r + r);
  }
  Scalar result = t.toF32();
  result = result.withSignOf(x);
  Scalar ordinary = x.f(0).less(size);
  ordinary = size.less(x.f(infinite)).select(ordinary, size.less(x.f(0)));
  return ordinary.select(result, x);
}

} // namespace narrow

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
  using namespace narrow;
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
  add.operator()<math::CbrtOp>("cbrt", {narrow::cbrt, orNone(wideCubeRoot)});
  add.operator()<math::SinOp>(
      "sin",
      {[](Scalar x) { return sinOrCos(angleOf(x), false); }, orNone(wide::sin),
       [](Scalar x) { return sinOrCos(hugeAngleOf(x), false); }});
  add.operator()<math::CosOp>(
      "cos",
      {[](Scalar x) { return sinOrCos(angleOf(x), true); }, orNone(wide::cos),
       [](Scalar x) { return sinOrCos(hugeAngleOf(x), true); }});
  add.operator()<math::TanOp>(
      "tan",
      {[](Scalar x) { return narrow::tan(angleOf(x)); }, orNone(wide::tan),
       [](Scalar x) { return narrow::tan(hugeAngleOf(x)); }});
  if (library == MathLibrary::None)
    patterns.add<Remainder>(patterns.getContext());
  else
    patterns.add<SmallRemainder>(patterns.getContext());
  add.operator()<math::Atan2Op>(
      "atan2", {.binary = narrow::atan2, .wideBinary = wide::atan2});
  add.operator()<math::PowFOp>(
      "pow",
      {.binary = narrowPower,
       .wideBinary = library == MathLibrary::Libm ? widePower : nullptr});
}
