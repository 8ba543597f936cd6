// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Event: a flag, an error, those who wait for them and what is to be done then.
#include "meshloom/Runtime/Event.h"

#include "meshloom/Core/ProcessEnd.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

using namespace meshloom;

struct Event::State {
  const int forks = ProcessEnd::forks();
  std::atomic<bool> done{false}, reported{false};
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Error> error;
  std::vector<std::function<void(const Status &)>> actions;

  /// Once done, which never changes.
  Status outcome() const {
    if (error)
      return *error;
    return Success();
  }
};

Event Event::pending() {
  Event event;
  event.state = std::make_shared<State>();
  return event;
}

Event Event::failed(Error error) {
  Event event = pending();
  event.fail(std::move(error));
  return event;
}

Event Event::whenAll(std::span<const Event> events) {
  std::vector<Event> open;
  for (const Event &event : events)
    if (event.state)
      open.push_back(event);
  if (open.empty())
    return Event();
  if (open.size() == 1)
    return open[0];
  struct Join {
    std::atomic<size_t> missing;
    std::vector<Event> events;
  };
  auto join = std::make_shared<Join>();
  join->missing = open.size();
  join->events = open;
  Event joined = pending();
  for (const Event &event : open)
    event.then([join, joined](const Status &) {
      if (--join->missing)
        return;
      for (const Event &event : join->events)
        if (event.state->error)
          return joined.fail(*event.state->error);
      joined.complete();
    });
  return joined;
}

bool Event::isReady() const {
  return !state || state->done;
}

Status Event::wait() const {
  if (!state)
    return Success();
  if (!state->done && state->forks != ProcessEnd::forks())
    return Error("the process that computed it forked this one off before it "
                 "was done: read values before fork(), or compute in one "
                 "process",
                 ErrorCode::FAILED_PRECONDITION);
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->done.load(); });
  return state->outcome();
}

bool Event::isUnreported() const {
  return state && state->done && state->error &&
         !state->reported.exchange(true);
}

void Event::then(std::function<void(const Status &)> action) const {
  if (!state)
    return action(Success());
  {
    std::lock_guard lock(state->mutex);
    if (!state->done) {
      state->actions.push_back(std::move(action));
      return;
    }
  }
  action(state->outcome());
}

void Event::end(std::optional<Error> failure) const {
  if (!state)
    return;
  // The last handle may be given up by an action, or by one who waited.
  const std::shared_ptr<State> alive = state;
  std::vector<std::function<void(const Status &)>> actions;
  {
    std::lock_guard lock(alive->mutex);
    if (alive->done)
      return;
    alive->error = std::move(failure);
    alive->done = true;
    actions = std::move(alive->actions);
    alive->changed.notify_all();
  }
  for (const auto &action : actions)
    action(alive->outcome());
}

void Event::finish(const Status &outcome) const {
  if (outcome)
    complete();
  else
    fail(outcome.error());
}
