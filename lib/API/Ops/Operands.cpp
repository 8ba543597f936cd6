// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks and conversions of operands, see Operands.h.
#include "Operands.h"
#include "meshloom/Engine/SharedValues.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace meshloom::detail {

namespace {

/// Returns whether the number is whole, and fits into 64 bits, of a sign where
/// it is negative.
bool isWhole(double number) {
  return number == std::floor(number) && number >= -0x1p63 && number < 0x1p64;
}

/// Returns whether `type` holds the number exactly enough: integers hold
/// integers in range, floats hold everything, i1 holds bools.
bool fits(const TensorLike &like, DType type) {
  if (isFloat(type) || isComplex(type))
    return like.kind != TensorLike::Kind::Bool;
  if (type == DType::I1)
    return like.kind == TensorLike::Kind::Bool;
  int64_t value = like.integer;
  if (like.kind == TensorLike::Kind::Bool)
    return false;
  if (like.kind == TensorLike::Kind::Float) {
    if (!isWhole(like.real))
      return false;
    if (like.real >= 0x1p63)
      return type == DType::UI64;
    value = int64_t(like.real);
  }
  switch (type) {
  case DType::I8:
    return value >= -128 && value < 128;
  case DType::I16:
    return value == int16_t(value);
  case DType::I32:
    return value == int32_t(value);
  case DType::UI8:
    return value >= 0 && value < 256;
  case DType::UI16:
    return value >= 0 && value < 65536;
  case DType::UI32:
    return value == int64_t(uint32_t(value));
  case DType::UI64:
    return value >= 0 || like.isUnsigned;
  case DType::I64:
    return value >= 0 || !like.isUnsigned;
  default:
    return true;
  }
}

double realOf(const TensorLike &like) {
  return like.kind == TensorLike::Kind::Float ? like.real
         : like.isUnsigned                    ? double(uint64_t(like.integer))
                                              : double(like.integer);
}
/// 0 for what no integer type holds: `fits` has refused it for those.
int64_t integerOf(const TensorLike &like) {
  if (like.kind != TensorLike::Kind::Float)
    return like.integer;
  if (!isWhole(like.real))
    return 0;
  return like.real < 0x1p63 ? int64_t(like.real) : int64_t(uint64_t(like.real));
}

std::string numberText(const TensorLike &like) {
  if (like.kind == TensorLike::Kind::Float)
    return fmt::format("{}", like.real);
  if (like.kind == TensorLike::Kind::Bool)
    return like.integer ? "true" : "false";
  return like.isUnsigned ? fmt::format("{}", uint64_t(like.integer))
                         : fmt::format("{}", like.integer);
}

template <typename T> void append(HostBytes &bytes, T value) {
  bytes.resize(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
}

HostBytes bytesOfNumber(const TensorLike &like, DType type) {
  double real = realOf(like);
  int64_t integer = integerOf(like);
  HostBytes bytes;
  switch (type) {
  case DType::F32:
    append(bytes, float(real));
    break;
  case DType::F64:
    append(bytes, real);
    break;
  case DType::BF16:
    append(bytes, bfloat16(float(real)));
    break;
  case DType::F16:
    append(bytes, _Float16(real));
    break;
  case DType::C64:
    append(bytes, std::complex<float>(float(real)));
    break;
  case DType::C128:
    append(bytes, std::complex<double>(real));
    break;
  case DType::I16:
  case DType::UI16:
    append(bytes, int16_t(integer));
    break;
  case DType::I64:
  case DType::UI64:
    append(bytes, integer);
    break;
  case DType::I32:
  case DType::UI32:
    append(bytes, int32_t(integer));
    break;
  default:
    append(bytes, int8_t(integer));
    break;
  }
  return bytes;
}

/// "DType::F32".
std::string enumeratorOf(DType type) {
  if (isComplex(type))
    return type == DType::C64 ? "DType::C64" : "DType::C128";
  std::string text = "DType::";
  for (char c : name(type))
    text += char(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

} // namespace

void checkShape(const Shape &shape, std::string_view op,
                const std::source_location &where) {
  // A Program's buffer has at most so many elements; zeros count as ones, so
  // that no product of extents overflows.
  constexpr int64_t mostElements = std::numeric_limits<int64_t>::max() / 64;
  __int128 elements = 1;
  for (int64_t extent : shape) {
    if (extent < 0)
      fail(op,
           fmt::format("expected extents of at least 0, got {}",
                       shapeText(shape)),
           &where);
    elements *= std::max<int64_t>(extent, 1);
    if (elements > mostElements)
      fail(op,
           fmt::format("expected a shape of at most {} elements, got {}",
                       mostElements, shapeText(shape)),
           &where);
  }
}

OpCall callOf(std::string_view name, std::vector<Tensor> operands,
              const std::source_location &where) {
  OpCall call;
  call.name = name;
  call.operands = std::move(operands);
  call.where = where;
  return call;
}

Tensor operandLike(const TensorLike &like, DType type, std::string_view op,
                   const Tensor *beside) {
  if (like.kind == TensorLike::Kind::Tensor)
    return like.tensor;
  if (!fits(like, type))
    fail(op,
         fmt::format("expected a number that {} can hold, got {}: cast the "
                     "tensor first",
                     name(type), numberText(like)),
         &like.where);
  if (const std::shared_ptr<Trace> &trace = threadState().trace()) {
    Emitter emitter(trace->builder(), trace->location(like.where));
    return trace->wrapValue(
        emitter.number(dtensor::typeOf(trace->builder().getContext(), type),
                       realOf(like), integerOf(like)));
  }
  bool host = !beside || beside->internal()->host;
  const Mesh &mesh =
      host ? hostMesh() : beside->internal()->array.layout().mesh();
  HostBytes bytes = bytesOfNumber(like, type);
  return wrap(placedFromHost({type, {}, Layout::replicated(mesh, 0)}, bytes,
                             Placing::Needed, op, &like.where),
              host);
}

Pair operandPair(const TensorLike &x, const TensorLike &y,
                 std::string_view op) {
  bool xIsTensor = x.kind == TensorLike::Kind::Tensor;
  bool yIsTensor = y.kind == TensorLike::Kind::Tensor;
  if (!xIsTensor && !yIsTensor)
    fail(op, "expected at least one tensor, got two numbers", &x.where);
  if (xIsTensor)
    nodeOf(x.tensor, op, &x.where);
  if (yIsTensor)
    nodeOf(y.tensor, op, &y.where);
  if (!xIsTensor)
    return {operandLike(x, y.tensor.dtype(), op, &y.tensor), y.tensor, y.where};
  if (!yIsTensor)
    return {x.tensor, operandLike(y, x.tensor.dtype(), op, &x.tensor), x.where};
  if (x.tensor.dtype() != y.tensor.dtype()) {
    // The smaller one: often a number or labels beside what was computed.
    bool castsFirst = x.tensor.size() < y.tensor.size();
    const Tensor &cast = castsFirst ? x.tensor : y.tensor;
    std::string_view hint;
    if (cast.rank() == 0 && cast.dtype() == DType::F64)
      hint = ", or write the number itself: a double makes a tensor of f64";
    else if (isInteger(x.tensor.dtype()) && isInteger(y.tensor.dtype()))
      hint = "; range, argmax and argsort take the type that they give";
    fail(op,
         fmt::format(
             "expected operands of one type, got {} and {}: cast the "
             "{} one with cast(..., {}){}",
             typeText(x.tensor), typeText(y.tensor),
             castsFirst ? "first" : "second",
             enumeratorOf(castsFirst ? y.tensor.dtype() : x.tensor.dtype()),
             hint),
         &x.where);
  }
  return {x.tensor, y.tensor, x.where};
}

Shape broadcastShape(const Shape &x, const Shape &y, std::string_view op,
                     const std::source_location &where) {
  size_t rank = std::max(x.size(), y.size());
  Shape result(rank);
  for (size_t i = 0; i < rank; ++i) { // from the last dim
    int64_t a = i < x.size() ? x[x.size() - 1 - i] : 1;
    int64_t b = i < y.size() ? y[y.size() - 1 - i] : 1;
    if (a != b && a != 1 && b != 1)
      fail(op,
           fmt::format("expected shapes that broadcast, got {} and {}: dim -{} "
                       "is {} in one and {} in the other, and neither is 1",
                       shapeText(x), shapeText(y), i + 1, a, b),
           &where);
    result[rank - 1 - i] = a == 1 ? b : a;
  }
  return result;
}

int64_t axisOf(int64_t axis, int64_t rank, std::string_view op,
               const std::source_location &where) {
  if (rank == 0)
    fail(op,
         fmt::format("expected a tensor of one dim or more, got a scalar and "
                     "axis {}",
                     axis),
         &where);
  if (axis < -rank || axis >= rank)
    fail(op,
         fmt::format("expected an axis in [{}, {}), got {}", -rank, rank, axis),
         &where);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int64_t> axesOf(std::span<const int64_t> axes, bool allDims,
                            int64_t rank, std::string_view op,
                            const std::source_location &where) {
  std::vector<int64_t> result;
  if (allDims) {
    for (int64_t d = 0; d < rank; ++d)
      result.push_back(d);
    return result;
  }
  for (int64_t axis : axes)
    result.push_back(axisOf(axis, rank, op, where));
  llvm::sort(result);
  if (auto twice = std::adjacent_find(result.begin(), result.end());
      twice != result.end())
    fail(op, fmt::format("expected different axes, got axis {} twice", *twice),
         &where);
  return result;
}

void expectFloat(const Tensor &x, std::string_view op,
                 const std::source_location &where) {
  if (!isFloat(nodeOf(x, op, &where).dtype))
    fail(op,
         fmt::format("expected a float tensor, got {}: cast it first",
                     typeText(x)),
         &where);
}

} // namespace meshloom::detail
