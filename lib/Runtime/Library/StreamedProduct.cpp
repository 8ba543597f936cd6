// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some rows of the large matrix are multiplied by a number each and added to
// the rows of the result, which stay in the first-level cache. So memory is
// read in a few long streams.
//
// Written for vectors of any width and compiled for AVX-512, for AVX2 and for
// any processor: these differ in how many factors fit into registers.
#include "StreamedProduct.h"

#include "LaneTranspose.h"
#include "VectorWidth.h"
#include "meshloom/Runtime/Sanitizers.h"

#include <algorithm>
#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// The most rows of the left operand, and the fewest elements of a matrix: a
/// smaller one is read whole by any product.
constexpr int64_t MOST_ROWS = 4, LARGE_MATRIX = 1 << 9;
/// Bytes of the result's rows that stay in cache.
constexpr int64_t STREAMED_BYTES = 1 << 14;

template <typename T> struct StreamedRows {
  int64_t n, k;
  const T *lhs;
  MatrixStrides lhsStrides;
  const T *rhs;
  int64_t rhsStride;
  T *out;
  int64_t outStride;
};

/// Adds the products of `Terms` rows of the matrix from row `term` on to
/// columns `first` and further, as long as there is a vector of `Width` of
/// them; the rest is done in narrower vectors.
template <int Width, int Rows, int Terms, typename T>
MESHLOOM_LANES_INLINE void addStreams(const StreamedRows<T> &p, int64_t term,
                                      int64_t first) {
  using Vector = LaneVector<T, Width>;
  T factors[Rows * Terms];
  MESHLOOM_LANES_UNROLL
  for (int r = 0; r < Rows; ++r)
    MESHLOOM_LANES_UNROLL
  for (int t = 0; t < Terms; ++t)
    factors[r * Terms + t] = p.lhs[r * p.lhsStrides.rowStride +
                                   (term + t) * p.lhsStrides.columnStride];
  const T *matrix = p.rhs + term * p.rhsStride;
  int64_t c = first;
  for (; c + Width <= p.n; c += Width) {
    Vector streams[Terms];
    MESHLOOM_LANES_UNROLL
    for (int t = 0; t < Terms; ++t)
      std::memcpy(&streams[t], matrix + t * p.rhsStride + c, sizeof(Vector));
    MESHLOOM_LANES_UNROLL
    for (int r = 0; r < Rows; ++r) {
      T *to = p.out + r * p.outStride + c;
      Vector sums;
      std::memcpy(&sums, to, sizeof sums);
      Vector products = factors[r * Terms] * streams[0];
      MESHLOOM_LANES_UNROLL
      for (int t = 1; t < Terms; ++t)
        products += factors[r * Terms + t] * streams[t];
      sums += products;
      std::memcpy(to, &sums, sizeof sums);
    }
  }
  if constexpr (Width > 1)
    if (c < p.n)
      addStreams<Width / 2, Rows, Terms>(p, term, c);
}

template <int Lanes, int Rows, int Terms, typename T>
MESHLOOM_LANES_INLINE void addAllStreams(StreamedRows<T> p) {
  const int64_t columns = p.n,
                most = STREAMED_BYTES / int64_t(sizeof(T)) / Rows;
  for (int64_t c = 0; c < columns; c += most, p.rhs += most, p.out += most) {
    p.n = std::min(most, columns - c);
    int64_t term = 0;
    for (; term + Terms <= p.k; term += Terms)
      addStreams<Lanes, Rows, Terms>(p, term, 0);
    for (; term < p.k; ++term)
      addStreams<Lanes, Rows, 1>(p, term, 0);
  }
}

/// `Factors` fit into registers.
template <int Lanes, int Factors, typename T>
MESHLOOM_LANES_INLINE void addRowsByStreams(int64_t m,
                                            const StreamedRows<T> &p) {
  if (m == 1)
    addAllStreams<Lanes, 1, 8>(p);
  else if (m == 2)
    addAllStreams<Lanes, 2, Factors / 2>(p);
  else if (m == 3)
    addAllStreams<Lanes, 3, Factors / 4>(p);
  else
    addAllStreams<Lanes, 4, Factors / 4>(p);
}

#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
#define MESHLOOM_STREAMED_CODE(NAME, LANES, FACTORS, TARGET)                   \
  TARGET void NAME(int64_t m, const StreamedRows<float> &p) {                  \
    addRowsByStreams<LANES, FACTORS>(m, p);                                    \
  }                                                                            \
  TARGET void NAME(int64_t m, const StreamedRows<uint32_t> &p) {               \
    addRowsByStreams<LANES, FACTORS>(m, p);                                    \
  }                                                                            \
  TARGET void NAME(int64_t m, const StreamedRows<double> &p) {                 \
    addRowsByStreams<LANES / 2, FACTORS>(m, p);                                \
  }
// NOLINTEND(bugprone-macro-parentheses)
MESHLOOM_STREAMED_CODE(streamed512, 16, 16,
                       __attribute__((target("avx512f,avx512vl,avx2,fma"))))
MESHLOOM_STREAMED_CODE(streamed256, 8, 8, __attribute__((target("avx2,fma"))))
MESHLOOM_STREAMED_CODE(streamed128, 4, 8, )
#endif
} // namespace

bool library::isStreamedProduct(int64_t m, int64_t n, int64_t k,
                                int64_t columnStride, int64_t resultStride) {
  constexpr int64_t widest = 16; // a vector is filled
  return m <= MOST_ROWS && n >= widest && columnStride == 1 &&
         resultStride == 1 && n * k >= LARGE_MATRIX;
}

template <typename T>
void library::streamedProduct(int64_t m, int64_t n, int64_t k, const T *lhs,
                              MatrixStrides lhsStrides, const T *rhs,
                              int64_t rhsStride, bool accumulate, T *out,
                              int64_t outStride) {
  if (!accumulate)
    for (int64_t r = 0; r < m; ++r)
      std::fill_n(out + r * outStride, n, T(0));
  const StreamedRows<T> rows{n,   k,         lhs, lhsStrides,
                             rhs, rhsStride, out, outStride};
#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
  const int width = vectorBits();
  if (width == 512)
    return streamed512(m, rows);
  if (width == 256)
    return streamed256(m, rows);
  streamed128(m, rows);
#else
  addRowsByStreams<16 / sizeof(T), 8>(m, rows);
#endif
}

template void library::streamedProduct(int64_t, int64_t, int64_t, const float *,
                                       MatrixStrides, const float *, int64_t,
                                       bool, float *, int64_t);
template void library::streamedProduct(int64_t, int64_t, int64_t,
                                       const double *, MatrixStrides,
                                       const double *, int64_t, bool, double *,
                                       int64_t);
template void library::streamedProduct(int64_t, int64_t, int64_t,
                                       const uint32_t *, MatrixStrides,
                                       const uint32_t *, int64_t, bool,
                                       uint32_t *, int64_t);
