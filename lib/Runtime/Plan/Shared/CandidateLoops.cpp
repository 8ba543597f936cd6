// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks the loops of a step by what its chunks would read and write: whole
// rows, whole pages, and no operand twice.
#include "CandidateLoops.h"

#include "meshloom/Runtime/Library/HostCall.h"

#include <algorithm>
#include <tuple>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
class LoopRanking {
public:
  LoopRanking(const Program &program, const StepGraph &graph,
              std::span<const Loop> loops, int64_t chunks, Work &work);

  void dropScatteredLoops();
  void keepLinesTogether();
  void sort();

private:
  enum Quality : uint8_t { Good, FewChunks, ShortPieces, ShortRows };

  /// Returns whether each chunk of the loop reads an input anew.
  bool readsAnew(unsigned l) const {
    return kernel && readsInputAnew(*kernel, l);
  }
  int64_t mostPieces(unsigned l) const;
  bool isInnermost(unsigned l) const;
  bool hasPartsOfPages(unsigned l) const;
  Quality widthOf(unsigned l) const;
  Quality qualityOf(unsigned l) const;
  unsigned count(Quality quality) const;

  const Program &program;
  const StepGraph &graph;
  const std::span<const Loop> loops;
  const int64_t chunks;
  Work &work;
  const KernelStep *kernel;
  bool isProduct;            ///< of a library
  int64_t largestResult = 0; ///< bytes of one copy
  bool anyGood = false;
};

LoopRanking::LoopRanking(const Program &program, const StepGraph &graph,
                         std::span<const Loop> loops, int64_t chunks,
                         Work &work)
    : program(program), graph(graph), loops(loops), chunks(chunks), work(work),
      kernel(std::get_if<KernelStep>(&program.steps[work.step])),
      isProduct(kernel && library::propertiesOf(kernel->library).isProduct) {
  for (const Access &access : work.accesses)
    if (access.writes)
      largestResult =
          std::max(largestResult, graph.buffers[access.buffer].bytesPerCopy());
}

/// Each chunk of a scatter's result reads all indices. That pays where windows
/// are long and chunks are few; numbers are for one worker.
void LoopRanking::dropScatteredLoops() {
  if (!kernel || !isScatter(*kernel))
    return;
  auto anew = [this](unsigned l) { return readsAnew(l); };
  if (hasShortWindows(program, *kernel))
    std::erase_if(work.candidates, anew);
  else if (std::ranges::any_of(work.candidates, anew))
    work.mostChunks = 1;
}

/// Lines for which a call reads the whole first input are cut into few chunks.
void LoopRanking::keepLinesTogether() {
  const int64_t fewest =
      kernel ? library::propertiesOf(kernel->library).fewestLines : 0;
  if (fewest == 0)
    return;
  auto areFew = [&](unsigned l) {
    return !kernel->inputs[0].dependsOn(l) && work.extents[l] < 2 * fewest;
  };
  std::erase_if(work.candidates, areFew);
  for (unsigned l : work.candidates)
    if (!kernel->inputs[0].dependsOn(l))
      work.mostChunks = work.extents[l] / fewest;
}

/// Returns into how many of the wanted chunks loop `l` may be cut: a chunk of a
/// matrix's columns reads a piece of each row, four lines of memory at least.
int64_t LoopRanking::mostPieces(unsigned l) const {
  constexpr int64_t piece = 256;
  int64_t most = chunks;
  for (const Access &access : work.accesses)
    if (access.dims.size() > 1 && access.dims.back().dependsOn(l))
      most = std::min(
          most, work.extents[l] *
                    int64_t(byteWidth(graph.buffers[access.buffer].type)) /
                    piece);
  return most;
}

/// Returns whether the loop is along rows of a result, or of an operand of a
/// library's product, which copies parts of rows first. A result that is small
/// beside the largest one (one maximum a row) decides nothing.
bool LoopRanking::isInnermost(unsigned l) const {
  constexpr int64_t small = 16;
  return std::ranges::any_of(work.accesses, [&](const Access &access) {
    const bool isLarge =
        graph.buffers[access.buffer].bytesPerCopy() > largestResult / small;
    return ((access.writes && isLarge) || isProduct) &&
           access.dims.size() > 1 && access.dims.back().dependsOn(l);
  });
}

/// A chunk that has a part of each page waits for memory: the processor reads
/// ahead inside of pages.
bool LoopRanking::hasPartsOfPages(unsigned l) const {
  constexpr int64_t pageElements = 1024;
  return isInnermost(l) && work.extents[l] < pageElements * chunks;
}

/// Fewer chunks are better than short rows.
LoopRanking::Quality LoopRanking::widthOf(unsigned l) const {
  if (isInnermost(l) && (isProduct || work.extents[l] < SHORT_ROW * chunks))
    return ShortRows;
  if (work.extents[l] < chunks || readsAnew(l))
    return FewChunks;
  return mostPieces(l) < chunks ? ShortPieces : Good;
}

/// Beside a good loop, one that reads short pieces is as good for what shares a
/// phase with others; else few chunks are better.
LoopRanking::Quality LoopRanking::qualityOf(unsigned l) const {
  const Quality width = widthOf(l);
  return width == ShortPieces && anyGood ? Good : width;
}

unsigned LoopRanking::count(Quality quality) const {
  return unsigned(std::ranges::count_if(
      work.candidates, [&](unsigned l) { return qualityOf(l) == quality; }));
}

void LoopRanking::sort() {
  anyGood = std::ranges::any_of(
      work.candidates, [this](unsigned l) { return widthOf(l) == Good; });
  auto rank = [this](unsigned l) {
    return std::tuple(qualityOf(l), mostPieces(l) < chunks, hasPartsOfPages(l),
                      loops[l].axes.empty(), l);
  };
  std::ranges::sort(work.candidates, {}, rank);
  work.numGood = count(Good);
  if (work.candidates.empty())
    return;
  const unsigned best = work.candidates.front();
  work.numBest = count(qualityOf(best));
  if (const int64_t most = mostPieces(best);
      kernel && !isProduct && work.mostChunks == 0 && most < chunks)
    work.mostChunks = std::max<int64_t>(most, 1);
}
} // namespace

void plan::rankCandidates(const Program &program, const StepGraph &graph,
                          std::span<const Loop> loops, int64_t chunks,
                          Work &work) {
  LoopRanking ranking(program, graph, loops, chunks, work);
  ranking.dropScatteredLoops();
  ranking.keepLinesTogether();
  ranking.sort();
}
