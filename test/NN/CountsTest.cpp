// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts over many steps: an optimizer's iterations, the sums of metrics; how
// both come back from checkpoints, those of earlier versions too.
#include "../API/Testing.h"
#include "../TemporaryFolder.h"

#include "meshloom/Data/TensorFolder.h"

#include <gmock/gmock.h>

namespace meshloom {
namespace {

using metrics::Metric;
using testing::ElementsAre;
using testing::HasSubstr;
class CountsTest : public test::TemporaryFolderTest {};

/// All optimizers that are known by name.
constexpr std::array optimizerNames{
    "sgd",   "adam", "adamw", "adagrad", "adadelta",  "rmsprop", "adamax",
    "nadam", "ftrl", "lion",  "lamb",    "adafactor", "muon"};

void stepOn(const DVariable &w, const optimizers::Optimizer &optimizer,
            float gradient = 1) {
  optimizer.apply_gradients({{full({2}, gradient), w}});
}

// Keras's count for all optimizers, in loops of one's own, in functions, and
// with rates that a variable or a schedule gives.
TEST_F(CountsTest, EveryOptimizerCountsItsSteps) {
  for (const char *name : optimizerNames) {
    SCOPED_TRACE(name);
    DVariable w(tensor({4.f, 3.f}));
    const optimizers::Optimizer optimizer = optimizers::get(name);
    const DVariable early = optimizer.iterations();
    EXPECT_EQ(early.item<int64_t>(), 0);
    stepOn(w, optimizer);
    auto step = function([&] { stepOn(w, optimizer); });
    step();
    step();
    EXPECT_EQ(optimizer.iterations().item<int64_t>(), 3);
    EXPECT_EQ(early.item<int64_t>(), 3);
    EXPECT_EQ(step.trace_count(), 1);
    EXPECT_EQ(optimizer.variables().front().name(), "step");
  }
}

// A call that only accumulates, or whose gradients are not finite, is no step.
TEST_F(CountsTest, OnlyWhatChangesVariablesIsAStep) {
  DVariable w(tensor({4.f, 3.f}));
  const optimizers::SGD sums({.common = {.gradient_accumulation_steps = 3}});
  for (int i = 0; i < 7; ++i)
    stepOn(w, sums);
  EXPECT_EQ(sums.iterations().item<int64_t>(), 2);
  const optimizers::SGD scaled({.common = {.loss_scale = {1024, 2}}});
  for (const float gradient : {1.f, INFINITY, 2.f})
    stepOn(w, scaled, gradient);
  EXPECT_EQ(scaled.iterations().item<int64_t>(), 2);
}

// A count that was asked for before it was known where it counts comes to the
// mesh of the variables.
TEST_F(CountsTest, AnEarlyCountComesToTheMesh) {
  const Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  DVariable w(distribute(tensor({4.f, 3.f}), Layout({"x"}, mesh)));
  const optimizers::Lion lion;
  const DVariable early = lion.iterations();
  function([&] {
    lion.apply_gradients({{w.read_value() * 2.f, w}});
    EXPECT_EQ(early.read_value().shape(), Shape());
  })();
  EXPECT_EQ(early.item<int64_t>(), 1);
  EXPECT_TRUE(is_dtensor(early.read_value()));
}

// The count is in checkpoints; one that has none is read where nothing but the
// count needs it, with a warning.
TEST_F(CountsTest, CheckpointsHaveTheCount) {
  std::vector<std::string> warnings;
  const Logger around = set_logger(
      [&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  DVariable w(tensor({4.f, 3.f}), {.name = "w"});
  const optimizers::SGD sgd({.momentum = 0.5});
  stepOn(w, sgd);
  stepOn(w, sgd);
  const Checkpoint both({{"w", w}, {"sgd", sgd}});
  both.write(folder / "new");
  const optimizers::SGD fresh({.momentum = 0.5});
  Checkpoint({{"w", w}, {"sgd", fresh}}).restore(folder / "new");
  EXPECT_EQ(fresh.iterations().item<int64_t>(), 2);

  data::FolderContents old{{{"w", zeros({2})}, {"sgd/w/momentum", ones({2})}},
                           {{"save_counter", "1"}}};
  data::write_tensor_folder(folder / "old", old);
  EXPECT_TRUE(warnings.empty());
  both.restore(folder / "old");
  set_logger(around);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("how many steps")));
  EXPECT_EQ(sgd.iterations().item<int64_t>(), 2);
  expectNear(w, {0, 0});
  // Adam's moments cannot be corrected without it.
  const optimizers::Adam adam;
  adam.build({w});
  old.tensors = {
      {"w", zeros({2})}, {"adam/w/m", ones({2})}, {"adam/w/v", ones({2})}};
  data::write_tensor_folder(folder / "wrong", old);
  EXPECT_ERROR(Checkpoint({{"w", w}, {"adam", adam}}).restore(folder / "wrong"),
               HAS("adam/step"));
}

/// Metrics of every kind of rule, with what makes batches for them.
std::vector<Metric> manyMetrics() {
  using namespace metrics;
  return {Mean(),
          Sum(),
          BinaryAccuracy(),
          MeanSquaredError(),
          RootMeanSquaredError(),
          TruePositives(),
          FalseNegatives({.thresholds = {0.3, 0.6}}),
          Precision(),
          Recall(),
          AUC({.num_thresholds = 20}),
          PrecisionAtRecall(0.5),
          BinaryIoU({.target_class_ids = {0, 1}}),
          MeanIoU({.num_classes = 2}),
          R2Score(),
          F1Score({.threshold = 0.5})};
}
/// Adds so many rows of which one in `period` is right.
void add(const Metric &metric, int64_t rows, int64_t period) {
  const Tensor i = cast(iota({rows, 1}, 0), DType::I64);
  const Tensor y = cast(equal(i % int64_t(2), 0), DType::F32);
  const Tensor p =
      where(equal(i % period, 0), y * 0.5f + 0.2f, (1.f - y) * 0.8f + 0.1f);
  if (metric.id() == "mean" || metric.id() == "sum")
    static_cast<const metrics::Mean &>(metric).update_state(p);
  else if (metric.id() == "mean_io_u")
    metric.update_state(cast(y, DType::I32),
                        cast(greater(p, 0.5f), DType::I32));
  else
    metric.update_state(y, p);
}

// Some examples more change sums of 2^31 batches by what they are: each metric
// against its sums in doubles.
TEST_F(CountsTest, MetricsCountBeyondTheNumbersOfF32) {
  const std::vector<Metric> many = manyMetrics(), first = manyMetrics(),
                            more = manyMetrics(), expected = manyMetrics();
  constexpr double batches = 2147483648., steps = 3000;
  for (size_t k = 0; k < many.size(); ++k) {
    SCOPED_TRACE(many[k].name());
    add(first[k], 12, 5);
    add(more[k], 4, 3);
    add(many[k], 12, 5);
    add(expected[k], 4, 3);
    for (size_t s = 0; s < many[k].variables().size(); ++s) {
      const Tensor of = first[k].variables()[s].read_value();
      const Tensor one = more[k].variables()[s].read_value();
      ASSERT_EQ(of.dtype(), DType::F64);
      many[k].variables()[s].assign(of * (batches - steps));
      expected[k].variables()[s].assign(of * (batches - steps) + one * steps);
    }
    auto step = function([&] { add(many[k], 4, 3); });
    for (int i = 0; i < int(steps); ++i)
      step();
    for (size_t s = 0; s < many[k].variables().size(); ++s) {
      const auto got = many[k].variables()[s].read_value().to_vector<double>();
      const auto wanted =
          expected[k].variables()[s].read_value().to_vector<double>();
      for (size_t i = 0; i < got.size(); ++i) {
        const double whole =
            first[k].variables()[s].read_value().to_vector<double>()[i] *
            (batches - steps);
        // The addends came in, not only the value that was there.
        EXPECT_NEAR(got[i] - whole, wanted[i] - whole,
                    1e-5 * std::abs(wanted[i] - whole) + 1e-5);
      }
    }
  }
}

// A metric that has seen nothing gets the sums of a checkpoint, those whose
// shapes only batches say too; and goes on with batches on a mesh.
TEST_F(CountsTest, MetricsAreRestoredBeforeTheirFirstBatch) {
  const std::vector<Metric> old = manyMetrics(), fresh = manyMetrics();
  Checkpoint::Objects written, read;
  for (size_t k = 0; k < old.size(); ++k) {
    add(old[k], 12, 5);
    written.emplace_back(std::to_string(k), old[k]);
    read.emplace_back(std::to_string(k), fresh[k]);
    fresh[k].reset_state();
  }
  Checkpoint(written).write(folder / "c");
  Checkpoint(read).restore(folder / "c");
  const Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  for (size_t k = 0; k < old.size(); ++k) {
    SCOPED_TRACE(old[k].name());
    expectSame(fresh[k].result(), old[k].result());
  }
  const Tensor y = tensor({1.f, 0.f, 1.f, 1.f}), p = y * 0.6f;
  const Layout layout({"x"}, mesh);
  fresh[2].update_state(distribute(y, layout), distribute(p, layout));
  function([&](const Tensor &y, const Tensor &p) {
    fresh[3].update_state(y, p);
  })(distribute(y, layout), distribute(p, layout));
  for (const size_t k : {2, 3}) {
    old[k].update_state(y, p);
    expectSame(fresh[k].result(), old[k].result());
  }
  EXPECT_ERROR(
      Checkpoint({{"other", metrics::Metric("mae")}}).restore(folder / "c"),
      HAS("the checkpoint has, the program has not"));
  EXPECT_ERROR(metrics::R2Score().build(), HAS("the shape of the sum"));
}

// Sums that an earlier version wrote in f32.
TEST_F(CountsTest, SumsOfEarlierVersionsAreRead) {
  data::write_tensor_folder(folder / "old", {{{"m/mean/total", full({}, 3.f)},
                                              {"m/mean/count", full({}, 2.f)}},
                                             {{"save_counter", "0"}}});
  for (const bool isBuilt : {false, true}) {
    const metrics::Mean mean;
    if (isBuilt)
      mean.update_state(7);
    Checkpoint({{"m", mean}}).restore(folder / "old");
    EXPECT_EQ(mean.result().item<float>(), 1.5f);
    EXPECT_EQ(mean.variables()[0].dtype(), DType::F64);
  }
}

} // namespace
} // namespace meshloom
