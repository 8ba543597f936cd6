// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace meshloom {

/// Returns the number of cores that this process may use, at least one: those
/// that taskset or a batch system leaves it, and no more than the time that its
/// container has.
int64_t availableCores();

/// Returns the number of whole cores, at least one, whose time Linux' control
/// groups leave a process. `membership` is the text of its /proc/self/cgroup,
/// and `root` the folder where control groups are mounted, of version 1 or 2.
/// Nothing is returned where they set no limit.
std::optional<int64_t> coresOfControlGroups(const std::string &membership,
                                            const std::filesystem::path &root);

} // namespace meshloom
