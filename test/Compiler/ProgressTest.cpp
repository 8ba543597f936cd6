// The line that a long compilation shows.
#include "../../lib/Compiler/Progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <unistd.h>

namespace meshloom {
namespace {
using namespace std::chrono_literals;

/// All that `show` writes to the terminal it is given.
template <typename F> std::string shownBy(F show) {
  std::array<int, 2> ends;
  EXPECT_EQ(pipe(ends.data()), 0);
  show(ends[1]);
  close(ends[1]);
  std::string text;
  std::array<char, 256> buffer;
  for (ssize_t n; (n = read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), size_t(n));
  close(ends[0]);
  return text;
}

TEST(ProgressTest, SaysWhatIsDoneAndClearsTheLine) {
  std::string text = shownBy([](int terminal) {
    Progress progress("compiling 'f'", terminal, 1ms);
    progress.setStage("refine");
    std::this_thread::sleep_for(300ms);
  });
  EXPECT_THAT(text, testing::HasSubstr("\r\x1b[Kcompiling 'f': refine, 0 s"));
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
}

TEST(ProgressTest, WhatIsShortShowsNothing) {
  EXPECT_EQ(shownBy([](int terminal) {
              Progress progress("compiling 'f'", terminal, 1h);
              progress.setStage("refine");
            }),
            "");
}

TEST(ProgressTest, IsForTerminalsOnly) {
  if (isatty(STDERR_FILENO))
    GTEST_SKIP() << "the standard error is a terminal";
  EXPECT_EQ(Progress::onTerminal("compiling 'f'"), nullptr);
}

} // namespace
} // namespace meshloom
