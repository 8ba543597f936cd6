// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npy files: what NumPy writes is read, what is written NumPy reads, and what
// is neither is refused with a reason.
#include "../TemporaryFolder.h"

#include "meshloom/Support/File.h"
#include "meshloom/Support/Npy.h"

#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace meshloom;
using testing::HasSubstr;

namespace {

/// A file with this header text, as NumPy would frame it.
std::string npy(std::string header, const std::string &data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += char(version);
  file += '\0';
  header += '\n';
  size_t size = header.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += char(size >> (8 * i));
  return file + header + data;
}
std::string dict(const char *descr, const char *order, const char *shape) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}",
                     descr, order, shape);
}
template <typename T> std::string raw(std::vector<T> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T> std::vector<T> elements(const NpyArray &array) {
  std::vector<T> values(array.bytes.size() / sizeof(T));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}
std::string problem(const std::string &file) {
  auto array = parseNpy(file, "a.npy");
  return array ? "" : array.error().message();
}

} // namespace

TEST(NpyTest, EveryTypeRoundTrips) {
  for (DType type : {DType::F32, DType::F64, DType::BF16, DType::I1, DType::I8,
                     DType::I32, DType::I64, DType::UI8, DType::UI32})
    for (const Shape &shape :
         {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}, Shape{2, 1, 5}}) {
      std::vector<char> bytes(elementCount(shape) * byteWidth(type));
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = type == DType::I1 ? i % 2 : char(i * 37);
      std::string file = formatNpy(type, shape, bytes);
      EXPECT_EQ((file.size() - bytes.size()) % 64, 0u);
      auto array = parseNpy(file, "a.npy");
      ASSERT_TRUE(array) << array.error().message();
      EXPECT_EQ(*array, (NpyArray{type, shape, bytes}));
    }
}

// The exact bytes that numpy.save writes for float32 [[1, 2, 3]].
TEST(NpyTest, WritesWhatNumPyWrites) {
  std::string data = raw<float>({1, 2, 3});
  std::string file = formatNpy(DType::F32, {1, 3}, data);
  std::string header = "{'descr': '<f4', 'fortran_order': False, "
                       "'shape': (1, 3), }";
  header.append(117 - header.size(), ' ');
  EXPECT_EQ(file, npy(header, data));
  EXPECT_THAT(formatNpy(DType::BF16, {1}, std::string(2, '\0')),
              HasSubstr("'|V2', 'fortran_order': False, 'shape': (1,), }"));
  EXPECT_THAT(formatNpy(DType::I1, {}, std::string(1, '\0')),
              HasSubstr("'|b1', 'fortran_order': False, 'shape': (), }"));
}

TEST(NpyTest, FortranOrderIsTransposed) {
  // [[1, 2, 3], [4, 5, 6]] by columns.
  auto array =
      parseNpy(npy(dict("<i4", "True", "(2, 3)"), raw<int>({1, 4, 2, 5, 3, 6})),
               "a.npy");
  ASSERT_TRUE(array);
  EXPECT_EQ(elements<int>(*array), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  auto cube = parseNpy(
      npy(dict("<i4", "True", "(2, 2, 2)"), raw<int>({0, 4, 2, 6, 1, 5, 3, 7})),
      "a.npy");
  ASSERT_TRUE(cube);
  EXPECT_EQ(elements<int>(*cube), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(NpyTest, ReadsOtherVersionsAndSpellings) {
  std::string data = raw<int64_t>({1, -2});
  for (int version : {1, 2, 3})
    EXPECT_EQ(problem(npy(dict("<i8", "False", "(2,)"), data, version)), "");
  EXPECT_EQ(problem(npy("{\"shape\": (2L,), \"fortran_order\": False, "
                        "\"descr\": \"=i8\"}",
                        data)),
            "");
  EXPECT_EQ(problem(npy(dict("<V2", "False", "(8,)"), data)), "");
  // NumPy's booleans are any non-zero byte.
  auto flags = parseNpy(npy(dict("|b1", "False", "(2,)"), "\x02\x01"), "a.npy");
  EXPECT_EQ(flags->bytes, (std::vector<char>{1, 1}));
}

/// How ml_dtypes saves f8 and int4: NumPy knows nothing but their size.
TEST(NpyTest, NumbersOfOneByteThatNumPyDoesNotKnowAreBytes) {
  for (const char *descr : {"<V1", "|V1", "<f1"}) {
    auto array = parseNpy(npy(dict(descr, "False", "(2,)"), "\x38\xb8"), "x");
    ASSERT_TRUE(array) << array.error().message();
    EXPECT_EQ(array->type, DType::UI8);
    EXPECT_EQ(elements<uint8_t>(*array), (std::vector<uint8_t>{0x38, 0xb8}));
  }
}

TEST(NpyTest, WrongFilesSayWhy) {
  std::string data = raw<float>({1, 2});
  EXPECT_THAT(problem("PK\x03\x04"),
              HasSubstr("'a.npy': it is a zip archive, as .npz files are"));
  EXPECT_THAT(problem("PNG"), HasSubstr("'a.npy': it is not a .npy"));
  EXPECT_THAT(problem(npy(dict(">f4", "False", "(2,)"), data)),
              HasSubstr("big endian"));
  EXPECT_THAT(problem(npy(dict("<f3", "False", "(4,)"), data)),
              HasSubstr("type '<f3' is not supported: expected f2, f4"));
  EXPECT_THAT(problem(npy(dict("<f4", "False", "(3,)"), data)),
              HasSubstr("shape (3) of f32 takes 12 bytes, the file holds 8"));
  EXPECT_THAT(problem(npy(dict("<f4", "False", "(1,)"), data)),
              HasSubstr("takes 4 bytes, the file holds 8"));
  EXPECT_THAT(problem(npy(dict("<f4", "Maybe", "(2,)"), data)),
              HasSubstr("'fortran_order'"));
  EXPECT_THAT(problem(npy(dict("<f4", "False", "(2, -1)"), data)),
              HasSubstr("'shape'"));
  EXPECT_THAT(
      problem(npy(dict("<f4", "False", "(4611686018427387904, 8)"), data)),
      HasSubstr("the file holds 8"));
  EXPECT_THAT(problem(npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                          "'shape': (2,)}",
                          data)),
              HasSubstr("records"));
  EXPECT_THAT(problem(npy("{'descr': '<f4'}", data)), HasSubstr("lacks"));
  EXPECT_THAT(problem(npy(dict("<f4", "False", "(2,)"), data, 9)),
              HasSubstr("version 9"));
  EXPECT_THAT(readNpy("/no/such.npy").error().message(),
              HasSubstr("'/no/such.npy': No such file"));
  EXPECT_THAT(readNpy("/tmp").error().message(), HasSubstr("directory"));
}

// Cut off or damaged anywhere: an error or an array, never a crash.
TEST(NpyTest, DamagedFilesAreReadSafely) {
  std::string file =
      npy(dict("<f4", "True", "(2, 3)"), raw<float>({1, 2, 3, 4, 5, 6}));
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(problem(file.substr(0, size)), "") << size;
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = file;
    for (unsigned i = 0; i < 1 + random() % 3; ++i)
      damaged[random() % damaged.size()] = char(random());
    (void)problem(damaged);
  }
}

TEST(FileTest, WritesWholeFilesOnly) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "a.bin", bytes("x\0y", 3);
  ASSERT_TRUE(writeFile(path, bytes));
  EXPECT_EQ(*readFile(path), bytes);
  ASSERT_TRUE(writeNpy(path, DType::I8, {3}, bytes));
  EXPECT_EQ(readNpy(path)->shape, Shape{3});
  Status missing = writeFile(folder / "none/a.bin", bytes);
  EXPECT_THAT(missing.error().message(), HasSubstr("cannot write"));
  // No temporary file stays behind.
  auto entries = std::filesystem::directory_iterator(folder.path);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}
