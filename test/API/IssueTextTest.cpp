// The specification's program runs, and learns.
#include <gtest/gtest.h>

bool runIssueText();

TEST(IssueTextTest, LossFalls) {
  EXPECT_TRUE(runIssueText());
}
