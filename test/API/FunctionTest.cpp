// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// function: when it traces, what it takes and returns, what it captures, what
// it tells.
#include "Testing.h"

#include "meshloom/Core/MachineModel.h"

#include <map>
#include <thread>

namespace meshloom {
namespace {

TEST(FunctionTest, TracesOncePerShapeTypeAndLayout) {
  int bodies = 0;
  auto f = function([&](const Tensor &x) {
    ++bodies;
    return x * 2 + 1;
  });
  expectNear(f(tensor({1.f, 2.f})), {3, 5});
  expectNear(f(tensor({5.f, 6.f})), {11, 13});
  EXPECT_EQ(bodies, 1); // other values: a hit
  f(tensor({1.f}));
  f(tensor({1.0, 2.0}));
  EXPECT_EQ(bodies, 3); // another shape, another type: a miss each
  Layout rows({"batch"}, mesh8());
  f(distribute(ones({8}), rows));
  f(distribute(ones({8}), Layout::replicated(mesh8(), 1)));
  f(distribute(zeros({8}), rows));
  EXPECT_EQ(bodies, 5);
  EXPECT_EQ(f.trace_count(), 5);
}

TEST(FunctionTest, StaticArgumentsArePartOfTheSignature) {
  int bodies = 0;
  auto f = function([&](const Tensor &x, int power, std::string) {
    ++bodies;
    Tensor y = x;
    for (int i = 1; i < power; ++i)
      y = y * x;
    return y;
  });
  Tensor x = tensor({2.f});
  expectNear(f(x, 2, std::string("a")), {4});
  expectNear(f(x, 3, std::string("a")), {8});
  expectNear(f(x, 2, std::string("a")), {4});
  EXPECT_EQ(bodies, 2);
  f(x, 2, std::string("b"));
  EXPECT_EQ(bodies, 3);
}

struct Metrics {
  Tensor loss, accuracy;
};
struct Nested {
  Metrics metrics;
  std::vector<Tensor> parts;
  int64_t count = 0;
  std::pair<Tensor, float> pair;
};

TEST(FunctionTest, TakesAndReturnsStructures) {
  auto f = function([](const std::vector<Tensor> &xs,
                       const std::map<std::string, Tensor> &named,
                       const std::tuple<Tensor, Metrics> &tuple) {
    Nested out;
    out.metrics = {xs[0] + xs[1], named.at("a") * 2};
    out.parts = {std::get<0>(tuple), std::get<1>(tuple).loss, xs[0]};
    out.count = int64_t(xs.size());
    out.pair = {std::get<1>(tuple).accuracy, 0.5f};
    return out;
  });
  Tensor one = tensor({1.f}), two = tensor({2.f}), three = tensor({3.f});
  Nested out =
      f(std::vector{one, two}, std::map<std::string, Tensor>{{"a", three}},
        std::tuple(two, Metrics{three, one}));
  expectNear(out.metrics.loss, {3});
  expectNear(out.metrics.accuracy, {6});
  ASSERT_EQ(out.parts.size(), 3u);
  expectNear(out.parts[0], {2});
  expectNear(out.parts[1], {3});
  expectNear(out.parts[2], {1});
  EXPECT_EQ(out.count, 2);
  expectNear(out.pair.first, {1});
  EXPECT_EQ(out.pair.second, 0.5f);
  // Same trace, other values; then another length: another trace.
  out = f(std::vector{three, two}, std::map<std::string, Tensor>{{"a", one}},
          std::tuple(one, Metrics{one, two}));
  expectNear(out.metrics.loss, {5});
  expectNear(out.pair.first, {2});
  EXPECT_EQ(f.trace_count(), 1);
  f(std::vector{one, two, three}, std::map<std::string, Tensor>{{"a", one}},
    std::tuple(one, Metrics{one, two}));
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(FunctionTest, ReturnsNothingOrSeveral) {
  DVariable v(zeros({1}));
  auto nothing = function([&](const Tensor &x) { v.assign(x); });
  nothing(tensor({4.f}));
  expectNear(v, {4});
  auto pair = function([](const Tensor &x) { return std::pair(x, x + 1); });
  auto [same, next] = pair(tensor({1.f}));
  expectNear(same, {1});
  expectNear(next, {2});
}

TEST(FunctionTest, FindsCapturedTensorsAndVariables) {
  Tensor captured = tensor({10.f});
  DVariable v(tensor({1.f}), {.name = "v"});
  auto f = function([&](const Tensor &x) { return x * captured + v; });
  expectNear(f(tensor({2.f})), {21});
  v.assign(tensor({5.f}));
  expectNear(f(tensor({2.f})), {25}); // the new value, no new trace
  EXPECT_EQ(f.trace_count(), 1);
  ConcreteFunction concrete = f.get_concrete_function(tensor({2.f}));
  std::vector<ValueInfo> arguments = concrete.arguments();
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(arguments[0].role, ValueInfo::Role::Argument);
  EXPECT_EQ(arguments[1].role, ValueInfo::Role::Captured);
  EXPECT_EQ(arguments[2].role, ValueInfo::Role::Variable);
  EXPECT_EQ(arguments[2].name, "v");
  EXPECT_EQ(arguments[0].name, "arg0");
}

TEST(FunctionTest, InlinesInsideAnother) {
  int inner = 0;
  auto square = function([&](const Tensor &x) {
    ++inner;
    return x * x;
  });
  auto f = function([&](const Tensor &x) { return square(x) + square(x + 1); });
  expectNear(f(tensor({2.f})), {13});
  EXPECT_EQ(inner, 2);
  EXPECT_EQ(square.trace_count(), 0);
}

TEST(FunctionTest, ACopySharesItsTraces) {
  auto f = function([](const Tensor &x) { return x + 1; });
  auto g = f;
  f(tensor({1.f}));
  g(tensor({2.f}));
  EXPECT_EQ(g.trace_count(), 1);
}

TEST(FunctionTest, ATensorOfAnEndedTraceIsAnError) {
  Tensor leaked;
  auto f = function(
      [&](const Tensor &x) {
        leaked = x + 1;
        return leaked * 2;
      },
      {.name = "leaky"});
  f(tensor({1.f}));
  EXPECT_TRUE(leaked.is_traced());
  EXPECT_EQ(leaked.shape(), (Shape{1}));
  EXPECT_ERROR(leaked + 1, HAS("[add]"), HAS("leaky"), HAS("has ended"),
               HAS("FunctionTest.cpp"));
  EXPECT_ERROR(leaked.item<float>(), HAS("[item]"), HAS("leaky"));
  EXPECT_ERROR(leaked.layout(), HAS("[layout]"));
  EXPECT_ERROR(f(leaked), HAS("leaky"), HAS("has ended"));
  auto g = function([&](const Tensor &x) { return x + leaked; });
  EXPECT_ERROR(g(tensor({1.f})), HAS("[add]"), HAS("has ended"));
  EXPECT_EQ(to_string(leaked), "Tensor(f32 [1], traced)");
}

TEST(FunctionTest, ReadingAValueWhileTracingIsAnError) {
  auto f = function([&](const Tensor &x) { return x * x.item<float>(); });
  EXPECT_ERROR(f(tensor({1.f})), HAS("[item]"), HAS("no value yet"));
}

TEST(FunctionTest, AFailedTraceChangesNothing) {
  DVariable v(ones({2}));
  bool broken = true;
  auto f = function([&](const Tensor &x) {
    v.assign(x);
    return broken ? matmul(x, x) : x;
  });
  EXPECT_ERROR(f(tensor({5.f, 6.f})), HAS("[matmul]"));
  expectNear(v, {1, 1});
  broken = false;
  f(tensor({5.f, 6.f}));
  expectNear(v, {5, 6});
}

TEST(FunctionTest, ResultsAreTheSameSharded) {
  auto f = function([](const Tensor &x, const Tensor &w) {
    Tensor h = nn::relu(matmul(x, w));
    return std::pair(reduce_sum(h, 0), nn::softmax(h));
  });
  Tensor x = sample({10, 6}), w = sample({6, 7}, 2);
  auto [sum, soft] = f(x, w);
  Mesh mesh = mesh2x4();
  for (std::string_view lx : {"uu", "xu", "uy", "xy", "yx"})
    for (std::string_view lw : {"uu", "xu", "uy", "yx"}) {
      auto [s, p] =
          f(distribute(x, specs(lx, mesh)), distribute(w, specs(lw, mesh)));
      expectSame(s, sum);
      expectSame(p, soft);
    }
}

TEST(FunctionTest, RetracesArePrinted) {
  auto f = function([](const Tensor &x) { return x + 1; },
                    {.name = "printed", .print_retraces = true});
  testing::internal::CaptureStderr();
  f(tensor({1.f}));
  f(tensor({1.f, 2.f}));
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HAS("[printed] traced again (trace 2)"));
  EXPECT_THAT(text, HAS("was f32 [1] on the host, now f32 [2] on the host"));
  EXPECT_THAT(text, HAS("FunctionTest.cpp"));
}

TEST(FunctionTest, CallWithLayoutLaysOutItsResult) {
  Mesh mesh = mesh2x4();
  Layout layout({"x", "y"}, mesh);
  Tensor x = call_with_layout([] { return iota({4, 8}, 1); }, layout);
  check_layout(x, layout);
  expectSame(x, iota({4, 8}, 1), 0);
  Tensor plain = call_with_layout([] { return ones({2}); }, std::nullopt);
  EXPECT_FALSE(is_dtensor(plain));
  auto f = function([&](const Tensor &x) {
    return call_with_layout([&] { return x * 2; }, layout);
  });
  check_layout(f(distribute(ones({4, 8}), specs("uu", mesh))), layout);
  EXPECT_ERROR(call_with_layout([] { return ones({2}); }, layout),
               HAS("[call_with_layout]"), HAS("rank 2"), HAS("f32 [2]"));
}

TEST(FunctionTest, HostArgumentsRunOnTheDefaultMesh) {
  Tensor x = tensor({1.f, 2.f});
  auto f = function([](const Tensor &x) { return x + 1; });
  EXPECT_FALSE(is_dtensor(f(x)));
  {
    auto scope = default_mesh(mesh8());
    EXPECT_EQ(f(x).mesh(), mesh8());
  }
  EXPECT_FALSE(is_dtensor(f(x)));
  EXPECT_EQ(f.trace_count(), 2);
}

TEST(FunctionTest, HostVariablesBesideADTensorAreRead) {
  Tensor x = distribute(ones({8}), Layout({"batch"}, mesh8()));
  DVariable v(tensor({2.f}), {.name = "v"});
  auto read = function([&](const Tensor &x) { return x * v; });
  expectNear(read(x), std::vector<double>(8, 2));
  // A scalar goes anywhere; a value with dims does when it is asked for.
  auto add = function([&](const Tensor &x) { v.assign(reduce_sum(x) + v); });
  add(x);
  expectNear(v, {10});
  DVariable w(zeros({8}), {.name = "w"});
  auto write = function([&](const Tensor &x) { w.assign(x * 2); });
  EXPECT_ERROR(write(x), HAS("[assign]"), HAS("'w'"), HAS("with a layout"));
  expectNear(w, std::vector<double>(8, 0));
}

TEST(FunctionTest, UnusedArgumentsAndConstantsAreFine) {
  DVariable v(zeros({2}));
  auto f = function([&](const Tensor &, const Tensor &y) {
    v.assign(ones({2})); // written, never read
    return std::pair(full({3}, 4), y);
  });
  auto [constant, same] = f(tensor({1.f}), tensor({5.f}));
  expectNear(constant, {4, 4, 4});
  expectNear(same, {5});
  expectNear(v, {1, 1});
  auto g = function([&] { return std::pair(Tensor(v), Tensor(v)); });
  auto [a, b] = g();
  v.assign(zeros({2}));
  expectNear(a, {1, 1});
  expectNear(b, {1, 1});
  auto h = function([&] { // the result is the variable's new value as well
    v.assign_add(1);
    return Tensor(v);
  });
  Tensor first = h(), second = h();
  expectNear(first, {1, 1});
  expectNear(second, {2, 2});
  expectNear(v, {2, 2});
}

TEST(FunctionTest, SwappedVariablesSwap) {
  DVariable a(tensor({1.f})), b(tensor({2.f}));
  auto swap = function([&] {
    Tensor was = a;
    a.assign(b);
    b.assign(was);
  });
  swap();
  expectNear(a, {2});
  expectNear(b, {1});
}

TEST(FunctionTest, InitScopeMakesVariablesWhileTracing) {
  std::optional<DVariable> count;
  auto f = function([&](const Tensor &x) {
    if (!count)
      count = init_scope([] { return DVariable(zeros({})); });
    count->assign_add(1);
    return x * *count;
  });
  expectNear(f(tensor({2.f})), {2});
  expectNear(f(tensor({2.f})), {4});
}

TEST(FunctionTest, TellsItsCollectivesLayoutsAndIR) {
  Mesh mesh = mesh8();
  MachineModel before = get_machine_model();
  set_machine_model(*MachineModel::preset("ring"), false);
  auto f =
      function([](const Tensor &x, const Tensor &w) { return matmul(x, w); },
               {.name = "contraction", .arguments = {"x", "w"}});
  Tensor x = distribute(sample({4, 16}), Layout({UNSHARDED, "batch"}, mesh));
  Tensor w = distribute(sample({16, 2}), Layout({"batch", UNSHARDED}, mesh));
  ConcreteFunction concrete = f.get_concrete_function(x, w);
  set_machine_model(before);
  EXPECT_EQ(concrete.name(), "contraction");
  std::vector<CollectiveInfo> collectives = concrete.collectives();
  ASSERT_EQ(collectives.size(), 1u);
  EXPECT_EQ(collectives[0].kind, CollectiveKind::AllReduce);
  EXPECT_EQ(collectives[0].axes, (std::vector<std::string>{"batch"}));
  EXPECT_EQ(collectives[0].bytes, 4 * 2 * 4);
  EXPECT_EQ(collectives[0].bytes_sent, 4 * 2 * 4 * 2 * 7 / 8);
  EXPECT_THAT(collectives[0].reason, HAS("argument 'x' [*, batch]"));
  EXPECT_THAT(collectives[0].location, HAS("FunctionTest.cpp"));
  EXPECT_THAT(concrete.explain(), HAS("all_reduce"));
  std::vector<StageIR> stages = concrete.stages();
  ASSERT_GE(stages.size(), 4u);
  EXPECT_THAT(stages.front().ir, HAS("dtensor.matmul"));
  bool spmd = false;
  for (const StageIR &stage : stages)
    spmd |= stage.ir.find("spmd.all_reduce") != std::string::npos;
  EXPECT_TRUE(spmd);
  EXPECT_GT(concrete.trace_time(), 0);
  EXPECT_GT(concrete.compile_time(), 0);
  EXPECT_EQ(concrete.results()[0].layout, Layout::replicated(mesh, 2));
}

// A program that sends what its contract does not allow does not compile.
TEST(FunctionTest, AContractForbidsCollectives) {
  const Mesh mesh = mesh8();
  const MachineModel before = get_machine_model();
  set_machine_model(*MachineModel::preset("ring"), false);
  const Tensor x =
      distribute(sample({4, 16}), Layout({UNSHARDED, "batch"}, mesh));
  const Tensor w =
      distribute(sample({16, 2}), Layout({"batch", UNSHARDED}, mesh));
  auto product = [&](Contract contract) {
    return function(
        [](const Tensor &a, const Tensor &b) { return matmul(a, b); },
        {.name = "product", .contract = std::move(contract)});
  };
  const Allowance needed{CollectiveKind::AllReduce, {"batch"}, 1, 56};
  EXPECT_EQ(product({needed})(x, w).shape(), (Shape{4, 2}));
  EXPECT_EQ(product({{CollectiveKind::AllReduce, {"batch"}}})(x, w).shape(),
            (Shape{4, 2}));
  EXPECT_ERROR(product({})(x, w),
               HAS("it has 1 all_reduce over [batch] in a step, which sends 56 "
                   "bytes; the contract allows no all_reduce over [batch]"),
               HAS("FunctionTest.cpp"));
  Allowance less = needed;
  less.bytes = 55;
  EXPECT_ERROR(product({less})(x, w), HAS("the contract allows 55 bytes"));
  EXPECT_ERROR(product({needed, less}), HAS("two entries for all_reduce"));
  EXPECT_ERROR(product({Allowance{CollectiveKind::AllReduce}}),
               HAS("name the mesh axes"));
  set_machine_model(before);
}

// A step in microbatches gives the same loss and weights, and holds the hidden
// values of one microbatch at a time.
TEST(FunctionTest, GradientsAreAccumulatedOverMicrobatches) {
  const Tensor x = sample({64, 8}, 1), y = sample({64, 2}, 2);
  DVariable hidden(sample({8, 256}, 3)), out(sample({256, 2}, 4));
  optimizers::SGD sgd(1e-4);
  auto step = [&](int64_t microbatches) {
    return function(
        [&](const Tensor &rows, const Tensor &targets) {
          GradientTape tape;
          const Tensor loss = reduce_sum(
              square(matmul(tanh(matmul(rows, hidden)), out) - targets));
          sgd.apply_gradients(
              tape.gradient(loss, std::vector<DVariable>{hidden, out}));
          return loss;
        },
        {.name = "step", .accumulate_gradients = microbatches});
  };
  const Tensor loss = step(1)(x, y), weights = out.read_value();
  hidden.assign(sample({8, 256}, 3));
  out.assign(sample({256, 2}, 4));
  auto accumulated = step(4);
  expectSame(accumulated(x, y), loss, 1e-3);
  expectSame(out.read_value(), weights, 1e-4);
  auto peakOf = [&](int64_t microbatches) {
    return predict(step(microbatches).get_concrete_function(x, y), "ring")
        .memory.peakBytes;
  };
  EXPECT_LT(peakOf(4), 2 * peakOf(1) / 3);
  EXPECT_ERROR(step(0), HAS("expected accumulate_gradients of 1 or more"),
               HAS("FunctionTest.cpp"));
  EXPECT_ERROR(step(3)(x, y), HAS("microbatches"));
}

TEST(FunctionTest, CheckNumericsNamesTheOp) {
  enable_check_numerics(true);
  auto f = function([](const Tensor &x) { return log(x); });
  EXPECT_ERROR(f(tensor({-1.f, 1.f})), HAS("nan"), HAS("FunctionTest.cpp"));
  DVariable v(tensor({1.f}));
  auto update = function([&](const Tensor &x) { v.assign_add(log(x)); });
  EXPECT_ERROR(update(tensor({-1.f})), HAS("nan"));
  expectNear(v, {1}); // nothing was half done
  enable_check_numerics(false);
}

// A scope checks what its thread calls, beside the program that does not.
TEST(FunctionTest, CheckNumericsScopeIsOfAThread) {
  auto f = function([](const Tensor &x) { return log(x); });
  const Tensor negative = tensor({-1.f});
  (void)f(negative);
  {
    CheckNumericsScope checking;
    EXPECT_ERROR(f(negative), HAS("nan"));
    std::thread([&] { (void)f(negative); }).join();
  }
  (void)f(negative);
  EXPECT_EQ(f.trace_count(), 2);
}

/// A module of one weight.
struct Scale : Module {
  DVariable w;
  explicit Scale(float value) : w(tensor(value)) { track(this, w); }
  Tensor operator()(const Tensor &x) const { return x * w; }
};

// A model, an optimizer and a metric are told by who they are, not by a copy.
TEST(FunctionTest, ArgumentsMayBeModelsOptimizersAndMetrics) {
  auto call =
      function([](const Scale &scale, const Tensor &x) { return scale(x); });
  Scale two(2), three(3), same = two;
  const Tensor x = tensor({1.f, 2.f});
  expectNear(call(two, x), {2, 4});
  expectNear(call(three, x), {3, 6});
  expectNear(call(same, x), {2, 4});
  EXPECT_EQ(call.trace_count(), 2);
  two.w.assign(5.f);
  expectNear(call(two, x), {5, 10});
  EXPECT_EQ(call.trace_count(), 2);

  auto step = function([](const Scale &scale, const Tensor &x,
                          const optimizers::Optimizer &optimizer,
                          const metrics::Mean &mean) {
    GradientTape tape;
    Tensor loss = reduce_sum(square(scale(x)));
    optimizer.apply_gradients(tape.gradient(loss, scale.trainable_variables()));
    mean.update_state(loss);
  });
  metrics::Mean mean, unused;
  optimizers::SGD sgd(0.01);
  step(three, x, sgd, mean); // loss 45, gradient 30
  EXPECT_NEAR(three.w.item<float>(), 2.7, 1e-5);
  EXPECT_NEAR(mean.result().item<float>(), 45, 1e-4);
  EXPECT_EQ(unused.result().item<float>(), 0);
}

// A function of a base class gets the object, not a copy of its base.
TEST(FunctionTest, AnArgumentOfABaseClassIsNotSliced) {
  struct Base : Module {
    virtual Tensor call(const Tensor &x) const { return x; }
  };
  struct Negative : Base {
    Negative() { track(); }
    Tensor call(const Tensor &x) const override { return -x; }
  };
  auto f = function([](const Base &m, const Tensor &x) { return m.call(x); });
  const Negative negative;
  const Base &base = negative;
  expectNear(f(base, tensor({1.f})), {-1});
}

// The same bytes of two types are two programs.
TEST(FunctionTest, NulloptAndNumbersOfTwoTypes) {
  auto masked =
      function([](const Tensor &x, const std::optional<Tensor> &mask) {
        return mask ? x * *mask : x;
      });
  expectNear(masked(ones({2}), std::nullopt), {1, 1});
  auto power = function([](const Tensor &x, auto n) {
    return std::is_floating_point_v<decltype(n)> ? x + 1 : x - 1;
  });
  expectNear(power(ones({1}), 0), {0});
  expectNear(power(ones({1}), 0.f), {2});
}

// A product that needs nothing from other devices, whatever its arguments'
// layouts were.
TEST(FunctionTest, LayoutsOfArgumentsAreFound) {
  const Mesh mesh = create_mesh({{"x", 8}}, virtual_cpus(8));
  const DVariable w(
      distribute(zeros({512, 64}), Layout({"x", UNSHARDED}, mesh)),
      {.name = "w"});
  auto product = function([&](const Tensor &x) { return matmul(x, w); });
  const auto concrete = product.get_concrete_function(
      distribute(zeros({4096, 512}), Layout({UNSHARDED, "x"}, mesh)));
  EXPECT_FALSE(concrete.collectives("ring").empty());
  const LayoutPlan plan = auto_layout(concrete, mesh);
  ASSERT_EQ(plan.arguments.size(), 2u);
  EXPECT_EQ(plan.arguments[0].layout.spec_string(), "[x, *]");
  EXPECT_EQ(plan.arguments[0].layout.mesh(), mesh);
  EXPECT_EQ(plan.arguments[1].name, "w");
  EXPECT_EQ(plan.arguments[1].layout.spec_string(), "[*, *]");
  EXPECT_EQ(plan.costs.bytesSent, 0);
  EXPECT_TRUE(plan.memory_choices.empty());
  // The variable stays where it is.
  EXPECT_EQ(w.layout().spec_string(), "[x, *]");
  EXPECT_ERROR(auto_layout(concrete, mesh, {.memory = 100}),
               HAS("a device holds at most 100 bytes"));
  EXPECT_ERROR(auto_layout(concrete, mesh, {.memory = -1}), HAS("got -1"));
  EXPECT_ERROR(suggest(concrete, "ring", 100),
               HAS("a device holds at most 100 bytes"));
  EXPECT_THROW(auto_layout(concrete, mesh, {.machine = "no machine"}), Error);
  EXPECT_ERROR(auto_layout(concrete, create_mesh({{"y", 8}}, virtual_cpus(8))),
               HAS("is on the mesh <x=8>"));
}

// A step of four layers, on no mesh.
struct Layers {
  DVariable w{sample({64, 64}, 1) * 0.1f, {.name = "w"}};

  Tensor step(const Tensor &x) const {
    GradientTape tape;
    Tensor h = x;
    for (int layer = 0; layer < 4; ++layer) {
      const Tensor t = tanh(matmul(h, w));
      h = sin(t) + t;
    }
    const Tensor loss = reduce_sum(square(h));
    w.assign_sub(tape.gradient(loss, w) * 1e-3f);
    return loss;
  }
};

// A function on no mesh is planned for any. A plan in less memory says what is
// computed again, and a function with that memory does so, with the same loss.
TEST(FunctionTest, MemoryOfAFunctionIsABudget) {
  const Layers layers;
  auto step = [&](int64_t memory) {
    return function([&](const Tensor &x) { return layers.step(x); },
                    {.name = "step", .memory = memory});
  };
  const Tensor x = sample({256, 64}, 2);
  const Mesh mesh = create_mesh({{"x", 4}}, virtual_cpus(4));
  const auto concrete = step(0).get_concrete_function(x);
  const LayoutPlan fastest = auto_layout(concrete, mesh);
  EXPECT_EQ(fastest.arguments[0].layout.spec_string(), "[x, *]");
  EXPECT_EQ(fastest.arguments[0].layout.mesh(), mesh);
  const int64_t less = fastest.costs.peakBytes * 3 / 4;
  const LayoutPlan small = auto_layout(concrete, mesh, {.memory = less});
  EXPECT_LE(small.costs.peakBytes, less);
  EXPECT_FALSE(small.memory_choices.empty());

  const int64_t whole = predict(concrete, "ring").memory.peakBytes;
  const auto budgeted = step(whole * 3 / 4);
  EXPECT_LE(predict(budgeted.get_concrete_function(x), "ring").memory.peakBytes,
            whole * 3 / 4);
  const Tensor weights = layers.w.read_value(), loss = step(0)(x);
  layers.w.assign(weights);
  expectSame(budgeted(x), loss, 1e-3);
  EXPECT_ERROR(step(1000)(x), HAS("a device holds at most 1000 bytes"));
  EXPECT_ERROR(step(-1), HAS("got -1"));
}

} // namespace
} // namespace meshloom
