// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers: to and from memory of the host, without copies where the memory of
// an array can be the user's, or the user's that of an array.
#include "BufferMemory.h"
#include "FunctionTable.h"
#include "MemoryLayouts.h"

#include "meshloom/Core/TensorSize.h"
#include "meshloom/Runtime/Plan/Components.h"
#include "meshloom/Runtime/Plan/PlanClient.h"
#include "meshloom/Runtime/Plan/UserMemory.h"

#include <cstring>
#include <fmt/ranges.h>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plugin;
using capi::Slot;

namespace {
/// The alignment of arrays.
constexpr size_t alignment = 64;

bool isAligned(const void *data) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

Error removedError() {
  return Error("Buffer has been deleted or donated.");
}

/// The number of the first element of `box` in an array of the elements of
/// `memory` where its elements lie together, in order.
std::optional<int64_t> offsetIfTogether(const Box &memory, const Box &box) {
  int64_t offset = 0, stride = 1;
  bool isWhole = true; // all dims behind this one are
  for (size_t dim = memory.extent.size(); dim-- > 0;) {
    if (!isWhole && box.extent[dim] != 1)
      return std::nullopt;
    isWhole &= box.extent[dim] == memory.extent[dim];
    offset += (box.offset[dim] - memory.offset[dim]) * stride;
    stride *= memory.extent[dim];
  }
  return offset;
}

/// Elements in memory of the user.
struct UserElements {
  const char *data;
  int32_t typeNumber;
  std::span<const int64_t> extents;
  std::span<const int64_t> strides; ///< in bytes; empty: row-major

  int64_t bytes(const ElementType &element) const {
    return std::accumulate(extents.begin(), extents.end(), element.width(),
                           std::multiplies<int64_t>());
  }
};

/// The size from which an array lies in memory of the user: copying less takes
/// no longer than to say that the memory is no longer needed.
constexpr int64_t fewestBytesInPlace = 1 << 16;

/// Returns whether an array whose dims lie in `order` can have its elements
/// where they are.
bool canLieInPlace(const UserElements &elements, const ElementType &element,
                   const DimOrder &order) {
  const auto [data, typeNumber, extents, strides] = elements;
  const int64_t width = element.width();
  return data && isAligned(data) && !element.isToken &&
         element.unusedBits == 0 && element.storage != DType::I1 &&
         elements.bytes(element) >= fewestBytesInPlace &&
         (strides.empty() || strides.size() == extents.size()) &&
         order.inMemory(strides.empty()
                            ? rowMajorStrides(extents, width)
                            : Shape(strides.begin(), strides.end())) ==
             rowMajorStrides(order.inMemory(extents), width);
}

/// A copy of the user's elements, which lie in `order`.
std::shared_ptr<const char> copyOf(const UserElements &elements,
                                   const ElementType &element,
                                   const DimOrder &order) {
  const int64_t width = element.width();
  const auto [data, typeNumber, extents, strides] = elements;
  if (!strides.empty() && strides.size() != extents.size())
    Error(fmt::format("the elements of a buffer of {} dims have {} strides",
                      extents.size(), strides.size()))
        .raise();
  const int64_t bytes = elements.bytes(element);
  auto copy = allocateAligned(bytes);
  if (bytes == 0)
    return copy;
  if (!data)
    Error(fmt::format("expected {} bytes for a buffer, got a null pointer",
                      bytes))
        .raise();
  const std::vector<int64_t> sourceStrides =
      order.inMemory(strides.empty() ? rowMajorStrides(extents, width)
                                     : Shape(strides.begin(), strides.end()));
  const std::vector<int64_t> inMemory = order.inMemory(extents);
  copyStrided(copy.get(), data, inMemory, sourceStrides, width);
  normalize({copy.get(), size_t(bytes)}, element);
  return copy;
}

/// A buffer of the user's elements: `inPlace` where they are, or a copy where
/// that is null.
Result<std::unique_ptr<BufferObject>>
bufferOf(const ClientObject &client, MemoryObject &memory,
         const UserElements &elements, const ElementType &element,
         const DimOrder &order, std::shared_ptr<const char> inPlace = nullptr) {
  if (memory.device->client != &client)
    return Error("a buffer's device is of a different client");
  const Shape shape(elements.extents.begin(), elements.extents.end());
  ArrayPart part;
  if (!element.isToken) {
    auto array = arrayInPlace(
        client.client, onOneDevice(element.storage, order.inMemory(shape)),
        inPlace ? std::move(inPlace) : copyOf(elements, element, order));
    if (!array)
      return array.error();
    part.whole = std::make_shared<SharedArray>(std::move(*array));
  }
  return std::make_unique<BufferObject>(
      memory,
      std::make_shared<const BufferType>(BufferType{element, shape, order}),
      std::move(part));
}

Status fromHost(const Arguments &args) {
  using Args = capi::Client_BufferFromHostBuffer_Args;
  const UserElements elements{
      args.get<const char *>(Args::data), args.get<int32_t>(Args::type),
      args.list<int64_t>(Args::dims, Args::num_dims),
      args.list<int64_t>(Args::byte_strides, Args::num_byte_strides)};
  MemoryObject &memory = memoryOf<Args>(args);
  auto element = checkedType(elements.typeNumber, elements.extents);
  if (!element)
    return element.error();
  const auto order = orderOf(args.get<const void *>(Args::device_layout),
                             elements.extents, element->width());
  if (!order)
    return order.error();
  Event done;
  std::shared_ptr<const char> inPlace;
  if (args.get<capi::HostBufferSemantics>(Args::host_buffer_semantics) ==
          capi::HostBufferSemantics::ZeroCopy &&
      canLieInPlace(elements, *element, *order)) {
    done = Event::pending();
    inPlace =
        plan::UserMemory::block(elements.data, [done] { done.complete(); });
  }
  auto buffer = bufferOf(args.object<ClientObject>(Args::client), memory,
                         elements, *element, *order, std::move(inPlace));
  if (!buffer)
    return buffer.error();
  args.give(Args::done_with_host_buffer, std::make_unique<EventObject>(done));
  args.give(Args::buffer, std::move(*buffer));
  return Success();
}

/// A buffer about memory of the user, as DLPack hands over. It is a copy, so
/// that the memory is not needed afterwards. Callers copy memory that is
/// refused here by themselves.
Status viewOfUserMemory(const Arguments &args) {
  using Args = capi::Client_CreateViewOfDeviceBuffer_Args;
  UserElements elements{args.get<const char *>(Args::device_buffer_ptr),
                        args.get<int32_t>(Args::element_type),
                        args.list<int64_t>(Args::dims, Args::num_dims),
                        {}};
  if (!isAligned(elements.data))
    return Error(fmt::format("memory that becomes a buffer is not aligned to "
                             "{} bytes",
                             alignment));
  MemoryObject &memory = memoryOf<Args>(args);
  auto element = checkedType(elements.typeNumber, elements.extents);
  if (!element)
    return element.error();
  const auto strides = stridesOf(args.get<const void *>(Args::layout),
                                 elements.extents, element->width());
  if (!strides)
    return strides.error();
  elements.strides = *strides;
  auto buffer =
      bufferOf(args.object<ClientObject>(Args::client), memory, elements,
               *element, DimOrder::rowMajor(elements.extents.size()));
  if (!buffer)
    return buffer.error();
  args.give(Args::buffer, std::move(*buffer));
  using Done = void (*)(void *memory, void *argument);
  if (const auto done = args.get<Done>(Args::on_delete_callback))
    done(args.get<void *>(Args::device_buffer_ptr),
         args.get<void *>(Args::on_delete_callback_arg));
  return Success();
}

Status destroy(const Arguments &args) {
  args.owned<BufferObject>(capi::Buffer_Destroy_Args::buffer);
  return Success();
}

Status elementType(const Arguments &args) {
  using Args = capi::Buffer_ElementType_Args;
  args.set(Args::type, args.object<BufferObject>(Args::buffer).element().code);
  return Success();
}

Status dimensions(const Arguments &args) {
  using Args = capi::Buffer_Dimensions_Args;
  const Shape &dims = args.object<BufferObject>(Args::buffer).dims();
  args.set(Args::dims, dims.data());
  args.set(Args::num_dims, dims.size());
  return Success();
}

Status unpaddedDimensions(const Arguments &args) {
  using Args = capi::Buffer_UnpaddedDimensions_Args;
  const Shape &dims = args.object<BufferObject>(Args::buffer).dims();
  args.set(Args::unpadded_dims, dims.data());
  args.set(Args::num_dims, dims.size());
  return Success();
}

Status dynamicDimensions(const Arguments &args) {
  using Args = capi::Buffer_DynamicDimensionIndices_Args;
  args.set<const size_t *>(Args::dynamic_dim_indices, nullptr);
  args.set<size_t>(Args::num_dynamic_dims, 0);
  return Success();
}

Status size(const Arguments &args) {
  using Args = capi::Buffer_OnDeviceSizeInBytes_Args;
  args.set(Args::on_device_size_in_bytes,
           size_t(args.object<BufferObject>(Args::buffer).bytes()));
  return Success();
}

Status device(const Arguments &args) {
  using Args = capi::Buffer_Device_Args;
  args.set(Args::device, &args.object<BufferObject>(Args::buffer).device());
  return Success();
}

Status memory(const Arguments &args) {
  using Args = capi::Buffer_Memory_Args;
  args.set(Args::memory, &args.object<BufferObject>(Args::buffer).memory());
  return Success();
}

Status remove(const Arguments &args) {
  args.object<BufferObject>(capi::Buffer_Delete_Args::buffer).remove();
  return Success();
}

Status isRemoved(const Arguments &args) {
  using Args = capi::Buffer_IsDeleted_Args;
  args.set(Args::is_deleted,
           args.object<BufferObject>(Args::buffer).isRemoved());
  return Success();
}

/// Buffers of different devices are views of one array.
Result<std::unique_ptr<BufferObject>> copyInto(MemoryObject &memory,
                                               const BufferObject &buffer) {
  auto part = buffer.part();
  if (!part)
    return part.error();
  return std::make_unique<BufferObject>(memory, buffer.type(),
                                        std::move(*part));
}

Status copyToDevice(const Arguments &args) {
  using Args = capi::Buffer_CopyToDevice_Args;
  const auto &device = args.object<DeviceObject>(Args::dst_device);
  auto copy =
      copyInto(device.defaultMemory(), args.object<BufferObject>(Args::buffer));
  if (copy)
    args.give(Args::dst_buffer, std::move(*copy));
  return copy ? Status(Success()) : copy.error();
}

Status copyToMemory(const Arguments &args) {
  using Args = capi::Buffer_CopyToMemory_Args;
  auto copy = copyInto(args.object<MemoryObject>(Args::dst_memory),
                       args.object<BufferObject>(Args::buffer));
  if (copy)
    args.give(Args::dst_buffer, std::move(*copy));
  return copy ? Status(Success()) : copy.error();
}

Status toHost(const Arguments &args) {
  using Args = capi::Buffer_ToHostBuffer_Args;
  auto &buffer = args.object<BufferObject>(Args::src);
  const int64_t bytes = buffer.bytes();
  if (!args.has(Args::dst)) {
    args.set(Args::dst_size, size_t(bytes));
    return Success();
  }
  const int64_t width = buffer.element().width();
  const auto order =
      orderOf(args.get<const void *>(Args::host_layout), buffer.dims(), width);
  if (!order)
    return order.error();
  if (args.get<size_t>(Args::dst_size) < size_t(bytes))
    return Error(fmt::format("a buffer of {} bytes does not fit into {}", bytes,
                             args.get<size_t>(Args::dst_size)));
  auto part = buffer.part();
  if (!part)
    return part.error();
  const Event done = Event::pending();
  args.give(Args::event, std::make_unique<EventObject>(done));
  if (!part->whole) {
    done.complete();
    return Success();
  }
  const Event ready = part->whole->array.event();
  const std::vector<int64_t> extents = order->inMemory(buffer.dims()),
                             strides = order->inMemory(
                                 buffer.order().ofValue(rowMajorStrides(
                                     buffer.dimsInMemory(), width)));
  ready.then([done, bytes, width, extents, strides, part = std::move(*part),
              to = args.get<char *>(Args::dst)](const Status &outcome) {
    if (!outcome)
      return done.finish(outcome);
    auto elements = elementsOf(part);
    if (!elements)
      return done.fail(elements.error());
    if (bytes > 0)
      copyStrided(to, elements->get(), extents, strides, width);
    done.complete();
  });
  return Success();
}

Status isOnCpu(const Arguments &args) {
  args.set(capi::Buffer_IsOnCpu_Args::is_on_cpu, true);
  return Success();
}

Status readyEvent(const Arguments &args) {
  using Args = capi::Buffer_ReadyEvent_Args;
  auto part = args.object<BufferObject>(Args::buffer).part();
  if (!part)
    return part.error();
  args.give(Args::event,
            std::make_unique<EventObject>(
                part->whole ? part->whole->array.event() : Event()));
  return Success();
}

Status pointer(const Arguments &args) {
  using Args = capi::Buffer_UnsafePointer_Args;
  auto elements = args.object<BufferObject>(Args::buffer).elementsAlone();
  if (elements)
    args.set(Args::buffer_pointer,
             reinterpret_cast<uintptr_t>(elements->get()));
  return elements ? Status(Success()) : elements.error();
}

Status opaquePointer(const Arguments &args) {
  using Args = capi::Buffer_OpaqueDeviceMemoryDataPointer_Args;
  auto elements = args.object<BufferObject>(Args::buffer).elements();
  if (elements)
    args.set(Args::device_memory_ptr, elements->get());
  return elements ? Status(Success()) : elements.error();
}

Status addReference(const Arguments &args) {
  using Args = capi::Buffer_IncreaseExternalReferenceCount_Args;
  args.object<BufferObject>(Args::buffer).addReference();
  return Success();
}

Status dropReference(const Arguments &args) {
  using Args = capi::Buffer_DecreaseExternalReferenceCount_Args;
  args.object<BufferObject>(Args::buffer).dropReference();
  return Success();
}
} // namespace

//===----------------------------------------------------------------------===//
// Arrays and their memory
//===----------------------------------------------------------------------===//

std::shared_ptr<char> plugin::allocateAligned(int64_t bytes) {
  const size_t size = (size_t(std::max<int64_t>(bytes, 1)) + alignment - 1) /
                      alignment * alignment;
  auto *memory = static_cast<char *>(std::aligned_alloc(alignment, size));
  if (!memory)
    Error(fmt::format("there is no memory for a buffer of {} bytes", bytes),
          ErrorCode::RESOURCE_EXHAUSTED)
        .raise();
  return {memory, std::free};
}

void plugin::normalize(std::span<char> bytes, const ElementType &element) {
  if (element.storage == DType::I1)
    for (char &byte : bytes)
      byte = char(byte != 0);
  const unsigned unused = element.unusedBits;
  if (unused == 0)
    return;
  for (char &byte : bytes) {
    const auto high = uint8_t(uint8_t(byte) << unused);
    byte = element.storage == DType::I8 ? char(int8_t(high) >> unused)
                                        : char(high >> unused);
  }
}

Result<ElementType> plugin::checkedType(int32_t number,
                                        std::span<const int64_t> extents) {
  const auto element = elementTypeOf(number);
  if (!element)
    return Error(fmt::format("buffers of the element type number {} are not "
                             "supported",
                             number),
                 ErrorCode::UNIMPLEMENTED);
  for (int64_t extent : extents)
    if (extent < 0)
      return Error(fmt::format("a dim of a buffer has the extent {}", extent));
  if (!element->isToken &&
      !tensorBytes(Shape(extents.begin(), extents.end()), element->storage))
    return Error("a buffer has more bytes than any machine has");
  return *element;
}

ArrayType plugin::onOneDevice(DType type, Shape shape) {
  // The mesh of programs that name none: they take the array as it is.
  static const Mesh &mesh = *new Mesh(*Mesh::get({{"d", 1}}));
  static const auto &layouts = [] -> const std::vector<Layout> & {
    auto &ofRanks = *new std::vector<Layout>;
    constexpr unsigned usualRanks = 8;
    for (unsigned rank = 0; rank < usualRanks; ++rank)
      ofRanks.push_back(Layout::replicated(mesh, rank));
    return ofRanks;
  }();
  const size_t rank = shape.size();
  return {type, std::move(shape),
          rank < layouts.size() ? layouts[rank]
                                : Layout::replicated(mesh, unsigned(rank))};
}

Result<std::shared_ptr<const char>> plugin::elementsOf(const ArrayPart &part) {
  const Array &array = part.whole->array;
  if (Status done = array.wait(); !done)
    return done.error();
  const auto *client =
      dynamic_cast<const plan::PlanClient *>(array.client().get());
  if (client && client->sharesMemory() && !array.layout().is_partial() &&
      elementCount(array.shape()) > 0) {
    const Box memory =
        plan::sharedBox(array.type(), array.layout().mesh().local_indices());
    if (auto offset = offsetIfTogether(memory, part.box())) {
      const plan::Block &block = plan::BlockBuffer::of(array).front();
      return std::shared_ptr<const char>(
          block, block.get() + *offset * byteWidth(array.dtype()));
    }
  }
  auto component = array.component(part.index);
  if (!component)
    return component.error();
  auto copy = allocateAligned(int64_t(component->bytes.size()));
  if (!component->bytes.empty())
    std::memcpy(copy.get(), component->bytes.data(), component->bytes.size());
  return std::shared_ptr<const char>(std::move(copy));
}

Result<SharedArray> plugin::arrayInPlace(const std::shared_ptr<Client> &client,
                                         const ArrayType &type,
                                         std::shared_ptr<const char> elements) {
  const Box box =
      type.layout.shard(type.shape, type.layout.mesh().local_indices().front());
  const int64_t bytes = box.count() * byteWidth(type.dtype);
  const auto *plan = dynamic_cast<const plan::PlanClient *>(client.get());
  if (plan && plan->sharesMemory() && bytes > 0 && isAligned(elements.get())) {
    plan::Block block = std::const_pointer_cast<char>(std::move(elements));
    return SharedArray{Array(
        type, std::make_shared<plan::BlockBuffer>(
                  client, std::vector<plan::Block>{std::move(block)}, bytes))};
  }
  const Component component{box.extent, {elements.get(), size_t(bytes)}};
  auto array = Array::fromComponents(client, type, {&component, 1});
  if (!array)
    return array.error();
  return SharedArray{std::move(*array)};
}

std::shared_ptr<const void> ClaimedAddresses::claim(const char *address) {
  std::lock_guard lock(mutex);
  if (!addresses.insert(address).second)
    return nullptr;
  return {address, [owner = shared_from_this()](const char *held) {
            std::lock_guard lock(owner->mutex);
            owner->addresses.erase(held);
          }};
}

BufferObject::BufferObject(MemoryObject &memory,
                           std::shared_ptr<const BufferType> type,
                           ArrayPart part)
    : place(memory), bufferType(std::move(type)), current(std::move(part)) {}

Result<ArrayPart> BufferObject::part() const {
  std::lock_guard lock(mutex);
  if (removed)
    return removedError();
  return current;
}

void BufferObject::replacePart(ArrayPart equal) {
  std::lock_guard lock(mutex);
  if (!removed)
    current = std::move(equal);
}

void BufferObject::remove() {
  std::lock_guard lock(mutex);
  removed = true;
  current = {};
  if (references == 0)
    hideElements();
}

void BufferObject::hideElements() {
  view.reset();
  claim.reset();
}

bool BufferObject::isRemoved() const {
  std::lock_guard lock(mutex);
  return removed;
}

Result<std::shared_ptr<const char>> BufferObject::elements() {
  ArrayPart source;
  {
    std::lock_guard lock(mutex);
    if (view && (!removed || references > 0))
      return view;
    if (removed)
      return removedError();
    source = current;
  }
  if (!source.whole)
    return Error("a token has no elements");
  auto found = elementsOf(source); // may wait
  if (!found)
    return found;
  std::lock_guard lock(mutex);
  if (!view)
    view = *found;
  return view;
}

Result<std::shared_ptr<const char>> BufferObject::elementsAlone() {
  auto found = elements();
  if (!found || bytes() == 0)
    return found;
  const ClientObject &client = *place.device->client;
  std::lock_guard lock(mutex);
  if (!claim && !removed)
    claim = client.addresses->claim(found->get());
  if (claim || removed)
    return found;
  auto copy = allocateAligned(bytes());
  std::memcpy(copy.get(), found->get(), size_t(bytes()));
  auto array = arrayInPlace(
      client.client, onOneDevice(element().storage, dimsInMemory()), copy);
  if (!array)
    return array.error();
  current = {std::make_shared<SharedArray>(std::move(*array)), 0};
  // The new view keeps the memory that NumPy may see.
  const auto both = std::make_shared<
      std::pair<std::shared_ptr<char>, std::shared_ptr<const char>>>(copy,
                                                                     view);
  view = {both, copy.get()};
  claim = client.addresses->claim(view.get());
  return view;
}

void BufferObject::addReference() {
  std::lock_guard lock(mutex);
  ++references;
}

void BufferObject::dropReference() {
  std::lock_guard lock(mutex);
  if (--references == 0 && removed)
    hideElements();
}

void plugin::addBuffers(FunctionTable &table) {
  table.set<fromHost>(Slot::Client_BufferFromHostBuffer);
  table.set<viewOfUserMemory>(Slot::Client_CreateViewOfDeviceBuffer);
  table.set<destroy>(Slot::Buffer_Destroy);
  table.set<elementType>(Slot::Buffer_ElementType);
  table.set<dimensions>(Slot::Buffer_Dimensions);
  table.set<unpaddedDimensions>(Slot::Buffer_UnpaddedDimensions);
  table.set<dynamicDimensions>(Slot::Buffer_DynamicDimensionIndices);
  table.set<size>(Slot::Buffer_OnDeviceSizeInBytes);
  table.set<device>(Slot::Buffer_Device);
  table.set<memory>(Slot::Buffer_Memory);
  table.set<remove>(Slot::Buffer_Delete);
  table.set<isRemoved>(Slot::Buffer_IsDeleted);
  table.set<copyToDevice>(Slot::Buffer_CopyToDevice);
  table.set<copyToMemory>(Slot::Buffer_CopyToMemory);
  table.set<toHost>(Slot::Buffer_ToHostBuffer);
  table.set<isOnCpu>(Slot::Buffer_IsOnCpu);
  table.set<readyEvent>(Slot::Buffer_ReadyEvent);
  table.set<pointer>(Slot::Buffer_UnsafePointer);
  table.set<opaquePointer>(Slot::Buffer_OpaqueDeviceMemoryDataPointer);
  table.set<addReference>(Slot::Buffer_IncreaseExternalReferenceCount);
  table.set<dropReference>(Slot::Buffer_DecreaseExternalReferenceCount);
}
