// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DnnGraph: operations of cuDNN's on tensors, and the plan by which one of the
// library's engines computes them.
#pragma once

#include "Dnn.h"

#include <deque>

namespace meshloom::cuda {

/// Returns the library's name of a type of floats or words.
DnnType dnnTypeOf(DType type);
/// Sums of bf16 and f16 are f32.
inline DnnType dnnSumTypeOf(DType type) {
  return type == DType::F64 ? DnnType::F64 : DnnType::F32;
}

class DnnGraph : public LibraryWork {
public:
  /// `type`: of the tensors.
  DnnGraph(const DnnLibrary &library, DnnHandle handle, std::mutex &running,
           DType type)
      : library(library), handle(handle), running(running), type(type) {}

  /// Chooses an engine for the operations. Returns false where the library
  /// takes no such operations, or has no engine that keeps our promises.
  Result<bool> plan();
  std::string_view function() const override { return "cudnnBackendExecute"; }
  int64_t workspaceBytes() const override { return engineBytes + scratchBytes; }
  bool isInOrder() const override { return true; }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

protected:
  /// The elements of a tensor. Strides are in elements.
  struct Shape {
    DnnType type;
    std::vector<int64_t> extents, strides;
    int64_t alignment = 16; ///< bytes that divide its address
  };
  /// Adds a descriptor that is still to be finished.
  DnnDescriptor &add(DnnObject kind);
  /// Adds a tensor that begins `offset` bytes behind that of an operand of the
  /// call.
  const DnnDescriptor &addTensor(const Shape &shape, size_t operand,
                                 int64_t offset);
  /// Adds a tensor of `rank` dims that has one number of f32.
  const DnnDescriptor &addScalar(float value, size_t rank);
  /// Adds a tensor that lies nowhere.
  const DnnDescriptor &addIntermediate(const Shape &shape);
  /// The same of a dense one.
  const DnnDescriptor &addIntermediate(DnnType type,
                                       const std::vector<int64_t> &extents);
  /// Adds a dense tensor of f32 that lies in the workspace.
  const DnnDescriptor &addScratch(const std::vector<int64_t> &extents);
  /// Finishes an operation, which comes after those before it.
  void addOperation(DnnDescriptor &operation);

private:
  DnnDescriptor &describeTensor(const Shape &shape);
  /// Returns the configurations that the library proposes, the best first.
  std::vector<DnnDescriptor> propose(const DnnDescriptor &graph,
                                     DnnHeuristics mode) const;
  bool keepsPromises(DnnDescriptor &configuration) const;
  /// Takes the first configuration that is possible.
  bool chooseOf(std::vector<DnnDescriptor> configurations);

  const DnnLibrary &library;
  const DnnHandle handle;
  std::mutex &running;
  const DType type;
  std::deque<DnnDescriptor> descriptors;
  std::vector<DnnDescriptorHandle> operations;
  int64_t numTensors = 0; ///< whose numbers are 1 and more
  /// A tensor that lies somewhere: behind an operand of the call, or in the
  /// scratch memory.
  struct Place {
    int64_t tensor;
    std::optional<size_t> operand;
    int64_t offset;
  };
  std::vector<Place> places;
  std::deque<std::pair<int64_t, float>> scalars; ///< and their tensors
  std::optional<DnnDescriptor> chosen;           ///< the plan
  std::optional<DnnDescriptor> configuration;    ///< the plan's
  int64_t engineBytes = 0;                       ///< of the workspace
  int64_t scratchBytes = 0;                      ///< behind it
};

/// A convolution.
class DnnConvolution : public DnnGraph {
public:
  DnnConvolution(const DnnLibrary &library, DnnHandle handle,
                 std::mutex &running, const ImageConvolution &convolution);

private:
  const DnnDescriptor &addWindows(const ImageConvolution &convolution);
};

/// Attention, two products and the softmax between them, or its gradient.
class DnnAttention : public DnnGraph {
public:
  DnnAttention(const DnnLibrary &library, DnnHandle handle, std::mutex &running,
               const AttentionShape &attention);

private:
  /// A tensor of the graph.
  using Node = const DnnDescriptor *;
  Node addOperand(const DnnMatrices &matrices);
  // These return their result.
  Node addProduct(Node a, Node b, Node result);
  /// Adds an operation on elements of f32. `b` and `condition`: or null.
  Node addPointwise(DnnPointwise mode, Node x, Node b, Node result,
                    Node condition = nullptr,
                    std::optional<int64_t> axis = std::nullopt);
  Node addReduction(DnnReduction mode, Node x, Node result);
  /// Adds a view of the elements of `x`, which has these extents and strides,
  /// with rows and columns swapped.
  Node addTurned(Node x, const std::vector<int64_t> &extents,
                 const std::vector<int64_t> &strides);
  /// Adds a value for each score, or for each row of them.
  Node addScores();
  Node addRows();
  Node addNumber(float value);
  /// Adds the scores, scaled and hidden.
  Node addScaledScores();
  /// Hides scores, and returns all of them.
  Node addMask(Node scores);
  void addResult(Node scores);
  void addGradient(Node scores);
  /// Adds a product of a value for each score, turned, and a tensor of rows.
  void addTurnedProduct(Node scores, Node rows, const DnnMatrices &result);

  const AttentionShape attention;
  const DnnType type;
  Node query = nullptr, key = nullptr;
  Node isSeen = nullptr; ///< the condition of a mask
};

} // namespace meshloom::cuda
