// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npz files: a zip archive's directory, which is at its end, says where its
// members lie; each is a .npy file, stored or deflated.
#include "meshloom/Data/Npz.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/FileKind.h"
#include "meshloom/Support/Npy.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace meshloom::data {
namespace {

/// A member as the directory has it.
struct ZipMember {
  std::string name;
  unsigned flags = 0, method = 0;
  uint32_t checksum = 0;
  uint64_t packed = 0, size = 0, header = 0; ///< bytes, and where it begins
};

/// Reads an archive's directory and members; nothing that it says is believed
/// before it fits into the file.
class ZipReader {
public:
  ZipReader(std::string_view bytes, std::string_view file)
      : bytes(bytes), file(file) {}

  /// The members, of which no two have the same name or share bytes.
  std::vector<ZipMember> members() const;
  std::string contentOf(const ZipMember &member) const;

  [[noreturn]] void refuse(const std::string &why) const {
    Error(fmt::format("[load_npz] cannot use '{}': it {}", file, why)).raise();
  }

private:
  static constexpr uint64_t inExtra = std::numeric_limits<uint32_t>::max();

  /// `count` bytes at `offset`, the least significant first.
  uint64_t number(uint64_t offset, unsigned count) const {
    const std::string_view from = part(offset, count);
    uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i)
      value |= uint64_t(uint8_t(from[i])) << (8 * i);
    return value;
  }
  std::string_view part(uint64_t offset, uint64_t count) const {
    if (offset > bytes.size() || count > bytes.size() - offset)
      refuse("is cut short, or damaged");
    return bytes.substr(offset, count);
  }
  bool has(uint64_t offset, std::string_view mark) const {
    return part(offset, mark.size()) == mark;
  }
  uint64_t endOfDirectory() const;
  /// Returns the bytes behind the member's own header. Refuses a header that is
  /// not the directory's.
  std::string_view packedBytes(const ZipMember &member) const;
  /// Refuses members that share names or bytes: a small file could name the
  /// same bytes thousands of times.
  void expectApart(const std::vector<ZipMember> &members) const;
  /// A number that does not fit into 32 bits is in an extra field (ZIP64).
  void readLarge(ZipMember &member, std::string_view extra) const;
  std::string unpacked(const ZipMember &member, std::string_view packed) const;

  std::string_view bytes, file;
};

uint64_t ZipReader::endOfDirectory() const {
  constexpr uint64_t size = 22, comment = 65535;
  if (bytes.size() < size || !bytes.starts_with("PK"))
    refuse("is not a zip archive" + kindHint(bytes));
  const uint64_t last = bytes.size() - size;
  for (uint64_t offset = last;; --offset) {
    if (has(offset, "PK\5\6") &&
        offset + size + number(offset + 20, 2) == bytes.size())
      return offset;
    if (offset == 0 || last - offset == comment)
      refuse("is cut short: a zip archive ends with its directory");
  }
}

void ZipReader::readLarge(ZipMember &member, std::string_view extra) const {
  auto take = [&](size_t offset, size_t count) {
    if (offset > extra.size() || count > extra.size() - offset)
      refuse("is damaged: a field of its directory is cut short");
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value |= uint64_t(uint8_t(extra[offset + i])) << (8 * i);
    return value;
  };
  for (size_t offset = 0; offset + 4 <= extra.size();) {
    const uint64_t kind = take(offset, 2), length = take(offset + 2, 2);
    offset += 4;
    if (kind == 1) {
      size_t from = offset;
      for (uint64_t *value : {&member.size, &member.packed, &member.header})
        if (*value == inExtra) {
          *value = take(from, 8);
          from += 8;
        }
    }
    offset += length;
  }
}

std::vector<ZipMember> ZipReader::members() const {
  const uint64_t end = endOfDirectory();
  uint64_t count = number(end + 10, 2), offset = number(end + 16, 4);
  if (offset == inExtra || count == 0xffff) { // ZIP64
    if (end < 20 || !has(end - 20, "PK\6\7"))
      refuse(
          "is damaged: its directory is not at the place that the file names");
    const uint64_t large = number(end - 12, 8);
    if (!has(large, "PK\6\6"))
      refuse(
          "is damaged: its directory is not at the place that the file names");
    count = number(large + 32, 8);
    offset = number(large + 48, 8);
  }
  std::vector<ZipMember> members;
  for (uint64_t i = 0; i < count; ++i) {
    if (!has(offset, "PK\1\2"))
      refuse(
          "is damaged: its directory is not at the place that the file names");
    const uint64_t name = number(offset + 28, 2),
                   extra = number(offset + 30, 2),
                   comment = number(offset + 32, 2);
    ZipMember member{.name = std::string(part(offset + 46, name)),
                     .flags = unsigned(number(offset + 8, 2)),
                     .method = unsigned(number(offset + 10, 2)),
                     .checksum = uint32_t(number(offset + 16, 4)),
                     .packed = number(offset + 20, 4),
                     .size = number(offset + 24, 4),
                     .header = number(offset + 42, 4)};
    readLarge(member, part(offset + 46 + name, extra));
    members.push_back(std::move(member));
    offset += 46 + name + extra + comment;
  }
  expectApart(members);
  return members;
}

std::string_view ZipReader::packedBytes(const ZipMember &member) const {
  if (!has(member.header, "PK\3\4"))
    refuse(fmt::format(
        "is damaged: member '{}' is not at the place that the directory names",
        member.name));
  const uint64_t name = number(member.header + 26, 2),
                 extra = number(member.header + 28, 2);
  if (part(member.header + 30, name) != member.name)
    refuse(fmt::format(
        "is damaged: member '{}' has a different name in its own header",
        member.name));
  return part(member.header + 30 + name + extra, member.packed);
}

void ZipReader::expectApart(const std::vector<ZipMember> &members) const {
  struct Place {
    uint64_t begin, end;
    const ZipMember *member;
  };
  std::vector<Place> places;
  std::vector<std::string_view> names;
  for (const ZipMember &member : members) {
    const std::string_view packed = packedBytes(member);
    places.push_back({member.header,
                      uint64_t(packed.data() - bytes.data()) + packed.size(),
                      &member});
    names.push_back(member.name);
  }
  std::ranges::sort(places, {}, &Place::begin);
  for (size_t i = 1; i < places.size(); ++i)
    if (places[i].begin < places[i - 1].end)
      refuse(fmt::format("is damaged: members '{}' and '{}' share bytes",
                         places[i - 1].member->name, places[i].member->name));
  std::ranges::sort(names);
  if (auto twice = std::ranges::adjacent_find(names); twice != names.end())
    refuse(fmt::format("is damaged: it has member '{}' twice", *twice));
}

std::string ZipReader::unpacked(const ZipMember &member,
                                std::string_view packed) const {
  // A byte that is packed makes at most 1032 (zlib's documentation).
  if (member.size / 1032 > packed.size() + 1)
    refuse(fmt::format("is damaged: member '{}' would be {} bytes of {}",
                       member.name, member.size, packed.size()));
  std::string content(member.size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -15) != Z_OK) // no header: the directory has it
    refuse("cannot be unpacked: zlib has no memory");
  int status = Z_OK;
  size_t in = 0, out = 0;
  while (status == Z_OK) {
    constexpr size_t most = size_t(1) << 30; // zlib counts in 32 bits
    const size_t input = std::min(most, packed.size() - in),
                 room = std::min(most, content.size() - out);
    stream.next_in = reinterpret_cast<Bytef *>(
        const_cast<char *>(packed.data() + in)); // NOLINT: zlib does not write
    stream.avail_in = uInt(input);
    stream.next_out = reinterpret_cast<Bytef *>(content.data() + out);
    stream.avail_out = uInt(room);
    status = inflate(&stream, Z_NO_FLUSH);
    in += input - stream.avail_in;
    out += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || out != content.size())
    refuse(
        fmt::format("is damaged: member '{}' cannot be unpacked", member.name));
  return content;
}

std::string ZipReader::contentOf(const ZipMember &member) const {
  constexpr unsigned encrypted = 1, stored = 0, deflated = 8;
  if (member.flags & encrypted)
    refuse(fmt::format("is encrypted: member '{}'", member.name));
  if (member.method != stored && member.method != deflated)
    refuse(fmt::format("has member '{}' packed by method {}, which is not "
                       "deflate: write it with numpy.savez",
                       member.name, member.method));
  const std::string_view packed = packedBytes(member);
  std::string content = member.method == deflated ? unpacked(member, packed)
                                                  : std::string(packed);
  uLong sum = crc32_z(0, reinterpret_cast<const Bytef *>(content.data()),
                      content.size());
  if (content.size() != member.size || uint32_t(sum) != member.checksum)
    refuse(fmt::format("is damaged: member '{}' does not match its checksum",
                       member.name));
  return content;
}

} // namespace

NamedTensors parse_npz(std::string_view bytes, std::string_view name) {
  const ZipReader zip(bytes, name);
  NamedTensors arrays;
  for (const ZipMember &member : zip.members()) {
    if (member.name.ends_with('/')) // a folder
      continue;
    constexpr std::string_view ending = ".npy";
    if (!member.name.ends_with(ending))
      zip.refuse(fmt::format("contains '{}', so it is not an .npz file, which "
                             "contains .npy files only{}",
                             member.name, kindHint(bytes)));
    const NpyArray array =
        parseNpy(zip.contentOf(member),
                 fmt::format("{}' member '{}", name, member.name))
            .value_or_throw();
    arrays.emplace(member.name.substr(0, member.name.size() - ending.size()),
                   meshloom::detail::fromHost(array.type, array.bytes.data(),
                                              elementCount(array.shape),
                                              array.shape,
                                              std::source_location::current()));
  }
  return arrays;
}

NamedTensors load_npz(const std::filesystem::path &path,
                      std::source_location where) {
  return meshloom::detail::atLine(where, [&]() -> NamedTensors {
    Result<std::string> bytes = readFile(path.string());
    if (!bytes)
      bytes.error()
          .withMessage("[load_npz] " + bytes.error().message())
          .raise();
    return parse_npz(*bytes, path.string());
  });
}

} // namespace meshloom::data
