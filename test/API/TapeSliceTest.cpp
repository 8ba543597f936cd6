// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of a tape's records a gradient is made of, how their values are
// numbered, and the program that is built of them.
#include "../../lib/Engine/GradientProgram.h"
#include "Testing.h"
#include "meshloom/Engine/Contexts.h"

namespace meshloom {
namespace {
using namespace detail;

/// x -> a = exp(x), b = a * w, c = log(w).
struct Recorded {
  Tensor x = tensor({2.f}), w = tensor({3.f});
  Tensor a = exp(x), b = a * w, c = log(w);
  std::vector<TapeRecord> tape{
      {"exp", {x}, {a}, bodyOf<dtensor::ExpOp>(), nullptr},
      {"multiply", {a, w}, {b}, product, nullptr},
      {"log", {w}, {c}, bodyOf<dtensor::LogOp>(), nullptr}};

  template <typename Op> static OpBody bodyOf() {
    return [](Emitter &e, ArrayRef<Value> values) {
      return SmallVector<Value>{e.apply<Op>(values[0])};
    };
  }
  static SmallVector<Value> product(Emitter &e, ArrayRef<Value> values) {
    return {e.multiply(values[0], values[1])};
  }
  TapeSlice slice(const Tensor &target,
                  std::vector<std::vector<Tensor>> sources) const {
    return TapeSlice(tape, {&target, 1}, sources);
  }
};

std::vector<std::string> keysOf(const TapeSlice &slice) {
  std::vector<std::string> keys;
  for (const TapeRecord *record : slice.records())
    keys.push_back(record->key);
  return keys;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

TEST(TapeSliceTest, HoldsWhatLeadsFromASourceToTheTarget) {
  Recorded r;
  TapeSlice slice = r.slice(r.b, {{r.x}});
  EXPECT_THAT(keysOf(slice), testing::ElementsAre("exp", "multiply"));
  EXPECT_EQ(slice.leafCount(), 2u);
  EXPECT_THAT(slice.numbersOf(std::vector{r.x, r.w, r.a, r.b, r.c}),
              testing::ElementsAre(0, 1, 2, 3, -1));
  ASSERT_EQ(slice.values().size(), 4u);
  EXPECT_EQ(slice.values()[2].internal(), r.a.internal());
}

TEST(TapeSliceTest, LeavesOutWhatNoSourceReaches) {
  Recorded r;
  TapeSlice slice = r.slice(r.b, {{r.w}});
  // The result of exp is taken as it is.
  EXPECT_THAT(keysOf(slice), testing::ElementsAre("multiply"));
  EXPECT_THAT(slice.numbersOf(std::vector{r.a, r.w, r.b}),
              testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(slice.numberOf(r.x), -1);
}

TEST(TapeSliceTest, IsEmptyWhereTheTargetDoesNotDependOnASource) {
  Recorded r;
  TapeSlice slice = r.slice(r.c, {{r.x}});
  EXPECT_TRUE(slice.records().empty());
  EXPECT_EQ(slice.numberOf(r.c), -1);
}

TEST(TapeSliceTest, ASourceMayBeSeveralTensorsAndEachCountsOnce) {
  Recorded r;
  std::vector<Tensor> source{r.w, r.x, r.w, tensor({1.f})};
  TapeSlice slice = r.slice(r.b, {source});
  EXPECT_THAT(slice.presentOf(source), testing::ElementsAre(1, 0));
}

TEST(TapeSliceTest, KnowsTheContextThatItsRecordsNeed) {
  Recorded r;
  EXPECT_EQ(r.slice(r.b, {{r.x}}).context(), nullptr);
  r.tape[1].context = makeContext();
  EXPECT_EQ(r.slice(r.b, {{r.x}}).context(), r.tape[1].context);
  EXPECT_EQ(r.slice(r.a, {{r.x}}).context(), nullptr);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// A function with an argument for each of a slice's values, and what a program
/// built in it.
struct Built {
  std::shared_ptr<Trace> trace = std::make_shared<Trace>("f", makeContext());
  SmallVector<Value> arguments, gradients;

  Built(const TapeSlice &slice, const GradientProgram &program) {
    TraceScope scope(trace);
    for (const Tensor &value : slice.values())
      arguments.push_back(
          trace->valueOf(trace->addArgument(value), "test", nullptr));
    Emitter emitter(trace->builder(),
                    trace->location(std::source_location::current()));
    gradients = program.build(emitter, arguments);
  }
  template <typename Op> int count() {
    int found = 0;
    trace->moduleOp().walk([&](Op) { ++found; });
    return found;
  }
};

TEST(GradientProgramTest, ReadsTheValuesThatTheOpsHad) {
  Recorded r;
  TapeSlice slice = r.slice(r.b, {{r.x}});
  Built built(
      slice, GradientProgram(slice, {slice.numberOf(r.b)}, false, {{{0}, {}}}));
  ASSERT_EQ(built.gradients.size(), 1u);
  // exp(x) w to x is a w: a is given, nothing is computed twice.
  EXPECT_EQ(built.count<dtensor::ExpOp>(), 0);
  EXPECT_TRUE(built.arguments[0].use_empty());
  EXPECT_FALSE(built.arguments[2].use_empty());
}

TEST(GradientProgramTest, AGradientThatIsAValueIsTheOneThatItHad) {
  Recorded r;
  TapeSlice slice = r.slice(r.b, {{r.x}, {r.w}});
  GradientProgram program(slice, {slice.numberOf(r.b)}, false, {{{1}, {}}});
  Built built(slice, program);
  // To w it is a times the seed of ones.
  Operation *last = built.gradients[0].getDefiningOp();
  EXPECT_TRUE(built.gradients[0] == built.arguments[2] ||
              llvm::is_contained(last->getOperands(), built.arguments[2]));
}

TEST(GradientProgramTest, SourceWithoutAPathHasNoGradient) {
  Tensor x = tensor({2.f}), w = tensor({3.f});
  Tensor y = floor(x) * w;
  // The value becomes an integer and a float again: no gradient passes.
  OpBody body = [](Emitter &e, ArrayRef<Value> values) {
    Value whole = e.convert(values[0], e.getI32Type());
    Value back = e.convert(whole, e.getF32Type());
    return SmallVector<Value>{e.multiply(back, values[1])};
  };
  std::vector<TapeRecord> tape{{"whole", {x, w}, {y}, body, nullptr}};
  TapeSlice slice(tape, std::vector<Tensor>{y},
                  std::vector<std::vector<Tensor>>{{x}, {w}});
  Built built(slice,
              GradientProgram(slice, {2}, false, {{{0}, {}}, {{1}, {}}}));
  EXPECT_FALSE(built.gradients[0]);
  EXPECT_TRUE(built.gradients[1]);
}

TEST(GradientProgramTest, ASourceOfSeveralValuesGetsTheirSum) {
  Recorded r;
  TapeSlice slice = r.slice(r.b, {{r.x, r.w}});
  Built built(slice, GradientProgram(slice, {slice.numberOf(r.b)}, false,
                                     {{{0, 1}, {}}}));
  ASSERT_EQ(built.gradients.size(), 1u);
  EXPECT_TRUE(isa<dtensor::AddOp>(built.gradients[0].getDefiningOp()));
}

TEST(GradientProgramTest, IsLaidOutAsItsSource) {
  Recorded r;
  TapeSlice slice = r.slice(r.b, {{r.x}});
  Layout rows({"batch"}, mesh8());
  Built built(slice, GradientProgram(slice, {slice.numberOf(r.b)}, false,
                                     {{{0}, rows}}));
  auto pinned = built.gradients[0].getDefiningOp<dtensor::ConstraintOp>();
  ASSERT_TRUE(pinned);
  auto type = cast<RankedTensorType>(pinned.getType());
  EXPECT_EQ(cast<dtensor::LayoutAttr>(type.getEncoding()).getLayout(), rows);
}

TEST(GradientProgramTest, EqualTapesHaveEqualKeys) {
  Recorded one, other;
  auto keyOf = [](const Recorded &r, std::vector<Tensor> source,
                  std::optional<Layout> layout = {}) {
    TapeSlice slice = r.slice(r.b, {source});
    return GradientProgram(slice, {slice.numberOf(r.b)}, false,
                           {{slice.presentOf(source), layout}})
        .key();
  };
  EXPECT_EQ(keyOf(one, {one.x}), keyOf(other, {other.x}));
  EXPECT_NE(keyOf(one, {one.x}), keyOf(one, {one.w}));
  EXPECT_NE(keyOf(one, {one.x}), keyOf(one, {one.x, one.w}));
  EXPECT_NE(keyOf(one, {one.x}),
            keyOf(one, {one.x}, Layout({"batch"}, mesh8())));
  other.tape[0].key = "exp/2";
  EXPECT_NE(keyOf(one, {one.x}), keyOf(other, {other.x}));
}

} // namespace
} // namespace meshloom
