// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the steps of a pipeline: cursors over counted elements,
// errors that name the element, and cardinalities.
#pragma once

#include "meshloom/Data/Pipeline.h"

#include <fmt/format.h>

namespace meshloom::data::detail {

/// f(0), ..., f(count - 1).
template <typename F> class CountedCursor : public Cursor {
public:
  CountedCursor(int64_t count, F f) : count(count), f(std::move(f)) {}
  std::optional<Element> next() override {
    if (position >= count)
      return std::nullopt;
    return f(position++);
  }
  void skip(int64_t n) override { position += std::min(n, count - position); }

private:
  int64_t position = 0, count;
  F f;
};
template <typename F> std::unique_ptr<Cursor> cursorOver(int64_t count, F f) {
  return std::make_unique<CountedCursor<F>>(count, std::move(f));
}

/// call(), whose errors say that they are of element `index` of step `step`.
template <typename F>
auto naming(std::string_view step, int64_t index, F &&call) {
  try {
    return call();
  } catch (const std::exception &error) {
    Error::of(error)
        .withMessage(fmt::format("[{}] the function failed at element {}: {}",
                                 step, index, error.what()))
        .raise();
  }
}

/// Throws "[step] expected what, got value" unless `holds`.
inline void expect(bool holds, std::string_view step, std::string_view expected,
                   int64_t value) {
  if (!holds)
    Error(fmt::format("[{}] expected {}, got {}", step, expected, value))
        .raise();
}

/// A number of elements; the largest there is where it is larger.
inline int64_t capped(__int128 count) {
  return int64_t(
      std::min<__int128>(count, std::numeric_limits<int64_t>::max()));
}

/// f(n) of a finite number, and others as they are.
template <typename F> int64_t ofFinite(int64_t cardinality, F f) {
  return cardinality < 0 ? cardinality : f(cardinality);
}

} // namespace meshloom::data::detail
