// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Program in shared memory: its step graph's phases on oneTBB.
//
// A run is one visit to the workers. Each phase is one parallel loop over the
// workers; a worker takes its own chunks first, then what others have left.
// There is no other waiting anywhere, so any number of devices runs on any
// number of workers.
#include "CPUExecutable.h"
#include "Parts.h"
#include "Placement.h"
#include "WorkersTeam.h"

#include "meshloom/Core/ThreadLocal.h"
#include "meshloom/Runtime/Backends/CPU/WorkerClocks.h"
#include "meshloom/Runtime/BoxCopy.h"
#include "meshloom/Runtime/Library/HostCall.h"
#include "meshloom/Runtime/NonFinite.h"
#include "meshloom/Runtime/Plan/AgreedOutcome.h"
#include "meshloom/Runtime/Plan/Failure.h"
#include "meshloom/Runtime/Plan/Shared/ExchangeRun.h"
#include "meshloom/Runtime/Plan/Shared/HostWork.h"

#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <utility>

using namespace meshloom;
using namespace meshloom::cpu;
using namespace meshloom::plan;

namespace {
/// Nanoseconds of work that a phase must have for each worker: to wake one
/// takes about as long.
constexpr double WORTH_A_WORKER = 3'000;
/// Nanoseconds of a worker's part of a phase whose values stay in the cache.
constexpr double CHEAP_SHARE = 50'000;
/// Programs cheaper than this (nanoseconds) are not worth a second worker.
constexpr double SERIAL_PROGRAM = 15'000;
/// Nanoseconds that a worker waits for a line of memory that another one took.
constexpr double CONTENDED_LINE = 20;
/// Bytes to copy that are worth a worker.
constexpr int64_t COPIED_BY_A_WORKER = 1 << 15;
/// Bytes of intermediate values in a worker's second-level cache.
constexpr int64_t CHUNK_CACHE = 1 << 17;
/// The same where there are products, which take whole matrices at a time.
constexpr int64_t PRODUCT_CACHE = 1 << 20;

/// Returns how many of the workers share a phase of this cost in nanoseconds.
int64_t sharingWorkers(double cost, int64_t workers) {
  return int64_t(std::clamp(cost / WORTH_A_WORKER, 1.0, double(workers)));
}

/// Where one access of a piece of work lies in memory.
struct Binding {
  unsigned memory;
  bool local;        ///< in the worker's scratch
  unsigned width;    ///< bytes of an element
  int64_t offset;    ///< bytes from where the memory is (or the worker's
                     ///< scratch) to the access at iteration 0 of every loop
  int64_t copyBytes; ///< from one addend to the next
  /// Local: bytes to add for each chunk.
  std::vector<int64_t> shift;
};

/// A piece of work, ready to run.
struct Call {
  Item item;
  int64_t cuts; ///< chunks of its phase
  const Work *work;
  HostWork function;
  std::vector<Binding> bindings;   ///< per access
  std::vector<int64_t> strides;    ///< elements, [access][loop]
  std::vector<unsigned> nonFinite; ///< accesses to check afterwards
  /// Per chunk, once a run was profiled; `devices` as that profiler numbers
  /// them.
  struct ProfiledPart {
    int64_t flops, bytes;
    unsigned devices;
  };
  std::vector<ProfiledPart> parts;
};

struct ReadyPhase {
  std::vector<Call> calls = {};
  int64_t cuts = 1;    ///< chunks that it is cut into
  int64_t workers = 1; ///< that share it
  bool isForTeam = false;
  /// Chunks that do anything.
  std::vector<int64_t> chunks = {};
};

/// One run of the executable.
struct Run {
  char *const *memory; ///< per memory of the plan
  ExchangeRun exchanges;
  Failure failure = {};
  /// Where processes check together, no reason not to go on.
  Failure nonFinite = {};
};

/// A worker's pointers and loop bounds for one call.
struct Pointers {
  std::vector<void *> pointers;
  std::vector<int64_t> begin, extent;
  std::vector<int64_t> origin; ///< `begin` as global indices
};

class SharedExecutable : public plan::StraightExecutable {
public:
  SharedExecutable(const CPULoad &load, plan::BoundProgram program)
      : StraightExecutable(load.client, std::move(program), load.options),
        cpus(*load.client), kernels(load.kernels) {}
  Status plan(std::span<const unsigned> order);
  int64_t cores() const override { return busyCores; }
  bool exchanges() const override {
    return !graph.exchanges.empty() || checksTogether();
  }

private:
  Result<Event> runActions(const Frame &frame) override;
  /// Returns whether all processes end a run with the first value of any of
  /// them that is not finite. Each goes on to the end, so that none waits in
  /// vain.
  bool checksTogether() const {
    return options.checkNonFinite && processes.several();
  }
  Failure &nonFiniteOf(Run &run) const {
    return checksTogether() ? run.nonFinite : run.failure;
  }
  bool isProduct(const Work &work) const;
  Status prepare(const Schedule &schedule);
  std::vector<int64_t> prepareExchanges();
  void runExchange(const Work &work, Run &run);
  ExchangeCall::Memory memoryOf(unsigned exchange, char *const *memory) const;
  Result<Call> prepareCall(const Item &item, int64_t cuts) const;
  /// Cuts phases whose scratch memory leaves the cache into more chunks, where
  /// that costs their products nothing.
  void cutFiner(Schedule &schedule, int64_t workers);
  /// Cuts phases into fewer chunks: those that few workers share, and, to one a
  /// worker at least, those whose products are more efficient so. Where workers
  /// would wait longer for each other's lines of memory than they work, one has
  /// the phase.
  void cutCoarser(Schedule &schedule, int64_t workers) const;
  void runPhase(const ReadyPhase &phase, Run &run);
  /// Runs the next chunk that a worker takes in a phase: of its own, then of
  /// those that others have not begun. `turn`: how many workers' chunks are all
  /// begun, in the order in which this one looks at them. Returns false where
  /// none is left.
  bool runNextChunk(const ReadyPhase &phase, int64_t worker, int64_t &turn,
                    Run &run);
  void runChunk(const ReadyPhase &phase, int64_t chunk, Run &run) const;
  void runCall(const Call &call, int64_t chunk, char *scratch, Pointers &frame,
               Run &run) const;
  void runProfiled(const Call &call, int64_t chunk, char *scratch,
                   Pointers &frame, Run &run) const;
  /// Says to the run's profiler what each chunk of each call is.
  void describeParts();
  /// The part of `bytes` that each worker copies.
  void copyInParallel(char *to, const char *from, int64_t bytes);

  CPUClient &cpus; ///< `device`, which the executable keeps alive
  const std::shared_ptr<const CodeSymbols> kernels;
  plan::MeshProcesses processes{loaded.mesh};
  StepGraph graph;
  std::vector<ExchangeCall> calls; ///< of the graph's exchanges
  Placement placement;
  int64_t chunks = 1, busyCores = 1;
  std::vector<ReadyPhase> phases;
  int64_t partsFor = 0; ///< number of the profiler that knows the parts
  int64_t workerStride = 0;
  /// Per worker: the next of its chunks, as an index into ReadyPhase::chunks.
  struct alignas(64) Cursor {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::vector<Cursor> cursors;
};

/// Returns whether chunks of the work are products of matrices, which must not
/// be small.
bool SharedExecutable::isProduct(const Work &work) const {
  auto *step = std::get_if<KernelStep>(&loaded.steps[work.step]);
  return work.kind == Work::Kind::Dot ||
         (work.kind == Work::Kind::Kernel && step &&
          library::propertiesOf(step->library).isProduct);
}

std::vector<int64_t> SharedExecutable::prepareExchanges() {
  std::vector<int64_t> bytes;
  bytes.reserve(graph.exchanges.size());
  calls = exchangeCalls(graph);
  for (const ExchangeCall &call : calls)
    bytes.push_back(call.layout.stagingBytes);
  return bytes;
}

Status SharedExecutable::plan(std::span<const unsigned> order) {
  Result<plan::MeshProcesses> placed = cpus.processesOf(mesh());
  if (!placed)
    return placed.error();
  processes = std::move(*placed);
  const OnOneHost onOneHost = [this](int a, int b) {
    return cpus.communicator()->hostOf(a) == cpus.communicator()->hostOf(b);
  };
  const int64_t workers = cpus.workers.count();
  // Four chunks for each worker: enough to even out what a busy machine does to
  // one of them, and few enough for efficient matrix products.
  const int64_t wanted = cpus.options.chunks;
  chunks = wanted ? wanted : 4 * workers;
  bool small = false, hasShrunk = false;
  size_t phasesBefore = std::numeric_limits<size_t>::max();
  Schedule planned;
  while (true) {
    Result<StepGraph> built =
        buildStepGraph(loaded, chunks, processes, onOneHost);
    if (!built)
      return built.error();
    graph = std::move(*built);
    double cost = 0, productCost = 0;
    for (const Work &work : graph.works) {
      cost += work.cost;
      if (isProduct(work))
        productCost += work.cost;
    }
    small = !wanted && cost < SERIAL_PROGRAM;
    if (small && chunks > 1) {
      chunks = 1;
      continue;
    }
    planned = order.empty() ? schedule(graph, chunks, workers)
                            : scheduleInOrder(graph, chunks, workers, order);
    if (!wanted && order.empty())
      cutCoarser(planned, workers);
    placement = place(graph, planned, workers, prepareExchanges());
    // Rows were too few for so many chunks.
    if (planned.phases.size() > phasesBefore && !hasShrunk) {
      chunks /= 4;
      hasShrunk = true;
      continue;
    }
    // Without products, chunks should be small enough to stay in the cache. A
    // program of one chunk stays so: chunks grow to their bound or end here.
    if (wanted || small || hasShrunk || chunks >= 64 * workers ||
        placement.workerBytes <= CHUNK_CACHE || productCost > cost / 4)
      break;
    phasesBefore = planned.phases.size();
    chunks *= 4;
  }
  if (!wanted && order.empty() && placement.workerBytes > PRODUCT_CACHE)
    cutFiner(planned, workers);
  std::vector<int64_t> offsets;
  offsets.reserve(placement.places.size());
  for (const Place &place : placement.places)
    offsets.push_back(place.offset);
  workerStride = (placement.workerBytes + 4095) / 4096 * 4096;
  if (Status ok = setPlan(std::move(graph.plan), std::move(offsets),
                          placement.arenaBytes, workerStride * workers);
      !ok)
    return ok;
  Result<plan::Block> scratch = cpus.pool->allocate(workerStride * workers);
  if (!scratch)
    return scratch.error();
  setWork(std::move(*scratch), workerStride * workers);
  cursors = std::vector<Cursor>(size_t(workers));
  return prepare(planned);
}

void SharedExecutable::cutFiner(Schedule &schedule, int64_t workers) {
  const std::vector<int64_t> stagingBytes = prepareExchanges();
  for (int64_t finer = 2 * chunks; finer <= 64 * workers; finer *= 2) {
    bool changed = false;
    for (size_t p = 0; p < schedule.phases.size(); ++p) {
      Phase &phase = schedule.phases[p];
      changed |= placement.phaseBytes[p] > PRODUCT_CACHE &&
                 countsMatrices(graph, loaded, phase) &&
                 cutInto(graph, phase, finer, workers);
    }
    if (!changed)
      break;
    const int64_t before = placement.workerBytes;
    placement = place(graph, schedule, workers, stagingBytes);
    if (placement.workerBytes >= before)
      break;
  }
}

void SharedExecutable::cutCoarser(Schedule &schedule, int64_t workers) const {
  for (Phase &phase : schedule.phases) {
    const int64_t sharing = sharingWorkers(phase.cost, workers);
    const int64_t chunksOfSharing =
        std::max(phase.chunks / workers, int64_t(1)) * sharing;
    int64_t most = chunksOfSharing;
    double cost = 0;
    for (const Item &item : phase.items)
      if (const Work &work = graph.works[item.work];
          work.mostChunks > 0 && item.cut == Item::Cut::Loop) {
        most = std::min(most, std::max(work.mostChunks / sharing, int64_t(1)) *
                                  sharing);
        cost += work.cost;
      }
    // The other work of the phase would rather stay in the cache: it must be
    // little.
    if (cost <= phase.cost * 3 / 4 &&
        phase.cost > CHEAP_SHARE * double(sharing))
      most = chunksOfSharing;
    if (contendedLines(graph, phase, sharing) * CONTENDED_LINE >
        phase.cost * double(sharing - 1))
      most = 1;
    if (most < phase.chunks)
      cutInto(graph, phase, most, workers);
  }
}

Result<Call> SharedExecutable::prepareCall(const Item &item,
                                           int64_t cuts) const {
  const Work &work = graph.works[item.work];
  Call call{item, cuts, &work, {}, {}, {}, {}, {}};
  const size_t loops = work.extents.size();
  for (unsigned a = 0; a < work.accesses.size(); ++a) {
    const Access &access = work.accesses[a];
    const GraphBuffer &buffer = graph.buffers[access.buffer];
    const Place &place = placement.places[buffer.memory];
    Binding binding{buffer.memory,          place.kind == Place::Kind::Worker,
                    byteWidth(buffer.type), 0,
                    buffer.bytesPerCopy(),  {}};
    const Shape &array = binding.local ? place.extent : buffer.shape;
    const AccessElements elements = elementsOf(access, array, loops);
    binding.offset = elements.first * binding.width;
    if (binding.local) {
      binding.offset += place.offset;
      const Shape dimStrides = rowMajorStrides(array);
      for (const Shape &origin : place.origin) {
        int64_t shift = 0;
        for (size_t d = 0; d < origin.size(); ++d)
          shift -= dimStrides[d] * origin[d];
        binding.shift.push_back(shift * binding.width);
      }
    }
    call.bindings.push_back(std::move(binding));
    call.strides.insert(call.strides.end(), elements.strides.begin(),
                        elements.strides.end());
    if (options.checkNonFinite && access.writes &&
        (isFloat(buffer.type) || isComplex(buffer.type)) &&
        work.kind != Work::Kind::Copy)
      call.nonFinite.push_back(a);
  }
  if (work.isExchange())
    call.nonFinite.clear();
  auto function = HostWork::make(loaded, graph, work, kernels.get());
  if (!function)
    return function.error();
  call.function = std::move(*function);
  return call;
}

Status SharedExecutable::prepare(const Schedule &schedule) {
  double serial = 0, parallel = 0;
  int64_t mostWorkers = 1;
  for (const Phase &phase : schedule.phases) {
    ReadyPhase ready{.cuts = phase.chunks, .isForTeam = phase.isForTeam};
    for (const Item &item : phase.items) {
      Result<Call> call = prepareCall(item, phase.chunks);
      if (!call)
        return call.error();
      ready.calls.push_back(std::move(*call));
    }
    for (int64_t c = 0; c < phase.chunks; ++c)
      if (std::any_of(
              phase.items.begin(), phase.items.end(), [&](const Item &item) {
                return !item.instances(graph.works[item.work], phase.chunks, c)
                            .empty();
              }))
        ready.chunks.push_back(c);
    ready.workers =
        std::min(sharingWorkers(phase.cost, cpus.workers.count()),
                 std::max<int64_t>(1, int64_t(ready.chunks.size())));
    const int64_t atWork =
        ready.isForTeam ? cpus.workers.count() : ready.workers;
    (atWork == 1 ? serial : parallel) += phase.cost;
    mostWorkers = std::max(mostWorkers, atWork);
    phases.push_back(std::move(ready));
  }
  // One that mostly keeps a single core busy leaves the others to other
  // programs.
  if (parallel >= serial)
    busyCores = mostWorkers;
  return Success();
}

void SharedExecutable::runCall(const Call &call, int64_t chunk, char *scratch,
                               Pointers &frame, Run &run) const {
  const Work &work = *call.work;
  const Interval instances = call.item.instances(work, call.cuts, chunk);
  if (instances.empty())
    return;
  // A call keeps data of its second operand by the operand's address: in the
  // worker's scratch the parts of all chunks have the same address.
  std::optional<library::CallScope> keepsNothing;
  if (call.bindings.size() > 1 && call.bindings[1].local)
    keepsNothing.emplace(0);
  const size_t loops = work.extents.size();
  frame.begin.assign(loops, 0);
  frame.extent.assign(work.extents.begin(), work.extents.end());
  frame.pointers.resize(call.bindings.size());
  for (int64_t i = instances.begin; i < instances.end; ++i) {
    const Instance *instance =
        work.instances.empty() ? nullptr : &work.instances[size_t(i)];
    if (instance) {
      frame.begin = instance->begin;
      frame.extent = instance->extent;
    }
    call.item.narrow(work, call.cuts, chunk, frame.begin, frame.extent);
    // An access that nothing of is left: an output is then empty, too, unless
    // it is a reduction loop that is empty.
    for (size_t a = 0; a < call.bindings.size(); ++a) {
      const Binding &binding = call.bindings[a];
      int64_t element = 0;
      for (size_t l = 0; l < loops; ++l)
        element += frame.begin[l] * call.strides[a * loops + l];
      char *base = binding.local ? scratch + binding.shift[size_t(chunk)]
                                 : run.memory[binding.memory];
      frame.pointers[a] =
          base + binding.offset + element * binding.width +
          (instance ? instance->copy[a] * binding.copyBytes : 0);
    }
    if (work.kind == Work::Kind::Reduce || work.kind == Work::Kind::Copy)
      if (elementCount(frame.extent) == 0)
        continue;
    frame.origin = frame.begin;
    for (size_t l = 0; l < work.begin.size(); ++l)
      frame.origin[l] += work.begin[l];
    if (Status status = call.function.run(
            {frame.pointers.data(), call.strides.data(), frame.origin.data(),
             frame.extent.data(), size_t(i)});
        !status) {
      run.failure.report(work.step, status.error());
      return;
    }
    for (unsigned a : call.nonFinite) {
      const int64_t *strides = call.strides.data() + a * loops;
      bool empty = false;
      for (size_t l = 0; l < loops; ++l)
        empty |= strides[l] != 0 && frame.extent[l] <= 0;
      const GraphBuffer &buffer =
          graph.buffers[writtenBuffer(work.accesses[a])];
      if (!empty &&
          hasNonFinite(buffer.type, static_cast<char *>(frame.pointers[a]),
                       frame.extent.data(), strides, unsigned(loops)))
        nonFiniteOf(run).report(work.step, nonFiniteError(buffer.name));
    }
  }
}

void SharedExecutable::runProfiled(const Call &call, int64_t chunk,
                                   char *scratch, Pointers &frame,
                                   Run &run) const {
  if (call.item.instances(*call.work, call.cuts, chunk).empty())
    return;
  const int64_t begin = profiled->profiler().now();
  runCall(call, chunk, scratch, frame, run);
  ProfileEvent event = profiled->event(call.work->kind == Work::Kind::Copy
                                           ? ProfileEvent::Kind::Copy
                                           : ProfileEvent::Kind::Step,
                                       call.work->step, begin);
  const Call::ProfiledPart &part = call.parts[size_t(chunk)];
  event.worker = cpus.workers.index();
  event.flops = part.flops;
  event.bytes = part.bytes;
  event.devices = part.devices;
  profiled->profiler().add(std::move(event));
}

void SharedExecutable::describeParts() {
  Profiler &profiler = profiled->profiler();
  if (partsFor == profiler.number())
    return;
  partsFor = profiler.number();
  for (ReadyPhase &phase : phases)
    for (Call &call : phase.calls) {
      call.parts.clear();
      for (Part &part : partsOf(loaded, graph, call.item, call.cuts))
        call.parts.push_back({part.flops, part.bytes,
                              profiler.devices(std::move(part.devices))});
    }
}

void SharedExecutable::runChunk(const ReadyPhase &phase, int64_t chunk,
                                Run &run) const {
  // Not used where it is kept: a custom call may run another program here.
  auto &pointers = threadLocal<Pointers>();
  Pointers frame = std::exchange(pointers, {});
  char *scratch = workMemory() + cpus.workers.index() * workerStride;
  for (const Call &call : phase.calls) {
    if (run.failure.any())
      break;
    try {
      if (profiled)
        runProfiled(call, chunk, scratch, frame, run);
      else
        runCall(call, chunk, scratch, frame, run);
    } catch (const std::exception &error) {
      run.failure.report(call.work->step, Error::of(error));
    }
  }
  pointers = std::move(frame);
}

ExchangeCall::Memory SharedExecutable::memoryOf(unsigned exchange,
                                                char *const *memory) const {
  const Exchange &exchanged = graph.exchanges[exchange];
  auto memoryOf = [&](unsigned buffer) {
    return memory[graph.buffers[buffer].memory];
  };
  return {exchanged.from < 0 ? nullptr : memoryOf(unsigned(exchanged.from)),
          memoryOf(exchanged.to), arena(0) + placement.staging[exchange]};
}

/// Begins or ends one.
void SharedExecutable::runExchange(const Work &work, Run &run) {
  const int64_t begin = profiled ? profiled->profiler().now() : 0;
  if (work.kind == Work::Kind::Exchange)
    run.exchanges.begin(work);
  else if (Status ok = run.exchanges.end(work); !ok)
    run.failure.report(work.step, ok.error());
  else if (checksTogether() && !run.exchanges.isFinite(work))
    run.nonFinite.report(
        work.step,
        nonFiniteError(graph.buffers[graph.exchanges[work.exchange].to].name));
  if (!profiled)
    return;
  ProfileEvent event =
      profiled->event(ProfileEvent::Kind::Step, work.step, begin);
  event.worker = cpus.workers.index();
  if (work.kind == Work::Kind::Arrival) {
    event.bytes = calls[work.exchange].layout.moved;
    event.flops = calls[work.exchange].layout.combinations();
  }
  profiled->profiler().add(std::move(event));
}

bool SharedExecutable::runNextChunk(const ReadyPhase &phase, int64_t worker,
                                    int64_t &turn, Run &run) {
  for (; turn < phase.workers; ++turn) {
    Cursor &cursor = cursors[size_t((worker + turn) % phase.workers)];
    const int64_t index = cursor.next.fetch_add(1, std::memory_order_relaxed);
    if (index < cursor.end) {
      runChunk(phase, phase.chunks[size_t(index)], run);
      return true;
    }
  }
  return false;
}

void SharedExecutable::runPhase(const ReadyPhase &phase, Run &run) {
  if (const Work &first = *phase.calls.front().work; first.isExchange())
    return runExchange(first, run);
  static std::atomic<uint64_t> numbers{0};
  const uint64_t number = ++numbers;
  WorkerClocks *clocks = cpus.options.clocks.get();
  if (phase.workers == 1) {
    library::SingleThreaded guard;
    library::CallScope scope(number);
    WorkersTeam team(cpus.workers, clocks);
    library::TeamScope teamScope(phase.isForTeam ? &team : nullptr);
    auto runAll = [&] {
      for (int64_t chunk : phase.chunks)
        runChunk(phase, chunk, run);
    };
    return clocks ? clocks->alone(runAll) : runAll();
  }
  const int64_t workers = phase.workers;
  const int64_t count = int64_t(phase.chunks.size());
  for (int64_t w = 0; w < workers; ++w) {
    cursors[size_t(w)].next.store(count * w / workers,
                                  std::memory_order_relaxed);
    cursors[size_t(w)].end = count * (w + 1) / workers;
  }
  if (clocks) {
    library::SingleThreaded guard;
    library::CallScope scope(number);
    std::vector<int64_t> turns(static_cast<size_t>(workers));
    return clocks->share(workers, [&](int64_t w) {
      return runNextChunk(phase, w, turns[size_t(w)], run);
    });
  }
  Workers::forEach(workers, [&](int64_t w) {
    library::SingleThreaded guard;
    library::CallScope scope(number);
    int64_t turn = 0;
    while (runNextChunk(phase, w, turn, run)) {
    }
  });
}

void SharedExecutable::copyInParallel(char *to, const char *from,
                                      int64_t bytes) {
  const int64_t workers =
      std::clamp<int64_t>(bytes / COPIED_BY_A_WORKER, 1, cpus.workers.count());
  auto copyPart = [&](int64_t w) {
    const int64_t begin = bytes * w / workers, end = bytes * (w + 1) / workers;
    std::memcpy(to + begin, from + begin, size_t(end - begin));
  };
  WorkerClocks *clocks = cpus.options.clocks.get();
  if (!clocks)
    return Workers::forEach(workers, copyPart);
  int64_t next = 0;
  clocks->share(workers, [&](int64_t) {
    if (next == workers)
      return false;
    copyPart(next++);
    return true;
  });
}

Result<Event> SharedExecutable::runActions(const Frame &frame) {
  char *const *memory = frame.addresses.data();
  Run run{memory, ExchangeRun(loaded, calls, cpus.communicator(), *exchanging,
                              [this, memory](unsigned exchange) {
                                return memoryOf(exchange, memory);
                              })};
  if (profiled)
    describeParts();
  cpus.workers.visit([&] {
    for (const Frame::OldValue &old : frame.oldValues) {
      const int64_t begin = profiled ? profiled->profiler().now() : 0;
      copyInParallel(old.to, old.from.get(), old.bytes);
      if (profiled)
        recordOldValue(cpus.workers.index(), old.bytes, begin);
    }
    for (const ReadyPhase &phase : phases) {
      runPhase(phase, run);
      if (run.failure.any())
        return;
    }
  });
  if (!run.failure.any()) {
    if (checksTogether())
      if (Status ok = plan::agreeOnOutcome(*cpus.communicator(), *exchanging,
                                           run.nonFinite, loaded);
          !ok)
        return ok.error();
    return Event();
  }
  const Error error = run.failure.error(loaded);
  if (processes.several())
    run.exchanges.fail(error, run.failure);
  return error;
}
} // namespace

Result<std::shared_ptr<plan::StraightExecutable>>
cpu::loadShared(const CPULoad &load, plan::BoundProgram program,
                std::span<const unsigned> order) {
  return plan::planned(
      std::make_shared<SharedExecutable>(load, std::move(program)), order);
}
