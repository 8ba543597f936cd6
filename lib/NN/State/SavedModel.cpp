// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models in folders: a checkpoint of the model and its optimizer, whose index
// has the config of the model too.
#include "meshloom/NN/State/SavedModel.h"

#include "FolderErrors.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/Mesh.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Shards.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom {

namespace fs = std::filesystem;

namespace {

constexpr char modelName[] = "model";
constexpr char optimizerName[] = "optimizer";
constexpr char trainingNote[] = "training";
constexpr char compileNote[] = "compile";
constexpr char architectureNote[] = "architecture";

/// Where weights go that were laid out on some mesh.
class Placement {
public:
  Placement(const data::TensorFolder &folder,
            const std::optional<Mesh> &userMesh)
      : folder(folder), mesh(userMesh), isUserMesh(userMesh.has_value()) {
    if (!mesh)
      mesh = get_default_mesh();
    isSaved = !mesh;
    for (const auto &[name, stored] : folder.tensors())
      isCut |= !stored.layout.empty() &&
               !layoutOf(name, stored).is_fully_replicated();
  }

  /// Returns the layout of the weight of this path; none: the host.
  std::optional<Layout> of(const std::string &path) const {
    const data::StoredTensor &stored = folder.tensors().at(path);
    if (stored.layout.empty() || (isSaved && !isCut))
      return std::nullopt;
    const Layout saved = layoutOf(path, stored);
    std::vector<DimSpec> specs = saved.sharding_specs();
    if (isSaved) {
      const Mesh &old = saved.mesh();
      return Layout(specs, create_mesh({old.axes().begin(), old.axes().end()},
                                       virtual_cpus(old.size()), old.name()));
    }
    if (!isUserMesh)
      for (DimSpec &spec : specs)
        std::erase_if(spec.axes, [&](const std::string &axis) {
          return std::ranges::find(mesh->axes(), axis, &MeshAxis::name) ==
                 mesh->axes().end();
        });
    return Layout(specs, *mesh);
  }

private:
  Layout layoutOf(const std::string &path,
                  const data::StoredTensor &stored) const {
    Result<Layout> layout = Layout::from_string(stored.layout);
    if (!layout)
      Error(fmt::format("[load_model] '{}' is damaged: the layout of "
                        "'{}': {}",
                        folder.path().string(), path, layout.error().message()),
            ErrorCode::DATA_LOSS)
          .raise();
    return *layout;
  }

  const data::TensorFolder &folder;
  std::optional<Mesh> mesh;
  bool isUserMesh, isSaved = false, isCut = false;
};

} // namespace

void save(const Model &model, const fs::path &path,
          const SaveModelOptions &options, std::source_location where) {
  return detail::atLine(where, [&]() -> void {
    const detail::CallSite site(detail::callSiteOr(where));
    const detail::CallName name("save");
    const nn::Config config = model.config();
    std::map<std::string, std::string> notes{
        {architectureNote, config.to_json()}};
    Checkpoint::Objects objects{{modelName, model}};
    std::optional<optimizers::Optimizer> optimizer = options.optimizer;
    if (options.include_optimizer && model.compiled()) {
      if (!optimizer)
        optimizer = model.compile_options().optimizer.optimizer;
      try {
        notes[compileNote] = model.compile_config().to_json();
      } catch (const Error &error) {
        detail::log(LogLevel::WARNING,
                    fmt::format("[save] '{}' is saved without the options that "
                                "the model was compiled with: {}",
                                path.string(), error.what()));
      }
    }
    if (optimizer) {
      objects.emplace_back(optimizerName, *optimizer);
      notes[optimizerName] = optimizer->config().to_json();
    }
    if (!options.training.is_null())
      notes[trainingNote] = options.training.to_json();
    Checkpoint(std::move(objects)).write(path, {}, {.notes = std::move(notes)});
  });
}

Model load_model(const fs::path &path, const LoadModelOptions &options,
                 std::source_location where) {
  return detail::atLine(where, [&]() -> Model {
    const data::TensorFolder folder = detail::openFolder("load_model", path);
    auto architecture = folder.notes().find(architectureNote);
    if (architecture == folder.notes().end())
      Error(
          fmt::format(
              "[load_model] '{}' has weights, but no model: it was written by "
              "save_weights or a Checkpoint; make the model, then load_weights",
              path.string()),
          ErrorCode::NOT_FOUND)
          .raise();
    Model model(Layer::from_config(nn::Config::parse(architecture->second)));
    const Placement placement(folder, options.mesh);
    for (const auto &[name, variable] : model.named_variables()) {
      const std::string stored = fmt::format("{}/{}", modelName, name);
      if (!folder.tensors().contains(stored))
        continue; // what is missing is listed below
      std::optional<Layout> layout = placement.of(stored);
      if (layout &&
          (detail::isHostVariable(variable) || variable.layout() != *layout))
        variable.set_layout(*layout);
    }
    detail::namingFolders("load_model", [&] {
      Checkpoint({{modelName, model}})
          .restore(path, {.allow_extra_objects = true});
    });
    auto compile = folder.notes().find(compileNote);
    if (options.compile && compile != folder.notes().end()) {
      OptimizerOrName optimizer;
      if (folder.notes().contains(optimizerName))
        optimizer = load_optimizer(path, model);
      model.compile_from_config(nn::Config::parse(compile->second),
                                std::move(optimizer));
    }
    return model;
  });
}

optimizers::Optimizer load_optimizer(const fs::path &path, const Model &model,
                                     std::source_location where) {
  return detail::atLine(where, [&]() -> optimizers::Optimizer {
    const data::TensorFolder folder =
        detail::openFolder("load_optimizer", path);
    auto config = folder.notes().find(optimizerName);
    if (config == folder.notes().end())
      Error(fmt::format("[load_optimizer] '{}' was saved without an "
                        "optimizer: give it to save",
                        path.string()),
            ErrorCode::FAILED_PRECONDITION)
          .raise();
    optimizers::Optimizer optimizer =
        optimizers::Optimizer::from_config(nn::Config::parse(config->second));
    detail::namingFolders("load_optimizer", [&] {
      Checkpoint({{modelName, model}, {optimizerName, optimizer}})
          .restore(path);
    });
    return optimizer;
  });
}

nn::Config load_training_config(const fs::path &path,
                                std::source_location where) {
  return detail::atLine(where, [&]() -> nn::Config {
    const data::TensorFolder folder =
        detail::openFolder("load_training_config", path);
    auto training = folder.notes().find(trainingNote);
    return training == folder.notes().end()
               ? nn::Config()
               : nn::Config::parse(training->second);
  });
}

void save_weights(const Layer &model, const fs::path &path,
                  std::source_location where) {
  return detail::atLine(where, [&]() -> void {
    const detail::CallSite site(detail::callSiteOr(where));
    const detail::CallName name("save_weights");
    Checkpoint({{modelName, model}}).write(path);
  });
}

void load_weights(const Layer &model, const fs::path &path,
                  const RestoreOptions &options, std::source_location where) {
  return detail::atLine(where, [&]() -> void {
    RestoreOptions weightOptions = options;
    weightOptions.allow_extra_objects = true; // the optimizer of a whole model
    Checkpoint({{modelName, model}}).restore(path, weightOptions);
  });
}

} // namespace meshloom
