// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models: layers that are made of layers, as Keras has them.
//
// One after the other:
//   Sequential model({Input({784}), layers::Dense(64, {.activation = "relu"}),
//                     layers::Dense(10)});
// As a graph, with several inputs and outputs, and layers that are used twice:
//   SymbolicTensor x = Input({784});
//   SymbolicTensor y = layers::Dense(10)(layers::Dense(64)(x));
//   Model model(x, y);
// As code:
//   struct NetImpl : ModelImpl {
//     layers::Dense hidden{64, {.activation = "relu"}}, out{10};
//     NetImpl() : ModelImpl("Net") {
//       track("hidden", hidden);
//       track("out", out);
//     }
//     Tensor call(const Tensor &x, const CallOptions &) override {
//       return out(hidden(x));
//     }
//   };
//   using Net = ModelOf<NetImpl>;
//
// A model is a layer: it may be a part of others, and of a Module.
#pragma once

#include "meshloom/NN/Training/TrainingStep.h"

#include <initializer_list>

namespace meshloom {

/// One symbolic tensor, or several.
class SymbolicTensors {
public:
  /// One.
  SymbolicTensors(const SymbolicTensor &one) : tensors{one} {}
  /// Several.
  SymbolicTensors(std::initializer_list<SymbolicTensor> several)
      : tensors(several) {}
  /// Several.
  SymbolicTensors(std::vector<SymbolicTensor> several)
      : tensors(std::move(several)) {}
  std::vector<SymbolicTensor> tensors; ///< in order
};

/// The implementation of a model; see above.
class ModelImpl : public LayerImpl {
public:
  /// See LayerImpl.
  explicit ModelImpl(std::string class_name = "Model", std::string name = "",
                     LayerOptions options = {});
  /// The inputs of a graph; empty for models of code, and before they are
  /// built.
  virtual std::vector<SymbolicTensor> inputs() const { return {}; }
  /// The outputs of a graph.
  virtual std::vector<SymbolicTensor> outputs() const { return {}; }

  /// The step of fit for a batch; see TrainingStep. By default step.run().
  virtual void train_step(TrainingStep &step);
  /// The step of evaluate for a batch.
  virtual void test_step(TrainingStep &step);
  /// Metrics that its own steps update: they are shown beside the loss, and
  /// begin anew with each epoch.
  virtual std::vector<metrics::Metric> own_metrics() const { return {}; }
};

/// A handle of a model; copies are the same model. Empty where made without
/// arguments.
class Model : public Trainer {
public:
  /// An empty one.
  Model() = default;
  /// The model that computes `outputs` from `inputs`. Throws meshloom::Error if
  /// outputs need an Input that is not given, or if two layers have one name.
  Model(SymbolicTensors inputs, SymbolicTensors outputs, std::string name = "",
        Where where = Where::current());
  /// A handle of an implementation.
  explicit Model(std::shared_ptr<ModelImpl> impl) : Trainer(std::move(impl)) {}
  /// The model that a layer is. Throws meshloom::Error if it is not a model.
  explicit Model(const Layer &layer, Where where = Where::current());

  /// The inputs of its graph; empty for models of code, and before it is built.
  std::vector<SymbolicTensor> inputs() const;
  /// The outputs of its graph.
  std::vector<SymbolicTensor> outputs() const;

private:
  ModelImpl &model() const;
};

/// A handle of a model of one class: ModelOf<NetImpl>() makes the model.
template <std::derived_from<ModelImpl> Impl> class ModelOf : public Model {
public:
  /// Makes the implementation of these arguments.
  template <typename... Args>
    requires std::constructible_from<Impl, Args...>
  explicit ModelOf(Args &&...args)
      : Model(std::make_shared<Impl>(std::forward<Args>(args)...)) {}
  /// Access to the implementation.
  Impl *operator->() const { return static_cast<Impl *>(&implementation()); }
};

/// A layer of a Sequential, or, as its first, what Input gives.
class SequentialPart {
public:
  /// A layer.
  SequentialPart(const Layer &layer) : layer(layer) {}
  /// An input.
  SequentialPart(const SymbolicTensor &input) : input(input) {}
  Layer layer;          ///< empty where there is an input
  SymbolicTensor input; ///< empty where there is a layer
};

/// Layers one after the other. Built at once where its first part is an Input,
/// else when it is first called, or by `build`.
class Sequential : public Model {
public:
  /// Without layers so far.
  Sequential() : Sequential(std::initializer_list<SequentialPart>()) {}
  /// A model of these layers. Throws meshloom::Error if an Input is not the
  /// first, or if two layers have one name.
  Sequential(std::initializer_list<SequentialPart> parts, std::string name = "",
             Where where = Where::current());
  /// A model of these layers.
  explicit Sequential(const std::vector<SequentialPart> &parts,
                      std::string name = "", Where where = Where::current());
  /// Appends a layer.
  void add(const SequentialPart &part, Where where = Where::current()) const;
  /// Takes the last layer off. Throws meshloom::Error if there is none.
  void pop() const;
};

} // namespace meshloom
