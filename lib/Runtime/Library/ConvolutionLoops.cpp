// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions by loops. The kernel is packed so that a vector of independent
// results, output features or groups, is contiguous; every place of the result
// then adds a multiple of a row of it for each element that it meets, many of
// them in pairs.
#include "Clones.h"
#include "Convolution.h"
#include "PairwiseSums.h"
#include "ThreadScratch.h"

#include <complex>
#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {

/// out += x * row.
template <typename T>
inline void addRow(T *out, T x, const T *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = T(out[i] + x * row[i]);
}
MESHLOOM_CLONES void addMultiple(float *out, float x, const float *row,
                                 int64_t count) {
  addRow(out, x, row, count);
}
MESHLOOM_CLONES void addMultiple(double *out, double x, const double *row,
                                 int64_t count) {
  addRow(out, x, row, count);
}
MESHLOOM_CLONES void addMultiple(uint8_t *out, uint8_t x, const uint8_t *row,
                                 int64_t count) {
  addRow(out, x, row, count);
}
MESHLOOM_CLONES void addMultiple(uint16_t *out, uint16_t x, const uint16_t *row,
                                 int64_t count) {
  // Products of 16 bits would overflow int.
  for (int64_t i = 0; i < count; ++i)
    out[i] = uint16_t(out[i] + uint32_t(x) * row[i]);
}
MESHLOOM_CLONES void addMultiple(uint32_t *out, uint32_t x, const uint32_t *row,
                                 int64_t count) {
  addRow(out, x, row, count);
}
MESHLOOM_CLONES void addMultiple(uint64_t *out, uint64_t x, const uint64_t *row,
                                 int64_t count) {
  addRow(out, x, row, count);
}
/// Complex products without the checks for infinities of operator*.
template <typename R>
void addMultiple(std::complex<R> *out, std::complex<R> x,
                 const std::complex<R> *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] +=
        std::complex<R>(x.real() * row[i].real() - x.imag() * row[i].imag(),
                        x.real() * row[i].imag() + x.imag() * row[i].real());
}

/// out[i] += lhs[i * step] * row[i], rounded as addMultiple does.
template <typename T>
void addProducts(T *out, const T *lhs, int64_t step, const T *row,
                 int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    addMultiple(&out[i], lhs[i * step], &row[i], 1);
}
MESHLOOM_CLONES void addProducts(float *out, const float *lhs, int64_t step,
                                 const float *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = out[i] + lhs[i * step] * row[i];
}

/// One meeting of a place of the result with the kernel: where it is in lhs and
/// in the packed kernel.
struct Meeting {
  int64_t lhs, kernel;
};

/// The kernel as [groups or 1, k..., input, lanes]: lanes are the output
/// features, or the groups where each has one feature.
template <typename T> class Loops {
public:
  Loops(const Convolution &c, const T *lhs, const T *rhs, T *out)
      : c(c), lhs(lhs), out(out), byGroup(c.output == 1 && c.groups > 1) {
    lanes = byGroup ? c.groups : c.output;
    laneStep = byGroup ? c.groupStep[2] : c.outOutputStep;
    places = 1;
    for (const ConvolutionDim &dim : c.dims)
      places *= dim.kernel;
    pack(rhs);
  }

  void run() {
    auto *sums = static_cast<T *>(threadScratch(1, size_t(lanes) * sizeof(T)));
    const int64_t groups = byGroup ? 1 : c.groups;
    std::vector<int64_t> outIndex(c.dims.size(), 0);
    int64_t target = 0;
    while (true) {
      findMeetings(outIndex);
      for (int64_t g = 0; g < groups; ++g)
        for (int64_t n = 0; n < c.batch; ++n)
          place(g, n, target, sums);
      size_t d = c.dims.size();
      while (d-- > 0) {
        target += c.dims[d].outStep;
        if (++outIndex[d] < c.dims[d].out)
          break;
        target -= c.dims[d].outStep * c.dims[d].out;
        outIndex[d] = 0;
      }
      if (d == size_t(-1))
        return;
    }
  }

private:
  void pack(const T *rhs) {
    const int64_t groups = byGroup ? 1 : c.groups;
    kernelSize = places * c.input * lanes;
    auto *to = static_cast<T *>(
        threadScratch(0, size_t(groups * kernelSize) * sizeof(T)));
    packed = to;
    const int64_t step = byGroup ? c.groupStep[1] : c.rhsOutputStep;
    std::vector<int64_t> k(c.dims.size(), 0);
    for (int64_t g = 0; g < groups; ++g)
      for (int64_t p = 0; p < places; ++p) {
        int64_t remaining = p, from = g * c.groupStep[1];
        for (size_t d = c.dims.size(); d-- > 0;) {
          const ConvolutionDim &dim = c.dims[d];
          const int64_t index = remaining % dim.kernel;
          remaining /= dim.kernel;
          from += (dim.reversed ? dim.kernel - 1 - index : index) * dim.rhsStep;
        }
        for (int64_t i = 0; i < c.input; ++i, to += lanes)
          for (int64_t o = 0; o < lanes; ++o)
            to[o] = rhs[from + i * c.rhsInputStep + o * step];
      }
  }

  /// Finds the elements that meet at the result's index `outIndex`.
  void findMeetings(const std::vector<int64_t> &outIndex) {
    meetings.assign(1, {0, 0});
    for (size_t d = 0; d < c.dims.size(); ++d) {
      const ConvolutionDim &dim = c.dims[d];
      std::vector<Meeting> &next = spare;
      next.clear();
      for (const Meeting &meeting : meetings)
        for (int64_t k = 0; k < dim.kernel; ++k) {
          const int64_t place =
              outIndex[d] * dim.stride - dim.low + k * dim.rhsDilation;
          if (place < 0 || place % dim.lhsDilation != 0 ||
              place / dim.lhsDilation >= dim.in)
            continue;
          next.push_back({meeting.lhs + place / dim.lhsDilation * dim.lhsStep,
                          meeting.kernel * dim.kernel + k});
        }
      meetings.swap(spare);
    }
  }

  void place(int64_t g, int64_t n, int64_t target, T *sums) {
    std::fill_n(sums, lanes, T());
    pairs.start(lanes);
    auto added = [&] {
      if constexpr (isRounded<T>)
        pairs.added(sums);
    };
    const T *from = lhs + g * c.groupStep[0] + n * c.lhsBatchStep;
    const T *kernel = packed + g * kernelSize;
    for (const Meeting &meeting : meetings) {
      const T *row = kernel + meeting.kernel * c.input * lanes;
      const T *element = from + meeting.lhs;
      for (int64_t i = 0; i < c.input; ++i, element += c.lhsInputStep) {
        if (byGroup)
          addProducts(sums, element, c.groupStep[0], row + i * lanes, lanes);
        else
          addMultiple(sums, *element, row + i * lanes, lanes);
        added();
      }
    }
    if constexpr (isRounded<T>)
      pairs.addTo(sums);
    T *to = out + g * c.groupStep[2] + n * c.outBatchStep + target;
    for (int64_t o = 0; o < lanes; ++o)
      to[o * laneStep] = sums[o];
  }

  const Convolution &c;
  const T *lhs;
  T *out;
  const bool byGroup;
  int64_t lanes, laneStep, places, kernelSize = 0;
  const T *packed = nullptr;
  std::vector<Meeting> meetings, spare;
  PairwiseSums<T> pairs;
};

} // namespace

template <typename T>
void library::convolveByLoops(const Convolution &convolution, const T *lhs,
                              const T *rhs, T *out) {
  Loops<T>(convolution, lhs, rhs, out).run();
}

namespace meshloom::library {
#define MESHLOOM_CONVOLVE(T)                                                   \
  template decltype(convolveByLoops<T>) convolveByLoops<T>;
MESHLOOM_CONVOLVE(float)
MESHLOOM_CONVOLVE(double)
MESHLOOM_CONVOLVE(uint8_t)
MESHLOOM_CONVOLVE(uint16_t)
MESHLOOM_CONVOLVE(uint32_t)
MESHLOOM_CONVOLVE(uint64_t)
MESHLOOM_CONVOLVE(std::complex<float>)
MESHLOOM_CONVOLVE(std::complex<double>)
#undef MESHLOOM_CONVOLVE
} // namespace meshloom::library
