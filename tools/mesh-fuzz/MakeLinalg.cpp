// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of matrix factorizations and Fourier transforms. Matrices are kept far
// from singular.
#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace meshloom::fuzz {
namespace {

/// A matrix with `value` on the diagonal that is `below` rows below the main
/// one.
unsigned diagonal(Generator &g, const Shape &shape, double value,
                  int64_t below = 0) {
  size_t last = shape.size() - 1;
  auto index = [&](size_t dim) {
    return g.emitOne("dtensor.iota", {}, {DType::I32, shape, {0, 16, 0, 0}},
                     fmt::format("iota_dimension = {} : i64", dim));
  };
  unsigned row = index(last);
  if (below > 0)
    row = g.emitOne("dtensor.add", {row, g.splat(DType::I32, shape, below)},
                    {DType::I32, shape, {0, 16, 0, 0}});
  unsigned same = g.emitOne("dtensor.compare", {index(last - 1), row},
                            {DType::I1, shape, {0, 1, 0, 0}},
                            "direction = #dtensor<comparison EQ>");
  return g.emitOne(
      "dtensor.select",
      {same, g.splat(DType::F32, shape, value), g.splat(DType::F32, shape, 0)},
      {DType::F32, shape, {0, value, 2, 0}});
}

Shape matrices(Generator &g) {
  int64_t n = g.between(1, 6);
  if (g.chance(0.6))
    return {g.extent(), n, n};
  return {n, n};
}

/// Small entries, and a large diagonal.
unsigned wellConditioned(Generator &g, const Shape &shape) {
  unsigned x = g.into(g.like(DType::F32, shape), -0.25, 0.25);
  return g.emitOne("dtensor.add", {x, diagonal(g, shape, 4)},
                   {DType::F32, shape, rangeIn(DType::F32, -1, 5, -1, 0)}, "",
                   true);
}

Range result(double most) {
  return rangeIn(DType::F32, -most, most, -1, 0);
}

bool cholesky(Generator &g) {
  Shape shape = matrices(g);
  g.emitOne("dtensor.cholesky", {wellConditioned(g, shape)},
            {DType::F32, shape, result(3)}, g.chance(0.6) ? "lower" : "");
  return true;
}

bool triangularSolve(Generator &g) {
  Shape shape = matrices(g), other = shape;
  bool isLeft = g.chance(0.5);
  other[other.size() - (isLeft ? 1 : 2)] = g.extent();
  unsigned a = wellConditioned(g, shape);
  unsigned b = g.like(DType::F32, other);
  double most = 2 * g[b].range.magnitude() * double(shape.back());
  std::string attributes;
  if (isLeft)
    attributes += "left_side, ";
  if (g.chance(0.5))
    attributes += "lower, ";
  attributes += fmt::format("transpose_a = \"{}\"",
                            g.chance(0.5) ? "TRANSPOSE" : "NO_TRANSPOSE");
  g.emitOne("dtensor.triangular_solve", {a, b},
            {DType::F32, other, result(most)}, attributes);
  return true;
}

bool qr(Generator &g) {
  Shape shape = matrices(g), taus = shape;
  taus.pop_back();
  unsigned a = wellConditioned(g, shape);
  auto parts =
      g.emit("dtensor.geqrf", {a},
             {{DType::F32, shape, result(6)}, {DType::F32, taus, result(2)}},
             "", "", true);
  g.emitOne("dtensor.householder_product", parts,
            {DType::F32, shape, result(1)}, "", true);
  return true;
}

/// The pivots and the permutation are left alone: others may be as good where
/// elements are almost equal. So is what is not unique where eigenvalues or
/// singular values are.
bool lu(Generator &g) {
  Shape shape = matrices(g), rows = shape;
  rows.pop_back();
  unsigned a = wellConditioned(g, shape);
  g.emit("dtensor.lu", {a},
         {{DType::F32, shape, result(6)},
          {DType::I32, rows, {0, 8, 0, 0}},
          {DType::I32, rows, {0, 8, 0, 0}}},
         "", "", true);
  return true;
}

/// Small entries, and a diagonal of 1, 2, ...: all far apart.
unsigned spreadApart(Generator &g, const Shape &shape) {
  unsigned x = g.into(g.like(DType::F32, shape), -0.05, 0.05);
  size_t last = shape.size() - 1;
  auto index = [&](size_t dim, DType type) {
    return g.emitOne("dtensor.iota", {}, {type, shape, {0, 16, 1, 0}},
                     fmt::format("iota_dimension = {} : i64", dim));
  };
  unsigned same = g.emitOne(
      "dtensor.compare", {index(last - 1, DType::I32), index(last, DType::I32)},
      {DType::I1, shape, {0, 1, 0, 0}}, "direction = #dtensor<comparison EQ>");
  unsigned rows =
      g.emitOne("dtensor.select",
                {same, index(last, DType::F32), g.splat(DType::F32, shape, 0)},
                {DType::F32, shape, {0, 6, 1, 0}});
  unsigned shifted =
      g.emitOne("dtensor.add", {rows, diagonal(g, shape, 1)},
                {DType::F32, shape, rangeIn(DType::F32, 0, 7, -1, 0)});
  return g.emitOne("dtensor.add", {x, shifted},
                   {DType::F32, shape, rangeIn(DType::F32, -1, 8, -1, 0)}, "",
                   true);
}

bool eigh(Generator &g) {
  Shape shape = matrices(g), values = shape;
  values.pop_back();
  g.emit("dtensor.eigh", {spreadApart(g, shape)},
         {{DType::F32, shape, result(1)}, {DType::F32, values, result(10)}},
         g.chance(0.5) ? "lower" : "", "", true);
  return true;
}

bool svd(Generator &g) {
  Shape shape = matrices(g), values = shape;
  values.pop_back();
  g.emit("dtensor.svd", {spreadApart(g, shape)},
         {{DType::F32, shape, result(1)},
          {DType::F32, values, result(10)},
          {DType::F32, shape, result(1)}},
         g.chance(0.5) ? "full_matrices" : "", "", true);
  return true;
}

bool eig(Generator &g) {
  Shape shape = matrices(g), values = shape;
  values.pop_back();
  g.emit("dtensor.eig", {spreadApart(g, shape)},
         {{DType::C64, values, rangeIn(DType::C64, -10, 10, -1, 0)},
          {DType::C64, shape, rangeIn(DType::C64, -1, 1, -1, 0)}},
         "", "", true);
  return true;
}

bool schur(Generator &g) {
  Shape shape = matrices(g);
  g.emit("dtensor.schur", {spreadApart(g, shape)},
         {{DType::F32, shape, result(10)}, {DType::F32, shape, result(1)}});
  g.refuseGradient();
  return true;
}

bool pivotedQr(Generator &g) {
  Shape shape = matrices(g), columns = shape;
  columns.pop_back();
  g.emit("dtensor.pivoted_qr", {spreadApart(g, shape)},
         {{DType::F32, shape, result(10)},
          {DType::I32, columns, {0, 8, 0, 0}},
          {DType::F32, columns, result(2)}});
  g.refuseGradient();
  return true;
}

/// A reflection moves a vector to one that is far from zero, whose sign is that
/// of the result's rows and columns.
bool hessenberg(Generator &g) {
  Shape shape = matrices(g), taus = shape;
  taus.pop_back();
  --taus.back();
  const unsigned a = g.emitOne(
      "dtensor.add", {spreadApart(g, shape), diagonal(g, shape, 1, 1)},
      {DType::F32, shape, rangeIn(DType::F32, -1, 9, -1, 0)}, "",
      /*smooth=*/true);
  g.emit("dtensor.hessenberg", {a},
         {{DType::F32, shape, result(10)}, {DType::F32, taus, result(2)}});
  g.refuseGradient();
  return true;
}

bool tridiagonalSolve(Generator &g) {
  Shape shape = matrices(g), diagonals = shape;
  diagonals.pop_back();
  shape.back() = g.extent();
  auto beside = [&] {
    return g.into(g.like(DType::F32, diagonals), -0.5, 0.5);
  };
  unsigned diagonal = g.into(g.like(DType::F32, diagonals), 2, 4);
  unsigned b = g.like(DType::F32, shape);
  double most = 2 * g[b].range.magnitude();
  g.emitOne("dtensor.tridiagonal_solve", {beside(), diagonal, beside(), b},
            {DType::F32, shape, result(most)});
  return true;
}

OpMaker fft(const std::string &type) {
  return {
      type, [type](Generator &g) {
        bool realIn = type == "RFFT", realOut = type == "IRFFT";
        Shape full = g.shape(1, 3);
        int64_t dims = g.between(1, std::min<int64_t>(2, int64_t(full.size())));
        std::vector<int64_t> lengths(full.end() - dims, full.end());
        if (elementCount(full) == 0)
          return false;
        Shape half = full;
        half.back() = full.back() / 2 + 1;
        Shape from = realOut ? half : full, to = realIn ? half : full;
        unsigned x = g.like(realIn ? DType::F32 : DType::C64, from);
        double most =
            2 * g[x].range.magnitude() * double(elementCount(Shape(lengths)));
        if (most > 600)
          return false;
        DType out = realOut ? DType::F32 : DType::C64;
        g.emitOne("dtensor.fft", {x},
                  {out, to, rangeIn(out, -most, most, -1, g[x].range.epsilon)},
                  fmt::format("fft_length = {}, fft_type = \"{}\"",
                              listText(lengths), type));
        return true;
      }};
}

} // namespace

void addLinalgMakers(OpMakers &makers) {
  makers.push_back({"cholesky", cholesky});
  makers.push_back({"triangular_solve", triangularSolve});
  makers.push_back({"qr", qr});
  makers.push_back({"lu", lu});
  makers.push_back({"eigh", eigh});
  makers.push_back({"svd", svd});
  makers.push_back({"eig", eig});
  makers.push_back({"schur", schur});
  makers.push_back({"pivoted_qr", pivotedQr});
  makers.push_back({"hessenberg", hessenberg});
  makers.push_back({"tridiagonal_solve", tridiagonalSolve});
  for (const char *type : {"FFT", "IFFT", "RFFT", "IRFFT"})
    makers.push_back(fft(type));
}

} // namespace meshloom::fuzz
