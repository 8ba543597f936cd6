// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in driver: a library with the functions of NVIDIA's driver that
// Meshloom calls, which runs kernels by the PTX machine.
//
// Nothing runs before somebody waits for it. Then work runs in an order that
// streams and events allow, but not in the order of the calls. New and freed
// memory is full of poison. The stand-in refuses what the real driver refuses,
// and fails where the real one is undefined.
//
// The environment variable MESHLOOM_STANDIN has options, separated by commas:
// gpus=N, memory=BYTES of each GPU, driver=VERSION (12040), capability=N (90),
// order=first, last or random with seed=N, and fail=FUNCTION:N:RESULT, the
// number that the N-th call of a function returns.
#pragma once

#include "../../../lib/Runtime/Backends/CUDA/DriverFacts.h"

#include <functional>
#include <vector>

/// Bytes of a GPU that work touches.
struct StandInAccess {
  meshloom::cuda::DevicePointer address;
  size_t bytes;
};

extern "C" {
/// A function of the driver that the backend does not call.
meshloom::cuda::DriverResult cuStreamWaitEvent(meshloom::cuda::StreamHandle,
                                               meshloom::cuda::EventHandle,
                                               unsigned);
/// Asks a stream for work of a library's: `work()`, once it is clear that the
/// GPU has all bytes that it touches. Counted as a call of `name`.
meshloom::cuda::DriverResult standInEnqueue(meshloom::cuda::StreamHandle stream,
                                            const char *name,
                                            std::vector<StandInAccess> touched,
                                            std::function<void()> work);
/// Forgets everything and begins anew with these options. False: they are
/// wrong. Nobody may use the driver at that time, nor handles from before; it
/// waits some seconds for those who still have a GPU.
bool standInBegin(const char *options);
/// Holds work back, or lets go of it. A call that waits for work meanwhile is a
/// fault after 20 seconds.
void standInHold(bool isHeldBack);
/// Returns the first fault in words; empty: there was none.
const char *standInFault();
/// Returns the bytes that are allocated on all GPUs, and the page-locked ones.
int64_t standInBytes();
/// Returns how often a function of the driver has been called.
int standInCalls(const char *function);
/// Returns how many kernels have run.
int64_t standInLaunches();
}
