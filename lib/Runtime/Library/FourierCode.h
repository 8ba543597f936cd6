// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inner loops of Fourier transforms, for the processor at hand. As many
// lines as a vector has lanes are transformed side by side: what is done to a
// number of one line is done to a vector.
//
// A block is [count] complex numbers of each line, in memory as vectors: the
// real parts of element 0 in all lines, its imaginary parts, those of element 1
// and so on.
#pragma once

#include <cstdint>
#include <span>

namespace meshloom::library {

/// One pass of a transform: `radix` elements become as many sums of them, which
/// are then multiplied by twiddle factors.
template <typename Real> struct FourierPass {
  int64_t radix;
  /// Elements that are summed lie `blocks` * `stride` apart, their sums
  /// `stride`.
  int64_t blocks, stride;
  /// [blocks][radix - 1] complex numbers.
  const Real *twiddles;
  /// The powers of exp(2 pi i / radix), where the radix is odd.
  const Real *roots;
};

/// Where lines lie, counted in real numbers: from one element to the next, from
/// the real part of an element to its imaginary part (0: there is none), and
/// from one line to the next.
struct LineStrides {
  int64_t element, imaginary, line;
};

template <typename Real> struct FourierCode {
  int64_t lanes;
  /// Runs the passes on block `from`, with `to` to work in. Returns which of
  /// the two has the result.
  Real *(*transform)(std::span<const FourierPass<Real>> passes, Real *from,
                     Real *to);
  /// Reads a block of `lines` lines; other lanes are zero. Imaginary parts are
  /// multiplied by `sign`.
  void (*load)(const Real *from, LineStrides strides, int64_t lines,
               int64_t count, Real sign, Real *to);
  /// Writes a block, real and imaginary parts multiplied by their scales.
  void (*store)(const Real *from, int64_t lines, int64_t count, Real realScale,
                Real imaginaryScale, Real *to, LineStrides strides);
  /// Multiplies a block by another one: element k is written at k * `step`.
  void (*rotate)(const Real *from, int64_t count, const Real *factors, Real *to,
                 int64_t step);
  /// The same with one factor for all lines: its real part is at
  /// factors[k * 2 * lanes], its imaginary part `lanes` further on.
  void (*rotateAlike)(const Real *from, int64_t count, const Real *factors,
                      Real *to, int64_t step);
  /// Reads a block from rows of vectors, `rowStride` apart, as `rotate` wrote
  /// them: each row is a line.
  void (*loadRows)(const Real *rows, int64_t rowStride, int64_t lines,
                   int64_t count, Real *to);
  /// Turns a block of `half` elements, the transform of pairs of real numbers,
  /// into the first half + 1 elements of the transform of the real numbers.
  /// `roots`: powers of exp(-2 pi i / (2 * half)).
  void (*separate)(Real *block, int64_t half, const Real *roots);
  /// The reverse: from half + 1 elements twice the conjugates of `half`.
  void (*join)(Real *block, int64_t half, const Real *roots);
  /// A block of `count` elements is the transform of complex lines whose parts
  /// are two real lines. Makes of it the first count / 2 + 1 elements of the
  /// transforms of both, multiplied by the factors of the one and then those of
  /// the other: element k is written at k * `step`.
  void (*splitPairs)(const Real *from, int64_t count, const Real *factors,
                     Real *first, Real *second, int64_t step);
  /// The reverse, without factors: from the first count / 2 + 1 elements of
  /// both, all elements of first + i second.
  void (*joinPairs)(const Real *first, const Real *second, int64_t count,
                    Real *to);
  /// to[i] = a[i] * b[i] of complex numbers side by side. Imaginary parts of
  /// `a` and then those of the products are multiplied by the signs.
  void (*multiply)(const Real *a, const Real *b, int64_t count, Real sign,
                   Real productSign, Real *to);
};

/// The code for this processor.
template <typename Real> const FourierCode<Real> &fourierCode();

/// FourierCode::separate and join of one line, whose numbers lie side by side.
template <typename Real>
void separateLine(Real *line, int64_t half, const Real *roots);
template <typename Real>
void joinLine(const Real *spectrum, int64_t half, const Real *roots, Real *to);

/// The largest radix of a pass.
inline constexpr int64_t LARGEST_RADIX = 61;

} // namespace meshloom::library
