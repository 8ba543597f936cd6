// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on one element at a time.
#include "Elementwise.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <limits>

namespace meshloom {
using namespace detail;

void detail::expect(Accepts accepts, const Tensor &x, std::string_view op,
                    const std::source_location &where) {
  DType type = nodeOf(x, op, &where).dtype;
  auto check = [&](bool accepted, const char *wanted) {
    if (!accepted)
      fail(op, fmt::format("expected {}, got {}", wanted, typeText(x)), &where);
  };
  switch (accepts) {
  case Accepts::Floats:
    return expectFloat(x, op, where);
  case Accepts::FloatsOrComplex:
    return check(isFloat(type) || isComplex(type),
                 "a float or complex tensor (cast it first)");
  case Accepts::Complex:
    return check(isComplex(type), "a complex tensor");
  case Accepts::Reals:
    return check(isFloat(type) || isInteger(type),
                 "numbers with an order (i1: cast it first)");
  case Accepts::Numbers:
    if (type == DType::I1)
      fail(op,
           fmt::format("expected numbers, got {}: cast it first", typeText(x)),
           &where);
    return;
  case Accepts::Bits:
    if (isFloat(type) || isComplex(type))
      fail(op,
           fmt::format("expected i1 or integers, got {}: compare it first",
                       typeText(x)),
           &where);
    return;
  case Accepts::Integers:
    return check(isInteger(type), "integers");
  }
}

namespace {

/// The type that holds all numbers of both integer types; nothing of ui64 and a
/// signed one.
std::optional<DType> integerHolding(DType x, DType y) {
  constexpr DType signedTypes[] = {DType::I8, DType::I16, DType::I32,
                                   DType::I64};
  if (isSigned(x) == isSigned(y))
    return byteWidth(x) < byteWidth(y) ? y : x;
  const auto unsignedWidth = byteWidth(isSigned(x) ? y : x),
             signedWidth = byteWidth(isSigned(x) ? x : y);
  for (DType type : signedTypes)
    if (byteWidth(type) > unsignedWidth && byteWidth(type) >= signedWidth)
      return type;
  return std::nullopt;
}

/// Integers of two types as one that holds the numbers of both.
TensorLike comparable(const TensorLike &x, const TensorLike &y) {
  if (x.kind != TensorLike::Kind::Tensor ||
      y.kind != TensorLike::Kind::Tensor || !x.tensor.defined() ||
      !y.tensor.defined() || !isInteger(x.tensor.dtype()) ||
      !isInteger(y.tensor.dtype()))
    return x;
  const auto type = integerHolding(x.tensor.dtype(), y.tensor.dtype());
  if (!type || *type == x.tensor.dtype())
    return x;
  return {cast(x.tensor, *type, x.where), x.where};
}

Tensor compare(std::string_view name, dtensor::ComparisonDirection direction,
               const TensorLike &x, const TensorLike &y) {
  using Direction = dtensor::ComparisonDirection;
  Pair pair = operandPair(comparable(x, y), comparable(y, x), name);
  if (direction != Direction::EQ && direction != Direction::NE &&
      isComplex(pair.x.dtype()))
    fail(name,
         fmt::format("expected numbers with an order, got {}: compare its abs, "
                     "real or imag",
                     typeText(pair.x)),
         &pair.where);
  return broadcasting(
      name, std::move(pair),
      [](Emitter &e, Value a, Value b, Direction direction) {
        return e.compare(direction, a, b);
      },
      direction);
}

} // namespace

Tensor abs(const Tensor &x, Where loc) {
  return unary<dtensor::AbsOp>("abs", Accepts::Numbers, x, loc);
}
Tensor negative(const Tensor &x, Where loc) {
  return unary<dtensor::NegateOp>("negative", Accepts::Numbers, x, loc);
}
Tensor sign(const Tensor &x, Where loc) {
  return unary<dtensor::SignOp>("sign", Accepts::Numbers, x, loc);
}
Tensor exp(const Tensor &x, Where loc) {
  return unary<dtensor::ExpOp>("exp", Accepts::FloatsOrComplex, x, loc);
}
Tensor expm1(const Tensor &x, Where loc) {
  return unary<dtensor::Expm1Op>("expm1", Accepts::FloatsOrComplex, x, loc);
}
Tensor log(const Tensor &x, Where loc) {
  return unary<dtensor::LogOp>("log", Accepts::FloatsOrComplex, x, loc);
}
Tensor log1p(const Tensor &x, Where loc) {
  return unary<dtensor::Log1pOp>("log1p", Accepts::FloatsOrComplex, x, loc);
}
Tensor sqrt(const Tensor &x, Where loc) {
  return unary<dtensor::SqrtOp>("sqrt", Accepts::FloatsOrComplex, x, loc);
}
Tensor rsqrt(const Tensor &x, Where loc) {
  return unary<dtensor::RsqrtOp>("rsqrt", Accepts::FloatsOrComplex, x, loc);
}
Tensor cbrt(const Tensor &x, Where loc) {
  return unary<dtensor::CbrtOp>("cbrt", Accepts::Floats, x, loc);
}
Tensor tanh(const Tensor &x, Where loc) {
  return unary<dtensor::TanhOp>("tanh", Accepts::FloatsOrComplex, x, loc);
}
Tensor sigmoid(const Tensor &x, Where loc) {
  return unary<dtensor::LogisticOp>("sigmoid", Accepts::FloatsOrComplex, x,
                                    loc);
}
Tensor sin(const Tensor &x, Where loc) {
  return unary<dtensor::SineOp>("sin", Accepts::FloatsOrComplex, x, loc);
}
Tensor cos(const Tensor &x, Where loc) {
  return unary<dtensor::CosineOp>("cos", Accepts::FloatsOrComplex, x, loc);
}
Tensor erf(const Tensor &x, Where loc) {
  return unary<dtensor::ErfOp>("erf", Accepts::Floats, x, loc);
}
Tensor floor(const Tensor &x, Where loc) {
  return unary<dtensor::FloorOp>("floor", Accepts::Floats, x, loc);
}
Tensor ceil(const Tensor &x, Where loc) {
  return unary<dtensor::CeilOp>("ceil", Accepts::Floats, x, loc);
}
Tensor round(const Tensor &x, Where loc) {
  return unary<dtensor::RoundOp>("round", Accepts::Floats, x, loc);
}
Tensor logical_not(const Tensor &x, Where loc) {
  return unary<dtensor::NotOp>("logical_not", Accepts::Bits, x, loc);
}

Tensor square(const Tensor &x, Where loc) {
  const CallName name("square");
  return multiply({x, loc}, {x, loc});
}
Tensor reciprocal(const Tensor &x, Where loc) {
  expect(Accepts::FloatsOrComplex, x, "reciprocal", loc);
  return divide({1.0, loc}, {x, loc});
}

/// `asks` of both parts of a complex number, joined.
static Tensor ofParts(const Tensor &x, Tensor (*asks)(const Tensor &, Where),
                      Tensor (*join)(const TensorLike &, const TensorLike &),
                      Where loc) {
  return join({asks(real(x, loc), loc), loc}, {asks(imag(x, loc), loc), loc});
}

Tensor is_finite(const Tensor &x, Where loc) {
  const DType type = nodeOf(x, "is_finite", &loc).dtype;
  if (isComplex(type))
    return ofParts(x, is_finite, logical_and, loc);
  if (!isFloat(type))
    return equal({x, loc}, {x, loc});
  OpCall call;
  call.name = "is_finite";
  call.operands = {x};
  call.where = loc;
  call.setBody([](Emitter &e, ArrayRef<Value> operands) {
    return one(e.create<dtensor::IsFiniteOp>(e.getLoc(), operands[0]));
  });
  return runOp(std::move(call));
}

Tensor is_inf(const Tensor &x, Where loc) {
  const CallName name("is_inf");
  const DType type = nodeOf(x, "is_inf", &loc).dtype;
  if (isComplex(type))
    return ofParts(x, is_inf, logical_or, loc);
  if (!isFloat(type))
    return not_equal({x, loc}, {x, loc});
  return equal({abs(x, loc), loc},
               {std::numeric_limits<double>::infinity(), loc});
}

Tensor is_nan(const Tensor &x, Where loc) {
  const CallName name("is_nan");
  if (isComplex(nodeOf(x, "is_nan", &loc).dtype))
    return ofParts(x, is_nan, logical_or, loc);
  return not_equal({x, loc}, {x, loc});
}

Tensor nan_to_num(const Tensor &x, double nan, std::optional<double> posinf,
                  std::optional<double> neginf, Where loc) {
  constexpr std::string_view op = "nan_to_num";
  const CallName name(op);
  const DType type = nodeOf(x, op, &loc).dtype;
  if (isComplex(type))
    fail(op, fmt::format("expected real numbers, got {}", typeText(x)), &loc);
  if (!isFloat(type))
    return x;
  const double largest = largestFinite(type);
  auto of = [&](double number) { return operandLike({number, loc}, type, op); };
  Tensor isPositive = greater({x, loc}, {0, loc});
  Tensor infinite =
      where({isPositive, loc}, {of(posinf.value_or(largest)), loc},
            {of(neginf.value_or(-largest)), loc});
  Tensor other = where({is_nan(x, loc), loc}, {of(nan), loc}, {infinite, loc});
  return where({is_finite(x, loc), loc}, {x, loc}, {other, loc});
}

Tensor add(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::AddOp>("add", Accepts::Numbers, x, y);
}
Tensor subtract(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::SubtractOp>("subtract", Accepts::Numbers, x, y);
}
Tensor multiply(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::MultiplyOp>("multiply", Accepts::Numbers, x, y);
}
Tensor divide(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::DivideOp>("divide", Accepts::Numbers, x, y);
}

/// Returns whether the rest `r` of a division by `y`, which has the sign of
/// what was divided, is not the one that has the sign of `y`.
static Value isOnOtherSide(Emitter &e, Value r, Value y) {
  using Direction = dtensor::ComparisonDirection;
  Value zero = e.number(e.elementType(r), 0, e.shape(r));
  Value differ = e.apply<dtensor::XorOp>(e.compare(Direction::LT, r, zero),
                                         e.compare(Direction::LT, y, zero));
  return e.apply<dtensor::AndOp>(e.compare(Direction::NE, r, zero), differ);
}

Tensor floor_divide(const TensorLike &x, const TensorLike &y) {
  constexpr std::string_view op = "floor_divide";
  Pair pair = operandPair(x, y, op);
  expect(Accepts::Reals, pair.x, op, pair.where);
  const DType type = pair.x.dtype();
  const bool isReal = isFloat(type), hasSign = isReal || isSigned(type);
  auto builder = [](Emitter &e, Value a, Value b, bool isReal, bool hasSign) {
    if (!hasSign)
      return e.divide(a, b);
    Value remainder = e.apply<dtensor::RemainderOp>(a, b);
    // For floats, x - remainder is a multiple of y, or next to one.
    Value quotient =
        isReal
            ? e.apply<dtensor::RoundOp>(e.divide(e.subtract(a, remainder), b))
            : e.divide(a, b);
    Value below = e.subtract(
        quotient, e.number(e.elementType(quotient), 1, e.shape(quotient)));
    Value floored = e.select(isOnOtherSide(e, remainder, b), below, quotient);
    if (!isReal)
      return floored;
    Value isZero = e.compare(dtensor::ComparisonDirection::EQ, b, e.like(b, 0));
    return e.select(isZero, e.stopped(e.divide(a, b)), floored);
  };
  return broadcasting(op, std::move(pair), builder, isReal, hasSign);
}

Tensor mod(const TensorLike &x, const TensorLike &y) {
  constexpr std::string_view op = "mod";
  Pair pair = operandPair(x, y, op);
  expect(Accepts::Reals, pair.x, op, pair.where);
  const DType type = pair.x.dtype();
  const bool hasSign = isFloat(type) || isSigned(type);
  auto builder = [](Emitter &e, Value a, Value b, bool hasSign) {
    Value remainder = e.apply<dtensor::RemainderOp>(a, b);
    return hasSign ? e.select(isOnOtherSide(e, remainder, b),
                              e.add(remainder, b), remainder)
                   : remainder;
  };
  return broadcasting(op, std::move(pair), builder, hasSign);
}

Tensor logaddexp(const TensorLike &x, const TensorLike &y) {
  constexpr std::string_view op = "logaddexp";
  Pair pair = operandPair(x, y, op);
  expect(Accepts::Floats, pair.x, op, pair.where);
  return broadcasting(op, std::move(pair), [](Emitter &e, Value a, Value b) {
    // Chosen rather than made by maximum and minimum: of equal ones each then
    // gets half of the gradient.
    Value isFirst = e.compare(dtensor::ComparisonDirection::GE, a, b);
    Value high = e.select(isFirst, a, b), low = e.select(isFirst, b, a);
    // Nothing is added to an infinity, and there is no distance to it.
    Value isFinite = e.create<dtensor::IsFiniteOp>(e.getLoc(), high);
    Value distance = e.keepIf(isFinite, e.subtract(low, high));
    Value sum = e.add(
        high, e.apply<dtensor::Log1pOp>(e.apply<dtensor::ExpOp>(distance)));
    return e.select(isFinite, sum, high);
  });
}

Tensor remainder(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::RemainderOp>("remainder", Accepts::Reals, x, y);
}
Tensor pow(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::PowerOp>("pow", Accepts::Numbers, x, y);
}
Tensor maximum(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::MaximumOp>("maximum", Accepts::Reals, x, y);
}
Tensor minimum(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::MinimumOp>("minimum", Accepts::Reals, x, y);
}
Tensor logical_and(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::AndOp>("logical_and", Accepts::Bits, x, y);
}
Tensor logical_or(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::OrOp>("logical_or", Accepts::Bits, x, y);
}
Tensor logical_xor(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::XorOp>("logical_xor", Accepts::Bits, x, y);
}

Tensor equal(const TensorLike &x, const TensorLike &y) {
  return compare("equal", dtensor::ComparisonDirection::EQ, x, y);
}
Tensor not_equal(const TensorLike &x, const TensorLike &y) {
  return compare("not_equal", dtensor::ComparisonDirection::NE, x, y);
}
Tensor less(const TensorLike &x, const TensorLike &y) {
  return compare("less", dtensor::ComparisonDirection::LT, x, y);
}
Tensor less_equal(const TensorLike &x, const TensorLike &y) {
  return compare("less_equal", dtensor::ComparisonDirection::LE, x, y);
}
Tensor greater(const TensorLike &x, const TensorLike &y) {
  return compare("greater", dtensor::ComparisonDirection::GT, x, y);
}
Tensor greater_equal(const TensorLike &x, const TensorLike &y) {
  return compare("greater_equal", dtensor::ComparisonDirection::GE, x, y);
}

Tensor isclose(const TensorLike &x, const TensorLike &y,
               const CloseOptions &options) {
  constexpr std::string_view op = "isclose";
  const CallName name(op);
  Pair pair = operandPair(x, y, op);
  const Where &loc = pair.where;
  const DType type = pair.x.dtype();
  const DType wide = type == DType::F16 || type == DType::BF16 ? DType::F32
                     : isFloat(type) || isComplex(type)        ? type
                                                               : DType::F64;
  Tensor a = cast(pair.x, wide, loc), b = cast(pair.y, wide, loc);
  Tensor bound = add({multiply({abs(b, loc), loc}, {options.rtol, loc}), loc},
                     {options.atol, loc});
  Tensor isNear =
      less_equal({abs(subtract({a, loc}, {b, loc}), loc), loc}, {bound, loc});
  // Everything is near an infinity by its own measure.
  Tensor close =
      logical_or({logical_and({isNear, loc}, {is_finite(b, loc), loc}), loc},
                 {equal({a, loc}, {b, loc}), loc});
  if (!options.equal_nan)
    return close;
  Tensor areNan = logical_and({is_nan(a, loc), loc}, {is_nan(b, loc), loc});
  return logical_or({close, loc}, {areNan, loc});
}

Tensor allclose(const TensorLike &x, const TensorLike &y,
                const CloseOptions &options) {
  const CallName name("allclose");
  return reduce_all(isclose(x, y, options), Axis(), false,
                    x.kind == TensorLike::Kind::Tensor ? x.where : y.where);
}

/// The type of two numbers that no tensor is beside, by C++'s rules.
static DType commonType(const TensorLike &x, const TensorLike &y) {
  if (x.dtype == y.dtype || (isFloat(x.dtype) && !isFloat(y.dtype)))
    return x.dtype;
  if (isFloat(x.dtype) == isFloat(y.dtype))
    return isFloat(x.dtype) ? DType::F64 : DType::I64;
  return y.dtype;
}

Tensor where(const TensorLike &condition, const TensorLike &x,
             const TensorLike &y) {
  constexpr std::string_view op = "where";
  Tensor choice = operandLike(condition, DType::I1, op);
  if (nodeOf(choice, op, &condition.where).dtype != DType::I1)
    fail(
        op,
        fmt::format("expected a condition of type i1, got {}: compare it first",
                    typeText(choice)),
        &condition.where);
  const bool areNumbers =
      x.kind != TensorLike::Kind::Tensor && y.kind != TensorLike::Kind::Tensor;
  const DType type = areNumbers ? commonType(x, y) : DType::F32;
  Pair pair = areNumbers ? Pair{operandLike(x, type, op, &choice),
                                operandLike(y, type, op, &choice), x.where}
                         : operandPair(x, y, op);
  Shape shape = broadcastShape(
      choice.shape(),
      broadcastShape(pair.x.shape(), pair.y.shape(), op, pair.where), op,
      condition.where);
  OpCall call;
  call.name = op;
  call.operands = {choice, pair.x, pair.y};
  call.where = condition.where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape) {
        return one(e.select(e.broadcastTo(operands[0], shape),
                            e.broadcastTo(operands[1], shape),
                            e.broadcastTo(operands[2], shape)));
      },
      shape);
  return runOp(std::move(call));
}

Tensor clip_by_value(const TensorLike &x, const TensorLike &low,
                     const TensorLike &high) {
  const CallName name("clip_by_value");
  return minimum(maximum(x, low), high);
}

Tensor cast(const Tensor &x, DType type, Where loc) {
  if (nodeOf(x, "cast", &loc).dtype == type)
    return x;
  OpCall call;
  call.name = "cast";
  call.operands = {x};
  call.where = loc;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &type) {
        return one(
            e.convert(operands[0], dtensor::typeOf(e.getContext(), type)));
      },
      type);
  return runOp(std::move(call));
}

} // namespace meshloom
