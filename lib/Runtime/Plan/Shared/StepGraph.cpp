// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building the step graph: each action of the memory plan as loops that may be
// cut, with what it costs.
#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

#include "CandidateLoops.h"
#include "Grids.h"

#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Plan/Components.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// dims of an access to the element at (loop 0, loop 1, ...).
std::vector<DimAccess> identityDims(size_t rank) {
  std::vector<DimAccess> dims(rank);
  for (unsigned d = 0; d < rank; ++d)
    dims[d].terms = {{d, 1}};
  return dims;
}

/// Nanoseconds in which one core reads or writes so many bytes: values that
/// fit its own cache are there since the step before.
double memoryCost(double bytes) {
  constexpr double cache = 1 << 20, cached = 60, uncached = 20; // bytes a ns
  return std::min(bytes, cache) / cached +
         std::max(bytes - cache, 0.0) / uncached;
}

class Builder {
public:
  Builder(const Program &program, int64_t chunks,
          const MeshProcesses &processes, const AddendPlan &addends,
          std::vector<PlannedMove> moves, StepGraph &graph)
      : program(program), chunks(chunks), processes(processes),
        addends(addends), moves(std::move(moves)), graph(graph) {}

  Status build();

private:
  Result<Work> workOf(const Action &action);
  Result<Work> kernel(const KernelStep &step, const Action &action) const;
  double kernelCost(const KernelStep &step, const Work &work) const;
  Result<Work> dot(const DotStep &step, const Action &action) const;
  void keepThinSide(const DotStep &step, Work &work) const;
  Result<Work> move(const CollectiveStep &step, const Action &action) const;
  std::vector<std::vector<int64_t>> addendsFor(const GraphBuffer &from,
                                               const GraphBuffer &to,
                                               unsigned target) const;
  Work exchange(const CollectiveStep &step, const Action &action);
  Work copy(const Action &action) const;
  Work combination(const Action &action) const;
  Status finishLoops(Work &work, const std::vector<Loop> &loops) const;
  void cutAddends(Work &work, int64_t parts) const;
  GraphBuffer bufferOf(const PlannedBuffer &planned) const;
  std::vector<DimAccess> sameElements(const GraphBuffer &target,
                                      const GraphBuffer &buffer) const;

  const Program &program;
  const int64_t chunks;
  const MeshProcesses &processes;
  const AddendPlan &addends;
  std::vector<PlannedMove> moves;
  StepGraph &graph;
};

/// Fills in extents, candidates and instances.
Status Builder::finishLoops(Work &work, const std::vector<Loop> &loops) const {
  std::vector<unsigned> decls;
  int64_t parts = addends.parts[work.step].count;
  work.addendLoop = addends.parts[work.step].loop;
  for (const Access &access : work.accesses) {
    decls.push_back(graph.buffers[access.buffer].decl);
    if (access.writes && addends.chunkLoop[decls.back()] >= 0) {
      work.addendLoop = addends.chunkLoop[decls.back()];
      parts = addends.copies[decls.back()];
    }
  }
  Result<StepSpace> space = spaceOf(loops, program, decls, addends, processes);
  if (!space)
    return space.error().withMessage(describe(program, work.step) +
                                     space.error().message());
  work.extents = space->hull.extent;
  work.begin = space->hull.offset;
  for (Access &access : work.accesses)
    for (size_t d = 0; d < access.dims.size(); ++d) {
      DimAccess &dim = access.dims[d];
      dim.offset -= graph.buffers[access.buffer].origin[d];
      for (auto [loop, coefficient] : dim.terms)
        dim.offset += coefficient * work.begin[loop];
    }
  if (work.addendLoop >= 0) {
    cutAddends(work, parts);
    return Success();
  }
  work.instances = std::move(space->instances);
  for (unsigned l = 0; l < loops.size(); ++l) {
    const bool whole = std::all_of(
        work.instances.begin(), work.instances.end(),
        [&](const Instance &i) { return i.extent[l] == work.extents[l]; });
    if (!loops[l].reduction && !loops[l].held && work.extents[l] > 1 && whole)
      work.candidates.push_back(l);
  }
  rankCandidates(program, graph, loops, chunks, work);
  return Success();
}

/// Makes an instance of each part of the loop whose parts have addends.
void Builder::cutAddends(Work &work, int64_t parts) const {
  const int64_t extent = work.extents[work.addendLoop];
  for (int64_t c = 0; c < parts; ++c) {
    Instance instance{Shape(work.extents.size()), work.extents, {}};
    instance.begin[work.addendLoop] = chunkBound(extent, parts, c);
    instance.extent[work.addendLoop] =
        chunkBound(extent, parts, c + 1) - chunkBound(extent, parts, c);
    for (const Access &access : work.accesses)
      instance.copy.push_back(graph.buffers[access.buffer].copies > 1 ? c : 0);
    work.instances.push_back(std::move(instance));
  }
}

/// The element of `buffer` that is that of `target` at (loop 0, loop 1, ...).
std::vector<DimAccess> Builder::sameElements(const GraphBuffer &target,
                                             const GraphBuffer &buffer) const {
  std::vector<DimAccess> dims = identityDims(target.shape.size());
  for (size_t d = 0; d < dims.size(); ++d)
    dims[d].offset = target.origin[d] - buffer.origin[d];
  return dims;
}

Work Builder::copy(const Action &action) const {
  const GraphBuffer &from = graph.buffers[action.reads[0]];
  const GraphBuffer &old = graph.buffers[action.writes[0]];
  const size_t rank = old.shape.size();
  Work work{.kind = Work::Kind::Copy, .step = action.step};
  work.extents = old.shape;
  work.accesses = {{action.reads[0], sameElements(old, from), true, false},
                   {action.writes[0], identityDims(rank), false, true}};
  for (unsigned d = 0; d < rank; ++d)
    if (work.extents[d] > 1)
      work.candidates.push_back(d);
  for (int64_t c = 0; c < old.copies; ++c)
    if (old.copies > 1)
      work.instances.push_back({Shape(rank), work.extents, {c, c}});
  work.cost = double(old.bytesPerCopy()) / 10;
  return work;
}

Result<Work> Builder::kernel(const KernelStep &step,
                             const Action &action) const {
  Work work{.kind = Work::Kind::Kernel, .step = action.step};
  for (size_t i = 0; i < step.inputs.size(); ++i)
    work.accesses.push_back(
        {action.reads[i], step.inputs[i].dims, true, false});
  for (size_t o = 0; o < step.outputs.size(); ++o) {
    if (step.inPlace[o] < 0) {
      work.accesses.push_back(
          {action.writes[o], step.outputs[o].dims, false, true});
      continue;
    }
    Access &updated = work.accesses[size_t(step.inPlace[o])];
    updated.writes = true;
    updated.updated = int(action.writes[o]);
  }
  if (Status ok = finishLoops(work, step.loops); !ok)
    return ok.error();
  findGrids(step, chunks, work);
  work.usesTeam = library::propertiesOf(step.library).usesTeam &&
                  work.addendLoop < 0 && work.instances.empty();
  work.cost = kernelCost(step, work);
  return work;
}

/// Returns the nanoseconds of a kernel on one core. Generated loops compute in
/// vectors while they read and write.
double Builder::kernelCost(const KernelStep &step, const Work &work) const {
  constexpr double vectorBytes = 160; // that one operation computes in a ns
  constexpr int64_t combining = 2;    // operations for a term of a reduction
  // Narrow numbers are mostly computed in 32 bits.
  double iterations = 1, share = 1, bytes = 0, width = 4;
  bool reduces = false;
  for (size_t l = 0; l < step.loops.size(); ++l) {
    if (step.loops[l].held)
      continue;
    reduces |= step.loops[l].reduction;
    iterations *= double(work.extents[l]);
    if (step.loops[l].extent > 0)
      share *= double(work.extents[l]) / double(step.loops[l].extent);
  }
  for (const Access &access : work.accesses) {
    const GraphBuffer &buffer = graph.buffers[access.buffer];
    bytes += double(buffer.bytesPerCopy());
    width = std::max(width, double(byteWidth(buffer.type)));
  }
  if (!step.library.empty())
    return share * double(step.flops) / 4 + bytes / 20;
  const double touched =
      std::min(bytes, iterations * width * double(work.accesses.size()));
  const int64_t operations =
      std::max<int64_t>(step.flops, 1) +
      (reduces ? combining * int64_t(step.outputs.size()) : 0);
  return std::max(iterations * double(operations) * width / vectorBytes,
                  memoryCost(touched));
}

/// Products of few rows (or columns) are not cut along them: each chunk would
/// read all of the other operand, which is what such a product costs. With more
/// rows that is so where the other operand leaves the cache. Nor are they cut
/// into chunks that read short pieces of that operand's rows, a page apart and
/// more.
void Builder::keepThinSide(const DotStep &step, Work &work) const {
  constexpr int64_t thin = 64, times = 4;
  constexpr int64_t fewForChunk = 128, cache = 4 << 20, page = 4096;
  std::array<int64_t, 2> total{1, 1};  ///< iterations of lhs's own loops, rhs's
  std::array<int64_t, 2> widest{1, 1}; ///< of those that may be cut
  auto ownerOf = [&](unsigned loop) {
    const Side side = sideOf(step, loop);
    return side == Side::Left ? 0 : side == Side::Right ? 1 : -1;
  };
  for (unsigned l = 0; l < step.loops.size(); ++l)
    if (int side = ownerOf(l); side >= 0)
      total[size_t(side)] *= std::max<int64_t>(work.extents[l], 1);
  for (unsigned l : work.candidates)
    if (int side = ownerOf(l); side >= 0)
      widest[size_t(side)] = std::max(widest[size_t(side)], work.extents[l]);
  for (int side : {0, 1}) {
    const auto self = size_t(side), other = size_t(1 - side);
    const GraphBuffer &large = graph.buffers[work.accesses[other].buffer];
    const bool isFew =
        (total[self] <= thin && total[other] >= times * total[self]) ||
        (total[self] < fewForChunk * chunks &&
         total[other] >= 2 * total[self] && large.bytesPerCopy() > cache);
    if (!isFew || widest[other] < chunks)
      continue;
    auto isThin = [&](unsigned l) { return ownerOf(l) == side; };
    work.numGood -=
        unsigned(std::count_if(work.candidates.begin(),
                               work.candidates.begin() + work.numGood, isThin));
    std::erase_if(work.candidates, isThin);
    if (total[self] > thin || work.accesses[other].dims.empty())
      return;
    for (unsigned l : work.candidates)
      if (work.accesses[other].dims.back().dependsOn(l))
        work.mostChunks = std::max<int64_t>(
            1, work.extents[l] * int64_t(byteWidth(large.type)) / page);
    return;
  }
}

Result<Work> Builder::dot(const DotStep &step, const Action &action) const {
  Work work{.kind = Work::Kind::Dot, .step = action.step};
  work.accesses = {{action.reads[0], step.lhs.dims, true, false},
                   {action.reads[1], step.rhs.dims, true, false},
                   {action.writes[0], step.out.dims, false, true}};
  if (Status ok = finishLoops(work, step.loops); !ok)
    return ok.error();
  if (!findGrids(step, chunks, work))
    keepThinSide(step, work);
  if (work.mostChunks == 0)
    if (const int64_t most = efficientChunks(step, chunks, work); most < chunks)
      work.mostChunks = most;
  double iterations = 1, bytes = 0;
  for (int64_t extent : work.extents)
    iterations *= double(extent);
  for (const Access &access : work.accesses)
    bytes += double(graph.buffers[access.buffer].bytesPerCopy());
  // A product with a vector takes as long as reading the matrix.
  work.cost = std::max(iterations, bytes) / 40;
  return work;
}

/// Which addends of `from` become each of `to`'s, which is `target` or sums
/// that become it.
std::vector<std::vector<int64_t>> Builder::addendsFor(const GraphBuffer &from,
                                                      const GraphBuffer &to,
                                                      unsigned target) const {
  std::vector<std::vector<int64_t>> sources(static_cast<size_t>(to.copies));
  if (to.copies == 1) {
    for (int64_t copy = 0; copy < from.copies; ++copy)
      sources[0].push_back(copy);
    return sources;
  }
  // The sources of an addend agree with it on the axes that the target is still
  // partial over.
  const Mesh &mesh = program.mesh;
  const Layout &source = program.buffers[from.decl].layout;
  const Layout &result = program.buffers[target].layout;
  const std::span<const int64_t> devices = processes.devicesHere();
  const std::vector<int64_t> copies = copiesOf(source, devices);
  const std::vector<int64_t> results = copiesOf(result, devices);
  std::vector<int64_t> coords(mesh.rank(), 0);
  for (size_t slot = 0; slot < copies.size(); ++slot) {
    int64_t remainder = copies[slot];
    for (size_t p = source.partial().size(); p-- > 0;) {
      const unsigned axis = source.partial()[p].axis;
      coords[axis] = remainder % mesh.axis_size(axis);
      remainder /= mesh.axis_size(axis);
    }
    const auto position =
        std::ranges::lower_bound(results, copyIndex(result, coords));
    sources[size_t(position - results.begin())].push_back(int64_t(slot));
  }
  return sources;
}

Result<Work> Builder::move(const CollectiveStep &step,
                           const Action &action) const {
  const GraphBuffer &from = graph.buffers[action.reads[0]];
  const GraphBuffer &to = graph.buffers[action.writes[0]];
  const bool reduces = isReduction(step);
  if (!reduces && from.copies != to.copies)
    return Error(fmt::format("{}{} cannot change what a value is partial over",
                             describe(program, action.step), name(step.kind)));
  Work work{.kind = reduces ? Work::Kind::Reduce : Work::Kind::Copy,
            .step = action.step};
  work.reduce = step.reduce;
  const size_t rank = to.shape.size();
  work.extents = to.shape;
  work.accesses = {{action.reads[0], sameElements(to, from), true, false},
                   {action.writes[0], identityDims(rank), false, true}};
  for (unsigned d = 0; d < rank; ++d)
    if (work.extents[d] > 1)
      work.candidates.push_back(d);
  std::vector<std::vector<int64_t>> addends;
  if (reduces)
    addends = addendsFor(from, to, step.moves[action.part].to);
  const BufferDecl &written = program.buffers[to.decl];
  const Region region = processes.regionOf(written, processes.self);
  const bool whole = region.size() == 1;
  for (const Box &box : region)
    for (int64_t copy = 0; copy < to.copies; ++copy) {
      if (reduces)
        work.addends.push_back(addends[size_t(copy)]);
      if (whole && to.copies == 1)
        continue;
      Instance instance{box.offset, box.extent, {reduces ? 0 : copy, copy}};
      for (size_t d = 0; d < rank; ++d)
        instance.begin[d] -= to.origin[d];
      work.instances.push_back(std::move(instance));
    }
  if (reduces && region.empty())
    work.addends.emplace_back();
  if (!whole)
    std::erase_if(work.candidates, [&](unsigned d) {
      return std::ranges::any_of(work.instances, [&](const Instance &i) {
        return i.extent[d] != work.extents[d];
      });
    });
  work.cost = double(from.bytesPerCopy() * from.copies) / 20;
  return work;
}

Work Builder::exchange(const CollectiveStep &step, const Action &action) {
  const unsigned target = step.moves[action.part].to;
  Work work{.kind = Work::Kind::Arrival, .step = action.step};
  if (action.kind == Action::Kind::Exchange) {
    work.kind = Work::Kind::Exchange;
    graph.exchanges.push_back(
        {std::move(moves[target]),
         action.reads.empty() ? -1 : int(action.reads[0]), action.writes[0],
         graph.buffers[action.writes[0]].type, step.reduce});
  }
  for (size_t e = 0; e < graph.exchanges.size(); ++e)
    if (graph.exchanges[e].to == action.writes[0])
      work.exchange = unsigned(e);
  auto add = [&](unsigned buffer, bool writes) {
    work.accesses.push_back(
        {buffer, std::vector<DimAccess>(graph.buffers[buffer].shape.size()),
         true, writes});
  };
  for (unsigned buffer : action.reads)
    add(buffer, false);
  add(action.writes[0], true);
  return work;
}

/// Combines the values of a step's parts into its result.
Work Builder::combination(const Action &action) const {
  const GraphBuffer &from = graph.buffers[action.reads[0]];
  Work work{.kind = Work::Kind::Reduce, .step = action.step};
  if (auto *kernel = std::get_if<KernelStep>(&program.steps[action.step]))
    work.reduce = *combineOf(program, *kernel, action.part);
  const size_t rank = from.shape.size();
  work.extents = from.shape;
  work.accesses = {{action.reads[0], identityDims(rank), true, false},
                   {action.writes[0], identityDims(rank), false, true}};
  for (unsigned d = 0; d < rank; ++d)
    if (work.extents[d] > 1)
      work.candidates.push_back(d);
  work.addends.resize(1);
  for (int64_t copy = 0; copy < from.copies; ++copy)
    work.addends[0].push_back(copy);
  work.cost = double(from.bytesPerCopy() * from.copies) / 20;
  return work;
}

Result<Work> Builder::workOf(const Action &action) {
  const Step &step = program.steps[action.step];
  switch (action.kind) {
  case Action::Kind::Copy:
    return copy(action);
  case Action::Kind::Combine:
    return combination(action);
  case Action::Kind::Move:
    return move(std::get<CollectiveStep>(step), action);
  case Action::Kind::Exchange:
  case Action::Kind::Arrival:
    return exchange(std::get<CollectiveStep>(step), action);
  case Action::Kind::Step:
    break;
  }
  if (auto *call = std::get_if<KernelStep>(&step))
    return kernel(*call, action);
  return dot(std::get<DotStep>(step), action);
}

GraphBuffer Builder::bufferOf(const PlannedBuffer &planned) const {
  const BufferDecl &decl = program.buffers[planned.decl];
  // An array is that of the first value that its memory has.
  const unsigned first =
      graph.plan.buffers[graph.plan.memories[planned.memory].buffer].decl;
  Box where = processes.hullOf(program.buffers[first], processes.self);
  GraphBuffer buffer{decl.name,
                     decl.type,
                     std::move(where.extent),
                     std::move(where.offset),
                     addends.copies[planned.decl],
                     planned.decl,
                     planned.memory};
  if (planned.parts > 1)
    buffer.copies = planned.parts;
  else if (planned.sumsOf >= 0)
    buffer.copies = addends.copies[unsigned(planned.sumsOf)];
  return buffer;
}

Status Builder::build() {
  graph.buffers.reserve(graph.plan.buffers.size());
  graph.works.reserve(graph.plan.actions.size());
  for (const PlannedBuffer &planned : graph.plan.buffers) {
    graph.buffers.push_back(bufferOf(planned));
    if (planned.parts > 1)
      graph.buffers.back().name += ".parts";
    else if (planned.sumsOf >= 0)
      graph.buffers.back().name += ".sums";
    else if (graph.buffers.size() > program.buffers.size())
      graph.buffers.back().name += ".old";
  }
  for (const Action &action : graph.plan.actions) {
    Result<Work> work = workOf(action);
    if (!work)
      return work.error();
    graph.works.push_back(std::move(*work));
  }
  return Success();
}
} // namespace

AccessElements plan::elementsOf(const Access &access, const Shape &array,
                                size_t loops) {
  const Shape dimStrides = rowMajorStrides(array);
  AccessElements elements{0, std::vector<int64_t>(loops, 0)};
  for (size_t d = 0; d < access.dims.size(); ++d) {
    elements.first += dimStrides[d] * access.dims[d].offset;
    for (auto [loop, coefficient] : access.dims[d].terms)
      elements.strides[loop] += dimStrides[d] * coefficient;
  }
  return elements;
}

Result<StepGraph> plan::buildStepGraph(const Program &program, int64_t chunks) {
  return buildStepGraph(program, chunks, MeshProcesses(program.mesh), {});
}

Result<StepGraph> plan::buildStepGraph(const Program &program, int64_t chunks,
                                       const MeshProcesses &processes,
                                       const OnOneHost &onOneHost) {
  const AddendPlan addends = planAddends(program, chunks, processes);
  std::vector<PlannedMove> moves =
      planMoves(program, addends, processes, onOneHost);
  std::vector<Box> arrays;
  if (processes.several())
    for (const BufferDecl &decl : program.buffers)
      arrays.push_back(processes.hullOf(decl, processes.self));
  auto elements = [&](unsigned buffer) {
    return processes.several() ? arrays[buffer].count()
                               : elementCount(program.buffers[buffer].shape);
  };
  MemoryRules rules{
      .bytes =
          [&](unsigned buffer) {
            return addends.copies[buffer] * elements(buffer) *
                   byteWidth(program.buffers[buffer].type);
          },
      .way =
          [&](const CollectiveStep &, const CollectiveStep::Move &move) {
            return moves[move.to].way;
          },
      .sumBytes =
          [&](unsigned from, unsigned to) {
            return addends.copies[to] * elements(from) *
                   byteWidth(program.buffers[from].type);
          },
      .parts = [&](unsigned step) { return addends.parts[step].count; },
      .anyOrder = true};
  if (processes.several())
    rules.areAlike = [&](unsigned a, unsigned b) {
      return arrays[a] == arrays[b];
    };
  Result<MemoryPlan> planned = planMemory(program, rules);
  if (!planned)
    return planned.error();
  StepGraph graph{std::move(*planned), {}, {}, {}};
  if (Status ok =
          Builder(program, chunks, processes, addends, std::move(moves), graph)
              .build();
      !ok)
    return ok.error();
  return graph;
}
