// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions as matrix products whose elements have the same bits whatever is
// computed beside them (FixedProduct.h): the rows are places of the result, the
// terms what meets them, place after place of the kernel. The operand is first
// copied with the zeros around and between its elements, so that every place of
// the result meets as many.
#include "Convolution.h"
#include "FixedProduct.h"
#include "ThreadScratch.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Elements of a padded copy, unless one image has more: some second-level
/// caches.
constexpr int64_t COPY = 1 << 20;

/// All indices of a box of those counts, in row-major order, as the offsets
/// that `first` and `second` make of them.
Offsets offsetsOf(const std::vector<int64_t> &counts,
                  const std::vector<int64_t> &first,
                  const std::vector<int64_t> &second) {
  Offsets offsets{{0}, {0}};
  for (size_t d = 0; d < counts.size(); ++d) {
    Offsets next;
    const size_t count = offsets.first.size() * size_t(counts[d]);
    next.first.reserve(count);
    next.second.reserve(count);
    for (size_t i = 0; i < offsets.first.size(); ++i)
      for (int64_t j = 0; j < counts[d]; ++j) {
        next.first.push_back(offsets.first[i] + j * first[d]);
        next.second.push_back(offsets.second[i] + j * second[d]);
      }
    offsets = std::move(next);
  }
  return offsets;
}

/// [images, padded places..., input].
template <typename T> class PaddedCopy {
  const Convolution &c;

public:
  explicit PaddedCopy(const Convolution &c) : c(c), steps(c.dims.size()) {
    image = c.input;
    for (size_t d = c.dims.size(); d-- > 0;) {
      const ConvolutionDim &dim = c.dims[d];
      steps[d] = image;
      image *=
          (dim.out - 1) * dim.stride + (dim.kernel - 1) * dim.rhsDilation + 1;
    }
  }

  /// Copies `count` images from the one at `lhs` on.
  const T *fill(const T *lhs, int64_t count) {
    auto *to =
        static_cast<T *>(threadScratch(3, size_t(count * image) * sizeof(T)));
    std::fill_n(to, count * image, T(0));
    for (int64_t n = 0; n < count; ++n)
      fillDim(0, lhs + n * c.lhsBatchStep, to + n * image);
    return to;
  }

  int64_t image;              ///< elements of one
  std::vector<int64_t> steps; ///< from place to place

private:
  void fillDim(size_t d, const T *from, T *to) {
    if (d == c.dims.size()) {
      for (int64_t i = 0; i < c.input; ++i)
        to[i] = from[i * c.lhsInputStep];
      return;
    }
    const ConvolutionDim &dim = c.dims[d];
    const int64_t places =
        (dim.out - 1) * dim.stride + (dim.kernel - 1) * dim.rhsDilation + 1;
    for (int64_t i = 0; i < dim.in; ++i) {
      const int64_t place = i * dim.lhsDilation + dim.low;
      if (place >= 0 && place < places)
        fillDim(d + 1, from + i * dim.lhsStep, to + place * steps[d]);
    }
  }
};
} // namespace

template <typename T>
void library::convolveByProducts(const Convolution &c, DType type, const T *lhs,
                                 const T *rhs, T *out) {
  PaddedCopy<T> copy(c);
  // The dims of the terms are the kernel's places, then the input features.
  std::vector<int64_t> kernel, inCopy, inKernel;
  int64_t firstOfKernel = 0;
  for (size_t d = 0; d < c.dims.size(); ++d) {
    const ConvolutionDim &dim = c.dims[d];
    kernel.push_back(dim.kernel);
    inCopy.push_back(dim.rhsDilation * copy.steps[d]);
    inKernel.push_back(dim.reversed ? -dim.rhsStep : dim.rhsStep);
    if (dim.reversed)
      firstOfKernel += (dim.kernel - 1) * dim.rhsStep;
  }
  kernel.push_back(c.input);
  inCopy.push_back(1);
  inKernel.push_back(c.rhsInputStep);
  const Offsets terms = offsetsOf(kernel, inCopy, inKernel);
  const Offsets columns =
      offsetsOf({c.output}, {c.rhsOutputStep}, {c.outOutputStep});
  const int64_t most =
      std::clamp<int64_t>(COPY / std::max<int64_t>(copy.image, 1), 1, c.batch);
  for (int64_t first = 0; first < c.batch; first += most) {
    const int64_t images = std::min(most, c.batch - first);
    std::vector<int64_t> places{images}, from{copy.image}, to{c.outBatchStep};
    for (size_t d = 0; d < c.dims.size(); ++d) {
      places.push_back(c.dims[d].out);
      from.push_back(c.dims[d].stride * copy.steps[d]);
      to.push_back(c.dims[d].outStep);
    }
    const Offsets rows = offsetsOf(places, from, to);
    for (int64_t g = 0; g < c.groups; ++g)
      fixedProduct(
          type,
          copy.fill(lhs + g * c.groupStep[0] + first * c.lhsBatchStep, images),
          rhs + g * c.groupStep[1] + firstOfKernel,
          out + g * c.groupStep[2] + first * c.outBatchStep, rows, columns,
          terms);
  }
}

template void library::convolveByProducts(const Convolution &, DType,
                                          const float *, const float *,
                                          float *);
template void library::convolveByProducts(const Convolution &, DType,
                                          const double *, const double *,
                                          double *);
template void library::convolveByProducts(const Convolution &, DType,
                                          const uint32_t *, const uint32_t *,
                                          uint32_t *);
