// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TFRecord files: strings of bytes, each with checksums; and tf.train.Example,
// what they mostly hold.
#pragma once

#include "meshloom/Data/Files.h"

#include <variant>

namespace meshloom::data {

/// The masked CRC-32C of TFRecord files: of bytes, made unlike the checksum of
/// what holds checksums.
uint32_t masked_crc32c(std::string_view bytes);

/// Writes a TFRecord file, record by record. TensorBoard's event files are
/// such. May be moved; used by one thread at a time.
///
///   data::TFRecordWriter writer("train.tfrecord");
///   for (const data::Example &example : examples)
///     writer.write(data::serialize_example(example));
///   writer.close();
class TFRecordWriter {
public:
  using Where = std::source_location; ///< the line of a call, for messages
  /// Makes the file, in place of one that has that name. Throws
  /// meshloom::Error if it cannot be written.
  explicit TFRecordWriter(const std::filesystem::path &path,
                          Compression compression = Compression::None,
                          Where where = Where::current());
  /// Closes it; errors are lost. Call `close` to see them.
  ~TFRecordWriter();
  /// Moves; the old writer is closed.
  TFRecordWriter(TFRecordWriter &&) noexcept;
  /// Closes what was open here when `other` goes.
  TFRecordWriter &operator=(TFRecordWriter &&) noexcept;

  /// Appends a record. Throws meshloom::Error if the disk is full, or if the
  /// writer is closed.
  void write(std::string_view record, Where where = Where::current());
  /// Hands what was written to the operating system: readers see it.
  void flush(Where where = Where::current());
  /// Ends the file. Throws meshloom::Error if not all of it could be written.
  void close(Where where = Where::current());

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The records of TFRecord files, one file after the other. Checksums are
/// checked: a truncated or corrupt record is an error that names the file and
/// the record's offset, after which the file's rest is passed over.
class TFRecordDataset : public Dataset<std::string> {
public:
  /// Throws meshloom::Error if there is no file; one that cannot be read is an
  /// error when its turn comes.
  explicit TFRecordDataset(FileNames files, const FileOptions &options = {},
                           Where where = Where::current());
};

/// One value of a tf.train.Example: strings of bytes, floats or integers.
using Feature = std::variant<std::vector<std::string>, std::vector<float>,
                             std::vector<int64_t>>;
/// A tf.train.Example: values by name.
using Example = std::map<std::string, Feature>;

/// The record of an example: a protocol buffer, as tf.train.Example is.
std::string serialize_example(const Example &example);
/// The example of a record. Throws meshloom::Error if it is not an example.
Example
parse_example(std::string_view record,
              std::source_location where = std::source_location::current());

/// How `parse_single_example` reads a feature.
struct FeatureSpec {
  /// The shape of the tensor; -1 for the first extent: as many as there are
  /// values.
  Shape shape = {};
  /// f32 or f64 of floats; an integer type or i1 of integers; ui8 of one string
  /// of bytes, which are the elements; any other type of one string of bytes,
  /// which are the elements' bytes, little endian.
  DType dtype = DType::F32;
  /// Every element, where an example has no such feature. Without one that is
  /// an error.
  std::optional<double> default_value = {};
};
/// The tensors of a record, by name. Throws meshloom::Error, naming the
/// feature, if it is missing, of another kind, or has another number of values.
///
///   auto images = data::TFRecordDataset("train.tfrecord")
///                     .map([](const std::string &record) {
///                       return data::parse_single_example(
///                           record, {{"image", {{28, 28}, DType::UI8}},
///                                    {"label", {{}, DType::I64}}});
///                     });
std::map<std::string, Tensor> parse_single_example(
    std::string_view record, const std::map<std::string, FeatureSpec> &features,
    std::source_location where = std::source_location::current());

} // namespace meshloom::data
