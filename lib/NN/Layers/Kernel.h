// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel: the matrix of a dense layer or an embedding, which is a weight, a
// weight with a low-rank product beside it, or integers or eight-bit floats
// with scales. See Adaptation.h.
#pragma once

#include "LayerState.h"

#include "meshloom/NN/Layers/Adaptation.h"

namespace meshloom::detail {

class Kernel {
public:
  /// How the layer computes with a kernel of floats.
  struct Rule {
    /// Linear in both.
    std::function<Tensor(const Tensor &x, const Tensor &kernel)> product;
    /// Dims of the input, and of the kernel, that have one scale together.
    std::function<std::vector<int64_t>(const Tensor &x)> inputDims;
    std::vector<int64_t> kernelDims;
    /// Scales of the input and of the kernel for each element of the result.
    std::function<Tensor(const Tensor &input, const Tensor &kernel)> scales;
  };

  /// `name`: of the weight. Reads what `config` says of its form.
  Kernel(LayerImpl &layer, std::string name)
      : layer(layer), name(std::move(name)) {}

  /// Adds the weights; called by the layer's build.
  void build(const Shape &shape, const WeightOptions &weightOptions,
             const std::vector<int64_t> &scaledDims);
  void write(nn::Config &config) const;
  void read(const nn::Config &config);

  const DVariable &variable() const { return base; }
  bool hasLora() const { return rank > 0; }
  /// Returns the kernel as floats, with the low-rank product.
  Tensor value() const;
  /// product(x, value()), or the same of integers.
  Tensor productWith(const Tensor &x, const Rule &rule);
  /// Rows of a table, and of what is beside it.
  Tensor rowsAt(const Tensor &ids) const;

  void enableLora(int64_t rank, const LoraOptions &options);
  void mergeLora();
  /// "int8": one scale for all of `dims`; "float8": one scale for all dims.
  void quantize(const std::string &mode, const std::vector<int64_t> &dims);

private:
  void addLora();
  bool isFloat8() const { return mode == "float8"; }
  /// The numbers that the quantised kernel stands for, in x's type.
  Tensor dequantized(const Tensor &codes, const Tensor &scale, DType type,
                     const std::vector<int64_t> &dims) const;
  void addQuantized(size_t place, const Shape &shape,
                    const std::optional<Layout> &layout,
                    const Shape &scaleShape,
                    const std::optional<Layout> &scaleLayout);
  /// A weight whose path is the kernel's but for the last name, the `place`-th
  /// of the layer: the order of weights is that of a layer built so.
  DVariable addNamed(size_t place, const std::string &weight,
                     const Shape &shape, const WeightOptions &weightOptions);
  void expectFloats() const;
  size_t placeOf(const DVariable &variable) const;
  LayerImpl::State::Weight &weightOf(const DVariable &variable);
  void remove(const DVariable &variable);
  [[noreturn]] void refuse(const std::string &message) const;

  LayerImpl &layer;
  const std::string name;
  WeightOptions options;
  DVariable base, a, b, scale;
  int64_t rank = 0; ///< of the low-rank product; 0: there is none
  double alpha = 0;
  LoraOptions lora;
  std::string mode; ///< empty: floats
  /// The product of quantised numbers, whose gradient is that of floats.
  std::function<Tensor(const Tensor &x)> quantizedProduct;
};

/// A layer that has one.
class KernelOwner {
public:
  virtual ~KernelOwner() = default;
  virtual Kernel &kernelOfLayer() = 0;
  /// See Rule::kernelDims.
  virtual std::vector<int64_t> scaledDims() const = 0;
  /// Returns whether the kernel is multiplied by inputs, and not looked up.
  virtual bool isProduct() const { return true; }
};

} // namespace meshloom::detail
