// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Attentions.h"

#include "GraphValues.h"

#include <algorithm>
#include <optional>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

namespace {
class AttentionFinder {
public:
  AttentionFinder(const Program &program, const StepGraph &graph)
      : graph(graph), values(program, graph) {}
  std::optional<JoinedAttention> join(const Attention &attention) const;

private:
  /// The tensors of an attention, in the order of its accesses.
  static std::vector<const AttentionTensor *>
  tensorsOf(const Attention &attention);
  /// Goes from the action that writes the result back to the operands. Returns
  /// false where that leads elsewhere.
  bool collect(std::span<const unsigned> operands,
               std::vector<unsigned> &actions) const;
  /// Returns whether nobody else reads what the actions compute.
  bool isPrivate(const JoinedAttention &joined, unsigned result) const;
  bool setLoops(JoinedAttention &joined) const;

  const StepGraph &graph;
  const GraphValues values;
};
} // namespace

std::vector<const AttentionTensor *>
AttentionFinder::tensorsOf(const Attention &attention) {
  std::vector<const AttentionTensor *> tensors{
      &attention.query, &attention.key, &attention.value, &attention.result};
  for (const auto *tensor : {&attention.bias, &attention.mask})
    if (*tensor)
      tensors.push_back(&**tensor);
  return tensors;
}

bool AttentionFinder::collect(std::span<const unsigned> operands,
                              std::vector<unsigned> &actions) const {
  constexpr size_t mostActions = 16;
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
      if (!std::ranges::count(actions, *writer))
        actions.push_back(*writer);
    }
  }
  return true;
}

bool AttentionFinder::isPrivate(const JoinedAttention &joined,
                                unsigned result) const {
  for (unsigned action : joined.actions)
    for (const Access &access : graph.works[action].accesses)
      if (access.writes && writtenBuffer(access) != result &&
          !std::ranges::all_of(
              values.readersOf(writtenBuffer(access)), [&](unsigned reader) {
                return std::ranges::count(joined.actions, reader) != 0;
              }))
        return false;
  return true;
}

/// Arrays here begin where the others do, a causal mask counts from the first
/// query and key, and the result lies in the memory of no operand.
bool AttentionFinder::setLoops(JoinedAttention &joined) const {
  const Attention &attention = *joined.attention;
  std::vector<std::optional<int64_t>> extents(attention.numLoops()),
      origins(attention.numLoops());
  const auto tensors = tensorsOf(attention);
  std::vector<Access> &accesses = joined.work.accesses;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const GraphBuffer &buffer = graph.buffers[accesses[t].buffer];
    if (tensors[t]->loops.size() != buffer.shape.size() || buffer.copies != 1)
      return false;
    for (size_t dim = 0; dim < buffer.shape.size(); ++dim) {
      const auto loop = tensors[t]->loops[dim];
      accesses[t].dims.emplace_back();
      if (!loop) {
        if (buffer.shape[dim] != 1)
          return false;
        continue;
      }
      accesses[t].dims.back().terms = {{*loop, 1}};
      if (extents[*loop].value_or(buffer.shape[dim]) != buffer.shape[dim] ||
          origins[*loop].value_or(buffer.origin[dim]) != buffer.origin[dim])
        return false;
      extents[*loop] = buffer.shape[dim];
      origins[*loop] = buffer.origin[dim];
    }
  }
  for (unsigned loop : {attention.queryLoop(), attention.keyLoop()})
    if (attention.isCausal && origins[loop].value_or(0) != 0)
      return false;
  for (const auto &extent : extents)
    joined.work.extents.push_back(extent.value_or(1));
  auto memoryOf = [&](const Access &access) {
    return graph.buffers[access.buffer].memory;
  };
  return std::ranges::count(accesses, memoryOf(accesses[3]), memoryOf) == 1;
}

std::optional<JoinedAttention>
AttentionFinder::join(const Attention &attention) const {
  JoinedAttention joined;
  joined.attention = &attention;
  joined.work.kind = Work::Kind::Dot;
  std::vector<unsigned> operands;
  for (const AttentionTensor *tensor : tensorsOf(attention)) {
    const auto buffer = values.bufferOf(tensor->buffer);
    if (!buffer)
      return std::nullopt;
    const bool isResult = tensor == &attention.result;
    joined.work.accesses.push_back(
        {*buffer, {}, /*reads=*/!isResult, /*writes=*/isResult});
    if (!isResult)
      operands.push_back(values.valueOf(*buffer));
  }
  const unsigned result = joined.work.accesses[3].buffer;
  const auto writer = values.writerOf(result);
  if (!writer || std::ranges::count(operands, result))
    return std::nullopt;
  joined.result = *writer;
  joined.work.step = graph.works[*writer].step;
  joined.actions = {*writer};
  if (!collect(operands, joined.actions) || !isPrivate(joined, result) ||
      !setLoops(joined))
    return std::nullopt;
  return joined;
}

std::vector<JoinedAttention>
cuda::findAttentions(const Program &program, const StepGraph &graph,
                     std::span<const Attention> attentions) {
  std::vector<JoinedAttention> found;
  if (attentions.empty())
    return found;
  const AttentionFinder finder(program, graph);
  for (const Attention &attention : attentions)
    if (auto joined = finder.join(attention))
      found.push_back(std::move(*joined));
  return found;
}
