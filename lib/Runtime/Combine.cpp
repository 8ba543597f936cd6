// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combining arrays element by element, block by block so that the result stays
// in the first-level cache while the sources stream past.
#include "meshloom/Runtime/Combine.h"

#include "meshloom/Runtime/HalfFloats.h"
#include "meshloom/Runtime/Sanitizers.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace meshloom;

namespace {
/// Returns the larger or the smaller number, and nan where one is nan. -0 is
/// less than 0, so that the order of devices does not show in the result.
template <bool larger, typename T> inline T extremum(T a, T b) {
  const bool isFirst = a != a || (larger ? a > b : a < b);
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const auto x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
    const Bits same = larger ? x & y : x | y;
    const Bits chosen = isFirst ? x : y;
    return std::bit_cast<T>(a == b ? same : chosen);
  } else {
    return isFirst ? a : b;
  }
}

template <ReduceKind kind, typename T> inline T apply(T a, T b) {
  if constexpr (kind == ReduceKind::Sum)
    return T(a + b);
  if constexpr (kind == ReduceKind::Prod)
    return std::is_integral_v<T> ? T(uint64_t(a) * uint64_t(b)) : T(a * b);
  if constexpr (kind == ReduceKind::Min)
    return extremum</*larger=*/false>(a, b);
  if constexpr (kind == ReduceKind::Max)
    return extremum</*larger=*/true>(a, b);
  if constexpr (kind == ReduceKind::And || kind == ReduceKind::Or) {
    if constexpr (std::is_floating_point_v<T>)
      return kind == ReduceKind::And ? T(a && b) : T(a || b);
    else
      return kind == ReduceKind::And ? T(a & b) : T(a | b);
  }
}

constexpr int64_t BLOCK = 2048;

/// Multiplies in f64, as kernels do, so that a factor of 0 is not multiplied by
/// what the others alone overflow to.
void multiplyF32(float *into, std::span<const void *const> sources,
                 int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    double product = 1;
    for (const void *source : sources)
      product *= static_cast<const float *>(source)[i];
    into[i] = float(product);
  }
}

template <ReduceKind kind, typename T>
void combineTyped(T *into, std::span<const void *const> sources,
                  int64_t count) {
  for (int64_t begin = 0; begin < count; begin += BLOCK) {
    const int64_t n = std::min(BLOCK, count - begin);
    T *to = into + begin;
    const T *first = static_cast<const T *>(sources[0]) + begin;
    if (sources.size() == 1) {
      if (to != first)
        std::copy_n(first, n, to);
      continue;
    }
    // Pairs halve the passes over the block.
    size_t s = 1;
    const T *second = static_cast<const T *>(sources[s++]) + begin;
    for (int64_t i = 0; i < n; ++i)
      to[i] = apply<kind>(first[i], second[i]);
    for (; s + 1 < sources.size(); s += 2) {
      const T *a = static_cast<const T *>(sources[s]) + begin;
      const T *b = static_cast<const T *>(sources[s + 1]) + begin;
      for (int64_t i = 0; i < n; ++i)
        to[i] = apply<kind>(apply<kind>(to[i], a[i]), b[i]);
    }
    if (s < sources.size()) {
      const T *a = static_cast<const T *>(sources[s]) + begin;
      for (int64_t i = 0; i < n; ++i)
        to[i] = apply<kind>(to[i], a[i]);
    }
  }
}

template <ReduceKind kind, typename Half>
void combineHalf(uint16_t *into, std::span<const void *const> sources,
                 int64_t count) {
  using Wide = std::conditional_t<kind == ReduceKind::Prod, double, float>;
  Wide block[BLOCK];
  for (int64_t begin = 0; begin < count; begin += BLOCK) {
    const int64_t n = std::min(BLOCK, count - begin);
    for (size_t s = 0; s < sources.size(); ++s) {
      const uint16_t *from = static_cast<const uint16_t *>(sources[s]) + begin;
      for (int64_t i = 0; i < n; ++i)
        block[i] = s == 0 ? Half::widen(from[i])
                          : apply<kind>(block[i], Wide(Half::widen(from[i])));
    }
    for (int64_t i = 0; i < n; ++i)
      into[begin + i] = Half::narrow(float(block[i]));
  }
}

/// Sums and products of complex numbers, part by part; they have no others.
template <ReduceKind kind, typename T>
void combineComplex(T *into, std::span<const void *const> sources,
                    int64_t count) {
  if constexpr (kind == ReduceKind::Sum) {
    combineTyped<kind>(into, sources, 2 * count);
  } else if constexpr (kind == ReduceKind::Prod) {
    for (int64_t i = 0; i < 2 * count; i += 2) {
      const T *first = static_cast<const T *>(sources[0]) + i;
      double real = first[0], imaginary = first[1];
      for (const void *source : sources.subspan(1)) {
        const T *next = static_cast<const T *>(source) + i;
        double product = real * next[0] - imaginary * next[1];
        imaginary = real * next[1] + imaginary * next[0];
        real = product;
      }
      into[i] = T(real);
      into[i + 1] = T(imaginary);
    }
  }
}

/// Sums and products wrap around, so they are made unsigned; promoted to int,
/// products of 16 bits would overflow.
template <ReduceKind kind, typename Signed>
void combineSigned(void *into, std::span<const void *const> sources,
                   int64_t count) {
  using Unsigned = std::make_unsigned_t<Signed>;
  if constexpr (kind == ReduceKind::Min || kind == ReduceKind::Max)
    combineTyped<kind>(static_cast<Signed *>(into), sources, count);
  else
    combineTyped<kind>(static_cast<Unsigned *>(into), sources, count);
}

template <ReduceKind kind>
void combineKind(DType type, void *into, std::span<const void *const> sources,
                 int64_t count) {
  switch (type) {
  case DType::F32:
    if constexpr (kind == ReduceKind::Prod)
      return multiplyF32(static_cast<float *>(into), sources, count);
    else
      return combineTyped<kind>(static_cast<float *>(into), sources, count);
  case DType::F64:
    return combineTyped<kind>(static_cast<double *>(into), sources, count);
  case DType::BF16:
    return combineHalf<kind, BF16>(static_cast<uint16_t *>(into), sources,
                                   count);
  case DType::F16:
    return combineHalf<kind, F16>(static_cast<uint16_t *>(into), sources,
                                  count);
  case DType::C64:
    return combineComplex<kind>(static_cast<float *>(into), sources, count);
  case DType::C128:
    return combineComplex<kind>(static_cast<double *>(into), sources, count);
  case DType::I1: {
    // Booleans: a sum is an or, a product an and.
    constexpr ReduceKind boolean = kind == ReduceKind::Sum    ? ReduceKind::Or
                                   : kind == ReduceKind::Prod ? ReduceKind::And
                                                              : kind;
    return combineTyped<boolean>(static_cast<uint8_t *>(into), sources, count);
  }
  case DType::UI8:
    return combineTyped<kind>(static_cast<uint8_t *>(into), sources, count);
  case DType::UI16:
    return combineTyped<kind>(static_cast<uint16_t *>(into), sources, count);
  case DType::UI32:
    return combineTyped<kind>(static_cast<uint32_t *>(into), sources, count);
  case DType::UI64:
    return combineTyped<kind>(static_cast<uint64_t *>(into), sources, count);
  case DType::I8:
    return combineSigned<kind, int8_t>(into, sources, count);
  case DType::I16:
    return combineSigned<kind, int16_t>(into, sources, count);
  case DType::I32:
    return combineSigned<kind, int32_t>(into, sources, count);
  case DType::I64:
    return combineSigned<kind, int64_t>(into, sources, count);
  }
}

// Sources may be the target itself, element for element, never shifted.
#if defined(__clang__)
#define MESHLOOM_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define MESHLOOM_VECTORIZE _Pragma("GCC ivdep")
#endif

// The clone is chosen before ThreadSanitizer is ready.
#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
#define MESHLOOM_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MESHLOOM_VECTOR_CLONES
#endif

/// The one that time matters for: gradients. Eight sources at a time are added
/// in pairs.
MESHLOOM_VECTOR_CLONES
void sumF32(float *into, const void *const *sources, size_t numSources,
            int64_t count) {
  for (int64_t begin = 0; begin < count; begin += BLOCK) {
    const int64_t n = std::min(BLOCK, count - begin);
    float *to = into + begin;
    auto source = [&](size_t s) {
      return static_cast<const float *>(sources[s]) + begin;
    };
    // The target may be the first source.
    const float *sum = source(0);
    size_t s = 1;
    for (; s + 7 < numSources; s += 8) {
      const float *a = source(s), *b = source(s + 1), *c = source(s + 2),
                  *d = source(s + 3), *e = source(s + 4), *f = source(s + 5),
                  *g = source(s + 6), *h = source(s + 7);
      MESHLOOM_VECTORIZE
      for (int64_t i = 0; i < n; ++i)
        to[i] = sum[i] + (((a[i] + b[i]) + (c[i] + d[i])) +
                          ((e[i] + f[i]) + (g[i] + h[i])));
      sum = to;
    }
    for (; s + 2 < numSources; s += 3) {
      const float *a = source(s), *b = source(s + 1), *c = source(s + 2);
      MESHLOOM_VECTORIZE
      for (int64_t i = 0; i < n; ++i)
        to[i] = (sum[i] + a[i]) + (b[i] + c[i]);
      sum = to;
    }
    for (; s < numSources; ++s) {
      const float *a = source(s);
      MESHLOOM_VECTORIZE
      for (int64_t i = 0; i < n; ++i)
        to[i] = sum[i] + a[i];
      sum = to;
    }
  }
}

template <typename T>
void fillTyped(ReduceKind kind, void *into, int64_t count) {
  using Limits = std::numeric_limits<T>;
  constexpr bool infinite = Limits::has_infinity;
  T value = 0;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Or:
    break;
  case ReduceKind::Prod:
    value = 1;
    break;
  case ReduceKind::Min:
    value = infinite ? Limits::infinity() : Limits::max();
    break;
  case ReduceKind::Max:
    value = infinite ? T(-Limits::infinity()) : Limits::lowest();
    break;
  case ReduceKind::And:
    value = infinite ? T(1) : T(~int64_t(0));
    break;
  }
  std::fill_n(static_cast<T *>(into), count, value);
}
} // namespace

void meshloom::combine(ReduceKind kind, DType type, void *into,
                       std::span<const void *const> sources, int64_t count) {
  if (type == DType::F32 && kind == ReduceKind::Sum && sources.size() > 1)
    return sumF32(static_cast<float *>(into), sources.data(), sources.size(),
                  count);
  switch (kind) {
  case ReduceKind::Sum:
    return combineKind<ReduceKind::Sum>(type, into, sources, count);
  case ReduceKind::Prod:
    return combineKind<ReduceKind::Prod>(type, into, sources, count);
  case ReduceKind::Min:
    return combineKind<ReduceKind::Min>(type, into, sources, count);
  case ReduceKind::Max:
    return combineKind<ReduceKind::Max>(type, into, sources, count);
  case ReduceKind::And:
    return combineKind<ReduceKind::And>(type, into, sources, count);
  case ReduceKind::Or:
    return combineKind<ReduceKind::Or>(type, into, sources, count);
  }
}

void meshloom::fillIdentity(ReduceKind kind, DType type, void *into,
                            int64_t count) {
  switch (type) {
  case DType::F32:
    return fillTyped<float>(kind, into, count);
  case DType::F64:
    return fillTyped<double>(kind, into, count);
  case DType::BF16:
  case DType::F16: {
    float value;
    fillTyped<float>(kind, &value, 1);
    std::fill_n(static_cast<uint16_t *>(into), count,
                type == DType::F16 ? F16::narrow(value) : BF16::narrow(value));
    return;
  }
  case DType::C64:
    std::fill_n(static_cast<std::complex<float> *>(into), count,
                kind == ReduceKind::Prod ? 1.0f : 0.0f);
    return;
  case DType::C128:
    std::fill_n(static_cast<std::complex<double> *>(into), count,
                kind == ReduceKind::Prod ? 1.0 : 0.0);
    return;
  case DType::I1: {
    const bool one = kind == ReduceKind::Prod || kind == ReduceKind::Min ||
                     kind == ReduceKind::And;
    std::memset(into, one, size_t(count));
    return;
  }
  case DType::I8:
    return fillTyped<int8_t>(kind, into, count);
  case DType::I16:
    return fillTyped<int16_t>(kind, into, count);
  case DType::UI16:
    return fillTyped<uint16_t>(kind, into, count);
  case DType::UI64:
    return fillTyped<uint64_t>(kind, into, count);
  case DType::UI8:
    return fillTyped<uint8_t>(kind, into, count);
  case DType::I32:
    return fillTyped<int32_t>(kind, into, count);
  case DType::UI32:
    return fillTyped<uint32_t>(kind, into, count);
  case DType::I64:
    return fillTyped<int64_t>(kind, into, count);
  }
}
