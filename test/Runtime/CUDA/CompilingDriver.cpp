// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library of the name libcuda.so.1 with the functions that cuDNN looks for
// before it compiles kernels. They do nothing: cuDNN compiles for the GPU that
// it is told of, and its answers to graphs need no more. Nothing may be run.

#define MESHLOOM_IDLE_FUNCTION(name)                                           \
  extern "C" int name();                                                       \
  int name() {                                                                 \
    return 0;                                                                  \
  }

MESHLOOM_IDLE_FUNCTION(cuCtxGetCurrent)
MESHLOOM_IDLE_FUNCTION(cuCtxGetDevice)
MESHLOOM_IDLE_FUNCTION(cuCtxGetLimit)
MESHLOOM_IDLE_FUNCTION(cuCtxPopCurrent)
MESHLOOM_IDLE_FUNCTION(cuCtxPushCurrent)
MESHLOOM_IDLE_FUNCTION(cuDeviceGet)
MESHLOOM_IDLE_FUNCTION(cuDeviceGetAttribute)
MESHLOOM_IDLE_FUNCTION(cuDeviceGetCount)
MESHLOOM_IDLE_FUNCTION(cuDevicePrimaryCtxRelease)
MESHLOOM_IDLE_FUNCTION(cuDevicePrimaryCtxReset)
MESHLOOM_IDLE_FUNCTION(cuDevicePrimaryCtxRetain)
MESHLOOM_IDLE_FUNCTION(cuFuncGetAttribute)
MESHLOOM_IDLE_FUNCTION(cuFuncSetAttribute)
MESHLOOM_IDLE_FUNCTION(cuGetErrorName)
MESHLOOM_IDLE_FUNCTION(cuGetErrorString)
MESHLOOM_IDLE_FUNCTION(cuInit)
MESHLOOM_IDLE_FUNCTION(cuKernelGetAttribute)
MESHLOOM_IDLE_FUNCTION(cuKernelSetAttribute)
MESHLOOM_IDLE_FUNCTION(cuLaunchCooperativeKernel)
MESHLOOM_IDLE_FUNCTION(cuLaunchKernel)
MESHLOOM_IDLE_FUNCTION(cuLaunchKernelEx)
MESHLOOM_IDLE_FUNCTION(cuLibraryGetKernel)
MESHLOOM_IDLE_FUNCTION(cuLibraryLoadData)
MESHLOOM_IDLE_FUNCTION(cuLibraryLoadFromFile)
MESHLOOM_IDLE_FUNCTION(cuLibraryUnload)
MESHLOOM_IDLE_FUNCTION(cuLinkAddData)
MESHLOOM_IDLE_FUNCTION(cuLinkAddData_v2)
MESHLOOM_IDLE_FUNCTION(cuLinkAddFile_v2)
MESHLOOM_IDLE_FUNCTION(cuLinkComplete)
MESHLOOM_IDLE_FUNCTION(cuLinkCreate)
MESHLOOM_IDLE_FUNCTION(cuLinkCreate_v2)
MESHLOOM_IDLE_FUNCTION(cuLinkDestroy)
MESHLOOM_IDLE_FUNCTION(cuMemcpyDtoH_v2)
MESHLOOM_IDLE_FUNCTION(cuModuleGetFunction)
MESHLOOM_IDLE_FUNCTION(cuModuleGetGlobal_v2)
MESHLOOM_IDLE_FUNCTION(cuModuleLoadData)
MESHLOOM_IDLE_FUNCTION(cuModuleLoadDataEx)
MESHLOOM_IDLE_FUNCTION(cuModuleLoadFatBinary)
MESHLOOM_IDLE_FUNCTION(cuModuleUnload)
MESHLOOM_IDLE_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor)
MESHLOOM_IDLE_FUNCTION(cuOccupancyMaxPotentialClusterSize)
MESHLOOM_IDLE_FUNCTION(cuStreamGetCtx)
MESHLOOM_IDLE_FUNCTION(cuStreamSynchronize)
MESHLOOM_IDLE_FUNCTION(cuTensorMapEncodeTiled)

extern "C" int cuDriverGetVersion(int *version);
int cuDriverGetVersion(int *version) {
  constexpr int newest = 13000;
  *version = newest;
  return 0;
}
