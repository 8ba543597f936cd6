// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The results of a shard_map body, computed device by device.
#pragma once

#include "ShardMap.h"

namespace meshloom::fuzz {

/// A tensor of whole numbers.
struct Numbers {
  Shape shape;
  std::vector<int64_t> elements;
};
/// One on each device; all have the same shape.
using OnDevices = std::vector<Numbers>;

/// The devices of a mesh, in row-major order of its axes.
struct Devices {
  explicit Devices(const std::vector<int64_t> &mesh);
  int64_t count = 1;
  std::vector<int64_t> sizes, strides;
  int64_t coordinate(int64_t device, unsigned axis) const {
    return device / strides[axis] % sizes[axis];
  }
  /// Which of the parts that `axes` cut a dim into `device` has.
  int64_t partOf(int64_t device, const std::vector<unsigned> &axes) const;
  int64_t partsOf(const std::vector<unsigned> &axes) const;
};

/// The result of `op`, or nothing where it does not fit its operands or where
/// an element is too large to be exact.
std::optional<OnDevices> simulate(const ShardMapProgram &program,
                                  const Devices &devices, const ManualOp &op,
                                  const std::vector<OnDevices> &values);
/// A global value's blocks, and back.
OnDevices cutUp(const Devices &devices, const Numbers &global,
                const DimAxes &axes);
Numbers putTogether(const Devices &devices, const OnDevices &blocks,
                    const DimAxes &axes);
/// Returns whether all devices that differ along `axis` only have the same.
bool sameAlong(const Devices &devices, const OnDevices &value, unsigned axis);
/// Argument `number` of a program, whole.
Numbers argumentOf(const ShardMapProgram &program, const Devices &devices,
                   size_t number, const Shape &local);

} // namespace meshloom::fuzz
