// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f8 by the bits of f32: a format with an exponent of its own bias and fewer
// bits of mantissa. Normal numbers are shifted and re-biased, small ones are
// multiples of the smallest.
#include "meshloom/Math/NarrowFormats.h"

#include "meshloom/Math/FloatMath.h"

#include <cmath>

using namespace meshloom;

namespace {
/// A kind of f8: a sign, exponent bits, `mantissa` bits.
struct Format {
  unsigned mantissa;
  int bias;
  unsigned largest;  ///< byte of the largest number
  bool infinities;   ///< the byte after it is infinite, those above are nan
  bool unsignedZero; ///< FNUZ: no -0, its byte 0x80 is the only nan
};

std::optional<Format> formatOf(Type element) {
  if (element.isFloat8E5M2())
    return Format{2, 15, 0x7b, true, false};
  if (element.isFloat8E4M3())
    return Format{3, 7, 0x77, true, false};
  if (element.isFloat8E4M3FN())
    return Format{3, 7, 0x7e, false, false};
  if (element.isFloat8E5M2FNUZ())
    return Format{2, 16, 0x7f, false, true};
  if (element.isFloat8E4M3FNUZ())
    return Format{3, 8, 0x7f, false, true};
  if (element.isFloat8E4M3B11FNUZ())
    return Format{3, 11, 0x7f, false, true};
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

bool meshloom::isNarrow(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return integer.getWidth() == 2 || integer.getWidth() == 4;
  return formatOf(element).has_value();
}

Type meshloom::wideTypeOf(Type element) {
  MLIRContext *context = element.getContext();
  if (!isa<IntegerType>(element))
    return FloatType::getF32(context);
  return IntegerType::get(context, 8,
                          element.isUnsignedInteger() ? IntegerType::Unsigned
                                                      : IntegerType::Signless);
}

Value meshloom::emitUnpack(dtensor::TensorBuilder &b, Value bytes,
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
  Format format = *formatOf(element);
  Words w{b};
  Type single = b.getF32Type();
  Value word = b.convert(bytes, w.type);
  Value code = w.both(word, 0x7f);
  unsigned up = 23 - format.mantissa;
  Value normal = b.bitcast(
      w.plus(w.shiftLeft(code, up), unsigned(127 - format.bias) << 23), single);
  Value small = m.mul(b.convert(code, single),
                      std::ldexp(1.0, 1 - format.bias - int(format.mantissa)));
  Value size =
      m.select(m.lt(code, double(1u << format.mantissa)), small, normal);
  if (!format.unsignedZero) {
    double beyond = format.largest + 1;
    if (format.infinities) {
      size = m.select(m.eq(code, beyond), HUGE_VAL, size);
      ++beyond;
    }
    size = m.select(m.lt(code, beyond), size, NAN);
  }
  Value signs = w.shiftLeft(w.both(word, 0x80), 24);
  Value result = b.bitcast(m.either(b.bitcast(size, w.type), signs), single);
  if (format.unsignedZero)
    result = m.select(m.eq(word, 0x80), NAN, result);
  return result;
}

Value meshloom::emitPack(dtensor::TensorBuilder &b, Value value, Type element) {
  // Stored as they are computed with, once they have wrapped around.
  if (isa<IntegerType>(element))
    return emitUnpack(b, value, element);
  Type byte = b.getIntegerType(8, /*isSigned=*/false);
  FloatMath m(b);
  Format format = *formatOf(element);
  Words w{b};
  if (b.elementOf(value).isF64())
    value = roundToOdd(b, value);
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
  unsigned infinite = format.largest + 1,
           nan = format.unsignedZero  ? 0x80
                 : !format.infinities ? 0x7f
                                      : (format.mantissa == 2 ? 0x7eu : 0x7cu);
  Value finite =
      m.both(m.le(code, format.largest), m.lt(number, std::ldexp(1.0, 100)));
  code = m.select(m.either(finite, m.ne(number, number)), code,
                  double(format.infinities ? infinite : nan));
  code = m.select(m.ne(number, number), double(nan), code);
  Value signs = w.both(w.shiftRight(bits, 24), 0x80);
  if (format.unsignedZero) // neither nan nor 0 has one
    signs = m.select(m.both(m.gt(code, 0), m.lt(code, 0x80)), signs, 0.0);
  return b.convert(m.either(code, signs), byte);
}

namespace {
/// Where the bytes of a kind of f8 are in the order of its numbers: b >= 0 at
/// b + positive, b < 0 (from 0x80 on) at negative - b, a nan at the end.
struct Order {
  double positive, negative, nan;
};

Order orderOf(const Format &format, bool nanIsLargest) {
  // Without -0 all bytes but that of the nan are numbers.
  const bool makeRoom = format.unsignedZero;
  return {makeRoom && nanIsLargest ? 127.0 : 128.0,
          makeRoom && !nanIsLargest ? 256.0 : 255.0,
          nanIsLargest ? 255.0 : 0.0};
}
} // namespace

Value meshloom::emitOrder(dtensor::TensorBuilder &b, Value bytes, Type element,
                          bool nanIsLargest) {
  FloatMath m(b);
  const Format format = *formatOf(element);
  const Order order = orderOf(format, nanIsLargest);
  Value key = m.select(m.lt(bytes, 128.0), m.add(bytes, order.positive),
                       m.sub(m.number(bytes, order.negative), bytes));
  Value isNan =
      format.unsignedZero
          ? m.eq(bytes, 128.0)
          : m.gt(m.both(bytes, m.number(bytes, 127)),
                 double(format.largest) + (format.infinities ? 1 : 0));
  return m.select(isNan, order.nan, key);
}

Value meshloom::emitUnorder(dtensor::TensorBuilder &b, Value key, Type element,
                            bool nanIsLargest) {
  FloatMath m(b);
  const Format format = *formatOf(element);
  const Order order = orderOf(format, nanIsLargest);
  Value byte = m.select(m.lt(key, order.positive),
                        m.sub(m.number(key, order.negative), key),
                        m.sub(key, m.number(key, order.positive)));
  return m.select(m.eq(key, order.nan), format.unsignedZero ? 128.0 : 127.0,
                  byte);
}

uint8_t meshloom::packedByte(const llvm::APFloat &number) {
  return uint8_t(number.bitcastToAPInt().getZExtValue());
}
