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

struct TouchedBytes {
  int64_t total = 0;
  /// Bytes that are written where they are not read. A processor reads their
  /// lines first, unless it has them.
  int64_t writtenOnly = 0;
};

/// Bytes that a step reads and writes. A library function that updates an
/// operand in place touches no more of it than of its other operands, and one
/// with no more operations than bytes of results finds its way by indices, and
/// reads no more of an operand than it writes in all.
TouchedBytes bytesTouched(const Program &program, const Step &step,
                          std::span<const int64_t> extents) {
  auto touched = [&](const Operand *operand) {
    return touchedBytes(*operand, program.buffers[operand->buffer].type,
                        extents);
  };
  const std::vector<const Operand *> inputs = inputsOf(step),
                                     outputs = outputsOf(step);
  const auto *kernel = std::get_if<KernelStep>(&step);
  const bool isLibrary = kernel && !kernel->library.empty();
  int64_t written = 0, read = 0, updated = 0, writtenOnly = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const int64_t bytes = touched(outputs[o]);
    const bool isInPlace = kernel && kernel->inPlace[o] >= 0;
    (isLibrary && isInPlace ? updated : written) += bytes;
    writtenOnly += isInPlace ? 0 : bytes;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (isLibrary &&
        std::ranges::find(kernel->inPlace, int(i)) != kernel->inPlace.end())
      continue; // counted with the output
    const bool moves = isLibrary && flopsOf(step, extents) <= written;
    read += moves ? std::min(touched(inputs[i]), written) : touched(inputs[i]);
  }
  return {read + written + std::min(2 * updated, 2 * (read + written)),
          writtenOnly};
}

/// Returns the time in which a core of a host brings the elements of a sort or
/// top_k into order; 0: the step is neither. Platform cuda sorts on the host
/// too. Where `machine` does not say how long a unit of that takes, it is the
/// time that a Zen 4 takes for f32.
Cost orderingTime(const Step &step, std::span<const int64_t> extents,
                  const MachineModel &machine) {
  auto *kernel = std::get_if<KernelStep>(&step);
  if (!kernel || (kernel->library != "sort" && kernel->library != "top_k"))
    return 0;
  auto unit = [&machine](const char *name, Cost usual) {
    const auto found = machine.ordering.find(name);
    return double(found == machine.ordering.end() ? usual : found->second);
  };
  double lines = 1;
  std::vector<double> held;
  for (size_t l = 0; l < extents.size(); ++l)
    if (kernel->loops[l].held)
      held.push_back(double(extents[l]));
    else
      lines *= double(extents[l]);
  const double length = std::max(held.front(), 1.0);
  // Long lines are sorted by digits, short ones are merged.
  constexpr double longLine = 512;
  if (kernel->library == "sort")
    return Cost(lines * length *
                (length < longLine ? unit("merge", 1'500) * std::log2(length)
                                   : unit("sort", 10'000)));
  // Where n elements are in random order, k (1 + ln(n / k)) are among the
  // largest k when they are read. All are compared, in vectors.
  constexpr double comparison = 280;
  const double wanted = std::clamp(held.back(), 1.0, length);
  const double entering = wanted * (1 + std::log(length / wanted));
  return Cost(lines * (entering * unit("top_k", 20'000) + length * comparison));
}

/// The picoseconds in which a core of a host does a unit of what interpreted
/// kernels do beside their machine code's work (KernelAccess.h:
/// interpretedCost).
constexpr Cost interpretedUnit = 100;

/// Returns an option that is a number, if the step has it.
std::optional<int64_t> numberOf(const Step &step, const char *option) {
  const auto *kernel = std::get_if<KernelStep>(&step);
  if (!kernel || !kernel->options.contains(option))
    return std::nullopt;
  const auto *number = std::get_if<int64_t>(&kernel->options.at(option));
  return number ? std::optional(*number) : std::nullopt;
}

/// The bytes of a register, of which one operation computes all lanes.
constexpr int64_t registerBytes = 64;

/// Returns the time in which a core of a host ends a kernel's lines: elements
/// that follow one another in all operands. Code computes four registers at a
/// time; those that a line has beyond that are computed one after the other, so
/// that operations wait for one another. Short lines are computed side by side;
/// where they are reduced, the sums of each are half of an end.
Cost lineEnds(const KernelStep &kernel, std::span<const int64_t> extents) {
  constexpr int64_t shortLine = 8, together = 4 * registerBytes / sizeof(float);
  constexpr Cost end = 1500, operation = 170;
  auto breaksRun = [](const Operand &operand, unsigned inner) {
    return operand.dependsOn(inner - 1) != operand.dependsOn(inner) ||
           (operand.dependsOn(inner) && !operand.dims.back().dependsOn(inner));
  };
  auto areOneRun = [&](unsigned inner) {
    auto breaks = [&](const Operand &operand) {
      return breaksRun(operand, inner);
    };
    return std::ranges::none_of(kernel.inputs, breaks) &&
           std::ranges::none_of(kernel.outputs, breaks);
  };
  int64_t length = 1, lines = 1;
  bool isLine = true;
  for (auto loop = unsigned(extents.size()); loop-- > 0;) {
    isLine &= loop + 1 == extents.size() || areOneRun(loop + 1);
    (isLine ? length : lines) *= extents[loop];
  }
  if (lines == 1 || length == 1 || length % together == 0)
    return 0;
  const Cost ends = lines * (end + operation * kernel.flops);
  if (length > shortLine)
    return ends;
  return kernel.loops.back().reduction ? ends / 2 : 0;
}

/// The picoseconds in which a core of a host brings an element into order that
/// a kernel of much work reads across the lines of an operand.
constexpr Cost acrossLines = 1500;

/// Returns how many elements those are. Kernels of little work move them in
/// registers.
int64_t elementsAcross(const KernelStep &kernel,
                       std::span<const int64_t> extents) {
  constexpr int64_t muchWork = 16;
  if (kernel.flops < muchWork || kernel.loops.size() < 2)
    return 0;
  const auto inner = unsigned(kernel.loops.size() - 1);
  int64_t elements = 0;
  for (const Operand &input : kernel.inputs)
    if (input.dims.size() > 1 && input.dependsOn(inner) &&
        !input.dims.back().dependsOn(inner))
      elements += touchedBytes(input, DType::I8, extents);
  return elements;
}

/// Returns the operations of a loop that is one step, whose code one core runs.
std::optional<int64_t> wholeLoopOperations(const Step &step) {
  const std::optional<int64_t> turns = numberOf(step, "turns"),
                               operations = numberOf(step, "turn_operations");
  if (!turns || !operations)
    return std::nullopt;
  return *operations * std::max<int64_t>(1, *turns);
}

/// Returns how many neighbours in its result a product or convolution computes
/// side by side.
int64_t rowLength(const Step &step, std::span<const int64_t> extents) {
  if (const auto *dot = std::get_if<DotStep>(&step)) {
    int64_t length = 1;
    if (!dot->out.dims.empty())
      for (auto [loop, coefficient] : dot->out.dims.back().terms)
        length *= extents[loop];
    return length;
  }
  const auto loop = size_t(numberOf(step, "output_feature_loop").value_or(-1));
  return loop < extents.size() ? extents[loop] : 1;
}

/// Returns how much longer a product or convolution takes because rows of its
/// result do not fill registers of 64 bytes. The last register of a row has
/// idle lanes, and its loads and stores are masked, which takes half as long as
/// its multiplications. The operand that all registers of a row share takes a
/// quarter of a register's time.
double idleLanes(const Program &program, const Step &step,
                 std::span<const int64_t> extents) {
  constexpr double masked = 0.5, shared = 0.25;
  const int64_t length = rowLength(step, extents);
  if (length < 1)
    return 1;
  const Operand &out = *outputsOf(step).front();
  // Narrow numbers are multiplied in 32 bits.
  const int64_t lanes =
      registerBytes /
      std::max<int64_t>(4, byteWidth(program.buffers[out.buffer].type));
  const double registers = double((length + lanes - 1) / lanes) +
                           (length % lanes ? masked : 0) + shared;
  return registers * double(lanes) / double(length);
}

/// A batch of products of matrices.
struct ProductBatch {
  int64_t count = 1, rows = 1, columns = 1, terms = 1;
  /// The right operand lies along its terms.
  bool isTransposed = false;

  ProductBatch(const DotStep &dot, std::span<const int64_t> extents) {
    for (unsigned l = 0; l < extents.size(); ++l) {
      const bool isOfLhs = dot.lhs.dependsOn(l), isOfRhs = dot.rhs.dependsOn(l);
      (dot.loops[l].reduction ? terms
       : isOfLhs && isOfRhs   ? count
       : isOfLhs              ? rows
                              : columns) *= extents[l];
      isTransposed |= dot.loops[l].reduction && !dot.rhs.dims.empty() &&
                      dot.rhs.dims.back().dependsOn(l);
    }
  }
  /// Returns how many times a product begins: small ones are computed by one
  /// call (ProductBatches.h).
  int64_t begins() const {
    constexpr int64_t smallProduct = 4096, smallTerms = 256;
    return rows * columns * terms <= smallProduct && terms <= smallTerms
               ? 1
               : count;
  }
};

/// Returns how much longer a product of few rows takes that reads the rows of
/// its right operand where they are (PanelProduct.cpp), if these do not begin
/// at registers: loads cross the lines of the cache.
double splitLoads(const Program &program, const DotStep &dot,
                  std::span<const int64_t> extents) {
  constexpr int64_t fewRows = 168;
  constexpr double crossed = 1.15;
  const ProductBatch batch(dot, extents);
  const BufferDecl &rhs = program.buffers[dot.rhs.buffer];
  const int64_t rowBytes =
      rhs.shape.empty() ? 0 : rhs.shape.back() * byteWidth(rhs.type);
  return !batch.isTransposed && batch.rows <= fewRows &&
                 batch.columns > registerBytes && rowBytes % registerBytes
             ? crossed
             : 1;
}

/// The picoseconds in which a core of a host turns an element of a right
/// operand that lies along its terms.
constexpr Cost turnedElement = 400;

/// Returns whether a step is a product of matrices or a convolution, which
/// brings operands into order. A product of a matrix and a vector does not.
bool isPacked(const Step &step, std::span<const int64_t> extents) {
  if (const auto *dot = std::get_if<DotStep>(&step)) {
    const ProductBatch batch(*dot, extents);
    return batch.rows > 1 && batch.columns > 1;
  }
  const auto *kernel = std::get_if<KernelStep>(&step);
  return kernel && kernel->library == "convolution";
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
  Cost launchOf(const Step &step) const;
  Cost memoryTime(const TouchedBytes &bytes) const;
  Cost workTime(const Step &step, std::span<const int64_t> extents,
                int64_t flops, const TouchedBytes &bytes) const;
  Cost kernelTime(const Step &step, std::span<const int64_t> extents) const;
  Cost sharedTime(Cost work) const;
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
  const TouchedBytes bytes = bytesTouched(program, step, extents);
  predicted.flops = flopsOf(step, extents);
  predicted.bytes = bytes.total;
  if (const std::optional<int64_t> operations = wholeLoopOperations(step)) {
    predicted.flops = *operations;
    predicted.time = machine.launch + machine.phaseBoundary +
                     timeFor(predicted.flops, rateOf(step));
    return;
  }
  const int64_t interpreted =
      machine.sharedMemory ? numberOf(step, "interpreted").value_or(0) : 0;
  predicted.time = launchOf(step) +
                   sharedTime(workTime(step, extents, predicted.flops, bytes) +
                              interpreted * interpretedUnit);
}

/// Returns the time that a step takes beside its work.
Cost TimePredictor::launchOf(const Step &step) const {
  if (std::holds_alternative<DotStep>(step))
    return machine.productLaunch ? machine.productLaunch : machine.launch;
  const auto *kernel = std::get_if<KernelStep>(&step);
  const auto found = kernel ? machine.libraryLaunch.find(kernel->library)
                            : machine.libraryLaunch.end();
  return found == machine.libraryLaunch.end() ? machine.launch : found->second;
}

/// Returns the time in which bytes are read and written. The cache has all of
/// them where it holds them. If there are more, the last ones drive out the
/// first ones before these are read again: twice as many find nothing there.
/// Lines that are not there are read before they are written.
Cost TimePredictor::memoryTime(const TouchedBytes &bytes) const {
  const int64_t cached =
      std::clamp<int64_t>(2 * machine.cacheBytes - bytes.total, 0, bytes.total);
  int64_t uncached = bytes.total - cached;
  if (machine.sharedMemory && bytes.total > 0)
    uncached += int64_t(double(bytes.writtenOnly) * double(uncached) /
                        double(bytes.total));
  return timeFor(cached, machine.cacheBytesPerSecond) +
         timeFor(uncached, machine.memoryBytesPerSecond);
}

/// Returns the time of the work on one core: the roofline, or for products on
/// machines that pack operands, the sum of both.
Cost TimePredictor::workTime(const Step &step, std::span<const int64_t> extents,
                             int64_t flops, const TouchedBytes &bytes) const {
  const Cost memory = memoryTime(bytes);
  if (const Cost ordering = orderingTime(step, extents, machine); ordering > 0)
    return std::max(ordering, memory);
  if (machine.packBytesPerSecond == 0 || !isPacked(step, extents))
    return std::max(timeFor(flops, rateOf(step)), memory) +
           kernelTime(step, extents);
  const auto *dot = std::get_if<DotStep>(&step);
  double longer = idleLanes(program, step, extents);
  if (dot)
    longer *= splitLoads(program, *dot, extents);
  Cost time = timeFor(int64_t(double(flops) * longer), rateOf(step)) +
              timeFor(bytes.total, machine.packBytesPerSecond);
  if (dot) {
    const ProductBatch batch(*dot, extents);
    time += (batch.begins() - 1) * (launchOf(step) - machine.launch) / 2;
    if (batch.isTransposed)
      time += turnedElement * batch.count * batch.columns * batch.terms;
  }
  return time;
}

/// Returns the time that kernels of a host take for the ends of lines, and for
/// operands that they read across their lines.
Cost TimePredictor::kernelTime(const Step &step,
                               std::span<const int64_t> extents) const {
  const auto *kernel = std::get_if<KernelStep>(&step);
  if (!machine.sharedMemory || !kernel || !kernel->library.empty())
    return 0;
  return lineEnds(*kernel, extents) +
         acrossLines * elementsAcross(*kernel, extents);
}

/// Returns the time of work that is shared out where that is sooner over.
Cost TimePredictor::sharedTime(Cost work) const {
  if (!machine.sharedMemory)
    return work;
  return std::min(work, work / machine.workers + machine.phaseBoundary);
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
    // One worker computes whole sums.
    const bool hasAddends = reduces && machine.workers > 1;
    predicted.bytes =
        hasAddends ? whole * (groupSize(program.mesh, step.axes) + 1) : 0;
    predicted.time =
        hasAddends ? machine.launch + sharedTime(memoryTime({predicted.bytes}))
                   : 0;
  } else if (step.kind == CollectiveKind::Slice) {
    predicted.time = machine.launch + memoryTime({predicted.bytes});
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
    prediction.unknownLoops += numberOf(step, "turns").value_or(0) < 0;
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
