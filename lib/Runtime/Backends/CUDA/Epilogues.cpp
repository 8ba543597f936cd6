// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Epilogues.h"

#include "GraphValues.h"

#include <algorithm>
#include <optional>
#include <string_view>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

namespace {
class Finder {
public:
  Finder(const Program &program, const StepGraph &graph,
         std::span<const ProductEpilogue> epilogues)
      : program(program), graph(graph), epilogues(epilogues),
        values(program, graph) {}
  /// Empty: the product is not joined with anything.
  std::vector<JoinedProduct> joinedWith(unsigned product) const;

private:
  /// `gelu`: the symbol of the kernel whose gradient the action is.
  const ProductEpilogue *epilogueOf(unsigned action,
                                    std::string_view gelu = "") const;
  const KernelStep &stepOf(unsigned kernel) const {
    return std::get<KernelStep>(program.steps[graph.works[kernel].step]);
  }
  const Access &accessOf(unsigned kernel, unsigned operand) const;
  /// The value that an operand of a kernel has, or becomes.
  unsigned valueOf(unsigned kernel, unsigned operand) const;
  /// The operand of an action's kernel that has a value; nothing where several
  /// terms do, or none.
  std::optional<unsigned> termOf(unsigned kernel,
                                 const ProductEpilogue &epilogue,
                                 unsigned value) const;
  /// The actions but `kernel` that read the product or more results of gelu.
  std::vector<unsigned> gradientsOf(unsigned kernel, unsigned value) const;
  /// `matrix`: the operand of the kernel that is the product's result.
  std::optional<JoinedProduct> join(unsigned product, unsigned kernel,
                                    const ProductEpilogue &epilogue,
                                    unsigned matrix) const;
  std::optional<JoinedProduct> joinGradient(const JoinedProduct &gelu,
                                            unsigned gradient) const;

  const Program &program;
  const StepGraph &graph;
  std::span<const ProductEpilogue> epilogues;
  const GraphValues values;
};
} // namespace

const ProductEpilogue *Finder::epilogueOf(unsigned action,
                                          std::string_view gelu) const {
  if (action >= graph.works.size() ||
      graph.works[action].kind != Work::Kind::Kernel ||
      !graph.works[action].instances.empty())
    return nullptr;
  const KernelStep &step = stepOf(action);
  const auto found =
      std::ranges::find_if(epilogues, [&](const ProductEpilogue &epilogue) {
        return epilogue.symbol == step.symbol && epilogue.gelu == gelu;
      });
  if (!step.library.empty() || found == epilogues.end())
    return nullptr;
  // The code may be of a file.
  const size_t inputs = step.inputs.size();
  auto isInput = [&](unsigned operand) { return operand < inputs; };
  auto isSaved = [&](const auto &pair) { return isInput(pair.first); };
  const bool isValid =
      std::ranges::all_of(found->terms, isInput) && found->terms.size() <= 2 &&
      std::ranges::all_of(found->saved, isSaved) && found->result >= inputs &&
      found->result < inputs + step.outputs.size() &&
      (found->form == ProductEpilogue::Form::GeluGradient
           ? found->factor && isInput(*found->factor)
           : !found->terms.empty());
  return isValid && found->form != ProductEpilogue::Form::BiasGradient
             ? &*found
             : nullptr;
}

const Access &Finder::accessOf(unsigned kernel, unsigned operand) const {
  const KernelStep &step = stepOf(kernel);
  const size_t inputs = step.inputs.size();
  if (operand >= inputs) {
    const auto output = step.inPlace.begin() + int64_t(operand - inputs);
    operand =
        *output >= 0
            ? unsigned(*output)
            : unsigned(inputs + std::count(step.inPlace.begin(), output, -1));
  }
  return graph.works[kernel].accesses[operand];
}

unsigned Finder::valueOf(unsigned kernel, unsigned operand) const {
  const Access &access = accessOf(kernel, operand);
  return operand < stepOf(kernel).inputs.size() ? values.valueOf(access.buffer)
                                                : writtenBuffer(access);
}

std::optional<unsigned> Finder::termOf(unsigned kernel,
                                       const ProductEpilogue &epilogue,
                                       unsigned value) const {
  std::optional<unsigned> term;
  for (unsigned operand : epilogue.terms)
    if (valueOf(kernel, operand) == value) {
      if (term)
        return std::nullopt;
      term = operand;
    }
  return term;
}

/// The loops of a product that the loops of a kernel are, where both touch a
/// matrix by these accesses; -1: the loop has one iteration.
static std::optional<std::vector<int>> matchLoops(const Work &kernel,
                                                  const Access &inKernel,
                                                  const Work &product,
                                                  const Access &inProduct) {
  std::vector<int> matched(kernel.extents.size(), -1);
  for (size_t dim = 0; dim < inKernel.dims.size(); ++dim) {
    const DimAccess &from = inKernel.dims[dim], &to = inProduct.dims[dim];
    if (from.offset != to.offset || from.terms.size() != to.terms.size() ||
        from.terms.size() > 1)
      return std::nullopt;
    if (from.terms.empty())
      continue;
    const auto [loop, coefficient] = from.terms[0];
    const auto [other, otherCoefficient] = to.terms[0];
    if (coefficient != 1 || otherCoefficient != 1 || matched[loop] >= 0 ||
        kernel.extents[loop] != product.extents[other])
      return std::nullopt;
    matched[loop] = int(other);
  }
  for (size_t loop = 0; loop < matched.size(); ++loop)
    if (matched[loop] < 0 && kernel.extents[loop] != 1)
      return std::nullopt;
  return matched;
}

/// The dims of a kernel's access by the loops of a product.
static std::vector<DimAccess> withLoops(std::vector<DimAccess> dims,
                                        const std::vector<int> &matched) {
  for (DimAccess &dim : dims) {
    std::erase_if(dim.terms,
                  [&](const auto &term) { return matched[term.first] < 0; });
    for (auto &[loop, coefficient] : dim.terms)
      loop = unsigned(matched[loop]);
  }
  return dims;
}

std::optional<JoinedProduct> Finder::join(unsigned product, unsigned kernel,
                                          const ProductEpilogue &epilogue,
                                          unsigned matrix) const {
  const Work &dot = graph.works[product];
  const Access &read = accessOf(kernel, matrix), &written = dot.accesses[2],
               &result = accessOf(kernel, epilogue.result);
  const GraphBuffer &from = graph.buffers[read.buffer],
                    &to = graph.buffers[written.buffer];
  if (!dot.instances.empty() || from.shape != to.shape ||
      from.origin != to.origin || result.dims != read.dims)
    return std::nullopt;
  const auto matched = matchLoops(graph.works[kernel], read, dot, written);
  if (!matched)
    return std::nullopt;
  JoinedProduct joined{product, {kernel}, dot, epilogue.form};
  std::vector<Access> &accesses = joined.work.accesses;
  accesses[2] = {writtenBuffer(result), withLoops(result.dims, *matched),
                 /*reads=*/false, /*writes=*/true};
  // A gradient reads no bias: gelu's operands have it.
  for (unsigned term : epilogue.terms)
    if (term != matrix && !epilogue.factor) {
      const Access &access = accessOf(kernel, term);
      joined.hasBias = true;
      accesses.push_back({access.buffer, withLoops(access.dims, *matched),
                          /*reads=*/true, /*writes=*/false});
    }
  return joined;
}

bool cuda::isApart(const StepGraph &graph, const JoinedProduct &joined) {
  const std::vector<Access> &accesses = joined.work.accesses;
  auto memoryOf = [&](const Access &access) {
    return graph.buffers[access.buffer].memory;
  };
  return std::ranges::all_of(accesses, [&](const Access &access) {
    return !access.writes ||
           std::ranges::count(accesses, memoryOf(access), memoryOf) == 1;
  });
}

/// Joins the kernel that is gelu's gradient with the product that it reads. In
/// place of its other operands the library reads those of gelu.
std::optional<JoinedProduct> Finder::joinGradient(const JoinedProduct &gelu,
                                                  unsigned gradient) const {
  const unsigned kernel = gelu.kernels[0];
  const ProductEpilogue &forward = *epilogueOf(kernel);
  const ProductEpilogue *epilogue = epilogueOf(gradient, forward.symbol);
  if (!epilogue)
    return std::nullopt;
  const unsigned factor = valueOf(gradient, *epilogue->factor);
  const std::optional<unsigned> product = values.writerOf(factor);
  if (!product || graph.works[*product].kind != Work::Kind::Dot ||
      values.readersOf(factor) != std::vector{gradient})
    return std::nullopt;
  std::vector<unsigned> terms;
  for (unsigned operand : epilogue->terms) {
    terms.push_back(valueOf(gradient, operand));
    if (!termOf(kernel, forward, terms.back()))
      return std::nullopt;
  }
  if (terms.size() == 2 && terms[0] == terms[1])
    return std::nullopt;
  const size_t results = stepOf(kernel).outputs.size();
  for (auto [operand, result] : epilogue->saved) {
    const size_t first = stepOf(kernel).inputs.size();
    if (result < first || result >= first + results ||
        valueOf(gradient, operand) != valueOf(kernel, result))
      return std::nullopt;
  }
  auto joined = join(*product, gradient, *epilogue, *epilogue->factor);
  if (!joined)
    return std::nullopt;
  // An element of gelu's operands is where the gradient's is.
  const Access &matrix = gelu.work.accesses.back();
  const GraphBuffer &from = graph.buffers[matrix.buffer],
                    &to = graph.buffers[joined->work.accesses[2].buffer];
  if (from.shape != to.shape || from.origin != to.origin)
    return std::nullopt;
  joined->hasAuxiliary = true;
  joined->work.accesses.push_back({matrix.buffer, joined->work.accesses[2].dims,
                                   /*reads=*/true,
                                   /*writes=*/false});
  return joined;
}

std::vector<unsigned> Finder::gradientsOf(unsigned kernel,
                                          unsigned value) const {
  const ProductEpilogue &epilogue = *epilogueOf(kernel);
  std::vector<unsigned> gradients = values.readersOf(value);
  const KernelStep &step = stepOf(kernel);
  const size_t inputs = step.inputs.size();
  for (size_t o = 0; o < step.outputs.size(); ++o)
    if (const auto output = unsigned(inputs + o); output != epilogue.result) {
      const auto &more = values.readersOf(valueOf(kernel, output));
      gradients.insert(gradients.end(), more.begin(), more.end());
    }
  std::erase(gradients, kernel);
  std::ranges::sort(gradients);
  const auto repeated = std::ranges::unique(gradients);
  gradients.erase(repeated.begin(), repeated.end());
  return gradients;
}

std::vector<JoinedProduct> Finder::joinedWith(unsigned product) const {
  const Access &written = graph.works[product].accesses[2];
  const unsigned value = written.buffer;
  const std::vector<unsigned> &readers = values.readersOf(value);
  const auto first = std::ranges::find_if(readers, [&](unsigned action) {
    const ProductEpilogue *epilogue = epilogueOf(action);
    return epilogue && termOf(action, *epilogue, value);
  });
  if (first == readers.end())
    return {};
  const unsigned kernel = *first;
  const ProductEpilogue &epilogue = *epilogueOf(kernel);
  const std::vector<unsigned> gradients = gradientsOf(kernel, value);
  if (stepOf(kernel).outputs.size() > 1 && gradients.empty())
    return {};
  auto joined =
      join(product, kernel, epilogue, *termOf(kernel, epilogue, value));
  if (!joined)
    return {};
  if (!gradients.empty()) {
    joined->hasAuxiliary = true;
    joined->work.accesses.push_back(written);
  }
  std::vector<JoinedProduct> products{std::move(*joined)};
  for (unsigned gradient : gradients) {
    auto more = joinGradient(products[0], gradient);
    if (!more)
      return {};
    products.push_back(std::move(*more));
  }
  const bool areApart = std::ranges::all_of(
      products, [&](const JoinedProduct &one) { return isApart(graph, one); });
  return areApart ? std::move(products) : std::vector<JoinedProduct>();
}

std::vector<std::vector<JoinedProduct>>
cuda::findEpilogues(const Program &program, const StepGraph &graph,
                    std::span<const ProductEpilogue> epilogues) {
  std::vector<std::vector<JoinedProduct>> found;
  if (epilogues.empty())
    return found;
  const Finder finder(program, graph, epilogues);
  for (unsigned action = 0; action < graph.works.size(); ++action)
    if (graph.works[action].kind == Work::Kind::Dot)
      if (auto joined = finder.joinedWith(action); !joined.empty())
        found.push_back(std::move(joined));
  return found;
}
