// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuBLAS's types, numbers and functions, as the backend states them, against
// NVIDIA's cublas_v2.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/TriangularFacts.h"
#include "FactsTest.h"

#include <cublas_v2.h>

namespace {
using namespace meshloom::cuda;

#define MESHLOOM_TRIANGULAR_FUNCTION(name, ...)                                \
  static_assert(isSame<BlasResult, cublasStatus_t, BlasResult(__VA_ARGS__),    \
                       decltype(::name)>,                                      \
                #name);
#include "../../../lib/Runtime/Backends/CUDA/TriangularFunctions.def"
#undef MESHLOOM_TRIANGULAR_FUNCTION

SAME(TriangularSide::Left, CUBLAS_SIDE_LEFT);
SAME(TriangularSide::Right, CUBLAS_SIDE_RIGHT);
SAME(TriangularTranspose::None, CUBLAS_OP_N);
SAME(TriangularTranspose::Transpose, CUBLAS_OP_T);
SAME(TriangularTranspose::Adjoint, CUBLAS_OP_C);
SAME(TriangularDiagonal::Stored, CUBLAS_DIAG_NON_UNIT);
SAME(TriangularDiagonal::Ones, CUBLAS_DIAG_UNIT);

// The checks above are part of the compilation; this lists them as a test.
TEST(TriangularFactsTest, AgreeWithCublasHeader) {
  EXPECT_GE(CUBLAS_VER_MAJOR, 12);
}
} // namespace
