// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values on several sets of devices: one after the other, in functions and
// under tapes, and variables that stay where they are.
#include "TwoDeviceSets.h"

namespace meshloom {
namespace {

Tensor on(const Mesh &mesh, const Tensor &value) {
  return copy_to_mesh(value, mesh);
}

/// Two layers, the second one on `second`, and what training needs of them.
struct TwoParts {
  Mesh first, second;
  DVariable w1{on(first, sample({6, 8})), {.name = "w1"}};
  DVariable w2{on(second, sample({8, 3}, 2)), {.name = "w2"}};

  Tensor loss(const Tensor &x) const {
    const Tensor hidden = tanh(matmul(x, w1));
    return reduce_mean(square(matmul(relayout(hidden, rowsOf(second)), w2)));
  }
  std::vector<Tensor> step(const Tensor &x) const {
    GradientTape tape;
    const Tensor value = loss(x);
    const Gradients gradients = tape.gradient(value, {w1, w2});
    for (const VariableGradient &pair : gradients)
      pair.variable.assign_sub(0.1 * pair.gradient);
    return {value, gradients[0].gradient, gradients[1].gradient};
  }
};

// A model in two parts gives the results that it gives on one mesh.
TEST(DeviceSetsTest, TwoPartsTrainAsOne) {
  for (bool traced : {false, true}) {
    SCOPED_TRACE(traced);
    const TwoParts apart{lowerFour(), upperFour()};
    const TwoParts together{mesh8(), mesh8()};
    auto step = [](const TwoParts &parts) {
      return [&parts](const Tensor &x) { return parts.step(x); };
    };
    auto apartStep = function(step(apart)),
         wholeStep = function(step(together));
    for (int turn = 0; turn < 3; ++turn) {
      const Tensor x = sample({8, 6}, 10 + turn);
      const Tensor low = distribute(x, rowsOf(lowerFour()));
      const Tensor whole = distribute(x, rowsOf(mesh8()));
      const std::vector<Tensor> got = traced ? apartStep(low) : apart.step(low);
      const std::vector<Tensor> wanted =
          traced ? wholeStep(whole) : together.step(whole);
      for (size_t i = 0; i < wanted.size(); ++i)
        expectSame(got[i], wanted[i]);
    }
    expectSame(apart.w1, together.w1);
    expectSame(apart.w2, together.w2);
    EXPECT_EQ(apart.w1.read_value().device(), "CPU:0 ... CPU:3");
    EXPECT_EQ(apart.w2.read_value().device(), "CPU:4 ... CPU:7");
  }
}

// Gradients lie as what they are the gradients of, on the devices of that.
TEST(DeviceSetsTest, GradientsAreWhereTheirSourcesAre) {
  const Mesh low = lowerFour(), high = upperFour();
  auto gradient = [&](const Tensor &x) {
    GradientTape tape;
    const Tensor y = relayout(square(x), Layout::replicated(high, 2));
    return tape.gradient(reduce_sum(y * y), x);
  };
  const Tensor host = sample({8, 3}), x = distribute(host, rowsOf(low));
  const Tensor byHand = 4 * host * host * host;
  for (const Tensor &got : {gradient(x), function(gradient)(x)}) {
    EXPECT_EQ(got.layout(), rowsOf(low));
    expectSame(got, byHand);
  }
}

// A second derivative goes the way to the other devices twice.
TEST(DeviceSetsTest, SecondDerivatives) {
  const Layout there = Layout::replicated(upperFour(), 1);
  auto second = [&](const Tensor &x) {
    GradientTape outer;
    GradientTape inner;
    const Tensor y = reduce_sum(relayout(x * x * x, there));
    return outer.gradient(reduce_sum(inner.gradient(y, x)), x);
  };
  const Tensor x = on(lowerFour(), sample({4}));
  expectSame(second(x), 6 * x);
  expectSame(function(second)(x), 6 * x);
}

// A function has a program for each part that runs without a break.
TEST(DeviceSetsTest, AFunctionSaysHowManyProgramsItIs) {
  const TwoParts parts{lowerFour(), upperFour()};
  const Tensor x = distribute(sample({8, 6}), rowsOf(lowerFour()));
  auto forward = function([&](const Tensor &a) { return parts.loss(a); });
  auto step = function([&](const Tensor &a) { return parts.step(a); });
  const ConcreteFunction one = forward.get_concrete_function(x);
  EXPECT_EQ(one.num_programs(), 2);
  EXPECT_EQ(step.get_concrete_function(x).num_programs(), 3);
  EXPECT_EQ(one.arguments().front().layout, rowsOf(lowerFour()));
  EXPECT_EQ(one.results().front().layout.mesh(), upperFour());
  (void)forward(x);
  (void)forward(x);
  EXPECT_EQ(one.statistics().executions, 2);
  EXPECT_THAT(one.explain(), HAS("all_reduce"));
  EXPECT_ERROR(one.compiled(), HAS("[compiled]"), HAS("2 programs"));
}

// Saved, such a function runs where it did, without its source.
TEST(DeviceSetsTest, SavedFunctionsOfTwoParts) {
  const TwoParts parts{lowerFour(), upperFour()};
  const DVariable steps(zeros({}), {.name = "steps"});
  auto step = function(
      [&](const Tensor &x, const Tensor &rate) {
        steps.assign_add(1.0);
        return parts.step(x)[0] * rate;
      },
      {.name = "step"});
  const Tensor x = distribute(sample({8, 6}), rowsOf(lowerFour()));
  const Tensor rate = tensor(0.5f);
  const std::string bytes = step.get_concrete_function(x, rate).serialize();
  const SavedFunction saved = parse_function(bytes, "step");
  EXPECT_EQ(saved.name(), "step");
  ASSERT_EQ(saved.arguments().size(), 5u);
  std::vector<Tensor> arguments = {x, rate};
  for (size_t i = 2; i < 5; ++i) {
    const std::string name = saved.arguments()[i].name;
    arguments.push_back((name == "w1"   ? parts.w1
                         : name == "w2" ? parts.w2
                                        : steps)
                            .read_value());
  }
  for (int turn = 0; turn < 2; ++turn) {
    const std::vector<Tensor> got = saved(arguments);
    expectSame(got[0], step(x, rate));
    ASSERT_EQ(got.size(), 4u);
    const std::vector<int64_t> assigned = saved.assigned_arguments();
    for (size_t i = 0; i < assigned.size(); ++i) {
      Tensor &argument = arguments[size_t(assigned[i])];
      EXPECT_EQ(got[i + 1].layout(), argument.layout());
      argument = got[i + 1];
      EXPECT_EQ(saved.results()[i + 1].name,
                saved.arguments()[size_t(assigned[i])].name);
    }
  }
  EXPECT_EQ(saved.statistics().executions, 2);
  for (size_t i = 2; i < 5; ++i)
    expectSame(arguments[i], saved.arguments()[i].name == "w1"   ? parts.w1
                             : saved.arguments()[i].name == "w2" ? parts.w2
                                                                 : steps);
  EXPECT_ERROR(parse_function(bytes, "step", lowerFour()),
               HAS("[load_function]"), HAS("several sets of devices"));
  EXPECT_ERROR(parse_function(bytes.substr(0, bytes.size() - 1), "step"),
               HAS("cannot use 'step'"));
  std::string changed = bytes;
  changed[40] = char(changed[40] ^ 1);
  EXPECT_ERROR(parse_function(changed, "step"), HAS("checksum"));
}

// Branches that do not depend on each other are programs that run side by side;
// where they meet is a third one.
TEST(DeviceSetsTest, BranchesMeet) {
  const Mesh low = lowerFour(), high = upperFour();
  auto f = function([&](const Tensor &x) {
    const Tensor below =
        reduce_sum(square(relayout(x, Layout::replicated(low, 1))));
    const Tensor above =
        reduce_sum(relayout(x, Layout::replicated(high, 1)) * 3.0);
    return below + relayout(above, Layout::replicated(low, 0));
  });
  const Tensor x = sample({5});
  const Tensor wanted = reduce_sum(square(x)) + 3 * reduce_sum(x);
  expectSame(f(x), wanted);
  EXPECT_EQ(f.get_concrete_function(x).num_programs(), 3);
}

// Ops of single devices find their operands, as in TensorFlow; several devices
// have to be told.
TEST(DeviceSetsTest, SingleDevicesTakeEachOthersValues) {
  Tensor a, b;
  {
    auto scope = device("CPU:1");
    a = ones({2});
  }
  {
    auto scope = device("CPU:2");
    b = ones({2}) * 2.0;
  }
  EXPECT_EQ((a + b).device(), "CPU:1");
  EXPECT_EQ((b + a).device(), "CPU:2");
  auto add = [](const Tensor &x, const Tensor &y) { return x + y; };
  EXPECT_EQ(function(add)(b, a).device(), "CPU:2");
  auto elsewhere = [](const Tensor &x, const Tensor &y) {
    auto scope = device("CPU:3");
    return x + y;
  };
  EXPECT_EQ(elsewhere(a, b).device(), "CPU:3");
  EXPECT_EQ(function(elsewhere)(a, b).device(), "CPU:3");
  expectSame(function(elsewhere)(a, b), tensor({3.f, 3.f}));

  GradientTape tape;
  const Tensor product = reduce_sum(a * b * b);
  EXPECT_EQ(product.device(), "CPU:1");
  const Tensor slope = tape.gradient(product, b);
  EXPECT_EQ(slope.device(), "CPU:2");
  expectSame(slope, tensor({4.f, 4.f}));

  const Tensor low = on(lowerFour(), ones({2})),
               high = on(upperFour(), ones({2}));
  EXPECT_ERROR(low + high, HAS("[add]"), HAS("low=4"), HAS("high=4"),
               HAS("relayout"));
  EXPECT_ERROR(function(add)(low, high), HAS("[add]"), HAS("low=4"),
               HAS("high=4"), HAS("DeviceSetsTest.cpp"));
  EXPECT_ERROR(function(add)(a, high), HAS("CPU:1"), HAS("high=4"));
}

// A number on one set of devices, such as a learning rate, is used on another.
TEST(DeviceSetsTest, ScalarsGoAnywhere) {
  const DVariable rate(on(lowerFour(), tensor(0.5f)));
  const Tensor x = on(upperFour(), sample({4, 3}));
  auto scaled = [&](const Tensor &y) { return y * rate + rate; };
  for (const Tensor &got : {scaled(x), function(scaled)(x)}) {
    EXPECT_EQ(got.device(), "CPU:4 ... CPU:7");
    expectSame(got, 0.5 * x + 0.5);
  }
  auto slope = [&](const Tensor &y) {
    GradientTape tape;
    return tape.gradient(reduce_sum(scaled(y)), rate);
  };
  expectSame(slope(x), reduce_sum(x) + 12, 1e-4);
  expectSame(function(slope)(x), reduce_sum(x) + 12, 1e-4);
}

// Variables of CPU:0 are assigned in functions on other devices too.
TEST(DeviceSetsTest, VariablesOfTheHostAreAssigned) {
  DVariable a, b;
  {
    auto scope = device("CPU:0");
    a = DVariable(ones({2}), {.name = "a"});
  }
  {
    auto scope = device("CPU:1");
    b = DVariable(ones({2}), {.name = "b"});
  }
  DVariable steps(zeros({}), {.name = "steps"}),
      meshed(on(lowerFour(), ones({2})));
  auto f = function([&](const Tensor &x) {
    GradientTape tape;
    const Tensor loss = reduce_sum(x * a * b);
    for (auto &pair : tape.gradient(loss, {a, b}))
      pair.variable.assign_sub(0.5 * pair.gradient);
    steps.assign_add(1.0);
    return loss;
  });
  EXPECT_EQ(f(ones({2})).item<float>(), 2);
  expectSame(a, tensor({0.5f, 0.5f}));
  expectSame(b, tensor({0.5f, 0.5f}));
  EXPECT_EQ(a.read_value().device(), "CPU:0");
  EXPECT_EQ(b.read_value().device(), "CPU:1");
  EXPECT_EQ(f(ones({2})).item<float>(), 0.5f);
  EXPECT_EQ(steps.item<float>(), 2);

  auto counts = function([&] {
    steps.assign_add(1.0);
    return meshed * steps; // a value of the host goes to any mesh
  });
  expectSame(counts(), tensor({3.f, 3.f}));
  auto sums = function([&] { steps.assign(reduce_sum(meshed)); });
  sums(); // scalars come along
  EXPECT_EQ(steps.item<float>(), 2);
  auto wrong = function([&] { a.assign(meshed); });
  EXPECT_ERROR(wrong(), HAS("[assign]"), HAS("'a'"), HAS("set_layout"));
}

// A gradient that leaves a set of devices and comes back without an op there.
TEST(DeviceSetsTest, GradientsLeaveAndComeBack) {
  const Mesh low = lowerFour(), high = upperFour();
  auto gradient = function([&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor there = relayout(x * 2.F, Layout::replicated(high, 1));
    const Tensor back = relayout(there + 1.F, Layout::replicated(low, 1));
    return tape.gradient(reduce_sum(square(back)), x);
  });
  expectSame(gradient(on(low, ones({2}))), tensor({12.F, 12.F}));
}

// A loop of a known, small number of turns is written out where its values
// move.
TEST(DeviceSetsTest, LoopsOnSeveralSets) {
  const Mesh low = lowerFour(), high = upperFour();
  const Layout onLow = Layout::replicated(low, 1),
               onHigh = Layout::replicated(high, 1);
  auto turns = [&](const TensorLike &count) {
    return [&, count](const Tensor &x) {
      return fori_loop(
          0, count,
          [&](const Tensor &i, const Tensor &y) {
            const Tensor there = relayout(y * 2.F, onHigh);
            return relayout(there + cast(i, DType::F32), onLow);
          },
          x);
    };
  };
  const Tensor x = on(low, ones({2}));
  auto three = function(turns(3));
  EXPECT_EQ(three(x).device(), "CPU:0 ... CPU:3");
  expectSame(three(x), tensor({12.F, 12.F})); // 2, 5, 12
  auto gradient = function([&](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(reduce_sum(square(turns(3)(x))), x);
  });
  expectSame(gradient(x), tensor({192.F, 192.F})); // 2 * 12 * 8
  DVariable counted(on(high, zeros({2})));
  auto counting = function([&](const Tensor &x) {
    fori_loop(0, 4,
              [&](const Tensor &) { counted.assign_add(relayout(x, onHigh)); });
  });
  counting(x);
  expectSame(counted.read_value(), tensor({4.F, 4.F}));
  EXPECT_EQ(three.get_concrete_function(x).num_programs(), 6);
  auto before = function([&](const Tensor &y) {
    return fori_loop(
        0, 3, [](const Tensor &, const Tensor &z) { return z * 2.0; },
        relayout(y, onHigh));
  });
  EXPECT_EQ(before(x).device(), "CPU:4 ... CPU:7");
  expectSame(before(x), tensor({8.f, 8.f}));
}

// A checkpoint, and a function with a gradient of the user's, may be on several
// sets of devices.
TEST(DeviceSetsTest, CheckpointsGoOverDevices) {
  const TwoParts parts{lowerFour(), upperFour()};
  const Tensor x = distribute(sample({8, 6}), rowsOf(lowerFour()));
  auto gradients = [&](bool isCheckpointed) {
    return function([&parts, isCheckpointed](const Tensor &y) {
      GradientTape tape;
      const Tensor loss = isCheckpointed
                              ? checkpoint([&] { return parts.loss(y * y); })
                              : parts.loss(y * y);
      return std::vector<Tensor>{loss, tape.gradient(loss, y)};
    });
  };
  auto again = gradients(true), kept = gradients(false);
  for (size_t i = 0; i < 2; ++i) {
    expectSame(again(x)[i], kept(x)[i]);
    EXPECT_EQ(again(x)[i].device(), kept(x)[i].device());
  }
  // The first layer's forward pass runs in two programs.
  EXPECT_GT(again.get_concrete_function(x).num_programs(),
            kept.get_concrete_function(x).num_programs());
  const Mesh low = lowerFour(), high = upperFour();
  auto doubled = custom_gradient(
      [&](const Tensor &y) { return on(low, on(high, y * 2.0) + 1.0); },
      [](const Tensor &, const Tensor &, const Tensor &dy) {
        return dy * 5.0;
      });
  auto slope = function([&](const Tensor &y) {
    GradientTape tape;
    return tape.gradient(reduce_sum(doubled(y)), y);
  });
  expectSame(slope(on(low, ones({3}))), full({3}, 5.0));
}

// vmap maps over a move to other devices, and gradients come back.
TEST(DeviceSetsTest, MapsGoOverDevices) {
  const Mesh low = lowerFour(), high = upperFour();
  const Tensor x = distribute(sample({8, 6}), rowsOf(low));
  const Tensor w = on(high, sample({6}, 4));
  auto rows = [&](const Tensor &matrix) {
    return vmap([&](const Tensor &row) {
      return reduce_sum(on(high, square(row)) * w);
    })(matrix);
  };
  auto slope = [&](const Tensor &matrix) {
    GradientTape tape;
    return tape.gradient(reduce_sum(rows(matrix)), matrix);
  };
  const Tensor here = on(low, w);
  expectSame(function(rows)(x), reduce_sum(square(x) * here, {1}));
  EXPECT_EQ(function(rows)(x).mesh(), high);
  const Tensor got = function(slope)(x);
  expectSame(got, 2 * x * here);
  EXPECT_EQ(got.mesh(), low);
}

// A gradient of a function's call under a tape goes through its devices.
TEST(DeviceSetsTest, TapesGoThroughCalls) {
  const TwoParts parts{lowerFour(), upperFour()};
  auto loss = function([&](const Tensor &x) { return parts.loss(x); });
  const Tensor x = distribute(sample({8, 6}), rowsOf(lowerFour()));
  GradientTape tape;
  const Gradients got = tape.gradient(loss(x), {parts.w1, parts.w2});
  GradientTape direct;
  const Gradients wanted = direct.gradient(parts.loss(x), {parts.w1, parts.w2});
  for (size_t i = 0; i < wanted.size(); ++i)
    expectSame(got[i].gradient, wanted[i].gradient);
}

// A value that is uneven on one mesh and differs from another one's blocks
// comes along, in functions and, where nothing is cut on two meshes, outside.
TEST(DeviceSetsTest, ANormOverTwoMeshesOfTheSameDevices) {
  const Mesh whole = create_mesh({{"dp", 2}, {"tp", 2}}, virtual_cpus(4));
  const Mesh experts = create_mesh({{"ep", 4}}, virtual_cpus(4));
  DVariable a(distribute(reshape(range(12, DType::F32), {4, 3}),
                         Layout({"dp", "tp"}, whole)));
  DVariable b(distribute(reshape(range(10, DType::F32), {5, 2}),
                         Layout({"ep", UNSHARDED}, experts)));
  auto norm = [&] {
    GradientTape tape;
    const Tensor ofA = reduce_sum(square(a)), ofB = reduce_sum(square(b));
    Gradients gradients = tape.gradient(ofA, std::vector<DVariable>{a});
    gradients.push_back(tape.gradient(ofB, std::vector<DVariable>{b})[0]);
    return clip_by_global_norm(gradients, 1.0).second;
  };
  EXPECT_NEAR(norm().item<float>(), 56.249, 1e-2);
  EXPECT_NEAR(function(norm)().item<float>(), 56.249, 1e-2);
}

// Devices in another order are other devices.
TEST(DeviceSetsTest, DevicesInAnotherOrder) {
  const Mesh forward = create_mesh({{"z", 4}}, virtual_cpus(4));
  const Mesh backward =
      create_mesh({{"z", 4}}, {"CPU:3", "CPU:2", "CPU:1", "CPU:0"});
  const Tensor x = distribute(sample({8, 3}), rowsOf(forward));
  auto move = [&](const Tensor &y) {
    return relayout(y * 2.0, rowsOf(backward));
  };
  for (const Tensor &got : {move(x), function(move)(x)}) {
    EXPECT_EQ(got.layout(), rowsOf(backward));
    expectSame(got, 2 * x);
    expectSame(unpack(got)[3], unpack(2 * x)[3]);
  }
}

} // namespace
} // namespace meshloom
