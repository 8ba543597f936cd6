// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Streams, and what is asked of a whole pipeline.
#include "meshloom/Data/Iterator.h"

#include "InFunctions.h"
#include "Random.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <mutex>

namespace meshloom::data {
namespace detail {

Opening Opening::nested(uint64_t k) const {
  Opening inner = *this;
  // The turns of a repeat in the first iteration are in the order of the
  // iterations without it.
  inner.iteration = iteration == 0 ? k : Random(iteration, k).next();
  return inner;
}

SourcePtr Source::over(std::vector<SourcePtr>) const {
  Error(fmt::format("[{}] has no inputs to replace", name()),
        ErrorCode::UNIMPLEMENTED)
      .raise();
}
SourcePtr Source::withFiles(int64_t, int64_t) const {
  Error(fmt::format("[{}] reads no files", name()), ErrorCode::UNIMPLEMENTED)
      .raise();
}

/// Numbers that name streams.
static int64_t nextNumber() {
  static std::atomic<int64_t> last;
  return ++last;
}

/// Keys of a saved position.
static constexpr const char *deliveredKey = "elements";
static constexpr const char *countOfFailed = "failed";
static constexpr const char *countOfCalls = "calls";

struct Stream::State {
  SourcePtr source;
  mutable std::mutex mutex;
  std::unique_ptr<Cursor> cursor; ///< null: not opened yet
  std::optional<Element> ahead;   ///< peeked at
  bool exhausted = false;
  /// Calls of the cursor, as saved: what comes behind the last one that threw
  /// can be passed over without being made.
  struct Position {
    int64_t delivered = 0; ///< elements
    int64_t failed = 0;    ///< calls that threw
    int64_t through = 0;   ///< calls up to the last of those
  };
  Position position;
  Position start; ///< where it is opened
  uint64_t iteration = 0;

  std::optional<Element> take() {
    if (exhausted)
      return std::nullopt;
    if (!cursor) {
      Opening opening{iteration, optionsOf(*source)};
      std::unique_ptr<Cursor> opened = source->open(opening);
      // The elements that a failed call lost (half a batch) are known by
      // failing again.
      int64_t failed = 0;
      for (int64_t call = 0; call < start.through; ++call)
        try {
          opened->next();
        } catch (const std::exception &) {
          ++failed;
        }
      // One that does not throw this time gives an element more.
      if (int64_t remaining = start.delivered - (start.through - failed);
          remaining > 0)
        opened->skip(remaining);
      cursor = std::move(opened);
    }
    try {
      std::optional<Element> element = cursor->next();
      exhausted = !element;
      return element;
    } catch (...) {
      ++position.failed;
      position.through = position.delivered + position.failed;
      throw;
    }
  }
};

Stream::Stream(SourcePtr source, uint64_t iteration)
    : number(nextNumber()), state(std::make_unique<State>()) {
  state->source = std::move(source);
  state->iteration = iteration;
}
Stream::~Stream() {
  forgetStream(number);
}

std::optional<Element> Stream::next() {
  std::lock_guard lock(state->mutex);
  std::optional<Element> element =
      state->ahead ? std::exchange(state->ahead, std::nullopt) : state->take();
  state->position.delivered += element.has_value();
  return element;
}

std::optional<Element> Stream::peek() {
  std::lock_guard lock(state->mutex);
  if (!state->ahead)
    state->ahead = state->take();
  return state->ahead;
}

uint64_t Stream::iteration() const {
  std::lock_guard lock(state->mutex);
  return state->iteration;
}

std::string Stream::save() const {
  std::lock_guard lock(state->mutex);
  nlohmann::json json{{deliveredKey, state->position.delivered},
                      {"iteration", state->iteration}};
  if (state->position.failed) {
    json[countOfFailed] = state->position.failed;
    json[countOfCalls] = state->position.through;
  }
  return json.dump();
}

void Stream::restore(std::string_view text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  auto refuse = [&] {
    Error(fmt::format("[restore] expected the position of an iterator, "
                      "as save() gives it, got '{}'",
                      text))
        .raise();
  };
  auto number = [&](std::string_view key) {
    if (!json.is_object() || !json.contains(key) ||
        !json[key].is_number_unsigned())
      refuse();
    return json[key].get<uint64_t>();
  };
  auto count = [&](std::string_view key) {
    const uint64_t n = number(key);
    if (n > uint64_t(std::numeric_limits<int64_t>::max()))
      refuse();
    return int64_t(n);
  };
  State::Position position{.delivered = count(deliveredKey)};
  const uint64_t iteration = number("iteration");
  if (json.contains(countOfFailed)) {
    position.failed = count(countOfFailed);
    position.through = count(countOfCalls);
    if (position.failed > position.through ||
        position.through - position.failed > position.delivered)
      refuse();
  }
  std::lock_guard lock(state->mutex);
  state->cursor.reset();
  state->ahead.reset();
  state->exhausted = false;
  state->iteration = iteration;
  state->position = state->start = position;
}

Options optionsOf(const Source &source) {
  if (const Options *options = source.options())
    return *options;
  for (const SourcePtr &input : source.inputs())
    if (Options found = optionsOf(*input); found != Options())
      return found;
  return {};
}

std::optional<int64_t> batchSizeOf(const Source &source) {
  if (std::optional<int64_t> size = source.batchSize())
    return size;
  std::optional<int64_t> common;
  if (source.keepsBatches())
    for (const SourcePtr &input : source.inputs()) {
      std::optional<int64_t> size = batchSizeOf(*input);
      if (!size || (common && *common != *size))
        return std::nullopt;
      common = size;
    }
  return common;
}

int64_t fileCountOf(const Source &source) {
  int64_t count = source.fileCount();
  for (const SourcePtr &input : source.inputs())
    count += fileCountOf(*input);
  return count;
}

SourcePtr shardFiles(const SourcePtr &source, int64_t n, int64_t i) {
  if (int64_t files = source->fileCount()) {
    if (files < n)
      Error(
          fmt::format(
              "[shard] {} files cannot be divided among {} workers: write more "
              "files, or divide by elements (AutoShardPolicy::DATA)",
              files, n))
          .raise();
    return source->withFiles(n, i);
  }
  std::vector<SourcePtr> inputs = source->inputs();
  bool found = false;
  for (SourcePtr &input : inputs)
    if (SourcePtr part = shardFiles(input, n, i)) {
      input = std::move(part);
      found = true;
    }
  return found ? source->over(std::move(inputs)) : nullptr;
}

SourcePtr shardHints(const SourcePtr &source, int64_t n, int64_t i) {
  std::vector<SourcePtr> inputs = source->inputs();
  if (source->isShardHint())
    return shard(inputs.front(), n, i);
  bool found = false;
  for (SourcePtr &input : inputs)
    if (SourcePtr part = shardHints(input, n, i)) {
      input = std::move(part);
      found = true;
    }
  return found ? source->over(std::move(inputs)) : nullptr;
}

} // namespace detail

const detail::SourcePtr &AnyDataset::source() const {
  if (!elementSource)
    Error("[Dataset] expected a dataset, got one that was moved from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  return elementSource;
}

std::shared_ptr<detail::Stream> AnyDataset::open() const {
  const detail::SourcePtr &from = source();
  return std::make_shared<detail::Stream>(from, iterations->fetch_add(1));
}

std::shared_ptr<detail::Stream> AnyDataset::open(std::string_view state) const {
  auto stream = std::make_shared<detail::Stream>(source(), 0);
  stream->restore(state);
  // Later iterations come behind that one.
  uint64_t next = stream->iteration() + 1, known = *iterations;
  while (known < next && !iterations->compare_exchange_weak(known, next)) {
  }
  return stream;
}

} // namespace meshloom::data
