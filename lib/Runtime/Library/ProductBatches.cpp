// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of vectors with matrices are those of ThinProduct.h where columns
// are contiguous. Others are computed in tiles of up to four rows and one
// vector of columns, whose sums stay in registers for all terms. The last tile
// of a row or a column ends with it, and may compute again what the one before
// it has computed, so that no part of a vector is left over.
//
// Written for vectors of any width and compiled for AVX-512, for AVX2 and for
// any processor.
#include "ProductBatches.h"

#include "LaneTranspose.h"
#include "ThinProduct.h"
#include "VectorWidth.h"
#include "meshloom/Runtime/Sanitizers.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// The most multiplications of a small product, and its most terms, which are
/// added one by one.
constexpr int64_t SMALL_PRODUCT = 4096, SMALL_TERMS = 256;
/// The most elements of a right operand that is copied first.
constexpr int64_t SMALL_COPY = 1024;

/// A batch of [m, k] x [k, n]. Rows of the result are contiguous, or n is 1.
template <typename T> struct SmallProducts {
  int64_t count, m, n, k;
  const T *lhs, *rhs;
  T *out;
  std::array<int64_t, 3> steps; ///< from one product to the next
  MatrixStrides lhsStrides, rhsStrides;
  int64_t outStride; ///< from one row to the next
};

/// A tile of Rows rows and a vector of Width columns, which is a part of a row.
template <int Rows, int Width, typename T>
  requires std::is_arithmetic_v<T>
MESHLOOM_LANES_INLINE void
multiplySmallTile(int64_t terms, const T *lhs, MatrixStrides lhsStrides,
                  const T *rhs, int64_t rhsStride, T *out, int64_t outStride) {
  using Vector = LaneVector<T, Width>;
  Vector sums[Rows] = {};
  for (int64_t k = 0; k < terms; ++k) {
    Vector row;
    std::memcpy(&row, rhs + k * rhsStride, sizeof row);
    MESHLOOM_LANES_UNROLL
    for (int r = 0; r < Rows; ++r)
      sums[r] +=
          lhs[r * lhsStrides.rowStride + k * lhsStrides.columnStride] * row;
  }
  MESHLOOM_LANES_UNROLL
  for (int r = 0; r < Rows; ++r)
    std::memcpy(out + r * outStride, &sums[r], sizeof(Vector));
}

/// Lets neighbouring lanes, in pairs, change places.
template <typename T, int Lanes, int... Lane>
MESHLOOM_LANES_INLINE void swapNeighbours(LaneVector<T, Lanes> &lanes,
                                          std::integer_sequence<int, Lane...>) {
  lanes = __builtin_shufflevector(lanes, lanes, (Lane ^ 1)...);
}

/// The same of complex numbers, which are pairs of lanes. The products with the
/// real parts of lhs and those with the imaginary ones have sums of their own.
template <int Rows, int Width, typename Real>
MESHLOOM_LANES_INLINE void
multiplySmallTile(int64_t terms, const std::complex<Real> *lhs,
                  MatrixStrides lhsStrides, const std::complex<Real> *rhs,
                  int64_t rhsStride, std::complex<Real> *out,
                  int64_t outStride) {
  constexpr int lanes = 2 * Width;
  using Vector = LaneVector<Real, lanes>;
  Vector byReal[Rows] = {}, byImaginary[Rows] = {};
  for (int64_t k = 0; k < terms; ++k) {
    Vector row;
    std::memcpy(&row, rhs + k * rhsStride, sizeof row);
    MESHLOOM_LANES_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const std::complex<Real> value =
          lhs[r * lhsStrides.rowStride + k * lhsStrides.columnStride];
      byReal[r] += value.real() * row;
      byImaginary[r] += value.imag() * row;
    }
  }
  Vector signs;
  MESHLOOM_LANES_UNROLL
  for (int lane = 0; lane < lanes; ++lane)
    signs[lane] = Real(lane % 2 == 0 ? -1 : 1);
  MESHLOOM_LANES_UNROLL
  for (int r = 0; r < Rows; ++r) {
    swapNeighbours<Real, lanes>(byImaginary[r],
                                std::make_integer_sequence<int, lanes>());
    const Vector product = byReal[r] + signs * byImaginary[r];
    std::memcpy(out + r * outStride, &product, sizeof product);
  }
}

/// One product, Rows rows at a time.
template <int Rows, int Width, typename T>
MESHLOOM_LANES_INLINE void multiplySmall(const SmallProducts<T> &p,
                                         const T *lhs, const T *rhs,
                                         int64_t rhsStride, T *out) {
  for (int64_t c = 0; c < p.n; c += Width) {
    const int64_t column = std::min(c, p.n - Width);
    for (int64_t r = 0; r < p.m; r += Rows) {
      const int64_t row = std::min(r, p.m - Rows);
      multiplySmallTile<Rows, Width>(
          p.k, lhs + row * p.lhsStrides.rowStride, p.lhsStrides, rhs + column,
          rhsStride, out + row * p.outStride + column, p.outStride);
    }
  }
}

template <int Rows, int Width, typename T>
MESHLOOM_LANES_INLINE void multiplyEach(const SmallProducts<T> &p) {
  alignas(64) char memory[sizeof(T) * SMALL_COPY];
  T *copy = reinterpret_cast<T *>(memory);
  const bool isCopied = Width > 1 && p.rhsStrides.columnStride != 1;
  for (int64_t i = 0; i < p.count; ++i) {
    const T *rhs = p.rhs + i * p.steps[1];
    int64_t rhsStride = p.rhsStrides.rowStride;
    if (isCopied) {
      for (int64_t c = 0; c < p.n; ++c)
        for (int64_t k = 0; k < p.k; ++k)
          copy[k * p.n + c] =
              rhs[k * p.rhsStrides.rowStride + c * p.rhsStrides.columnStride];
      rhs = copy;
      rhsStride = p.n;
    }
    multiplySmall<Rows, Width>(p, p.lhs + i * p.steps[0], rhs, rhsStride,
                               p.out + i * p.steps[2]);
  }
}

/// Takes the widest vector that a row has, up to `Lanes`.
template <int Lanes, int Rows, typename T>
MESHLOOM_LANES_INLINE void multiplyWidest(const SmallProducts<T> &p) {
  if constexpr (Lanes > 1)
    if (p.n < Lanes)
      return multiplyWidest<Lanes / 2, Rows>(p);
  multiplyEach<Rows, Lanes>(p);
}

template <int Lanes, typename T>
MESHLOOM_LANES_INLINE void multiplySmallBatch(const SmallProducts<T> &p) {
  if (p.m >= 4)
    multiplyWidest<Lanes, 4>(p);
  else if (p.m == 3)
    multiplyWidest<Lanes, 3>(p);
  else if (p.m == 2)
    multiplyWidest<Lanes, 2>(p);
  else
    multiplyWidest<Lanes, 1>(p);
}

#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
#define MESHLOOM_SMALL_PRODUCTS(NAME, LANES, TARGET)                           \
  TARGET void NAME(const SmallProducts<float> &p) {                            \
    multiplySmallBatch<LANES>(p);                                              \
  }                                                                            \
  TARGET void NAME(const SmallProducts<double> &p) {                           \
    multiplySmallBatch<LANES / 2>(p);                                          \
  }                                                                            \
  TARGET void NAME(const SmallProducts<uint32_t> &p) {                         \
    multiplySmallBatch<LANES>(p);                                              \
  }                                                                            \
  TARGET void NAME(const SmallProducts<std::complex<float>> &p) {              \
    multiplySmallBatch<LANES / 2>(p);                                          \
  }                                                                            \
  TARGET void NAME(const SmallProducts<std::complex<double>> &p) {             \
    multiplySmallBatch<LANES / 4>(p);                                          \
  }
// NOLINTEND(bugprone-macro-parentheses)
MESHLOOM_SMALL_PRODUCTS(small512, 16,
                        __attribute__((target("avx512f,avx512vl,avx2,fma"))))
MESHLOOM_SMALL_PRODUCTS(small256, 8, __attribute__((target("avx2,fma"))))
MESHLOOM_SMALL_PRODUCTS(small128, 4, )
#endif

template <typename T> void multiplySmallProducts(const SmallProducts<T> &p) {
#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
  const int width = vectorBits();
  if (width == 512)
    return small512(p);
  if (width == 256)
    return small256(p);
  small128(p);
#else
  multiplySmallBatch<16 / sizeof(T)>(p);
#endif
}

/// Returns false where no vectors fit the way in which the matrices lie.
template <typename T>
bool multiplySmall(const T *lhs, const T *rhs, T *out, const Extent &batch,
                   const Contraction &c) {
  const Extent *row = &c.row, *column = &c.column;
  if (c.terms > SMALL_TERMS || row->count * column->count > SMALL_PRODUCT ||
      row->count * column->count * c.terms > SMALL_PRODUCT)
    return false;
  // The transposed product, where that has rows that are contiguous.
  const bool isTransposed = column->count > 1
                                ? column->strides[2] != 1
                                : row->strides[2] == 1 && row->strides[0] == 1;
  if (isTransposed) {
    std::swap(row, column);
    std::swap(lhs, rhs);
  }
  const unsigned first = isTransposed ? 1 : 0, second = 1 - first;
  const bool isCopied = column->count > 1 && column->strides[second] != 1;
  if ((column->strides[2] != 1 && column->count > 1) ||
      (isCopied && column->count * c.terms > SMALL_COPY))
    return false;
  multiplySmallProducts<T>(
      {batch.count,
       row->count,
       column->count,
       c.terms,
       lhs,
       rhs,
       out,
       {batch.strides[first], batch.strides[second], batch.strides[2]},
       {row->strides[first], c.sum.strides[first]},
       {c.sum.strides[second], column->strides[second]},
       row->strides[2]});
  return true;
}

/// Returns whether each product is that of a vector with a matrix whose columns
/// are contiguous, and was computed.
template <typename T>
bool multiplyVectors(const T *lhs, const T *rhs, T *out, const Extent &batch,
                     const Contraction &c) {
  // The operand of vectors, and the dim of the matrices that the result has.
  const bool isLeft = c.row.count == 1;
  const Extent &line = isLeft ? c.column : c.row;
  const size_t vector = isLeft ? 0 : 1, matrix = 1 - vector;
  const auto &sum = c.sum.strides;
  if (c.terms > THIN_TERMS || (c.row.count != 1 && c.column.count != 1) ||
      sum[vector] != 1 ||
      !isThinProduct<T>(1, line.count, c.terms, sum[matrix],
                        line.strides[matrix]))
    return false;
  vectorProducts<T>({batch.count, line.count, c.terms, isLeft ? lhs : rhs,
                     isLeft ? rhs : lhs, batch.strides[vector],
                     batch.strides[matrix], line.strides[matrix], out,
                     batch.strides[2], line.strides[2]});
  return true;
}
} // namespace

BatchLoops::BatchLoops(std::span<const Extent> batch)
    : around(batch.begin(), batch.end()) {
  const auto longest = std::ranges::max_element(around, {}, &Extent::count);
  if (longest == around.end())
    return;
  inner = *longest;
  around.erase(longest);
}

template <typename T>
bool library::multiplyBatches(const T *lhs, const T *rhs, T *out,
                              std::span<const Extent> batch,
                              const Contraction &c) {
  const BatchLoops loops(batch);
  if (loops.inner.count == 1 || !c.outer.empty())
    return false;
  // Whether a batch is computed does not depend on where it is.
  bool isComputed = true;
  (void)forEach(
      loops.around, {}, true, [&](std::array<int64_t, 3> offsets, bool) {
        const T *first = lhs + offsets[0], *second = rhs + offsets[1];
        T *result = out + offsets[2];
        bool areVectors = false;
        if constexpr (std::is_floating_point_v<T>)
          areVectors = isComputed &&
                       multiplyVectors(first, second, result, loops.inner, c);
        isComputed = areVectors ||
                     (isComputed &&
                      multiplySmall(first, second, result, loops.inner, c));
        return Status(Success());
      });
  return isComputed;
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define MESHLOOM_BATCHES(T)                                                    \
  template bool library::multiplyBatches(const T *, const T *, T *,            \
                                         std::span<const Extent>,              \
                                         const Contraction &);
MESHLOOM_BATCHES(float)
MESHLOOM_BATCHES(double)
MESHLOOM_BATCHES(uint32_t)
MESHLOOM_BATCHES(std::complex<float>)
MESHLOOM_BATCHES(std::complex<double>)
#undef MESHLOOM_BATCHES
// NOLINTEND(bugprone-macro-parentheses)
