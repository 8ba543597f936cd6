// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of transforms: tables of roots, passes, groups of lines, and the
// memory that threads work in.
#pragma once

#include "FourierPlan.h"
#include "ThreadScratch.h"

#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace meshloom::library {

/// Lengths from which on a line is a matrix.
inline constexpr int64_t LONG_LINE = 256;

/// Names the parts of a thread's memory that are in use at the same time.
enum FourierSlot : unsigned {
  FirstBlock,
  SecondBlock,
  ThirdBlock,
  Twiddled,
  ChirpLine,
  OneLine,
  LinesFrom,
  LinesTo
};
template <typename Real> Real *fourierScratch(FourierSlot slot, int64_t count) {
  return static_cast<Real *>(threadScratch(slot, size_t(count) * sizeof(Real)));
}

/// The powers of exp(-2 pi i / length), each from two tables of about
/// sqrt(length) entries of twice the precision.
template <typename Real> class RootsOfUnity {
  using Wide =
      std::conditional_t<std::is_same_v<Real, float>, double, long double>;
  struct Root {
    Wide re, im;
  };

public:
  explicit RootsOfUnity(int64_t length) {
    while ((int64_t(1) << (2 * shift)) < length)
      ++shift;
    const int64_t few = int64_t(1) << shift;
    auto root = [&](int64_t power) -> Root {
      const Wide angle =
          2 * std::numbers::pi_v<Wide> * Wide(power) / Wide(length);
      return {std::cos(angle), -std::sin(angle)};
    };
    for (int64_t i = 0; i < few; ++i)
      fine.push_back(root(i));
    for (int64_t i = 0; i * few < length; ++i)
      coarse.push_back(root(i * few));
  }
  /// `power` from 0 up to the length.
  void get(int64_t power, Real &re, Real &im) const {
    const Root &a = coarse[size_t(power >> shift)],
               &b = fine[size_t(power & ((int64_t(1) << shift) - 1))];
    re = Real(a.re * b.re - a.im * b.im);
    im = Real(a.re * b.im + a.im * b.re);
  }

private:
  int shift = 0;
  std::vector<Root> fine, coarse;
};

/// The radices of the passes: eight, four and two, then odd primes. None if a
/// prime is too large.
inline std::vector<int64_t> radicesOf(int64_t length) {
  std::vector<int64_t> radices;
  int64_t twos = 0;
  for (; length % 2 == 0; length /= 2)
    ++twos;
  for (; twos >= 5 || twos == 3; twos -= 3)
    radices.push_back(8);
  for (; twos >= 2; twos -= 2)
    radices.push_back(4);
  if (twos == 1)
    radices.push_back(2);
  for (int64_t prime = 3; prime <= LARGEST_RADIX; prime += 2)
    for (; length % prime == 0; length /= prime)
      radices.push_back(prime);
  if (length > 1)
    radices.clear();
  return radices;
}

inline bool hasSmallFactors(int64_t length) {
  return length == 1 || !radicesOf(length).empty();
}

template <typename Real> FourierPasses<Real> makePasses(int64_t length) {
  FourierPasses<Real> result;
  result.length = length;
  int64_t stride = 1, remaining = length;
  for (int64_t radix : radicesOf(length)) {
    const int64_t blocks = remaining / radix;
    const RootsOfUnity<Real> rootsOfUnity(remaining);
    std::vector<Real> &twiddles =
        result.factors.emplace_back(size_t(blocks * (radix - 1) * 2));
    for (int64_t block = 0; block < blocks; ++block)
      for (int64_t k = 1; k < radix; ++k) {
        Real *twiddle = &twiddles[size_t((block * (radix - 1) + k - 1) * 2)];
        rootsOfUnity.get(block * k, twiddle[0], twiddle[1]);
      }
    const Real *roots = nullptr;
    const Real *twiddleData = twiddles.data();
    if (radix % 2 == 1) {
      const RootsOfUnity<Real> few(radix);
      std::vector<Real> &values =
          result.factors.emplace_back(size_t(radix) * 2);
      for (int64_t k = 0; k < radix; ++k) {
        few.get(k, values[size_t(2 * k)], values[size_t(2 * k) + 1]);
        values[size_t(2 * k) + 1] *= -1;
      }
      roots = values.data();
    }
    result.passes.push_back({radix, blocks, stride, twiddleData, roots});
    stride *= radix;
    remaining = blocks;
  }
  return result;
}

inline int64_t roundedUp(int64_t count, int64_t to) {
  return (count + to - 1) / to * to;
}

/// The columns or rows of a matrix, as many side by side as a vector has lanes.
/// The last group ends with the last line, and may overlap the one before it.
struct LineGroups {
  int64_t lanes, lines;

  int64_t count() const { return roundedUp(lines, lanes) / lanes; }
  int64_t begin(int64_t group) const {
    return std::max<int64_t>(0, std::min(group * lanes, lines - lanes));
  }
  /// Lines of a group.
  int64_t size() const { return std::min(lanes, lines); }
  /// Calls body(group) for each group of a matrix of so many elements. Workers
  /// of a team share them; one has both of the groups that overlap.
  template <typename Body>
  void forEach(int64_t elements, const Body &body) const {
    constexpr int64_t elementsOfWorker = 1 << 12;
    const int64_t apart = std::max<int64_t>(1, count() - 1);
    Team::current().forEachRange(
        apart, std::max<int64_t>(1, elementsOfWorker * count() / elements),
        /*grain=*/1, [&](int64_t begin, int64_t end) {
          const int64_t last = end == apart ? count() : end;
          for (int64_t group = begin; group < last; ++group)
            body(group);
        });
  }
};

} // namespace meshloom::library
