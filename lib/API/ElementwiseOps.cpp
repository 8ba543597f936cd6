// Ops on one element at a time.
#include "Operands.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

namespace {

SmallVector<Value> one(Value value) {
  return {value};
}

enum class Accepts : uint8_t { Floats, Numbers, Bits };

void expect(Accepts accepts, const Tensor &x, std::string_view op,
            const std::source_location &where) {
  DType type = nodeOf(x, op, &where).dtype;
  if (accepts == Accepts::Floats)
    expectFloat(x, op, where);
  if (accepts == Accepts::Numbers && type == DType::I1)
    fail(op,
         fmt::format("expected numbers, got {}: cast it first", typeText(x)),
         &where);
  if (accepts == Accepts::Bits && isFloat(type))
    fail(op,
         fmt::format("expected i1 or integers, got {}: compare it first",
                     typeText(x)),
         &where);
}

template <typename Op>
Tensor unary(std::string_view name, Accepts accepts, const Tensor &x,
             const std::source_location &where) {
  expect(accepts, x, name, where);
  OpCall call;
  call.name = name;
  call.operands = {x};
  call.where = where;
  call.body = [](Emitter &e, ArrayRef<Value> operands) {
    return one(e.make<Op>(operands[0]));
  };
  return runOp(std::move(call));
}

/// `body` gets both operands in the result's shape.
template <typename Body>
Tensor broadcasting(std::string_view name, Pair pair, Body body) {
  Shape shape =
      broadcastShape(pair.x.shape(), pair.y.shape(), name, pair.where);
  OpCall call;
  call.name = name;
  call.operands = {std::move(pair.x), std::move(pair.y)};
  call.where = pair.where;
  call.body = [shape = std::move(shape), body](Emitter &e,
                                               ArrayRef<Value> operands) {
    return one(body(e, e.broadcastTo(operands[0], shape),
                    e.broadcastTo(operands[1], shape)));
  };
  return runOp(std::move(call));
}

template <typename Op>
Tensor binary(std::string_view name, Accepts accepts, const TensorLike &x,
              const TensorLike &y) {
  Pair pair = operandPair(x, y, name);
  expect(accepts, pair.x, name, pair.where);
  return broadcasting(name, std::move(pair), [](Emitter &e, Value a, Value b) {
    return e.make<Op>(a, b);
  });
}

Tensor compare(std::string_view name, dtensor::ComparisonDirection direction,
               const TensorLike &x, const TensorLike &y) {
  return broadcasting(name, operandPair(x, y, name),
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
  return unary<dtensor::ExpOp>("exp", Accepts::Floats, x, loc);
}
Tensor expm1(const Tensor &x, Where loc) {
  return unary<dtensor::Expm1Op>("expm1", Accepts::Floats, x, loc);
}
Tensor log(const Tensor &x, Where loc) {
  return unary<dtensor::LogOp>("log", Accepts::Floats, x, loc);
}
Tensor log1p(const Tensor &x, Where loc) {
  return unary<dtensor::Log1pOp>("log1p", Accepts::Floats, x, loc);
}
Tensor sqrt(const Tensor &x, Where loc) {
  return unary<dtensor::SqrtOp>("sqrt", Accepts::Floats, x, loc);
}
Tensor rsqrt(const Tensor &x, Where loc) {
  return unary<dtensor::RsqrtOp>("rsqrt", Accepts::Floats, x, loc);
}
Tensor cbrt(const Tensor &x, Where loc) {
  return unary<dtensor::CbrtOp>("cbrt", Accepts::Floats, x, loc);
}
Tensor tanh(const Tensor &x, Where loc) {
  return unary<dtensor::TanhOp>("tanh", Accepts::Floats, x, loc);
}
Tensor sigmoid(const Tensor &x, Where loc) {
  return unary<dtensor::LogisticOp>("sigmoid", Accepts::Floats, x, loc);
}
Tensor sin(const Tensor &x, Where loc) {
  return unary<dtensor::SineOp>("sin", Accepts::Floats, x, loc);
}
Tensor cos(const Tensor &x, Where loc) {
  return unary<dtensor::CosineOp>("cos", Accepts::Floats, x, loc);
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
  return multiply({x, loc}, {x, loc});
}
Tensor reciprocal(const Tensor &x, Where loc) {
  expectFloat(x, "reciprocal", loc);
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
  return binary<dtensor::RemainderOp>("remainder", Accepts::Numbers, x, y);
}
Tensor pow(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::PowerOp>("pow", Accepts::Numbers, x, y);
}
Tensor maximum(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::MaximumOp>("maximum", Accepts::Numbers, x, y);
}
Tensor minimum(const TensorLike &x, const TensorLike &y) {
  return binary<dtensor::MinimumOp>("minimum", Accepts::Numbers, x, y);
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
  Pair pair = operandPair(x, y, op);
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
