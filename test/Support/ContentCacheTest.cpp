// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cache of what was compiled: what comes back is what was put in, or
// nothing.
#include "../TemporaryFolder.h"

#include "meshloom/Support/ContentCache.h"

#include "meshloom/Support/File.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace meshloom;
namespace fs = std::filesystem;

namespace {
constexpr int64_t enough = 1 << 30;

class ContentCacheTest : public test::TemporaryFolderTest {
protected:
  std::unique_ptr<CacheFolder> open(int64_t mostBytes = enough) {
    auto opened = CacheFolder::open(folder.string(), mostBytes);
    EXPECT_TRUE(opened) << opened.error().message();
    return std::move(*opened);
  }
  std::string path(const std::string &name) { return (folder / name).string(); }
  size_t files() {
    return size_t(std::distance(fs::directory_iterator(folder),
                                fs::directory_iterator()));
  }
};

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}
} // namespace

TEST_F(ContentCacheTest, AnotherProcessReadsWhatOneWrote) {
  const std::string bytes("a\0b\n", 4);
  EXPECT_TRUE(open()->write("k1", bytes));
  EXPECT_EQ(open()->read("k1"), bytes);
  EXPECT_EQ(open()->read("k2"), std::nullopt);
  EXPECT_EQ(files(), 1u); // nothing temporary stays
}

TEST_F(ContentCacheTest, DamagedEntryIsIgnored) {
  auto cache = open();
  cache->write("k", "some machine code");
  auto written = readFile(path("k"));
  ASSERT_TRUE(written);
  // One bit of each byte in turn: of the header, the checksum, the content.
  for (size_t position = 0; position < written->size(); ++position) {
    std::string damaged = *written;
    damaged[position] = char(damaged[position] ^ 4);
    ASSERT_TRUE(writeFile(path("k"), damaged));
    ASSERT_EQ(cache->read("k"), std::nullopt) << "byte " << position;
  }
  EXPECT_EQ(cache->rejected(), int64_t(written->size()));
  cache->write("k", "again");
  EXPECT_EQ(cache->read("k"), "again");
}

TEST_F(ContentCacheTest, TruncatedEntryAndEntryOfAnotherKeyAreIgnored) {
  auto cache = open();
  cache->write("k", "some machine code");
  auto written = readFile(path("k"));
  ASSERT_TRUE(written);
  for (size_t size = 0; size < written->size(); ++size) {
    ASSERT_TRUE(writeFile(path("k"), written->substr(0, size)));
    ASSERT_EQ(cache->read("k"), std::nullopt) << size << " bytes";
  }
  ASSERT_TRUE(writeFile(path("other"), *written));
  EXPECT_EQ(cache->read("other"), std::nullopt);
}

TEST_F(ContentCacheTest, TheOldestEntriesAreRemovedAboveTheBound) {
  constexpr int64_t most = 10 * 4096;
  auto cache = open(most);
  const std::string bytes(3000, 'x');
  for (int i = 0; i < 9; ++i)
    cache->write(fmt::format("k{}", i), bytes);
  EXPECT_EQ(cache->removed(), 0);
  // k0 was used just now; k1 and then k2 are the oldest.
  for (int i = 0; i < 9; ++i) {
    const timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    utimensat(AT_FDCWD, path(fmt::format("k{}", i)).c_str(), times, 0);
  }
  EXPECT_TRUE(cache->read("k0"));
  for (int i = 9; i < 11; ++i)
    cache->write(fmt::format("k{}", i), bytes);
  EXPECT_EQ(cache->read("k1"), std::nullopt);
  EXPECT_EQ(cache->read("k2"), std::nullopt);
  for (int i : {0, 4, 8, 9, 10})
    EXPECT_TRUE(cache->read(fmt::format("k{}", i))) << i;
  EXPECT_EQ(cache->removed(), 2);
  EXPECT_LE(int64_t(files()) * 4096, most);
}

TEST_F(ContentCacheTest, TemporaryFilesOfProcessesThatDiedGo) {
  std::ofstream(path("k.1.1.part")) << "half";
  std::ofstream(path("k.1.2.part")) << "half";
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, path("k.1.1.part").c_str(), long_ago, 0);
  open(/*mostBytes=*/4096)->write("new", "bytes");
  EXPECT_FALSE(fs::exists(path("k.1.1.part")));
  EXPECT_TRUE(fs::exists(path("k.1.2.part")));
}

TEST_F(ContentCacheTest, OnlyAFolderOfTheUsersOwnIsTrusted) {
  chmod(folder.c_str(), 0777);
  auto opened = CacheFolder::open(folder.string(), enough);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(),
              testing::HasSubstr("other users can write to"));
  chmod(folder.c_str(), 0755);
  EXPECT_TRUE(CacheFolder::open(folder.string(), enough));

  if (geteuid() != 0)
    GTEST_SKIP() << "only root can give a folder to another user";
  ASSERT_EQ(chown(folder.c_str(), 1, 1), 0);
  auto foreign = CacheFolder::open(folder.string(), enough);
  ASSERT_FALSE(foreign);
  EXPECT_THAT(foreign.error().message(),
              testing::HasSubstr("belongs to another user"));
}

TEST_F(ContentCacheTest, EntryThatOthersCanWriteIsIgnored) {
  auto cache = open();
  cache->write("k", "code");
  chmod(path("k").c_str(), 0666);
  EXPECT_EQ(cache->read("k"), std::nullopt);
  fs::remove(path("k"));
  cache->write("real", "code");
  fs::create_symlink(path("real"), path("k"));
  EXPECT_EQ(cache->read("k"), std::nullopt);
}

// Neither is opened so that it blocks, nor read into memory that is not there.
TEST_F(ContentCacheTest, PipeAndEntryOfATerabyteAreIgnored) {
  auto cache = open();
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(cache->read("pipe"), std::nullopt);
  cache->write("large", "code");
  if (truncate(path("large").c_str(), off_t(1) << 40) != 0)
    GTEST_SKIP() << "this file system has no files of 1 TB";
  EXPECT_EQ(cache->read("large"), std::nullopt);
  for (const char *name : {"pipe", "large"}) {
    EXPECT_TRUE(cache->write(name, "again"));
    EXPECT_EQ(cache->read(name), "again");
  }
}

TEST_F(ContentCacheTest, FoldersAreMadeForTheUserAlone) {
  ASSERT_TRUE(CacheFolder::open((folder / "a" / "b").string(), enough));
  struct stat info;
  ASSERT_EQ(stat((folder / "a" / "b").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(ContentCacheTest, WritersAtTheSameTimeLeaveWholeEntries) {
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t)
    writers.emplace_back([&] {
      auto cache = open(40 * 4096); // so small that entries are removed, too
      for (int i = 0; i < 200; ++i) {
        const std::string key = fmt::format("k{}", i % 50);
        cache->write(key, std::string(1000, char('a' + i % 50 % 26)));
        if (auto bytes = cache->read(key))
          EXPECT_EQ(*bytes, std::string(1000, char('a' + i % 50 % 26)));
      }
      EXPECT_EQ(cache->rejected(), 0);
    });
  for (std::thread &writer : writers)
    writer.join();
  for (const auto &entry : fs::directory_iterator(folder))
    EXPECT_NE(entry.path().extension(), ".part");
}

TEST_F(ContentCacheTest, StatisticsTellWhereEntriesWereFound) {
  {
    ContentCache cache(open(), enough);
    EXPECT_EQ(cache.find("k"), nullptr);
    cache.store("k", shared("bytes"));
    EXPECT_EQ(*cache.find("k"), "bytes");
    EXPECT_EQ(cache.statistics(),
              (CacheStatistics{.memory_hits = 1, .misses = 1, .stored = 1}));
  }
  ContentCache later(open(), enough);
  EXPECT_EQ(*later.find("k"), "bytes");
  EXPECT_EQ(*later.find("k"), "bytes");
  EXPECT_EQ(later.statistics(),
            (CacheStatistics{.memory_hits = 1, .disk_hits = 1}));
}

TEST_F(ContentCacheTest, MemoryIsBounded) {
  ContentCache cache(nullptr, /*mostMemory=*/100);
  cache.store("a", shared(std::string(40, 'a')));
  cache.store("b", shared(std::string(40, 'b')));
  EXPECT_TRUE(cache.find("a")); // now b is the oldest
  cache.store("c", shared(std::string(40, 'c')));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  cache.store("large", shared(std::string(200, 'l')));
  EXPECT_FALSE(cache.find("large"));
}
