// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Attentions.h"

#include "GraphValues.h"

#include <algorithm>
#include <optional>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

namespace {
/// The iterations of an attention here.
struct AttentionLoops {
  std::vector<int64_t> extents, origins;
};

class AttentionFinder {
public:
  AttentionFinder(const Program &program, StepGraph &graph)
      : graph(graph), values(program, graph) {}
  /// Returns an attention, and its gradient where it has one; empty: it is not
  /// joined.
  std::vector<JoinedAttention> join(const Attention &attention);

private:
  /// Adds the tensor's access. Returns false where it is not all here, or where
  /// one that is written is not all of its buffer.
  bool addAccess(const Operand &tensor, bool isWritten,
                 const AttentionLoops &loops, Work &work) const;
  std::optional<AttentionLoops> loopsOf(const Attention &attention) const;
  /// Finds the accesses of the result and what it is computed from.
  std::optional<JoinedAttention> joinResult(const Attention &attention,
                                            const AttentionLoops &loops) const;
  std::optional<JoinedAttention>
  joinGradient(const JoinedAttention &result,
               const AttentionLoops &loops) const;
  /// Goes from actions back to the operands. Returns false where that leads
  /// elsewhere. `excluded`: actions that are not looked at.
  bool collect(std::span<const unsigned> operands,
               std::span<const unsigned> excluded,
               std::vector<unsigned> &actions) const;
  /// Returns whether nobody else reads what the actions compute, but for the
  /// results of the works.
  bool arePrivate(std::span<const JoinedAttention> joined) const;
  /// Returns whether each result lies in memory of its own, which no other
  /// action writes.
  bool areApart(std::span<const JoinedAttention> joined) const;
  /// Adds buffers of numbers for each row of the scores, and their accesses.
  void addRows(const AttentionLoops &loops, JoinedAttention &result,
               JoinedAttention &gradient);
  unsigned memoryOf(const Access &access) const {
    return graph.buffers[access.buffer].memory;
  }

  StepGraph &graph;
  const GraphValues values;
};
} // namespace

/// The loops are those of the scores; a causal mask counts from the first query
/// and key.
std::optional<AttentionLoops>
AttentionFinder::loopsOf(const Attention &attention) const {
  const auto scores = values.bufferOf(attention.scores.buffer);
  if (!scores ||
      graph.buffers[*scores].shape.size() != attention.scores.dims.size())
    return std::nullopt;
  AttentionLoops loops{std::vector<int64_t>(attention.numLoops(), 1),
                       std::vector<int64_t>(attention.numLoops(), 0)};
  for (size_t dim = 0; dim < attention.scores.dims.size(); ++dim)
    for (auto [loop, coefficient] : attention.scores.dims[dim].terms) {
      loops.extents[loop] = graph.buffers[*scores].shape[dim];
      loops.origins[loop] = graph.buffers[*scores].origin[dim];
    }
  loops.extents[attention.termLoop()] = attention.terms;
  loops.extents[attention.columnLoop()] = attention.columns;
  if (attention.isCausal && (loops.origins[attention.queryLoop()] != 0 ||
                             loops.origins[attention.keyLoop()] != 0))
    return std::nullopt;
  return loops;
}

bool AttentionFinder::addAccess(const Operand &tensor, bool isWritten,
                                const AttentionLoops &loops, Work &work) const {
  const auto index = values.bufferOf(tensor.buffer);
  if (!index)
    return false;
  const GraphBuffer &buffer = graph.buffers[*index];
  if (tensor.dims.size() != buffer.shape.size() || buffer.copies != 1)
    return false;
  Access access{*index, {}, /*reads=*/!isWritten, /*writes=*/isWritten};
  int64_t count = 1;
  for (size_t dim = 0; dim < tensor.dims.size(); ++dim) {
    DimAccess here = tensor.dims[dim];
    here.offset -= buffer.origin[dim];
    int64_t reach = 0;
    for (auto [loop, coefficient] : here.terms) {
      if (coefficient < 1)
        return false;
      here.offset += coefficient * loops.origins[loop];
      reach += coefficient * (loops.extents[loop] - 1);
      count *= loops.extents[loop];
    }
    if (here.offset < 0 || here.offset + reach >= buffer.shape[dim])
      return false;
    access.dims.push_back(std::move(here));
  }
  work.accesses.push_back(std::move(access));
  return !isWritten || count == elementCount(buffer.shape);
}

bool AttentionFinder::collect(std::span<const unsigned> operands,
                              std::span<const unsigned> excluded,
                              std::vector<unsigned> &actions) const {
  constexpr size_t mostActions = 32;
  for (size_t next = 0; next < actions.size(); ++next) {
    const Work &work = graph.works[actions[next]];
    if ((work.kind != Work::Kind::Dot && work.kind != Work::Kind::Kernel) ||
        !work.instances.empty() || actions.size() > mostActions)
      return false;
    for (const Access &access : work.accesses) {
      const unsigned value = values.valueOf(access.buffer);
      if (!access.reads || std::ranges::count(operands, value))
        continue;
      const auto writer = values.writerOf(value);
      if (!writer)
        return false;
      if (!std::ranges::count(actions, *writer) &&
          !std::ranges::count(excluded, *writer))
        actions.push_back(*writer);
    }
  }
  return true;
}

/// Returns the values that a work reads.
static std::vector<unsigned> operandsOf(const Work &work,
                                        const GraphValues &values) {
  std::vector<unsigned> operands;
  for (const Access &access : work.accesses)
    if (access.reads)
      operands.push_back(values.valueOf(access.buffer));
  return operands;
}

std::optional<JoinedAttention>
AttentionFinder::joinResult(const Attention &attention,
                            const AttentionLoops &loops) const {
  JoinedAttention joined;
  joined.attention = &attention;
  Work &work = joined.work;
  work.kind = Work::Kind::Dot;
  work.extents = loops.extents;
  work.begin = loops.origins;
  for (const Operand *tensor :
       {&attention.query, &attention.key, &attention.value, &attention.result})
    if (!addAccess(*tensor, tensor == &attention.result, loops, work))
      return std::nullopt;
  if (attention.bias &&
      !addAccess(*attention.bias, /*isWritten=*/false, loops, work))
    return std::nullopt;
  if (attention.mask)
    for (const Operand &operand : attention.mask->operands)
      if (!addAccess(operand, /*isWritten=*/false, loops, work))
        return std::nullopt;
  const auto writer = values.writerOf(work.accesses[3].buffer);
  if (!writer)
    return std::nullopt;
  joined.into = *writer;
  joined.actions = {*writer};
  work.step = graph.works[*writer].step;
  if (!collect(operandsOf(work, values), {}, joined.actions))
    return std::nullopt;
  return joined;
}

std::optional<JoinedAttention>
AttentionFinder::joinGradient(const JoinedAttention &result,
                              const AttentionLoops &loops) const {
  JoinedAttention joined;
  joined.attention = result.attention;
  joined.form = AttentionForm::Gradient;
  joined.work = result.work;
  const Attention::Gradient &gradient = *result.attention->gradient;
  Work &work = joined.work;
  Access &forward = work.accesses[3];
  std::swap(forward.reads, forward.writes);
  if (!addAccess(gradient.result, /*isWritten=*/false, loops, work))
    return std::nullopt;
  for (const Operand *tensor :
       {&gradient.query, &gradient.key, &gradient.value}) {
    if (!addAccess(*tensor, /*isWritten=*/true, loops, work))
      return std::nullopt;
    const auto writer = values.writerOf(work.accesses.back().buffer);
    if (!writer)
      return std::nullopt;
    if (!std::ranges::count(joined.actions, *writer))
      joined.actions.push_back(*writer);
  }
  joined.into = joined.actions.front();
  work.step = graph.works[joined.into].step;
  if (!collect(operandsOf(work, values), result.actions, joined.actions))
    return std::nullopt;
  return joined;
}

bool AttentionFinder::arePrivate(
    std::span<const JoinedAttention> joined) const {
  auto isOwn = [&](unsigned action) {
    return std::ranges::any_of(joined, [&](const JoinedAttention &one) {
      return std::ranges::count(one.actions, action) != 0;
    });
  };
  auto isResult = [&](unsigned buffer) {
    return std::ranges::any_of(joined, [&](const JoinedAttention &one) {
      return std::ranges::any_of(one.work.accesses, [&](const Access &access) {
        return access.writes && access.buffer == buffer;
      });
    });
  };
  for (const JoinedAttention &one : joined)
    for (unsigned action : one.actions)
      for (const Access &access : graph.works[action].accesses)
        if (access.writes && !isResult(writtenBuffer(access)) &&
            !std::ranges::all_of(values.readersOf(writtenBuffer(access)),
                                 isOwn))
          return false;
  return true;
}

bool AttentionFinder::areApart(std::span<const JoinedAttention> joined) const {
  auto writes = [&](const Work &work, unsigned memory) {
    return std::ranges::any_of(work.accesses, [&](const Access &access) {
      return access.writes &&
             graph.buffers[writtenBuffer(access)].memory == memory;
    });
  };
  for (const JoinedAttention &one : joined)
    for (const Access &access : one.work.accesses) {
      const unsigned memory = memoryOf(access);
      if (access.writes && std::ranges::count(one.work.accesses, memory,
                                              [&](const Access &other) {
                                                return memoryOf(other);
                                              }) != 1)
        return false;
      // The gradient reads the result, which the actions it stands for do not.
      if (access.writes && joined.size() > 1 && &one == joined.data() &&
          std::ranges::count_if(graph.works, [&](const Work &work) {
            return writes(work, memory);
          }) != 1)
        return false;
    }
  return true;
}

void AttentionFinder::addRows(const AttentionLoops &loops,
                              JoinedAttention &result,
                              JoinedAttention &gradient) {
  std::vector<const char *> names{"logarithms"};
  if (result.attention->mask)
    names = {"largest", "sums"};
  for (const char *name : names) {
    GraphBuffer buffer;
    buffer.name = name;
    buffer.type = DType::F32;
    Access access{unsigned(graph.buffers.size()),
                  {},
                  /*reads=*/false,
                  /*writes=*/true};
    for (unsigned loop = 0; loop <= result.attention->queryLoop(); ++loop) {
      buffer.shape.push_back(loops.extents[loop]);
      access.dims.push_back({0, {{loop, 1}}});
    }
    buffer.origin.assign(buffer.shape.size(), 0);
    buffer.memory = unsigned(graph.plan.memories.size());
    graph.plan.memories.emplace_back().bytes = buffer.bytesPerCopy();
    graph.buffers.push_back(std::move(buffer));
    result.work.accesses.push_back(access);
    std::swap(access.reads, access.writes);
    constexpr auto numGradients = 4;
    gradient.work.accesses.insert(gradient.work.accesses.end() - numGradients,
                                  std::move(access));
  }
  result.form = AttentionForm::ResultAndRows;
}

std::vector<JoinedAttention> AttentionFinder::join(const Attention &attention) {
  const auto loops = loopsOf(attention);
  auto result = loops ? joinResult(attention, *loops) : std::nullopt;
  if (!result)
    return {};
  std::vector<JoinedAttention> joined{std::move(*result)};
  if (!attention.gradient) {
    if (!arePrivate(joined) || !areApart(joined))
      joined.clear();
    return joined;
  }
  auto gradient = joinGradient(joined[0], *loops);
  if (!gradient)
    return {};
  joined.push_back(std::move(*gradient));
  if (!arePrivate(joined) || !areApart(joined))
    return {};
  addRows(*loops, joined[0], joined[1]);
  return joined;
}

std::vector<std::vector<JoinedAttention>>
cuda::findAttentions(const Program &program, StepGraph &graph,
                     std::span<const Attention> attentions) {
  std::vector<std::vector<JoinedAttention>> found;
  if (attentions.empty())
    return found;
  AttentionFinder finder(program, graph);
  for (const Attention &attention : attentions)
    if (auto joined = finder.join(attention); !joined.empty())
      found.push_back(std::move(joined));
  return found;
}
