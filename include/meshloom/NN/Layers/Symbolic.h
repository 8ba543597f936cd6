// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SymbolicTensor: what layers of a model will be called on, without a value.
//
//   SymbolicTensor x = Input({784});
//   SymbolicTensor y = layers::Dense(10)(layers::Dense(64)(x));
//   Model model(x, y);
#pragma once

#include "meshloom/API/Ops.h"

#include <memory>
#include <string>
#include <vector>

namespace meshloom {

namespace detail {
struct GraphNode;
} // namespace detail

/// An input of a model, or what a layer will give. Sizes that are not known yet
/// are -1, such as that of the batch. An immutable handle.
class SymbolicTensor {
public:
  /// An empty one; every use but `defined` throws.
  SymbolicTensor() = default;
  /// Global extents; -1: any.
  const Shape &shape() const;
  /// Number of dims.
  int64_t rank() const { return int64_t(shape().size()); }
  /// Type of the elements.
  DType dtype() const;
  /// The name of an input, else that of the layer that it comes from.
  const std::string &name() const;
  /// Returns whether it is not empty.
  bool defined() const { return graphNode != nullptr; }

  /// Part of it, as Tensor's x[i] and x(i, j, ...); indices are not tensors,
  /// and the batch is taken whole: x(all, -1). Throws meshloom::Error if they
  /// do not fit.
  SymbolicTensor operator[](const Index &index) const { return (*this)(index); }
  /// See above.
  SymbolicTensor operator()(const Index &a, const Index &b = {},
                            const Index &c = {}, const Index &d = {},
                            const Index &e = {}, const Index &f = {},
                            const Index &g = {}, const Index &h = {}) const;

  /// Returns whether both are the same.
  bool is(const SymbolicTensor &other) const {
    return graphNode == other.graphNode && resultIndex == other.resultIndex;
  }

  /// For Meshloom's own layers: what it comes from, and which result it is.
  SymbolicTensor(std::shared_ptr<detail::GraphNode> node, size_t index)
      : graphNode(std::move(node)), resultIndex(index) {}
  /// For Meshloom's own layers.
  const std::shared_ptr<detail::GraphNode> &node() const { return graphNode; }
  /// For Meshloom's own layers.
  size_t index() const { return resultIndex; }

private:
  std::shared_ptr<detail::GraphNode> graphNode;
  size_t resultIndex = 0;
};

/// The options of Input beside the shape.
struct InputLayerOptions {
  int64_t batch_size = -1;  ///< -1: any
  DType dtype = DType::F32; ///< of the elements
  /// Default: "input"; a model calls its second one "input_1", and so on.
  std::string name = "";
};
/// An input of a model: tensors [batch, shape...].
SymbolicTensor Input(const Shape &shape, InputLayerOptions options = {});

/// "f32 [None, 784]".
std::string to_string(const SymbolicTensor &tensor);

/// The other operand of an operator: what a layer gives, a tensor that is known
/// already, or a number.
class SymbolicOperand {
public:
  /// The result of a layer.
  SymbolicOperand(const SymbolicTensor &tensor) : tensor(tensor) {}
  /// A tensor that is known: it is saved with the model, and does not change.
  /// Throws meshloom::Error if it is empty.
  SymbolicOperand(const Tensor &value);
  /// A number.
  template <typename T>
    requires std::is_arithmetic_v<T>
  SymbolicOperand(T number) : number(double(number)) {}
  SymbolicTensor tensor; ///< empty: a known one, or a number
  Tensor value;          ///< empty: another operand
  double number = 0;     ///< where there is no tensor
};

namespace detail {
SymbolicTensor applyOperator(const char *name, const SymbolicOperand &a,
                             const SymbolicOperand &b);
template <typename A, typename B>
concept AreSymbolic =
    (std::same_as<A, SymbolicTensor> || std::same_as<B, SymbolicTensor>) &&
    std::convertible_to<A, SymbolicOperand> &&
    std::convertible_to<B, SymbolicOperand>;
} // namespace detail

// Operators make layers without weights: x + y, 2 * x - 1, x * scale of a known
// tensor, which broadcast as those of tensors. Throw meshloom::Error if shapes
// do not.

/// The sum.
template <typename A, typename B>
  requires detail::AreSymbolic<A, B>
SymbolicTensor operator+(const A &a, const B &b) {
  return detail::applyOperator("add", a, b);
}
/// The difference.
template <typename A, typename B>
  requires detail::AreSymbolic<A, B>
SymbolicTensor operator-(const A &a, const B &b) {
  return detail::applyOperator("subtract", a, b);
}
/// The product of elements.
template <typename A, typename B>
  requires detail::AreSymbolic<A, B>
SymbolicTensor operator*(const A &a, const B &b) {
  return detail::applyOperator("multiply", a, b);
}
/// The quotient of elements.
template <typename A, typename B>
  requires detail::AreSymbolic<A, B>
SymbolicTensor operator/(const A &a, const B &b) {
  return detail::applyOperator("divide", a, b);
}
/// 0 - x.
SymbolicTensor operator-(const SymbolicTensor &x);

} // namespace meshloom
