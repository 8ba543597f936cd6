// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters, reductions by regions and factorizations for GradientTest: an
// expression each.
#pragma once

#include "meshloom/Core/DType.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace meshloom::test {

struct LibraryCase {
  std::string name;
  std::vector<Shape> shapes; ///< of %a, %b, %c
  std::string body;          ///< ends by defining %r
  Shape result;
  bool second = true;
};

/// Rows of %b [6, 2] into %a [4, 2], at places that meet and one out of bounds.
inline LibraryCase scatterRows(std::string name, const std::string &attributes,
                               const std::string &region = "",
                               bool second = true, bool unique = false) {
  return {
      name,
      {{4, 2}, {6, 2}},
      fmt::format(
          "%i = dtensor.constant dense<[[{0}]]> : tensor<6x1xi32>\n"
          "%r = dtensor.scatter %a at %i with %b {{index_vector_dim = 1 : "
          "i64, inserted_window_dims = array<i64: 0>, "
          "scatter_dims_to_operand_dims = array<i64: 0>, "
          "update_window_dims = array<i64: 1>{1}}} : (tensor<4x2xf64>, "
          "tensor<6x1xi32>, tensor<6x2xf64>) -> tensor<4x2xf64>{2}",
          unique ? "3], [5], [1], [-1], [0], [4" : "1], [3], [1], [5], [0], [1",
          attributes, region),
      {4, 2},
      second};
}

/// A matrix that is far from singular: %a plus a diagonal.
inline std::string wellConditioned(const std::string &type) {
  const std::string integers =
      type.substr(0, type.rfind('x') + 1) + "i32>"; // of f64
  const bool batched = std::count(type.begin(), type.end(), 'x') > 2;
  return fmt::format(
      "%i = dtensor.iota dim {2} : {1}\n%j = dtensor.iota dim {3} : {1}\n"
      "%same = dtensor.compare EQ, %i, %j : ({1}, {1}) -> {4}\n"
      "%two = dtensor.constant dense<2.0> : {0}\n"
      "%none = dtensor.constant dense<0.0> : {0}\n"
      "%d = dtensor.select %same, %two, %none : ({4}, {0}, {0}) -> {0}\n"
      "%m = dtensor.add %a, %d : {0}\n",
      type, integers, batched ? 1 : 0, batched ? 2 : 1,
      type.substr(0, type.rfind('x') + 1) + "i1>");
}

/// The packed factors and the taus of a factorization, side by side.
inline LibraryCase geqrf(std::string name, int64_t m, int64_t n) {
  const std::string a = fmt::format("tensor<{}x{}xf64>", m, n);
  const int64_t k = std::min(m, n);
  return {name,
          {{m, n}},
          wellConditioned(a) +
              fmt::format("%f, %t = dtensor.geqrf %m : ({0}) -> ({0}, "
                          "tensor<{2}xf64>)\n%g = dtensor.reshape %f : ({0}) "
                          "-> tensor<{1}xf64>\n"
                          "%r = dtensor.concatenate %g, %t dim 0 : "
                          "(tensor<{1}xf64>, tensor<{2}xf64>) -> "
                          "tensor<{3}xf64>",
                          a, m * n, k, m * n + k),
          {m * n + k}};
}

/// The same with column pivots.
inline LibraryCase pivotedQr(std::string name, int64_t m, int64_t n) {
  LibraryCase result = geqrf(std::move(name), m, n);
  const std::string from = "%f, %t = dtensor.geqrf",
                    results = fmt::format(" -> (tensor<{}x{}xf64>, ", m, n);
  result.body.replace(result.body.find(from), from.size(),
                      "%f, %order, %t = dtensor.pivoted_qr");
  result.body.insert(result.body.find(results) + results.size(),
                     fmt::format("tensor<{}xi32>, ", n));
  return result;
}

/// Q times a matrix of its own size, R among the factors: as qr() has them.
inline LibraryCase qr(std::string name, int64_t m, int64_t n, bool full) {
  const int64_t k = full ? m : std::min(m, n);
  const std::string a = fmt::format("tensor<{}x{}xf64>", m, n),
                    q = fmt::format("tensor<{}x{}xf64>", m, k),
                    taus = fmt::format("tensor<{}xf64>", std::min(m, n));
  std::string body = wellConditioned(a) +
                     fmt::format("%f, %t = dtensor.geqrf %m : ({0}) -> ({0}, "
                                 "{1})\n",
                                 a, taus);
  std::string vectors = "%f";
  if (k < n) {
    body += fmt::format("%v = dtensor.slice %f [0:{}, 0:{}] : ({}) -> {}\n", m,
                        k, a, q);
    vectors = "%v";
  } else if (k > n) {
    body += fmt::format("%zero = dtensor.constant dense<0.0> : tensor<f64>\n"
                        "%v = dtensor.pad %f, %zero low [0, 0] high [0, {}] "
                        "interior [0, 0] : ({}, tensor<f64>) -> {}\n",
                        k - n, a, q);
    vectors = "%v";
  }
  body += fmt::format(
      "%q = dtensor.householder_product {0}, %t : ({1}, {2}) -> {1}\n"
      "%above = dtensor.compare LE, %i, %j : ({4}, {4}) -> {5}\n"
      "%u = dtensor.select %above, %f, %none : ({5}, {3}, {3}) -> {3}\n"
      "%s = dtensor.multiply %q, %q : {1}\n"
      "%w = dtensor.add %s, %q : {1}\n"
      "%r = dtensor.concatenate %w, %u dim 1 : ({1}, {3}) -> "
      "tensor<{6}x{7}xf64>",
      vectors, q, taus, a, fmt::format("tensor<{}x{}xi32>", m, n),
      fmt::format("tensor<{}x{}xi1>", m, n), m, k + n);
  return {name, {{m, n}}, body, {m, k + n}};
}

/// Complex z = %a + i %b, made far from singular, then `body` makes %f of %m.
inline LibraryCase complexMatrices(std::string name, int64_t m, int64_t n,
                                   const std::string &body, Shape shape) {
  const std::string z = fmt::format("tensor<{}x{}xcomplex<f64>>", m, n),
                    x = fmt::format("tensor<{}x{}xf64>", m, n),
                    out = fmt::format("tensor<{}x{}x", shape[0], shape[1]);
  return {name,
          {{m, n}, {m, n}},
          fmt::format(
              "%i = dtensor.iota dim 0 : tensor<{0}x{1}xi32>\n"
              "%j = dtensor.iota dim 1 : tensor<{0}x{1}xi32>\n"
              "%same = dtensor.compare EQ, %i, %j : (tensor<{0}x{1}xi32>, "
              "tensor<{0}x{1}xi32>) -> tensor<{0}x{1}xi1>\n"
              "%two = dtensor.constant dense<2.0> : {2}\n"
              "%none = dtensor.constant dense<0.0> : {2}\n"
              "%d = dtensor.select %same, %two, %none : (tensor<{0}x{1}xi1>, "
              "{2}, {2}) -> {2}\n"
              "%x = dtensor.add %a, %d : {2}\n"
              "%m = dtensor.complex %x, %b : ({2}, {2}) -> {3}\n{4}\n"
              "%re = dtensor.real %f : ({5}complex<f64>>) -> {5}f64>\n"
              "%im = dtensor.imag %f : ({5}complex<f64>>) -> {5}f64>\n"
              "%t2 = dtensor.constant dense<1.5> : {5}f64>\n"
              "%im2 = dtensor.multiply %im, %t2 : {5}f64>\n"
              "%r = dtensor.add %re, %im2 : {5}f64>",
              m, n, x, z, body, out),
          std::move(shape)};
}

/// %f = v v^H of the first column of %v.
inline const std::string outerProduct =
    "%v0 = dtensor.slice %v [0:3, 0:1] : (tensor<3x3xcomplex<f64>>) -> "
    "tensor<3x1xcomplex<f64>>\n"
    "%vr = dtensor.real %v0 : (tensor<3x1xcomplex<f64>>) -> tensor<3x1xf64>\n"
    "%vi = dtensor.imag %v0 : (tensor<3x1xcomplex<f64>>) -> tensor<3x1xf64>\n"
    "%vn = dtensor.negate %vi : tensor<3x1xf64>\n"
    "%vc = dtensor.complex %vr, %vn : (tensor<3x1xf64>, tensor<3x1xf64>) -> "
    "tensor<3x1xcomplex<f64>>\n"
    "%vt = dtensor.transpose %vc dims [1, 0] : (tensor<3x1xcomplex<f64>>) -> "
    "tensor<1x3xcomplex<f64>>\n"
    "%f = dtensor.matmul %v0, %vt : (tensor<3x1xcomplex<f64>>, "
    "tensor<1x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>";

/// %a [3, 4] from %b by a function of %x (so far) and %y (an element).
inline LibraryCase reduction(std::string name, const std::string &dims,
                             Shape result, const std::string &function,
                             bool second = true) {
  std::string type = "tensor<";
  for (int64_t extent : result)
    type += fmt::format("{}x", extent);
  return {name,
          {{3, 4}, {}},
          fmt::format("%r = dtensor.generic_reduce %a from %b dims {} : "
                      "(tensor<3x4xf64>, tensor<f64>) -> {}f64> {{\n"
                      "^bb0(%x: tensor<f64>, %y: tensor<f64>):\n{}\n"
                      "dtensor.yield %z : tensor<f64>\n}}",
                      dims, type, function),
          std::move(result),
          second};
}

inline std::vector<LibraryCase> libraryCases() {
  const std::string mixed = " {\n^bb0(%x: tensor<f64>, %y: tensor<f64>):\n"
                            "%s = dtensor.sine %x : tensor<f64>\n"
                            "%p = dtensor.multiply %s, %y : tensor<f64>\n"
                            "%z = dtensor.add %p, %x : tensor<f64>\n"
                            "dtensor.yield %z : tensor<f64>\n}";
  const std::string product =
      "%one = dtensor.constant dense<1.0> : tensor<f64>\n"
      "%p = dtensor.add %y, %one : tensor<f64>\n"
      "%z = dtensor.multiply %x, %p : tensor<f64>";
  const std::string logaddexp = "%h = dtensor.maximum %x, %y : tensor<f64>\n"
                                "%d = dtensor.subtract %x, %y : tensor<f64>\n"
                                "%n = dtensor.abs %d : tensor<f64>\n"
                                "%o = dtensor.negate %n : tensor<f64>\n"
                                "%e = dtensor.exp %o : tensor<f64>\n"
                                "%l = dtensor.log1p %e : tensor<f64>\n"
                                "%z = dtensor.add %h, %l : tensor<f64>";
  const std::string larger =
      "%p = dtensor.compare GE, %x, %y : (tensor<f64>, tensor<f64>) -> "
      "tensor<i1>\n"
      "%z = dtensor.select %p, %x, %y : (tensor<i1>, tensor<f64>, "
      "tensor<f64>) -> tensor<f64>";
  const std::string window = " {\n^bb0(%x: tensor<f64>, %y: tensor<f64>):\n" +
                             logaddexp + "\ndtensor.yield %z : tensor<f64>\n}";
  return {
      scatterRows("scatter_max", ", kind = #dtensor.kind<max>", "", false),
      scatterRows("scatter_min", ", kind = #dtensor.kind<min>", "", false),
      scatterRows("scatter_prod", ", kind = #dtensor.kind<prod>"),
      scatterRows("scatter_region_in_turn", "", mixed),
      scatterRows("scatter_region_unique", ", unique_indices", mixed, true,
                  true),
      {"scatter_region_batched",
       {{2, 4, 3}, {2, 3, 2}},
       "%i = dtensor.constant dense<[[[1, 0], [1, 1], [0, 2]], [[3, 1], [2, "
       "0], [2, 1]]]> : tensor<2x3x2xi32>\n"
       "%r = dtensor.scatter %a at %i with %b {index_vector_dim = 2 : i64, "
       "inserted_window_dims = array<i64: 1>, input_batching_dims = "
       "array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, "
       "scatter_dims_to_operand_dims = array<i64: 1, 2>, update_window_dims = "
       "array<i64: 2>} : (tensor<2x4x3xf64>, tensor<2x3x2xi32>, "
       "tensor<2x3x2xf64>) -> tensor<2x4x3xf64>" +
           mixed,
       {2, 4, 3}},
      reduction("reduce_folded", "[1]", {3}, product),
      reduction("reduce_all_in_turn", "[0, 1]", {}, logaddexp),
      reduction("reduce_in_turn", "[0]", {4}, logaddexp),
      reduction("reduce_choice", "[1]", {3}, larger, false),
      {"reduce_two_choices",
       {{3, 4}, {3, 4}},
       "%n = dtensor.constant dense<-9.0> : tensor<f64>\n"
       "%r0, %r1 = dtensor.generic_reduce %a, %b from %n, %n dims [0] : "
       "(tensor<3x4xf64>, tensor<3x4xf64>, tensor<f64>, tensor<f64>) -> "
       "(tensor<4xf64>, tensor<4xf64>) {\n"
       "^bb0(%x: tensor<f64>, %u: tensor<f64>, %y: tensor<f64>, %v: "
       "tensor<f64>):\n"
       "%p = dtensor.compare LT, %x, %y : (tensor<f64>, tensor<f64>) -> "
       "tensor<i1>\n"
       "%z = dtensor.select %p, %y, %x : (tensor<i1>, tensor<f64>, "
       "tensor<f64>) -> tensor<f64>\n"
       "%w = dtensor.select %p, %v, %u : (tensor<i1>, tensor<f64>, "
       "tensor<f64>) -> tensor<f64>\n"
       "dtensor.yield %z, %w : tensor<f64>, tensor<f64>\n}\n"
       "%r = dtensor.add %r0, %r1 : tensor<4xf64>",
       {4},
       false},
      {"reduce_long",
       {{41}, {}},
       "%r = dtensor.generic_reduce %a from %b dims [0] : (tensor<41xf64>, "
       "tensor<f64>) -> tensor<f64>" +
           window,
       {}},
      {"reduce_associative",
       {{13}, {}},
       "%r = dtensor.generic_reduce %a from %b dims [0] "
       "{dtensor.associative} : (tensor<13xf64>, tensor<f64>) -> tensor<f64>" +
           window,
       {}},
      {"window_region",
       {{3, 7}, {}},
       "%r = dtensor.reduce_window %a init %b window [2, 3] strides [1, 2] "
       "padding [1, 0, 2, -1] : (tensor<3x7xf64>, tensor<f64>) -> "
       "tensor<3x3xf64>" +
           window,
       {3, 3}},
      {"window_region_long",
       {{68}, {}},
       "%r = dtensor.reduce_window %a init %b window [66] strides [2] padding "
       "[1, 1] : (tensor<68xf64>, tensor<f64>) -> tensor<3xf64>" +
           window,
       {3}},
      {"select_and_scatter_region",
       {{6}, {6}, {}},
       "%r = dtensor.select_and_scatter %a, %b init %c select max scatter "
       "prod window [3] padding [1, 1] : (tensor<6xf64>, tensor<6xf64>, "
       "tensor<f64>) -> tensor<6xf64>",
       {6},
       false},

      geqrf("geqrf_tall", 5, 3),
      geqrf("geqrf_square", 3, 3),
      geqrf("geqrf_wide", 3, 5),
      geqrf("geqrf_one_row", 1, 3),
      pivotedQr("pivoted_qr_tall", 5, 3),
      pivotedQr("pivoted_qr_wide", 3, 5),
      qr("qr_tall", 5, 3, false),
      qr("qr_tall_full", 5, 3, true),
      qr("qr_square", 4, 4, false),
      qr("qr_wide", 3, 5, false),
      {"householder_product",
       {{2, 4, 3}, {2, 2}},
       "%r = dtensor.householder_product %a, %b : (tensor<2x4x3xf64>, "
       "tensor<2x2xf64>) -> tensor<2x4x3xf64>",
       {2, 4, 3}},
      {"qr_batched",
       {{2, 4, 3}},
       wellConditioned("tensor<2x4x3xf64>") +
           "%f, %t = dtensor.geqrf %m : (tensor<2x4x3xf64>) -> "
           "(tensor<2x4x3xf64>, tensor<2x3xf64>)\n"
           "%r = dtensor.householder_product %f, %t : (tensor<2x4x3xf64>, "
           "tensor<2x3xf64>) -> tensor<2x4x3xf64>",
       {2, 4, 3}},
      complexMatrices(
          "complex_geqrf", 4, 3,
          "%f, %t = dtensor.geqrf %m : (tensor<4x3xcomplex<f64>>) -> "
          "(tensor<4x3xcomplex<f64>>, tensor<3xcomplex<f64>>)",
          {4, 3}),
      complexMatrices(
          "complex_pivoted_qr", 4, 3,
          "%f, %order, %t = dtensor.pivoted_qr %m : (tensor<4x3xcomplex<f64>>) "
          "-> "
          "(tensor<4x3xcomplex<f64>>, tensor<3xi32>, tensor<3xcomplex<f64>>)",
          {4, 3}),
      complexMatrices(
          "complex_taus", 3, 3,
          "%g, %t = dtensor.geqrf %m : (tensor<3x3xcomplex<f64>>) -> "
          "(tensor<3x3xcomplex<f64>>, tensor<3xcomplex<f64>>)\n"
          "%f = dtensor.reshape %t : (tensor<3xcomplex<f64>>) -> "
          "tensor<1x3xcomplex<f64>>",
          {1, 3}),
      complexMatrices(
          "complex_qr", 4, 3,
          "%g, %t = dtensor.geqrf %m : (tensor<4x3xcomplex<f64>>) -> "
          "(tensor<4x3xcomplex<f64>>, tensor<3xcomplex<f64>>)\n"
          "%f = dtensor.householder_product %g, %t : "
          "(tensor<4x3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> "
          "tensor<4x3xcomplex<f64>>",
          {4, 3}),
      {"lu_tall",
       {{2, 4, 3}},
       "%r, %at, %to = dtensor.lu %a : (tensor<2x4x3xf64>) -> "
       "(tensor<2x4x3xf64>, tensor<2x3xi32>, tensor<2x4xi32>)",
       {2, 4, 3}},
      {"lu_wide",
       {{3, 5}},
       "%r, %at, %to = dtensor.lu %a : (tensor<3x5xf64>) -> (tensor<3x5xf64>, "
       "tensor<3xi32>, tensor<3xi32>)",
       {3, 5}},
      {"eigh_vectors",
       {{2, 3, 3}},
       "%r, %w = dtensor.eigh %a {lower} : (tensor<2x3x3xf64>) -> "
       "(tensor<2x3x3xf64>, tensor<2x3xf64>)",
       {2, 3, 3}},
      {"eigh_values",
       {{3, 3}},
       "%v, %r = dtensor.eigh %a : (tensor<3x3xf64>) -> (tensor<3x3xf64>, "
       "tensor<3xf64>)",
       {3}},
      {"svd_u",
       {{2, 4, 3}},
       "%r, %s, %v = dtensor.svd %a : (tensor<2x4x3xf64>) -> "
       "(tensor<2x4x3xf64>, tensor<2x3xf64>, tensor<2x3x3xf64>)",
       {2, 4, 3}},
      {"svd_vh_wide",
       {{3, 4}},
       "%u, %s, %r = dtensor.svd %a : (tensor<3x4xf64>) -> (tensor<3x3xf64>, "
       "tensor<3xf64>, tensor<3x4xf64>)",
       {3, 4}},
      {"svd_values_full",
       {{4, 2}},
       "%u, %r, %v = dtensor.svd %a {full_matrices} : (tensor<4x2xf64>) -> "
       "(tensor<4x4xf64>, tensor<2xf64>, tensor<2x2xf64>)",
       {2}},
      {"tridiagonal_solve",
       {{2, 4}, {2, 4, 3}},
       "%c = dtensor.constant dense<2.0> : tensor<2x4xf64>\n"
       "%d = dtensor.add %a, %c : tensor<2x4xf64>\n"
       "%r = dtensor.tridiagonal_solve %a, %d, %a, %b : (tensor<2x4xf64>, "
       "tensor<2x4xf64>, tensor<2x4xf64>, tensor<2x4x3xf64>) -> "
       "tensor<2x4x3xf64>",
       {2, 4, 3}},
      complexMatrices("complex_lu", 4, 3,
                      "%f, %at, %to = dtensor.lu %m : "
                      "(tensor<4x3xcomplex<f64>>) -> "
                      "(tensor<4x3xcomplex<f64>>, tensor<3xi32>, "
                      "tensor<4xi32>)",
                      {4, 3}),
      // Without the phases of the vectors: U V^H, and v v^H of one vector.
      complexMatrices("complex_svd", 4, 3,
                      "%u, %s, %v = dtensor.svd %m : "
                      "(tensor<4x3xcomplex<f64>>) -> "
                      "(tensor<4x3xcomplex<f64>>, tensor<3xf64>, "
                      "tensor<3x3xcomplex<f64>>)\n"
                      "%f = dtensor.matmul %u, %v : "
                      "(tensor<4x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) "
                      "-> tensor<4x3xcomplex<f64>>",
                      {4, 3}),
      complexMatrices(
          "complex_eigh", 3, 3,
          "%v, %w = dtensor.eigh %m {lower} : (tensor<3x3xcomplex<f64>>) -> "
          "(tensor<3x3xcomplex<f64>>, tensor<3xf64>)\n" +
              outerProduct,
          {3, 3}),
      complexMatrices("complex_eig", 3, 3,
                      "%w, %v = dtensor.eig %m : (tensor<3x3xcomplex<f64>>) -> "
                      "(tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)\n" +
                          outerProduct,
                      {3, 3}),
      complexMatrices("complex_eig_left", 3, 3,
                      "%w, %v = dtensor.eig %m {left} : "
                      "(tensor<3x3xcomplex<f64>>) -> "
                      "(tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)\n" +
                          outerProduct,
                      {3, 3}),
      complexMatrices("complex_eig_left_values", 3, 3,
                      "%w, %v = dtensor.eig %m {left} : "
                      "(tensor<3x3xcomplex<f64>>) -> "
                      "(tensor<3xcomplex<f64>>, tensor<3x3xcomplex<f64>>)\n"
                      "%f = dtensor.reshape %w : (tensor<3xcomplex<f64>>) -> "
                      "tensor<1x3xcomplex<f64>>",
                      {1, 3}),
      complexMatrices("complex_cholesky", 3, 3,
                      "%f = dtensor.cholesky %m {lower} : "
                      "tensor<3x3xcomplex<f64>>",
                      {3, 3}),
      complexMatrices("complex_cholesky_upper", 3, 3,
                      "%f = dtensor.cholesky %m : tensor<3x3xcomplex<f64>>",
                      {3, 3}),
      complexMatrices("complex_solve", 3, 3,
                      "%f = dtensor.triangular_solve %m, %m {left_side, "
                      "lower} : (tensor<3x3xcomplex<f64>>, "
                      "tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>",
                      {3, 3}),
      complexMatrices("complex_solve_transposed", 3, 3,
                      "%f = dtensor.triangular_solve %m, %m {transpose_a = "
                      "\"TRANSPOSE\"} : (tensor<3x3xcomplex<f64>>, "
                      "tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>",
                      {3, 3}),
      complexMatrices("complex_solve_adjoint", 3, 3,
                      "%f = dtensor.triangular_solve %m, %m {left_side, "
                      "transpose_a = \"ADJOINT\"} : (tensor<3x3xcomplex<f64>>, "
                      "tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>",
                      {3, 3}),
  };
}

} // namespace meshloom::test
