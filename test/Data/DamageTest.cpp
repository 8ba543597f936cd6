// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are damaged: whatever comes whole before the damage is given, and
// the error names the file and the place. And CSV in all its forms.
#include "meshloom/Data/TFRecord.h"

#include "../TemporaryFolder.h"
#include "meshloom/API/Create.h"
#include "meshloom/Data/Idx.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::data;
using namespace meshloom::test;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using DamageTest = meshloom::test::TemporaryFolderTest;
using Texts = std::vector<std::string>;

namespace {

struct Outcome {
  Texts elements;
  std::string error; ///< empty: none
};
/// Reads until the first error, or until the end.
Outcome outcomeOf(const Dataset<std::string> &dataset) {
  Outcome outcome;
  auto iterator = dataset.iterate();
  try {
    while (auto element = iterator.next())
      outcome.elements.push_back(*element);
  } catch (const std::exception &error) {
    outcome.error = error.what();
    EXPECT_FALSE(iterator.next()) << "the file's rest is passed over";
  }
  return outcome;
}
bool isPrefix(const Texts &part, const Texts &whole) {
  return part.size() <= whole.size() &&
         std::equal(part.begin(), part.end(), whole.begin());
}
Texts firstOf(const Texts &texts, size_t n) {
  return {texts.begin(), texts.begin() + ptrdiff_t(n)};
}

const Texts records = {"first", "", std::string(40, 'x'), "last"};
void writeRecords(const std::filesystem::path &path, Compression packed) {
  TFRecordWriter writer(path, packed);
  for (const std::string &record : records)
    writer.write(record);
  writer.close();
}
/// Where each record of the plain file begins, and the file's end.
std::vector<size_t> recordBegins() {
  std::vector<size_t> begins{0};
  for (const std::string &record : records)
    begins.push_back(begins.back() + 12 + record.size() + 4);
  return begins;
}

TEST_F(DamageTest, PlainRecords) {
  const std::filesystem::path path = folder / "r.tfrecord";
  writeRecords(path, Compression::None);
  const std::string bytes = read("r.tfrecord");
  const std::vector<size_t> begins = recordBegins();
  ASSERT_EQ(begins.back(), bytes.size());
  auto recordAt = [&](size_t byte) {
    return size_t(std::ranges::upper_bound(begins, byte) - begins.begin()) - 1;
  };
  for (size_t size = 0; size <= bytes.size(); ++size) {
    write("r.tfrecord", bytes.substr(0, size));
    const Outcome outcome = outcomeOf(TFRecordDataset(path));
    const size_t whole = recordAt(size);
    EXPECT_EQ(outcome.elements, firstOf(records, whole)) << size;
    if (begins[whole] == size)
      EXPECT_EQ(outcome.error, "") << "nothing tells that there was more";
    else
      EXPECT_THAT(outcome.error,
                  HasSubstr("r.tfrecord': the record at byte " +
                            std::to_string(begins[whole]) + " is cut off"));
  }
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char flipped : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] ^= flipped;
      write("r.tfrecord", damaged);
      const Outcome outcome = outcomeOf(TFRecordDataset(path));
      EXPECT_EQ(outcome.elements, firstOf(records, recordAt(i))) << i;
      EXPECT_THAT(outcome.error, HasSubstr("r.tfrecord': the record at byte " +
                                           std::to_string(begins[recordAt(i)]) +
                                           " is corrupt"));
    }
  // The next file's records come behind the error.
  writeRecords(folder / "next", Compression::None);
  auto both = TFRecordDataset({path, folder / "next"}).iterate();
  for (size_t i = 0; i + 1 < records.size(); ++i)
    both.get_next();
  EXPECT_THAT(refusal([&] { both.next(); }), HasSubstr("corrupt"));
  EXPECT_EQ(both.get_next(), "first");
}

TEST_F(DamageTest, PackedRecords) {
  const std::filesystem::path path = folder / "r.gz";
  writeRecords(path, Compression::Gzip);
  const std::string bytes = read("r.gz");
  for (Compression packed : {Compression::Gzip, Compression::Auto}) {
    auto damagedBy = [&](const std::string &damaged) {
      write("r.gz", damaged);
      Outcome outcome = outcomeOf(TFRecordDataset(path, {packed}));
      EXPECT_TRUE(isPrefix(outcome.elements, records));
      if (!outcome.error.empty())
        EXPECT_THAT(outcome.error,
                    AllOf(HasSubstr("r.gz'"), HasSubstr("at byte "),
                          AnyOf(HasSubstr("cut off"), HasSubstr("corrupt"))));
      return outcome;
    };
    // By its name an empty file is packed, and cut off.
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_NE(damagedBy(bytes.substr(0, size)).error, "") << size;
    EXPECT_EQ(damagedBy(bytes.substr(0, bytes.size() - 1)).elements, records)
        << "all are whole";
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] ^= 0x10;
      const Outcome outcome = damagedBy(damaged);
      // Time and system say nothing about the data, nor do the bits that fill
      // the last byte before the checksum.
      if (i < 3 || (i >= 10 && i + 9 != bytes.size()))
        EXPECT_NE(outcome.error, "") << i;
      else if (outcome.error.empty())
        EXPECT_EQ(outcome.elements, records) << i;
    }
  }
  // A longer file gives much before the damage.
  TFRecordWriter writer(path, Compression::Gzip);
  for (uint32_t i = 0; i < 400; ++i)
    writer.write(std::to_string(i * 2654435761u));
  writer.close();
  std::string longer = read("r.gz");
  longer[longer.size() / 2] ^= 0x55;
  write("r.gz", longer);
  const Outcome outcome = outcomeOf(TFRecordDataset(path));
  EXPECT_GT(outcome.elements.size(), 20u);
  EXPECT_THAT(outcome.error, HasSubstr("corrupt"));
}

// A packed file that is damaged where it is recognized is not read as plain
// text.
TEST_F(DamageTest, TheNameTellsThatAFileIsPacked) {
  writeRecords(folder / "t.gz", Compression::Gzip);
  std::string bytes = read("t.gz");
  bytes[1] ^= 1;
  write("t.gz", bytes);
  const Outcome outcome = outcomeOf(TextLineDataset(folder / "t.gz"));
  EXPECT_EQ(outcome.elements, Texts());
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("t.gz' is corrupt at byte"),
                    HasSubstr("it is named .gz"),
                    HasSubstr("say Compression::None if it is plain")));
  write("t.gz", "plain\n");
  EXPECT_EQ(
      outcomeOf(TextLineDataset(folder / "t.gz", {Compression::None})).elements,
      Texts{"plain"});
  write("t", "plain\n");
  EXPECT_EQ(outcomeOf(TextLineDataset(folder / "t")).elements, Texts{"plain"});
}

// Members may be several, zeros may stand behind them, and nothing else: a
// second one that is damaged is not left out in silence.
TEST_F(DamageTest, MembersOfGzip) {
  const std::string path = (folder / "t").string();
  auto member = [&](const std::string &text) {
    TFRecordWriter writer(folder / "m", Compression::Gzip);
    writer.write(text);
    writer.close();
    return read("m");
  };
  const std::string one = member("one"), two = member("two");
  auto readingOf = [&](const std::string &bytes) {
    write("t", bytes);
    return outcomeOf(TFRecordDataset(path));
  };
  EXPECT_EQ(readingOf(one + two).elements, (Texts{"one", "two"}));
  EXPECT_EQ(readingOf(one + std::string(70000, '\0') + two).elements,
            (Texts{"one", "two"}));
  Outcome padded = readingOf(one + std::string(512, '\0'));
  EXPECT_EQ(padded.elements, (Texts{"one"}));
  EXPECT_EQ(padded.error, "");
  for (const std::string &tail : {std::string("x" + two.substr(1)),
                                  std::string("text"), two.substr(0, 12)}) {
    Outcome outcome = readingOf(one + tail);
    EXPECT_EQ(outcome.elements, (Texts{"one"}));
    EXPECT_THAT(outcome.error, HasSubstr("t' is "));
  }
  write("t", "plain\n");
  EXPECT_THAT(outcomeOf(TextLineDataset(path, {Compression::Gzip})).error,
              AllOf(HasSubstr("[TextLineDataset] "), HasSubstr("t' is corrupt"),
                    HasSubstr("header")));
  EXPECT_EQ(outcomeOf(TextLineDataset(path)).elements, (Texts{"plain"}));
}

TEST_F(DamageTest, Arrays) {
  save_npy(folder / "x.npy", tensor({{1.f, 2.f}, {3.f, 4.f}}));
  const std::string npy = read("x.npy");
  for (size_t size = 0; size < npy.size(); ++size) {
    write("x.npy", npy.substr(0, size));
    EXPECT_THAT(refusal([&] { from_npy(folder / "x.npy"); }),
                HasSubstr("x.npy'"))
        << size;
  }
  // Damage of the header is refused, or another shape or type of as many bytes.
  for (size_t i = 0; i + 16 < npy.size(); ++i)
    for (char flipped : {'\x01', '\x80', '\xff'}) {
      std::string damaged = npy;
      damaged[i] ^= flipped;
      write("x.npy", damaged);
      try {
        int64_t count = 0;
        for (const Tensor &row : from_npy(folder / "x.npy"))
          count += elementCount(row.shape());
        EXPECT_EQ(count, 4) << i;
      } catch (const Error &error) {
        EXPECT_THAT(error.what(), HasSubstr("x.npy'"));
      }
    }
  write_idx(folder / "x.idx", {DType::I32, {2, 2}, std::vector<char>(16)});
  const std::string idx = read("x.idx");
  for (size_t size = 0; size < idx.size(); ++size) {
    write("x.idx", idx.substr(0, size));
    EXPECT_THAT(refusal([&] { from_idx(folder / "x.idx"); }),
                HasSubstr("x.idx'"))
        << size;
  }
}

/// The numbers of each record of a file of two columns.
struct Csv {
  std::vector<std::vector<float>> rows;
  std::string error;
};
Csv csv(const std::filesystem::path &path, const CsvOptions &options = {}) {
  Csv read;
  try {
    for (const std::vector<Tensor> &row :
         CsvDataset(path, {{}, {DType::F32, -1.}}, options))
      read.rows.push_back({row[0].item<float>(), row[1].item<float>()});
  } catch (const std::exception &error) {
    read.error = error.what();
  }
  return read;
}

TEST_F(DamageTest, CsvForms) {
  const std::filesystem::path path = folder / "a.csv";
  using Rows = std::vector<std::vector<float>>;
  auto rowsOf = [&](const std::string &text, const CsvOptions &options = {}) {
    write("a.csv", text);
    Csv read = csv(path, options);
    EXPECT_EQ(read.error, "") << text;
    return read.rows;
  };
  const Rows two = {{1, 2}, {3, -1}};
  for (const char *text :
       {"1,2\n3,\n", "1,2\n3,", "1,2\r\n3,\r\n", "1,2\r\n3,\r", "\n1,2\n\n\n3,",
        "\r\n1,2\r\n\r\n3,\r\n\r\n", "\"1\",\"2\"\n\"3\",\"\"\n",
        " 1 , +2 \n3, \n", "\"1\" ,2\n3,\n", "\xEF\xBB\xBF\"1\",2\n3,\n"})
    EXPECT_EQ(rowsOf(text), two) << text;
  EXPECT_EQ(rowsOf(""), Rows());
  EXPECT_EQ(rowsOf("a,b\n", {.header = true}), Rows());
  // Text with quotes, delimiters and line breaks in columns that are not taken.
  CsvOptions some{.header = true, .select_columns = {0, 2}};
  EXPECT_EQ(rowsOf("a,\"b\nb\",\"c \"\"c\"\"\"\r\n"
                   "1,\"one, \"\"two\"\"\r\n\r\nthree\",2\r\n"
                   "3,5\" wide,,4",
                   some),
            two);
  EXPECT_EQ(rowsOf("1;2\n3;\n", {.delimiter = ';'}), two);

  auto refused = [&](const std::string &text, const CsvOptions &options = {}) {
    write("a.csv", text);
    Csv read = csv(path, options);
    EXPECT_EQ(read.rows, (Rows{{1, 2}})) << text;
    EXPECT_THAT(read.error, HasSubstr("[CsvDataset] '"));
    return read.error;
  };
  EXPECT_THAT(refused("1,2\n\n3\n4,5\n"),
              HasSubstr("a.csv', line 3: expected 2 columns, got 1"));
  EXPECT_THAT(refused("1,2\n3,4,\n"),
              HasSubstr("line 2: expected 2 columns, got 3"));
  EXPECT_THAT(refused("a,b,c\n1,x,2\n3,4\n", some),
              HasSubstr("line 3: expected at least 3 columns, got 2"));
  // The line is the one that the record begins with.
  EXPECT_THAT(refused("1,2\n\"3\n\n\",x\n"),
              HasSubstr("line 2: column 1: 'x'"));
  EXPECT_THAT(refused("1,2\n3,\"4\n5,6\n7,8\n"),
              HasSubstr("line 2: the quote of column 1 is not closed"));
  EXPECT_THAT(refused("1,2\n\"3\"4,5\n"),
              HasSubstr("line 2: column 0 continues after its closing quote"));
  EXPECT_THAT(refused("1,2\n+-3,4\n"), HasSubstr("'+-3' is not of type f32"));
  EXPECT_THAT(refused("1,2\n,4\n"), HasSubstr("column 0 is empty"));
  EXPECT_THAT(refusal([] { parse_csv_line("a,\"b\"c"); }),
              AllOf(HasSubstr("column 1"), HasSubstr("'a,\"b\"c'")));
  EXPECT_EQ(parse_csv_line("\"\",\"\"\"\",\"a\nb\""),
            (Texts{"", "\"", "a\nb"}));
  // A quote that is never closed takes time by the file's size, not its square.
  write("a.csv", "1,2\n\"" + std::string(200000, '\n'));
  EXPECT_THAT(csv(path).error, HasSubstr("line 2: the quote of column 0"));
}

TEST_F(DamageTest, CsvCutOffAnywhere) {
  const std::string text = "1,2\r\n\"3\",\"\"\r\n5,6\r\n";
  for (size_t size = 0; size <= text.size(); ++size) {
    write("a.csv", text.substr(0, size));
    Csv read = csv(folder / "a.csv");
    if (!read.error.empty())
      EXPECT_THAT(read.error, AllOf(HasSubstr("a.csv', line "),
                                    AnyOf(HasSubstr("expected 2 columns"),
                                          HasSubstr("not closed"))));
    EXPECT_GE(read.rows.size(), size >= 14 ? 2u : size >= 3 ? 1u : 0u) << size;
  }
}

} // namespace
