// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of a straight program on a card.
#include "CUDAExecutable.h"

#include "RecordedGraph.h"

#include "meshloom/Runtime/NonFinite.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

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
      if (!call.libraryWork.empty())
        return launchLibrary(commands, call, part,
                             call.workspace ? frame.address(*call.workspace, 0)
                                            : nullptr);
      return call.kernel.shape ? launch(commands, call, launched(call, part))
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
Status CUDAExecutable::enqueueGraph(Segment &segment, const Frame &frame,
                                    Run &run) {
  if (!segment.recorded) {
    Result<std::unique_ptr<Graph>> created = Graph::create(card);
    if (!created)
      return created.error();
    segment.recorded = std::move(*created);
  }
  segment.recorded->begin();
  const Status done =
      enqueueCalls(*segment.recorded, segment.begin, segment.end, frame, run);
  return done ? segment.recorded->launchAll() : done;
}

Status CUDAExecutable::enqueueCalls(Graph &graph, size_t begin, size_t end,
                                    const Frame &frame, Run &run) {
  for (size_t c = begin; c < end; ++c) {
    graph.beginPiece(after[c]);
    if (Status ok = enqueueCall(graph, c, frame, run); !ok)
      return ok;
    graph.endPiece();
  }
  return Success();
}

Status CUDAExecutable::recordActions(const Frame &frame, ControlGraph &into) {
  std::vector<ControlGraph::Copy> copies;
  copies.reserve(frame.oldValues.size());
  for (const Frame::OldValue &old : frame.oldValues)
    copies.push_back({old.to, old.from.get(), old.bytes});
  if (Status ok = into.copy(copies); !ok)
    return ok;
  Graph &commands = static_cast<RecordedGraph &>(into).commands();
  commands.beginSection();
  Run run;
  run.self = this;
  return enqueueCalls(commands, 0, calls.size(), frame, run);
}

Status CUDAExecutable::enqueue(const Frame &frame, Run &run) {
  for (const Frame::OldValue &old : frame.oldValues)
    if (Status ok = card->copy(old.to, old.from.get(), old.bytes); !ok)
      return ok;
  auto mark = [&] { return run.times ? run.times->mark() : Success(); };
  if (Status ok = mark(); !ok)
    return ok;
  for (Segment &segment : segments) {
    const size_t count = segment.end - segment.begin;
    if (!run.times && gpus.graphsFrom > 0 &&
        int64_t(count) >= gpus.graphsFrom && !calls[segment.begin].isAlone()) {
      if (Status ok = enqueueGraph(segment, frame, run); !ok) {
        segment.recorded = nullptr; // the next run begins anew
        return ok;
      }
      continue;
    }
    for (size_t c = segment.begin; c < segment.end; ++c) {
      if (Status ok = enqueueCall(*card, c, frame, run); !ok)
        return ok;
      if (Status ok = mark(); !ok)
        return ok;
    }
  }
  return Success();
}

Result<Event> CUDAExecutable::runActions(const Frame &frame) {
  auto run = std::make_shared<Run>();
  run->self = this;
  run->exchanges.emplace(
      loaded, exchangeCalls, gpus.communicator(), *exchanging,
      [this](unsigned exchange) { return exchangeMemory[exchange]; });
  run->messages =
      exchanging->take(exchangeCalls.size() * DeviceExchange::MESSAGES + 1);
  if (profiled)
    if (Status ok = beginProfile(*run); !ok)
      return ok.error();
  if (hasHostNodes() || exchanges())
    run->owner = shared_from_this();
  if (hasHostNodes())
    for (const Call &call : calls)
      run->hostRuns.push_back({run.get(), &call});
  // A run without host nodes and exchanges does not keep the executable alive.
  const bool tellsOthers = exchanges() && endsLater();
  auto outcome = [run, tellsOthers,
                  name = loaded.name](const Status &done) -> Status {
    if (run->failure.any())
      return run->failure.error(run->self->loaded);
    if (done)
      return done;
    const Error error = done.error().withMessage(
        fmt::format("in program '{}': {}", name, done.error().message()));
    if (tellsOthers)
      run->exchanges->fail(error, run->failure);
    return error;
  };
  std::optional<CardLink::Messages> ofLink;
  if (linkBlock) {
    ofLink = {run->messages + exchangeCalls.size() * DeviceExchange::MESSAGES,
              exchanging->timeout};
    gpus.link->beginRun(*ofLink);
  }
  const Status enqueued = enqueue(frame, *run);
  Result<Event> done = gpus.whenDone(outcome, ofLink);
  if (profiled && enqueued && done && done->wait())
    recordCalls(*run);
  if ((!enqueued || !done) && ofLink) { // its transfers may never end
    run->exchanges->fail(!enqueued ? enqueued.error() : done.error(),
                         run->failure);
    gpus.link->abandon();
  }
  // Nobody else waits for host nodes in front of what failed.
  if (!enqueued || !done)
    (void)card->synchronize();
  if (exchanges() && !(enqueued && done && endsLater()))
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

Result<std::shared_ptr<StraightExecutable>>
cuda::loadStraight(std::shared_ptr<CUDAClient> client,
                   std::shared_ptr<const LoadedCode> code,
                   const LoadOptions &options, BoundProgram program) {
  return planned(std::make_shared<CUDAExecutable>(
      std::move(client), std::move(code), options, std::move(program)));
}
