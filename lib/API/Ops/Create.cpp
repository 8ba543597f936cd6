// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making tensors, see Create.h.
#include "meshloom/API/Create.h"
#include "Operands.h"
#include "meshloom/Engine/SharedValues.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Runtime/LaunchQueue.h"
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
  return wrap(placedFromHost({type, shape, layout}, bytes, Placing::Needed, op),
              !mesh);
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
    call.setBody(
        [](Emitter &e, ArrayRef<Value> operands, const auto &shape) {
          Attribute splat;
          if (mlir::matchPattern(operands[0], mlir::m_Constant(&splat)) &&
              operands[0].use_empty()) {
            Operation *scalar = operands[0].getDefiningOp();
            Type elementType = e.elementType(operands[0]);
            auto wide = RankedTensorType::get(shape, elementType);
            Value result = e.create<dtensor::ConstantOp>(
                e.getLoc(), wide,
                DenseElementsAttr::get(
                    wide,
                    cast<DenseElementsAttr>(splat).getSplatValue<Attribute>()));
            scalar->erase();
            return one(result);
          }
          return one(e.broadcastTo(operands[0], shape));
        },
        shape);
    return runOp(std::move(call));
  }
  try {
    return place(type, shape, filledBytes(shape, number, type, op), op);
  } catch (const std::bad_alloc &) {
    fail(op,
         Error(fmt::format("out of memory: {} {} takes {} bytes", name(type),
                           shapeText(shape),
                           elementCount(shape) * byteWidth(type)),
               ErrorCode::RESOURCE_EXHAUSTED),
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

void detail::refuseRows(int64_t first, int64_t other,
                        const std::source_location &where) {
  fail("tensor",
       fmt::format("expected rows of one length, got {} and {} numbers", first,
                   other),
       &where);
}

Tensor detail::hostTensor(DType type, const Shape &shape,
                          std::span<const char> bytes) {
  const Mesh &mesh = hostMesh();
  Layout layout = Layout::replicated(mesh, unsigned(shape.size()));
  return wrap(
      check(Array::fromHost(clientFor(mesh), {type, shape, layout}, bytes),
            "tensor"),
      true);
}

detail::HostScope::HostScope()
    : plain(hostMesh()), working(std::make_shared<LaunchQueue::Working>()) {}

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
  return wrap(
      placedFromHost(node.array.type(), bytes, Placing::Needed, op, &where));
}
Tensor zeros_like(const Tensor &like, std::source_location where) {
  return filledLike(like, 0, "zeros_like", where);
}
Tensor ones_like(const Tensor &like, std::source_location where) {
  return filledLike(like, 1, "ones_like", where);
}

Tensor full_like(const Tensor &like, double value, std::source_location where) {
  return filledLike(like, value, "full_like", where);
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
  call.where = where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value>, const auto &shape, const auto &dim,
         const auto &type) {
        return one(e.iota(shape, dim, dtensor::typeOf(e.getContext(), type)));
      },
      shape, dim, type);
  return runOp(std::move(call));
}

Tensor load_npy(const std::filesystem::path &path, std::source_location where) {
  return atLine(where, [&]() -> Tensor {
    NpyArray array = check(readNpy(path.string()), "load_npy");
    return place(array.type, array.shape, array.bytes, "load_npy");
  });
}
Tensor load_npy(const std::filesystem::path &path, const Layout &layout,
                std::source_location where) {
  return atLine(where, [&]() -> Tensor {
    NpyArray array = check(readNpy(path.string()), "load_npy");
    if (array.shape.size() != layout.rank())
      fail("load_npy",
           fmt::format(
               "expected an array of rank {} in '{}' for layout {}, got {}",
               layout.rank(), path.string(), layout.spec_string(),
               typeText(array.type, array.shape)));
    return wrap(placedFromHost({array.type, array.shape, layout}, array.bytes,
                               Placing::Asked, "load_npy"));
  });
}
void save_npy(const std::filesystem::path &path, const Tensor &tensor,
              std::source_location where) {
  return atLine(where, [&]() -> void {
    HostBytes bytes = bytesOf(tensor, "save_npy");
    check(writeNpy(path.string(), tensor.dtype(), tensor.shape(), bytes),
          "save_npy");
  });
}

} // namespace meshloom
