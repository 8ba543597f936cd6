// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checkpoints: modules, optimizers and numbers come back under other meshes and
// layouts; what does not fit is listed and nothing changes; writing goes on
// beside the program; managers keep what they are told.
#include "meshloom/NN/State/CheckpointManager.h"

#include "../TemporaryFolder.h"
#include "meshloom/Data/TensorFolder.h"
#include "meshloom/Meshloom.h"

#include <gmock/gmock.h>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::UnorderedElementsAre;
using CheckpointTest = meshloom::test::TemporaryFolderTest;

namespace {

struct Net : Module {
  DVariable kernel, bias;
  explicit Net(const std::optional<Layout> &layout = std::nullopt,
               int64_t outputs = 4)
      : kernel(
            call_with_layout([&] { return ones({6, outputs}) * 0.5f; }, layout),
            {.name = "kernel", .trainable = true, .layout = std::nullopt}),
        bias(layout ? distribute(zeros({outputs}),
                                 Layout::replicated(layout->mesh(), 1))
                    : zeros({outputs})) {
    track(kernel, bias);
  }
  Tensor operator()(const Tensor &x) const { return matmul(x, kernel) + bias; }
};

/// A step on rows of ones; the loss before it.
float step(const Net &net, const optimizers::Optimizer &optimizer) {
  GradientTape tape;
  Tensor loss = reduce_mean(square(net(ones({3, 6})) - 1));
  optimizer.apply_gradients(tape.gradient(loss, net.trainable_variables()));
  return loss.item<float>();
}

Checkpoint checkpointOf(const Net &net, const optimizers::Optimizer &optimizer,
                        int64_t *epoch) {
  return Checkpoint(
      {{"model", net}, {"optimizer", optimizer}, {"epoch", epoch}});
}

// Another process, mesh and layout go on as if nothing had been: state that
// the optimizer has yet to make included.
TEST_F(CheckpointTest, GoesOnUnderAnyLayout) {
  std::vector<float> whole;
  {
    Net net;
    optimizers::Adam adam(0.1);
    int64_t epoch = 3;
    for (int i = 0; i < 2; ++i)
      step(net, adam);
    checkpointOf(net, adam, &epoch).write(folder / "ckpt");
    for (int i = 0; i < 3; ++i)
      whole.push_back(step(net, adam));
  }
  EXPECT_THAT(data::TensorFolder(folder / "ckpt").tensors(),
              UnorderedElementsAre(
                  Key("model/kernel"), Key("model/1"), Key("optimizer/step"),
                  Key("optimizer/model/kernel/m"),
                  Key("optimizer/model/kernel/v"), Key("optimizer/model/1/m"),
                  Key("optimizer/model/1/v")));
  Mesh mesh = create_mesh({{"x", 2}, {"y", 2}}, virtual_cpus(4));
  std::filesystem::path from = folder / "ckpt";
  int64_t number = 0;
  for (const Layout &layout :
       {Layout({"x", "y"}, mesh), Layout({UNSHARDED, Axes{"x", "y"}}, mesh),
        Layout::replicated(mesh, 2)}) {
    auto scope = default_mesh(mesh);
    Net net(layout);
    optimizers::Adam adam(0.1);
    int64_t epoch = 0;
    Checkpoint checkpoint = checkpointOf(net, adam, &epoch);
    checkpoint.restore(from);
    EXPECT_EQ(epoch, 3);
    EXPECT_EQ(net.kernel.read_value().layout(), layout);
    // The state that was restored is written again, for the next layout.
    from = folder / ("next" + std::to_string(++number));
    checkpoint.write(from);
    for (float loss : whole)
      EXPECT_NEAR(step(net, adam), loss, 1e-6);
  }
}

// All that does not fit is listed, and nothing has been assigned.
TEST_F(CheckpointTest, VariablesThatDoNotAgreeAreListed) {
  Net net;
  DVariable other(tensor(1.f)), more(tensor({1, 2}));
  Checkpoint({{"model", net}, {"other", other}}).write(folder / "ckpt");
  Net narrow(std::nullopt, 2);
  Checkpoint wrong({{"model", narrow}, {"more", more}});
  EXPECT_THAT(
      refusal([&] { wrong.restore(folder / "ckpt"); }),
      AllOf(HasSubstr("has not (1):\n    more i32 [2]"),
            HasSubstr("the program has not (1):\n    other f32 []"),
            HasSubstr("shape (2):\n    model/1 f32 [2], stored is f32 [4]"),
            HasSubstr("model/kernel f32 [6, 2], stored is f32 [6, 4]"),
            HasSubstr("ckpt")));
  other.assign(7.f);
  more.assign(tensor({5, 6}));
  Checkpoint part({{"other", other}, {"more", more}});
  EXPECT_THROW(part.restore(folder / "ckpt", {.allow_missing = true}), Error);
  EXPECT_THROW(part.restore(folder / "ckpt", {.allow_extra = true}), Error);
  EXPECT_EQ(other.item<float>(), 7);
  part.restore(folder / "ckpt", {.allow_missing = true, .allow_extra = true});
  EXPECT_EQ(other.item<float>(), 1);
  EXPECT_THAT(more.to_vector<int>(), ElementsAre(5, 6));
  EXPECT_THROW(Checkpoint({{"a", other}, {"a", more}}), Error);
}

// Damage in one file changes nothing.
TEST_F(CheckpointTest, DamageChangesNothing) {
  DVariable a(tensor({1.f, 2.f})), b(tensor({3.f}));
  int64_t seed = 4;
  Checkpoint checkpoint({{"a", a}, {"b", b}, {"seed", &seed}});
  checkpoint.write(folder / "ckpt");
  for (const auto &entry : std::filesystem::directory_iterator(folder / "ckpt"))
    if (entry.path().extension() == ".safetensors") {
      const std::string name = "ckpt/" + entry.path().filename().string();
      std::string bytes = read(name);
      bytes.back() ^= 1; // of b
      write(name, bytes);
    }
  a.assign(tensor({9.f, 9.f}));
  seed = 5;
  EXPECT_THAT(refusal([&] { checkpoint.restore(folder / "ckpt"); }),
              AllOf(HasSubstr("tensor 'b'"), HasSubstr("checksum")));
  EXPECT_THAT(a.to_vector<float>(), ElementsAre(9, 9));
  EXPECT_EQ(seed, 5);
}

/// Small state of a user's own.
struct Position {
  int64_t row = 0;
  std::string save() const { return "{\"at\": " + std::to_string(row) + "}"; }
  void restore(const std::string &state) {
    if (row < 0)
      throw Error("the data is another one");
    row = std::stoll(state.substr(state.find(':') + 1));
  }
};

// Objects with a small state have it in the index; where one refuses, none
// changes.
TEST_F(CheckpointTest, SmallState) {
  Position first{3}, second{4};
  Checkpoint both({{"first", &first}, {"second", &second}});
  both.write(folder / "ckpt");
  first.row = second.row = 0;
  both.restore(folder / "ckpt");
  EXPECT_EQ(first.row, 3);
  EXPECT_EQ(second.row, 4);
  first.row = 8;
  second.row = -1;
  EXPECT_THAT(refusal([&] { both.restore(folder / "ckpt"); }),
              HasSubstr("the data is another one"));
  EXPECT_EQ(first.row, 8);
}

// The values of the call are written, whatever the program does meanwhile; an
// error comes at the next call, once.
TEST_F(CheckpointTest, WritesBesideTheProgram) {
  Mesh mesh = create_mesh({{"x", 2}}, virtual_cpus(2));
  DVariable w(distribute(ones({1 << 16}), Layout({"x"}, mesh)));
  auto grow = function([&] { w.assign_add(1.f); });
  Checkpoint checkpoint({{"w", w}});
  for (int i = 0; i < 3; ++i) {
    checkpoint.write(folder / "ckpt", {.asynchronous = true});
    grow();
  }
  checkpoint.wait();
  EXPECT_EQ(data::TensorFolder(folder / "ckpt").read("w")[0].item<float>(), 3);
  EXPECT_EQ(w[0].item<float>(), 4);
  write("file", "in the way");
  checkpoint.write(folder / "file", {.asynchronous = true});
  EXPECT_THAT(refusal([&] { checkpoint.save(folder / "next"); }),
              HasSubstr("something else"));
  EXPECT_EQ(checkpoint.save(folder / "next"), folder / "next-2");
  EXPECT_EQ(checkpoint.save_counter(), 2);
  function([&] { EXPECT_THROW(checkpoint.write(folder / "t"), Error); })();
}

// The newest are kept, in later processes too; a step counter numbers them.
TEST_F(CheckpointTest, ManagerKeepsTheNewest) {
  DVariable w(tensor(0.f));
  Checkpoint checkpoint({{"w", w}});
  CheckpointManager manager(checkpoint, folder / "all", {.max_to_keep = 2});
  EXPECT_FALSE(manager.latest_checkpoint());
  for (int i = 1; i <= 4; ++i) {
    w.assign(float(i));
    EXPECT_EQ(manager.save()->filename(), "ckpt-" + std::to_string(i));
  }
  EXPECT_THAT(manager.checkpoints(),
              ElementsAre(folder / "all/ckpt-3", folder / "all/ckpt-4"));
  std::filesystem::create_directory(folder / "all/ckpt-9"); // unfinished
  CheckpointManager later(checkpoint, folder / "all",
                          {.max_to_keep = 2, .write = {.asynchronous = true}});
  w.assign(0.f);
  EXPECT_EQ(later.restore_or_initialize(), folder / "all/ckpt-4");
  EXPECT_EQ(w.item<float>(), 4);
  later.save();
  later.wait();
  EXPECT_THAT(later.checkpoints(),
              ElementsAre(folder / "all/ckpt-4", folder / "all/ckpt-5"));
  EXPECT_EQ(latest_checkpoint(folder / "all"), folder / "all/ckpt-5");
  EXPECT_FALSE(latest_checkpoint(folder / "none"));
}

TEST_F(CheckpointTest, ManagerCountsStepsAndHours) {
  DVariable steps(tensor(int64_t(0)));
  int initialized = 0;
  CheckpointManager manager(Checkpoint({{"steps", steps}}), folder / "all",
                            {.max_to_keep = 1,
                             .keep_checkpoint_every_n_hours = 1,
                             .checkpoint_name = "c",
                             .step_counter = steps,
                             .checkpoint_interval = 2,
                             .init_fn = [&] { ++initialized; }});
  EXPECT_FALSE(manager.restore_or_initialize());
  EXPECT_EQ(initialized, 1);
  EXPECT_TRUE(manager.save());
  steps.assign(int64_t(1));
  EXPECT_FALSE(manager.save());
  for (int64_t i : {2, 4, 6}) {
    steps.assign(i);
    EXPECT_EQ(manager.save(), folder / "all" / ("c-" + std::to_string(i)));
    // The file looks as if it had been written an hour and a half later.
    if (i == 2)
      std::filesystem::last_write_time(
          folder / "all/c-2/index.json",
          std::filesystem::file_time_type::clock::now() +
              std::chrono::minutes(90));
  }
  EXPECT_THAT(manager.checkpoints(),
              ElementsAre(folder / "all/c-2", folder / "all/c-6"));
  EXPECT_THROW(CheckpointManager(manager.checkpoint(), folder,
                                 {.checkpoint_interval = 1}),
               Error);
  EXPECT_THROW(
      CheckpointManager(manager.checkpoint(), folder, {.max_to_keep = -1}),
      Error);
}

// A note that should be a number, and is not: nothing is assigned.
TEST_F(CheckpointTest, NotesThatAreNoNumbersAreDamage) {
  DVariable v(ones({2}));
  int64_t epoch = 7;
  const Checkpoint checkpoint({{"v", v}, {"epoch", &epoch}});
  auto isRefused = [&](const std::string &counter, const std::string &number) {
    data::write_tensor_folder(
        folder / "c", {{{"v", zeros({2})}},
                       {{"save_counter", counter}, {"state/epoch", number}}});
    EXPECT_THROW(checkpoint.restore(folder / "c"), DataLossError);
    EXPECT_EQ(v.to_vector<float>(), (std::vector<float>{1, 1}));
    EXPECT_EQ(epoch, 7);
  };
  isRefused("\"many\"", "3");
  isRefused("99999999999999999999", "3");
  isRefused("1", "\"x\"");
  isRefused("1", "99999999999999999999");
}

// A file beside a checkpoint whose name says a process that there cannot be.
TEST_F(CheckpointTest, NamesOfLeftoversCanBeAnything) {
  const auto odd = folder / ".c.1-ffffffffffffffffffffffff-1.part";
  std::filesystem::create_directories(odd);
  DVariable v(ones({2}));
  Checkpoint({{"v", v}}).write(folder / "c");
  EXPECT_TRUE(std::filesystem::exists(odd));
}
} // namespace
