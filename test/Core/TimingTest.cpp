// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where time went: names, nesting, threads.
#include "meshloom/Core/Timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace meshloom {
namespace {

TEST(TimingTest, StagesStandBelowTheOneTheyRanIn) {
  {
    TimedScope before("TimingTest.before");
  }
  const bool wasEnabled = timingEnabled();
  enableTiming();
  {
    TimedScope outer("TimingTest.outer");
    const std::string here = TimedScope::current();
    for (int i = 0; i < 3; ++i)
      TimedScope inner("TimingTest.inner");
    std::thread([&] {
      TimedScope helper("TimingTest.helper", here);
      TimedScope inside("TimingTest.inside");
    }).join();
  }
  {
    TimedScope other("TimingTest.other");
  }
  {
    TimedScope again("TimingTest.outer");
  }
  const std::string report = timingReport();
  EXPECT_THAT(report,
              testing::ContainsRegex(" 2  TimingTest.outer\n"
                                     "[ 0-9.]+ 3    TimingTest.inner\n"
                                     "[ 0-9.]+ 1    TimingTest.helper\n"
                                     "[ 0-9.]+ 1      TimingTest.inside\n"
                                     "[ 0-9.]+ 1  TimingTest.other\n"));
  if (!wasEnabled)
    EXPECT_THAT(report, testing::Not(testing::HasSubstr("TimingTest.before")));
}

} // namespace
} // namespace meshloom
