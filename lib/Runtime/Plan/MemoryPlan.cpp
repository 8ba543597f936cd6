// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views, updates in place, and the edges that keep every reader in front of
// what overwrites its value.
#include "meshloom/Runtime/Plan/MemoryPlan.h"

#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
constexpr int NEVER = -1, AT_END = std::numeric_limits<int>::max();

class MemoryPlanner {
public:
  MemoryPlanner(const Program &program, const MemoryRules &rules,
                bool keepProgramOrder)
      : program(program), rules(rules), keepProgramOrder(keepProgramOrder) {}

  /// Returns whether there is an order (false: edges form a cycle).
  Result<bool> build();
  MemoryPlan plan;

private:
  MoveWay wayOf(const CollectiveStep &step,
                const CollectiveStep::Move &move) const {
    return rules.way ? rules.way(step, move) : MoveWay::Local;
  }
  bool areAlike(unsigned memory, unsigned buffer) const {
    const unsigned first = plan.buffers[plan.memories[memory].buffer].decl;
    return !rules.areAlike || rules.areAlike(first, buffer);
  }
  bool isResult(unsigned buffer) const {
    return std::ranges::any_of(
        program.results,
        [&](const ProgramResult &result) { return result.buffer == buffer; });
  }
  void findLastReads();
  void addMemory(unsigned buffer, Memory::Kind kind, unsigned index = 0);
  unsigned addAction(Action action);
  void define(unsigned buffer, unsigned action);
  bool canOverwrite(const KernelStep &step, int index, unsigned output,
                    const std::vector<bool> &taken) const;
  unsigned addBuffer(PlannedBuffer planned);
  unsigned addCopy(unsigned buffer, unsigned step, unsigned input);
  void defineOutput(unsigned id, unsigned output);
  Status addKernel(const KernelStep &step, unsigned index);
  void addCollective(const CollectiveStep &step, unsigned index);
  void addExchange(unsigned step, unsigned move, std::vector<unsigned> reads,
                   unsigned target);
  void addEdges();
  void edge(unsigned from, unsigned to);
  bool hasOrder() const;

  const Program &program;
  const MemoryRules &rules;
  const bool keepProgramOrder;

  /// For each buffer, the buffer whose value it is (itself, or a view's
  /// source).
  std::vector<unsigned> value;
  /// For each value, the step that reads it last, through any view.
  std::vector<int> lastRead;
  /// For each memory, the value it holds after the steps so far.
  std::vector<unsigned> current;
  std::vector<std::vector<unsigned>> readers, writers; ///< actions, per value
  /// (value, action) for each update in place.
  std::vector<std::pair<unsigned, unsigned>> overwrites;
  std::vector<unsigned> exchanges; ///< actions that begin one
};

void MemoryPlanner::findLastReads() {
  lastRead.assign(program.buffers.size(), NEVER);
  for (const ProgramResult &result : program.results)
    lastRead[result.buffer] = AT_END;
  for (int s = int(program.steps.size()); s-- > 0;) {
    const Step &step = program.steps[size_t(s)];
    for (const Operand *operand : inputsOf(step))
      lastRead[operand->buffer] = std::max(lastRead[operand->buffer], s);
    if (auto *collective = std::get_if<CollectiveStep>(&step))
      for (const CollectiveStep::Move &move : collective->moves)
        lastRead[move.from] = std::max(
            {lastRead[move.from], s,
             wayOf(*collective, move) == MoveWay::View ? lastRead[move.to]
                                                       : NEVER});
  }
}

void MemoryPlanner::addMemory(unsigned buffer, Memory::Kind kind,
                              unsigned index) {
  PlannedBuffer &planned = plan.buffers[buffer];
  planned.memory = unsigned(plan.memories.size());
  const int64_t bytes =
      planned.sumsOf < 0
          ? rules.bytes(planned.decl) * planned.parts
          : rules.sumBytes(planned.decl, unsigned(planned.sumsOf));
  plan.memories.push_back({kind, index, buffer, bytes});
  value[buffer] = buffer;
  current.push_back(buffer);
}

unsigned MemoryPlanner::addAction(Action action) {
  const unsigned index = unsigned(plan.actions.size());
  for (unsigned buffer : action.reads)
    readers[value[buffer]].push_back(index);
  plan.actions.push_back(std::move(action));
  return index;
}

/// `action` writes (a part of) `buffer`, which gets memory at the first write.
void MemoryPlanner::define(unsigned buffer, unsigned action) {
  if (writers[buffer].empty())
    addMemory(buffer, Memory::Kind::Scratch);
  writers[buffer].push_back(action);
}

/// Returns whether output `output` may take over its input's memory as it
/// stands: it is the newest value there and no one needs it afterwards.
bool MemoryPlanner::canOverwrite(const KernelStep &step, int index,
                                 unsigned output,
                                 const std::vector<bool> &taken) const {
  const unsigned input = unsigned(step.inPlace[output]);
  const Operand &operand = step.inputs[input];
  const unsigned old = value[operand.buffer];
  const unsigned memory = plan.buffers[old].memory;
  if (taken[input] || plan.memories[memory].kind == Memory::Kind::Constant ||
      current[memory] != old || lastRead[old] == AT_END ||
      !areAlike(memory, step.outputs[output].buffer) ||
      (keepProgramOrder && lastRead[old] > index))
    return false;
  // Another operand that sees the same memory elsewhere would see the update.
  for (unsigned other = 0; other < step.inputs.size(); ++other)
    if (other != input &&
        plan.buffers[step.inputs[other].buffer].memory == memory &&
        step.inputs[other].dims != operand.dims)
      return false;
  return true;
}

/// One behind the program's.
unsigned MemoryPlanner::addBuffer(PlannedBuffer planned) {
  const unsigned buffer = unsigned(plan.buffers.size());
  plan.buffers.push_back(planned);
  value.push_back(buffer);
  readers.emplace_back();
  writers.emplace_back();
  return buffer;
}

/// Action `id`, a step, writes its output `output`; where it is cut into parts,
/// to a buffer of them, which one more action combines.
void MemoryPlanner::defineOutput(unsigned id, unsigned output) {
  const unsigned step = plan.actions[id].step;
  const unsigned result = plan.actions[id].writes[output];
  const int64_t parts = rules.parts ? rules.parts(step) : 1;
  if (parts == 1)
    return define(result, id);
  const unsigned buffer = addBuffer({.decl = result, .parts = parts});
  plan.actions[id].writes[output] = buffer;
  define(buffer, id);
  define(result,
         addAction({Action::Kind::Combine, step, output, {buffer}, {result}}));
}

/// A copy of `buffer`, which step `step` has as input `input`; the old value
/// lives on.
unsigned MemoryPlanner::addCopy(unsigned buffer, unsigned step,
                                unsigned input) {
  const unsigned copy = addBuffer({.decl = plan.buffers[buffer].decl});
  define(copy, addAction({Action::Kind::Copy, step, input, {buffer}, {copy}}));
  return copy;
}

Status MemoryPlanner::addKernel(const KernelStep &step, unsigned index) {
  Action action{Action::Kind::Step, index};
  for (const Operand &input : step.inputs)
    action.reads.push_back(input.buffer);
  std::vector<bool> taken(step.inputs.size(), false);
  for (unsigned o = 0; o < step.outputs.size(); ++o) {
    action.writes.push_back(step.outputs[o].buffer);
    if (step.inPlace[o] < 0)
      continue;
    const unsigned input = unsigned(step.inPlace[o]);
    if (taken[input] || rules.bytes(step.inputs[input].buffer) !=
                            rules.bytes(step.outputs[o].buffer))
      return Error(
          fmt::format("{}output {} cannot share the memory of input {}",
                      describe(program, index), o, input));
    if (!canOverwrite(step, int(index), o, taken))
      action.reads[input] = addCopy(step.inputs[input].buffer, index, input);
    taken[input] = true;
  }
  const unsigned id = addAction(std::move(action));
  for (unsigned o = 0; o < step.outputs.size(); ++o) {
    if (step.inPlace[o] < 0)
      continue;
    const unsigned output = step.outputs[o].buffer;
    const unsigned old =
        value[plan.actions[id].reads[unsigned(step.inPlace[o])]];
    const unsigned memory = plan.buffers[old].memory;
    overwrites.emplace_back(old, id);
    plan.buffers[output].memory = memory;
    value[output] = output;
    current[memory] = output;
    writers[output].push_back(id);
    if (plan.memories[memory].kind == Memory::Kind::Argument)
      plan.memories[memory].overwritten = true;
  }
  for (unsigned o = 0; o < step.outputs.size(); ++o)
    if (step.inPlace[o] < 0)
      defineOutput(id, o);
  return Success();
}

void MemoryPlanner::addCollective(const CollectiveStep &step, unsigned index) {
  for (unsigned m = 0; m < step.moves.size(); ++m) {
    const CollectiveStep::Move &move = step.moves[m];
    const MoveWay way = wayOf(step, move);
    // A caller gets an array of its own.
    if (way == MoveWay::View &&
        (areAlike(plan.buffers[move.from].memory, move.to) ||
         !isResult(move.to))) {
      plan.buffers[move.to].memory = plan.buffers[move.from].memory;
      value[move.to] = value[move.from];
      continue;
    }
    if (way == MoveWay::Exchange) {
      addExchange(index, m, {move.from}, move.to);
      continue;
    }
    const unsigned target =
        way == MoveWay::SumAndExchange
            ? addBuffer({.decl = move.from, .sumsOf = int(move.to)})
            : move.to;
    define(target,
           addAction({Action::Kind::Move, index, m, {move.from}, {target}}));
    if (way == MoveWay::SumAndExchange)
      addExchange(index, m, {target}, move.to);
    else if (way == MoveWay::SumInPlace)
      addExchange(index, m, {}, move.to);
  }
}

/// Values that an exchange reads stay as they are until its end.
void MemoryPlanner::addExchange(unsigned step, unsigned move,
                                std::vector<unsigned> reads, unsigned target) {
  const unsigned begin =
      addAction({Action::Kind::Exchange, step, move, reads, {target}});
  define(target, begin);
  exchanges.push_back(begin);
  define(target,
         addAction(
             {Action::Kind::Arrival, step, move, std::move(reads), {target}}));
}

void MemoryPlanner::edge(unsigned from, unsigned to) {
  plan.successors[from].push_back(to);
  ++plan.numPredecessors[to];
}

void MemoryPlanner::addEdges() {
  plan.successors.resize(plan.actions.size());
  plan.numPredecessors.assign(plan.actions.size(), 0);
  for (size_t v = 0; v < writers.size(); ++v) {
    for (size_t w = 1; w < writers[v].size(); ++w)
      edge(writers[v][w - 1], writers[v][w]);
    if (!writers[v].empty())
      for (unsigned reader : readers[v])
        edge(writers[v].back(), reader);
  }
  for (size_t e = 1; e < exchanges.size(); ++e)
    edge(exchanges[e - 1], exchanges[e]);
  for (auto [old, action] : overwrites)
    for (unsigned reader : readers[old])
      if (reader != action)
        edge(reader, action);
}

bool MemoryPlanner::hasOrder() const {
  std::vector<unsigned> waiting = plan.numPredecessors, ready;
  for (unsigned a = 0; a < waiting.size(); ++a)
    if (waiting[a] == 0)
      ready.push_back(a);
  for (size_t next = 0; next < ready.size(); ++next)
    for (unsigned successor : plan.successors[ready[next]])
      if (--waiting[successor] == 0)
        ready.push_back(successor);
  return ready.size() == waiting.size();
}

Result<bool> MemoryPlanner::build() {
  const size_t n = program.buffers.size();
  plan.buffers.reserve(n);
  plan.memories.reserve(n);
  plan.actions.reserve(program.steps.size());
  value.reserve(n);
  for (unsigned b = 0; b < n; ++b) {
    plan.buffers.push_back({b});
    value.push_back(b);
  }
  readers.resize(n);
  writers.resize(n);
  findLastReads();
  for (unsigned a = 0; a < program.arguments.size(); ++a)
    addMemory(program.arguments[a].buffer, Memory::Kind::Argument, a);
  for (unsigned c = 0; c < program.constants.size(); ++c)
    addMemory(program.constants[c].buffer, Memory::Kind::Constant, c);
  for (unsigned s = 0; s < program.steps.size(); ++s) {
    const Step &step = program.steps[s];
    if (auto *kernel = std::get_if<KernelStep>(&step)) {
      if (Status ok = addKernel(*kernel, s); !ok)
        return ok.error();
    } else if (auto *dot = std::get_if<DotStep>(&step)) {
      defineOutput(addAction({Action::Kind::Step,
                              s,
                              0,
                              {dot->lhs.buffer, dot->rhs.buffer},
                              {dot->out.buffer}}),
                   0);
    } else {
      addCollective(std::get<CollectiveStep>(step), s);
    }
  }
  for (const ProgramResult &result : program.results) {
    Memory &memory = plan.memories[plan.buffers[result.buffer].memory];
    if (memory.kind == Memory::Kind::Scratch)
      memory.kind = Memory::Kind::Result;
  }
  addEdges();
  return hasOrder();
}
} // namespace

Result<MemoryPlan> plan::planMemory(const Program &program,
                                    const MemoryRules &rules) {
  // First with every update in place, its readers moved in front of it; where
  // that is not an order, with those updates in place that program order
  // allows.
  for (bool keepProgramOrder : {false, true}) {
    if (!rules.anyOrder && !keepProgramOrder)
      continue;
    MemoryPlanner planner(program, rules, keepProgramOrder);
    Result<bool> ordered = planner.build();
    if (!ordered)
      return ordered.error();
    if (*ordered)
      return std::move(planner.plan);
  }
  return Error("the program's steps depend on each other in a circle",
               ErrorCode::INTERNAL);
}
