// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's ops that make or move elements without computing on them.
#include "Ops.h"

#include <algorithm>

namespace meshloom::interpreter {
namespace {

/// Calls `visit(position, index)` for every index of `shape`, row-major.
template <typename F> void forEachIndex(const Shape &shape, F visit) {
  std::vector<int64_t> index(shape.size());
  for (int64_t position = 0, count = elementCount(shape); position < count;
       ++position) {
    visit(position, index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// The result whose element at `index` is the operand's element at
/// sum(index[d] * stride[d]) + offset.
HostValue strided(const Call &call, const std::vector<int64_t> &stride,
                  int64_t offset = 0) {
  HostValue out = call.result();
  Element element(call[0], out);
  forEachIndex(out.shape, [&](int64_t position, const auto &index) {
    int64_t source = offset;
    for (size_t d = 0; d < index.size(); ++d)
      source += index[d] * stride[d];
    element.copy(source, position);
  });
  return out;
}

Values constant(const Call &call) {
  HostValue out = call.result();
  auto value = call.op->getAttrOfType<DenseElementsAttr>("value");
  auto toDouble = [](llvm::APFloat wide) {
    bool exact;
    wide.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &exact);
    return wide.convertToDouble();
  };
  if (out.isComplex()) {
    for (auto [i, element] :
         llvm::enumerate(value.getValues<std::complex<llvm::APFloat>>())) {
      out.floats[i] = toDouble(element.real());
      out.imaginaries[i] = toDouble(element.imag());
    }
    return {std::move(out)};
  }
  if (out.isFloating()) {
    for (auto [i, element] : llvm::enumerate(value.getValues<llvm::APFloat>()))
      out.floats[i] = toDouble(element);
    return {std::move(out)};
  }
  bool zeroExtend = out.type == DType::I1 || !isSigned(out.type);
  for (auto [i, element] : llvm::enumerate(value.getValues<llvm::APInt>()))
    out.ints[i] =
        zeroExtend ? int64_t(element.getZExtValue()) : element.getSExtValue();
  return {std::move(out)};
}

Values iota(const Call &call) {
  HostValue out = call.result();
  int64_t dim = call.integer("iota_dimension");
  forEachIndex(out.shape, [&](int64_t position, const auto &index) {
    if (out.isFloating())
      out.floats[position] = roundToType(out.type, double(index[dim]));
    else
      out.ints[position] = wrapInteger(out.type, index[dim]);
  });
  return {std::move(out)};
}

Values broadcastInDim(const Call &call) {
  std::vector<int64_t> from = stridesOf(call[0].shape);
  std::vector<int64_t> dims = call.integers("broadcast_dimensions");
  std::vector<int64_t> stride(shapeOf(call.op->getResult(0).getType()).size());
  for (size_t d = 0; d < dims.size(); ++d)
    stride[dims[d]] = call[0].shape[d] == 1 ? 0 : from[d];
  return {strided(call, stride)};
}

/// Row-major order stays; relayout and constraint change nothing at all.
Values sameElements(const Call &call) {
  HostValue out = call[0];
  out.shape = shapeOf(call.op->getResult(0).getType());
  return {std::move(out)};
}

Values transpose(const Call &call) {
  std::vector<int64_t> from = stridesOf(call[0].shape);
  std::vector<int64_t> permutation = call.integers("permutation"), stride;
  for (int64_t dim : permutation)
    stride.push_back(from[dim]);
  return {strided(call, stride)};
}

Values slice(const Call &call) {
  std::vector<int64_t> stride = stridesOf(call[0].shape);
  std::vector<int64_t> starts = call.integers("start_indices");
  std::vector<int64_t> steps = call.integers("strides");
  int64_t offset = 0;
  for (size_t d = 0; d < stride.size(); ++d) {
    offset += starts[d] * stride[d];
    stride[d] *= steps[d];
  }
  return {strided(call, stride, offset)};
}

Values reverse(const Call &call) {
  std::vector<int64_t> stride = stridesOf(call[0].shape);
  int64_t offset = 0;
  for (int64_t dim : call.integers("dimensions")) {
    offset += (call[0].shape[dim] - 1) * stride[dim];
    stride[dim] = -stride[dim];
  }
  return {strided(call, stride, offset)};
}

Values concatenate(const Call &call) {
  HostValue out = call.result();
  int64_t dim = call.integer("dimension"), start = 0;
  std::vector<int64_t> stride = stridesOf(out.shape);
  for (const HostValue *part : call.operands) {
    Element element(*part, out);
    forEachIndex(part->shape, [&](int64_t position, const auto &index) {
      int64_t target = start * stride[dim];
      for (size_t d = 0; d < index.size(); ++d)
        target += index[d] * stride[d];
      element.copy(position, target);
    });
    start += part->shape[dim];
  }
  return {std::move(out)};
}

Values pad(const Call &call) {
  HostValue out = call.result();
  Element fill(call[1], out), element(call[0], out);
  for (int64_t i = 0, count = out.count(); i < count; ++i)
    fill.copy(0, i);
  std::vector<int64_t> low = call.integers("edge_padding_low");
  std::vector<int64_t> interior = call.integers("interior_padding");
  std::vector<int64_t> stride = stridesOf(out.shape);
  forEachIndex(call[0].shape, [&](int64_t position, const auto &index) {
    int64_t target = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      int64_t place = low[d] + index[d] * (interior[d] + 1);
      if (place < 0 || place >= out.shape[d])
        return; // negative padding takes it away
      target += place * stride[d];
    }
    element.copy(position, target);
  });
  return {std::move(out)};
}

/// The result was zeros, and stays so where an index is -1.
Values take(const Call &call) {
  HostValue out = call.result();
  Element element(call[0], out);
  int64_t dim = call.integer("dimension");
  std::vector<int64_t> indices = call.integers("indices");
  std::vector<int64_t> stride = stridesOf(call[0].shape);
  forEachIndex(out.shape, [&](int64_t position, const auto &index) {
    int64_t source = 0;
    for (size_t d = 0; d < index.size(); ++d)
      source += (int64_t(d) == dim ? indices[index[d]] : index[d]) * stride[d];
    if (indices[index[dim]] >= 0)
      element.copy(source, position);
  });
  return {std::move(out)};
}

} // namespace

std::vector<int64_t> stridesOf(const Shape &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

void addMovementOps(OpTable &table) {
  table["dtensor.constant"] = constant;
  table["dtensor.iota"] = iota;
  table["dtensor.broadcast_in_dim"] = broadcastInDim;
  table["dtensor.reshape"] = sameElements;
  table["dtensor.relayout"] = sameElements;
  table["dtensor.constraint"] = sameElements;
  table["dtensor.transpose"] = transpose;
  table["dtensor.slice"] = slice;
  table["dtensor.concatenate"] = concatenate;
  table["dtensor.reverse"] = reverse;
  table["dtensor.pad"] = pad;
  table["dtensor.take"] = take;
}

} // namespace meshloom::interpreter
