// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of a LayerImpl, and the calls of layers that are in progress.
#pragma once

#include "../Models/Graph.h"

#include <mutex>
#include <set>
#include <variant>

namespace meshloom {

struct LayerImpl::State {
  struct Weight {
    std::string name;
    DVariable variable;
    regularizers::Regularizer regularizer;
    bool isWeight; ///< or other state
    /// Not given to optimizers, though the variable is trainable.
    bool isFrozen = false;

    bool isTrained() const { return variable.trainable() && !isFrozen; }
  };
  struct Part {
    std::string name; ///< among the parts of this layer
    std::variant<Layer, Module> part;
  };

  std::string className, name;
  bool isNamedByUser = false;
  /// A part of another layer, from which it may have got its name.
  bool isAdopted = false;
  /// Its own name is not part of the paths in it.
  bool isModel = false;
  /// CallOptions::mask of its calls says more than which positions of the first
  /// input count: where not given it is not that input's.
  bool computesMask = false;
  /// It keeps the variables that are made in its calls: layers in them need not
  /// be told to be its parts.
  bool keepsVariables = false;
  LayerOptions options;
  bool trainable = true;
  bool isBuilt = false;
  /// The default mesh where the layer was made: its weights go there.
  std::optional<Mesh> mesh;
  Seed seed; ///< of what is random in its calls
  std::optional<DVariable> calls;

  std::vector<Weight> weights;
  std::vector<Part> parts;
  std::vector<InputSpec> specs;
  /// Known while it is being built, too.
  std::vector<TensorSpec> builtFor;
  /// The results of the symbolic call, or of the first one, for summaries.
  std::vector<TensorSpec> results;
  /// Where it is in graphs that are still there.
  std::vector<std::weak_ptr<detail::GraphNode>> graphCalls;

  /// Guards building and what follows.
  std::recursive_mutex mutex;
  std::vector<Tensor> added; ///< losses of the last call
  /// The policy is the layer's own, not what it was made under.
  bool policyIsExplicit = false;

  static State &of(const LayerImpl &impl) { return *impl.state; }
  static DVariable addWeight(LayerImpl &impl, const std::string &name,
                             const Shape &shape, const WeightOptions &options) {
    return impl.add_weight(name, shape, options);
  }
  void addLoss(const Tensor &loss) {
    std::lock_guard lock(mutex);
    added.push_back(loss);
  }
  static State &of(const Layer &layer) { return of(layer.implementation()); }
  /// Makes `layer` a part that is called `name` here, or as it is called
  /// itself, with a number where that is taken.
  void adopt(const Layer &layer, std::string name, bool isExplicitName);
};

namespace detail {

/// While it lives, `layer` is being called or built by this thread.
class LayerFrame {
public:
  LayerFrame(LayerImpl &layer, const CallOptions &options);
  ~LayerFrame();
  LayerFrame(const LayerFrame &) = delete;

  LayerImpl &layer;
  LayerFrame *around; ///< or null
  bool training;
  Tensor seed;
  uint32_t randomUses = 0; ///< of `seed` by this layer in this call
};

/// The innermost one of this thread, or null.
LayerFrame *currentLayerFrame();
/// The seed of the next weight, or layer, that was given none.
Seed drawSeed();

/// All layers that `layer` is made of, itself first, each once.
std::vector<Layer> allLayers(const Layer &layer);

/// Why `callee`, which `caller`'s layer (null: none) calls now, would be
/// trained by nobody, or nothing: none of the layers that are being called is
/// made of it, and it has weights that optimizers should get.
std::string whyNotTracked(const Layer &callee, const LayerFrame *caller);

} // namespace detail
} // namespace meshloom
