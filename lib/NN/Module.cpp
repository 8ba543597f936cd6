// Module, see Module.h.
#include "meshloom/NN/Module.h"

#include "meshloom/NN/Layers/Layer.h"

#include <algorithm>
#include <set>
#include <variant>

namespace meshloom {

/// Shared by the copies of a module, and by the modules that track it.
struct Module::State {
  std::vector<std::variant<DVariable, std::shared_ptr<State>, Layer>> parts;
  bool isTracked = false; ///< `track` was called

  /// Whether `other` is this one or a part of it. There are no circles.
  bool contains(const State &other) const {
    return this == &other || std::ranges::any_of(parts, [&](auto &part) {
             auto *module = std::get_if<1>(&part);
             return module && (*module)->contains(other);
           });
  }

  void collect(std::vector<DVariable> &found, std::set<const State *> &seen,
               bool onlyTrainable) const {
    if (!seen.insert(this).second)
      return;
    if (!isTracked)
      throw Error(
          seen.size() == 1
              ? "[Module] this module has not named its variables: end its "
                "constructor with track(first, second, ...), or with track() "
                "if it has none"
              : "[Module] a module inside of this one has not named its "
                "variables: end its constructor with track(first, second, "
                "...), or with track() if it has none");
    for (auto &part : parts) {
      if (auto *module = std::get_if<1>(&part)) {
        (*module)->collect(found, seen, onlyTrainable);
      } else if (auto *layer = std::get_if<Layer>(&part)) {
        for (const DVariable &variable :
             onlyTrainable ? layer->trainable_variables() : layer->variables())
          add(found, variable);
      } else if (!onlyTrainable || std::get<0>(part).trainable()) {
        add(found, std::get<0>(part));
      }
    }
  }

  static void add(std::vector<DVariable> &found, const DVariable &variable) {
    if (std::ranges::none_of(
            found, [&](const DVariable &other) { return other.is(variable); }))
      found.push_back(variable);
  }
};

Module::Module() : state(std::make_shared<State>()) {}

static Error movedFrom() {
  return Error("[Module] expected a module, got one that was moved from: use "
               "the one that it was moved to");
}

void Module::startTracking() {
  if (!state)
    throw movedFrom();
  state->isTracked = true;
}

void Module::expectParts(size_t count) {
  if (count == 0)
    throw Error("[track] expected a vector of variables or modules, got an "
                "empty one: fill it before track, which does not see what is "
                "added later; leave out one that stays empty");
}

void Module::trackOne(const DVariable &variable) {
  if (!variable.defined())
    throw Error("[track] expected a variable, got an empty DVariable: give it "
                "an initial value before track");
  state->parts.emplace_back(variable);
}
void Module::trackOne(const Module &module) {
  if (!module.state)
    throw movedFrom();
  if (module.state->contains(*state))
    throw Error("[track] a module cannot be a part of itself: leave out the "
                "one that contains this one");
  state->parts.emplace_back(module.state);
}

void Module::trackOne(const Layer &layer) {
  layer.implementation(); // throws if it is empty
  state->parts.emplace_back(layer);
}

std::vector<DVariable> Module::found(bool onlyTrainable) const {
  if (!state)
    throw movedFrom();
  std::vector<DVariable> found;
  std::set<const State *> seen;
  state->collect(found, seen, onlyTrainable);
  return found;
}
std::vector<DVariable> Module::variables() const {
  return found(false);
}
std::vector<DVariable> Module::trainable_variables() const {
  return found(true);
}

} // namespace meshloom
