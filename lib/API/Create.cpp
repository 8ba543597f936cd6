// Making tensors, see Create.h.
#include "meshloom/API/Create.h"
#include "Operands.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/Support/Npy.h"

#include "mlir/IR/Matchers.h"

#include <fmt/format.h>
#include <limits>
#include <new>

namespace meshloom {
using namespace detail;

namespace {

/// A value of the host, or replicated on the default mesh.
Tensor place(DType type, const Shape &shape, std::span<const char> bytes,
             std::string_view op) {
  std::optional<Mesh> mesh = get_default_mesh();
  const Mesh &on = mesh ? *mesh : hostMesh();
  Layout layout = Layout::replicated(on, unsigned(shape.size()));
  return wrap(
      check(Array::fromHost(clientFor(on), {type, shape, layout}, bytes), op),
      !mesh);
}

SmallVector<Value> one(Value value) {
  return {value};
}

TensorLike numberFor(double value, DType type,
                     const std::source_location &where) {
  return type == DType::I1 ? TensorLike(value != 0, where)
                           : TensorLike(value, where);
}

HostBytes filledBytes(const Shape &shape, const TensorLike &number, DType type,
                      std::string_view op) {
  HostBytes element = bytesOf(operandLike(number, type, op), op);
  int64_t count = elementCount(shape);
  HostBytes bytes(size_t(count) * element.size());
  bool isZero = llvm::all_of(element, [](char byte) { return byte == 0; });
  if (!isZero)
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(bytes.data() + size_t(i) * element.size(), element.data(),
                  element.size());
  return bytes;
}

Tensor filled(Shape shape, double value, DType type, std::string_view op,
              const std::source_location &where) {
  checkShape(shape, op, where);
  TensorLike number = numberFor(value, type, where);
  if (isTracing()) {
    Tensor scalar = operandLike(number, type, op);
    OpCall call;
    call.name = op;
    call.operands = {scalar};
    call.where = where;
    call.body = [shape](Emitter &e, ArrayRef<Value> operands) {
      Attribute splat;
      if (mlir::matchPattern(operands[0], mlir::m_Constant(&splat)) &&
          operands[0].use_empty()) {
        Operation *scalar = operands[0].getDefiningOp();
        Type elementType = e.elementType(operands[0]);
        auto wide = RankedTensorType::get(shape, elementType);
        Value result = e.builder.create<dtensor::ConstantOp>(
            e.location, wide,
            DenseElementsAttr::get(
                wide,
                cast<DenseElementsAttr>(splat).getSplatValue<Attribute>()));
        scalar->erase();
        return one(result);
      }
      return one(e.broadcastTo(operands[0], shape));
    };
    return runOp(std::move(call));
  }
  try {
    return place(type, shape, filledBytes(shape, number, type, op), op);
  } catch (const std::bad_alloc &) {
    fail(op,
         fmt::format("out of memory: {} {} takes {} bytes", name(type),
                     shapeText(shape), elementCount(shape) * byteWidth(type)),
         &where);
  }
}

} // namespace

Tensor detail::fromHost(DType type, const void *data, int64_t count,
                        Shape shape, std::source_location where) {
  checkShape(shape, "tensor", where);
  if (elementCount(shape) != count)
    fail("tensor",
         fmt::format("expected {} values for shape {}, got {}",
                     elementCount(shape), shapeText(shape), count),
         &where);
  return place(
      type, shape,
      {static_cast<const char *>(data), size_t(count) * byteWidth(type)},
      "tensor");
}

Tensor zeros(Shape shape, DType type, std::source_location where) {
  return filled(std::move(shape), 0, type, "zeros", where);
}
Tensor ones(Shape shape, DType type, std::source_location where) {
  return filled(std::move(shape), 1, type, "ones", where);
}
Tensor full(Shape shape, double value, DType type, std::source_location where) {
  return filled(std::move(shape), value, type, "full", where);
}

static Tensor filledLike(const Tensor &like, double value, std::string_view op,
                         const std::source_location &where) {
  const TensorNode &node = nodeOf(like, op, &where);
  if (node.trace || node.host)
    return filled(node.shape, value, node.dtype, op, where);
  if (isTracing())
    return relayout(filled(node.shape, value, node.dtype, op, where),
                    node.array.layout(), where);
  HostBytes bytes = filledBytes(node.shape, numberFor(value, node.dtype, where),
                                node.dtype, op);
  return wrap(check(
      Array::fromHost(node.array.client(), node.array.type(), bytes), op));
}
Tensor zeros_like(const Tensor &like, std::source_location where) {
  return filledLike(like, 0, "zeros_like", where);
}
Tensor ones_like(const Tensor &like, std::source_location where) {
  return filledLike(like, 1, "ones_like", where);
}

Tensor iota(Shape shape, int64_t dim, DType type, std::source_location where) {
  checkShape(shape, "iota", where);
  dim = axisOf(dim, int64_t(shape.size()), "iota", where);
  if (type == DType::I1)
    fail("iota", "expected a number type, got i1", &where);
  if (int64_t last = shape[size_t(dim)] - 1;
      isInteger(type) && last > largestInteger(type))
    fail("iota",
         fmt::format("expected a type that holds the numbers up to {}, got {}",
                     last, name(type)),
         &where);
  OpCall call;
  call.name = "iota";
  call.attributes = shape;
  call.attributes.push_back(dim);
  call.attributes.push_back(int64_t(type));
  call.where = where;
  call.body = [=](Emitter &e, ArrayRef<Value>) {
    return one(
        e.iota(shape, dim, dtensor::typeOf(e.builder.getContext(), type)));
  };
  return runOp(std::move(call));
}

Tensor range(int64_t n, DType type, std::source_location where) {
  return iota({n}, 0, type, where);
}

Tensor load_npy(const std::filesystem::path &path) {
  NpyArray array = check(readNpy(path.string()), "load_npy");
  return place(array.type, array.shape, array.bytes, "load_npy");
}
Tensor load_npy(const std::filesystem::path &path, const Layout &layout) {
  NpyArray array = check(readNpy(path.string()), "load_npy");
  if (array.shape.size() != layout.rank())
    fail("load_npy",
         fmt::format(
             "expected an array of rank {} in '{}' for layout {}, got {}",
             layout.rank(), path.string(), layout.spec_string(),
             typeText(array.type, array.shape)));
  return wrap(
      check(Array::fromHost(clientFor(layout.mesh()),
                            {array.type, array.shape, layout}, array.bytes),
            "load_npy"));
}
void save_npy(const std::filesystem::path &path, const Tensor &tensor) {
  HostBytes bytes = bytesOf(tensor, "save_npy");
  check(writeNpy(path.string(), tensor.dtype(), tensor.shape(), bytes),
        "save_npy");
}

namespace random {
namespace {

/// Bits of `shape`, for a seed that is an operand.
Value bitsOf(Emitter &e, ArrayRef<int64_t> shape, Value seed) {
  return e.builder.create<dtensor::RngOp>(e.location, shape, seed);
}

/// Uniform floats in [0, 1) of `type` with as many random bits as it holds.
Value unitUniform(Emitter &e, Shape shape, Value seed, Type type) {
  Type word = dtensor::typeOf(e.builder.getContext(), DType::UI32);
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
  Shape pairs(shape), starts(shape.size() + 1, 0), limits(shape);
  pairs.push_back(2);
  limits.push_back(1);
  Value bits = bitsOf(e, pairs, seed);
  Value first = e.reshape(e.slice(bits, starts, limits), shape);
  starts.back() = 1;
  limits.back() = 2;
  Value second = e.reshape(e.slice(bits, starts, limits), shape);
  Value high = e.convert(e.divide(first, number(word, 0x1p5)), type);
  Value low = e.convert(e.divide(second, number(word, 0x1p6)), type);
  return e.multiply(e.add(e.multiply(high, number(type, 0x1p26)), low),
                    number(type, 0x1p-53));
}

/// The largest finite number of a float type.
double largestOf(DType type) {
  return type == DType::F64   ? std::numeric_limits<double>::max()
         : type == DType::F16 ? 65504
                              : std::numeric_limits<float>::max();
}

Tensor seedTensor(Seed seed, const std::source_location &where) {
  uint32_t words[2] = {seed.first, seed.second};
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
    call.body = [=](Emitter &e, ArrayRef<Value>) {
      auto type = RankedTensorType::get(
          {2}, dtensor::typeOf(e.builder.getContext(), DType::UI32));
      return one(e.builder.create<dtensor::ConstantOp>(
          e.location, type,
          DenseElementsAttr::get(type, ArrayRef<uint32_t>(words))));
    };
    return runOp(std::move(call));
  }
  return detail::fromHost(DType::UI32, words, 2, {2}, where);
}

OpCall randomCall(std::string_view name, const Shape &shape, Seed seed,
                  DType type, const std::source_location &where) {
  checkShape(shape, name, where);
  OpCall call;
  call.name = name;
  call.operands = {seedTensor(seed, where)};
  call.attributes = shape;
  call.attributes.push_back(int64_t(type));
  call.where = where;
  return call;
}

} // namespace

Tensor stateless_bits(Shape shape, Seed seed, std::source_location where) {
  OpCall call = randomCall("stateless_bits", shape, seed, DType::UI32, where);
  call.body = [shape](Emitter &e, ArrayRef<Value> operands) {
    return one(bitsOf(e, shape, operands[0]));
  };
  return runOp(std::move(call));
}

Tensor stateless_uniform(Shape shape, Seed seed, double minval, double maxval,
                         DType type, std::source_location where) {
  constexpr std::string_view op = "stateless_uniform";
  bool isReal = isFloat(type);
  if (type == DType::I1 || isComplex(type) || !(minval < maxval) ||
      !std::isfinite(maxval - minval))
    fail(op,
         fmt::format("expected a real number type and finite minval < maxval, "
                     "got {}, {} and {}",
                     name(type), minval, maxval),
         &where);
  if (double largest = largestOf(type);
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
  call.body = [shape, type](Emitter &e, ArrayRef<Value> operands) {
    Type element = dtensor::typeOf(e.builder.getContext(), type);
    Shape extents(shape);
    Value low = e.broadcastTo(operands[1], extents);
    Value width = e.broadcastTo(operands[2], extents);
    if (!isa<FloatType>(element)) {
      Value bits =
          e.make<dtensor::RemainderOp>(bitsOf(e, extents, operands[0]), width);
      return one(e.add(e.convert(bits, element), low));
    }
    Value unit = unitUniform(e, extents, operands[0], element);
    return one(e.add(e.multiply(unit, width), low));
  };
  return runOp(std::move(call));
}

Tensor stateless_normal(Shape shape, Seed seed, double mean, double stddev,
                        DType type, std::source_location where) {
  constexpr std::string_view op = "stateless_normal";
  if (!isFloat(type))
    fail(op, fmt::format("expected a float type, got {}", name(type)), &where);
  OpCall call = randomCall(op, shape, seed, type, where);
  call.operands.push_back(operandLike(TensorLike(mean, where), type, op));
  call.operands.push_back(operandLike(TensorLike(stddev, where), type, op));
  call.body = [shape, type](Emitter &e, ArrayRef<Value> operands) {
    Type element = dtensor::typeOf(e.builder.getContext(), type);
    Shape extents(shape), pairs(shape), starts(shape.size() + 1, 0),
        limits(shape);
    pairs.push_back(2);
    limits.push_back(1);
    // f16 and bf16 have too few steps near 0 for a logarithm: in f32.
    Type wide = element.isBF16() || element.isF16()
                    ? Type(e.builder.getF32Type())
                    : element;
    Value unit = unitUniform(e, pairs, operands[0], wide);
    Value first = e.reshape(e.slice(unit, starts, limits), extents);
    starts.back() = 1;
    limits.back() = 2;
    Value second = e.reshape(e.slice(unit, starts, limits), extents);
    // log(1 - u): u may be 0, 1 - u may not.
    Value radius = e.make<dtensor::SqrtOp>(
        e.multiply(e.make<dtensor::Log1pOp>(e.negate(first)), -2.0));
    Value angle = e.multiply(second, 6.283185307179586);
    Value normal = e.multiply(radius, e.make<dtensor::CosineOp>(angle));
    normal = e.convert(normal, element);
    return one(e.add(e.multiply(normal, e.broadcastTo(operands[2], extents)),
                     e.broadcastTo(operands[1], extents)));
  };
  return runOp(std::move(call));
}

} // namespace random
} // namespace meshloom
