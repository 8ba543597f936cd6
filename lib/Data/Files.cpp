// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets of lines, records and columns of files, and of arrays in files.
#include "meshloom/Data/Files.h"

#include "ByteReader.h"
#include "Numbers.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Shards.h"
#include "meshloom/Core/SystemError.h"
#include "meshloom/Data/Idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>

namespace meshloom::data {

namespace {

using detail::ByteReader;
using detail::Element;

class Lines : public detail::FileElements {
public:
  Lines(const std::string &path, Compression compression)
      : reader(path, compression, detail::beginsAsGzip) {}
  std::optional<Element> next() override {
    std::string line;
    if (!reader.readLine(line))
      return std::nullopt;
    return detail::elementOf(line);
  }

private:
  ByteReader reader;
};

class FixedRecords : public detail::FileElements {
public:
  FixedRecords(const std::string &path, int64_t size,
               const RecordOptions &options)
      : path(path), size(size_t(size)), footer(size_t(options.footer_bytes)),
        reader(path, options.compression, detail::beginsAsGzip) {
    std::vector<char> header(size_t(options.header_bytes));
    if (reader.read(header.data(), header.size()) < header.size())
      Error(fmt::format("'{}' ends in its header of {} bytes", path,
                        header.size()),
            ErrorCode::DATA_LOSS)
          .raise();
    ahead.resize(footer);
    if (reader.read(ahead.data(), footer) < footer)
      Error(
          fmt::format("'{}' ends before its footer of {} bytes", path, footer),
          ErrorCode::DATA_LOSS)
          .raise();
  }
  std::optional<Element> next() override {
    // The footer is what has been read and is not a record.
    std::vector<char> bytes = ahead;
    bytes.resize(footer + size);
    const size_t got = reader.read(bytes.data() + footer, size);
    if (got == 0)
      return std::nullopt;
    if (got < size)
      Error(fmt::format("'{}' ends {} bytes into the record at byte {}: "
                        "its records have {} bytes",
                        path, got, reader.offset() - got - footer, size),
            ErrorCode::DATA_LOSS)
          .raise();
    ahead.assign(bytes.begin() + ptrdiff_t(size), bytes.end());
    bytes.resize(size);
    return Element{
        {detail::HostArray(DType::UI8, {int64_t(size)}, std::move(bytes))},
        nullptr};
  }

private:
  const std::string path;
  const size_t size, footer;
  ByteReader reader;
  std::vector<char> ahead;
};

/// Splits a record, given line by line, into fields.
class CsvSplitter {
public:
  explicit CsvSplitter(char delimiter) : delimiter(delimiter) {}
  /// Returns whether a quote is open at the end: a line break is part of the
  /// field.
  bool isOpen() const { return state == State::Quoted; }
  void add(std::string_view line) {
    if (isOpen())
      fields.back() += '\n';
    for (size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (isOpen()) {
        if (c != '"')
          fields.back() += c;
        else if (i + 1 < line.size() && line[i + 1] == '"')
          fields.back() += line[++i];
        else
          state = State::Closed;
      } else if (c == delimiter) {
        fields.emplace_back();
        state = State::Empty;
      } else if (state == State::Closed) {
        if (c != ' ' && !malformed)
          malformed = fields.size() - 1;
      } else if (c == '"' && state == State::Empty) {
        state = State::Quoted;
      } else {
        fields.back() += c;
        state = State::Plain;
      }
    }
  }
  /// Why what was added is not a record; empty: it is one.
  std::string refusal() const {
    if (isOpen())
      return fmt::format("the quote of column {} is not closed",
                         fields.size() - 1);
    if (malformed)
      return fmt::format("column {} continues after its closing quote: write a "
                         "quote in a quoted field twice",
                         *malformed);
    return "";
  }

  std::vector<std::string> fields{""};

private:
  enum class State : uint8_t { Empty, Plain, Quoted, Closed };
  const char delimiter;
  State state = State::Empty;
  std::optional<size_t> malformed; ///< a column
};

class CsvLines : public detail::FileElements {
public:
  CsvLines(const std::string &path, std::vector<CsvColumn> columns,
           const CsvOptions &options)
      : path(path), columns(std::move(columns)), options(options),
        reader(path, options.compression, detail::beginsAsGzip) {
    if (options.header)
      readRecord();
  }
  std::optional<Element> next() override {
    const std::optional<std::vector<std::string>> record = readRecord();
    if (!record)
      return std::nullopt;
    const std::vector<std::string> &fields = *record;
    const auto &selected = options.select_columns;
    if (selected.empty() ? fields.size() != columns.size()
                         : fields.size() <= size_t(selected.back()))
      refusal(fmt::format("expected {} columns, got {}{}",
                          selected.empty()
                              ? std::to_string(columns.size())
                              : fmt::format("at least {}", selected.back() + 1),
                          fields.size(), reader.hint()))
          .raise();
    if (!skeleton)
      skeleton =
          detail::elementOf(std::vector<Tensor>(columns.size(), scalarZero()))
              .skeleton;
    Element element{{}, skeleton};
    element.values.reserve(columns.size());
    for (size_t c = 0; c < columns.size(); ++c) {
      const size_t field = selected.empty() ? c : size_t(selected[c]);
      element.values.push_back(parsed(fields[field], columns[c], field));
    }
    return element;
  }

private:
  static Tensor scalarZero() {
    const char zero = 0;
    return meshloom::detail::hostTensor(DType::UI8, {}, {&zero, 1});
  }
  /// The fields of the next record; lines that are empty are passed over.
  std::optional<std::vector<std::string>> readRecord() {
    std::string line;
    do {
      if (!readLine(line))
        return std::nullopt;
    } while (line.empty());
    first = number;
    CsvSplitter splitter(options.delimiter);
    splitter.add(line);
    while (splitter.isOpen() && readLine(line))
      splitter.add(line);
    if (std::string why = splitter.refusal(); !why.empty())
      refusal(why).raise();
    return std::move(splitter.fields);
  }
  bool readLine(std::string &line) {
    if (!reader.readLine(line))
      return false;
    constexpr std::string_view mark = "\xEF\xBB\xBF"; // of UTF-8
    if (number++ == 0 && line.starts_with(mark))
      line.erase(0, mark.size());
    return true;
  }
  Error refusal(std::string_view why) const {
    return Error(fmt::format("'{}', line {}: {}", path, first, why));
  }
  detail::HostArray parsed(std::string_view text, const CsvColumn &column,
                           size_t index) const {
    constexpr std::string_view blanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    std::string bytes;
    auto append = [&](auto value) {
      return detail::appendNumber(bytes, column.dtype, value);
    };
    if (text.empty()) {
      if (!column.default_value)
        refusal(
            fmt::format("column {} is empty: give it a default_value", index))
            .raise();
      if (!append(*column.default_value))
        refusal(fmt::format("the default_value of column {} is not of type {}",
                            index, name(column.dtype)))
            .raise();
    } else {
      const char *begin = text.data(), *end = begin + text.size();
      if (text.starts_with('+') && !text.starts_with("+-"))
        ++begin; // from_chars knows none
      auto read = [&]<typename T>(T value) {
        const auto [stop, failure] = std::from_chars(begin, end, value);
        return failure == std::errc() && stop == end && append(value);
      };
      // Integers exactly; what is not a float has no fraction.
      const bool isRead = isFloat(column.dtype)         ? read(double())
                          : column.dtype == DType::UI64 ? read(uint64_t())
                                                        : read(int64_t());
      if (!isRead)
        refusal(fmt::format("column {}: '{}' is not of type {}{}", index, text,
                            name(column.dtype), reader.hint()))
            .raise();
    }
    return detail::HostArray(column.dtype, {},
                             std::vector<char>(bytes.begin(), bytes.end()));
  }

  const std::string path;
  const std::vector<CsvColumn> columns;
  const CsvOptions options;
  ByteReader reader;
  int64_t number = 0; ///< of lines that were read
  int64_t first = 0;  ///< the line that the record begins with
  std::shared_ptr<const detail::Skeleton> skeleton;
};

/// Returns whether `name` matches a pattern of * and ?.
bool matches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (star != std::string_view::npos) {
      p = star + 1; // the star takes one more
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

/// A file's name as the only element.
class Name : public detail::FileElements {
public:
  explicit Name(std::string path) : path(std::move(path)) {}
  std::optional<Element> next() override {
    if (path.empty())
      return std::nullopt;
    return detail::elementOf(std::exchange(path, ""));
  }

private:
  std::string path;
};

void checkRecords(int64_t recordBytes, const RecordOptions &options) {
  if (recordBytes < 1 || options.header_bytes < 0 || options.footer_bytes < 0)
    Error(fmt::format("[FixedLengthRecordDataset] expected records of at least "
                      "one byte, and "
                      "a header and footer of none or more, got {}, {} and {}",
                      recordBytes, options.header_bytes, options.footer_bytes))
        .raise();
}

void checkColumns(const std::vector<CsvColumn> &columns,
                  const CsvOptions &options) {
  const auto &selected = options.select_columns;
  if (columns.empty())
    Error("[CsvDataset] expected at least one column").raise();
  if (!selected.empty() &&
      (selected.size() != columns.size() || selected.front() < 0 ||
       !std::is_sorted(selected.begin(), selected.end(), std::less_equal<>())))
    Error(fmt::format("[CsvDataset] expected the {} columns to select in "
                      "rising order",
                      columns.size()))
        .raise();
  for (const CsvColumn &column : columns)
    if (isComplex(column.dtype))
      Error("[CsvDataset] expected columns of real numbers, got complex "
            "ones")
          .raise();
}

} // namespace

TextLineDataset::TextLineDataset(FileNames files, const FileOptions &options,
                                 Where where)
    : Dataset(meshloom::detail::atLine(where, [&] {
        return detail::fromFiles(
            "TextLineDataset", files,
            [compression = options.compression](const std::string &path) {
              return std::make_unique<Lines>(path, compression);
            });
      })) {}

FixedLengthRecordDataset::FixedLengthRecordDataset(FileNames files,
                                                   int64_t record_bytes,
                                                   const RecordOptions &options,
                                                   Where where)
    : Dataset(meshloom::detail::atLine(where, [&] {
        checkRecords(record_bytes, options);
        return detail::fromFiles(
            "FixedLengthRecordDataset", files,
            [record_bytes, options](const std::string &path) {
              return std::make_unique<FixedRecords>(path, record_bytes,
                                                    options);
            });
      })) {}

CsvDataset::CsvDataset(FileNames files, std::vector<CsvColumn> columns,
                       const CsvOptions &options, Where where)
    : Dataset(meshloom::detail::atLine(where, [&] {
        checkColumns(columns, options);
        return detail::fromFiles(
            "CsvDataset", files, [columns, options](const std::string &path) {
              return std::make_unique<CsvLines>(path, columns, options);
            });
      })) {}

std::vector<std::string> parse_csv_line(std::string_view line, char delimiter,
                                        std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    CsvSplitter splitter(delimiter);
    splitter.add(line);
    if (std::string why = splitter.refusal(); !why.empty())
      Error(fmt::format("[parse_csv_line] {} in '{}'", why, line)).raise();
    return std::move(splitter.fields);
  });
}

Dataset<std::string> list_files(const std::string &pattern,
                                std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    const std::filesystem::path path(pattern);
    const std::filesystem::path folder =
        path.has_parent_path() ? path.parent_path() : ".";
    std::vector<std::filesystem::path> found;
    std::error_code failure;
    for (const auto &entry :
         std::filesystem::directory_iterator(folder, failure))
      if (matches(path.filename().string(), entry.path().filename().string()))
        found.push_back(path.has_parent_path() ? entry.path()
                                               : entry.path().filename());
    if (failure)
      Error(fmt::format("[list_files] cannot read folder '{}': {}",
                        folder.string(), failure.message()),
            errorCodeOfSystem(failure.value()))
          .raise();
    if (found.empty())
      Error(fmt::format("[list_files] no file matches '{}'", pattern),
            ErrorCode::NOT_FOUND)
          .raise();
    std::sort(found.begin(), found.end());
    return Dataset<std::string>(detail::fromFiles(
        "list_files", std::move(found),
        [](const std::string &path) { return std::make_unique<Name>(path); }));
  });
}

Dataset<Tensor> from_npy(const std::filesystem::path &path,
                         std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    meshloom::detail::HostScope host;
    return from_tensor_slices(load_npy(path));
  });
}

Dataset<Tensor> from_idx(const std::filesystem::path &path,
                         std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    IdxArray array = read_idx(path);
    return Dataset<Tensor>(detail::fromSlices(
        {{detail::HostArray(array.type, array.shape, std::move(array.bytes))},
         nullptr}));
  });
}

Tensor load_idx(const std::filesystem::path &path, std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    const IdxArray array = read_idx(path);
    return meshloom::detail::hostTensorOf(array.type, array.shape, array.bytes);
  });
}

} // namespace meshloom::data
