// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Datasets in files: what they give, and what damaged files are refused with.
#include "meshloom/Data/TFRecord.h"

#include "../TemporaryFolder.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Ops.h"
#include "meshloom/Data/Idx.h"
#include "meshloom/Data/Npz.h"

#include <gmock/gmock.h>

#include <sys/stat.h>

using namespace meshloom;
using namespace meshloom::data;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;
using FilesTest = meshloom::test::TemporaryFolderTest;
using Texts = std::vector<std::string>;

namespace {

TEST_F(FilesTest, LinesOfText) {
  write("a.txt", "one\r\n\nthree\nfour");
  write("b.txt", "five\n");
  EXPECT_EQ(TextLineDataset({folder / "a.txt", folder / "b.txt"}).to_vector(),
            (Texts{"one", "", "three", "four", "five"}));
  auto files = list_files((folder / "*.t?t").string());
  EXPECT_EQ(files.to_vector(),
            (Texts{(folder / "a.txt").string(), (folder / "b.txt").string()}));
  auto lines = files.interleave(
      [](const std::string &file) { return TextLineDataset(file); },
      {.cycle_length = 2});
  EXPECT_EQ(lines.to_vector(), (Texts{"one", "five", "", "three", "four"}));
  auto iterator =
      TextLineDataset({folder / "none", folder / "b.txt"}).iterate();
  EXPECT_THAT(refusal([&] { iterator.next(); }),
              AllOf(HasSubstr("[TextLineDataset]"), HasSubstr("none'")));
  EXPECT_EQ(iterator.get_next(), "five") << "the file is passed over";
  EXPECT_THAT(refusal([&] { list_files((folder / "*.csv").string()); }),
              HasSubstr("no file matches"));
  EXPECT_THAT(
      refusal([] { TextLineDataset(std::vector<std::filesystem::path>()); }),
      HasSubstr("at least one file"));
}

// The checksum of RFC 3720's example, masked as the format says.
TEST_F(FilesTest, TFRecordChecksum) {
  EXPECT_EQ(masked_crc32c("123456789"), 0xc78ab0e5u);
}

TEST_F(FilesTest, TFRecordRoundTrip) {
  // A length whose bytes begin as gzip's do is still plain.
  Texts records = {std::string(0x8b1f, 'x'), "", std::string("\0\n", 2)};
  for (Compression packed : {Compression::None, Compression::Gzip}) {
    std::string path = (folder / "records").string();
    TFRecordWriter writer(path, packed);
    for (const std::string &record : records)
      writer.write(record);
    writer.flush();
    writer.close();
    EXPECT_THAT(refusal([&] { writer.write(""); }), HasSubstr("closed"));
    EXPECT_EQ(TFRecordDataset(path).to_vector(), records);
    EXPECT_EQ(TFRecordDataset(path, {packed}).to_vector(), records);
    bool isPlain = std::filesystem::file_size(path) > 0x8b1f;
    EXPECT_EQ(isPlain, packed == Compression::None);
  }
  EXPECT_THAT(refusal([] { TFRecordWriter("/nowhere/x"); }),
              HasSubstr("/nowhere/x"));
}

TEST_F(FilesTest, TFRecordRefusals) {
  std::string path = (folder / "records").string();
  TFRecordWriter writer(path);
  writer.write("first");
  writer.write("second");
  writer.close();
  std::string bytes = read("records");
  const size_t second = 12 + 5 + 4;
  auto reading = [&](const std::string &damaged) {
    write("records", damaged);
    auto iterator = TFRecordDataset(path).iterate();
    EXPECT_EQ(iterator.get_next(), "first");
    std::string why = refusal([&] { iterator.next(); });
    EXPECT_FALSE(iterator.next());
    return why;
  };
  for (size_t size = second + 1; size < bytes.size(); ++size)
    EXPECT_THAT(reading(bytes.substr(0, size)),
                AllOf(HasSubstr("records': the record at byte 21 is cut off")));
  for (size_t i = second; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 4;
    EXPECT_THAT(reading(damaged), AllOf(HasSubstr("at byte 21 is corrupt"),
                                        HasSubstr("records'")));
  }
  TFRecordWriter packed(path, Compression::Gzip);
  for (int i = 0; i < 100; ++i)
    packed.write(std::to_string(i * 7919));
  packed.close();
  bytes = read("records");
  write("records", bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(refusal([&] { TFRecordDataset(path).to_vector(); }),
              HasSubstr("cut off"));
}

// A file that holds no records or columns is named, and a pipe is not waited
// for.
TEST_F(FilesTest, OtherFilesAreNamed) {
  write("lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  write("page", "<!DOCTYPE html>\n<html><body>Not found</body></html>\n");
  const std::vector<CsvColumn> columns(2);
  for (const auto &[file, kind] :
       {std::pair("lfs", "Git LFS pointer"), std::pair("page", "web page")}) {
    EXPECT_THAT(refusal([&] { TFRecordDataset(folder / file).to_vector(); }),
                AllOf(HasSubstr("not a TFRecord file"), HasSubstr(kind)));
    EXPECT_THAT(
        refusal([&] { CsvDataset(folder / file, columns).to_vector(); }),
        AllOf(HasSubstr("expected 2 columns"), HasSubstr(kind)));
    EXPECT_THAT(refusal([&] { load_idx(folder / file); }),
                AllOf(HasSubstr("is not an IDX file"), HasSubstr(kind)));
    EXPECT_THAT(refusal([&] { load_npz(folder / file); }),
                AllOf(HasSubstr("is not a zip archive"), HasSubstr(kind)));
    EXPECT_THAT(refusal([&] { load_npy(folder / file); }), HasSubstr(kind));
  }
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { TextLineDataset(folder / "pipe").to_vector(); }),
              HasSubstr("it is a pipe"));
  EXPECT_THAT(refusal([&] { load_safetensors(folder / "pipe"); }),
              HasSubstr("it is a pipe"));
  EXPECT_THAT(refusal([&] { load_npz("/dev/zero"); }),
              HasSubstr("it is a device"));
}

// MNIST's files become tensors in one call.
TEST_F(FilesTest, IdxAsTensor) {
  write_idx(folder / "a", {DType::I32, {2, 1}, {1, 0, 0, 0, 2, 0, 0, 0}});
  const Tensor loaded = load_idx(folder / "a");
  EXPECT_EQ(loaded.shape(), (Shape{2, 1}));
  EXPECT_EQ(loaded.to_vector<int32_t>(), (std::vector<int32_t>{1, 2}));
}

TEST_F(FilesTest, Examples) {
  Example example = {{"pixels", std::vector<std::string>{"\1\2\3\4"}},
                     {"scores", std::vector<float>{.5f, 2}},
                     {"label", std::vector<int64_t>{-3}}};
  std::string record = serialize_example(example);
  EXPECT_EQ(parse_example(record), example);
  // The expected bytes follow protobuf's encoding, by hand.
  EXPECT_EQ(serialize_example({{"label", std::vector<int64_t>{5}}}),
            "\x0a\x10\x0a\x0e\x0a\x05"
            "label\x12\x05\x1a\x03\x0a\x01\x05");
  auto tensors =
      parse_single_example(record, {{"pixels", {{2, 2}, DType::UI8}},
                                    {"scores", {{-1}, DType::F32}},
                                    {"label", {{}, DType::I32}},
                                    {"weight", {{2}, DType::F32, 1.5}}});
  EXPECT_EQ(tensors["pixels"].shape(), Shape({2, 2}));
  EXPECT_EQ(tensors["pixels"].to_vector<int32_t>().back(), 4);
  EXPECT_EQ(tensors["scores"].to_vector<float>(), (std::vector<float>{.5f, 2}));
  EXPECT_EQ(tensors["label"].item<int32_t>(), -3);
  EXPECT_EQ(tensors["weight"].to_vector<float>(),
            (std::vector<float>{1.5f, 1.5f}));
  auto refused = [&](const char *name, const FeatureSpec &spec) {
    return refusal([&] { parse_single_example(record, {{name, spec}}); });
  };
  EXPECT_THAT(refused("none", {}), HasSubstr("feature 'none': there is none"));
  EXPECT_THAT(refused("scores", {{3}}), HasSubstr("2 values, shape [3]"));
  EXPECT_THAT(refused("scores", {{2}, DType::I32}), HasSubstr("holds floats"));
  EXPECT_THAT(refused("label", {{}, DType::UI8}),
              HasSubstr("-3 is not of type ui8"));
  EXPECT_THAT(refusal([] { parse_example("\x0a\xff"); }),
              HasSubstr("not a tf.train.Example"));
}

TEST_F(FilesTest, FixedLengthRecords) {
  write("records", "HHabcdefF");
  std::string path = (folder / "records").string();
  FixedLengthRecordDataset records(path, 3,
                                   {.header_bytes = 2, .footer_bytes = 1});
  auto bytes = records.batch(9).iterate().get_next();
  EXPECT_EQ(bytes.shape(), Shape({2, 3}));
  EXPECT_EQ(bytes.to_vector<int32_t>(),
            (std::vector<int32_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  FixedLengthRecordDataset uneven(path, 4);
  EXPECT_THAT(refusal([&] { uneven.to_vector(); }),
              AllOf(HasSubstr("1 bytes into the record at byte 8"),
                    HasSubstr("records'")));
  EXPECT_THAT(refusal([&] { FixedLengthRecordDataset(path, 0); }),
              HasSubstr("at least one byte"));
}

TEST_F(FilesTest, Csv) {
  write("a.csv", "x,y,class\n1.5,2,7\n-1e3,,\"8\"\n\n");
  std::string path = (folder / "a.csv").string();
  CsvDataset rows(path, {{}, {DType::F64, 9.}, {DType::I64}}, {.header = true});
  auto columns = rows.batch(5).iterate().get_next();
  EXPECT_EQ(columns[0].to_vector<float>(), (std::vector<float>{1.5f, -1000}));
  EXPECT_EQ(columns[1].to_vector<double>(), (std::vector<double>{2, 9}));
  EXPECT_EQ(columns[2].to_vector<int64_t>(), (std::vector<int64_t>{7, 8}));
  CsvDataset last(path, {{DType::UI8}},
                  {.header = true, .select_columns = {2}});
  EXPECT_EQ(last.to_vector().size(), 2u);
  EXPECT_EQ(parse_csv_line("a,\"b,\"\"c\"\"\",", ','),
            (Texts{"a", "b,\"c\"", ""}));

  auto refused = [&](const std::string &text) {
    write("a.csv", text);
    return refusal([&] { CsvDataset(path, {{}, {DType::I32}}).to_vector(); });
  };
  EXPECT_THAT(refused("1,2\n1,2,3\n"),
              HasSubstr("a.csv', line 2: expected 2 columns, got 3"));
  EXPECT_THAT(refused("1,2.5\n"),
              HasSubstr("line 1: column 1: '2.5' is not of type i32"));
  EXPECT_THAT(refused("x,1\n"), HasSubstr("column 0: 'x' is not of type f32"));
  EXPECT_THAT(refused("1,\n"), HasSubstr("default_value"));
  EXPECT_THAT(refused("1,3000000000\n"), HasSubstr("not of type i32"));
  EXPECT_THAT(refused("1,\"2\n\n"), HasSubstr("quote"));
}

TEST_F(FilesTest, Arrays) {
  save_npy(folder / "x.npy", tensor({{1.f, 2.f}, {3.f, 4.f}}));
  EXPECT_EQ(from_npy(folder / "x.npy")
                .skip(1)
                .iterate()
                .get_next()
                .to_vector<float>(),
            (std::vector<float>{3, 4}));
  write_idx(folder / "x.idx", {DType::UI8, {3}, {7, 8, 9}});
  EXPECT_EQ(from_idx(folder / "x.idx")
                .batch(3)
                .iterate()
                .get_next()
                .to_vector<int32_t>(),
            (std::vector<int32_t>{7, 8, 9}));
}

TEST_F(FilesTest, FilesAreDividedAmongWorkers) {
  for (const char *name : {"0", "1", "2"})
    write(name, name);
  auto lines = TextLineDataset({folder / "0", folder / "1", folder / "2"})
                   .shuffle(1)
                   .batch(1);
  EXPECT_EQ(data::detail::fileCountOf(*lines.source()), 3);
  Dataset<std::string> part(data::detail::shardFiles(lines.source(), 2, 0));
  EXPECT_EQ(part.to_vector(), (Texts{"0", "2"}));
  EXPECT_THAT(refusal([&] { data::detail::shardFiles(lines.source(), 4, 0); }),
              HasSubstr("3 files"));
  EXPECT_EQ(data::detail::shardFiles(range(3).source(), 2, 0), nullptr);
}

TEST_F(FilesTest, StrategiesFillInShardHints) {
  auto hinted = range(6).shard(shard_hint, shard_hint).batch(2);
  EXPECT_EQ(hinted.cardinality(), 3);
  Dataset<Tensor> part(data::detail::shardHints(hinted.source(), 3, 1));
  EXPECT_EQ(part.iterate().get_next().to_vector<int64_t>(),
            (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(data::detail::shardHints(range(3).source(), 2, 0), nullptr);
}

TEST_F(FilesTest, SplitSlices) {
  auto part = [](const char *text) {
    std::vector<int64_t> numbers;
    for (const Tensor &x : slice(range(10), text))
      numbers.push_back(x.item<int64_t>());
    return numbers;
  };
  using Numbers = std::vector<int64_t>;
  EXPECT_EQ(part("[:3]"), (Numbers{0, 1, 2}));
  EXPECT_EQ(part("[-10%:]"), (Numbers{9}));
  EXPECT_EQ(part("[75%:-1]"), (Numbers{8}));
  EXPECT_EQ(part("[4:2]"), Numbers());
  EXPECT_EQ(part("[:50]").size(), 10u);
  std::map<std::string, Dataset<Tensor>> splits{{"train", range(10)},
                                                {"test", range(4)}};
  EXPECT_EQ(slices(splits, "train[80%:]+test").cardinality(), 6);
  EXPECT_THAT(refusal([&] { slices(splits, "valid[:1]"); }),
              AllOf(HasSubstr("'valid'"), HasSubstr("test, train")));
  for (const char *text :
       {"train[", "train[3]", "train[a:]", "[1.5:]", "[:200%]"})
    EXPECT_THAT(refusal([&] { parse_split(text); }), HasSubstr(text));
}

} // namespace
