// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random tensors, see Random.h.
#include "meshloom/API/Random.h"

#include "Operands.h"
#include "RandomParameters.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Variable.h"

#include <fmt/format.h>

#include <cmath>

namespace meshloom {
using namespace detail;

SeedLike::SeedLike(const DVariable &variable)
    : tensor(variable.read_value()), isTensor(true) {}

void detail::expectFloatType(DType type, std::string_view op,
                             const std::source_location &where) {
  if (!isFloat(type))
    fail(op, fmt::format("expected a float type, got {}", name(type)), &where);
}

void detail::expectNormal(DType type, double mean, double stddev,
                          std::string_view op,
                          const std::source_location &where) {
  expectFloatType(type, op, where);
  if (!std::isfinite(mean) || !std::isfinite(stddev) || stddev < 0)
    fail(op,
         fmt::format("expected a finite mean and a finite stddev of 0 or more, "
                     "got {} and {}",
                     mean, stddev),
         &where);
}

namespace random {
namespace {

/// Bits of `shape`, for a seed that is an operand.
Value bitsOf(Emitter &e, ArrayRef<int64_t> shape, Value seed) {
  return e.create<dtensor::RngOp>(e.getLoc(), shape, seed);
}

/// Two numbers for each element of `shape`, which follow each other in what
/// `draw` gives. Its last dim has both: kernels compute a dim of two elements
/// slowly.
template <typename Draw>
std::pair<Value, Value> drawnPairs(Emitter &e, const Shape &shape,
                                   const Draw &draw) {
  Shape drawn(shape), pairs(shape), starts(shape.size() + 1, 0), limits(shape);
  if (drawn.empty())
    drawn.push_back(1);
  drawn.back() *= 2;
  pairs.push_back(2);
  limits.push_back(1);
  const Value both = e.reshape(draw(drawn), pairs);
  const Value first = e.reshape(e.slice(both, starts, limits), shape);
  starts.back() = 1;
  limits.back() = 2;
  return {first, e.reshape(e.slice(both, starts, limits), shape)};
}

/// Uniform floats in [0, 1) of `type` with as many random bits as it holds.
Value unitUniform(Emitter &e, Shape shape, Value seed, Type type) {
  Type word = dtensor::typeOf(e.getContext(), DType::UI32);
  auto number = [&](Type of, double value) {
    return e.broadcastTo(e.real(of, value), shape);
  };
  if (!type.isF64()) {
    // 24 bits are exact in f32; bf16 and f16 are rounded from that, which may
    // give 1: 8 and 11 bits are exact in them.
    int digits = type.isBF16() ? 8 : type.isF16() ? 11 : 24;
    Value high = e.divide(bitsOf(e, shape, seed),
                          number(word, std::ldexp(1.0, 32 - digits)));
    return e.multiply(e.convert(high, type),
                      number(type, std::ldexp(1.0, -digits)));
  }
  // Two words an element: 27 + 26 bits.
  const auto [first, second] = drawnPairs(
      e, shape, [&](const Shape &drawn) { return bitsOf(e, drawn, seed); });
  Value high = e.convert(e.divide(first, number(word, 0x1p5)), type);
  Value low = e.convert(e.divide(second, number(word, 0x1p6)), type);
  return e.multiply(e.add(e.multiply(high, number(type, 0x1p26)), low),
                    number(type, 0x1p-53));
}

Tensor seedTensor(const SeedLike &seed, std::string_view op,
                  const std::source_location &where) {
  if (seed.isTensor) {
    DType type = nodeOf(seed.tensor, op, &where).dtype;
    if (seed.tensor.shape() != Shape{2} ||
        (type != DType::UI32 && type != DType::I32))
      fail(op,
           fmt::format("expected a seed ui32 [2] or i32 [2], got {}: make one "
                       "of a number with random::fold_in",
                       typeText(seed.tensor)),
           &where);
    return bitcast(seed.tensor, DType::UI32, where);
  }
  const std::array<uint32_t, 2> words{seed.numbers.first, seed.numbers.second};
  const std::shared_ptr<Trace> &trace = threadState().trace();
  if (trace && trace->reusable) {
    ArrayType type{DType::UI32, {2}, Layout::replicated(hostMesh(), 1)};
    auto bytes = std::as_bytes(std::span(words));
    return wrap(
        check(Array::fromHost(
                  clientFor(hostMesh()), type,
                  {reinterpret_cast<const char *>(bytes.data()), bytes.size()}),
              "seed"),
        true);
  }
  if (trace) {
    OpCall call;
    call.name = "seed";
    call.where = where;
    call.setBody(
        [](Emitter &e, ArrayRef<Value>, const auto &words) {
          auto type = RankedTensorType::get(
              {2}, dtensor::typeOf(e.getContext(), DType::UI32));
          return one(e.create<dtensor::ConstantOp>(
              e.getLoc(), type,
              DenseElementsAttr::get(type, ArrayRef<uint32_t>(words))));
        },
        words);
    return runOp(std::move(call));
  }
  return detail::fromHost(DType::UI32, words.data(), 2, {2}, where);
}

OpCall randomCall(std::string_view name, const Shape &shape,
                  const SeedLike &seed, DType type,
                  const std::source_location &where) {
  checkShape(shape, name, where);
  OpCall call;
  call.name = name;
  call.operands = {seedTensor(seed, name, where)};
  call.where = where;
  return call;
}

} // namespace

Tensor stateless_bits(Shape shape, const SeedLike &seed, Where where) {
  OpCall call = randomCall("stateless_bits", shape, seed, DType::UI32, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape) {
        return one(bitsOf(e, shape, operands[0]));
      },
      shape);
  return runOp(std::move(call));
}

Tensor stateless_uniform(Shape shape, const SeedLike &seed, double minval,
                         double maxval, DType type, Where where) {
  constexpr std::string_view op = "stateless_uniform";
  bool isReal = isFloat(type);
  if (type == DType::I1 || isComplex(type) || !(minval < maxval) ||
      !std::isfinite(maxval - minval))
    fail(op,
         fmt::format("expected a real number type and finite minval < maxval, "
                     "got {}, {} and {}",
                     name(type), minval, maxval),
         &where);
  if (double largest = largestFinite(type);
      isReal &&
      (-minval > largest || maxval > largest || maxval - minval > largest))
    fail(op,
         fmt::format("expected bounds, and a distance between them, that {} "
                     "can hold (at most {}), got {} and {}",
                     name(type), largest, minval, maxval),
         &where);
  if (!isReal) // the largest number that is drawn
    operandLike(TensorLike(maxval - 1, where), type, op);
  if (!isReal && maxval - minval > 4294967295.0)
    fail(op, "expected integers within 2^32 of each other", &where);
  OpCall call = randomCall(op, shape, seed, type, where);
  // The bounds are operands, so that other bounds need no other program.
  auto bound = [&](double value) {
    if (isReal || isInteger(type))
      return operandLike(TensorLike(value, where), type, op);
    return Tensor();
  };
  call.operands.push_back(bound(minval));
  call.operands.push_back(
      isReal
          ? bound(maxval - minval)
          : operandLike(TensorLike(maxval - minval, where), DType::UI32, op));
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape,
         const auto &type) {
        Type element = dtensor::typeOf(e.getContext(), type);
        Shape extents(shape);
        Value low = e.broadcastTo(operands[1], extents);
        Value width = e.broadcastTo(operands[2], extents);
        if (!isa<FloatType>(element)) {
          Value bits = e.apply<dtensor::RemainderOp>(
              bitsOf(e, extents, operands[0]), width);
          return one(e.add(e.convert(bits, element), low));
        }
        Value unit = unitUniform(e, extents, operands[0], element);
        return one(e.add(e.multiply(unit, width), low));
      },
      shape, type);
  return runOp(std::move(call));
}

Tensor stateless_normal(Shape shape, const SeedLike &seed, double mean,
                        double stddev, DType type, Where where) {
  constexpr std::string_view op = "stateless_normal";
  expectNormal(type, mean, stddev, op, where);
  OpCall call = randomCall(op, shape, seed, type, where);
  call.operands.push_back(operandLike(TensorLike(mean, where), type, op));
  call.operands.push_back(operandLike(TensorLike(stddev, where), type, op));
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape,
         const auto &type) {
        Type element = dtensor::typeOf(e.getContext(), type);
        const Shape extents(shape);
        // f16 and bf16 have too few steps near 0 for a logarithm: in f32.
        Type wide = element.isBF16() || element.isF16() ? Type(e.getF32Type())
                                                        : element;
        const auto [first, second] =
            drawnPairs(e, extents, [&](const Shape &drawn) {
              return unitUniform(e, drawn, operands[0], wide);
            });
        // log(1 - u): u may be 0, 1 - u may not.
        Value radius = e.apply<dtensor::SqrtOp>(
            e.multiply(e.apply<dtensor::Log1pOp>(e.negate(first)), -2.0));
        Value angle = e.multiply(second, 6.283185307179586);
        Value normal = e.multiply(radius, e.apply<dtensor::CosineOp>(angle));
        normal = e.convert(normal, element);
        return one(
            e.add(e.multiply(normal, e.broadcastTo(operands[2], extents)),
                  e.broadcastTo(operands[1], extents)));
      },
      shape, type);
  return runOp(std::move(call));
}

Tensor fold_in(const SeedLike &seed, const TensorLike &data) {
  constexpr std::string_view op = "fold_in";
  const Where &where = data.where;
  Tensor number = operandLike(data, DType::I64, op);
  DType type = nodeOf(number, op, &where).dtype;
  if (number.rank() != 0 || !isInteger(type))
    fail(op,
         fmt::format("expected a number or an integer scalar, got {}",
                     typeText(number)),
         &where);
  DType wide = type == DType::UI64 ? DType::UI64 : DType::I64;
  Tensor words = bitcast(cast(number, wide, where), DType::UI32, where);
  // The seed is mixed before: seed 1 in step 3 has nothing to do with seed 3 in
  // step 1.
  Tensor mixed = stateless_bits({2}, seed, where);
  return stateless_bits({2}, logical_xor({mixed, where}, {words, where}),
                        where);
}

Tensor split(const SeedLike &seed, int64_t count, Where where) {
  const CallName name("split");
  // Other seeds than fold_in's, whose second word is 0 or ~0 for small numbers.
  Tensor part = fold_in(seed, {int64_t(0x5EED) << 32, where});
  return stateless_bits({count, 2}, part, where);
}

} // namespace random
} // namespace meshloom
