// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saving models and loading them again: what they are, and their weights.
#pragma once

#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/State/Checkpoint.h"

namespace meshloom {

/// The objects that are saved beside a model.
struct SaveModelOptions {
  /// The optimizer that it is trained by, with its state; default: the one that
  /// it was compiled with.
  std::optional<optimizers::Optimizer> optimizer = std::nullopt;
  /// Further data of your own training loop; see load_training_config.
  nn::Config training = {};
  /// Whether what it was compiled with, and that optimizer, are saved too.
  bool include_optimizer = true;
};

/// How a model is loaded.
struct LoadModelOptions {
  /// Weights that were cut over axes of a mesh are cut over the axes of these
  /// names of this mesh, the others are replicated on it. Default: the default
  /// mesh, where there is one (in the scope of a strategy it is the
  /// strategy's); axes that it has not cut nothing. Else weights are on a mesh
  /// as they were saved, of virtual CPUs, or on the host where none was cut.
  std::optional<Mesh> mesh = std::nullopt;
  /// Says whether it is compiled as it was when it was saved.
  bool compile = true;
};

/// Writes a model into a folder of that name (by custom "NAME.keras"): its
/// layers and how they are called, its weights with their layouts, and, if it
/// was compiled, what with, and the optimizer's state. The folder is a
/// checkpoint of {"model", "optimizer"}: after a crash it is what it was
/// before, or the new one. Where a loss or metric is a function without a name,
/// a warning says so, and the model is saved as one that was not compiled.
/// Throws meshloom::Error if the model is not built, if a part of it is a
/// function without a name, or as Checkpoint::write.
/// Messages name the line `where`.
void save(const Model &model, const std::filesystem::path &path,
          const SaveModelOptions &options = {},
          std::source_location where = std::source_location::current());

/// The model of such a folder, compiled if it was: fit goes on where it was.
/// Classes of the user's own are made by what
/// register_layer was told. Throws meshloom::Error if there is none, if a class
/// is not known, if the mesh has not an axis that weights are cut over, or as
/// Checkpoint::restore.
///
///   save(model, "mnist.keras");
///   Model again = load_model("mnist.keras");
Model load_model(const std::filesystem::path &path,
                 const LoadModelOptions &options = {},
                 std::source_location where = std::source_location::current());

/// The optimizer of such a folder, with the state that it had, for the model
/// that load_model made of it. Throws meshloom::Error if none was saved, if it
/// cannot be made again (see Optimizer::from_config), or as
/// Checkpoint::restore.
optimizers::Optimizer
load_optimizer(const std::filesystem::path &path, const Model &model,
               std::source_location where = std::source_location::current());
/// SaveModelOptions::training of such a folder; null where none was given.
/// Throws meshloom::Error if there is no such folder.
nn::Config load_training_config(
    const std::filesystem::path &path,
    std::source_location where = std::source_location::current());

/// Writes the weights of a layer or model alone: a checkpoint of {"model"}.
/// Throws as `save`.
void save_weights(const Layer &model, const std::filesystem::path &path,
                  std::source_location where = std::source_location::current());
/// Takes the weights of such a folder, or of one that `save` wrote, into a
/// model that is built, whatever the layouts. Throws meshloom::Error, listing
/// them, if weights are missing, superfluous or of another shape; none is
/// changed then.
void load_weights(const Layer &model, const std::filesystem::path &path,
                  const RestoreOptions &options = {},
                  std::source_location where = std::source_location::current());

} // namespace meshloom
