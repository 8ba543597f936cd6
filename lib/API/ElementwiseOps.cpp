// Ops on one element at a time.
#include "Elementwise.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

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
    fail(
        name,
        fmt::format("expected numbers with an order, got {}: compare abs, real "
                    "or imag of it",
                    typeText(pair.x)),
        &pair.where);
  return broadcasting(name, std::move(pair),
                      [direction](Emitter &e, Value a, Value b) {
                        return e.compare(direction, a, b);
                      });
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

Tensor is_finite(const Tensor &x, Where loc) {
  expectFloat(x, "is_finite", loc);
  OpCall call;
  call.name = "is_finite";
  call.operands = {x};
  call.where = loc;
  call.body = [](Emitter &e, ArrayRef<Value> operands) {
    return one(e.builder.create<dtensor::IsFiniteOp>(e.location, operands[0]));
  };
  return runOp(std::move(call));
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
  call.body = [shape](Emitter &e, ArrayRef<Value> operands) {
    return one(e.select(e.broadcastTo(operands[0], shape),
                        e.broadcastTo(operands[1], shape),
                        e.broadcastTo(operands[2], shape)));
  };
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
  call.attributes = {int64_t(type)};
  call.where = loc;
  call.body = [type](Emitter &e, ArrayRef<Value> operands) {
    return one(
        e.convert(operands[0], dtensor::typeOf(e.builder.getContext(), type)));
  };
  return runOp(std::move(call));
}

} // namespace meshloom
