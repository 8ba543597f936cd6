// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions, modules and optimizers; and that sharded training equals
// unsharded.
#include "../API/Testing.h"

#include "meshloom/Core/MachineModel.h"

#include "../../benchmark/PeerModel.h"

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

namespace meshloom {
namespace {

TEST(FunctionsTest, ActivationsAndSoftmax) {
  Tensor x = tensor({-1.f, 0.f, 2.f});
  expectNear(nn::relu(x), {0, 0, 2});
  {
    GradientTape tape;
    Tensor y = nn::relu(x);
    expectNear(tape.gradient(y, x), {0, 0, 1});
  }
  EXPECT_TRUE(std::isnan(nn::relu(tensor({NAN})).item<float>()));
  expectNear(nn::gelu(x), {-0.15865525, 0, 1.95449974});
  Tensor big = tensor({{1000.f, 1001.f}, {-1000.f, -1000.f}});
  double a = 1 / (1 + std::exp(1)), b = 1 - a;
  expectNear(nn::softmax(big), {a, b, 0.5, 0.5});
  expectNear(nn::log_softmax(big),
             {std::log(a), std::log(b), -std::log(2), -std::log(2)});
  expectNear(nn::softmax(big, 0), {1, 1, 0, 0});
}

TEST(FunctionsTest, SparseCrossEntropyIsStableAndNamed) {
  Tensor logits = tensor({{1000.f, 0.f, 0.f}, {1.f, 2.f, 3.f}});
  Tensor labels = tensor({0, 2});
  double second =
      -std::log(std::exp(3) / (std::exp(1) + std::exp(2) + std::exp(3)));
  expectNear(nn::sparse_softmax_cross_entropy_with_logits(
                 {.labels = labels, .logits = logits}),
             {0, second});
  expectNear(nn::softmax_cross_entropy_with_logits(
                 {.labels = one_hot(labels, 3), .logits = logits}),
             {0, second});
  EXPECT_ERROR(nn::sparse_softmax_cross_entropy_with_logits(
                   {.labels = logits, .logits = labels}),
               HAS("[sparse_softmax_cross_entropy_with_logits]"),
               HAS("labels f32 [2, 3]"), HAS("logits i32 [2]"), HAS("swapped"));
  EXPECT_ERROR(nn::sparse_softmax_cross_entropy_with_logits(
                   {.labels = tensor({1}), .logits = logits}),
               HAS("labels i32 [1]"), HAS("logits f32 [2, 3]"));
  Tensor out = nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = tensor({3, -1}), .logits = logits});
  EXPECT_TRUE(std::isnan(out.to_vector<float>()[0]));
}

TEST(FunctionsTest, CrossEntropyGradient) {
  Tensor logits = sample({4, 5}), labels = tensor({0, 3, 4, 1});
  GradientTape tape;
  Tensor loss = reduce_sum(nn::sparse_softmax_cross_entropy_with_logits(
      {.labels = labels, .logits = logits}));
  expectSame(tape.gradient(loss, logits),
             nn::softmax(logits) - one_hot(labels, 5));
}

struct Block : Module {
  DVariable w, b, seen;
  Block()
      : w(ones({2}), {.name = "w"}), b(zeros({2}), {.name = "b"}),
        seen(zeros({}), {.name = "seen", .trainable = false}) {
    track(w, b, seen);
  }
};
struct Stack : Module {
  DVariable scale{ones({}), {.name = "scale"}};
  std::vector<Block> layers = std::vector<Block>(2);
  Block last;
  Stack() { track(this, scale, layers, last, scale); }
};

TEST(ModuleTest, FindsVariablesInDeclarationOrder) {
  Stack stack;
  std::string names, trainable;
  for (const DVariable &v : stack.variables())
    names += v.name() + " ";
  for (const DVariable &v : stack.trainable_variables())
    trainable += v.name() + " ";
  EXPECT_EQ(names, "scale w b seen w b seen w b seen "); // scale once
  EXPECT_EQ(trainable, "scale w b w b w b ");
  Stack copy = stack;
  EXPECT_TRUE(copy.variables()[0].is(stack.scale));
}

struct Forgetful : Module {
  DVariable w{ones({2})};
};
struct Unset : Module {
  DVariable w;
  Unset() { track(w); }
};
struct Plain : Module {
  Plain() { track(); }
};

// A model without variables trains nothing: the mistake is told, not kept.
TEST(ModuleTest, AForgottenTrackIsAnError) {
  auto says = HAS("has not named its variables");
  EXPECT_ERROR(Forgetful().variables(), says, HAS("track()"));
  EXPECT_ERROR(Forgetful().trainable_variables(), says);
  struct Outer : Module {
    Forgetful inner;
    Outer() { track(inner); }
  };
  EXPECT_ERROR(Outer().variables(), HAS("inside of this one"));
  EXPECT_ERROR(Unset(), HAS("[track]"), HAS("empty DVariable"));
  EXPECT_TRUE(Plain().variables().empty());
}

TEST(ModuleTest, ModulesThatWereMovedFromOrContainThemselves) {
  Block layer, taken = std::move(layer);
  EXPECT_EQ(taken.variables().size(), 3u);
  EXPECT_ERROR(layer.variables(), HAS("moved from"));
  struct Outer : Module {
    explicit Outer(const Block &inner) { track(inner); }
  };
  EXPECT_ERROR(Outer(layer), HAS("moved from"));
  struct Loop : Module {
    DVariable w{ones({})};
    Loop() { track(*this, w); }
  };
  EXPECT_ERROR(Loop(), HAS("[track]"), HAS("part of itself"));
}

/// One variable, by name.
struct Leaf : Module {
  DVariable w;
  explicit Leaf(std::string name = "leaf")
      : w(ones({2}), {.name = std::move(name)}) {
    track(this, w);
  }
};
/// Members that are filled after `track`.
struct Late : Module {
  std::vector<Leaf> list;
  std::map<std::string, Leaf> byName;
  std::optional<DVariable> bias;
  std::unique_ptr<Leaf> pointee;
  std::shared_ptr<Late> next;
  std::array<std::vector<DVariable>, 2> nested;
  std::optional<layers::Dense> layer;
  Leaf first{"first"};
  DVariable unset;
  Late() {
    track(this, list, byName, bias, pointee, next, nested, layer, first, unset);
  }
};
std::string namesIn(const Module &module) {
  std::string names;
  for (const DVariable &variable : module.variables())
    names += variable.name() + " ";
  return names;
}

TEST(ModuleTest, PartsThatMembersGetAfterTrackAreFound) {
  Late late;
  EXPECT_ERROR(late.variables(), HAS("empty DVariable"), HAS("std::optional"));
  late.unset = DVariable(ones({}), {.name = "set"});
  EXPECT_EQ(namesIn(late), "first set ");
  late.list.emplace_back("a");
  late.list.emplace_back("b");
  late.byName.emplace("z", Leaf("z"));
  late.byName.emplace("c", Leaf("c"));
  EXPECT_EQ(namesIn(late), "a b c z first set ");
  late.bias.emplace(ones({}), VariableOptions{.name = "bias"});
  late.pointee = std::make_unique<Leaf>("pointee");
  late.nested[1].emplace_back(ones({}), VariableOptions{.name = "nested"});
  late.first = Leaf("other");
  EXPECT_EQ(namesIn(late), "a b c z bias pointee nested other set ");
  late.list.pop_back();
  late.byName.clear();
  late.pointee = std::make_unique<Leaf>("new");
  EXPECT_EQ(namesIn(late), "a bias new nested other set ");
  late.layer.emplace(3);
  EXPECT_ERROR(late.variables(), HAS("has no weights yet"));
  (*late.layer)(ones({1, 2}));
  EXPECT_EQ(late.variables().size(), 8u);
  late.next = std::make_shared<Late>();
  late.next->unset = late.unset;
  EXPECT_EQ(late.variables().size(), 9u);
  late.next->next = late.next; // a circle ends
  EXPECT_EQ(late.variables().size(), 9u);
  late.next->next = nullptr;
  // Training one that came late changes it.
  Leaf &leaf = late.list.emplace_back("late");
  GradientTape tape;
  Tensor loss = zeros({});
  for (const DVariable &variable : late.variables())
    loss = loss + reduce_sum(variable * variable);
  optimizers::SGD(0.25).apply_gradients(
      tape.gradient(loss, late.trainable_variables()));
  expectNear(leaf.w, {0.5, 0.5});
}

TEST(ModuleTest, CopiesAndTheirBasesFindWhatComesLater) {
  struct Grows : Module {
    std::vector<Leaf> list;
    Grows() { track(this, list); }
  };
  Grows grows;
  Module base = grows; // what a layer or a checkpoint keeps of a module
  Grows copy = grows;
  grows.list.emplace_back("one");
  EXPECT_EQ(namesIn(base), "one ");
  EXPECT_EQ(namesIn(copy), "");
  copy.list.emplace_back("two");
  EXPECT_EQ(namesIn(copy), "two ");
  EXPECT_EQ(namesIn(grows), "one ");
  {
    Grows moved = std::move(grows);
    moved.list.emplace_back("three");
    EXPECT_EQ(namesIn(base), "one three ");
  }
  EXPECT_EQ(namesIn(base), "one three "); // the last that there was
  struct Around : Grows {
    Grows inner;
    Around() { track(this, inner); }
  };
  std::vector<Around> arounds(2); // moved when it grows
  for (int i = 0; i < 3; ++i)
    arounds.emplace_back();
  arounds[1].inner.list.emplace_back("inner");
  arounds[1].list.emplace_back("outer");
  EXPECT_EQ(namesIn(arounds[1]), "outer inner ");
  EXPECT_EQ(namesIn(arounds[0]), "");
  // The list may also grow in a part that a plain track named.
  struct Plainly : Module {
    Grows inner;
    Plainly() { track(inner); }
  };
  Plainly plainly;
  plainly.inner.list.emplace_back("in");
  EXPECT_EQ(namesIn(plainly), "in ");
}

TEST(ModuleTest, OnlyMembersCanBeLookedAtLater) {
  struct Pointee : Module {
    std::unique_ptr<Leaf> leaf = std::make_unique<Leaf>();
    Pointee() { track(this, *leaf); }
  };
  EXPECT_ERROR(Pointee(), HAS("[track]"), HAS("members of the module"),
               HAS("the pointer"));
  struct Other : Module {
    explicit Other(const Leaf &leaf) { track(&leaf); }
  };
  EXPECT_ERROR(Other(Leaf()), HAS("expected 'this'"));
  struct Loop : Module {
    Loop() { track(this, *this); }
  };
  EXPECT_ERROR(Loop(), HAS("part of itself"));
}

TEST(OptimizersTest, WrongGradientsNameTheUsersLine) {
  DVariable w(ones({2}), {.name = "w"}), count(zeros({}, DType::I32));
  optimizers::Adam adam;
  EXPECT_ERROR(adam.apply_gradients({}), HAS("[apply_gradients]"),
               HAS("got none"), HAS("TrainingTest.cpp"));
  EXPECT_ERROR(optimizers::SGD().apply_gradients({}), HAS("got none"));
  EXPECT_ERROR(adam.apply_gradients({{ones({3}), w}}), HAS("f32 [2]"),
               HAS("variable 'w'"), HAS("f32 [3]"), HAS("TrainingTest.cpp"));
  EXPECT_ERROR(adam.apply_gradients({{zeros({}, DType::I32), count}}),
               HAS("floats"));
  // An error of an op inside of it, too.
  Tensor elsewhere = distribute(
      ones({2}), Layout({UNSHARDED}, create_mesh({{"z", 4}}, virtual_cpus(4))));
  DVariable here(ones({2}), Layout({"batch"}, mesh8()));
  EXPECT_ERROR(adam.apply_gradients({{elsewhere, here}}),
               HAS("TrainingTest.cpp"));
}

// optax: v is real, and adds up |g|^2.
TEST(OptimizersTest, AdamOfComplexVariablesUsesTheModulus) {
  using C = std::complex<double>;
  std::vector<C> x{{1, 2}, {0, -3}}, m(2);
  std::vector<double> v(2);
  DVariable w(tensor(x, {2}));
  optimizers::Adam adam(0.1, 0.9, 0.999, 1e-7);
  for (int t = 1; t <= 4; ++t) {
    GradientTape tape;
    Tensor modulus = abs(w);
    Tensor loss = reduce_sum(modulus * modulus);
    adam.apply_gradients(tape.gradient(loss, {w}));
    for (int i = 0; i < 2; ++i) {
      C g = 2.0 * x[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * std::norm(g);
      x[i] -= 0.1 * (m[i] / (1 - std::pow(0.9, t))) /
              (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-7);
    }
    std::vector<C> values = w.to_vector<C>();
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(std::abs(values[i] - x[i]), 0, 1e-5);
  }
  EXPECT_EQ(adam.variables()[2].dtype(), DType::F64);
}

TEST(OptimizersTest, SGDWithMomentumFollowsItsFormula) {
  for (bool nesterov : {false, true}) {
    DVariable w(tensor({1.0}));
    optimizers::SGD sgd(
        {.learning_rate = 0.1, .momentum = 0.9, .nesterov = nesterov});
    double expected = 1, v = 0;
    for (int i = 0; i < 3; ++i) {
      GradientTape tape;
      Tensor loss = reduce_sum(w * w);
      sgd.apply_gradients(tape.gradient(loss, {w}));
      double g = 2 * expected;
      v = 0.9 * v - 0.1 * g;
      expected += nesterov ? 0.9 * v - 0.1 * g : v;
      expectNear(w, {expected}, 1e-10);
    }
    EXPECT_EQ(sgd.variables().size(), 2u); // the count of steps, momentum
  }
}

TEST(OptimizersTest, AdamFollowsItsFormulaWithTheTrueStep) {
  DVariable w(tensor({1.0, -2.0}));
  optimizers::Adam adam(0.1, 0.9, 0.999, 1e-7);
  auto step = function([&] {
    GradientTape tape;
    Tensor loss = reduce_sum(w * w * w);
    adam.apply_gradients(tape.gradient(loss, {w}));
    return loss;
  });
  std::vector<double> x{1, -2}, m{0, 0}, v{0, 0};
  for (int t = 1; t <= 5; ++t) {
    step();
    for (int i = 0; i < 2; ++i) {
      double g = 3 * x[i] * x[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      x[i] -= 0.1 * (m[i] / (1 - std::pow(0.9, t))) /
              (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-7);
    }
    expectNear(w, x, 1e-6);
  }
  EXPECT_EQ(step.trace_count(), 1);
  ASSERT_EQ(adam.variables().size(), 3u);
  EXPECT_EQ(adam.variables()[0].item<int64_t>(), 5);
}

struct MLP : Module {
  peers::Dense first, second, third;
  MLP(const Layout &l1, const Layout &l2, const Layout &l3, int64_t in,
      int64_t hidden)
      : first(in, hidden, 10, l1), second(hidden, 10, 11, l2),
        third(10, 10, 12, l3) {
    track(first, second, third);
  }
  Tensor operator()(const Tensor &x) const {
    return third(nn::relu(second(nn::relu(first(x)))));
  }
};

/// Losses of `steps` steps of the tutorial's training.
std::vector<float> train(const Layout &rows, const Layout &w1, const Layout &w2,
                         const Layout &w3, int64_t batch, int64_t in,
                         int64_t hidden, int steps) {
  MLP model(w1, w2, w3, in, hidden);
  optimizers::Adam adam;
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = y, .logits = model(x)}));
    adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss;
  });
  peers::Batch data = peers::learnableBatch(batch, in, 1);
  Tensor x = distribute(tensor(data.x, {batch, in}), rows);
  Tensor y = distribute(tensor(data.y, {batch}), rows.remove({1}));
  std::vector<float> losses;
  for (int i = 0; i < steps; ++i)
    losses.push_back(step(x, y).item<float>());
  EXPECT_EQ(step.trace_count(), 1);
  return losses;
}

TEST(TrainingTest, ShardedEqualsUnsharded) {
  Mesh one = create_mesh({{"batch", 1}}, virtual_cpus(1));
  Layout single = Layout::replicated(one, 2);
  std::vector<float> expected =
      train(single, single, single, single, 22, 30, 40, 10);
  EXPECT_LT(expected[9], expected[0]);
  auto expectEqual = [&](const std::vector<float> &losses) {
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i], expected[i], 1e-4 * expected[i]) << "step " << i;
  };
  for (int64_t devices : {2, 8}) { // 22 rows: uneven over 8
    Mesh mesh = create_mesh({{"batch", devices}}, virtual_cpus(devices));
    Layout full = Layout::replicated(mesh, 2);
    expectEqual(train(Layout({"batch", UNSHARDED}, mesh), full, full, full, 22,
                      30, 40, 10));
  }
  // Weights sharded on a model axis.
  Mesh mesh = create_mesh({{"batch", 2}, {"model", 4}}, virtual_cpus(8));
  expectEqual(train(Layout({"batch", UNSHARDED}, mesh),
                    Layout({UNSHARDED, "model"}, mesh),
                    Layout({"model", UNSHARDED}, mesh),
                    Layout::replicated(mesh, 2), 22, 30, 40, 10));
}

TEST(TrainingTest, LossesOfThePeers) {
  // benchmark/peers: every program gives these.
  Mesh mesh = mesh8();
  Layout full = Layout::replicated(mesh, 2);
  std::vector<float> losses = train(Layout({"batch", UNSHARDED}, mesh), full,
                                    full, full, 128, 784, 700, 10);
  EXPECT_NEAR(losses[0], 2.53957f, 2.6e-5);
  EXPECT_NEAR(losses[9], 2.10059f, 2.2e-5);
}

/// The step of the tutorial, compiled for a machine.
ConcreteFunction tutorialStep(std::string_view machine, bool refine) {
  MachineModel before = get_machine_model();
  set_machine_model(*MachineModel::preset(machine), refine);
  Mesh mesh = mesh8();
  Layout full = Layout::replicated(mesh, 2), rows({"batch", UNSHARDED}, mesh);
  MLP model(full, full, full, 784, 700);
  optimizers::Adam adam;
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
        {.labels = y, .logits = model(x)}));
    adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss;
  });
  Tensor x = distribute(zeros({128, 784}), rows);
  Tensor y = distribute(zeros({128}, DType::I32), rows.remove({1}));
  ConcreteFunction concrete = step.get_concrete_function(x, y);
  set_machine_model(before);
  return concrete;
}

TEST(TrainingTest, DataParallelStepHasOneAllReduce) {
  std::vector<CollectiveInfo> collectives =
      tutorialStep("ring", false).collectives();
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(collectives[0].kind, CollectiveKind::AllReduce);
  EXPECT_EQ(collectives[0].bytes, 2226484);
  EXPECT_EQ(collectives[0].tensors, 7); // 6 gradients and the loss
}

TEST(TrainingTest, RefinementSendsLessThanTheAllReduce) {
  int64_t sent = 0;
  for (const CollectiveInfo &info : tutorialStep("ring", true).collectives())
    sent += info.bytes_sent;
  EXPECT_LE(sent, 2400000);
}

TEST(TrainingTest, SharedMemoryReducesNoWeightGradient) {
  for (const CollectiveInfo &info :
       tutorialStep("shared-memory", true).collectives())
    if (info.kind == CollectiveKind::AllReduce ||
        info.kind == CollectiveKind::ReduceScatter)
      EXPECT_LT(info.bytes, 784 * 700 * 4 / 8) << info.reason;
}

TEST(TrainingTest, EagerTrainingEqualsCompiled) {
  auto run = [](bool compiled) {
    peers::Dense model(6, 4, 3, Layout::replicated(mesh8(), 2));
    optimizers::Adam adam(1e-2);
    Tensor x =
        distribute(sample({16, 6}), Layout({"batch", UNSHARDED}, mesh8()));
    Tensor y = distribute(remainder(range(16), 4), Layout({"batch"}, mesh8()));
    auto body = [&](const Tensor &x, const Tensor &y) {
      GradientTape tape;
      Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
          {.labels = y, .logits = model(x)}));
      adam.apply_gradients(tape.gradient(loss, model.trainable_variables()));
      return loss;
    };
    auto step = function(body);
    std::vector<double> losses;
    for (int i = 0; i < 3; ++i)
      losses.push_back((compiled ? step(x, y) : body(x, y)).item<float>());
    return losses;
  };
  std::vector<double> eager = run(false), compiled = run(true);
  for (size_t i = 0; i < eager.size(); ++i)
    EXPECT_NEAR(eager[i], compiled[i], 1e-5);
}

} // namespace
} // namespace meshloom
