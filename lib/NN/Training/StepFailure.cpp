// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report on a training step that failed: which step it was, and which
// variables or gradients hold a nan, see Training.h.
#include "Training.h"

#include "meshloom/API/Processes.h"
#include "meshloom/NN/Models/Model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom::detail {

static bool isFinite(const Tensor &value) {
  return !isFloat(value.dtype()) ||
         reduce_all(is_finite(value)).template item<bool>();
}

/// "'a' and 'b'", or "'a', 'b' and 3 more".
static std::string listText(const std::vector<std::string> &names) {
  constexpr size_t shown = 4;
  const size_t first = std::min(names.size(), shown);
  std::string text = fmt::format(
      "'{}'",
      fmt::join(names.begin(), names.begin() + std::ptrdiff_t(first), "', '"));
  if (names.size() > shown)
    text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::vector<DVariable> Training::nonFiniteGradients(const StepBatch &batch) {
  // A model's own step may change variables without us.
  std::vector<DVariable> variables = model.variables();
  for (const DVariable &variable : optimizer().variables())
    variables.push_back(variable);
  forEachMetric([&](const metrics::Metric &metric, const std::string &) {
    for (const DVariable &sum : metric.variables())
      variables.push_back(sum);
  });
  std::vector<Tensor> before;
  before.reserve(variables.size());
  for (const DVariable &variable : variables)
    before.push_back(variable.read_value());

  watched.emplace();
  auto look = function([&] {
    watched->clear();
    step(batch, true);
    std::vector<Tensor> flags;
    for (const VariableGradient &pair : *watched)
      flags.push_back(reduce_all(is_finite(pair.gradient)));
    return flags;
  });
  std::vector<DVariable> found;
  try {
    const std::vector<Tensor> flags = look();
    for (size_t i = 0; i < flags.size(); ++i)
      if (!flags[i].template item<bool>())
        found.push_back((*watched)[i].variable);
  } catch (const Error &) {
    // The step has failed before, and is reported without this.
  }
  watched.reset();
  for (size_t i = 0; i < variables.size(); ++i)
    variables[i].assign(before[i]);
  return found;
}

std::string Training::nonFiniteVariables() const {
  if (num_clients() > 1)
    return "";
  const CheckNumericsScope unchecked(false);
  std::vector<std::string> paths;
  for (const NamedVariable &named : model.named_variables())
    if (!isFinite(named.variable.read_value()))
      paths.push_back(named.path);
  return paths.empty() ? "" : listText(paths);
}

Error Training::failureOfStep(const Error &error, const StepBatch &batch) {
  std::string text =
      fmt::format("{}; this was training step {}", error.message(), steps + 1);
  if (position)
    text += fmt::format(", batch {} of epoch {}", position->second,
                        position->first);
  // The other processes may not have failed, and would not take part.
  if (num_clients() > 1)
    return error.withMessage(std::move(text));
  if (const std::string values = nonFiniteVariables(); !values.empty())
    return error.withMessage(
        fmt::format("{}; before the step a nan or an infinity was in the "
                    "variables {}",
                    text, values));
  const CheckNumericsScope unchecked(false);
  std::vector<std::string> gradients;
  for (const DVariable &variable : nonFiniteGradients(batch))
    for (const NamedVariable &named : model.named_variables())
      if (named.variable.is(variable))
        gradients.push_back(named.path);
  if (!gradients.empty())
    text += fmt::format("; a nan or an infinity is in the gradients of the "
                        "variables {}, and was in no variable before the step",
                        listText(gradients));
  return error.withMessage(std::move(text));
}

} // namespace meshloom::detail
