// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which addends of partial values are kept apart, which are merged.
#include "meshloom/Runtime/Plan/Shared/Addends.h"

#include "Grids.h"

#include "meshloom/Runtime/Library/HostCall.h"
#include "meshloom/Runtime/Plan/Components.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// Work below this many iterations is not worth a second chunk.
constexpr int64_t SMALL_REDUCTION = 1 << 14;

class UnionFind {
public:
  explicit UnionFind(size_t n) : parent(n) {
    std::iota(parent.begin(), parent.end(), 0u);
  }
  unsigned find(unsigned x) {
    while (parent[x] != x)
      x = parent[x] = parent[parent[x]];
    return x;
  }
  void join(unsigned a, unsigned b) { parent[find(a)] = find(b); }

private:
  std::vector<unsigned> parent;
};

/// Whether `loops` is cut over an axis of `axes` in a loop of the given kind.
bool isCut(const std::vector<Loop> &loops, const std::vector<unsigned> &axes,
           bool reduction) {
  for (const Loop &loop : loops)
    if (loop.reduction == reduction)
      for (unsigned axis : loop.axes)
        if (std::find(axes.begin(), axes.end(), axis) != axes.end())
          return true;
  return false;
}

/// The least iterations of parallel loop `loop` that make a good chunk: rows of
/// matrices should not get short, nor products narrow, nor what a kernel
/// computes in vectors: neighbours of a vector that nothing reads elsewhere.
/// One product of a batch of products is enough.
int64_t goodChunk(const Step &step, unsigned loop) {
  auto alongRows = [loop](const Operand &operand) {
    return operand.dims.size() > 1 && operand.dims.back().dependsOn(loop);
  };
  if (auto *dot = std::get_if<DotStep>(&step))
    return alongRows(dot->out)                 ? SHORT_ROW
           : sideOf(*dot, loop) == Side::Batch ? 1
                                               : 8;
  bool areNeighbours = true;
  for (const auto &operands : {inputsOf(step), outputsOf(step)})
    for (const Operand *operand : operands) {
      if (alongRows(*operand))
        return SHORT_ROW;
      areNeighbours &=
          !operand->dependsOn(loop) || operand->dims.back().dependsOn(loop);
    }
  return areNeighbours ? SHORT_ROW : 1;
}

/// Whether two of a product's parallel loops make as many good chunks as are
/// wanted, where those are more than addends that cost nothing.
bool isCutAlongTwo(const Step &step, const std::vector<Loop> &loops,
                   int64_t chunks) {
  if (chunks <= FEW_ADDENDS || !std::holds_alternative<DotStep>(step))
    return false;
  int64_t widest = 1, next = 1;
  for (unsigned l = 0; l < loops.size(); ++l)
    if (!loops[l].reduction) {
      next = std::max(next, loops[l].extent / goodChunk(step, l));
      if (next > widest)
        std::swap(next, widest);
    }
  return widest * next >= chunks;
}

/// The bytes that this process has of what operands name.
int64_t bytesHere(const Program &program,
                  const std::vector<const Operand *> &operands,
                  const MeshProcesses &processes) {
  int64_t bytes = 0;
  for (const Operand *operand : operands) {
    const BufferDecl &decl = program.buffers[operand->buffer];
    bytes +=
        processes.hullOf(decl, processes.self).count() * byteWidth(decl.type);
  }
  return bytes;
}

/// The most addends, from `most` down, that take less than `bytes` together.
int64_t addendsThatPay(int64_t most, int64_t least, int64_t addendBytes,
                       int64_t bytes) {
  // They are written and read once more.
  while (most > least && 2 * most * addendBytes > bytes)
    most /= 2;
  return most;
}

/// The loops with the extents that this process runs; nothing where that is not
/// one box.
std::optional<std::vector<Loop>> loopsHere(std::vector<Loop> loops,
                                           const MeshProcesses &processes) {
  if (!processes.several())
    return loops;
  const auto pieces =
      iterationPieces(loops, processes.mesh, processes.devicesHere());
  if (!pieces || pieces->size() != 1)
    return std::nullopt;
  for (size_t l = 0; l < loops.size(); ++l)
    loops[l].extent = pieces->front().box.extent[l];
  return loops;
}

/// Whether addends can be merged into one a process: every one has addends of
/// the same elements, and makes all of each in one call.
bool canMerge(const std::vector<Loop> &loops, const MeshProcesses &processes) {
  if (!processes.aligned())
    return false;
  // Each process runs the same box of the mesh, moved: one process stands for
  // all except where shards are uneven.
  for (int64_t process = 0; process < processes.count; ++process) {
    if (!iterationPieces(loops, processes.mesh, processes.devicesOf(process)))
      return false;
  }
  return true;
}

/// The loop over the outermost dim of a large array that a step reduces along
/// that dim and the innermost one: its chunks are read in order, those of a dim
/// between them in short pieces. (Twice as fast, where memory gives 30 GB/s.)
std::optional<unsigned> loopInOrder(const Program &program,
                                    const KernelStep &step,
                                    const std::vector<Loop> &loops,
                                    int64_t chunks) {
  constexpr int64_t largeInput = int64_t(1) << 22; // bytes
  if (!library::propertiesOf(step.library).isReduction)
    return std::nullopt;
  const Operand &input = step.inputs[0];
  const BufferDecl &decl = program.buffers[input.buffer];
  auto isReduced = [&](const DimAccess &dim) {
    return dim.terms.size() == 1 && loops[dim.terms[0].first].reduction;
  };
  if (input.dims.size() < 3 || !isReduced(input.dims.front()) ||
      !isReduced(input.dims.back()) ||
      elementCount(decl.shape) * byteWidth(decl.type) < largeInput)
    return std::nullopt;
  const unsigned outermost = input.dims.front().terms[0].first;
  return loops[outermost].extent >= chunks ? std::optional(outermost)
                                           : std::nullopt;
}

/// The reduction loop of `step` to cut because nothing else makes good chunks.
/// Only of operands whose addends, if any, are merged into one.
AddendPlan::Parts partsOf(const Program &program, const AddendPlan &plan,
                          const Step &step, int64_t chunks,
                          const MeshProcesses &processes) {
  auto *kernel = std::get_if<KernelStep>(&step);
  if ((!kernel && !std::holds_alternative<DotStep>(step)) || chunks < 2 ||
      program.deterministic)
    return {};
  auto combines = [&](size_t output) {
    return combineOf(program, *kernel, output).has_value() &&
           kernel->inPlace[output] < 0;
  };
  if (kernel &&
      !std::ranges::all_of(std::views::iota(size_t(0), kernel->outputs.size()),
                           combines))
    return {};
  const std::optional<std::vector<Loop>> here =
      loopsHere(*loopsOf(step), processes);
  if (!here)
    return {};
  const std::vector<Loop> &loops = *here;
  // Chunks of a scatter's result would each read all indices.
  const bool scatters = kernel && isScatter(*kernel);
  int cut = -1;
  int64_t iterations = 1, widest = 1;
  for (unsigned l = 0; l < loops.size(); ++l) {
    if (loops[l].held ||
        (scatters && !loops[l].reduction && readsInputAnew(*kernel, l)))
      continue;
    iterations *= loops[l].extent;
    if (!loops[l].reduction)
      widest = std::max(widest, loops[l].extent / goodChunk(step, l));
    else if (cut < 0 || (loops[cut].extent < chunks &&
                         loops[l].extent > loops[cut].extent))
      cut = int(l);
  }
  std::optional<unsigned> inOrder;
  if (kernel && !kernel->library.empty()) {
    iterations = kernel->flops;
    inOrder = loopInOrder(program, *kernel, loops, chunks);
    cut = int(inOrder.value_or(unsigned(cut)));
  }
  for (const auto &operands : {inputsOf(step), outputsOf(step)})
    for (const Operand *operand : operands)
      if (plan.copies[operand->buffer] != 1 || plan.perDevice[operand->buffer])
        return {};
  // A scatter's addends are read and written at random: one for each worker.
  constexpr int64_t CHUNKS_OF_WORKER = 4;
  const int64_t most =
      scatters ? std::max<int64_t>(1, chunks / CHUNKS_OF_WORKER) : chunks;
  const int64_t count =
      addendsThatPay(most, 1, bytesHere(program, outputsOf(step), processes),
                     bytesHere(program, inputsOf(step), processes));
  if (cut < 0 || count < 2 || iterations < SMALL_REDUCTION ||
      (widest >= count && !inOrder) || isCutAlongTwo(step, loops, chunks))
    return {};
  return {cut, count};
}
} // namespace

bool plan::isScatter(const KernelStep &step) {
  return library::propertiesOf(step.library).isScatter &&
         step.inputs.size() > 2 * step.outputs.size();
}

bool plan::readsInputAnew(const KernelStep &step, unsigned loop) {
  if (isScatter(step))
    return !step.inputs[step.outputs.size()].dependsOn(loop);
  return !step.inputs.empty() && !step.inputs[0].dependsOn(loop) &&
         library::propertiesOf(step.library).readsLines;
}

std::optional<ReduceKind>
plan::combineOf(const Program &program, const KernelStep &step, size_t output) {
  if (step.library.empty())
    return step.combine.empty() ? std::nullopt
                                : std::optional(step.combine[output]);
  // A narrow sum is kept wider than the result, which each part would round.
  const DType type = program.buffers[step.outputs[output].buffer].type;
  const bool isNarrow = type == DType::BF16 || type == DType::F16;
  if (isScatter(step) || library::propertiesOf(step.library).isReduction) {
    const auto option = step.options.find("kind");
    if (option == step.options.end() || type == DType::I1)
      return std::nullopt;
    const auto kind = parseReduceKind(std::get<std::string>(option->second));
    // The product of a part may overflow where that of all factors does not.
    const bool mayDiffer = kind == ReduceKind::Prod
                               ? isFloat(type) || isComplex(type)
                               : kind == ReduceKind::Sum && isNarrow;
    return mayDiffer ? std::nullopt : kind;
  }
  return library::propertiesOf(step.library).isProduct && !isNarrow
             ? std::optional(ReduceKind::Sum)
             : std::nullopt;
}

bool plan::hasShortWindows(const Program &program, const KernelStep &scatter) {
  auto elements = [&](size_t input) {
    return elementCount(program.buffers[scatter.inputs[input].buffer].shape);
  };
  // Elements of the result for each index; the copy of a large result is worth
  // sharing itself.
  constexpr int64_t largeResult = 1 << 19;
  const int64_t fewIndices = elements(0) < largeResult ? 64 : 4;
  const size_t indices = scatter.outputs.size();
  return elements(indices + 1) < SHORT_ROW * elements(indices) &&
         elements(0) < fewIndices * elements(indices);
}

int64_t plan::chunkBound(int64_t extent, int64_t chunks, int64_t c) {
  if (c >= chunks)
    return extent;
  const int64_t quotient = extent / chunks;
  const int64_t grain = quotient >= 64 ? 16 : quotient >= 16 ? 4 : 1;
  // Divided first: extent * c may pass 64 bits.
  const int64_t bound = quotient * c + extent % chunks * c / chunks;
  return (bound + grain / 2) / grain * grain;
}

namespace {
/// The partial values of a program in groups whose addends must be cut alike.
class PartialGroups {
public:
  PartialGroups(const Program &program, const MeshProcesses &processes)
      : program(program), processes(processes), groups(program.buffers.size()),
        seen(program.buffers.size(), false),
        linked(program.buffers.size(), false),
        writer(program.buffers.size(), -1) {
    for (const Argument &argument : program.arguments)
      seen[argument.buffer] = true;
    for (const ProgramResult &result : program.results)
      seen[result.buffer] = true;
    for (const ConstantData &constant : program.constants)
      seen[constant.buffer] = true;
    for (size_t s = 0; s < program.steps.size(); ++s)
      if (auto *collective = std::get_if<CollectiveStep>(&program.steps[s]))
        join(*collective);
      else
        join(int(s));
    // A group has the properties of each of its values.
    for (unsigned b = 0; b < program.buffers.size(); ++b) {
      const unsigned group = groups.find(b);
      seen[group] = seen[group] || (isPartial(b) && seen[b]);
      linked[group] = linked[group] || (isPartial(b) && linked[b]);
    }
  }

  bool isPartial(unsigned b) const {
    return program.buffers[b].layout.is_partial();
  }
  /// Returns whether a caller, or another process, needs the addend of each
  /// device.
  bool needsEach(unsigned b) { return seen[groups.find(b)]; }
  /// The one step that writes `b`, if all_reduces alone read what it writes.
  const Step *onlyWriter(unsigned b) {
    return linked[groups.find(b)] || writer[b] < 0 ? nullptr
                                                   : &program.steps[writer[b]];
  }

private:
  void join(const CollectiveStep &collective) {
    for (const CollectiveStep::Move &move : collective.moves)
      if (isPartial(move.from) && isPartial(move.to)) {
        groups.join(move.from, move.to);
        linked[move.from] = linked[move.to] = true;
      }
  }

  void join(int s) {
    const Step &step = program.steps[s];
    const std::vector<Loop> &loops = *loopsOf(step);
    std::vector<unsigned> partial;
    for (const Operand *operand : inputsOf(step))
      if (isPartial(operand->buffer)) {
        partial.push_back(operand->buffer);
        linked[operand->buffer] = true;
      }
    for (const Operand *operand : outputsOf(step))
      if (isPartial(operand->buffer)) {
        partial.push_back(operand->buffer);
        if (writer[operand->buffer] >= 0)
          linked[operand->buffer] = true;
        writer[operand->buffer] = s;
      }
    for (unsigned b : partial) {
      groups.join(b, partial[0]);
      std::vector<unsigned> axes;
      for (const Partial &p : program.buffers[b].layout.partial())
        axes.push_back(p.axis);
      // Devices then do different parts of a result: nothing to merge.
      if (isCut(loops, axes, /*reduction=*/false))
        seen[b] = true;
    }
    // So it is where no process has the same part of all it has to combine.
    if (processes.several() && !partial.empty() && !canMerge(loops, processes))
      seen[partial[0]] = true;
  }

  const Program &program;
  const MeshProcesses &processes;
  UnionFind groups;
  std::vector<bool> seen, linked;
  std::vector<int> writer;
};

/// Returns the reduction loop to cut instead of `cut`: the first one that makes
/// as many chunks and leaves rows of inputs whole. Devices' addends are merged,
/// so an addend may be of any part. Returns `cut` where there is none, or where
/// `cut` leaves rows whole.
unsigned withWholeRows(const Step &step, const std::vector<Loop> &loops,
                       unsigned cut, int64_t chunks) {
  auto isAlongRows = [&](unsigned loop) {
    return std::ranges::any_of(inputsOf(step), [&](const Operand *operand) {
      return operand->dims.size() > 1 && operand->dims.back().dependsOn(loop);
    });
  };
  if (!isAlongRows(cut))
    return cut;
  for (unsigned l = 0; l < loops.size(); ++l)
    if (loops[l].reduction && !loops[l].held && loops[l].extent >= chunks &&
        !isAlongRows(l))
      return l;
  return cut;
}

/// The reduction loop of `step` to cut, as layouts say, into parts with addends
/// of their own: only if nothing else can be cut and it is worth it.
std::optional<unsigned> loopToCut(const Program &program, const Step &step,
                                  const std::vector<Loop> &loops,
                                  int64_t chunks) {
  int cut = -1, numCut = 0;
  int64_t iterations = 1, widest = 1;
  for (unsigned l = 0; l < loops.size(); ++l) {
    iterations *= loops[l].extent;
    if (loops[l].reduction && !loops[l].axes.empty()) {
      cut = int(l);
      ++numCut;
    }
    if (!loops[l].reduction)
      widest = std::max(widest, loops[l].extent / goodChunk(step, l));
  }
  if (auto *kernel = std::get_if<KernelStep>(&step);
      kernel && numCut == 1 &&
      (kernel->library.empty() ||
       library::propertiesOf(kernel->library).isReduction))
    cut = int(withWholeRows(step, loops, unsigned(cut), chunks));
  bool simple = numCut == 1 && widest < chunks &&
                iterations >= SMALL_REDUCTION && chunks > 1 &&
                !program.deterministic;
  if (auto *kernel = std::get_if<KernelStep>(&step)) {
    simple &= kernel->library.empty() || kernel->flops >= SMALL_REDUCTION;
    simple &= std::all_of(kernel->inPlace.begin(), kernel->inPlace.end(),
                          [](int i) { return i < 0; });
  }
  for (const Operand *output : outputsOf(step)) {
    simple &= program.buffers[output->buffer].layout.is_partial();
    for (const DimAccess &dim : output->dims)
      for (auto [loop, coefficient] : dim.terms)
        simple &= int(loop) != cut;
  }
  if (!simple || isCutAlongTwo(step, loops, chunks))
    return std::nullopt;
  return unsigned(cut);
}
} // namespace

AddendPlan plan::planAddends(const Program &program, int64_t chunks,
                             const MeshProcesses &processes) {
  const size_t n = program.buffers.size();
  AddendPlan plan{std::vector<int64_t>(n, 1),
                  std::vector<int>(n, -1),
                  std::vector<bool>(n, false),
                  {}};
  PartialGroups groups(program, processes);
  for (unsigned b = 0; b < n; ++b) {
    if (!groups.isPartial(b))
      continue;
    if (groups.needsEach(b)) {
      plan.perDevice[b] = true;
      plan.copies[b] = int64_t(
          copiesOf(program.buffers[b].layout, processes.devicesHere()).size());
      continue;
    }
    const Step *step = groups.onlyWriter(b);
    if (!step)
      continue; // merged into one
    const std::optional<std::vector<Loop>> loops =
        loopsHere(*loopsOf(*step), processes);
    if (!loops)
      continue;
    if (std::optional<unsigned> cut =
            loopToCut(program, *step, *loops, chunks)) {
      plan.copies[b] =
          addendsThatPay(chunks, std::min(chunks, FEW_ADDENDS),
                         bytesHere(program, outputsOf(*step), processes),
                         bytesHere(program, inputsOf(*step), processes));
      plan.chunkLoop[b] = int(*cut);
    }
  }
  plan.parts.reserve(program.steps.size());
  for (const Step &step : program.steps)
    plan.parts.push_back(partsOf(program, plan, step, chunks, processes));
  return plan;
}

namespace {
/// Where all devices are here.
std::vector<Instance> instancesOf(const Program &program,
                                  const std::vector<Loop> &loops,
                                  const std::vector<unsigned> &operands,
                                  const AddendPlan &plan) {
  const Mesh &mesh = program.mesh;
  auto partialOf = [&](unsigned buffer) {
    return plan.perDevice[buffer] ? program.buffers[buffer].layout.partial()
                                  : std::span<const Partial>();
  };
  std::vector<bool> apart(mesh.rank(), false);
  for (unsigned buffer : operands)
    for (const Partial &partial : partialOf(buffer))
      apart[partial.axis] = true;
  if (std::find(apart.begin(), apart.end(), true) == apart.end())
    return {};
  // A loop that is cut over one of them is cut over all of its axes.
  std::vector<bool> cut(loops.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t l = 0; l < loops.size(); ++l) {
      const auto &axes = loops[l].axes;
      if (cut[l] || std::none_of(axes.begin(), axes.end(),
                                 [&](unsigned axis) { return apart[axis]; }))
        continue;
      cut[l] = changed = true;
      for (unsigned axis : axes)
        apart[axis] = true;
    }
  }

  std::vector<Loop> space = loops;
  for (size_t l = 0; l < loops.size(); ++l)
    if (!cut[l]) {
      space[l].axes.clear();
      space[l].ranges.clear();
    }

  std::vector<Instance> instances;
  std::vector<int64_t> coords(mesh.rank(), 0);
  while (true) {
    Box box = iterationBox(space, mesh, mesh.device_at(coords));
    Instance instance{std::move(box.offset), std::move(box.extent), {}};
    for (unsigned buffer : operands)
      instance.copy.push_back(
          partialOf(buffer).empty()
              ? 0
              : copyIndex(program.buffers[buffer].layout, coords));
    instances.push_back(std::move(instance));
    unsigned axis = mesh.rank();
    while (axis-- > 0) {
      if (!apart[axis])
        continue;
      if (++coords[axis] < mesh.axis_size(axis))
        break;
      coords[axis] = 0;
    }
    if (axis == unsigned(-1))
      return instances;
  }
}

/// Where others are in other processes: devices that use the same addends work
/// together.
Result<StepSpace> spaceHere(const Program &program,
                            const std::vector<Loop> &loops,
                            const std::vector<unsigned> &operands,
                            const AddendPlan &plan,
                            const MeshProcesses &processes) {
  const std::span<const int64_t> devices = processes.devicesHere();
  std::vector<std::vector<int64_t>> copies; // per operand
  bool apart = false;
  for (unsigned buffer : operands) {
    copies.push_back(
        plan.perDevice[buffer]
            ? copiesOf(program.buffers[buffer].layout, processes.devicesHere())
            : std::vector<int64_t>());
    apart |= copies.back().size() > 1;
  }
  std::map<std::vector<int64_t>, std::vector<int64_t>> groups;
  for (int64_t device : devices) {
    std::vector<int64_t> used(operands.size(), 0);
    for (size_t o = 0; o < operands.size() && apart; ++o)
      if (copies[o].size() > 1)
        used[o] = std::ranges::lower_bound(
                      copies[o], copyIndex(program.buffers[operands[o]].layout,
                                           program.mesh.coords(device))) -
                  copies[o].begin();
    groups[std::move(used)].push_back(device);
  }
  StepSpace space;
  std::vector<Box> boxes;
  for (const auto &[used, together] : groups) {
    auto pieces = iterationPieces(loops, program.mesh, together);
    if (!pieces)
      return Error("the devices of a process have parts of a reduction that "
                   "cannot be done together");
    for (IterationPiece &piece : *pieces) {
      space.instances.push_back({piece.box.offset, piece.box.extent, used});
      boxes.push_back(std::move(piece.box));
    }
  }
  // A reduction of nothing still makes a result.
  space.hull = {Shape(loops.size()), Shape(loops.size())};
  for (size_t l = 0; l < loops.size(); ++l) {
    Interval around;
    for (const Box &box : boxes)
      around = around.hull({box.offset[l], box.offset[l] + box.extent[l]});
    space.hull.offset[l] = around.begin;
    space.hull.extent[l] = around.size();
  }
  for (Instance &instance : space.instances)
    for (size_t l = 0; l < loops.size(); ++l)
      instance.begin[l] =
          instance.extent[l] ? instance.begin[l] - space.hull.offset[l] : 0;
  if (space.instances.size() == 1 && !apart)
    space.instances.clear();
  return space;
}
} // namespace

Result<StepSpace> plan::spaceOf(const std::vector<Loop> &loops,
                                const Program &program,
                                const std::vector<unsigned> &operands,
                                const AddendPlan &plan,
                                const MeshProcesses &processes) {
  if (processes.several())
    return spaceHere(program, loops, operands, plan, processes);
  StepSpace space;
  for (const Loop &loop : loops) {
    space.hull.offset.push_back(0);
    space.hull.extent.push_back(loop.extent);
  }
  space.instances = instancesOf(program, loops, operands, plan);
  return space;
}
