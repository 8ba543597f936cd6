// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuBLASLt's types, numbers and functions, as the backend states them, against
// NVIDIA's cublasLt.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/BlasFacts.h"
#include "FactsTest.h"

#include <cublasLt.h>

namespace {
using namespace meshloom::cuda;

#define MESHLOOM_BLAS_FUNCTION(name, ...)                                      \
  static_assert(isSame<BlasResult, cublasStatus_t, BlasResult(__VA_ARGS__),    \
                       decltype(::name)>,                                      \
                #name);
#include "../../../lib/Runtime/Backends/CUDA/BlasFunctions.def"
#undef MESHLOOM_BLAS_FUNCTION

SAME(BlasResult::Success, CUBLAS_STATUS_SUCCESS);
SAME(BlasResult::NotInitialized, CUBLAS_STATUS_NOT_INITIALIZED);
SAME(BlasResult::AllocationFailed, CUBLAS_STATUS_ALLOC_FAILED);
SAME(BlasResult::InvalidValue, CUBLAS_STATUS_INVALID_VALUE);
SAME(BlasResult::ExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED);
SAME(BlasResult::NotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
SAME(BlasType::F32, CUDA_R_32F);
SAME(BlasType::F16, CUDA_R_16F);
SAME(BlasType::BF16, CUDA_R_16BF);
SAME(BlasCompute::F32, CUBLAS_COMPUTE_32F);
SAME(BlasTranspose::No, CUBLAS_OP_N);
SAME(BlasTranspose::Yes, CUBLAS_OP_T);
SAME(BlasProductAttribute::TransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(BlasProductAttribute::TransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(BlasProductAttribute::Epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(BlasProductAttribute::Bias, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(BlasProductAttribute::Auxiliary,
     CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
SAME(BlasProductAttribute::AuxiliaryPitch,
     CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
SAME(BlasEpilogue::Bias, CUBLASLT_EPILOGUE_BIAS);
SAME(BlasEpilogue::None, CUBLASLT_EPILOGUE_DEFAULT);
SAME(BlasEpilogue::Gelu, CUBLASLT_EPILOGUE_GELU);
SAME(BlasEpilogue::GeluGradient, CUBLASLT_EPILOGUE_DGELU);
SAME(BlasEpilogue::BiasGradientOfA, CUBLASLT_EPILOGUE_BGRADA);
SAME(BlasEpilogue::BiasGradientOfB, CUBLASLT_EPILOGUE_BGRADB);
static_assert((int(BlasEpilogue::GeluGradient) |
               int(BlasEpilogue::BiasGradient)) ==
              CUBLASLT_EPILOGUE_DGELU_BGRAD);
static_assert((int(BlasEpilogue::Gelu) | int(BlasEpilogue::Bias) |
               int(BlasEpilogue::Auxiliary)) ==
              CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
SAME(BlasLayoutAttribute::BatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(BlasLayoutAttribute::BatchStride,
     CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(BlasPreferenceAttribute::MostWorkspaceBytes,
     CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(BlasPreferenceAttribute::AlignmentOfA,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(BlasPreferenceAttribute::AlignmentOfB,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(BlasPreferenceAttribute::AlignmentOfC,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(BlasPreferenceAttribute::AlignmentOfD,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(BlasAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(BlasHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(BlasHeuristic, workspaceBytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(BlasHeuristic, state) ==
              offsetof(cublasLtMatmulHeuristicResult_t, state));

// The checks above are part of the compilation; this lists them as a test.
TEST(BlasFactsTest, AgreeWithCublasLtHeader) {
  EXPECT_GE(CUBLAS_VER_MAJOR, 11);
}
} // namespace
