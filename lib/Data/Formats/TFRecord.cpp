// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TFRecord files: a record is its length (8 bytes, little endian), the masked
// checksum of that, the bytes, and their masked checksum.
#include "meshloom/Data/TFRecord.h"

#include "../ByteReader.h"
#include "meshloom/Core/SystemError.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace meshloom::data {

namespace {
/// Tables of CRC-32C (Castagnoli's polynomial, reflected) for eight bytes at a
/// time: tables[k][b] is the checksum of byte b with k zero bytes behind it.
using Tables = std::array<std::array<uint32_t, 256>, 8>;
constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    tables[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k)
    for (size_t b = 0; b < 256; ++b)
      tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xFF];
  return tables;
}
constexpr Tables tables = makeTables();

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  auto byteAt = [&](size_t i) { return uint8_t(bytes[i]); };
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint32_t low = crc;
    crc = 0;
    for (size_t k = 0; k < 4; ++k)
      crc ^= tables[7 - k][(low >> (8 * k) & 0xFF) ^ byteAt(i + k)] ^
             tables[3 - k][byteAt(i + 4 + k)];
  }
  for (; i < bytes.size(); ++i)
    crc = crc >> 8 ^ tables[0][(crc & 0xFF) ^ byteAt(i)];
  return ~crc;
}

template <typename T> void append(std::string &to, T number) {
  for (size_t i = 0; i < sizeof(T); ++i)
    to.push_back(char(number >> (8 * i)));
}
template <typename T> T numberIn(const char *bytes) {
  T number = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    number |= T(uint8_t(bytes[i])) << (8 * i);
  return number;
}

constexpr size_t headerBytes = 12;
bool isHeader(const char *bytes) {
  return masked_crc32c({bytes, 8}) == numberIn<uint32_t>(bytes + 8);
}
/// A record's length may look like gzip's first bytes.
bool isPackedRecords(std::string_view first) {
  return detail::beginsAsGzip(first) &&
         !(first.size() == headerBytes && isHeader(first.data()));
}

class Records : public detail::FileElements {
public:
  Records(const std::string &path, Compression compression)
      : path(path), reader(path, compression, isPackedRecords) {}
  std::optional<detail::Element> next() override {
    const uint64_t begin = reader.offset();
    auto damaged = [&](const std::string &why) {
      return Error(
          fmt::format("'{}': the record at byte {} {}", path, begin, why),
          ErrorCode::DATA_LOSS);
    };
    char header[headerBytes];
    const size_t got = reader.read(header, headerBytes);
    if (got == 0)
      return std::nullopt;
    if (got < headerBytes)
      damaged("is cut off in its header" + (begin == 0 ? reader.hint() : ""))
          .raise();
    if (!isHeader(header))
      damaged("is corrupt, or the file is not a TFRecord file: the checksum of "
              "its length is wrong" +
              (begin == 0 ? reader.hint() : ""))
          .raise();
    const auto length = numberIn<uint64_t>(header);
    std::string record;
    // In pieces: a length that is wrong all the same asks for no more memory
    // than there are bytes.
    constexpr uint64_t piece = uint64_t(1) << 24;
    while (record.size() < length) {
      const size_t before = record.size();
      record.resize(size_t(std::min(length, before + piece)));
      const size_t part =
          reader.read(record.data() + before, record.size() - before);
      if (before + part < record.size())
        damaged(fmt::format("is cut off: it has {} of {} bytes", before + part,
                            length))
            .raise();
    }
    char sum[4];
    if (reader.read(sum, sizeof sum) < sizeof sum)
      damaged("is cut off in its checksum").raise();
    if (masked_crc32c(record) != numberIn<uint32_t>(sum))
      damaged("is corrupt: its checksum is wrong").raise();
    return detail::elementOf(record);
  }

private:
  const std::string path;
  detail::ByteReader reader;
};
} // namespace

std::unique_ptr<detail::FileElements>
detail::openRecords(const std::string &path, Compression compression) {
  return std::make_unique<Records>(path, compression);
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8u;
}

/// Plain files too are written by zlib, transparently.
struct TFRecordWriter::State {
  std::string path;
  gzFile file = nullptr;

  Error failure() const {
    int code = Z_OK;
    const char *why = file ? gzerror(file, &code) : "";
    return Error(
        fmt::format("[TFRecordWriter] cannot write '{}': {}", path,
                    !file || code == Z_ERRNO ? std::strerror(errno) : why),
        !file || code == Z_ERRNO ? errorCodeOfSystem(errno)
                                 : ErrorCode::DATA_LOSS);
  }
};

TFRecordWriter::TFRecordWriter(const std::filesystem::path &path,
                               Compression compression, Where where)
    : state(std::make_unique<State>()) {
  state->path = path.string();
  state->file = gzopen(state->path.c_str(),
                       compression == Compression::Gzip ? "wbe" : "wbTe");
  if (!state->file)
    meshloom::detail::fail("TFRecordWriter", state->failure(), &where);
}
TFRecordWriter::~TFRecordWriter() {
  if (state && state->file)
    gzclose(state->file);
}
TFRecordWriter::TFRecordWriter(TFRecordWriter &&) noexcept = default;
TFRecordWriter &TFRecordWriter::operator=(TFRecordWriter &&other) noexcept {
  std::swap(state, other.state);
  return *this;
}

void TFRecordWriter::write(std::string_view record, Where where) {
  if (!state || !state->file)
    meshloom::detail::fail("TFRecordWriter",
                           Error("expected an open writer, got one that was "
                                 "closed or moved from",
                                 ErrorCode::FAILED_PRECONDITION),
                           &where);
  std::string framed;
  framed.reserve(headerBytes + record.size() + 4);
  append(framed, uint64_t(record.size()));
  append(framed, masked_crc32c(framed));
  framed.append(record);
  append(framed, masked_crc32c(record));
  if (gzfwrite(framed.data(), 1, framed.size(), state->file) != framed.size())
    meshloom::detail::fail("TFRecordWriter", state->failure(), &where);
}

void TFRecordWriter::flush(Where where) {
  if (state && state->file && gzflush(state->file, Z_SYNC_FLUSH) != Z_OK)
    meshloom::detail::fail("TFRecordWriter", state->failure(), &where);
}

void TFRecordWriter::close(Where where) {
  if (!state || !state->file)
    return;
  errno = 0;
  if (gzclose(std::exchange(state->file, nullptr)) != Z_OK)
    meshloom::detail::fail("TFRecordWriter", state->failure(), &where);
}

TFRecordDataset::TFRecordDataset(FileNames files, const FileOptions &options,
                                 Where where)
    : Dataset(meshloom::detail::atLine(where, [&] {
        return detail::fromFiles(
            "TFRecordDataset", files,
            [compression = options.compression](const std::string &path) {
              return detail::openRecords(path, compression);
            });
      })) {}

} // namespace meshloom::data
