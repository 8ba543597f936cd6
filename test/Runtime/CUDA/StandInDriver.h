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
// gpus=N, peers=0 (they cannot use each other's memory), patience=MS,
// memory=BYTES of each GPU, driver=VERSION (12040), capability=N (90),
// order=first, last or random with seed=N, and fail=FUNCTION:N:RESULT, the
// number that the N-th call of a function returns.
#pragma once

#include "../../../lib/Runtime/Backends/CUDA/DriverFacts.h"

#include <functional>
#include <string>

namespace meshloom::cuda {
/// Returns whether bytes are memory of the GPU that a library works on.
using DeviceBytes = std::function<bool(const void *, size_t)>;

/// For stand-ins of libraries: work in a stream of the current GPU. It begins
/// when `missing` returns nothing, and returns what is wrong, or nothing. It is
/// counted as a call of `name`.
DriverResult standInEnqueue(StreamHandle stream, const char *name,
                            std::function<std::string()> missing,
                            const std::function<std::string(DeviceBytes)> &run);
/// The number of the GPU that this thread speaks of; -1: of none.
int standInGPU();
} // namespace meshloom::cuda

extern "C" {
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
