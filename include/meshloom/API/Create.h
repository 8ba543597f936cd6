// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Making tensors: from host arrays and files, filled, counted, random.
#pragma once

#include "meshloom/API/Tensor.h"

#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <ranges>
#include <span>

namespace meshloom {

namespace detail {
[[nodiscard]] Tensor fromHost(DType type, const void *data, int64_t count,
                              Shape shape, std::source_location where);
/// Throws: the rows of a list have other lengths.
[[noreturn]] void refuseRows(int64_t first, int64_t other,
                             const std::source_location &where);
} // namespace detail

/// A tensor with the given elements, row-major. Copies them. It lies on the
/// default mesh (replicated) where there is one, else on the host: an op takes
/// it as replicated on the mesh of its other operands. Throws meshloom::Error
/// if the number of values is not that of the shape.
template <std::ranges::contiguous_range R>
[[nodiscard]] Tensor
tensor(const R &values, Shape shape,
       std::source_location where = std::source_location::current()) {
  using T = std::remove_cv_t<std::ranges::range_value_t<R>>;
  return detail::fromHost(detail::dtypeOf<T>(), std::ranges::data(values),
                          int64_t(std::ranges::size(values)), std::move(shape),
                          where);
}
/// i1, of a vector that is not an array.
[[nodiscard]] inline Tensor
tensor(const std::vector<bool> &values, Shape shape,
       std::source_location where = std::source_location::current()) {
  std::vector<char> bytes(values.begin(), values.end());
  return detail::fromHost(DType::I1, bytes.data(), int64_t(bytes.size()),
                          std::move(shape), where);
}
/// The tensor of a list, row-major: tensor({1.f, 2.f, 3.f, 4.f}, {2, 2}).
template <typename T>
[[nodiscard]] Tensor
tensor(std::initializer_list<T> values, Shape shape,
       std::source_location where = std::source_location::current()) {
  return detail::fromHost(detail::dtypeOf<T>(), std::data(values),
                          int64_t(values.size()), std::move(shape), where);
}
/// [n]: tensor({1.f, 2.f}).
template <typename T>
[[nodiscard]] Tensor
tensor(std::initializer_list<T> values,
       std::source_location where = std::source_location::current()) {
  return tensor(values, Shape{int64_t(values.size())}, where);
}
/// [m, n]: tensor({{1.f, 2.f}, {3.f, 4.f}}). Throws meshloom::Error if rows
/// have other lengths.
template <typename T>
[[nodiscard]] Tensor
tensor(std::initializer_list<std::initializer_list<T>> rows,
       std::source_location where = std::source_location::current()) {
  int64_t columns = rows.size() ? int64_t(rows.begin()->size()) : 0;
  for (auto &row : rows)
    if (int64_t(row.size()) != columns)
      detail::refuseRows(columns, int64_t(row.size()), where);
  // std::vector<bool> is not an array of bools.
  std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> values;
  for (auto &row : rows)
    values.insert(values.end(), row.begin(), row.end());
  return detail::fromHost(detail::dtypeOf<T>(), values.data(),
                          int64_t(values.size()),
                          {int64_t(rows.size()), columns}, where);
}
/// A scalar: a number, _Float16, bfloat16 or std::complex.
template <typename T>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, _Float16> ||
           std::is_same_v<T, bfloat16> ||
           std::is_same_v<T, std::complex<float>> ||
           std::is_same_v<T, std::complex<double>>
[[nodiscard]] Tensor
tensor(T value, std::source_location where = std::source_location::current()) {
  return detail::fromHost(detail::dtypeOf<T>(), &value, 1, {}, where);
}

/// Every element 0; placed like `tensor`.
[[nodiscard]] Tensor
zeros(Shape shape, DType type = DType::F32,
      std::source_location where = std::source_location::current());
/// Every element 1; placed like `tensor`.
[[nodiscard]] Tensor
ones(Shape shape, DType type = DType::F32,
     std::source_location where = std::source_location::current());
/// Every element `value`; placed like `tensor`.
[[nodiscard]] Tensor
full(Shape shape, double value, DType type = DType::F32,
     std::source_location where = std::source_location::current());
/// Zeros of the shape, type and layout of `like`.
[[nodiscard]] Tensor
zeros_like(const Tensor &like,
           std::source_location where = std::source_location::current());
/// Ones of the shape, type and layout of `like`.
[[nodiscard]] Tensor
ones_like(const Tensor &like,
          std::source_location where = std::source_location::current());
/// `value` in each element, of the shape, type and layout of `like`.
[[nodiscard]] Tensor
full_like(const Tensor &like, double value,
          std::source_location where = std::source_location::current());
/// Each element is its index along `dim`.
[[nodiscard]] Tensor
iota(Shape shape, int64_t dim, DType type = DType::I32,
     std::source_location where = std::source_location::current());
namespace detail {
/// A number, and the line that it is on.
struct Counted {
  int64_t n;
  std::source_location where;
  template <std::integral T>
  Counted(T n, std::source_location where = std::source_location::current())
      : n(int64_t(n)), where(where) {}
};
} // namespace detail
/// [n]: 0, 1, ..., n-1, i32 or of `type`. With two numbers a range of indices:
/// see Index.h. No second parameter takes {}, which is the open end of one.
[[nodiscard]] inline Tensor range(detail::Counted n) {
  const detail::CallName name("range");
  return iota({n.n}, 0, DType::I32, n.where);
}
/// [n]: 0, 1, ..., n-1 of `type`.
template <std::same_as<DType> T>
[[nodiscard]] Tensor
range(int64_t n, T type,
      std::source_location where = std::source_location::current()) {
  const detail::CallName name("range");
  return iota({n}, 0, type, where);
}

/// The array of a .npy file (C or Fortran order, any of our types). Throws
/// meshloom::Error if the file is missing, is no .npy, is truncated, or has
/// another element type.
[[nodiscard]] Tensor
load_npy(const std::filesystem::path &path,
         std::source_location where = std::source_location::current());
/// Laid out so. Throws also if ranks differ.
[[nodiscard]] Tensor
load_npy(const std::filesystem::path &path, const Layout &layout,
         std::source_location where = std::source_location::current());
/// Writes the global value; bf16 as 2-byte voids, as NumPy does.
void save_npy(const std::filesystem::path &path, const Tensor &tensor,
              std::source_location where = std::source_location::current());

} // namespace meshloom
