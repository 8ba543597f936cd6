// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes are those of Stockham: they write sums in the order in which the next
// pass reads them, so that no element is sorted at the end (C. Van Loan,
// Computational Frameworks for the Fast Fourier Transform, 1992, 1.7).
//
// Written for vectors of any width and compiled for AVX-512, for AVX2 and for
// any processor.
#include "FourierCode.h"

#include "LaneTranspose.h"

#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <cstring>

namespace meshloom::library {
namespace {
/// The same element of all lines.
template <typename Real, int Lanes> struct ComplexLanes {
  LaneVector<Real, Lanes> re, im;
};

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void loadElement(ComplexLanes<Real, Lanes> &to,
                                       const Real *from) {
  std::memcpy(&to.re, from, sizeof to.re);
  std::memcpy(&to.im, from + Lanes, sizeof to.im);
}
template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void storeElement(const ComplexLanes<Real, Lanes> &from,
                                        Real *to) {
  std::memcpy(to, &from.re, sizeof from.re);
  std::memcpy(to + Lanes, &from.im, sizeof from.im);
}
template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void rotateElement(ComplexLanes<Real, Lanes> &by,
                                         const Real *factor) {
  const LaneVector<Real, Lanes> re = by.re * factor[0] - by.im * factor[1];
  by.im = by.re * factor[1] + by.im * factor[0];
  by.re = re;
}

//===----------------------------------------------------------------------===//
// Sums of a few elements
//===----------------------------------------------------------------------===//

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void sum2(ComplexLanes<Real, Lanes> &a,
                                ComplexLanes<Real, Lanes> &b) {
  const ComplexLanes<Real, Lanes> difference{a.re - b.re, a.im - b.im};
  a.re += b.re;
  a.im += b.im;
  b = difference;
}

/// The transform of a, b, c and d, in place.
template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void
sum4(ComplexLanes<Real, Lanes> &a, ComplexLanes<Real, Lanes> &b,
     ComplexLanes<Real, Lanes> &c, ComplexLanes<Real, Lanes> &d) {
  sum2(a, c);
  sum2(b, d);
  // Now a and b have sums, c and d differences: c -+ i d.
  sum2(a, b);
  const ComplexLanes<Real, Lanes> first{c.re + d.im, c.im - d.re},
      second{c.re - d.im, c.im + d.re};
  c = b;
  b = first;
  d = second;
}

template <int Radix, typename Real, int Lanes>
MESHLOOM_LANES_INLINE void sumOdd(int64_t runtimeRadix, const Real *roots,
                                  ComplexLanes<Real, Lanes> *x) {
  using Element = ComplexLanes<Real, Lanes>;
  const int64_t radix = Radix ? Radix : runtimeRadix, half = radix / 2;
  constexpr int64_t most = (Radix ? Radix : LARGEST_RADIX) / 2;
  Element sums[most + 1], differences[most + 1];
  const Element first = x[0];
  auto pair = [&](int64_t j) __attribute__((always_inline)) {
    sums[j] = x[j];
    differences[j] = x[radix - j];
    sum2(sums[j], differences[j]);
    x[0].re += sums[j].re;
    x[0].im += sums[j].im;
  };
  auto result = [&](int64_t k) __attribute__((always_inline)) {
    Element even = first, odd{};
    int64_t power = 0; // of the root: j * k modulo the radix
    auto add = [&](int64_t j) __attribute__((always_inline)) {
      power += k;
      power -= power >= radix ? radix : 0;
      const Real *root = roots + power * 2;
      even.re += sums[j].re * root[0];
      even.im += sums[j].im * root[0];
      odd.re += differences[j].re * root[1];
      odd.im += differences[j].im * root[1];
    };
    if constexpr (Radix != 0) {
      MESHLOOM_LANES_UNROLL
      for (int64_t j = 1; j <= Radix / 2; ++j)
        add(j);
    } else {
      for (int64_t j = 1; j <= half; ++j)
        add(j);
    }
    x[k] = {even.re + odd.im, even.im - odd.re};
    x[radix - k] = {even.re - odd.im, even.im + odd.re};
  };
  if constexpr (Radix != 0) {
    MESHLOOM_LANES_UNROLL
    for (int64_t j = 1; j <= Radix / 2; ++j)
      pair(j);
    MESHLOOM_LANES_UNROLL
    for (int64_t k = 1; k <= Radix / 2; ++k)
      result(k);
  } else {
    for (int64_t j = 1; j <= half; ++j)
      pair(j);
    for (int64_t k = 1; k <= half; ++k)
      result(k);
  }
}

/// The transform of `Radix` elements in place; 0: of any odd number.
template <int Radix, typename Real, int Lanes>
MESHLOOM_LANES_INLINE void sumElements(const FourierPass<Real> &pass,
                                       ComplexLanes<Real, Lanes> *x) {
  using Element = ComplexLanes<Real, Lanes>;
  if constexpr (Radix == 2) {
    sum2(x[0], x[1]);
  } else if constexpr (Radix == 4) {
    sum4(x[0], x[1], x[2], x[3]);
  } else if constexpr (Radix == 8) {
    constexpr Real root = Real(0.70710678118654752440L);
    Element even[4] = {x[0], x[2], x[4], x[6]},
            odd[4] = {x[1], x[3], x[5], x[7]};
    sum4(even[0], even[1], even[2], even[3]);
    sum4(odd[0], odd[1], odd[2], odd[3]);
    odd[1] = {(odd[1].re + odd[1].im) * root, (odd[1].im - odd[1].re) * root};
    odd[2] = {odd[2].im, -odd[2].re};
    odd[3] = {(odd[3].im - odd[3].re) * root, -(odd[3].re + odd[3].im) * root};
    MESHLOOM_LANES_UNROLL
    for (int k = 0; k < 4; ++k) {
      x[k] = even[k];
      x[k + 4] = odd[k];
      sum2(x[k], x[k + 4]);
    }
  } else {
    sumOdd<Radix>(pass.radix, pass.roots, x);
  }
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

template <int Radix, typename Real, int Lanes>
MESHLOOM_LANES_INLINE void runPass(const FourierPass<Real> &pass,
                                   const Real *from, Real *to) {
  constexpr int64_t size = 2 * Lanes;
  const int64_t radix = Radix ? Radix : pass.radix;
  const int64_t apart = pass.blocks * pass.stride * size,
                resultsApart = pass.stride * size;
  auto runBlock = [&](int64_t block,
                      auto rotates) __attribute__((always_inline)) {
    const Real *x = from + block * resultsApart;
    Real *y = to + block * radix * resultsApart;
    const Real *twiddles = pass.twiddles + block * 2 * (radix - 1);
    for (int64_t i = 0; i < pass.stride; ++i, x += size, y += size) {
      ComplexLanes<Real, Lanes> values[Radix ? Radix : LARGEST_RADIX];
      auto write = [&](int64_t k) __attribute__((always_inline)) {
        if constexpr (decltype(rotates)::value)
          if (k > 0)
            rotateElement(values[k], twiddles + 2 * (k - 1));
        storeElement(values[k], y + k * resultsApart);
      };
      if constexpr (Radix != 0) {
        MESHLOOM_LANES_UNROLL
        for (int j = 0; j < Radix; ++j)
          loadElement(values[j], x + j * apart);
        sumElements<Radix>(pass, values);
        MESHLOOM_LANES_UNROLL
        for (int k = 0; k < Radix; ++k)
          write(k);
      } else {
        for (int64_t j = 0; j < radix; ++j)
          loadElement(values[j], x + j * apart);
        sumElements<Radix>(pass, values);
        for (int64_t k = 0; k < radix; ++k)
          write(k);
      }
    }
  };
  runBlock(0, std::false_type()); // its factors are one
  for (int64_t block = 1; block < pass.blocks; ++block)
    runBlock(block, std::true_type());
}

//===----------------------------------------------------------------------===//
// Between memory and blocks
//===----------------------------------------------------------------------===//

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void loadBlock(const Real *from, LineStrides strides,
                                     int64_t lines, int64_t count, Real sign,
                                     Real *to) {
  using Vector = LaneVector<Real, Lanes>;
  constexpr int64_t size = 2 * Lanes, some = Lanes / 2;
  int64_t k = 0;
  if (strides.element == 2 && strides.imaginary == 1) {
    // Real and imaginary parts of a few elements are a row.
    for (; k + some <= count; k += some) {
      Vector rows[Lanes] = {};
      MESHLOOM_LANES_UNROLL
      for (int l = 0; l < Lanes; ++l)
        if (l < lines)
          std::memcpy(&rows[l], from + l * strides.line + 2 * k,
                      sizeof rows[l]);
      transposeLanes<Real, Lanes>(rows);
      MESHLOOM_LANES_UNROLL
      for (int i = 0; i < Lanes; ++i) {
        if (i % 2 == 1)
          rows[i] *= sign;
        std::memcpy(to + k * size + i * Lanes, &rows[i], sizeof rows[i]);
      }
    }
  } else if (lines == Lanes && strides.line == 2 && strides.imaginary == 1) {
    for (; k < count; ++k) {
      Vector first, second;
      std::memcpy(&first, from + k * strides.element, sizeof first);
      std::memcpy(&second, from + k * strides.element + Lanes, sizeof second);
      [&]<int... Lane>(
          std::integer_sequence<int, Lane...>) __attribute__((always_inline)) {
        const Vector re = __builtin_shufflevector(first, second, (2 * Lane)...),
                     im = __builtin_shufflevector(first, second,
                                                  (2 * Lane + 1)...) *
                          sign;
        std::memcpy(to + k * size, &re, sizeof re);
        std::memcpy(to + k * size + Lanes, &im, sizeof im);
      }(std::make_integer_sequence<int, Lanes>());
    }
  } else if (lines == Lanes && strides.line == 1 && strides.imaginary != 0) {
    for (; k < count; ++k) {
      ComplexLanes<Real, Lanes> value;
      std::memcpy(&value.re, from + k * strides.element, sizeof value.re);
      std::memcpy(&value.im, from + k * strides.element + strides.imaginary,
                  sizeof value.im);
      value.im *= sign;
      storeElement(value, to + k * size);
    }
  }
  for (; k < count; ++k) {
    const Real *element = from + k * strides.element;
    Real *block = to + k * size;
    std::fill_n(block, size, Real(0));
    for (int64_t l = 0; l < lines; ++l) {
      block[l] = element[l * strides.line];
      if (strides.imaginary != 0)
        block[Lanes + l] = element[l * strides.line + strides.imaginary] * sign;
    }
  }
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void
storeBlock(const Real *from, int64_t lines, int64_t count, Real realScale,
           Real imaginaryScale, Real *to, LineStrides strides) {
  using Vector = LaneVector<Real, Lanes>;
  constexpr int64_t size = 2 * Lanes, some = Lanes / 2;
  int64_t k = 0;
  if (strides.element == 2 && strides.imaginary == 1) {
    for (; k + some <= count; k += some) {
      Vector rows[Lanes];
      MESHLOOM_LANES_UNROLL
      for (int i = 0; i < Lanes; ++i) {
        std::memcpy(&rows[i], from + k * size + i * Lanes, sizeof rows[i]);
        rows[i] *= i % 2 == 1 ? imaginaryScale : realScale;
      }
      transposeLanes<Real, Lanes>(rows);
      MESHLOOM_LANES_UNROLL
      for (int l = 0; l < Lanes; ++l)
        if (l < lines)
          std::memcpy(to + l * strides.line + 2 * k, &rows[l], sizeof rows[l]);
    }
  } else if (lines == Lanes && strides.line == 2 && strides.imaginary == 1) {
    constexpr auto lanes = std::make_integer_sequence<int, Lanes>();
    for (; k < count; ++k) {
      ComplexLanes<Real, Lanes> value;
      loadElement(value, from + k * size);
      value.re *= realScale;
      value.im *= imaginaryScale;
      ComplexLanes<Real, Lanes> halves;
      interleaveLanes<Real, Lanes, true>(halves.re, value.re, value.im, lanes);
      interleaveLanes<Real, Lanes, false>(halves.im, value.re, value.im, lanes);
      storeElement(halves, to + k * strides.element);
    }
  } else if (lines == Lanes && strides.line == 1) {
    for (; k < count; ++k) {
      ComplexLanes<Real, Lanes> value;
      loadElement(value, from + k * size);
      value.re *= realScale;
      value.im *= imaginaryScale;
      std::memcpy(to + k * strides.element, &value.re, sizeof value.re);
      if (strides.imaginary != 0)
        std::memcpy(to + k * strides.element + strides.imaginary, &value.im,
                    sizeof value.im);
    }
  }
  for (; k < count; ++k) {
    const Real *block = from + k * size;
    Real *element = to + k * strides.element;
    for (int64_t l = 0; l < lines; ++l) {
      element[l * strides.line] = block[l] * realScale;
      if (strides.imaginary != 0)
        element[l * strides.line + strides.imaginary] =
            block[Lanes + l] * imaginaryScale;
    }
  }
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void rotateBlock(const Real *from, int64_t count,
                                       const Real *factors, Real *to,
                                       int64_t step) {
  constexpr int64_t size = 2 * Lanes;
  for (int64_t k = 0; k < count; ++k) {
    ComplexLanes<Real, Lanes> value, factor;
    loadElement(value, from + k * size);
    loadElement(factor, factors + k * size);
    const ComplexLanes<Real, Lanes> product{
        value.re * factor.re - value.im * factor.im,
        value.re * factor.im + value.im * factor.re};
    storeElement(product, to + k * step);
  }
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void rotateBlockAlike(const Real *from, int64_t count,
                                            const Real *factors, Real *to,
                                            int64_t step) {
  constexpr int64_t size = 2 * Lanes;
  for (int64_t k = 0; k < count; ++k) {
    ComplexLanes<Real, Lanes> value;
    loadElement(value, from + k * size);
    const Real factor[] = {factors[k * size], factors[k * size + Lanes]};
    rotateElement(value, factor);
    storeElement(value, to + k * step);
  }
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void loadRowsOfBlocks(const Real *rows, int64_t rowStride,
                                            int64_t lines, int64_t count,
                                            Real *to) {
  constexpr int64_t size = 2 * Lanes;
  for (int64_t first = 0; first < count; first += Lanes, rows += size) {
    // The last vectors of a row end with it.
    const int64_t begin =
        std::max<int64_t>(0, std::min(first, count - int64_t(Lanes)));
    for (int part = 0; part < 2; ++part) {
      LaneVector<Real, Lanes> block[Lanes] = {};
      MESHLOOM_LANES_UNROLL
      for (int l = 0; l < Lanes; ++l)
        if (l < lines)
          std::memcpy(&block[l], rows + l * rowStride + part * Lanes,
                      sizeof block[l]);
      transposeLanes<Real, Lanes>(block);
      MESHLOOM_LANES_UNROLL
      for (int i = 0; i < Lanes; ++i)
        if (begin + i < count)
          std::memcpy(to + (begin + i) * size + part * Lanes, &block[i],
                      sizeof block[i]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Real numbers
//===----------------------------------------------------------------------===//

/// With z the transform of x[2 j] + i x[2 j + 1], the transforms of even and
/// odd elements are E = (z[k] + conj z[-k]) / 2 and O = (z[k] - conj z[-k]) /
/// 2i, and that of x is E + w^k O. These are the elements k and -k of all k
/// from `begin` up to `end`.
template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void separateMirrored(Real *block, int64_t half,
                                            const Real *roots, int64_t begin,
                                            int64_t end) {
  using Element = ComplexLanes<Real, Lanes>;
  constexpr int64_t size = 2 * Lanes;
  for (int64_t k = begin; k < end; ++k) {
    Element a, b;
    loadElement(a, block + k * size);
    loadElement(b, block + (half - k) * size);
    const Element even{(a.re + b.re) * Real(0.5), (a.im - b.im) * Real(0.5)};
    Element odd{(a.im + b.im) * Real(0.5), (b.re - a.re) * Real(0.5)};
    rotateElement(odd, roots + 2 * k);
    storeElement(Element{even.re + odd.re, even.im + odd.im}, block + k * size);
    storeElement(Element{even.re - odd.re, odd.im - even.im},
                 block + (half - k) * size);
  }
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void separateFirst(Real *block, int64_t half) {
  using Element = ComplexLanes<Real, Lanes>;
  Element z;
  loadElement(z, block);
  storeElement(Element{z.re + z.im, {}}, block);
  storeElement(Element{z.re - z.im, {}}, block + half * 2 * Lanes);
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void separateBlock(Real *block, int64_t half,
                                         const Real *roots) {
  separateFirst<Real, Lanes>(block, half);
  separateMirrored<Real, Lanes>(block, half, roots, 1, half / 2 + 1);
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void joinMirrored(const Real *from, int64_t half,
                                        const Real *roots, Real *to,
                                        int64_t begin, int64_t end) {
  using Element = ComplexLanes<Real, Lanes>;
  constexpr int64_t size = 2 * Lanes;
  for (int64_t k = begin; k < end; ++k) {
    Element a, b;
    loadElement(a, from + k * size);
    loadElement(b, from + (half - k) * size);
    const Element even{a.re + b.re, a.im - b.im};
    // Times w^-k, and conjugated.
    Element odd{a.re - b.re, -(a.im + b.im)};
    rotateElement(odd, roots + 2 * k);
    // conj(even + i odd), and at the mirrored place that of conj(even) + i
    // conj(odd).
    storeElement(Element{even.re + odd.im, -even.im - odd.re}, to + k * size);
    storeElement(Element{even.re - odd.im, even.im - odd.re},
                 to + (half - k) * size);
  }
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void joinFirst(const Real *from, int64_t half, Real *to) {
  using Element = ComplexLanes<Real, Lanes>;
  Element first, last;
  loadElement(first, from);
  loadElement(last, from + half * 2 * Lanes);
  storeElement(Element{first.re + last.re, last.re - first.re}, to);
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void joinBlock(const Real *from, int64_t half,
                                     const Real *roots, Real *to) {
  joinFirst<Real, Lanes>(from, half, to);
  joinMirrored<Real, Lanes>(from, half, roots, to, 1, half / 2 + 1);
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void splitPairsOfLines(const Real *from, int64_t count,
                                             const Real *factors, Real *first,
                                             Real *second, int64_t step) {
  using Element = ComplexLanes<Real, Lanes>;
  constexpr int64_t size = 2 * Lanes;
  const int64_t half = count / 2;
  auto write = [](const Element &value, const Real *factorData,
                  Real *to) __attribute__((always_inline)) {
    Element factor;
    loadElement(factor, factorData);
    storeElement(Element{value.re * factor.re - value.im * factor.im,
                         value.re * factor.im + value.im * factor.re},
                 to);
  };
  for (int64_t k = 0; k <= half; ++k) {
    Element a, b;
    loadElement(a, from + k * size);
    loadElement(b, from + (k == 0 ? 0 : count - k) * size);
    write(Element{(a.re + b.re) * Real(0.5), (a.im - b.im) * Real(0.5)},
          factors + k * size, first + k * step);
    write(Element{(a.im + b.im) * Real(0.5), (b.re - a.re) * Real(0.5)},
          factors + (half + 1 + k) * size, second + k * step);
  }
}

template <typename Real, int Lanes>
MESHLOOM_LANES_INLINE void joinPairsOfLines(const Real *first,
                                            const Real *second, int64_t count,
                                            Real *to) {
  using Element = ComplexLanes<Real, Lanes>;
  constexpr int64_t size = 2 * Lanes;
  for (int64_t k = 0; k <= count / 2; ++k) {
    Element a, b;
    loadElement(a, first + k * size);
    loadElement(b, second + k * size);
    storeElement(Element{a.re - b.im, a.im + b.re}, to + k * size);
    if (k > 0)
      storeElement(Element{a.re + b.im, b.re - a.im}, to + (count - k) * size);
  }
}

template <typename Real>
MESHLOOM_LANES_INLINE void multiplyLines(const Real *a, const Real *b,
                                         int64_t count, Real sign,
                                         Real productSign, Real *to) {
  for (int64_t i = 0; i < count; ++i) {
    const Real re = a[2 * i], im = a[2 * i + 1] * sign;
    const Real product = re * b[2 * i] - im * b[2 * i + 1];
    to[2 * i + 1] = (re * b[2 * i + 1] + im * b[2 * i]) * productSign;
    to[2 * i] = product;
  }
}

//===----------------------------------------------------------------------===//
// Processors
//===----------------------------------------------------------------------===//

// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
// A function's code is for one kind of processor, with all it inlines.
#define MESHLOOM_FOURIER_CODE(NAME, REAL, LANES, TARGET)                       \
  TARGET REAL *NAME##Transform(std::span<const FourierPass<REAL>> passes,      \
                               REAL *from, REAL *to) {                         \
    for (const FourierPass<REAL> &pass : passes) {                             \
      switch (pass.radix) {                                                    \
      case 2:                                                                  \
        runPass<2, REAL, LANES>(pass, from, to);                               \
        break;                                                                 \
      case 3:                                                                  \
        runPass<3, REAL, LANES>(pass, from, to);                               \
        break;                                                                 \
      case 4:                                                                  \
        runPass<4, REAL, LANES>(pass, from, to);                               \
        break;                                                                 \
      case 5:                                                                  \
        runPass<5, REAL, LANES>(pass, from, to);                               \
        break;                                                                 \
      case 7:                                                                  \
        runPass<7, REAL, LANES>(pass, from, to);                               \
        break;                                                                 \
      case 8:                                                                  \
        runPass<8, REAL, LANES>(pass, from, to);                               \
        break;                                                                 \
      default:                                                                 \
        runPass<0, REAL, LANES>(pass, from, to);                               \
      }                                                                        \
      std::swap(from, to);                                                     \
    }                                                                          \
    return from;                                                               \
  }                                                                            \
  TARGET void NAME##Load(const REAL *from, LineStrides strides, int64_t lines, \
                         int64_t count, REAL sign, REAL *to) {                 \
    loadBlock<REAL, LANES>(from, strides, lines, count, sign, to);             \
  }                                                                            \
  TARGET void NAME##Store(const REAL *from, int64_t lines, int64_t count,      \
                          REAL realScale, REAL imaginaryScale, REAL *to,       \
                          LineStrides strides) {                               \
    storeBlock<REAL, LANES>(from, lines, count, realScale, imaginaryScale, to, \
                            strides);                                          \
  }                                                                            \
  TARGET void NAME##Rotate(const REAL *from, int64_t count,                    \
                           const REAL *factors, REAL *to, int64_t step) {      \
    rotateBlock<REAL, LANES>(from, count, factors, to, step);                  \
  }                                                                            \
  TARGET void NAME##RotateAlike(const REAL *from, int64_t count,               \
                                const REAL *factors, REAL *to, int64_t step) { \
    rotateBlockAlike<REAL, LANES>(from, count, factors, to, step);             \
  }                                                                            \
  TARGET void NAME##LoadRows(const REAL *rows, int64_t rowStride,              \
                             int64_t lines, int64_t count, REAL *to) {         \
    loadRowsOfBlocks<REAL, LANES>(rows, rowStride, lines, count, to);          \
  }                                                                            \
  TARGET void NAME##Separate(REAL *block, int64_t half, const REAL *roots) {   \
    separateBlock<REAL, LANES>(block, half, roots);                            \
  }                                                                            \
  TARGET void NAME##Join(REAL *block, int64_t half, const REAL *roots) {       \
    joinBlock<REAL, LANES>(block, half, roots, block);                         \
  }                                                                            \
  TARGET void NAME##SplitPairs(const REAL *from, int64_t count,                \
                               const REAL *factors, REAL *first, REAL *second, \
                               int64_t step) {                                 \
    splitPairsOfLines<REAL, LANES>(from, count, factors, first, second, step); \
  }                                                                            \
  TARGET void NAME##JoinPairs(const REAL *first, const REAL *second,           \
                              int64_t count, REAL *to) {                       \
    joinPairsOfLines<REAL, LANES>(first, second, count, to);                   \
  }                                                                            \
  TARGET void NAME##Multiply(const REAL *a, const REAL *b, int64_t count,      \
                             REAL sign, REAL productSign, REAL *to) {          \
    multiplyLines(a, b, count, sign, productSign, to);                         \
  }                                                                            \
  constexpr FourierCode<REAL> NAME = {                                         \
      LANES,        NAME##Transform,   NAME##Load,      NAME##Store,           \
      NAME##Rotate, NAME##RotateAlike, NAME##LoadRows,  NAME##Separate,        \
      NAME##Join,   NAME##SplitPairs,  NAME##JoinPairs, NAME##Multiply};
// NOLINTEND(bugprone-macro-parentheses)

#if defined(__x86_64__)
MESHLOOM_FOURIER_CODE(fourier512F32, float, 16,
                      __attribute__((target("avx512f,avx512dq,avx2,fma"))))
MESHLOOM_FOURIER_CODE(fourier512F64, double, 8,
                      __attribute__((target("avx512f,avx512dq,avx2,fma"))))
MESHLOOM_FOURIER_CODE(fourier256F32, float, 8,
                      __attribute__((target("avx2,fma"))))
MESHLOOM_FOURIER_CODE(fourier256F64, double, 4,
                      __attribute__((target("avx2,fma"))))
#endif
MESHLOOM_FOURIER_CODE(fourier128F32, float, 4, )
MESHLOOM_FOURIER_CODE(fourier128F64, double, 2, )

template <typename Real>
const FourierCode<Real> *chooseCode([[maybe_unused]] const auto *avx512,
                                    [[maybe_unused]] const auto *avx2,
                                    const FourierCode<Real> *any) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool hasAvx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (hasAvx2 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq"))
    return avx512;
  if (hasAvx2)
    return avx2;
#endif
  return any;
}
} // namespace

#if !defined(__x86_64__)
constexpr auto &fourier512F32 = fourier128F32, &fourier256F32 = fourier128F32;
constexpr auto &fourier512F64 = fourier128F64, &fourier256F64 = fourier128F64;
#endif

template <> const FourierCode<float> &fourierCode() {
  static const auto &chosen =
      *chooseCode<float>(&fourier512F32, &fourier256F32, &fourier128F32);
  return chosen;
}
template <> const FourierCode<double> &fourierCode() {
  static const auto &chosen =
      *chooseCode<double>(&fourier512F64, &fourier256F64, &fourier128F64);
  return chosen;
}

/// Pairs of mirrored elements that are worth a worker.
static constexpr int64_t PAIRS_OF_WORKER = 1 << 12;

template <typename Real>
void separateLine(Real *line, int64_t half, const Real *roots) {
  separateFirst<Real, 1>(line, half);
  Team::current().forEachRange(
      half / 2, PAIRS_OF_WORKER, /*grain=*/1, [&](int64_t begin, int64_t end) {
        separateMirrored<Real, 1>(line, half, roots, begin + 1, end + 1);
      });
}
template <typename Real>
void joinLine(const Real *spectrum, int64_t half, const Real *roots, Real *to) {
  joinFirst<Real, 1>(spectrum, half, to);
  Team::current().forEachRange(
      half / 2, PAIRS_OF_WORKER, /*grain=*/1, [&](int64_t begin, int64_t end) {
        joinMirrored<Real, 1>(spectrum, half, roots, to, begin + 1, end + 1);
      });
}
template void separateLine(float *, int64_t, const float *);
template void separateLine(double *, int64_t, const double *);
template void joinLine(const float *, int64_t, const float *, float *);
template void joinLine(const double *, int64_t, const double *, double *);

} // namespace meshloom::library
