// Makers of matrix factorizations and Fourier transforms. Matrices are kept far
// from singular.
#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace meshloom::fuzz {
namespace {

/// A number for each of `count` elements of a diagonal, as a matrix.
unsigned diagonal(Generator &g, const Shape &shape, double value) {
  size_t last = shape.size() - 1;
  auto index = [&](size_t dim) {
    return g.emitOne("dtensor.iota", {}, {DType::I32, shape, {0, 16, 0, 0}},
                     fmt::format("iota_dimension = {} : i64", dim));
  };
  unsigned same = g.emitOne("dtensor.compare", {index(last - 1), index(last)},
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
  bool left = g.chance(0.5);
  other[other.size() - (left ? 1 : 2)] = g.extent();
  unsigned a = wellConditioned(g, shape);
  unsigned b = g.like(DType::F32, other);
  double most = 2 * g[b].range.magnitude() * double(shape.back());
  std::string attributes;
  if (left)
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
  for (const char *type : {"FFT", "IFFT", "RFFT", "IRFFT"})
    makers.push_back(fft(type));
}

} // namespace meshloom::fuzz
