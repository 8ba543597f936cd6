// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C interface of XLA's FFI, by which handlers of jax.ffi are called, as far
// as a CPU needs it. A structure begins with its size and a list of extensions;
// the order and the types of its fields are those of version 0.3 (JAX 0.10).
#pragma once

#include <cstddef>
#include <cstdint>

namespace meshloom::plugin::ffi {

/// XLA's numbers of errors are those of gRPC.
struct ErrorObject;
/// The end of a call whose handler returns before it.
struct FutureObject;

struct Head {
  size_t size;
  void *extensions = nullptr;
};

struct Bytes {
  const char *data;
  size_t size;
};

struct Buffer {
  Head head = {sizeof(Buffer)};
  int32_t type;
  void *data;
  int64_t rank;
  const int64_t *extents;
};

/// Operands or results: all of them are buffers.
struct Buffers {
  Head head = {sizeof(Buffers)};
  int64_t count;
  int32_t *kinds;
  Buffer **buffers;
};
constexpr int32_t bufferKind = 1;

enum class AttributeKind : int32_t { Array = 1, Dictionary, Scalar, String };

struct Scalar {
  int32_t type;
  const void *value;
};
struct Array {
  int32_t type;
  size_t count;
  const void *elements;
};
/// Attributes in the order of their names. A value is a Scalar, an Array, Bytes
/// or an Attributes.
struct Attributes {
  Head head = {sizeof(Attributes)};
  int64_t count;
  const AttributeKind *kinds;
  Bytes *const *names;
  void *const *values;
};

constexpr int32_t executeStage = 3;

struct Interface;
struct CallFrame {
  Head head;
  const Interface *interface;
  void *context;
  int32_t stage = executeStage;
  Buffers operands, results;
  Attributes attributes;
  FutureObject *future = nullptr; ///< the handler sets it
};

using Handler = ErrorObject *(*)(CallFrame *);

struct ErrorArguments { // Error_Create
  Head head;
  const char *message;
  int32_t code;
};
struct MessageArguments { // Error_GetMessage, Error_Destroy
  Head head;
  ErrorObject *error;
  const char *message;
};
struct AllocateArguments { // DeviceMemory_Allocate
  Head head;
  void *context;
  size_t size, alignment;
  void *data;
};
struct FreeArguments { // DeviceMemory_Free
  Head head;
  void *context;
  size_t size;
  void *data;
};
struct TaskArguments { // ThreadPool_Schedule
  Head head;
  void *context;
  void (*task)(void *);
  void *data;
};
struct ThreadArguments { // ThreadPool_NumThreads
  Head head;
  void *context;
  int64_t *count;
};
struct FutureArguments { // Future_Create, Future_SetAvailable, Future_SetError
  Head head;
  FutureObject *future;
  ErrorObject *error;
};
struct RunArguments { // RunId_Get
  Head head;
  void *context;
  int64_t run;
};
struct DeviceArguments { // DeviceOrdinal_Get
  Head head;
  void *context;
  int32_t device;
};

/// The functions that a handler may call.
struct Interface {
  Head head = {sizeof(Interface)};
  struct {
    Head head = {24};
    int32_t major = 0, minor = 3;
  } version;
  const void *internal = nullptr;
  ErrorObject *(*createError)(ErrorArguments *);
  void (*readMessage)(MessageArguments *);
  void (*destroyError)(MessageArguments *);
  ErrorObject *(*registerHandler)(void *);
  ErrorObject *(*stream)(void *);
  ErrorObject *(*registerType)(void *);
  ErrorObject *(*userData)(void *);
  ErrorObject *(*setState)(void *);
  ErrorObject *(*state)(void *);
  ErrorObject *(*allocate)(AllocateArguments *);
  ErrorObject *(*free)(FreeArguments *);
  ErrorObject *(*schedule)(TaskArguments *);
  ErrorObject *(*threads)(ThreadArguments *);
  ErrorObject *(*createFuture)(FutureArguments *);
  ErrorObject *(*completeFuture)(FutureArguments *);
  ErrorObject *(*failFuture)(FutureArguments *);
  ErrorObject *(*run)(RunArguments *);
  ErrorObject *(*device)(DeviceArguments *);
};

} // namespace meshloom::plugin::ffi
