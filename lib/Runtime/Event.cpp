// Event: a flag, an error and those who wait for them.
#include "meshloom/Runtime/Event.h"

#include <atomic>
#include <condition_variable>
#include <mutex>

using namespace meshloom;

struct Event::State {
  std::atomic<bool> done{false};
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Error> error;

  void finish(std::optional<Error> failure) {
    std::lock_guard lock(mutex);
    if (done)
      return;
    error = std::move(failure);
    done = true;
    changed.notify_all();
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

bool Event::isReady() const {
  return !state || state->done;
}

Status Event::wait() const {
  if (!state)
    return Success();
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->done.load(); });
  if (state->error)
    return *state->error;
  return Success();
}

void Event::complete() const {
  if (state)
    state->finish(std::nullopt);
}

void Event::fail(Error error) const {
  if (state)
    state->finish(std::move(error));
}
