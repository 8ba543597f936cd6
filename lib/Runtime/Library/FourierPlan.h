// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// FourierPlan: the discrete Fourier transform of lines of one length, in
// O(n log n) whatever the length.
//
// - A short line whose length has small factors only is transformed beside
//   others, as many as a vector has lanes (FourierCode.h).
// - A longer one is a matrix [rows, columns]: its columns are transformed side
//   by side, multiplied by twiddle factors, and its rows are transformed side
//   by side. All of that stays in cache (D. Bailey, FFTs in External or
//   Hierarchical Memory, 1990).
// - A length with a large prime factor becomes a convolution, by transforms of
//   a longer line (L. Bluestein, A Linear Filtering Approach to the Computation
//   of the Discrete Fourier Transform, 1970).
// - Real numbers of an even count are half as many complex ones. An odd count
//   of them is a matrix of half as many complex columns (OddRealTransform.h).
//
// How a line is computed follows from its length alone, so its bits do not
// depend on how many there are or where they lie. Twiddle factors are exact to
// the last bit: errors grow as log n.
#pragma once

#include "FourierCode.h"

#include <memory>
#include <vector>

namespace meshloom::library {

enum class FourierKind : uint8_t { Forward, Inverse, FromReal, ToReal };

/// From one element of a line to the next, and from one line to the next; in
/// elements, which are complex or real.
struct ElementStrides {
  int64_t element, line;
};

/// The passes for one length, and their factors.
template <typename Real> struct FourierPasses {
  int64_t length = 1;
  std::vector<FourierPass<Real>> passes;
  std::vector<std::vector<Real>> factors;
};

/// A transform of complex lines whose numbers lie side by side.
template <typename Real> class LineTransform {
public:
  virtual ~LineTransform() = default;
  /// Both lines may be the same. Imaginary parts are multiplied by `sign`
  /// first; results by the scales.
  virtual void run(const Real *from, Real sign, Real *to, Real realScale,
                   Real imaginaryScale) const = 0;
  /// The same for lines wherever they lie, at most as many as a vector has
  /// lanes. False if this is not faster than to copy them.
  virtual bool runBeside(const Real * /*from*/, LineStrides /*fromStrides*/,
                         int64_t /*lines*/, Real /*sign*/, Real * /*to*/,
                         LineStrides /*toStrides*/, Real /*realScale*/,
                         Real /*imaginaryScale*/) const {
    return false;
  }
};

template <typename Real> class OddRealTransform;

template <typename Real> class FourierPlan {
public:
  /// `length` > 0: of the real or complex side.
  FourierPlan(FourierKind kind, int64_t length);
  ~FourierPlan();
  /// One that all steps of a process share.
  static std::shared_ptr<const FourierPlan> get(FourierKind kind,
                                                int64_t length);

  /// Transforms lines; the two sides may be the same memory if they have the
  /// same strides. Safe to call from several threads.
  void run(const Real *from, ElementStrides fromStrides, Real *to,
           ElementStrides toStrides, int64_t lines) const;

private:
  void runLanes(const Real *from, LineStrides fromStrides, Real *to,
                LineStrides toStrides, int64_t lines) const;
  void runLine(const Real *from, Real *to) const;
  bool runBeside(const Real *from, LineStrides fromStrides, int64_t lines,
                 Real *to, LineStrides toStrides) const;

  const FourierKind kind;
  const int64_t length;
  /// Length of the complex transform: half of `length` for an even count of
  /// real numbers.
  const int64_t inner;
  std::vector<Real> roots; ///< of FourierCode::separate and join
  FourierPasses<Real> passes;
  std::unique_ptr<LineTransform<Real>> line; ///< null: lines side by side
  /// Where the line is an odd count of real numbers.
  std::unique_ptr<OddRealTransform<Real>> oddLine;
};

} // namespace meshloom::library
