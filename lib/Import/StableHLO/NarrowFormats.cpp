// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats of a few bits by the bits of f32: a format with an exponent of its own
// bias and fewer bits of mantissa. Normal numbers are shifted and re-biased,
// small ones are multiples of the smallest. f8E8M0FNU is the exponent alone.
#include "NarrowFormats.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"
#include "meshloom/Math/FloatMath.h"

#include <cmath>

using namespace meshloom;
using namespace meshloom::importer;
using stablehlo::MinifloatFormat;
using stablehlo::MinifloatType;

namespace {
/// The kinds of codes that a format has beside finite numbers. The codes are
/// without the sign.
enum class Specials : uint8_t {
  Infinities,      ///< the code after the largest number's, those above are nan
  Nan,             ///< the code after the largest number's
  NanForMinusZero, ///< FNUZ: no -0, whose byte is the only nan
  None
};

/// A sign, exponent bits, `mantissa` bits.
struct Format {
  unsigned mantissa;
  int bias;
  unsigned largest; ///< the code of the largest number
  Specials specials;
  unsigned bits = 8;

  unsigned signBit() const { return 1U << (bits - 1); }
  bool isNumber(unsigned code) const { return code <= largest; }
  /// The code of the nan that results have.
  unsigned nan() const {
    switch (specials) {
    case Specials::Infinities: // the first bit of the mantissa is set
      return (largest + 1) | (1U << (mantissa - 1));
    case Specials::Nan:
      return largest + 1;
    case Specials::NanForMinusZero:
    case Specials::None: // has none: a nan becomes -0
      return signBit();
    }
    llvm_unreachable("all specials have a nan");
  }
  /// The code of a number that is too large.
  unsigned beyond() const {
    if (specials == Specials::None)
      return largest;
    return specials == Specials::Infinities ? largest + 1 : nan();
  }
};

/// Returns whether numbers of the type are powers of two without a sign.
bool isExponent(Type element) {
  auto minifloat = dyn_cast<MinifloatType>(element);
  return minifloat && minifloat.getFormat() == MinifloatFormat::F8E8M0FNU;
}

std::optional<Format> formatOf(Type element) {
  if (auto minifloat = dyn_cast<MinifloatType>(element))
    switch (minifloat.getFormat()) {
    case MinifloatFormat::F4E2M1FN:
      return Format{1, 1, 0x7, Specials::None, 4};
    case MinifloatFormat::F6E2M3FN:
      return Format{3, 1, 0x1f, Specials::None, 6};
    case MinifloatFormat::F6E3M2FN:
      return Format{2, 3, 0x1f, Specials::None, 6};
    case MinifloatFormat::F8E3M4:
      return Format{4, 3, 0x6f, Specials::Infinities};
    case MinifloatFormat::F8E8M0FNU:
      return std::nullopt;
    }
  if (element.isFloat8E5M2())
    return Format{2, 15, 0x7b, Specials::Infinities};
  if (element.isFloat8E4M3())
    return Format{3, 7, 0x77, Specials::Infinities};
  if (element.isFloat8E4M3FN())
    return Format{3, 7, 0x7e, Specials::Nan};
  if (element.isFloat8E5M2FNUZ())
    return Format{2, 16, 0x7f, Specials::NanForMinusZero};
  if (element.isFloat8E4M3FNUZ())
    return Format{3, 8, 0x7f, Specials::NanForMinusZero};
  if (element.isFloat8E4M3B11FNUZ())
    return Format{3, 11, 0x7f, Specials::NanForMinusZero};
  return std::nullopt;
}

/// Words of 32 bits.
struct Words {
  dtensor::TensorBuilder &b;
  FloatMath m{b};
  Type type = b.getIntegerType(32, /*isSigned=*/false);

  Value both(Value x, unsigned mask) {
    return m.both(x, b.splat(b.typeOf(x), llvm::APInt(32, mask)));
  }
  Value plus(Value x, unsigned y) {
    return m.add(x, b.splat(b.typeOf(x), llvm::APInt(32, y)));
  }
  Value shiftLeft(Value x, unsigned bits) {
    return b.apply<dtensor::ShiftLeftOp>({x, b.like(x, bits)});
  }
  Value shiftRight(Value x, unsigned bits) {
    return b.apply<dtensor::ShiftRightLogicalOp>({x, b.like(x, bits)});
  }
};

/// The f32 next to an f64 towards 0, its last bit set where it is not exact:
/// rounding it once more gives what rounding the f64 once would.
Value roundToOdd(dtensor::TensorBuilder &b, Value value) {
  FloatMath m(b);
  Words w{b};
  Value nearest = b.convert(value, b.getF32Type());
  Value back = b.convert(nearest, b.getF64Type());
  Value finite = m.lt(m.abs(back), HUGE_VAL);
  auto flag = [&](Value condition) {
    return b.convert(m.both(finite, condition), w.type);
  };
  Value tooFar = flag(m.lt(m.abs(value), m.abs(back)));
  Value inexact = flag(m.ne(back, value));
  Value bits = m.either(m.sub(b.bitcast(nearest, w.type), tooFar), inexact);
  return b.bitcast(bits, b.getF32Type());
}
} // namespace

bool importer::isNarrow(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() == 2 || integer.getWidth() == 4;
  return formatOf(element) || isExponent(element);
}

unsigned importer::bitsOf(Type element) {
  auto minifloat = dyn_cast<MinifloatType>(element);
  return minifloat ? minifloat.getWidth() : element.getIntOrFloatBitWidth();
}

Type importer::wideTypeOf(Type element) {
  MLIRContext *context = element.getContext();
  if (!isa<IntegerType>(element))
    return FloatType::getF32(context);
  return IntegerType::get(context, 8,
                          element.isUnsignedInteger() ? IntegerType::Unsigned
                                                      : IntegerType::Signless);
}

namespace {
Value unpackExponent(dtensor::TensorBuilder &b, Value bytes) {
  FloatMath m(b);
  Words w{b};
  Value word = b.convert(bytes, w.type);
  constexpr double half = 0x400000; // 2^-127 is a subnormal number of f32
  Value bits = m.select(m.eq(word, 0), half, w.shiftLeft(word, 23));
  return m.select(m.eq(word, 0xff), NAN, b.bitcast(bits, b.getF32Type()));
}

/// Ties go away from 0, as in XLA.
Value packExponent(dtensor::TensorBuilder &b, Value value) {
  FloatMath m(b);
  Words w{b};
  Value bits = b.bitcast(value, w.type);
  Value normal = w.shiftRight(w.plus(bits, 0x400000), 23);
  Value small = b.convert(m.gt(bits, 0x5fffff), w.type);
  Value code = m.select(m.lt(bits, 0x800000), small, normal);
  // Zero, negative numbers and nan have no code.
  Value hasCode = m.both(m.gt(bits, 0), m.lt(bits, 0x7f800001));
  return b.convert(m.select(hasCode, code, 0xff),
                   b.getIntegerType(8, /*isSigned=*/false));
}

Value unpackFloat(dtensor::TensorBuilder &b, Value bytes,
                  const Format &format) {
  FloatMath m(b);
  Words w{b};
  Type single = b.getF32Type();
  Value word = w.both(b.convert(bytes, w.type), 2 * format.signBit() - 1);
  Value code = w.both(word, format.signBit() - 1);
  unsigned up = 23 - format.mantissa;
  Value normal = b.bitcast(
      w.plus(w.shiftLeft(code, up), unsigned(127 - format.bias) << 23), single);
  Value small = m.mul(b.convert(code, single),
                      std::ldexp(1.0, 1 - format.bias - int(format.mantissa)));
  Value size =
      m.select(m.lt(code, double(1u << format.mantissa)), small, normal);
  const double above = format.largest + 1;
  if (format.specials == Specials::Infinities) {
    size = m.select(m.eq(code, above), HUGE_VAL, size);
    size = m.select(m.lt(code, above + 1), size, NAN);
  } else if (format.specials == Specials::Nan) {
    size = m.select(m.lt(code, above), size, NAN);
  }
  Value signs = w.shiftLeft(w.both(word, format.signBit()), 32 - format.bits);
  Value result = b.bitcast(m.either(b.bitcast(size, w.type), signs), single);
  if (format.specials == Specials::NanForMinusZero)
    result = m.select(m.eq(word, format.signBit()), NAN, result);
  return result;
}

Value packFloat(dtensor::TensorBuilder &b, Value value, const Format &format) {
  FloatMath m(b);
  Words w{b};
  Value bits = b.bitcast(value, w.type);
  Value size = w.both(bits, 0x7fffffff);
  Value number = b.bitcast(size, b.getF32Type());
  // Normal: to nearest even at the last kept bit; a carry into the exponent is
  // right.
  unsigned down = 23 - format.mantissa;
  Value last = w.both(w.shiftRight(size, down), 1);
  Value rounded =
      w.shiftRight(m.add(w.plus(size, (1u << (down - 1)) - 1), last), down);
  Value normal =
      w.plus(rounded, 0u - (unsigned(127 - format.bias) << format.mantissa));
  Value small = b.convert(
      b.apply<dtensor::RoundOp>(m.mul(
          number, std::ldexp(1.0, format.bias - 1 + int(format.mantissa)))),
      w.type);
  double smallestNormal = std::ldexp(1.0, 1 - format.bias);
  Value isSmall = m.lt(number, smallestNormal);
  // The other formula is not to overflow.
  small = m.select(isSmall, small, 0.0);
  Value code = m.select(isSmall, small, normal);
  Value finite =
      m.both(m.le(code, format.largest), m.lt(number, std::ldexp(1.0, 100)));
  code = m.select(m.either(finite, m.ne(number, number)), code,
                  double(format.beyond()));
  code = m.select(m.ne(number, number), double(format.nan()), code);
  Value signs = w.both(w.shiftRight(bits, 32 - format.bits), format.signBit());
  if (format.specials == Specials::NanForMinusZero) // nan and 0 have no sign
    signs = m.select(m.both(m.gt(code, 0), m.lt(code, format.signBit())), signs,
                     0.0);
  return b.convert(m.either(code, signs),
                   b.getIntegerType(8, /*isSigned=*/false));
}
} // namespace

Value importer::emitUnpack(dtensor::TensorBuilder &b, Value bytes,
                           Type element) {
  FloatMath m(b);
  if (auto integer = dyn_cast<IntegerType>(element)) {
    unsigned unused = 8 - integer.getWidth();
    Value high =
        b.bitcast(b.apply<dtensor::ShiftLeftOp>({bytes, b.like(bytes, unused)}),
                  wideTypeOf(element));
    Value by = b.like(high, unused);
    return integer.isUnsigned()
               ? b.apply<dtensor::ShiftRightLogicalOp>({high, by})
               : b.apply<dtensor::ShiftRightArithmeticOp>({high, by});
  }
  if (isExponent(element))
    return unpackExponent(b, bytes);
  return unpackFloat(b, bytes, *formatOf(element));
}

Value importer::emitPack(dtensor::TensorBuilder &b, Value value, Type element) {
  // Stored as they are computed with, once they have wrapped around.
  if (isa<IntegerType>(element))
    return emitUnpack(b, value, element);
  if (b.elementOf(value).isF64())
    value = roundToOdd(b, value);
  return isExponent(element) ? packExponent(b, value)
                             : packFloat(b, value, *formatOf(element));
}

namespace {
/// Where the bytes of a kind of f8 are in the order of its numbers: b >= 0 at
/// b + positive, b < 0 (from 0x80 on) at negative - b, a nan at the end.
struct Order {
  double positive, negative, nan;
};

Order orderOf(const Format &format, bool nanIsLargest) {
  // Without -0 all bytes but that of the nan are numbers.
  const bool makeRoom = format.specials == Specials::NanForMinusZero;
  return {makeRoom && nanIsLargest ? 127.0 : 128.0,
          makeRoom && !nanIsLargest ? 256.0 : 255.0,
          nanIsLargest ? 255.0 : 0.0};
}
} // namespace

bool importer::isOrdered(Type element) {
  auto format = formatOf(element);
  return format && format->specials != Specials::None;
}

Value importer::emitOrder(dtensor::TensorBuilder &b, Value bytes, Type element,
                          bool nanIsLargest) {
  FloatMath m(b);
  const Format format = *formatOf(element);
  const Order order = orderOf(format, nanIsLargest);
  Value key = m.select(m.lt(bytes, 128.0), m.add(bytes, order.positive),
                       m.sub(m.number(bytes, order.negative), bytes));
  Value isNan =
      format.specials == Specials::NanForMinusZero
          ? m.eq(bytes, 128.0)
          : m.gt(m.both(bytes, m.number(bytes, 127)),
                 double(format.largest) +
                     (format.specials == Specials::Infinities ? 1 : 0));
  return m.select(isNan, order.nan, key);
}

Value importer::emitUnorder(dtensor::TensorBuilder &b, Value key, Type element,
                            bool nanIsLargest) {
  FloatMath m(b);
  const Format format = *formatOf(element);
  const Order order = orderOf(format, nanIsLargest);
  Value byte = m.select(m.lt(key, order.positive),
                        m.sub(m.number(key, order.negative), key),
                        m.sub(key, m.number(key, order.positive)));
  const bool hasMinusZero = format.specials != Specials::NanForMinusZero;
  return m.select(m.eq(key, order.nan), hasMinusZero ? 127.0 : 128.0, byte);
}

uint8_t importer::packedByte(const llvm::APFloat &number) {
  return uint8_t(number.bitcastToAPInt().getZExtValue());
}

float importer::unpackedByte(uint8_t byte, Type element) {
  if (isExponent(element))
    return byte == 0xff ? NAN : std::ldexp(1.0F, int(byte) - 127);
  const Format format = *formatOf(element);
  const unsigned code = byte & (format.signBit() - 1);
  const float sign = byte & format.signBit() ? -1.0F : 1.0F;
  if (format.specials == Specials::NanForMinusZero && code == 0 && sign < 0)
    return NAN;
  if (!format.isNumber(code))
    return format.specials == Specials::Infinities && code == format.largest + 1
               ? sign * HUGE_VALF
               : NAN;
  const unsigned exponent = code >> format.mantissa;
  const unsigned hidden = exponent > 0 ? 1U << format.mantissa : 0;
  const unsigned mantissa = code & ((1U << format.mantissa) - 1);
  return std::ldexp(sign * float(hidden + mantissa),
                    int(std::max(exponent, 1U)) - format.bias -
                        int(format.mantissa));
}
