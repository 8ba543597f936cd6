// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IDX files: what is written is read, plain and packed; and every kind of
// damage is refused with a message that names it.
#include "meshloom/Data/Idx.h"

#include "../TemporaryFolder.h"
#include "meshloom/Core/Result.h"

#include <cstring>
#include <gmock/gmock.h>
#include <zlib.h>

using namespace meshloom;
using namespace meshloom::data;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;
using IdxTest = meshloom::test::TemporaryFolderTest;

namespace {
std::string gzip(const std::string &bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, 0);
  stream.next_in = (Bytef *)bytes.data();
  stream.avail_in = uInt(bytes.size());
  stream.next_out = (Bytef *)out.data();
  stream.avail_out = uInt(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// An array of a type and shape, with some content.
IdxArray sample(DType type, Shape shape) {
  IdxArray array{type, shape, {}};
  for (int64_t i = 0; i < elementCount(shape) * byteWidth(type); ++i)
    array.bytes.push_back(char(i * 37 + 11));
  return array;
}

/// The bytes of [[1, 2], [3, 4]] as ui8.
const std::string small{"\0\0\x08\x02\0\0\0\x02\0\0\0\x02\1\2\3\4", 16};

// Every type and shape comes back, plain and packed.
TEST_F(IdxTest, RoundTrip) {
  for (DType type : {DType::UI8, DType::I8, DType::I32, DType::F32, DType::F64})
    for (Shape shape : {Shape{}, Shape{0}, Shape{7}, Shape{3, 0, 2},
                        Shape{5, 28, 28}, Shape{2, 3, 4, 5}}) {
      IdxArray array = sample(type, shape);
      write_idx(folder / "a", array);
      EXPECT_EQ(read_idx(folder / "a"), array);
      write("a.gz", gzip(read("a")));
      EXPECT_EQ(read_idx(folder / "a.gz"), array);
    }
}

// The format's own bytes: big endian.
TEST_F(IdxTest, ReadsTheFormat) {
  IdxArray array = parse_idx(small, "small");
  EXPECT_EQ(array.type, DType::UI8);
  EXPECT_EQ(array.shape, Shape({2, 2}));
  EXPECT_EQ(array.bytes, std::vector<char>({1, 2, 3, 4}));
  array = parse_idx(std::string("\0\0\x0c\x01\0\0\0\x01\0\0\x01\x02", 12), "i");
  int32_t value;
  std::memcpy(&value, array.bytes.data(), 4);
  EXPECT_EQ(value, 258);
  write_idx(folder / "small", parse_idx(small, "small"));
  EXPECT_EQ(read("small"), small);
}

// Packed is told by the content: .gz may be missing, members may be several.
TEST_F(IdxTest, GzipIsToldByContent) {
  write("no-suffix", gzip(small));
  EXPECT_EQ(read_idx(folder / "no-suffix"), parse_idx(small, ""));
  std::string members = gzip(small.substr(0, 5)) + gzip(small.substr(5));
  EXPECT_EQ(parse_idx(members, ""), parse_idx(small, ""));
}

// Cut anywhere, a file is refused; plain or packed.
TEST_F(IdxTest, RefusesEveryTruncation) {
  std::string packed = gzip(small);
  for (size_t n = 0; n < small.size(); ++n)
    EXPECT_THROW(parse_idx(small.substr(0, n), "cut"), Error) << n;
  for (size_t n = 0; n < packed.size(); ++n)
    EXPECT_THROW(parse_idx(packed.substr(0, n), "cut"), Error) << n;
  EXPECT_THAT(refusal([] { parse_idx(small.substr(0, 14), "cut"); }),
              AllOf(HasSubstr("'cut' is truncated"),
                    HasSubstr("shape [2, 2], 4 bytes), but there are only 2")));
  EXPECT_THAT(refusal([] { parse_idx(small.substr(0, 9), "cut"); }),
              HasSubstr("header says 2 dims, but it ends after 9 bytes"));
  EXPECT_THAT(refusal([&] { parse_idx(packed.substr(0, 20), "cut"); }),
              HasSubstr("gzip data end early"));
}

// Every changed bit of packed data is noticed (zlib's checksum), but for those
// of the gzip header that say nothing about the data.
TEST_F(IdxTest, RefusesCorruptGzip) {
  std::string packed = gzip(small);
  for (size_t i = 10; i < packed.size(); ++i) {
    std::string damaged = packed;
    damaged[i] ^= 0x10;
    EXPECT_THROW(parse_idx(damaged, "damaged"), Error) << i;
  }
}

TEST_F(IdxTest, RefusesWhatIsMislabelled) {
  auto with = [](size_t position, char byte) {
    std::string bytes = small;
    bytes[position] = byte;
    return refusal([&] { parse_idx(bytes, "f"); });
  };
  EXPECT_THAT(with(0, 1), HasSubstr("'f' is not an IDX file"));
  EXPECT_THAT(with(2, 0x0B), HasSubstr("16-bit elements"));
  EXPECT_THAT(with(2, 0x42), HasSubstr("element type 0x42"));
  EXPECT_THAT(with(2, 0x0D), HasSubstr("4 elements of f32 (shape [2, 2], 16"));
  EXPECT_THAT(with(7, 1), AllOf(HasSubstr("is mislabelled"),
                                HasSubstr("at least 4 bytes")));
  EXPECT_THAT(with(3, 3), HasSubstr("truncated"));
  // A header that asks for more than there can be is damage, not memory.
  std::string huge("\0\0\x08\x04", 4);
  huge += std::string(16, '\xff');
  EXPECT_THAT(refusal([&] { parse_idx(huge, "f"); }), HasSubstr("is damaged"));
  EXPECT_THAT(refusal([&] { parse_idx(gzip(huge), "f"); }),
              HasSubstr("is damaged"));
  EXPECT_THAT(refusal([&] { parse_idx(gzip(small + "x"), "f"); }),
              HasSubstr("is mislabelled"));
}

TEST_F(IdxTest, RefusesMissingFiles) {
  EXPECT_THAT(refusal([&] { read_idx(folder / "none"); }),
              AllOf(HasSubstr("[read_idx]"), HasSubstr("none")));
  EXPECT_THAT(refusal([&] { read_idx(folder); }), HasSubstr("directory"));
  EXPECT_THAT(refusal([&] {
                write_idx(folder / "no" / "such", sample(DType::UI8, {1}));
              }),
              HasSubstr("[write_idx]"));
}

TEST_F(IdxTest, RefusesToWriteWhatIdxCannotHold) {
  EXPECT_THAT(
      refusal([&] { write_idx(folder / "a", sample(DType::I64, {1})); }),
      HasSubstr("no element type for i64"));
  IdxArray array = sample(DType::I32, {3});
  array.bytes.pop_back();
  EXPECT_THAT(refusal([&] { write_idx(folder / "a", array); }),
              HasSubstr("takes 12 bytes, but 11 are given"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
}

} // namespace
