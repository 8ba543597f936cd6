// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layouts of arguments that a search for automatic layouts begins with.
#pragma once

#include "meshloom/Core/Layout.h"

#include <span>
#include <vector>

namespace meshloom {

/// An argument whose layout is to be found.
struct OpenArgument {
  Shape shape; ///< global
  /// A step computes its next value: a weight, or a moment of an optimizer.
  bool isState = false;
};

/// Returns the meshes that are tried for a number of devices: one axis "x", then
/// two axes "x" and "y", the smaller "y" first. There are at most 12, so that
/// numbers with many divisors take no longer: those with the smallest "y".
std::vector<Mesh> meshesOfDevices(int64_t devices);

/// Returns lists with one layout for each argument. A search that begins with
/// each of them finds what people write by hand: in every list each mesh axis
/// has one role. It cuts nothing; or the inputs along their first dim (data
/// parallelism); or the state along its largest dim (ZeRO, FSDP); or both. A
/// program without state has its inputs cut along their last dim as well. An
/// axis cuts no dim that it does not divide. The first list cuts nothing.
///
/// There are at most 64 lists, and 8 for each axis of a mesh of more than three
/// axes, of which all but one then have the same role.
std::vector<std::vector<Layout>>
layoutStarts(const Mesh &mesh, std::span<const OpenArgument> arguments);

} // namespace meshloom
