// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostLinks: the links of devices in hosts, with fast links inside of a host
// and slow ones between hosts.
#pragma once

#include "meshloom/Core/AxisLink.h"
#include "meshloom/Core/Mesh.h"

namespace meshloom {

/// Devices 0 to `devices` - 1 of a mesh are in its first host, the next as many
/// in the second one, and so on.
///
/// Example: hosts of 8 devices and a mesh <data=16, model=8>. Members along
/// model are in one host. Members along data are in a host each. The axis of a
/// mesh <x=64> is in part inside of hosts and in part between them: a
/// collective works inside, between hosts on an eighth of the data, and inside
/// again.
struct HostLinks {
  int64_t devices = 8; ///< in one host
  /// `latency` is that of one hop.
  AxisLink inside, between;
  /// The time that a collective takes beside its hops.
  Cost latency = 0;

  /// The link of `mesh` along one of its axes, all groups of the axis at the
  /// same time. Its latency is that of a tree: one hop after the other inside
  /// of a host, and log2 of the hosts between them, up and down.
  AxisLink link(const Mesh &mesh, unsigned axis) const;

  bool operator==(const HostLinks &) const = default;
};

} // namespace meshloom
