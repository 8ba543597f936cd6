// Thin products, vectorized: the sums of a few rows with a few columns side by
// side. The large matrix is read once, in the order in which it lies in memory;
// the thin one stays in cache.
//
// Written for vectors of any width and compiled for AVX-512 and for AVX2: what
// they differ in is how many sums fit into registers.
#include "ThinProduct.h"

#include "meshloom/Runtime/ThreadSanitizer.h"

#include <algorithm>
#include <cstring>

namespace meshloom::library {
namespace {
#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
#define MESHLOOM_THIN_PRODUCTS 1
#define MESHLOOM_INLINE [[gnu::always_inline]] inline

template <int Lanes> struct Vectors {
  using Floats = float __attribute__((vector_size(Lanes * 4)));
  using Bits = int32_t __attribute__((vector_size(Lanes * 4)));
};

template <int Lanes>
MESHLOOM_INLINE void load(typename Vectors<Lanes>::Floats &to,
                          const float *from) {
  std::memcpy(&to, from, sizeof(to));
}

/// The sum of all lanes, in pairs.
template <int Lanes>
MESHLOOM_INLINE float sumOfLanes(const typename Vectors<Lanes>::Floats &from) {
  float lanes[Lanes];
  std::memcpy(lanes, &from, sizeof(lanes));
  for (int half = Lanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l)
      lanes[l] += lanes[l + half];
  return lanes[0];
}

/// Rows x Columns sums of k products each.
template <int Lanes, int Rows, int Columns>
MESHLOOM_INLINE void
columnsTile(int64_t k, const float *lhs, int64_t lhsStride, const float *rhs,
            int64_t rhsStride, bool accumulate, float *out, int64_t outStride) {
  using Floats = typename Vectors<Lanes>::Floats;
  Floats sums[Rows][Columns] = {};
  int64_t i = 0;
  auto add = [&](auto read) __attribute__((always_inline)) {
    Floats thin[Rows];
    for (int r = 0; r < Rows; ++r)
      read(thin[r], lhs + r * lhsStride);
    for (int c = 0; c < Columns; ++c) {
      Floats large;
      read(large, rhs + c * rhsStride);
      for (int r = 0; r < Rows; ++r)
        sums[r][c] += thin[r] * large;
    }
  };
  for (; i + Lanes <= k; i += Lanes)
    add([i](Floats &to, const float *from)
            __attribute__((always_inline)) { load<Lanes>(to, from + i); });
  if (i < k) {
    // The last ones once more, with zeros for those that were added already:
    // nothing beyond the end is read, and no infinity meets a zero.
    typename Vectors<Lanes>::Bits kept;
    for (int l = 0; l < Lanes; ++l)
      kept[l] = l >= Lanes - (k - i) ? -1 : 0;
    add([&](Floats &to, const float *from) __attribute__((always_inline)) {
      load<Lanes>(to, from + k - Lanes);
      to = (Floats)((typename Vectors<Lanes>::Bits)to & kept);
    });
  }
  for (int r = 0; r < Rows; ++r)
    for (int c = 0; c < Columns; ++c) {
      const float sum = sumOfLanes<Lanes>(sums[r][c]);
      float &to = out[r * outStride + c];
      to = accumulate ? to + sum : sum;
    }
}

template <int Lanes, int Rows, int Columns>
MESHLOOM_INLINE void byColumns(int64_t m, int64_t n, int64_t k,
                               const float *lhs, int64_t lhsStride,
                               const float *rhs, int64_t rhsStride,
                               bool accumulate, float *out, int64_t outStride) {
  for (int64_t c = 0; c < n;) {
    const int64_t columns = n - c >= Columns ? Columns : 1;
    for (int64_t r = 0, rows = 0; r < m; r += rows) {
      rows = m - r >= Rows ? Rows : 1;
      auto tile = [&]<int R, int C>() __attribute__((always_inline)) {
        columnsTile<Lanes, R, C>(k, lhs + r * lhsStride, lhsStride,
                                 rhs + c * rhsStride, rhsStride, accumulate,
                                 out + r * outStride + c, outStride);
      };
      if (columns == Columns && rows == Rows)
        tile.template operator()<Rows, Columns>();
      else if (columns == Columns)
        tile.template operator()<1, Columns>();
      else if (rows == Rows)
        tile.template operator()<Rows, 1>();
      else
        tile.template operator()<1, 1>();
    }
    c += columns;
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

/// The one for this CPU, or null.
Function function() {
  static const Function chosen = []() -> Function {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f"))
      return product512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return product256;
    return nullptr;
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
         (columnStride >= k || n == 1) && function();
#else
  return false;
#endif
}

void thinProduct(int64_t m, int64_t n, int64_t k, const float *lhs,
                 int64_t lhsStride, const float *rhs, int64_t rhsStride,
                 bool accumulate, float *out, int64_t outStride) {
#ifdef MESHLOOM_THIN_PRODUCTS
  function()(m, n, k, lhs, lhsStride, rhs, rhsStride, accumulate, out,
             outStride);
#endif
}

} // namespace meshloom::library
