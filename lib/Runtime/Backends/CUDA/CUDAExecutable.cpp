// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A straight program on a card: its step graph, as one of the card's graphs or
// one piece of work after the other in the card's stream. A thread of the host
// does work that has no kernel in its turn (a host node): the card copies what
// it touches to the host first, and what it has written back afterwards.
//
// Cards of one mesh are processes of it. They exchange what collectives move
// by way of the host, which waits for the work so far: a program that exchanges
// is no graph, and is over when a run returns.
#include "CUDAClient.h"
#include "Graph.h"

#include "meshloom/Runtime/NonFinite.h"
#include "meshloom/Runtime/Plan/AgreedOutcome.h"
#include "meshloom/Runtime/Plan/Failure.h"
#include "meshloom/Runtime/Plan/Offsets.h"
#include "meshloom/Runtime/Plan/Shared/ExchangeRun.h"
#include "meshloom/Runtime/Plan/Shared/HostWork.h"
#include "meshloom/Runtime/Plan/Steps.h"
#include "meshloom/Runtime/StridedRuns.h"

#include <algorithm>
#include <fmt/format.h>
#include <queue>
#include <set>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

namespace {
/// A kernel counts its results in 32 bits: see KernelShape.
constexpr int64_t MOST_RESULTS = (int64_t(1) << 31) - 1;
/// Threads of blocks that a multiprocessor runs at one time.
constexpr int64_t RESIDENT_THREADS = 2048;

/// A piece of work, ready to run.
struct Call {
  const Work *work = nullptr;
  std::vector<AccessElements> elements; ///< per access
  std::vector<int64_t> strides;         ///< [access][loop]
  // A kernel or product:
  const KernelShape *shape = nullptr;
  FunctionHandle function = nullptr;
  // A host node, or what checks the values that a kernel has written:
  bool onHost = false;
  HostWork host;
  std::vector<unsigned> nonFinite; ///< accesses to check
  /// The bytes of a memory that the host reads and writes.
  struct Staged {
    unsigned memory;
    Interval bytes;
    bool written;
    int64_t offset = 0; ///< in the host's memory
  };
  std::vector<Staged> staged;
  bool hasHostNode() const { return onHost || !nonFinite.empty(); }
};

class CUDAExecutable : public StraightExecutable {
public:
  CUDAExecutable(std::shared_ptr<CUDAClient> client,
                 std::shared_ptr<const LoadedCode> code,
                 const LoadOptions &options, BoundProgram program)
      : StraightExecutable(client, std::move(program), options), gpus(*client),
        card(client->card), code(std::move(code)) {}
  Status plan();
  bool exchanges() const override {
    return !graph.exchanges.empty() || checksTogether();
  }

private:
  /// A box of a call's iterations, and where its first elements are.
  struct Part {
    std::vector<int64_t> begin, origin, extents;
    std::vector<int64_t> offsets; ///< per access, in bytes from its memory's
    std::vector<char *> pointers; ///< the same as addresses
    size_t instance = 0;
  };
  /// A run that is going on.
  struct Run {
    /// A host node of it.
    struct HostRun {
      Run *run;
      const Call *call;
    };
    const CUDAExecutable *self;
    std::vector<HostRun> hostRuns; ///< per call, where there are host nodes
    Failure failure;
    /// Where cards check together, no reason not to go on.
    Failure nonFinite;
    std::optional<ExchangeRun> exchanges; ///< always there once it has begun
    /// Keeps `self` alive for host nodes.
    std::shared_ptr<const PlanExecutable> owner;
  };

  void order();
  Offsets place() const;
  Status placeExchanges();
  /// Finds what each call comes after.
  void findEdges(const std::vector<int64_t> &offsets);
  Result<Call> prepare(const Work &work);
  struct Addends;
  static std::optional<int64_t> addendStep(const Work &work);
  Result<std::string> symbolOf(const Work &work) const;
  Status findKernel(Call &call) const;
  /// Gives what a call touches places in the host's memory.
  void stage(Call &call);
  /// The bytes of its memory that an access touches in a part.
  Interval touched(const Call &call, const Part &part, size_t access) const;
  Result<Event> runActions(const Frame &frame) override;
  /// Whether a host node fails is known late, and what uses its results must
  /// not begin then.
  bool isInOrder() const override { return !hasHostNodes(); }
  bool hasHostNodes() const {
    return std::ranges::any_of(calls, &Call::hasHostNode);
  }
  Status enqueue(const Frame &frame, Run &run);
  Status enqueueGraph(const Frame &frame, Run &run);
  Status enqueueCall(Commands &commands, size_t index, const Frame &frame,
                     Run &run);
  Status enqueueHost(Commands &commands, const Frame &frame, Run::HostRun &run);
  Status enqueueExchange(const Work &work, const Frame &frame, Run &run);
  /// Returns whether all cards end a run with the first value of any of them
  /// that is not finite. Each goes on to the end, so that none waits in vain.
  bool checksTogether() const {
    return options.checkNonFinite && processes.several();
  }
  /// Ends a run that exchanges: other cards learn of a failure.
  Result<Event> finishTogether(Run &run, Status outcome);
  /// The box of iterations of a call's kernel.
  Part launched(const Call &call, Part part) const;
  Status launch(Commands &commands, const Call &call, Part part) const;
  Status copyBoxes(Commands &commands, const Call &call,
                   const Part &part) const;
  void runOnHost(const Call &call, Run &run) const;
  void check(const Call &call, const Part &part, Run &run) const;
  /// Calls `body` for each part, whose pointers are null.
  template <typename Body>
  Status forEachBox(const Call &call, const Body &body) const;
  /// Calls `body` for each part; `base(memory)`: the address of a memory, a
  /// number, for a part that touches nothing may lie outside it.
  template <typename Base, typename Body>
  Status forEachPart(const Call &call, const Base &base,
                     const Body &body) const;

  CUDAClient &gpus; ///< `device`, which the executable keeps alive
  const std::shared_ptr<Card> card;
  const std::shared_ptr<const LoadedCode> code;
  StepGraph graph;
  std::vector<unsigned> sequence; ///< of the graph's works
  std::vector<Call> calls;        ///< in that order
  /// Per call, the earlier ones that must have ended before it begins.
  std::vector<std::vector<unsigned>> after;
  std::unique_ptr<Graph> recorded; ///< null: not yet
  int64_t stagingBytes = 0;
  std::shared_ptr<char> staging;        ///< of host nodes, one after the other
  MeshProcesses processes{loaded.mesh}; ///< a card is one
  std::vector<ExchangeCall> exchangeCalls;
  /// Where the arrays of each exchange are in the host's memory.
  std::vector<ExchangeCall::Memory> exchangeMemory;
  std::shared_ptr<char> exchangeBlock; ///< which has them
};

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
    sequence.push_back(action);
    for (unsigned next : graph.plan.successors[action])
      if (--waiting[next] == 0)
        ready.push(next);
  }
}

/// Scratch memory by the places in the order from its first to its last use.
Offsets CUDAExecutable::place() const {
  std::vector<Lifetime> lifetimes(graph.plan.memories.size());
  for (int position = 0; position < int(sequence.size()); ++position)
    for (const Access &access : graph.works[sequence[position]].accesses) {
      const unsigned index = graph.buffers[access.buffer].memory;
      const Memory &memory = graph.plan.memories[index];
      if (memory.kind != Memory::Kind::Scratch)
        continue;
      Lifetime &life = lifetimes[index];
      if (life.first < 0)
        life.first = position;
      life.last = position;
      life.bytes = memory.bytes;
    }
  return placeByLifetime(lifetimes);
}

/// A call comes after those that the plan names, after the last users of
/// scratch memory whose place its own has, and after the last host node, whose
/// memory of the host its own node takes.
void CUDAExecutable::findEdges(const std::vector<int64_t> &offsets) {
  std::vector<unsigned> positionOf(sequence.size());
  for (unsigned position = 0; position < sequence.size(); ++position)
    positionOf[sequence[position]] = position;
  std::vector<std::set<unsigned>> edges(sequence.size());
  for (unsigned action = 0; action < sequence.size(); ++action)
    for (unsigned next : graph.plan.successors[action])
      edges[positionOf[next]].insert(positionOf[action]);
  const std::vector<Memory> &memories = graph.plan.memories;
  std::vector<std::vector<unsigned>> users(memories.size());
  for (unsigned position = 0; position < sequence.size(); ++position)
    for (const Access &access : graph.works[sequence[position]].accesses) {
      const unsigned memory = graph.buffers[access.buffer].memory;
      if (memories[memory].kind == Memory::Kind::Scratch)
        users[memory].push_back(position);
    }
  for (unsigned m = 0; m < memories.size(); ++m)
    for (unsigned n = 0; n < memories.size(); ++n)
      if (!users[m].empty() && !users[n].empty() &&
          users[m].back() < users[n].front() &&
          offsets[m] < offsets[n] + memories[n].bytes &&
          offsets[n] < offsets[m] + memories[m].bytes)
        for (unsigned position : users[n])
          edges[position].insert(users[m].begin(), users[m].end());
  std::optional<unsigned> lastHost;
  for (unsigned position = 0; position < calls.size(); ++position)
    if (calls[position].hasHostNode()) {
      if (lastHost)
        edges[position].insert(*lastHost);
      lastHost = position;
    }
  for (const std::set<unsigned> &earlier : edges)
    after.emplace_back(earlier.begin(), earlier.end());
}

/// An exchange has memory of its own: others go on between its beginning and
/// its end.
Status CUDAExecutable::placeExchanges() {
  exchangeCalls = plan::exchangeCalls(graph);
  int64_t end = 0;
  auto take = [&](int64_t bytes) {
    const int64_t offset = end;
    end += OffsetAllocator::rounded(bytes);
    return offset;
  };
  auto takeArray = [&](unsigned buffer) {
    const GraphBuffer &array = graph.buffers[buffer];
    return take(array.copies * array.bytesPerCopy());
  };
  struct Places {
    int64_t from, to, staging;
  };
  std::vector<Places> places;
  for (size_t e = 0; e < exchangeCalls.size(); ++e) {
    const Exchange &exchange = graph.exchanges[e];
    places.push_back(
        {exchange.from < 0 ? -1 : takeArray(unsigned(exchange.from)),
         takeArray(exchange.to), take(exchangeCalls[e].stagingBytes())});
  }
  if (places.empty())
    return Success();
  Result<std::shared_ptr<char>> block = card->allocateHost(end);
  if (!block)
    return block.error();
  exchangeBlock = std::move(*block);
  char *begin = exchangeBlock.get();
  for (const Places &place : places)
    exchangeMemory.push_back({place.from < 0 ? nullptr : begin + place.from,
                              begin + place.to, begin + place.staging});
  return Success();
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
  order();
  for (unsigned index : sequence) {
    Result<Call> call = prepare(graph.works[index]);
    if (!call)
      return call.error();
    calls.push_back(std::move(*call));
  }
  Offsets scratch = place();
  findEdges(scratch.offsets);
  if (Status ok = setPlan(std::move(graph.plan), std::move(scratch.offsets),
                          scratch.peak);
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

Result<Call> CUDAExecutable::prepare(const Work &work) {
  Call call;
  call.work = &work;
  const size_t loops = work.extents.size();
  for (unsigned a = 0; a < work.accesses.size(); ++a) {
    const Access &access = work.accesses[a];
    const GraphBuffer &buffer = graph.buffers[access.buffer];
    call.elements.push_back(elementsOf(access, buffer.shape, loops));
    const std::vector<int64_t> &strides = call.elements.back().strides;
    call.strides.insert(call.strides.end(), strides.begin(), strides.end());
    if (options.checkNonFinite && access.writes &&
        (isFloat(buffer.type) || isComplex(buffer.type)) &&
        work.kind != Work::Kind::Copy && !work.isExchange())
      call.nonFinite.push_back(a);
  }
  if (work.isExchange())
    return call;
  if (Status ok = findKernel(call); !ok)
    return ok.error();
  if (call.shape && work.kind == Work::Kind::Reduce) { // a loop of addends
    const GraphBuffer &from = graph.buffers[work.accesses[0].buffer];
    call.elements[0].strides.push_back(*addendStep(work) *
                                       elementCount(from.shape));
    call.elements[1].strides.push_back(0);
  }
  call.onHost = !call.shape && work.kind != Work::Kind::Copy;
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

/// The addends of a value: `first`, `first` + `step`, ...
struct CUDAExecutable::Addends {
  int64_t first, step, count;
  static std::optional<Addends> of(std::span<const int64_t> numbers) {
    if (numbers.empty())
      return std::nullopt;
    const int64_t step = numbers.size() > 1 ? numbers[1] - numbers[0] : 0;
    for (size_t i = 1; i < numbers.size(); ++i)
      if (numbers[i] - numbers[i - 1] != step)
        return std::nullopt;
    return Addends{numbers[0], step, int64_t(numbers.size())};
  }
};

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

/// The code of a kernel, product or combination; fails where the host has to
/// run a library function whose own function it has not.
Result<std::string> CUDAExecutable::symbolOf(const Work &work) const {
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
    return std::string();
  const KernelStep &step = std::get<KernelStep>(loaded.steps[work.step]);
  if (step.library.empty())
    return step.symbol;
  if (step.symbol.empty() || code->host)
    return std::string();
  return Error(
      fmt::format("{}the library function '{}' runs on the host with a "
                  "function of the program's, which saved programs for GPUs "
                  "do not have: compile the program again",
                  describe(loaded, work.step), step.library),
      ErrorCode::UNIMPLEMENTED);
}

/// Looks for the code of a call on the card. There is none of a library
/// function, and of a kernel that the host has.
Status CUDAExecutable::findKernel(Call &call) const {
  const Result<std::string> symbol = symbolOf(*call.work);
  if (!symbol)
    return symbol.error();
  const auto &shapes = code->code.kernels;
  const auto shape = std::ranges::find(shapes, *symbol, &KernelShape::symbol);
  if (shape == shapes.end())
    return Success();
  Result<FunctionHandle> function = code->kernels->find(*symbol);
  if (!function)
    return function.error().withMessage(describe(loaded, call.work->step) +
                                        function.error().message());
  call.shape = &*shape;
  call.function = *function;
  return Success();
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

template <typename Body>
Status CUDAExecutable::forEachBox(const Call &call, const Body &body) const {
  const Work &work = *call.work;
  const size_t loops = work.extents.size();
  const size_t parts = std::max<size_t>(work.instances.size(), 1);
  for (size_t i = 0; i < parts; ++i) {
    const Instance *instance =
        work.instances.empty() ? nullptr : &work.instances[i];
    Part part;
    part.instance = i;
    part.begin = instance ? instance->begin : std::vector<int64_t>(loops);
    part.extents = instance ? instance->extent : work.extents;
    if (work.kind != Work::Kind::Kernel && work.kind != Work::Kind::Dot &&
        elementCount(part.extents) == 0)
      continue;
    part.origin = part.begin;
    for (size_t l = 0; l < work.begin.size(); ++l)
      part.origin[l] += work.begin[l];
    for (size_t a = 0; a < work.accesses.size(); ++a) {
      const GraphBuffer &buffer = graph.buffers[work.accesses[a].buffer];
      int64_t element = call.elements[a].first;
      for (size_t l = 0; l < loops; ++l)
        element += part.begin[l] * call.elements[a].strides[l];
      part.offsets.push_back(
          element * int64_t(byteWidth(buffer.type)) +
          (instance ? instance->copy[a] * buffer.bytesPerCopy() : 0));
    }
    if (Status ok = body(part); !ok)
      return ok;
  }
  return Success();
}

template <typename Base, typename Body>
Status CUDAExecutable::forEachPart(const Call &call, const Base &base,
                                   const Body &body) const {
  return forEachBox(call, [&](Part &part) {
    for (size_t a = 0; a < part.offsets.size(); ++a)
      part.pointers.push_back(reinterpret_cast<char *>(
          base(graph.buffers[call.work->accesses[a].buffer].memory) +
          part.offsets[a]));
    return body(std::as_const(part));
  });
}

CUDAExecutable::Part CUDAExecutable::launched(const Call &call,
                                              Part part) const {
  if (call.work->kind != Work::Kind::Reduce)
    return part;
  const Addends addends = *Addends::of(call.work->addends[part.instance]);
  part.pointers[0] +=
      addends.first *
      graph.buffers[call.work->accesses[0].buffer].bytesPerCopy();
  part.extents.push_back(addends.count);
  part.origin.push_back(0);
  return part;
}

/// A box of too many results is launched in halves.
Status CUDAExecutable::launch(Commands &commands, const Call &call,
                              Part part) const {
  const KernelShape &shape = *call.shape;
  int64_t results = 1;
  for (unsigned loop : shape.parallel)
    results *= part.extents[loop];
  if (results == 0)
    return Success();
  if (results > MOST_RESULTS) {
    const unsigned widest = *std::ranges::max_element(
        shape.parallel, {}, [&](unsigned loop) { return part.extents[loop]; });
    const int64_t half = part.extents[widest] / 2;
    Part second = part;
    part.extents[widest] = half;
    second.extents[widest] -= half;
    second.origin[widest] += half;
    for (size_t a = 0; a < second.pointers.size(); ++a)
      second.pointers[a] +=
          half * call.elements[a].strides[widest] *
          int64_t(byteWidth(graph.buffers[call.work->accesses[a].buffer].type));
    if (Status ok = launch(commands, call, std::move(part)); !ok)
      return ok;
    return launch(commands, call, std::move(second));
  }
  std::vector<uint64_t> parameters;
  for (const KernelParameter &parameter : shape.parameters)
    switch (parameter.kind) {
    case KernelParameter::Kind::Pointer:
      parameters.push_back(
          reinterpret_cast<uintptr_t>(part.pointers[parameter.operand]));
      break;
    case KernelParameter::Kind::Extent:
      parameters.push_back(uint64_t(part.extents[parameter.loop]));
      break;
    case KernelParameter::Kind::Origin:
      parameters.push_back(uint64_t(part.origin[parameter.loop]));
      break;
    case KernelParameter::Kind::Stride:
      parameters.push_back(
          uint64_t(call.elements[parameter.operand].strides[parameter.loop]));
      break;
    }
  // Blocks go on with further results, so that as many as run at one time are
  // enough.
  const int64_t most = std::max<int64_t>(
      1, card->multiprocessors() * RESIDENT_THREADS / shape.threads());
  const int64_t blocks = std::min(shape.blocks(part.extents), most);
  return commands.launch(call.function, unsigned(blocks), shape.threads(),
                         parameters);
}

/// Copies runs of elements, rows of runs and planes of rows: what is left of
/// dims is a copy each.
Status CUDAExecutable::copyBoxes(Commands &commands, const Call &call,
                                 const Part &part) const {
  const int64_t width =
      byteWidth(graph.buffers[call.work->accesses[0].buffer].type);
  const std::span<const int64_t> extents = part.extents,
                                 from = call.elements[0].strides,
                                 to = call.elements[1].strides;
  size_t outer = extents.size();
  int64_t run = 1;
  while (outer > 0 && (extents[outer - 1] == 1 ||
                       (from[outer - 1] == run && to[outer - 1] == run)))
    run *= extents[--outer];
  CopyNode box{.bytes = size_t(run * width)};
  auto arePitches = [&](int64_t a, int64_t b) {
    return std::min(a, b) >= run && std::max(a, b) <= mostPitch / width;
  };
  if (outer > 0 && arePitches(from[outer - 1], to[outer - 1])) {
    const int64_t fromRow = from[--outer], toRow = to[outer];
    box.rows = size_t(extents[outer]);
    box.fromPitch = size_t(fromRow * width);
    box.toPitch = size_t(toRow * width);
    auto arePlanes = [&](int64_t stride, int64_t row) {
      return stride % row == 0 && stride / row >= extents[outer];
    };
    if (outer > 0 && arePlanes(from[outer - 1], fromRow) &&
        arePlanes(to[outer - 1], toRow)) {
      --outer;
      box.planes = size_t(extents[outer]);
      box.fromHeight = size_t(from[outer] / fromRow);
      box.toHeight = size_t(to[outer] / toRow);
    }
  }
  Status outcome = Success();
  auto copyOne = [&](int64_t source, int64_t target) -> Status {
    char *into = part.pointers[1] + target * width;
    const char *begin = part.pointers[0] + source * width;
    if (box.rows * box.planes == 1)
      return commands.copy(into, begin, int64_t(box.bytes));
    box.from = reinterpret_cast<DevicePointer>(begin);
    box.to = reinterpret_cast<DevicePointer>(into);
    return commands.copyBox(box);
  };
  forEachRun(extents.first(outer), from.first(outer), to.first(outer),
             [&](int64_t source, int64_t target, int64_t count) {
               for (int64_t i = 0; i < count && outcome; ++i)
                 outcome = copyOne(source + i, target + i);
             });
  return outcome;
}

void CUDAExecutable::check(const Call &call, const Part &part, Run &run) const {
  Failure &failure = checksTogether() ? run.nonFinite : run.failure;
  const size_t loops = part.extents.size();
  for (unsigned a : call.nonFinite) {
    const std::vector<int64_t> &strides = call.elements[a].strides;
    bool empty = false;
    for (size_t l = 0; l < loops; ++l)
      empty |= strides[l] != 0 && part.extents[l] <= 0;
    const GraphBuffer &buffer =
        graph.buffers[writtenBuffer(call.work->accesses[a])];
    if (!empty &&
        hasNonFinite(buffer.type, part.pointers[a], part.extents.data(),
                     strides.data(), unsigned(loops)))
      failure.report(call.work->step, nonFiniteError(buffer.name));
  }
}

/// In a thread of the driver, or in one that waits for the card.
void CUDAExecutable::runOnHost(const Call &call, Run &run) const {
  Failure &failure = run.failure;
  if (failure.any())
    return;
  const Card::HostScope scope;
  auto base = [&](unsigned memory) -> uintptr_t {
    auto staged = std::ranges::find(call.staged, memory, &Call::Staged::memory);
    if (staged == call.staged.end()) // it touches no byte of it
      return 0;
    return reinterpret_cast<uintptr_t>(staging.get()) + staged->offset -
           staged->bytes.begin;
  };
  try {
    const Status done =
        forEachPart(call, base, [&](const Part &part) -> Status {
          if (call.onHost) {
            const std::vector<void *> pointers(part.pointers.begin(),
                                               part.pointers.end());
            if (Status ok = call.host.run({pointers.data(), call.strides.data(),
                                           part.origin.data(),
                                           part.extents.data(), part.instance});
                !ok)
              return ok;
          }
          check(call, part, run);
          return Success();
        });
    if (!done)
      failure.report(call.work->step, done.error());
  } catch (const std::exception &error) {
    failure.report(call.work->step, Error::of(error));
  }
}

Status CUDAExecutable::enqueueHost(Commands &commands, const Frame &frame,
                                   Run::HostRun &run) {
  const Call &call = *run.call;
  commands.join();
  for (const Call::Staged &staged : call.staged)
    if (Status ok = commands.copyToHost(staging.get() + staged.offset,
                                        frame.address(staged.memory, 0) +
                                            staged.bytes.begin,
                                        staged.bytes.size());
        !ok)
      return ok;
  auto function = [](void *data) {
    auto &[run, call] = *static_cast<Run::HostRun *>(data);
    run->self->runOnHost(*call, *run);
  };
  commands.join();
  if (Status ok = commands.callHost(function, &run); !ok)
    return ok;
  commands.join();
  for (const Call::Staged &staged : call.staged)
    if (staged.written)
      if (Status ok = commands.copyFromHost(
              frame.address(staged.memory, 0) + staged.bytes.begin,
              staging.get() + staged.offset, staged.bytes.size());
          !ok)
        return ok;
  return Success();
}

/// Begins or ends one.
Status CUDAExecutable::enqueueExchange(const Work &work, const Frame &frame,
                                       Run &run) {
  const Exchange &exchange = graph.exchanges[work.exchange];
  const ExchangeCall::Memory &host = exchangeMemory[work.exchange];
  auto bytesOf = [&](unsigned buffer) {
    const GraphBuffer &array = graph.buffers[buffer];
    return array.copies * array.bytesPerCopy();
  };
  auto address = [&](unsigned buffer) {
    return frame.address(graph.buffers[buffer].memory, 0);
  };
  if (work.kind == Work::Kind::Exchange) {
    // A target has sums already, or parts that others do not send.
    Status brought =
        card->copyToHost(host.to, address(exchange.to), bytesOf(exchange.to));
    if (brought && exchange.from >= 0)
      brought = card->copyToHost(host.from, address(unsigned(exchange.from)),
                                 bytesOf(unsigned(exchange.from)));
    if (brought)
      brought = card->synchronize();
    if (!brought)
      return brought;
    if (run.failure.any())
      return run.failure.error(loaded);
    run.exchanges->begin(work);
    return Success();
  }
  if (Status ended = run.exchanges->end(work); !ended)
    return ended;
  if (checksTogether() && !run.exchanges->isFinite(work))
    run.nonFinite.report(work.step,
                         nonFiniteError(graph.buffers[exchange.to].name));
  return card->copyFromHost(address(exchange.to), host.to,
                            bytesOf(exchange.to));
}

Status CUDAExecutable::enqueueCall(Commands &commands, size_t index,
                                   const Frame &frame, Run &run) {
  const Call &call = calls[index];
  auto base = [&](unsigned memory) {
    return reinterpret_cast<uintptr_t>(frame.address(memory, 0));
  };
  Status done = Success();
  if (call.work->isExchange())
    done = enqueueExchange(*call.work, frame, run);
  else if (!call.onHost)
    done = forEachPart(call, base, [&](const Part &part) -> Status {
      return call.shape ? launch(commands, call, launched(call, part))
                        : copyBoxes(commands, call, part);
    });
  if (done && call.hasHostNode())
    done = enqueueHost(commands, frame, run.hostRuns[index]);
  return done
             ? done
             : Status(done.error().withMessage(
                   describe(loaded, call.work->step) + done.error().message()));
}

/// Launches the calls as a graph, whose nodes the first run makes.
Status CUDAExecutable::enqueueGraph(const Frame &frame, Run &run) {
  if (!recorded) {
    Result<std::unique_ptr<Graph>> created = Graph::create(card);
    if (!created)
      return created.error();
    recorded = std::move(*created);
  }
  recorded->begin();
  for (size_t c = 0; c < calls.size(); ++c) {
    recorded->beginPiece(after[c]);
    if (Status ok = enqueueCall(*recorded, c, frame, run); !ok)
      return ok;
    recorded->endPiece();
  }
  return recorded->launchAll();
}

Status CUDAExecutable::enqueue(const Frame &frame, Run &run) {
  for (const Frame::OldValue &old : frame.oldValues)
    if (Status ok = card->copy(old.to, old.from.get(), old.bytes); !ok)
      return ok;
  if (gpus.graphsFrom > 0 && int64_t(calls.size()) >= gpus.graphsFrom &&
      exchangeCalls.empty()) {
    const Status done = enqueueGraph(frame, run);
    if (!done)
      recorded = nullptr; // the next run begins anew
    return done;
  }
  for (size_t c = 0; c < calls.size(); ++c)
    if (Status ok = enqueueCall(*card, c, frame, run); !ok)
      return ok;
  return Success();
}

Result<Event> CUDAExecutable::finishTogether(Run &run, Status outcome) {
  if (outcome) {
    if (checksTogether())
      outcome = agreeOnOutcome(*gpus.communicator(), *exchanging, run.nonFinite,
                               loaded);
    return outcome ? Result<Event>(Event()) : outcome.error();
  }
  const Error error =
      run.failure.any() ? run.failure.error(loaded) : outcome.error();
  run.exchanges->fail(error, run.failure);
  return error;
}

Result<Event> CUDAExecutable::runActions(const Frame &frame) {
  auto run = std::make_shared<Run>();
  run->self = this;
  run->exchanges.emplace(
      loaded, exchangeCalls, gpus.communicator(), *exchanging,
      [this](unsigned exchange) { return exchangeMemory[exchange]; });
  if (hasHostNodes()) {
    run->owner = shared_from_this();
    for (const Call &call : calls)
      run->hostRuns.push_back({run.get(), &call});
  }
  auto outcome = [run, name = loaded.name](const Status &done) -> Status {
    if (run->failure.any())
      return run->failure.error(run->self->loaded);
    return done ? done
                : Status(done.error().withMessage(fmt::format(
                      "in program '{}': {}", name, done.error().message())));
  };
  const Status enqueued = enqueue(frame, *run);
  Result<Event> done = gpus.whenDone(outcome);
  // Nobody else waits for host nodes in front of what failed.
  if (!enqueued || !done)
    (void)card->synchronize();
  if (exchanges())
    return finishTogether(*run, !enqueued ? enqueued
                                : !done   ? Status(done.error())
                                          : done->wait());
  if (!enqueued)
    return run->failure.any() ? run->failure.error(loaded) : enqueued.error();
  // A check that is to find the first wrong step leaves nothing behind it.
  if (done && options.checkNonFinite)
    if (Status ok = done->wait(); !ok)
      return ok.error();
  return done;
}
} // namespace

Result<std::shared_ptr<StraightExecutable>>
cuda::loadStraight(std::shared_ptr<CUDAClient> client,
                   std::shared_ptr<const LoadedCode> code,
                   const LoadOptions &options, BoundProgram program) {
  return planned(std::make_shared<CUDAExecutable>(
      std::move(client), std::move(code), options, std::move(program)));
}
