// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps that call functions of the user's: map, in this thread or on several,
// and interleave.
#include "Steps.h"
#include "meshloom/Core/AvailableCores.h"
#include "meshloom/Core/ProcessEnd.h"
#include "meshloom/Data/Dataset.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace meshloom::data::detail {

namespace {

/// In the caller's thread.
class SerialMap : public Cursor {
public:
  SerialMap(std::unique_ptr<Cursor> input, ElementFunction function)
      : input(std::move(input)), function(std::move(function)) {}
  std::optional<Element> next() override {
    std::optional<Element> element = input->next();
    if (!element)
      return std::nullopt;
    meshloom::detail::HostScope host;
    return naming("map", index++, [&] { return function(*element); });
  }
  void skip(int64_t n) override {
    index += n;
    input->skip(n);
  }

private:
  std::unique_ptr<Cursor> input;
  ElementFunction function;
  int64_t index = 0;
};

/// On several threads. They take elements from the input one after the other,
/// and compute on at most `limit` that have not been taken by the consumer.
class ParallelMap : public Cursor {
public:
  ParallelMap(std::unique_ptr<Cursor> input, ElementFunction function,
              ParallelCalls calls)
      : input(std::move(input)), function(std::move(function)), calls(calls),
        limit(2 * size_t(calls.count)) {}
  std::optional<Element> next() override {
    if (!workers.haveStarted())
      for (int64_t i = 0; i < calls.count; ++i)
        if (!workers.start([this] { work(); }))
          stop(); // the process ends
    std::unique_lock lock(mutex);
    auto found = slots.end();
    changed.wait(lock, [&] {
      found = calls.deterministic ? slots.begin()
                                  : std::ranges::find_if(slots, &Slot::isDone);
      return (found != slots.end() && (*found)->done) ||
             ((isExhausted || (isStopped && !isPulling)) && slots.empty());
    });
    if (slots.empty() && isExhausted)
      return std::nullopt;
    if (slots.empty()) {
      const int64_t index = taken++;
      lock.unlock();
      meshloom::detail::HostScope host;
      std::optional<Element> element = input->next();
      if (element)
        element = naming("map", index, [&] { return function(*element); });
      return element;
    }
    std::shared_ptr<Slot> slot = *found;
    slots.erase(found);
    lock.unlock();
    changed.notify_all();
    if (slot->failure)
      std::rethrow_exception(slot->failure);
    return std::move(slot->value);
  }
  void skip(int64_t n) override {
    if (workers.haveStarted())
      return Cursor::skip(n);
    taken += n;
    input->skip(n);
  }

private:
  struct Slot {
    std::optional<Element> value;
    std::exception_ptr failure;
    bool done = false;
    static bool isDone(const std::shared_ptr<Slot> &slot) { return slot->done; }
  };

  void work() {
    meshloom::detail::HostScope host;
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] {
        return isStopped || isExhausted || (!isPulling && slots.size() < limit);
      });
      if (isStopped || isExhausted)
        return;
      isPulling = true;
      lock.unlock();
      auto slot = std::make_shared<Slot>();
      std::optional<Element> element;
      try {
        element = input->next();
      } catch (...) {
        slot->failure = std::current_exception();
      }
      lock.lock();
      isPulling = false;
      changed.notify_all();
      if (!element && !slot->failure) {
        isExhausted = true;
        return;
      }
      slots.push_back(slot);
      const int64_t index = taken++;
      lock.unlock();
      if (element)
        try {
          slot->value =
              naming("map", index, [&] { return function(*element); });
        } catch (...) {
          slot->failure = std::current_exception();
        }
      lock.lock();
      slot->done = true;
      changed.notify_all();
    }
  }

  void stop() {
    std::lock_guard lock(mutex);
    isStopped = true;
    changed.notify_all();
  }

  std::unique_ptr<Cursor> input;
  const ElementFunction function;
  const ParallelCalls calls;
  const size_t limit;

  std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  /// The elements that are computed or wait for the consumer, in the order of
  /// the input.
  std::deque<std::shared_ptr<Slot>> slots;
  int64_t taken = 0;
  bool isPulling = false, isExhausted = false, isStopped = false;

  BackgroundThreads workers{[this] { stop(); }};
};

class Map : public Step<Map> {
public:
  Map(SourcePtr input, ElementFunction function, ParallelCalls calls)
      : Step(std::move(input)), function(std::move(function)), calls(calls) {}
  std::string_view name() const override { return "map"; }
  bool keepsBatches() const override { return true; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    std::unique_ptr<Cursor> from = input->open(opening);
    if (calls.count == 1)
      return std::make_unique<SerialMap>(std::move(from), function);
    ParallelCalls chosen = calls;
    if (opening.options.deterministic)
      chosen.deterministic = *opening.options.deterministic;
    return std::make_unique<ParallelMap>(std::move(from), function, chosen);
  }

private:
  ElementFunction function;
  ParallelCalls calls;
};

class Interleave : public Step<Interleave> {
public:
  Interleave(SourcePtr input, ElementToSource function, int64_t cycle,
             int64_t block, ParallelCalls calls)
      : Step(std::move(input)), function(std::move(function)), cycle(cycle),
        block(block), calls(calls) {}
  std::string_view name() const override { return "interleave"; }
  int64_t cardinality() const override {
    return input->cardinality() == 0 ? 0 : unknown_cardinality;
  }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    return std::make_unique<Interleaving>(*this, opening);
  }

private:
  class Interleaving : public Cursor {
  public:
    Interleaving(const Interleave &step, const Opening &opening)
        : function(step.function), block(step.block),
          isAhead(step.calls.count > 1), opening(opening),
          input(step.input->open(opening)), open(size_t(step.cycle)) {}
    std::optional<Element> next() override {
      while (open[turn] || begin()) {
        if (open[turn]) {
          if (std::optional<Element> element = open[turn]->next()) {
            if (++delivered == block)
              advance();
            return element;
          }
          // It has no more: another one takes its place in its next turn.
          open[turn].reset();
        }
        advance();
      }
      return std::nullopt;
    }

  private:
    void advance() {
      turn = (turn + 1) % open.size();
      delivered = 0;
    }
    /// Opens the next dataset, where there is one, in this turn's place; false:
    /// all are exhausted.
    bool begin() {
      if (!isExhausted) {
        if (std::optional<Element> element = input->next()) {
          meshloom::detail::HostScope host;
          const int64_t index = taken++;
          SourcePtr source =
              naming("interleave", index, [&] { return function(*element); });
          if (isAhead)
            source = prefetch(std::move(source), block);
          open[turn] = source->open(opening.nested(opening.iteration + 1));
          return true;
        }
        isExhausted = true;
      }
      return std::ranges::any_of(
          open, [](const auto &cursor) { return cursor != nullptr; });
    }

    ElementToSource function;
    int64_t block;
    bool isAhead;
    Opening opening;
    std::unique_ptr<Cursor> input;
    std::vector<std::unique_ptr<Cursor>> open;
    size_t turn = 0;
    int64_t delivered = 0, taken = 0;
    bool isExhausted = false;
  };
  ElementToSource function;
  int64_t cycle, block;
  ParallelCalls calls;
};

/// The most calls at the same time.
constexpr int64_t maxCalls = 1024;

/// `calls` with their number, which may be AUTOTUNE.
ParallelCalls checkedCalls(std::string_view step, ParallelCalls calls) {
  if (calls.count == AUTOTUNE)
    calls.count = std::min(availableCores(), maxCalls);
  expect(calls.count >= 1 && calls.count <= maxCalls, step,
         "AUTOTUNE or num_parallel_calls in [1, 1024]", calls.count);
  return calls;
}

} // namespace

SourcePtr map(SourcePtr input, ElementFunction function, ParallelCalls calls) {
  calls = checkedCalls("map", calls);
  return std::make_shared<Map>(std::move(input), std::move(function), calls);
}
SourcePtr interleave(SourcePtr input, ElementToSource function, int64_t cycle,
                     int64_t block, ParallelCalls calls) {
  expect(cycle >= 1, "interleave", "a cycle_length of at least 1", cycle);
  expect(block >= 1, "interleave", "a block_length of at least 1", block);
  calls = checkedCalls("interleave", calls);
  return std::make_shared<Interleave>(std::move(input), std::move(function),
                                      cycle, block, calls);
}

} // namespace meshloom::data::detail
