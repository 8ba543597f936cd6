// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of boxes of arrays, for any strides in memory: f32 by oneDNN,
// other types and what oneDNN cannot by matrix products or loops.
#pragma once

#include "meshloom/Core/DType.h"
#include "meshloom/Core/Result.h"

#include <array>

namespace meshloom::library {

/// One spatial dim of the boxes. Place `y` of the result and `k` of the kernel
/// meet lhs element (y * stride - low + k * rhsDilation) / lhsDilation, if that
/// has no remainder and is in the box; strides in memory count elements.
struct ConvolutionDim {
  int64_t in = 1, kernel = 1, out = 1;
  int64_t stride = 1, low = 0, lhsDilation = 1, rhsDilation = 1;
  bool reversed = false; ///< kernel element k is at kernel - 1 - k in memory
  /// The kernel of the whole op is larger than its result: the op is the
  /// gradient of a kernel. A box may have few results for how the op is cut.
  bool hasLargeKernel = false;
  int64_t lhsStep = 0, rhsStep = 0, outStep = 0;
};

/// A convolution of boxes: out[g, n, o, y] = sum over c, k of
/// lhs[g, n, c, y + k] * rhs[g, c, o, k].
struct Convolution {
  int64_t groups = 1, batch = 1, input = 1, output = 1;
  /// Elements from one to the next in memory: of lhs, of rhs, of out.
  std::array<int64_t, 3> groupStep{};
  int64_t lhsBatchStep = 0, lhsInputStep = 0;
  int64_t rhsInputStep = 0, rhsOutputStep = 0;
  int64_t outBatchStep = 0, outOutputStep = 0;
  std::vector<ConvolutionDim> dims;
  /// Whose convolution it is: see CallScope in HostCall.h.
  const void *call = nullptr;
  /// Which functions may be used: any; or those by which an element's bits
  /// depend on neither the boxes nor their strides, always the same one.
  enum class By : uint8_t { Any, Loops, Products } by = By::Any;
};

/// Computes `out`, all of it: zeros where nothing meets. bf16 and f16 are
/// summed in f32. Thread safe.
Status convolve(const Convolution &convolution, DType type, const void *lhs,
                const void *rhs, void *out);

/// The parts of it. Shapes have been checked: nothing is empty.

/// By oneDNN, f32. False where it has no good implementation.
bool convolveByOneDNN(const Convolution &convolution, const float *lhs,
                      const float *rhs, float *out);
/// Computes a convolution of one feature with one feature, whose elements are
/// contiguous along the last dim. Returns false for others, and where `by` asks
/// for something else. `T`:
/// float, double or an unsigned integer of 32 or 64 bits.
template <typename T>
bool convolveSignals(const Convolution &convolution, const T *lhs, const T *rhs,
                     T *out);
/// By our own matrix products; `type`: f32, f64 or an integer of 32 bits, which
/// is T.
template <typename T>
void convolveByProducts(const Convolution &convolution, DType type,
                        const T *lhs, const T *rhs, T *out);
/// By loops; `T`: float, double, int64_t, ... and complex numbers.
template <typename T>
void convolveByLoops(const Convolution &convolution, const T *lhs, const T *rhs,
                     T *out);

} // namespace meshloom::library
