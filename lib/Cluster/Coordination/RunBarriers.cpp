// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of a run: who waits where, and which can no longer end well.
#include "Messages.h"
#include "Run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::detail {

using coordination::BarrierRequest;
using std::chrono::milliseconds;

void Run::failAll(std::vector<BarrierWait> &waits, const grpc::Status &status,
                  Answers &answers) {
  for (BarrierWait &wait : waits)
    answers.emplace_back([answer = std::move(wait.answer), status] {
      answer(status, coordination::BarrierReply());
    });
}

std::string Run::missing(const std::vector<BarrierWait> &waits) const {
  std::vector<std::string> names;
  constexpr size_t most = 16;
  size_t count = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const bool here =
        std::any_of(waits.begin(), waits.end(), [&](const BarrierWait &wait) {
          return wait.rank == int64_t(rank);
        });
    if (here || ++count > most)
      continue;
    names.push_back(
        ranks[rank].joined
            ? fmt::format("rank {} (host {}, process {})", rank,
                          ranks[rank].host, ranks[rank].pid)
            : fmt::format("rank {} (which never joined the run)", rank));
  }
  if (count > most)
    names.push_back(fmt::format("{} more", count - most));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A rank that waits to leave comes to no barrier any more.
void Run::endHopelessBarriers(Answers &answers) {
  const auto end = barriers.find({int(BarrierRequest::END), ""});
  if (end == barriers.end())
    return;
  for (auto barrier = barriers.begin(); barrier != barriers.end();) {
    std::vector<BarrierWait> &waits = barrier->second;
    if (barrier->first.first != int(BarrierRequest::NAMED)) {
      ++barrier;
      continue;
    }
    const auto leaver = std::find_if(
        end->second.begin(), end->second.end(), [&](const BarrierWait &wait) {
          return std::none_of(
              waits.begin(), waits.end(),
              [&](const BarrierWait &here) { return here.rank == wait.rank; });
        });
    if (leaver == end->second.end()) {
      ++barrier;
      continue;
    }
    const Rank &who = ranks[size_t(leaver->rank)];
    const grpc::Status status(
        grpc::StatusCode::FAILED_PRECONDITION,
        fmt::format("rank {} (host {}, process {}) does not come: its program "
                    "has ended, or has called shutdown",
                    leaver->rank, who.host, who.pid));
    failAll(waits, status, answers);
    barrier = barriers.erase(barrier);
  }
}

/// Where every rank waits at a barrier that is one of the calls of all in one
/// order, and these are not the same, none of them ends well.
void Run::endDifferentBarriers(Answers &answers) {
  std::map<int64_t, std::pair<BarrierKey, const BarrierWait *>> waiting;
  for (const auto &[key, waits] : barriers)
    for (const BarrierWait &wait : waits)
      if (!wait.call.empty())
        waiting.emplace(wait.rank, std::pair(key, &wait));
  if (waiting.size() < ranks.size())
    return;
  // The first rank, and the first one that differs from it.
  const auto one = waiting.begin();
  const auto other = std::ranges::find_if(waiting, [&](const auto &wait) {
    return wait.second.first != one->second.first;
  });
  if (other == waiting.end())
    return;
  const bool sameName = one->second.second->call == other->second.second->call;
  const auto doing = [&](const auto &wait) {
    const auto &[key, waiting] = wait.second;
    const Rank &who = ranks[size_t(wait.first)];
    return fmt::format("rank {} (host {}, process {}) calls {}{}", wait.first,
                       who.host, who.pid, waiting->call,
                       sameName ? " as " + key.second : "");
  };
  const grpc::Status status(
      grpc::StatusCode::FAILED_PRECONDITION,
      cut(fmt::format("the processes do not make the same calls in one order: "
                      "all of them wait, and {}, {}. Call the same functions "
                      "and ops, as often and in the same order, in every "
                      "process",
                      doing(*one), doing(*other))));
  for (const auto &[rank, place] : waiting) {
    failAll(barriers[place.first], status, answers);
    barriers.erase(place.first);
  }
}

uint64_t Run::barrier(const BarrierRequest &request, BarrierAnswer answer) {
  Answers answers;
  grpc::Status status;
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex);
    status = checkLocked(request.caller());
    const BarrierKey key(int(request.kind()), request.name());
    std::vector<BarrierWait> *waits = status.ok() ? &barriers[key] : nullptr;
    const int64_t rank = request.caller().rank();
    if (waits &&
        std::any_of(waits->begin(), waits->end(),
                    [&](const BarrierWait &wait) { return wait.rank == rank; }))
      status = {
          grpc::StatusCode::FAILED_PRECONDITION,
          fmt::format("rank {} waits there already, in another thread", rank)};
    if (status.ok()) {
      const milliseconds timeout = clampTimeout(request.timeout_ms());
      number = ++lastNumber;
      waits->push_back({number, rank, timeout, Clock::now() + timeout,
                        std::move(answer), request.value(), request.call()});
      if (waits->size() == ranks.size()) {
        // One for all: it has something of each rank.
        auto reply = std::make_shared<coordination::BarrierReply>();
        if (request.kind() == BarrierRequest::START)
          for (const Rank &member : ranks) {
            coordination::RankMessage *message = reply->add_ranks();
            message->set_host(member.host);
            message->set_pid(member.pid);
          }
        if (std::ranges::any_of(*waits, [](const BarrierWait &wait) {
              return !wait.value.empty();
            })) {
          std::ranges::sort(*waits, {}, &BarrierWait::rank);
          for (BarrierWait &wait : *waits)
            reply->add_values(std::move(wait.value));
        }
        for (BarrierWait &wait : *waits)
          answers.emplace_back([answer = std::move(wait.answer), reply] {
            answer(grpc::Status::OK, *reply);
          });
        barriers.erase(key);
        number = 0;
        if (request.kind() == BarrierRequest::START)
          startDeadline = Clock::time_point::max();
        if (request.kind() == BarrierRequest::END) {
          over = true;
          for (Rank &member : ranks) {
            member.left = true;
            if (member.stream != 0)
              answers.emplace_back(
                  [tell = member.tell] { tell(std::nullopt); });
          }
        }
      } else {
        endHopelessBarriers(answers);
        endDifferentBarriers(answers);
      }
    } else {
      answers.emplace_back([answer = std::move(answer), status] {
        answer(status, coordination::BarrierReply());
      });
    }
  }
  clockChanged.notify_all();
  ended.notify_all();
  call(answers);
  return number;
}

} // namespace meshloom::detail
