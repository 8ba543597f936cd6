// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Headers are checked before anything is allocated by them: a damaged file must
// not ask for terabytes.
#include "IdxFormat.h"

#include "meshloom/Core/Result.h"
#include "meshloom/Support/FileKind.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

namespace meshloom::data {

namespace {
/// IDX's code of an element type: the third byte of a file.
struct TypeCode {
  uint8_t code;
  DType type;
};
constexpr TypeCode typeCodes[] = {{0x08, DType::UI8},
                                  {0x09, DType::I8},
                                  {0x0C, DType::I32},
                                  {0x0D, DType::F32},
                                  {0x0E, DType::F64}};

Error idxError(std::string_view name, std::string_view why,
               ErrorCode code = ErrorCode::INVALID_ARGUMENT) {
  return Error(fmt::format("[read_idx] '{}' {}", name, why), code);
}

struct Header {
  DType type;
  Shape shape;
  size_t size; ///< of the header itself, bytes
  size_t dataBytes;
};

/// Extents are 32 bits and there are at most 255 of them, so a product can
/// overflow; anything above this is taken as damage.
constexpr uint64_t maxBytes = uint64_t(1) << 40;

Header parseHeader(std::string_view bytes, std::string_view name) {
  auto byte = [&](size_t i) { return uint8_t(bytes[i]); };
  if (bytes.size() < 4 || byte(0) || byte(1))
    idxError(name, "is not an IDX file: it does not begin with two zero "
                   "bytes, a type and a number of dims" +
                       kindHint(bytes))
        .raise();
  auto code = std::find_if(std::begin(typeCodes), std::end(typeCodes),
                           [&](TypeCode c) { return c.code == byte(2); });
  if (code == std::end(typeCodes))
    idxError(name, byte(2) == 0x0B
                       ? "has 16-bit elements, which are not supported; "
                         "convert it to 32-bit integers"
                       : fmt::format("is not an IDX file: its element "
                                     "type {:#04x} is not one of IDX's",
                                     byte(2)))
        .raise();
  size_t rank = byte(3);
  Header header{code->type, {}, 4 + 4 * rank, byteWidth(code->type)};
  if (bytes.size() < header.size)
    idxError(name,
             fmt::format("is truncated: its header says {} dims, "
                         "but it ends after {} bytes",
                         rank, bytes.size()),
             ErrorCode::DATA_LOSS)
        .raise();
  uint64_t count = 1;
  bool empty = false, huge = false;
  for (size_t d = 0; d < rank; ++d) {
    uint64_t extent = 0;
    for (size_t i = 0; i < 4; ++i)
      extent = extent << 8 | byte(4 + 4 * d + i);
    header.shape.push_back(int64_t(extent));
    empty |= extent == 0;
    huge |= extent && count > maxBytes / extent;
    if (!huge)
      count *= extent;
  }
  if (huge && !empty)
    idxError(name,
             fmt::format("is damaged: the shape in its header is [{}]",
                         fmt::join(header.shape, ", ")),
             ErrorCode::DATA_LOSS)
        .raise();
  header.dataBytes *= empty ? 0 : count;
  return header;
}

/// Unpacks gzip data, of one member or several, but no more than the IDX
/// header in them says there is (plus one byte, to see that there is more).
class Inflater {
public:
  Inflater(std::string_view packed, std::string_view name) : name(name) {
    // 15: the largest window; 16: a gzip wrapper.
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
      idxError(name, "cannot be unpacked: zlib has no memory").raise();
    stream.next_in =
        reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    remaining = packed.size();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater &) = delete;
  Inflater &operator=(const Inflater &) = delete;

  std::string run() {
    size_t limit = 4 + 4 * 255;
    grow(limit);
    if (out.size() >= 4) {
      size_t header = 4 + 4 * size_t(uint8_t(out[3]));
      if (out.size() >= header) {
        Header parsed = parseHeader(out, name);
        grow(parsed.size + parsed.dataBytes + 1);
      }
    }
    return std::move(out);
  }

private:
  void grow(size_t limit) {
    char buffer[1 << 16];
    while (out.size() < limit && !ended) {
      stream.avail_in = uInt(std::min<size_t>(remaining, 1u << 30));
      size_t available = stream.avail_in;
      stream.next_out = reinterpret_cast<Bytef *>(buffer);
      stream.avail_out = uInt(std::min(sizeof buffer, limit - out.size()));
      size_t room = stream.avail_out;
      int status = inflate(&stream, Z_NO_FLUSH);
      remaining -= available - stream.avail_in;
      out.append(buffer, room - stream.avail_out);
      if (status == Z_STREAM_END) {
        if (remaining == 0)
          ended = true;
        else
          inflateReset(&stream);
      } else if (status == Z_BUF_ERROR ||
                 (status == Z_OK && !remaining && stream.avail_out)) {
        idxError(name, "is truncated: its gzip data end early",
                 ErrorCode::DATA_LOSS)
            .raise();
      } else if (status != Z_OK) {
        idxError(name,
                 fmt::format("is damaged: its gzip data are "
                             "corrupt ({})",
                             stream.msg ? stream.msg : "zlib"),
                 ErrorCode::DATA_LOSS)
            .raise();
      }
    }
  }

  std::string_view name;
  z_stream stream{};
  size_t remaining = 0;
  bool ended = false;
  std::string out;
};

/// Between big endian and this machine's order, in place.
void swapToHost(std::vector<char> &bytes, size_t width) {
  if (std::endian::native == std::endian::big || width == 1)
    return;
  for (size_t offset = 0; offset + width <= bytes.size(); offset += width)
    std::reverse(bytes.begin() + offset, bytes.begin() + offset + width);
}
} // namespace

IdxArray parseIdx(std::string_view bytes, std::string_view name) {
  std::string unpacked;
  if (bytes.starts_with("\x1f\x8b")) {
    unpacked = Inflater(bytes, name).run();
    bytes = unpacked;
  }
  Header header = parseHeader(bytes, name);
  std::string_view data = bytes.substr(header.size);
  if (data.size() != header.dataBytes)
    idxError(name,
             fmt::format("is {}: its header says {} elements of {} (shape "
                         "[{}], {} bytes), but {} {} bytes",
                         data.size() < header.dataBytes ? "truncated"
                                                        : "mislabelled",
                         header.dataBytes / byteWidth(header.type),
                         meshloom::name(header.type),
                         fmt::join(header.shape, ", "), header.dataBytes,
                         data.size() < header.dataBytes ? "there are only"
                                                        : "there are at least",
                         data.size()))
        .raise();
  IdxArray array{header.type, std::move(header.shape),
                 std::vector<char>(data.begin(), data.end())};
  swapToHost(array.bytes, byteWidth(array.type));
  return array;
}

std::string bytesOfIdx(const IdxArray &array, std::string_view name) {
  auto code = std::find_if(std::begin(typeCodes), std::end(typeCodes),
                           [&](TypeCode c) { return c.type == array.type; });
  auto fail = [&](std::string_view why) {
    return Error(fmt::format("[write_idx] '{}': {}", name, why));
  };
  if (code == std::end(typeCodes))
    fail(fmt::format("IDX has no element type for {}; use ui8, i8, i32, "
                     "f32 or f64",
                     meshloom::name(array.type)))
        .raise();
  if (array.shape.size() > 255)
    fail("IDX holds at most 255 dims").raise();
  std::string file{0, 0, char(code->code), char(array.shape.size())};
  for (int64_t extent : array.shape) {
    if (extent < 0 || extent > int64_t(UINT32_MAX))
      fail(fmt::format("extent {} does not fit IDX's 32 bits", extent)).raise();
    for (int shift = 24; shift >= 0; shift -= 8)
      file.push_back(char(extent >> shift));
  }
  size_t width = byteWidth(array.type);
  if (array.bytes.size() != size_t(elementCount(array.shape)) * width)
    fail(fmt::format("shape [{}] of {} takes {} bytes, but {} are given",
                     fmt::join(array.shape, ", "), meshloom::name(array.type),
                     size_t(elementCount(array.shape)) * width,
                     array.bytes.size()))
        .raise();
  std::vector<char> data = array.bytes;
  swapToHost(data, width);
  file.append(data.begin(), data.end());
  return file;
}

} // namespace meshloom::data
