// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that change files, instead of the C library's, which go wrong when they
// are told to: the process dies, the call fails, or the power does, which takes
// with it whatever no fsync had brought to the disk.
#pragma once

#include <cstdint>
#include <filesystem>

namespace meshloom::test {

/// The ways in which a call goes wrong.
enum class Fault : uint8_t {
  Death, ///< before the call; of a write after half of its bytes
  Power, ///< the same, and what was not synced is undone
  Error  ///< the call fails with EIO, and those after it do not
};

/// The exit status of a process that dies of a fault.
constexpr int diedOfFault = 42;

/// From now on the call of this number, counted from 1, goes wrong; counted are
/// calls of write, fsync, rename, unlink, rmdir, mkdir and of open where it
/// makes a file or opens a folder. `aside`: a folder of the same file system,
/// for what a power failure brings back.
void injectFault(Fault fault, int64_t call, const std::filesystem::path &aside);
/// No more. Gives how many calls were counted.
int64_t endFaults();

} // namespace meshloom::test
