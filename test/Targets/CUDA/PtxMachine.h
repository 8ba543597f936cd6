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
#include <optional>
#include <span>
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
  explicit AccessLog(size_t bytes) : cells(bytes / largestCell + 1) {}
  /// Thread `thread`, counted from 1, reads or writes bytes. Returns what the
  /// other access of a race was, "written" or "read", or null.
  const char *read(size_t offset, size_t bytes, uint32_t thread, Phase phase);
  const char *write(size_t offset, size_t bytes, uint32_t thread, Phase phase);
  /// Returns whether all bytes have been written.
  bool isWritten(size_t offset, size_t bytes);
  /// Returns whether a byte has been written in the launch.
  bool isWrittenIn(Phase phase, size_t offset, size_t bytes);

private:
  /// The last write and the last reads of some bytes that lie together.
  struct Cell {
    uint32_t writer = 0, writePhase = 0, reader = 0, readPhase = 0;
  };
  static constexpr size_t largestCell = 8;
  /// The cells of bytes. The first access of a part of a cell makes all cells
  /// smaller.
  std::span<Cell> cellsOf(size_t offset, size_t bytes);

  std::vector<Cell> cells;
  size_t cellBytes = largestCell;
};

/// The arrays of the host that kernels may access, by address.
class Memory {
public:
  void add(void *address, size_t bytes);
  void remove(void *address);
  /// Begins a phase, which has a number that none had before.
  uint32_t beginPhase() { return ++phases; }
  /// Bytes of an array: its log, and where they begin in it.
  struct Found {
    AccessLog *log;
    size_t offset;
  };
  /// Returns nothing where the bytes are not all in one array.
  std::optional<Found> find(uint64_t address, size_t bytes);
  bool contains(uint64_t address, size_t bytes) {
    return findArray(address, bytes);
  }

private:
  struct Array {
    size_t bytes;
    std::unique_ptr<AccessLog> log; ///< made when a kernel first comes there
  };

  /// Makes `last` the array that has the bytes. Returns whether there is one.
  bool findArray(uint64_t address, size_t bytes);

  std::map<uint64_t, Array> arrays;
  /// The array that was found last, or the end.
  std::map<uint64_t, Array>::iterator last = arrays.end();
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
