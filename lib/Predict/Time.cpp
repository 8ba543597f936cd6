// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A roofline for each step, and the order in which steps run: work and
// collectives one after the other each, both at the same time where devices
// have links.
#include "meshloom/Predict/Predict.h"
#include "meshloom/Runtime/Plan/StepProfile.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// The iterations of the busiest device, or of all devices together.
std::vector<int64_t> extentsOf(std::span<const Loop> loops, const Mesh &mesh,
                               bool together) {
  std::vector<int64_t> extents;
  extents.reserve(loops.size());
  for (const Loop &loop : loops) {
    int64_t extent = loop.extent;
    if (!together && !loop.ranges.empty()) {
      extent = 0;
      for (const Interval &range : loop.ranges)
        extent = std::max(extent, range.size());
    } else if (!together && !loop.axes.empty()) {
      extent = blockOf(loop.extent, loop.axes, mesh, 0).size();
    }
    extents.push_back(extent);
  }
  return extents;
}

/// Bytes that a step reads and writes. A library function that updates an
/// operand in place touches no more of it than of its other operands, and one
/// with no more operations than bytes of results finds its way by indices, and
/// reads no more of an operand than it writes in all.
int64_t bytesTouched(const Program &program, const Step &step,
                     std::span<const int64_t> extents) {
  auto touched = [&](const Operand *operand) {
    return touchedBytes(*operand, program.buffers[operand->buffer].type,
                        extents);
  };
  const std::vector<const Operand *> inputs = inputsOf(step),
                                     outputs = outputsOf(step);
  const auto *kernel = std::get_if<KernelStep>(&step);
  const bool isLibrary = kernel && !kernel->library.empty();
  int64_t written = 0, read = 0, updated = 0;
  for (size_t o = 0; o < outputs.size(); ++o)
    (isLibrary && kernel->inPlace[o] >= 0 ? updated : written) +=
        touched(outputs[o]);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (isLibrary &&
        std::ranges::find(kernel->inPlace, int(i)) != kernel->inPlace.end())
      continue; // counted with the output
    const bool moves = isLibrary && flopsOf(step, extents) <= written;
    read += moves ? std::min(touched(inputs[i]), written) : touched(inputs[i]);
  }
  return read + written + std::min(2 * updated, 2 * (read + written));
}

/// How many elements a core of a host brings into order a second: on a Zen 4,
/// sorts of lines of 100 to a million f32 take 9 to 14 ns for each. Platform
/// cuda sorts on the host too.
constexpr int64_t orderedPerSecond = 100'000'000;

/// Returns how many elements a sort or top_k brings into order; 0: the step is
/// neither.
int64_t elementsOrdered(const Step &step, std::span<const int64_t> extents) {
  auto *kernel = std::get_if<KernelStep>(&step);
  if (!kernel || (kernel->library != "sort" && kernel->library != "top_k"))
    return 0;
  double lines = 1;
  std::vector<double> held;
  for (size_t l = 0; l < extents.size(); ++l)
    if (kernel->loops[l].held)
      held.push_back(double(extents[l]));
    else
      lines *= double(extents[l]);
  const double length = held.front();
  if (kernel->library == "sort")
    return int64_t(lines * length);
  // Where n elements are in random order, k (1 + ln(n / k)) are among the
  // largest k when they are read. Each takes three times as long as one of a
  // sort, and to compare an element takes a fiftieth.
  const double wanted = std::clamp(held.back(), 1.0, std::max(length, 1.0));
  const double entering =
      wanted * (1 + std::log(std::max(length, 1.0) / wanted));
  return int64_t(lines * (3 * entering + length / 50));
}

/// A loop that is one step, whose code one core runs.
struct WholeLoop {
  int64_t turns = 0; ///< -1: not known
  int64_t turnOperations = 0;
};
std::optional<WholeLoop> wholeLoopOf(const Step &step) {
  auto *kernel = std::get_if<KernelStep>(&step);
  if (!kernel || !kernel->library.empty() || !kernel->options.contains("turns"))
    return std::nullopt;
  return WholeLoop{std::get<int64_t>(kernel->options.at("turns")),
                   std::get<int64_t>(kernel->options.at("turn_operations"))};
}

class TimePredictor {
public:
  TimePredictor(const Program &program, const MachineModel &machine,
                Prediction &prediction)
      : program(program), machine(machine), prediction(prediction),
        ready(program.buffers.size()) {}

  /// Adds a list of steps that starts at `begin` and runs `runs` times; `id`:
  /// of its first step, then of what follows. Returns the end of one run.
  Cost addList(const std::vector<Step> &steps, unsigned &id, Cost begin,
               int64_t runs);

private:
  Cost addControl(const Step &step, unsigned &id, Cost begin, int64_t runs);
  /// The predicted work of one run of a step that is not control.
  PredictedStep workOf(const Step &step) const;
  void addWork(const Step &step, PredictedStep &predicted) const;
  void addCollective(const CollectiveStep &step,
                     PredictedStep &predicted) const;
  int64_t rateOf(const Step &step) const;
  Cost timeOf(Cost compute, int64_t bytes) const;
  void count(const PredictedStep &step);

  const Program &program;
  const MachineModel &machine;
  Prediction &prediction;
  std::vector<Cost> ready; ///< per buffer
  /// Until when devices and links are busy.
  Cost devicesBusy = 0, linksBusy = 0;
};

/// Operations a second of one device or worker.
int64_t TimePredictor::rateOf(const Step &step) const {
  auto orProducts = [this](int64_t rate) {
    return rate ? rate : machine.flopsPerSecond;
  };
  if (auto *dot = std::get_if<DotStep>(&step))
    return byteWidth(program.buffers[dot->lhs.buffer].type) < 4
               ? machine.flopsPerSecond
               : orProducts(machine.floatFlopsPerSecond);
  return std::get<KernelStep>(step).library.empty()
             ? orProducts(machine.kernelFlopsPerSecond)
             : orProducts(machine.floatFlopsPerSecond);
}

void TimePredictor::addWork(const Step &step, PredictedStep &predicted) const {
  const std::vector<int64_t> extents =
      extentsOf(*loopsOf(step), program.mesh, machine.sharedMemory);
  predicted.flops = flopsOf(step, extents);
  predicted.bytes = bytesTouched(program, step, extents);
  if (const std::optional<WholeLoop> loop = wholeLoopOf(step)) {
    predicted.flops = loop->turnOperations * std::max<int64_t>(1, loop->turns);
    predicted.time = machine.launch + machine.phaseBoundary +
                     timeFor(predicted.flops, rateOf(step));
    return;
  }
  const int64_t ordered = elementsOrdered(step, extents);
  predicted.time = timeOf(ordered > 0 ? timeFor(ordered, orderedPerSecond)
                                      : timeFor(predicted.flops, rateOf(step)),
                          predicted.bytes);
}

/// The roofline, and a launch.
Cost TimePredictor::timeOf(Cost compute, int64_t bytes) const {
  const bool isCached = bytes < machine.cacheBytes;
  const Cost work = std::max(
      compute, timeFor(bytes, isCached ? machine.cacheBytesPerSecond
                                       : machine.memoryBytesPerSecond));
  // Work is shared out where that is sooner over.
  const Cost shared = machine.sharedMemory
                          ? work / machine.workers + machine.phaseBoundary
                          : work;
  return machine.launch + std::min(work, shared);
}

void TimePredictor::addCollective(const CollectiveStep &step,
                                  PredictedStep &predicted) const {
  const CollectiveStep::Move &first = step.moves.front();
  const CollectiveOp op{step.kind, step.axes,
                        program.buffers[first.from].layout,
                        program.buffers[first.to].layout};
  const int64_t counted = transferBytes(program.buffers, step);
  int64_t whole = 0;
  for (const CollectiveStep::Move &move : step.moves) {
    const BufferDecl &to = program.buffers[move.to];
    whole += globalBytes(to.shape, to.type);
    predicted.bytes +=
        program.buffers[move.from].localBytes() + to.localBytes();
  }
  predicted.bytesSent =
      bytesSent(step.kind, counted, groupSize(program.mesh, step.axes));
  const bool reduces = step.kind == CollectiveKind::AllReduce ||
                       step.kind == CollectiveKind::ReduceScatter;
  if (machine.sharedMemory) {
    // Data that only moves is a view; addends are read, and a sum is written.
    predicted.bytes =
        reduces ? whole * (groupSize(program.mesh, step.axes) + 1) : 0;
    predicted.time = reduces ? timeOf(0, predicted.bytes) : 0;
  } else if (step.kind == CollectiveKind::Slice) {
    predicted.time = timeOf(0, predicted.bytes);
  } else {
    predicted.time = machine.collective(op, counted, whole);
  }
}

PredictedStep TimePredictor::workOf(const Step &step) const {
  PredictedStep predicted;
  predicted.note = noteOf(step);
  if (auto *collective = std::get_if<CollectiveStep>(&step)) {
    predicted.kind = name(collective->kind);
    addCollective(*collective, predicted);
    return predicted;
  }
  auto *kernel = std::get_if<KernelStep>(&step);
  predicted.kind = !kernel                   ? "dot"
                   : kernel->library.empty() ? "kernel"
                                             : "library call";
  addWork(step, predicted);
  return predicted;
}

/// Adds a step to the sums.
void TimePredictor::count(const PredictedStep &step) {
  const bool sends = step.bytesSent > 0;
  prediction.serialTime += step.runs * step.time;
  prediction.flops += step.runs * step.flops;
  prediction.bytes += step.runs * step.bytes;
  prediction.bytesSent += step.runs * step.bytesSent;
  (sends ? prediction.collectives : prediction.launches) += step.runs;
  if (sends)
    prediction.collectiveTime += step.runs * step.time;
}

Cost TimePredictor::addList(const std::vector<Step> &steps, unsigned &id,
                            Cost begin, int64_t runs) {
  devicesBusy = linksBusy = begin;
  for (const Step &step : steps) {
    if (isControl(step)) {
      const Cost end =
          addControl(step, id, std::max(devicesBusy, linksBusy), runs);
      devicesBusy = linksBusy = end;
      continue;
    }
    PredictedStep predicted = workOf(step);
    if (const std::optional<WholeLoop> loop = wholeLoopOf(step))
      prediction.unknownLoops += loop->turns < 0;
    predicted.step = id++;
    predicted.runs = runs;
    const bool onLinks = predicted.bytesSent > 0 && !machine.sharedMemory;
    Cost &busy = onLinks ? linksBusy : devicesBusy;
    const StepUses uses = usesOf(step);
    predicted.begin = std::max(busy, begin);
    for (unsigned buffer : uses.reads)
      predicted.begin = std::max(predicted.begin, ready[buffer]);
    busy = predicted.begin + predicted.time;
    for (unsigned buffer : uses.writes)
      ready[buffer] = busy;
    count(predicted);
    prediction.steps.push_back(std::move(predicted));
  }
  return std::max(devicesBusy, linksBusy);
}

Cost TimePredictor::addControl(const Step &step, unsigned &id, Cost begin,
                               int64_t runs) {
  ++id;
  if (auto *loop = std::get_if<LoopStep>(&step)) {
    prediction.unknownLoops += loop->tripCount < 0;
    const int64_t turns = loop->tripCount < 0 ? 1 : loop->tripCount;
    const Cost tested =
        addList(loop->condition, id, begin, runs * (turns + 1)) - begin;
    const Cost turned =
        addList(loop->body, id, begin + tested, runs * turns) - begin - tested;
    return begin + tested * (turns + 1) + turned * turns;
  }
  // Nobody knows which branch will run: each counts, and the longest one sets
  // the end.
  Cost end = begin;
  for (const std::vector<Step> &branch : std::get<BranchStep>(step).branches)
    end = std::max(end, addList(branch, id, begin, runs));
  return end;
}

/// Fails where the machine cannot have the devices of the mesh.
Status checkDevices(const Mesh &mesh, const MachineModel &machine) {
  const int64_t devices = mesh.size();
  if (machine.torus && devices != machine.torus->size())
    return Error(fmt::format("the program's mesh {} has {} devices, and the "
                             "machine {} has {}: change one of them",
                             mesh.spec_string(), devices, machine.name,
                             machine.torus->size()));
  const int64_t inHost = machine.hosts ? machine.hosts->devices : 1;
  if (devices > inHost && devices % inHost)
    return Error(fmt::format("the program's mesh {} has {} devices, and hosts "
                             "of the machine {} have {} each: expected at most "
                             "as many, or a multiple of it",
                             mesh.spec_string(), devices, machine.name,
                             inHost));
  return Success();
}
} // namespace

Result<Prediction> meshloom::predict(const Compiled &compiled,
                                     const MachineModel &machine) {
  if (!compiled.coded())
    return Error("the program '" + compiled.signature().name +
                 "' is compiled for a target that plans its steps itself, so "
                 "that its time and memory cannot be predicted: compile it for "
                 "the target cpu or cuda");
  const Program &program = compiled.program();
  if (Status ok = checkDevices(program.mesh, machine); !ok)
    return ok.error();
  Result<PredictedMemory> memory = predictMemory(program);
  if (!memory)
    return memory.error();
  Prediction prediction{.program = program.name,
                        .machine = machine.name,
                        .mesh = program.mesh,
                        .memoryLimit = machine.memoryBytes,
                        .memory = std::move(*memory),
                        .steps = {}};
  unsigned id = 0;
  prediction.time = machine.call + TimePredictor(program, machine, prediction)
                                       .addList(program.steps, id, 0, 1);
  prediction.serialTime += machine.call;
  return prediction;
}
