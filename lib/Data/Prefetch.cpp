// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that makes elements before they are asked for, and brings them to
// devices.
#include "Steps.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/Core/ProcessEnd.h"
#include "meshloom/Data/Dataset.h"

#include <condition_variable>
#include <deque>
#include <mutex>

namespace meshloom::data::detail {

namespace {

class Prefetching : public Cursor {
public:
  Prefetching(std::unique_ptr<Cursor> input, int64_t limit,
              ElementFunction place)
      : input(std::move(input)), limit(size_t(limit)), place(std::move(place)) {
  }
  std::optional<Element> next() override {
    if (!worker.haveStarted() && !worker.start([this] { work(); }))
      return produced().value();
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] {
      return !ready.empty() || isExhausted || (isStopped && !isProducing);
    });
    if (ready.empty() && isExhausted)
      return std::nullopt;
    if (ready.empty()) { // the process ends
      lock.unlock();
      return produced().value();
    }
    Ready first = std::move(ready.front());
    ready.pop_front();
    lock.unlock();
    changed.notify_all();
    return std::move(first).value();
  }
  void skip(int64_t n) override {
    if (worker.haveStarted())
      Cursor::skip(n);
    else
      input->skip(n);
  }

private:
  struct Ready {
    std::optional<Element> element;
    std::exception_ptr failure;
    std::optional<Element> value() && {
      if (failure)
        std::rethrow_exception(failure);
      return std::move(element);
    }
  };
  Ready produced() {
    meshloom::detail::HostScope host;
    Ready next;
    try {
      next.element = input->next();
      if (next.element && place)
        next.element = place(*next.element);
    } catch (...) {
      next.failure = std::current_exception();
    }
    return next;
  }
  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return isStopped || ready.size() < limit; });
      if (isStopped)
        return;
      isProducing = true;
      lock.unlock();
      Ready next = produced();
      lock.lock();
      isProducing = false;
      if (!next.element && !next.failure) {
        isExhausted = true;
        changed.notify_all();
        return;
      }
      ready.push_back(std::move(next));
      changed.notify_all();
    }
  }
  void stop() {
    std::lock_guard lock(mutex);
    isStopped = true;
    changed.notify_all();
  }

  std::unique_ptr<Cursor> input;
  const size_t limit;
  const ElementFunction place;

  std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  std::deque<Ready> ready;
  bool isExhausted = false, isStopped = false, isProducing = false;

  BackgroundThreads worker{[this] { stop(); }};
};

class Prefetch : public Step<Prefetch> {
public:
  Prefetch(SourcePtr input, int64_t count, ElementFunction place)
      : Step(std::move(input)), count(count), place(std::move(place)) {}
  std::string_view name() const override { return "prefetch"; }
  bool keepsBatches() const override { return true; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<Prefetching>(input->open(opening), count, place);
  }

private:
  int64_t count;
  ElementFunction place;
};

} // namespace

SourcePtr prefetch(SourcePtr input, int64_t count, ElementFunction place) {
  if (count == AUTOTUNE)
    count = 2; // one is taken while the next one is made
  expect(count >= 1, "prefetch", "AUTOTUNE or at least one element", count);
  return std::make_shared<Prefetch>(std::move(input), count, std::move(place));
}

ElementFunction placeOn(std::vector<Layout> layouts) {
  for (const Layout &layout : layouts)
    if (!layout.defined())
      Error("[prefetch] expected layouts, got an empty one").raise();
  return [layouts = std::move(layouts)](const Element &element) {
    if (element.values.size() != layouts.size())
      Error(fmt::format("[prefetch] expected a layout for each tensor of "
                        "an element {}, got {}",
                        element.typeText(), layouts.size()))
          .raise();
    Element placed;
    placed.skeleton = element.skeleton;
    placed.values.reserve(layouts.size());
    for (size_t i = 0; i < layouts.size(); ++i)
      placed.values.emplace_back(
          distribute(element.values[i].tensor(), layouts[i]));
    return placed;
  };
}

} // namespace meshloom::data::detail
