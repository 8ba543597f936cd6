// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls that libraries of NVIDIA's compute: products by cuBLASLt, convolutions
// and attention by cuDNN, Fourier transforms by cuFFT, decompositions by
// cuSOLVER, and triangular systems by cuBLAS.
#include "CUDAExecutable.h"

#include "MaskWords.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

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
  auto product = MatrixProduct::of(
      *kind, part.extents,
      {call.elements[0].strides, call.elements[1].strides,
       call.elements[2].strides},
      {alignmentAt(part.offsets[0]), alignmentAt(part.offsets[1]),
       alignmentAt(part.offsets[2])});
  if (!product)
    return noLibraryWork();
  if (const JoinedProduct *joined = call.joined) {
    MatrixProduct::Epilogue epilogue{.form = joined->form};
    size_t access = 3;
    auto next = [&](bool exists, int64_t &alignment) {
      if (!exists)
        return std::span<const int64_t>();
      alignment = alignmentAt(part.offsets[access]);
      return std::span(std::as_const(call.elements[access++].strides));
    };
    using Summed = MatrixProduct::Epilogue::Summed;
    const bool sumsResult = joined->summed == 2U,
               sumsA = joined->summed == (product->swapsOperands ? 1U : 0U);
    epilogue.summed = sumsResult ? Summed::RowsOfResult
                      : sumsA    ? Summed::RowsOfA
                                 : Summed::ColumnsOfB;
    MatrixProduct::EpilogueStrides strides{.result = call.elements[2].strides};
    strides.bias = next(joined->hasBias, epilogue.biasAlignment);
    strides.auxiliary = next(joined->hasAuxiliary, epilogue.auxiliaryAlignment);
    strides.sum = next(joined->summed.has_value(), epilogue.sumAlignment);
    if (!product->setEpilogue(epilogue, *kind, part.extents, strides))
      return noLibraryWork();
  }
  return card->libraries().plan(*product);
}

LibraryWorkOrError CUDAExecutable::planAttention(const Call &call,
                                                 const Part &part) const {
  const Attention &attention = *call.attention->attention;
  AttentionShape::Loops loops{part.extents, {}, {}, {}, {}};
  auto add = [&](std::span<const int64_t> strides, int64_t offset, DType type,
                 size_t operand) {
    loops.strides.push_back(strides);
    loops.alignments.push_back(alignmentAt(offset));
    loops.types.push_back(type);
    loops.operands.push_back(operand);
  };
  auto addAccesses = [&](size_t begin, size_t end) {
    for (size_t access = begin; access < end; ++access)
      add(call.elements[access].strides, part.offsets[access],
          graph.buffers[call.work->accesses[access].buffer].type, access);
  };
  // The words take the place of the mask's operands, which follow the query,
  // the key, the value, the result and the bias.
  const size_t first = 4 + size_t(attention.bias.has_value());
  size_t behind = first;
  std::optional<MaskWords> words;
  addAccesses(0, first);
  if (attention.mask) {
    Result<LoadedKernel> kernel = loadedKernel(attention.mask->symbol);
    if (!kernel)
      return kernel.error();
    words.emplace(*attention.mask, *kernel, first, part.extents, part.origin,
                  call.elements);
    add(words->strides.back(), 0, DType::I32, call.elements.size());
    behind += attention.mask->operands.size();
  }
  addAccesses(behind, call.elements.size());
  const auto shape = AttentionShape::of(attention, call.attention->form, loops);
  if (!shape)
    return noLibraryWork();
  LibraryWorkOrError work = card->libraries().plan(*shape);
  return words ? withMaskWords(*card, *words, work) : work;
}

LibraryWorkOrError CUDAExecutable::planConvolution(const Call &call,
                                                   const KernelStep &step,
                                                   const Part &part) const {
  const auto kind = ProductKind::of(loaded, step);
  if (!kind)
    return noLibraryWork();
  const auto convolution = ImageConvolution::of(
      *kind, {.extents = part.extents,
              .origin = part.origin,
              .strides = {call.elements[0].strides, call.elements[1].strides,
                          call.elements[2].strides},
              .alignments = {alignmentAt(part.offsets[0]),
                             alignmentAt(part.offsets[1]),
                             alignmentAt(part.offsets[2])}});
  return convolution ? card->libraries().plan(*convolution) : noLibraryWork();
}

/// The loop of a dim; nothing where the dim has one element.
static std::optional<unsigned> loopOf(const Operand &operand, size_t dim) {
  const auto &terms = operand.dims[dim].terms;
  return terms.empty() ? std::nullopt : std::optional(terms[0].first);
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

/// The functions of Targets/Kernels/SolverCalls.
static std::optional<Decomposition::Function>
decompositionNamed(std::string_view name) {
  using Function = Decomposition::Function;
  constexpr std::array names{
      std::pair("solver_cholesky", Function::Cholesky),
      std::pair("solver_lu", Function::Lu),
      std::pair("solver_geqrf", Function::Qr),
      std::pair("solver_householder_product", Function::Reflections),
      std::pair("solver_eigh", Function::Eigen),
      std::pair("solver_svd", Function::Svd),
      std::pair("solver_small_lu", Function::SmallLu),
      std::pair("solver_small_svd", Function::SmallSvd)};
  for (auto [functionName, function] : names)
    if (name == functionName)
      return function;
  return std::nullopt;
}

/// Returns whether the matrices or vectors of an operand lie without gaps,
/// behind `batchRank` dims.
static bool isDense(const Operand &operand, const AccessElements &elements,
                    std::span<const int64_t> extents, size_t batchRank) {
  int64_t stride = 1;
  for (size_t dim = operand.dims.size(); dim-- > batchRank;)
    if (const auto loop = loopOf(operand, dim)) {
      if (extents[*loop] != 1 && elements.strides[*loop] != stride)
        return false;
      stride *= extents[*loop];
    }
  return true;
}

/// Returns the batch of matrices that are the last dims of operands. `batch`:
/// its loops.
static MatrixBatch batchOf(std::span<const unsigned> batch,
                           std::span<const int64_t> extents,
                           std::span<const AccessElements> elements,
                           std::span<const int64_t> widths) {
  MatrixBatch matrices;
  for (unsigned loop : batch)
    matrices.extents.push_back(extents[loop]);
  for (size_t o = 0; o < elements.size(); ++o) {
    std::vector<int64_t> &strides = matrices.strides.emplace_back();
    for (unsigned loop : batch)
      strides.push_back(elements[o].strides[loop] * widths[o]);
  }
  return matrices;
}

LibraryWorkOrError CUDAExecutable::planDecomposition(const Call &call,
                                                     const KernelStep &step,
                                                     const Part &part) const {
  const auto function = decompositionNamed(step.library);
  std::vector<const Operand *> operands;
  for (const auto *list : {&step.inputs, &step.outputs})
    for (const Operand &operand : *list)
      operands.push_back(&operand);
  if (!function || operands.size() != call.elements.size())
    return noLibraryWork();
  const Operand &errors = *operands.back();
  std::vector<unsigned> batch;
  for (size_t dim = 0; dim < errors.dims.size(); ++dim)
    if (const auto loop = loopOf(errors, dim))
      batch.push_back(*loop);
  std::vector<int64_t> widths;
  bool isDenseBatch = true;
  for (size_t o = 0; o < operands.size(); ++o) {
    isDenseBatch &=
        isDense(*operands[o], call.elements[o], part.extents, /*batchRank=*/0);
    if (!isDense(*operands[o], call.elements[o], part.extents,
                 errors.dims.size()))
      return noLibraryWork();
    widths.push_back(byteWidth(loaded.buffers[operands[o]->buffer].type));
  }
  auto option = [&](const char *name) {
    const auto found = step.options.find(name);
    return found != step.options.end() && std::get<int64_t>(found->second) != 0;
  };
  const BufferDecl &matrices = loaded.buffers[step.inputs[0].buffer];
  // Vectors that are checked have to be written.
  Decomposition decomposition{
      .function = *function,
      .type = matrices.type,
      .isLower = option("lower"),
      .onlyValues = option("only_values") && !options.checkNonFinite,

      .rows = matrices.shape[errors.dims.size() + 1],
      .columns = matrices.shape[errors.dims.size()],
      .batch = batchOf(batch, part.extents, call.elements, widths),
      .isDense = isDenseBatch};
  if (*function == Decomposition::Function::Reflections)
    decomposition.taus = loaded.buffers[step.inputs[1].buffer].shape.back();
  return decomposition.batch.count() > 0
             ? card->libraries().plan(*card, decomposition)
             : noLibraryWork();
}

/// Reads the options of a step; the matrices are still to be found.
static TriangularSystems systemsOf(const KernelStep &step, DType type) {
  auto flag = [&](const char *name) {
    return std::get<int64_t>(step.options.find(name)->second) != 0;
  };
  const auto &transpose =
      std::get<std::string>(step.options.find("transpose_a")->second);
  TriangularSystems systems{.type = type,
                            .onLeft = flag("left_side"),
                            .isLower = flag("lower"),
                            .hasOnes = flag("unit_diagonal")};
  systems.transpose = transpose == "NO_TRANSPOSE" ? TriangularTranspose::None
                      : transpose == "TRANSPOSE"
                          ? TriangularTranspose::Transpose
                          : TriangularTranspose::Adjoint;
  return systems;
}

LibraryWorkOrError CUDAExecutable::planTriangular(const Call &call,
                                                  const KernelStep &step,
                                                  const Part &part) const {
  using Matrix = TriangularSystems::Matrix;
  const std::array operands{&step.inputs[0], &step.inputs[1], &step.outputs[0]};
  // A result in place of the operand is the same access.
  const std::array elements{call.elements[0], call.elements[1],
                            call.elements.back()};
  const DType type = loaded.buffers[operands[Matrix::A]->buffer].type;
  if (type != DType::F32 && type != DType::F64 && !isComplex(type))
    return noLibraryWork();
  TriangularSystems systems = systemsOf(step, type);
  const size_t batchRank = operands[Matrix::X]->dims.size() - 2;
  for (Matrix matrix : {Matrix::A, Matrix::B, Matrix::X}) {
    std::array<int64_t, 2> extents{1, 1}, strides{0, 1};
    for (size_t dim = 0; dim < 2; ++dim)
      if (const auto loop = loopOf(*operands[matrix], batchRank + dim);
          loop && part.extents[*loop] != 1) {
        extents[dim] = part.extents[*loop];
        strides[dim] = elements[matrix].strides[*loop];
      }
    std::tie(systems.rows, systems.columns) = std::tie(extents[0], extents[1]);
    systems.rowStrides[matrix] = extents[0] == 1 ? extents[1] : strides[0];
    if (systems.rows < 1 || systems.columns < 1 || strides[1] != 1 ||
        systems.rowStrides[matrix] < extents[1])
      return noLibraryWork();
  }
  std::vector<unsigned> batch;
  for (size_t dim = 0; dim < batchRank; ++dim)
    if (const auto loop = loopOf(*operands[Matrix::X], dim))
      batch.push_back(*loop);
  const std::vector<int64_t> widths(elements.size(), byteWidth(type));
  systems.batch = batchOf(batch, part.extents, elements, widths);
  return systems.batch.count() > 0 ? card->libraries().plan(*card, systems)
                                   : noLibraryWork();
}

LibraryWorkOrError CUDAExecutable::planPart(const Call &call,
                                            const Part &part) const {
  const Step &step = loaded.steps[call.work->step];
  if (call.attention)
    return planAttention(call, part);
  if (call.work->kind == Work::Kind::Dot)
    return planProduct(call, std::get<DotStep>(step), part);
  if (call.work->kind != Work::Kind::Kernel)
    return noLibraryWork();
  const KernelStep &kernel = std::get<KernelStep>(step);
  if (kernel.library == "triangular_solve")
    return planTriangular(call, kernel, part);
  if (kernel.library == "convolution")
    return planConvolution(call, kernel, part);
  return kernel.library.starts_with("solver_")
             ? planDecomposition(call, kernel, part)
             : planTransform(call, kernel, part);
}

/// A deterministic program's bits depend on the operands alone, and a library's
/// on the algorithm too.
Result<CUDAExecutable::PartsOfLibrary>
CUDAExecutable::planParts(const Call &call) const {
  PartsOfLibrary parts;
  if (loaded.deterministic)
    return parts;
  if (Status ok = card->enter(); !ok)
    return ok.error();
  bool isComplete = true;
  Status planned = forEachBox(call, [&](Part &part) -> Status {
    if (!isComplete)
      return Success();
    LibraryWorkOrError work = planPart(call, part);
    if (!work)
      return ofCard(work.error());
    isComplete = *work != nullptr;
    if (isComplete)
      parts.push_back(std::move(*work));
    return Success();
  });
  if (!planned)
    return planned.error();
  return isComplete ? std::move(parts) : PartsOfLibrary();
}

Status CUDAExecutable::planLibrary(Call &call) {
  Result<PartsOfLibrary> parts = planParts(call);
  if (!parts)
    return parts.error();
  call.libraryWork = std::move(*parts);
  int64_t workspaceBytes = 0;
  for (const auto &part : call.libraryWork)
    workspaceBytes = std::max(workspaceBytes, part->workspaceBytes());
  if (workspaceBytes > 0) {
    call.workspace = unsigned(graph.plan.memories.size());
    graph.plan.memories.push_back({.bytes = workspaceBytes});
  }
  return Success();
}
