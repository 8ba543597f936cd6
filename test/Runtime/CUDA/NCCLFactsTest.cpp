// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NCCL's types, numbers and functions, as the backend states them, against
// nccl.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/NCCLFacts.h"

#include <gtest/gtest.h>
#include <nccl.h>
#include <type_traits>

namespace {
using namespace meshloom::cuda;

template <typename A, typename B>
constexpr bool isAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <typename Fact, typename Real> constexpr bool isSame = false;
template <typename... A, typename... B>
constexpr bool isSame<NCCLResult(A...), ncclResult_t(B...)> =
    sizeof...(A) == sizeof...(B) && (isAlike<A, B> && ...);

#define MESHLOOM_NCCL_FUNCTION(name, ...)                                      \
  static_assert(isSame<NCCLResult(__VA_ARGS__), decltype(::name)>, #name);
#include "../../../lib/Runtime/Backends/CUDA/NCCLFunctions.def"
#undef MESHLOOM_NCCL_FUNCTION

#define SAME(fact, real) static_assert(int(fact) == int(real), #real)
SAME(NCCLResult::Success, ncclSuccess);
SAME(NCCLResult::UnhandledDeviceError, ncclUnhandledCudaError);
SAME(NCCLResult::SystemError, ncclSystemError);
SAME(NCCLResult::InternalError, ncclInternalError);
SAME(NCCLResult::InvalidArgument, ncclInvalidArgument);
SAME(NCCLResult::InvalidUsage, ncclInvalidUsage);
SAME(NCCLResult::RemoteError, ncclRemoteError);
SAME(NCCLResult::InProgress, ncclInProgress);
SAME(NCCLType::I8, ncclInt8);
SAME(NCCLType::UI8, ncclUint8);
SAME(NCCLType::I32, ncclInt32);
SAME(NCCLType::UI32, ncclUint32);
SAME(NCCLType::I64, ncclInt64);
SAME(NCCLType::UI64, ncclUint64);
SAME(NCCLType::F16, ncclFloat16);
SAME(NCCLType::F32, ncclFloat32);
SAME(NCCLType::F64, ncclFloat64);
SAME(NCCLType::BF16, ncclBfloat16);
SAME(NCCLReduction::Sum, ncclSum);
SAME(NCCLReduction::Prod, ncclProd);
SAME(NCCLReduction::Max, ncclMax);
SAME(NCCLReduction::Min, ncclMin);
static_assert(sizeof(NCCLId) == sizeof(ncclUniqueId));
#define SAME_FIELD(field, real)                                                \
  static_assert(offsetof(NCCLConfig, field) == offsetof(ncclConfig_t, real))
SAME_FIELD(bytes, size);
SAME_FIELD(magic, magic);
SAME_FIELD(version, version);
SAME_FIELD(blocking, blocking);
SAME_FIELD(clusterSize, cgaClusterSize);

// The checks above are part of the compilation; this adds those of values.
TEST(NCCLFactsTest, AgreeWithNCCLHeader) {
  const ncclConfig_t real = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(NCCLConfig().magic, real.magic);
  EXPECT_EQ(NCCLConfig().clusterSize, real.cgaClusterSize);
  EXPECT_EQ(NCCLConfig().version, unsigned(NCCL_VERSION(2, 14, 0)));
}
} // namespace
