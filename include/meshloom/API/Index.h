// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index: what picks elements of one dim of a tensor, as NumPy's x[...] takes
// it. SliceOps.h says what tensors make of them.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>

namespace meshloom {

class Tensor;
namespace detail {
class TensorNode;
}

/// Every stride-th index from `begin` to `end` (exclusive); see `range`.
struct IndexRange {
  std::optional<int64_t> begin; ///< empty: the first, the last if stride < 0
  std::optional<int64_t> end;   ///< empty: all that are left
  int64_t stride = 1;           ///< not 0; negative: backwards
};

/// Python's begin:end:stride. Negative numbers count from the end of the dim,
/// ones beyond it are cut off, and {} is the dim's own end:
///
///   x(range(1, -1));       // x[1:-1]
///   x(range(1, {}));       // x[1:]
///   x(range({}, {}, -1));  // x[::-1]
///
/// For the tensor 0, 1, ..., n-1 see range(n) in Create.h, and arange.
inline IndexRange range(std::optional<int64_t> begin,
                        std::optional<int64_t> end, int64_t stride = 1) {
  return {begin, end, stride};
}

/// The type of `all`.
struct AllOfDim {};
/// The whole dim: NumPy's `:`.
inline constexpr AllOfDim all{};
/// The type of `newaxis`.
struct NewAxis {};
/// A new dim of extent 1.
inline constexpr NewAxis newaxis{};
/// The type of `ellipsis`.
struct Ellipsis {};
/// All dims that the other indices leave: NumPy's `...`.
inline constexpr Ellipsis ellipsis{};

/// An integer (its dim goes), a range, `all`, `newaxis`, `ellipsis`, or a
/// tensor of integers: a scalar, known when the program runs only, picks one
/// index, and one of shape [i...] puts those dims in place of the dim.
class Index {
public:
  /// The line of a call, for messages and reports.
  using Where = std::source_location;
  /// Which of those it is.
  enum class Kind : uint8_t {
    None,     ///< nothing: an argument that was not given
    Number,   ///< `number`
    Range,    ///< `range`
    NewAxis,  ///< a new dim
    Ellipsis, ///< the dims that are left
    Tensor    ///< `tensor`
  };

  /// None.
  Index() = default;
  /// One element; its dim goes.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T number, Where where = Where::current())
      : kind(Kind::Number), number(int64_t(number)), where(where) {}
  /// The elements of a range.
  Index(IndexRange range, Where where = Where::current())
      : kind(Kind::Range), range(range), where(where) {}
  /// All elements.
  Index(AllOfDim, Where where = Where::current())
      : kind(Kind::Range), where(where) {}
  /// A new dim of extent 1.
  Index(meshloom::NewAxis, Where where = Where::current())
      : kind(Kind::NewAxis), where(where) {}
  /// All dims that the other indices leave.
  Index(meshloom::Ellipsis, Where where = Where::current())
      : kind(Kind::Ellipsis), where(where) {}
  /// The elements that a tensor of integers names.
  Index(const Tensor &indices, Where where = Where::current());

  Kind kind = Kind::None;                     ///< what is set below
  int64_t number = 0;                         ///< from the end if negative
  IndexRange range;                           ///< of `all` without bounds
  std::shared_ptr<detail::TensorNode> tensor; ///< of integers
  Where where;                                ///< the line it was written on
};

} // namespace meshloom
