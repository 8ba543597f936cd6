// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npz files: what NumPy 2 wrote is read, packed or not, and load_keras_weights
// takes it; damage of every kind is refused, never believed.
#include "meshloom/Data/Npz.h"

#include "../TemporaryFolder.h"
#include "meshloom/Meshloom.h"
#include "meshloom/Support/Npy.h"

#include <fstream>
#include <gmock/gmock.h>
#include <zlib.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::ElementsAre;
using testing::HasSubstr;
using NpzTest = meshloom::test::TemporaryFolderTest;

namespace {

// numpy.savez(file, **{"dense/kernel": [[1, 2], [3, 4]] of f4, "n": 7 of i8}).
constexpr char stored[] =
    "PK\003\004-\000\000\000\000\000\000\000!\000N\373 u\377\377\377\377"
    "\377\377\377\377\020\000\024\000dense/kernel.npy\001\000\020\000\220"
    "\000\000\000\000\000\000\000\220\000\000\000\000\000\000\000\223NUMP"
    "Y\001\000v\000{'descr': '<f4', 'fortran_order': False, 'shape': (2, "
    "2), }                                                          \012"
    "\000\000\200\077\000\000\000@\000\000@@\000\000\200@PK\003\004-\000"
    "\000\000\000\000\000\000!\000#\270\360l\377\377\377\377\377\377\377"
    "\377\005\000\024\000n.npy\001\000\020\000\210\000\000\000\000\000"
    "\000\000\210\000\000\000\000\000\000\000\223NUMPY\001\000v\000{'desc"
    "r': '<i8', 'fortran_order': False, 'shape': (), }                   "
    "                                           \012\007\000\000\000\000"
    "\000\000\000PK\001\002-\003-\000\000\000\000\000\000\000!\000N\373 u"
    "\220\000\000\000\220\000\000\000\020\000\000\000\000\000\000\000\000"
    "\000\000\000\200\001\000\000\000\000dense/kernel.npyPK\001\002-\003-"
    "\000\000\000\000\000\000\000!\000#\270\360l\210\000\000\000\210\000"
    "\000\000\005\000\000\000\000\000\000\000\000\000\000\000\200\001\322"
    "\000\000\000n.npyPK\005\006\000\000\000\000\002\000\002\000q\000\000"
    "\000\221\001\000\000\000\000";
// numpy.savez_compressed of the same.
constexpr char packed[] =
    "PK\003\004-\000\000\000\010\000\000\000!\000N\373 u\377\377\377\377"
    "\377\377\377\377\020\000\024\000dense/kernel.npy\001\000\020\000\220"
    "\000\000\000\000\000\000\000S\000\000\000\000\000\000\000\233\354"
    "\027\352\033\020\311\310P\306P\255\236\222Z\234\134\244n\245\240n"
    "\223f\242\256\243\240\236\226_TR\224\230\027\237_\224\222\012\022wK"
    "\314)N\005\212\027g$\026\244\002\371\032F:\012F\232:\012\265\012d"
    "\003.\006\206\006{\006\006\006\007 \002\342\006\007\000PK\003\004-"
    "\000\000\000\010\000\000\000!\000#\270\360l\377\377\377\377\377\377"
    "\377\377\005\000\024\000n.npy\001\000\020\000\210\000\000\000\000"
    "\000\000\000F\000\000\000\000\000\000\000\233\354\027\352\033\020"
    "\311\310P\306P\255\236\222Z\234\134\244n\245\240n\223i\241\256\243"
    "\240\236\226_TR\224\230\027\237_\224\222\012\022wK\314)N\005\212\027"
    "g$\026\244\002\371\032\232:\012\265\012\024\001.v\006\010\000\000PK"
    "\001\002-\003-\000\000\000\010\000\000\000!\000N\373 uS\000\000\000"
    "\220\000\000\000\020\000\000\000\000\000\000\000\000\000\000\000\200"
    "\001\000\000\000\000dense/kernel.npyPK\001\002-\003-\000\000\000\010"
    "\000\000\000!\000#\270\360lF\000\000\000\210\000\000\000\005\000\000"
    "\000\000\000\000\000\000\000\000\000\200\001\225\000\000\000n.npyPK"
    "\005\006\000\000\000\000\002\000\002\000q\000\000\000\022\001\000"
    "\000\000\000";

template <size_t N> std::string bytesOf(const char (&literal)[N]) {
  return std::string(literal, N - 1);
}

std::string errorOfNpz(const std::string &bytes) {
  try {
    data::parse_npz(bytes, "w.npz");
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

TEST(NpzBytesTest, ArchivesOfNumPyAreRead) {
  for (const std::string &bytes : {bytesOf(stored), bytesOf(packed)}) {
    const data::NamedTensors arrays = data::parse_npz(bytes, "w.npz");
    ASSERT_EQ(arrays.size(), 2u);
    const Tensor &kernel = arrays.at("dense/kernel");
    EXPECT_EQ(kernel.shape(), (Shape{2, 2}));
    EXPECT_THAT(kernel.to_vector<float>(), ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(arrays.at("n").item<int64_t>(), 7);
  }
}

TEST(NpzBytesTest, OtherFilesSayWhy) {
  EXPECT_THAT(errorOfNpz(""), HasSubstr("'w.npz': it is not a zip archive"));
  EXPECT_THAT(errorOfNpz(std::string(64, 'x')),
              HasSubstr("is not a zip archive"));
  EXPECT_THAT(errorOfNpz(bytesOf(stored).substr(0, 200)),
              HasSubstr("cut short: a zip archive ends with its directory"));
  std::string other = bytesOf(stored);
  for (size_t position; (position = other.find("n.npy")) != std::string::npos;)
    other.replace(position, 5, "n.txt");
  EXPECT_THAT(errorOfNpz(other),
              HasSubstr("contains 'n.txt', so it is not an .npz"));
  std::string changed = bytesOf(stored);
  changed[changed.find("descr")] = 'D';
  EXPECT_THAT(errorOfNpz(changed), HasSubstr("does not match its checksum"));
}

/// Zip archives, member by member, whose directory may say anything.
class ZipWriter {
public:
  /// Adds a member and returns where it begins.
  size_t add(const std::string &name, const std::string &content) {
    const size_t begin = bytes.size();
    bytes += "PK\3\4" + fields(name, content) + number(0, 2) + name + content;
    point(name, content, begin);
    return begin;
  }
  /// Adds an entry of the directory alone.
  void point(const std::string &name, const std::string &content,
             size_t begin) {
    directory += "PK\1\2" + number(20, 2) + fields(name, content) +
                 number(0, 2) + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(begin, 4) + name;
    ++count;
  }
  std::string finish() const {
    return bytes + directory + "PK\5\6" + number(0, 4) + number(count, 2) +
           number(count, 2) + number(directory.size(), 4) +
           number(bytes.size(), 4) + number(0, 2);
  }

private:
  static std::string number(uint64_t value, int width) {
    std::string text;
    for (int i = 0; i < width; ++i)
      text += char(value >> (8 * i));
    return text;
  }
  static std::string fields(const std::string &name,
                            const std::string &content) {
    const uLong sum = crc32_z(
        0, reinterpret_cast<const Bytef *>(content.data()), content.size());
    return number(20, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
           number(sum, 4) + number(content.size(), 4) +
           number(content.size(), 4) + number(name.size(), 2);
  }
  std::string bytes, directory;
  uint64_t count = 0;
};

// The same bytes as thousands of members would fill the memory from a small
// file.
TEST(NpzBytesTest, MembersThatShareNamesOrBytesAreRefused) {
  const int64_t one = 1;
  const std::string array = formatNpy(
      DType::I64, {}, {reinterpret_cast<const char *>(&one), sizeof one});
  ZipWriter apart;
  apart.add("a.npy", array);
  apart.add("b.npy", array);
  EXPECT_EQ(data::parse_npz(apart.finish(), "w.npz").size(), 2u);
  ZipWriter twice;
  twice.add("a.npy", array);
  twice.add("a.npy", array);
  EXPECT_THAT(errorOfNpz(twice.finish()), HasSubstr("'a.npy' twice"));
  ZipWriter shared;
  const size_t begin = shared.add("a.npy", array);
  shared.point("a.npy", array, begin);
  EXPECT_THAT(errorOfNpz(shared.finish()), HasSubstr("share bytes"));
  ZipWriter renamed;
  renamed.point("b.npy", array, renamed.add("a.npy", array));
  EXPECT_THAT(errorOfNpz(renamed.finish()),
              HasSubstr("'b.npy' has a different name in its own header"));
}

// Whatever byte is another one: an error, or what was there (a date).
TEST(NpzBytesTest, DamageIsRefused) {
  for (const std::string &bytes : {bytesOf(stored), bytesOf(packed)}) {
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_NE(errorOfNpz(bytes.substr(0, size)), "no error") << size;
    for (size_t position = 0; position < bytes.size(); ++position)
      for (int change : {1, 0x80, 0xff}) {
        std::string damaged = bytes;
        damaged[position] = char(damaged[position] ^ change);
        (void)errorOfNpz(damaged);
      }
  }
}

TEST_F(NpzTest, FilesAreNamedWhereTheyAreNotThere) {
  std::ofstream(folder / "w.npz", std::ios::binary) << bytesOf(packed);
  EXPECT_EQ(data::load_npz(folder / "w.npz").size(), 2u);
  EXPECT_THROW(data::load_npz(folder / "v.npz"), Error);
}

} // namespace
