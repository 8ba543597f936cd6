// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about NVIDIA's driver that this backend needs: its types, numbers
// and functions. Where cuda.h is there, a test compares it with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace meshloom::cuda {

/// The results of the functions; any other number is an error too.
enum class DriverResult : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  UncorrectableMemory = 214,
  InvalidPtx = 218,
  UncorrectableLink = 220,
  UnsupportedPtxVersion = 222,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchTimeout = 702,
  ContextIsDestroyed = 709,
  Assert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidProgramCounter = 718,
  LaunchFailed = 719,
  NotPermitted = 800,
  NotSupported = 801,
  StreamIsCaptured = 900
};
enum class DeviceAttribute : int {
  Multiprocessors = 16,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  MemoryPools = 115
};
enum class PoolAttribute : int { ReleaseThreshold = 4 };
enum class LoadOption : int { ErrorLog = 5, ErrorLogBytes = 6 };

/// The right of a device to read and write the memory of a pool.
struct PoolAccess {
  int locationType = 1; ///< a device
  int device;
  int flags = 3;
};

/// Flags of cuStreamCreate: it does not wait for the default stream.
inline constexpr unsigned streamNonBlocking = 1;
/// Modes of cuStreamBeginCapture: a library that is captured may load its code.
enum class CaptureMode : int { Relaxed = 2 };
/// Flags of cuEventCreate: it measures no times.
inline constexpr unsigned eventWithTiming = 0, eventWithoutTiming = 2;

using DeviceNumber = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct ContextObject *;
using StreamHandle = struct StreamObject *;
using EventHandle = struct EventObject *;
using ModuleHandle = struct ModuleObject *;
using FunctionHandle = struct FunctionObject *;
using PoolHandle = struct PoolObject *;
using GraphHandle = struct GraphObject *;
using GraphNodeHandle = struct GraphNodeObject *;
using GraphExecutableHandle = struct GraphExecutableObject *;
using ConditionHandle = unsigned long long;
using HostFunction = void (*)(void *);

// Nodes of graphs.
struct KernelNode {
  FunctionHandle function = nullptr;
  unsigned gridX = 1, gridY = 1, gridZ = 1, blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  void **parameters = nullptr, **extra = nullptr;
};
struct HostNode {
  HostFunction function;
  void *data;
};
enum class ConditionalType : int { If = 0, While = 1 };
/// A node whose body, a graph that the driver makes, runs as the value of its
/// handle says. As a graph node of any type it is as long as the longest.
struct ConditionalNode {
  int nodeType = 13; ///< a conditional node
  int reserved[3] = {};
  ConditionHandle handle = 0;
  ConditionalType type = ConditionalType::If;
  unsigned count = 1;            ///< of bodies
  GraphHandle *bodies = nullptr; ///< the driver sets it
  ContextHandle context = nullptr;
  long long unused[26] = {};
};
enum class MemoryType : int { Host = 1, Device = 2 };
/// The largest pitch, in bytes (CU_DEVICE_ATTRIBUTE_MAX_PITCH of all GPUs).
inline constexpr int64_t mostPitch = 2147483647;
/// A copy of a box of bytes: rows a pitch apart, in planes of `height` rows of
/// that pitch. The type of a side's memory says which of its addresses counts.
struct CopyNode {
  size_t fromX = 0, fromY = 0, fromZ = 0, fromLevel = 0;
  MemoryType fromType = MemoryType::Device;
  const void *fromHost = nullptr;
  DevicePointer from = 0;
  void *fromArray = nullptr, *fromReserved = nullptr;
  size_t fromPitch = 0, fromHeight = 0;
  size_t toX = 0, toY = 0, toZ = 0, toLevel = 0;
  MemoryType toType = MemoryType::Device;
  void *toHost = nullptr;
  DevicePointer to = 0;
  void *toArray = nullptr, *toReserved = nullptr;
  size_t toPitch = 0, toHeight = 0;
  size_t bytes = 0, rows = 1, planes = 1;
};

} // namespace meshloom::cuda
