// Variables made in the scope of a strategy.
#include "StrategyState.h"

#include "meshloom/API/Distribute.h"

#include <fmt/format.h>

namespace meshloom::detail {
namespace {

/// The initial value, replicated on the strategy's devices where it has no
/// place yet.
Tensor placed(const StrategyState &strategy, const Tensor &initial,
              const VariableOptions &options) {
  if (!initial.defined() || initial.is_traced())
    return initial; // DVariable says what is wrong
  auto expectMesh = [&](const Mesh &mesh, std::string_view of) {
    if (mesh != *strategy.mesh)
      refuse("DVariable",
             fmt::format("expected {} on the mesh of the strategy in whose "
                         "scope the variable{} is made, {}, got one on another "
                         "mesh: bring the value there with copy_to_mesh, or "
                         "make the variable outside of the scope",
                         of,
                         options.name.empty() ? "" : " '" + options.name + "'",
                         textOf(strategy)));
  };
  if (options.layout && options.layout->defined())
    expectMesh(options.layout->mesh(), "a layout");
  if (is_dtensor(initial)) {
    expectMesh(initial.mesh(), "an initial value");
    return initial;
  }
  return options.layout ? initial : copy_to_mesh(initial, *strategy.mesh);
}

} // namespace

DVariable makeVariable(const std::shared_ptr<const StrategyState> &strategy,
                       const NextVariable &next, const Tensor &initial,
                       VariableOptions options) {
  if (options.synchronization == VariableSynchronization::NONE)
    refuse("DVariable",
           "expected VariableSynchronization AUTO, ON_WRITE or ON_READ, got "
           "NONE: in the scope of a strategy replicas agree on a variable");
  const Tensor value = placed(*strategy, initial, options);
  return next(value, std::move(options));
}

} // namespace meshloom::detail
