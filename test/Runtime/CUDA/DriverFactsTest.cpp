// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver's types, numbers and functions, as the backend states them,
// against NVIDIA's cuda.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/DriverFacts.h"
#include "FactsTest.h"

#include <cuda.h>

namespace {
using namespace meshloom::cuda;

#if CUDA_VERSION < 12030
#define MESHLOOM_NEWER_DRIVER_FUNCTION(...)
#endif
#define MESHLOOM_DRIVER_FUNCTION(name, ...)                                    \
  static_assert(isSame<DriverResult, CUresult, DriverResult(__VA_ARGS__),      \
                       decltype(::name)>,                                      \
                #name);
#include "../../../lib/Runtime/Backends/CUDA/DriverFunctions.def"
#undef MESHLOOM_DRIVER_FUNCTION

SAME(DriverResult::Success, CUDA_SUCCESS);
SAME(DriverResult::InvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(DriverResult::OutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(DriverResult::NotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(DriverResult::NoDevice, CUDA_ERROR_NO_DEVICE);
SAME(DriverResult::InvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(DriverResult::InvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(DriverResult::NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(DriverResult::UncorrectableMemory, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(DriverResult::InvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(DriverResult::UncorrectableLink, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(DriverResult::UnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(DriverResult::InvalidHandle, CUDA_ERROR_INVALID_HANDLE);
SAME(DriverResult::NotFound, CUDA_ERROR_NOT_FOUND);
SAME(DriverResult::NotReady, CUDA_ERROR_NOT_READY);
SAME(DriverResult::IllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(DriverResult::LaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(DriverResult::ContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(DriverResult::Assert, CUDA_ERROR_ASSERT);
SAME(DriverResult::HardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(DriverResult::IllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(DriverResult::MisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(DriverResult::InvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(DriverResult::InvalidProgramCounter, CUDA_ERROR_INVALID_PC);
SAME(DriverResult::LaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(DriverResult::NotPermitted, CUDA_ERROR_NOT_PERMITTED);
SAME(DriverResult::NotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(DriverResult::StreamIsCaptured, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(CaptureMode::Relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(DeviceAttribute::Multiprocessors,
     CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(DeviceAttribute::CapabilityMajor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(DeviceAttribute::CapabilityMinor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(DeviceAttribute::MemoryPools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME(PoolAttribute::ReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(sizeof(PoolAccess) == sizeof(CUmemAccessDesc));
SAME(PoolAccess().locationType, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(PoolAccess().flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(LoadOption::ErrorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME(LoadOption::ErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(eventWithTiming, CU_EVENT_DEFAULT);
SAME(eventWithoutTiming, CU_EVENT_DISABLE_TIMING);
SAME(MemoryType::Host, CU_MEMORYTYPE_HOST);
SAME(MemoryType::Device, CU_MEMORYTYPE_DEVICE);
// cuGraphAddKernelNode of libcuda.so takes the first version of its nodes.
static_assert(sizeof(KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v1));
SAME_FIELD(KernelNode, gridX, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
SAME_FIELD(KernelNode, blockX, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
SAME_FIELD(KernelNode, sharedBytes, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
SAME_FIELD(KernelNode, parameters, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
#if CUDA_VERSION >= 12030
static_assert(sizeof(ConditionalNode) == sizeof(CUgraphNodeParams));
SAME(ConditionalNode().nodeType, CU_GRAPH_NODE_TYPE_CONDITIONAL);
SAME(ConditionalType::If, CU_GRAPH_COND_TYPE_IF);
SAME(ConditionalType::While, CU_GRAPH_COND_TYPE_WHILE);
SAME_FIELD(ConditionalNode, handle, CUgraphNodeParams, conditional.handle);
SAME_FIELD(ConditionalNode, type, CUgraphNodeParams, conditional.type);
SAME_FIELD(ConditionalNode, count, CUgraphNodeParams, conditional.size);
SAME_FIELD(ConditionalNode, bodies, CUgraphNodeParams, conditional.phGraph_out);
SAME_FIELD(ConditionalNode, context, CUgraphNodeParams, conditional.ctx);
#endif
SAME_FIELD(PoolAccess, device, CUmemAccessDesc, location.id);
SAME_FIELD(PoolAccess, flags, CUmemAccessDesc, flags);
static_assert(sizeof(HostNode) == sizeof(CUDA_HOST_NODE_PARAMS));
SAME_FIELD(HostNode, data, CUDA_HOST_NODE_PARAMS, userData);
static_assert(sizeof(CopyNode) == sizeof(CUDA_MEMCPY3D));
SAME_FIELD(CopyNode, fromType, CUDA_MEMCPY3D, srcMemoryType);
SAME_FIELD(CopyNode, fromHost, CUDA_MEMCPY3D, srcHost);
SAME_FIELD(CopyNode, from, CUDA_MEMCPY3D, srcDevice);
SAME_FIELD(CopyNode, toType, CUDA_MEMCPY3D, dstMemoryType);
SAME_FIELD(CopyNode, toHost, CUDA_MEMCPY3D, dstHost);
SAME_FIELD(CopyNode, to, CUDA_MEMCPY3D, dstDevice);
SAME_FIELD(CopyNode, bytes, CUDA_MEMCPY3D, WidthInBytes);
SAME_FIELD(CopyNode, fromPitch, CUDA_MEMCPY3D, srcPitch);
SAME_FIELD(CopyNode, fromHeight, CUDA_MEMCPY3D, srcHeight);
SAME_FIELD(CopyNode, toPitch, CUDA_MEMCPY3D, dstPitch);
SAME_FIELD(CopyNode, toHeight, CUDA_MEMCPY3D, dstHeight);
SAME_FIELD(CopyNode, rows, CUDA_MEMCPY3D, Height);
SAME_FIELD(CopyNode, planes, CUDA_MEMCPY3D, Depth);
static_assert(std::is_same_v<DeviceNumber, CUdevice>);
static_assert(std::is_same_v<DevicePointer, CUdeviceptr>);

// The checks above are part of the compilation; this lists them as a test.
TEST(DriverFactsTest, AgreeWithCudaHeader) {
  EXPECT_GE(CUDA_VERSION, 11080);
}
} // namespace
