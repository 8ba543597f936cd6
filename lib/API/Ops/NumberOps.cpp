// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on bits and on complex numbers, and special functions.
#include "Elementwise.h"

#include "meshloom/API/Ops.h"
#include "meshloom/Math/SpecialFunctions.h"

#include <fmt/format.h>

#include <numbers>

namespace meshloom {
using namespace detail;

namespace {

/// An op whose result type the emitted op decides.
template <typename Emit, typename... Options>
Tensor emitted(std::string_view name, Accepts accepts, const Tensor &x,
               const Where &where, Emit, const Options &...options) {
  expect(accepts, x, name, where);
  OpCall call;
  call.name = name;
  call.operands = {x};
  call.where = where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &...values) {
        return one(Emit{}(e, operands[0], values...));
      },
      options...);
  return runOp(std::move(call));
}

Tensor special(std::string_view name, std::string_view formula, const Tensor &x,
               const Where &where) {
  return emitted(
      name, Accepts::Floats, x, where,
      [](Emitter &e, Value v, const std::string &formula) {
        return emitSpecialFunction(e, e.getLoc(), formula, v);
      },
      formula);
}

Tensor special(std::string_view name, std::string_view formula,
               const TensorLike &x, const TensorLike &y) {
  Pair pair = operandPair(x, y, name);
  expect(Accepts::Floats, pair.x, name, pair.where);
  return broadcasting(
      name, std::move(pair),
      [](Emitter &e, Value a, Value b, const std::string &formula) {
        return emitSpecialFunction(e, e.getLoc(), formula, {a, b});
      },
      formula);
}

} // namespace

//===----------------------------------------------------------------------===//
// Rounding, angles
//===----------------------------------------------------------------------===//

Tensor round_nearest_afz(const Tensor &x, Where loc) {
  return unary<dtensor::RoundNearestAfzOp>("round_nearest_afz", Accepts::Floats,
                                           x, loc);
}

Tensor tan(const Tensor &x, Where loc) {
  return unary<dtensor::TanOp>("tan", Accepts::FloatsOrComplex, x, loc);
}

Tensor atan2(const TensorLike &y, const TensorLike &x) {
  return binary<dtensor::Atan2Op>("atan2", Accepts::Floats, y, x);
}

Tensor reduce_precision(const Tensor &x, int64_t exponent_bits,
                        int64_t mantissa_bits, Where loc) {
  // No type has more.
  exponent_bits = std::min<int64_t>(exponent_bits, 11);
  mantissa_bits = std::min<int64_t>(mantissa_bits, 52);
  if (exponent_bits < 1 || mantissa_bits < 0)
    fail("reduce_precision",
         fmt::format("expected at least 1 exponent and 0 mantissa bits, got {} "
                     "and {}",
                     exponent_bits, mantissa_bits),
         &loc);
  return emitted(
      "reduce_precision", Accepts::Floats, x, loc,
      [](Emitter &e, Value v, int64_t exponentBits,
         int64_t mantissaBits) -> Value {
        return e.create<dtensor::ReducePrecisionOp>(e.getLoc(), v, exponentBits,
                                                    mantissaBits);
      },
      exponent_bits, mantissa_bits);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

Tensor left_shift(const TensorLike &x, const TensorLike &by) {
  return binary<dtensor::ShiftLeftOp>("left_shift", Accepts::Integers, x, by);
}

Tensor right_shift(const TensorLike &x, const TensorLike &by) {
  Pair pair = operandPair(x, by, "right_shift");
  bool copies = isSigned(pair.x.dtype());
  return copies
             ? binary<dtensor::ShiftRightArithmeticOp>("right_shift",
                                                       Accepts::Integers, x, by)
             : binary<dtensor::ShiftRightLogicalOp>("right_shift",
                                                    Accepts::Integers, x, by);
}

Tensor population_count(const Tensor &x, Where loc) {
  return unary<dtensor::PopcntOp>("population_count", Accepts::Integers, x,
                                  loc);
}

Tensor count_leading_zeros(const Tensor &x, Where loc) {
  return unary<dtensor::CountLeadingZerosOp>("count_leading_zeros",
                                             Accepts::Integers, x, loc);
}

Tensor bitcast(const Tensor &x, DType type, Where loc) {
  DType from = nodeOf(x, "bitcast", &loc).dtype;
  if (from == type)
    return x;
  if (from == DType::I1 || type == DType::I1)
    fail("bitcast",
         fmt::format("expected types of whole bytes, got {} and {}", name(from),
                     name(type)),
         &loc);
  int64_t wide = byteWidth(type), narrow = byteWidth(from);
  if (wide > narrow && (x.rank() == 0 || x.shape().back() != wide / narrow))
    fail("bitcast",
         fmt::format("expected a last dim of {}, as {} has {} times the bytes "
                     "of {}; got {}",
                     wide / narrow, name(type), wide / narrow, name(from),
                     typeText(x)),
         &loc);
  OpCall call;
  call.name = "bitcast";
  call.operands = {x};
  call.where = loc;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &type) {
        return one(e.create<dtensor::BitcastConvertOp>(
            e.getLoc(), operands[0], dtensor::typeOf(e.getContext(), type)));
      },
      type);
  return runOp(std::move(call));
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

Tensor real(const Tensor &x, Where loc) {
  return unary<dtensor::RealOp>("real", Accepts::FloatsOrComplex, x, loc);
}

Tensor imag(const Tensor &x, Where loc) {
  return unary<dtensor::ImagOp>("imag", Accepts::FloatsOrComplex, x, loc);
}

Tensor complex(const TensorLike &re, const TensorLike &im) {
  Pair pair = operandPair(re, im, "complex");
  DType type = pair.x.dtype();
  if (type != DType::F32 && type != DType::F64)
    fail("complex",
         fmt::format("expected parts of type f32 or f64, got {}",
                     typeText(pair.x)),
         &pair.where);
  return broadcasting("complex", std::move(pair),
                      [](Emitter &e, Value a, Value b) {
                        return e.apply<dtensor::ComplexOp>(a, b);
                      });
}

Tensor conj(const Tensor &x, Where loc) {
  return emitted("conj", Accepts::FloatsOrComplex, x, loc,
                 [](Emitter &e, Value v) { return e.conjugate(v); });
}

Tensor angle(const Tensor &x, Where loc) {
  return emitted(
      "angle", Accepts::FloatsOrComplex, x, loc, [](Emitter &e, Value v) {
        return e.apply<dtensor::Atan2Op>(e.apply<dtensor::ImagOp>(v),
                                         e.apply<dtensor::RealOp>(v));
      });
}

//===----------------------------------------------------------------------===//
// Special functions
//===----------------------------------------------------------------------===//

#define SPECIAL(name, formula)                                                 \
  Tensor name(const Tensor &x, Where loc) {                                    \
    return special(#name, formula, x, loc);                                    \
  }
SPECIAL(asin, "asin")
SPECIAL(acos, "acos")
SPECIAL(atan, "atan")
SPECIAL(sinh, "sinh")
SPECIAL(cosh, "cosh")
SPECIAL(asinh, "asinh")
SPECIAL(acosh, "acosh")
SPECIAL(atanh, "atanh")
SPECIAL(lgamma, "lgamma")
SPECIAL(digamma, "digamma")
SPECIAL(erfc, "erfc")
SPECIAL(erfinv, "erf_inv")
SPECIAL(bessel_i1e, "bessel_i1e")
#undef SPECIAL

Tensor polygamma(const TensorLike &n, const TensorLike &x) {
  return special("polygamma", "polygamma", n, x);
}
Tensor zeta(const TensorLike &x, const TensorLike &q) {
  return special("zeta", "zeta", x, q);
}
Tensor nextafter(const TensorLike &x, const TensorLike &towards) {
  return special("nextafter", "next_after", x, towards);
}

} // namespace meshloom
