// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of one feature with one feature, alone or in groups: signals and
// images, channel by channel. A tile is some vectors of adjacent results, whose
// sums stay in registers for all terms; each term multiplies adjacent elements
// by one number of the kernel. Results near the ends, which fewer elements
// meet, are computed one by one.
//
// Sums of 256 terms at most are made one by one, and added one by one.
#include "Convolution.h"
#include "LaneTranspose.h"
#include "ThreadScratch.h"
#include "VectorWidth.h"
#include "meshloom/Runtime/Sanitizers.h"

#include <algorithm>
#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {
constexpr int64_t SIGNAL_TERMS = 256;

/// A row of lhs that meets a row of the kernel; both by their offsets.
struct SignalRows {
  int64_t lhs, kernel;
};

/// One row of results. Rows of lhs have `in` elements, and begin `low` elements
/// after the one that the first result's first term has; rows of the packed
/// kernel have `terms` numbers, for elements that are `dilation` apart.
template <typename T> struct SignalRow {
  const T *lhs, *kernel;
  const std::vector<SignalRows> &rows;
  int64_t terms, dilation, in, low;
  T *out;
  int64_t count;
};

/// The result `place`, by the elements that there are.
template <typename T> T resultAt(const SignalRow<T> &s, int64_t place) {
  T total = 0, sum = 0;
  int64_t added = 0;
  for (const SignalRows &row : s.rows)
    for (int64_t k = 0; k < s.terms; ++k) {
      const int64_t from = place - s.low + k * s.dilation;
      if (from < 0 || from >= s.in)
        continue;
      sum += s.lhs[row.lhs + from] * s.kernel[row.kernel + k];
      if (++added % SIGNAL_TERMS != 0)
        continue;
      total += sum;
      sum = 0;
    }
  return total + sum;
}

/// The results [place, place + Vectors * Lanes), which all terms meet.
template <int Lanes, int Vectors, typename T>
MESHLOOM_LANES_INLINE void signalTile(const SignalRow<T> &s, int64_t place) {
  using Vector = LaneVector<T, Lanes>;
  Vector totals[Vectors] = {}, sums[Vectors] = {};
  int64_t added = 0;
  for (const SignalRows &row : s.rows)
    for (int64_t begin = 0; begin < s.terms;) {
      const int64_t end = std::min(s.terms, begin + SIGNAL_TERMS - added);
      const T *from = s.lhs + row.lhs + place - s.low + begin * s.dilation;
      for (int64_t k = begin; k < end; ++k, from += s.dilation)
        MESHLOOM_LANES_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        Vector elements;
        std::memcpy(&elements, from + v * Lanes, sizeof elements);
        sums[v] += elements * s.kernel[row.kernel + k];
      }
      added += end - begin;
      begin = end;
      if (added < SIGNAL_TERMS)
        continue;
      added = 0;
      MESHLOOM_LANES_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        totals[v] += sums[v];
        sums[v] = Vector{};
      }
    }
  MESHLOOM_LANES_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    totals[v] += sums[v];
    std::memcpy(s.out + place + v * Lanes, &totals[v], sizeof(Vector));
  }
}

template <int Lanes, typename T>
MESHLOOM_LANES_INLINE void signalRow(const SignalRow<T> &s) {
  constexpr int64_t tile = 4 * Lanes;
  // All terms meet the results [begin, end).
  const int64_t reach = (s.terms - 1) * s.dilation;
  const int64_t begin = std::clamp<int64_t>(s.low, 0, s.count),
                end = std::clamp(s.in + s.low - reach, begin, s.count);
  int64_t place = begin;
  for (; place + tile <= end; place += tile)
    signalTile<Lanes, 4>(s, place);
  for (; place + Lanes <= end; place += Lanes)
    signalTile<Lanes, 1>(s, place);
  for (int64_t i = 0; i < begin; ++i)
    s.out[i] = resultAt(s, i);
  for (int64_t i = place; i < s.count; ++i)
    s.out[i] = resultAt(s, i);
}

#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
// NOLINTBEGIN(bugprone-macro-parentheses): an attribute takes none.
#define MESHLOOM_SIGNAL_ROWS(NAME, BYTES, TARGET)                              \
  TARGET void NAME(const SignalRow<float> &s) {                                \
    signalRow<BYTES / 4>(s);                                                   \
  }                                                                            \
  TARGET void NAME(const SignalRow<double> &s) {                               \
    signalRow<BYTES / 8>(s);                                                   \
  }                                                                            \
  TARGET void NAME(const SignalRow<uint32_t> &s) {                             \
    signalRow<BYTES / 4>(s);                                                   \
  }                                                                            \
  TARGET void NAME(const SignalRow<uint64_t> &s) {                             \
    signalRow<BYTES / 8>(s);                                                   \
  }
// NOLINTEND(bugprone-macro-parentheses)
MESHLOOM_SIGNAL_ROWS(signalRow512, 64,
                     __attribute__((target("avx512f,avx512dq,avx2,fma"))))
MESHLOOM_SIGNAL_ROWS(signalRow256, 32, __attribute__((target("avx2,fma"))))
MESHLOOM_SIGNAL_ROWS(signalRow128, 16, )
#endif

template <typename T> void computeSignalRow(const SignalRow<T> &s) {
#if defined(__x86_64__) && !defined(MESHLOOM_THREAD_SANITIZER)
  const int width = vectorBits();
  if (width == 512)
    return signalRow512(s);
  if (width == 256)
    return signalRow256(s);
  signalRow128(s);
#else
  signalRow<16 / sizeof(T)>(s);
#endif
}

/// Copies the kernel of one group row by row.
template <typename T>
void packSignalKernel(const Convolution &c, const T *rhs, T *to) {
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < c.dims.size(); ++d)
    rows *= c.dims[d].kernel;
  const ConvolutionDim &last = c.dims.back();
  auto stepOf = [](const ConvolutionDim &dim, int64_t index) {
    return (dim.reversed ? dim.kernel - 1 - index : index) * dim.rhsStep;
  };
  for (int64_t r = 0; r < rows; ++r, to += last.kernel) {
    int64_t remaining = r, from = 0;
    for (size_t d = c.dims.size() - 1; d-- > 0;) {
      from += stepOf(c.dims[d], remaining % c.dims[d].kernel);
      remaining /= c.dims[d].kernel;
    }
    for (int64_t k = 0; k < last.kernel; ++k)
      to[k] = rhs[from + stepOf(last, k)];
  }
}

/// Finds the rows that meet in the row of results at `outIndex`, and returns
/// where that is.
int64_t findSignalRows(const Convolution &c,
                       const std::vector<int64_t> &outIndex,
                       std::vector<SignalRows> &rows) {
  rows.assign(1, {0, 0});
  int64_t target = 0;
  std::vector<SignalRows> next;
  for (size_t d = 0; d < outIndex.size(); ++d) {
    const ConvolutionDim &dim = c.dims[d];
    target += outIndex[d] * dim.outStep;
    next.clear();
    for (const SignalRows &row : rows)
      for (int64_t k = 0; k < dim.kernel; ++k) {
        const int64_t place =
            outIndex[d] * dim.stride - dim.low + k * dim.rhsDilation;
        if (place >= 0 && place % dim.lhsDilation == 0 &&
            place / dim.lhsDilation < dim.in)
          next.push_back({row.lhs + place / dim.lhsDilation * dim.lhsStep,
                          row.kernel * dim.kernel + k});
      }
    rows.swap(next);
  }
  for (SignalRows &row : rows)
    row.kernel *= c.dims.back().kernel;
  return target;
}
} // namespace

template <typename T>
bool library::convolveSignals(const Convolution &c, const T *lhs, const T *rhs,
                              T *out) {
  if (c.by != Convolution::By::Any || c.input != 1 || c.output != 1 ||
      c.dims.empty())
    return false;
  const ConvolutionDim &last = c.dims.back();
  if (last.stride != 1 || last.lhsDilation != 1 || last.lhsStep != 1 ||
      last.outStep != 1)
    return false;
  int64_t numbers = 1;
  for (const ConvolutionDim &dim : c.dims)
    numbers *= dim.kernel;
  auto *kernel =
      static_cast<T *>(threadScratch(0, size_t(numbers) * sizeof(T)));
  std::vector<SignalRows> rows;
  for (int64_t g = 0; g < c.groups; ++g) {
    packSignalKernel(c, rhs + g * c.groupStep[1], kernel);
    std::vector<int64_t> outIndex(c.dims.size() - 1, 0);
    for (bool goesOn = true; goesOn;) {
      const int64_t target = findSignalRows(c, outIndex, rows);
      for (int64_t n = 0; n < c.batch; ++n)
        computeSignalRow<T>(
            {lhs + g * c.groupStep[0] + n * c.lhsBatchStep, kernel, rows,
             last.kernel, last.rhsDilation, last.in, last.low,
             out + g * c.groupStep[2] + n * c.outBatchStep + target, last.out});
      goesOn = false;
      for (size_t d = outIndex.size(); d-- > 0 && !goesOn;) {
        goesOn = ++outIndex[d] < c.dims[d].out;
        if (!goesOn)
          outIndex[d] = 0;
      }
    }
  }
  return true;
}

namespace meshloom::library {
template decltype(convolveSignals<float>) convolveSignals<float>;
template decltype(convolveSignals<double>) convolveSignals<double>;
template decltype(convolveSignals<uint32_t>) convolveSignals<uint32_t>;
template decltype(convolveSignals<uint64_t>) convolveSignals<uint64_t>;
} // namespace meshloom::library
