// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor: the handle that all ops take and return, and TensorLike: what an op
// accepts beside one (a variable, a scalar). Reading values, printing.
#pragma once

#include "meshloom/API/Index.h"
#include "meshloom/Core/Layout.h"

#include <array>
#include <complex>
#include <concepts>
#include <cstring>
#include <iosfwd>
#include <source_location>
#include <string_view>
#include <type_traits>

/// Global tensors with layouts over a mesh of devices: ops, functions,
/// gradients, variables.
namespace meshloom {

class DVariable;
class Tensor;

/// The upper two bytes of an f32, as a host element type.
struct bfloat16 {
  uint16_t bits = 0; ///< sign, 8 of exponent, 7 of mantissa
  /// 0.
  bfloat16() = default;
  explicit bfloat16(float value); ///< rounds to nearest even
  /// The same number as a float.
  explicit operator float() const;
  /// Returns whether the bits are the same.
  bool operator==(const bfloat16 &) const = default;
};

namespace detail {
class TensorNode;

template <typename T> consteval DType dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::I1;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return DType::BF16;
  else if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_same_v<T, _Float16>)
    return DType::F16;
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return DType::C64;
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return DType::C128;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return sizeof(T) == 1   ? DType::I8
           : sizeof(T) == 2 ? DType::I16
           : sizeof(T) == 4 ? DType::I32
                            : DType::I64;
  } else {
    static_assert(std::is_integral_v<T> && sizeof(T) <= 8,
                  "not an element type: use float, double, _Float16, bfloat16, "
                  "std::complex of float or double, bool, or an integer");
    return sizeof(T) == 1   ? DType::UI8
           : sizeof(T) == 2 ? DType::UI16
           : sizeof(T) == 4 ? DType::UI32
                            : DType::UI64;
  }
}

/// Copies the global value, row-major, into `out` (elements of type `as`).
void readValue(const Tensor &tensor, DType as, void *out, int64_t count,
               const char *caller, const std::source_location &where);

/// While it lives, messages and reports of what this thread calls name that
/// line: for what is made of ops itself, such as an optimizer. The outermost
/// one counts.
class [[nodiscard]] CallSite {
public:
  explicit CallSite(const std::source_location &where);
  ~CallSite();
  CallSite(const CallSite &) = delete;

private:
  bool isOutermost;
};
/// While it lives, messages of what this thread calls name that function, a
/// literal: for one that is made of others. The outermost one counts.
class [[nodiscard]] CallName {
public:
  explicit CallName(std::string_view function);
  ~CallName();
  CallName(const CallName &) = delete;

private:
  bool isOutermost;
};
} // namespace detail

/// A multi-dimensional array with a layout over a mesh: a value on devices, or,
/// while a `function` is being traced, a value of that trace. An immutable
/// handle: copying it copies no data, and it may be used from any thread (one
/// of a trace: from the tracing thread until the trace ends).
///
///   Tensor x = tensor({1.f, 2.f, 3.f, 4.f}, {2, 2});
///   Tensor y = matmul(x, x) + 1;
///   std::vector<float> values = y.to_vector<float>();
///   std::cout << y << "\n";
///
/// A default-constructed Tensor is empty; every use of one but `defined` and
/// printing throws.
class Tensor {
public:
  /// An empty one.
  Tensor() = default;
  /// The same value.
  Tensor(const Tensor &) = default;
  /// The same value.
  Tensor(Tensor &&) noexcept = default;
  /// Makes this handle one of the other value; what was copied from it before
  /// keeps the old one.
  Tensor &operator=(const Tensor &) & = default;
  /// Moves, too.
  Tensor &operator=(Tensor &&) & noexcept = default;
  /// `x[0] = y` would change a part that was copied out of x: tensors do not
  /// change. The compiler shows this line.
  // clang-format off
  template <typename T> void operator=(const T &) && = delete; // write x = index_update(x, {0}, y)
  // clang-format on

  /// Global extents. Throws meshloom::Error if the tensor is empty.
  const Shape &
  shape(std::source_location where = std::source_location::current()) const;
  /// Number of dims.
  int64_t
  rank(std::source_location where = std::source_location::current()) const {
    return int64_t(shape(where).size());
  }
  /// Number of elements of the global value.
  int64_t
  size(std::source_location where = std::source_location::current()) const {
    return elementCount(shape(where));
  }
  /// Type of the elements.
  DType
  dtype(std::source_location where = std::source_location::current()) const;
  /// How the value is cut over its mesh. Throws meshloom::Error if the tensor
  /// is a value of a trace: the compiler has yet to decide its layout.
  Layout
  layout(std::source_location where = std::source_location::current()) const;
  /// The mesh of its layout.
  Mesh
  mesh(std::source_location where = std::source_location::current()) const {
    return layout(where).mesh();
  }
  /// Name of the device that holds it, or "CPU:0 ... CPU:7" for a mesh.
  std::string device() const;
  /// Returns whether it is a value of a trace, which has no elements yet.
  bool is_traced() const;
  /// Returns whether it is not empty.
  bool defined() const { return node != nullptr; }
  /// The value as a condition of C++ (`if (loss < best)`, `while (error >
  /// 1e-3)`): whether the only element is not 0. Waits for the value. Throws
  /// meshloom::Error if there is not exactly one element, or if the tensor is a
  /// value of a trace: `where`, `cond` and `while_loop` decide by those.
  explicit operator bool() const;

  /// Part of the value, as NumPy's x[i] and x[i, j, ...]; see SliceOps.h.
  [[nodiscard]] Tensor operator[](const Index &index) const {
    return (*this)(index);
  }
  /// The same with several indices: x(0, all, range(1, 3)).
  [[nodiscard]] Tensor operator()(const Index &a, const Index &b = {},
                                  const Index &c = {}, const Index &d = {},
                                  const Index &e = {}, const Index &f = {},
                                  const Index &g = {},
                                  const Index &h = {}) const;

  /// The only element. T must hold every value of the dtype (float for f32, f16
  /// and bf16, double for those and f64, int64_t for all integers but ui64,
  /// std::complex of float or double for complex numbers). Waits for the
  /// value. Throws meshloom::Error if there is not exactly one element, if T
  /// does not fit, or if the tensor is a value of a trace.
  template <typename T>
  T item(std::source_location where = std::source_location::current()) const {
    T value;
    detail::readValue(*this, detail::dtypeOf<T>(), &value, 1, "item", where);
    return value;
  }

  /// All elements of the global value, row-major, whatever the layout. T as for
  /// `item`.
  template <typename T>
  std::vector<T> to_vector(
      std::source_location where = std::source_location::current()) const {
    const detail::CallSite site(where);
    const detail::CallName name("to_vector");
    using Host = std::conditional_t<std::is_same_v<T, bool>, char, T>;
    std::vector<Host> values(static_cast<size_t>(size()));
    detail::readValue(*this, detail::dtypeOf<T>(), values.data(), size(),
                      "to_vector", where);
    if constexpr (std::is_same_v<T, bool>)
      return std::vector<bool>(values.begin(), values.end());
    else
      return values;
  }

  /// For Meshloom's own layers.
  const std::shared_ptr<detail::TensorNode> &internal() const { return node; }
  /// For Meshloom's own layers.
  static Tensor internalFrom(std::shared_ptr<detail::TensorNode> node);

private:
  std::shared_ptr<detail::TensorNode> node;
};

/// The operand of a binary op: a tensor, a variable (its value), or a C++
/// number, which takes the other operand's type. Conversions are implicit and
/// remember the line that they are on, for messages.
class TensorLike {
public:
  /// The line of a call, for messages and reports.
  using Where = std::source_location;
  /// A tensor.
  TensorLike(const Tensor &value, Where where = Where::current())
      : tensor(value), where(where) {}
  /// The value that the variable has now.
  TensorLike(const DVariable &value, Where where = Where::current());
  /// A number.
  template <typename T>
    requires std::is_arithmetic_v<T>
  TensorLike(T value, Where where = Where::current()) : where(where) {
    if constexpr (std::is_floating_point_v<T>) {
      kind = Kind::Float;
      real = double(value);
      dtype = std::is_same_v<T, float> ? DType::F32 : DType::F64;
    } else {
      dtype = detail::dtypeOf<T>();
      kind = std::is_same_v<T, bool> ? Kind::Bool : Kind::Integer;
      integer = int64_t(value);
      isUnsigned = std::is_unsigned_v<T>;
    }
  }

  /// Which of those it is.
  enum class Kind : uint8_t {
    Tensor,  ///< `tensor`
    Float,   ///< `real`
    Integer, ///< `integer`
    Bool     ///< `integer`, 0 or 1
  };
  Kind kind = Kind::Tensor; ///< what is set below
  Tensor tensor;            ///< of a variable its value
  double real = 0;          ///< a float or double
  int64_t integer = 0;      ///< an integer or bool
  bool isUnsigned = false;  ///< `integer` holds the bits of a uint64_t
  /// The type of a C++ number, for where no tensor is beside it.
  DType dtype = DType::F32;
  Where where; ///< the line it was written on
};

namespace detail {
template <typename T>
concept TensorOrVariable =
    std::is_same_v<T, Tensor> || std::is_same_v<T, DVariable>;
} // namespace detail
/// C++'s `&&` and `||` take single bools: write `x & y` or logical_and(x, y)
/// for tensors, and `bool(x) && bool(y)` for the values of scalars. The
/// compiler shows these lines.
// clang-format off
template <typename X, typename Y>
  requires detail::TensorOrVariable<X> || detail::TensorOrVariable<Y>
void operator&&(const X &, const Y &) = delete; // write x & y (logical_and)
template <typename X, typename Y>
  requires detail::TensorOrVariable<X> || detail::TensorOrVariable<Y>
void operator||(const X &, const Y &) = delete; // write x | y (logical_or)
// clang-format on

/// Like NumPy prints an array, then type, shape and layout; large ones are
/// shortened. A value of a trace prints its type only.
std::ostream &operator<<(std::ostream &, const Tensor &);
/// The text that `<<` prints.
std::string to_string(const Tensor &);

/// Which device holds what, drawn in ASCII: one box a shard for rank 1 and 2,
/// one line a shard for other ranks.
std::string
visualize(const Tensor &tensor,
          std::source_location where = std::source_location::current());
/// The same of any value of that global shape.
std::string
visualize(const Layout &layout, const Shape &global,
          std::source_location where = std::source_location::current());

} // namespace meshloom
