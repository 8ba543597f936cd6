// Module, see Module.h.
#include "meshloom/NN/Module.h"

#include <variant>

namespace meshloom {

/// Shared by the copies of a module, and by the modules that track it.
struct Module::State {
  std::vector<std::variant<DVariable, std::shared_ptr<State>>> parts;

  void collect(std::vector<DVariable> &found) const {
    for (auto &part : parts) {
      if (auto *module = std::get_if<1>(&part)) {
        (*module)->collect(found);
        continue;
      }
      const DVariable &variable = std::get<0>(part);
      bool known = false;
      for (const DVariable &other : found)
        known |= other.is(variable);
      if (!known)
        found.push_back(variable);
    }
  }
};

Module::Module() : state(std::make_shared<State>()) {}

void Module::trackOne(const DVariable &variable) {
  state->parts.emplace_back(variable);
}
void Module::trackOne(const Module &module) {
  state->parts.emplace_back(module.state);
}

std::vector<DVariable> Module::variables() const {
  std::vector<DVariable> found;
  state->collect(found);
  return found;
}

std::vector<DVariable> Module::trainable_variables() const {
  std::vector<DVariable> trainable;
  for (const DVariable &variable : variables())
    if (variable.trainable())
      trainable.push_back(variable);
  return trainable;
}

} // namespace meshloom
