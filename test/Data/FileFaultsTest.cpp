// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every call that writes or removes a folder of tensors goes wrong, one after
// the other, by death, by a power failure, by an error: what is there then is
// the old folder or the new one, whole, and the next write tidies up.
#include "FileFaults.h"

#include "../TemporaryFolder.h"
#include "meshloom/Data/Dataset.h"
#include "meshloom/Data/TensorFolder.h"
#include "meshloom/Meshloom.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>

using namespace meshloom;
using namespace meshloom::test;
namespace fs = std::filesystem;

namespace {

constexpr char faultVariable[] = "MESHLOOM_TEST_FAULT";
constexpr int64_t mostCalls = 200;

/// Returns the contents that the process that may die writes.
data::FolderContents contentsOf(float value) {
  Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  return {
      {{"a", distribute(full({4, 3}, value), Layout({"x", UNSHARDED}, mesh))},
       {"b", full({3}, value)}},
      {{"step", std::to_string(int(value))}}};
}

/// The value of all of a folder; fails where it is not whole.
float valueOf(const fs::path &path) {
  try {
    data::TensorFolder folder(path);
    const float value = std::stof(folder.notes().at("step"));
    EXPECT_EQ(folder.read("a").to_vector<float>(),
              std::vector<float>(12, value));
    EXPECT_EQ(folder.read("b").to_vector<float>(),
              std::vector<float>(3, value));
    return value;
  } catch (const Error &error) {
    ADD_FAILURE() << error.what();
    return 0;
  }
}

void act(const std::string &action, const fs::path &path,
         const data::FolderContents &contents) {
  if (action == "write")
    data::write_tensor_folder(path, contents);
  else
    data::remove_tensor_folder(path);
}

/// In a process that is told "FAULT CALL ACTION PATH ASIDE" does it and ends.
class Child : public testing::Environment {
  void SetUp() override {
    const char *told = std::getenv(faultVariable);
    if (!told)
      return;
    std::istringstream words(told);
    int fault = 0;
    int64_t call = 0;
    std::string action, path, aside;
    words >> fault >> call >> action >> path >> aside;
    const data::FolderContents contents = contentsOf(2);
    injectFault(Fault(fault), call, aside);
    act(action, path, contents);
    _exit(0);
  }
};
[[maybe_unused]] const testing::Environment *const child =
    testing::AddGlobalTestEnvironment(new Child);

class FileFaultsTest : public TemporaryFolderTest {
protected:
  const fs::path target = folder / "new" / "w";

  /// Does it in a child; whether that died.
  bool dies(Fault fault, int64_t call, const std::string &action) {
    fs::remove_all(folder / "aside");
    fs::create_directories(folder / "aside");
    setenv(faultVariable,
           fmt::format("{} {} {} {} {}", int(fault), call, action,
                       target.string(), (folder / "aside").string())
               .c_str(),
           1);
    char name[] = "child", brief[] = "--gtest_brief=1",
         filter[] = "--gtest_filter=*.ACacheLeavesNoParts";
    char *arguments[] = {name, brief, filter, nullptr};
    pid_t process = 0;
    EXPECT_EQ(posix_spawn(&process, "/proc/self/exe", nullptr, nullptr,
                          arguments, environ),
              0);
    unsetenv(faultVariable);
    int status = 0; // it ends before any test
    EXPECT_EQ(waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_THAT(WEXITSTATUS(status), testing::AnyOf(0, diedOfFault));
    return WEXITSTATUS(status) == diedOfFault;
  }

  void begin(bool isReplaced) {
    fs::remove_all(folder / "new");
    if (isReplaced)
      data::write_tensor_folder(target, contentsOf(1));
  }

  /// A later write works, and nothing but its folder is there.
  /// `mayKeepParts`: of this process, which lives on.
  void expectTidied(bool mayKeepParts = false) {
    data::write_tensor_folder(target, contentsOf(3));
    EXPECT_EQ(valueOf(target), 3);
    size_t entries = 0;
    for ([[maybe_unused]] const auto &entry : fs::directory_iterator(target))
      ++entries;
    EXPECT_EQ(entries, 3u); // the index, and the files of two devices
    entries = 0;
    for ([[maybe_unused]] const auto &entry :
         fs::directory_iterator(folder / "new"))
      ++entries;
    EXPECT_TRUE(entries == 1 || mayKeepParts);
  }
};

TEST_F(FileFaultsTest, AWriteThatDiesLeavesTheOldOrTheNew) {
  for (const Fault fault : {Fault::Death, Fault::Power})
    for (const bool isReplaced : {true, false}) {
      int64_t call = 1;
      bool sawNew = false;
      for (bool isDead = true; isDead; ++call) {
        ASSERT_LT(call, mostCalls);
        begin(isReplaced);
        isDead = dies(fault, call, "write");
        SCOPED_TRACE(testing::Message() << "call " << call << " of fault "
                                        << int(fault) << isReplaced);
        if (isReplaced || data::is_tensor_folder(target)) {
          // Once the new one stands, a later end does not bring the old back.
          const float value = valueOf(target);
          EXPECT_GE(value, sawNew ? 2 : 1);
          sawNew = value == 2;
        } else {
          EXPECT_FALSE(fs::exists(target));
          EXPECT_FALSE(sawNew);
        }
        expectTidied();
      }
      EXPECT_TRUE(sawNew);
      EXPECT_GT(call, 10);
    }
}

TEST_F(FileFaultsTest, ARemovalThatDiesLeavesAllOrNothing) {
  for (const Fault fault : {Fault::Death, Fault::Power}) {
    int64_t call = 1;
    bool wasGone = false;
    for (bool isDead = true; isDead; ++call) {
      ASSERT_LT(call, mostCalls);
      begin(true);
      isDead = dies(fault, call, "remove");
      SCOPED_TRACE(testing::Message() << "call " << call);
      if (fs::exists(target)) {
        EXPECT_EQ(valueOf(target), 1);
        EXPECT_FALSE(wasGone);
      } else {
        wasGone = true;
      }
      expectTidied();
    }
    EXPECT_TRUE(wasGone);
    EXPECT_GT(call, 5);
  }
}

/// Not one of the part that is renamed first.
bool saysThatItIsThere(const std::string &refusal) {
  return refusal.find("a power failure may undo it") != refusal.npos;
}

// An error of any call is reported, or has no consequence.
TEST_F(FileFaultsTest, AnErrorIsReportedOrWithoutConsequence) {
  for (const std::string action : {"write", "remove"})
    for (const bool isReplaced : {true, false}) {
      if (action == "remove" && !isReplaced)
        continue;
      const data::FolderContents contents = contentsOf(2);
      size_t refusals = 0;
      for (int64_t call = 1;; ++call) {
        ASSERT_LT(call, mostCalls);
        begin(isReplaced);
        std::string refusal;
        injectFault(Fault::Error, call, folder);
        try {
          act(action, target, contents);
        } catch (const Error &error) {
          refusal = error.what();
        }
        const bool isLast = endFaults() < call;
        SCOPED_TRACE(testing::Message()
                     << action << " " << isReplaced << ", call " << call << ": "
                     << refusal);
        refusals += !refusal.empty();
        const bool isThere = data::is_tensor_folder(target);
        if (action == "remove")
          EXPECT_TRUE(!refusal.empty() || !isThere);
        else if (refusal.empty())
          EXPECT_EQ(valueOf(target), 2);
        else if (isReplaced || isThere)
          // The new one stands only where the message says so.
          EXPECT_EQ(valueOf(target),
                    isReplaced && !saysThatItIsThere(refusal) ? 1 : 2);
        expectTidied(action == "remove" && !refusal.empty());
        if (isLast)
          break;
      }
      EXPECT_GT(refusals, 3u);
    }
}

// Neither of a part that cannot be written, nor of a process that is no more.
TEST_F(FileFaultsTest, ACacheLeavesNoParts) {
  const std::string file = (folder / "c").string();
  pid_t gone = 0;
  char name[] = "true";
  char *arguments[] = {name, nullptr};
  ASSERT_EQ(posix_spawnp(&gone, name, nullptr, nullptr, arguments, environ), 0);
  ASSERT_EQ(waitpid(gone, nullptr, 0), gone);
  write(fmt::format("c.{}.1.part", gone), "half");
  const std::string partOfThisProcess = fmt::format("c.{}.999.part", getpid());
  write(partOfThisProcess, "of another thread");
  write("c.x.part", "a user's");
  auto cacheAll = [&] {
    for ([[maybe_unused]] const auto &number : data::range(3).cache(file))
      ;
  };
  auto filesInFolder = [&] {
    std::vector<std::string> names;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    return names;
  };
  cacheAll();
  EXPECT_THAT(filesInFolder(), testing::UnorderedElementsAre(partOfThisProcess,
                                                             "c.x.part", "c"));
  for (int64_t call = 1;; ++call) {
    ASSERT_LT(call, mostCalls);
    fs::remove(file);
    std::string refusal;
    injectFault(Fault::Error, call, folder);
    try {
      cacheAll();
    } catch (const Error &error) {
      refusal = error.what();
    }
    const bool isLast = endFaults() < call;
    SCOPED_TRACE(testing::Message() << "call " << call << ": " << refusal);
    if (refusal.empty() ||
        refusal.find("a power failure may undo it") != refusal.npos)
      EXPECT_THAT(filesInFolder(), testing::UnorderedElementsAre(
                                       partOfThisProcess, "c.x.part", "c"));
    else
      EXPECT_THAT(filesInFolder(),
                  testing::UnorderedElementsAre(partOfThisProcess, "c.x.part"));
    if (isLast)
      break;
  }
}

} // namespace
