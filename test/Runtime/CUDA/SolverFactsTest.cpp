// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuSOLVER's types, numbers and functions, as the backend states them, against
// NVIDIA's cusolverDn.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/SolverFacts.h"
#include "FactsTest.h"

#include <cusolverDn.h>

namespace {
using namespace meshloom::cuda;

#define MESHLOOM_SOLVER_FUNCTION(name, ...)                                    \
  static_assert(isSame<SolverResult, cusolverStatus_t,                         \
                       SolverResult(__VA_ARGS__), decltype(::name)>,           \
                #name);
#include "../../../lib/Runtime/Backends/CUDA/SolverFunctions.def"
#undef MESHLOOM_SOLVER_FUNCTION

SAME(SolverResult::Success, CUSOLVER_STATUS_SUCCESS);
SAME(SolverResult::NotInitialized, CUSOLVER_STATUS_NOT_INITIALIZED);
SAME(SolverResult::AllocationFailed, CUSOLVER_STATUS_ALLOC_FAILED);
SAME(SolverResult::InvalidValue, CUSOLVER_STATUS_INVALID_VALUE);
SAME(SolverResult::ArchitectureMismatch, CUSOLVER_STATUS_ARCH_MISMATCH);
SAME(SolverResult::ExecutionFailed, CUSOLVER_STATUS_EXECUTION_FAILED);
SAME(SolverResult::InternalError, CUSOLVER_STATUS_INTERNAL_ERROR);
SAME(SolverResult::NotSupported, CUSOLVER_STATUS_NOT_SUPPORTED);
SAME(SolverType::F32, CUDA_R_32F);
SAME(SolverType::F64, CUDA_R_64F);
SAME(SolverType::C64, CUDA_C_32F);
SAME(SolverType::C128, CUDA_C_64F);
SAME(SolverVectors::No, CUSOLVER_EIG_MODE_NOVECTOR);
SAME(SolverVectors::Yes, CUSOLVER_EIG_MODE_VECTOR);
SAME(SolverTriangle::Lower, CUBLAS_FILL_MODE_LOWER);
SAME(SolverTriangle::Upper, CUBLAS_FILL_MODE_UPPER);

// The checks above are part of the compilation; this lists them as a test.
TEST(SolverFactsTest, AgreeWithCusolverHeader) {
  EXPECT_GE(CUSOLVER_VER_MAJOR, 11);
}
} // namespace
