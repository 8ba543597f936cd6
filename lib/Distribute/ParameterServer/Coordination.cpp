// Handing closures to workers, see Coordination.h.
#include "Coordination.h"

#include "../StrategyState.h"

#include "meshloom/API/HostTensor.h"
#include "meshloom/API/Logging.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace meshloom::detail {

//===----------------------------------------------------------------------===//
// Results and the queue
//===----------------------------------------------------------------------===//

void RemoteResult::set(std::vector<Tensor> values, std::exception_ptr failure) {
  std::lock_guard lock(mutex);
  isReady = true;
  tensors = std::move(values);
  error = std::move(failure);
  changed.notify_all();
}

std::vector<Tensor> fetchResult(const std::shared_ptr<RemoteResult> &result) {
  std::unique_lock lock(result->mutex);
  result->changed.wait(lock, [&] { return result->isReady; });
  if (result->error)
    std::rethrow_exception(result->error);
  return result->tensors;
}

static std::exception_ptr cancelled(const std::string &why) {
  return std::make_exception_ptr(
      CancelledError(fmt::format("[schedule] Cancelled: {}", why)));
}

static constexpr char otherFailed[] = "a function scheduled before failed";

void ClosureQueue::throwError(std::unique_lock<std::mutex> &lock) {
  if (!error)
    return;
  changed.wait(lock, [&] { return inFlight == 0; });
  if (error)
    std::rethrow_exception(std::exchange(error, nullptr));
}

void ClosureQueue::cancelAll(const std::string &why) {
  for (const Item &item : std::exchange(waiting, {}))
    item.result->set({}, cancelled(why));
}

void ClosureQueue::put(Item item) {
  std::unique_lock lock(mutex);
  changed.wait(lock,
               [&] { return waiting.size() < bound || error || isClosed; });
  throwError(lock);
  if (isClosed)
    throw Error("[schedule] the coordinator has ended");
  waiting.push_back(std::move(item));
  changed.notify_all();
}

std::optional<ClosureQueue::Item> ClosureQueue::take() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return !waiting.empty() || isClosed; });
  if (isClosed)
    return std::nullopt;
  Item item = std::move(waiting.front());
  waiting.pop_front();
  ++inFlight;
  changed.notify_all();
  return item;
}

void ClosureQueue::finish(const Item &item, std::vector<Tensor> values) {
  std::lock_guard lock(mutex);
  --inFlight;
  // Who has fetched it finds the queue as it then is.
  item.result->set(std::move(values));
  changed.notify_all();
}

void ClosureQueue::fail(const Item &item, std::exception_ptr failure) {
  std::lock_guard lock(mutex);
  if (!error)
    error = failure;
  cancelAll(otherFailed);
  --inFlight;
  item.result->set({}, std::move(failure));
  changed.notify_all();
}

void ClosureQueue::putBack(Item item) {
  std::lock_guard lock(mutex);
  if (error || isClosed)
    item.result->set({}, cancelled(otherFailed));
  else
    waiting.push_front(std::move(item));
  --inFlight;
  changed.notify_all();
}

void ClosureQueue::join() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return waiting.empty() && inFlight == 0; });
  throwError(lock);
}

bool ClosureQueue::isDone() {
  std::unique_lock lock(mutex);
  throwError(lock);
  return waiting.empty() && inFlight == 0;
}

void ClosureQueue::close() {
  std::lock_guard lock(mutex);
  isClosed = true;
  cancelAll("the coordinator has ended");
  changed.notify_all();
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// How many failures of a parameter server may be passing, as TensorFlow's
/// variable says: with 3 the third one counts.
static int64_t failuresThatCount() {
  const char *text = std::getenv("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES");
  return text ? std::max<int64_t>(1, std::atoll(text)) : 3;
}

std::shared_ptr<Coordination>
Coordination::make(std::shared_ptr<const ps::Store> store,
                   double workerTimeout) {
  return {
      new Coordination(std::move(store), workerTimeout), [](Coordination *own) {
        const bool isInside =
            std::ranges::any_of(own->threads, [](const std::thread &thread) {
              return thread.get_id() == std::this_thread::get_id();
            });
        if (isInside)
          std::thread([own] { delete own; }).detach();
        else
          delete own;
      }};
}

Coordination::Coordination(std::shared_ptr<const ps::Store> itsStore,
                           double workerTimeout)
    : store(std::move(itsStore)), workerTimeout(workerTimeout),
      ignoredFailures(failuresThatCount() - 1), starts(store->workers.size()),
      workersLeft(store->workers.size()) {
  threads.reserve(workersLeft);
  for (size_t worker = 0; worker < store->workers.size(); ++worker)
    threads.emplace_back([this, worker] { serve(worker); });
}

Coordination::~Coordination() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
    ending.notify_all();
  }
  queue.close();
  for (const std::unique_ptr<ps::Peer> &worker : store->workers)
    worker->cancel();
  for (std::thread &thread : threads)
    thread.join();
  store->forgetPrograms();
}

int64_t Coordination::startsOf(int64_t worker) const {
  return starts[size_t(worker)];
}

void Coordination::serve(size_t number) {
  Worker worker;
  const ps::Peer &peer = *store->workers[number];
  while (reach(number, worker))
    for (;;) {
      std::optional<ClosureQueue::Item> item = queue.take();
      if (!item)
        return;
      if (run(number, worker, *item) == Outcome::WorkerLost) {
        queue.putBack(std::move(*item));
        log(LogLevel::WARNING,
            fmt::format("Lost {}: what it ran is run by another worker; it is "
                        "used again when it comes back",
                        peer.text()));
        break;
      }
    }
  // Without workers nothing that waits will ever run.
  {
    std::lock_guard lock(mutex);
    if (isEnding || --workersLeft > 0)
      return;
  }
  while (std::optional<ClosureQueue::Item> item = queue.take())
    queue.fail(*item, std::make_exception_ptr(UnavailableError(fmt::format(
                          "[schedule] Unavailable: no worker could be reached "
                          "for {} s, the last one {}",
                          workerTimeout, peer.text()))));
}

bool Coordination::reach(size_t number, Worker &worker) {
  using Clock = std::chrono::steady_clock;
  const ps::Peer &peer = *store->workers[number];
  const auto end = Clock::now() + std::chrono::duration<double>(workerTimeout);
  constexpr double patience = 5;
  while (Clock::now() < end) {
    ps::MessageWriter out;
    grpc::ByteBuffer answer;
    const grpc::Status status =
        peer.call(ps::Method::Describe, out.finish(), answer, patience);
    if (status.ok()) {
      try {
        ps::MessageReader in(answer);
        if (const uint64_t start = in.number(); start != worker.start) {
          worker = {start, {}};
          ++starts[number];
        }
        return true;
      } catch (const Error &error) {
        logOnce(LogLevel::WARNING,
                fmt::format("{}: {}", peer.text(), error.what()));
      }
    } else if (!ps::isLost(status)) {
      logOnce(LogLevel::WARNING,
              fmt::format("{}: {}", peer.text(), status.error_message()));
    }
    std::unique_lock lock(mutex);
    if (ending.wait_for(lock, std::chrono::milliseconds(100),
                        [&] { return isEnding; }))
      return false;
  }
  return false;
}

bool Coordination::isServerLost(uint64_t server) {
  std::lock_guard lock(mutex);
  return ++serverFailures[server] > ignoredFailures;
}

Coordination::Outcome Coordination::run(size_t number, Worker &worker,
                                        ClosureQueue::Item &item) {
  const ps::Peer &peer = *store->workers[number];
  try {
    const FunctionCall call = item.closure(int64_t(number));
    const std::shared_ptr<const ps::Program> program =
        store->program(call.function);
    store->loadUpdates(*program);
    HostScope onHost;
    const grpc::ByteBuffer frame = store->frameOf(*program, call.inputs);
    for (bool isAgain = false;; isAgain = true) {
      grpc::ByteBuffer answer;
      if (!worker.loaded.contains(program->hash)) {
        const grpc::Status status =
            peer.call(ps::Method::Load, ps::Store::loading(*program), answer);
        if (ps::isLost(status))
          return Outcome::WorkerLost;
        if (!status.ok())
          throw Error(fmt::format("[schedule] {}: {}", peer.text(),
                                  status.error_message()));
        worker.loaded.insert(program->hash);
        answer.Clear();
      }
      const grpc::Status status = peer.call(ps::Method::Run, frame, answer);
      if (ps::isLost(status))
        return Outcome::WorkerLost;
      if (status.error_code() == ps::unknownProgram && !isAgain) {
        // A task was started again in between.
        worker.loaded.clear();
        store->loadUpdates(*program, true);
        continue;
      }
      if (status.error_code() == ps::serverLost) {
        const auto server =
            uint64_t(std::atoll(status.error_details().c_str()));
        if (isServerLost(server))
          ps::failUnavailable("Unavailable: " + status.error_message());
        {
          // What passes takes a while.
          std::unique_lock lock(mutex);
          ending.wait_for(lock, std::chrono::milliseconds(200),
                          [&] { return isEnding; });
        }
        queue.putBack(std::move(item));
        return Outcome::Done;
      }
      if (!status.ok())
        throw Error(fmt::format("[schedule] '{}' on {}: {}",
                                program->parts.name, peer.name,
                                status.error_message()));
      ps::MessageReader in(answer);
      std::vector<Tensor> values(in.count());
      for (Tensor &value : values)
        value = in.tensor();
      in.end();
      queue.finish(item, std::move(values));
      return Outcome::Done;
    }
  } catch (...) {
    queue.fail(item, std::current_exception());
    return Outcome::Done;
  }
}

//===----------------------------------------------------------------------===//
// What ClusterCoordinator calls
//===----------------------------------------------------------------------===//

std::shared_ptr<Coordination> coordinationIfAny(const Strategy &strategy) {
  return strategy.internal() ? strategy.internal()->coordination : nullptr;
}

std::shared_ptr<Coordination> coordinationOf(const Strategy &strategy) {
  std::shared_ptr<Coordination> own = coordinationIfAny(strategy);
  if (!own)
    refuse("ClusterCoordinator",
           fmt::format("expected a ParameterServerStrategy, got {}, which has "
                       "no workers to coordinate",
                       strategy.name()));
  return own;
}

std::shared_ptr<RemoteResult> schedule(Coordination &coordination,
                                       Closure closure) {
  auto result = std::make_shared<RemoteResult>();
  coordination.queue.put({std::move(closure), result});
  return result;
}
void join(Coordination &coordination) {
  coordination.queue.join();
}
bool isDone(Coordination &coordination) {
  return coordination.queue.isDone();
}
int64_t workerCount(const Coordination &coordination) {
  return int64_t(coordination.store->workers.size());
}
int64_t startsOf(const Coordination &coordination, int64_t worker) {
  return coordination.startsOf(worker);
}

FunctionCall captured(const Strategy &strategy,
                      const std::function<void()> &call) {
  if (isTracing())
    throw Error("[schedule] expected to be outside of functions: a worker "
                "runs one as a whole");
  const StrategyScope scope(strategy);
  CallCapture capture;
  call();
  if (capture.calls.size() != 1)
    throw Error(fmt::format("[schedule] expected one call of a function, got "
                            "{}",
                            capture.calls.size()));
  return std::move(capture.calls.front());
}

} // namespace meshloom::detail
