// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of the API's elementwise ops: checks, calls, broadcasting.
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
  call.setBody([](Emitter &e, ArrayRef<Value> operands) {
    return one(e.apply<Op>(operands[0]));
  });
  return runOp(std::move(call));
}

/// Body{}(emitter, a, b, options...) gets both operands in the result's shape.
template <typename Body, typename... Options>
Tensor broadcasting(std::string_view name, Pair pair, Body,
                    const Options &...options) {
  (void)broadcastShape(pair.x.shape(), pair.y.shape(), name, pair.where);
  OpCall call;
  call.name = name;
  call.operands = {std::move(pair.x), std::move(pair.y)};
  call.where = pair.where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &...values) {
        auto [a, b] = e.broadcastTogether(operands[0], operands[1]);
        return one(Body{}(e, a, b, values...));
      },
      options...);
  return runOp(std::move(call));
}

template <typename Op>
Tensor binary(std::string_view name, Accepts accepts, const TensorLike &x,
              const TensorLike &y) {
  Pair pair = operandPair(x, y, name);
  expect(accepts, pair.x, name, pair.where);
  return broadcasting(name, std::move(pair), [](Emitter &e, Value a, Value b) {
    return e.apply<Op>(a, b);
  });
}

} // namespace meshloom::detail
