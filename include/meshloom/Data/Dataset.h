// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dataset<T>: a pipeline of elements, each a structure T of tensors: where they
// come from, what is made of them, batches, orders.
#pragma once

#include "meshloom/API/NameScope.h"
#include "meshloom/Data/Iterator.h"

#include <filesystem>

namespace meshloom::data {

/// A number that suits this machine: for `num_parallel_calls` one a processor
/// thread, for `prefetch` two elements. Like tf.data.AUTOTUNE, but it stays the
/// same while a dataset is read.
inline constexpr int64_t AUTOTUNE = -1;

/// See Dataset::map.
struct MapOptions {
  /// How many calls may run at the same time, each on its own thread; AUTOTUNE
  /// will do.
  int64_t num_parallel_calls = 1;
  /// Says whether elements come in order; else as they are ready.
  bool deterministic = true;
};
/// See Dataset::batch.
struct BatchOptions {
  /// Says whether a last batch that is short is left out.
  bool drop_remainder = false;
};
/// See Dataset::padded_batch.
struct PaddedBatchOptions {
  /// For each tensor of an element, in order, the extents to pad to; -1: the
  /// largest of the batch. Empty: -1 for all.
  std::vector<Shape> padded_shapes = {};
  /// For each tensor what to pad with. Empty: 0 for all.
  std::vector<double> padding_values = {};
  /// Says whether a last batch that is short is left out.
  bool drop_remainder = false;
};
/// See Dataset::shuffle.
struct ShuffleOptions {
  /// The seed on which the order depends.
  uint64_t seed = 0;
  /// Says whether each iteration over the dataset, and each turn of a `repeat`
  /// behind it, has another order.
  bool reshuffle_each_iteration = true;
};
/// See Dataset::interleave.
struct InterleaveOptions {
  /// From how many datasets elements are taken in turn.
  int64_t cycle_length = 1;
  /// How many elements in a row are of the same dataset.
  int64_t block_length = 1;
  /// How many datasets may be read ahead at the same time; AUTOTUNE will do.
  int64_t num_parallel_calls = 1;
};
/// See Dataset::window.
struct WindowOptions {
  /// How many elements further the next window begins; 0: its size.
  int64_t shift = 0;
  /// From one element of a window to the next.
  int64_t stride = 1;
  /// Says whether windows at the end that are short are left out.
  bool drop_remainder = false;
};

template <typename T> class Dataset;

namespace detail {
/// For `for (auto [x, y] : dataset)`.
template <typename T> class Position {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T *;
  using reference = const T &;

  Position() = default;
  Position(Iterator<T> from, const std::source_location &where)
      : from(std::move(from)), where(where) {
    ++*this;
  }
  const T &operator*() const { return *element; }
  const T *operator->() const { return &*element; }
  Position &operator++() {
    element = from->next(where);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(const Position &other) const {
    return element.has_value() == other.element.has_value();
  }

private:
  std::optional<Iterator<T>> from;
  std::source_location where; ///< the line of the loop
  std::optional<T> element;
};

/// f(value), or f(parts...) of a pair or tuple.
template <typename F, typename T>
decltype(auto) applyTo(const F &f, const T &value) {
  if constexpr (std::is_invocable_v<const F &, const T &>)
    return f(value);
  else
    return std::apply(f, value);
}
template <typename F, typename T>
using Applied = std::decay_t<decltype(applyTo(std::declval<const F &>(),
                                              std::declval<const T &>()))>;
/// The dataset of the source that `make` returns, whose errors name `where`.
template <typename T, typename Make>
Dataset<T> datasetAt(const std::source_location &where, Make &&make) {
  return Dataset<T>(meshloom::detail::atLine(where, make));
}
} // namespace detail

/// An immutable description of a pipeline, cheap to copy: elements are made
/// when they are asked for. T is a Tensor or a pair, tuple, vector, array,
/// optional, map or plain struct of them (API/Structure.h), and may hold
/// numbers and strings. Tensors are plain ones of the host, until a `prefetch`
/// to layouts brings them to devices.
///
///   auto train = data::from_tensor_slices(images, labels)
///                    .shuffle(10000)
///                    .batch(32)
///                    .prefetch(2);
///   for (auto [x, y] : train)
///     step(x, y);
///
/// The order of elements depends on seeds, and on nothing else. Each loop over
/// the dataset is an iteration; the first is number 0 in every process.
/// Functions given to a pipeline may be called by other threads.
template <typename T> class [[nodiscard]] Dataset : public AnyDataset {
public:
  using Value = T;                    ///< an element
  using Where = std::source_location; ///< the line of a call, for messages
  /// Made of a source, for Meshloom's own layers.
  explicit Dataset(detail::SourcePtr source) : AnyDataset(std::move(source)) {}

  /// An iterator over all elements.
  Iterator<T> iterate() const { return Iterator<T>(open()); }
  /// One that goes on where an iterator was; see Iterator::save.
  Iterator<T> iterate(std::string_view state,
                      Where where = Where::current()) const {
    return meshloom::detail::atLine(where,
                                    [&] { return Iterator<T>(open(state)); });
  }

  /// Begins an iteration.
  auto begin(Where where = Where::current()) const {
    return detail::Position<T>(iterate(), where);
  }
  /// Its end.
  auto end() const { return detail::Position<T>(); }

  /// Elements 0 to count - 1, or all where there are fewer; -1: all.
  Dataset take(int64_t count, Where where = Where::current()) const {
    return detail::datasetAt<T>(where,
                                [&] { return detail::take(source(), count); });
  }
  /// All but the first `count`.
  Dataset skip(int64_t count, Where where = Where::current()) const {
    return detail::datasetAt<T>(where,
                                [&] { return detail::skip(source(), count); });
  }
  /// Elements index, index + count, index + 2 count, ...: the part of one of
  /// `count` workers. Throws meshloom::Error if index is not in [0, count).
  Dataset shard(int64_t count, int64_t index,
                Where where = Where::current()) const {
    return detail::datasetAt<T>(
        where, [&] { return detail::shard(source(), count, index); });
  }
  /// All elements `count` times; -1: for ever.
  Dataset repeat(int64_t count = -1, Where where = Where::current()) const {
    return detail::datasetAt<T>(
        where, [&] { return detail::repeat(source(), count); });
  }
  /// These, then those of `other`.
  Dataset concatenate(const Dataset &other) const {
    return Dataset(detail::concatenate(source(), other.source()));
  }
  /// In an order drawn from a buffer of that many elements: each comes at most
  /// that much too early. A buffer that holds all makes every order possible.
  Dataset shuffle(int64_t buffer_size, const ShuffleOptions &options = {},
                  Where where = Where::current()) const {
    return detail::datasetAt<T>(where, [&] {
      return detail::shuffle(source(), buffer_size, options.seed,
                             options.reshuffle_each_iteration);
    });
  }
  /// `size` elements stacked to one: each tensor [...] becomes [size, ...]. The
  /// last batch may be short. Throws meshloom::Error, when it is made, if
  /// shapes differ.
  Dataset batch(int64_t size, const BatchOptions &options = {},
                Where where = Where::current()) const {
    return detail::datasetAt<T>(where, [&] {
      return detail::batch(source(), size, options.drop_remainder);
    });
  }
  /// The same of tensors whose extents differ: they are padded at their ends.
  Dataset padded_batch(int64_t size, const PaddedBatchOptions &options = {},
                       Where where = Where::current()) const {
    return detail::datasetAt<T>(where, [&] {
      return detail::paddedBatch(source(), size, options.drop_remainder,
                                 options.padded_shapes, options.padding_values);
    });
  }
  /// The rows of each element: [n, ...] becomes n elements [...].
  Dataset unbatch() const { return Dataset(detail::unbatch(source())); }
  /// Batches cut and joined to batches of `size`.
  Dataset rebatch(int64_t size, const BatchOptions &options = {},
                  Where where = Where::current()) const {
    return detail::datasetAt<T>(where, [&] {
      return detail::rebatch(source(), {size}, options.drop_remainder);
    });
  }
  /// Batches of these sizes in turn: the parts of uneven replicas.
  Dataset rebatch(std::vector<int64_t> sizes, const BatchOptions &options = {},
                  Where where = Where::current()) const {
    return detail::datasetAt<T>(where, [&] {
      return detail::rebatch(source(), std::move(sizes),
                             options.drop_remainder);
    });
  }
  /// The results of function(element); for a pair or tuple function(parts...)
  /// will do. An error that it throws is thrown where the element is taken, and
  /// names it.
  template <typename F>
  auto map(F function, const MapOptions &options = {},
           Where where = Where::current()) const {
    using U = detail::Applied<F, T>;
    return detail::datasetAt<U>(where, [&] {
      detail::expectFunction(function, "map");
      return detail::map(
          source(),
          [function = std::move(function)](const detail::Element &element) {
            return detail::elementOf<U>(
                detail::applyTo(function, detail::valueOf<T>(element)));
          },
          {options.num_parallel_calls, options.deterministic});
    });
  }
  /// The elements for which predicate(element), a bool or a Tensor of one
  /// element, is true.
  template <typename F>
  Dataset filter(F predicate, Where where = Where::current()) const {
    return detail::datasetAt<T>(where, [&] {
      detail::expectFunction(predicate, "filter");
      return detail::filter(source(), [predicate = std::move(predicate)](
                                          const detail::Element &element) {
        return bool(detail::applyTo(predicate, detail::valueOf<T>(element)));
      });
    });
  }
  /// The elements of the datasets that function(element) gives, of several of
  /// them in turn. The next dataset takes the place of one that has no more
  /// when its turn comes again, as in tf.data.
  template <typename F>
  auto interleave(F function, const InterleaveOptions &options = {},
                  Where where = Where::current()) const {
    using Inner = detail::Applied<F, T>;
    static_assert(std::is_base_of_v<AnyDataset, Inner>,
                  "interleave calls a function that gives a Dataset");
    return detail::datasetAt<typename Inner::Value>(where, [&] {
      detail::expectFunction(function, "interleave");
      return detail::interleave(
          source(),
          [function = std::move(function)](const detail::Element &element) {
            return detail::applyTo(function, detail::valueOf<T>(element))
                .source();
          },
          options.cycle_length, options.block_length,
          {options.num_parallel_calls, true});
    });
  }
  /// The elements of the datasets that function(element) gives, one dataset
  /// after the other.
  template <typename F>
  auto flat_map(F function, Where where = Where::current()) const {
    return interleave(std::move(function), {}, where);
  }
  /// Datasets of `size` elements each.
  Dataset<Dataset> window(int64_t size, const WindowOptions &options = {},
                          Where where = Where::current()) const {
    return detail::datasetAt<Dataset>(where, [&] {
      return detail::window(
          source(), size, options.shift ? options.shift : size, options.stride,
          options.drop_remainder, [](detail::SourcePtr elements) {
            return detail::elementOf(Dataset(std::move(elements)));
          });
    });
  }
  /// (index, element), the index an i64.
  Dataset<std::pair<Tensor, T>> enumerate(int64_t start = 0) const;
  /// Elements are kept in memory as they are first made, for later iterations:
  /// once all of them have been taken.
  Dataset cache() const { return Dataset(detail::cache(source())); }
  /// In a file, which later processes use too. It is there only when all
  /// elements have been taken: a process that ends before leaves none. Throws
  /// meshloom::Error, when it is read, if the file is damaged or was made of
  /// elements of another structure.
  Dataset cache(const std::filesystem::path &file) const {
    static_assert(!detail::isDataset<T>, "windows are not kept in files");
    return Dataset(
        detail::cache(source(), file.string(), detail::skeletonFrom<T>));
  }
  /// A thread makes up to `count` elements ahead; AUTOTUNE will do.
  Dataset prefetch(int64_t count, Where where = Where::current()) const {
    return detail::datasetAt<T>(
        where, [&] { return detail::prefetch(source(), count); });
  }
  /// The same, and brings them to devices: one layout for each tensor of an
  /// element, in order.
  Dataset prefetch(int64_t count, std::vector<Layout> layouts) const;
  /// Options for the whole dataset; those that are set last hold.
  Dataset with_options(const Options &options) const {
    return Dataset(detail::withOptions(source(), options));
  }
  /// The options that hold.
  Options options() const { return detail::optionsOf(*source()); }
  /// The size of the batches that the elements are, where it is known.
  std::optional<int64_t> batch_size() const {
    return detail::batchSizeOf(*source());
  }
  /// All elements.
  std::vector<T> to_vector(Where where = Where::current()) const {
    std::vector<T> elements;
    for (auto position = begin(where); position != end(); ++position)
      elements.push_back(*position);
    return elements;
  }
};

namespace detail {
/// How one tensor, or several as a pair or tuple, are given.
template <typename... T> auto structured(const T &...parts) {
  if constexpr (sizeof...(T) == 1)
    return (parts, ...);
  else if constexpr (sizeof...(T) == 2)
    return std::pair(parts...);
  else
    return std::tuple(parts...);
}
ElementFunction placeOn(std::vector<Layout> layouts);
} // namespace detail

/// One element. Several arguments become a pair or a tuple.
template <typename X>
auto from_tensors(
    const X &x, std::source_location where = std::source_location::current()) {
  return detail::datasetAt<X>(
      where, [&] { return detail::fromElements({detail::elementOf(x)}); });
}
/// See above.
template <typename X, typename Y>
auto from_tensors(
    const X &x, const Y &y,
    std::source_location where = std::source_location::current()) {
  return from_tensors(std::pair(x, y), where);
}
/// See above.
template <typename X, typename Y, typename Z>
auto from_tensors(
    const X &x, const Y &y, const Z &z,
    std::source_location where = std::source_location::current()) {
  return from_tensors(std::tuple(x, y, z), where);
}
/// See above; errors name no line.
template <typename W, typename X, typename Y, typename Z, typename... Rest>
  requires(!std::same_as<Z, std::source_location>)
auto from_tensors(const W &w, const X &x, const Y &y, const Z &z,
                  const Rest &...rest) {
  return from_tensors(std::tuple(w, x, y, z, rest...));
}
/// One element for each row of the first dim of each tensor: [n, ...] gives n
/// elements [...]. Several arguments become pairs or tuples. Throws
/// meshloom::Error if a tensor is a scalar, or if their numbers of rows differ.
template <typename X>
auto from_tensor_slices(
    const X &x, std::source_location where = std::source_location::current()) {
  return detail::datasetAt<X>(
      where, [&] { return detail::fromSlices(detail::elementOf(x)); });
}
/// See above.
template <typename X, typename Y>
auto from_tensor_slices(
    const X &x, const Y &y,
    std::source_location where = std::source_location::current()) {
  return from_tensor_slices(std::pair(x, y), where);
}
/// See above.
template <typename X, typename Y, typename Z>
auto from_tensor_slices(
    const X &x, const Y &y, const Z &z,
    std::source_location where = std::source_location::current()) {
  return from_tensor_slices(std::tuple(x, y, z), where);
}
/// See above; errors name no line.
template <typename W, typename X, typename Y, typename Z, typename... Rest>
  requires(!std::same_as<Z, std::source_location>)
auto from_tensor_slices(const W &w, const X &x, const Y &y, const Z &z,
                        const Rest &...rest) {
  return from_tensor_slices(std::tuple(w, x, y, z, rest...));
}
/// The elements of generators: `make` is called for each iteration, and its
/// result for each element, until that returns none.
///
///   auto counts = data::from_generator([] {
///     return [i = 0]() mutable -> std::optional<Tensor> {
///       return i < 3 ? std::optional(tensor(i++)) : std::nullopt;
///     };
///   });
template <typename F> auto from_generator(F make) {
  using T = typename std::decay_t<
      decltype(std::declval<std::invoke_result_t<F &> &>()())>::value_type;
  detail::expectFunction(make, "from_generator");
  return Dataset<T>(detail::fromGenerator([make = std::move(make)]() mutable {
    return detail::ElementGenerator(
        [generator = make()]() mutable -> std::optional<detail::Element> {
          if (std::optional<T> value = generator())
            return detail::elementOf(*value);
          return std::nullopt;
        });
  }));
}
/// i64 scalars start, start + step, ... before stop.
inline Dataset<Tensor>
range(int64_t start, int64_t stop, int64_t step = 1,
      std::source_location where = std::source_location::current()) {
  return detail::datasetAt<Tensor>(
      where, [&] { return detail::fromRange(start, stop, step); });
}
/// i64 scalars 0, 1, ..., stop - 1.
inline Dataset<Tensor> range(int64_t stop) {
  return range(0, stop);
}
/// Pairs or tuples of the datasets' elements, as many as the shortest has.
template <typename... T> auto zip(const Dataset<T> &...datasets) {
  static_assert(sizeof...(T) >= 2, "zip joins two datasets or more");
  using U = decltype(detail::structured(std::declval<const T &>()...));
  return Dataset<U>(detail::zip(
      {datasets.source()...}, [](std::span<const detail::Element> elements) {
        size_t i = 0;
        // In the order of the parts: braces are evaluated so.
        U value{[&] {
          const detail::Element &element = elements[i++];
          std::vector<Tensor> none(element.values.size());
          return detail::structureOf<T>(element.skeleton.get(), none);
        }()...};
        return std::make_shared<detail::TypedSkeleton<U>>(std::move(value));
      }));
}

template <typename T>
Dataset<std::pair<Tensor, T>> Dataset<T>::enumerate(int64_t start) const {
  return zip(range(start, std::numeric_limits<int64_t>::max()), *this);
}
template <typename T>
Dataset<T> Dataset<T>::prefetch(int64_t count,
                                std::vector<Layout> layouts) const {
  return Dataset(
      detail::prefetch(source(), count, detail::placeOn(std::move(layouts))));
}

} // namespace meshloom::data
