// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handing closures to workers, see Coordination.h.
#include "Coordination.h"

#include "../StrategyState.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/API/Logging.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace meshloom::detail {

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
  return {new Coordination(std::move(store), workerTimeout),
          [](Coordination *coordination) {
            const bool isInside = std::ranges::any_of(
                coordination->threads, [](const std::thread &thread) {
                  return thread.get_id() == std::this_thread::get_id();
                });
            if (isInside)
              std::thread([coordination] { delete coordination; }).detach();
            else
              delete coordination;
          }};
}

Coordination::Coordination(std::shared_ptr<const ps::Store> itsStore,
                           double workerTimeout)
    : store(std::move(itsStore)), workerTimeout(workerTimeout),
      ignoredFailures(failuresThatCount() - 1),
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

void Coordination::serve(size_t number) {
  Worker worker;
  const ps::Peer &peer = *store->workers[number];
  while (reach(number, worker))
    for (;;) {
      std::optional<ClosureQueue::Item> item = queue.take();
      if (!item)
        return;
      if (run(number, worker, *item) == Outcome::WorkerLost) {
        // First: who waits for what another one then runs knows it.
        log(LogLevel::WARNING,
            fmt::format("Lost {}: another worker runs its functions; it is "
                        "used again when it comes back",
                        peer.text()));
        queue.putBack(std::move(*item));
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
    queue.fail(*item,
               std::make_exception_ptr(UnavailableError(fmt::format(
                   "[schedule] Unavailable: no worker could be reached: {}",
                   whyUnreached))));
}

bool Coordination::reach(size_t number, Worker &worker) {
  using Clock = std::chrono::steady_clock;
  const ps::Peer &peer = *store->workers[number];
  const auto begin = Clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  constexpr double patience = 5, timeToWarning = 10;
  bool isWarned = false;
  std::string why = "it was not waited for";
  auto giveUp = [&] {
    std::lock_guard lock(mutex);
    whyUnreached = fmt::format("{}, which was waited for for {} s: {}",
                               peer.text(), workerTimeout, why);
    return false;
  };
  while (since() < workerTimeout) {
    ps::MessageWriter out;
    grpc::ByteBuffer answer;
    const grpc::Status status =
        peer.call(ps::Method::Describe, out.finish(), answer, patience);
    why = status.error_message();
    if (status.ok()) {
      try {
        ps::MessageReader in(answer);
        if (const uint64_t start = in.number(); start != worker.start)
          worker = {start, {}, {}, {}};
        return true;
      } catch (const Error &error) {
        why = error.what();
        logOnce(LogLevel::WARNING, fmt::format("{}: {}", peer.text(), why));
      }
    } else if (!ps::isLost(status)) {
      logOnce(LogLevel::WARNING, fmt::format("{}: {}", peer.text(), why));
      // It will not be let in later either.
      if (status.error_code() == ps::stranger)
        return giveUp();
    } else if (since() > timeToWarning && !std::exchange(isWarned, true)) {
      log(LogLevel::WARNING,
          fmt::format("{} cannot be reached and is waited for for {} s: {}; "
                      "all tasks use TLS, with certificates of one authority, "
                      "or none does",
                      peer.text(), workerTimeout, why));
    }
    std::unique_lock lock(mutex);
    if (ending.wait_for(lock, std::chrono::milliseconds(100),
                        [&] { return isEnding; }))
      return false;
  }
  return giveUp();
}

bool Coordination::isServerLost(uint64_t server) {
  std::lock_guard lock(mutex);
  return ++serverFailures[server] > ignoredFailures;
}

std::vector<uint64_t> Coordination::Worker::takeEnded() {
  std::vector<uint64_t> ended;
  for (const auto &[number, its] : iterations)
    if (its.expired())
      ended.push_back(number);
  for (uint64_t number : ended) {
    iterations.erase(number);
    upcoming.erase(number);
  }
  return ended;
}

/// Takes the elements of a worker's datasets for a closure, as it is run.
class Coordination::OfWorker : public WorkerCall {
public:
  OfWorker(const Coordination &coordination, size_t number, Worker &itself)
      : WorkerCall(int64_t(number)), coordination(coordination),
        itself(itself) {}

  Element take(const std::shared_ptr<const WorkerIteration> &its) override {
    for (const ps::TakenElement &other : taken)
      if (other.iteration->number == its->number)
        Error("[schedule] expected each iterator of a dataset once among the "
              "arguments, got one twice: batch the dataset, or create a second "
              "iterator")
            .raise();
    itself.iterations.emplace(its->number, its);
    auto found = itself.upcoming.find(its->number);
    if (found == itself.upcoming.end())
      found = itself.upcoming
                  .emplace(its->number, coordination.peek(size_t(worker), *its))
                  .first;
    const Upcoming &next = found->second;
    taken.push_back({its, next.signature, next.values});
    return {next.values, next.key};
  }

  std::vector<ps::TakenElement> taken;

private:
  const Coordination &coordination;
  Worker &itself;
};

Coordination::Upcoming
Coordination::peek(size_t number, const WorkerIteration &iteration) const {
  const ps::Peer &peer = *store->workers[number];
  grpc::ByteBuffer answer;
  const grpc::Status status =
      peer.call(ps::Method::Peek, store->peeking(iteration), answer);
  if (ps::isLost(status))
    throw WorkerLost();
  if (!status.ok())
    Error(fmt::format("[schedule] {}: {}", peer.name, status.error_message()))
        .raise();
  HostScope onHost;
  ps::MessageReader in(answer);
  Upcoming next;
  next.signature = in.text();
  next.key = in.text();
  next.values.resize(in.count());
  for (Tensor &value : next.values) {
    const DType type = in.dtype();
    value = zeros(in.shape(), type);
  }
  in.end();
  return next;
}

void Coordination::load(size_t number, Worker &worker,
                        const ps::Program &program) const {
  const ps::Peer &peer = *store->workers[number];
  if (worker.loaded.contains(program.hash))
    return;
  grpc::ByteBuffer answer;
  const grpc::Status status =
      peer.call(ps::Method::Load, ps::Store::loading(program), answer);
  if (ps::isLost(status))
    throw WorkerLost();
  if (!status.ok())
    Error(fmt::format("[schedule] {}: {}", peer.text(), status.error_message()))
        .raise();
  worker.loaded.insert(program.hash);
}

/// A parameter server that failed.
struct ServerFailure {
  uint64_t server;
  std::string why;
};

std::vector<Tensor> Coordination::runOn(size_t number, Worker &worker,
                                        const Closure &closure) {
  const ps::Peer &peer = *store->workers[number];
  // Elements may be of another type than the ones before, and those of the try
  // after that again.
  constexpr int mostTries = 100;
  for (int tries = 0, reloads = 0;;) {
    OfWorker workerCall(*this, number, worker);
    const std::vector<FunctionCall> calls = closure(workerCall);
    if (calls.empty())
      return {};
    std::vector<std::shared_ptr<const ps::Program>> programs;
    programs.reserve(calls.size());
    for (const FunctionCall &call : calls) {
      programs.push_back(store->program(call.function));
      store->loadUpdates(*programs.back(), /*again=*/reloads > 0);
      load(number, worker, *programs.back());
    }
    HostScope onHost;
    grpc::ByteBuffer answer;
    const grpc::Status status = peer.call(
        ps::Method::Run,
        store->frameOf(programs, calls, workerCall.taken, worker.takeEnded()),
        answer);
    if (ps::isLost(status))
      throw WorkerLost();
    if (status.error_code() == ps::unknownProgram && reloads++ == 0) {
      // A task was started again in between.
      worker.loaded.clear();
      continue;
    }
    if (status.error_code() == ps::otherElement && ++tries < mostTries) {
      for (const ps::TakenElement &taken : workerCall.taken)
        worker.upcoming.erase(taken.iteration->number);
      continue;
    }
    if (status.error_code() == ps::serverLost)
      throw ServerFailure{uint64_t(std::atoll(status.error_details().c_str())),
                          status.error_message()};
    if (!status.ok())
      Error(fmt::format("[schedule] '{}' on {}: {}",
                        programs.front()->parts.name, peer.name,
                        status.error_message()))
          .raise();
    ps::MessageReader in(answer);
    std::vector<Tensor> values(in.count());
    for (Tensor &value : values)
      value = in.tensor();
    in.end();
    return values;
  }
}

Coordination::Outcome Coordination::run(size_t number, Worker &worker,
                                        ClosureQueue::Item &item) {
  try {
    queue.finish(item, runOn(number, worker, item.closure));
  } catch (const WorkerLost &) {
    return Outcome::WorkerLost;
  } catch (const ServerFailure &failure) {
    if (isServerLost(failure.server)) {
      try {
        ps::failUnavailable("Unavailable: " + failure.why);
      } catch (...) {
        queue.fail(item, std::current_exception());
      }
      return Outcome::Done;
    }
    {
      // A failure takes a while to pass.
      std::unique_lock lock(mutex);
      ending.wait_for(lock, std::chrono::milliseconds(200),
                      [&] { return isEnding; });
    }
    queue.putBack(std::move(item));
  } catch (...) {
    queue.fail(item, std::current_exception());
  }
  return Outcome::Done;
}

//===----------------------------------------------------------------------===//
// What ClusterCoordinator calls
//===----------------------------------------------------------------------===//

std::shared_ptr<Workers> coordinatedWorkers(const Strategy &strategy) {
  std::shared_ptr<Workers> workers = workersOf(strategy);
  if (!workers)
    fail("ClusterCoordinator",
         fmt::format("expected a ParameterServerStrategy, got {}, which has "
                     "no workers to coordinate",
                     strategy.name()));
  return workers;
}

std::shared_ptr<RemoteResult> Coordination::schedule(Closure closure) {
  auto result = std::make_shared<RemoteResult>();
  queue.put({std::move(closure), result});
  return result;
}
void Coordination::join() {
  queue.join();
}
bool Coordination::isDone() {
  return queue.isDone();
}
int64_t Coordination::count() const {
  return int64_t(store->workers.size());
}

} // namespace meshloom::detail
