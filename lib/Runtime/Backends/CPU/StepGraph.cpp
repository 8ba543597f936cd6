// Building the step graph: views, updates in place, and the edges that keep
// every reader in front of what overwrites its value.
#include "StepGraph.h"

#include "Addends.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <tuple>

using namespace meshloom;
using namespace meshloom::cpu;

namespace {
constexpr int NEVER = -1, AT_END = std::numeric_limits<int>::max();

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
          bool keepProgramOrder)
      : program(program), chunks(chunks), addends(addends),
        keepProgramOrder(keepProgramOrder) {}

  /// Returns whether the graph has an order (false: edges form a cycle).
  Result<bool> build();
  StepGraph graph;

private:
  void findLastReads();
  unsigned newRoot(unsigned buffer, Root::Kind kind, unsigned index = 0);
  unsigned addWork(Work work);
  void define(unsigned buffer, unsigned work);
  bool canOverwrite(const KernelStep &step, int step_index, unsigned output,
                    const std::vector<bool> &taken) const;
  Status addKernel(const KernelStep &step, unsigned index);
  Status addDot(const DotStep &step, unsigned index);
  Status addCollective(const CollectiveStep &step, unsigned index);
  Status finishLoops(Work &work, const std::vector<Loop> &loops);
  void addEdges();
  void edge(unsigned from, unsigned to);
  bool hasOrder() const;

  const Program &program;
  const int64_t chunks;
  const AddendPlan &addends;
  const bool keepProgramOrder;

  /// Of each buffer: the buffer whose value it is (itself, or a view's source).
  std::vector<unsigned> value;
  /// Of each value: the step that reads it last, through any view.
  std::vector<int> lastRead;
  /// Of each root: the value it holds after the steps so far.
  std::vector<unsigned> current;
  std::vector<std::vector<unsigned>> readers, writers; ///< works, per value
  /// (value, work) for each update in place.
  std::vector<std::pair<unsigned, unsigned>> overwrites;
};

void Builder::findLastReads() {
  lastRead.assign(program.buffers.size(), NEVER);
  for (const ProgramResult &result : program.results)
    lastRead[result.buffer] = AT_END;
  for (int s = int(program.steps.size()); s-- > 0;) {
    const Step &step = program.steps[s];
    for (const Operand *operand : inputsOf(step))
      lastRead[operand->buffer] = std::max(lastRead[operand->buffer], s);
    if (auto *collective = std::get_if<CollectiveStep>(&step))
      for (const CollectiveStep::Move &move : collective->moves)
        lastRead[move.from] =
            std::max({lastRead[move.from], lastRead[move.to], s});
  }
}

unsigned Builder::newRoot(unsigned buffer, Root::Kind kind, unsigned index) {
  const unsigned root = unsigned(graph.roots.size());
  graph.roots.push_back(
      {kind, index, buffer, false,
       graph.buffers[buffer].copies * graph.buffers[buffer].bytesPerCopy()});
  graph.buffers[buffer].root = root;
  value[buffer] = buffer;
  current.push_back(buffer);
  return root;
}

unsigned Builder::addWork(Work work) {
  const unsigned index = unsigned(graph.works.size());
  for (const Access &access : work.accesses)
    if (access.reads)
      readers[value[access.buffer]].push_back(index);
  graph.works.push_back(std::move(work));
  return index;
}

/// `work` writes (a part of) `buffer`, which gets memory at the first write.
void Builder::define(unsigned buffer, unsigned work) {
  if (writers[buffer].empty())
    newRoot(buffer, Root::Kind::Scratch);
  writers[buffer].push_back(work);
}

/// Whether output `output` may take over its input's memory as it stands: it is
/// the newest value there and no one needs it afterwards.
bool Builder::canOverwrite(const KernelStep &step, int index, unsigned output,
                           const std::vector<bool> &taken) const {
  const unsigned input = unsigned(step.inPlace[output]);
  const Operand &operand = step.inputs[input];
  const unsigned old = value[operand.buffer];
  const Root &root = graph.roots[graph.buffers[old].root];
  if (taken[input] || root.kind == Root::Kind::Constant ||
      current[graph.buffers[old].root] != old || lastRead[old] == AT_END ||
      (keepProgramOrder && lastRead[old] > index))
    return false;
  // Another operand that sees the same memory elsewhere would see the update.
  for (unsigned other = 0; other < step.inputs.size(); ++other)
    if (other != input &&
        graph.buffers[step.inputs[other].buffer].root ==
            graph.buffers[old].root &&
        step.inputs[other].dims != operand.dims)
      return false;
  return true;
}

/// Fills in extents, candidates and instances.
Status Builder::finishLoops(Work &work, const std::vector<Loop> &loops) {
  std::vector<unsigned> decls;
  for (const Access &access : work.accesses) {
    decls.push_back(graph.buffers[access.buffer].decl);
    if (access.writes && addends.chunkLoop[decls.back()] >= 0)
      work.addendLoop = addends.chunkLoop[decls.back()];
  }
  for (const Loop &loop : loops)
    work.extents.push_back(loop.extent);
  if (work.addendLoop >= 0) {
    const int64_t extent = work.extents[work.addendLoop];
    for (int64_t c = 0; c < chunks; ++c) {
      Instance instance{Shape(loops.size()), work.extents, {}};
      instance.begin[work.addendLoop] = chunkBound(extent, chunks, c);
      instance.extent[work.addendLoop] =
          chunkBound(extent, chunks, c + 1) - chunkBound(extent, chunks, c);
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
  auto isPoor = [&](unsigned l) {
    if (loops[l].extent < chunks)
      return true;
    bool innermost = false;
    for (const Access &access : work.accesses)
      if (access.writes && !access.dims.empty())
        for (auto [loop, coefficient] : access.dims.back().terms)
          innermost |= loop == l && access.dims.size() > 1;
    return innermost && loops[l].extent < SHORT_ROW * chunks;
  };
  auto rank = [&](unsigned l) {
    return std::tuple(isPoor(l), loops[l].axes.empty(), l);
  };
  std::sort(work.candidates.begin(), work.candidates.end(),
            [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  work.numGood =
      unsigned(std::count_if(work.candidates.begin(), work.candidates.end(),
                             [&](unsigned l) { return !isPoor(l); }));
  return Success();
}

Status Builder::addKernel(const KernelStep &step, unsigned index) {
  Work work{.kind = Work::Kind::Kernel, .step = index};
  for (const Operand &input : step.inputs)
    work.accesses.push_back({input.buffer, input.dims, true, false});
  std::vector<bool> taken(step.inputs.size(), false);
  std::vector<std::pair<unsigned, unsigned>> updates; // output, input
  for (unsigned o = 0; o < step.outputs.size(); ++o) {
    const Operand &output = step.outputs[o];
    if (step.inPlace[o] < 0) {
      work.accesses.push_back({output.buffer, output.dims, false, true});
      continue;
    }
    const unsigned i = unsigned(step.inPlace[o]);
    const GraphBuffer &from = graph.buffers[step.inputs[i].buffer];
    const GraphBuffer &to = graph.buffers[output.buffer];
    if (from.shape != to.shape || from.copies != to.copies ||
        byteWidth(from.type) != byteWidth(to.type) ||
        step.inputs[i].dims != output.dims || taken[i])
      return Error(
          fmt::format("{}output {} cannot share the memory of input {}",
                      describe(program, index), o, i));
    if (!canOverwrite(step, int(index), o, taken)) {
      // Update a copy; the old value lives on.
      const unsigned old = step.inputs[i].buffer;
      const size_t rank = to.shape.size();
      const unsigned copy = unsigned(graph.buffers.size());
      GraphBuffer decl = graph.buffers[old];
      decl.name += ".old";
      graph.buffers.push_back(std::move(decl));
      value.push_back(copy);
      readers.emplace_back();
      writers.emplace_back();
      Work move{.kind = Work::Kind::Copy, .step = index};
      move.extents = graph.buffers[old].shape;
      move.accesses = {{old, identityDims(rank), true, false},
                       {copy, identityDims(rank), false, true}};
      for (unsigned d = 0; d < rank; ++d)
        if (move.extents[d] > 1)
          move.candidates.push_back(d);
      for (int64_t c = 0; c < graph.buffers[old].copies; ++c)
        if (graph.buffers[old].copies > 1)
          move.instances.push_back({Shape(rank), move.extents, {c, c}});
      move.cost = double(graph.buffers[old].bytesPerCopy()) / 10;
      define(copy, addWork(std::move(move)));
      work.accesses[i].buffer = copy;
    }
    taken[i] = true;
    work.accesses[i].writes = true;
    work.accesses[i].updated = int(output.buffer);
    updates.emplace_back(output.buffer, i);
  }
  if (Status ok = finishLoops(work, step.loops); !ok)
    return ok;
  double iterations = 1, bytes = 0;
  for (const Loop &loop : step.loops)
    iterations *= double(loop.extent);
  for (const Access &access : work.accesses)
    bytes += double(graph.buffers[access.buffer].bytesPerCopy());
  work.cost = step.library.empty()
                  ? iterations * double(std::max<int64_t>(step.flops, 1)) / 8 +
                        std::min(bytes, iterations * 8) / 20
                  : double(step.flops) / 4 + bytes / 20;
  const std::vector<Access> accesses = work.accesses;
  const unsigned id = addWork(std::move(work));
  for (auto [output, input] : updates) {
    const unsigned old = value[accesses[input].buffer];
    const unsigned root = graph.buffers[old].root;
    overwrites.emplace_back(old, id);
    graph.buffers[output].root = root;
    value[output] = output;
    current[root] = output;
    writers[output].push_back(id);
    if (graph.roots[root].kind == Root::Kind::Argument)
      graph.roots[root].overwritten = true;
  }
  for (const Access &access : accesses)
    if (access.writes && !access.reads)
      define(access.buffer, id);
  return Success();
}

Status Builder::addDot(const DotStep &step, unsigned index) {
  Work work{.kind = Work::Kind::Dot, .step = index};
  work.accesses = {{step.lhs.buffer, step.lhs.dims, true, false},
                   {step.rhs.buffer, step.rhs.dims, true, false},
                   {step.out.buffer, step.out.dims, false, true}};
  if (Status ok = finishLoops(work, step.loops); !ok)
    return ok;
  double iterations = 1;
  for (const Loop &loop : step.loops)
    iterations *= double(loop.extent);
  work.cost = iterations / 40;
  define(step.out.buffer, addWork(std::move(work)));
  return Success();
}

Status Builder::addCollective(const CollectiveStep &step, unsigned index) {
  const bool reduces = step.kind == CollectiveKind::AllReduce ||
                       step.kind == CollectiveKind::ReduceScatter;
  for (const CollectiveStep::Move &move : step.moves) {
    GraphBuffer &to = graph.buffers[move.to];
    const GraphBuffer &from = graph.buffers[move.from];
    if (from.copies == to.copies) { // a view, or its addends are merged
      to.root = from.root;
      value[move.to] = value[move.from];
      continue;
    }
    if (!reduces)
      return Error(
          fmt::format("{}{} cannot change what a value is partial over",
                      describe(program, index), name(step.kind)));
    Work work{.kind = Work::Kind::Reduce, .step = index};
    work.reduce = step.reduce;
    const size_t rank = to.shape.size();
    work.extents = to.shape;
    work.accesses = {{move.from, identityDims(rank), true, false},
                     {move.to, identityDims(rank), false, true}};
    for (unsigned d = 0; d < rank; ++d)
      if (work.extents[d] > 1)
        work.candidates.push_back(d);
    // Addends that agree on the axes the target is still partial over.
    work.addends.resize(size_t(to.copies));
    const Mesh &mesh = program.mesh;
    const Layout &source = program.buffers[move.from].layout;
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
        for (const Partial &p : program.buffers[move.to].layout.partial())
          target = target * mesh.axis_size(p.axis) + coords[p.axis];
      }
      work.addends[size_t(target)].push_back(copy);
    }
    if (to.copies > 1)
      for (int64_t copy = 0; copy < to.copies; ++copy)
        work.instances.push_back({Shape(rank), work.extents, {0, copy}});
    work.cost = double(from.bytesPerCopy() * from.copies) / 20;
    define(move.to, addWork(std::move(work)));
  }
  return Success();
}

void Builder::edge(unsigned from, unsigned to) {
  graph.successors[from].push_back(to);
  ++graph.numPredecessors[to];
}

void Builder::addEdges() {
  graph.successors.resize(graph.works.size());
  graph.numPredecessors.assign(graph.works.size(), 0);
  for (size_t v = 0; v < writers.size(); ++v) {
    for (size_t w = 1; w < writers[v].size(); ++w)
      edge(writers[v][w - 1], writers[v][w]);
    if (!writers[v].empty())
      for (unsigned reader : readers[v])
        edge(writers[v].back(), reader);
  }
  for (auto [old, work] : overwrites)
    for (unsigned reader : readers[old])
      if (reader != work)
        edge(reader, work);
}

bool Builder::hasOrder() const {
  std::vector<unsigned> waiting = graph.numPredecessors, ready;
  for (unsigned w = 0; w < waiting.size(); ++w)
    if (waiting[w] == 0)
      ready.push_back(w);
  for (size_t next = 0; next < ready.size(); ++next)
    for (unsigned successor : graph.successors[ready[next]])
      if (--waiting[successor] == 0)
        ready.push_back(successor);
  return ready.size() == waiting.size();
}

Result<bool> Builder::build() {
  const size_t n = program.buffers.size();
  for (size_t b = 0; b < n; ++b) {
    const BufferDecl &decl = program.buffers[b];
    graph.buffers.push_back(
        {decl.name, decl.type, decl.shape, addends.copies[b], unsigned(b), 0});
    value.push_back(unsigned(b));
  }
  readers.resize(n);
  writers.resize(n);
  findLastReads();
  for (unsigned a = 0; a < program.arguments.size(); ++a)
    newRoot(program.arguments[a].buffer, Root::Kind::Argument, a);
  for (unsigned c = 0; c < program.constants.size(); ++c)
    newRoot(program.constants[c].buffer, Root::Kind::Constant, c);
  for (unsigned s = 0; s < program.steps.size(); ++s) {
    const Step &step = program.steps[s];
    Status added = Success();
    if (auto *kernel = std::get_if<KernelStep>(&step))
      added = addKernel(*kernel, s);
    else if (auto *dot = std::get_if<DotStep>(&step))
      added = addDot(*dot, s);
    else
      added = addCollective(std::get<CollectiveStep>(step), s);
    if (!added)
      return added.error();
  }
  for (const ProgramResult &result : program.results) {
    Root &root = graph.roots[graph.buffers[result.buffer].root];
    if (root.kind == Root::Kind::Scratch)
      root.kind = Root::Kind::Result;
  }
  addEdges();
  return hasOrder();
}
} // namespace

const SourceNote &cpu::noteOf(const Step &step) {
  return std::visit([](auto &s) -> const SourceNote & { return s.note; }, step);
}

std::string cpu::describe(const Program &program, unsigned step) {
  const SourceNote &note = noteOf(program.steps[step]);
  return fmt::format(
      "{}{}in '{}': ", note.location, note.location.empty() ? "" : ": ",
      note.op.empty() ? "step " + std::to_string(step) : note.op);
}

Result<StepGraph> cpu::buildStepGraph(const Program &program, int64_t chunks) {
  const AddendPlan addends = planAddends(program, chunks);
  // First with every update in place, its readers moved in front of it; where
  // that is no order, with those updates in place that program order allows.
  for (bool keepProgramOrder : {false, true}) {
    Builder builder(program, chunks, addends, keepProgramOrder);
    Result<bool> ordered = builder.build();
    if (!ordered)
      return ordered.error();
    if (*ordered)
      return std::move(builder.graph);
  }
  return Error("the program's steps depend on each other in a circle");
}
