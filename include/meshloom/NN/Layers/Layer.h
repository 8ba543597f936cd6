// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer: what all layers of `meshloom::layers` and all models are.
//
// A Layer is a handle: copies are the same layer, with the same weights. Its
// implementation is a LayerImpl, from which your own layers derive:
//
//   struct LinearImpl : LayerImpl {
//     explicit LinearImpl(int64_t units) : LayerImpl("Linear"), units(units) {}
//     void build(const Shape &input) override {
//       kernel = add_weight("kernel", {input.back(), units});
//     }
//     Tensor call(const Tensor &x, const CallOptions &) override {
//       return matmul(x, kernel);
//     }
//     int64_t units;
//     DVariable kernel;
//   };
//   using Linear = LayerOf<LinearImpl>;
//
//   Linear linear(10);
//   Tensor y = linear(x);        // the first call builds it, by x's shape
//   linear->kernel.shape();      // what the implementation has
//
// Called on a symbolic tensor (see Input) it computes nothing, and becomes part
// of a model.
#pragma once

#include "meshloom/API/EvalShape.h"
#include "meshloom/API/Mask.h"
#include "meshloom/API/Random.h"
#include "meshloom/NN/Activations.h"
#include "meshloom/NN/Config.h"
#include "meshloom/NN/Constraints.h"
#include "meshloom/NN/Initializers.h"
#include "meshloom/NN/Layers/Symbolic.h"
#include "meshloom/NN/MixedPrecision.h"
#include "meshloom/NN/Module.h"
#include "meshloom/NN/Regularizers.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshloom {

/// The options of a call of a layer, beside its inputs.
struct CallOptions {
  /// Whether this is training. Not given: as in the call that this one is a
  /// part of, else no.
  std::optional<bool> training = std::nullopt;
  /// i1: of what the layer says, which steps or positions count. Empty: the
  /// mask of the first input (see get_mask), if it has one; else all.
  Tensor mask = {};
  /// ui32 [2]: of what is random in this call, another one at each step. Not
  /// given: as in the call that this one is a part of, else layers count their
  /// calls.
  Tensor seed = {};
};

/// How a weight is made.
struct WeightOptions {
  /// Its first value. None: by Glorot and Bengio (2010); zeros where there is
  /// no float.
  initializers::Initializer initializer = {};
  /// None: that of the layer.
  std::optional<DType> dtype = std::nullopt;
  /// Says whether optimizers get it.
  bool trainable = true;
  /// Adds to the losses.
  regularizers::Regularizer regularizer = {};
  /// Applied by optimizers after each step.
  constraints::Constraint constraint = {};
  /// Where none is given for the layer. None: replicated on the default mesh.
  std::optional<Layout> layout = std::nullopt;
};

/// The options of every layer, beside its name.
struct LayerOptions {
  /// Layouts of its weights by their names: {{"kernel", layout}}.
  std::map<std::string, Layout> layouts = {};
  /// The layout of the result, if it has the same rank.
  std::optional<Layout> output_layout = std::nullopt;
  DType dtype = DType::F32; ///< of its weights; F32: as the policy says
  bool trainable = true;    ///< see Layer::set_trainable
  /// Regularizes the result, divided by the size of the batch; adds to the
  /// losses, as Keras's argument of that name. For MultiHeadAttention it
  /// regularizes the projections.
  regularizers::Regularizer activity_regularizer = {};
  /// In which types it computes and keeps weights. None: that of the thread,
  /// when the layer is made; see mixed_precision::policy.
  std::optional<mixed_precision::Policy> policy = std::nullopt;
  /// The line that errors and profiles name where no line of yours calls the
  /// layer, as in a Sequential: by default the one that makes the layer.
  Where where = Where::current();
};

/// A weight and where in a model it is: "block_3/attention/query".
struct NamedVariable {
  std::string path;   ///< names of layers, then its own
  DVariable variable; ///< the weight
};

/// The requirements on an input of a layer, once it is built.
struct InputSpec {
  std::optional<int64_t> rank = std::nullopt; ///< exactly
  int64_t min_rank = 0;                       ///< at least
  /// Sizes of some dims; negative ones count from the end.
  std::map<int64_t, int64_t> sizes = {};
};

class LayerImpl;

/// A handle of a layer; see above. Empty where made without arguments: every
/// use but `defined` throws.
class Layer {
public:
  /// An empty one.
  Layer() = default;
  /// A handle of an implementation.
  explicit Layer(std::shared_ptr<LayerImpl> impl) : impl(std::move(impl)) {}

  /// Returns whether it is not empty.
  bool defined() const { return impl != nullptr; }
  /// Returns whether both are the same layer.
  bool is(const Layer &other) const { return impl == other.impl; }

  /// The result for x. The first call builds it. Throws meshloom::Error if
  /// x does not fit what it was built for.
  Tensor operator()(const Tensor &x, const CallOptions &options = {},
                    Where where = Where::current()) const;
  /// The result for several inputs.
  Tensor operator()(const std::vector<Tensor> &xs,
                    const CallOptions &options = {},
                    Where where = Where::current()) const;
  /// The same of layers that give several tensors.
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options = {},
                                Where where = Where::current()) const;
  /// Becomes a part of the model that is made of x's inputs.
  SymbolicTensor operator()(const SymbolicTensor &x,
                            const CallOptions &options = {},
                            Where where = Where::current()) const;
  /// The same with several inputs.
  SymbolicTensor operator()(const std::vector<SymbolicTensor> &xs,
                            const CallOptions &options = {},
                            Where where = Where::current()) const;
  /// The same of layers that give several tensors.
  std::vector<SymbolicTensor> call_many(const std::vector<SymbolicTensor> &xs,
                                        const CallOptions &options = {},
                                        Where where = Where::current()) const;

  /// Makes its weights for inputs of such a shape; -1: any size. Built already:
  /// nothing.
  void build(const Shape &input, Where where = Where::current()) const;
  /// The same for several inputs, or inputs that are not floats.
  void build_many(const std::vector<TensorSpec> &inputs,
                  Where where = Where::current()) const;
  /// Returns whether its weights are there.
  bool built() const;

  /// The given name, or one after its class: "dense". A model names those of
  /// one class "dense", "dense_1", ...
  const std::string &name() const;
  /// The name of its class, "Dense".
  const std::string &class_name() const;
  /// The layers that it is made of.
  std::vector<Layer> layers() const;
  /// The tensor that it was called on as a part of a model; for a model the
  /// input of its graph. Throws meshloom::Error if there is none, or more than
  /// one.
  SymbolicTensor input(Where where = Where::current()) const;
  /// The tensor that it returned there:
  ///   Model features(model.inputs(), model.get_layer("hidden").output());
  SymbolicTensor output(Where where = Where::current()) const;
  /// The layer of `layers` with this name. Throws meshloom::Error if there is
  /// none, and lists them.
  Layer get_layer(std::string_view name, Where where = Where::current()) const;
  /// The layer of `layers` with this index; negative ones count from the end.
  Layer get_layer(int64_t index, Where where = Where::current()) const;

  /// Its weights and those of its layers, and what else they keep (counts of
  /// random numbers). Each comes once. Throws meshloom::Error if it is not
  /// built.
  std::vector<DVariable> variables() const;
  /// With their paths.
  std::vector<NamedVariable> named_variables() const;
  /// The variable of this path, such as "kernel". Throws meshloom::Error if
  /// there is none, and lists the paths.
  DVariable variable(std::string_view path,
                     Where where = Where::current()) const;
  /// The variables that optimizers train.
  std::vector<DVariable> trainable_variables() const;
  /// The others.
  std::vector<DVariable> non_trainable_variables() const;
  /// The `variables` whose values training or the user sets.
  std::vector<DVariable> weights() const;
  /// The values of `weights`.
  std::vector<Tensor> get_weights() const;
  /// Gives `weights` these values, in their order. Throws meshloom::Error if
  /// number or shapes differ: none has changed then.
  void set_weights(const std::vector<Tensor> &values,
                   Where where = Where::current()) const;
  /// The number of elements of `weights`.
  int64_t count_params() const;
  /// Regularizers of weights, and what was added in the last call: scalars.
  std::vector<Tensor> losses() const;

  /// Returns whether optimizers get its weights and those of its layers.
  bool trainable() const;
  /// See trainable.
  void set_trainable(bool trainable) const;

  /// The class and what the layer is made again from: {"class_name": ...,
  /// "config": ...}.
  nn::Config config() const;
  /// The layer of such a config, not built. Throws meshloom::Error if there is
  /// no such class, naming the closest (see register_layer).
  static Layer from_config(const nn::Config &config,
                           Where where = Where::current());

  /// The implementation. Throws meshloom::Error if the handle is empty.
  LayerImpl &implementation() const;
  /// For Meshloom's own layers.
  const std::shared_ptr<LayerImpl> &internal() const { return impl; }
  /// For `function`: what tells this layer from others.
  std::shared_ptr<const void> shared_identity() const { return impl; }

private:
  std::shared_ptr<LayerImpl> impl;
};

/// The implementation of a layer; see above.
class LayerImpl : public std::enable_shared_from_this<LayerImpl> {
public:
  /// The type of configs, for classes that derive from this.
  using Config = nn::Config;
  /// `class_name`: by which it is saved; `name`: its own, default "class_name".
  explicit LayerImpl(std::string class_name, std::string name = "",
                     LayerOptions options = {});
  LayerImpl(const LayerImpl &) = delete;
  LayerImpl &operator=(const LayerImpl &) = delete;
  virtual ~LayerImpl();

  // Functions that a layer overrides.

  /// Makes its weights for an input of that shape; -1: any size.
  virtual void build(const Shape &input);
  /// The same of layers with several inputs; by default `build` for the first.
  virtual void build_many(const std::vector<Shape> &inputs);
  /// Computes. `options.training` is always given.
  virtual Tensor call(const Tensor &x, const CallOptions &options);
  /// The same of layers with several inputs or results; by default `call`.
  virtual std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                        const CallOptions &options);
  /// Which positions of each result count, where `masks`, one for each input,
  /// say it of these (i1 of their first dims; empty: all positions count). A
  /// mask that is empty or does not fit a result's first dims counts as all. By
  /// default the first input's.
  virtual std::vector<Tensor> compute_mask(const std::vector<Tensor> &xs,
                                           const std::vector<Tensor> &masks);
  /// The arguments of its constructor. By default the name.
  virtual nn::Config get_config() const;

  /// A handle of this layer.
  Layer handle();
  /// See Layer::name.
  const std::string &name() const;
  /// See Layer::class_name.
  const std::string &class_name() const;
  /// The options that it was made with.
  const LayerOptions &options() const;
  /// See Layer::trainable.
  bool trainable() const;

  /// For Meshloom's own layers.
  struct State;

protected:
  /// A new weight: called by `build`. Throws meshloom::Error if there is one of
  /// this name already.
  DVariable add_weight(const std::string &name, const Shape &shape,
                       const WeightOptions &options = {},
                       Where where = Where::current());
  /// A variable that is not a weight, such as a count; see Layer::weights. With
  /// ON_READ each replica has its own, and outside of replicas it is that of
  /// the first one.
  DVariable add_state(
      const std::string &name, const Tensor &initial,
      VariableSynchronization synchronization = VariableSynchronization::AUTO);
  /// Adds a scalar to the losses of this call.
  void add_loss(const Tensor &loss, Where where = Where::current());
  /// Says that a layer is a part of this one, by a name of its own, or its own
  /// name.
  void track(const std::string &name, const Layer &layer);
  /// The same by its own name.
  void track(const Layer &layer);
  /// Several by their own names.
  template <std::derived_from<Layer> L>
  void track(const std::vector<L> &layers) {
    for (const Layer &layer : layers)
      track(layer);
  }
  /// Says that a module is a part of this layer.
  void track(const std::string &name, const Module &module);
  /// Sets the requirements on the `index`-th input of calls to come.
  void set_input_spec(InputSpec spec, size_t index = 0);
  /// Random ops in its calls begin with this instead of a seed of the process.
  void set_seed(Seed seed);
  /// Says that its calls are random: called by `build`.
  void add_seed();
  /// A seed for one use of random numbers in a call, another one at each.
  SeedLike next_seed();

private:
  std::unique_ptr<State> state;
};

/// A handle of a layer of one class: LayerOf<LinearImpl>(10) makes the layer.
template <std::derived_from<LayerImpl> Impl> class LayerOf : public Layer {
public:
  /// Makes the implementation of these arguments.
  template <typename... Args>
    requires std::constructible_from<Impl, Args...>
  explicit LayerOf(Args &&...args)
      : Layer(std::make_shared<Impl>(std::forward<Args>(args)...)) {}
  /// Access to the implementation.
  Impl *operator->() const { return static_cast<Impl *>(&implementation()); }
};

/// Makes Layer::from_config know a class: `make` gets what get_config gave.
void register_layer(const std::string &class_name,
                    std::function<Layer(const nn::Config &)> make,
                    Where where = Where::current());
/// A class whose implementation is made of a Config.
template <std::derived_from<LayerImpl> Impl>
  requires std::constructible_from<Impl, const nn::Config &>
void register_layer(const std::string &class_name,
                    Where where = Where::current()) {
  register_layer(
      class_name,
      [](const nn::Config &config) {
        return Layer(std::make_shared<Impl>(config));
      },
      where);
}

/// The seed of weights and of random layers that are made from now on in this
/// process without a seed of their own: the same program then computes the same
/// numbers.
void set_random_seed(uint32_t seed);

} // namespace meshloom
