// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Run.h.
#include "Run.h"

#include "Messages.h"

#include <fmt/format.h>

namespace meshloom::detail {

using coordination::BarrierRequest;
using std::chrono::milliseconds;

namespace {

constexpr size_t longestText = size_t(1) << 20;
constexpr milliseconds reportDelay(100);
constexpr const char *processEnded =
    "its process has ended before the program did";

/// How long a rank may take to open its stream again before it counts as dead.
milliseconds graceOf(milliseconds heartbeatTimeout) {
  return std::min(milliseconds(1000), heartbeatTimeout / 5);
}

/// "10 s", "250 ms".
std::string text(milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{} ms", time.count());
}

} // namespace

grpc::Status statusOf(const Failure &failure) {
  return {grpc::StatusCode::ABORTED, cut(failure.message())};
}

Run::Run(const CoordinationServiceOptions &options, uint64_t generation)
    : generation(generation), options(options), ranks(size_t(options.size)) {
  if (options.startTimeout.count() > 0)
    startDeadline = Clock::now() + options.startTimeout;
  clock = std::thread([this] { runClock(); });
}

Run::~Run() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  clockChanged.notify_all();
  clock.join();
}

void Run::call(const Answers &answers) {
  for (const std::function<void()> &answer : answers)
    answer();
}

//===----------------------------------------------------------------------===//
// Who belongs to the run
//===----------------------------------------------------------------------===//

/// The answer to a process that may not join. One `ofThisRun` (not left over
/// from another) ends it: the program would not get further.
grpc::Status Run::refuse(const coordination::JoinRequest &request,
                         const std::string &text, bool ofThisRun,
                         Answers &answers) {
  Failure refused{Failure::Kind::REFUSED, request.rank(), request.host(),
                  request.pid(), text};
  if (options.log)
    answers.emplace_back(
        [log = options.log, refused] { log("refused " + refused.message()); });
  if (ofThisRun)
    fail(refused, answers);
  if (ofThisRun && request.rank() >= 0 &&
      request.rank() < int64_t(ranks.size()))
    ranks[size_t(request.rank())].knowsFailure = true;
  return {grpc::StatusCode::FAILED_PRECONDITION, cut(refused.message())};
}

grpc::Status Run::join(const coordination::JoinRequest &request,
                       coordination::JoinReply &reply) {
  Answers answers;
  const grpc::Status status = [&]() -> grpc::Status {
    const std::lock_guard lock(mutex);
    if (request.generation() != 0 && request.generation() != generation)
      return refuse(request,
                    fmt::format("it belongs to start {:016x} of the program, "
                                "this service is of start {:016x}: a process "
                                "that is left over from an earlier start, or "
                                "the address of another run",
                                request.generation(), generation),
                    false, answers);
    const auto size = int64_t(ranks.size());
    const bool complete =
        std::all_of(ranks.begin(), ranks.end(),
                    [](const Rank &rank) { return rank.joined; });
    if (request.size() != size)
      return refuse(
          request,
          fmt::format("it was started as one of {} processes, this "
                      "run has {}: give all the same number "
                      "(DTENSOR_NUM_CLIENTS={}, or the same TF_CONFIG "
                      "cluster)",
                      request.size(), size, size),
          !complete, answers);
    if (request.rank() < 0 || request.rank() >= size)
      return refuse(
          request,
          fmt::format("expected a rank in 0..{} (DTENSOR_CLIENT_ID)", size - 1),
          !complete, answers);
    Rank &rank = ranks[size_t(request.rank())];
    if (rank.joined && rank.incarnation != request.incarnation())
      return refuse(request,
                    fmt::format("process {} on host {} is rank {} already: two "
                                "processes have the same number "
                                "(DTENSOR_CLIENT_ID), or this one is left over "
                                "from an earlier start",
                                rank.pid, rank.host, request.rank()),
                    false, answers);
    if (first) {
      rank.knowsFailure = true;
      ended.notify_all();
      return statusOf(*first);
    }
    for (size_t other = 0; other < ranks.size(); ++other) {
      if (!ranks[other].joined)
        continue;
      if (ranks[other].version != request.version())
        return refuse(
            request,
            fmt::format("its Meshloom is of version {}, that of rank {} (host "
                        "{}) of version {}: install the same on every host",
                        request.version(), other, ranks[other].host,
                        ranks[other].version),
            true, answers);
      if (ranks[other].binaryHash != request.binary_hash())
        return refuse(
            request,
            fmt::format("it runs another program than rank {} (host {}): their "
                        "executable files differ (digests {} and {}): start "
                        "the same one on every host",
                        other, ranks[other].host, request.binary_hash(),
                        ranks[other].binaryHash),
            true, answers);
      break;
    }
    rank.joined = true;
    rank.host = request.host();
    rank.pid = request.pid();
    rank.binaryHash = request.binary_hash();
    rank.version = request.version();
    rank.incarnation = request.incarnation();
    rank.lastHeard = Clock::now();
    endHopelessStart(answers);
    reply.set_generation(generation);
    reply.set_heartbeat_timeout_ms(options.heartbeatTimeout.count());
    reply.set_service_rank(options.rank);
    return grpc::Status::OK;
  }();
  clockChanged.notify_all();
  call(answers);
  return status;
}

grpc::Status Run::checkLocked(const coordination::Caller &caller) {
  if (caller.generation() != generation)
    return {grpc::StatusCode::FAILED_PRECONDITION,
            fmt::format("this process belongs to start {:016x} of the program, "
                        "the service at this address to start {:016x}: it is "
                        "left over, and must be ended",
                        caller.generation(), generation)};
  if (caller.rank() < 0 || caller.rank() >= int64_t(ranks.size()) ||
      !ranks[size_t(caller.rank())].joined)
    return {grpc::StatusCode::FAILED_PRECONDITION,
            fmt::format("rank {} has not joined this run", caller.rank())};
  if (first)
    return statusOf(*first);
  ranks[size_t(caller.rank())].lastHeard = Clock::now();
  return grpc::Status::OK;
}

grpc::Status Run::check(const coordination::Caller &caller) {
  const std::lock_guard lock(mutex);
  return checkLocked(caller);
}

//===----------------------------------------------------------------------===//
// Values and barriers
//===----------------------------------------------------------------------===//

grpc::Status Run::set(const coordination::SetRequest &request) {
  Answers answers;
  {
    const std::lock_guard lock(mutex);
    if (grpc::Status status = checkLocked(request.caller()); !status.ok())
      return status;
    const auto found = values.find(request.key());
    const size_t replaced =
        found == values.end() ? 0 : found->first.size() + found->second.size();
    const size_t stored =
        storedBytes - replaced + request.key().size() + request.value().size();
    if (stored > options.mostStoredBytes)
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              fmt::format("the coordination service keeps at most {} bytes of "
                          "keys and values, and has {}: erase keys that are no "
                          "longer needed, and keep large values in files",
                          options.mostStoredBytes, storedBytes)};
    storedBytes = stored;
    values[request.key()] = request.value();
    const auto waits =
        std::partition(gets.begin(), gets.end(), [&](const GetWait &wait) {
          return wait.key != request.key();
        });
    for (auto wait = waits; wait != gets.end(); ++wait)
      answers.emplace_back([answer = std::move(wait->answer), &request] {
        answer(grpc::Status::OK, request.value());
      });
    gets.erase(waits, gets.end());
  }
  call(answers);
  return grpc::Status::OK;
}

grpc::Status Run::erase(const coordination::EraseRequest &request) {
  const std::lock_guard lock(mutex);
  if (grpc::Status status = checkLocked(request.caller()); !status.ok())
    return status;
  const auto begin = values.lower_bound(request.prefix());
  auto end = begin;
  for (; end != values.end() && end->first.starts_with(request.prefix()); ++end)
    storedBytes -= end->first.size() + end->second.size();
  values.erase(begin, end);
  return grpc::Status::OK;
}

uint64_t Run::get(const coordination::GetRequest &request, GetAnswer answer) {
  grpc::Status status;
  std::string value;
  {
    const std::lock_guard lock(mutex);
    status = checkLocked(request.caller());
    if (status.ok()) {
      const auto found = values.find(request.key());
      if (found != values.end()) {
        value = found->second;
      } else if (request.timeout_ms() <= 0) {
        status = {grpc::StatusCode::NOT_FOUND, "it is not set"};
      } else {
        const auto deadline = Clock::now() + clampTimeout(request.timeout_ms());
        gets.push_back(
            {++lastNumber, request.key(), deadline, std::move(answer)});
        clockChanged.notify_all();
        return lastNumber;
      }
    }
  }
  answer(status, value);
  return 0;
}

bool Run::cancel(uint64_t number) {
  const std::lock_guard lock(mutex);
  if (std::erase_if(gets, [&](const GetWait &wait) {
        return wait.number == number;
      }) != 0)
    return true;
  for (auto barrier = barriers.begin(); barrier != barriers.end(); ++barrier)
    if (std::erase_if(barrier->second, [&](const BarrierWait &wait) {
          return wait.number == number;
        }) != 0) {
      if (barrier->second.empty())
        barriers.erase(barrier);
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

void Run::fail(const Failure &failure, Answers &answers) {
  if (first || over)
    return;
  first = failure;
  const grpc::Status status = statusOf(failure);
  for (GetWait &wait : gets)
    answers.emplace_back([answer = std::move(wait.answer), status] {
      answer(status, std::string());
    });
  gets.clear();
  for (auto &[key, waits] : barriers)
    failAll(waits, status, answers);
  barriers.clear();
  for (const Rank &rank : ranks)
    if (rank.stream != 0)
      answers.emplace_back([tell = rank.tell, failure] { tell(failure); });
  if (options.onFailure)
    answers.emplace_back(
        [notify = options.onFailure, failure] { notify(failure); });
  ended.notify_all();
}

void Run::failRank(Failure::Kind kind, int64_t rank, const std::string &text,
                   Answers &answers) {
  const Rank &who = ranks[size_t(rank)];
  fail({kind, rank, who.host, who.pid, text}, answers);
}

/// A rank that sees another one die reports that, often before the other one's
/// stream is seen to break here: who was lost comes first.
grpc::Status Run::report(const coordination::ReportRequest &request) {
  {
    const std::lock_guard lock(mutex);
    if (grpc::Status status = checkLocked(request.caller()); !status.ok())
      return status;
    if (!reported) {
      const Rank &who = ranks[size_t(request.caller().rank())];
      reported = {Failure::Kind::REPORTED,
                  request.caller().rank(),
                  who.host,
                  who.pid,
                  request.text().substr(0, longestText),
                  errorCodeOf(request.code())};
      reportDeadline = Clock::now() + reportDelay;
    }
  }
  clockChanged.notify_all();
  return grpc::Status::OK;
}

void Run::endByReport(Clock::time_point now, Answers &answers) {
  if (!reported || first || reportDeadline > now)
    return;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].joined && ranks[rank].brokenAt && !ranks[rank].left &&
        int64_t(rank) != reported->rank)
      failRank(Failure::Kind::LOST, int64_t(rank), processEnded, answers);
  fail(*reported, answers);
}

void Run::abort(const std::string &text) {
  Answers answers;
  {
    const std::lock_guard lock(mutex);
    fail({Failure::Kind::ABORTED, -1, "", 0, text}, answers);
  }
  call(answers);
}

void Run::noteEnd(int64_t rank) {
  Answers answers;
  {
    const std::lock_guard lock(mutex);
    ranks.at(size_t(rank)).hasEnded = true;
    endHopelessStart(answers);
  }
  call(answers);
}

/// Programs that never meet may end one by one. Who has joined waits for all.
void Run::endHopelessStart(Answers &answers) {
  if (std::ranges::none_of(ranks, [](const Rank &rank) { return rank.joined; }))
    return;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].hasEnded && !ranks[rank].joined)
      return failRank(Failure::Kind::LOST, int64_t(rank),
                      "its program has ended before it joined the others",
                      answers);
}

std::optional<Failure> Run::failure() const {
  const std::lock_guard lock(mutex);
  return first;
}

grpc::Status Run::watch(const coordination::Caller &caller, Tell tell,
                        uint64_t &stream) {
  Answers answers;
  {
    const std::lock_guard lock(mutex);
    const grpc::Status status = checkLocked(caller);
    if (!status.ok() && !first)
      return status;
    if (!status.ok() && status.error_code() != grpc::StatusCode::ABORTED)
      return status;
    Rank &rank = ranks[size_t(caller.rank())];
    stream = rank.stream = ++lastNumber;
    rank.tell = std::move(tell);
    rank.brokenAt.reset();
    if (first)
      answers.emplace_back(
          [tell = rank.tell, failure = first] { tell(failure); });
  }
  call(answers);
  return grpc::Status::OK;
}

void Run::told(int64_t rank, uint64_t stream) {
  {
    const std::lock_guard lock(mutex);
    if (ranks[size_t(rank)].stream == stream)
      ranks[size_t(rank)].knowsFailure = true;
  }
  ended.notify_all();
}

void Run::closed(int64_t rank, uint64_t stream) {
  {
    const std::lock_guard lock(mutex);
    Rank &who = ranks[size_t(rank)];
    if (who.stream != stream)
      return;
    who.stream = 0;
    who.tell = nullptr;
    who.brokenAt = Clock::now();
  }
  clockChanged.notify_all();
  ended.notify_all();
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

Run::Clock::time_point Run::nextDeadline() const {
  Clock::time_point next = startDeadline;
  for (const GetWait &wait : gets)
    next = std::min(next, wait.deadline);
  for (const auto &[key, waits] : barriers)
    for (const BarrierWait &wait : waits)
      next = std::min(next, wait.deadline);
  if (first || over)
    return next;
  next = std::min(next, reportDeadline);
  for (const Rank &rank : ranks) {
    if (!rank.joined)
      continue;
    next = std::min(next, rank.lastHeard + options.heartbeatTimeout);
    if (rank.brokenAt)
      next = std::min(next, *rank.brokenAt + graceOf(options.heartbeatTimeout));
  }
  return next;
}

void Run::endOverdueWaits(Clock::time_point now, Answers &answers) {
  const auto overdue =
      std::partition(gets.begin(), gets.end(),
                     [&](const GetWait &wait) { return wait.deadline > now; });
  for (auto wait = overdue; wait != gets.end(); ++wait)
    answers.emplace_back([answer = std::move(wait->answer)] {
      answer({grpc::StatusCode::DEADLINE_EXCEEDED, "it was not set"}, "");
    });
  gets.erase(overdue, gets.end());

  for (auto barrier = barriers.begin(); barrier != barriers.end();) {
    std::vector<BarrierWait> &waits = barrier->second;
    const auto late =
        std::find_if(waits.begin(), waits.end(), [&](const BarrierWait &wait) {
          return wait.deadline <= now;
        });
    if (late == waits.end()) {
      ++barrier;
      continue;
    }
    const grpc::Status status(
        grpc::StatusCode::DEADLINE_EXCEEDED,
        cut(fmt::format("{} did not come within {}", missing(waits),
                        text(late->timeout))));
    failAll(waits, status, answers);
    barrier = barriers.erase(barrier);
  }
}

void Run::loseSilentRanks(Clock::time_point now, Answers &answers) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const Rank &who = ranks[rank];
    if (!who.joined || who.left)
      continue;
    if (who.brokenAt &&
        *who.brokenAt + graceOf(options.heartbeatTimeout) <= now)
      failRank(Failure::Kind::LOST, int64_t(rank), processEnded, answers);
    else if (who.lastHeard + options.heartbeatTimeout <= now)
      failRank(
          Failure::Kind::LOST, int64_t(rank),
          fmt::format("nothing was heard from it for {}: its process is "
                      "stopped or hangs, or its machine or the network is gone",
                      text(options.heartbeatTimeout)),
          answers);
  }
}

void Run::runClock() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    const Clock::time_point now = Clock::now();
    Answers answers;
    endOverdueWaits(now, answers);
    endByReport(now, answers);
    loseSilentRanks(now, answers);
    if (!first && startDeadline <= now) {
      std::vector<BarrierWait> come;
      for (size_t rank = 0; rank < ranks.size(); ++rank)
        if (ranks[rank].joined)
          come.push_back({0, int64_t(rank), {}, {}, nullptr});
      startDeadline = Clock::time_point::max();
      if (come.size() < ranks.size())
        fail(
            {Failure::Kind::ABORTED, -1, "", 0,
             fmt::format("the program did not start: {} did not join within {}",
                         missing(come), text(options.startTimeout))},
            answers);
    }
    if (!answers.empty()) {
      lock.unlock();
      call(answers);
      answers.clear();
      lock.lock();
      continue;
    }
    const Clock::time_point next = nextDeadline();
    if (next == Clock::time_point::max())
      clockChanged.wait(lock);
    else
      clockChanged.wait_until(lock, next);
  }
}

bool Run::allKnowFailure() const {
  return first && std::all_of(ranks.begin(), ranks.end(), [](const Rank &rank) {
           return !rank.joined || rank.stream == 0 || rank.knowsFailure;
         });
}

Status Run::waitForEnd(milliseconds timeout) {
  std::unique_lock lock(mutex);
  if (ended.wait_for(lock, timeout, [&] { return over || allKnowFailure(); })) {
    // Ranks that come late are told why, instead of looking for a service.
    constexpr milliseconds LATE{2000};
    if (first && first->kind == Failure::Kind::REFUSED)
      ended.wait_for(lock, std::min(timeout, LATE), [&] {
        return std::ranges::all_of(ranks, [](const Rank &rank) {
          return rank.joined || rank.knowsFailure;
        });
      });
    return Success();
  }
  std::vector<BarrierWait> here;
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    if (first ? ranks[rank].stream == 0 || ranks[rank].knowsFailure
              : ranks[rank].left)
      here.push_back({0, int64_t(rank), {}, {}, nullptr});
  return Error(fmt::format("the run has not ended within {}: {} {}",
                           text(timeout), missing(here),
                           first ? "did not take notice of the failure"
                                 : "did not leave"),
               ErrorCode::DEADLINE_EXCEEDED);
}

} // namespace meshloom::detail
