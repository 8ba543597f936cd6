// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each function is one function of the module, and not written where it is
// called: code generators contract products and sums of a kernel, and the sums
// of two floats here, which hold the bits that one float has no room for, are
// right only without that. Polynomials are those of Cephes' double precision
// library (S. Moshier, netlib.org/cephes) unless noted.
// test/Targets/CUDA/CUDAKernelTest.cpp holds the functions to their errors.
#include "DeviceMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/StringSwitch.h"

using namespace meshloom;
using namespace meshloom::formulas;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace math = mlir::math;
namespace scf = mlir::scf;

namespace {
using Sum = wide::Sum<Scalar>;
using wide::product;
using wide::sum;

constexpr int64_t mantissaBits = 0xfffffffffffff;

Scalar fma(Scalar x, Scalar y, Scalar z) {
  return x.with(x.b->create<math::FmaOp>(x.loc, x.v, y.v, z.v));
}
Scalar fma(Scalar x, double y, Scalar z) {
  return fma(x, x.f(y), z);
}
Scalar logicalShiftRight(Scalar x, Scalar by) {
  return x.with(x.b->create<arith::ShRUIOp>(x.loc, x.v, by.v));
}
Scalar logicalShiftRight(Scalar x, int64_t by) {
  return logicalShiftRight(x, x.i(by));
}
Scalar shiftLeft(Scalar x, Scalar by) {
  return x.with(x.b->create<arith::ShLIOp>(x.loc, x.v, by.v));
}
// -- Angles --

/// x is `quadrant` (an i64) quarter turns and the sum of `remainder`, which
/// is at most an eighth of a turn.
struct WideAngle {
  Scalar quadrant;
  Sum remainder;
};

/// Quarter turns are subtracted in three parts of 53 bits (W. Cody, W. Waite:
/// Software Manual for the Elementary Functions, 1980). Right for |x| < 2^30.
WideAngle smallWideAngle(Scalar x) {
  Scalar magic = x.f(0x1.8p52);
  Scalar shifted = x * 0.636619772367581343 + magic;
  Scalar n = shifted - magic;
  // Exact: the difference is a multiple of 2^-53, and less than 1.
  Scalar first = fma(n, -0x1.921fb54442d18p0, x);
  Sum second = product(n, x.f(0x1.1a62633145c06p-54));
  // The sum of two floats, of which either may be the larger one (D. Knuth).
  Scalar high = first - second.high;
  Scalar taken = high - first;
  Scalar lost = (first - (high - taken)) - (second.high + taken);
  Scalar low = fma(n, -0x1.c1cd129024e08p-107, lost - second.low);
  return {shifted.bits(), {high, low}};
}

/// 64 zeros, then the first bits of 2 / pi behind the point.
constexpr uint64_t twoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// Entry `index` of twoOverPi, which the module gets as constant memory.
Scalar loadTwoOverPi(Scalar index) {
  constexpr StringRef name = "meshloom_two_over_pi";
  constexpr unsigned constantSpace = 4;
  OpBuilder &b = *index.b;
  auto module =
      b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto table = module.lookupSymbol<LLVM::GlobalOp>(name);
  if (!table) {
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    auto bits = llvm::map_to_vector(
        twoOverPi, [](uint64_t word) { return int64_t(word); });
    auto type = LLVM::LLVMArrayType::get(b.getI64Type(), bits.size());
    table = top.create<LLVM::GlobalOp>(
        index.loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
        b.getI64TensorAttr(bits), /*alignment=*/8, constantSpace);
  }
  Value base = b.create<LLVM::AddressOfOp>(index.loc, table);
  Value address =
      b.create<LLVM::GEPOp>(index.loc, base.getType(), b.getI64Type(), base,
                            ArrayRef<LLVM::GEPArg>{index.v});
  return index.with(b.create<LLVM::LoadOp>(index.loc, b.getI64Type(), address));
}

/// The low 192 bits of m times a word of 192 bits, from the highest bits on.
std::array<Scalar, 3> multiply(Scalar m, const std::array<Scalar, 3> &word) {
  auto extended = [&](Scalar factor) {
    auto both = m.b->create<arith::MulUIExtendedOp>(m.loc, m.v, factor.v);
    return std::pair(m.with(both.getLow()), m.with(both.getHigh()));
  };
  auto [low, lowCarry] = extended(word[2]);
  auto [middle, middleCarry] = extended(word[1]);
  Scalar second = middle + lowCarry;
  Scalar overflows = m.with(m.b->create<arith::CmpIOp>(
      m.loc, arith::CmpIPredicate::ult, second.v, middle.v));
  Scalar first = m * word[0] + middleCarry + overflows.select(m.i(1), m.i(0));
  return {first, second, low};
}

/// Right for finite |x| >= 2^30 (M. Payne, R. Hanek: Radian Reduction for
/// Trigonometric Functions, 1983): x is m 2^e with an integer m of 53 bits, and
/// the bits of 2 / pi in front of 2^-(e - 1) add multiples of four quadrants.
/// The first two of the 192 bits that follow, times m, are the quadrant.
WideAngle hugeWideAngle(Scalar x) {
  Scalar bits = x.abs().bits();
  Scalar m = (bits & mantissaBits) | bits.i(mantissaBits + 1);
  // Where the window begins in the table: e - 2, with e = exponent - 1075.
  Scalar begin = shiftRight(bits, 52) - bits.i(1077 - 64);
  Scalar word = shiftRight(begin, 6), by = begin & 63;
  auto part = [&](int k) {
    Scalar next = logicalShiftRight(loadTwoOverPi(word + word.i(k + 1)), 1);
    return shiftLeft(loadTwoOverPi(word + word.i(k)), by) |
           logicalShiftRight(next, by ^ by.i(63));
  };
  auto turns = multiply(m, {part(0), part(1), part(2)});
  Scalar quadrant =
      logicalShiftRight(turns[0] + turns[0].i(int64_t(1) << 61), 62);
  turns[0] = turns[0] - shiftLeft(quadrant, 62);
  // The size of the fraction, to less than its last bit; its bits add up
  // without cancelling each other.
  Scalar sign = shiftRight(turns[0], 63);
  for (Scalar &word : turns)
    word = word ^ sign;
  Scalar first = turns[0].toF64();
  Scalar firstBits =
      x.with(x.b->create<arith::FPToSIOp>(x.loc, x.b->getI64Type(), first.v));
  Scalar second = fma(logicalShiftRight(turns[1], 1).toF64(), 0x1p-63,
                      (turns[0] - firstBits).toF64());
  Sum size = sum(first, second);
  size.low = fma(logicalShiftRight(turns[2], 1).toF64(), 0x1p-127, size.low);
  size = {size.high * 0x1p-62, size.low * 0x1p-62};
  Sum radians = product(size.high, x.f(0x1.921fb54442d18p0));
  radians.low = fma(size.low, 0x1.921fb54442d18p0, radians.low);
  radians.low = fma(size.high, 0x1.1a62633145c06p-54, radians.low);
  Scalar isBelow = sign.isNegative(), isNegative = x.bits().isNegative();
  Scalar turned = isBelow ^ isNegative;
  return {isNegative.select(quadrant.i(0) - quadrant, quadrant),
          {turned.select(-radians.high, radians.high),
           turned.select(-radians.low, radians.low)}};
}

WideAngle wideAngle(Scalar x) {
  OpBuilder &b = *x.b;
  Type i64 = b.getI64Type(), f64 = b.getF64Type();
  Scalar isSmall = x.abs().less(x.f(0x1p30));
  auto branch = b.create<scf::IfOp>(x.loc, TypeRange{i64, f64, f64}, isSmall.v,
                                    /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    for (bool taken : {true, false}) {
      b.setInsertionPointToStart(taken ? branch.thenBlock()
                                       : branch.elseBlock());
      WideAngle angle = taken ? smallWideAngle(x) : hugeWideAngle(x);
      b.create<scf::YieldOp>(x.loc, ValueRange{angle.quadrant.v,
                                               angle.remainder.high.v,
                                               angle.remainder.low.v});
    }
  }
  return {x.with(branch.getResult(0)),
          {x.with(branch.getResult(1)), x.with(branch.getResult(2))}};
}

Scalar sineOf(Sum x) {
  Scalar z = x.high * x.high;
  Scalar p = exactPolynomial(
      z, {1.58962301576546568060e-10, -2.50507477628578072866e-8,
          2.75573136213857245213e-6, -1.98412698295895385996e-4,
          8.33333333332211858878e-3, -1.66666666666666307295e-1});
  return x.high + fma(z * x.high, p, fma(x.low, z * -0.5, x.low));
}

Scalar cosineOf(Sum x) {
  Scalar z = x.high * x.high;
  Scalar p = exactPolynomial(
      z, {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
          -2.75573141792967388112e-7, 2.48015872888517045348e-5,
          -1.38888888888730564116e-3, 4.16666666666665929218e-2});
  Sum main = sum(x.high.f(1), z * -0.5);
  return main.high + (main.low + (z * (z * p) - x.high * x.low));
}

/// The angle with sine and cosine of its remainder.
Angle<Scalar, Scalar> angleOf(Scalar x) {
  WideAngle angle = wideAngle(x);
  return {angle.quadrant, sineOf(angle.remainder), cosineOf(angle.remainder)};
}

/// `value` where x is finite, else nan; x itself where `isOdd` and x is small.
Scalar functionOfAngle(Scalar x, Scalar value, bool isOdd) {
  if (isOdd)
    value = x.abs().less(x.f(0x1p-27)).select(x, value);
  return x.abs().less(x.f(infinite)).select(value, x.f(notANumber));
}

Scalar sineOrCosine(Scalar x, bool isCosine) {
  return functionOfAngle(x, sinOrCos(angleOf(x), isCosine, wide::format),
                         /*isOdd=*/!isCosine);
}

Scalar sine(ArrayRef<Scalar> x) {
  return sineOrCosine(x[0], /*isCosine=*/false);
}
Scalar cosine(ArrayRef<Scalar> x) {
  return sineOrCosine(x[0], /*isCosine=*/true);
}

Scalar tangent(ArrayRef<Scalar> x) {
  return functionOfAngle(x[0], formulas::tangent(angleOf(x[0])),
                         /*isOdd=*/true);
}

// -- Remainders --

/// A positive finite number: m 2^(exponent - 1075) with an m of 53 bits.
struct WideParts {
  Scalar m, exponent;
};
WideParts widePartsOf(Scalar x) {
  Scalar isTiny = x.less(x.f(wide::format.smallestNormal));
  Scalar bits = isTiny.select(x * 0x1p54, x).bits();
  return {(bits & mantissaBits) | bits.i(mantissaBits + 1),
          shiftRight(bits, 52) - isTiny.select(bits.i(54), bits.i(0))};
}

/// r - m where that is not negative, else r.
Scalar subtractWhereItFits(Scalar r, Scalar m) {
  Scalar difference = r - m;
  return difference.isNegative().select(r, difference);
}

/// m of x, doubled until its exponent is that of y, less m of y whenever that
/// fits: at most 2,098 exact steps.
Scalar remainder(ArrayRef<Scalar> arguments) {
  Scalar x = arguments[0], y = arguments[1];
  Scalar size = x.abs(), divisorSize = y.abs();
  WideParts dividend = widePartsOf(size), divisor = widePartsOf(divisorSize);
  Scalar first = subtractWhereItFits(dividend.m, divisor.m);
  auto loop = x.b->create<scf::ForOp>(
      x.loc, first.i(0).v, (dividend.exponent - divisor.exponent).v,
      first.i(1).v, first.v,
      [&](OpBuilder &b, Location loc, Value, ValueRange values) {
        Scalar r{&b, loc, values[0]}, m{&b, loc, divisor.m.v};
        b.create<scf::YieldOp>(loc, subtractWhereItFits(r + r, m).v);
      });
  // In two factors: one alone may be out of range.
  Scalar exponent = divisor.exponent - first.i(1075);
  Scalar half = shiftRight(exponent, 1);
  Scalar value = x.with(loop.getResult(0)).toF64() *
                 powerOf2(half, wide::format) *
                 powerOf2(exponent - half, wide::format);
  value = size.less(divisorSize).select(size, value);
  Scalar isDefined = both(size.less(x.f(infinite)), x.f(0).less(divisorSize));
  return isDefined.select(value.withSignOf(x), x.f(notANumber));
}

using DeviceFormula = Scalar (*)(ArrayRef<Scalar>);

DeviceFormula formulaOf(StringRef name) {
  return llvm::StringSwitch<DeviceFormula>(name)
      .Case("sin", sine)
      .Case("cos", cosine)
      .Case("tan", tangent)
      .Case("cbrt", [](ArrayRef<Scalar> x) { return wide::cbrt(x[0]); })
      .Case("pow", [](ArrayRef<Scalar> x) { return wide::pow(x[0], x[1]); })
      .Case("fmod", remainder);
}

} // namespace

Scalar meshloom::callDevice(StringRef name, ValueRange arguments,
                            PatternRewriter &rewriter) {
  const Location loc = arguments.front().getLoc();
  auto module =
      rewriter.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  const std::string symbol = ("meshloom_" + name).str();
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!callee) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(module.getBody());
    Type f64 = rewriter.getF64Type();
    callee = rewriter.create<LLVM::LLVMFuncOp>(
        loc, symbol,
        LLVM::LLVMFunctionType::get(f64,
                                    SmallVector<Type>(arguments.size(), f64)),
        LLVM::Linkage::Internal);
    SmallVector<StringRef> attributes{"alwaysinline", "nounwind"};
    callee.setPassthroughAttr(rewriter.getStrArrayAttr(attributes));
    rewriter.setInsertionPointToStart(callee.addEntryBlock(rewriter));
    SmallVector<Scalar> parameters;
    for (Value parameter : callee.getArguments())
      parameters.push_back({&rewriter, loc, parameter});
    rewriter.create<LLVM::ReturnOp>(loc, formulaOf(name)(parameters).v);
  }
  return {&rewriter, loc,
          rewriter.create<LLVM::CallOp>(loc, callee, arguments).getResult()};
}
