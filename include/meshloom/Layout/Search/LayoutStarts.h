// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layouts of arguments that a search for automatic layouts begins with.
#pragma once

#include "meshloom/Core/Layout.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace meshloom {

/// An argument whose layout is to be found.
struct OpenArgument {
  Shape shape; ///< global
  enum class Kind : uint8_t {
    Input,
    Weight, ///< A step computes its next value.
    Moment, ///< A weight's moment: used for next values of its shape only.
  };
  Kind kind = Kind::Input;
  /// The dim that tensor parallelism cuts.
  std::optional<unsigned> tensorParallelDim = std::nullopt;
};

/// Returns the meshes that are tried for a number of devices: one axis "x",
/// then two axes "x" and "y", the smaller "y" first. There are at most 12, so
/// that numbers with many divisors take no longer: those with the smallest "y".
std::vector<Mesh> meshesOfDevices(int64_t devices);

/// Returns the place of each of some lists of layouts among them, the best one
/// first; nothing where they cannot be compared.
using RankStarts = std::function<std::vector<size_t>(
    const std::vector<std::vector<Layout>> &)>;

/// Returns lists with one layout for each argument. A search that begins with
/// each of them finds what people write by hand: in every list each mesh axis
/// has one role. It cuts nothing; or the inputs along their first dim (data
/// parallelism); or the weights and moments along their largest dim, of several
/// the first or the last one (FSDP); or both; or the inputs and the moments
/// (ZeRO-1); or the weights and moments along the dims of tensor parallelism. A
/// program without weights has its inputs cut along their last dim as well. An
/// axis cuts no dim that it does not divide. The first list cuts nothing, and
/// the second one is data parallelism along all axes.
///
/// Where the axes can have their roles in more than 9 ways, the lists are those
/// that two descents meet, one from the first axis to the last one and one from
/// the last to the first. All axes begin with data parallelism, and each takes
/// in its turn the role that `rank` puts first, the others having theirs. So
/// there are at most 16 lists for each axis, and the first one.
std::vector<std::vector<Layout>>
layoutStarts(const Mesh &mesh, std::span<const OpenArgument> arguments,
             const RankStarts &rank);

} // namespace meshloom
