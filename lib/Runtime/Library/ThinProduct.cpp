// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thin products, vectorized: the sums of a few rows with a few columns side by
// side. The large matrix is read once, in the order in which it lies in memory;
// the thin one stays in cache.
//
// Written for vectors of any width and compiled for AVX-512 and for AVX2: what
// they differ in is how many sums fit into registers.
#include "ThinProduct.h"

#include "ThreadScratch.h"
#include "meshloom/Runtime/Sanitizers.h"

#include <cstring>
#include <type_traits>
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

/// Vectors of float or double numbers, and of integers of the same width.
template <typename T, int Lanes> struct Vectors {
  using Bit = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Floats = T __attribute__((vector_size(Lanes * sizeof(T))));
  using Bits = Bit __attribute__((vector_size(Lanes * sizeof(T))));
};

template <typename T, int Lanes>
MESHLOOM_INLINE void load(typename Vectors<T, Lanes>::Floats &to,
                          const T *from) {
  std::memcpy(&to, from, sizeof(to));
}

/// Halves of the segments of two vectors, `Width` lanes each: the first halves
/// of those of `a` and then of `b` where First, else the second ones.
template <typename T, int Lanes, int Width, bool First, int... Lane>
MESHLOOM_INLINE void halves(typename Vectors<T, Lanes>::Floats &to,
                            const typename Vectors<T, Lanes>::Floats &a,
                            const typename Vectors<T, Lanes>::Floats &b,
                            std::integer_sequence<int, Lane...>) {
  constexpr int half = Width / 2;
  to = __builtin_shufflevector(
      a, b, (Lane / half * Width + Lane % half + (First ? 0 : half))...);
}

/// The sums of the lanes of `Total` vectors, in pairs: first lane l and that
/// half a vector further on. Two vectors become one of twice as many segments,
/// until a segment is one lane.
template <typename T, int Lanes, int Total, int Count = Total,
          int Width = Lanes>
MESHLOOM_INLINE void sumLanes(const typename Vectors<T, Lanes>::Floats *vectors,
                              T *sums) {
  if constexpr (Width == 1) {
    std::memcpy(sums, vectors, Total * sizeof(T));
  } else {
    constexpr int halfCount = (Count + 1) / 2;
    constexpr auto lanes = std::make_integer_sequence<int, Lanes>();
    typename Vectors<T, Lanes>::Floats half[halfCount];
    MESHLOOM_UNROLL
    for (int v = 0; v < halfCount; ++v) {
      const auto &a = vectors[2 * v],
                 &b = vectors[2 * v + 1 < Count ? 2 * v + 1 : 2 * v];
      typename Vectors<T, Lanes>::Floats second;
      halves<T, Lanes, Width, true>(half[v], a, b, lanes);
      halves<T, Lanes, Width, false>(second, a, b, lanes);
      half[v] += second;
    }
    sumLanes<T, Lanes, Total, halfCount, Width / 2>(half, sums);
  }
}

/// The lanes of the last vector of a row, which ends with it: those that no
/// vector before it has.
template <typename T, int Lanes>
MESHLOOM_INLINE void lastLanes(typename Vectors<T, Lanes>::Bits &mask,
                               int64_t k) {
  MESHLOOM_UNROLL
  for (int l = 0; l < Lanes; ++l)
    mask[l] = l >= Lanes - k % Lanes ? -1 : 0;
}

/// Rows of the thin matrix, a vector of each in turn: a tile reads them one
/// after the other, and none across the end of a cache line. In the last
/// vectors of rows are zeros for what was there before.
template <typename T, int Lanes, int Rows>
MESHLOOM_INLINE void packRows(int64_t k, const T *from, int64_t stride, T *to) {
  using Floats = typename Vectors<T, Lanes>::Floats;
  using Bits = typename Vectors<T, Lanes>::Bits;
  Floats vector;
  for (int64_t i = 0; i + Lanes <= k; i += Lanes)
    MESHLOOM_UNROLL
  for (int r = 0; r < Rows; ++r, to += Lanes) {
    load<T, Lanes>(vector, from + r * stride + i);
    std::memcpy(to, &vector, sizeof(vector));
  }
  if (k % Lanes == 0)
    return;
  Bits mask;
  lastLanes<T, Lanes>(mask, k);
  MESHLOOM_UNROLL
  for (int r = 0; r < Rows; ++r, to += Lanes) {
    load<T, Lanes>(vector, from + r * stride + k - Lanes);
    vector = (Floats)((Bits)vector & mask);
    std::memcpy(to, &vector, sizeof(vector));
  }
}

/// Rows x Columns sums of k products each, of packed rows.
template <typename T, int Lanes, int Rows, int Columns>
MESHLOOM_INLINE void columnsTile(int64_t k, const T *packed, const T *rhs,
                                 int64_t rhsStride, bool accumulate, T *out,
                                 int64_t outStride) {
  using Floats = typename Vectors<T, Lanes>::Floats;
  using Bits = typename Vectors<T, Lanes>::Bits;
  Floats sums[Rows * Columns] = {};
  auto add = [&](auto read) __attribute__((always_inline)) {
    Floats thin[Rows];
    MESHLOOM_UNROLL
    for (int r = 0; r < Rows; ++r, packed += Lanes)
      load<T, Lanes>(thin[r], packed);
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
    add([i](Floats &to, const T *from)
            __attribute__((always_inline)) { load<T, Lanes>(to, from + i); });
  if (k % Lanes != 0) {
    // Nothing beyond the end is read, and no infinity meets a zero.
    Bits mask;
    lastLanes<T, Lanes>(mask, k);
    add([&](Floats &to, const T *from) __attribute__((always_inline)) {
      load<T, Lanes>(to, from + k - Lanes);
      to = (Floats)((Bits)to & mask);
    });
  }
  T total[Rows * Columns];
  sumLanes<T, Lanes, Rows * Columns>(sums, total);
  MESHLOOM_UNROLL
  for (int r = 0; r < Rows; ++r)
    MESHLOOM_UNROLL
  for (int c = 0; c < Columns; ++c) {
    T &to = out[r * outStride + c];
    to = accumulate ? to + total[r * Columns + c] : total[r * Columns + c];
  }
}

template <typename T, int Lanes, int Rows, int Columns>
MESHLOOM_INLINE void byColumns(int64_t m, int64_t n, int64_t k, const T *lhs,
                               int64_t lhsStride, const T *rhs,
                               int64_t rhsStride, bool accumulate, T *out,
                               int64_t outStride) {
  const int64_t length = (k + Lanes - 1) / Lanes * Lanes; // of a packed row
  auto *packed =
      static_cast<T *>(threadScratch(0, size_t(m * length) * sizeof(T)));
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
    packRows<T, Lanes, R>(k, lhs + r * lhsStride, lhsStride,
                          packed + r * length);
  });
  auto columns = [&]<int C>(int64_t c) __attribute__((always_inline)) {
    forRows([&]<int R>(int64_t r) __attribute__((always_inline)) {
      columnsTile<T, Lanes, R, C>(k, packed + r * length, rhs + c * rhsStride,
                                  rhsStride, accumulate,
                                  out + r * outStride + c, outStride);
    });
  };
  int64_t c = 0;
  for (; c + Columns <= n; c += Columns)
    columns.template operator()<Columns>(c);
  for (; c < n; ++c)
    columns.template operator()<1>(c);
}

/// Products of a vector with `Columns` columns.
template <typename T, int Lanes, int Columns>
MESHLOOM_INLINE void vectorTile(int64_t k, const T *vector, const T *matrix,
                                int64_t columnStride, T *out,
                                int64_t outStride) {
  using Floats = typename Vectors<T, Lanes>::Floats;
  using Bits = typename Vectors<T, Lanes>::Bits;
  Floats sums[Columns] = {};
  auto add = [&](int64_t term, auto change) __attribute__((always_inline)) {
    Floats thin;
    load<T, Lanes>(thin, vector + term);
    change(thin);
    MESHLOOM_UNROLL
    for (int c = 0; c < Columns; ++c) {
      Floats large;
      load<T, Lanes>(large, matrix + c * columnStride + term);
      change(large);
      sums[c] += thin * large;
    }
  };
  for (int64_t i = 0; i + Lanes <= k; i += Lanes)
    add(i, [](Floats &) __attribute__((always_inline)) {});
  if (k % Lanes != 0) {
    // Nothing beyond the end is read, and no infinity meets a zero.
    Bits mask;
    lastLanes<T, Lanes>(mask, k);
    add(k - Lanes, [&](Floats &value) __attribute__((always_inline)) {
      value = (Floats)((Bits)value & mask);
    });
  }
  T total[Columns];
  sumLanes<T, Lanes, Columns>(sums, total);
  MESHLOOM_UNROLL
  for (int c = 0; c < Columns; ++c)
    out[c * outStride] = total[c];
}

template <typename T, int Lanes, int Columns>
MESHLOOM_INLINE void eachByVector(const VectorProducts<T> &p) {
  for (int64_t i = 0; i < p.count; ++i) {
    const T *vector = p.vectors + i * p.vectorStep,
            *matrix = p.matrices + i * p.matrixStep;
    T *out = p.out + i * p.outStep;
    auto columns = [&]<int C>(int64_t c) __attribute__((always_inline)) {
      vectorTile<T, Lanes, C>(p.k, vector, matrix + c * p.columnStride,
                              p.columnStride, out + c * p.outStride,
                              p.outStride);
    };
    int64_t c = 0;
    for (; c + Columns <= p.n; c += Columns)
      columns.template operator()<Columns>(c);
    for (; c < p.n; ++c)
      columns.template operator()<1>(c);
  }
}

// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
#define MESHLOOM_THIN_CODE(NAME, T, LANES, ROWS, TARGET)                       \
  TARGET void NAME##Product(int64_t m, int64_t n, int64_t k, const T *lhs,     \
                            int64_t lhsStride, const T *rhs,                   \
                            int64_t rhsStride, bool accumulate, T *out,        \
                            int64_t outStride) {                               \
    byColumns<T, LANES, ROWS, 4>(m, n, k, lhs, lhsStride, rhs, rhsStride,      \
                                 accumulate, out, outStride);                  \
  }                                                                            \
  TARGET void NAME##Vectors(const VectorProducts<T> &products) {               \
    eachByVector<T, LANES, 8>(products);                                       \
  }                                                                            \
  constexpr Functions<T> NAME{NAME##Product, NAME##Vectors};
// NOLINTEND(bugprone-macro-parentheses)

template <typename T> struct Functions {
  void (*product)(int64_t m, int64_t n, int64_t k, const T *lhs,
                  int64_t lhsStride, const T *rhs, int64_t rhsStride,
                  bool accumulate, T *out, int64_t outStride) = nullptr;
  void (*vectors)(const VectorProducts<T> &products) = nullptr;
};

#define MESHLOOM_THIN_512 __attribute__((target("avx512f,avx2,fma")))
#define MESHLOOM_THIN_256 __attribute__((target("avx2,fma")))
MESHLOOM_THIN_CODE(thin512F32, float, 16, 4, MESHLOOM_THIN_512)
MESHLOOM_THIN_CODE(thin512F64, double, 8, 4, MESHLOOM_THIN_512)
MESHLOOM_THIN_CODE(thin256F32, float, 8, 2, MESHLOOM_THIN_256)
MESHLOOM_THIN_CODE(thin256F64, double, 4, 2, MESHLOOM_THIN_256)

/// The functions for this CPU, or null.
template <typename T> const Functions<T> &functions() {
  constexpr bool isNarrow = std::is_same_v<T, float>;
  static const Functions<T> chosen = []() -> Functions<T> {
    __builtin_cpu_init();
    const bool hasAvx512 = __builtin_cpu_supports("avx512f"),
               hasAvx2 = __builtin_cpu_supports("avx2") &&
                         __builtin_cpu_supports("fma");
    if constexpr (isNarrow)
      return hasAvx512 ? thin512F32 : hasAvx2 ? thin256F32 : Functions<T>();
    else
      return hasAvx512 ? thin512F64 : hasAvx2 ? thin256F64 : Functions<T>();
  }();
  return chosen;
}
#endif
} // namespace

template <typename T>
bool isThinProduct(int64_t m, int64_t n, int64_t k, int64_t rowStride,
                   int64_t columnStride) {
#ifdef MESHLOOM_THIN_PRODUCTS
  constexpr int64_t widest = 64 / sizeof(T); // a vector is filled
  return m <= THIN_ROWS && k >= widest && rowStride == 1 &&
         (columnStride >= k || n == 1) && functions<T>().product;
#else
  return false;
#endif
}

template <typename T>
void thinProduct(int64_t m, int64_t n, int64_t k, const T *lhs,
                 int64_t lhsStride, const T *rhs, int64_t rhsStride,
                 bool accumulate, T *out, int64_t outStride) {
#ifdef MESHLOOM_THIN_PRODUCTS
  functions<T>().product(m, n, k, lhs, lhsStride, rhs, rhsStride, accumulate,
                         out, outStride);
#endif
}

template <typename T> void vectorProducts(const VectorProducts<T> &products) {
#ifdef MESHLOOM_THIN_PRODUCTS
  functions<T>().vectors(products);
#endif
}

template bool isThinProduct<float>(int64_t, int64_t, int64_t, int64_t, int64_t);
template void thinProduct(int64_t, int64_t, int64_t, const float *, int64_t,
                          const float *, int64_t, bool, float *, int64_t);
template void vectorProducts(const VectorProducts<float> &);
template bool isThinProduct<double>(int64_t, int64_t, int64_t, int64_t,
                                    int64_t);
template void thinProduct(int64_t, int64_t, int64_t, const double *, int64_t,
                          const double *, int64_t, bool, double *, int64_t);
template void vectorProducts(const VectorProducts<double> &);

} // namespace meshloom::library
