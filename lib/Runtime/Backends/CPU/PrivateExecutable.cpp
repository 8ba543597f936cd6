// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Program with a memory per device, step by step: kernels and dots are called
// once a device, collectives copy. It runs what separate devices would run, and
// so checks what the shared-memory plan makes of the same Program.
#include "CPUExecutable.h"

#include "meshloom/Runtime/Library/HostCall.h"
#include "meshloom/Runtime/Plan/SeparateExecutable.h"

using namespace meshloom;
using namespace meshloom::cpu;

namespace {
class PrivateExecutable : public plan::SeparateExecutable {
public:
  PrivateExecutable(const CPULoad &load, plan::BoundProgram program)
      : SeparateExecutable(load.client, std::move(program), load.options),
        cpus(*load.client), kernels(load.kernels), calls(loaded.steps.size()) {}
  int64_t cores() const override { return cpus.workers.count(); }

private:
  Status prepareStep(unsigned step) override {
    auto call =
        library::HostCall::make(loaded, loaded.steps[step], kernels.get());
    if (!call)
      return call.error();
    calls[step] = std::move(*call);
    return Success();
  }
  Status runStep(unsigned step, const plan::DeviceCall &call) const override {
    library::SingleThreaded guard;
    return calls[step].run(call.operands.data(), call.strides.data(),
                           call.iterations.offset.data(),
                           call.iterations.extent.data());
  }
  void forEachSlot(const std::function<void(size_t)> &body) override {
    Workers::forEach(int64_t(device->slots(mesh())),
                     [&](int64_t slot) { body(size_t(slot)); });
  }
  int64_t worker() const override { return cpus.workers.index(); }
  Result<Event> runActions(const Frame &frame) override {
    Result<Event> done = Event();
    cpus.workers.visit([&] { done = SeparateExecutable::runActions(frame); });
    return done;
  }

  CPUClient &cpus; ///< `device`, which the executable keeps alive
  const std::shared_ptr<const CodeSymbols> kernels;
  std::vector<library::HostCall> calls; ///< per step
};
} // namespace

Result<std::shared_ptr<plan::StraightExecutable>>
cpu::loadPrivate(const CPULoad &load, plan::BoundProgram program) {
  return plan::planned(
      std::make_shared<PrivateExecutable>(load, std::move(program)));
}
