// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that are read whole: what is no regular file is refused without waiting
// for it, and messages name what a file is instead of what was expected.
#include "meshloom/Support/File.h"

#include "../TemporaryFolder.h"
#include "meshloom/Support/FileKind.h"
#include "meshloom/Support/Json.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace meshloom;
using testing::AllOf;
using testing::HasSubstr;
using ReadFileTest = meshloom::test::TemporaryFolderTest;

namespace {

std::string errorOf(const std::string &path) {
  const Result<std::string> bytes = readFile(path);
  return bytes ? "no error" : bytes.error().message();
}

// A pipe has no writer and a device no end: reading would wait for ever.
TEST_F(ReadFileTest, OnlyRegularFilesAreRead) {
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(errorOf(pipe), HasSubstr("it is a pipe, and not a regular file"));
  EXPECT_THAT(errorOf("/dev/zero"), HasSubstr("it is a device"));
  EXPECT_THAT(errorOf(folder.string()), HasSubstr("it is a directory"));
  EXPECT_THAT(errorOf((folder / "none").string()), HasSubstr("No such file"));
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  (folder / "socket")
      .string()
      .copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(
      bind(server, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
  EXPECT_THAT(errorOf((folder / "socket").string()),
              HasSubstr("it is a socket"));
  close(server);
}

// A link leads to what it names, a pipe too.
TEST_F(ReadFileTest, LinksAreFollowed) {
  write("file", "text");
  std::filesystem::create_symlink("file", folder / "link");
  EXPECT_EQ(*readFile((folder / "link").string()), "text");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", folder / "to pipe");
  EXPECT_THAT(errorOf((folder / "to pipe").string()), HasSubstr("a pipe"));
}

// Files of /proc say that they have no bytes.
TEST_F(ReadFileTest, FilesThatHaveMoreThanTheySayAreReadWhole) {
  EXPECT_THAT(*readFile("/proc/self/status"), HasSubstr("VmSize"));
}

// A sparse file of the largest size there is takes no memory.
TEST_F(ReadFileTest, FilesLargerThanTheMemoryAreRefused) {
  write("sparse", "");
  std::error_code failure;
  std::filesystem::resize_file(folder / "sparse", uint64_t(1) << 43, failure);
  if (failure)
    GTEST_SKIP() << "this file system has no files of 8 TB: "
                 << failure.message();
  EXPECT_THAT(errorOf((folder / "sparse").string()),
              HasSubstr("it has 8796093022208 bytes, this machine's memory "));
}

TEST(FileKindTest, KindsAreNamedWithWhatToDo) {
  EXPECT_THAT(kindHint("version https://git-lfs.github.com/spec/v1\noid 0\n"),
              AllOf(HasSubstr("Git LFS pointer"), HasSubstr("git lfs pull")));
  for (const char *page : {"<!DOCTYPE html><html>", "\n  <HTML lang=en>",
                           "\xEF\xBB\xBF<?xml version='1.0'?>"})
    EXPECT_THAT(kindHint(page), HasSubstr("web page")) << page;
  const std::string member =
      std::string("PK\3\4") + std::string(26, '\0') + "archive/data.pkl";
  EXPECT_THAT(kindHint(member), HasSubstr("PyTorch"));
  EXPECT_THAT(kindHint("\x80\x02}q"), HasSubstr("PyTorch"));
  EXPECT_THAT(kindHint(std::string("PK\3\4") + std::string(40, 'a')),
              HasSubstr("zip archive"));
  EXPECT_THAT(kindHint(std::string("PK\3\4") + std::string(26, '\0') +
                       "metadata.json{}"),
              HasSubstr("load_keras_weights"));
  EXPECT_THAT(kindHint("\x93NUMPY\1"), HasSubstr("load_npy"));
  EXPECT_THAT(kindHint(""), HasSubstr("empty"));
  EXPECT_EQ(kindHint("a,b,c\n1,2,3\n"), "");
}

std::string errorOfJson(const std::string &text) {
  const Result<nlohmann::json> parsed = parseJson(text);
  return parsed ? "no error" : parsed.error().message();
}

// A reader that takes one of two entries would take one that nobody meant.
TEST(JsonTest, KeysThatAreThereTwiceAreRefused) {
  EXPECT_EQ(errorOfJson(R"({"a": {"b": 1, "c": {"b": 2}}, "b": 3})"),
            "no error");
  EXPECT_EQ(errorOfJson(R"({"a": 1, "b": {"a": 2}, "a": 3})"),
            "it has the key 'a' twice");
  EXPECT_EQ(errorOfJson(R"([{"a": [{"x": 1, "x": 1}]}])"),
            "it has the key 'x' twice");
}

TEST(JsonTest, DepthIsBounded) {
  auto nested = [](size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(errorOfJson(nested(256)), "no error");
  EXPECT_EQ(errorOfJson(nested(257)), "it is nested deeper than 256 levels");
  EXPECT_EQ(errorOfJson(nested(1000000)),
            "it is nested deeper than 256 levels");
}

TEST(JsonTest, ErrorOfMalformedJsonNamesThePlace) {
  EXPECT_THAT(errorOfJson("{"), HasSubstr("it is not JSON (parse error at "
                                          "line 1, column 2"));
  EXPECT_THAT(errorOfJson("1e999"), HasSubstr("it is not JSON (number"));
}

} // namespace
