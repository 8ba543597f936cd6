// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A machine that runs PTX, thread by thread, and that fails where a GPU would
// do something else each time: accesses outside of allocations or at odd
// addresses, memory that a block shares and nobody has written, races, and
// barriers that some of a block's threads do not reach.
#pragma once

#include "PtxProgram.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace meshloom::ptx {

/// When an access happens: in the phase `now`, where the first phase of its
/// launch is `launch`, and that of its block is `block`. Barriers and blocks
/// end phases, which are counted from 1.
struct Phase {
  uint32_t launch = 1, block = 1, now = 1;
};

/// Finds races between threads: two accesses of a byte by different threads of
/// a launch, of which one is a write, with no barrier of their block between
/// them. It depends on no order in which threads happen to run.
class AccessLog {
public:
  explicit AccessLog(size_t bytes) : log(bytes) {}
  /// Thread `thread`, counted from 1, reads or writes bytes. Fails with what
  /// the other access was: "written", "read".
  Status read(size_t offset, size_t bytes, uint32_t thread, Phase phase);
  Status write(size_t offset, size_t bytes, uint32_t thread, Phase phase);
  /// Returns whether all bytes have been written.
  bool isWritten(size_t offset, size_t bytes) const;
  /// Returns whether a byte has been written in the launch.
  bool isWrittenIn(Phase phase, size_t offset, size_t bytes) const;

private:
  /// The last write and the last reads of a byte.
  struct Byte {
    uint32_t writer = 0, writePhase = 0, reader = 0, readPhase = 0;
  };
  std::vector<Byte> log;
};

/// The arrays of the host that kernels may access, by address.
class Memory {
public:
  void add(void *address, size_t bytes);
  void remove(void *address);
  /// Begins a phase, which has a number that none had before.
  uint32_t beginPhase() { return ++phases; }
  /// Null where the bytes are not all in one array.
  char *find(uint64_t address, size_t bytes);
  /// The log of an array that has the byte at `address`, and the byte's offset
  /// in it.
  std::pair<AccessLog *, size_t> logOf(uint64_t address);

private:
  struct Array {
    size_t bytes;
    std::unique_ptr<AccessLog> log; ///< made when a kernel first comes there
  };
  /// The last array that does not begin behind `address`, or the end.
  std::map<uint64_t, Array>::iterator arrayAt(uint64_t address);

  std::map<uint64_t, Array> arrays;
  uint32_t phases = 0;
};

/// Counts the bytes of arrays that threads ask for, and the sectors of 32 bytes
/// that warps ask for, which a GPU moves. Threads of a warp that run an
/// instruction equally often run it together.
struct Traffic {
  uint64_t bytes = 0, sectors = 0;
};

struct Launch {
  unsigned blocks = 1, threads = 1;
  std::vector<uint64_t> parameters;
  /// Decides in which order blocks, and a block's threads, run.
  unsigned seed = 0;
  /// Where it is given, what the launch moves is added to it.
  Traffic *traffic = nullptr;
  /// Sets the value of a condition; false: there is none of this handle.
  std::function<bool(uint64_t handle, uint32_t value)> setCondition = {};
};

/// Runs all blocks of a launch. Fails, with the line of PTX, the block and the
/// thread, on the faults above and on launches that a GPU refuses.
Status run(const Program &program, const Kernel &kernel, const Launch &launch,
           Memory &memory);

} // namespace meshloom::ptx
