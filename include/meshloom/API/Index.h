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
  std::optional<int64_t> begin, end;
  int64_t stride = 1;
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

/// The whole dim: NumPy's `:`.
inline constexpr struct AllOfDim {
} all;
/// A new dim of extent 1.
inline constexpr struct NewAxis {
} newaxis;
/// As many whole dims as are left: NumPy's `...`.
inline constexpr struct Ellipsis {
} ellipsis;

/// An integer (its dim goes), a range, `all`, `newaxis`, `ellipsis`, or a
/// tensor of integers: a scalar, known when the program runs only, picks one
/// index, and one of shape [i...] puts those dims in place of the dim.
class Index {
public:
  using Where = std::source_location;
  enum class Kind : uint8_t { None, Number, Range, NewAxis, Ellipsis, Tensor };

  Index() = default;
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Index(T number, Where where = Where::current())
      : kind(Kind::Number), number(int64_t(number)), where(where) {}
  Index(IndexRange range, Where where = Where::current())
      : kind(Kind::Range), range(range), where(where) {}
  Index(AllOfDim, Where where = Where::current())
      : kind(Kind::Range), where(where) {}
  Index(meshloom::NewAxis, Where where = Where::current())
      : kind(Kind::NewAxis), where(where) {}
  Index(meshloom::Ellipsis, Where where = Where::current())
      : kind(Kind::Ellipsis), where(where) {}
  Index(const Tensor &indices, Where where = Where::current());

  Kind kind = Kind::None;
  int64_t number = 0;
  IndexRange range;
  std::shared_ptr<detail::TensorNode> tensor;
  Where where;
};

} // namespace meshloom
