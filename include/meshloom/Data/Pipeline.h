// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The base of a Dataset: sources and steps that do not know the type of the
// elements, and streams that elements are taken from. For Meshloom's own
// layers: whatever takes datasets of every type (fit, strategies) takes an
// AnyDataset.
#pragma once

#include "meshloom/Data/Element.h"

#include <atomic>
#include <functional>

namespace meshloom::data {

/// The `cardinality` of a dataset that does not end,
inline constexpr int64_t infinite_cardinality = -1;
/// and of one that does not know how many elements it has.
inline constexpr int64_t unknown_cardinality = -2;

/// In shard(shard_hint, shard_hint): a strategy whose policy is HINT puts the
/// number of workers and the worker there; else all elements pass.
inline constexpr int64_t shard_hint = -1;

/// How a dataset of global batches is divided among the workers of a strategy.
enum class AutoShardPolicy : int8_t {
  OFF = -1, ///< every worker takes all elements, in steps of its own
  AUTO = 0, ///< FILE where there are enough files, else DATA
  FILE = 1, ///< a worker takes the elements of its own files
  DATA = 2, ///< a worker takes its replicas' rows of each global batch
  HINT = 3  ///< where shard(shard_hint, shard_hint) stands
};

/// The options of a whole dataset; see Dataset::with_options.
struct Options {
  /// Whether parallel maps give their elements in order; unset: as each says.
  std::optional<bool> deterministic = {};
  /// How strategies shard it.
  AutoShardPolicy auto_shard_policy = AutoShardPolicy::AUTO;
  /// Returns whether both say the same.
  bool operator==(const Options &) const = default;
};

namespace detail {

/// Where elements come from, one after the other. Used by one thread at a time.
class Cursor {
public:
  virtual ~Cursor() = default;
  /// Nothing: it is exhausted, and remains so.
  virtual std::optional<Element> next() = 0;
  /// Passes over n elements, or all there are.
  virtual void skip(int64_t n) {
    while (n-- > 0 && next())
      ;
  }
};

/// The options with which a cursor is opened.
struct Opening {
  /// Counts the times that elements are taken from the start: the order of a
  /// shuffle depends on it.
  uint64_t iteration = 0;
  Options options;

  /// The opening of the k-th of several times within this one.
  Opening nested(uint64_t k) const;
};

class Source;
using SourcePtr = std::shared_ptr<const Source>;

/// A dataset of elements of any type: what it is made of. Immutable.
class Source {
public:
  virtual ~Source() = default;
  virtual std::unique_ptr<Cursor> open(const Opening &opening) const = 0;
  /// Number of elements, or one of the constants above.
  virtual int64_t cardinality() const = 0;
  /// "map".
  virtual std::string_view name() const = 0;
  /// The sources that a step takes its elements from.
  virtual std::vector<SourcePtr> inputs() const { return {}; }
  /// The same step over other inputs, as many as `inputs` has.
  virtual SourcePtr over(std::vector<SourcePtr> inputs) const;
  /// For a source that reads files: their number, and itself with each n-th of
  /// them from the i-th on.
  virtual int64_t fileCount() const { return 0; }
  virtual SourcePtr withFiles(int64_t n, int64_t i) const;
  /// The size of the batches of a step that makes some.
  virtual std::optional<int64_t> batchSize() const { return std::nullopt; }
  /// Returns whether an element stands for one of the only input, with the same
  /// first dim: batches remain batches.
  virtual bool keepsBatches() const { return false; }
  /// Returns whether it is a shard that a strategy fills in.
  virtual bool isShardHint() const { return false; }
  /// The options of a step that sets them.
  virtual const Options *options() const { return nullptr; }
};

/// A step with one input. `Self` is copyable.
template <typename Self> class Step : public Source {
public:
  // Public, as steps that have nothing but an input inherit it.
  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility)
  explicit Step(SourcePtr input) : input(std::move(input)) {}
  std::vector<SourcePtr> inputs() const override { return {input}; }
  SourcePtr over(std::vector<SourcePtr> inputs) const override {
    auto copy = std::make_shared<Self>(static_cast<const Self &>(*this));
    copy->input = std::move(inputs.front());
    return copy;
  }
  int64_t cardinality() const override { return input->cardinality(); }

protected:
  SourcePtr input;
};

/// Elements taken from a source. May be used from any thread.
class Stream : public std::enable_shared_from_this<Stream> {
public:
  Stream(SourcePtr source, uint64_t iteration);
  ~Stream();
  Stream(const Stream &) = delete;

  std::optional<Element> next();
  /// The element that `next` will return.
  std::optional<Element> peek();
  /// The position, as JSON.
  std::string save() const;
  /// Goes to a position; opens the source again.
  void restore(std::string_view state);
  /// The id by which a compiled function knows it, as long as it is there. For
  /// one that a shared_ptr has.
  int64_t id();
  uint64_t iteration() const;

private:
  struct State;
  const int64_t number;
  const std::unique_ptr<State> state;
};

/// The options of the last step that sets any, or default ones.
Options optionsOf(const Source &source);
/// The size of the batches that the elements are: that of the last `batch`,
/// where nothing after it changes their first dim.
std::optional<int64_t> batchSizeOf(const Source &source);
/// Number of files that are read.
int64_t fileCountOf(const Source &source);
/// The same with each n-th file from the i-th on; null where no step reads
/// files. Throws where there are fewer files than n.
SourcePtr shardFiles(const SourcePtr &source, int64_t n, int64_t i);
/// The same with shard(n, i) in place of shard hints; null where there is none.
SourcePtr shardHints(const SourcePtr &source, int64_t n, int64_t i);

SourcePtr fromElements(std::vector<Element> elements);
/// Rows of the first dim of each tensor.
SourcePtr fromSlices(const Element &element);
using ElementGenerator = std::function<std::optional<Element>()>;
SourcePtr fromGenerator(std::function<ElementGenerator()> make);
SourcePtr fromRange(int64_t start, int64_t stop, int64_t step);

SourcePtr take(SourcePtr input, int64_t count);
SourcePtr skip(SourcePtr input, int64_t count);
SourcePtr shard(SourcePtr input, int64_t count, int64_t index);
SourcePtr repeat(SourcePtr input, int64_t count);
SourcePtr concatenate(SourcePtr first, SourcePtr second);
using Join = std::function<std::shared_ptr<const Skeleton>(
    std::span<const Element> elements)>;
SourcePtr zip(std::vector<SourcePtr> inputs, Join join);
SourcePtr shuffle(SourcePtr input, int64_t buffer, uint64_t seed,
                  bool reshuffle);
SourcePtr batch(SourcePtr input, int64_t size, bool dropRemainder);
/// Batches cut and joined to batches of these sizes, in turn.
SourcePtr rebatch(SourcePtr input, std::vector<int64_t> sizes,
                  bool dropRemainder);
SourcePtr paddedBatch(SourcePtr input, int64_t size, bool dropRemainder,
                      std::vector<Shape> shapes, std::vector<double> values);
SourcePtr unbatch(SourcePtr input);
using MakeWindow = std::function<Element(SourcePtr)>;
SourcePtr window(SourcePtr input, int64_t size, int64_t shift, int64_t stride,
                 bool dropRemainder, MakeWindow make);
/// Throws meshloom::Error, naming the step, where an empty std::function or a
/// null pointer is given.
template <typename F> void expectFunction(const F &function, const char *step) {
  if constexpr (meshloom::detail::isA<F, std::function> || std::is_pointer_v<F>)
    if (!function)
      Error(std::string("[") + step + "] expected a function, got an empty one")
          .raise();
}
using ElementFunction = std::function<Element(const Element &)>;
struct ParallelCalls {
  int64_t count = 1;         ///< at most so many at the same time
  bool deterministic = true; ///< in order
};
SourcePtr map(SourcePtr input, ElementFunction function, ParallelCalls calls);
using ElementPredicate = std::function<bool(const Element &)>;
SourcePtr filter(SourcePtr input, ElementPredicate predicate);
using ElementToSource = std::function<SourcePtr(const Element &)>;
SourcePtr interleave(SourcePtr input, ElementToSource function, int64_t cycle,
                     int64_t block, ParallelCalls calls);
/// In memory.
SourcePtr cache(SourcePtr input);
/// In a file, from which structures are read by `read`.
using ReadSkeleton =
    std::function<std::shared_ptr<const Skeleton>(std::string_view key)>;
SourcePtr cache(SourcePtr input, std::string path, ReadSkeleton read);
/// `place` is called by the thread that runs ahead.
SourcePtr prefetch(SourcePtr input, int64_t count,
                   ElementFunction place = nullptr);
SourcePtr withOptions(SourcePtr input, Options options);
} // namespace detail

/// A dataset of elements of any type, each a list of tensors: what a function
/// takes that is not a template. Copies share what it is made of.
class AnyDataset {
public:
  /// Made of a source, for Meshloom's own layers.
  explicit AnyDataset(detail::SourcePtr source)
      : elementSource(std::move(source)),
        iterations(std::make_shared<std::atomic<uint64_t>>(0)) {}

  /// Number of elements, infinite_cardinality or unknown_cardinality.
  int64_t cardinality() const { return source()->cardinality(); }
  /// Elements from the start; the next call reshuffles.
  std::shared_ptr<detail::Stream> open() const;
  /// Elements from where `state`, that of a stream, was.
  std::shared_ptr<detail::Stream> open(std::string_view state) const;
  /// The source it is made of. Throws meshloom::Error if it was moved from.
  const detail::SourcePtr &source() const;

private:
  detail::SourcePtr elementSource;
  std::shared_ptr<std::atomic<uint64_t>> iterations;
};

} // namespace meshloom::data
