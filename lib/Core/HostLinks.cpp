// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The links of mesh axes whose devices are in hosts.
#include "meshloom/Core/HostLinks.h"

#include <algorithm>
#include <bit>

using namespace meshloom;

AxisLink HostLinks::link(const Mesh &mesh, unsigned axis) const {
  const int64_t size = mesh.axis_size(axis);
  int64_t stride = 1; // between neighbours along the axis
  for (unsigned minor = axis + 1; minor < mesh.axes().size(); ++minor)
    stride *= mesh.axis_size(minor);
  const int64_t members =
      std::clamp<int64_t>(devices / std::max<int64_t>(stride, 1), 1, size);
  const int64_t groups = (size + members - 1) / members;

  AxisLink link = groups == 1 ? inside : between;
  if (groups > 1 && members > 1) {
    // Each member sends its part of the data between hosts.
    const double slowness =
        1 / double(inside.bytesPerSecond) +
        1 / (double(between.bytesPerSecond) * double(members));
    link.bytesPerSecond = std::max<int64_t>(1, int64_t(1 / slowness));
    // This part of the data that a member sends leaves its host.
    const double leaving = double(size - members) / double(size - 1);
    link.allToAllBytesPerSecond =
        std::max<int64_t>(1, int64_t(double(between.bytesPerSecond) / leaving));
  }
  const auto doublings = int64_t(std::bit_width(uint64_t(groups - 1)));
  link.latency = latency + 2 * ((members - 1) * inside.latency +
                                doublings * between.latency);
  return link;
}
