// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BiasGradients.h"

#include "GraphValues.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

namespace {
/// How a kernel adds up an array: per dim of the array, the dims of the result
/// that the loops of its index are. `isSummed`: a loop of it is added up.
struct SummedDim {
  std::vector<unsigned> results;
  bool isSummed = false;

  /// The only dim of the result, of the same elements.
  std::optional<unsigned> free() const {
    return !isSummed && results.size() == 1 ? std::optional(results[0])
                                            : std::nullopt;
  }
};
using SummedDims = std::vector<SummedDim>;

class SumFinder {
public:
  SumFinder(const Program &program, const StepGraph &graph,
            std::span<const ProductEpilogue> epilogues)
      : program(program), graph(graph), epilogues(epilogues),
        values(program, graph) {}
  std::optional<BiasGradient> find(unsigned action) const;

private:
  bool isSum(unsigned action) const;
  /// Nothing where the kernel does not add up all of its array.
  std::optional<SummedDims> dimsOf(unsigned action) const;

  const Program &program;
  const StepGraph &graph;
  std::span<const ProductEpilogue> epilogues;
  const GraphValues values;
};
} // namespace

bool SumFinder::isSum(unsigned action) const {
  if (action >= graph.works.size())
    return false;
  const Work &work = graph.works[action];
  if (work.kind != Work::Kind::Kernel || !work.instances.empty())
    return false;
  const KernelStep &step = std::get<KernelStep>(program.steps[work.step]);
  auto isOfStep = [&](const ProductEpilogue &epilogue) {
    return epilogue.form == ProductEpilogue::Form::BiasGradient &&
           epilogue.symbol == step.symbol;
  };
  return step.library.empty() && std::ranges::any_of(epilogues, isOfStep) &&
         work.accesses.size() == 2 && !work.accesses[0].writes &&
         work.accesses[1].writes && !work.accesses[1].reads;
}

/// Returns per loop the dim of an array whose index is the loop, or -1; nothing
/// where an index is something else, or the loops do not reach all elements.
static std::optional<std::vector<int>>
dimOfLoops(const Work &work, const Access &access, const GraphBuffer &buffer) {
  std::vector<int> dimOf(work.extents.size(), -1);
  for (size_t dim = 0; dim < access.dims.size(); ++dim) {
    const auto &[offset, terms] = access.dims[dim];
    if (buffer.shape[dim] == 1)
      continue;
    if (offset != 0 || terms.size() != 1 || terms[0].second != 1 ||
        dimOf[terms[0].first] >= 0 ||
        work.extents[terms[0].first] != buffer.shape[dim])
      return std::nullopt;
    dimOf[terms[0].first] = int(dim);
  }
  return dimOf;
}

std::optional<SummedDims> SumFinder::dimsOf(unsigned action) const {
  const Work &work = graph.works[action];
  const GraphBuffer &array = graph.buffers[work.accesses[0].buffer],
                    &result = graph.buffers[work.accesses[1].buffer];
  const auto resultDim = dimOfLoops(work, work.accesses[1], result);
  if (!resultDim || array.copies != 1 || result.copies != 1)
    return std::nullopt;
  std::vector<bool> isUsed(work.extents.size());
  SummedDims dims;
  for (size_t dim = 0; dim < array.shape.size(); ++dim) {
    SummedDim &summed = dims.emplace_back();
    auto [offset, terms] = work.accesses[0].dims[dim];
    std::ranges::sort(terms, {}, [](const auto &term) { return term.second; });
    int64_t reached = 1;
    for (auto [loop, coefficient] : terms) {
      if (work.extents[loop] == 1)
        continue;
      if (isUsed[loop] || coefficient != reached)
        return std::nullopt;
      isUsed[loop] = true;
      reached *= work.extents[loop];
      if ((*resultDim)[loop] < 0)
        summed.isSummed = true;
      else
        summed.results.push_back(unsigned((*resultDim)[loop]));
    }
    if (offset != 0 || reached != array.shape[dim])
      return std::nullopt;
  }
  for (size_t loop = 0; loop < isUsed.size(); ++loop)
    if (!isUsed[loop] && work.extents[loop] != 1)
      return std::nullopt;
  return dims;
}

/// Puts the sums of parts after each other. Returns nothing where the second
/// one leaves some parts of a dim.
static std::optional<SummedDims> compose(const SummedDims &ofParts,
                                         const SummedDims &ofResults) {
  SummedDims composed;
  for (const SummedDim &dim : ofParts) {
    SummedDim &summed = composed.emplace_back();
    summed.isSummed = dim.isSummed;
    for (unsigned part : dim.results) {
      summed.isSummed |= ofResults[part].isSummed;
      summed.results.insert(summed.results.end(),
                            ofResults[part].results.begin(),
                            ofResults[part].results.end());
    }
    if (summed.isSummed && !summed.results.empty())
      return std::nullopt;
  }
  return composed;
}

std::optional<BiasGradient> SumFinder::find(unsigned action) const {
  if (!isSum(action))
    return std::nullopt;
  auto dims = dimsOf(action);
  if (!dims)
    return std::nullopt;
  const Work &work = graph.works[action];
  BiasGradient gradient{.kernels = {action},
                        .value = work.accesses[0].buffer,
                        .result = work.accesses[1].buffer};
  auto isPartial = [](const SummedDim &dim) {
    return dim.isSummed ? !dim.results.empty() : dim.results.size() > 1;
  };
  if (std::ranges::any_of(*dims, isPartial)) {
    const auto &readers = values.readersOf(gradient.result);
    if (readers.size() != 1 || !isSum(readers[0]))
      return std::nullopt;
    const auto ofResults = dimsOf(readers[0]);
    dims = ofResults ? compose(*dims, *ofResults) : std::nullopt;
    if (!dims)
      return std::nullopt;
    gradient.kernels.push_back(readers[0]);
    gradient.result = graph.works[readers[0]].accesses[1].buffer;
  }
  const size_t rank = graph.buffers[gradient.result].shape.size();
  gradient.dims.assign(rank, unsigned(dims->size()));
  for (unsigned dim = 0; dim < dims->size(); ++dim)
    if (const auto result = (*dims)[dim].free())
      gradient.dims[*result] = dim;
  const unsigned value = values.valueOf(gradient.value);
  gradient.writer = values.writerOf(value);
  for (unsigned reader : values.readersOf(value))
    if (reader < graph.works.size() &&
        graph.works[reader].kind == Work::Kind::Dot &&
        !std::ranges::count(gradient.products, reader))
      gradient.products.push_back(reader);
  return gradient;
}

std::vector<BiasGradient>
cuda::findBiasGradients(const Program &program, const StepGraph &graph,
                        std::span<const ProductEpilogue> epilogues) {
  std::vector<BiasGradient> found;
  if (std::ranges::none_of(epilogues, [](const ProductEpilogue &epilogue) {
        return epilogue.form == ProductEpilogue::Form::BiasGradient;
      }))
    return found;
  const SumFinder finder(program, graph, epilogues);
  for (unsigned action = 0; action < graph.works.size(); ++action)
    if (auto gradient = finder.find(action))
      found.push_back(std::move(*gradient));
  return found;
}

/// Returns whether two buffers have the same elements of a value.
static bool areAlike(const GraphBuffer &first, const GraphBuffer &second) {
  return first.shape == second.shape && first.origin == second.origin &&
         first.memory == second.memory;
}

std::optional<JoinedProduct> cuda::productBeside(const StepGraph &graph,
                                                 const BiasGradient &gradient,
                                                 unsigned product) {
  const Work &work = graph.works[product];
  for (unsigned operand : {0, 1})
    if (areAlike(graph.buffers[work.accesses[operand].buffer],
                 graph.buffers[gradient.value]))
      return JoinedProduct{.product = product,
                           .work = work,
                           .form = ProductEpilogue::Form::BiasGradient,
                           .summed = operand};
  return std::nullopt;
}

bool cuda::addBiasGradient(const StepGraph &graph, const BiasGradient &gradient,
                           JoinedProduct &product) {
  Work &work = product.work;
  const Access &summed = work.accesses[*product.summed];
  const GraphBuffer &value = graph.buffers[writtenBuffer(summed)],
                    &result = graph.buffers[gradient.result];
  const auto dimOf = dimOfLoops(work, summed, value);
  if (!dimOf || !work.instances.empty() ||
      !areAlike(value, graph.buffers[gradient.value]) ||
      result.type != graph.buffers[writtenBuffer(work.accesses[2])].type)
    return false;
  Access sum{gradient.result, std::vector<DimAccess>(result.shape.size()),
             /*reads=*/false,
             /*writes=*/true};
  for (size_t dim = 0; dim < sum.dims.size(); ++dim) {
    const auto loop = std::ranges::find(*dimOf, int(gradient.dims[dim]));
    if (loop != dimOf->end())
      sum.dims[dim].terms = {{unsigned(loop - dimOf->begin()), 1}};
    else if (result.shape[dim] != 1)
      return false;
  }
  work.accesses.push_back(std::move(sum));
  product.kernels.insert(product.kernels.end(), gradient.kernels.begin(),
                         gradient.kernels.end());
  return isApart(graph, product);
}
