// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading files in order, packed or not, and datasets of what lies in them.
#include "ByteReader.h"

#include "Steps.h"
#include "meshloom/Support/FileKind.h"

#include <zlib.h>

#include <cstring>

namespace meshloom::data::detail {

bool beginsAsGzip(std::string_view first) {
  return first == "\x1f\x8b" || first.starts_with("\x1f\x8b\x08");
}

/// Gzip's members, one after the other; zeros may fill the file's rest.
struct ByteReader::Unpacking {
  Unpacking() : bytes(size_t(1) << 16) {
    // 15: the largest window; 16: a gzip wrapper.
    isReady = inflateInit2(&stream, 15 + 16) == Z_OK;
  }
  ~Unpacking() {
    if (isReady)
      inflateEnd(&stream);
  }
  Unpacking(const Unpacking &) = delete;
  Unpacking &operator=(const Unpacking &) = delete;

  z_stream stream{};
  std::vector<char> bytes; ///< of the file
  uint64_t taken = 0;      ///< bytes of the file, those that wait included
  int64_t members = 0;     ///< that have ended
  bool isReady = false, isInMember = false, isAtEnd = false;
  bool isOnlyNamedSo = false; ///< and begins otherwise
  std::string failure;        ///< to be thrown when all before it was given
};

ByteReader::ByteReader(const std::string &path, Compression compression,
                       bool (*isPacked)(std::string_view first))
    : path(path), file(RegularFile::open(path).value_or_throw()),
      buffer(size_t(1) << 18) {
  bool isNamedSo = false;
  if (compression == Compression::Auto) {
    char first[12];
    const std::string_view begin(first, file.readAt(0, first).value_or_throw());
    isNamedSo = std::filesystem::path(path).extension() == ".gz";
    if (isNamedSo || (!begin.empty() && isPacked(begin)))
      compression = Compression::Gzip;
    isNamedSo = isNamedSo && !beginsAsGzip(begin);
  }
  if (compression != Compression::Gzip)
    return;
  packed = std::make_unique<Unpacking>();
  packed->isOnlyNamedSo = isNamedSo;
  if (!packed->isReady)
    Error(fmt::format("cannot read '{}': there is not enough memory", path),
          ErrorCode::RESOURCE_EXHAUSTED)
        .raise();
}
ByteReader::~ByteReader() = default;

std::string ByteReader::hint() const {
  if (packed) // what it looks like is what it is
    return "";
  char first[512];
  const Result<size_t> count = file.readAt(0, first);
  return count ? kindHint({first, *count}) : "";
}

size_t ByteReader::readFile(char *to, size_t n) {
  const size_t count = file.readAt(taken, {to, n}).value_or_throw();
  taken += count;
  return count;
}

size_t ByteReader::unpack() {
  Unpacking &from = *packed;
  z_stream &stream = from.stream;
  stream.next_out = reinterpret_cast<Bytef *>(buffer.data());
  stream.avail_out = uInt(buffer.size());
  auto fail = [&](std::string_view kind, std::string_view why) {
    from.failure = fmt::format("'{}' is {} at byte {} of the packed file ({})",
                               path, kind, from.taken - stream.avail_in, why);
  };
  while (stream.avail_out > 0 && from.failure.empty()) {
    if (stream.avail_in == 0 && !from.isAtEnd) {
      const size_t n = readFile(from.bytes.data(), from.bytes.size());
      stream.next_in = reinterpret_cast<Bytef *>(from.bytes.data());
      stream.avail_in = uInt(n);
      from.taken += n;
      from.isAtEnd = n == 0;
    }
    if (!from.isInMember) {
      while (from.members > 0 && stream.avail_in > 0 && *stream.next_in == 0) {
        ++stream.next_in;
        --stream.avail_in;
      }
      if (stream.avail_in == 0 && !from.isAtEnd)
        continue;
      if (stream.avail_in == 0 && from.members > 0)
        break;
      inflateReset(&stream);
      from.isInMember = true;
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      ++from.members;
      from.isInMember = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      fail("corrupt", stream.msg ? stream.msg : "zlib has no memory");
    } else if (from.isAtEnd && stream.avail_out > 0) {
      fail("cut off", "its gzip data end early");
    }
  }
  const size_t got = buffer.size() - stream.avail_out;
  if (got == 0 && !from.failure.empty())
    Error(fmt::format("{}, after {} unpacked bytes{}", from.failure, position,
                      from.isOnlyNamedSo
                          ? "; it is named .gz, but does not begin as gzip's "
                            "files do: say Compression::None if it is plain"
                          : ""),
          ErrorCode::DATA_LOSS)
        .raise();
  return got;
}

bool ByteReader::fill() {
  cursor = end = 0;
  end = packed ? unpack() : readFile(buffer.data(), buffer.size());
  return end > 0;
}

size_t ByteReader::read(char *to, size_t n) {
  size_t done = 0;
  while (done < n && (cursor < end || fill())) {
    const size_t part = std::min(n - done, end - cursor);
    std::memcpy(to + done, buffer.data() + cursor, part);
    done += part;
    cursor += part;
    position += part;
  }
  return done;
}

bool ByteReader::readLine(std::string &line) {
  line.clear();
  bool isLine = false;
  while (cursor < end || fill()) {
    isLine = true;
    const char *begin = buffer.data() + cursor;
    const void *found = std::memchr(begin, '\n', end - cursor);
    const size_t part =
        found ? size_t(static_cast<const char *>(found) - begin) : end - cursor;
    line.append(begin, part);
    cursor += part + (found != nullptr);
    position += part + (found != nullptr);
    if (found)
      break;
  }
  if (line.ends_with('\r'))
    line.pop_back();
  return isLine;
}

namespace {

class Files : public Source {
public:
  Files(std::string_view step, std::vector<std::string> paths,
        OpenFile openFile)
      : step(step), paths(std::move(paths)), openFile(std::move(openFile)) {}
  std::string_view name() const override { return step; }
  int64_t cardinality() const override { return unknown_cardinality; }
  int64_t fileCount() const override { return int64_t(paths.size()); }
  SourcePtr withFiles(int64_t n, int64_t i) const override {
    std::vector<std::string> part;
    for (size_t file = size_t(i); file < paths.size(); file += size_t(n))
      part.push_back(paths[file]);
    return std::make_shared<Files>(step, std::move(part), openFile);
  }
  std::unique_ptr<Cursor> open(const Opening &) const override {
    class Reading : public Cursor {
    public:
      explicit Reading(const Files &files) : files(files) {}
      std::optional<Element> next() override {
        while (true) {
          try {
            if (!file) {
              if (turn == files.paths.size())
                return std::nullopt;
              file = files.openFile(files.paths[turn++]);
            }
            if (std::optional<Element> element = file->next())
              return element;
            file.reset();
          } catch (const std::exception &error) {
            file.reset();
            Error::of(error)
                .withMessage(fmt::format("[{}] {}", files.step, error.what()))
                .raise();
          }
        }
      }

    private:
      const Files files;
      size_t turn = 0;
      std::unique_ptr<FileElements> file;
    };
    return std::make_unique<Reading>(*this);
  }

private:
  std::string_view step; ///< a literal
  std::vector<std::string> paths;
  OpenFile openFile;
};

} // namespace

SourcePtr fromFiles(std::string_view step, const FileNames &files,
                    OpenFile open) {
  if (files.paths.empty())
    Error(fmt::format("[{}] expected at least one file, got none", step))
        .raise();
  std::vector<std::string> paths;
  paths.reserve(files.paths.size());
  for (const std::filesystem::path &path : files.paths)
    paths.push_back(path.string());
  return std::make_shared<Files>(step, std::move(paths), std::move(open));
}

} // namespace meshloom::data::detail
