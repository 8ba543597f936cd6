// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// This file has the parts that all convolutions share: empty boxes, cropping,
// and types that are computed in a wider type.
#include "Convolution.h"

#include "ThreadScratch.h"
#include "meshloom/Runtime/HalfFloats.h"

#include <algorithm>
#include <complex>

using namespace meshloom;
using namespace meshloom::library;

namespace {

//===----------------------------------------------------------------------===//
// Boxes as lists of (count, step)
//===----------------------------------------------------------------------===//

struct Run {
  int64_t count, step;
};
using Runs = std::vector<Run>;

Runs lhsRuns(const Convolution &c) {
  Runs runs{{c.groups, c.groupStep[0]},
            {c.batch, c.lhsBatchStep},
            {c.input, c.lhsInputStep}};
  for (const ConvolutionDim &dim : c.dims)
    runs.push_back({dim.in, dim.lhsStep});
  return runs;
}
Runs rhsRuns(const Convolution &c) {
  Runs runs{{c.groups, c.groupStep[1]},
            {c.input, c.rhsInputStep},
            {c.output, c.rhsOutputStep}};
  for (const ConvolutionDim &dim : c.dims)
    runs.push_back({dim.kernel, dim.rhsStep});
  return runs;
}
Runs outRuns(const Convolution &c) {
  Runs runs{{c.groups, c.groupStep[2]},
            {c.batch, c.outBatchStep},
            {c.output, c.outOutputStep}};
  for (const ConvolutionDim &dim : c.dims)
    runs.push_back({dim.out, dim.outStep});
  return runs;
}

int64_t countOf(const Runs &runs) {
  int64_t count = 1;
  for (const Run &run : runs)
    count *= run.count;
  return count;
}

/// Steps of a contiguous copy of a box, its dims in the same order in memory.
std::vector<int64_t> packedSteps(const Runs &runs) {
  std::vector<size_t> order(runs.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(runs[a].step, b) < std::pair(runs[b].step, a);
  });
  std::vector<int64_t> steps(runs.size());
  int64_t step = 1;
  for (size_t i : order) {
    steps[i] = step;
    step *= std::max<int64_t>(runs[i].count, 1);
  }
  return steps;
}

/// Calls body(offset, packed offset, step, packed step, count) for rows of a
/// box: along the dim that is densest in memory.
template <typename Body>
void forEachRow(const Runs &runs, const std::vector<int64_t> &packed,
                const Body &body) {
  size_t row = 0;
  for (size_t i = 1; i < runs.size(); ++i)
    if (runs[i].count > 1 &&
        (runs[row].count == 1 || runs[i].step < runs[row].step))
      row = i;
  std::vector<int64_t> index(runs.size(), 0);
  int64_t offset = 0, target = 0;
  while (true) {
    body(offset, target, runs[row].step, packed[row], runs[row].count);
    size_t d = 0;
    for (; d < runs.size(); ++d) {
      if (d == row)
        continue;
      offset += runs[d].step;
      target += packed[d];
      if (++index[d] < runs[d].count)
        break;
      offset -= runs[d].step * runs[d].count;
      target -= packed[d] * runs[d].count;
      index[d] = 0;
    }
    if (d == runs.size())
      return;
  }
}

template <typename T> void fillZero(const Runs &runs, T *out) {
  std::vector<int64_t> unused(runs.size(), 0);
  forEachRow(runs, unused,
             [&](int64_t begin, int64_t, int64_t step, int64_t, int64_t count) {
               for (int64_t i = 0; i < count; ++i)
                 out[begin + i * step] = T();
             });
}

/// Elements that no window reaches are left out, so that no padding is
/// negative.
void crop(Convolution &c, int64_t &lhsOffset) {
  for (ConvolutionDim &dim : c.dims) {
    if (dim.low < 0) {
      const int64_t cut =
          std::min((-dim.low + dim.lhsDilation - 1) / dim.lhsDilation, dim.in);
      lhsOffset += cut * dim.lhsStep;
      dim.in -= cut;
      dim.low += cut * dim.lhsDilation;
    }
    const int64_t last = (dim.out - 1) * dim.stride - dim.low +
                         (dim.kernel - 1) * dim.rhsDilation;
    dim.in = last < 0 ? 0 : std::min(dim.in, last / dim.lhsDilation + 1);
  }
}

/// bf16 and f16: f32 copies of the boxes, and the result rounded once.
template <typename Half>
Status convolveWide(Convolution c, const uint16_t *lhs, const uint16_t *rhs,
                    uint16_t *out) {
  auto widen = [](const Runs &runs, const uint16_t *from, unsigned slot) {
    auto *to = static_cast<float *>(
        threadScratch(slot, size_t(countOf(runs)) * sizeof(float)));
    forEachRow(runs, packedSteps(runs),
               [&](int64_t begin, int64_t target, int64_t step, int64_t packed,
                   int64_t count) {
                 for (int64_t i = 0; i < count; ++i)
                   to[target + i * packed] =
                       Half::widen(from[begin + i * step]);
               });
    return to;
  };
  const Runs leftRuns = lhsRuns(c), rightRuns = rhsRuns(c), result = outRuns(c);
  float *wideLhs = widen(leftRuns, lhs, 4), *wideRhs = widen(rightRuns, rhs, 5);
  auto *wideOut = static_cast<float *>(
      threadScratch(6, size_t(countOf(result)) * sizeof(float)));
  const std::vector<int64_t> l = packedSteps(leftRuns),
                             r = packedSteps(rightRuns),
                             o = packedSteps(result);
  c.call = nullptr; // its operands are this thread's
  c.groupStep = {l[0], r[0], o[0]};
  c.lhsBatchStep = l[1];
  c.lhsInputStep = l[2];
  c.rhsInputStep = r[1];
  c.rhsOutputStep = r[2];
  c.outBatchStep = o[1];
  c.outOutputStep = o[2];
  for (size_t d = 0; d < c.dims.size(); ++d) {
    c.dims[d].lhsStep = l[3 + d];
    c.dims[d].rhsStep = r[3 + d];
    c.dims[d].outStep = o[3 + d];
  }
  if (Status ok = convolve(c, DType::F32, wideLhs, wideRhs, wideOut); !ok)
    return ok;
  forEachRow(result, o,
             [&](int64_t begin, int64_t source, int64_t step, int64_t packed,
                 int64_t count) {
               for (int64_t i = 0; i < count; ++i)
                 out[begin + i * step] =
                     Half::narrow(wideOut[source + i * packed]);
             });
  return Success();
}

/// By products, but by loops where a group has few results: products would
/// compute zeros for the most part.
template <typename T>
Status runProducts(const Convolution &c, DType type, const void *lhs,
                   const void *rhs, void *out) {
  const auto *lhsData = static_cast<const T *>(lhs);
  const auto *rhsData = static_cast<const T *>(rhs);
  auto *result = static_cast<T *>(out);
  if (convolveSignals(c, lhsData, rhsData, result))
    return Success();
  if (c.by == Convolution::By::Products ||
      (c.by == Convolution::By::Any && c.output >= 4))
    convolveByProducts(c, type, lhsData, rhsData, result);
  else
    convolveByLoops(c, lhsData, rhsData, result);
  return Success();
}

template <typename T>
Status run(const Convolution &c, const void *lhs, const void *rhs, void *out) {
  convolveByLoops(c, static_cast<const T *>(lhs), static_cast<const T *>(rhs),
                  static_cast<T *>(out));
  return Success();
}

/// Zeros, by the size of the element.
void zero(const Convolution &c, DType type, void *out) {
  const Runs runs = outRuns(c);
  switch (byteWidth(type)) {
  case 1:
    return fillZero(runs, static_cast<uint8_t *>(out));
  case 2:
    return fillZero(runs, static_cast<uint16_t *>(out));
  case 4:
    return fillZero(runs, static_cast<uint32_t *>(out));
  case 8:
    return fillZero(runs, static_cast<uint64_t *>(out));
  default:
    return fillZero(runs, static_cast<std::complex<double> *>(out));
  }
}

} // namespace

Status library::convolve(const Convolution &convolution, DType type,
                         const void *lhs, const void *rhs, void *out) {
  Convolution c = convolution;
  if (countOf(outRuns(c)) == 0)
    return Success();
  int64_t offset = 0;
  crop(c, offset);
  if (countOf(lhsRuns(c)) == 0 || countOf(rhsRuns(c)) == 0) {
    zero(c, type, out);
    return Success();
  }
  lhs = static_cast<const char *>(lhs) + offset * int64_t(byteWidth(type));
  switch (type) {
  case DType::F32:
    // oneDNN pads one feature to a vector of them.
    if (c.dims.size() == 1 &&
        convolveSignals(c, static_cast<const float *>(lhs),
                        static_cast<const float *>(rhs),
                        static_cast<float *>(out)))
      return Success();
    if (c.by == Convolution::By::Any &&
        convolveByOneDNN(c, static_cast<const float *>(lhs),
                         static_cast<const float *>(rhs),
                         static_cast<float *>(out)))
      return Success();
    return runProducts<float>(c, type, lhs, rhs, out);
  case DType::BF16:
    return convolveWide<BF16>(c, static_cast<const uint16_t *>(lhs),
                              static_cast<const uint16_t *>(rhs),
                              static_cast<uint16_t *>(out));
  case DType::F16:
    return convolveWide<F16>(c, static_cast<const uint16_t *>(lhs),
                             static_cast<const uint16_t *>(rhs),
                             static_cast<uint16_t *>(out));
  case DType::F64:
    return runProducts<double>(c, type, lhs, rhs, out);
  case DType::C64:
    return run<std::complex<float>>(c, lhs, rhs, out);
  case DType::C128:
    return run<std::complex<double>>(c, lhs, rhs, out);
  case DType::I1:
    return Error("a convolution of i1");
  // Products and sums wrap, so signs do not matter.
  case DType::I8:
  case DType::UI8:
    return run<uint8_t>(c, lhs, rhs, out);
  case DType::I16:
  case DType::UI16:
    return run<uint16_t>(c, lhs, rhs, out);
  case DType::I32:
  case DType::UI32:
    return runProducts<uint32_t>(c, type, lhs, rhs, out);
  case DType::I64:
  case DType::UI64:
    return convolveSignals(c, static_cast<const uint64_t *>(lhs),
                           static_cast<const uint64_t *>(rhs),
                           static_cast<uint64_t *>(out))
               ? Status(Success())
               : run<uint64_t>(c, lhs, rhs, out);
  }
  return Error("a convolution of an unknown type");
}
