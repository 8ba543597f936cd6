// Reading files in order, packed or not, and datasets of what lies in them.
#include "ByteReader.h"

#include "Steps.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace meshloom::data::detail {

bool beginsAsGzip(std::string_view first) {
  return first.starts_with("\x1f\x8b\x08");
}

ByteReader::ByteReader(const std::string &path, Compression compression,
                       bool (*isPacked)(std::string_view first))
    : path(path), buffer(size_t(1) << 18) {
  auto refuse = [&](std::string_view why) {
    return Error(fmt::format("cannot read '{}': {}", path, why));
  };
  if (std::filesystem::is_directory(path))
    throw refuse("it is a directory");
  descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw refuse(std::strerror(errno));
  if (compression == Compression::Auto) {
    char first[12];
    ssize_t n = pread(descriptor, first, sizeof first, 0);
    if (n > 0 && isPacked({first, size_t(n)}))
      compression = Compression::Gzip;
  }
  if (compression != Compression::Gzip)
    return;
  packed = gzdopen(descriptor, "rb"); // takes it over
  if (!packed)
    throw refuse("there is no memory for it");
}
ByteReader::~ByteReader() {
  if (packed)
    gzclose(static_cast<gzFile>(packed));
  else if (descriptor >= 0)
    close(descriptor);
}

bool ByteReader::fill() {
  at = end = 0;
  if (packed) {
    auto *stream = static_cast<gzFile>(packed);
    const int n = gzread(stream, buffer.data(), unsigned(buffer.size()));
    int code = Z_OK;
    const char *why = gzerror(stream, &code);
    if (n < 0 || (n == 0 && code == Z_BUF_ERROR))
      throw Error(fmt::format("'{}' is {} after {} unpacked bytes ({})", path,
                              code == Z_BUF_ERROR ? "cut off" : "corrupt",
                              position,
                              code == Z_ERRNO ? std::strerror(errno) : why));
    end = size_t(n);
    return n > 0;
  }
  ssize_t n;
  do
    n = ::read(descriptor, buffer.data(), buffer.size());
  while (n < 0 && errno == EINTR);
  if (n < 0)
    throw Error(
        fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
  end = size_t(n);
  return n > 0;
}

size_t ByteReader::read(char *to, size_t n) {
  size_t done = 0;
  while (done < n && (at < end || fill())) {
    const size_t part = std::min(n - done, end - at);
    std::memcpy(to + done, buffer.data() + at, part);
    done += part;
    at += part;
    position += part;
  }
  return done;
}

bool ByteReader::readLine(std::string &line) {
  line.clear();
  bool isLine = false;
  while (at < end || fill()) {
    isLine = true;
    const char *begin = buffer.data() + at;
    const void *found = std::memchr(begin, '\n', end - at);
    const size_t part =
        found ? size_t(static_cast<const char *>(found) - begin) : end - at;
    line.append(begin, part);
    at += part + (found != nullptr);
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
    for (size_t at = size_t(i); at < paths.size(); at += size_t(n))
      part.push_back(paths[at]);
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
            throw Error(fmt::format("[{}] {}", files.step, error.what()));
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
    throw Error(fmt::format("[{}] expected at least one file, got none", step));
  std::vector<std::string> paths;
  paths.reserve(files.paths.size());
  for (const std::filesystem::path &path : files.paths)
    paths.push_back(path.string());
  return std::make_shared<Files>(step, std::move(paths), std::move(open));
}

} // namespace meshloom::data::detail
