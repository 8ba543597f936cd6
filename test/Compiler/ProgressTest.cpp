// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The line that a long compilation shows.
#include "../../lib/Compiler/Progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace meshloom {
namespace {
using namespace std::chrono_literals;

/// Returns the text that is written into one of its ends.
class Pipe {
public:
  Pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  Pipe(const Pipe &) = delete;
  int in() const { return ends[1]; }
  void readUntil(std::string_view part) {
    while (text.find(part) == std::string::npos && readMore())
      ;
  }
  /// Once nobody writes any more.
  std::string readAll() {
    EXPECT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    while (readMore())
      ;
    return text;
  }

private:
  bool readMore() {
    std::array<char, 256> buffer;
    const ssize_t n = read(ends[0], buffer.data(), buffer.size());
    text.append(buffer.data(), size_t(std::max<ssize_t>(n, 0)));
    return n > 0;
  }
  std::array<int, 2> ends{};
  std::string text;
};

TEST(ProgressTest, SaysWhatIsDoneAndClearsTheLine) {
  Pipe shown;
  {
    Progress progress("compiling 'f'", shown.in(), 1ms);
    progress.setStage("refine");
    shown.readUntil("refine, ");
  }
  const std::string text = shown.readAll();
  EXPECT_THAT(text, testing::ContainsRegex(
                        "\r\x1b\\[Kcompiling 'f': refine, [0-9]+ s"));
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
}

TEST(ProgressTest, ShortStepsShowNothing) {
  Pipe shown;
  Progress("compiling 'f'", shown.in(), 1h).setStage("refine");
  EXPECT_EQ(shown.readAll(), "");
}

TEST(ProgressTest, IsForTerminalsOnly) {
  if (isatty(STDERR_FILENO))
    GTEST_SKIP() << "the standard error is a terminal";
  EXPECT_EQ(Progress::onTerminal("compiling 'f'"), nullptr);
}

} // namespace
} // namespace meshloom
