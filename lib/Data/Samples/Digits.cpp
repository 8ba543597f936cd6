// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws digits. Each class is a few strokes: curves through control points in
// a unit square. An image bends the strokes (every control point is moved a
// little), slants, turns, scales and shifts them, draws them with a pen of some
// width, and adds noise.
#include "meshloom/Data/Digits.h"

#include "meshloom/API/NameScope.h"

#include "../Random.h"
#include "meshloom/Core/SystemError.h"
#include "meshloom/Data/Idx.h"
#include "meshloom/Support/ForeignErrors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <new>

namespace meshloom::data {

namespace {
struct Point {
  double x, y;
};
/// Drawn in one go. Curved: a Catmull-Rom spline through the points; else
/// straight lines between them.
struct Stroke {
  bool curved;
  std::vector<Point> points;
};
using Glyph = std::vector<Stroke>;

/// x to the right, y down, both in [0, 1].
const std::array<Glyph, 10> &glyphs() {
  constexpr bool curve = true, lines = false;
  static const auto &glyphs = *new std::array<Glyph, 10>{{
      {{curve,
        {{.5, .07},
         {.27, .22},
         {.2, .5},
         {.28, .8},
         {.5, .93},
         {.72, .8},
         {.8, .5},
         {.72, .2},
         {.5, .07}}}},
      {{lines, {{.34, .24}, {.54, .07}, {.54, .93}}}},
      {{curve,
        {{.22, .28}, {.36, .1}, {.62, .09}, {.76, .28}, {.6, .55}, {.22, .9}}},
       {lines, {{.22, .9}, {.8, .9}}}},
      {{curve, {{.24, .16}, {.5, .07}, {.73, .25}, {.46, .46}}},
       {curve, {{.46, .46}, {.77, .66}, {.55, .92}, {.22, .83}}}},
      {{lines, {{.6, .08}, {.2, .62}, {.84, .62}}},
       {lines, {{.64, .36}, {.62, .93}}}},
      {{lines, {{.76, .09}, {.3, .09}, {.27, .45}}},
       {curve, {{.27, .45}, {.56, .39}, {.77, .63}, {.6, .89}, {.22, .86}}}},
      {{curve,
        {{.66, .07},
         {.36, .34},
         {.25, .68},
         {.48, .93},
         {.74, .72},
         {.54, .5},
         {.28, .66}}}},
      {{lines, {{.2, .11}, {.8, .11}, {.42, .93}}}},
      {{curve,
        {{.5, .48},
         {.27, .28},
         {.5, .07},
         {.73, .28},
         {.5, .48},
         {.24, .71},
         {.5, .93},
         {.76, .71},
         {.5, .48}}}},
      {{curve,
        {{.73, .3},
         {.52, .07},
         {.27, .3},
         {.48, .51},
         {.73, .3},
         {.7, .62},
         {.56, .93}}}},
  }};
  return glyphs;
}

/// Points of a stroke close enough to join by lines.
std::vector<Point> flatten(const Stroke &stroke) {
  const auto &p = stroke.points;
  if (!stroke.curved)
    return p;
  constexpr int steps = 6;
  std::vector<Point> path{p.front()};
  for (size_t i = 0; i + 1 < p.size(); ++i) {
    const Point &a = p[i ? i - 1 : 0], &b = p[i], &c = p[i + 1],
                &d = p[std::min(i + 2, p.size() - 1)];
    for (int s = 1; s <= steps; ++s) {
      double t = double(s) / steps, t2 = t * t, t3 = t2 * t;
      auto interpolated = [&](double a, double b, double c, double d) {
        return .5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t2 +
                     (3 * b - a - 3 * c + d) * t3);
      };
      path.push_back(
          {interpolated(a.x, b.x, c.x, d.x), interpolated(a.y, b.y, c.y, d.y)});
    }
  }
  return path;
}

double squaredDistance(Point p, Point a, Point b) {
  double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  double t = length == 0 ? 0 : ((p.x - a.x) * dx + (p.y - a.y) * dy) / length;
  t = std::clamp(t, 0., 1.);
  double ex = a.x + t * dx - p.x, ey = a.y + t * dy - p.y;
  return ex * ex + ey * ey;
}

/// One way to write: where the unit square goes in the image, and the pen.
struct Hand {
  double scaleX, scaleY, slant, turn, shiftX, shiftY, jitter, pen, ink, noise;

  explicit Hand(Random &random) {
    scaleX = random.uniform(15, 22);
    scaleY = random.uniform(17, 22);
    slant = random.uniform(-.25, .25);
    turn = random.uniform(-.12, .12);
    shiftX = random.uniform(-2, 2);
    shiftY = random.uniform(-2, 2);
    jitter = .035;
    pen = random.uniform(.8, 1.8);
    ink = random.uniform(.75, 1);
    noise = random.uniform(.02, .12);
  }

  Point place(Point p, Random &random) const {
    double x = (p.x - .5 + jitter * random.normal()) * scaleX;
    double y = (p.y - .5 + jitter * random.normal()) * scaleY;
    x -= slant * y;
    // A small turn; no sine, so that all platforms agree.
    double centre = Digits::side / 2.;
    return {x - turn * y + shiftX + centre, y + turn * x + shiftY + centre};
  }
};

void draw(unsigned digit, Random &random, uint8_t *image) {
  constexpr int side = Digits::side;
  Hand hand(random);
  std::array<double, side * side> nearest;
  nearest.fill(1e9);
  for (Stroke stroke : glyphs()[digit]) {
    for (Point &p : stroke.points)
      p = hand.place(p, random);
    std::vector<Point> path = flatten(stroke);
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      auto [west, east] = std::minmax(path[i].x, path[i + 1].x);
      auto [top, bottom] = std::minmax(path[i].y, path[i + 1].y);
      double reach = hand.pen + 1;
      int x0 = std::max(0, int(west - reach)),
          x1 = std::min(side - 1, int(east + reach)),
          y0 = std::max(0, int(top - reach)),
          y1 = std::min(side - 1, int(bottom + reach));
      for (int y = y0; y <= y1; ++y)
        for (int x = x0; x <= x1; ++x) {
          double &best = nearest[y * side + x];
          best = std::min(
              best, squaredDistance({x + .5, y + .5}, path[i], path[i + 1]));
        }
    }
  }
  for (int i = 0; i < side * side; ++i) {
    double cover = std::clamp(hand.pen + .5 - std::sqrt(nearest[i]), 0., 1.);
    double value = hand.ink * cover + hand.noise * random.normal();
    image[i] = uint8_t(std::lround(255 * std::clamp(value, 0., 1.)));
  }
}
} // namespace

Digits make_digits(int64_t n, uint64_t seed) {
  constexpr int64_t pixels = Digits::side * Digits::side;
  const std::string context =
      fmt::format("[make_digits] cannot make {} digits", n);
  if (n < 0)
    Error(context).raise();
  Digits digits;
  meshloom::detail::withDTensorErrors(context, [&] {
    if (n > std::numeric_limits<int64_t>::max() / pixels)
      throw std::bad_alloc();
    digits.images.resize(size_t(n * pixels));
    digits.labels.resize(size_t(n));
  });
  for (int64_t i = 0; i < n; ++i)
    digits.labels[i] = uint8_t(i % 10);
  Random order(seed, 0);
  for (int64_t i = n; i > 1; --i)
    std::swap(digits.labels[i - 1], digits.labels[order.below(uint64_t(i))]);
  for (int64_t i = 0; i < n; ++i) {
    Random random(seed, uint64_t(i) + 1);
    draw(digits.labels[i], random,
         &digits.images[size_t(i * Digits::side * Digits::side)]);
  }
  return digits;
}

void write_digits(const std::filesystem::path &folder, int64_t train,
                  int64_t test, uint64_t seed, std::source_location where) {
  meshloom::detail::atLine(where, [&] {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure)
      Error(fmt::format("[write_digits] cannot make folder '{}': {}",
                        folder.string(), failure.message()),
            errorCodeOfSystem(failure.value()))
          .raise();
    auto write = [&](const std::string &part, int64_t n, uint64_t partSeed) {
      Digits digits = make_digits(n, partSeed);
      auto array = [](Shape shape, const std::vector<uint8_t> &bytes) {
        return IdxArray{DType::UI8, std::move(shape),
                        std::vector<char>(bytes.begin(), bytes.end())};
      };
      write_idx(folder / (part + "-images-idx3-ubyte"),
                array({n, Digits::side, Digits::side}, digits.images));
      write_idx(folder / (part + "-labels-idx1-ubyte"),
                array({n}, digits.labels));
    };
    write("train", train, Random(seed, 1).next());
    write("t10k", test, Random(seed, 2).next());
  });
}

} // namespace meshloom::data
