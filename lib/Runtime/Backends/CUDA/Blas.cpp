// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Blas.h"

#include "LibraryFunctions.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

/// The library of CUDA 13 and that of CUDA 12, which have the same functions.
static constexpr std::array systemBlasLibraries{"libcublasLt.so.13",
                                                "libcublasLt.so.12"};
/// The most memory that an algorithm may ask for: what NVIDIA recommends for
/// the newest GPUs.
static constexpr uint64_t mostWorkspaceBytes = uint64_t(32) << 20;

Result<const BlasLibrary *> BlasLibrary::load(const std::string &path) {
  return loadLibrary<BlasLibrary>(
      path, {"cuBLASLt", systemBlasLibraries},
      [](LibraryFunctions &functions, BlasLibrary &library) {
        functions.find(library.cublasLtGetStatusName, "cublasLtGetStatusName");
#define MESHLOOM_BLAS_FUNCTION(name, ...) functions.find(library.name, #name);
#include "BlasFunctions.def"
#undef MESHLOOM_BLAS_FUNCTION
      });
}

Status BlasLibrary::check(BlasResult result, std::string_view function) const {
  if (result == BlasResult::Success)
    return Success();
  const char *name = cublasLtGetStatusName(result);
  return failedCall(function,
                    name ? name : fmt::format("error {}", int(result)));
}

static BlasType typeOf(DType type) {
  return type == DType::F32    ? BlasType::F32
         : type == DType::BF16 ? BlasType::BF16
                               : BlasType::F16;
}

BlasProduct::~BlasProduct() {
  for (BlasLayoutHandle layout : {a, b, out})
    if (layout)
      (void)library.cublasLtMatrixLayoutDestroy(layout);
  if (description)
    (void)library.cublasLtMatmulDescDestroy(description);
}

template <typename Value>
Status BlasProduct::set(BlasProductAttribute attribute,
                        const Value &value) const {
  return library.check(library.cublasLtMatmulDescSetAttribute(
                           description, attribute, &value, sizeof(value)),
                       "cublasLtMatmulDescSetAttribute");
}

/// The library takes the alignment of an operand from its pointer, which is
/// another one in each run: an algorithm is chosen for the alignment alone.
Status BlasProduct::describeEpilogue(const MatrixProduct &product) {
  using Form = ProductEpilogue::Form;
  const MatrixProduct::Epilogue &epilogue = *product.epilogue;
  uint32_t bits = 0;
  if (epilogue.form == Form::Gelu)
    bits = uint32_t(BlasEpilogue::Gelu);
  if (epilogue.form == Form::GeluGradient)
    bits = uint32_t(BlasEpilogue::GeluGradient);
  Status done = Success();
  auto add = [&](BlasProductAttribute attribute, int64_t alignment,
                 BlasEpilogue bit) {
    bits |= uint32_t(bit);
    pointers.push_back(attribute);
    if (done)
      done = set(attribute, uint64_t(alignment));
  };
  if (epilogue.biasAlignment > 0)
    add(BlasProductAttribute::Bias, epilogue.biasAlignment, BlasEpilogue::Bias);
  if (epilogue.auxiliaryAlignment > 0) {
    add(BlasProductAttribute::Auxiliary, epilogue.auxiliaryAlignment,
        BlasEpilogue::Auxiliary);
    if (done)
      done = set(BlasProductAttribute::AuxiliaryPitch, product.out.pitch);
  }
  // The library's gradient of a bias lies where a bias would.
  using Summed = MatrixProduct::Epilogue::Summed;
  if (epilogue.sumAlignment > 0)
    add(BlasProductAttribute::Bias, epilogue.sumAlignment,
        epilogue.summed == Summed::RowsOfA      ? BlasEpilogue::BiasGradientOfA
        : epilogue.summed == Summed::ColumnsOfB ? BlasEpilogue::BiasGradientOfB
                                                : BlasEpilogue::BiasGradient);
  return done ? set(BlasProductAttribute::Epilogue, bits) : done;
}

Status BlasProduct::describe(const MatrixProduct &product) {
  swapsOperands = product.swapsOperands;
  if (Status ok =
          library.check(library.cublasLtMatmulDescCreate(
                            &description, BlasCompute::F32, BlasType::F32),
                        "cublasLtMatmulDescCreate");
      !ok)
    return ok;
  for (auto [attribute, operand] :
       {std::pair(BlasProductAttribute::TransposeA, &product.a),
        std::pair(BlasProductAttribute::TransposeB, &product.b)}) {
    const BlasTranspose transpose =
        operand->isTransposed ? BlasTranspose::Yes : BlasTranspose::No;
    if (Status ok = set(attribute, transpose); !ok)
      return ok;
  }
  if (product.epilogue)
    if (Status ok = describeEpilogue(product); !ok)
      return ok;
  auto describeMatrix = [&](BlasLayoutHandle &layout, DType type,
                            const MatrixProduct::Operand &operand, int64_t rows,
                            int64_t columns) -> Status {
    if (operand.isTransposed)
      std::swap(rows, columns);
    if (Status ok = library.check(library.cublasLtMatrixLayoutCreate(
                                      &layout, typeOf(type), uint64_t(rows),
                                      uint64_t(columns), operand.pitch),
                                  "cublasLtMatrixLayoutCreate");
        !ok || product.batches == 1)
      return ok;
    const auto count = int32_t(product.batches);
    if (Status ok = library.check(
            library.cublasLtMatrixLayoutSetAttribute(
                layout, BlasLayoutAttribute::BatchCount, &count, sizeof(count)),
            "cublasLtMatrixLayoutSetAttribute");
        !ok)
      return ok;
    return library.check(library.cublasLtMatrixLayoutSetAttribute(
                             layout, BlasLayoutAttribute::BatchStride,
                             &operand.batchStride, sizeof(operand.batchStride)),
                         "cublasLtMatrixLayoutSetAttribute");
  };
  if (Status ok = describeMatrix(a, product.type, product.a, product.rows,
                                 product.terms);
      !ok)
    return ok;
  if (Status ok = describeMatrix(b, product.type, product.b, product.terms,
                                 product.columns);
      !ok)
    return ok;
  return describeMatrix(out, product.resultType, product.out, product.rows,
                        product.columns);
}

Result<bool> BlasProduct::choose(const MatrixProduct &product) {
  BlasPreferenceHandle preference = nullptr;
  if (Status ok =
          library.check(library.cublasLtMatmulPreferenceCreate(&preference),
                        "cublasLtMatmulPreferenceCreate");
      !ok)
    return ok.error();
  Status set = Success();
  auto setAttribute = [&](BlasPreferenceAttribute attribute,
                          const auto &value) {
    if (set)
      set = library.check(library.cublasLtMatmulPreferenceSetAttribute(
                              preference, attribute, &value, sizeof(value)),
                          "cublasLtMatmulPreferenceSetAttribute");
  };
  using Attribute = BlasPreferenceAttribute;
  setAttribute(Attribute::MostWorkspaceBytes, mostWorkspaceBytes);
  for (auto [attribute, operand] :
       {std::pair(Attribute::AlignmentOfA, &product.a),
        std::pair(Attribute::AlignmentOfB, &product.b),
        std::pair(Attribute::AlignmentOfC, &product.out),
        std::pair(Attribute::AlignmentOfD, &product.out)})
    setAttribute(attribute, uint32_t(operand->alignment));
  int count = 0;
  const BlasResult result =
      set ? library.cublasLtMatmulAlgoGetHeuristic(
                handle, description, a, b, out, out, preference,
                /*requested=*/1, &chosen, &count)
          : BlasResult::Success;
  (void)library.cublasLtMatmulPreferenceDestroy(preference);
  if (!set)
    return set.error();
  if (result == BlasResult::NotSupported)
    return false;
  if (Status ok = library.check(result, "cublasLtMatmulAlgoGetHeuristic"); !ok)
    return ok.error();
  return count == 1 && chosen.state == BlasResult::Success;
}

Status BlasProduct::enqueue(Commands &commands, std::span<char *const> operands,
                            char *workspace) const {
  char *lhs = operands[0], *rhs = operands[1], *result = operands[2];
  if (swapsOperands)
    std::swap(lhs, rhs);
  std::vector<uint64_t> addresses{reinterpret_cast<uint64_t>(workspace)};
  for (char *operand : operands)
    addresses.push_back(reinterpret_cast<uint64_t>(operand));
  return commands.callLibrary(addresses, [&](StreamHandle stream) -> Status {
    std::lock_guard lock(mutex);
    for (size_t i = 0; i < pointers.size(); ++i)
      if (Status ok =
              set(pointers[i], reinterpret_cast<uint64_t>(operands[3 + i]));
          !ok)
        return ok;
    const float one = 1, zero = 0;
    return library.check(
        library.cublasLtMatmul(handle, description, &one, lhs, a, rhs, b, &zero,
                               result, out, result, out, &chosen.algorithm,
                               workspace, chosen.workspaceBytes, stream),
        "cublasLtMatmul");
  });
}

Result<std::unique_ptr<Blas>> Blas::create(const BlasLibrary &library) {
  BlasHandle handle = nullptr;
  if (Status ok =
          library.check(library.cublasLtCreate(&handle), "cublasLtCreate");
      !ok)
    return ok.error();
  return std::unique_ptr<Blas>(new Blas(library, handle));
}

Blas::~Blas() {
  plans.clear();
  (void)library.cublasLtDestroy(handle);
}

LibraryWorkOrError Blas::plan(const MatrixProduct &product) {
  std::lock_guard lock(mutex);
  if (auto found = plans.find(product); found != plans.end())
    return found->second;
  auto planned = std::make_shared<BlasProduct>(library, handle);
  if (Status ok = planned->describe(product); !ok)
    return ok.error();
  Result<bool> exists = planned->choose(product);
  if (!exists)
    return exists.error();
  return plans
      .emplace(product, *exists ? std::move(planned)
                                : std::shared_ptr<const LibraryWork>())
      .first->second;
}
