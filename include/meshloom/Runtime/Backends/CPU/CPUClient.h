// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The virtual CPU backend: any number of devices in this process.
#pragma once

#include "meshloom/Runtime/Client.h"

namespace meshloom {

class Communicator;
class WorkerClocks;

struct CPUOptions {
  /// Virtual devices of this process; costs nothing, 1 or 512.
  int64_t devices = 1;
  /// Their numbers: 3 of "CPU:3"; empty: 0, 1, ...
  std::vector<int64_t> numbers = {};
  /// Threads that work; 0: one per core that this process may use.
  int64_t workers = 0;
  /// Every device has its own padded buffers, every step is one call a device,
  /// and collectives copy: the program as it would run on separate devices,
  /// for checking. Else devices share memory: a value is one global array.
  bool privateMemories = false;
  /// Loading or running a program that needs more fails; 0: the machine's
  /// memory.
  int64_t memoryLimit = 0;
  /// A phase's work is cut into this many chunks; 0: chosen by cost.
  int64_t chunks = 0;
  /// Executables whose last run took as many seconds return from `execute`
  /// before the next one is over; 0: all do.
  double launchFrom = 5e-3;
  /// Connects the processes that meshes span: each process has equally many
  /// devices and runs the same programs in the same order. Null: this process
  /// is alone. Not with private memories.
  std::shared_ptr<Communicator> communicator = nullptr;
  /// One thread does the work of all workers, and these say how long runs would
  /// take with a core for each. Null: workers are threads. Only where devices
  /// share the memory of one process.
  std::shared_ptr<WorkerClocks> clocks = nullptr;
};

/// Fails on a number of devices or workers below what makes sense.
Result<std::shared_ptr<Client>> createCPUClient(const CPUOptions &options);

} // namespace meshloom
