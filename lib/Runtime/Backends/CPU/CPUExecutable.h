// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of virtual CPUs, and how its straight programs are loaded: what is
// the same on all backends is in Runtime/Plan.
#pragma once

#include "Memory.h"
#include "Workers.h"

#include "meshloom/Runtime/Backends/CPU/CPUClient.h"
#include "meshloom/Runtime/Plan/Load.h"

namespace meshloom::cpu {

class CPUClient : public plan::PlanClient {
public:
  explicit CPUClient(const CPUOptions &options);
  std::string_view platform() const override { return "cpu"; }
  std::span<const Device> devices() const override { return deviceList; }
  int64_t bytesInUse() const override { return pool->inUse(); }

  using PlanClient::allocate;
  Result<plan::Block> allocate(size_t, int64_t bytes) override {
    return pool->allocate(bytes);
  }
  int64_t memoryLimit() const override { return pool->limit(); }
  bool sharesMemory() const override { return !options.privateMemories; }
  Communicator *communicator() const override {
    return options.communicator.get();
  }

  const CPUOptions options;
  const std::shared_ptr<MemoryPool> pool;
  Workers workers;

protected:
  Result<std::shared_ptr<Executable>>
  loadOn(Compiled compiled, const DeviceAssignment &assignment,
         const LoadOptions &options) override;

private:
  std::vector<Device> deviceList;
};

/// The parts of an executable of this backend besides its program.
struct CPULoad {
  std::shared_ptr<CPUClient> client;
  std::shared_ptr<const CodeSymbols> kernels; ///< may be null
  LoadOptions options;
};

/// On one memory that devices share. `order`: for tests, the order in which the
/// step graph's work runs.
Result<std::shared_ptr<plan::StraightExecutable>>
loadShared(const CPULoad &load, plan::BoundProgram program,
           std::span<const unsigned> order = {});
/// On one memory a device.
Result<std::shared_ptr<plan::StraightExecutable>>
loadPrivate(const CPULoad &load, plan::BoundProgram program);

} // namespace meshloom::cpu
