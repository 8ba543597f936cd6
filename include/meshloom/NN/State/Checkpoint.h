// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checkpoint: the state of a training, written and restored by name, under any
// layouts.
#pragma once

#include "meshloom/NN/Layers/Layer.h"
#include "meshloom/NN/Metrics.h"
#include "meshloom/NN/Module.h"
#include "meshloom/NN/Optimizer.h"
#include "meshloom/NN/Training/Callback.h"

#include <filesystem>
#include <source_location>
#include <string>

namespace meshloom {

class Model;
struct SaveModelOptions;
namespace callbacks {
class BackupAndRestore;
}

namespace detail {
template <typename T>
concept HasVariables = requires(const T &object) {
  { object.variables() } -> std::convertible_to<std::vector<DVariable>>;
};
/// An object with a small state that is not a tensor, as a JSON text: the
/// position of a dataset, a seed.
template <typename T>
concept HasState = requires(T &object, const std::string &state) {
  { std::as_const(object).save() } -> std::convertible_to<std::string>;
  object.restore(state);
};
/// The same of a handle, whose copy is the same object.
template <typename T>
concept HandleWithState = HasState<const T> && !HasVariables<T>;
} // namespace detail

/// An object that a Checkpoint names: a variable, a module, a layer or model,
/// an optimizer, a metric, anything with `variables()`; a number of the program
/// (a step, a seed); a callback; what has `save()` and `restore(text)` of a
/// JSON text, such as an iterator over a dataset.
class Trackable {
public:
  /// One variable: its path is the name itself.
  Trackable(const DVariable &variable);
  /// Its variables: their paths are "name/" and their paths in it.
  Trackable(const Layer &layer);
  /// Its variables: their paths are "name/" and the variables' names.
  Trackable(const Module &module);
  /// Its counters, and its state by the paths of the variables of the model:
  /// "optimizer/model/dense/kernel/m".
  Trackable(const optimizers::Optimizer &optimizer);
  /// Its sums: their paths are "name/" and the variables' names. One that has
  /// seen no batch yet gets those that the checkpoint has.
  Trackable(const metrics::Metric &metric);
  /// The state of a callback, which must outlive the checkpoint. A callback
  /// that has seen nothing has nothing in the checkpoint, and keeps what it has
  /// where the checkpoint has nothing.
  Trackable(callbacks::Callback *callback);
  /// The variables that it has when the checkpoint is written or restored.
  template <detail::HasVariables T>
    requires(!std::derived_from<T, Module> && !std::derived_from<T, Layer> &&
             !std::derived_from<T, optimizers::Optimizer> &&
             !std::derived_from<T, metrics::Metric>)
  Trackable(const T &object)
      : variables([object] { return named(object.variables()); }) {}
  /// A number, which must outlive the checkpoint.
  Trackable(int64_t *number);
  /// Its state: of an iterator over a dataset the position.
  template <detail::HandleWithState T>
  Trackable(const T &handle)
      : saveState([handle] { return handle.save(); }),
        restoreState(
            [handle](const std::string &state) { handle.restore(state); }) {}
  /// Its state; the object must outlive the checkpoint.
  template <detail::HasState T>
  Trackable(T *object)
      : saveState([object] { return object->save(); }),
        restoreState(
            [object](const std::string &state) { object->restore(state); }) {}

private:
  friend class Checkpoint;
  friend class callbacks::BackupAndRestore;
  /// A state that is part values, part tensors; none: there is nothing to keep.
  struct Parts {
    std::function<std::optional<callbacks::CallbackState>()> get;
    /// Gets nothing where the checkpoint has nothing.
    std::function<void(const std::optional<callbacks::CallbackState> &)> set;
  };
  explicit Trackable(Parts parts) : parts(std::move(parts)) {}
  /// A variable without a name is called by its place.
  static std::vector<NamedVariable>
  named(const std::vector<DVariable> &variables);

  /// With their paths in the object; an empty path is the object itself. Empty
  /// where it has none.
  std::function<std::vector<NamedVariable>()> variables;
  std::optional<optimizers::Optimizer> optimizer;
  metrics::Metric metric; ///< empty: it is none
  std::optional<Parts> parts;
  std::function<std::string()> saveState;
  std::function<void(const std::string &)> restoreState;
};

/// How a checkpoint is written.
struct CheckpointWriteOptions {
  /// Returns at once: values as they are now are written while the program goes
  /// on. An error surfaces at the next call of any function of the checkpoint,
  /// or at `wait`.
  bool asynchronous = false;
};

/// How a checkpoint is restored.
struct RestoreOptions {
  /// Variables of the program that the checkpoint has not keep their values.
  bool allow_missing = false;
  /// Variables that the program does not have are left out.
  bool allow_extra = false;
  /// Objects that the program has not are left out: for inference the model of
  /// a training's checkpoint is enough.
  bool allow_extra_objects = false;
};

/// Objects by name whose state is written into a folder and read back. Values
/// are logical ones: a checkpoint restores into any mesh, layout and strategy.
///
///   int64_t epoch = 0;
///   Checkpoint checkpoint({{"model", net}, {"optimizer", adam},
///                          {"epoch", &epoch}});
///   checkpoint.write("ckpt");
///   checkpoint.restore("ckpt");
///
/// The folder is data::write_tensor_folder's: safetensors files, one for each
/// device, and an index with paths, shapes, layouts and the small state; a
/// crash while it is written leaves the old one.
///
/// A variable without a name has its place in its object as name; one that
/// several objects have is the first one's. Optimizers make their state in the
/// first step; `restore` makes it where the checkpoint has it and knows its
/// variable, that is where the model is in the checkpoint too. Metrics make
/// their sums with their first batch; `restore` makes them, too.
///
/// Checkpoints of earlier versions are read: sums of metrics in f32 become f64,
/// and an optimizer that needs no number of steps and finds none keeps its own,
/// with a warning.
///
/// A handle: a copy is the same checkpoint. The last one waits for what is
/// being written, and prints an error that nobody asked for.
class Checkpoint {
public:
  /// The objects by name, in the order of the checkpoint.
  using Objects = std::vector<std::pair<std::string, Trackable>>;
  /// Throws meshloom::Error if a name is empty or given twice.
  explicit Checkpoint(Objects objects, std::source_location where =
                                           std::source_location::current());

  /// Writes the folder `path`, and replaces a checkpoint or a model there.
  /// Throws meshloom::Error if it cannot be written, if it has functions of
  /// export_functions, if a value is missing, in a function.
  void
  write(const std::filesystem::path &path,
        const CheckpointWriteOptions &options = {},
        std::source_location where = std::source_location::current()) const;
  /// Writes "PREFIX-N", N counting the calls from 1 (restored ones too), and
  /// gives that path.
  std::filesystem::path
  save(const std::filesystem::path &prefix,
       const CheckpointWriteOptions &options = {},
       std::source_location where = std::source_location::current()) const;
  /// Waits until what was started is written. Throws its meshloom::Error.
  void wait(std::source_location where = std::source_location::current()) const;

  /// Takes the values of the folder. Throws meshloom::Error, listing them, if
  /// variables are missing there, or here, or have another shape or type, and,
  /// naming file and tensor, if it is damaged; nothing is changed then.
  void
  restore(const std::filesystem::path &path, const RestoreOptions &options = {},
          std::source_location where = std::source_location::current()) const;
  /// How often `save` was called.
  int64_t save_counter() const;

  /// The variables now, by their paths.
  std::map<std::string, DVariable> variables() const;

private:
  friend class CheckpointManager;
  friend void save(const Model &, const std::filesystem::path &,
                   const SaveModelOptions &, std::source_location);
  struct State;
  /// The further actions of writing a checkpoint.
  struct Extras {
    std::map<std::string, std::string> notes = {}; ///< in the index
    std::function<void()> after = {}; ///< called by the thread that writes
  };
  void write(const std::filesystem::path &path,
             const CheckpointWriteOptions &options, const Extras &extras) const;
  std::shared_ptr<State> state;
};

} // namespace meshloom
