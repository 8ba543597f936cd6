// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The devices of a client of TPUs, as the name of a machine model.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meshloom {

/// The topology of the chips at these coordinates, which are all of a
/// machine's, as tpuMachine() takes it: "v5e:2x4" for `kind` "TPU v5 lite", as
/// libtpu calls them. Nothing for kinds without public figures.
std::optional<std::string>
tpuTopology(std::string_view kind, std::span<const std::vector<int64_t>> chips);

} // namespace meshloom
