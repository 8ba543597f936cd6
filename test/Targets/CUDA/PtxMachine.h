// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A machine that runs PTX, thread by thread, and that fails where a GPU would
// do something else each time: accesses outside of allocations or at odd
// addresses, memory that a block shares and nobody has written, races, and
// barriers that some of a block's threads do not reach.
#pragma once

#include "PtxProgram.h"

#include <map>
#include <memory>
#include <vector>

namespace meshloom::ptx {

/// Finds races between threads: two accesses of a byte by different threads
/// with no barrier between them, of which one is a write. It depends on no
/// order in which threads happen to run.
class AccessLog {
public:
  explicit AccessLog(size_t bytes) : log(bytes) {}
  /// Thread `thread` reads or writes bytes in its phase `phase`. Threads, and
  /// phases, which barriers end, are counted from 1. Fails with what the other
  /// access was: "written", "read".
  Status read(size_t offset, size_t bytes, uint32_t thread, uint32_t phase);
  Status write(size_t offset, size_t bytes, uint32_t thread, uint32_t phase);
  bool isWritten(size_t offset, size_t bytes) const;

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
  /// The number of the launch that is running; accesses of others are no races
  /// with its own.
  uint32_t launch() const { return number; }
  void endLaunch() { ++number; }
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
  uint32_t number = 1;
};

struct Launch {
  unsigned blocks = 1, threads = 1;
  std::vector<uint64_t> parameters;
  /// Decides in which order blocks, and a block's threads, run.
  unsigned seed = 0;
};

/// Runs all blocks of a launch. Fails, with the line of PTX, the block and the
/// thread, on the faults above and on launches that a GPU refuses.
Status run(const Program &program, const Kernel &kernel, const Launch &launch,
           Memory &memory);

} // namespace meshloom::ptx
