// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory of one device over the steps of a program, from the plans that the
// runtime makes for devices with a memory each.
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/Runtime/Plan/ControlPlan.h"
#include "meshloom/Runtime/Plan/SeparateMemory.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
MemoryUse useOf(Memory::Kind kind) {
  switch (kind) {
  case Memory::Kind::Argument:
    return MemoryUse::Argument;
  case Memory::Kind::Constant:
    return MemoryUse::Constant;
  case Memory::Kind::Result:
    return MemoryUse::Result;
  case Memory::Kind::Scratch:
    break;
  }
  return MemoryUse::Temporary;
}

/// The moments of a program, and the tensors of the largest one.
class MemoryTimeline {
public:
  PredictedMemory memory;

  /// Adds the moments of a straight program, one an action, beside `held`
  /// bytes; `ids` are those of its steps, empty: their indices. Where one needs
  /// more than all before, its temporaries are kept.
  void addStraight(const Program &program, const SeparateMemory &planned,
                   std::span<const unsigned> ids, int64_t held);
  void addMoment(unsigned step, int64_t bytes) {
    if (!memory.profile.empty() && memory.profile.back().step == step)
      memory.profile.back().bytes =
          std::max(memory.profile.back().bytes, bytes);
    else
      memory.profile.push_back({step, bytes});
    if (bytes > mostBytes) {
      mostBytes = bytes;
      memory.peakStep = step;
      memory.atPeak.clear();
    }
  }
  int64_t most() const { return mostBytes; }

private:
  int64_t mostBytes = -1;
};

PredictedTensor tensorOf(const Program &program, const SeparateMemory &planned,
                         unsigned index) {
  const Memory &memory = planned.plan.memories[index];
  PredictedTensor tensor{
      program.buffers[planned.plan.buffers[memory.buffer].decl].name,
      useOf(memory.kind),
      memory.bytes,
      {}};
  for (const Action &action : planned.plan.actions)
    if (tensor.note.op.empty() &&
        std::ranges::any_of(action.writes, [&](unsigned buffer) {
          return planned.plan.buffers[buffer].memory == index;
        }))
      tensor.note = noteOf(program.steps[action.step]);
  return tensor;
}

void MemoryTimeline::addStraight(const Program &program,
                                 const SeparateMemory &planned,
                                 std::span<const unsigned> ids, int64_t held) {
  const size_t actions = planned.plan.actions.size();
  std::vector<int64_t> change(actions + 1);
  for (const Lifetime &life : planned.lives)
    if (life.first >= 0) {
      change[size_t(life.first)] += life.bytes;
      change[size_t(life.last) + 1] -= life.bytes;
    }
  int64_t live = held;
  const int64_t before = mostBytes;
  int mostAction = -1;
  for (size_t a = 0; a < actions; ++a) {
    live += change[a];
    const unsigned step = planned.plan.actions[a].step;
    if (live > mostBytes)
      mostAction = int(a);
    addMoment(ids.empty() ? step : ids[step], live);
  }
  if (mostBytes == before)
    return;
  for (unsigned m = 0; m < planned.lives.size(); ++m)
    if (const Lifetime &life = planned.lives[m];
        life.first >= 0 && life.first <= mostAction && mostAction <= life.last)
      memory.atPeak.push_back(tensorOf(program, planned, m));
}

Result<PredictedMemory> predictStraight(const Program &program) {
  const Result<SeparateMemory> planned = planSeparateMemory(program);
  if (!planned)
    return planned.error();
  std::vector<PredictedTensor> lasting;
  int64_t held = 0;
  for (unsigned m = 0; m < planned->plan.memories.size(); ++m)
    if (planned->plan.memories[m].kind != Memory::Kind::Scratch) {
      lasting.push_back(tensorOf(program, *planned, m));
      held += lasting.back().bytes;
    }
  MemoryTimeline timeline;
  timeline.addMoment(0, held);
  timeline.addStraight(program, *planned, {}, held);
  PredictedMemory memory = std::move(timeline.memory);
  memory.atPeak.insert(memory.atPeak.end(), lasting.begin(), lasting.end());
  memory.peakBytes = planned->peakBytes();
  return memory;
}

/// Values between the pieces of a program with loops and branches.
class BetweenPieces {
public:
  explicit BetweenPieces(const Program &program) : program(program) {
    for (const Argument &argument : program.arguments)
      uses.emplace(argument.buffer, MemoryUse::Argument);
    for (const ConstantData &constant : program.constants)
      uses.emplace(constant.buffer, MemoryUse::Constant);
    for (const ProgramResult &result : program.results)
      uses.emplace(result.buffer, MemoryUse::Result);
  }
  int64_t bytesOf(std::span<const unsigned> buffers) const {
    int64_t bytes = 0;
    for (unsigned buffer : buffers)
      bytes += bytesOf(buffer);
    return bytes;
  }
  PredictedTensor tensor(unsigned buffer) const {
    const auto use = uses.find(buffer);
    return {program.buffers[buffer].name,
            use == uses.end() ? MemoryUse::Temporary : use->second,
            bytesOf(buffer),
            {}};
  }

private:
  int64_t bytesOf(unsigned buffer) const {
    const BufferDecl &decl = program.buffers[buffer];
    return meshloom::localBytes(decl.layout, decl.shape, decl.type);
  }
  const Program &program;
  std::map<unsigned, MemoryUse> uses;
};

Result<PredictedMemory> predictControl(const Program &program) {
  const ControlPlan plan = planControl(program);
  const BetweenPieces between(program);
  std::vector<SeparateMemory> pieces;
  std::vector<PredictedTensor> constants; // of the pieces
  int64_t constantBytes = 0, scratchBytes = 0;
  for (const SubProgram &sub : plan.pieces) {
    Result<SeparateMemory> planned = planSeparateMemory(sub.program);
    if (!planned)
      return planned.error();
    scratchBytes = std::max(scratchBytes, planned->placed.peak);
    for (unsigned m = 0; m < planned->plan.memories.size(); ++m)
      if (planned->plan.memories[m].kind == Memory::Kind::Constant) {
        constants.push_back(tensorOf(sub.program, *planned, m));
        constantBytes += constants.back().bytes;
      }
    pieces.push_back(std::move(*planned));
  }
  MemoryTimeline timeline;
  std::vector<unsigned> liveAtPeak;
  int64_t mostBetween = 0;
  plan.forEachMoment(
      program, [&](const std::vector<unsigned> &live, const ControlItem &item) {
        const int64_t bytes = between.bytesOf(live), before = timeline.most();
        mostBetween = std::max(mostBetween, bytes);
        if (auto *piece = std::get_if<ControlPiece>(&item.work)) {
          const SubProgram &sub = plan.pieces[piece->index];
          timeline.addStraight(sub.program, pieces[piece->index], sub.ids,
                               constantBytes + bytes);
        } else {
          auto *loop = std::get_if<ControlLoop>(&item.work);
          timeline.addMoment(loop ? loop->id
                                  : std::get<ControlBranch>(item.work).id,
                             constantBytes + bytes);
        }
        if (timeline.most() != before)
          liveAtPeak = live;
      });
  PredictedMemory memory = std::move(timeline.memory);
  for (unsigned buffer : liveAtPeak)
    memory.atPeak.push_back(between.tensor(buffer));
  memory.atPeak.insert(memory.atPeak.end(), constants.begin(), constants.end());
  memory.peakBytes = constantBytes + scratchBytes + mostBetween;
  return memory;
}
} // namespace

Result<PredictedMemory> meshloom::predictMemory(const Program &program) {
  Result<PredictedMemory> memory = std::ranges::any_of(program.steps, isControl)
                                       ? predictControl(program)
                                       : predictStraight(program);
  if (!memory)
    return memory;
  std::ranges::stable_sort(memory->atPeak, std::greater(),
                           &PredictedTensor::bytes);
  memory->fragmentation = memory->peakBytes;
  for (const PredictedTensor &tensor : memory->atPeak)
    memory->fragmentation -= tensor.bytes;
  return memory;
}
