// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of each op of a shard_map body, on all devices at once. Written
// from StableHLO's specification; nothing of the compiler is used.
#include "ManualDevices.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace meshloom::fuzz {

Devices::Devices(const std::vector<int64_t> &mesh)
    : sizes(mesh), strides(mesh.size()) {
  for (size_t axis = mesh.size(); axis-- > 0;) {
    strides[axis] = count;
    count *= mesh[axis];
  }
}

int64_t Devices::partOf(int64_t device,
                        const std::vector<unsigned> &axes) const {
  int64_t part = 0;
  for (unsigned axis : axes)
    part = part * sizes[axis] + coordinate(device, axis);
  return part;
}

int64_t Devices::partsOf(const std::vector<unsigned> &axes) const {
  int64_t parts = 1;
  for (unsigned axis : axes)
    parts *= sizes[axis];
  return parts;
}

namespace {
using Index = std::vector<int64_t>;

int64_t offsetOf(const Shape &shape, const Index &index) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    offset = offset * shape[d] + index[d];
  return offset;
}

/// Calls `visit` with each index of `shape`, in row-major order.
template <typename Visit> void forEach(const Shape &shape, Visit visit) {
  Index index(shape.size(), 0);
  for (int64_t i = 0, count = elementCount(shape); i < count; ++i) {
    visit(static_cast<const Index &>(index), i);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// The tensor whose elements `from` gives, by index.
template <typename From> Numbers make(Shape shape, From from) {
  Numbers result{std::move(shape), {}};
  result.elements.resize(size_t(elementCount(result.shape)));
  forEach(result.shape, [&](const Index &index, int64_t i) {
    result.elements[size_t(i)] = from(index);
  });
  return result;
}

int64_t elementAt(const Numbers &numbers, const Index &index) {
  return numbers.elements[size_t(offsetOf(numbers.shape, index))];
}

int64_t apply(const std::string &function, int64_t a, int64_t b) {
  if (function == "add")
    return a + b;
  if (function == "subtract")
    return a - b;
  if (function == "multiply")
    return a * b;
  return function == "maximum" ? std::max(a, b) : std::min(a, b);
}

/// Elements `start` to `start + size` of `dim`.
Numbers part(const Numbers &from, size_t dim, int64_t start, int64_t size) {
  Shape shape = from.shape;
  shape[dim] = size;
  return make(shape, [&](Index index) {
    index[dim] += start;
    return elementAt(from, index);
  });
}

Numbers join(const std::vector<const Numbers *> &parts, size_t dim) {
  Shape shape = parts[0]->shape;
  int64_t size = shape[dim];
  shape[dim] *= int64_t(parts.size());
  return make(shape, [&](Index index) {
    const Numbers &from = *parts[size_t(index[dim] / size)];
    index[dim] %= size;
    return elementAt(from, index);
  });
}

/// One op, once its operands are known.
class Simulation {
public:
  Simulation(const ShardMapProgram &program, const Devices &devices,
             const ManualOp &op, const std::vector<OnDevices> &values)
      : program(program), devices(devices), op(op), values(values) {}

  std::optional<OnDevices> run() {
    for (unsigned operand : op.operands)
      if (values[operand].empty())
        return std::nullopt;
    OnDevices result = isCollective() ? exchange() : onEachDevice();
    if (result.empty() || elementCount(result[0].shape) > 4000)
      return std::nullopt;
    for (Numbers &numbers : result)
      for (int64_t &element : numbers.elements) {
        if (program.isFloat && std::abs(element) > (1 << 22))
          return std::nullopt;
        element = int64_t(int32_t(uint32_t(uint64_t(element))));
      }
    return result;
  }

private:
  using Kind = ManualOp::Kind;
  bool isCollective() const { return !op.groups.empty(); }
  const Numbers &operand(int64_t device, size_t i = 0) const {
    return values[op.operands[i]][size_t(device)];
  }
  bool isDim(size_t number) const {
    return number < op.numbers.size() && op.numbers[number] >= 0 &&
           op.numbers[number] < int64_t(operand(0).shape.size());
  }

  OnDevices onEachDevice() {
    OnDevices result;
    for (int64_t device = 0; device < devices.count; ++device) {
      auto one = local(device);
      if (!one)
        return {};
      result.push_back(std::move(*one));
    }
    return result;
  }

  std::optional<Numbers> local(int64_t device);
  Numbers transposed(const Numbers &from) const;
  /// Combines the elements along the op's dim.
  Numbers reducedDim(const Numbers &from) const;
  OnDevices exchange();
  OnDevices permute();
  Numbers reduced(const std::vector<int64_t> &group) const {
    return make(operand(0).shape, [&](const Index &index) {
      int64_t total = elementAt(operand(group[0]), index);
      for (size_t i = 1; i < group.size(); ++i)
        total = int64_t(int32_t(uint32_t(uint64_t(
            apply(op.function, total, elementAt(operand(group[i]), index))))));
      return total;
    });
  }

  const ShardMapProgram &program;
  const Devices &devices;
  const ManualOp &op;
  const std::vector<OnDevices> &values;
};

Numbers Simulation::transposed(const Numbers &from) const {
  Shape shape;
  for (int64_t dim : op.numbers)
    shape.push_back(from.shape[size_t(dim)]);
  return make(shape, [&](const Index &index) {
    Index source(index.size());
    for (size_t d = 0; d < index.size(); ++d)
      source[size_t(op.numbers[d])] = index[d];
    return elementAt(from, source);
  });
}

Numbers Simulation::reducedDim(const Numbers &from) const {
  Shape shape = from.shape;
  shape.erase(shape.begin() + op.numbers[0]);
  return make(shape, [&](Index index) {
    index.insert(index.begin() + op.numbers[0], 0);
    int64_t total = elementAt(from, index);
    for (int64_t i = 1; i < from.shape[size_t(op.numbers[0])]; ++i) {
      index[size_t(op.numbers[0])] = i;
      total = int64_t(int32_t(uint32_t(
          uint64_t(apply(op.function, total, elementAt(from, index))))));
    }
    return total;
  });
}

std::optional<Numbers> Simulation::local(int64_t device) {
  switch (op.kind) {
  case Kind::Constant:
    return make(Shape(op.numbers.begin() + 1, op.numbers.end()),
                [&](const Index &) { return op.numbers[0]; });
  case Kind::AxisIndex:
    return Numbers{{}, {devices.coordinate(device, unsigned(op.numbers[0]))}};
  case Kind::Arithmetic: {
    const Numbers &lhs = operand(device), &rhs = operand(device, 1);
    if (lhs.shape != rhs.shape)
      return std::nullopt;
    return make(lhs.shape, [&](const Index &index) {
      return apply(op.function, elementAt(lhs, index), elementAt(rhs, index));
    });
  }
  case Kind::AddDim: {
    const Numbers &from = operand(device);
    size_t dim = size_t(op.numbers[0]);
    if (dim > from.shape.size())
      return std::nullopt;
    Shape shape = from.shape;
    shape.insert(shape.begin() + op.numbers[0], op.numbers[1]);
    return make(shape, [&](Index index) {
      index.erase(index.begin() + op.numbers[0]);
      return elementAt(from, index);
    });
  }
  case Kind::Expand: {
    const Numbers &from = operand(device);
    if (!isDim(0) || from.shape[size_t(op.numbers[0])] != 1)
      return std::nullopt;
    Shape shape = from.shape;
    shape[size_t(op.numbers[0])] = op.numbers[1];
    return make(shape, [&](Index index) {
      index[size_t(op.numbers[0])] = 0;
      return elementAt(from, index);
    });
  }
  case Kind::Reshape: {
    const Numbers &from = operand(device);
    if (elementCount(op.numbers) != elementCount(from.shape))
      return std::nullopt;
    return Numbers{op.numbers, from.elements};
  }
  case Kind::Transpose: {
    const Numbers &from = operand(device);
    if (op.numbers.size() != from.shape.size())
      return std::nullopt;
    return transposed(from);
  }
  case Kind::Slice:
    if (!isDim(0) ||
        op.numbers[1] + op.numbers[2] > operand(0).shape[size_t(op.numbers[0])])
      return std::nullopt;
    return part(operand(device), size_t(op.numbers[0]), op.numbers[1],
                op.numbers[2]);
  case Kind::DynamicSlice: {
    if (!isDim(0) || !operand(0, 1).shape.empty())
      return std::nullopt;
    int64_t size = operand(0).shape[size_t(op.numbers[0])];
    if (op.numbers[1] > size)
      return std::nullopt;
    int64_t start = std::clamp<int64_t>(operand(device, 1).elements[0], 0,
                                        size - op.numbers[1]);
    return part(operand(device), size_t(op.numbers[0]), start, op.numbers[1]);
  }
  case Kind::Concatenate:
    if (!isDim(0) || operand(0).shape != operand(0, 1).shape)
      return std::nullopt;
    return join({&operand(device), &operand(device, 1)}, size_t(op.numbers[0]));
  case Kind::Reverse: {
    if (!isDim(0))
      return std::nullopt;
    const Numbers &from = operand(device);
    size_t dim = size_t(op.numbers[0]);
    return make(from.shape, [&](Index index) {
      index[dim] = from.shape[dim] - 1 - index[dim];
      return elementAt(from, index);
    });
  }
  case Kind::Reduce: {
    if (!isDim(0))
      return std::nullopt;
    return reducedDim(operand(device));
  }
  default:
    return std::nullopt;
  }
}

OnDevices Simulation::permute() {
  OnDevices result(size_t(devices.count),
                   make(operand(0).shape, [](const Index &) { return 0; }));
  for (const std::vector<int64_t> &pair : op.groups)
    result[size_t(pair[1])] = operand(pair[0]);
  return result;
}

OnDevices Simulation::exchange() {
  if (op.kind == Kind::Permute)
    return permute();
  const Shape &shape = operand(0).shape;
  int64_t size = int64_t(op.groups[0].size());
  OnDevices result(static_cast<size_t>(devices.count));
  bool cuts = op.kind == Kind::ReduceScatter || op.kind == Kind::AllToAll;
  bool needsDim = cuts || op.kind == Kind::AllGather;
  if ((needsDim && !isDim(0)) || (op.kind == Kind::AllToAll && !isDim(1)) ||
      (cuts && shape[size_t(op.numbers[0])] % size != 0))
    return {};
  for (const std::vector<int64_t> &group : op.groups) {
    std::vector<const Numbers *> operands;
    for (int64_t device : group)
      operands.push_back(&operand(device));
    for (size_t place = 0; place < group.size(); ++place) {
      Numbers &here = result[size_t(group[place])];
      size_t dim = needsDim ? size_t(op.numbers[0]) : 0;
      int64_t block = needsDim ? shape[dim] / size : 0;
      switch (op.kind) {
      case Kind::AllGather:
        here = join(operands, dim);
        break;
      case Kind::AllReduce:
        here = reduced(group);
        break;
      case Kind::ReduceScatter:
        here = part(reduced(group), dim, int64_t(place) * block, block);
        break;
      case Kind::Broadcast:
        here = *operands[0];
        break;
      case Kind::AllToAll: {
        std::vector<Numbers> parts;
        std::vector<const Numbers *> list;
        parts.reserve(operands.size());
        for (const Numbers *from : operands)
          parts.push_back(part(*from, dim, int64_t(place) * block, block));
        for (const Numbers &from : parts)
          list.push_back(&from);
        here = join(list, size_t(op.numbers[1]));
        break;
      }
      default:
        return {};
      }
    }
  }
  return result;
}
} // namespace

std::optional<OnDevices> simulate(const ShardMapProgram &program,
                                  const Devices &devices, const ManualOp &op,
                                  const std::vector<OnDevices> &values) {
  return Simulation(program, devices, op, values).run();
}

OnDevices cutUp(const Devices &devices, const Numbers &global,
                const DimAxes &axes) {
  OnDevices result;
  for (int64_t device = 0; device < devices.count; ++device) {
    Numbers block = global;
    for (size_t d = 0; d < axes.size(); ++d) {
      int64_t size = global.shape[d] / devices.partsOf(axes[d]);
      block = part(block, d, devices.partOf(device, axes[d]) * size, size);
    }
    result.push_back(std::move(block));
  }
  return result;
}

Numbers putTogether(const Devices &devices, const OnDevices &blocks,
                    const DimAxes &axes) {
  const Shape &local = blocks[0].shape;
  Shape shape = local;
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] *= devices.partsOf(axes[d]);
  // The first device that has an element.
  return make(shape, [&](Index index) {
    int64_t device = 0;
    for (size_t d = 0; d < local.size(); ++d) {
      int64_t remainder = index[d] / local[d];
      for (size_t i = axes[d].size(); i-- > 0;) {
        device +=
            remainder % devices.sizes[axes[d][i]] * devices.strides[axes[d][i]];
        remainder /= devices.sizes[axes[d][i]];
      }
      index[d] %= local[d];
    }
    return elementAt(blocks[size_t(device)], index);
  });
}

bool sameAlong(const Devices &devices, const OnDevices &value, unsigned axis) {
  for (int64_t device = 0; device < devices.count; ++device) {
    int64_t first =
        device - devices.coordinate(device, axis) * devices.strides[axis];
    if (value[size_t(device)].elements != value[size_t(first)].elements)
      return false;
  }
  return true;
}

Numbers argumentOf(const ShardMapProgram &program, const Devices &devices,
                   size_t number, const Shape &local) {
  Shape shape = local;
  for (size_t d = 0; d < shape.size(); ++d)
    shape[d] *= devices.partsOf(program.in[number][d]);
  uint64_t state = program.seed * 31 + number;
  return make(shape, [&](const Index &) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return int64_t(state >> 60) - 8;
  });
}

} // namespace meshloom::fuzz
