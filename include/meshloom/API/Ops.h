// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops on tensors: free functions and operators, with the names of TensorFlow
// and NumPy. Binary ops broadcast like NumPy; a C++ number takes the type of
// the tensor beside it, and there is no other implicit promotion (see `cast`).
// Negative axes count from the end.
//
// An op outside of a `function` runs at once, compiled once per op, types,
// shapes and layouts. All throw meshloom::Error where shapes or types do not
// fit or where operands are on two meshes; in a `function`, meshes over the
// same devices go together.
//
// Indices are i32: what argmax, argsort, top_k, range and iota give, unless
// they are asked for i64, and what loops count in. Ops that take indices take
// integers of any type, and so do comparisons: equal(argmax(logits, -1),
// labels) holds whatever integers the labels are.
#pragma once

#include "meshloom/API/Variable.h"

namespace meshloom {

/// The line of a call, for messages and reports.
using Where = std::source_location;

// Elementwise, one operand: shape and type stay. exp, expm1, log, log1p, sqrt,
// rsqrt, tanh, sigmoid, sin, cos, tan, square and reciprocal take complex
// numbers too; gradients with respect to a complex z = x + iy are
// dL/dx + i dL/dy.
/// The absolute value; for a complex number its distance from 0, a float.
[[nodiscard]] Tensor abs(const Tensor &x, Where loc = Where::current());
/// -x.
[[nodiscard]] Tensor negative(const Tensor &x, Where loc = Where::current());
/// -1, 0 or 1; of complex numbers x / |x|, and 0 at 0.
[[nodiscard]] Tensor sign(const Tensor &x, Where loc = Where::current());
/// e to the power x.
[[nodiscard]] Tensor exp(const Tensor &x, Where loc = Where::current());
/// exp(x) - 1, precise where x is small.
[[nodiscard]] Tensor expm1(const Tensor &x, Where loc = Where::current());
/// The natural logarithm; of negative floats nan.
[[nodiscard]] Tensor log(const Tensor &x, Where loc = Where::current());
/// log(1 + x), precise where x is small.
[[nodiscard]] Tensor log1p(const Tensor &x, Where loc = Where::current());
/// The square root; of negative floats nan.
[[nodiscard]] Tensor sqrt(const Tensor &x, Where loc = Where::current());
/// 1 / sqrt(x).
[[nodiscard]] Tensor rsqrt(const Tensor &x, Where loc = Where::current());
/// The cube root.
[[nodiscard]] Tensor cbrt(const Tensor &x, Where loc = Where::current());
/// The hyperbolic tangent.
[[nodiscard]] Tensor tanh(const Tensor &x, Where loc = Where::current());
/// 1 / (1 + exp(-x)).
[[nodiscard]] Tensor sigmoid(const Tensor &x, Where loc = Where::current());
/// The sine of x in radians.
[[nodiscard]] Tensor sin(const Tensor &x, Where loc = Where::current());
/// The cosine of x in radians.
[[nodiscard]] Tensor cos(const Tensor &x, Where loc = Where::current());
/// The tangent of x in radians.
[[nodiscard]] Tensor tan(const Tensor &x, Where loc = Where::current());
/// The angle in [-pi / 2, pi / 2] whose sine is x.
[[nodiscard]] Tensor asin(const Tensor &x, Where loc = Where::current());
/// The angle in [0, pi] whose cosine is x.
[[nodiscard]] Tensor acos(const Tensor &x, Where loc = Where::current());
/// The angle in [-pi / 2, pi / 2] whose tangent is x.
[[nodiscard]] Tensor atan(const Tensor &x, Where loc = Where::current());
/// The hyperbolic sine.
[[nodiscard]] Tensor sinh(const Tensor &x, Where loc = Where::current());
/// The hyperbolic cosine.
[[nodiscard]] Tensor cosh(const Tensor &x, Where loc = Where::current());
/// The inverse of sinh.
[[nodiscard]] Tensor asinh(const Tensor &x, Where loc = Where::current());
/// The inverse of cosh, at least 0; nan below 1.
[[nodiscard]] Tensor acosh(const Tensor &x, Where loc = Where::current());
/// The inverse of tanh; infinite at -1 and 1, nan beyond.
[[nodiscard]] Tensor atanh(const Tensor &x, Where loc = Where::current());
/// The error function.
[[nodiscard]] Tensor erf(const Tensor &x, Where loc = Where::current());
/// 1 - erf(x), precise where that is small.
[[nodiscard]] Tensor erfc(const Tensor &x, Where loc = Where::current());
/// The inverse of erf; infinite at -1 and 1, nan beyond.
[[nodiscard]] Tensor erfinv(const Tensor &x, Where loc = Where::current());
/// log |gamma(x)|; infinite at 0, -1, -2, ...
[[nodiscard]] Tensor lgamma(const Tensor &x, Where loc = Where::current());
/// The derivative of lgamma.
[[nodiscard]] Tensor digamma(const Tensor &x, Where loc = Where::current());
/// exp(-|x|) times the modified Bessel function I1(x).
[[nodiscard]] Tensor bessel_i1e(const Tensor &x, Where loc = Where::current());
/// The greatest whole number up to x.
[[nodiscard]] Tensor floor(const Tensor &x, Where loc = Where::current());
/// The least whole number from x on.
[[nodiscard]] Tensor ceil(const Tensor &x, Where loc = Where::current());
/// To nearest, halves to even.
[[nodiscard]] Tensor round(const Tensor &x, Where loc = Where::current());
/// To nearest, halves away from zero.
[[nodiscard]] Tensor round_nearest_afz(const Tensor &x,
                                       Where loc = Where::current());
/// Rounded to nearest even as a float of so many bits would hold it (mantissa
/// without its leading 1): too large becomes infinite, too small 0. Gradients
/// pass as if nothing was rounded.
[[nodiscard]] Tensor reduce_precision(const Tensor &x, int64_t exponent_bits,
                                      int64_t mantissa_bits,
                                      Where loc = Where::current());
/// x * x.
[[nodiscard]] Tensor square(const Tensor &x, Where loc = Where::current());
/// 1 / x.
[[nodiscard]] Tensor reciprocal(const Tensor &x, Where loc = Where::current());
/// Not x, for bools, or for the bits of integers.
[[nodiscard]] Tensor logical_not(const Tensor &x, Where loc = Where::current());
/// -> i1: whether x is neither infinite nor nan. Integers and bools always are;
/// of complex numbers both parts have to be.
[[nodiscard]] Tensor is_finite(const Tensor &x, Where loc = Where::current());
/// -> i1: whether x is inf or -inf; of complex numbers whether a part is.
[[nodiscard]] Tensor is_inf(const Tensor &x, Where loc = Where::current());
/// -> i1: whether x is nan; of complex numbers whether a part is.
[[nodiscard]] Tensor is_nan(const Tensor &x, Where loc = Where::current());
/// x with `nan` in place of nan, and `posinf` and `neginf` in place of
/// infinities; default: the largest and the least number of the type. Integers
/// and bools stay as they are. Throws meshloom::Error for complex numbers.
[[nodiscard]] Tensor nan_to_num(const Tensor &x, double nan = 0,
                                std::optional<double> posinf = {},
                                std::optional<double> neginf = {},
                                Where loc = Where::current());

// Elementwise, two operands.
/// x + y.
[[nodiscard]] Tensor add(const TensorLike &x, const TensorLike &y);
/// x - y.
[[nodiscard]] Tensor subtract(const TensorLike &x, const TensorLike &y);
/// x * y.
[[nodiscard]] Tensor multiply(const TensorLike &x, const TensorLike &y);
/// Integers: rounds towards zero.
[[nodiscard]] Tensor divide(const TensorLike &x, const TensorLike &y);
/// x / y rounded down, as Python's //: divide rounds integers towards zero. For
/// floats it has no gradient.
[[nodiscard]] Tensor floor_divide(const TensorLike &x, const TensorLike &y);
/// x - floor_divide(x, y) * y, as Python's %: takes the sign of y.
[[nodiscard]] Tensor mod(const TensorLike &x, const TensorLike &y);
/// Takes the sign of x, as C++'s own %; `mod` takes that of y.
[[nodiscard]] Tensor remainder(const TensorLike &x, const TensorLike &y);
/// x to the power y.
[[nodiscard]] Tensor pow(const TensorLike &x, const TensorLike &y);
/// The larger of x and y; nan where one is.
[[nodiscard]] Tensor maximum(const TensorLike &x, const TensorLike &y);
/// The smaller of x and y; nan where one is.
[[nodiscard]] Tensor minimum(const TensorLike &x, const TensorLike &y);
/// log(exp(x) + exp(y)), of floats, without overflow.
[[nodiscard]] Tensor logaddexp(const TensorLike &x, const TensorLike &y);
/// The angle of the point (x, y) from the first axis, in [-pi, pi].
[[nodiscard]] Tensor atan2(const TensorLike &y, const TensorLike &x);
/// The neighbour of x, in its type, on the way to `towards`.
[[nodiscard]] Tensor nextafter(const TensorLike &x, const TensorLike &towards);
/// The n-th derivative of digamma; n: whole numbers as floats.
[[nodiscard]] Tensor polygamma(const TensorLike &n, const TensorLike &x);
/// Hurwitz's zeta function: the sum over k >= 0 of 1 / (q + k)^x.
[[nodiscard]] Tensor zeta(const TensorLike &x, const TensorLike &q);

// The bits of integers. A shift by the width or more leaves no bit of x.
/// The bits of x moved up; zeros come in below.
[[nodiscard]] Tensor left_shift(const TensorLike &x, const TensorLike &by);
/// Fills with copies of the sign where the type is signed, else with zeros.
[[nodiscard]] Tensor right_shift(const TensorLike &x, const TensorLike &by);
/// How many bits are 1.
[[nodiscard]] Tensor population_count(const Tensor &x,
                                      Where loc = Where::current());
/// How many bits are 0 above the highest 1.
[[nodiscard]] Tensor count_leading_zeros(const Tensor &x,
                                         Where loc = Where::current());
/// The same bytes as another type: [...] -> [...]; a type k times narrower
/// gives [..., k], one k times wider takes [..., k] to [...]. Little endian;
/// the real part of a complex number comes first. It has no gradient. Throws
/// meshloom::Error if a type is i1 or the last dim is not k.
[[nodiscard]] Tensor bitcast(const Tensor &x, DType type,
                             Where loc = Where::current());

// Complex numbers; floats count as complex numbers without imaginary part.
/// -> f32 or f64.
[[nodiscard]] Tensor real(const Tensor &x, Where loc = Where::current());
/// -> f32 or f64.
[[nodiscard]] Tensor imag(const Tensor &x, Where loc = Where::current());
/// From parts of type f32 or f64; they broadcast.
[[nodiscard]] Tensor complex(const TensorLike &re, const TensorLike &im);
/// The number with the opposite imaginary part; floats stay as they are.
[[nodiscard]] Tensor conj(const Tensor &x, Where loc = Where::current());
/// In [-pi, pi] -> f32 or f64.
[[nodiscard]] Tensor angle(const Tensor &x, Where loc = Where::current());

/// x and y, for bools, or for the bits of integers.
[[nodiscard]] Tensor logical_and(const TensorLike &x, const TensorLike &y);
/// Returns whether any holds; of integers the bits that any has.
[[nodiscard]] Tensor logical_or(const TensorLike &x, const TensorLike &y);
/// Returns whether just one holds; of integers the bits that just one has.
[[nodiscard]] Tensor logical_xor(const TensorLike &x, const TensorLike &y);

// Comparisons -> i1. Integers of two types are compared by value.
/// Returns whether x is y -> i1; nan equals nothing.
[[nodiscard]] Tensor equal(const TensorLike &x, const TensorLike &y);
/// Returns whether x is not y -> i1; nan differs from all.
[[nodiscard]] Tensor not_equal(const TensorLike &x, const TensorLike &y);
/// Returns whether x < y -> i1.
[[nodiscard]] Tensor less(const TensorLike &x, const TensorLike &y);
/// Returns whether x <= y -> i1.
[[nodiscard]] Tensor less_equal(const TensorLike &x, const TensorLike &y);
/// Returns whether x > y -> i1.
[[nodiscard]] Tensor greater(const TensorLike &x, const TensorLike &y);
/// Returns whether x >= y -> i1.
[[nodiscard]] Tensor greater_equal(const TensorLike &x, const TensorLike &y);
/// The options of isclose and allclose.
struct CloseOptions {
  double rtol = 1e-5;     ///< how far off they may be, in parts of |y|
  double atol = 1e-8;     ///< and how far beside that
  bool equal_nan = false; ///< whether nan is close to nan
};
/// Returns whether |x - y| <= atol + rtol |y| -> i1; infinities are close to
/// themselves. Integers and bools are compared as floats.
[[nodiscard]] Tensor isclose(const TensorLike &x, const TensorLike &y,
                             const CloseOptions &options = {});
/// Returns whether that holds for all elements -> i1 []:
/// `if (allclose(x, y)) ...`.
[[nodiscard]] Tensor allclose(const TensorLike &x, const TensorLike &y,
                              const CloseOptions &options = {});

/// `x` where `condition` (i1) holds, else `y`; all three broadcast. Two numbers
/// have their C++ type: where(c, 1.f, 0.f) is f32.
[[nodiscard]] Tensor where(const TensorLike &condition, const TensorLike &x,
                           const TensorLike &y);
/// x, but at least `low` and at most `high`.
[[nodiscard]] Tensor clip_by_value(const TensorLike &x, const TensorLike &low,
                                   const TensorLike &high);
/// Floats to integers round towards zero, what does not fit to the nearest that
/// does; to i1: not zero. Complex numbers lose their imaginary part.
[[nodiscard]] Tensor cast(const Tensor &x, DType type,
                          Where loc = Where::current());

/// See add.
[[nodiscard]] inline Tensor operator+(const TensorLike &x,
                                      const TensorLike &y) {
  return add(x, y);
}
/// See subtract.
[[nodiscard]] inline Tensor operator-(const TensorLike &x,
                                      const TensorLike &y) {
  return subtract(x, y);
}
/// See multiply.
[[nodiscard]] inline Tensor operator*(const TensorLike &x,
                                      const TensorLike &y) {
  return multiply(x, y);
}
/// See divide.
[[nodiscard]] inline Tensor operator/(const TensorLike &x,
                                      const TensorLike &y) {
  return divide(x, y);
}
/// See less.
[[nodiscard]] inline Tensor operator<(const TensorLike &x,
                                      const TensorLike &y) {
  return less(x, y);
}
/// See less_equal.
[[nodiscard]] inline Tensor operator<=(const TensorLike &x,
                                       const TensorLike &y) {
  return less_equal(x, y);
}
/// See greater.
[[nodiscard]] inline Tensor operator>(const TensorLike &x,
                                      const TensorLike &y) {
  return greater(x, y);
}
/// See greater_equal.
[[nodiscard]] inline Tensor operator>=(const TensorLike &x,
                                       const TensorLike &y) {
  return greater_equal(x, y);
}
/// See negative.
[[nodiscard]] inline Tensor operator-(const Tensor &x) {
  return negative(x);
}
/// See logical_not.
[[nodiscard]] inline Tensor operator!(const Tensor &x) {
  return logical_not(x);
}
/// See mod: as Python's %, and unlike C++'s own, it takes the sign of y.
[[nodiscard]] inline Tensor operator%(const TensorLike &x,
                                      const TensorLike &y) {
  return mod(x, y);
}
/// See equal: elementwise, as NumPy's. reduce_all(x == y) is one bool, and
/// `is` tells whether two variables are the same one.
[[nodiscard]] inline Tensor operator==(const TensorLike &x,
                                       const TensorLike &y) {
  return equal(x, y);
}
/// See not_equal.
[[nodiscard]] inline Tensor operator!=(const TensorLike &x,
                                       const TensorLike &y) {
  return not_equal(x, y);
}
/// Makes x the sum; tensors that were copied from it keep the old value.
inline Tensor &operator+=(Tensor &x, const TensorLike &y) {
  return x = add({x, y.where}, y);
}
/// Makes x the difference; tensors that were copied from it keep the old value.
inline Tensor &operator-=(Tensor &x, const TensorLike &y) {
  return x = subtract({x, y.where}, y);
}
/// Makes x the product; tensors that were copied from it keep the old value.
inline Tensor &operator*=(Tensor &x, const TensorLike &y) {
  return x = multiply({x, y.where}, y);
}
/// Makes x the quotient; tensors that were copied from it keep the old value.
inline Tensor &operator/=(Tensor &x, const TensorLike &y) {
  return x = divide({x, y.where}, y);
}
/// Makes x the rest, as `mod`; tensors that were copied from it keep the old
/// value.
inline Tensor &operator%=(Tensor &x, const TensorLike &y) {
  return x = mod({x, y.where}, y);
}
/// See logical_and.
[[nodiscard]] inline Tensor operator&(const TensorLike &x,
                                      const TensorLike &y) {
  return logical_and(x, y);
}
/// See logical_or.
[[nodiscard]] inline Tensor operator|(const TensorLike &x,
                                      const TensorLike &y) {
  return logical_or(x, y);
}

/// Parts of tensors, and variables, do not change so. The compiler shows these
/// lines.
// clang-format off
void operator+=(Tensor &&, const TensorLike &) = delete; // write x = index_add(x, {0}, y)
void operator-=(Tensor &&, const TensorLike &) = delete; // write x = index_add(x, {0}, -y)
void operator*=(Tensor &&, const TensorLike &) = delete; // write x = index_update(x, {0}, x[0] * y)
void operator/=(Tensor &&, const TensorLike &) = delete; // write x = index_update(x, {0}, x[0] / y)
void operator%=(Tensor &&, const TensorLike &) = delete; // write x = index_update(x, {0}, x[0] % y)
void operator+=(const DVariable &, const TensorLike &) = delete; // write w.assign_add(y)
void operator-=(const DVariable &, const TensorLike &) = delete; // write w.assign_sub(y)
void operator*=(const DVariable &, const TensorLike &) = delete; // write w.assign(w * y)
void operator/=(const DVariable &, const TensorLike &) = delete; // write w.assign(w / y)
void operator%=(const DVariable &, const TensorLike &) = delete; // write w.assign(w % y)
// clang-format on

/// The options of matmul.
struct MatMulOptions {
  bool transpose_a = false; ///< a is [..., k, m]
  bool transpose_b = false; ///< b is [..., n, k]
};
/// a [..., m, k], b [k, n] or [..., k, n] -> [..., m, n]; leading dims
/// broadcast like NumPy's. Sharded k: the result is reduced over its axes.
[[nodiscard]] Tensor matmul(const Tensor &a, const Tensor &b,
                            MatMulOptions options = {},
                            Where loc = Where::current());
/// Which dims of two tensors are batch and which are summed over.
struct DotDims {
  std::vector<int64_t> lhs_batch = {};       ///< dims of lhs, paired with
  std::vector<int64_t> rhs_batch = {};       ///< dims of rhs, in order
  std::vector<int64_t> lhs_contracting = {}; ///< dims of lhs summed over, with
  std::vector<int64_t> rhs_contracting = {}; ///< dims of rhs, in order
};
/// -> [batch..., other dims of lhs..., other dims of rhs...].
[[nodiscard]] Tensor dot_general(const Tensor &lhs, const Tensor &rhs,
                                 const DotDims &dims,
                                 Where loc = Where::current());

/// Dims to reduce: one, several, or (nothing given) all.
class Axis {
public:
  /// All dims.
  Axis() : all(true) {}
  /// One dim.
  Axis(int axis) : dims{axis} {}
  /// One dim.
  Axis(int64_t axis) : dims{axis} {}
  /// Several dims.
  Axis(std::initializer_list<int64_t> axes) : dims(axes) {}
  /// Several dims.
  Axis(std::vector<int64_t> axes) : dims(std::move(axes)) {}
  std::vector<int64_t> dims; ///< as given: negative ones count from the end
  bool all = false;          ///< then `dims` is empty
};

// Reductions.
/// The sum over dims, which go, or stay as 1 with keepdims. The sum of bools is
/// their number, an i64.
[[nodiscard]] Tensor reduce_sum(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false,
                                Where loc = Where::current());
/// The mean; of bools the part of them that hold, an f32. See reduce_sum.
[[nodiscard]] Tensor reduce_mean(const Tensor &x, const Axis &axis = Axis(),
                                 bool keepdims = false,
                                 Where loc = Where::current());
/// The product; of bools an i64. See reduce_sum.
[[nodiscard]] Tensor reduce_prod(const Tensor &x, const Axis &axis = Axis(),
                                 bool keepdims = false,
                                 Where loc = Where::current());
/// The largest element, nan where there is one; of bools reduce_any. See
/// reduce_sum.
[[nodiscard]] Tensor reduce_max(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false,
                                Where loc = Where::current());
/// The smallest element, nan where there is one; of bools reduce_all. See
/// reduce_sum.
[[nodiscard]] Tensor reduce_min(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false,
                                Where loc = Where::current());
/// Returns whether all hold, of i1; see reduce_sum.
[[nodiscard]] Tensor reduce_all(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false,
                                Where loc = Where::current());
/// Returns whether any holds, of i1; see reduce_sum.
[[nodiscard]] Tensor reduce_any(const Tensor &x, const Axis &axis = Axis(),
                                bool keepdims = false,
                                Where loc = Where::current());
/// log(sum(exp(x))), without overflow.
[[nodiscard]] Tensor reduce_logsumexp(const Tensor &x,
                                      const Axis &axis = Axis(),
                                      bool keepdims = false,
                                      Where loc = Where::current());
/// Index of the largest element along `axis`, the first of equal ones; NaN
/// counts as larger than all. `type`: i32 or i64.
[[nodiscard]] Tensor argmax(const Tensor &x, int64_t axis = 0,
                            DType type = DType::I32,
                            Where loc = Where::current());
/// Index of the smallest element along `axis`, the first of equal ones; NaN
/// counts as smaller than all. `type`: i32 or i64.
[[nodiscard]] Tensor argmin(const Tensor &x, int64_t axis = 0,
                            DType type = DType::I32,
                            Where loc = Where::current());

/// The same elements, row-major. One extent may be -1.
[[nodiscard]] Tensor reshape(const Tensor &x, Shape shape,
                             Where loc = Where::current());
/// Dim i of the result is dim perm[i] of x; default: reversed.
[[nodiscard]] Tensor transpose(const Tensor &x, std::vector<int64_t> perm = {},
                               Where loc = Where::current());
/// With two dims exchanged.
[[nodiscard]] Tensor swapaxes(const Tensor &x, int64_t axis1, int64_t axis2,
                              Where loc = Where::current());
/// With dim source[i] at destination[i]; the others keep their order. Throws
/// meshloom::Error if there are not as many, or one comes twice.
[[nodiscard]] Tensor moveaxis(const Tensor &x, const Axis &source,
                              const Axis &destination,
                              Where loc = Where::current());
/// x repeated to `shape`: dims of extent 1 and ones in front, like NumPy.
[[nodiscard]] Tensor broadcast_to(const Tensor &x, Shape shape,
                                  Where loc = Where::current());
/// With a new dim of extent 1 before dim `axis`; -1: at the end.
[[nodiscard]] Tensor expand_dims(const Tensor &x, int64_t axis,
                                 Where loc = Where::current());
/// Drops the given dims of extent 1; default: all of extent 1.
[[nodiscard]] Tensor squeeze(const Tensor &x, const Axis &axis = Axis(),
                             Where loc = Where::current());
/// One after the other along `axis`; the other extents are equal.
[[nodiscard]] Tensor concat(const std::vector<Tensor> &values, int64_t axis,
                            Where loc = Where::current());
/// Tensors of one shape along a new dim `axis`.
[[nodiscard]] Tensor stack(const std::vector<Tensor> &values, int64_t axis = 0,
                           Where loc = Where::current());
/// Into `count` equal parts along `axis`.
[[nodiscard]] std::vector<Tensor> split(const Tensor &x, int64_t count,
                                        int64_t axis = 0,
                                        Where loc = Where::current());
/// Into parts of these sizes, one of which may be -1.
[[nodiscard]] std::vector<Tensor> split(const Tensor &x,
                                        const std::vector<int64_t> &sizes,
                                        int64_t axis = 0,
                                        Where loc = Where::current());
/// The part from `begin` of extents `size`; -1: up to the end.
[[nodiscard]] Tensor slice(const Tensor &x, Shape begin, Shape size,
                           Where loc = Where::current());
/// Every strides[i]-th index from begin[i] to end[i] (exclusive).
[[nodiscard]] Tensor strided_slice(const Tensor &x, Shape begin, Shape end,
                                   Shape strides, Where loc = Where::current());
/// In opposite order along the dims.
[[nodiscard]] Tensor reverse(const Tensor &x, const Axis &axis,
                             Where loc = Where::current());
/// indices [...] of integers -> [..., depth]: 1 at the index, else 0.
[[nodiscard]] Tensor one_hot(const Tensor &indices, int64_t depth,
                             DType type = DType::F32,
                             Where loc = Where::current());

} // namespace meshloom
