// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceCode: the code of a Program's kernels for a device that runs them in
// blocks of threads, and how each of them is launched.
#pragma once

#include "meshloom/Core/Program.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshloom {

/// Products of matrices that have the same code for a device. bf16 and f16 are
/// summed in f32, which the result may be too.
///
/// A convolution is a product too, of implicit matrices: a row is a place of
/// the result in one example, a term is a place of the kernel in one input
/// feature, and the element of the left operand is the one that the window has
/// there, or zero.
struct ProductKind {
  /// A spatial dim of a convolution. Where the loop `output` is at y and the
  /// loop `kernel` at k, the left operand's element is (y * stride - low + k *
  /// kernelDilation) / inputDilation, if that has no remainder and the loop
  /// `input`, which is held, has it.
  struct Window {
    unsigned output = 0, kernel = 0, input = 0;
    int64_t stride = 1, low = 0, inputDilation = 1, kernelDilation = 1;
    /// The extent of a kernel that is reversed, whose k is counted from its
    /// end; else 0.
    int64_t reversedExtent = 0;
    auto operator<=>(const Window &) const = default;
  };
  DType type = DType::F32; ///< of the operands
  /// A letter for each loop of the step: b where all three operands have it, m
  /// for rows, n for columns, k for what is summed, h for a window's `input`.
  std::string loops;
  std::vector<Window> windows; ///< of a convolution
  bool isWidening = false;     ///< the result is f32, and the operands are not
  DType resultType() const { return isWidening ? DType::F32 : type; }

  /// Nothing where no code for a device computes the product.
  static std::optional<ProductKind> of(const Program &program,
                                       const DotStep &step);
  /// Nothing where the step is no convolution, or one of complex numbers.
  static std::optional<ProductKind> of(const Program &program,
                                       const KernelStep &step);
  /// The name of the code: product_f32_bmnk.
  std::string symbol() const;
  auto operator<=>(const ProductKind &) const = default;
};

/// Combinations of the addends of partial values that have the same code. Its
/// loops are the value's dims, then the addends; operand 0 is the first addend,
/// operand 1 the result.
struct CombinationKind {
  DType type = DType::F32;
  ReduceKind reduce = ReduceKind::Sum;
  unsigned rank = 0; ///< of the value

  /// The name of the code: combination_sum_f32_2.
  std::string symbol() const;
  auto operator<=>(const CombinationKind &) const = default;
};

/// Fourier transforms of all lines along one dim of an array.
///
/// A library for the device neither scales inverse transforms nor keeps their
/// operand, and it expects real numbers where the transform of real ones has
/// such. So a kernel copies the operand first: line behind line, scaled, and
/// without those imaginary parts. Its loops are the operand's dims; operand 0
/// is the array, operand 1 the copy, whose last dim is the line.
struct FourierKind {
  enum class Form : uint8_t { Forward, Inverse, FromReal, ToReal };
  Form form = Form::Forward;
  DType part = DType::F32; ///< of a complex number
  int64_t length = 0;      ///< of the transform
  unsigned rank = 0, dim = 0;

  /// Nothing where the step is no transform.
  static std::optional<FourierKind> of(const Program &program,
                                       const KernelStep &step);
  /// Returns whether a kernel copies the operand.
  bool isCopied() const {
    return form == Form::Inverse || form == Form::ToReal;
  }
  /// The elements of a line of the operand.
  int64_t operandLength() const {
    return form == Form::ToReal ? length / 2 + 1 : length;
  }
  /// The name of the code that copies: lines_irfft_f32_12_0of2.
  std::string symbol() const;
  auto operator<=>(const FourierKind &) const = default;
};

/// A parameter of a kernel, 64 bits wide: see Runtime/KernelFunction.h for what
/// operands, strides, origins and extents are.
struct KernelParameter {
  enum class Kind : uint8_t {
    Pointer, ///< the address of operand `operand`
    Extent,  ///< of loop `loop`
    Origin,  ///< of loop `loop`
    Stride   ///< of operand `operand` in loop `loop`, in elements
  };
  Kind kind;
  unsigned operand = 0, loop = 0;
  bool operator==(const KernelParameter &) const = default;
};

/// How one kernel is launched. A result is an iteration of the parallel loops,
/// and a term of it an iteration of the reduction loops. A block, which has one
/// dim of `results` x `terms` threads, computes `results` results at a time:
/// `terms` threads share the terms of each. A grid of any size, of one dim,
/// goes over all results; there are fewer than 2^31.
struct KernelShape {
  std::string symbol;
  unsigned results = 1, terms = 1;
  std::vector<unsigned> parallel; ///< the parallel loops
  std::vector<KernelParameter> parameters;

  unsigned threads() const { return results * terms; }
  /// How many blocks compute one group of results each where loops have these
  /// extents. 0: nothing is to be launched.
  int64_t blocks(std::span<const int64_t> extents) const;
  bool operator==(const KernelShape &) const = default;
};

/// A kernel of elements that a library of products computes as the epilogue of
/// the product in front of it. Operands are counted as in KernelParameter.
///
///   Bias          result = u
///   Gelu          result = gelu(u), in its form with tanh
///   GeluGradient  result = factor * gelu'(u)
///   BiasGradient  result = sum of the first operand over some loops
///
/// u is the sum of the product and, where there is one, a bias. Gelu may have
/// more results for its gradients. The kernel of a BiasGradient is beside the
/// product: it reads what the product reads, or computes.
struct ProductEpilogue {
  enum class Form : uint8_t { Bias, Gelu, GeluGradient, BiasGradient };
  std::string symbol; ///< of the kernel
  Form form = Form::Bias;
  /// The operands that are a term of u; not all terms, perhaps, of a gradient.
  std::vector<unsigned> terms = {};
  unsigned result = 0;
  // A gradient has:
  std::string gelu = {};               ///< the symbol of Gelu's kernel
  std::optional<unsigned> factor = {}; ///< the product
  /// Operands that are results of Gelu's kernel, and which of them.
  std::vector<std::pair<unsigned, unsigned>> saved = {};
  bool operator==(const ProductEpilogue &) const = default;
};

/// The mask of an attention: a kernel computes a word for each score, which
/// is 0 where it is hidden, else larger than each index. The kernel has the
/// attention's loops of the batch, of q and of k; its operands, in arrays of
/// the program, come before the words.
struct AttentionMask {
  std::string symbol;
  std::vector<Operand> operands;
  std::vector<unsigned> loops; ///< that words depend on
  bool operator==(const AttentionMask &) const = default;
};

/// Steps of a program that a library for the device may compute as one: two
/// products and the softmax between them.
///
///   result[b, q, d] = sum over k of softmax(x)[b, q, k] * value[b, k, d]
///   x[b, q, k] = scale * scores[b, q, k] + bias[b, q, k]
///   scores[b, q, k] = sum over e of query[b, q, e] * key[b, k, e]
///
/// A mask, or a causal one (q >= k), hides some of x: these are `hidden`. Loops
/// are those of b, then q, k, e and d, and tensors say where their elements lie
/// in buffers of the program.
struct Attention {
  unsigned batchLoops = 0;
  unsigned queryLoop() const { return batchLoops; }
  unsigned keyLoop() const { return batchLoops + 1; }
  unsigned termLoop() const { return batchLoops + 2; }
  unsigned columnLoop() const { return batchLoops + 3; }
  unsigned numLoops() const { return batchLoops + 4; }

  int64_t terms = 0, columns = 0; ///< the extents of e and d
  Operand query, key, value, scores, result;
  std::optional<Operand> bias = {};
  std::optional<AttentionMask> mask = {};
  double scale = 1, hidden = 0;
  bool isCausal = false;

  /// The steps of its gradient, from that of the result:
  ///
  ///   value'[b, k, d] = sum over q of p[b, q, k] * result'[b, q, d]
  ///   query'[b, q, e] = sum over k of s[b, q, k] * key[b, k, e]
  ///   key'[b, k, e] = sum over q of s[b, q, k] * query[b, q, e]
  ///   s = scale * p * (result' . value - result' . result)
  ///
  /// where p is softmax(x), and s is 0 where a mask hides.
  struct Gradient {
    Operand result, query, key, value;
    bool operator==(const Gradient &) const = default;
  };
  std::optional<Gradient> gradient = {};
  bool operator==(const Attention &) const = default;
};

struct DeviceCode {
  std::vector<KernelShape> kernels;
  std::vector<ProductEpilogue> epilogues; ///< some of the kernels
  std::vector<Attention> attentions;
  /// The functions that the host calls, of a program that is saved: an ELF
  /// shared object, and the features that a CPU needs for it.
  std::vector<char> hostObject;
  std::string hostFeatures;
  /// PTX, in one module.
  std::string ptx;

  /// PTX whose first lines, comments, hold the shapes:
  ///
  ///     // Meshloom device code 1
  ///     // kernel k_1f results 32 terms 8 grid 0,1 parameters p0 p1 e0 e1 e2
  ///
  /// p0: the pointer of operand 0; e1: the extent of loop 1; o1: its origin;
  /// s0.1: the stride of operand 0 in loop 1. Epilogues follow:
  ///
  ///     // epilogue k_1f gelu result 3 terms 0,1
  ///     // epilogue k_2e gelu_gradient result 3 terms 1,2 of k_1f factor 0
  ///     // epilogue k_3d bias_gradient result 1 terms 0
  ///
  /// Then attentions, whose tensors are buffers and the indices of their dims:
  /// 2*16+3@64 is 16 times loop 2, and loop 3, and 64.
  ///
  ///     // attention batches 1 terms 16 columns 16 scale 0.25 causal hidden
  ///           -1e+09 query 3:0,1,3 key 4:0,2,3 value 5:0,2,4 scores 6:0,1,2
  ///           result 9:0,1,4
  ///
  /// (in one line; a mask of operands in the buffers 6 and 7 is
  /// `mask k_4c loops 0,2 operands 6:0 7:0,2`), and the host's features and
  /// object, in hexadecimal digits:
  ///
  ///     // host avx2,fma 7f454c46
  std::string text() const;
  /// Fails on anything that text() cannot have written.
  static Result<DeviceCode> parse(std::string_view text);
  bool operator==(const DeviceCode &) const = default;
};

} // namespace meshloom
