// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects that handles of the PJRT C API stand for: errors, events,
// clients with their devices and memories, and buffers.
//
// All devices of this process are virtual ones and share its memory. So a
// client of N devices is one client of the runtime, a device is a number, and a
// buffer is a view: an array on a mesh, and which of the mesh's devices. Where
// there are several processes, a client has the devices of all, and buffers on
// those of this process.
#pragma once

#include "Arguments.h"
#include "DimOrder.h"
#include "ElementTypes.h"
#include "OtherProcesses.h"
#include "meshloom/Core/ProcessEnd.h"
#include "meshloom/Runtime/Client.h"

#include <mutex>
#include <set>

namespace meshloom::plugin {

struct ErrorObject : HandleObject<ErrorObject> {
  static constexpr std::string_view kindName = "an error";
  explicit ErrorObject(Error error) : error(std::move(error)) {}
  const Error error;
};
capi::Handle handleOf(Error error);

struct EventObject : HandleObject<EventObject> {
  static constexpr std::string_view kindName = "an event";
  explicit EventObject(Event event) : event(std::move(event)) {}
  const Event event;
};

struct ClientObject;
struct MemoryObject;

struct DeviceObject : HandleObject<DeviceObject> {
  static constexpr std::string_view kindName = "a device";
  ClientObject *client = nullptr;
  int32_t id = 0; ///< among all processes
  int32_t process = 0;
  int32_t localId = 0;   ///< within its process
  std::string text = {}; ///< "MeshloomDevice(id=3)"
  /// Empty where the device is of a different process.
  std::vector<capi::Handle> memories = {};

  /// Returns the device's memory of a kind, an index of `memoryKinds`. Throws
  /// meshloom::Error where the device is of a different process.
  MemoryObject &memory(int32_t kind) const;
  MemoryObject &defaultMemory() const { return memory(0); }
};

/// The kinds of memory that a device has. Each device has all of them, and the
/// first one is the default.
constexpr std::string_view memoryKinds[] = {"device", "pinned_host",
                                            "unpinned_host"};

/// A kind of memory of a device. All kinds are this process's memory.
struct MemoryObject : HandleObject<MemoryObject> {
  static constexpr std::string_view kindName = "a memory";
  DeviceObject *device = nullptr;
  int32_t id = 0;
  int32_t kind = 0; ///< an index of `memoryKinds`
  std::string text = {};
};

/// The addresses that users have asked buffers for. Safe to use from any
/// thread.
class ClaimedAddresses : public std::enable_shared_from_this<ClaimedAddresses> {
public:
  /// Returns an object that holds the address while it lives, or null where
  /// another one holds it.
  std::shared_ptr<const void> claim(const char *address);

private:
  std::mutex mutex;
  std::set<const char *> addresses;
};

class ProgramCompiler;

struct ClientObject : HandleObject<ClientObject> {
  static constexpr std::string_view kindName = "a client";
  ~ClientObject() {
    if (processes)
      processes->leave();
  }
  /// Null where this process is alone.
  std::shared_ptr<OtherProcesses> processes;
  /// The devices of this process.
  std::shared_ptr<Client> client;
  std::shared_ptr<ProgramCompiler> compiler;
  std::shared_ptr<ClaimedAddresses> addresses =
      std::make_shared<ClaimedAddresses>();
  std::vector<std::unique_ptr<DeviceObject>> devices = {};
  std::vector<std::unique_ptr<MemoryObject>> memories = {};
  std::vector<capi::Handle> deviceHandles = {}, memoryHandles = {};

  int32_t process() const {
    return processes ? int32_t(processes->process()) : 0;
  }
  /// The number of devices of each process.
  int64_t devicesHere() const { return std::ssize(client->devices()); }
  std::span<const capi::Handle> handlesHere() const {
    return std::span(deviceHandles)
        .subspan(size_t(process() * devicesHere()), size_t(devicesHere()));
  }
  /// The device with that number. Fails where there is none.
  Result<DeviceObject *> device(int64_t id) const;
  /// Fails in a process that was forked off since the client was created: it
  /// has none of the threads that compile and compute.
  Status checkThreads() const;

private:
  const int forks = ProcessEnd::forks();
};

/// An array that buffers are views of.
struct SharedArray {
  Array array;
};

/// The part of an array that one device has.
struct ArrayPart {
  std::shared_ptr<const SharedArray> whole;
  int64_t index = 0; ///< of the device in the array's mesh

  Box box() const {
    return whole->array.layout().shard(whole->array.shape(), index);
  }
};

/// The type of a buffer. Buffers that one program returns share theirs.
struct BufferType {
  ElementType element;
  Shape dims;
  DimOrder order;
};

/// One device's buffer. Safe to use from any thread.
class BufferObject : public HandleObject<BufferObject> {
public:
  static constexpr std::string_view kindName = "a buffer";
  /// `part` is of an array with the dims in the order of memory.
  BufferObject(MemoryObject &memory, std::shared_ptr<const BufferType> type,
               ArrayPart part);

  MemoryObject &memory() const { return place; }
  DeviceObject &device() const { return *place.device; }
  const std::shared_ptr<const BufferType> &type() const { return bufferType; }
  const ElementType &element() const { return bufferType->element; }
  const Shape &dims() const { return bufferType->dims; }
  const DimOrder &order() const { return bufferType->order; }
  Shape dimsInMemory() const { return order().inMemory(dims()); }
  int64_t bytes() const { return elementCount(dims()) * element().width(); }

  /// Fails where the buffer has been deleted or donated. A token's part has no
  /// array.
  Result<ArrayPart> part() const;
  /// The same elements as a part of a different array, which replaces the
  /// present one in later calls.
  void replacePart(ArrayPart equal);
  /// Forgets the array. Memory that a user sees stays.
  void remove();
  bool isRemoved() const;
  /// Waits for the elements and returns them in the order of memory: in the
  /// array's own memory where they lie together there, else a copy, which is
  /// the same one each time.
  Result<std::shared_ptr<const char>> elements();
  /// The same, at an address that no other buffer returns here: buffers may
  /// share an array, and all but the first one that is asked get a copy.
  Result<std::shared_ptr<const char>> elementsAlone();
  /// While there are references, `elements` stay where they are, and are not
  /// overwritten.
  void addReference();
  void dropReference();

private:
  /// Forgets the memory that a user saw.
  void hideElements();

  MemoryObject &place;
  const std::shared_ptr<const BufferType> bufferType;

  mutable std::mutex mutex;
  ArrayPart current;
  bool removed = false;
  int64_t references = 0;
  std::shared_ptr<const char> view;
  std::shared_ptr<const void> claim; ///< of the view's address
};

/// The memory of a part of an array that is complete: see
/// BufferObject::elements.
Result<std::shared_ptr<const char>> elementsOf(const ArrayPart &part);
/// An array on one device of this process, in memory that is the array's as
/// long as it lives. The elements are not copied where they are aligned as
/// arrays are.
Result<SharedArray> arrayInPlace(const std::shared_ptr<Client> &client,
                                 const ArrayType &type,
                                 std::shared_ptr<const char> elements);
/// The type of an array on one device.
ArrayType onOneDevice(DType type, Shape shape);

} // namespace meshloom::plugin
