// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Epilogues.h"

#include <algorithm>
#include <array>
#include <optional>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

namespace {
class Finder {
public:
  Finder(const Program &program, const StepGraph &graph,
         std::span<const ProductEpilogue> epilogues);
  /// Empty: the product is not joined with anything.
  std::vector<JoinedProduct> joinedWith(unsigned product) const;

private:
  const ProductEpilogue *epilogueOf(unsigned action) const;
  const KernelStep &stepOf(unsigned kernel) const {
    return std::get<KernelStep>(program.steps[graph.works[kernel].step]);
  }
  const Access &accessOf(unsigned kernel, unsigned operand) const;
  /// The value that an operand of a kernel has, or becomes.
  unsigned valueOf(unsigned kernel, unsigned operand) const;
  /// The term of u that is `value`; nothing where that is none, or both.
  std::optional<unsigned> termOf(unsigned kernel, unsigned value) const;
  /// The other term, where u has two.
  std::optional<unsigned> otherTerm(unsigned kernel, unsigned value) const;
  /// `matrix`: the operand of the kernel that is the product's result;
  /// `others`: those that the epilogue reads too.
  std::optional<JoinedProduct> join(unsigned product, unsigned kernel,
                                    unsigned matrix,
                                    std::span<const unsigned> others) const;
  std::optional<JoinedProduct> joinGradient(unsigned gelu, unsigned gradient,
                                            unsigned value) const;
  bool isApart(const JoinedProduct &joined) const;

  const Program &program;
  const StepGraph &graph;
  std::span<const ProductEpilogue> epilogues;
  /// Per buffer: the action that writes it, or -1.
  std::vector<int> writers;
  /// Per buffer: the one whose value it is. A view has that of its source.
  std::vector<unsigned> values;
  /// Per value: the actions that read it. The caller counts as one more.
  std::vector<std::vector<unsigned>> readers;
};
} // namespace

Finder::Finder(const Program &program, const StepGraph &graph,
               std::span<const ProductEpilogue> epilogues)
    : program(program), graph(graph), epilogues(epilogues),
      writers(graph.buffers.size(), -1), readers(graph.buffers.size()) {
  for (unsigned buffer = 0; buffer < graph.buffers.size(); ++buffer)
    values.push_back(buffer);
  for (unsigned action = 0; action < graph.works.size(); ++action)
    for (const Access &access : graph.works[action].accesses)
      if (access.writes)
        writers[writtenBuffer(access)] = int(action);
  for (const Step &step : program.steps)
    if (auto *collective = std::get_if<CollectiveStep>(&step))
      for (auto [from, to] : collective->moves)
        if (writers[to] < 0)
          values[to] = values[from];
  for (unsigned action = 0; action < graph.works.size(); ++action)
    for (const Access &access : graph.works[action].accesses)
      if (access.reads)
        readers[values[access.buffer]].push_back(action);
  for (const ProgramResult &result : program.results)
    readers[values[result.buffer]].push_back(unsigned(graph.works.size()));
}

const ProductEpilogue *Finder::epilogueOf(unsigned action) const {
  if (action >= graph.works.size() ||
      graph.works[action].kind != Work::Kind::Kernel ||
      !graph.works[action].instances.empty())
    return nullptr;
  const KernelStep &step = stepOf(action);
  const auto found =
      std::ranges::find(epilogues, step.symbol, &ProductEpilogue::symbol);
  if (!step.library.empty() || found == epilogues.end())
    return nullptr;
  // The code may be of a file.
  const size_t inputs = step.inputs.size();
  auto isInput = [&](unsigned operand) { return operand < inputs; };
  auto isOutput = [&](unsigned operand) {
    return operand >= inputs && operand < inputs + step.outputs.size();
  };
  const bool isGradient = found->form == ProductEpilogue::Form::GeluGradient;
  const bool isValid =
      std::ranges::all_of(found->sum, isInput) && found->sum.size() <= 2 &&
      isOutput(found->result) && isGradient == found->factor.has_value() &&
      (!found->factor || isInput(*found->factor)) &&
      (!found->inner ||
       (isGradient ? isInput(*found->inner) : isOutput(*found->inner)));
  return isValid ? &*found : nullptr;
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
  return operand < stepOf(kernel).inputs.size() ? values[access.buffer]
                                                : writtenBuffer(access);
}

std::optional<unsigned> Finder::termOf(unsigned kernel, unsigned value) const {
  std::optional<unsigned> term;
  for (unsigned operand : epilogueOf(kernel)->sum)
    if (valueOf(kernel, operand) == value) {
      if (term)
        return std::nullopt;
      term = operand;
    }
  return term;
}

std::optional<unsigned> Finder::otherTerm(unsigned kernel,
                                          unsigned value) const {
  for (unsigned operand : epilogueOf(kernel)->sum)
    if (valueOf(kernel, operand) != value)
      return operand;
  return std::nullopt;
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

std::optional<JoinedProduct>
Finder::join(unsigned product, unsigned kernel, unsigned matrix,
             std::span<const unsigned> others) const {
  const Work &dot = graph.works[product];
  const Access &read = accessOf(kernel, matrix), &written = dot.accesses[2];
  const GraphBuffer &from = graph.buffers[read.buffer],
                    &to = graph.buffers[written.buffer];
  if (!dot.instances.empty() || from.shape != to.shape ||
      from.origin != to.origin)
    return std::nullopt;
  const auto matched = matchLoops(graph.works[kernel], read, dot, written);
  if (!matched)
    return std::nullopt;
  const ProductEpilogue &epilogue = *epilogueOf(kernel);
  JoinedProduct joined{product, kernel, dot, epilogue.form};
  std::vector<Access> &accesses = joined.work.accesses;
  const Access &result = accessOf(kernel, epilogue.result);
  accesses[2] = {writtenBuffer(result), withLoops(result.dims, *matched),
                 /*reads=*/false, /*writes=*/true};
  for (unsigned operand : others) {
    const Access &access = accessOf(kernel, operand);
    accesses.push_back({access.buffer, withLoops(access.dims, *matched),
                        /*reads=*/true, /*writes=*/false});
  }
  return joined;
}

/// Returns whether the result lies in the memory of no operand but the product
/// that it takes the place of.
bool Finder::isApart(const JoinedProduct &joined) const {
  const std::vector<Access> &accesses = joined.work.accesses;
  auto memoryOf = [&](const Access &access) {
    return graph.buffers[access.buffer].memory;
  };
  return std::ranges::count(accesses, memoryOf(accesses[2]), memoryOf) == 1;
}

/// Joins the kernel that is gelu's gradient with the product that it reads.
std::optional<JoinedProduct>
Finder::joinGradient(unsigned gelu, unsigned gradient, unsigned value) const {
  const ProductEpilogue *epilogue = epilogueOf(gradient);
  if (!epilogue || epilogue->form != ProductEpilogue::Form::GeluGradient)
    return std::nullopt;
  auto valueOfOther = [&](unsigned kernel) -> std::optional<unsigned> {
    const auto other = otherTerm(kernel, value);
    return other ? std::optional(valueOf(kernel, *other)) : std::nullopt;
  };
  const auto operand = termOf(gradient, value);
  const unsigned factor = valueOf(gradient, *epilogue->factor);
  const int product = writers[factor];
  if (!operand || valueOfOther(gelu) != valueOfOther(gradient) || product < 0 ||
      graph.works[size_t(product)].kind != Work::Kind::Dot ||
      readers[factor] != std::vector{gradient})
    return std::nullopt;
  const std::array others{*operand};
  auto joined = join(unsigned(product), gradient, *epilogue->factor, others);
  if (joined)
    joined->hasAuxiliary = true;
  return joined;
}

std::vector<JoinedProduct> Finder::joinedWith(unsigned product) const {
  const Access &written = graph.works[product].accesses[2];
  const unsigned value = written.buffer;
  std::vector<unsigned> gradients = readers[value];
  const auto first = std::ranges::find_if(gradients, [&](unsigned action) {
    const ProductEpilogue *epilogue = epilogueOf(action);
    return epilogue && epilogue->form != ProductEpilogue::Form::GeluGradient;
  });
  if (first == gradients.end() || !termOf(*first, value))
    return {};
  const unsigned kernel = *first;
  gradients.erase(first);
  const ProductEpilogue &epilogue = *epilogueOf(kernel);
  if (epilogue.inner.has_value() && gradients.empty())
    return {};
  // Nobody else reads the value of tanh.
  if (epilogue.inner)
    for (unsigned reader : readers[valueOf(kernel, *epilogue.inner)])
      if (std::ranges::find(gradients, reader) == gradients.end())
        return {};
  const auto bias = otherTerm(kernel, value);
  std::vector<unsigned> others;
  if (bias)
    others.push_back(*bias);
  auto joined = join(product, kernel, *termOf(kernel, value), others);
  if (!joined)
    return {};
  joined->hasBias = bias.has_value();
  if (!gradients.empty()) {
    joined->hasAuxiliary = true;
    joined->work.accesses.push_back(written);
  }
  std::vector<JoinedProduct> products{std::move(*joined)};
  for (unsigned gradient : gradients) {
    auto more = epilogue.form == ProductEpilogue::Form::Gelu
                    ? joinGradient(kernel, gradient, value)
                    : std::nullopt;
    if (!more)
      return {};
    products.push_back(std::move(*more));
  }
  const bool areApart = std::ranges::all_of(
      products, [&](const JoinedProduct &one) { return isApart(one); });
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

/// Returns whether a path of edges leads from `first` to `last` by way of other
/// actions.
static bool isBetween(const std::vector<std::vector<unsigned>> &successors,
                      unsigned first, unsigned last) {
  std::vector<bool> seen(successors.size());
  std::vector<unsigned> waiting;
  auto add = [&](unsigned action) {
    if (!seen[action])
      waiting.push_back(action);
    seen[action] = true;
  };
  for (unsigned next : successors[first])
    if (next != last)
      add(next);
  while (!waiting.empty() && !seen[last]) {
    const unsigned action = waiting.back();
    waiting.pop_back();
    std::ranges::for_each(successors[action], add);
  }
  return seen[last];
}

bool cuda::joinActions(std::span<const JoinedProduct> joined,
                       MemoryPlan &plan) {
  std::vector<std::vector<unsigned>> successors = plan.successors;
  for (const JoinedProduct &one : joined) {
    if (isBetween(successors, one.product, one.kernel))
      return false;
    for (std::vector<unsigned> &list : successors)
      std::ranges::replace(list, one.kernel, one.product);
    std::vector<unsigned> &list = successors[one.product];
    const std::vector<unsigned> more = std::move(successors[one.kernel]);
    successors[one.kernel].clear();
    list.insert(list.end(), more.begin(), more.end());
    std::erase(list, one.product);
  }
  plan.successors = std::move(successors);
  std::ranges::fill(plan.numPredecessors, 0);
  for (const std::vector<unsigned> &list : plan.successors)
    for (unsigned next : list)
      ++plan.numPredecessors[next];
  return true;
}
