// Streams, and what is asked of a whole pipeline.
#include "meshloom/Data/Iterator.h"

#include "Random.h"
#include "meshloom/API/CustomOps.h"
#include "meshloom/API/Distribute.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <mutex>
#include <unordered_map>

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
  throw Error(fmt::format("[{}] has no inputs to replace", name()));
}
SourcePtr Source::withFiles(int64_t, int64_t) const {
  throw Error(fmt::format("[{}] reads no files", name()));
}

namespace {
/// The streams that functions were given.
struct Registry {
  std::mutex mutex;
  std::unordered_map<int64_t, std::weak_ptr<Stream>> streams;
};
Registry &registry() {
  // Never destroyed: threads may use it while the process ends.
  static Registry &registry = *new Registry;
  return registry;
}
int64_t nextNumber() {
  static std::atomic<int64_t> last;
  return ++last;
}
} // namespace

struct Stream::State {
  SourcePtr source;
  mutable std::mutex mutex;
  std::unique_ptr<Cursor> cursor; ///< null: not opened yet
  std::optional<Element> ahead;   ///< peeked at
  bool exhausted = false;
  int64_t given = 0;
  int64_t skipped = 0; ///< to be passed over when it is opened
  uint64_t iteration = 0;

  std::optional<Element> take() {
    if (exhausted)
      return std::nullopt;
    if (!cursor) {
      Opening opening{iteration, optionsOf(*source)};
      cursor = source->open(opening);
      if (skipped)
        cursor->skip(skipped);
    }
    std::optional<Element> element = cursor->next();
    exhausted = !element;
    return element;
  }
};

Stream::Stream(SourcePtr source, uint64_t iteration)
    : number(nextNumber()), state(std::make_unique<State>()) {
  state->source = std::move(source);
  state->iteration = iteration;
}
Stream::~Stream() {
  std::lock_guard lock(registry().mutex);
  registry().streams.erase(number);
}
int64_t Stream::id() {
  std::lock_guard lock(registry().mutex);
  registry().streams[number] = weak_from_this();
  return number;
}

std::optional<Element> Stream::next() {
  std::lock_guard lock(state->mutex);
  std::optional<Element> element =
      state->ahead ? std::exchange(state->ahead, std::nullopt) : state->take();
  state->given += element.has_value();
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
  return nlohmann::json{{"elements", state->given},
                        {"iteration", state->iteration}}
      .dump();
}

void Stream::restore(std::string_view text) {
  static constexpr std::string_view counted = "elements";
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  auto number = [&](std::string_view key) {
    if (!json.is_object() || !json.contains(key) ||
        !json[key].is_number_unsigned() ||
        (key == counted && json[key].get<uint64_t>() >
                               uint64_t(std::numeric_limits<int64_t>::max())))
      throw Error(fmt::format("[restore] expected the position of an iterator, "
                              "as save() gives it, got '{}'",
                              text));
    return json[key].get<uint64_t>();
  };
  const uint64_t elements = number(counted), iteration = number("iteration");
  std::lock_guard lock(state->mutex);
  state->cursor.reset();
  state->ahead.reset();
  state->exhausted = false;
  state->iteration = iteration;
  state->given = state->skipped = int64_t(elements);
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
      throw Error(fmt::format(
          "[shard] {} files cannot be divided among {} workers: write more "
          "files, or divide by elements (AutoShardPolicy::Data)",
          files, n));
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

void failMoved() {
  throw Error("[Iterator] expected an iterator, got one that was moved from");
}
void failExhausted(const Stream &stream) {
  throw Error(fmt::format(
      "[Iterator] the dataset is exhausted (at {}): repeat() it, or begin "
      "another iteration",
      stream.save()));
}

std::string nextType(Stream &stream) {
  std::optional<Element> element = stream.peek();
  if (!element)
    failExhausted(stream);
  std::string text = element->typeText() + element->key();
  for (const HostArray &value : element->values)
    if (std::optional<Layout> layout = value.layout())
      text += layout->to_string();
  return text;
}

/// Writes `from`, row-major, to a result's elements from dim `dim` on.
static const char *write(const char *from, const CustomOperand &result,
                         size_t dim, char *to) {
  const int64_t width = byteWidth(result.type);
  if (dim == result.shape.size()) {
    std::memcpy(to, from, size_t(width));
    return from + width;
  }
  for (int64_t i = 0; i < result.shape[dim]; ++i)
    from = write(from, result, dim + 1, to + i * result.strides[dim] * width);
  return from;
}
static void write(const HostArray &value, const CustomOperand &result) {
  bool isDense = true;
  int64_t stride = 1;
  for (size_t d = result.shape.size(); d-- > 0; stride *= result.shape[d])
    isDense &= result.shape[d] == 1 || result.strides[d] == stride;
  char *to = static_cast<char *>(result.data);
  if (isDense)
    value.copyTo(to);
  else
    write(value.inMemory().data(), result, 0, to);
}

/// What compiled functions call: input 0 names the stream, results are the
/// values of its next element.
static Status giveNext(const CustomCall &call) {
  int64_t id;
  std::memcpy(&id, call.inputs[0].data, sizeof id);
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard lock(registry().mutex);
    if (auto it = registry().streams.find(id); it != registry().streams.end())
      stream = it->second.lock();
  }
  if (!stream)
    return Error("[Iterator] a function takes elements from an iterator that "
                 "is no more: keep it while the function runs");
  try {
    std::optional<Element> element = stream->next();
    if (!element)
      failExhausted(*stream);
    for (size_t i = 0; i < element->values.size(); ++i) {
      const HostArray &value = element->values[i];
      const CustomOperand &result = call.results[i];
      if (value.dtype() != result.type || value.shape() != result.shape)
        throw Error(fmt::format(
            "[Iterator] tensor {} of an element is {}, but the first one that "
            "this call of the function took had {} [{}]: one call takes "
            "elements of one type; batch with drop_remainder",
            i, value.typeText(), name(result.type),
            fmt::join(result.shape, ", ")));
      write(value, result);
    }
  } catch (const std::exception &error) {
    return Error(error.what());
  }
  return Success();
}

std::vector<Tensor> nextInTrace(const Tensor &handle, const Element &like) {
  static constexpr const char *target = "meshloom.data.next";
  static const bool known = [] {
    register_custom_call(target, {"", giveNext}).value_or_throw();
    return true;
  }();
  (void)known;
  std::vector<TensorType> types;
  types.reserve(like.values.size());
  for (const HostArray &value : like.values)
    types.push_back({value.dtype(), value.shape()});
  std::vector<Tensor> values = host_call(target, {handle}, types);
  for (size_t i = 0; i < values.size(); ++i)
    if (std::optional<Layout> layout = like.values[i].layout())
      values[i] = relayout(values[i], *layout);
  return values;
}

} // namespace detail

const detail::SourcePtr &AnyDataset::source() const {
  if (!made)
    throw Error("[Dataset] expected a dataset, got one that was moved from");
  return made;
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
