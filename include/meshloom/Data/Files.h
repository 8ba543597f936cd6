// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets whose elements lie in files: lines of text, records, columns,
// arrays; and slices of splits, such as "train[:5000]".
#pragma once

#include "meshloom/Data/Dataset.h"

#include <filesystem>

namespace meshloom::data {

/// The name of a file, in a list of several.
class FileName {
public:
  /// Throws meshloom::Error if it is null.
  FileName(const char *path,
           std::source_location where = std::source_location::current())
      : path(textOrThrow(path, "a file's name", where)) {}
  /// A file has a name.
  FileName(std::nullptr_t) = delete;
  /// A string or a path.
  template <std::convertible_to<std::filesystem::path> P>
    requires(!std::is_pointer_v<std::decay_t<P>>)
  FileName(const P &path) : path(path) {}
  std::filesystem::path path; ///< as given
};

/// One file, or several in order.
class FileNames {
public:
  /// One of them.
  FileNames(const char *path,
            std::source_location where = std::source_location::current())
      : paths{textOrThrow(path, "a file's name", where)} {}
  /// A file has a name.
  FileNames(std::nullptr_t) = delete;
  /// One of them.
  FileNames(const std::string &path) : paths{path} {}
  /// One of them.
  FileNames(const std::filesystem::path &path) : paths{path} {}
  /// Several.
  FileNames(std::vector<std::filesystem::path> paths)
      : paths(std::move(paths)) {}
  /// Several.
  FileNames(std::initializer_list<FileName> names) {
    for (const FileName &name : names)
      paths.push_back(name.path);
  }
  std::vector<std::filesystem::path> paths; ///< in order
};

/// How the bytes of a file are packed.
enum class Compression : uint8_t {
  /// The file's first bytes decide; a file named .gz has to be packed. For a
  /// writer: not.
  Auto,
  None, ///< not
  Gzip  ///< by gzip
};
/// See TextLineDataset and its like.
struct FileOptions {
  /// How the files are packed.
  Compression compression = Compression::Auto;
};

/// The lines of text files, without their ends ("\n" or "\r\n").
class TextLineDataset : public Dataset<std::string> {
public:
  /// Throws meshloom::Error if there is no file; one that cannot be read is an
  /// error when its turn comes.
  explicit TextLineDataset(FileNames files, const FileOptions &options = {},
                           Where where = Where::current());
};

/// See FixedLengthRecordDataset.
struct RecordOptions {
  /// Bytes at the beginning of each file that are not a record,
  int64_t header_bytes = 0;
  /// and at its end.
  int64_t footer_bytes = 0;
  /// How the files are packed.
  Compression compression = Compression::Auto;
};
/// Records of a fixed number of bytes, ui8 [record_bytes].
class FixedLengthRecordDataset : public Dataset<Tensor> {
public:
  /// Throws meshloom::Error if there is no file or a number is not a number of
  /// bytes. A file whose length does not fit is an error when its turn comes.
  FixedLengthRecordDataset(FileNames files, int64_t record_bytes,
                           const RecordOptions &options = {},
                           Where where = Where::current());
};

/// A column of a CSV file.
struct CsvColumn {
  DType dtype = DType::F32; ///< of its numbers
  /// The value of an empty field; without one an empty field is an error.
  std::optional<double> default_value = {};
};
/// See CsvDataset.
struct CsvOptions {
  /// Says whether the first line of each file names the columns.
  bool header = false;
  /// Between two fields.
  char delimiter = ',';
  /// Which columns of the files are taken, in rising order; empty: all. There
  /// are then as many `CsvColumn` as are taken.
  std::vector<int64_t> select_columns = {};
  /// How the files are packed.
  Compression compression = Compression::Auto;
};
/// The records of CSV files: a scalar for each column. Fields may be quoted
/// ("a ""quoted"" field") and then hold line breaks; lines that are empty are
/// passed over. A record with another number of columns, and a field that is no
/// number of its type, are errors that name the file and the record's line.
class CsvDataset : public Dataset<std::vector<Tensor>> {
public:
  /// Throws meshloom::Error if there is no file or no column.
  CsvDataset(FileNames files, std::vector<CsvColumn> columns,
             const CsvOptions &options = {}, Where where = Where::current());
};
/// The fields of one line. Throws meshloom::Error if a quote is not closed, or
/// if a field goes on behind one.
std::vector<std::string>
parse_csv_line(std::string_view line, char delimiter = ',',
               std::source_location where = std::source_location::current());

/// The names of the files of a folder that match a pattern of * and ?,
/// "data/train-*.tfrecord", in alphabetical order. Throws meshloom::Error if
/// there is none.
Dataset<std::string>
list_files(const std::string &pattern,
           std::source_location where = std::source_location::current());

/// Rows of the array of a .npy file.
Dataset<Tensor>
from_npy(const std::filesystem::path &path,
         std::source_location where = std::source_location::current());
/// Rows of the array of an IDX file, plain or gzip.
Dataset<Tensor>
from_idx(const std::filesystem::path &path,
         std::source_location where = std::source_location::current());
/// The array of an IDX file as a host tensor of the file's type and shape.
/// Throws meshloom::Error as read_idx does.
///
///   Tensor images = data::load_idx("train-images-idx3-ubyte.gz");
///   // ui8 [60000, 28, 28]
Tensor load_idx(const std::filesystem::path &path,
                std::source_location where = std::source_location::current());

/// A part of a split: "train[:5000]", "train[80%:]", "test[-10%:]", "train".
struct SplitSlice {
  std::string split;          ///< its name; empty: "[:10]"
  std::optional<double> from; ///< the first element, or percentage; may be < 0
  std::optional<double> to;   ///< the end, or percentage; may be < 0
  bool fromIsPercentage = false; ///< what `from` is
  bool toIsPercentage = false;   ///< what `to` is

  /// The elements [first, second) of `count`. Percentages are rounded to the
  /// nearest element.
  std::pair<int64_t, int64_t> range(int64_t count) const;
};
/// Throws meshloom::Error if the text is not a slice.
SplitSlice
parse_split(std::string_view text,
            std::source_location where = std::source_location::current());

/// The elements of a slice such as "[:5000]" or "[-10%:]". Throws
/// meshloom::Error if the dataset does not know how many elements it has.
template <typename T>
Dataset<T> slice(const Dataset<T> &dataset, std::string_view text,
                 std::source_location where = std::source_location::current()) {
  return meshloom::detail::atLine(where, [&] {
    const int64_t count = dataset.cardinality();
    if (count < 0)
      Error("[slice] expected a dataset that knows how many elements it "
            "has: take and skip do for others")
          .raise();
    const auto [first, end] = parse_split(text).range(count);
    return dataset.skip(first).take(end - first);
  });
}
namespace detail {
std::vector<SplitSlice> parseSplits(std::string_view text);
[[noreturn]] void failSplit(std::string_view name,
                            const std::vector<std::string> &splits);
} // namespace detail
/// The parts of splits that a text names, one after the other:
/// "train[:80%]+test". Throws meshloom::Error if there is no split of that
/// name.
template <typename T>
Dataset<T>
slices(const std::map<std::string, Dataset<T>> &splits, std::string_view text,
       std::source_location where = std::source_location::current()) {
  return meshloom::detail::atLine(where, [&] {
    std::optional<Dataset<T>> joined;
    for (const SplitSlice &part : detail::parseSplits(text)) {
      auto split = splits.find(part.split);
      if (split == splits.end()) {
        std::vector<std::string> names;
        for (const auto &[name, dataset] : splits)
          names.push_back(name);
        detail::failSplit(part.split, names);
      }
      const auto [first, end] = part.range(split->second.cardinality());
      Dataset<T> taken = split->second.skip(first).take(end - first);
      joined = joined ? joined->concatenate(taken) : taken;
    }
    return *joined;
  });
}

} // namespace meshloom::data
