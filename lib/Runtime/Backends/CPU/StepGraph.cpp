// Building the step graph: each action of the memory plan as loops that may be
// cut, with what it costs.
#include "StepGraph.h"

#include "Addends.h"

#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <tuple>

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;

namespace {
/// dims of an access to the element at (loop 0, loop 1, ...).
std::vector<DimAccess> identityDims(size_t rank) {
  std::vector<DimAccess> dims(rank);
  for (unsigned d = 0; d < rank; ++d)
    dims[d].terms = {{d, 1}};
  return dims;
}

class Builder {
public:
  Builder(const Program &program, int64_t chunks, const AddendPlan &addends,
          StepGraph &graph)
      : program(program), chunks(chunks), addends(addends), graph(graph) {}

  Status build();

private:
  Result<Work> workOf(const Action &action) const;
  Result<Work> kernel(const KernelStep &step, const Action &action) const;
  Result<Work> dot(const DotStep &step, const Action &action) const;
  Result<Work> reduction(const CollectiveStep &step,
                         const Action &action) const;
  Work copy(const Action &action) const;
  Work combination(const Action &action) const;
  Status finishLoops(Work &work, const std::vector<Loop> &loops) const;

  const Program &program;
  const int64_t chunks;
  const AddendPlan &addends;
  StepGraph &graph;
};

/// Fills in extents, candidates and instances.
Status Builder::finishLoops(Work &work, const std::vector<Loop> &loops) const {
  std::vector<unsigned> decls;
  for (const Access &access : work.accesses) {
    decls.push_back(graph.buffers[access.buffer].decl);
    if (access.writes && addends.chunkLoop[decls.back()] >= 0)
      work.addendLoop = addends.chunkLoop[decls.back()];
  }
  for (const Loop &loop : loops)
    work.extents.push_back(loop.extent);
  int64_t parts = chunks;
  if (addends.parts[work.step].loop >= 0) {
    work.addendLoop = addends.parts[work.step].loop;
    parts = addends.parts[work.step].count;
  }
  if (work.addendLoop >= 0) {
    const int64_t extent = work.extents[work.addendLoop];
    for (int64_t c = 0; c < parts; ++c) {
      Instance instance{Shape(loops.size()), work.extents, {}};
      instance.begin[work.addendLoop] = chunkBound(extent, parts, c);
      instance.extent[work.addendLoop] =
          chunkBound(extent, parts, c + 1) - chunkBound(extent, parts, c);
      for (const Access &access : work.accesses)
        instance.copy.push_back(graph.buffers[access.buffer].copies > 1 ? c
                                                                        : 0);
      work.instances.push_back(std::move(instance));
    }
    return Success();
  }
  Result<std::vector<Instance>> instances =
      instancesOf(program, loops, decls, addends);
  if (!instances)
    return Error(describe(program, work.step) + instances.error().message());
  work.instances = std::move(*instances);

  // Loops that the compiler cut over devices first: it saw to it that they run
  // without communication. Then long ones, outer ones.
  for (unsigned l = 0; l < loops.size(); ++l) {
    const bool whole = std::all_of(
        work.instances.begin(), work.instances.end(),
        [&](const Instance &i) { return i.extent[l] == loops[l].extent; });
    if (!loops[l].reduction && !loops[l].held && loops[l].extent > 1 && whole)
      work.candidates.push_back(l);
  }
  // Fewer chunks are better than short rows. A convolution wants whole rows of
  // features: parts of them are copied first.
  auto *kernel = std::get_if<KernelStep>(&program.steps[work.step]);
  const bool isConvolution = kernel && kernel->library == "convolution";
  enum Quality : uint8_t { Good, FewChunks, ShortRows };
  auto quality = [&](unsigned l) {
    bool innermost = false;
    for (const Access &access : work.accesses)
      if ((access.writes || isConvolution) && !access.dims.empty())
        for (auto [loop, coefficient] : access.dims.back().terms)
          innermost |= loop == l && access.dims.size() > 1;
    if (innermost && (isConvolution || loops[l].extent < SHORT_ROW * chunks))
      return ShortRows;
    return loops[l].extent < chunks ? FewChunks : Good;
  };
  auto rank = [&](unsigned l) {
    return std::tuple(quality(l), loops[l].axes.empty(), l);
  };
  std::sort(work.candidates.begin(), work.candidates.end(),
            [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  work.numGood =
      unsigned(std::count_if(work.candidates.begin(), work.candidates.end(),
                             [&](unsigned l) { return quality(l) == Good; }));
  if (!work.candidates.empty())
    work.numBest = unsigned(std::count_if(
        work.candidates.begin(), work.candidates.end(), [&](unsigned l) {
          return quality(l) == quality(work.candidates.front());
        }));
  return Success();
}

Work Builder::copy(const Action &action) const {
  const GraphBuffer &old = graph.buffers[action.reads[0]];
  const size_t rank = old.shape.size();
  Work work{.kind = Work::Kind::Copy, .step = action.step};
  work.extents = old.shape;
  work.accesses = {{action.reads[0], identityDims(rank), true, false},
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
  double iterations = 1, bytes = 0;
  for (const Loop &loop : step.loops)
    iterations *= double(loop.extent);
  for (const Access &access : work.accesses)
    bytes += double(graph.buffers[access.buffer].bytesPerCopy());
  work.cost = step.library.empty()
                  ? iterations * double(std::max<int64_t>(step.flops, 1)) / 8 +
                        std::min(bytes, iterations * 8) / 20
                  : double(step.flops) / 4 + bytes / 20;
  return work;
}

/// Products of few rows (or columns) are not cut along them: each chunk would
/// read all of the other operand, which is what such a product costs.
void keepThinSide(const DotStep &step, int64_t chunks, Work &work) {
  constexpr int64_t thin = 64, times = 4;
  std::array<int64_t, 2> total{1, 1};  ///< iterations of lhs's own loops, rhs's
  std::array<int64_t, 2> widest{1, 1}; ///< of those that may be cut
  auto sideOf = [&](unsigned loop) {
    auto isIn = [&](const Operand &operand) {
      for (const DimAccess &dim : operand.dims)
        for (auto [l, coefficient] : dim.terms)
          if (l == loop)
            return true;
      return false;
    };
    const bool left = isIn(step.lhs), right = isIn(step.rhs);
    return left == right ? -1 : left ? 0 : 1;
  };
  for (unsigned l = 0; l < step.loops.size(); ++l)
    if (int side = sideOf(l); side >= 0)
      total[size_t(side)] *= std::max<int64_t>(work.extents[l], 1);
  for (unsigned l : work.candidates)
    if (int side = sideOf(l); side >= 0)
      widest[size_t(side)] = std::max(widest[size_t(side)], work.extents[l]);
  for (int side : {0, 1}) {
    const auto own = size_t(side), other = size_t(1 - side);
    if (total[own] > thin || total[other] < times * total[own] ||
        widest[other] < chunks)
      continue;
    auto isThin = [&](unsigned l) { return sideOf(l) == side; };
    work.numGood -=
        unsigned(std::count_if(work.candidates.begin(),
                               work.candidates.begin() + work.numGood, isThin));
    std::erase_if(work.candidates, isThin);
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
  keepThinSide(step, chunks, work);
  double iterations = 1;
  for (const Loop &loop : step.loops)
    iterations *= double(loop.extent);
  work.cost = iterations / 40;
  return work;
}

Result<Work> Builder::reduction(const CollectiveStep &step,
                                const Action &action) const {
  if (step.kind != CollectiveKind::AllReduce &&
      step.kind != CollectiveKind::ReduceScatter)
    return Error(fmt::format("{}{} cannot change what a value is partial over",
                             describe(program, action.step), name(step.kind)));
  const GraphBuffer &from = graph.buffers[action.reads[0]];
  const GraphBuffer &to = graph.buffers[action.writes[0]];
  Work work{.kind = Work::Kind::Reduce, .step = action.step};
  work.reduce = step.reduce;
  const size_t rank = to.shape.size();
  work.extents = to.shape;
  work.accesses = {{action.reads[0], identityDims(rank), true, false},
                   {action.writes[0], identityDims(rank), false, true}};
  for (unsigned d = 0; d < rank; ++d)
    if (work.extents[d] > 1)
      work.candidates.push_back(d);
  // Addends that agree on the axes the target is still partial over.
  work.addends.resize(size_t(to.copies));
  const Mesh &mesh = program.mesh;
  const Layout &source = program.buffers[from.decl].layout;
  std::vector<int64_t> coords(mesh.rank(), 0);
  for (int64_t copy = 0; copy < from.copies; ++copy) {
    int64_t target = 0;
    if (to.copies > 1) {
      int64_t rest = copy;
      for (size_t p = source.partial().size(); p-- > 0;) {
        const unsigned axis = source.partial()[p].axis;
        coords[axis] = rest % mesh.axis_size(axis);
        rest /= mesh.axis_size(axis);
      }
      for (const Partial &p : program.buffers[to.decl].layout.partial())
        target = target * mesh.axis_size(p.axis) + coords[p.axis];
    }
    work.addends[size_t(target)].push_back(copy);
  }
  if (to.copies > 1)
    for (int64_t copy = 0; copy < to.copies; ++copy)
      work.instances.push_back({Shape(rank), work.extents, {0, copy}});
  work.cost = double(from.bytesPerCopy() * from.copies) / 20;
  return work;
}

/// What parts of a step made becomes its result.
Work Builder::combination(const Action &action) const {
  const GraphBuffer &from = graph.buffers[action.reads[0]];
  Work work{.kind = Work::Kind::Reduce, .step = action.step};
  if (auto *kernel = std::get_if<KernelStep>(&program.steps[action.step]))
    work.reduce = kernel->combine[action.part];
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

Result<Work> Builder::workOf(const Action &action) const {
  const Step &step = program.steps[action.step];
  switch (action.kind) {
  case Action::Kind::Copy:
    return copy(action);
  case Action::Kind::Combine:
    return combination(action);
  case Action::Kind::Move:
    return reduction(std::get<CollectiveStep>(step), action);
  case Action::Kind::Step:
    break;
  }
  if (auto *call = std::get_if<KernelStep>(&step))
    return kernel(*call, action);
  return dot(std::get<DotStep>(step), action);
}

Status Builder::build() {
  graph.buffers.reserve(graph.plan.buffers.size());
  graph.works.reserve(graph.plan.actions.size());
  for (const PlannedBuffer &planned : graph.plan.buffers) {
    const BufferDecl &decl = program.buffers[planned.decl];
    graph.buffers.push_back(
        {decl.name, decl.type, decl.shape,
         planned.parts > 1 ? planned.parts : addends.copies[planned.decl],
         planned.decl, planned.memory});
    if (planned.parts > 1)
      graph.buffers.back().name += ".parts";
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

Result<StepGraph> cpu::buildStepGraph(const Program &program, int64_t chunks) {
  const AddendPlan addends = planAddends(program, chunks);
  auto bytes = [&](unsigned buffer) {
    const BufferDecl &decl = program.buffers[buffer];
    return addends.copies[buffer] * elementCount(decl.shape) *
           byteWidth(decl.type);
  };
  // As many addends: a view, or they are merged.
  auto isView = [&](const CollectiveStep::Move &move) {
    return addends.copies[move.from] == addends.copies[move.to];
  };
  Result<MemoryPlan> planned = planMemory(
      program,
      {.bytes = bytes,
       .isView = isView,
       .parts = [&](unsigned step) { return addends.parts[step].count; },
       .anyOrder = true});
  if (!planned)
    return planned.error();
  StepGraph graph{std::move(*planned), {}, {}};
  if (Status ok = Builder(program, chunks, addends, graph).build(); !ok)
    return ok.error();
  return graph;
}
