// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call a device; collectives as copies between boxes.
#include "meshloom/Runtime/Plan/SeparateExecutable.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/NonFinite.h"
#include "meshloom/Runtime/Plan/SeparateMemory.h"
#include "meshloom/Runtime/Plan/StepProfile.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::plan;

/// Returns whether a step is a call of the host that gives all devices the
/// same: it has effects, and no device does a part of it.
static bool happensOnce(const Program &program, const Step &step) {
  const auto *kernel = std::get_if<KernelStep>(&step);
  if (!kernel)
    return false;
  const auto effects = kernel->options.find("has_effects");
  if (effects == kernel->options.end() || effects->second != LibraryOption(1))
    return false;
  return std::ranges::all_of(
             kernel->loops,
             [](const Loop &loop) { return loop.axes.empty(); }) &&
         std::ranges::all_of(kernel->outputs, [&](const Operand &output) {
           const BufferDecl &decl = program.buffers[output.buffer];
           return decl.localShape() == decl.shape;
         });
}

Status SeparateExecutable::plan() {
  devices.assign(mesh().local_indices().begin(), mesh().local_indices().end());
  for (const BufferDecl &decl : loaded.buffers)
    local.push_back(decl.localShape());
  Result<SeparateMemory> memory = planSeparateMemory(loaded);
  if (!memory)
    return memory.error();
  for (const Action &action : memory->plan.actions) {
    std::unique_ptr<BoxMove> &move = moves.emplace_back();
    once.push_back(action.kind == Action::Kind::Step &&
                   happensOnce(loaded, loaded.steps[action.step]));
    if (action.kind == Action::Kind::Step) {
      if (Status ok = prepareStep(action.step); !ok)
        return ok.error().withMessage(describe(loaded, action.step) +
                                      ok.error().message());
    } else if (action.kind == Action::Kind::Move) {
      const auto &step = std::get<CollectiveStep>(loaded.steps[action.step]);
      move = std::make_unique<BoxMove>(loaded, step, step.moves[action.part]);
    }
  }
  return setPlan(std::move(memory->plan), std::move(memory->placed.offsets),
                 memory->placed.peak);
}

DeviceCall SeparateExecutable::bind(const Action &action, size_t slot,
                                    const Frame &frame) const {
  const Step &step = loaded.steps[action.step];
  const std::vector<Loop> &loops = *loopsOf(step);
  DeviceCall call{
      slot, iterationBox(loops, loaded.mesh, devices[slot]), {}, {}};
  auto add = [&](const Operand &operand, unsigned buffer) {
    const BufferDecl &decl = loaded.buffers[operand.buffer];
    const Box held = decl.box(devices[slot]);
    const Shape dims = rowMajorStrides(local[operand.buffer]);
    const size_t first = call.strides.size();
    call.strides.resize(first + loops.size(), 0);
    int64_t element = 0;
    for (size_t d = 0; d < operand.dims.size(); ++d) {
      element += dims[d] * (operand.dims[d].offset - held.offset[d]);
      for (auto [loop, coefficient] : operand.dims[d].terms) {
        call.strides[first + loop] += dims[d] * coefficient;
        element += dims[d] * coefficient * call.iterations.offset[loop];
      }
    }
    call.operands.push_back(
        frame.address(memoryPlan().buffers[buffer].memory, slot) +
        element * byteWidth(decl.type));
  };
  const std::vector<const Operand *> inputs = inputsOf(step),
                                     outputs = outputsOf(step);
  for (size_t i = 0; i < inputs.size(); ++i)
    add(*inputs[i], action.reads[i]);
  auto *kernel = std::get_if<KernelStep>(&step);
  for (size_t o = 0; o < outputs.size(); ++o)
    if (!kernel || kernel->inPlace[o] < 0)
      add(*outputs[o], action.writes[o]);
  return call;
}

void SeparateExecutable::checkFinite(const Action &action,
                                     const DeviceCall &call,
                                     Failure &failure) const {
  const Step &step = loaded.steps[action.step];
  const std::vector<const Operand *> outputs = outputsOf(step);
  auto *kernel = std::get_if<KernelStep>(&step);
  const size_t loops = loopsOf(step)->size();
  size_t next = inputsOf(step).size();
  for (size_t o = 0; o < outputs.size(); ++o) {
    const size_t operand =
        kernel && kernel->inPlace[o] >= 0 ? size_t(kernel->inPlace[o]) : next++;
    const int64_t *strides = call.strides.data() + operand * loops;
    bool empty = false;
    for (size_t l = 0; l < loops; ++l)
      empty |= strides[l] != 0 && call.iterations.extent[l] <= 0;
    const BufferDecl &decl = loaded.buffers[outputs[o]->buffer];
    if (!empty &&
        hasNonFinite(decl.type,
                     static_cast<const char *>(call.operands[operand]),
                     call.iterations.extent.data(), strides, unsigned(loops)))
      failure.report(action.step, nonFiniteError(decl.name));
  }
}

void SeparateExecutable::forEachSlot(const std::function<void(size_t)> &body) {
  for (size_t slot = 0; slot < devices.size(); ++slot)
    body(slot);
}

void SeparateExecutable::onEachSlot(unsigned step, Failure &failure,
                                    const std::function<void(size_t)> &body) {
  forEachSlot([&](size_t slot) {
    try {
      body(slot);
    } catch (const std::exception &error) {
      failure.report(step, Error::of(error));
    }
  });
}

void SeparateExecutable::record(size_t slot, const Action &action,
                                int64_t begin) const {
  const bool copies = action.kind == Action::Kind::Copy;
  ProfileEvent event = profiled->event(copies ? ProfileEvent::Kind::Copy
                                              : ProfileEvent::Kind::Step,
                                       action.step, begin);
  event.worker = worker();
  event.devices = profiled->profiler().devices({devices[slot]});
  const Step &step = loaded.steps[action.step];
  if (copies) {
    event.bytes = 2 * memoryPlan().memoryOf(action.writes[0]).bytes;
  } else if (action.kind == Action::Kind::Move) {
    const auto &collective = std::get<CollectiveStep>(step);
    event.bytes = loaded.buffers[collective.moves[action.part].to].localBytes();
  } else {
    const std::vector<int64_t> extents =
        iterationBox(*loopsOf(step), loaded.mesh, devices[slot]).extent;
    event.flops = flopsOf(step, extents);
    for (const auto &operands : {inputsOf(step), outputsOf(step)})
      for (const Operand *operand : operands)
        event.bytes += touchedBytes(
            *operand, loaded.buffers[operand->buffer].type, extents);
  }
  profiled->profiler().add(std::move(event));
}

void SeparateExecutable::runMove(const BoxMove &move, const Action &action,
                                 const Frame &frame, Failure &failure) {
  const unsigned from = memoryPlan().buffers[action.reads[0]].memory;
  const unsigned to = memoryPlan().buffers[action.writes[0]].memory;
  auto source = [&](int64_t d) { return frame.address(from, size_t(d)); };
  onEachSlot(action.step, failure, [&](size_t slot) {
    if (move.sameAs(devices[slot]) >= 0)
      return;
    const int64_t begin = profiled ? profiled->profiler().now() : 0;
    move.fill(devices[slot], source, frame.address(to, slot));
    if (profiled)
      record(slot, action, begin);
  });
  if (!failure.any())
    onEachSlot(action.step, failure, [&](size_t slot) {
      const int64_t first = move.sameAs(devices[slot]);
      if (first < 0)
        return;
      const int64_t begin = profiled ? profiled->profiler().now() : 0;
      device->copy(slot, frame.address(to, slot),
                   frame.address(to, size_t(first)), move.localBytes);
      if (profiled)
        record(slot, action, begin);
    });
}

void SeparateExecutable::runOn(size_t slot, const Action &action,
                               const Frame &frame, Failure &failure) const {
  if (action.kind == Action::Kind::Copy) {
    const unsigned from = memoryPlan().buffers[action.reads[0]].memory;
    const unsigned to = memoryPlan().buffers[action.writes[0]].memory;
    device->copy(slot, frame.address(to, slot), frame.address(from, slot),
                 memoryPlan().memories[to].bytes);
    return;
  }
  const DeviceCall call = bind(action, slot, frame);
  if (Status ok = runStep(action.step, call); !ok)
    failure.report(action.step, ok.error());
  else if (options.checkNonFinite)
    checkFinite(action, call, failure);
}

void SeparateExecutable::shareFirst(const Action &action, const Frame &frame,
                                    Failure &failure) {
  const std::vector<const Operand *> outputs =
      outputsOf(loaded.steps[action.step]);
  onEachSlot(action.step, failure, [&](size_t slot) {
    for (size_t o = 0; slot > 0 && o < outputs.size(); ++o) {
      const unsigned memory = memoryPlan().buffers[action.writes[o]].memory;
      device->copy(slot, frame.address(memory, slot), frame.address(memory, 0),
                   loaded.buffers[outputs[o]->buffer].localBytes());
    }
  });
}

Result<Event> SeparateExecutable::runActions(const Frame &frame) {
  for (const Frame::OldValue &old : frame.oldValues) {
    const int64_t begin = profiled ? profiled->profiler().now() : 0;
    device->copy(old.slot, old.to, old.from.get(), old.bytes);
    if (profiled)
      recordOldValue(worker(), old.bytes, begin);
  }
  Failure failure;
  for (size_t a = 0; a < moves.size() && !failure.any(); ++a) {
    const Action &action = memoryPlan().actions[a];
    if (action.kind == Action::Kind::Move) {
      runMove(*moves[a], action, frame, failure);
      continue;
    }
    onEachSlot(action.step, failure, [&](size_t slot) {
      if (once[a] && slot > 0)
        return;
      const int64_t begin = profiled ? profiled->profiler().now() : 0;
      runOn(slot, action, frame, failure);
      if (profiled)
        record(slot, action, begin);
    });
    if (once[a] && !failure.any())
      shareFirst(action, frame, failure);
  }
  if (failure.any())
    return failure.error(loaded);
  return Event();
}
