// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that libraries of NVIDIA's compute: products by cuBLASLt, and Fourier
// transforms by cuFFT.
#include "CUDAExecutable.h"

#include <algorithm>
#include <numeric>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

/// The largest power of two that divides an address `offset` bytes behind the
/// beginning of an array, as far as algorithms care.
static int64_t alignmentAt(int64_t offset) {
  constexpr int64_t largest = 16;
  return std::gcd(offset, largest);
}

LibraryWorkOrError CUDAExecutable::planProduct(const Call &call,
                                               const DotStep &step,
                                               const Part &part) const {
  const auto kind = ProductKind::of(loaded, step);
  if (!kind)
    return noLibraryWork();
  const auto product = MatrixProduct::of(
      *kind, part.extents,
      {call.elements[0].strides, call.elements[1].strides,
       call.elements[2].strides},
      {alignmentAt(part.offsets[0]), alignmentAt(part.offsets[1]),
       alignmentAt(part.offsets[2])});
  return product ? card->libraries().plan(*product) : noLibraryWork();
}

LibraryWorkOrError CUDAExecutable::planTransform(const Call &call,
                                                 const KernelStep &step,
                                                 const Part &part) const {
  const auto kind = FourierKind::of(loaded, step);
  if (!kind)
    return noLibraryWork();
  FourierLines lines;
  lines.kind = *kind;
  // A result in place of the operand is the same access.
  lines.result = call.elements.size() - 1;
  lines.fromOffset = part.offsets[0];
  lines.toOffset = part.offsets[lines.result];
  // Dims without a loop have one element.
  auto loopOf = [&](const Operand &operand, size_t dim) {
    const auto &terms = operand.dims[dim].terms;
    return terms.empty() ? std::nullopt : std::optional(terms[0].first);
  };
  for (size_t dim = 0; dim < kind->rank; ++dim) {
    const auto from = loopOf(step.inputs[0], dim),
               to = loopOf(step.outputs[0], dim);
    lines.extents.push_back(from ? part.extents[*from] : 1);
    lines.from.push_back(from ? call.elements[0].strides[*from] : 0);
    lines.to.push_back(to ? call.elements[lines.result].strides[*to] : 0);
  }
  if (kind->isCopied()) {
    Result<LoadedKernel> copy = loadedKernel(kind->symbol());
    if (!copy)
      return copy.error();
    lines.copy = *copy;
  }
  return card->libraries().plan(*card, lines);
}

LibraryWorkOrError CUDAExecutable::planPart(const Call &call,
                                            const Part &part) const {
  const Step &step = loaded.steps[call.work->step];
  if (call.work->kind == Work::Kind::Dot)
    return planProduct(call, std::get<DotStep>(step), part);
  if (call.work->kind == Work::Kind::Kernel)
    return planTransform(call, std::get<KernelStep>(step), part);
  return noLibraryWork();
}

/// A deterministic program's bits depend on the operands alone, and a library's
/// on the algorithm too.
Status CUDAExecutable::planLibrary(Call &call) {
  if (loaded.deterministic)
    return Success();
  if (Status ok = card->enter(); !ok)
    return ok;
  std::vector<std::shared_ptr<const LibraryWork>> parts;
  int64_t workspaceBytes = 0;
  bool isComplete = true;
  Status planned = forEachBox(call, [&](Part &part) -> Status {
    if (!isComplete)
      return Success();
    LibraryWorkOrError work = planPart(call, part);
    if (!work)
      return ofCard(work.error());
    isComplete = *work != nullptr;
    if (!isComplete)
      return Success();
    workspaceBytes = std::max(workspaceBytes, (*work)->workspaceBytes());
    parts.push_back(std::move(*work));
    return Success();
  });
  if (!planned || !isComplete)
    return planned;
  call.libraryWork = std::move(parts);
  if (workspaceBytes > 0) {
    call.workspace = unsigned(graph.plan.memories.size());
    graph.plan.memories.push_back({.bytes = workspaceBytes});
  }
  return Success();
}
