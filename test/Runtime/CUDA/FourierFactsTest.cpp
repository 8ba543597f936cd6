// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuFFT's types, numbers and functions, as the backend states them, against
// NVIDIA's cufft.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/FourierFacts.h"
#include "FactsTest.h"

#include <cufft.h>

namespace {
using namespace meshloom::cuda;

#define MESHLOOM_FOURIER_FUNCTION(name, ...)                                   \
  static_assert(isSame<FourierResult, cufftResult, FourierResult(__VA_ARGS__), \
                       decltype(::name)>,                                      \
                #name);
#include "../../../lib/Runtime/Backends/CUDA/FourierFunctions.def"
#undef MESHLOOM_FOURIER_FUNCTION

SAME(FourierResult::Success, CUFFT_SUCCESS);
SAME(FourierResult::InvalidPlan, CUFFT_INVALID_PLAN);
SAME(FourierResult::AllocationFailed, CUFFT_ALLOC_FAILED);
SAME(FourierResult::InvalidType, CUFFT_INVALID_TYPE);
SAME(FourierResult::InvalidValue, CUFFT_INVALID_VALUE);
SAME(FourierResult::InternalError, CUFFT_INTERNAL_ERROR);
SAME(FourierResult::ExecutionFailed, CUFFT_EXEC_FAILED);
SAME(FourierResult::SetupFailed, CUFFT_SETUP_FAILED);
SAME(FourierResult::InvalidSize, CUFFT_INVALID_SIZE);
SAME(FourierResult::NoWorkspace, CUFFT_NO_WORKSPACE);
SAME(FourierResult::NotImplemented, CUFFT_NOT_IMPLEMENTED);
SAME(FourierResult::NotSupported, CUFFT_NOT_SUPPORTED);
SAME(FourierType::C2C, CUFFT_C2C);
SAME(FourierType::R2C, CUFFT_R2C);
SAME(FourierType::C2R, CUFFT_C2R);
SAME(FourierType::C2C64, CUFFT_Z2Z);
SAME(FourierType::R2C64, CUFFT_D2Z);
SAME(FourierType::C2R64, CUFFT_Z2D);
SAME(FourierDirection::Forward, CUFFT_FORWARD);
SAME(FourierDirection::Inverse, CUFFT_INVERSE);
static_assert(sizeof(FourierHandle) == sizeof(cufftHandle));

// The checks above are part of the compilation; this lists them as a test.
TEST(FourierFactsTest, AgreeWithCufftHeader) {
  EXPECT_GE(CUFFT_VER_MAJOR, 11);
}
} // namespace
