// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plots of training curves: what is drawn, what is left out, what is refused.
#include "meshloom/NN/Training/Plot.h"

#include "../TemporaryFolder.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using PlotTest = meshloom::test::TemporaryFolderTest;

namespace {

const History fourEpochs{{0, 1, 2, 3},
                         {{"loss", {4, 3, 2, 1}},
                          {"accuracy", {0.1, 0.2, 0.3, 0.4}},
                          {"val_loss", {5, 4, 3, 2}}}};

// Each number is drawn beside that of validation.
TEST_F(PlotTest, AHistoryIsDrawnBesideItsValidation) {
  plot(fourEpochs, folder / "loss.svg");
  EXPECT_THAT(read("loss.svg"),
              AllOf(HasSubstr("<svg "), HasSubstr(">loss</text>"),
                    HasSubstr(">val_loss</text>"), HasSubstr(">epoch</text>"),
                    Not(HasSubstr("accuracy"))));
  plot(fourEpochs, folder / "accuracy.svg",
       {.metrics = {"accuracy"}, .labels = {.title = "a < b & c"}});
  EXPECT_THAT(read("accuracy.svg"),
              AllOf(HasSubstr("a &lt; b &amp; c"),
                    HasSubstr(">accuracy</text>"), Not(HasSubstr("val_"))));
}

// A point that is no number interrupts its curve, and the others stay in place.
TEST_F(PlotTest, PointsThatAreNotFiniteAreLeftOut) {
  plot({{"a", {0, 1, NAN, 1, INFINITY, 0}}}, folder / "a.svg");
  const std::string svg = read("a.svg");
  EXPECT_THAT(svg, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
  const std::string path = svg.substr(svg.find(" d='"));
  EXPECT_EQ(std::ranges::count(path.substr(0, path.find("'/>")), 'M'), 3);
  plot(std::vector<PlotCurve>{}, folder / "none.svg");
  plot({{"flat", {2, 2}}, {"one", {2}}, {"empty", {}}}, folder / "flat.svg");
  EXPECT_THAT(read("flat.svg"), Not(HasSubstr("nan")));
}

TEST_F(PlotTest, RefusalsSayWhatThereIs) {
  EXPECT_THAT(
      refusal([&] { plot(fourEpochs, folder / "x", {.metrics = {"mae"}}); }),
      HasSubstr("accuracy"));
  EXPECT_THAT(refusal([&] { plot(fourEpochs, folder / "none" / "x.svg"); }),
              HasSubstr("[plot] cannot write"));
  EXPECT_THAT(refusal([&] { plot(fourEpochs, folder / "x", {.metrics = {}}); }),
              HasSubstr("got none"));
}

} // namespace
