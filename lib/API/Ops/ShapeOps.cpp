// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that move or pick elements.
#include "Operands.h"
#include "meshloom/API/Ops.h"

#include "meshloom/API/GradientTape.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

namespace {

Tensor reshapeTo(std::string_view op, const Tensor &x, Shape shape,
                 const std::source_location &where) {
  if (x.shape() == shape)
    return x;
  OpCall call = callOf(op, {x}, where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape) {
        return one(e.reshape(operands[0], shape));
      },
      shape);
  return runOp(std::move(call));
}

} // namespace

Tensor reshape(const Tensor &x, Shape shape, Where loc) {
  constexpr std::string_view op = "reshape";
  nodeOf(x, op, &loc);
  int64_t open = -1;
  Shape others;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1 && open >= 0)
      fail(op,
           fmt::format("expected at most one extent of -1, got {}",
                       shapeText(shape)),
           &loc);
    if (shape[d] < -1)
      fail(op,
           fmt::format("expected extents of at least 0, or one -1, got {}",
                       shapeText(shape)),
           &loc);
    if (shape[d] == -1)
      open = int64_t(d);
    else
      others.push_back(shape[d]);
  }
  checkShape(others, op, loc);
  const int64_t elements = elementCount(others);
  bool fits =
      open < 0 ? elements == x.size() : elements && x.size() % elements == 0;
  if (!fits)
    fail(op,
         fmt::format("expected a shape of {} elements, as {} has, got {}",
                     x.size(), typeText(x), shapeText(shape)),
         &loc);
  if (open >= 0)
    shape[size_t(open)] = x.size() / elements;
  return reshapeTo(op, x, std::move(shape), loc);
}

Tensor expand_dims(const Tensor &x, int64_t axis, Where loc) {
  Shape shape = nodeOf(x, "expand_dims", &loc).shape;
  axis = axisOf(axis, x.rank() + 1, "expand_dims", loc);
  shape.insert(shape.begin() + axis, 1);
  return reshapeTo("expand_dims", x, std::move(shape), loc);
}

Tensor squeeze(const Tensor &x, const Axis &axis, Where loc) {
  const Shape &shape = nodeOf(x, "squeeze", &loc).shape;
  std::vector<int64_t> dims =
      axesOf(axis.dims, axis.all, x.rank(), "squeeze", loc);
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d) {
    bool named = llvm::is_contained(dims, int64_t(d));
    if (named && !axis.all && shape[d] != 1)
      fail("squeeze",
           fmt::format("expected extent 1 at dim {} of {}, got {}", d,
                       typeText(x), shape[d]),
           &loc);
    if (!named || shape[d] != 1)
      result.push_back(shape[d]);
  }
  return reshapeTo("squeeze", x, std::move(result), loc);
}

Tensor transpose(const Tensor &x, std::vector<int64_t> perm, Where loc) {
  constexpr std::string_view op = "transpose";
  int64_t rank = int64_t(nodeOf(x, op, &loc).shape.size());
  if (perm.empty())
    for (int64_t d = rank; d-- > 0;)
      perm.push_back(d);
  for (int64_t &d : perm)
    d = axisOf(d, rank, op, loc);
  if (int64_t(perm.size()) != rank)
    fail(op,
         fmt::format("expected {} dims, one for each of {}, got {}", rank,
                     typeText(x), perm.size()),
         &loc);
  axesOf(perm, false, rank, op, loc); // throws on repeated ones
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &perm) {
        return one(e.transpose(operands[0], perm));
      },
      perm);
  return runOp(std::move(call));
}

Tensor swapaxes(const Tensor &x, int64_t axis1, int64_t axis2, Where loc) {
  constexpr std::string_view op = "swapaxes";
  const CallName name(op);
  const int64_t rank = int64_t(nodeOf(x, op, &loc).shape.size());
  std::vector<int64_t> perm = axesOf({}, true, rank, op, loc);
  std::swap(perm[size_t(axisOf(axis1, rank, op, loc))],
            perm[size_t(axisOf(axis2, rank, op, loc))]);
  return transpose(x, perm, loc);
}

Tensor moveaxis(const Tensor &x, const Axis &source, const Axis &destination,
                Where loc) {
  constexpr std::string_view op = "moveaxis";
  const CallName name(op);
  const int64_t rank = int64_t(nodeOf(x, op, &loc).shape.size());
  if (source.all || destination.all ||
      source.dims.size() != destination.dims.size())
    fail(op,
         fmt::format("expected equally many dims to move and places for them, "
                     "got {} and {}",
                     source.dims.size(), destination.dims.size()),
         &loc);
  std::vector<int64_t> stay = axesOf({}, true, rank, op, loc), perm(stay);
  // Throws on repeated ones.
  std::vector<int64_t> from = axesOf(source.dims, false, rank, op, loc),
                       to = axesOf(destination.dims, false, rank, op, loc);
  llvm::erase_if(stay, [&](int64_t d) { return llvm::is_contained(from, d); });
  std::vector<int64_t> order(size_t(rank), -1);
  for (size_t i = 0; i < source.dims.size(); ++i)
    order[size_t(axisOf(destination.dims[i], rank, op, loc))] =
        axisOf(source.dims[i], rank, op, loc);
  auto next = stay.begin();
  for (int64_t &d : order)
    if (d < 0)
      d = *next++;
  return order == perm ? x : transpose(x, order, loc);
}

Tensor broadcast_to(const Tensor &x, Shape shape, Where loc) {
  constexpr std::string_view op = "broadcast_to";
  checkShape(shape, op, loc);
  if (broadcastShape(nodeOf(x, op, &loc).shape, shape, op, loc) != shape)
    fail(op,
         fmt::format("expected a shape that {} broadcasts to, got {}",
                     typeText(x), shapeText(shape)),
         &loc);
  if (x.shape() == shape)
    return x;
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape) {
        return one(e.broadcastTo(operands[0], shape));
      },
      shape);
  return runOp(std::move(call));
}

Tensor concat(const std::vector<Tensor> &values, int64_t axis, Where loc) {
  constexpr std::string_view op = "concat";
  if (values.empty())
    fail(op, "expected at least one tensor, got none", &loc);
  const TensorNode &first = nodeOf(values.front(), op, &loc);
  axis = axisOf(axis, int64_t(first.shape.size()), op, loc);
  for (size_t i = 1; i < values.size(); ++i) {
    const TensorNode &node = nodeOf(values[i], op, &loc);
    Shape expected = first.shape;
    if (node.shape.size() == expected.size())
      expected[size_t(axis)] = node.shape[size_t(axis)];
    if (node.dtype != first.dtype || node.shape != expected)
      fail(op,
           fmt::format("expected tensors alike but for dim {}, got {} and {} "
                       "(number {})",
                       axis, typeText(values.front()), typeText(values[i]), i),
           &loc);
  }
  OpCall call = callOf(op, values, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &axis) {
        return one(e.concatenate(operands, axis));
      },
      axis);
  return runOp(std::move(call));
}

Tensor stack(const std::vector<Tensor> &values, int64_t axis, Where loc) {
  if (values.empty())
    fail("stack", "expected at least one tensor, got none", &loc);
  const CallName name("stack");
  std::vector<Tensor> expanded;
  for (const Tensor &value : values) {
    const TensorNode &node = nodeOf(value, "stack", &loc);
    if (node.shape != values.front().shape() ||
        node.dtype != values.front().dtype())
      fail("stack",
           fmt::format("expected tensors of one type and shape, got {} and {} "
                       "(number {})",
                       typeText(values.front()), typeText(value),
                       expanded.size()),
           &loc);
    expanded.push_back(expand_dims(value, axis, loc));
  }
  axis = axisOf(axis, expanded.front().rank(), "stack", loc);
  return concat(expanded, axis, loc);
}

std::vector<Tensor> split(const Tensor &x, int64_t count, int64_t axis,
                          Where loc) {
  nodeOf(x, "split", &loc);
  axis = axisOf(axis, x.rank(), "split", loc);
  int64_t extent = x.shape()[size_t(axis)];
  // Without elements there could be any number of parts.
  if (count < 1 || extent % count || count > std::max<int64_t>(extent, 65536))
    fail("split",
         fmt::format("expected a count that divides dim {} of {}, got {}: give "
                     "the sizes",
                     axis, typeText(x), count),
         &loc);
  return split(x, std::vector<int64_t>(size_t(count), extent / count), axis,
               loc);
}

std::vector<Tensor> split(const Tensor &x, const std::vector<int64_t> &sizes,
                          int64_t axis, Where loc) {
  constexpr std::string_view op = "split";
  nodeOf(x, op, &loc);
  axis = axisOf(axis, x.rank(), op, loc);
  int64_t extent = x.shape()[size_t(axis)], sum = 0, open = 0;
  for (int64_t size : sizes) {
    if (size < -1 || size > extent)
      fail(op,
           fmt::format("expected sizes from 0 to {}, as dim {} of {} has, got "
                       "{}",
                       extent, axis, typeText(x), size),
           &loc);
    open += size == -1;
    sum = std::min(sum + (size == -1 ? 0 : size), extent + 1);
  }
  if (open > 1 || sum > extent || (!open && sum != extent))
    fail(
        op,
        fmt::format("expected sizes that sum to dim {} of {}, with at most one "
                    "-1, got {}",
                    axis, typeText(x), shapeText(sizes)),
        &loc);
  std::vector<int64_t> parts(sizes);
  for (int64_t &size : parts)
    size = size == -1 ? extent - sum : size;
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &parts,
         const auto &axis) {
        SmallVector<Value> results;
        SmallVector<int64_t> starts(e.shape(operands[0]).size(), 0);
        SmallVector<int64_t> limits(e.shape(operands[0]));
        int64_t offset = 0;
        for (int64_t part : parts) {
          starts[size_t(axis)] = offset;
          limits[size_t(axis)] = offset += part;
          results.push_back(e.slice(operands[0], starts, limits));
        }
        return results;
      },
      parts, axis);
  return runOps(std::move(call));
}

Tensor slice(const Tensor &x, Shape begin, Shape size, Where loc) {
  constexpr std::string_view op = "slice";
  const Shape &shape = nodeOf(x, op, &loc).shape;
  if (begin.size() != shape.size() || size.size() != shape.size())
    fail(op,
         fmt::format("expected a begin and a size for each dim of {}, got {} "
                     "and {}",
                     typeText(x), shapeText(begin), shapeText(size)),
         &loc);
  Shape end(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool isPart = begin[d] >= 0 && begin[d] <= shape[d] &&
                        size[d] >= -1 && size[d] <= shape[d] - begin[d];
    if (isPart)
      end[d] = size[d] == -1 ? shape[d] : begin[d] + size[d];
    else
      fail(op,
           fmt::format("expected a part of dim {} of {}, got begin {} and size "
                       "{}",
                       d, typeText(x), begin[d], size[d]),
           &loc);
  }
  return strided_slice(x, begin, end, Shape(shape.size(), 1), loc);
}

Tensor strided_slice(const Tensor &x, Shape begin, Shape end, Shape strides,
                     Where loc) {
  constexpr std::string_view op = "strided_slice";
  const Shape &shape = nodeOf(x, op, &loc).shape;
  if (begin.size() != shape.size() || end.size() != shape.size() ||
      strides.size() != shape.size())
    fail(op,
         fmt::format(
             "expected begin, end and stride for each dim of {}, got {}, "
             "{} and {}",
             typeText(x), shapeText(begin), shapeText(end), shapeText(strides)),
         &loc);
  for (size_t d = 0; d < shape.size(); ++d) {
    for (int64_t *index : {&begin[d], &end[d]})
      if (*index < 0)
        *index += shape[d];
    if (begin[d] < 0 || end[d] < begin[d] || end[d] > shape[d] ||
        strides[d] < 1)
      fail(op,
           fmt::format("expected a part of dim {} of {} and a stride of at "
                       "least 1, got {} to {} by {}",
                       d, typeText(x), begin[d], end[d], strides[d]),
           &loc);
    strides[d] = std::min(strides[d], std::max<int64_t>(shape[d], 1));
  }
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &begin,
         const auto &end, const auto &strides) {
        return one(e.create<dtensor::SliceOp>(e.getLoc(), operands[0], begin,
                                              end, strides));
      },
      begin, end, strides);
  return runOp(std::move(call));
}

Tensor reverse(const Tensor &x, const Axis &axis, Where loc) {
  constexpr std::string_view op = "reverse";
  nodeOf(x, op, &loc);
  std::vector<int64_t> dims = axesOf(axis.dims, axis.all, x.rank(), op, loc);
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &dims) {
        return one(e.create<dtensor::ReverseOp>(e.getLoc(), operands[0], dims));
      },
      dims);
  return runOp(std::move(call));
}

Tensor one_hot(const Tensor &indices, int64_t depth, DType type, Where loc) {
  constexpr std::string_view op = "one_hot";
  Shape shape = nodeOf(indices, op, &loc).shape;
  if (!isInteger(indices.dtype()))
    fail(op, fmt::format("expected integer indices, got {}", typeText(indices)),
         &loc);
  if (depth < 0)
    fail(op, fmt::format("expected a depth of at least 0, got {}", depth),
         &loc);
  shape.push_back(depth);
  checkShape(shape, op, loc);
  OpCall call = callOf(op, {indices}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &shape,
         const auto &type) {
        Value hot = e.isHot(operands[0], shape);
        return one(e.convert(hot, dtensor::typeOf(e.getContext(), type)));
      },
      shape, type);
  return runOp(std::move(call));
}

Tensor stop_gradient(const Tensor &x, std::source_location loc) {
  nodeOf(x, "stop_gradient", &loc);
  OpCall call = callOf("stop_gradient", {x}, loc);
  call.setBody([](Emitter &e, ArrayRef<Value> operands) {
    SmallVector<int64_t> shape(e.shape(operands[0]));
    SmallVector<int64_t> dims =
        llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    return one(e.stopped(e.broadcast(operands[0], shape, dims)));
  });
  return runOp(std::move(call));
}

} // namespace meshloom
