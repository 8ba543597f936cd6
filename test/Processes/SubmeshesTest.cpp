// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of a model on devices of different processes: values that move between
// them, their gradients, and pipelines over them. Every test runs in all
// processes at the same time.
#include "../Distribute/Testing.h"
#include "meshloom/Meshloom.h"

#include <filesystem>
#include <fmt/format.h>

#include <unistd.h>

namespace meshloom {
namespace {

using testing::HasSubstr;

Tensor sample(const Shape &shape, uint32_t seed) {
  return random::stateless_normal(shape, Seed{seed, 7});
}

/// Two devices of the first process, and of the last one.
Mesh frontMesh() {
  return create_submesh({{"a", 2}}, {"CPU:0", "CPU:1"}, "front");
}
Mesh backMesh() {
  const int64_t first = 2 * (num_clients() - 1);
  return create_submesh(
      {{"b", 2}}, {DeviceSpec{"CPU", first}, DeviceSpec{"CPU", first + 1}},
      "back");
}
Mesh everywhere() {
  return create_distributed_mesh({{"x", 2 * num_clients()}});
}

/// The value of a tensor of a submesh, read by all processes.
std::vector<float> elementsOf(const Tensor &tensor) {
  return detail::replicateUnlessLocal(tensor).to_vector<float>();
}
void expectSame(const Tensor &got, const Tensor &wanted,
                float tolerance = 1e-5f) {
  EXPECT_THAT(elementsOf(got), testing::Pointwise(testing::FloatNear(tolerance),
                                                  wanted.to_vector<float>()));
}

// A submesh is of one process, which all know; others hold no part of a value
// there.
TEST(SubmeshesTest, AllProcessesKnowASubmesh) {
  const Mesh front = frontMesh(), back = backMesh();
  EXPECT_EQ(front.is_remote(), client_id() != 0);
  EXPECT_EQ(back.is_remote(), client_id() != num_clients() - 1);
  EXPECT_EQ(back.global_devices()[1],
            fmt::format("/job:worker/replica:0/task:{}/device:CPU:1",
                        num_clients() - 1));
  EXPECT_EQ(create_submesh({{"a", 1}}, {"/job:worker/task:1/device:CPU:1"})
                .global_devices()[0],
            "/job:worker/replica:0/task:1/device:CPU:1");
  EXPECT_THAT(errorOf([] { create_submesh({{"a", 2}}, {"CPU:1", "CPU:2"}); }),
              testing::AllOf(HasSubstr("[create_submesh]"),
                             HasSubstr("devices of one process")));
  EXPECT_THAT(errorOf([] {
                create_submesh({{"a", 1}},
                               {DeviceSpec{"CPU", 100 * num_clients()}});
              }),
              HasSubstr("--devices-per-process"));
  const Tensor x = copy_to_mesh(sample({4, 3}, 1), front);
  if (client_id() == 0)
    EXPECT_EQ(x.to_vector<float>(), sample({4, 3}, 1).to_vector<float>());
  else
    EXPECT_THAT(errorOf([&] { (void)x.to_vector<float>(); }),
                HasSubstr("on devices of another process"));
}

// Values go from one submesh to another, to all processes and back, one after
// the other and in functions, and arrive in the layout that is asked for.
TEST(SubmeshesTest, ValuesMoveBetweenProcesses) {
  const Tensor value = sample({4, 6}, 2);
  const Layout cut({"x", UNSHARDED}, everywhere());
  const Tensor there = distribute(value, Layout({"a", UNSHARDED}, frontMesh()));
  const Tensor whole = distribute(sample({4 * num_clients(), 6}, 3),
                                  Layout({"x", UNSHARDED}, everywhere()));
  auto chain = [&](const Tensor &x, const Tensor &y) {
    const Tensor moved =
        relayout(x * 2.0, Layout({UNSHARDED, "b"}, backMesh()));
    const Tensor back = copy_to_mesh(moved + 1.0, frontMesh());
    const Tensor gathered = relayout(y, Layout({UNSHARDED, "a"}, frontMesh()));
    return std::vector<Tensor>{moved, back, gathered * 3.0,
                               copy_to_mesh(reduce_sum(back), everywhere())};
  };
  for (bool traced : {false, true}) {
    SCOPED_TRACE(traced);
    const std::vector<Tensor> got =
        traced ? function(chain)(there, whole) : chain(there, whole);
    expectSame(got[0], 2 * value);
    expectSame(got[1], 2 * value + 1.0);
    expectSame(got[2], 3 * sample({4 * num_clients(), 6}, 3));
    EXPECT_NEAR(got[3].item<float>(), reduce_sum(2 * value + 1.0).item<float>(),
                1e-4);
    EXPECT_EQ(got[0].layout(), Layout({UNSHARDED, "b"}, backMesh()));
  }
}

// A gradient comes back to the process of its source, into its layout.
TEST(SubmeshesTest, GradientsComeBack) {
  const Tensor value = sample({4 * num_clients(), 3}, 4);
  const Tensor wanted = 4 * value * value * value;
  for (const Layout &layout : {Layout({"a", UNSHARDED}, frontMesh()),
                               Layout({"x", UNSHARDED}, everywhere())}) {
    const Tensor x = distribute(value, layout);
    auto gradient = [&](const Tensor &y) {
      GradientTape tape;
      const Tensor moved =
          relayout(square(y), Layout({UNSHARDED, UNSHARDED}, backMesh()));
      return tape.gradient(reduce_sum(moved * moved), y);
    };
    for (const Tensor &got : {gradient(x), function(gradient)(x)}) {
      EXPECT_EQ(got.layout(), layout);
      EXPECT_THAT(detail::replicateUnlessLocal(copy_to_mesh(got, everywhere()))
                      .to_vector<float>(),
                  testing::Pointwise(testing::FloatNear(1e-4f),
                                     wanted.to_vector<float>()));
    }
  }
}

/// Stages on submeshes of all processes in turn.
struct Stages {
  std::vector<DVariable> weights;
  std::vector<PipelineStage> stages;

  explicit Stages(int64_t count) {
    for (int64_t s = 0; s < count; ++s) {
      // Each process has as many stages, and neighbours are together.
      const int64_t process = s * num_clients() / count;
      const Mesh mesh = create_submesh(
          {{"batch", 2}},
          {DeviceSpec{"CPU", 2 * process}, DeviceSpec{"CPU", 2 * process + 1}},
          fmt::format("stage{}", s));
      const DVariable w(copy_to_mesh(initial(s), mesh),
                        {.name = fmt::format("w{}", s)});
      weights.push_back(w);
      stages.push_back({[w](const Tensor &x) { return tanh(matmul(x, w)); },
                        {w},
                        Layout({"batch", UNSHARDED}, mesh)});
    }
  }
  static Tensor initial(int64_t stage) {
    return sample({6, 6}, uint32_t(20 + stage)) * 0.7;
  }
};

Tensor meanSquaredError(const Tensor &predictions, const Tensor &labels) {
  return reduce_mean(square(predictions - labels));
}

// Losses, gradients and updates are those of the model in one process, whatever
// the schedule; all processes read the loss.
TEST(SubmeshesTest, APipelineTrainsAsTheModelDoes) {
  for (PipelineSchedule schedule :
       {PipelineSchedule::GPIPE, PipelineSchedule::ONE_FORWARD_ONE_BACKWARD}) {
    SCOPED_TRACE(int(schedule));
    const Stages piped(4);
    std::vector<DVariable> plain;
    for (int64_t s = 0; s < 4; ++s)
      plain.emplace_back(Stages::initial(s));
    const Pipeline model = pipeline(piped.stages, 4, schedule);
    auto step = function([&](const Tensor &x, const Tensor &y) {
      const PipelineGradients result = model.gradients(x, y, meanSquaredError);
      for (const auto &[gradient, variable] : result.gradients)
        variable.assign_sub(0.5 * gradient);
      return result.loss;
    });
    auto plainStep = function([&](const Tensor &x, const Tensor &y) {
      GradientTape tape;
      Tensor value = x;
      for (const DVariable &w : plain)
        value = tanh(matmul(value, w));
      const Tensor loss = meanSquaredError(value, y);
      for (const auto &[gradient, variable] : tape.gradient(loss, plain))
        variable.assign_sub(0.5 * gradient);
      return loss;
    });
    for (uint32_t turn = 0; turn < 4; ++turn) {
      const Tensor x = sample({8, 6}, 30 + turn), y = sample({8, 6}, 40 + turn);
      EXPECT_NEAR(step(x, y).item<float>(), plainStep(x, y).item<float>(),
                  1e-5);
    }
    for (size_t s = 0; s < 4; ++s)
      expectSame(piped.weights[s], plain[s]);
    EXPECT_EQ(step.trace_count(), 1);
    const Tensor x = sample({8, 6}, 50);
    Tensor wanted = x;
    for (const DVariable &w : plain)
      wanted = tanh(matmul(wanted, w));
    expectSame(model(x), wanted);
  }
}

// Many calls that nobody waits for: no rank gets so far ahead that a message
// waits for ever, and none is lost at the end.
TEST(SubmeshesTest, CallsAreLaunchedFarAhead) {
  const Mesh front = frontMesh(), back = backMesh();
  auto step = function([&](const Tensor &x) {
    return copy_to_mesh(copy_to_mesh(x * 0.5, back) + 1.0, front);
  });
  Tensor x = copy_to_mesh(zeros({1000}), front);
  for (int turn = 0; turn < 200; ++turn)
    x = step(x);
  expectSame(x, full({1000}, 2.0));
}

// A model over submeshes of several processes is saved by their owners and
// restored, also into a model whose parts are elsewhere.
TEST(SubmeshesTest, CheckpointsOfSubmeshes) {
  const std::filesystem::path folder =
      detail::gatherTexts("folder",
                          (std::filesystem::temp_directory_path() /
                           fmt::format("meshloom-submeshes-{}", ::getpid()))
                              .string())
          .front();
  const Tensor one = sample({4, 3}, 5), two = sample({6}, 6);
  const Layout rows({"a", UNSHARDED}, frontMesh());
  const DVariable a(distribute(one, rows)), b(copy_to_mesh(two, backMesh()));
  Checkpoint({{"a", a}, {"b", b}}).write(folder);
  const DVariable c(copy_to_mesh(zeros({4, 3}), backMesh())),
      d(copy_to_mesh(zeros({6}), everywhere()));
  Checkpoint({{"a", c}, {"b", d}}).restore(folder);
  expectSame(c, one, 0);
  expectSame(d, two, 0);
  detail::waitForAll("read");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

} // namespace
} // namespace meshloom
