// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iterator: elements of a dataset, one after the other, outside of compiled
// functions and inside.
#pragma once

#include "meshloom/Data/Pipeline.h"

namespace meshloom::data {

namespace detail {
/// For the key of a function: the type of the element that comes next. Throws
/// where there is none.
std::string nextType(Stream &stream);
/// Emits a call of the host that takes an element from the stream that `handle`
/// names, and gives its values in the trace; of the types of `like`.
std::vector<Tensor> nextInTrace(const Tensor &handle, const Element &like);
/// Throws that `stream` has been moved from, or that it is exhausted.
[[noreturn]] void failMoved();
[[noreturn]] void failExhausted(const Stream &stream);
} // namespace detail

/// Gives the elements of a dataset. Copies are the same iterator: an element is
/// given once. May be used from any thread.
///
///   auto iterator = dataset.iterate();
///   while (auto element = iterator.next())
///     step(element->first, element->second);
///
/// An argument of a `function` is taken from inside of the compiled
/// program, each time the program gets there, loops included:
///
///   auto steps = function([&](data::Iterator<T> it, const Tensor &count) {
///     return while_loop([&](const Tensor &i) { return less(i, count); },
///                       [&](const Tensor &i) {
///                         step(it.get_next());
///                         return i + 1;
///                       },
///                       tensor(0));
///   });
///
/// Another iterator over elements of the same types, and another count, do not
/// trace again. All elements that one call takes have the types of the first;
/// those on devices (DTensorDataset, prefetch to layouts) have their layouts.
/// An iterator that a function captures must outlive it, and gives elements of
/// one type.
template <typename T> class Iterator {
public:
  using Where = std::source_location; ///< the line of a call, for messages
  /// For Dataset::iterate, which makes them.
  explicit Iterator(std::shared_ptr<detail::Stream> stream)
      : stream(std::move(stream)) {}

  /// The next element, or nothing where there is none. In a function there is
  /// always one: the run fails where the dataset is exhausted. An error that a
  /// function of the pipeline throws is thrown here and names the element; the
  /// next call goes on behind it.
  std::optional<T> next(Where where = Where::current()) const {
    return meshloom::detail::atLine(where, [&]() -> std::optional<T> {
      if (meshloom::detail::isTracing())
        return inTrace();
      if (std::optional<detail::Element> element = get().next())
        return detail::valueOf<T>(*element);
      return std::nullopt;
    });
  }
  /// The next element. Throws meshloom::Error if there is none.
  T get_next(Where where = Where::current()) const {
    return meshloom::detail::atLine(where, [&]() -> T {
      if (std::optional<T> element = next(where))
        return *std::move(element);
      detail::failExhausted(get());
    });
  }
  /// The element that `next` will give, which stays.
  std::optional<T> peek(Where where = Where::current()) const {
    return meshloom::detail::atLine(where, [&]() -> std::optional<T> {
      if (std::optional<detail::Element> element = get().peek())
        return detail::valueOf<T>(*element);
      return std::nullopt;
    });
  }
  /// The position, as JSON: how many elements were given, and of which
  /// iteration over the dataset.
  std::string save() const { return get().save(); }
  /// Goes on where an iterator over the same dataset was. Passes over what was
  /// given, without calling the functions of `map` for it where nothing behind
  /// them needs what they give. Throws meshloom::Error if it is not a position.
  void restore(std::string_view state, Where where = Where::current()) const {
    meshloom::detail::atLine(where, [&] { get().restore(state); });
  }

  /// For Meshloom's own layers.
  detail::Stream &get() const {
    if (!stream)
      detail::failMoved();
    return *stream;
  }
  /// For `function`: a number that names the iterator, and the types of what
  /// it gives.
  template <typename F> void visit_structure(F &&f) const {
    Tensor name = named();
    std::string type = detail::nextType(get());
    f(std::as_const(name));
    f(std::as_const(type));
  }
  /// The same; the number may be replaced by a value of the trace.
  template <typename F> void visit_structure(F &&f) {
    handle = named();
    std::string type = detail::nextType(get());
    f(handle);
    f(type);
  }

private:
  Tensor named() const {
    if (handle.defined())
      return handle;
    const int64_t id = get().id();
    return meshloom::detail::hostTensor(
        DType::I64, {}, {reinterpret_cast<const char *>(&id), sizeof id});
  }
  T inTrace() const {
    std::optional<detail::Element> like = get().peek();
    if (!like)
      detail::failExhausted(get());
    return detail::structureOf<T>(like->skeleton.get(),
                                  detail::nextInTrace(named(), *like));
  }

  std::shared_ptr<detail::Stream> stream;
  Tensor handle; ///< set in a trace
};

} // namespace meshloom::data
