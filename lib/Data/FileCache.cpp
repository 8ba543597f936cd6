// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dataset that keeps what was made of it in a file: a TFRecord file, whose
// records are a title, the elements, and an end, without which it is not whole.
// It is written under another name, and renamed when it is whole and on disk.
#include "ByteReader.h"
#include "Steps.h"
#include "meshloom/Core/SystemError.h"
#include "meshloom/Data/TFRecord.h"
#include "meshloom/Support/File.h"

#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

namespace meshloom::data::detail {

namespace {

constexpr std::string_view title = "meshloom dataset cache 1";
constexpr char elementMark = 'E', endMark = 'Z';

template <typename N> void append(std::string &to, N number) {
  to.append(reinterpret_cast<const char *>(&number), sizeof number);
}

/// The mark; the number of tensors; of each type, rank, extents and elements;
/// the structure's key.
std::string recordOf(const Element &element) {
  std::string record(1, elementMark);
  append(record, uint32_t(element.values.size()));
  for (const HostArray &value : element.values) {
    append(record, uint8_t(value.dtype()));
    append(record, uint32_t(value.shape().size()));
    for (int64_t extent : value.shape())
      append(record, extent);
    const size_t offset = record.size();
    record.resize(offset + size_t(value.byteCount()));
    value.copyTo(record.data() + offset);
  }
  return record + element.key();
}

/// Reads what recordOf wrote: its checksum was right.
class RecordReader {
public:
  explicit RecordReader(std::string_view bytes) : bytes(bytes) {}
  Element element(const ReadSkeleton &read) {
    Element element;
    const auto count = number<uint32_t>();
    for (uint32_t v = 0; v < count; ++v) {
      const auto type = DType(number<uint8_t>());
      Shape shape(number<uint32_t>());
      for (int64_t &extent : shape)
        extent = number<int64_t>();
      std::string_view part =
          take(size_t(elementCount(shape) * byteWidth(type)));
      element.values.emplace_back(type, std::move(shape),
                                  std::vector<char>(part.begin(), part.end()));
    }
    element.skeleton = read(bytes);
    size_t expected = element.skeleton ? 0 : 1;
    if (element.skeleton)
      for (size_t part : element.skeleton->parts())
        expected += part;
    if (expected != element.values.size())
      Error("it was made of elements of another structure").raise();
    return element;
  }

private:
  std::string_view take(size_t n) {
    if (n > bytes.size())
      Error("it holds no elements", ErrorCode::FAILED_PRECONDITION).raise();
    std::string_view front = bytes.substr(0, n);
    bytes.remove_prefix(n);
    return front;
  }
  template <typename N> N number() {
    N value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view bytes;
};

class CachedElements : public Cursor {
public:
  CachedElements(const std::string &path, ReadSkeleton read)
      : path(path), read(std::move(read)) {
    guarded([&] {
      file = openRecords(path, Compression::None);
      if (record() != title)
        Error("it is not a cache of a dataset").raise();
      return 0;
    });
  }
  std::optional<Element> next() override {
    if (!file)
      return std::nullopt;
    return guarded([&]() -> std::optional<Element> {
      std::string bytes = record();
      if (bytes.starts_with(elementMark))
        return RecordReader(std::string_view(bytes).substr(1)).element(read);
      if (bytes.size() != 1 || bytes.front() != endMark)
        Error("it is not a cache of a dataset").raise();
      file.reset();
      return std::nullopt;
    });
  }

private:
  std::string record() {
    std::optional<Element> next = file->next();
    if (!next)
      Error("it is cut off", ErrorCode::DATA_LOSS).raise();
    return valueOf<std::string>(*next);
  }
  template <typename F> std::invoke_result_t<F> guarded(F f) {
    try {
      return f();
    } catch (const std::exception &error) {
      file.reset();
      Error::of(error)
          .withMessage(
              fmt::format("[cache] the file '{}' cannot be used, remove it: "
                          "{}",
                          path, error.what()))
          .raise();
    }
  }

  const std::string path;
  const ReadSkeleton read;
  std::unique_ptr<FileElements> file;
};

/// Keeps what it gives in a file, which has its name when it is exhausted.
class RecordingToFile : public Cursor {
public:
  RecordingToFile(std::unique_ptr<Cursor> input, const std::string &path)
      : input(std::move(input)), path(path),
        temporary(fmt::format("{}.{}.{}.part", path, getpid(), ++count)),
        writer(std::in_place, temporary, Compression::None) {
    droppingIfItFails([&] { writer->write(title); });
  }
  ~RecordingToFile() override {
    if (writer)
      drop();
  }
  std::optional<Element> next() override {
    std::optional<Element> element;
    try {
      element = input->next();
    } catch (...) {
      // The elements behind it are given, but there is no file without this
      // one.
      if (writer)
        drop();
      throw;
    }
    if (!writer)
      return element;
    droppingIfItFails([&] {
      if (element)
        return writer->write(recordOf(*element));
      writer->write({&endMark, 1});
      writer->close();
      writer.reset();
      finish();
    });
    return element;
  }

private:
  /// A part that cannot be written to its end is of no use.
  template <typename F> void droppingIfItFails(F &&work) {
    try {
      work();
    } catch (...) {
      drop();
      throw;
    }
  }
  void drop() {
    writer.reset();
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
  }
  void finish() {
    const int file = open(temporary.c_str(), O_RDONLY | O_CLOEXEC);
    const bool isWritten = file >= 0 && fsync(file) == 0;
    const int why = errno;
    if (file >= 0)
      close(file);
    if (!isWritten)
      Error(fmt::format("[cache] cannot write '{}': {}", temporary,
                        std::strerror(why)),
            errorCodeOfSystem(why))
          .raise();
    if (Status renamed = renameDurably(temporary, path); !renamed)
      renamed.error()
          .withMessage("[cache] " + renamed.error().message())
          .raise();
  }

  static std::atomic<int64_t> count;
  std::unique_ptr<Cursor> input;
  const std::string path, temporary;
  std::optional<TFRecordWriter> writer;
};
std::atomic<int64_t> RecordingToFile::count;

class FileCache : public Step<FileCache> {
public:
  FileCache(SourcePtr input, std::string path, ReadSkeleton read)
      : Step(std::move(input)), path(std::move(path)), read(std::move(read)) {}
  std::string_view name() const override { return "cache"; }
  bool keepsBatches() const override { return true; }
  std::unique_ptr<Cursor> open(const Opening &opening) const override {
    // These parts are of processes that ended before their files were whole.
    std::call_once(*tidied, removeAbandonedParts, path);
    if (std::error_code none; std::filesystem::exists(path, none))
      return std::make_unique<CachedElements>(path, read);
    return std::make_unique<RecordingToFile>(input->open(opening), path);
  }

private:
  std::string path;
  ReadSkeleton read;
  std::shared_ptr<std::once_flag> tidied = std::make_shared<std::once_flag>();
};

} // namespace

SourcePtr cache(SourcePtr input, std::string path, ReadSkeleton read) {
  if (path.empty())
    Error("[cache] expected the name of a file").raise();
  return std::make_shared<FileCache>(std::move(input), std::move(path),
                                     std::move(read));
}

} // namespace meshloom::data::detail
