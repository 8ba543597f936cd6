// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors of the stand-in cuDNN.
#pragma once

#include "StandInOperations.h"

#include <cstring>
#include <map>

namespace meshloom::cuda::standin {

enum class Engine : uint8_t {
  TensorCore,
  Nondeterministic,
  Winograd,
  Impossible,
  Huge,
  Good,
  Fallback
};

/// An attribute's values.
struct Values {
  DnnValue type;
  int64_t count;
  std::vector<char> bytes;
};

struct Descriptor {
  explicit Descriptor(DnnObject kind) : kind(kind) {}

  const DnnObject kind;
  bool isFinished = false;
  std::map<DnnAttribute, Values> values;
  // A finished descriptor has:
  StandInOperation::Tensor tensor;
  ConvolutionWindows windows;
  StandInOperation operation;
  std::shared_ptr<const StandInOperations> work; ///< that it is about
  Engine engine{};
  int64_t workspaceBytes = 0;

  template <typename T>
  std::optional<std::vector<T>> list(DnnAttribute attribute,
                                     DnnValue type) const {
    const auto found = values.find(attribute);
    if (found == values.end() || found->second.type != type)
      return std::nullopt;
    std::vector<T> result(size_t(found->second.count));
    std::memcpy(static_cast<void *>(result.data()), found->second.bytes.data(),
                found->second.bytes.size());
    return result;
  }
  template <typename T>
  std::optional<T> value(DnnAttribute attribute, DnnValue type) const {
    const auto values = list<T>(attribute, type);
    return values && values->size() == 1 ? std::optional(values->front())
                                         : std::nullopt;
  }
  /// Returns a finished descriptor of this kind.
  const Descriptor *descriptor(DnnAttribute attribute, DnnObject kind) const {
    const auto found =
        value<DnnDescriptorHandle>(attribute, DnnValue::Descriptor);
    if (!found || !*found)
      return nullptr;
    const auto *result = static_cast<const Descriptor *>(*found);
    return result->kind == kind && result->isFinished ? result : nullptr;
  }
};

/// Finishes a descriptor of tensors, operations or their graph. Returns false
/// where it is not complete, or its parts do not fit each other.
bool finishGraph(Descriptor &descriptor);

} // namespace meshloom::cuda::standin
