// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames of fields, see Messages.h.
#include "Messages.h"

#include "meshloom/API/HostTensor.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace meshloom::detail::ps {

static constexpr std::string_view magic = "MLPS";
static constexpr uint32_t version = 2;
/// No tensor has more dims.
static constexpr uint64_t mostDims = 64;
static_assert(std::endian::native == std::endian::little,
              "frames are little endian; add byte swaps for this machine");

[[noreturn]] static void refuse(std::string_view message) {
  Error(fmt::format("[Server] expected a message of Meshloom, got {}: the "
                    "caller is a different program, or a different version",
                    message))
      .raise();
}

MessageWriter::MessageWriter() {
  pending = magic;
  pending.append(reinterpret_cast<const char *>(&version), sizeof(version));
}

void MessageWriter::put(uint64_t number) {
  pending.append(reinterpret_cast<const char *>(&number), sizeof(number));
}

void MessageWriter::put(std::string_view text) {
  put(uint64_t(text.size()));
  pending.append(text);
}

void MessageWriter::put(const Tensor &tensor) {
  put(name(tensor.dtype()));
  put(uint64_t(tensor.shape().size()));
  for (int64_t extent : tensor.shape())
    put(uint64_t(extent));
  flush();
  auto *bytes = new std::vector<char>(bytesOf(tensor, "Server"));
  slices.emplace_back(
      bytes->data(), bytes->size(),
      [](void *owner) { delete static_cast<std::vector<char> *>(owner); },
      bytes);
}

void MessageWriter::flush() {
  if (!pending.empty())
    slices.emplace_back(pending);
  pending.clear();
}

grpc::ByteBuffer MessageWriter::finish() {
  flush();
  grpc::ByteBuffer frame(slices.data(), slices.size());
  slices.clear();
  return frame;
}

MessageReader::MessageReader(const grpc::ByteBuffer &frame) {
  if (!frame.Valid() || !frame.Dump(&slices).ok())
    refuse("nothing that can be read");
  remaining = frame.Length();
  char word[magic.size()];
  read(word, sizeof(word));
  if (std::string_view(word, sizeof(word)) != magic)
    refuse("one with a different beginning");
  uint32_t its = 0;
  read(reinterpret_cast<char *>(&its), sizeof(its));
  if (its != version)
    refuse(fmt::format("one of version {}", its));
}

void MessageReader::read(char *to, uint64_t size) {
  if (size > remaining)
    refuse(fmt::format("one that ends {} bytes too early", size - remaining));
  remaining -= size;
  while (size > 0) {
    const grpc::Slice &now = slices[slice];
    const size_t part = std::min<uint64_t>(size, now.size() - offset);
    if (part > 0)
      std::memcpy(to, now.begin() + offset, part);
    to += part;
    size -= part;
    offset += part;
    if (offset == now.size()) {
      ++slice;
      offset = 0;
    }
  }
}

uint64_t MessageReader::number() {
  uint64_t number = 0;
  read(reinterpret_cast<char *>(&number), sizeof(number));
  return number;
}

uint64_t MessageReader::number(uint64_t bound, std::string_view role) {
  const uint64_t value = number();
  if (value >= bound)
    refuse(fmt::format("one with {} as {}, of which there are {}", value, role,
                       bound));
  return value;
}

size_t MessageReader::count() {
  const uint64_t count = number();
  if (count > remaining / sizeof(uint64_t))
    refuse(fmt::format("one that should have {} fields more and has {} bytes "
                       "more",
                       count, remaining));
  return size_t(count);
}

std::string MessageReader::text() {
  const uint64_t size = number();
  if (size > remaining)
    refuse(fmt::format("one with a text of {} bytes, of which {} are there",
                       size, remaining));
  std::string text(size_t(size), '\0');
  read(text.data(), size);
  return text;
}

DType MessageReader::dtype() {
  const std::optional<DType> type = parseDType(text());
  if (!type)
    refuse("one with a tensor of no known type");
  return *type;
}

Shape MessageReader::shape() {
  const uint64_t rank = number();
  if (rank > mostDims || rank > remaining / sizeof(uint64_t))
    refuse(fmt::format("one with a tensor of {} dims", rank));
  Shape shape;
  shape.reserve(size_t(rank));
  for (uint64_t dim = 0; dim < rank; ++dim) {
    const uint64_t extent = number();
    if (extent > uint64_t(std::numeric_limits<int64_t>::max()))
      refuse("one with a tensor of a negative extent");
    shape.push_back(int64_t(extent));
  }
  return shape;
}

Tensor MessageReader::tensor() {
  const DType type = dtype();
  const Shape shape = this->shape();
  // A product that does not fit is the largest number there is.
  const auto elements = uint64_t(elementCount(shape));
  const uint64_t width = byteWidth(type);
  if (elements > remaining / width)
    refuse(fmt::format("one with a tensor of {} elements, for which there are "
                       "{} bytes",
                       elements, remaining));
  // Without another copy where it lies in one piece.
  const uint64_t size = elements * width;
  if (slice < slices.size() && size <= slices[slice].size() - offset) {
    const auto *begin =
        reinterpret_cast<const char *>(slices[slice].begin()) + offset;
    Tensor whole = hostTensor(type, shape, {begin, size_t(size)});
    remaining -= size;
    offset += size_t(size);
    if (offset == slices[slice].size()) {
      ++slice;
      offset = 0;
    }
    return whole;
  }
  std::vector<char> bytes(static_cast<size_t>(size));
  read(bytes.data(), size);
  return hostTensor(type, shape, bytes);
}

void MessageReader::end() const {
  if (remaining > 0)
    refuse(fmt::format("one with {} bytes too many", remaining));
}

} // namespace meshloom::detail::ps
