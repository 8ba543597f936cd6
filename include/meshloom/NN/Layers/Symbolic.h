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
  /// Of an input its own, else that of the layer it comes from.
  const std::string &name() const;
  /// Whether it is not empty.
  bool defined() const { return graphNode != nullptr; }
  /// Whether both are the same.
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

/// What Input takes beside the shape.
struct InputOptions {
  int64_t batch_size = -1;  ///< -1: any
  DType dtype = DType::F32; ///< of the elements
  std::string name = "";    ///< default: "input"
};
/// An input of a model: tensors [batch, shape...].
SymbolicTensor Input(const Shape &shape, InputOptions options = {});

/// "f32 [None, 784]".
std::string to_string(const SymbolicTensor &tensor);

} // namespace meshloom
