// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GradientTape: in a trace gradients are those of the reverse pass on the spot,
// outside those of a program of the recorded ops (Engine/Tape.h).
#include "meshloom/API/GradientTape.h"
#include "meshloom/Engine/Tape.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/API/RemoteVariables.h"
#include "meshloom/API/ShardMap.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

GradientTape::GradientTape() : state(std::make_shared<TapeState>()) {
  threadState().tapes.push_back(state);
}

GradientTape::~GradientTape() {
  stop_recording();
}

namespace {

/// Checks what can be known before differentiating.
void checkTarget(const Tensor &target, const std::source_location &where) {
  nodeOf(target, "gradient", &where);
  if (isComplex(target.dtype()))
    fail("gradient",
         fmt::format("expected a float target, got {}: take its real part, or "
                     "abs",
                     typeText(target)),
         &where);
  if (!isFloat(target.dtype()))
    fail("gradient",
         fmt::format("expected a float target, got {}: integers and booleans "
                     "have no gradient",
                     typeText(target)),
         &where);
}

Tensor asSeen(const Tensor &gradient, const DVariable &variable,
              const std::source_location &where) {
  return gradient.shape() == variable.shape()
             ? gradient
             : reshape(gradient, variable.shape(), where);
}

/// Throws where a seed is not of its target's shape and type.
void checkSeeds(const std::vector<Tensor> &targets,
                const std::vector<Tensor> &seeds,
                const std::source_location &where) {
  if (seeds.size() != targets.size())
    fail("gradient",
         fmt::format("expected as many output_gradients as targets, got {} for "
                     "{}",
                     seeds.size(), targets.size()),
         &where);
  for (size_t i = 0; i < seeds.size(); ++i)
    if (const TensorNode &seed = nodeOf(seeds[i], "gradient", &where);
        seed.shape != targets[i].shape() || seed.dtype != targets[i].dtype())
      fail("gradient",
           fmt::format("expected an output gradient like its target, {}, got "
                       "{}",
                       typeText(targets[i]), typeText(seeds[i])),
           &where);
}

/// `seeds`: none, or one for each target.
std::vector<Tensor> gradientsOf(const TapeState &tape,
                                const std::vector<Tensor> &targets,
                                const std::vector<Tensor> &seeds,
                                const std::vector<TapeSource> &sources,
                                UnconnectedGradients unconnected,
                                const std::source_location &where) {
  for (const Tensor &target : targets)
    checkTarget(target, where);
  for (const TapeSource &source : sources)
    if (DType type = source.variable.defined()
                         ? source.variable.dtype()
                         : nodeOf(source.tensor, "gradient", &where).dtype;
        !isFloat(type) && !isComplex(type))
      fail("gradient",
           fmt::format("expected float sources, got {} {}: integers and "
                       "booleans have no gradient",
                       name(type), source.name),
           &where);
  std::vector<Tensor> gradients;
  if (const std::shared_ptr<Trace> &trace = threadState().trace()) {
    gradients = gradientsInTrace(*trace, tape, targets, seeds, sources, where);
  } else {
    std::vector<std::vector<Tensor>> tensors;
    for (const TapeSource &source : sources) {
      std::vector<Tensor> &recorded = tensors.emplace_back();
      if (!source.variable.defined())
        recorded.push_back(source.tensor);
      for (auto &[variable, value] : tape.reads)
        if (variable == source.variable.internal())
          recorded.push_back(value);
    }
    gradients = tape.gradients(targets, seeds, tensors, where);
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (gradients[i].defined()) {
      // The stored value of a strategy's variable may have a dim more.
      if (sources[i].variable.defined())
        gradients[i] = asSeen(gradients[i], sources[i].variable, where);
      continue;
    }
    if (unconnected == UnconnectedGradients::Error)
      fail("gradient",
           fmt::format("expected a target that depends on {}, but no path of "
                       "float ops leads there: compute the target from it "
                       "while the tape lives, or ask for zeros with "
                       "UnconnectedGradients::Zero",
                       sources[i].name),
           &where);
    gradients[i] = zeros_like(sources[i].variable.defined()
                                  ? sources[i].variable.read_value(where)
                                  : sources[i].tensor,
                              where);
  }
  return gradients;
}

TapeSource sourceOf(const GradientSource &source, size_t number,
                    const std::source_location &where) {
  if (source.tensor.defined() || !source.variable.defined())
    return {fmt::format("source {}", number), DVariable(), source.tensor};
  return {fmt::format("variable '{}'", source.variable.name()), source.variable,
          Tensor()};
}

} // namespace

static std::vector<Tensor>
gradientsOfSources(const TapeState &tape, const std::vector<Tensor> &targets,
                   const std::vector<Tensor> &seeds,
                   const std::vector<GradientSource> &sources,
                   UnconnectedGradients unconnected,
                   const std::source_location &where) {
  std::vector<TapeSource> list;
  std::vector<size_t> counts; ///< of each source: how many of the list it is
  for (const GradientSource &source : sources) {
    const size_t before = list.size();
    TapeSource tapeSource = sourceOf(source, counts.size(), where);
    if (tapeSource.variable.defined())
      for (const DVariable &part : partsOf(tapeSource.variable))
        list.push_back(
            {fmt::format("variable '{}'", part.name()), part, Tensor()});
    if (list.size() == before)
      list.push_back(std::move(tapeSource));
    counts.push_back(list.size() - before);
  }
  const std::vector<Tensor> found =
      gradientsOf(tape, targets, seeds, list, unconnected, where);
  if (found.size() == sources.size())
    return found;
  std::vector<Tensor> gradients;
  auto part = found.begin();
  for (size_t count : counts) {
    gradients.push_back(
        count == 1 ? *part : concat({part, part + ptrdiff_t(count)}, 0, where));
    part += ptrdiff_t(count);
  }
  return gradients;
}

std::vector<Tensor>
GradientTape::gradient(const Tensor &target,
                       const std::vector<GradientSource> &sources,
                       UnconnectedGradients unconnected, Where where) const {
  return gradientsOfSources(*state, {target}, {}, sources, unconnected, where);
}

std::vector<Tensor>
GradientTape::gradient(const std::vector<Tensor> &targets,
                       const std::vector<GradientSource> &sources,
                       const std::vector<Tensor> &output_gradients,
                       UnconnectedGradients unconnected, Where where) const {
  checkSeeds(targets, output_gradients, where);
  return gradientsOfSources(*state, targets, output_gradients, sources,
                            unconnected, where);
}

Tensor GradientTape::jacobian(const Tensor &target,
                              const GradientSource &source, Where where) const {
  checkTarget(target, where);
  const int64_t count = target.size();
  Shape rows = target.shape(), shape = rows;
  rows.insert(rows.begin(), count);
  const Shape &columns = source.tensor.defined() || !source.variable.defined()
                             ? nodeOf(source.tensor, "jacobian", &where).shape
                             : source.variable.shape();
  shape.insert(shape.end(), columns.begin(), columns.end());
  if (count == 0)
    return zeros(shape, target.dtype(), where);
  const Tensor basis =
      reshape(eye(count, {}, 0, target.dtype(), where), rows, where);
  const Tensor slopes = vmap(
      [&](const Tensor &seed) {
        return gradient(target, source, seed, UnconnectedGradients::Zero,
                        where);
      },
      0, 0, {}, where)(basis);
  return reshape(slopes, shape, where);
}

void GradientTape::stop_recording() {
  std::erase_if(threadState().tapes, [&](const std::weak_ptr<TapeState> &tape) {
    return tape.expired() || tape.lock() == state;
  });
}

std::vector<Tensor> GradientTape::gradient(const Tensor &target,
                                           const std::vector<Tensor> &sources,
                                           UnconnectedGradients unconnected,
                                           Where where) const {
  return gradient(target,
                  std::vector<GradientSource>(sources.begin(), sources.end()),
                  unconnected, where);
}

Tensor GradientTape::gradient(const Tensor &target, const Tensor &source,
                              UnconnectedGradients unconnected,
                              Where where) const {
  return gradient(target, std::vector{GradientSource(source)}, unconnected,
                  where)
      .front();
}

Tensor GradientTape::gradient(const Tensor &target, const DVariable &source,
                              UnconnectedGradients unconnected,
                              Where where) const {
  stateOf(source, "gradient", &where);
  return gradient(target, std::vector{GradientSource(source)}, unconnected,
                  where)
      .front();
}

Gradients GradientTape::gradient(const Tensor &target,
                                 const std::vector<DVariable> &sources,
                                 UnconnectedGradients unconnected,
                                 Where where) const {
  for (const DVariable &source : sources)
    stateOf(source, "gradient", &where);
  std::vector<Tensor> found = gradient(
      target, std::vector<GradientSource>(sources.begin(), sources.end()),
      unconnected, where);
  Gradients gradients;
  for (size_t i = 0; i < sources.size(); ++i)
    gradients.push_back({found[i], sources[i]});
  return gradients;
}

} // namespace meshloom
