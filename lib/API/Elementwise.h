// What elementwise ops of the API are made of: checks, calls, broadcasting.
#pragma once

#include "Operands.h"

namespace meshloom::detail {

/// Element types that an op takes: Numbers are all but i1, Reals those that
/// have an order, Bits i1 and integers, Integers without i1.
enum class Accepts : uint8_t {
  Floats,
  FloatsOrComplex,
  Complex,
  Reals,
  Numbers,
  Bits,
  Integers
};

/// Throws where the tensor's type is not accepted.
void expect(Accepts accepts, const Tensor &x, std::string_view op,
            const std::source_location &where);

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

} // namespace meshloom::detail
