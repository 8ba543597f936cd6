// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thin products, vectorized: the sums of a few rows with a few columns side by
// side. The large matrix is read once, in the order in which it lies in memory;
// the thin one stays in cache.
//
// Written for vectors of any width and compiled for AVX-512 and for AVX2: what
// they differ in is how many sums fit into registers.
#include "ThinProduct.h"

#include "ThreadScratch.h"
#include "meshloom/Runtime/ThreadSanitizer.h"

#include <cstring>
#include <utility>

namespace meshloom::library {
namespace {
#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
#define MESHLOOM_THIN_PRODUCTS 1
#define MESHLOOM_INLINE [[gnu::always_inline]] inline
// Sums stay in registers where the loops over them are written out.
#ifdef __clang__
#define MESHLOOM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MESHLOOM_UNROLL _Pragma("GCC unroll 32")
#endif

template <int Lanes> struct Vectors {
  using Floats = float __attribute__((vector_size(Lanes * 4)));
  using Bits = int32_t __attribute__((vector_size(Lanes * 4)));
};

template <int Lanes>
MESHLOOM_INLINE void load(typename Vectors<Lanes>::Floats &to,
                          const float *from) {
  std::memcpy(&to, from, sizeof(to));
}

/// Halves of the segments of two vectors, `Width` lanes each: the first halves
/// of those of `a` and then of `b` where First, else the second ones.
template <int Lanes, int Width, bool First, int... Lane>
MESHLOOM_INLINE void halves(typename Vectors<Lanes>::Floats &to,
                            const typename Vectors<Lanes>::Floats &a,
                            const typename Vectors<Lanes>::Floats &b,
                            std::integer_sequence<int, Lane...>) {
  constexpr int half = Width / 2;
  to = __builtin_shufflevector(
      a, b, (Lane / half * Width + Lane % half + (First ? 0 : half))...);
}

/// The sums of the lanes of `Total` vectors, in pairs: first lane l and that
/// half a vector further on. Two vectors become one of twice as many segments,
/// until a segment is one lane.
template <int Lanes, int Total, int Count = Total, int Width = Lanes>
MESHLOOM_INLINE void sumLanes(const typename Vectors<Lanes>::Floats *vectors,
                              float *sums) {
  if constexpr (Width == 1) {
    std::memcpy(sums, vectors, Total * sizeof(float));
  } else {
    constexpr int halfCount = (Count + 1) / 2;
    constexpr auto lanes = std::make_integer_sequence<int, Lanes>();
    typename Vectors<Lanes>::Floats half[halfCount];
    MESHLOOM_UNROLL
    for (int v = 0; v < halfCount; ++v) {
      const auto &a = vectors[2 * v],
                 &b = vectors[2 * v + 1 < Count ? 2 * v + 1 : 2 * v];
      typename Vectors<Lanes>::Floats second;
      halves<Lanes, Width, true>(half[v], a, b, lanes);
      halves<Lanes, Width, false>(second, a, b, lanes);
      half[v] += second;
    }
    sumLanes<Lanes, Total, halfCount, Width / 2>(half, sums);
  }
}

/// The lanes of the last vector of a row, which ends with it: those that no
/// vector before it has.
template <int Lanes>
MESHLOOM_INLINE void lastLanes(typename Vectors<Lanes>::Bits &mask, int64_t k) {
  MESHLOOM_UNROLL
  for (int l = 0; l < Lanes; ++l)
    mask[l] = l >= Lanes - k % Lanes ? -1 : 0;
}

/// Rows of the thin matrix, a vector of each in turn: a tile reads them one
/// after the other, and none across the end of a cache line. In the last
/// vectors of rows are zeros for what was there before.
template <int Lanes, int Rows>
MESHLOOM_INLINE void packRows(int64_t k, const float *from, int64_t stride,
                              float *to) {
  using Floats = typename Vectors<Lanes>::Floats;
  using Bits = typename Vectors<Lanes>::Bits;
  Floats vector;
  for (int64_t i = 0; i + Lanes <= k; i += Lanes)
    MESHLOOM_UNROLL
  for (int r = 0; r < Rows; ++r, to += Lanes) {
    load<Lanes>(vector, from + r * stride + i);
    std::memcpy(to, &vector, sizeof(vector));
  }
  if (k % Lanes == 0)
    return;
  Bits mask;
  lastLanes<Lanes>(mask, k);
  MESHLOOM_UNROLL
  for (int r = 0; r < Rows; ++r, to += Lanes) {
    load<Lanes>(vector, from + r * stride + k - Lanes);
    vector = (Floats)((Bits)vector & mask);
    std::memcpy(to, &vector, sizeof(vector));
  }
}

/// Rows x Columns sums of k products each, of packed rows.
template <int Lanes, int Rows, int Columns>
MESHLOOM_INLINE void
columnsTile(int64_t k, const float *packed, const float *rhs, int64_t rhsStride,
            bool accumulate, float *out, int64_t outStride) {
  using Floats = typename Vectors<Lanes>::Floats;
  using Bits = typename Vectors<Lanes>::Bits;
  Floats sums[Rows * Columns] = {};
  auto add = [&](auto read) __attribute__((always_inline)) {
    Floats thin[Rows];
    MESHLOOM_UNROLL
    for (int r = 0; r < Rows; ++r, packed += Lanes)
      load<Lanes>(thin[r], packed);
    MESHLOOM_UNROLL
    for (int c = 0; c < Columns; ++c) {
      Floats large;
      read(large, rhs + c * rhsStride);
      MESHLOOM_UNROLL
      for (int r = 0; r < Rows; ++r)
        sums[r * Columns + c] += thin[r] * large;
    }
  };
  for (int64_t i = 0; i + Lanes <= k; i += Lanes)
    add([i](Floats &to, const float *from)
            __attribute__((always_inline)) { load<Lanes>(to, from + i); });
  if (k % Lanes != 0) {
    // Nothing beyond the end is read, and no infinity meets a zero.
    Bits mask;
    lastLanes<Lanes>(mask, k);
    add([&](Floats &to, const float *from) __attribute__((always_inline)) {
      load<Lanes>(to, from + k - Lanes);
      to = (Floats)((Bits)to & mask);
    });
  }
  float total[Rows * Columns];
  sumLanes<Lanes, Rows * Columns>(sums, total);
  MESHLOOM_UNROLL
  for (int r = 0; r < Rows; ++r)
    MESHLOOM_UNROLL
  for (int c = 0; c < Columns; ++c) {
    float &to = out[r * outStride + c];
    to = accumulate ? to + total[r * Columns + c] : total[r * Columns + c];
  }
}

template <int Lanes, int Rows, int Columns>
MESHLOOM_INLINE void byColumns(int64_t m, int64_t n, int64_t k,
                               const float *lhs, int64_t lhsStride,
                               const float *rhs, int64_t rhsStride,
                               bool accumulate, float *out, int64_t outStride) {
  const int64_t length = (k + Lanes - 1) / Lanes * Lanes; // of a packed row
  auto *packed = static_cast<float *>(
      threadScratch(0, size_t(m * length) * sizeof(float)));
  // The body runs for Rows rows as long as there are so many, then for single
  // rows.
  auto forRows = [&](auto body) __attribute__((always_inline)) {
    int64_t r = 0;
    for (; r + Rows <= m; r += Rows)
      body.template operator()<Rows>(r);
    for (; r < m; ++r)
      body.template operator()<1>(r);
  };
  forRows([&]<int R>(int64_t r) __attribute__((always_inline)) {
    packRows<Lanes, R>(k, lhs + r * lhsStride, lhsStride, packed + r * length);
  });
  auto columns = [&]<int C>(int64_t c) __attribute__((always_inline)) {
    forRows([&]<int R>(int64_t r) __attribute__((always_inline)) {
      columnsTile<Lanes, R, C>(k, packed + r * length, rhs + c * rhsStride,
                               rhsStride, accumulate, out + r * outStride + c,
                               outStride);
    });
  };
  int64_t c = 0;
  for (; c + Columns <= n; c += Columns)
    columns.template operator()<Columns>(c);
  for (; c < n; ++c)
    columns.template operator()<1>(c);
}

/// Products of a vector with `Columns` columns.
template <int Lanes, int Columns>
MESHLOOM_INLINE void vectorTile(int64_t k, const float *vector,
                                const float *matrix, int64_t columnStride,
                                float *out, int64_t outStride) {
  using Floats = typename Vectors<Lanes>::Floats;
  using Bits = typename Vectors<Lanes>::Bits;
  Floats sums[Columns] = {};
  auto add = [&](int64_t term, auto change) __attribute__((always_inline)) {
    Floats thin;
    load<Lanes>(thin, vector + term);
    change(thin);
    MESHLOOM_UNROLL
    for (int c = 0; c < Columns; ++c) {
      Floats large;
      load<Lanes>(large, matrix + c * columnStride + term);
      change(large);
      sums[c] += thin * large;
    }
  };
  for (int64_t i = 0; i + Lanes <= k; i += Lanes)
    add(i, [](Floats &) __attribute__((always_inline)) {});
  if (k % Lanes != 0) {
    // Nothing beyond the end is read, and no infinity meets a zero.
    Bits mask;
    lastLanes<Lanes>(mask, k);
    add(k - Lanes, [&](Floats &value) __attribute__((always_inline)) {
      value = (Floats)((Bits)value & mask);
    });
  }
  float total[Columns];
  sumLanes<Lanes, Columns>(sums, total);
  MESHLOOM_UNROLL
  for (int c = 0; c < Columns; ++c)
    out[c * outStride] = total[c];
}

template <int Lanes, int Columns>
MESHLOOM_INLINE void eachByVector(const VectorProducts &p) {
  for (int64_t i = 0; i < p.count; ++i) {
    const float *vector = p.vectors + i * p.vectorStep,
                *matrix = p.matrices + i * p.matrixStep;
    float *out = p.out + i * p.outStep;
    auto columns = [&]<int C>(int64_t c) __attribute__((always_inline)) {
      vectorTile<Lanes, C>(p.k, vector, matrix + c * p.columnStride,
                           p.columnStride, out + c * p.outStride, p.outStride);
    };
    int64_t c = 0;
    for (; c + Columns <= p.n; c += Columns)
      columns.template operator()<Columns>(c);
    for (; c < p.n; ++c)
      columns.template operator()<1>(c);
  }
}

using Function = void (*)(int64_t m, int64_t n, int64_t k, const float *lhs,
                          int64_t lhsStride, const float *rhs,
                          int64_t rhsStride, bool accumulate, float *out,
                          int64_t outStride);

__attribute__((target("avx512f,avx2,fma"))) void
product512(int64_t m, int64_t n, int64_t k, const float *lhs, int64_t lhsStride,
           const float *rhs, int64_t rhsStride, bool accumulate, float *out,
           int64_t outStride) {
  byColumns<16, 4, 4>(m, n, k, lhs, lhsStride, rhs, rhsStride, accumulate, out,
                      outStride);
}
__attribute__((target("avx2,fma"))) void
product256(int64_t m, int64_t n, int64_t k, const float *lhs, int64_t lhsStride,
           const float *rhs, int64_t rhsStride, bool accumulate, float *out,
           int64_t outStride) {
  byColumns<8, 2, 4>(m, n, k, lhs, lhsStride, rhs, rhsStride, accumulate, out,
                     outStride);
}

__attribute__((target("avx512f,avx2,fma"))) void
vectors512(const VectorProducts &products) {
  eachByVector<16, 8>(products);
}
__attribute__((target("avx2,fma"))) void
vectors256(const VectorProducts &products) {
  eachByVector<8, 8>(products);
}

struct Functions {
  Function product;
  void (*vectors)(const VectorProducts &products);
};

/// The functions for this CPU, or null.
const Functions &functions() {
  static const Functions chosen = []() -> Functions {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
      return {product512, vectors512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return {product256, vectors256};
    return {nullptr, nullptr};
  }();
  return chosen;
}
#endif
} // namespace

bool isThinProduct(int64_t m, int64_t n, int64_t k, int64_t rowStride,
                   int64_t columnStride) {
#ifdef MESHLOOM_THIN_PRODUCTS
  constexpr int64_t widest = 16; // a vector is filled
  return m <= THIN_ROWS && k >= widest && rowStride == 1 &&
         (columnStride >= k || n == 1) && functions().product;
#else
  return false;
#endif
}

void thinProduct(int64_t m, int64_t n, int64_t k, const float *lhs,
                 int64_t lhsStride, const float *rhs, int64_t rhsStride,
                 bool accumulate, float *out, int64_t outStride) {
#ifdef MESHLOOM_THIN_PRODUCTS
  functions().product(m, n, k, lhs, lhsStride, rhs, rhsStride, accumulate, out,
                      outStride);
#endif
}

void vectorProducts(const VectorProducts &products) {
#ifdef MESHLOOM_THIN_PRODUCTS
  functions().vectors(products);
#endif
}

} // namespace meshloom::library
