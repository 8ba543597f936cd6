// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The plan that all runs have: the order of calls, where their memory is, which
// calls each comes after, and the code of each.
#include "CUDAExecutable.h"

#include "BiasGradients.h"
#include "GraphValues.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <numeric>
#include <queue>
#include <set>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

bool CUDAExecutable::isOfLibrary(const Call &call) const {
  const auto parts = planParts(call);
  return parts && !parts->empty();
}

/// Checks look at what each step computes.
void CUDAExecutable::joinEpilogues() {
  if (options.checkNonFinite)
    return;
  const std::vector<BiasGradient> gradients =
      findBiasGradients(loaded, graph, code->code.epilogues);
  for (const std::vector<JoinedProduct> &products :
       findEpilogues(loaded, graph, code->code.epilogues)) {
    ActionJoiner joiner(graph.plan);
    const bool isPossible =
        std::ranges::all_of(products, [&](const JoinedProduct &product) {
          return isJoinable(product, product.kernels, joiner);
        });
    if (!isPossible)
      continue;
    joiner.finish();
    for (const JoinedProduct &product : products)
      setJoined(product);
  }
  for (const BiasGradient &gradient : gradients)
    joinBiasGradient(gradient);
}

/// The product that computes the value comes first: it has the value in
/// registers. A library may know only one of them, or none.
void CUDAExecutable::joinBiasGradient(const BiasGradient &gradient) {
  std::vector<JoinedProduct> candidates;
  for (const auto &[action, product] : joined)
    if (product.form == ProductEpilogue::Form::GeluGradient &&
        !product.summed && product.kernels[0] == gradient.writer)
      candidates.emplace_back(product).summed = 2;
  for (unsigned product : gradient.products)
    if (auto beside = productBeside(graph, gradient, product);
        beside && !joined.contains(product))
      candidates.push_back(std::move(*beside));
  for (JoinedProduct &product : candidates) {
    ActionJoiner joiner(graph.plan);
    if (!addBiasGradient(graph, gradient, product) ||
        !isJoinable(product, gradient.kernels, joiner))
      continue;
    joiner.finish();
    setJoined(product);
    return;
  }
}

bool CUDAExecutable::isJoinable(const JoinedProduct &product,
                                std::span<const unsigned> kernels,
                                ActionJoiner &joiner) const {
  std::vector<unsigned> actions{product.product};
  actions.insert(actions.end(), kernels.begin(), kernels.end());
  return std::ranges::none_of(actions,
                              [&](unsigned action) {
                                return attentions.contains(action) ||
                                       joinedActions.contains(action);
                              }) &&
         isOfLibrary(callOf(product.work, &product)) &&
         joiner.join(actions, product.product);
}

void CUDAExecutable::setJoined(const JoinedProduct &product) {
  graph.works[product.product] = product.work;
  joinedActions.insert(product.kernels.begin(), product.kernels.end());
  joined.insert_or_assign(product.product, product);
}

void CUDAExecutable::joinAttentions() {
  if (options.checkNonFinite)
    return;
  for (std::vector<JoinedAttention> &list :
       findAttentions(loaded, graph, code->code.attentions)) {
    ActionJoiner joiner(graph.plan);
    const bool isPossible =
        std::ranges::all_of(list, [&](const JoinedAttention &found) {
          return std::ranges::none_of(found.actions,
                                      [&](unsigned action) {
                                        return joinedActions.contains(action);
                                      }) &&
                 isOfLibrary(callOf(found.work, nullptr, &found)) &&
                 joiner.join(found.actions, found.into);
        });
    if (!isPossible)
      continue;
    joiner.finish();
    for (JoinedAttention &found : list) {
      graph.works[found.into] = found.work;
      for (unsigned action : found.actions)
        if (action != found.into)
          joinedActions.insert(action);
      attentions.emplace(found.into, std::move(found));
    }
  }
}

/// The order of the program, as far as the plan's edges allow.
void CUDAExecutable::order() {
  std::vector<unsigned> waiting = graph.plan.numPredecessors;
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned action = 0; action < waiting.size(); ++action)
    if (waiting[action] == 0)
      ready.push(action);
  while (!ready.empty()) {
    const unsigned action = ready.top();
    ready.pop();
    if (!joinedActions.contains(action))
      sequence.push_back(action);
    for (unsigned next : graph.plan.successors[action])
      if (--waiting[next] == 0)
        ready.push(next);
  }
}

std::vector<unsigned> CUDAExecutable::scratchOf(const Call &call) const {
  std::vector<unsigned> scratch;
  auto addMemory = [&](unsigned buffer) {
    const unsigned memory = graph.buffers[buffer].memory;
    if (graph.plan.memories[memory].kind == Memory::Kind::Scratch)
      scratch.push_back(memory);
  };
  for (const Access &access : call.work->accesses)
    addMemory(access.buffer);
  if (call.workspace)
    scratch.push_back(*call.workspace);
  if (call.work->kind == Work::Kind::Exchange)
    for (unsigned sum : jointSums[call.work->exchange])
      addMemory(unsigned(graph.exchanges[sum].to));
  return scratch;
}

/// Scratch memory by the places in the order from its first to its last use.
Offsets CUDAExecutable::place() const {
  std::vector<Lifetime> lifetimes(graph.plan.memories.size());
  for (int position = 0; position < int(calls.size()); ++position)
    for (unsigned index : scratchOf(calls[position])) {
      Lifetime &life = lifetimes[index];
      if (life.first < 0)
        life.first = position;
      life.last = position;
      life.bytes = graph.plan.memories[index].bytes;
    }
  return placeByLifetime(lifetimes);
}

/// Users of a memory come after those of an earlier one at the same place.
/// Edges that follow from others are left out: a later memory is at both
/// places.
void CUDAExecutable::addMemoryEdges(
    const std::vector<std::vector<unsigned>> &users,
    const std::vector<int64_t> &offsets,
    std::vector<std::set<unsigned>> &edges) const {
  const std::vector<Memory> &memories = graph.plan.memories;
  auto overlap = [&](unsigned m, unsigned n) {
    return offsets[m] < offsets[n] + memories[n].bytes &&
           offsets[n] < offsets[m] + memories[m].bytes;
  };
  std::vector<unsigned> byLastUse;
  for (unsigned m = 0; m < memories.size(); ++m)
    if (!users[m].empty())
      byLastUse.push_back(m);
  std::ranges::sort(byLastUse, std::greater(),
                    [&](unsigned m) { return users[m].back(); });
  for (unsigned n : byLastUse) {
    std::vector<unsigned> before;
    for (unsigned m : byLastUse)
      if (users[m].back() < users[n].front() && overlap(m, n) &&
          std::ranges::none_of(before,
                               [&](unsigned l) { return overlap(m, l); }))
        before.push_back(m);
    for (unsigned m : before)
      for (unsigned position : users[n])
        edges[position].insert(users[m].begin(), users[m].end());
  }
}

/// A call comes after those that the plan names, after the last users of
/// scratch memory whose place its own has, after the last host node, whose
/// memory of the host its own node takes, and after the last work of a library
/// that shares memory with its own.
void CUDAExecutable::findEdges(const std::vector<int64_t> &offsets) {
  std::vector<unsigned> positionOf(graph.works.size());
  for (unsigned position = 0; position < sequence.size(); ++position)
    positionOf[sequence[position]] = position;
  std::vector<std::set<unsigned>> edges(sequence.size());
  for (unsigned position = 0; position < sequence.size(); ++position)
    for (unsigned next : graph.plan.successors[sequence[position]])
      edges[positionOf[next]].insert(position);
  std::vector<std::vector<unsigned>> users(graph.plan.memories.size());
  for (unsigned position = 0; position < calls.size(); ++position)
    for (unsigned memory : scratchOf(calls[position]))
      users[memory].push_back(position);
  addMemoryEdges(users, offsets, edges);
  auto chain = [&](const auto &isMember) {
    std::optional<unsigned> last;
    for (unsigned position = 0; position < calls.size(); ++position)
      if (isMember(calls[position])) {
        if (last)
          edges[position].insert(*last);
        last = position;
      }
  };
  chain([](const Call &call) { return call.hasHostNode(); });
  chain([](const Call &call) {
    return call.hasLibraryWork(&LibraryWork::isInOrder);
  });
  for (const std::set<unsigned> &earlier : edges)
    after.emplace_back(earlier.begin(), earlier.end());
}

/// Edges within a segment count its calls; the stream keeps the others.
void CUDAExecutable::findSegments() {
  for (size_t c = 0; c < calls.size(); ++c) {
    if (segments.empty() || calls[c].isAlone() ||
        calls[segments.back().begin].isAlone())
      segments.push_back({c, c, nullptr});
    Segment &segment = segments.back();
    segment.end = c + 1;
    std::erase_if(after[c],
                  [&](unsigned call) { return call < segment.begin; });
    for (unsigned &call : after[c])
      call -= unsigned(segment.begin);
  }
}

Status CUDAExecutable::plan() {
  Result<MeshProcesses> placed = gpus.processesOf(mesh());
  if (!placed)
    return placed.error();
  processes = std::move(*placed);
  const OnOneHost onOneHost = [](int, int) { return true; };
  Result<StepGraph> built =
      buildStepGraph(loaded, /*chunks=*/1, processes, onOneHost);
  if (!built)
    return built.error();
  graph = std::move(*built);
  if (Status ok = placeExchanges(); !ok)
    return ok;
  joinAttentions();
  joinEpilogues();
  order();
  for (unsigned action : sequence) {
    Result<Call> call = prepare(action);
    if (!call)
      return call.error();
    calls.push_back(std::move(*call));
  }
  joinSums();
  Offsets scratch = place();
  findEdges(scratch.offsets);
  findSegments();
  if (Status ok = setPlan(std::move(graph.plan), std::move(scratch.offsets),
                          scratch.peak, linkBytes);
      !ok)
    return ok;
  if (stagingBytes == 0)
    return Success();
  Result<std::shared_ptr<char>> memory = card->allocateHost(stagingBytes);
  if (!memory)
    return memory.error();
  staging = std::move(*memory);
  return Success();
}

Call CUDAExecutable::callOf(const Work &work, const JoinedProduct *product,
                            const JoinedAttention *attention) const {
  Call call;
  call.work = &work;
  call.joined = product;
  call.attention = attention;
  for (unsigned a = 0; a < work.accesses.size(); ++a) {
    const Access &access = work.accesses[a];
    const GraphBuffer &buffer = graph.buffers[access.buffer];
    call.elements.push_back(
        elementsOf(access, buffer.shape, work.extents.size()));
    const std::vector<int64_t> &strides = call.elements.back().strides;
    call.strides.insert(call.strides.end(), strides.begin(), strides.end());
    if (options.checkNonFinite && access.writes &&
        (isFloat(buffer.type) || isComplex(buffer.type)) &&
        work.kind != Work::Kind::Copy && !work.isExchange())
      call.nonFinite.push_back(a);
  }
  return call;
}

Result<Call> CUDAExecutable::prepare(unsigned action) {
  const auto product = joined.find(action);
  const auto attention = attentions.find(action);
  const Work &work = graph.works[action];
  Call call =
      callOf(work, product == joined.end() ? nullptr : &product->second,
             attention == attentions.end() ? nullptr : &attention->second);
  if (work.isExchange())
    return call;
  if (Status ok = call.attention ? Success() : findKernel(call); !ok)
    return ok.error();
  if (Status ok = planLibrary(call); !ok)
    return ok.error();
  if (call.kernel.shape &&
      work.kind == Work::Kind::Reduce) { // a loop of addends
    const GraphBuffer &from = graph.buffers[work.accesses[0].buffer];
    call.elements[0].strides.push_back(*addendStep(work) *
                                       elementCount(from.shape));
    call.elements[1].strides.push_back(0);
  }
  call.onHost = !call.kernel.shape && call.libraryWork.empty() &&
                work.kind != Work::Kind::Copy;
  if (call.onHost) {
    auto host = HostWork::make(loaded, graph, work, code->host.get());
    if (!host)
      return host.error();
    call.host = std::move(*host);
  }
  if (call.hasHostNode())
    stage(call);
  return call;
}

std::optional<CUDAExecutable::Addends>
CUDAExecutable::Addends::of(std::span<const int64_t> numbers) {
  if (numbers.empty())
    return std::nullopt;
  const int64_t step = numbers.size() > 1 ? numbers[1] - numbers[0] : 0;
  for (size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != step)
      return std::nullopt;
  return Addends{numbers[0], step, int64_t(numbers.size())};
}

/// The step from one addend to the next, where all values that `work` makes
/// have the same one; else the host combines them.
std::optional<int64_t> CUDAExecutable::addendStep(const Work &work) {
  std::optional<int64_t> step;
  for (const std::vector<int64_t> &numbers : work.addends) {
    const std::optional<Addends> addends = Addends::of(numbers);
    if (!addends || (step && *step != addends->step))
      return std::nullopt;
    step = addends->step;
  }
  return step;
}

/// The code of a kernel, product or combination; empty where there is none.
std::string CUDAExecutable::symbolOf(const Work &work) const {
  if (work.kind == Work::Kind::Dot) {
    auto kind =
        ProductKind::of(loaded, std::get<DotStep>(loaded.steps[work.step]));
    return kind ? kind->symbol() : "";
  }
  if (work.kind == Work::Kind::Reduce && addendStep(work))
    return CombinationKind{graph.buffers[work.accesses[0].buffer].type,
                           work.reduce, unsigned(work.extents.size())}
        .symbol();
  if (work.kind != Work::Kind::Kernel)
    return "";
  const KernelStep &step = std::get<KernelStep>(loaded.steps[work.step]);
  if (step.library.empty())
    return step.symbol;
  auto kind = ProductKind::of(loaded, step);
  return kind ? kind->symbol() : "";
}

/// Looks for the code of a call on the card. There is none of a library
/// function, and of a kernel that the host has.
Status CUDAExecutable::findKernel(Call &call) const {
  Result<LoadedKernel> kernel = loadedKernel(symbolOf(*call.work));
  if (!kernel)
    return kernel.error().withMessage(describe(loaded, call.work->step) +
                                      kernel.error().message());
  call.kernel = *kernel;
  return Success();
}

Result<LoadedKernel>
CUDAExecutable::loadedKernel(const std::string &symbol) const {
  const auto &shapes = code->code.kernels;
  const auto shape = std::ranges::find(shapes, symbol, &KernelShape::symbol);
  if (shape == shapes.end())
    return LoadedKernel();
  Result<FunctionHandle> function = code->kernels->find(symbol);
  if (!function)
    return function.error();
  return LoadedKernel{&*shape, *function};
}

Interval CUDAExecutable::touched(const Call &call, const Part &part,
                                 size_t access) const {
  const GraphBuffer &buffer = graph.buffers[call.work->accesses[access].buffer];
  const int64_t whole = graph.plan.memories[buffer.memory].bytes;
  if (call.work->kind == Work::Kind::Reduce) // of addends behind one another
    return {0, whole};
  const int64_t width = byteWidth(buffer.type);
  Interval bytes{part.offsets[access], part.offsets[access] + width};
  for (size_t l = 0; l < part.extents.size(); ++l) {
    const int64_t stride = call.elements[access].strides[l] * width;
    if (stride != 0 && part.extents[l] == 0)
      return {0, 0};
    const int64_t reach = stride * std::max<int64_t>(part.extents[l] - 1, 0);
    (reach < 0 ? bytes.begin : bytes.end) += reach;
  }
  // Windows reach beyond their arrays. The beginning is as aligned as before.
  constexpr int64_t alignment = 64;
  return {std::max<int64_t>(bytes.begin, 0) / alignment * alignment,
          std::min(bytes.end, whole)};
}

void CUDAExecutable::stage(Call &call) {
  (void)forEachBox(call, [&](const Part &part) -> Status {
    for (size_t a = 0; a < call.work->accesses.size(); ++a) {
      const Access &access = call.work->accesses[a];
      const Interval bytes = touched(call, part, a);
      if (bytes.empty())
        continue;
      const unsigned memory = graph.buffers[access.buffer].memory;
      auto found =
          std::ranges::find(call.staged, memory, &Call::Staged::memory);
      if (found == call.staged.end()) {
        call.staged.push_back({memory, bytes, false});
        found = std::prev(call.staged.end());
      }
      found->bytes = {std::min(found->bytes.begin, bytes.begin),
                      std::max(found->bytes.end, bytes.end)};
      found->written |= call.onHost && access.writes;
    }
    return Success();
  });
  int64_t end = 0;
  for (Call::Staged &staged : call.staged) {
    staged.offset = end;
    end += OffsetAllocator::rounded(staged.bytes.size());
  }
  stagingBytes = std::max(stagingBytes, end);
}
