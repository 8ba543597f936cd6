// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing and restoring checkpoints, see Checkpoint.h.
#include "meshloom/NN/State/Checkpoint.h"

#include "FolderErrors.h"

#include "meshloom/API/Function.h"
#include "meshloom/API/Logging.h"
#include "meshloom/API/MovedFrom.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Shards.h"
#include "meshloom/Support/ForeignErrors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <future>
#include <mutex>
#include <set>

namespace meshloom {

namespace {

constexpr char counterNote[] = "save_counter";
/// Notes of objects with small state are called so and the object's name.
constexpr char statePrefix[] = "state/";

/// Returns whether a variable was made without a name: "variable12".
bool isExplicitlyNamed(const std::string &name) {
  constexpr std::string_view generated = "variable";
  return !name.starts_with(generated) || name.size() == generated.size() ||
         !std::all_of(name.begin() + generated.size(), name.end(),
                      [](char c) { return c >= '0' && c <= '9'; });
}

/// Variables by path, and paths by variable. A variable has one path.
class Paths {
public:
  /// Unless it is known: at "path", "path_1", ...
  void add(const std::string &path, const DVariable &variable) {
    if (of(variable))
      return;
    std::string free = path;
    for (int64_t i = 1; byPath.contains(free); ++i)
      free = fmt::format("{}_{}", path, i);
    byPath.emplace(free, variable);
    byVariable.emplace(variable.internal().get(), free);
  }
  const std::string *of(const DVariable &variable) const {
    auto found = byVariable.find(variable.internal().get());
    return found == byVariable.end() ? nullptr : &found->second;
  }
  const std::map<std::string, DVariable> &variables() const { return byPath; }

private:
  std::map<std::string, DVariable> byPath;
  std::map<const detail::VariableState *, std::string> byVariable;
};

/// The path of an optimizer's state of a variable, without the slot.
std::string slotPath(const std::string &optimizer, const Paths &paths,
                     const DVariable &of) {
  const std::string *path = paths.of(of);
  return fmt::format("{}/{}", optimizer, path ? *path : of.name());
}

void addOptimizer(const std::string &name,
                  const optimizers::Optimizer &optimizer, Paths &paths) {
  const Paths ofModels = paths;
  const auto slots = optimizer.slot_variables();
  for (const auto &[of, slot, variable] : slots)
    paths.add(slotPath(name, ofModels, of) + "/" + slot, variable);
  for (const DVariable &counter : optimizer.variables())
    paths.add(name + "/" + counter.name(), counter);
  if (auto *rate = std::get_if<DVariable>(&optimizer.learning_rate().value))
    paths.add(name + "/learning_rate", *rate);
}

std::string typeText(DType type, const Shape &shape) {
  return fmt::format("{} [{}]", name(type), fmt::join(shape, ", "));
}

/// "missing there (2): a f32 [2]; b ...", or nothing of an empty list.
std::string listed(const char *title, const std::vector<std::string> &entries) {
  constexpr size_t most = 20;
  if (entries.empty())
    return "";
  std::string text = fmt::format("\n  {} ({}):", title, entries.size());
  for (size_t i = 0; i < std::min(most, entries.size()); ++i)
    text += "\n    " + entries[i];
  if (entries.size() > most)
    text += fmt::format("\n    and {} more", entries.size() - most);
  return text;
}

} // namespace

/// The integer that a note of a checkpoint is.
static int64_t numberIn(const std::string &note) {
  int64_t number = 0;
  const char *end = note.data() + note.size();
  const auto [stop, error] = std::from_chars(note.data(), end, number);
  if (error != std::errc() || stop != end)
    Error(fmt::format("expected a note that is an integer, got {}", note),
          ErrorCode::DATA_LOSS)
        .raise();
  return number;
}

Trackable::Trackable(const DVariable &variable)
    : variables(
          [variable] { return std::vector{NamedVariable{"", variable}}; }) {}
Trackable::Trackable(const Module &module)
    : variables([module] { return named(module.variables()); }) {}
Trackable::Trackable(const Layer &layer)
    : variables([layer] { return layer.named_variables(); }) {}
Trackable::Trackable(const optimizers::Optimizer &optimizer)
    : optimizer(optimizer) {}
Trackable::Trackable(const metrics::Metric &metric)
    : variables([metric] { return named(metric.variables()); }),
      metric(metric) {}
Trackable::Trackable(callbacks::Callback *callback)
    : Trackable(Parts{
          [callback]() -> std::optional<callbacks::CallbackState> {
            callbacks::CallbackState state = callback->get_state();
            return state.empty() ? std::nullopt
                                 : std::optional(std::move(state));
          },
          [callback](const std::optional<callbacks::CallbackState> &state) {
            if (state)
              callback->set_state(*state);
          }}) {}
Trackable::Trackable(int64_t *number)
    : saveState([number] { return std::to_string(*number); }),
      restoreState(
          [number](const std::string &text) { *number = numberIn(text); }) {}

std::vector<NamedVariable>
Trackable::named(const std::vector<DVariable> &variables) {
  std::vector<NamedVariable> found;
  found.reserve(variables.size());
  for (const DVariable &variable : variables)
    found.push_back({isExplicitlyNamed(variable.name())
                         ? variable.name()
                         : std::to_string(found.size()),
                     variable});
  return found;
}

struct Checkpoint::State {
  State() = default;
  State(const State &) = delete;
  ~State() {
    try {
      wait();
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  }

  /// Throws what the last write ended with.
  void wait() {
    std::future<void> last;
    {
      std::lock_guard lock(mutex);
      last = std::move(writing);
    }
    if (last.valid())
      last.get();
  }

  Paths paths() const;
  void buildOptimizers(const data::TensorFolder &folder) const;
  void buildMetrics(const data::TensorFolder &folder) const;
  bool isOfParts(const std::string &path) const;
  bool isCountOfSteps(const std::string &path) const;
  /// Returns whether sums of a metric that were stored in f32 are read as f64.
  bool isNarrowSum(const std::string &path, const DVariable &variable,
                   const data::StoredTensor &stored) const;
  void compare(const data::TensorFolder &folder,
               const std::map<std::string, DVariable> &variables,
               const RestoreOptions &options) const;
  void restoreStates(const data::TensorFolder &folder) const;
  /// The states of objects whose state is values and tensors.
  std::vector<
      std::pair<const Trackable *, std::optional<callbacks::CallbackState>>>
  partsIn(const data::TensorFolder &folder) const;

  Objects objects;
  int64_t saveCounter = 0;
  std::mutex mutex;
  std::future<void> writing;
};

Checkpoint::Checkpoint(Objects objects, std::source_location where)
    : state(std::make_shared<State>()) {
  std::set<std::string> names;
  for (const auto &[name, object] : objects)
    if (name.empty() || !names.insert(name).second)
      detail::fail("Checkpoint",
                   fmt::format("expected a different name for each object, "
                               "got '{}'{}",
                               name, name.empty() ? "" : " twice"),
                   &where);
  state->objects = std::move(objects);
}

Paths Checkpoint::State::paths() const {
  Paths paths;
  for (const auto &[name, object] : objects) {
    if (!object.variables)
      continue;
    for (const auto &[path, variable] : object.variables())
      paths.add(path.empty() ? name : fmt::format("{}/{}", name, path),
                variable);
  }
  for (const auto &[name, object] : objects)
    if (object.optimizer)
      addOptimizer(name, *object.optimizer, paths);
  return paths;
}

/// Makes the state of those variables that the folder has state of.
void Checkpoint::State::buildOptimizers(
    const data::TensorFolder &folder) const {
  for (const auto &[name, object] : objects) {
    if (!object.optimizer)
      continue;
    const Paths candidates = paths();
    auto has = [&](const std::string &prefix) {
      auto found = folder.tensors().lower_bound(prefix);
      return found != folder.tensors().end() &&
             found->first.starts_with(prefix);
    };
    std::vector<DVariable> withState, floats;
    for (const auto &[path, variable] : candidates.variables()) {
      if (has(name + "/" + path + "/"))
        withState.push_back(variable);
      if (isFloat(variable.dtype()) && !path.starts_with(name + "/"))
        floats.push_back(variable);
    }
    // A rule without slots may have only counters there.
    if (withState.empty() && has(name + "/"))
      withState = floats;
    object.optimizer->build(withState);
    // The rate is a variable once somebody asked for one.
    if (folder.tensors().contains(name + "/learning_rate") &&
        std::holds_alternative<double>(object.optimizer->learning_rate().value))
      object.optimizer->set_learning_rate(
          object.optimizer->current_learning_rate());
  }
}

/// Makes the sums of metrics that have none and that the folder has sums of.
void Checkpoint::State::buildMetrics(const data::TensorFolder &folder) const {
  for (const auto &[name, object] : objects) {
    if (!object.metric || !object.metric.variables().empty())
      continue;
    std::vector<metrics::Metric::SumShape> shapes;
    for (const auto &[sum, shape] : object.metric.sum_shapes())
      if (auto stored = folder.tensors().find(
              fmt::format("{}/{}/{}", name, object.metric.name(), sum));
          stored != folder.tensors().end())
        shapes.emplace_back(sum, stored->second.shape);
    if (shapes.size() == object.metric.sum_shapes().size())
      object.metric.build(shapes);
  }
}

/// Returns whether it is the path of a tensor of an object that has some of its
/// own.
bool Checkpoint::State::isOfParts(const std::string &path) const {
  return std::ranges::any_of(objects, [&](const auto &object) {
    return object.second.parts && path.starts_with(object.first + "/");
  });
}

/// Returns whether it is the number of steps of an optimizer that needs none.
bool Checkpoint::State::isCountOfSteps(const std::string &path) const {
  return std::ranges::any_of(objects, [&](const auto &object) {
    return object.second.optimizer && path == object.first + "/step" &&
           !object.second.optimizer->uses_iterations();
  });
}

bool Checkpoint::State::isNarrowSum(const std::string &path,
                                    const DVariable &variable,
                                    const data::StoredTensor &stored) const {
  return stored.dtype == DType::F32 && variable.dtype() == DType::F64 &&
         stored.shape == variable.shape() &&
         std::ranges::any_of(objects, [&](const auto &object) {
           return object.second.metric && path.starts_with(object.first + "/");
         });
}

void Checkpoint::State::compare(
    const data::TensorFolder &folder,
    const std::map<std::string, DVariable> &variables,
    const RestoreOptions &options) const {
  std::vector<std::string> missing, extra, different;
  auto isRate = [&](const std::string &path) {
    return std::ranges::any_of(objects, [&](const auto &object) {
      return object.second.optimizer && path == object.first + "/learning_rate";
    });
  };
  for (const auto &[path, variable] : variables) {
    const std::string expectedType =
        typeText(variable.dtype(), variable.shape());
    auto found = folder.tensors().find(path);
    if (found == folder.tensors().end() && isRate(path))
      continue; // it was a number then
    if (found == folder.tensors().end() && isCountOfSteps(path)) {
      detail::log(LogLevel::WARNING,
                  fmt::format("[restore] '{}' was written by an earlier "
                              "version and does not say how many steps the "
                              "optimizer took: its iterations do not change",
                              folder.path().string()));
      continue;
    }
    if (found == folder.tensors().end())
      missing.push_back(fmt::format("{} {}", path, expectedType));
    else if (std::string stored =
                 typeText(found->second.dtype, found->second.shape);
             stored != expectedType &&
             !isNarrowSum(path, variable, found->second))
      different.push_back(
          fmt::format("{} {}, stored is {}", path, expectedType, stored));
  }
  for (const auto &[path, stored] : folder.tensors())
    if (!variables.contains(path) && !isOfParts(path))
      extra.push_back(
          fmt::format("{} {}", path, typeText(stored.dtype, stored.shape)));
  for (const auto &[name, object] : objects)
    if (object.restoreState && !folder.notes().contains(statePrefix + name))
      missing.push_back(name);
  for (const auto &[note, text] : folder.notes())
    if (note.starts_with(statePrefix) &&
        std::ranges::none_of(objects, [&](const auto &object) {
          return (object.second.restoreState || object.second.parts) &&
                 statePrefix + object.first == note;
        }))
      extra.push_back(note.substr(sizeof(statePrefix) - 1));
  if (options.allow_extra_objects)
    std::erase_if(extra, [&](const std::string &entry) {
      return std::ranges::none_of(objects, [&](const auto &object) {
        return entry.starts_with(object.first + "/") ||
               entry.starts_with(object.first + " ") || entry == object.first;
      });
    });
  if (options.allow_missing)
    missing.clear();
  if (options.allow_extra)
    extra.clear();
  if (missing.empty() && extra.empty() && different.empty())
    return;
  Error(fmt::format("[restore] '{}' is a checkpoint of something else:{}{}{}{}",
                    folder.path().string(),
                    listed("the program has, the checkpoint has not", missing),
                    listed("the checkpoint has, the program has not", extra),
                    listed("of another type or shape", different),
                    extra.empty() && missing.empty()
                        ? ""
                        : "\n  layers make their variables when they are first "
                          "called: build "
                          "models before; allow_missing and allow_extra "
                          "restore the rest"))
      .raise();
}

/// All or, where one throws, none.
void Checkpoint::State::restoreStates(const data::TensorFolder &folder) const {
  std::vector<std::pair<const Trackable *, std::string>> before;
  try {
    for (const auto &[name, object] : objects) {
      auto found = folder.notes().find(statePrefix + name);
      if (!object.restoreState || found == folder.notes().end())
        continue;
      before.emplace_back(&object, object.saveState());
      object.restoreState(found->second);
    }
  } catch (const std::exception &error) {
    for (const auto &[object, old] : before)
      object->restoreState(old);
    Error::of(error)
        .withMessage(fmt::format("[restore] '{}': {}", folder.path().string(),
                                 error.what()))
        .raise();
  }
}

std::vector<
    std::pair<const Trackable *, std::optional<callbacks::CallbackState>>>
Checkpoint::State::partsIn(const data::TensorFolder &folder) const {
  std::vector<
      std::pair<const Trackable *, std::optional<callbacks::CallbackState>>>
      all;
  for (const auto &[name, object] : objects) {
    if (!object.parts)
      continue;
    auto &part = all.emplace_back(&object, std::nullopt).second;
    const auto values = folder.notes().find(statePrefix + name);
    if (values == folder.notes().end())
      continue;
    part.emplace(
        callbacks::CallbackState{nn::Config::parse(values->second), {}});
    const std::string prefix = name + "/";
    for (auto stored = folder.tensors().lower_bound(prefix);
         stored != folder.tensors().end() && stored->first.starts_with(prefix);
         ++stored)
      part->tensors.emplace(stored->first.substr(prefix.size()),
                            detail::namingFolders("restore", [&] {
                              return folder.read(stored->first);
                            }));
  }
  return all;
}

std::map<std::string, DVariable> Checkpoint::variables() const {
  detail::expectNotMovedFrom(state, "Checkpoint");
  return state->paths().variables();
}

void Checkpoint::write(const std::filesystem::path &path,
                       const CheckpointWriteOptions &options,
                       const Extras &extras) const {
  detail::expectNotMovedFrom(state, "Checkpoint");
  if (detail::isTracing())
    Error("[Checkpoint] expected to be outside of a function: variables "
          "have no values while it is traced",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  state->wait();
  detail::expectReplaceable("Checkpoint", path, /*writesFunctions=*/false);
  data::FolderContents contents;
  for (const auto &[variablePath, variable] : variables())
    contents.tensors.emplace(variablePath, variable.read_value());
  contents.notes = extras.notes;
  contents.notes[counterNote] = std::to_string(state->saveCounter);
  for (const auto &[name, object] : state->objects) {
    if (object.saveState)
      contents.notes[statePrefix + name] = object.saveState();
    if (!object.parts)
      continue;
    if (const auto parts = object.parts->get()) {
      contents.notes[statePrefix + name] = parts->values.to_json();
      for (const auto &[tensor, value] : parts->tensors)
        contents.tensors.emplace(fmt::format("{}/{}", name, tensor), value);
    }
  }
  auto job = [path, contents = std::move(contents), after = extras.after] {
    data::write_tensor_folder(path, contents);
    if (after)
      after();
  };
  if (!options.asynchronous)
    return job();
  std::lock_guard lock(state->mutex);
  state->writing = std::async(std::launch::async, std::move(job));
}

void Checkpoint::write(const std::filesystem::path &path,
                       const CheckpointWriteOptions &options,
                       std::source_location where) const {
  return detail::atLine(where, [&]() -> void {
    const detail::CallSite site(detail::callSiteOr(where));
    const detail::CallName name("Checkpoint::write");
    write(path, options, Extras());
  });
}

std::filesystem::path Checkpoint::save(const std::filesystem::path &prefix,
                                       const CheckpointWriteOptions &options,
                                       std::source_location where) const {
  return detail::atLine(where, [&]() -> std::filesystem::path {
    const detail::CallSite site(detail::callSiteOr(where));
    const detail::CallName name("Checkpoint::save");
    detail::expectNotMovedFrom(state, "Checkpoint");
    std::filesystem::path path = prefix;
    path += fmt::format("-{}", ++state->saveCounter);
    write(path, options);
    return path;
  });
}

void Checkpoint::wait(std::source_location where) const {
  detail::atLine(where, [&] {
    detail::expectNotMovedFrom(state, "Checkpoint");
    state->wait();
  });
}
int64_t Checkpoint::save_counter() const {
  detail::expectNotMovedFrom(state, "Checkpoint");
  return state->saveCounter;
}

void Checkpoint::restore(const std::filesystem::path &path,
                         const RestoreOptions &options,
                         std::source_location where) const {
  const std::string context = fmt::format("[restore] '{}'", path.string());
  auto restored = [&] {
    detail::expectNotMovedFrom(state, "Checkpoint");
    if (detail::isTracing())
      Error("[restore] expected to be outside of a function: variables "
            "have no values while it is traced",
            ErrorCode::FAILED_PRECONDITION)
          .raise();
    state->wait();
    const data::TensorFolder folder = detail::openFolder("restore", path);
    state->buildOptimizers(folder);
    state->buildMetrics(folder);
    const std::map<std::string, DVariable> restored = variables();
    state->compare(folder, restored, options);
    // Everything is read before anything is assigned.
    std::vector<std::pair<DVariable, Tensor>> values;
    for (const auto &[name, variable] : restored)
      if (folder.tensors().contains(name))
        values.emplace_back(variable, detail::namingFolders("restore", [&] {
                              const Tensor value = folder.read(
                                  name, detail::isHostVariable(variable)
                                            ? std::nullopt
                                            : std::optional(variable.layout()));
                              return value.dtype() == variable.dtype()
                                         ? value
                                         : cast(value, variable.dtype());
                            }));
    const auto parts = state->partsIn(folder);
    int64_t saveCounter = state->saveCounter;
    if (auto counter = folder.notes().find(counterNote);
        counter != folder.notes().end())
      saveCounter = numberIn(counter->second);
    state->restoreStates(folder);
    for (const auto &[variable, value] : values)
      variable.assign(value);
    // These may look at what was restored.
    for (const auto &[object, part] : parts)
      object->parts->set(part);
    state->saveCounter = saveCounter;
  };
  detail::atLine(where, [&] { detail::withDTensorErrors(context, restored); });
}

} // namespace meshloom
