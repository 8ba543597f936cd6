// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NCCL's types, numbers and functions, as the backend states them, against
// nccl.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/NCCLFacts.h"
#include "FactsTest.h"

#include <nccl.h>

namespace {
using namespace meshloom::cuda;

#define MESHLOOM_NCCL_FUNCTION(name, ...)                                      \
  static_assert(isSame<NCCLResult, ncclResult_t, NCCLResult(__VA_ARGS__),      \
                       decltype(::name)>,                                      \
                #name);
#include "../../../lib/Runtime/Backends/CUDA/NCCLFunctions.def"
#undef MESHLOOM_NCCL_FUNCTION

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
SAME_FIELD(NCCLConfig, bytes, ncclConfig_t, size);
SAME_FIELD(NCCLConfig, magic, ncclConfig_t, magic);
SAME_FIELD(NCCLConfig, version, ncclConfig_t, version);
SAME_FIELD(NCCLConfig, blocking, ncclConfig_t, blocking);
SAME_FIELD(NCCLConfig, clusterSize, ncclConfig_t, cgaClusterSize);

// The checks above are part of the compilation; this adds those of values.
TEST(NCCLFactsTest, AgreeWithNCCLHeader) {
  const ncclConfig_t real = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(NCCLConfig().magic, real.magic);
  EXPECT_EQ(NCCLConfig().clusterSize, real.cgaClusterSize);
  EXPECT_EQ(NCCLConfig().version, unsigned(NCCL_VERSION(2, 14, 0)));
}
} // namespace
