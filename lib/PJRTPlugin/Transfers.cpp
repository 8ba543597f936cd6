// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transfers: buffers whose elements the host brings later, piece by piece, and
// raw bytes of buffers. ZML loads weights so. Programs may be called with such
// a buffer before its elements are there.
#include "BufferMemory.h"
#include "FunctionTable.h"
#include "MemoryLayouts.h"

#include "meshloom/Runtime/Plan/PlanClient.h"

#include <cstring>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Slot;

namespace {
/// A buffer of which elements are missing.
class IncompleteBuffer {
public:
  IncompleteBuffer(const ClientObject &client, MemoryObject &memory,
                   std::shared_ptr<const BufferType> type)
      : client(client.client), type(std::move(type)),
        arrayType(onOneDevice(this->type->element.storage,
                              this->type->order.inMemory(this->type->dims))),
        bytes(elementCount(this->type->dims) * this->type->element.width()),
        elements(allocateAligned(bytes)),
        blocks(std::make_shared<plan::BlockBuffer>(
            client.client, std::vector<plan::Block>(), bytes)) {
    std::memset(elements.get(), 0, size_t(bytes));
    buffer = std::make_unique<BufferObject>(
        memory, this->type,
        ArrayPart{std::make_shared<SharedArray>(
            SharedArray{Array(arrayType, blocks, done)})});
  }

  int64_t size() const { return bytes; }
  /// Null after the first call.
  std::unique_ptr<BufferObject> take() { return std::move(buffer); }

  Status write(const char *data, int64_t offset, int64_t count) {
    if (!elements)
      return Error("the buffer has got its last elements already",
                   ErrorCode::FAILED_PRECONDITION);
    if (offset < 0 || count < 0 || offset > bytes || count > bytes - offset)
      return Error(fmt::format("a transfer of {} bytes to byte {} does not fit "
                               "into a buffer of {}",
                               count, offset, bytes));
    if (count > 0)
      std::memcpy(elements.get() + offset, data, size_t(count));
    return Success();
  }

  /// Has the buffer as it is.
  Status complete() {
    normalize({elements.get(), size_t(bytes)}, type->element);
    auto array = arrayInPlace(client, arrayType, std::move(elements));
    if (!array) {
      done.fail(array.error());
      return array.error();
    }
    blocks->set(plan::BlockBuffer::of(array->array));
    done.complete();
    return Success();
  }

  void fail(Error error) {
    elements.reset();
    done.fail(std::move(error));
  }

private:
  const std::shared_ptr<Client> client;
  const std::shared_ptr<const BufferType> type;
  const ArrayType arrayType;
  const int64_t bytes;
  std::shared_ptr<char> elements; ///< null once they are complete
  const std::shared_ptr<plan::BlockBuffer> blocks;
  const Event done = Event::pending();
  std::unique_ptr<BufferObject> buffer;
};

/// The buffers of one call. Safe to use from any thread.
struct TransferObject : HandleObject<TransferObject> {
  static constexpr std::string_view kindName = "a transfer manager";
  explicit TransferObject(MemoryObject &memory) : memory(memory) {}
  ~TransferObject() {
    for (IncompleteBuffer &buffer : buffers)
      buffer.fail(Error("the transfer manager was destroyed before the buffer "
                        "got its last elements",
                        ErrorCode::CANCELLED));
  }

  /// Throws meshloom::Error where there is no such buffer.
  IncompleteBuffer &buffer(int32_t index) {
    if (index < 0 || size_t(index) >= buffers.size())
      Error(fmt::format("there is no buffer {}; the transfer manager has {}",
                        index, buffers.size()))
          .raise();
    return buffers[size_t(index)];
  }

  MemoryObject &memory;
  std::mutex mutex;
  std::vector<IncompleteBuffer> buffers;
};

/// The type of a buffer with these dims. Fails where there is none.
Result<std::shared_ptr<const BufferType>>
typeOf(int32_t number, std::span<const int64_t> dims, const void *layout) {
  auto element = checkedType(number, dims);
  if (!element)
    return element.error();
  auto order = orderOf(layout, dims, element->width());
  if (!order)
    return order.error();
  if (element->isToken)
    return Error("a token has no elements to transfer");
  return std::make_shared<const BufferType>(
      BufferType{*element, Shape(dims.begin(), dims.end()), *order});
}

Status checkClient(const ClientObject &client, const MemoryObject &memory) {
  return memory.device->client == &client
             ? Status(Success())
             : Error("a buffer's device is of a different client");
}

Status createBuffers(const Arguments &args) {
  using Args = capi::Client_CreateBuffersForAsyncHostToDevice_Args;
  using Spec = capi::ShapeSpec;
  const auto &client = args.object<ClientObject>(Args::client);
  auto &memory = args.object<MemoryObject>(Args::memory);
  if (Status right = checkClient(client, memory); !right)
    return right;
  const auto count = args.get<size_t>(Args::num_shape_specs);
  const auto layouts =
      args.list<const void *>(Args::device_layouts, Args::num_device_layouts);
  if (!layouts.empty() && layouts.size() != count)
    return Error(
        fmt::format("{} buffers have {} layouts", count, layouts.size()));
  // Structures, of which the first byte of each is meant here.
  const char *specs =
      args.list<char>(Args::shape_specs, Args::num_shape_specs).data();
  auto manager = std::make_unique<TransferObject>(memory);
  manager->buffers.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Arguments spec(const_cast<char *>(specs + i * Spec::stride),
                         Spec::stride);
    auto type = typeOf(spec.get<int32_t>(Spec::element_type),
                       spec.list<int64_t>(Spec::dims, Spec::num_dims),
                       layouts.empty() ? nullptr : layouts[i]);
    if (!type)
      return type.error();
    manager->buffers.emplace_back(client, memory, std::move(*type));
  }
  args.give(Args::transfer_manager, std::move(manager));
  return Success();
}

Status createUninitialized(const Arguments &args) {
  using Args = capi::Client_CreateUninitializedBuffer_Args;
  const auto &client = args.object<ClientObject>(Args::client);
  MemoryObject &memory = memoryOf<Args>(args);
  if (Status right = checkClient(client, memory); !right)
    return right;
  auto type = typeOf(args.get<int32_t>(Args::shape_element_type),
                     args.list<int64_t>(Args::shape_dims, Args::shape_num_dims),
                     args.get<const void *>(Args::shape_layout));
  if (!type)
    return type.error();
  IncompleteBuffer buffer(client, memory, std::move(*type));
  if (Status complete = buffer.complete(); !complete)
    return complete;
  args.give(Args::buffer, buffer.take());
  return Success();
}

Status destroy(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_Destroy_Args;
  args.owned<TransferObject>(Args::transfer_manager);
  return Success();
}

Status transferData(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_TransferData_Args;
  auto &manager = args.object<TransferObject>(Args::transfer_manager);
  const auto count = args.get<int64_t>(Args::transfer_size);
  const char *data = args.elements<const char>(
      Args::data, size_t(std::max<int64_t>(count, 0)));
  {
    std::lock_guard lock(manager.mutex);
    IncompleteBuffer &buffer =
        manager.buffer(args.get<int32_t>(Args::buffer_index));
    if (Status written =
            buffer.write(data, args.get<int64_t>(Args::offset), count);
        !written)
      return written;
    if (args.get<bool>(Args::is_last_transfer))
      if (Status complete = buffer.complete(); !complete)
        return complete;
  }
  args.give(Args::done_with_h2d_transfer,
            std::make_unique<EventObject>(Event()));
  return Success();
}

Status retrieveBuffer(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_RetrieveBuffer_Args;
  auto &manager = args.object<TransferObject>(Args::transfer_manager);
  const auto index = args.get<int32_t>(Args::buffer_index);
  std::lock_guard lock(manager.mutex);
  auto buffer = manager.buffer(index).take();
  if (!buffer)
    return Error(fmt::format("buffer {} has been retrieved already", index),
                 ErrorCode::FAILED_PRECONDITION);
  args.give(Args::buffer_out, std::move(buffer));
  return Success();
}

Status device(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_Device_Args;
  args.set(Args::device_out,
           args.object<TransferObject>(Args::transfer_manager).memory.device);
  return Success();
}

Status bufferCount(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_BufferCount_Args;
  args.set(Args::buffer_count,
           args.object<TransferObject>(Args::transfer_manager).buffers.size());
  return Success();
}

Status bufferSize(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_BufferSize_Args;
  auto &manager = args.object<TransferObject>(Args::transfer_manager);
  args.set(
      Args::buffer_size,
      size_t(manager.buffer(args.get<int32_t>(Args::buffer_index)).size()));
  return Success();
}

Status setBufferError(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_SetBufferError_Args;
  auto &manager = args.object<TransferObject>(Args::transfer_manager);
  const auto code = args.get<int32_t>(Args::error_code);
  constexpr auto first = int32_t(ErrorCode::CANCELLED),
                 last = int32_t(ErrorCode::DATA_LOSS);
  const Error error(
      std::string(args.text(Args::error_message, Args::error_message_size)),
      code >= first && code <= last ? ErrorCode(code) : ErrorCode::INTERNAL);
  std::lock_guard lock(manager.mutex);
  manager.buffer(args.get<int32_t>(Args::buffer_index)).fail(error);
  return Success();
}

/// Metadata is about transfers to devices that are elsewhere.
Status addMetadata(const Arguments &args) {
  using Args = capi::AsyncHostToDeviceTransferManager_AddMetadata_Args;
  args.object<TransferObject>(Args::transfer_manager);
  return Success();
}

/// Devices read the host's memory as it is.
Status mapMemory(const Arguments &args) {
  args.object<ClientObject>(capi::Client_DmaMap_Args::client);
  return Success();
}

Status unmapMemory(const Arguments &args) {
  args.object<ClientObject>(capi::Client_DmaUnmap_Args::client);
  return Success();
}

Status copyRawToHost(const Arguments &args) {
  using Args = capi::Buffer_CopyRawToHost_Args;
  auto &buffer = args.object<BufferObject>(Args::buffer);
  const auto offset = args.get<int64_t>(Args::offset),
             count = args.get<int64_t>(Args::transfer_size);
  if (offset < 0 || count < 0 || offset > buffer.bytes() ||
      count > buffer.bytes() - offset)
    return Error(fmt::format("a buffer of {} bytes has no {} bytes from byte "
                             "{} on",
                             buffer.bytes(), count, offset));
  char *to = args.elements<char>(Args::dst, size_t(count));
  auto part = buffer.part();
  if (!part)
    return part.error();
  const Event done = Event::pending();
  args.give(Args::event, std::make_unique<EventObject>(done));
  if (!part->whole || count == 0) {
    done.complete();
    return Success();
  }
  const Event ready = part->whole->array.event();
  ready.then([done, to, offset, count,
              part = std::move(*part)](const Status &outcome) {
    if (!outcome)
      return done.finish(outcome);
    auto elements = elementsOf(part);
    if (!elements)
      return done.fail(elements.error());
    std::memcpy(to, elements->get() + offset, size_t(count));
    done.complete();
  });
  return Success();
}
} // namespace

void plugin::addTransfers(FunctionTable &table) {
  table.set<createBuffers>(Slot::Client_CreateBuffersForAsyncHostToDevice);
  table.set<createUninitialized>(Slot::Client_CreateUninitializedBuffer);
  table.set<destroy>(Slot::AsyncHostToDeviceTransferManager_Destroy);
  table.set<transferData>(Slot::AsyncHostToDeviceTransferManager_TransferData);
  table.set<retrieveBuffer>(
      Slot::AsyncHostToDeviceTransferManager_RetrieveBuffer);
  table.set<device>(Slot::AsyncHostToDeviceTransferManager_Device);
  table.set<bufferCount>(Slot::AsyncHostToDeviceTransferManager_BufferCount);
  table.set<bufferSize>(Slot::AsyncHostToDeviceTransferManager_BufferSize);
  table.set<setBufferError>(
      Slot::AsyncHostToDeviceTransferManager_SetBufferError);
  table.set<addMetadata>(Slot::AsyncHostToDeviceTransferManager_AddMetadata);
  table.set<mapMemory>(Slot::Client_DmaMap);
  table.set<unmapMemory>(Slot::Client_DmaUnmap);
  table.set<copyRawToHost>(Slot::Buffer_CopyRawToHost);
}
